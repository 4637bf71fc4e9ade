"""Untrusted files: a correct table, or one clear error that names the file, and nothing else.

The seeds are fixed unless ``LIFTCLUSTER_LONG`` asks for more examples than usual.
"""

import gzip
import io
import os
import tracemalloc
import warnings
import zipfile
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster.io import InputError, h5ad_files, open_table, read_clusterings, write_csv
from liftcluster.representation.storage import name_from_json, write_npz
from support.amount import IS_LONG, also, examples

fuzzed = settings(max_examples=examples(80), derandomize=not IS_LONG)

ROWS = [(0.5 * i, i % 7, "ab c"[i % 3 :], "é\U0001f600,"[i % 3]) for i in range(12)]


@cache
def good(kind):
    """A small table of x, y, u and v, as bytes of a file of some kind."""
    columns = {
        "x": np.array([row[0] for row in ROWS]),
        "y": np.array([row[1] for row in ROWS]),
        "u": np.array([row[2] for row in ROWS]),
        "v": np.array([row[3] for row in ROWS]),
    }
    out = io.BytesIO()
    if kind == "npy":
        table = np.zeros(len(ROWS), dtype=[("x", "f8"), ("y", "i4"), ("u", "U4"), ("v", "U1")])
        for name, column in columns.items():
            table[name] = column
        np.save(out, table)
    elif kind == "npz":
        np.savez_compressed(out, **columns)
    elif kind == "parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table(columns), out)
    else:
        text = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
        write_csv(text, columns, "\t" if "tsv" in kind else ",")
        text.detach()
        if kind.endswith("gz"):
            return gzip.compress(out.getvalue(), mtime=0)
    return out.getvalue()


KINDS = ["csv", "tsv", "csv.gz", "npy", "npz", "parquet"]
ODD = st.sampled_from(
    [
        b"\0",
        b"\xff" * 8,
        b"\x7f" + b"\xff" * 7,
        b"9" * 12,
        b"-1",
        b'"',
        b"\r",
        b"\n",
        b",",
        b"nan",
        "\ufeff".encode(),
        b"\xed\xa0\x80",
        b"(",
        b"'|O'",
        b"1e999",
        b"\xe2\x80\xa8",
        b"=cmd()",
    ]
)


