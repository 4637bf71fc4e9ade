"""Mistakes on the command line: one clear line, exit code 2, and no partial file."""

import os
import sys

import pytest

from liftcluster.cli import main

GOOD = "person,x,y,u,v\n" + "".join(
    f"p{i},{i % 5},{i * 0.5},{'ab'[i > 9]},{i % 2}\n" for i in range(20)
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mistake(folder, capsys):
    """Function that runs a command that must fail, and returns its one-line error."""

    def mistake(command):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(SystemExit) as stopped:
            main(command.split())
        shown = capsys.readouterr()
        after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert stopped.value.code == 2
        assert shown.out == ""
        assert len(shown.err.splitlines()) == 1, shown.err
        assert shown.err.startswith("liftcluster: ")
        assert after == before
        return shown.err

    return mistake


# The commands that read a file, with their required arguments.
READERS = [
    "compare {} ",
    "consensus {} -k 2 --out found.csv ",
    "stability {} --out found.csv ",
    "choose {} --out found.csv ",
    "tree {} --out found.json ",
    "summarise {} -n 1 ",
    "significance {} --n-permutations 3 ",
    "report {} --out page.html ",
]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("file", "content", "options", "message"),
    [
        ("mine.cvs", None, "-l u,v", "mine.cvs is not there; did you mean mine.csv?"),
        ("far/mine.csv", None, "-l u,v", "the folder far does not exist"),
        ("mine.csv", None, "-l u,w", "mine.csv has no column 'w'"),
        ("mine.csv", None, "-c x,z -l u,v", "mine.csv has no column 'z'"),
        ("mine.csv", None, "", "select the columns of clusterings with --labels"),
        ("mine.csv", None, "-c person -l u,v", "line 2, column 'person': 'p0' is not a number"),
        (
            "bad.csv",
            "x,u,v\n1,a,b\ntwo,a,b\n",
            "-l u,v",
            "line 3, column 'x': 'two' is not a number",
        ),
        ("bad.csv", "x,u,v\n1,a,b\n,a,b\n", "-l u,v", "line 3, column 'x': the cell is empty"),
        ("bad.csv", "", "-l u,v", "bad.csv is empty"),
        ("bad.csv", "x,u,v\n", "-l u,v", "a header but no rows"),
        ("bad.csv", "u\na\nb\n", "-l u,v", "bad.csv has no column 'v'"),
        ("bad.csv", "u\na\nb\n", "-l u", "no other numeric columns"),
        ("bad.csv", b"x,u,v\n1,gr\xfcn,b\n", "-l u,v", "not UTF-8 text"),
        ("bad.csv", b"\x00\x01\x02", "-l u,v", "is not text"),
        ("bad.csv", "x,u,v\n1,a\n", "-l u,v", "line 2 has 2 cells"),
        (
            "bad.csv",
            "x,u,v\n1,,b\n2,NA,b\n",
            "-l u,v",
            "column 'u': every one of the 2 labels is noise",
        ),
        ("sub", None, "-l u,v", "sub is a folder"),
        ("mine.csv", None, "--labels-file short.csv", "mine.csv has 20 rows and short.csv has 2"),
        ("mine.csv", None, "--labels-file short.csv --id person", "lacks 19 of the 20 ids"),
        ("mine.csv", None, "-l u,v --kernel round", "--kernel must be one of"),
        ("mine.csv", None, "-l u,v --lift up", "--lift must be one of"),
        ("mine.csv", None, "-l u,v -c x,y --bandwidth wide", "bandwidth rule must be one of"),
        ("mine.csv", None, "-l u,v --bandwidth -3", "--bandwidth must be positive"),
        ("mine.csv", None, "-l u,v --bogus", "No such option"),
        ("mine.csv", None, "-l u,v --seed one", "Invalid value for '--seed'"),
        ("mine.csv", None, "-l u,,v", "a name is missing between the commas"),
    ],
)
def test_invalid_input_is_one_error_line(mistake, folder, reader, file, content, options, message):
    (folder / "sub").mkdir()
    (folder / "short.csv").write_text("kind,person\na,p0\nb,p99\n")
    if content is not None:
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in mistake(reader.format(file) + options)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("dance", "No such command 'dance'"),
        ("compare", "Missing argument"),
        ("compare mine.csv -l u", "one clustering cannot be compared"),
        ("compare mine.csv -l u,v --measures rant", "--measures must be one of lift_emd"),
        ("compare mine.csv -l u,v --lift fourier --tol -1", "--tol must be positive"),
        ("compare mine.csv -l u,v --tol 0.1", "--tol needs --lift fourier or structured, not auto"),
        (
            "compare mine.csv -l u,v --lift grid --tol 0.1",
            "--tol needs --lift fourier or structured",
        ),
        (
            "compare mine.csv -l u,v --lift exact --n-components 9",
            "--n-components needs --lift fourier",
        ),
        ("compare mine.csv -l u,v --lift fourier --tol 0.1 --n-components 9", "give either"),
        ("compare mine.csv -l u,v --lift nystrom", "did you mean 'nystroem'"),
        ("compare mine.csv -l u,v --kernel discrete --bandwidth 2", "kernel has no bandwidth"),
        ("compare mine.csv -l u,v --labels-only --bandwidth 2", "so bandwidth cannot apply"),
        ("compare mine.csv -l u,v,x --labels-only --bandwidth 2", "so bandwidth cannot apply"),
        (
            "consensus mine.csv -l u,v -k 2 --method evidence --labels-only --lift exact",
            "so lift cannot apply",
        ),
        ("compare mine.csv -l u,v --labels-only --measures lift_emd", "needs the points"),
        ("stability mine.csv -l u", "one clustering cannot be compared with others"),
        ("choose mine.csv -l u", "one clustering cannot be compared with others"),
        ("tree mine.csv -l u", "one clustering cannot be compared with others"),
        ("choose mine.csv -l u,v --out - --json", "choose one"),
        ("tree mine.csv -l u,v --out tree.gif", "must have one of the suffixes .svg, .png"),
        ("tree mine.csv -l u,v --lift exact", "the exact lift is the span of given clusters"),
        ("stability mine.csv -l u,v --page page.pdf", "must have one of the suffixes .html"),
        ("stability mine.csv -l u,v --page far/page.html", "there is no folder far"),
        ("drift mine.csv", "Missing argument 'NEW'"),
        ("drift mine.csv gone.csv -k 2", "gone.csv is not there"),
        ("drift mine.csv mine.csv", "give either -k, to cluster both samples"),
        ("drift mine.csv mine.csv -k 2 -l u", "give either -k, to cluster both samples"),
        ("drift mine.csv mine.csv -l u,v", "give --labels one column"),
        ("drift mine.csv mine.csv -l z", "mine.csv has no column 'z'"),
        ("drift mine.csv mine.csv -c x,z -k 2", "mine.csv has no column 'z'"),
        ("drift mine.csv mine.csv -c x -k 0", "Invalid value for '--n-clusters'"),
        ("drift mine.csv mine.csv -c x -k 21", "-k 21 is more than the 20 points of a sample"),
        ("drift mine.csv mine.csv -c x -k 2 --n-splits 0", "Invalid value for '--n-splits'"),
        ("drift mine.csv mine.csv -c x -l u --measures rand", "measures must be some of"),
        ("drift mine.csv mine.csv -c x -l u --out found.xls", "must have one of the suffixes"),
        ("drift mine.csv mine.csv -c x -l u --out - --json", "choose one"),
        ("drift mine.csv mine.csv -c x -l u --out mine.csv", "would be overwritten"),
        ("summarise mine.csv -l u,v -n 3", "--n 3 is more than the 2 clusterings"),
        ("summarise mine.csv -l u,v -n 1 --method near", "--method must be one of farthest"),
        ("summarise mine.csv -l u,v -n 1 --measure near", "--measure must be one of"),
        ("significance mine.csv -l u", "give two clusterings, such as --labels a,b; got 1: u"),
        ("significance mine.csv -l u,v --measure near", "--measure must be one of"),
        ("significance mine.csv -l u,v --labels-only --measure lift_emd", "needs the points"),
        ("significance mine.csv -l u,v --lift exact", "use --lift fourier"),
        ("significance mine.csv -l u,v --out - --json", "choose one"),
        ("significance mine.csv -l u,v --n-permutations 0", "Invalid value for '--n-permut"),
        ("profile mine.csv -l u", "give two clusterings, such as --labels a,b; got 1: u"),
        ("profile mine.csv -l u,v --measure rand", "rand has no bandwidth; choose one of lift_emd"),
        ("profile mine.csv -l u,v --kernel discrete", "the discrete kernel has no bandwidth"),
        ("profile mine.csv -l u,v --bandwidths 1", "--bandwidths must be a number of them from 2"),
        ("profile mine.csv -l u,v --bandwidths 1,-2", "--bandwidths must be a number of them"),
        ("profile mine.csv -l u,v --bandwidths 1,x", "--bandwidths must be a number of them"),
        ("profile mine.csv -l u,v --out found.xls", "must have one of the suffixes"),
        ("profile mine.csv -l u,v --labels-only", "No such option"),
        ("summarise mine.csv -l * -c * -n 1", "has no column left for --labels '*'"),
        ("stability mine.csv -l u,v --reference z", "--reference 'z' is none of the clusterings"),
        ("stability mine.csv -l u,v --out - --json", "choose one"),
        ("stability mine.csv -l u,v --out found.xls", "must have one of the suffixes"),
        ("consensus mine.csv -l u,v -k many", "--n-clusters must be an integer from 1, or auto"),
        ("consensus mine.csv -l u,v -k 0", "--n-clusters must be an integer from 1, or auto"),
        ("consensus mine.csv -l u,v -k 2 --method vote", "--method must be one of auto, lift_km"),
        ("consensus mine.csv -l u,v -k 2 --method lift_km --labels-only", "needs the points"),
        ("consensus mine.csv -l u,v -k 2 --out found.xls", "must have one of the suffixes"),
        ("consensus mine.csv -l u,v -k 2 --out far/found.csv", "there is no folder far"),
        ("consensus mine.csv -l u,v -k 2 --out .", "is a folder"),
        ("consensus mine.csv -l u,v -k 2 --out - --json", "choose one"),
        ("report mine.csv -l u,v --out page.pdf", "must have one of the suffixes"),
        ("report mine.csv -l u,v --out far/page.html", "there is no folder far"),
        ("demo --out far/page.html", "there is no folder far"),
    ],
)
def test_invalid_command_is_one_error_line(mistake, command, message):
    assert message in mistake(command)


