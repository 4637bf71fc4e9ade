"""Information distances: entropies by loops, scikit-learn, all small partitions."""

from fractions import Fraction
from itertools import combinations
from math import comb, log

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.metrics.cluster import expected_mutual_information

from liftcluster.comparison.measures import information
from liftcluster.comparison.measures.information import _expected_information
from liftcluster.partitions.contingency import Contingency, contingency
from liftcluster.partitions.partition import Partition
from support import oracles_pairs as oracle

MEASURES = {name: getattr(information, name) for name in ("ami", "nmi", "nvi", "vi")}
METRICS = ["nvi", "vi"]

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
def test_distances_equal_formulas_with_entropies_by_loops(labels):
    a, b = zip(*labels, strict=True)
    variation, joint = oracle.variation_of_information(a, b), oracle.entropy(labels)
    entropies = oracle.entropy(a) + oracle.entropy(b)
    assert distance("vi", a, b) == pytest.approx(variation, abs=1e-14)
    assert distance("nvi", a, b) == pytest.approx(variation / joint if joint else 0, abs=1e-14)
    expected = 1 - 2 * oracle.mutual_information(a, b) / entropies if entropies else 0
    assert distance("nmi", a, b) == pytest.approx(expected, abs=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(2, 300), st.integers(1, 8))
def test_values_agree_with_scikit_learn(seed, n, k):
    a, b = random_labels(seed, n, k)
    nmi, ami = metrics.normalized_mutual_info_score(a, b), metrics.adjusted_mutual_info_score(a, b)
    assert distance("nmi", a, b) == pytest.approx(1 - nmi, abs=1e-12)
    assert distance("ami", a, b) == pytest.approx(1 - ami, abs=1e-12)


@pytest.mark.long
def test_a_million_points_agree_with_scikit_learn_to_twelve_digits():
    a, b = random_labels(0, 10**6, 20)
    nmi, ami = metrics.normalized_mutual_info_score(a, b), metrics.adjusted_mutual_info_score(a, b)
    assert distance("nmi", a, b) == pytest.approx(1 - nmi, rel=1e-12, abs=0)
    assert distance("ami", a, b) == pytest.approx(1 - ami, rel=1e-12, abs=0)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6))
def test_ami_uses_the_mean_over_all_permutations(labels):
    a, b = zip(*labels, strict=True)
    if len(set(a)) == len(set(b)) and len(set(a)) in (1, len(a)):
        assert distance("ami", a, b) == 0  # nothing to expect: see test_degenerate_partitions
    else:
        expected = oracle.adjusted_mutual_information(a, b)
        assert distance("ami", a, b) == pytest.approx(expected, abs=1e-12)


def expected_information_in_fractions(rows, columns):
    """Σ_ij E[X/n log(n X / (n_i n_j))] with exact probabilities."""
    n = sum(rows)
    total = 0.0
    for a in rows:
        for b in columns:
            for x in range(max(1, a + b - n), min(a, b) + 1):
                chance = Fraction(comb(a, x) * comb(n - a, b - x), comb(n, b))
                total += float(chance * x / n) * log(n * x / (a * b))
    return total


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5))
def test_expected_information_equals_the_exact_hypergeometric_expectation(seed, k, m):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(max(k, m), 300))
    rows, columns = (1 + rng.multinomial(n - s, rng.dirichlet(np.ones(s))) for s in (k, m))
    expected = expected_information_in_fractions(rows.tolist(), columns.tolist())
    assert _expected_information(rows, columns) == pytest.approx(expected, abs=1e-13)


def test_expected_information_of_many_sizes_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = (rng.zipf(1.5, 3000) % 200 for _ in range(2))
    table = metrics.cluster.contingency_matrix(a, b, sparse=True)
    rows, columns = (
        np.bincount(np.unique(a, return_inverse=True)[1]),
        np.bincount(np.unique(b, return_inverse=True)[1]),
    )
    expected = expected_mutual_information(table, 3000)
    assert _expected_information(rows, columns) == pytest.approx(expected, rel=1e-9)


