"""Files as people have them: missing values, stdin, other encodings, decimal commas, --append."""

import csv
import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from liftcluster.cli import main
from liftcluster.io import append, read_clusterings

RNG = np.random.default_rng(0)
N = 60
PLACE = np.repeat([0, 1, 2], N // 3)
GAPS = {"x": [3, 17, 40], "y": [17, 59]}
FRAME = pd.DataFrame(
    {
        "name": [f'no. {i}, "grün"\nzwei' if i % 20 == 0 else f"p{i}" for i in range(N)],
        "x": PLACE * 10 + RNG.normal(size=N).round(3),
        "y": RNG.normal(size=N).round(3),
        "a": PLACE,
        "b": np.where(RNG.random(N) < 0.1, 0, PLACE),
        "c": ["left" if p == 0 else "right" for p in PLACE],
    }
)
WITH_GAPS = FRAME.copy()
for _column, _rows in GAPS.items():
    WITH_GAPS.loc[_rows, _column] = np.nan
MISSING = sorted({row for rows in GAPS.values() for row in rows})
CONSENSUS = ["consensus", "-l", "a,b,c", "-k", "3"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Function that runs a command and returns its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(command, *args, stdin=None):
        arguments = [*command.split(), *map(str, args)] if isinstance(command, str) else [*command]
        if stdin is not None:
            stream = io.TextIOWrapper(io.BytesIO(stdin))
            monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        shown = capsys.readouterr()
        return stopped.value.code, shown.out, shown.err

    return run


def _consensus(run, file, *args):
    code, _, err = run(["consensus", file, "-l", "a,b,c", "-k", "3", "--out", "found.csv", *args])
    assert code == 0, err
    return pd.read_csv("found.csv"), err


def _write_npz(frame, path):
    text = {"name", "c"}
    np.savez(path, **{k: frame[k].to_numpy(str if k in text else None) for k in frame})


WRITERS = {
    "mine.csv": lambda frame, path: frame.to_csv(path, index=False),
    "mine.parquet": lambda frame, path: frame.to_parquet(path),
    "mine.npz": _write_npz,
}


@pytest.mark.parametrize("file", WRITERS)
def test_dropped_rows_keep_their_place_with_empty_labels(run, file):
    WRITERS[file](WITH_GAPS, file)
    found, err = _consensus(run, file, "--missing", "drop")
    assert "4 of 60 rows lack a coordinate and are left out: x (3), y (2)" in err
    WITH_GAPS.drop(index=MISSING).to_csv("less.csv", index=False)
    expected, _ = _consensus(run, "less.csv")
    assert found.index[found.consensus.isna()].tolist() == MISSING
    kept = found.drop(index=MISSING).reset_index(drop=True)
    np.testing.assert_allclose(kept, expected, atol=1e-12)


@pytest.mark.parametrize("file", WRITERS)
def test_missing_coordinates_are_filled_by_the_median(run, file):
    WRITERS[file](WITH_GAPS, file)
    found, err = _consensus(run, file, "--missing", "median")
    assert "4 of 60 rows lack a coordinate, which the median" in err
    filled = WITH_GAPS.fillna({"x": WITH_GAPS.x.median(), "y": WITH_GAPS.y.median()})
    filled.to_csv("filled.csv", index=False)
    np.testing.assert_allclose(found, _consensus(run, "filled.csv")[0], atol=1e-9)
    read = read_clusterings(file, labels=["a"], columns=["x", "y"], missing="median")
    np.testing.assert_allclose(read.X, filled[["x", "y"]])


@pytest.mark.parametrize(
    ("file", "place"), [("mine.csv", "line 5"), ("mine.parquet", "row 4"), ("mine.npz", "row 4")]
)
def test_missing_coordinates_are_an_error_that_counts_the_rows(run, file, place):
    WRITERS[file](WITH_GAPS, file)
    code, out, err = run(f"compare {file} -l a,b")
    assert (code, out) == (2, "")
    # The first row of the frame spans two lines of the CSV file.
    line = "line 6" if file.endswith("csv") else place
    assert f"{file}, {line}, column 'x'" in err
    assert "4 of 60 rows lack a coordinate: --missing drop leaves them out" in err


def test_dropped_rows_of_json_are_null(run):
    WITH_GAPS.to_csv("mine.csv", index=False)
    code, out, _ = run("consensus mine.csv -l a,b,c -k 3 --missing drop --json -q")
    labels = json.loads(out)["labels"]
    assert code == 0
    assert [i for i, label in enumerate(labels) if label is None] == MISSING


def test_ids_of_dropped_rows_are_written(run):
    WITH_GAPS.assign(key=range(100, 100 + N)).to_csv("mine.csv", index=False)
    found, _ = _consensus(run, "mine.csv", "--missing", "drop", "--id", "key")
    assert found.key.tolist() == list(range(100, 100 + N))
    assert found.consensus.isna().sum() == len(MISSING)


def test_labels_of_another_file_are_matched_before_rows_are_dropped(run):
    WITH_GAPS[["name", "x", "y"]].assign(key=range(N)).to_csv("points.csv", index=False)
    labels = FRAME[["a", "b", "c"]].assign(key=range(N)).iloc[::-1]
    labels.to_csv("labels.csv", index=False)
    command = "consensus points.csv --labels-file labels.csv --id key -k 3 --missing drop -q"
    assert run(f"{command} --out apart.csv")[0] == 0
    WITH_GAPS.assign(key=range(N)).to_csv("mine.csv", index=False)
    together, _ = _consensus(run, "mine.csv", "--missing", "drop", "--id", "key")
    pd.testing.assert_frame_equal(pd.read_csv("apart.csv"), together)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_dropped_rows_in_other_formats(run, suffix):
    WITH_GAPS.to_csv("mine.csv", index=False)
    file = f"found{suffix}"
    assert run(f"consensus mine.csv -l a,b,c -k 3 --missing drop -q --out {file}")[0] == 0
    if suffix == ".npz":
        labels = np.load(file)["consensus"]
        assert np.flatnonzero(labels == -1).tolist() == MISSING
    else:
        labels = pd.read_parquet(file)["consensus"]
        assert labels.index[labels.isna()].tolist() == MISSING


@pytest.mark.parametrize("cell", ["?", "NA", "NaN", "-", ".", "#N/A", " "])
def test_other_signs_of_missing_numbers(run, cell):
    rows = [f"{cell if i == 4 else i * 0.5},{i % 2},{i % 3}" for i in range(12)]
    with open("mine.csv", "w") as file:
        file.write("\n".join(["x,a,b", *rows]))
    code, _, err = run("compare mine.csv -l a,b --missing drop")
    assert code == 0
    assert "1 of 12 rows lack" in err


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (WITH_GAPS, "--missing guess", "--missing must be one of error, drop, median"),
        (WITH_GAPS, "--missing drop --labels-only", "--missing cannot apply to labels alone"),
        (WITH_GAPS.assign(x=np.nan), "--missing drop -c x,y", "each of the 60 rows lacks a"),
        (WITH_GAPS.assign(x=np.nan), "--missing median -c x,y", "column 'x' is empty"),
        (WITH_GAPS.assign(x=np.inf), "--missing drop -c x,y", "'inf' is not finite"),
        (FRAME, "--decimal x", "--decimal must be one of ., ,"),
        (FRAME, "--encoding utf-99", "--encoding 'utf-99' is not known"),
        (FRAME, "--encoding rot13", "--encoding 'rot13' is not known"),
        (FRAME, "--decimal , -c x,y", "is not a number; say --decimal ."),
    ],
)
def test_what_cannot_be_done_is_an_error(run, frame, options, message):
    frame.to_csv("mine.csv", index=False)
    code, out, err = run(f"compare mine.csv -l a,b {options}")
    assert (code, out) == (2, "")
    assert message in err


