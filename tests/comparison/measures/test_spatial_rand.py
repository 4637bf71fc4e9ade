"""spri and spari against sums over pairs, cases known by construction, and their tolerance."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, rand_score

import liftcluster.comparison.measures.spatial_rand as agreement
from liftcluster import Partition
from liftcluster.comparison.measures.spatial_rand import spari, spri
from support import oracles_spatial as oracles
from support.amount import examples
from support.spatial_cases import hard_pair, labelling, similarities

PAIRS = [spri, spari]
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=examples(10))
@pytest.mark.parametrize("path", ["pairs", "lifted"])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@given(seed=SEEDS, alpha=st.floats(0, 0.99))
def test_spri_and_spari_equal_sums_over_pairs(seed, alpha, d, path):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d)
    copies = rng.integers(1, 4, n)
    reference, clustering = labelling(rng, n, 4, noise=True), labelling(rng, n, 3)
    a, b = (Partition.from_labels(labels, copies) for labels in (reference, clustering))
    similarities = oracles.spri_and_spari(X, reference, clustering, alpha, copies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "_FEW_POINTS", n if path == "pairs" else 0)
        found = [f(X, a, X, b, alpha=alpha, tol=1e-12) for f in PAIRS]
    np.testing.assert_allclose(found, 1 - np.array(similarities), rtol=1e-9, atol=1e-10)


def test_spri_of_one_pair_is_its_weight():
    X = np.array([[0.0, 7.0], [3.0, 7.0]])  # scaled to distance 1; the constant axis is ignored
    apart, together = Partition.from_labels([0, 1]), Partition.from_labels([0, 0])
    for alpha in (0.0, 0.3, 1.0):
        joins = spri(X, apart, X, together, alpha=alpha)
        parts = spri(X, together, X, apart, alpha=alpha)
        assert joins == pytest.approx(1 - alpha / math.e)
        assert parts == pytest.approx(1 - alpha * (1 - 1 / math.e))


def test_distance_of_a_single_pair_is_precise_in_any_dimension():
    together, apart = Partition.from_labels([0, 0]), Partition.from_labels([0, 1])
    for d in (1, 30, 40, 300):  # from d = 37 on 1 - (1 - exp(-d)) is rounded to 0
        X = np.array([np.zeros(d), np.ones(d)])
        found = spri(X, together, X, apart, alpha=1)
        assert found == pytest.approx(math.exp(-d), rel=1e-12, abs=0)
        assert spari(X, together, X, apart, alpha=1) == pytest.approx(1, rel=1e-12)


def test_distant_pairs_lose_no_precision_with_alpha_1():
    X, a, _ = hard_pair(0, n=12, d=300, k=3)
    singletons = Partition.from_labels(np.arange(12))
    i, j = np.triu_indices(12, 1)
    near = similarities(X)[i, j]
    # q = 0 and α = 1 leave the means of exp(−t²) over joined pairs and over all pairs.
    expected = near[a.labels[i] == a.labels[j]].mean() / near.mean()
    assert spari(X, a, X, singletons, alpha=1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [300, 2500])
def test_spri_and_spari_with_alpha_0_are_the_rand_indices(n):
    X, a, b = hard_pair(0, n=n)
    b = Partition.from_labels(np.where(np.arange(n) < n // 2, a.labels, b.labels))
    assert spri(X, a, X, b, alpha=0) == pytest.approx(1 - rand_score(a.labels, b.labels))
    assert spari(X, a, X, b, alpha=0) == pytest.approx(1 - adjusted_rand_score(a.labels, b.labels))


def test_pairs_at_distance_zero_follow_the_formula():
    X = np.array([[1.0], [1.0], [2.0]])
    a, b = Partition.from_labels([0, 1, 2]), Partition.from_labels([0, 0, 1])
    assert spri(X, a, X, b) == pytest.approx((1 - 0.8) / 3)  # 1/3 in the R package


def test_spri_penalises_joining_near_points_and_splitting_distant_points_less():
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    singletons = Partition.from_labels([0, 1, 2, 3])
    near, far = Partition.from_labels([0, 0, 1, 2]), Partition.from_labels([0, 1, 2, 0])
    assert spri(X, singletons, X, near) < spri(X, singletons, X, far)
    assert spri(X, near, X, singletons) > spri(X, far, X, singletons)


@pytest.mark.parametrize("measure", PAIRS)
def test_one_point_or_agreement_on_every_pair_is_at_distance_zero(measure):
    one, ones, singletons = (Partition.from_labels(x) for x in ([0], [0, 0, 0], [0, 1, 2]))
    X = np.array([[0.0], [1.0], [5.0]])
    assert measure(X[:1], one, X[:1], one) == 0
    assert measure(X, ones, X, ones) == 0
    assert measure(X, singletons, X, singletons) == 0
    # All in one place and α = 1: the observed and the expected loss are 0.
    assert measure(np.ones((3, 1)), singletons, np.ones((3, 1)), ones, alpha=1.0) == 0


@pytest.mark.parametrize("measure", PAIRS)
def test_spri_and_spari_are_not_symmetric(measure):
    X, a, b = hard_pair(0)
    coarse = Partition.from_labels(b.labels // 2)
    assert abs(measure(X, a, X, coarse) - measure(X, coarse, X, a)) > 0.01


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9, 1e-13])
def test_lifting_and_pairs_agree_to_the_tolerance(d, tol):
    rng = np.random.default_rng(d)
    X = rng.random((3000, d)) ** 2
    a, b = (labelling(rng, 3000, 5) for _ in range(2))
    table = agreement._Contingency(a, b, rng.integers(1, 3, 3000).astype(float))
    box = agreement._unit_box(X)
    exact = np.array(agreement._sums_by_pairs(box.place(X), table))
    lifted = np.array(agreement._sums_by_lifting(X, box, table, tol))
    both, in_a, in_b, every = table.pairs
    pairs = np.array([in_a - both, in_b - both, every])
    # The sum over all pairs also carries the error of each point with itself.
    themselves = np.array([0, 0, table.multiplicities.sum()])
    room = (pairs + themselves) * tol + 1e-13 * pairs
    assert (np.abs(lifted - exact) <= room).all()
    if tol == 1e-3:
        assert np.abs(lifted - exact).max() > 1e-9 * pairs.max()  # tol matters


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_power_series_keeps_its_bound_in_the_corners(d):
    corners = np.array(list(itertools.product([-0.5, 0.0, 0.5], repeat=d)))
    exact = np.exp(-((corners[:, None] - corners) ** 2).sum(axis=2))
    for tol in (1e-2, 1e-6, 1e-12):
        exponents = agreement._exponents(d, agreement._degree(d, tol))
        Z = agreement._power_features(corners, np.ones(len(corners)), exponents)
        assert np.abs(Z.T @ Z - exact).max() <= tol + 1e-15


@pytest.mark.parametrize("d", [1, 2, 3])
def test_power_series_has_the_smallest_sufficient_degree(d):
    corner = np.full((1, d), 0.5)
    for tol in (1e-2, 1e-6, 1e-12):
        too_few = agreement._exponents(d, agreement._degree(d, tol) - 1)
        assert 1 - (agreement._power_features(corner, np.ones(1), too_few) ** 2).sum() > tol
    assert agreement._degree(d, 0.9) == 1
    assert agreement._degree(d, 1e-300) == agreement._degree(d, 2.0**-53)  # all else is rounding


@pytest.mark.parametrize("d", [1, 2, 3])
def test_error_of_a_pair_is_at_most_half_the_tolerance(d):
    m = 1001
    X = np.repeat([np.zeros(d), np.ones(d)], m, axis=0)  # in corners, where the series is worst
    corners = Partition.from_labels(np.repeat([0, 1], m))
    halves = Partition.from_labels(np.repeat([0, 1, 2, 3], [500, m - 500, 500, m - 500]))
    joined = 2 * 500 * (m - 500) / (m * (2 * m - 1))  # share of pairs, all at distance 0
    for tol in (0.5, 0.1, 1e-2, 1e-3, 1e-6, 1e-15):
        error = spri(X, halves, X, corners, alpha=1, tol=tol) / joined
        assert 0 <= error <= tol / 2 + 1e-14


@pytest.mark.parametrize(
    ("n", "d", "exact"), [(2000, 1, True), (2001, 1, False), (2001, 3, False), (2001, 4, True)]
)
def test_few_points_or_many_dimensions_are_computed_exactly(n, d, exact):
    X = np.random.default_rng(d).random((n, d))
    singletons, couples = np.arange(n), np.arange(n) // 2
    a, b = Partition.from_labels(singletons), Partition.from_labels(couples)
    first = np.arange(0, n - 1, 2)
    expected = (1 - 0.8 * similarities(X)[first, first + 1]).sum() / (n * (n - 1) / 2)
    found = spri(X, a, X, b, tol=0.9)
    assert math.isclose(found, expected, rel_tol=1e-9) == exact


@pytest.mark.parametrize("measure", PAIRS)
def test_default_tolerance_is_1e_minus_9(measure, monkeypatch):
    X, a, b = hard_pair(9, n=2001, d=2)
    tolerances = []

    def recorded(d, tol, degree=agreement._degree):
        tolerances.append(tol)
        return degree(d, tol)

    monkeypatch.setattr(agreement, "_degree", recorded)
    measure(X, a, X, b)
    measure(X, a, X, b, tol=1e-6)
    assert tolerances == [1e-9 / 2, 1e-6 / 2]  # the error of each exp(-t²) is at most half of it


def test_lifted_cells_stay_within_the_memory_limit(monkeypatch):
    X, a, b = hard_pair(9, n=2001, d=1)
    held = []

    def recorded(*arguments, lifted_cells=agreement._lifted_cells):
        V = lifted_cells(*arguments)
        held.append(V.shape)
        return V

    monkeypatch.setattr(agreement, "_lifted_cells", recorded)
    for allowed, features in [(5 * 16 * 8, 5), (5 * 16 * 8 - 1, 4), (1, 1)]:
        monkeypatch.setattr(agreement, "_CELL_BYTES", allowed)
        held.clear()
        spri(X, a, X, b)
        assert max(held) == (features, 16)


@pytest.mark.parametrize("measure", PAIRS)
def test_lifted_sums_of_many_points_agree_with_sums_over_pairs(measure, monkeypatch):
    X, a, b = hard_pair(9, n=3000, d=2)
    with monkeypatch.context() as patch:
        patch.delattr(agreement, "_sums_by_pairs")
        lifted = measure(X, a, X, b, tol=1e-6)
        patch.setattr(agreement, "_CELL_BYTES", 8 * 16 * 5)  # five features at a time
        in_parts = measure(X, a, X, b, tol=1e-6)
    monkeypatch.setattr(agreement, "_FEW_POINTS", 3000)
    monkeypatch.delattr(agreement, "_sums_by_lifting")
    by_pairs = measure(X, a, X, b)
    expected_loss = 1.0 if measure is spri else spri(X, a, X, b) / by_pairs
    bound = 0.8 * 1e-6 * (1 + by_pairs * (measure is spari)) / expected_loss
    assert lifted == pytest.approx(by_pairs, abs=bound)
    assert in_parts == pytest.approx(lifted, rel=1e-12)


def test_there_may_be_as_many_clusters_as_points():
    n = 2500
    X = np.random.default_rng(0).random((n, 2))
    singletons = Partition.from_labels(np.arange(n))
    couples = Partition.from_labels(np.arange(n) // 2)
    K = similarities(X)
    N = n * (n - 1) / 2
    observed = sum(1 - 0.8 * K[i, i + 1] for i in range(0, n, 2)) / N
    expected = (n / 2) / N * (1 - 0.8 * (K.sum() - n) / (2 * N))
    assert spri(X, singletons, X, couples) == pytest.approx(observed, rel=1e-8)
    assert spari(X, singletons, X, couples) == pytest.approx(observed / expected, rel=1e-8)


def spri_needs(X, a, Y=None, b=None, **options):
    return spri(X, a, X if Y is None else Y, a if b is None else b, **options)


def test_invalid_input_of_spri_is_refused():
    X, a, b = hard_pair(0, n=10, k=2)
    soft = Partition.from_memberships(np.full((10, 2), 0.5))
    half = Partition.from_labels(a.labels, np.full(10, 0.5))
    twice = Partition.from_labels(a.labels, np.full(10, 2.0))
    first = Partition.from_labels([0] * 5 + [-1] * 5)
    last = Partition.from_labels([-1] * 5 + [0] * 5)
    for message, call in {
        "hard partitions": lambda: spri_needs(X, a, b=soft),
        "integer weights.*got 0.5": lambda: spri_needs(X, half),
        "same weights": lambda: spri_needs(X, a, b=twice),
        "same points": lambda: spri_needs(X, a, X + 1, b),
        "noise in one": lambda: spri_needs(X, first, b=last),
        r"alpha must lie in \[0, 1\], got 1.5": lambda: spri_needs(X, a, alpha=1.5),
        r"alpha must lie in \[0, 1\], got -0.1": lambda: spri_needs(X, a, alpha=-0.1),
        "^tol must be positive": lambda: spri_needs(X, a, tol=0),
        "^the partition has 10 entries but X has 9": lambda: spri_needs(X[:9], a),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("measure", PAIRS)
def test_more_than_20000_points_of_many_coordinates_are_refused(measure):
    n = 20_001
    X = np.broadcast_to(np.zeros(1), (n, 4))
    a, b = Partition.from_labels(np.arange(n) % 2), Partition.from_labels(np.arange(n) % 3)
    with pytest.raises(ValueError, match=r"up to 3 coordinates.* or 20,000 points; got 20,001"):
        measure(X, a, X, b)


def test_up_to_20000_points_of_many_coordinates_are_accepted(monkeypatch):
    n = 20_000
    X = np.broadcast_to(np.zeros(1), (n, 4))  # all alike: the sums over pairs are their numbers
    monkeypatch.setattr(agreement, "_sums_by_pairs", lambda U, table: table.pairs[1:])
    a, b = Partition.from_labels(np.arange(n) % 2), Partition.from_labels(np.arange(n) % 4)
    assert spri(X, a, X, b) == pytest.approx(2 * (n / 4) ** 2 / (n * (n - 1) / 2))
