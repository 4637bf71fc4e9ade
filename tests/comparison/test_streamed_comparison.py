"""Comparisons of partitions that are not in memory equal those in memory."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.lifts import choice
from liftcluster.streaming import sources, streams
from support.generators import blobs, soft_memberships
from support.stored import FORMS, as_hdf5, as_memmap, as_parquet, as_zarr

TABLES = [m.name for m in lc.MEASURES.values() if m.needs == "table"]
VECTORS = [m.name for m in lc.MEASURES.values() if m.needs == "vectors"]
POINTS = [m.name for m in lc.MEASURES.values() if m.needs == "points"]


@pytest.fixture(autouse=True)
def read_memory_maps_in_blocks(monkeypatch):
    monkeypatch.setattr(streams, "MAPPED_ROWS_IN_MEMORY", 0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 40 points in the plane; more than 100 points are many."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 40 * 2 * 8)
    monkeypatch.setattr(sources, "_MOST_ROWS", 64)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)
    monkeypatch.setattr(choice, "_EXACT_UP_TO", 100)


def problem(n=300):
    rng = np.random.default_rng(0)
    X, a = blobs(rng, n, 2)
    b = np.where(rng.random(n) < 0.2, (a + 1) % 4, a)
    b[rng.random(n) < 0.1] = -1
    return X, a, b


@pytest.mark.parametrize("measure", VECTORS + TABLES)
@pytest.mark.parametrize("weighted", [False, True])
def test_distances_equal_those_in_memory(tmp_path, measure, weighted):
    X, a, b = problem()
    w = np.arange(300) % 3 if weighted else None
    stored = [as_memmap(tmp_path, "a", a), as_parquet(tmp_path, "b", b), as_hdf5(tmp_path, "X", X)]
    expected = lc.distance(a, b, X, measure=measure, weights=w, rng=0)
    assert lc.distance(*stored, measure=measure, weights=w, rng=0) == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("measure", TABLES)
def test_label_measures_need_no_points(tmp_path, measure):
    _, a, b = problem()
    blocks = lc.Blocks([b[:7], b[7:]])
    assert lc.distance(a, blocks, measure=measure) == pytest.approx(
        lc.distance(a, b, measure=measure), abs=1e-12
    )


def test_distances_of_soft_partitions_equal_those_in_memory(tmp_path):
    X, a, _ = problem()
    R = soft_memberships(np.random.default_rng(1), 300, 3)
    stored = as_zarr(tmp_path, "R", R)
    for measure in ("lift_emd", "rand", "vi"):
        expected = lc.distance(a, R, X, measure=measure, rng=0)
        assert lc.distance(a, stored, X, measure=measure, rng=0) == pytest.approx(
            expected, abs=1e-9
        )
    with pytest.raises(ValueError, match="not defined for soft partitions"):
        lc.distance(a, stored, X, measure="ami")
    with pytest.raises(ValueError, match="not defined for soft partitions"):
        lc.distance_matrix({"a": a, "R": stored}, X, measure="ami")


@pytest.mark.parametrize("measure", ["lift_emd", "lift_kd", "rand", "nmi", "mirkin"])
def test_matrices_equal_those_in_memory(tmp_path, measure):
    X, a, b = problem()
    parts = {"a": a, "b": b, "c": a // 2}
    stored = {name: as_hdf5(tmp_path, name, p) for name, p in parts.items()}
    found = lc.distance_matrix(stored, as_zarr(tmp_path, "X", X), measure=measure, rng=0)
    expected = lc.distance_matrix(parts, X, measure=measure, rng=0)
    # Zeros are differences of rounded vectors on both sides.
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_second_sample_may_be_read_in_blocks(tmp_path):
    X, a, b = problem()
    Y = X[:170] + 0.5
    stored = as_parquet(tmp_path, "Y", Y)
    w = np.arange(1.0, 301), np.arange(1.0, 171)
    for weights in (None, w):
        options = {"Y": Y, "weights": weights, "rng": 0, "lift": "fourier"}
        expected = lc.compare(a, b[:170], X, **options)
        found = lc.compare(a, lc.Blocks([b[:170]]), X, **options | {"Y": stored})
        assert list(found) == ["lift_emd", "lift_kd", "lift_hausdorff"]
        for name in found:
            assert found[name].value == pytest.approx(expected[name].value, abs=1e-8)
        assert [p.n for p in found.partitions] == [300, 170]


@pytest.mark.parametrize("form", ["memmap", "HDF5", "blocks", "Parquet"])
def test_comparisons_equal_those_in_memory(tmp_path, form):
    X, a, b = problem()
    store = FORMS[form]
    found = lc.compare(
        store(tmp_path, "a", a), store(tmp_path, "b", b), store(tmp_path, "X", X), rng=0
    )
    expected = lc.compare(a, b, X, rng=0)
    assert list(found) == [name for name in expected if name not in POINTS]
    for name in found:
        assert found[name].value == pytest.approx(expected[name].value, abs=1e-8)
    for name in POINTS:
        assert "blocks" in found.left_out[name]
    np.testing.assert_allclose(found.plan, expected.plan, atol=1e-9)
    assert [str(move) for move in found.moves] == [str(move) for move in expected.moves]
    mine, theirs = found.to_dict(), expected.to_dict()
    for part in ("names", "lift"):
        assert mine[part] == theirs[part]
    for p, q in zip(mine["partitions"], theirs["partitions"], strict=True):
        assert p["masses"] == pytest.approx(q["masses"])
        assert p["noise_mass"] == pytest.approx(q["noise_mass"], abs=1e-12)
        assert (p["n"], p["k"], p["hard"], p["clusters"]) == (
            q["n"],
            q["k"],
            q["hard"],
            q["clusters"],
        )
    assert str(found).startswith("a: PartitionSummary(hard, n=300, k=4)")
    assert "lift_emd" in found._repr_html_()


def test_witness_needs_the_points_as_argument(tmp_path):
    X, a, b = problem()
    stored = as_hdf5(tmp_path, "X", X)
    found = lc.compare(a, as_memmap(tmp_path, "b", b), stored, rng=0)
    expected = lc.compare(a, b, X, rng=0)
    np.testing.assert_allclose(found.witness(X), expected.witness(), atol=1e-7)
    np.testing.assert_allclose(found.witness(stored), expected.witness(), atol=1e-7)
    np.testing.assert_allclose(
        found.witness(lc.Blocks([X[:9], X[9:]]), cluster=1, other=2),
        expected.witness(cluster=1, other=2),
        atol=1e-7,
    )
    with pytest.raises(ValueError, match="give witness the argument points"):
        found.witness()


@pytest.mark.parametrize("measure", POINTS)
def test_measures_that_need_points_in_memory_are_refused(tmp_path, measure):
    X, a, b = problem()
    stored = as_zarr(tmp_path, "X", X)
    with pytest.raises(ValueError, match=f"{measure} does not apply: .* in memory"):
        lc.distance(a, b, stored, measure=measure)
    with pytest.raises(ValueError, match=f"{measure} does not apply: .* in memory"):
        lc.distance_matrix([a, b], stored, measure=measure)


def test_functions_that_need_memory_refuse_blocks(tmp_path):
    X, a, b = problem()
    for function in (lc.significance, lc.bandwidth_profile):
        for arguments in ((a, b, lc.Blocks([X])), (lc.Blocks([a]), b, X)):
            with pytest.raises(TypeError, match="out-of-core input is not supported here"):
                function(*arguments)
    with pytest.raises(TypeError, match="out-of-core input is not supported here"):
        lc.drift(X, lc.Blocks([X]), (a, a))
    # Stored arrays are loaded into memory.
    stored = (a, as_memmap(tmp_path, "m", b), as_hdf5(tmp_path, "X", X))
    options = {"measure": "rand", "n_permutations": 9, "rng": 0}
    assert lc.significance(*stored, **options).value == lc.distance(a, b, measure="rand")
    with pytest.raises(ValueError, match="needs the points X"):
        lc.distance(a, as_memmap(tmp_path, "b", b))
    with pytest.raises(ValueError, match="needs the points X"):
        lc.distance_matrix([a, as_memmap(tmp_path, "b", b)])


def test_discrete_kernel_accepts_labels_in_blocks():
    _, a, b = problem()
    expected = lc.distance(a, b, kernel="discrete")
    assert lc.distance(lc.Blocks([a]), b, kernel="discrete") == pytest.approx(expected)


def test_pair_counting_measures_are_left_out_for_fractional_weights(tmp_path):
    X, a, b = problem()
    found = lc.compare(a, lc.Blocks([b]), X, weights=np.full(300, 0.5), rng=0)
    assert "integers" in found.left_out["rand"]
    assert found["vi"].value == pytest.approx(lc.distance(a, b, measure="vi"))


def test_representation_with_a_checkpoint_works_in_every_function(tmp_path):
    X, a, b = problem()
    file = tmp_path / "sums.npz"
    options = {"rng": 0, "lift": "fourier"}
    expected = lc.distance(a, b, X, **options)
    rep = lc.represent(as_hdf5(tmp_path, "X", X), [a, b], checkpoint=file, **options)
    assert not file.exists()
    assert lc.distance(rep[0], rep[1]) == pytest.approx(expected)
    assert lc.compare(rep[0], rep[1])["lift_emd"].value == pytest.approx(expected)
    assert lc.distance_matrix(rep)[0, 1] == pytest.approx(expected)