def test_text_options_need_a_text_file(run):
    FRAME.to_parquet("mine.parquet")
    assert "are for CSV and TSV files" in run("compare mine.parquet -l a,b --encoding cp1252")[2]


def test_stdin_is_read_like_a_file(run):
    FRAME.to_csv("mine.csv", index=False)
    expected = run("compare mine.csv -l a,b --json")
    with open("mine.csv", "rb") as file:
        content = file.read()
    assert run("compare - -l a,b --json", stdin=content) == expected
    FRAME.to_parquet("mine.parquet")
    with open("mine.parquet", "rb") as file:
        assert run("compare - -l a,b --json", stdin=file.read()) == expected


def test_errors_and_notes_about_stdin_call_it_so(run):
    content = WITH_GAPS.to_csv(index=False, sep=";", decimal=",").encode()
    code, _, err = run("compare - -l a,b", stdin=content)
    assert code == 2
    assert err.startswith("liftcluster: stdin, line 6, column 'x': the cell is empty")
    assert "stdin is empty" in run("compare - -l a,b", stdin=b"")[2]
    err = run("compare - -l a,b --missing drop", stdin=content)[2]
    assert "liftcluster: stdin is read with decimal commas" in err
    content = WITH_GAPS.assign(consensus=1).to_csv(index=False).encode()
    err = run([*CONSENSUS[:1], "-", *CONSENSUS[1:], "--append", "--out", "-"], stdin=content)[2]
    assert "liftcluster: stdin" in err
    assert run("drift - - -k 2", stdin=content)[2].count("stdin can be read only once") == 1


