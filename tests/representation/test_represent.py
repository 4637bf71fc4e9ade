"""represent: weights, several partitions, samples, and invalid input."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.kernels.summary import pool_points
from liftcluster.lifts.fourier import draw_fourier_lift
from support.generators import blobs


def test_numpy_integer_names_can_be_saved(tmp_path):
    p = lc.Partition.from_memberships([[0.5, 0.5], [1, 0]], names=np.arange(2))
    lc.represent([[0.0], [1.0]], [p]).save(tmp_path / "r.npz")


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_weights_are_matched_to_points_in_every_block(kind):
    rng = np.random.default_rng(0)
    n = 1500
    X, w = rng.standard_normal((n, 2)), rng.uniform(0.1, 5, n)
    R = np.eye(3)[rng.integers(3, size=n)] if kind == "hard" else rng.dirichlet(np.ones(3), n)
    lift = lc.make_lift(X, lift="fourier", rng=0)
    rep = lc.represent(X, [lc.as_partition(R, w)], lift=lift)
    np.testing.assert_allclose(rep.sums, (w[:, None] * R).T @ lift.features(X), atol=1e-9)


def test_distances_of_a_light_cluster_next_to_a_heavy_one_are_accurate():
    X = np.array([[0.0], [1.0], [1.5]])
    rep = lc.represent(X, ["huge", "one", "two"], weights=[1e9, 1, 1], bandwidth=1.0)
    K = lc.Gaussian(1.0)(X, X)
    np.testing.assert_allclose(rep.distances(), np.sqrt(np.maximum(2 - 2 * K, 0)), atol=1e-8)


def test_partitions_keep_their_own_weights_when_selected():
    p, q = lc.Partition.from_labels([0, 1], [1, 3]), lc.Partition.from_labels([0, 1], [5, 5])
    rep = lc.represent([[0.0], [1.0]], {"p": p, "q": q})
    np.testing.assert_allclose(rep[1].masses, [0.5, 0.5])
    np.testing.assert_allclose(rep["p"].masses, [0.25, 0.75])
    with pytest.raises(KeyError, match="no partition is called 'r'"):
        rep["r"]


def test_adding_duplicate_partition_names_is_refused():
    rep = lc.represent([[0.0], [1.0]], [[0, 1], [0, 0]], lift="fourier", rng=0)
    with pytest.raises(ValueError, match="need different names"):
        rep[[0, 0]] + rep


def test_representations_of_different_bandwidths_cannot_be_added():
    X, labels = blobs(np.random.default_rng(0), 30, 2)
    reps = [
        lc.represent(
            X,
            labels,
            lift=draw_fourier_lift(lc.Gaussian(h), 2, 10, rng=np.random.default_rng(0)),
        )
        for h in (1.0, 2.0)
    ]
    with pytest.raises(ValueError, match="different lifts"):
        reps[0] + reps[1]


def test_max_error_is_the_largest_distance_error():
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    rep = lc.represent(X, labels, lift="fourier", rng=0)
    assert rep.max_error == rep.distance_errors().max() > rep.distance_errors().mean()


def test_unnamed_partitions_of_samples_are_numbered_consecutively():
    X = np.arange(4.0)[:, None]
    p = [[0, 0, 1, 1], [0, 1, 1, 1]]
    assert lc.represent_samples([(X, p), (X, p)]).partition_names == (0, 1, 2, 3)


def test_pooled_points_are_proportional_and_deterministic():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((3000, 2)), 5 + rng.standard_normal((1000, 2))
    pool = pool_points([X, Y])
    assert 1500 <= len(pool) <= 2100
    assert (pool[:, 0] > 2.5).mean() == pytest.approx(0.25, abs=0.05)
    np.testing.assert_array_equal(pool, pool_points([X, Y]))


def test_zero_cluster_vector_cannot_be_normalised():
    X = np.array([[0.0], [0.0], [1e6]])
    with pytest.raises(ValueError, match="zero vector"):
        lc.cluster_distance(
            [1, 1, 0], [0, 0, 1], X, lift=lc.Nystroem(1), bandwidth=1.0, normalise=True, rng=0
        )
