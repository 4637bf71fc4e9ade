"""Tables on disk: round trips, and errors that name the line and column."""

import csv
import gzip
import io
import os
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftcluster as lc
import liftcluster.io.csv_files as csv_module
from liftcluster.io import InputError, check_target, open_table, read_clusterings, write_columns

X = np.array([[1.5, -2.0], [0.25, 1e-3], [3.0, 4.0], [-1.0, 2.0]])
KIND = ["a", "b", "", "a"]
NUMBER = ["0", "-1", "1", "0"]


def write_rows(path, delimiter=",", encoding="utf-8", opener=open):
    with opener(path, "wt", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["x", "y", "kind", "number"])
        writer.writerows(zip(*X.T.tolist(), KIND, NUMBER, strict=True))
    return path


def saved(folder, kind):
    """The same table in every format."""
    path = folder / f"mine.{kind}"
    labels = np.array([1, 2, 3, 1])
    if kind in ("csv", "csv.gz", "tsv"):
        opener = gzip.open if kind.endswith("gz") else open
        return write_rows(path, "\t" if kind == "tsv" else ",", opener=opener)
    if kind == "npz":
        np.savez(path, points=X, kind=np.array(KIND), number=np.array([0, -1, 1, 0]))
    elif kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {
            "x": X[:, 0],
            "y": X[:, 1],
            "kind": ["a", "b", None, "a"],
            "number": [0, -1, 1, 0],
        }
        parquet.write_table(arrow.table(columns), path)
    elif kind == "h5ad":
        anndata = pytest.importorskip("anndata")
        pandas = pytest.importorskip("pandas")
        obs = pandas.DataFrame(
            {"kind": pandas.Categorical(["a", "b", None, "a"]), "number": [0, -1, 1, 0]},
            index=list("wxyz"),
        )
        anndata.AnnData(labels[:, None].astype(float), obs=obs, obsm={"X_pca": X}).write_h5ad(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "npz", "parquet", "h5ad"])
def test_every_format_gives_the_same_points_and_clusterings(tmp_path, kind):
    found = read_clusterings(saved(tmp_path, kind), labels=["kind", "number"])
    np.testing.assert_array_equal(found.X, X)
    assert found.partitions["number"].labels.tolist() == [0, -1, 1, 0]
    names = np.array([*found.partitions["kind"].names, "none"])
    missing = "" if kind == "npz" else "none"  # NumPy strings have no missing value: "" is a label
    assert names[found.partitions["kind"].labels].tolist() == ["a", "b", missing, "a"]


def test_format_is_detected_from_the_content_not_the_suffix(tmp_path):
    path = saved(tmp_path, "npz").rename(tmp_path / "mine.csv")
    np.testing.assert_array_equal(read_clusterings(path, labels=["kind"]).X, X)


def test_points_and_labels_of_two_npy_files_are_joined_by_row(tmp_path):
    np.save(tmp_path / "points.npy", X)
    np.save(tmp_path / "ward.npy", np.array(["p", "q", "q", "p"]))
    found = read_clusterings(tmp_path / "points.npy", labels_files=[tmp_path / "ward.npy"])
    np.testing.assert_array_equal(found.X, X)
    assert found.partitions["ward"].names == ("p", "q")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_detected(tmp_path, delimiter):
    path = write_rows(tmp_path / "mine.txt", delimiter)
    assert open_table(path).names == ["x", "y", "kind", "number"]


