"""Pair-counting distances and accuracy: loops over pairs, scikit-learn, all small partitions."""

from fractions import Fraction
from itertools import combinations
from math import isqrt, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import liftcluster as lc
from liftcluster.comparison.measures import pairs
from liftcluster.partitions.contingency import Contingency, contingency
from liftcluster.partitions.partition import Partition
from support import oracles_pairs as oracle

MEASURES = {
    name: getattr(pairs, name)
    for name in ("accuracy", "adjusted_rand", "fowlkes_mallows", "jaccard", "mirkin", "rand")
}
METRICS = ["accuracy", "jaccard", "mirkin", "rand"]

labellings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=15)


def distance(measure, a, b, weights=None):
    a, b = (p if isinstance(p, Partition) else Partition.from_labels(p, weights) for p in (a, b))
    return MEASURES[measure](contingency(a, b))


def random_labels(seed, n, k):
    """Labels, and a copy in which a random share of the points moved."""
    rng = np.random.default_rng(seed)
    a = rng.integers(k, size=n)
    return a, np.where(rng.random(n) < rng.random(), rng.integers(k + 2, size=n), a)


@given(labellings)
def test_pair_distances_equal_formulas_with_a_loop_over_pairs(labels):
    a, b = zip(*labels, strict=True)
    both, in_a, in_b, every = oracle.pair_counts(a, b)
    apart = in_a + in_b - 2 * both
    either = in_a + in_b - both
    n = len(a)
    assert distance("rand", a, b) == (apart / every if every else 0)
    assert distance("jaccard", a, b) == pytest.approx(1 - both / either if either else 0, abs=1e-15)
    assert distance("mirkin", a, b) == 2 * apart
    assert distance("mirkin", a, b) == pytest.approx(n * (n - 1) * distance("rand", a, b))
    expected = 1 - both / sqrt(in_a * in_b) if both else float(in_a + in_b > 0)
    assert distance("fowlkes_mallows", a, b) == pytest.approx(expected, abs=1e-15)
    if apart:
        expected = oracle.adjusted_rand(both, in_a, in_b, every)
        assert distance("adjusted_rand", a, b) == float(expected)


@given(st.integers(0, 2**32 - 1), st.integers(2, 300), st.integers(1, 8))
def test_values_agree_with_scikit_learn(seed, n, k):
    a, b = random_labels(seed, n, k)
    a[0] = a[-1]  # some pair is together: without any, Fowlkes and Mallows' index is a convention
    assert distance("rand", a, b) == pytest.approx(1 - metrics.rand_score(a, b), abs=1e-12)
    ari, fmi = metrics.adjusted_rand_score(a, b), metrics.fowlkes_mallows_score(a, b)
    assert distance("adjusted_rand", a, b) == pytest.approx(1 - ari, abs=1e-12)
    assert distance("fowlkes_mallows", a, b) == pytest.approx(1 - fmi, abs=1e-12)


@pytest.mark.long
def test_a_million_points_agree_with_scikit_learn_to_twelve_digits():
    a, b = random_labels(0, 10**6, 20)
    for measure, score in [
        ("rand", metrics.rand_score),
        ("adjusted_rand", metrics.adjusted_rand_score),
        ("fowlkes_mallows", metrics.fowlkes_mallows_score),
    ]:
        assert distance(measure, a, b) == pytest.approx(1 - score(a, b), rel=1e-12, abs=0)


@given(labellings)
def test_accuracy_is_the_best_of_all_matchings(labels):
    a, b = zip(*labels, strict=True)
    c = contingency(Partition.from_labels(a), Partition.from_labels(b))
    expected = oracle.fewest_moves(c.table)
    assert pairs.accuracy(c) == pytest.approx(expected, abs=1e-15)
    assert pairs.accuracy(Contingency(sp.csr_array(c.table))) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("n", "k", "m"), [(400, 150, 90), (400, 90, 150), (3000, 60, 60)])
def test_a_sparse_table_has_the_accuracy_of_a_dense_one(n, k, m):
    rng = np.random.default_rng(0)
    a, b = rng.integers(k, size=n), rng.integers(m, size=n)
    c = contingency(Partition.from_labels(a), Partition.from_labels(b))
    sparse = Contingency(sp.csr_array(c.table))
    assert pairs.accuracy(sparse) == pairs.accuracy(c)
    fractional = Contingency(sp.csr_array(c.table * 0.3))
    assert pairs.accuracy(fractional) == pytest.approx(pairs.accuracy(c), abs=1e-12)


