"""One pair among many clusterings, suggestions of names, and the command without arguments."""

import json

import pytest

from liftcluster.cli import main

ROWS = [(i % 7 + 10 * (i // 12), i % 5, "ab"[i % 2], "xyz"[i // 12], i // 18) for i in range(36)]
TABLE = "\n".join(["x,y,parity,third,kmeans_2", *(",".join(map(str, row)) for row in ROWS)])


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Function that runs a command and returns its exit code, stdout and stderr."""
    (tmp_path / "mine.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)

    def run(command):
        with pytest.raises(SystemExit) as stopped:
            main(command.split())
        shown = capsys.readouterr()
        return stopped.value.code, shown.out, shown.err

    return run


ALL = "compare mine.csv -c x,y -l parity,third,kmeans_2"


def test_a_pair_is_compared_as_if_there_were_no_others(run):
    code, out, _ = run(f"{ALL} --pair third,parity --json")
    assert code == 0
    found = json.loads(out)
    alone = json.loads(run("compare mine.csv -c x,y -l third,parity --json")[1])
    alone.pop("columns")
    assert found.pop("pair") == alone
    assert found == json.loads(run(f"{ALL} --json")[1])


def test_a_pair_is_shown_below_the_table_of_all(run):
    _, table, _ = run(ALL)
    code, out, _ = run(f"{ALL} --pair third,parity")
    assert code == 0
    assert out.startswith(table)
    assert "What became of the clusters of third in parity" in out[len(table) :]
    assert "What became of" not in table


def test_the_pair_of_two_clusterings_gives_their_order(run):
    _, out, _ = run("compare mine.csv -c x,y -l parity,third --pair third,parity")
    assert "What became of the clusters of third in parity" in out


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("third", "--pair must name two clusterings, such as a,b; got 'third'"),
        ("third,third", "--pair must name two clusterings"),
        ("third,parity,kmeans_2", "--pair must name two clusterings"),
        ("third,partiy", "'partiy' is none of the clusterings; did you mean 'parity'?"),
        ("third,x", "'x' is none of the clusterings; these are: 'parity', 'third', 'kmeans_2'"),
    ],
)
def test_other_pairs_are_errors(run, pair, message):
    code, out, err = run(f"{ALL} --pair {pair}")
    assert (code, out) == (2, "")
    assert message in err


def test_without_arguments_the_help_is_shown_and_all_is_well(run):
    code, out, err = run("")
    assert (code, err) == (0, "")
    assert "Usage: liftcluster" in out


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("compare data.csv -l a,b", "data.csv is not there; check the name"),
        ("compare m.csv -l a,b", "m.csv is not there; check the name"),
        ("compare mien.csv -l a,b", "did you mean mine.csv?"),
        ("compare Mine.csv.gz -l a,b", "did you mean mine.csv?"),
        ("compare mine -l a,b", "did you mean mine.csv?"),
        ("compare mine.csv -l third,thirdly", "did you mean 'third'?"),
        ("compare mine.csv -l third,Parity", "did you mean 'parity'?"),
        ("compare mine.csv -l third,kmedoids", "its columns: 'x', 'y', 'parity'"),
        ("compare mine.csv -l third,birds", "its columns: 'x', 'y', 'parity'"),
    ],
)
def test_only_near_names_are_suggested(run, command, hint):
    code, _, err = run(command)
    assert code == 2
    assert hint in err