def test_a_terminal_is_not_a_table(run, monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    assert "stdin, which is a terminal" in run("compare - -l a,b")[2]


def test_temporary_copies_of_stdin_are_removed(tmp_path):
    import subprocess

    content = FRAME.to_csv(index=False).encode()
    done = subprocess.run(
        [sys.executable, "-m", "liftcluster", "compare", "-", "-l", "a,b"],
        input=content,
        capture_output=True,
        env=_with_folder(tmp_path),
        check=True,
    )
    assert b"lift_emd" in done.stdout
    assert list(tmp_path.iterdir()) == []


def _with_folder(folder):
    import os

    return os.environ | {"TMPDIR": str(folder)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoding": "utf-16"}, ""),
        ({"encoding": "utf-8-sig"}, ""),
        ({"encoding": "cp1252"}, "--encoding cp1252"),
        ({"encoding": "latin-1", "sep": ";", "decimal": ","}, "--encoding latin-1"),
        ({"sep": ";", "decimal": ","}, ""),
        ({"sep": "\t", "decimal": ","}, ""),
        ({"decimal": ","}, ""),  # pandas quotes the numbers
        ({"sep": ";", "decimal": ","}, "--decimal ,"),
        ({"encoding": "utf-16", "sep": ";", "decimal": ",", "compression": "gzip"}, ""),
    ],
)
def test_encodings_and_decimal_signs_make_no_difference(run, options, said):
    FRAME.to_csv("plain.csv", index=False)
    FRAME.to_csv("other.csv", index=False, **options)
    expected = json.loads(run("compare plain.csv -l c,b --json -q")[1])
    code, out, err = run(f"compare other.csv -l c,b --json -q {said}")
    assert code == 0, err
    assert json.loads(out) == expected
    assert json.loads(out)["columns"] == ["x", "y", "a"]


def test_other_encodings_are_not_guessed(run):
    FRAME.to_csv("mine.csv", index=False, encoding="cp1252")
    code, _, err = run("compare mine.csv -l a,b")
    assert code == 2
    assert "is not UTF-8 text (byte 0xfc" in err
    assert "--encoding cp1252 (Windows)" in err


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("x;a\n1,234;0\n2,5;1\n", ","),
        ("x;a\n1,234;0\n2,345;1\n", ","),  # semicolons: the decimal sign is a comma
        ("x\ta\n1,234\t0\n2,345\t1\n", "."),  # could be thousands
        ("x\ta\n1,2\t0\n2,345\t1\n", ","),
        ("x;a\n1,5;0\n2.5;1\n", "."),  # both: no guess
        ("x;a\n1,234,567;0\n2,5;1\n", "."),
        ("1,5;2,5;0\n3,5;4,5;1\n", ","),  # without a header
        ('x,a\n"1,234",0\n"2,345",1\n', "."),
    ],
)
def test_decimal_commas_are_inferred_where_that_is_safe(tmp_path, text, decimal):
    from liftcluster.io import open_table

    path = tmp_path / "mine.csv"
    path.write_text(text)
    table = open_table(path)
    assert table.decimal == decimal
    assert bool(table.notes) == (decimal == ",")