@pytest.mark.parametrize(
    "command",
    [
        "consensus mine.csv -c x,y -l u,v -k 2 --out found.csv",
        "report mine.csv -l u,v --out found.html",
        "stability mine.csv -l u,v --page found.html",
        "tree mine.csv -l u,v --out found.svg",
    ],
)
def test_unwritable_folder_is_refused_before_computing(mistake, monkeypatch, command):
    # Root may write anywhere, so os.access is patched.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert "cannot be written: no permission" in mistake(command)


@pytest.mark.parametrize(
    "command",
    [
        "consensus mine.csv -c x,y -l u,v -k 2 --out found.csv",
        "report mine.csv -l u,v --out found.html",
        "stability mine.csv -l u,v --page found.html",
        "tree mine.csv -l u,v --out found.svg",
    ],
)
def test_existing_file_in_unwritable_folder_is_refused_before_computing(
    mistake, folder, monkeypatch, command
):
    (folder / "found.csv").write_text("what was there\n")
    (folder / "found.html").write_text("what was there\n")
    (folder / "found.svg").write_text("what was there\n")
    monkeypatch.setattr(os, "access", lambda path, mode: not os.path.isdir(path))
    monkeypatch.setattr("liftcluster.cli.commands.read_input", None)
    monkeypatch.setattr("liftcluster.cli.trust_commands.read_runs", None)
    assert "cannot be written: no permission" in mistake(command)


