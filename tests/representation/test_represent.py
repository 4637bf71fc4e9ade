"""represent: weights, several partitions, samples, and what it refuses."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.representation.lifting import pool_points
from support.generators import blobs


def test_names_of_numpy_kind_can_be_saved(tmp_path):
    p = lc.Partition.from_memberships([[0.5, 0.5], [1, 0]], names=np.arange(2))
    lc.represent([[0.0], [1.0]], [p]).save(tmp_path / "r.npz")


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_weights_go_with_their_points_in_every_block(kind):
    rng = np.random.default_rng(0)
    n = 1500
    X, w = rng.standard_normal((n, 2)), rng.uniform(0.1, 5, n)
    R = np.eye(3)[rng.integers(3, size=n)] if kind == "hard" else rng.dirichlet(np.ones(3), n)
    lift = lc.make_lift(X, lift="fourier", rng=0)
    rep = lc.represent(X, [lc.as_partition(R, w)], lift=lift)
    np.testing.assert_allclose(rep.sums, (w[:, None] * R).T @ lift.features(X), atol=1e-9)


def test_a_tiny_cluster_beside_a_huge_one_keeps_its_place():
    X = np.array([[0.0], [1.0], [1.5]])
    rep = lc.represent(X, ["huge", "one", "two"], weights=[1e9, 1, 1], bandwidth=1.0)
    K = lc.Gaussian(1.0)(X, X)
    np.testing.assert_allclose(rep.distances(), np.sqrt(np.maximum(2 - 2 * K, 0)), atol=1e-8)


def test_partitions_keep_their_own_weights_when_taken_out():
    p, q = lc.Partition.from_labels([0, 1], [1, 3]), lc.Partition.from_labels([0, 1], [5, 5])
    rep = lc.represent([[0.0], [1.0]], {"p": p, "q": q})
    np.testing.assert_allclose(rep[1].masses, [0.5, 0.5])
    np.testing.assert_allclose(rep["p"].masses, [0.25, 0.75])
    with pytest.raises(KeyError, match="no partition is called 'r'"):
        rep["r"]


def test_the_same_partition_twice_is_not_added_up():
    rep = lc.represent([[0.0], [1.0]], [[0, 1], [0, 0]], lift="fourier", rng=0)
    with pytest.raises(ValueError, match="need different names"):
        rep[[0, 0]] + rep


def test_another_bandwidth_is_another_map():
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


def test_the_largest_error_is_the_largest():
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    rep = lc.represent(X, labels, lift="fourier", rng=0)
    assert rep.max_error == rep.distance_errors().max() > rep.distance_errors().mean()


def test_unnamed_partitions_of_samples_are_numbered_through():
    X = np.arange(4.0)[:, None]
    p = [[0, 0, 1, 1], [0, 1, 1, 1]]
    assert lc.represent_samples([(X, p), (X, p)]).partition_names == (0, 1, 2, 3)


def test_the_pool_of_samples_is_fair_and_always_the_same():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((3000, 2)), 5 + rng.standard_normal((1000, 2))
    pool = pool_points([X, Y])
    assert 1500 <= len(pool) <= 2100
    assert (pool[:, 0] > 2.5).mean() == pytest.approx(0.25, abs=0.05)
    np.testing.assert_array_equal(pool, pool_points([X, Y]))


def test_a_vector_without_direction_is_said_not_divided_by():
    X = np.array([[0.0], [0.0], [1e6]])
    with pytest.raises(ValueError, match="zero vector"):
        lc.cluster_distance(
            [1, 1, 0],
            [0, 0, 1],
            X,
            lift="nystrom",
            n_components=1,
            bandwidth=1.0,
            normalise=True,
            rng=0,
        )