APPENDABLE = {
    "mine.csv": {},
    "mine.tsv": {"sep": "\t"},
    "mine.csv.gz": {"lineterminator": "\r\n"},
    "european.csv": {"sep": ";", "decimal": ","},
    "utf16.csv": {"encoding": "utf-16"},
}


@pytest.mark.parametrize("file", APPENDABLE)
@pytest.mark.parametrize("target", ["itself", "another"])
def test_append_keeps_the_table_and_adds_columns(run, file, target):
    options = APPENDABLE[file]
    WITH_GAPS.to_csv(file, index=False, **options)
    before = _cells(file, options)
    expected, _ = _consensus(run, file, "--missing", "drop")
    out = file if target == "itself" else f"new-{file}"
    arguments = ["consensus", file, "-l", "a,b,c", "-k", "3", "--missing", "drop", "--append"]
    code, _, err = run([*arguments, "--out", out])
    assert code == 0, err
    after = _cells(out, options)
    assert [row[: len(before[0])] for row in after] == before
    reading = {k: v for k, v in options.items() if k != "lineterminator"}
    added = pd.read_csv(out, **reading)[[*after[0][len(before[0]) :]]]
    names = ["", "_confidence", "_margin", *(f"_memberships_{j}" for j in range(3))]
    assert [*added] == [f"consensus{name}" for name in names]
    np.testing.assert_allclose(added, expected, atol=1e-15)


def _cells(file, options):
    encoding = options.get("encoding", "utf-8")
    opened = gzip.open if file.endswith(".gz") else open
    with opened(file, "rt", encoding=encoding, newline="") as text:
        return list(csv.reader(text, delimiter=options.get("sep", ",")))


def test_append_to_parquet_keeps_types(run):
    frame = WITH_GAPS.assign(kind=pd.Categorical(FRAME.c), day=pd.Timestamp("2024-02-03"))
    frame.to_parquet("mine.parquet")
    frame = pd.read_parquet("mine.parquet")
    command = "consensus mine.parquet -l a,b,c -k 3 --missing drop --append --out mine.parquet -q"
    assert run(command)[0] == 0
    found = pd.read_parquet("mine.parquet")
    pd.testing.assert_frame_equal(found[[*frame]], frame)
    assert found.index[found.consensus.isna()].tolist() == MISSING
    code, _, err = run(command)
    assert code == 2
    assert "has a column 'consensus' already" in err


def test_append_to_h5ad_adds_to_obs_and_obsm(run):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(WITH_GAPS[["x", "y"]].to_numpy())
    cells.obs_names = [f"cell {i}" for i in range(N)]
    for key in "abc":
        cells.obs[key] = pd.Categorical(FRAME[key].astype(str).to_numpy())
    cells.obs["c"] = cells.obs["c"].cat.reorder_categories(["right", "left"])
    cells.uns["c_colors"] = np.array(["#000000", "#ff0000"])
    cells.layers["twice"] = 2 * cells.X
    cells.write_h5ad("mine.h5ad")
    code, _, err = run(
        "consensus mine.h5ad -c X -l a,b,c -k 3 --missing drop --append --out mine.h5ad"
    )
    assert code == 0, err
    found = anndata.read_h5ad("mine.h5ad")
    pd.testing.assert_frame_equal(found.obs[[*"abc"]], cells.obs)
    np.testing.assert_array_equal(found.layers["twice"], cells.layers["twice"])
    assert found.uns["c_colors"].tolist() == ["#000000", "#ff0000"]
    expected, _ = _consensus(run, "mine.h5ad", "-c", "X", "--missing", "drop")
    labels = found.obs["consensus"]
    assert [*labels.cat.categories] == ["0", "1", "2"]
    assert np.flatnonzero(labels.isna()).tolist() == MISSING
    kept = ~labels.isna().to_numpy()
    assert labels[kept].astype(float).tolist() == expected.consensus[kept].tolist()
    np.testing.assert_allclose(
        found.obs["consensus_confidence"], expected.confidence, rtol=1e-6, atol=1e-9
    )
    assert found.obsm["consensus_memberships"].shape == (N, 3)


