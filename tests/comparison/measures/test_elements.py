"""Element-centric similarity: a literal PageRank on the graph of points and clusters, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster import Partition
from liftcluster.comparison.measures import elements
from liftcluster.comparison.measures.elements import element_similarity


def literal_similarity(A, B, alpha):
    """From (n, k) memberships of points in both partitions, step by step of the definition."""
    n = len(A)
    p, q = pagerank(A, alpha), pagerank(B, alpha)
    return [1 - sum(abs(p[x, y] - q[x, y]) for y in range(n)) / (2 * alpha) for x in range(n)]


def pagerank(R, alpha):
    """(n, n) personalised PageRank: the stationary distribution of each walk with restarts."""
    n, k = R.shape
    P = np.zeros((n, n))
    for x in range(n):
        for y in range(n):
            for c in range(k):
                if R[x, c] > 0:
                    P[x, y] += R[x, c] / R[x].sum() * R[y, c] / R[:, c].sum()
    np.testing.assert_allclose(P.sum(axis=1), 1)
    p = np.eye(n)
    for _ in range(2000):
        p = (1 - alpha) * np.eye(n) + alpha * p @ P
    return p


def one_hot(labels):
    return (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)


def random_labels(seed, n=20, k=4):
    rng = np.random.default_rng(seed)
    return rng.integers(k, size=n), rng.integers(k, size=n)


@pytest.mark.parametrize("alpha", [0.5, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_hard_partitions_agree_with_pagerank(seed, alpha):
    a, b = random_labels(seed, n=10 + 5 * seed)
    expected = literal_similarity(one_hot(a), one_hot(b), alpha)
    found = element_similarity(Partition.from_labels(a), Partition.from_labels(b), alpha=alpha)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert lc.distance(a, b, measure="element_centric") == pytest.approx(
        1 - np.mean(expected), abs=1e-10
    )


def random_memberships(rng, n, k, overlapping):
    if not overlapping:
        return rng.dirichlet(np.ones(k), n)
    R = (rng.random((n, k)) < 0.4).astype(float)  # in several clusters, in equal parts
    R[R.sum(axis=1) == 0, 0] = 1
    return R / R.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_soft_and_overlapping_partitions_agree_with_pagerank(seed, alpha, overlapping):
    rng = np.random.default_rng(seed)
    A = random_memberships(rng, 25, 3, overlapping)
    B = random_memberships(rng, 25, 4, overlapping) if seed else one_hot(rng.integers(3, size=25))
    a, b = Partition.from_memberships(A), Partition.from_memberships(B)
    np.testing.assert_allclose(
        element_similarity(a, b, alpha=alpha), literal_similarity(A, B, alpha), atol=1e-10
    )


@pytest.mark.parametrize("soft", [False, True])
def test_repeated_points_are_weights(soft):
    rng = np.random.default_rng(0)
    times = rng.integers(1, 4, 15)
    A, B = (random_memberships(rng, 15, 3, True) for _ in range(2))
    if not soft:
        A, B = one_hot(A.argmax(axis=1)), one_hot(B.argmax(axis=1))
    weighted = (Partition.from_memberships(R, weights=times.astype(float)) for R in (A, B))
    repeated = (Partition.from_memberships(np.repeat(R, times, axis=0)) for R in (A, B))
    np.testing.assert_allclose(
        np.repeat(element_similarity(*weighted), times), element_similarity(*repeated), atol=1e-12
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_hard_partitions_have_the_same_values_as_soft_ones(seed, n):
    a, b = map(Partition.from_labels, random_labels(seed, n))
    inside = np.ones(n, dtype=bool)
    closed, walked = (f(a, b, inside, 0.9) for f in (elements._of_hard, elements._of_soft))
    np.testing.assert_allclose(closed, walked, atol=1e-10)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = (Partition.from_memberships(rng.dirichlet(np.ones(3), 30)) for _ in range(2))
    whole = element_similarity(a, b)
    monkeypatch.setattr(
        elements, "row_blocks", lambda n, _: (slice(i, min(i + 7, n)) for i in range(0, n, 7))
    )
    np.testing.assert_allclose(element_similarity(a, b), whole, atol=1e-14)


def test_noise_in_either_is_left_out():
    a, b = [0, 0, 1, 1, -1, 0], [0, 0, 0, 1, 1, -1]
    found = lc.compare(a, b)
    np.testing.assert_allclose(
        found.element_similarity, [2 / 3, 2 / 3, 1 / 3, 1 / 2, np.nan, np.nan]
    )
    assert found["element_centric"].value == pytest.approx(11 / 24)


def test_similarity_around_a_point_sees_only_its_clusters():
    """The same change is small in a large cluster, and elsewhere nothing differs."""
    a = np.repeat([0, 1, 2], [50, 10, 5])
    b = a.copy()
    b[0] = 1
    found = lc.compare(a, b).element_similarity
    np.testing.assert_allclose(found[1:50], 49 / 50)
    np.testing.assert_allclose(found[50:60], 10 / 11)
    np.testing.assert_allclose(found[60:], 1)
    assert found[0] == pytest.approx(1 / 50)


def test_one_cluster_and_single_points_are_as_far_as_possible():
    n = 8
    assert lc.distance([0] * n, range(n), measure="element_centric") == pytest.approx(1 - 1 / n)


def test_equal_partitions_are_at_distance_zero_with_any_weights():
    a = [0, 1, 1, 2, 2, 2]
    w = [0.1, 0.2, 0.3, 0.7, 0.11, 1 / 3]
    assert lc.distance(a, [5, 3, 3, 4, 4, 4], measure="element_centric", weights=w) == 0
    np.testing.assert_allclose(lc.compare(a, a, weights=w).element_similarity, 1)


def test_million_points_take_seconds():
    rng = np.random.default_rng(0)
    a, b = rng.integers(50, size=10**6), rng.integers(40, size=10**6)
    found = element_similarity(Partition.from_labels(a), Partition.from_labels(b))
    assert found.mean() == pytest.approx(1 - lc.distance(a, b, measure="element_centric"), abs=1e-9)


def test_soft_partitions_of_too_many_memberships_are_refused(monkeypatch):
    monkeypatch.setattr(elements, "_MOST_SOFT", 10)
    rng = np.random.default_rng(0)
    soft = Partition.from_memberships(rng.dirichlet(np.ones(3), 30))
    with pytest.raises(ValueError, match="all pairs of 10 different memberships at most, got 30"):
        element_similarity(soft, soft)


def test_soft_partitions_have_values_of_points_but_no_distance():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(3), 30), rng.dirichlet(np.ones(3), 30)
    found = lc.compare(Partition.from_memberships(a), Partition.from_memberships(b))
    assert "soft" in found.left_out["element_centric"]
    assert ((found.element_similarity > 0) & (found.element_similarity < 1)).all()


@pytest.mark.parametrize("alpha", [0, 1, -0.5, np.nan])
def test_alpha_outside_of_zero_to_one_is_refused(alpha):
    p = Partition.from_labels([0, 1])
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        element_similarity(p, p, alpha=alpha)


def test_different_points_are_refused():
    X, Y = np.zeros((3, 1)), np.zeros((2, 1))
    found = lc.compare([0, 0, 1], [0, 1], X, Y=Y)
    with pytest.raises(ValueError, match="3 and 2 points"):
        _ = found.element_similarity