def test_spaces_in_text_are_not_delimiters(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("cell type\nB cell\nT cell\n")
    assert open_table(path).names == ["cell type"]


def test_spaces_between_numbers_are_delimiters(tmp_path):
    np.savetxt(tmp_path / "points.txt", X)
    table = open_table(tmp_path / "points.txt")
    assert table.names == ["1", "2"]
    np.testing.assert_array_equal(table.read(["1", "2"], [])["2"], X[:, 1])


def test_columns_of_a_file_without_header_are_numbered(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1.5,2,7\n2.5,3,8\n")
    found = read_clusterings(path, labels=["3"])
    assert found.X.tolist() == [[1.5, 2.0], [2.5, 3.0]]
    assert found.partitions["3"].names == (7, 8)


def test_column_numbers_written_by_pandas_are_a_header(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("0,1,2\n1.5,2,7\n2.5,3,8\n")
    assert read_clusterings(path, labels=["2"]).X.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_row_index_written_by_pandas_is_not_a_coordinate(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(",x,kind\n0,1.5,a\n1,2.5,b\n")
    assert read_clusterings(path, labels=["kind"]).columns == ["x"]


def test_byte_order_mark_and_non_ascii_text_are_read(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("größe,种类\n1,é\n2,ß\n", encoding="utf-8-sig")
    found = read_clusterings(path, labels=["种类"])
    assert found.columns == ["größe"]
    assert found.partitions["种类"].names == ("ß", "é")


def test_quoted_cells_may_contain_commas_and_line_breaks(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('x,kind\n1,"a,b"\n2,"two\nlines"\n3,"say ""hi"""\nfour,z\n')
    table = open_table(path)
    assert table.read([], ["kind"])["kind"].tolist() == ["a,b", "two\nlines", 'say "hi"', "z"]
    with pytest.raises(InputError, match=r"line 6, column 'x': 'four' is not a number"):
        table.read(["x"], [])


def test_blank_lines_are_skipped_but_counted_in_line_numbers(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,kind\n\n1,a\n\nbad,b\n\n")
    table = open_table(path)
    assert table.read([], ["kind"])["kind"].tolist() == ["a", "b"]
    with pytest.raises(InputError, match="line 5"):
        table.read(["x"], [])


def test_blank_line_in_a_single_column_is_a_missing_label(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("kind\na\n\nb\n\n")
    assert open_table(path).read([], ["kind"])["kind"].tolist() == ["a", None, "b"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "the cell is empty"),
        ("NA", "'NA' is not a number"),
        ("tall", "'tall' is not a number"),
        ("inf", "'inf' is not finite"),
        ("1,5", "say --decimal ,"),
    ],
)
def test_invalid_number_is_reported_with_line_and_column(tmp_path, cell, message):
    path = tmp_path / "mine.csv"
    path.write_text(f"x;y\n1;2.5\n3;{cell}\n5;6\n")
    with pytest.raises(InputError, match=rf"mine\.csv, line 3, column 'y': .*{message}"):
        open_table(path).read(["x", "y"], [])


def test_invalid_number_after_the_first_chunk_is_reported_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_module, "_CHUNK", 7)
    path = tmp_path / "mine.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i if i != 40 else 'forty'}\n" for i in range(60)))
    with pytest.raises(InputError, match=r"line 42, column 'y': 'forty' is not a number"):
        read_clusterings(path, labels=["x"])


def test_column_with_one_invalid_number_is_an_error(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,y,kind\n1,2,a\n3,oops,b\n5,6,a\n")
    with pytest.raises(InputError, match="line 3, column 'y': 'oops'"):
        read_clusterings(path, labels=["kind"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("x,kind\n", "a header but no rows"),
        ("x,x\n1,2\n", "two columns called 'x'"),
        ("x,kind\n1,a\n2\n", "line 3 has 1 cells, the first line has 2"),
        ("x,kind\n1,a,b\n", "line 2 has 3 cells"),
        ('x,kind\n1,"a\n2,b\n', "check the quotes"),
        ("x,kind\n1,a\0b\n", "is not text"),
        ("x,kind\n" + "1" * 200_000 + ",a\n", "field larger than field limit"),
    ],
)
def test_invalid_table_is_refused(tmp_path, text, message):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_clusterings(path, labels=["kind"])


def test_invalid_cell_in_a_default_column_suggests_selecting_columns(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,other,kind\n1,2,a\n3,,b\n5,6,a\n")
    with pytest.raises(
        InputError,
        match=r"'other': the cell is empty; 1 of 3 rows lack .*select them with --columns",
    ):
        read_clusterings(path, labels=["kind"])
    with pytest.raises(InputError, match=r"the cell is empty; [^(]*$"):
        read_clusterings(path, labels=["kind"], columns=["other"])


def test_numbers_with_underscores_are_not_coordinates(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,batch,kind\n1,1_2,a\n3,2_2,b\n")
    assert read_clusterings(path, labels=["kind"]).columns == ["x"]


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["1", "01", "1.0"], ("01", "1", "1.0")),
        (["1.0", "2.0", ""], (1, 2)),
        (["a", "-1", " a "], ("a",)),
        (["1", "-1", "NA"], (1,)),
        (["9007199254740993", "9007199254740992"], (9007199254740992, 9007199254740993)),
        (["True", "1"], ("1", "True")),
    ],
)
def test_similar_labels_stay_different_and_missing_labels_are_noise(tmp_path, cells, names):
    path = tmp_path / "mine.csv"
    path.write_text("x,kind\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    assert read_clusterings(path, labels=["kind"]).partitions["kind"].names == names


def test_text_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes("x,kind\n1,a\n2,gr\xf6n\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"not UTF-8 text .byte 0xf6 after line"):
        read_clusterings(path, labels=["kind"])


def test_truncated_gzip_file_is_refused(tmp_path):
    path = saved(tmp_path, "csv.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match="is damaged"):
        read_clusterings(path, labels=["kind"])


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFTCLUSTER_FILE_GIB", str(1000 / 2**30))
    path = tmp_path / "mine.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("x,kind\n" + "1,a\n" * 1000)
    with pytest.raises(InputError, match="more than the"):
        read_clusterings(path, labels=["kind"])


def test_too_long_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_module, "_MAX_LINE", 100)
    path = tmp_path / "mine.csv"
    path.write_text("x,kind\n" + "1" * 200 + ",a\n")
    with pytest.raises(InputError, match="line 2 has over 100 characters"):
        read_clusterings(path, labels=["kind"])


def test_pickles_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    trap = np.array([Trap(), None], dtype=object)
    np.save(tmp_path / "trap.npy", trap, allow_pickle=True)
    np.savez(tmp_path / "trap.npz", labels=trap)
    for name in ("trap.npy", "trap.npz"):
        with pytest.raises(InputError, match="never loaded"):
            open_table(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_truncated_npy_file_is_refused(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(InputError, match="not a valid npy file"):
        open_table(path)
    path.write_bytes(whole.replace(b"(4, 2)", b"(4, 9)"))
    with pytest.raises(InputError, match="not a valid npy file"):
        open_table(path)


def test_npy_shape_larger_than_the_file_is_refused(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)
    path.write_bytes(path.read_bytes().replace(b"(4, 2)", b"(9, 9)"))
    with pytest.raises(InputError, match=r"shape \(9, 9\) needs 648 bytes, the file has 192"):
        open_table(path)


def test_a_npz_bomb_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
    )
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    with pytest.raises(InputError, match="more than the 16 GiB"):
        open_table(path)


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "h5ad"])
def test_suffix_that_contradicts_the_content_is_refused(tmp_path, kind):
    path = write_rows(tmp_path / f"mine.{kind}")
    with pytest.raises(InputError, match=f"is not a .{kind} file"):
        open_table(path)


@pytest.mark.parametrize(
    ("kind", "magic"),
    [
        ("parquet", b"PAR1"),
        ("h5ad", b"\x89HDF\r\n\x1a\n"),
        ("npz", b"PK\x03\x04"),
        ("npy", b"\x93NUMPY"),
    ],
)
def test_file_with_invalid_content_is_refused(tmp_path, kind, magic):
    pytest.importorskip("pyarrow")
    pytest.importorskip("anndata")
    path = tmp_path / f"mine.{kind}"
    path.write_bytes(magic + b"nothing that belongs here")
    with pytest.raises(InputError, match="not a valid"):
        open_table(path)


def test_missing_number_in_parquet_is_reported_with_its_row(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "mine.parquet"
    parquet.write_table(arrow.table({"x": [1.0, None, 2.0], "kind": ["a", "b", "a"]}), path)
    with pytest.raises(InputError, match="row 2, column 'x' is empty"):
        read_clusterings(path, labels=["kind"])


def test_text_columns_of_parquet_are_not_coordinates(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "mine.parquet"
    columns = {"x": [1.0, 2.0], "note": ["p", "q"], "day": [None, None], "kind": ["a", "b"]}
    parquet.write_table(arrow.table(columns), path)
    assert read_clusterings(path, labels=["kind"]).columns == ["x"]


def test_two_files_are_joined_by_id(tmp_path):
    (tmp_path / "points.csv").write_text("cell,x\nc1,1\nc2,2\nc3,3\n")
    (tmp_path / "labels.csv").write_text("kind,cell\nb,c3\na,c1\nz,c9\n,c2\n")
    found = read_clusterings(
        tmp_path / "points.csv", labels_files=[tmp_path / "labels.csv"], id="cell"
    )
    names = np.array([*found.partitions["kind"].names, None], dtype=object)
    assert names[found.partitions["kind"].labels].tolist() == ["a", None, "b"]
    assert found.ids.tolist() == ["c1", "c2", "c3"]
    assert any("1 rows with unknown ids" in note for note in found.notes)


def test_numeric_and_text_ids_match(tmp_path):
    (tmp_path / "points.csv").write_text("cell,x\n1,1\n2,2\n")
    (tmp_path / "labels.csv").write_text("kind,cell\nb,2\na,1\nz,x1\n")
    found = read_clusterings(
        tmp_path / "points.csv", labels_files=[tmp_path / "labels.csv"], id="cell"
    )
    assert found.partitions["kind"].labels.tolist() == [0, 1]


def test_arrays_of_different_lengths_are_refused(tmp_path):
    np.savez(tmp_path / "mine.npz", X=X, kind=np.array([0, 1, 1]))
    with pytest.raises(InputError, match="different lengths: 'X' 4, 'kind' 3"):
        read_clusterings(tmp_path / "mine.npz", labels=["kind"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("kind,cell\na,c1\nb,c2\n", "lacks 1 of the 3 ids in column 'cell'.*'c3'"),
        ("kind,cell\na,c1\nb,c2\nb,c2\nb,c3\n", "'c2' twice"),
        ("kind,cell\na,c1\nb,\nb,c3\n", "no 'cell' for point 2"),
        ("kind\na\nb\n", "has 3 rows and .* has 2"),
    ],
)
def test_ids_that_do_not_match_are_refused(tmp_path, labels, message):
    (tmp_path / "points.csv").write_text("cell,x\nc1,1\nc2,2\nc3,3\n")
    (tmp_path / "labels.csv").write_text(labels)
    with pytest.raises(InputError, match=message):
        read_clusterings(
            tmp_path / "points.csv",
            labels_files=[tmp_path / "labels.csv"],
            labels=["kind"],
            id="cell",
        )


def test_memberships_are_read_from_columns_a_pattern_or_a_matrix(tmp_path):
    R = np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]])
    path = tmp_path / "mine.csv"
    path.write_text("x,p_a,p_b\n1,0.5,0.5\n2,1,0\n3,0.25,0.75\n")
    np.save(tmp_path / "soft.npy", R)
    selection = ["one=p_a,p_b", "two=p_*", f"three={tmp_path / 'soft.npy'}"]
    found = read_clusterings(path, columns=["x"], memberships=selection)
    assert list(found.partitions) == ["one", "two", "three"]
    for partition in found.partitions.values():
        np.testing.assert_allclose(partition.memberships.toarray(), R)
    assert found.partitions["one"].names == ("p_a", "p_b")


def test_invalid_memberships_are_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,p,q\n1,0.5,0.4\n2,1,0\n")
    with pytest.raises(InputError, match=r"memberships 'm' of .*sum to one"):
        read_clusterings(path, columns=["x"], memberships=["m=p,q"])
    with pytest.raises(InputError, match=r"'r' is neither a column of .* nor a file"):
        read_clusterings(path, columns=["x"], memberships=["m=p,r"])


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_coordinates_of_extreme_scale_are_standardized_and_reported(tmp_path, scale):
    x, y = np.array([1.0, -2.0, 3.0, 7.0]), np.array([1.0, 2.0, 3.0, 4.0])
    np.savez(tmp_path / "table.npz", x=x * scale, y=y, kind=[0, 0, 1, 1])
    found = read_clusterings(tmp_path / "table.npz", labels=["kind"], standardize=True)
    expected = np.column_stack([(z - z.mean()) / z.std() for z in (x, y)])
    np.testing.assert_allclose(found.X, expected, rtol=1e-6)
    wide, narrow = ("x", "y") if scale > 1 else ("y", "x")
    note = read_clusterings(tmp_path / "table.npz", labels=["kind"]).notes[-1]
    assert note.startswith(f"the standard deviation of '{wide}' is ")
    assert f" times that of '{narrow}'" in note
    assert len(note) < 150


def test_standardized_coordinates_have_mean_zero_and_deviation_one(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,y,flat,kind\n1,1000,5,a\n2,3000,5,b\n6,2000,5,a\n")
    found = read_clusterings(path, labels=["kind"], standardize=True)
    np.testing.assert_allclose(found.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.X.std(axis=0), [1, 1, 0], atol=1e-12)


def test_coordinates_of_very_different_scales_suggest_standardize(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,y,kind\n1,1000,a\n2,3000,b\n3,2000,a\n")
    assert any("--standardize" in note for note in read_clusterings(path, labels=["kind"]).notes)


def test_coordinate_column_given_as_labels_is_noted(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i * 0.37}\n" for i in range(50)))
    assert any(
        "check that it is a clustering" in n for n in read_clusterings(path, labels=["y"]).notes
    )


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({}, "select the columns of clusterings with --labels; .* has 'x', 'y', 'kind', 'number'"),
        ({"labels": ["knd"]}, "no column 'knd'; did you mean 'kind'"),
        ({"labels": ["kind"], "columns": ["q"]}, "no column 'q'; its columns: 'x'"),
        ({"labels": ["kind"], "columns": ["x", "x"]}, "selected twice"),
        ({"labels": ["kind", "kind"]}, "selected twice|called 'kind'"),
        ({"labels": ["kind"], "columns": ["x"], "view": ["x"]}, "view must be two columns"),
    ],
)
def test_invalid_column_selection_is_refused(tmp_path, selection, message):
    with pytest.raises(InputError, match=message):
        read_clusterings(write_rows(tmp_path / "mine.csv"), **selection)


def test_labels_only_needs_no_numeric_columns(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,b\nx,p\ny,q\n")
    with pytest.raises(InputError, match="--labels-only"):
        read_clusterings(path, labels=["a", "b"])
    assert read_clusterings(path, labels=["a", "b"], points=False).X is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".npz"])
def test_written_columns_are_read_back(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"found{suffix}"
    R = np.array([[1 / 3, 2 / 3], [1.0, 0.0]])
    ids = np.array(["a,b", "é"], dtype=object)
    write_columns(path, {"id": ids, "label": np.array([1, 0]), "p": R})
    table = open_table(path)
    columns = ["p"] if suffix == ".npz" else ["p_0", "p_1"]
    found = table.read(columns, ["id", "label"])
    np.testing.assert_array_equal(np.column_stack([found[name] for name in columns]), R)
    assert found["id"].tolist() == ["a,b", "é"]
    assert found["label"].tolist() == [1, 0]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
    path = tmp_path / "found.csv"
    path.write_text("what was there\n")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("liftcluster.io.write.write_csv", full)
    with pytest.raises(InputError, match=r"found\.csv cannot be written: No space left"):
        write_columns(path, {"label": np.array([0])})
    assert path.read_text() == "what was there\n"
    assert [p.name for p in tmp_path.iterdir()] == ["found.csv"]


@pytest.mark.parametrize("state", ["missing", "broken"])
def test_parquet_without_pyarrow_is_refused_before_computing(tmp_path, monkeypatch, state):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    if state == "missing":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        (tmp_path / "pyarrow.py").write_text("raise ImportError('made for another NumPy')")
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="needs pyarrow: pip install"):
        check_target(tmp_path / "found.parquet", [".csv", ".parquet"])


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_columns(path, {"label": np.array([7])}),
        lambda path: lc.represent([[0.0], [1.0]], [0, 1]).save(path),
    ],
    ids=["columns", "representation"],
)
def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path, write):
    pipe = tmp_path / "pipe"  # not a real device, which a failure as root would delete
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as other:
        read = other.submit(pipe.read_bytes)
        write(pipe)
        assert read.result(timeout=10)
    assert pipe.is_fifo()


def test_writing_to_a_symbolic_link_replaces_its_target(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "found.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_columns(link, {"label": np.array([7])})
    assert link.is_symlink()
    assert target.read_text() == "label\n7\n"


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(cells, st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_any_text_and_number_survive_a_csv_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("any") / "mine.csv"
    texts, numbers = zip(*rows, strict=True)
    write_columns(path, {"text": np.array(texts, dtype=object), "x": np.array(numbers)})
    found = open_table(path).read(["x"], ["text"])
    np.testing.assert_array_equal(found["x"], numbers)
    expected = [text.strip() for text in texts]
    if not any(_is_special(text) for text in expected):
        assert found["text"].tolist() == expected


def _is_special(text):
    return (
        text.lower() in ("", "na", "nan", "none", "null", "n/a", "<na>")
        or text.lstrip("-").replace(".0", "").isdecimal()
    )