def test_expected_information_of_a_hundred_million_points_is_the_asymptotic_one():
    # E ≈ (k − 1)(k′ − 1) / (2 n), with a relative error of order k k′ / n.
    rows = np.full(20, 5_000_000)
    columns = np.full(10, 10_000_000)
    assert _expected_information(rows, columns) == pytest.approx(19 * 9 / 2e8, rel=1e-5)


def test_expected_information_of_unequal_sizes_is_the_asymptotic_one():
    rows = np.full(2, 10_000_000)
    columns = np.array([2_000_000, 1_000_000, 1_000_000, 16_000_000])
    assert _expected_information(rows, columns) == pytest.approx(1 * 3 / 4e7, rel=1e-5)


def test_expected_information_where_two_clusters_hold_nearly_all_points_agrees_with_scikit_learn():
    # The smallest overlap in the sum has a probability near e^-2300.
    rows, columns = np.array([950_000, 50_000]), np.array([955_385, 44_615])
    table = np.array([[905_385, 44_615], [50_000, 0]])
    expected = expected_mutual_information(sp.csr_array(table), 10**6)
    assert _expected_information(rows, columns) == pytest.approx(expected, rel=1e-4)
    assert expected == pytest.approx(1 / 2e6, rel=1e-3)


BIG = [[60_000_000, 1_234_567], [7, 30_000_000], [1, 8_765_425]]  # 10^8 points


def test_a_hundred_million_points_do_not_overflow():
    n = 10**8
    rows, columns = [sum(row) for row in BIG], [sum(column) for column in zip(*BIG, strict=True)]

    def entropy(sizes):
        return -sum(Fraction(m, n) * Fraction(log(Fraction(m, n))) for m in sizes)

    joint = entropy([m for row in BIG for m in row])
    marginal = entropy(rows) + entropy(columns)
    variation = 2 * joint - marginal
    for c in (Contingency(np.array(BIG)), Contingency(sp.csr_array(np.array(BIG)))):
        assert information.vi(c) == pytest.approx(float(variation), rel=1e-13, abs=0)
        assert information.nvi(c) == pytest.approx(float(variation / joint), rel=1e-13, abs=0)
        assert information.nmi(c) == pytest.approx(float(variation / marginal), rel=1e-13, abs=0)
        chance = Fraction(1 * 2, 2 * n)  # (k − 1)(k′ − 1) / (2 n)
        adjusted = float(variation / (marginal - 2 * chance))
        assert information.ami(c) == pytest.approx(adjusted, rel=1e-12, abs=0)


def test_one_moved_point_in_a_hundred_million_loses_no_precision():
    n, half = 10**8, 5 * 10**7
    c = Contingency(np.array([[half, 1], [0, half - 1]]))
    # H(A|B) + H(B|A), each log of nearly one by its series
    ratios = [(half, Fraction(1, half)), (half - 1, Fraction(1, half - 1))]
    near_one = sum(m * (x - x**2 / 2) for m, x in ratios)
    far = log(half + 1) + log(half)
    assert information.vi(c) == pytest.approx((float(near_one) + far) / n, rel=1e-13, abs=0)


