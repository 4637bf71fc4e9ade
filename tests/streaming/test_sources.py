"""Sources read in blocks: every storage format gives the same blocks of rows."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr
from hypothesis import given
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster.io.csv_files import MISSING
from liftcluster.streaming import sources
from liftcluster.streaming.sources import as_source, block_rows, is_stored, is_streamed
from liftcluster.streaming.streams import read_together
from support.stored import FORMS, as_csv, as_hdf5, as_memmap, as_parquet, as_zarr


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of seven rows of two numbers."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 7 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)


def pieces(stored, size, start=0):
    found = [
        (rows, part["X"]) for rows, part in read_together({"X": as_source(stored)}, size, start)
    ]
    assert [rows.start for rows, _ in found] == list(range(start, start + size * len(found), size))
    return [part for _, part in found]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 4, 7, 30, 31])
@pytest.mark.parametrize("d", [None, 1, 3])
def test_blocks_have_equal_lengths_for_every_storage_format(tmp_path, small_blocks, form, size, d):
    X = np.random.default_rng(0).standard_normal((30,) if d is None else (30, d))
    found = pieces(FORMS[form](tmp_path, "X", X), size)
    assert [len(part) for part in found[:-1]] == [size] * (len(found) - 1)
    np.testing.assert_array_equal(np.concatenate(found), X)


@pytest.mark.parametrize("form", FORMS)
def test_reading_may_start_at_any_block(tmp_path, small_blocks, form):
    X = np.random.default_rng(0).standard_normal((30, 2))
    stored = FORMS[form](tmp_path, "X", X)
    for start in (0, 4, 8, 20, 28):
        np.testing.assert_array_equal(np.concatenate(pieces(stored, 4, start)), X[start:])


@pytest.mark.parametrize("form", FORMS)
def test_strings_stay_strings(tmp_path, form):
    labels = np.array(["b", "a", "é", "a", "b", "cc", "a"], dtype=object)
    found = np.concatenate(
        pieces(FORMS[form](tmp_path, "l", labels) if form != "memmap" else labels, 3)
    )
    assert found.tolist() == labels.tolist()


@given(st.lists(st.integers(0, 5), max_size=8), st.integers(1, 12), st.integers(0, 3))
def test_block_boundaries_of_an_iterable_change_nothing(lengths, size, blocks_before):
    rows = np.arange(sum(lengths))
    edges = np.cumsum([0, *lengths])
    stored = lc.Blocks([rows[i:j] for i, j in itertools.pairwise(edges)])
    start = blocks_before * size
    found = pieces(stored, size, start)
    assert [x for part in found for x in part] == rows[start:].tolist()
    assert all(len(part) == size for part in found[:-1])


def test_sources_of_the_same_origin_are_read_once():
    reads = []

    def read():
        reads.append(None)
        return ({"X": [[i, i + 1]], "label": ["a"]} for i in range(5))

    blocks = lc.Blocks(read)
    found = list(read_together({"X": blocks["X"], "p": blocks["label"]}, 2))
    assert len(reads) == 1
    assert next(part["X"].tolist() for _, part in found) == [[0, 1], [1, 2]]
    assert [part["p"].tolist() for _, part in found] == [["a", "a"], ["a", "a"], ["a"]]


def test_columns_of_one_table_are_scanned_once(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 3))
    table = as_parquet(tmp_path, "X", X).origin
    scans = []
    chunks = type(table).chunks
    monkeypatch.setattr(
        type(table), "chunks", lambda self, *args: scans.append(1) or chunks(self, *args)
    )
    sources = {"X": table[["c0", "c2"]], "w": table["c1"]}
    found = [part for _, part in read_together(sources, 6)]
    assert scans == [1]
    np.testing.assert_array_equal(np.concatenate([part["X"] for part in found]), X[:, [0, 2]])
    np.testing.assert_array_equal(np.concatenate([part["w"] for part in found]), X[:, 1])


def test_nulls_in_label_columns_are_missing_labels(tmp_path):
    frame = pd.DataFrame(
        {
            "number": pd.array([2**60 + 1, None, 3], dtype="Int64"),
            "text": ["a", None, "b"],
            "category": pd.Categorical(["y", None, "x"]),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "share": [0.5, None, 1.0],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = lc.scan_table(tmp_path / "t.parquet")
    for name, expected in {
        "number": [2**60 + 1, None, 3],
        "text": ["a", None, "b"],
        "category": ["y", None, "x"],
        "flag": [True, None, False],
    }.items():
        assert pieces(table[name], 5)[0].tolist() == expected
    np.testing.assert_array_equal(pieces(table["share"], 5)[0], [0.5, np.nan, 1.0])


def test_missing_value_markers_in_text_files_are_missing_labels(tmp_path):
    words = [word for same in MISSING for word in (same, same.upper(), same.capitalize())]
    cells = [*words, "NaN", "a", "b", "nano", "nationality"]
    for ending, mark in (("csv", ","), ("tsv", "\t")):
        file = tmp_path / f"t.{ending}"
        file.write_text("\n".join(f"{i}{mark}{cell}" for i, cell in enumerate(["l", *cells])))
        (labels,) = pieces(lc.scan_table(file)["l"], len(cells))
        assert labels.tolist() == [None] * (len(words) + 1) + cells[-4:]


def two_files(folder, first, second):
    for i, columns in enumerate((first, second)):
        pq.write_table(pa.table(columns), folder / f"{i}.parquet")
    return lc.scan_table(folder / "*.parquet")


def test_file_without_a_used_column_is_refused(tmp_path):
    table = two_files(tmp_path, {"x": [1.0], "l": ["a"]}, {"x": [2.0]})
    np.testing.assert_array_equal(np.concatenate(pieces(table[["x"]], 1)), [[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"1\.parquet has no column 'l', as the first file has"):
        pieces(table["l"], 1)
    (tmp_path / "0.csv").write_text("x,l\n1,a\n")
    (tmp_path / "1.csv").write_text("x\n2\n")
    with pytest.raises(ValueError, match=r"1\.csv has no column 'l', as the first file has"):
        pieces(lc.scan_table(tmp_path / "*.csv")["l"], 1)


NUMBERS = {
    "single then double": (np.float32([0.5]), np.array([1e6 + 1 / 3])),
    "whole then not": (np.array([3]), np.array([1 / 3])),
    "short then long": (np.int8([3]), np.array([2**60 + 1])),
    "double then long": (np.array([0.5]), np.array([2**60 + 1])),
}


@pytest.mark.parametrize("kinds", NUMBERS)
def test_numbers_of_different_dtypes_across_files_keep_their_values(tmp_path, kinds):
    first, second = NUMBERS[kinds]
    table = two_files(tmp_path, {"x": first}, {"x": second})
    assert [value for part in pieces(table["x"], 1) for value in part] == [first[0], second[0]]
    (together,) = pieces(table["x"], 2)
    assert together.tolist() == [first[0], second[0]]


def test_blocks_of_any_type_can_be_concatenated():
    assert pieces([[1, 2], ["a", None]] and lc.Blocks([[1, 2], ["a", None]]), 3)[0].tolist() == [
        1,
        2,
        "a",
    ]
    assert pieces(lc.Blocks([pd.Series([1, 2]), pd.Series([3])]), 3)[0].tolist() == [1, 2, 3]
    nullable = lc.Blocks([pd.Series([2**60 + 1, None], dtype="Int64"), np.array([1])])
    assert pieces(nullable, 3)[0].tolist()[::2] == [2**60 + 1, 1]
    categories = lc.Blocks([pd.Categorical(["b", "a"]), pd.Series(["c"], dtype="category")])
    assert pieces(categories, 3)[0].tolist() == ["b", "a", "c"]
    R = np.eye(3)
    found = pieces(lc.Blocks([sp.csr_array(R), sp.coo_array(R[:1])]), 4)[0]
    np.testing.assert_array_equal(found.toarray(), R[[0, 1, 2, 0]])
    masked = pieces(lc.Blocks([np.ma.array([1, 2], mask=[0, 1]), np.array([3])]), 3)[0]
    assert masked.mask.tolist() == [False, True, False]
    texts = pieces(lc.Blocks([np.ma.array(["a", "b"], mask=[1, 0]), np.array([3, 2**60 + 1])]), 4)
    assert texts[0].tolist() == [None, "b", 3, 2**60 + 1]
    gaps = lc.Blocks([np.ma.array([0, 2**60 + 1], mask=[1, 0]), np.array([0.5])])
    assert pieces(gaps, 3)[0].tolist() == [None, 2**60 + 1, 0.5]
    assert pieces(lc.Blocks([[(0, "x")], [(1, "y")]]), 2)[0].tolist() == [(0, "x"), (1, "y")]


def test_reading_the_width_does_not_consume_a_generator():
    stored = lc.Blocks(block for block in [np.empty((0, 2)), np.ones((3, 2)), np.zeros((1, 2))])
    assert stored.origin.width(None) == stored.origin.width(None) == 2
    assert len(np.concatenate(pieces(stored, 2))) == 4
    with pytest.raises(ValueError, match="can be read only once"):
        pieces(stored, 2)


def test_function_that_returns_a_consumed_iterator_is_refused():
    blocks = [{"X": np.full((2, 2), i), "label": [i, i]} for i in range(4)]
    generator = iter(blocks)
    again = lc.Blocks(lambda: generator)
    lift = lc.make_lift(np.eye(2), lift=lc.Fourier(10), bandwidth=1.0, rng=0)
    with pytest.raises(
        ValueError, match=r"the same iterator as before.*return a new iterator each time"
    ):
        lc.represent(again["X"], again["label"], lift=lift)
    new = lc.Blocks(lambda: iter(blocks))
    assert lc.represent(new["X"], new["label"], lift=lift).cluster_names == (0, 1, 2, 3)


def test_partially_read_generator_is_closed():
    opened = []

    def read():
        opened.append(True)
        try:
            yield np.zeros((3, 2))
            yield np.zeros((3, 2))
        finally:
            opened.pop()

    stored = lc.Blocks(read)
    assert stored.origin.width(None) == 2
    assert not opened
    rows = read_together({"X": stored}, 2)
    next(rows)
    assert opened
    rows.close()
    assert not opened


@pytest.mark.parametrize("form", ["blocks", "CSV"])
def test_changed_number_of_rows_is_refused(tmp_path, form):
    rows = np.zeros((9, 2))
    stored = as_csv(tmp_path, "X", rows) if form == "CSV" else lc.Blocks(lambda: iter([rows]))
    assert len(pieces(stored, 20)[0]) == 9
    rows = rows[:7]
    if form == "CSV":
        as_csv(tmp_path, "X", rows)
    with pytest.raises(ValueError, match="X should have 9 rows, but 7 were read; if it has"):
        pieces(stored, 20)


def test_different_known_lengths_are_refused_before_reading(tmp_path):
    a = as_source(as_memmap(tmp_path, "a", np.zeros(5)))
    b = as_source(as_hdf5(tmp_path, "b", np.zeros(6)))
    with pytest.raises(ValueError, match="p has 6 rows but X has 5; they must describe the same"):
        next(read_together({"X": a, "p": b}, 2))


def test_different_unknown_lengths_are_refused_while_reading():
    short = lc.Blocks([np.zeros(3), np.zeros(4)])
    long = lc.Blocks([np.zeros(9)])
    with pytest.raises(ValueError, match="p has more rows but X has 7"):
        list(read_together({"X": short, "p": long}, 2))
    uneven = lc.Blocks([([1, 2], [3])])
    with pytest.raises(ValueError, match="X has 2 rows in a block but p has 1"):
        list(read_together({"X": uneven[0], "p": uneven[1]}, 2))
    with pytest.raises(ValueError, match="X should have 8 rows, but 7 were read"):
        list(read_together({"X": lc.Blocks([np.zeros(7)], n=8)}, 2))


def test_arrays_on_disk_are_recognised_and_others_are_not(tmp_path):
    X = np.zeros((6, 2))
    stored = [as_memmap(tmp_path, "m", X), as_hdf5(tmp_path, "h", X), as_zarr(tmp_path, "z", X)]
    assert [is_stored(x) for x in stored] == [True] * 3
    assert [is_streamed(x) for x in stored] == [False, True, True]  # a memory map is an array
    in_memory = [X, X.tolist(), pd.DataFrame(X), pd.Series(X[:, 0]), sp.csr_array(X), None, "a"]
    assert not any(is_stored(x) or is_streamed(x) for x in in_memory)
    assert is_streamed(iter([X]))
    assert is_streamed(lc.Blocks([X]))


def test_selected_rows_are_read_directly_where_possible(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 2))
    rows = np.array([0, 3, 11, 19])
    for form in ("memmap", "HDF5", "zarr"):
        np.testing.assert_array_equal(
            as_source(FORMS[form](tmp_path, "X", X)).origin.take(None, rows), X[rows]
        )
    assert as_csv(tmp_path, "X", X).origin.take("c0", rows) is None


def test_block_size_is_bounded_for_every_width():
    for width in (1, 2, 10, 100, 5000):
        assert block_rows(width) * width * 8 <= 2**26
        assert block_rows(width) % 1024 == 0
    assert block_rows(1) == 2**20
    assert block_rows(10**7) == 1


def test_invalid_tables_and_blocks_raise_helpful_errors(tmp_path):
    table = as_parquet(tmp_path, "X", np.zeros((4, 2))).origin
    with pytest.raises(KeyError, match="no column 'z'; its columns are 'c0', 'c1'"):
        table["z"]
    with pytest.raises(ValueError, match="no file matches"):
        lc.scan_table(tmp_path / "none-*.parquet")
    (tmp_path / "bad.parquet").write_text("no table")
    with pytest.raises(ValueError, match=r"bad\.parquet cannot be read as parquet"):
        lc.scan_table(tmp_path / "bad.parquet")
    with pytest.raises(TypeError, match="an iterable of blocks, or a function"):
        lc.Blocks(5)
    for numbers in (np.arange(3), range(3), "points.csv"):
        with pytest.raises(TypeError, match=r"a block must hold rows, got .*; give Blocks"):
            pieces(lc.Blocks(numbers), 2)
    with pytest.raises(ValueError, match="mappings or tuples that hold 'y', got ndarray"):
        pieces(lc.Blocks([np.zeros(3)])["y"], 2)
    (tmp_path / "t.tsv").write_text("x\tname\n1\ta\n2\tb\n")
    with pytest.raises(TypeError, match="column 'name' must hold numbers, got string"):
        pieces(lc.scan_table(tmp_path / "t.tsv")[["x", "name"]], 2)


def test_functions_without_out_of_core_support_refuse_streams(tmp_path):
    stored = as_csv(tmp_path, "X", np.zeros((4, 2)))
    for function in (lc.bandwidth, lc.make_lift, lc.base_partitions):
        arguments = (stored, 2) if function is lc.base_partitions else (stored,)
        with pytest.raises(TypeError, match="out-of-core input is not supported here"):
            function(*arguments)
    with pytest.raises(TypeError, match="choose columns of the table"):
        lc.represent(stored.origin, [0, 0, 1, 1])


def test_repr_describes_the_table(tmp_path):
    table = as_csv(tmp_path, "X", np.zeros((4, 2))).origin
    assert repr(table) == "TableScan(c0, c1)"
    assert table.n is None
    assert table.count("c0") == 4
    assert repr(as_source(zarr.ones(shape=(3, 2)))) == "Source(array, [3, 2], float64)"