@pytest.mark.parametrize(
    "command",
    [
        "consensus mine.csv -c x,y -l u,v -k 2 --out mine.csv",
        "consensus mine.csv -c x,y -l u,v -k 2 --out ../{name}/mine.csv",
        "consensus mine.csv -c x,y --labels-file others.csv -k 2 --out others.csv",
        "consensus mine.csv -c x,y -l u -m soft=soft.csv -k 2 --out soft.csv",
        "consensus linked.csv -c x,y -l u,v -k 2 --out mine.csv",
        "report page.html -c x,y -l u,v --out page.html",
        "stability page.html -c x,y -l u,v --page page.html",
        "report mine.csv -c x,y --labels-file page.html --out page.html",
    ],
)
def test_input_files_are_never_overwritten(mistake, folder, command):
    (folder / "others.csv").write_text("w\n" + "a\nb\n" * 10)
    (folder / "soft.csv").write_text("p,q\n" + "0,1\n1,0\n" * 10)
    (folder / "page.html").write_text(GOOD)
    (folder / "linked.csv").symlink_to("mine.csv")
    assert "would be overwritten" in mistake(command.format(name=folder.name))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compare wide.csv -c a,b,c,d -l u,v --lift grid", "use --lift fourier"),
        ("compare wide.csv -c a -l u,none", "(empty cells, NA and -1 are noise)"),
        (
            "consensus mine.csv -l u,v -k 2 --method lift_km --labels-only",
            "labels alone give --n-clusters",
        ),
    ],
)
def test_errors_use_command_line_option_names(mistake, folder, command, words):
    rows = "".join(f"{i},{i % 3},{i % 4},{i % 5},{i % 2},{i % 3},-1\n" for i in range(20))
    (folder / "wide.csv").write_text(f"a,b,c,d,u,v,none\n{rows}")
    message = mistake(command)
    assert words in message
    assert '="' not in message
    assert "argument" not in message


def test_unreadable_file_is_refused(mistake, folder, monkeypatch):
    real = open

    def guarded(path, *args, **kwargs):
        if str(path).endswith("secret.csv"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **kwargs)

    (folder / "secret.csv").write_text(GOOD)
    monkeypatch.setattr("liftcluster.io.input_checks.open", guarded, raising=False)
    assert "secret.csv cannot be read: Permission denied" in mistake("compare secret.csv -l u,v")


def test_full_disk_keeps_the_old_file(mistake, folder, monkeypatch):
    (folder / "found.csv").write_text("what was there\n")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("liftcluster.io.write.write_csv", full)
    command = "consensus mine.csv -c x,y -l u,v -k 2 --out found.csv"
    assert "found.csv cannot be written: No space left on device" in mistake(command)


def test_warnings_do_not_suggest_options_missing_from_the_command_line(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(SystemExit) as stopped:
        main(["consensus", "mine.csv", "-c", "x,y", "-l", "u,v", "-k", "2", "--method", "cspa"])
    shown = capsys.readouterr().err
    assert stopped.value.code == 0
    assert "cut by eigenvectors, which does not balance the parts: install METIS with" in shown
    assert "partitioner" not in shown