@pytest.mark.parametrize("measure", MEASURES)
@given(labels=labellings, seed=st.integers(0, 2**32 - 1))
def test_symmetric_and_invariant_to_relabelling_and_order(measure, labels, seed):
    rng = np.random.default_rng(seed)
    a, b = np.array(labels).T
    d = distance(measure, a, b)
    assert distance(measure, b, a) == pytest.approx(d, abs=1e-12)
    renamed = rng.permutation(100)[a]
    order = rng.permutation(len(a))
    assert distance(measure, renamed[order], b[order]) == pytest.approx(d, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_equal_partitions_are_at_distance_exactly_zero(measure, labels):
    assert distance(measure, labels, [str(label) for label in labels]) == 0


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


@pytest.mark.parametrize("measure", ["nmi", "nvi", "vi"])
def test_only_ratios_of_weights_matter(measure):
    a, b = random_labels(1, 60, 4)
    w = np.random.default_rng(0).integers(1, 4, 60)
    assert distance(measure, a, b, w / 7) == pytest.approx(
        distance(measure, a, b, w), rel=1e-13, abs=0
    )


def test_soft_partitions_use_the_joint_distribution():
    a = Partition.from_memberships([[0.5, 0.5], [0.5, 0.5]])
    b = Partition.from_labels([0, 1])
    # Independent labels of one bit each.
    assert distance("vi", a, b) == pytest.approx(2 * log(2))
    assert distance("nvi", a, b) == pytest.approx(1)
    assert distance("nmi", a, b) == pytest.approx(1)
    assert distance("vi", a, a) > 0  # two independent draws of a soft partition differ


@pytest.mark.parametrize("measure", ["nmi", "nvi", "vi"])
def test_soft_partitions_stay_within_the_bounds(measure):
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 100):
        R, S = rng.dirichlet(np.full(3, 0.3), n), rng.dirichlet(np.full(4, 0.3), n)
        d = distance(measure, Partition.from_memberships(R), Partition.from_memberships(S))
        assert 0 <= d <= (log(3 * 4) if measure == "vi" else 1)


@pytest.mark.parametrize(
    "b", [Partition.from_memberships([[0.5, 0.5]] * 2), Partition.from_labels([0, 1])]
)
def test_ami_refuses_soft_partitions_and_fractional_weights(b):
    w = [0.5, 1] if b.is_hard else None
    with pytest.raises(ValueError, match="needs hard partitions and weights that are integers"):
        distance("ami", Partition.from_labels([0, 0], w), b.with_weights(w))


ONE, SINGLES = [0, 0, 0, 0], [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("measure", "one_singles"), [("vi", log(4)), ("nvi", 1), ("nmi", 1), ("ami", 1)]
)
def test_degenerate_partitions(measure, one_singles):
    assert distance(measure, ONE, ONE) == 0
    assert distance(measure, SINGLES, SINGLES) == 0
    assert distance(measure, [0], [0]) == 0
    assert distance(measure, ONE, SINGLES) == pytest.approx(one_singles, rel=1e-15)


@pytest.mark.parametrize(
    ("measure", "score"),
    [
        ("nmi", metrics.normalized_mutual_info_score),
        ("ami", metrics.adjusted_mutual_info_score),
    ],
)
def test_degenerate_partitions_are_as_in_scikit_learn(measure, score):
    for a, b in [
        (ONE, ONE),
        (SINGLES, SINGLES),
        (ONE, SINGLES),
        (SINGLES, [0, 0, 1, 1]),
        ([0], [0]),
    ]:
        assert distance(measure, a, b) == pytest.approx(1 - score(a, b), abs=1e-12)


def distances_of_all(measure, n):
    partitions = [Partition.from_labels(p) for p in oracle.all_partitions(n)]
    D = np.zeros((len(partitions), len(partitions)))
    for i, j in combinations(range(len(partitions)), 2):
        D[i, j] = D[j, i] = MEASURES[measure](contingency(partitions[i], partitions[j]))
    return D  # zero on the diagonal: test_equal_partitions_are_at_distance_exactly_zero


@pytest.mark.parametrize("measure", METRICS)
def test_metric_axioms_hold_for_all_partitions_of_five_points(measure):
    D = distances_of_all(measure, 5)
    assert (D[~np.eye(len(D), dtype=bool)] > 0).all()
    assert oracle.worst_triangle(D)[0] <= 1e-12


@pytest.mark.parametrize(
    ("measure", "a", "b", "c", "n"),
    [
        ("nmi", [0, 0, 1], [0, 1, 2], [0, 1, 0], 3),
        ("ami", [0, 0, 1, 2], [0, 0, 1, 1], [0, 1, 2, 2], 4),
    ],
)
def test_the_smallest_counter_example_to_the_triangle_inequality(measure, a, b, c, n):
    ac, ab, bc = (distance(measure, *two) for two in [(a, c), (a, b), (b, c)])
    assert ac > ab + bc + 0.1
    assert len(a) == n
    assert oracle.worst_triangle(distances_of_all(measure, n - 1))[0] <= 1e-12