@st.composite
def damaged(draw, whole):
    """Bytes with something overwritten, cut out, put in or repeated, once to four times."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 1, 1, 2, 8, 60])))
        how = draw(st.sampled_from(["put", "odd", "again", "end"]))
        if how == "put":
            content[start:stop] = draw(st.binary(max_size=6))
        elif how == "odd":
            content[start:stop] = draw(ODD)
        elif how == "again":
            content[start:start] = content[start:stop] * draw(st.integers(1, 40))
        else:
            del content[start:]
    return bytes(content)


def read_all(path):
    """Read the labels and coordinates of a file in all ways."""
    table = open_table(path)
    found = read_clusterings(path, labels=table.names[:2], points=False)
    for partition in found.partitions.values():
        assert partition.n == len(partition.labels)
        for name in partition.names:
            str(name).encode()  # names read from a file can be written to one
    X = read_clusterings(path, labels=[table.names[-1]]).X
    assert X.ndim == 2
    assert np.isfinite(X).all()


def check(path):
    """Check for a valid table or one clear error that names the file; no warnings."""
    message = f"{path}"
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            read_all(path)
        except InputError as error:
            message = str(error)
    assert str(path) in message or "are called" in message, message
    assert len(message) < 1500, message
    assert [str(w.message) for w in warned if "dropped" not in str(w.message)] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_a_table_or_a_clear_error(kind, folder):
    path = folder / f"mine.{kind}"

    @fuzzed
    @given(damaged(good(kind)))
    def run(content):
        path.write_bytes(content)
        check(path)

    run()


MAGIC = [b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"PAR1", b"\x89HDF\r\n\x1a\n", b"\x1f\x8b\x08\x00", b"\xff\xfe", b"x,u\n"]  # fmt: skip
CELLS = st.sampled_from(["1", "-2.5", "a", "", '"', '"a,b"', "1e5", "NA", "é", "1_0", " ", "٣", "\u2028"])  # fmt: skip


@pytest.mark.long  # each example with the signature of HDF5 starts a process
@fuzzed
@given(st.sampled_from(["", *MAGIC]), st.binary(max_size=200))
def test_any_bytes_are_a_table_or_a_clear_error(folder, magic, rest):
    path = folder / "any.csv"
    path.write_bytes((magic or b"") + rest)
    check(path)


@fuzzed
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([",", "\t", ";", "|", " "]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252", "shift-jis"]),
)
def test_tables_of_any_shape_and_encoding_are_a_table_or_a_clear_error(
    folder, rows, comma, end, encoding
):
    path = folder / "shapes.csv"
    text = end.join(comma.join(row) for row in rows)
    path.write_bytes(text.encode(encoding, errors="ignore"))
    check(path)


HEADERS = st.fixed_dictionaries(
    {
        "descr": st.sampled_from(["'<f8'", "'|O'", "'<U4'", "'<M8[ns]'", "'|S3'", "'<c16'", "'V7'", "'|b1'", "[('x','<f8'),('u','|O')]", "[('x','<f8',(3,)),('u','<U2')]", "'<U999999999'", "__import__('os').getpid()", "'f8'*9**9"]),
        "fortran_order": st.sampled_from(["True", "False", "7"]),
        "shape": st.sampled_from(["(2,)", "(4, 2)", "()", "(0,)", "(10**12,)", "(1000000000000,)", "(-1, 3)", "(2, 2, 2)", "(True,)", "(99999999999999999999999,)"]),
    }
)  # fmt: skip


@fuzzed
@given(HEADERS, st.sampled_from([1, 2, 3]), st.binary(max_size=80))
def test_any_header_of_an_array_is_a_table_or_a_clear_error(folder, header, version, rest):
    text = "{" + ", ".join(f"'{k}': {v}" for k, v in header.items()) + "}\n"
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    path = folder / "header.npy"
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + rest)
    check(path)


def test_invalid_unicode_in_an_array_is_refused(tmp_path):
    """Code points beyond Unicode and lone surrogates, which cannot be encoded as UTF-8."""
    for bad in (0x7FFFFFFF, 0xD800):
        path = tmp_path / "labels.npy"
        np.save(path, np.array([97, bad], dtype=np.uint32).view("U1"))
        with pytest.raises(InputError, match=r"labels\.npy.*not text"):
            read_clusterings(path, labels=["labels"], points=False)
        np.savez(path.with_suffix(".npz"), u=np.array([97, bad], dtype=np.uint32).view("U1"))
        with pytest.raises(InputError, match="not text"):
            read_clusterings(path.with_suffix(".npz"), labels=["u"], points=False)


def test_quotes_that_break_the_header_are_a_clear_error(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('"a,b"\t1\n1\n')
    with pytest.raises(InputError, match=r"mine\.csv, line 1.*check the quotes"):
        read_clusterings(path, labels=[open_table(path).names[0]], points=False)


def test_long_names_are_shortened_in_messages(tmp_path):
    path = tmp_path / "mine.csv"
    name = "x" * 10_000
    path.write_text(f"{name},{name}\n1,2\n")
    with pytest.raises(InputError, match=r"mine\.csv has two columns.*rename one of them") as error:
        open_table(path)
    assert len(str(error.value)) < 1200


def test_npy_file_written_by_python_2_is_read_without_a_warning(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, np.ones((4, 2)))
    path.write_bytes(path.read_bytes().replace(b"(4, 2), }  ", b"(4L, 2L), }"))
    check(path)
    assert open_table(path).names == ["1", "2"]


@pytest.mark.parametrize("where", [0, 0.3, 0.6, 0.95])
def test_damaged_representation_is_loaded_or_refused(where, tmp_path):
    path = tmp_path / "rep.npz"
    rep = lc.represent(np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2], lift="fourier", rng=0)
    rep.save(path)
    whole = path.read_bytes()

    @fuzzed
    @given(damaged(whole[int(where * len(whole)) :][:4000]))
    def run(part):
        start = int(where * len(whole))
        path.write_bytes(whole[:start] + part + whole[start + 4000 :])
        message = ""
        try:
            lc.load_representation(path)
        except ValueError as error:
            message = str(error)
        assert not message or str(path) in message

    run()


def bomb(path, members, size):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(members):
            array = io.BytesIO()
            np.save(array, np.zeros(size))
            archive.writestr(f"x{i}.npy", array.getvalue())


def test_decompression_bombs_are_refused_before_allocation(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFTCLUSTER_FILE_GIB", str(2**-10))
    bomb(tmp_path / "many.npz", 10, 2**15)  # 2.5 MiB in some kB
    with gzip.open(tmp_path / "lines.csv.gz", "wb") as file:
        file.write(b"x,u\n" + b"1,a\n" * 2**18)
    with gzip.open(tmp_path / "line.csv.gz", "wb") as file:
        file.write(b"x,u\n" + b"1" * 2**21)
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"x": np.zeros(2**18), "u": np.zeros(2**18)}), tmp_path / "runs.parquet")  # fmt: skip
    for path in sorted(tmp_path.iterdir()):
        assert path.stat().st_size < 2**20
        tracemalloc.start()
        with pytest.raises(InputError, match=f"{path.name}.*(more than the|characters)"):
            read_clusterings(path, labels=["u"])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**26, path


def test_decompression_bomb_as_representation_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "rep.npz"
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("values.npy", header.getvalue())
    with pytest.raises(ValueError, match=r"rep\.npz"):
        lc.load_representation(path)
    bomb(path, 4, 2**20)
    monkeypatch.setenv("LIFTCLUSTER_FILE_GIB", str(2**-7))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"rep\.npz"):
        lc.load_representation(path)
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


def test_a_million_columns_are_read_in_linear_time(tmp_path):
    d = 10**6 if IS_LONG else 10**5
    path = tmp_path / "wide.csv"
    names = ",".join(f"g{i}" for i in range(d))
    row = "0.5," * (d - 1) + "1"
    path.write_text(f"u,{names}\n" + f"a,{row}\nb,{row}\n")
    assert read_clusterings(path, labels=["u"]).X.shape == (2, d)
    assert read_clusterings(path, labels=["u"], columns=["g*"]).X.shape == (2, d)
    with pytest.raises(InputError, match="has no column 'h7'; its columns: 'u', 'g0'"):
        read_clusterings(path, labels=["h7"])
    path.write_text(f"u,{names},g7\n" + f"a,{row},1\n")
    with pytest.raises(InputError, match="two columns called 'g7'"):
        read_clusterings(path, labels=["u"])


def test_names_are_never_used_as_paths(tmp_path, monkeypatch):
    """Members of an archive and columns of a table may have any name; nothing is written."""
    monkeypatch.chdir(tmp_path)
    names = ["../../evil", "/etc/passwd", "a\\b", "C:x", "..", "u\n v", "<b>"]
    with zipfile.ZipFile("mine.npz", "w") as archive:
        for name in names:
            array = io.BytesIO()
            np.save(array, np.arange(4))
            archive.writestr(f"{name}.npy", array.getvalue())
    found = read_clusterings("mine.npz", labels=names, points=False)
    assert list(found.partitions) == names
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]


def test_symbolic_links_are_followed_and_broken_ones_refused(tmp_path):
    (tmp_path / "real.csv").write_text("x,u\n1,a\n2,b\n")
    (tmp_path / "link.csv").symlink_to("real.csv")
    (tmp_path / "round.csv").symlink_to("round.csv")
    (tmp_path / "lost.csv").symlink_to("gone.csv")
    assert read_clusterings(tmp_path / "link.csv", labels=["u"]).X.shape == (2, 1)
    for name in ("round", "lost"):
        with pytest.raises(InputError, match=f"{name}.csv is not there"):
            read_clusterings(tmp_path / f"{name}.csv", labels=["u"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    anndata = pytest.importorskip("anndata")
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    made = anndata.AnnData(np.arange(24.0).reshape(12, 2))
    made.obs["u"] = pd.Categorical([*"aabbccaabb", None, None])
    made.obs["n"] = np.arange(12) % 3
    made.obsm["X_pca"] = np.eye(12)[:, :3]
    made.write_h5ad(path, compression="gzip")
    return path


def test_truncated_npy_header_in_a_representation_is_refused(tmp_path):
    """NumPy also parses headers of Python 2; a truncated one raises an error of the tokenizer."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3L, "
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(tmp_path / "rep.npz", "w") as archive:
        archive.writestr("values.npy", array)
    with pytest.raises(ValueError, match=r"rep\.npz is not a file that liftcluster wrote"):
        lc.load_representation(tmp_path / "rep.npz")


