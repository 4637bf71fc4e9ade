"""Representations of out-of-core data: the same results as in memory."""

import itertools
import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_approximation import Nystroem, RBFSampler

import liftcluster as lc
from liftcluster.lifts import choice
from liftcluster.streaming import sources, streams
from support.amount import also
from support.generators import blobs, soft_memberships
from support.stored import FORMS, as_blocks, as_hdf5, as_memmap, as_zarr


@pytest.fixture(autouse=True)
def stream_short_memory_maps(monkeypatch):
    monkeypatch.setattr(streams, "MAPPED_ROWS_IN_MEMORY", 0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 20 two-dimensional points; at most 100 points are lifted exactly."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 20 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)
    monkeypatch.setattr(choice, "_EXACT_UP_TO", 100)


def problem(n=150, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X, labels = blobs(rng, n, d)
    noisy = np.where(rng.random(n) < 0.2, -1, labels * 3)
    return X, {
        "truth": labels,
        "noisy": noisy,
        "text": np.array(list("dbca"), dtype=object)[labels],
    }


def condition(lift):
    """Factor by which a lift amplifies rounding: Nystroem divides by small eigenvalues."""
    own = getattr(lift, "coefficients", None)
    A = getattr(getattr(lift, "transformer", None), "normalization_", own)
    return 1.0 if A is None else np.linalg.cond(A)


def assert_same(found, expected):
    """Assert equality up to rounding: the order of summation differs."""
    assert found.partition_names == expected.partition_names
    assert found.cluster_names == expected.cluster_names
    assert found.lift.describe() == expected.lift.describe()
    scales = np.abs(expected.sums).max(axis=1, keepdims=True)  # of each cluster
    atol = 1e-12 * condition(expected.lift)
    np.testing.assert_allclose(found.sums / scales, expected.sums / scales, rtol=0, atol=atol)
    np.testing.assert_allclose(found.masses, expected.masses, rtol=1e-12)
    np.testing.assert_array_equal(found.owner, expected.owner)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["points", "labels", "both"])
def test_every_storage_format_gives_the_in_memory_result(tmp_path, form, where):
    X, labels = problem()
    stored, parts = X, dict(labels)
    if where != "labels":
        stored = FORMS[form](tmp_path, "X", X)
    if where != "points":
        names = ["truth", "noisy"] if form == "memmap" else list(labels)
        parts |= {name: FORMS[form](tmp_path, name, labels[name]) for name in names}
    found = lc.represent(stored, parts, rng=1)
    assert_same(found, lc.represent(X, labels, rng=1))


LIFTS = [
    {},
    {"lift": lc.Fourier(33)},
    {"lift": "fourier", "bandwidth": "scott"},
    {"lift": lc.Fourier(sampling="iid"), "bandwidth": 2.0},
    {"lift": lc.Structured(64)},
    {"lift": "grid"},
    {"lift": lc.Grid(n_components=300), "bandwidth": "silverman*2"},
    {"lift": lc.Nystroem(30)},
    {"kernel": "laplace", "bandwidth": "mean"},
    {"kernel": lc.Gaussian([1.0, 4.0])},
    pytest.param(
        {"kernel": lambda X, Y: (1 + X @ Y.T) ** 2, "lift": lc.Nystroem(10)},
        id="polynomial kernel",
    ),
    {"lift": lc.Fourier(tol=0.05)},
    {"lift": lc.Fourier(tol=0.01)},
]


@pytest.mark.parametrize("options", LIFTS, ids=str)
@pytest.mark.parametrize("form", ["blocks", also("HDF5")])
def test_every_lift_is_the_same_as_in_memory(tmp_path, options, form):
    X, labels = problem(n=2300)  # more than any subsample
    found = lc.represent(FORMS[form](tmp_path, "X", X), labels, rng=1, **options)
    assert_same(found, lc.represent(X, labels, rng=1, **options))


def test_lift_of_many_dimensions_is_the_same_as_in_memory(tmp_path):
    X, labels = problem(d=60)
    assert_same(
        lc.represent(as_zarr(tmp_path, "X", X), labels, rng=1), lc.represent(X, labels, rng=1)
    )


@pytest.mark.parametrize("n", [1, 30, 99])
def test_few_points_are_lifted_exactly(tmp_path, n):
    X, labels = problem()
    X, labels = X[:n], {name: p[:n] for name, p in labels.items() if name != "noisy"}
    stored = as_memmap(tmp_path, "l", labels["truth"])
    found = lc.represent(lc.Blocks([X]), labels | {"truth": stored}, weights=np.arange(1.0, n + 1))
    assert found.lift.is_exact
    assert_same(found, lc.represent(X, labels, weights=np.arange(1.0, n + 1)))


def test_points_labels_and_weights_of_few_points_may_share_a_source():
    X, labels = problem(n=60)
    w = np.random.default_rng(0).uniform(1, 2, 60)
    together = lc.Blocks([{"X": X, "truth": labels["truth"], "text": labels["text"], "w": w}])
    parts = {"truth": together["truth"], "noisy": lc.Blocks([labels["noisy"]])}
    parts["text"] = together["text"]
    found = lc.represent(together["X"], parts, weights=together["w"])
    assert found.lift.is_exact
    assert_same(found, lc.represent(X, {name: labels[name] for name in parts}, weights=w))


def test_exact_lifts_of_many_points_are_refused(tmp_path, monkeypatch):
    X, labels = problem()
    monkeypatch.setattr("liftcluster.representation.passes._IN_MEMORY_UP_TO", 120)
    with pytest.raises(ValueError, match='there are 150, more than 120; use lift="fourier"'):
        lc.represent(as_hdf5(tmp_path, "X", X), labels, lift="exact")


@pytest.mark.parametrize("form", ["HDF5", "zarr", "blocks", "Parquet"])
def test_soft_memberships_and_weights_can_be_streamed(tmp_path, form):
    X, labels = problem()
    rng = np.random.default_rng(3)
    R = soft_memberships(rng, len(X), 3)
    R[40:60] = 0
    w = rng.uniform(0, 2, len(X))
    w[:25] = 0
    stored = FORMS[form]
    found = lc.represent(
        stored(tmp_path, "X", X),
        {"soft": stored(tmp_path, "R", R), "hard": labels["noisy"]},
        weights=stored(tmp_path, "w", w),
        rng=0,
    )
    assert_same(found, lc.represent(X, {"soft": R, "hard": labels["noisy"]}, weights=w, rng=0))


@pytest.mark.parametrize("n", [60, 150])
def test_data_frame_columns_name_the_clusters(n):
    X, _ = problem(n)
    R = pd.DataFrame(soft_memberships(np.random.default_rng(3), n, 3), columns=["z", 5, "a"])
    pieces = lc.Blocks([R[:7], R[7:50], R[50:]])
    lazy = [dd.from_pandas(R, npartitions=parts) for parts in (3, 5)]
    lazy_points = da.from_array(X, chunks=(n // 3, 2))
    for points, soft in ((X, pieces), (lazy_points, lazy[0]), (lazy_points, lazy[1])):
        found = lc.represent(points, {"soft": soft}, rng=0)
        assert_same(found, lc.represent(X, {"soft": R}, rng=0))
        assert found.cluster_names == ("z", 5, "a")


def test_columns_reordered_between_blocks_are_refused():
    X, labels = problem()
    frame = pd.DataFrame(X, columns=["x", "y"])
    for reordered in (frame[70:][["y", "x"]], X[70:]):
        with pytest.raises(ValueError, match=r"those before it have \['x', 'y'\]; all blocks"):
            lc.represent(lc.Blocks([frame[:70], reordered]), labels)
    found = lc.represent(lc.Blocks([frame[:70], frame[:0][["y"]], frame[70:]]), labels, rng=0)
    assert_same(found, lc.represent(X, labels, rng=0))


def test_partitions_in_memory_keep_their_weights_and_names(tmp_path):
    X, labels = problem()
    own = lc.Partition.from_labels(labels["text"], weights=np.arange(1.0, 151))
    soft = lc.Partition.from_memberships(
        sp.csr_array(soft_memberships(np.random.default_rng(0), 150, 2)), names=["z", "a"]
    )
    parts = {"own": own, "soft": soft}
    assert_same(
        lc.represent(as_zarr(tmp_path, "X", X), parts, rng=0), lc.represent(X, parts, rng=0)
    )


@settings(max_examples=25)
@given(st.lists(st.integers(0, 150), max_size=6), st.lists(st.integers(0, 150), max_size=6))
def test_block_boundaries_of_an_iterable_change_no_bit(cuts, label_cuts):
    X, labels = problem()

    def blocks(rows, cuts):
        edges = [0, *sorted(cuts), len(rows)]
        return lc.Blocks([rows[i:j] for i, j in itertools.pairwise(edges)])

    lift = lc.make_lift(X, lift=lc.Fourier(20), rng=0)
    whole = lc.represent(lc.Blocks([X]), labels["text"], lift=lift)
    found = lc.represent(blocks(X, cuts), blocks(labels["text"], label_cuts), lift=lift)
    np.testing.assert_array_equal(found.sums, whole.sums)
    assert found.cluster_names == ("a", "b", "c", "d")


@pytest.mark.parametrize("rows", [1, 7, 20, 30, 50])  # of the buffers; a block has 20
@pytest.mark.parametrize("n", [60, 150])
def test_reader_may_reuse_its_buffers(rows, n):
    X, labels = problem(n)
    w = np.random.default_rng(0).uniform(1, 2, n)

    def read():
        buffers = {
            "X": np.empty((rows, 2)),
            "label": np.empty(rows, dtype=int),
            "w": np.empty(rows),
        }
        for start in range(0, n, rows):
            size = min(rows, n - start)
            for name, whole in {"X": X, "label": labels["noisy"], "w": w}.items():
                buffers[name][:size] = whole[start : start + size]
            yield {name: array[:size] for name, array in buffers.items()}

    blocks = lc.Blocks(read)
    found = lc.represent(blocks["X"], {"p": blocks["label"]}, weights=blocks["w"], rng=0)
    assert_same(found, lc.represent(X, {"p": labels["noisy"]}, weights=w, rng=0))


def test_labels_may_appear_late_and_blocks_may_contain_only_noise(tmp_path):
    X = np.random.default_rng(0).standard_normal((150, 2))
    labels = np.full(150, -1)
    labels[60:70], labels[140:] = 5, 2
    found = lc.represent(X, as_memmap(tmp_path, "l", labels), lift="fourier", rng=0)
    assert_same(found, lc.represent(X, labels, lift="fourier", rng=0))
    assert found.cluster_names == (2, 5)


BIG = 2**60  # where floats are 256 apart
LARGE_NUMBERS = {
    "a list with a gap": ([[BIG + 1, BIG + 2, np.nan, BIG + 2]], [BIG + 1, BIG + 2]),
    "a list beyond 64 bits": ([[2**63 + 1, 2**63, -2, -2]], [-2, 2**63, 2**63 + 1]),
    "lists of both": ([[-2, BIG + 1], [2**63 + 1, 2**63]], [-2, BIG + 1, 2**63, 2**63 + 1]),
    "a block of gaps": (
        [np.array([BIG + 1, BIG + 2]), np.array([np.nan, np.nan])],
        [BIG + 1, BIG + 2],
    ),
    "signed and not": (
        [np.array([BIG + 1, BIG + 2], dtype=np.uint64), np.array([BIG + 2, -BIG - 1])],
        [-BIG - 1, BIG + 1, BIG + 2],
    ),
}


@pytest.mark.parametrize("kind", LARGE_NUMBERS)
def test_large_integer_labels_stay_distinct(kind):
    blocks, names = LARGE_NUMBERS[kind]
    lift = lc.make_lift(np.eye(2), lift=lc.Fourier(10), bandwidth=1.0, rng=0)
    X = np.random.default_rng(0).standard_normal((4, 2))
    assert list(lc.represent(lc.Blocks([X]), lc.Blocks(blocks), lift=lift).cluster_names) == names


def test_streamed_samples_share_one_lift(tmp_path):
    X, labels = problem(n=2300)
    Y, other = problem(n=1700, seed=1)
    stored = [(as_hdf5(tmp_path, "X", X), labels), (as_blocks(tmp_path, "Y", Y), [other["text"]])]
    weights = [None, np.arange(1.0, 1701)]
    for options in ({"lift": "fourier"}, {"lift": lc.Nystroem(40)}, {}):
        found = lc.represent_samples(stored, weights=weights, rng=0, **options)
        expected = lc.represent_samples(
            [(X, labels), (Y, [other["text"]])], weights=weights, rng=0, **options
        )
        assert_same(found, expected)


def test_generator_is_accepted_where_one_pass_is_enough():
    X, labels = problem()
    lift = lc.make_lift(X, lift=lc.Fourier(40), rng=0)
    halves = lambda rows: (rows[i : i + 75] for i in (0, 75))  # noqa: E731
    found = lc.represent(halves(X), {"p": halves(labels["text"])}, lift=lift)
    assert_same(found, lc.represent(X, {"p": labels["text"]}, lift=lift))
    found = lc.represent(halves(X), labels, bandwidth=2.0, lift="fourier", rng=0)
    expected = lc.represent(X, labels, bandwidth=2.0, lift="fourier", rng=0)
    # Another centre changes the phases in single precision, but not the distances.
    np.testing.assert_allclose(found.distances(), expected.distances(), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "what"),
    [({}, "bandwidth='median'"), ({"bandwidth": 1.0, "lift": "nystroem"}, "lift='nystroem'")],
    ids=str,
)
def test_generator_is_refused_where_one_pass_is_not_enough(options, what):
    X, labels = problem()
    with pytest.raises(ValueError, match=f"read only once, but {what} needs a pass over"):
        lc.represent(iter([X]), labels, **options)


def test_streaming_accepts_only_fitted_transformers(tmp_path):
    X, labels = problem()
    fitted = Nystroem(n_components=20, random_state=0).fit(X)
    found = lc.represent(as_hdf5(tmp_path, "X", X), labels, lift=fitted)
    assert_same(found, lc.represent(X, labels, lift=fitted))
    with pytest.raises(ValueError, match="must be fitted"):
        lc.represent(as_zarr(tmp_path, "X", X), labels, lift=RBFSampler())


def test_errors_about_points_name_the_row_in_the_data_set(tmp_path):
    X, labels = problem()
    X[133, 1] = np.nan
    for options in ({"lift": "fourier", "bandwidth": 1.0}, {"lift": "grid"}):
        with pytest.raises(ValueError, match="got nan in row 133, column 1"):
            lc.represent(as_zarr(tmp_path, f"X{len(options)}", X), labels, **options)


@pytest.mark.parametrize("form", ["HDF5", also("zarr"), "blocks", "dask array"])
@pytest.mark.parametrize("row", [2004, 2005])  # one of them is sampled
def test_errors_about_sampled_points_name_the_row_in_the_data_set(tmp_path, form, row):
    X, labels = problem(n=2300)
    X[row, 1] = np.inf
    stored = FORMS[form](tmp_path, "X", X)
    for options in ({"bandwidth": 1.0}, {}, {"kernel": "laplace", "lift": "nystroem"}):
        with pytest.raises(ValueError, match=f"got inf in row {row}, column 1"):
            lc.represent(stored, labels, **{"lift": "fourier", "rng": 0} | options)


def test_errors_about_memberships_and_weights_name_the_block(tmp_path):
    X, labels = problem()
    R = np.full((150, 2), 0.5)
    R[45, 0] = 0.9
    with pytest.raises(ValueError, match=r"partition 0, in the block of rows 40 to 59 .*point 5"):
        lc.represent(X, as_hdf5(tmp_path, "R", R), lift="fourier")
    w = np.ones(150)
    w[45] = -1
    with pytest.raises(ValueError, match=r"block of rows 40 to 59 .* got -1.0 for point 5"):
        lc.represent(X, labels, weights=as_hdf5(tmp_path, "w", w), lift="fourier")


def test_mismatched_lengths_are_refused(tmp_path):
    X, labels = problem()
    with pytest.raises(ValueError, match="partition 0 has 149 rows but X has 150"):
        lc.represent(X, as_memmap(tmp_path, "l", labels["truth"][1:]))
    lift = lc.make_lift(X, lift=lc.Fourier(20), rng=0)
    short, long = lc.Blocks([labels["truth"][1:]]), lc.Blocks([np.zeros(151)])
    with pytest.raises(ValueError, match="X has more rows but partition 0 has 149"):
        lc.represent(X, short, lift=lift)
    with pytest.raises(ValueError, match="partition 0 has more rows but X has 150"):
        lc.represent(X, long, lift=lift)
    with pytest.raises(ValueError, match="it has 149 entries, but there are more points"):
        lc.represent(lc.Blocks([X]), labels["truth"][1:], lift=lift)
    with pytest.raises(ValueError, match="has 151 entries but there are 150 points"):
        lc.represent(lc.Blocks([X]), np.zeros(151), lift=lift)
    known = lc.Blocks([labels["truth"]])
    with pytest.raises(ValueError, match="weights has 151 entries but there are 150 points"):
        lc.represent(lc.Blocks([X]), known, lift=lift, weights=np.ones(151))
    # The length of the blocks is known now.
    with pytest.raises(ValueError, match=r"weights must have shape \(150,\)"):
        lc.distance(known, known, measure="rand", weights=np.ones(151))
    with pytest.raises(ValueError, match=r"weights must have shape \(150,\)"):
        lc.represent(as_hdf5(tmp_path, "X", X), labels, weights=np.ones(3))


def test_empty_input_is_refused():
    X, _labels = problem()
    lift = lc.make_lift(X, lift=lc.Fourier(20), rng=0)
    with pytest.raises(ValueError, match="at least one point is needed"):
        lc.represent(lc.Blocks([]), [0], lift=lift)
    with pytest.raises(ValueError, match="every one of the 150 labels of partition 0 is noise"):
        lc.represent(lc.Blocks([X]), lc.Blocks([np.full(150, -1)]), lift=lift)


def test_memory_map_with_labels_in_memory_is_not_streamed(tmp_path):
    X, labels = problem(n=3000)
    found = lc.represent(as_memmap(tmp_path, "X", X), labels, rng=0)
    np.testing.assert_array_equal(found.sums, lc.represent(X, labels, rng=0).sums)


def test_short_memory_mapped_labels_are_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(6000, 2)), rng.integers(0, 3, (2, 6000))
    mapped = [as_memmap(tmp_path, str(i), row) for i, row in enumerate(labels)]
    options = {"method": "lift_hac", "lift": lc.Fourier(64), "rng": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found, expected = (lc.consensus(inputs, 3, X, **options) for inputs in (mapped, [*labels]))
    assert isinstance(found, lc.Consensus)
    np.testing.assert_array_equal(found.memberships, expected.memberships)
