"""Sampled partitions: the stationary distribution by enumeration, quality by its formula."""

import numpy as np
import pytest
from scipy.stats import chi2

import liftcluster as lc
from liftcluster.combination.features import compactness, point_features
from liftcluster.combination.sampling import start, sweeps
from liftcluster.lifts.choice import Lifting

X = np.array([[0.0, 0.0], [1.0, 0.2], [0.6, 2.0], [3.0, 3.0], [3.5, 2.0]])


def all_partitions(n, k):
    """Every partition of n points into at most k clusters, as codes by first appearance."""
    found = [(0,)]
    for _ in range(1, n):
        found = [(*c, j) for c in found for j in range(min(max(c) + 2, k))]
    return found


def by_first_appearance(codes):
    order = list(dict.fromkeys(codes))
    return tuple(order.index(c) for c in codes)


def quality(K, codes):
    """Σ_C Σ_{x, y ∈ C} κ(x, y) / |C|."""
    total = 0.0
    for c in set(codes):
        members = [i for i, own in enumerate(codes) if own == c]
        total += sum(K[i, j] for i in members for j in members) / len(members)
    return total


def kernel_matrix(X):
    return lc.Gaussian(lc.bandwidth(X))(X, X)


def test_there_are_as_many_partitions_as_stirling_numbers_say():
    assert [len(all_partitions(n, k)) for n, k in [(4, 2), (5, 3), (5, 5), (6, 3)]] == [
        8, 41, 52, 122,
    ]  # fmt: skip


def test_quality_is_the_sum_of_mean_similarities():
    K = kernel_matrix(X)
    Z = point_features(Lifting.of(), X, np.random.default_rng(0))
    for codes in all_partitions(5, 4):
        value = compactness(Z, np.array(codes), 5)
        assert value == pytest.approx(quality(K, codes), abs=1e-9)


def test_quality_is_that_of_mmd_objective_but_for_a_constant():
    parts = [[0, 0, 0, 1, 1], [0, 1, 0, 1, 0], [0, 1, 2, 3, 3]]
    J = 5 * lc.mmd_objective(lc.represent(X, parts))
    Q = [quality(kernel_matrix(X), p) for p in parts]
    np.testing.assert_allclose(np.diff(J), np.diff(Q), atol=1e-9)


@pytest.mark.parametrize(("k", "beta"), [(3, 1.5), (2, 3.0), (5, 0.7)])
def test_draws_are_in_proportion_to_the_exponential_of_quality(k, beta):
    """Chi-square at level 10⁻⁴; with 5 sweeps between them draws of 5 points are independent."""
    K = kernel_matrix(X)
    states = all_partitions(5, k)
    p = np.exp([beta * quality(K, codes) for codes in states])
    p /= p.sum()
    rng = np.random.default_rng(0)
    Z = point_features(Lifting.of(), X, rng)
    chain = sweeps(Z, np.zeros(5, dtype=int), k, beta, rng)
    counts = dict.fromkeys(states, 0)
    draws = 1500
    for _ in range(draws):
        for _ in range(5):
            codes = next(chain)
        counts[by_first_appearance(codes.tolist())] += 1
    expected = draws * p
    assert expected.min() > 4
    statistic = float(((np.array(list(counts.values())) - expected) ** 2 / expected).sum())
    assert statistic < chi2.isf(1e-4, len(states) - 1)


def test_beta_is_in_units_of_the_median_loss_in_the_second_best_cluster():
    rng = np.random.default_rng(0)
    Y = np.repeat([[0.0], [5.0]], 20, axis=0) + rng.normal(size=(40, 1))
    lifting = Lifting.of(bandwidth=3.0)
    codes, unit = start(point_features(lifting, Y, rng), 2, rng)
    K = lc.Gaussian(3.0)(Y, Y)
    losses = []
    for i in range(40):
        squares = [
            K[i, i] - 2 * K[i, codes == c].mean() + K[np.ix_(codes == c, codes == c)].mean()
            for c in (0, 1)
        ]
        losses.append(max(squares) - min(squares))
    assert unit == pytest.approx(np.median(losses), rel=1e-9)


def test_larger_beta_gives_better_partitions():
    rng = np.random.default_rng(0)
    Y = np.repeat([[0.0, 0], [4, 0], [0, 4]], 20, axis=0) + rng.normal(size=(60, 2))
    means = []
    for beta in (0.5, 3.0, 12.0):
        draws = lc.sample_partitions(Y, 3, 20, beta=beta, rng=0)
        means.append(lc.mmd_objective(lc.represent(Y, draws)).mean())
    assert means[0] < means[1] < means[2]


def test_scale_and_place_of_the_points_change_nothing():
    Y = np.random.default_rng(0).normal(size=(30, 2))
    draws = [lc.sample_partitions(Z, 3, 5, rng=1) for Z in (Y, 1000 * Y + 7)]
    for a, b in zip(*draws, strict=True):
        assert lc.distance(a, b, measure="rand") == 0


def test_landmarks_approximate_the_quality():
    Y = np.random.default_rng(0).normal(size=(300, 2))
    codes = np.arange(300) % 3
    exact, few = (
        compactness(point_features(Lifting.of(lift=lift), Y, np.random.default_rng(1)), codes, 3)
        for lift in (lc.Exact(), lc.Nystroem(60))
    )
    assert few == pytest.approx(exact, rel=0.01)  # 20 dimensions would do for this kernel


def test_draws_of_more_points_than_the_unit_of_beta_is_estimated_from_keep_clear_clusters():
    truth = np.arange(2500) % 3
    Y = 9.0 * truth[:, None] + np.random.default_rng(0).normal(size=(2500, 1))
    (drawn,) = lc.sample_partitions(Y, 3, 1, beta=12, burn_in=0, lift=lc.Nystroem(50), rng=0)
    assert lc.distance(drawn, truth, measure="accuracy") < 0.02


@pytest.mark.parametrize("kernel", ["discrete", lc.Precomputed(np.eye(5)), "laplace"])
def test_other_kernels_serve(kernel):
    given = None if isinstance(kernel, lc.Precomputed) else X
    draws = lc.sample_partitions(given, 2, 3, kernel=kernel, rng=0)
    assert [p.n for p in draws] == [5, 5, 5]
    assert all(p.k <= 2 for p in draws)


def test_one_cluster_and_equal_points():
    assert all(p.k == 1 for p in lc.sample_partitions(X, 1, 3, rng=0))
    assert len(lc.sample_partitions(np.ones((6, 2)), 3, 3, bandwidth=1.0, rng=0)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 6}, "n_clusters=6 is more than the 5 points"),
        ({"n_partitions": 0}, "n_partitions must be at least 1"),
        ({"beta": 0.0}, "beta must be positive"),
        ({"burn_in": -1}, "burn_in must be at least 0"),
        ({"thin": 0}, "thin must be at least 1"),
        ({"lift": lc.make_lift(X, [0, 0, 1, 1, 1], lift="exact")}, "need a lift with features"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        lc.sample_partitions(**{"X": X, "n_clusters": 2, "n_partitions": 2} | arguments)