@pytest.mark.parametrize("command", ["stability", "choose"])
def test_append_of_stability_is_named_after_the_clustering(run, command):
    FRAME.to_csv("mine.csv", index=False)
    assert run(f"{command} mine.csv -l a,b,c --append --out mine.csv -q")[0] == 0
    found = pd.read_csv("mine.csv")
    assert [*found][:-1] == [*FRAME]
    assert [*found][-1] in {"a_stability", "b_stability", "c_stability"}


def test_append_to_stdout(run):
    content = FRAME.to_csv(index=False)
    code, out, _ = run("consensus - -l a,b,c -k 3 --append --out - -q", stdin=content.encode())
    assert code == 0
    found = pd.read_csv(io.StringIO(out))
    pd.testing.assert_frame_equal(found[[*FRAME]], pd.read_csv(io.StringIO(content)))


def test_a_table_without_header_gets_one(run):
    FRAME[["x", "y", "a", "b"]].to_csv("mine.csv", index=False, header=False)
    assert run("consensus mine.csv -c 1,2 -l 3,4 -k 3 --append --out new.csv -q")[0] == 0
    assert [*pd.read_csv("new.csv")][:5] == ["1", "2", "3", "4", "consensus"]


@pytest.mark.parametrize(
    ("file", "out", "message"),
    [
        ("mine.csv", "", "--append needs --out"),
        ("mine.csv", "--out new.parquet", "in its own format: .csv"),
        ("mine.csv", "--out new.npz", "must have one of the suffixes"),
        ("mine.parquet", "--out new.csv", "in its own format: .parquet"),
        ("mine.parquet", "--out -", "in its own format, not to stdout"),
        ("mine.npz", "--out new.csv", "for CSV, Parquet and h5ad files, not mine.npz"),
    ],
)
def test_append_keeps_the_format(run, tmp_path, file, out, message):
    WRITERS[file](FRAME, file)
    code, shown, err = run(f"consensus {file} -l a,b,c -k 3 --append {out}")
    assert (code, shown) == (2, "")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_an_interrupted_append_leaves_the_table_as_it_was(run, tmp_path, monkeypatch):
    FRAME.to_csv("mine.csv", index=False)
    before = (tmp_path / "mine.csv").read_bytes()

    def fail(text, table, header, rows):
        text.write("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(append, "_write_rows", fail)
    code, _, err = run("consensus mine.csv -l a,b,c -k 3 --append --out mine.csv")
    assert code == 2
    assert "mine.csv cannot be written: No space left on device" in err
    assert (tmp_path / "mine.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


def test_without_append_the_input_is_not_overwritten(run):
    FRAME.to_csv("mine.csv", index=False)
    assert "would be overwritten" in run("consensus mine.csv -l a,b,c -k 3 --out mine.csv")[2]


ODD_CELLS = ["", " ", '"', '""', ",", ";", "\n", "\r", "a\rb", "a\r\nb", "'", "#", "é\u2028x", "0"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_odd_cells_survive_an_append(run, end):
    rows = [[odd, f"{i}.5", str(i % 2), str(i % 3)] for i, odd in enumerate(ODD_CELLS)]
    with open("mine.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end)
        writer.writerows([["odd", "x", "a", "b"], *rows])
    assert run("consensus mine.csv -c x -l a,b -k 2 --append --out mine.csv -q")[0] == 0
    with open("mine.csv", newline="", encoding="utf-8") as file:
        assert [row[:4] for row in csv.reader(file)][1:] == rows
