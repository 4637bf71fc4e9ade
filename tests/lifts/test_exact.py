"""The exact lift: inner products of the kernel, blocks, precision."""

import numpy as np
import pytest
from hypothesis import given, settings

import liftcluster as lc
from support.generators import blobs, points_and_partitions
from support.oracles import cluster_products, gram


@given(points_and_partitions(max_points=12))
@settings(max_examples=15)
def test_exact_lift_reproduces_kernel_inner_products(case):
    X, partitions = case
    kernel = lc.Matern(1.5, 2.0)
    rep = lc.represent(X, partitions, kernel=kernel, lift="exact")
    R = np.hstack([p.memberships.toarray() * p.weights[:, None] for p in partitions])
    expected = cluster_products(gram(kernel, X), R)
    np.testing.assert_allclose(
        rep.inner_products(normalise=False), expected, rtol=1e-9, atol=1e-9 * expected.max()
    )


def test_exact_lift_scores_of_new_points_are_kernel_sums():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 3)
    new = rng.standard_normal((7, 3))
    rep = lc.represent(X, labels, kernel=lc.Gaussian(1.5))
    R = np.eye(4)[labels]
    expected = lc.Gaussian(1.5)(new, X) @ R
    np.testing.assert_allclose(rep.lift.scores(new, rep.sums), expected, atol=1e-10)


def test_exact_lifts_work_over_several_blocks():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 2500, 3)
    other = rng.integers(3, size=2500)
    rep = lc.represent(X, [labels, other], kernel=lc.Gaussian(1.5), lift="exact")
    R = np.hstack([np.eye(4)[labels], np.eye(3)[other]])
    expected = R.T @ lc.Gaussian(1.5)(X, X) @ R
    np.testing.assert_allclose(rep.inner_products(normalise=False), expected, rtol=1e-10)
    np.testing.assert_allclose(
        rep.lift.scores(X[:1300], rep.sums), lc.Gaussian(1.5)(X[:1300], X) @ R, atol=1e-7
    )


def test_exact_sums_in_single_precision_keep_small_distances(monkeypatch):
    """The small distance between clusters that differ in one point is accurate."""
    from liftcluster.lifts import exact as span

    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 1500, 30)
    moved = labels.copy()
    moved[0] = (moved[0] + 1) % 4
    assert span._single_precision_blocks(lc.Gaussian(lc.bandwidth(X)), X) is not None
    single = lc.represent(X, [labels, moved, labels[::-1]], lift="exact").distances()
    monkeypatch.setattr(span, "_single_precision_blocks", lambda kernel, X: None)
    double = lc.represent(X, [labels, moved, labels[::-1]], lift="exact").distances()
    np.testing.assert_allclose(single, double, atol=1e-6)
    nearest = double[:4, 4:8].diagonal()
    assert 0 < nearest.max() < 0.01
    np.testing.assert_allclose(single[:4, 4:8].diagonal(), nearest, atol=1e-9)


def test_double_precision_is_used_where_single_precision_is_too_inaccurate():
    from liftcluster.lifts import exact as span

    X = blobs(np.random.default_rng(0), 1500, 30)[0]
    not_smooth_at_zero = lc.Matern(0.5, 20.0)  # the root of a rounding error is larger
    for kernel in (lc.Gaussian(0.5), lc.Laplace(5.0), lc.Gaussian([5.0, 10.0]), not_smooth_at_zero):
        assert span._single_precision_blocks(kernel, X) is None
    assert span._single_precision_blocks(lc.Gaussian(30.0), X[:, :5]) is None
    assert span._single_precision_blocks(lc.Gaussian(30.0), X * 1e300) is None
    for kernel in (lc.Gaussian(20.0), lc.Cauchy(20.0)):
        (K,) = span._single_precision_blocks(kernel, X)(slice(0, 9), slice(5, 40))
        np.testing.assert_allclose(K, kernel(X[:9], X[5:40]), atol=1e-6)


def test_span_of_m_partitions_is_rank_deficient_by_m_minus_1():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    parts = [rng.integers(3, size=60) for _ in range(5)]
    rep = lc.represent(X, parts, kernel=lc.Gaussian(2.0))
    assert rep.n_components == rep.s - 4
    R = np.hstack([np.eye(3)[p] for p in parts])
    np.testing.assert_allclose(rep.lift.scores(X, rep.sums), lc.Gaussian(2.0)(X, X) @ R, atol=1e-8)


def test_exact_distances_are_accurate_far_from_the_origin():
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    X = np.round(X, 1) * 10
    for kernel in ("gaussian", "laplace", "matern"):
        near, far = (lc.distance(labels, labels % 2, Z, kernel=kernel) for Z in (X, X + 2.0**45))  # fmt: skip
        assert far == pytest.approx(near, abs=1e-9)
