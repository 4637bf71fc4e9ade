"""Every function that lifts takes a Representation in place of partitions and points."""

import dask.array as da
import numpy as np
import pytest

import liftcluster as lc
from support.generators import blobs
from support.stored import as_hdf5, as_memmap

LIFTED = ["lift_emd", "lift_kd", "lift_hausdorff"]


@pytest.fixture
def problem():
    X, truth = blobs(np.random.default_rng(0), 300, 2)
    return X, {"truth": truth, "moved": np.roll(truth, 20), "two": (X[:, 0] > 0) * 1}


def in_memory(X, labels, folder, **options):
    return lc.represent(X, labels, **options)


def in_blocks(X, labels, folder, **options):
    stored = {name: as_memmap(folder, name, p) for name, p in labels.items()}
    return lc.represent(as_hdf5(folder, "X", X), stored, **options)


def of_dask(X, labels, folder, **options):
    lazy = {name: da.from_array(p, chunks=90) for name, p in labels.items()}
    return lc.represent(da.from_array(X, chunks=(70, 2)), lazy, **options)


def with_checkpoint(X, labels, folder, **options):
    found = lc.represent(X, labels, checkpoint=folder / "sums.npz", **options)
    assert not (folder / "sums.npz").exists()
    return found


def saved(X, labels, folder, **options):
    lc.represent(X, labels, **options).save(folder / "rep.npz")
    return lc.load_representation(folder / "rep.npz")


def joined(X, labels, folder, **options):
    lift = lc.make_lift(X, **options)
    first, *others = (lc.represent(X, {name: p}, lift=lift) for name, p in labels.items())
    for other in others:
        first = first + other
    return first


WAYS = [in_memory, in_blocks, of_dask, with_checkpoint, saved, joined]
OPTIONS = {"lift": lc.Fourier(64), "bandwidth": 2.0, "rng": 0}


@pytest.mark.parametrize("way", WAYS)
def test_distances_of_a_representation_equal_those_of_its_partitions(way, problem, tmp_path):
    X, labels = problem
    rep = way(X, labels, tmp_path, **OPTIONS)
    for measure in LIFTED:
        D = lc.distance_matrix(labels, X, measure=measure, **OPTIONS)
        # The distance of equal vectors is the root of a rounding error.
        np.testing.assert_allclose(lc.distance_matrix(rep, measure=measure), D, atol=1e-6)
        assert lc.distance(rep["truth"], rep[1], measure=measure) == pytest.approx(
            D[0, 1], abs=1e-6
        )


@pytest.mark.parametrize("way", WAYS)
def test_comparison_of_representations_has_the_lifted_measures(way, problem, tmp_path):
    X, labels = problem
    rep = way(X, labels, tmp_path, **OPTIONS)
    found = lc.compare(rep["truth"], rep["two"])
    expected = lc.compare(labels["truth"], labels["two"], X, measures=LIFTED, **OPTIONS)
    assert list(found.values) == LIFTED
    for measure in LIFTED:
        assert found[measure].value == pytest.approx(expected[measure].value, abs=1e-6)
    assert found["lift_emd"].error == pytest.approx(expected["lift_emd"].error, rel=1e-6)
    assert [str(move) for move in found.moves] == [str(move) for move in expected.moves]
    assert "needs labels" in found.left_out["rand"]
    assert "needs the points X" in found.left_out["centroid"]


@pytest.mark.filterwarnings("ignore:the consensus is farther")
@pytest.mark.parametrize("way", WAYS)
def test_consensus_of_a_representation_groups_the_same_clusters(way, problem, tmp_path):
    X, labels = problem
    options = {"lift": lc.Nystroem(40), "bandwidth": 2.0, "rng": 0}
    rep = way(X, labels, tmp_path, **options)
    expected = lc.consensus(labels, 4, X, method="lift_hac", **options)
    found = lc.consensus(rep, 4, method="lift_hac", rng=0)
    assert found.labels is None
    assert found.score == pytest.approx(expected.score, rel=1e-6)
    np.testing.assert_array_equal(found.predict(X), expected.labels)
    out = np.full(len(X), -1)
    for points in (X, as_memmap(tmp_path, "Y", X)):
        written = lc.consensus(rep, 4, points, method="lift_hac", rng=0, out=out)
        assert written.labels is out
        np.testing.assert_array_equal(out, expected.labels)
        np.testing.assert_allclose(written.masses, expected.masses, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda rep, X, a: lc.distance(rep[0], rep[1], X), ValueError, "lifted already, so X cannot apply"),
        (lambda rep, X, a: lc.distance(rep[0], rep[1], weights=np.ones(300)), ValueError, "so weights cannot apply"),
        (lambda rep, X, a: lc.distance(rep[0], rep[1], bandwidth=3.0), ValueError, "so bandwidth cannot apply"),
        (lambda rep, X, a: lc.compare(rep[0], rep[1], kernel="laplace"), ValueError, "so kernel cannot apply"),
        (lambda rep, X, a: lc.distance_matrix(rep, lift="exact"), ValueError, "so lift cannot apply"),
        (lambda rep, X, a: lc.distance_matrix(rep, X), ValueError, "so X cannot apply"),
        (lambda rep, X, a: lc.consensus(rep, 3, lift="fourier"), ValueError, "so lift cannot apply"),
        (lambda rep, X, a: lc.distance(rep, rep), TypeError, "one partition each"),
        (lambda rep, X, a: lc.distance(rep[0], a), TypeError, "two representations"),
        (lambda rep, X, a: lc.distance(rep[0], rep[1], measure="rand"), ValueError, "rand does not apply: it needs labels"),
        (lambda rep, X, a: lc.distance_matrix(rep, measure="vi"), ValueError, "vi does not apply: it needs labels"),
        (lambda rep, X, a: lc.distance(rep[0], rep[1], measure="centroid"), ValueError, "centroid does not apply: it needs the points"),
        (lambda rep, X, a: lc.significance(rep[0], rep[1], X), TypeError, "needs the partitions themselves"),
        (lambda rep, X, a: lc.distance(rep[0], lc.represent(X, a, lift="fourier", rng=1)), ValueError, "different lifts"),
    ],
)  # fmt: skip
def test_inapplicable_arguments_are_refused_for_a_representation(call, error, message, problem):
    X, labels = problem
    rep = lc.represent(X, labels, **OPTIONS)
    with pytest.raises(error, match=message):
        call(rep, X, labels["truth"])
