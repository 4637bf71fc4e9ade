"""Where two partitions differ: the distance between the clusters of each point."""

import numpy as np
import pytest

import liftcluster as lc

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(4, size=200)
X = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[TRUTH] + RNG.standard_normal((200, 2))
NOISY = np.where(np.arange(200) % 7 == 0, -1, TRUTH)
SOFT = RNG.dirichlet(np.ones(3), size=200)


@pytest.mark.parametrize("a", [TRUTH, NOISY, SOFT], ids=["hard", "noise", "soft"])
@pytest.mark.parametrize("b", [RNG.permutation(TRUTH), NOISY % 3 - 1, SOFT[:, ::-1] ** 2], ids=["hard", "noise", "soft"])  # fmt: skip
def test_point_distances_are_means_over_memberships(a, b):
    if np.ndim(b) == 2:
        b = b / b.sum(axis=1, keepdims=True)
    found = lc.compare(a, b, X, measures="lift_emd")
    P, Q = (p.memberships.toarray() for p in found.partitions)
    for x in range(0, 200, 11):
        expected = sum(
            P[x, i] * Q[x, j] * found.cluster_distances[i, j]
            for i, j in np.ndindex(found.plan.shape)
        )
        if P[x].sum() == 0 or Q[x].sum() == 0:
            assert np.isnan(found.point_distances[x])
        else:
            assert found.point_distances[x] == pytest.approx(expected)


@pytest.mark.parametrize("weights", [None, RNG.uniform(1, 2, size=200)], ids=["equal", "weighted"])
def test_their_mean_is_at_least_lift_emd(weights):
    """The points themselves are one way of transport, and LiftEMD is the cheapest."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(3, size=200), (TRUTH + (rng.random(200) < 0.2)) % 4
        found = lc.compare(a, b, X, weights=weights, measures="lift_emd")
        mean = np.average(found.point_distances, weights=weights)
        assert mean >= found["lift_emd"].value - 1e-9


@pytest.mark.parametrize("bandwidth", ["median", "median/4"])
def test_points_that_changed_their_cluster_stand_out_at_any_bandwidth(bandwidth):
    changed = TRUTH.copy()
    changed[:10] = (TRUTH[:10] + 1) % 4
    d = lc.compare(TRUTH, changed, X, bandwidth=bandwidth, measures="lift_emd").point_distances
    assert d[:10].min() > 3 * d[10:].max()


def test_points_of_another_sample_have_the_distance_that_their_cluster_moves():
    moved = X + np.where(TRUTH == 2, 3.0, 0.0)[:, None]
    found = lc.compare(TRUTH, TRUTH[::-1], X, Y=moved[::-1], measures="lift_emd")
    costs = (found.plan * found.cluster_distances).sum(axis=1) / found.plan.sum(axis=1)
    np.testing.assert_allclose(found.point_distances, costs[TRUTH])
    assert found.point_distances[TRUTH == 2].min() > 3 * found.point_distances[TRUTH != 2].max()
    # The weighted mean over a is LiftEMD itself.
    assert found.point_distances.mean() == pytest.approx(found["lift_emd"].value)


def test_point_distances_need_points_and_labels():
    with pytest.raises(AttributeError, match="made with X"):
        _ = lc.compare([0, 1], [1, 0], measures="rand").point_distances
    rep = lc.represent(X, {"a": TRUTH, "b": NOISY})
    with pytest.raises(AttributeError, match="labels read in blocks are not kept"):
        _ = lc.compare(rep["a"], rep["b"]).point_distances