class TestCells:
    """h5ad files, read in another process because the library can crash."""

    def test_labels_and_obsm_are_read(self, whole):
        found = read_clusterings(whole, labels=["u", "n"])
        np.testing.assert_array_equal(found.X, np.eye(12)[:, :3])
        assert found.partitions["u"].names == ("a", "b", "c")
        assert found.partitions["n"].names == (0, 1, 2)
        assert found.partitions["u"].noise_mass == pytest.approx(2 / 12)

    @pytest.mark.long
    def test_x_and_obs_names_are_read(self, whole):
        X = read_clusterings(whole, labels=["u"], columns=["X"], id="obs_names")
        np.testing.assert_array_equal(X.X, np.arange(24.0).reshape(12, 2))
        assert X.ids.tolist() == [str(i) for i in range(12)]
        assert read_clusterings(whole, labels=["u"], columns=["n"]).X[:3, 0].tolist() == [0, 1, 2]

    @pytest.mark.long
    def test_invalid_label_and_coordinate_columns_are_refused(self, whole):
        with pytest.raises(InputError, match=r"'X_pca' is not in .obs, where labels are"):
            read_clusterings(whole, labels=["X_pca"])
        with pytest.raises(InputError, match="column 'u' is not numeric"):
            read_clusterings(whole, labels=["n"], columns=["u"])

    @pytest.mark.long
    @pytest.mark.parametrize("seed", range(examples(4)))
    def test_a_damaged_file_is_a_table_or_a_clear_error(self, seed, whole, tmp_path):
        rng = np.random.default_rng(seed)
        content = bytearray(whole.read_bytes())
        for place in rng.integers(len(content) if seed % 2 else 2500, size=1 + seed % 8):
            content[place] = rng.integers(256)
        path = tmp_path / "cells.h5ad"
        path.write_bytes(content)
        check(path)

    def test_crash_of_the_h5ad_library_is_a_clear_error(self, whole, tmp_path, monkeypatch):
        script = tmp_path / "reader.py"
        monkeypatch.setattr(h5ad_files, "_WORKER", script)
        for broken in ("import os; os.abort()", "import os; os.write(1, b'{\"ar')"):
            script.write_text(broken)
            with pytest.raises(InputError, match=r"cells\.h5ad.*the library that reads it crashed"):
                open_table(whole)
        script.write_text(
            "import sys; sys.stdin.readline(); "
            """print('{"obs": {"u": "O"}, "obsm": [], "arrays": {}}', flush=True); """
            """sys.stdin.readline(); print('{"arrays": {"X": ["<f8", [9]]}}')"""
        )
        with pytest.raises(InputError, match="crashed"):
            open_table(whole).read(["X"], [])

    @pytest.mark.parametrize("place", ["obsm/X_pca2", also("uns/bomb")])
    def test_decompression_bomb_is_refused(self, place, whole, tmp_path):
        h5py = pytest.importorskip("h5py")
        path = tmp_path / "cells.h5ad"
        path.write_bytes(whole.read_bytes())
        with h5py.File(path, "a") as file:
            file.create_dataset(
                place, shape=(10**12,), dtype="f4", chunks=(1000,), compression="gzip"
            )
        assert path.stat().st_size < 2**20
        with pytest.raises(InputError, match=r"more than the 16 GiB"):
            open_table(path)

    @pytest.mark.parametrize("kind", ["link", also("storage")])
    def test_external_links_and_storage_are_refused(self, kind, whole, tmp_path):
        h5py = pytest.importorskip("h5py")
        path = tmp_path / "cells.h5ad"
        path.write_bytes(whole.read_bytes())
        with h5py.File(path, "a") as file:
            if kind == "link":
                file["uns/other"] = h5py.ExternalLink(str(whole), "/X")
            else:
                secret = [(os.fsencode(__file__), 0, 80)]
                file.create_dataset("uns/other", (10,), "f8", external=secret)
        with pytest.raises(InputError, match="in another file"):
            open_table(path)

    def test_missing_anndata_is_an_error_with_the_install_command(self, whole, monkeypatch):
        monkeypatch.setattr(h5ad_files, "find_spec", lambda name: None)
        with pytest.raises(InputError, match='needs anndata: pip install "anndata>='):
            open_table(whole)

    @pytest.mark.long
    def test_reader_process_ends_with_its_table(self, whole):
        table = open_table(whole)
        reader = table._worker
        del table
        assert reader.poll() is not None


def test_invalid_representations_and_names_are_refused(tmp_path):
    path = tmp_path / "rep.npz"
    with pytest.raises(ValueError, match="Python objects, which cannot be stored without pickle"):
        write_npz(path, {}, {"x": np.array([None])})
    assert not path.exists()
    np.savez(path, values=np.array("[1, 2]"))
    with pytest.raises(ValueError, match=r"rep\.npz is not a file that liftcluster wrote"):
        lc.load_representation(path)
    with pytest.raises(ValueError, match="a name cannot be a list"):
        name_from_json([1])