@pytest.mark.parametrize("measure", ["nmi", "nvi", "vi"])
def test_bounds_hold_for_all_partitions_of_five_points(measure):
    D = distances_of_all(measure, 5)
    assert D.max() <= (log(5) + 1e-15 if measure == "vi" else 1)


@pytest.mark.parametrize("measure", ["nmi", "nvi"])
def test_independent_labels_are_at_distance_one_and_not_above(measure):
    rng = np.random.default_rng(0)
    for k, m in rng.integers(2, 7, size=(100, 2)):
        rows, columns = rng.integers(1, 6, size=k), rng.integers(1, 6, size=m)
        d = MEASURES[measure](Contingency(np.outer(rows, columns)))
        assert d <= 1
        assert d == pytest.approx(1, abs=1e-14)


def test_ami_may_exceed_three_halves():
    assert distances_of_all("ami", 5).max() > 1.54


def literal_cell_information(a, b, n):
    """E[X log(X/μ)] of a hypergeometric X, by all likely terms, with more digits than a float."""
    a, b, n = map(np.longdouble, (a, b, n))
    mean = a * b / n
    reach = 13 * np.sqrt(mean * (1 - a / n) * (1 - b / n))
    x = np.arange(int(mean - reach), int(mean + reach) + 1).astype(np.longdouble)
    ratios = (a - x) * (b - x) / ((x + 1) * (n - a - b + x + 1))
    log_p = np.append(0, np.cumsum(np.log(ratios[:-1])))
    p = np.exp(log_p - log_p.max())
    return (p * (x * np.log(x / mean) - x + mean)).sum() / p.sum()


@pytest.mark.parametrize("shares", [(0.25, 0.25), (0.5, 0.3), (0.1, 0.9)])
def test_expected_information_of_many_points_equals_its_sum(shares):
    n = 10**8
    sizes = [np.array([round(n * share), n - round(n * share)]) for share in shares]
    literal = sum(literal_cell_information(a, b, n) for a in sizes[0] for b in sizes[1]) / n
    assert _expected_information(*sizes) == pytest.approx(float(literal), rel=1e-10, abs=0)


@pytest.mark.parametrize("n", [10_000, 60_000, 400_000])
@pytest.mark.parametrize("shares", [(0.25, 0.25), (0.45, 0.3), (0.35, 0.72)])
def test_expected_information_by_some_of_the_terms_equals_its_sum(n, shares, monkeypatch):
    used = []

    def recorded(*arguments):
        x, P = strided(*arguments)
        used.append(x.shape)
        return x, P

    strided = information._strided_terms
    monkeypatch.setattr(information, "_strided_terms", recorded)
    sizes = [np.array([round(n * share), n - round(n * share)]) for share in shares]
    literal = sum(literal_cell_information(a, b, n) for a in sizes[0] for b in sizes[1]) / n
    # Rounding of log P, about 1e-16 times the distance of an overlap from the mean.
    assert _expected_information(*sizes) == pytest.approx(float(literal), rel=1e-12, abs=0)
    assert sum(rows for rows, _ in used) == 4  # each pair of clusters
    assert max(columns for _, columns in used) < 80  # of hundreds or thousands


def test_expected_information_of_clusters_of_all_sizes_equals_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = (np.sort((rng.random(5000) ** power * k).astype(int)) for power, k in ((3, 9), (1, 40)))
    b = np.where(rng.random(5000) < 0.5, rng.permutation(b), b)
    table = contingency(Partition.from_labels(a), Partition.from_labels(b))
    theirs = expected_mutual_information(sp.csr_array(table.table), 5000)
    assert _expected_information(table.rows, table.columns) == pytest.approx(theirs, rel=1e-10)


def test_ami_of_very_many_points_equals_nmi():
    a, b = random_labels(0, 160, 4)
    weights = np.full(160, 2.0**45)  # 2^52 points: their likely overlaps alone would fill memory
    nmi = distance("nmi", a, b, weights)
    assert 0.1 < nmi < 1
    assert distance("ami", a, b, weights) == pytest.approx(nmi, abs=1e-12)
    assert distance("ami", a, b) > nmi + 1e-3