def test_accuracy_of_a_hundred_thousand_singletons_is_fast():
    labels = np.random.default_rng(0).permutation(100_000)
    assert distance("accuracy", labels, np.arange(100_000)) == 0
    assert distance("accuracy", labels // 2, labels) == 0.5


BIG = [[60_000_000, 1_234_567], [7, 30_000_000], [1, 8_765_425]]  # 10^8 points


def test_a_hundred_million_points_do_not_overflow():
    c = Contingency(np.array(BIG))
    assert c.total == 10**8
    both, in_a, in_b, every = oracle.exact_pair_counts(BIG)
    apart = in_a + in_b - 2 * both
    assert pairs.rand(c) == float(Fraction(apart, every))
    assert pairs.mirkin(c) == 2 * apart
    assert pairs.jaccard(c) == float(Fraction(apart, apart + both))
    assert pairs.accuracy(c) == float(Fraction(10**8 - 90_000_000, 10**8))
    cosine = Fraction(isqrt(both**2 * 10**60 // (in_a * in_b)), 10**30)
    assert pairs.fowlkes_mallows(c) == pytest.approx(float(1 - cosine), rel=1e-14, abs=0)


def test_adjusted_rand_is_exact_where_products_of_pair_counts_overflow_int64():
    counts = oracle.exact_pair_counts(BIG)
    assert counts[1] * counts[2] > 2**63
    c = Contingency(np.array(BIG))
    assert pairs.adjusted_rand(c) == float(oracle.adjusted_rand(*counts))


def test_one_moved_point_in_a_hundred_million_loses_no_precision():
    table = [[50_000_000, 1], [0, 49_999_999]]
    both, in_a, in_b, every = oracle.exact_pair_counts(table)
    c = Contingency(np.array(table))
    assert pairs.adjusted_rand(c) == float(oracle.adjusted_rand(both, in_a, in_b, every))
    square = Fraction(both**2, in_a * in_b)  # 1 − √q = (1 − q) / 2 + (1 − q)² / 8 + ...
    expected = (1 - square) / 2 + (1 - square) ** 2 / 8
    assert pairs.fowlkes_mallows(c) == pytest.approx(float(expected), rel=1e-14, abs=0)


@pytest.mark.parametrize("measure", MEASURES)
@given(labels=labellings, seed=st.integers(0, 2**32 - 1))
def test_symmetric_and_invariant_to_relabelling_and_order(measure, labels, seed):
    rng = np.random.default_rng(seed)
    a, b = np.array(labels).T
    d = distance(measure, a, b)
    assert distance(measure, b, a) == pytest.approx(d, abs=1e-15)
    renamed = rng.permutation(100)[a]
    order = rng.permutation(len(a))
    assert distance(measure, renamed[order], b[order]) == pytest.approx(d, abs=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
def test_memberships_weights_and_noise(measure):
    a, b = random_labels(1, 60, 4)
    w = np.random.default_rng(0).integers(1, 4, 60)
    d = distance(measure, a, b, w)
    assert distance(measure, np.repeat(a, w), np.repeat(b, w)) == d
    one_hot = Partition.from_memberships(np.eye(4)[a], w)
    assert distance(measure, one_hot, Partition.from_labels(b, w)) == d
    in_a, in_b = np.r_[a, [-1, 0, -1]], np.r_[b, [0, -1, -1]]
    assert distance(measure, in_a, in_b, np.r_[w, [5, 6, 7]]) == d


@pytest.mark.parametrize("measure", MEASURES)
def test_soft_partitions_stay_within_the_bounds(measure):
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 100):
        R, S = rng.dirichlet(np.full(3, 0.3), n), rng.dirichlet(np.full(4, 0.3), n)
        d = distance(measure, Partition.from_memberships(R), Partition.from_memberships(S))
        assert 0 <= d <= {"mirkin": n * (n - 1), "adjusted_rand": 1.5}.get(measure, 1)


def test_soft_distances_use_expected_pairs():
    a = Partition.from_memberships([[0.5, 0.5], [0.5, 0.5], [1, 0]])
    b = Partition.from_labels([0, 0, 1])
    # Every pair is together in a with chance 1/2; only the first pair is together in b.
    assert distance("rand", a, b) == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3)
    assert distance("jaccard", a, b) == pytest.approx(1.5 / 2)
    assert distance("fowlkes_mallows", a, b) == pytest.approx(1 - 0.5 / sqrt(1.5))
    assert distance("rand", a, a) > 0  # two independent draws of a soft partition differ


@pytest.mark.parametrize("measure", sorted(set(MEASURES) - {"accuracy"}))
def test_pair_distances_refuse_fractional_weights(measure):
    with pytest.raises(ValueError, match="weights must be integers"):
        distance(measure, [0, 1, 1], [0, 0, 1], [0.5, 1, 1])


def test_accuracy_takes_any_weights():
    assert distance("accuracy", [0, 1, 1], [0, 0, 1], [0.5, 0.5, 1.5]) == pytest.approx(0.2)


ONE, SINGLES = [0, 0, 0, 0], [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("measure", "one_one", "singles_singles", "one_singles", "point"),
    [
        ("rand", 0, 0, 1, 0),
        ("jaccard", 0, 0, 1, 0),
        ("mirkin", 0, 0, 12, 0),
        ("fowlkes_mallows", 0, 0, 1, 0),  # scikit-learn's index is 0 for singles, equal or not
        ("adjusted_rand", 0, 0, 1, 0),
        ("accuracy", 0, 0, 0.75, 0),
    ],
)
def test_degenerate_partitions(measure, one_one, singles_singles, one_singles, point):
    assert distance(measure, ONE, ONE) == one_one
    assert distance(measure, SINGLES, SINGLES) == singles_singles
    assert distance(measure, ONE, SINGLES) == one_singles
    assert distance(measure, [0], [0]) == point


@pytest.mark.parametrize(
    ("measure", "score"),
    [
        ("rand", metrics.rand_score),
        ("adjusted_rand", metrics.adjusted_rand_score),
    ],
)
def test_degenerate_partitions_are_as_in_scikit_learn(measure, score):
    for a, b in [(ONE, ONE), (SINGLES, SINGLES), (ONE, SINGLES), ([0], [0])]:
        assert distance(measure, a, b) == 1 - score(a, b)


def distances_of_all(measure, n):
    partitions = [Partition.from_labels(p) for p in oracle.all_partitions(n)]
    D = np.zeros((len(partitions), len(partitions)))
    for i, j in combinations(range(len(partitions)), 2):
        D[i, j] = D[j, i] = MEASURES[measure](contingency(partitions[i], partitions[j]))
    for i, p in enumerate(partitions):
        D[i, i] = MEASURES[measure](contingency(p, p))
    return D


@pytest.mark.parametrize("measure", METRICS)
def test_metric_axioms_hold_for_all_partitions_of_five_points(measure):
    D = distances_of_all(measure, 5)
    np.testing.assert_array_equal(D.diagonal(), 0)
    assert (D[~np.eye(len(D), dtype=bool)] > 0).all()
    assert oracle.worst_triangle(D)[0] <= 1e-12


@pytest.mark.parametrize(
    ("measure", "a", "b", "c", "n"),
    [
        ("fowlkes_mallows", [0, 0, 1], [0, 0, 0], [0, 1, 0], 3),
        ("adjusted_rand", [0, 0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 2], 4),
    ],
)
def test_the_smallest_counter_example_to_the_triangle_inequality(measure, a, b, c, n):
    ac, ab, bc = (distance(measure, *two) for two in [(a, c), (a, b), (b, c)])
    assert ac > ab + bc + 0.1
    assert len(a) == n
    assert oracle.worst_triangle(distances_of_all(measure, n - 1))[0] <= 1e-12


@pytest.mark.parametrize("measure", MEASURES)
def test_bounds_hold_for_all_partitions_of_five_points(measure):
    D = distances_of_all(measure, 5)
    most = {"mirkin": 20, "adjusted_rand": 1.5, "accuracy": 0.8}.get(measure, 1)
    assert D.min() >= 0
    assert D.max() <= most


def test_accuracy_of_many_clusters_takes_weights_below_one():
    a = np.arange(400)  # so many clusters that the table is sparse
    parts = (Partition.from_labels(labels, np.full(400, 0.1)) for labels in (a, a // 2))
    assert pairs.accuracy(contingency(*parts)) == pytest.approx(0.5)


def test_pairs_of_weights_beyond_exact_integers_do_not_overflow():
    a, b = [0, 0, 1, 1], [0, 0, 0, 1]
    for measure in ("fowlkes_mallows", "adjusted_rand", "rand", "jaccard"):
        heavy = lc.distance(a, b, measure=measure, weights=np.full(4, 1e100))
        light = lc.distance(a, b, measure=measure, weights=np.full(4, 2.0**50))
        assert heavy == pytest.approx(light, rel=1e-9)
