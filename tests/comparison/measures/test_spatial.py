"""Spatial measures: slow formulas, cases known by construction, and claimed properties."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftcluster.comparison.measures.spatial as spatial
from liftcluster import Partition
from liftcluster._util import memory as _memory
from liftcluster.comparison.measures.spatial import adco, cdistance, centroid
from liftcluster.comparison.measures.spatial_rand import spari, spri
from support import oracles_spatial as oracles
from support.amount import examples
from support.generators import soft_memberships
from support.spatial_cases import hard_pair, labelling, two_samples, weighted_rows

TRANSPORTS = [centroid, cdistance]
ACROSS_POINTS = [centroid, adco, cdistance]
PAIRS = [spri, spari]
ALL = ACROSS_POINTS + PAIRS
SEEDS = st.integers(0, 2**32 - 1)
KINDS = ["hard", "hard noisy", "hard weighted", "soft", "soft weighted"]


# Against the slow formulas.


@settings(max_examples=examples(10))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@given(seed=SEEDS)
def test_centroid_equals_its_formula(seed, d, kind):
    X, a, Y, b = two_samples(seed, d, kind)
    expected = oracles.centroid(X, weighted_rows(a), Y, weighted_rows(b))
    assert centroid(X, a, Y, b) == pytest.approx(expected, abs=1e-8)


@settings(max_examples=examples(10))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@given(seed=SEEDS, bins=st.integers(1, 12))
def test_adco_is_two_minus_the_matched_similarity(seed, bins, d, kind):
    X, a, Y, b = two_samples(seed, d, kind)
    similarity = oracles.adco_similarity(X, weighted_rows(a), Y, weighted_rows(b), bins)
    assert adco(X, a, Y, b, bins=bins) == pytest.approx(2 - similarity, abs=1e-10)


@pytest.mark.parametrize("bins", [1, 5])
def test_adco_has_one_bin_for_a_constant_axis(bins):
    X, a, b = hard_pair(0, n=12, k=3)
    X[:, 1] = 4.0
    expected = 2 - oracles.adco_similarity(X, weighted_rows(a), X, weighted_rows(b), bins)
    assert adco(X, a, X, b, bins=bins) == pytest.approx(expected)


def test_default_number_of_adco_bins_is_10():
    X, a, b = hard_pair(0)
    assert adco(X, a, X, b) == pytest.approx(adco(X, a, X, b, bins=10), rel=1e-12)
    assert abs(adco(X, a, X, b) - adco(X, a, X, b, bins=11)) > 1e-3


@settings(max_examples=examples(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@given(seed=SEEDS)
def test_cdistance_equals_its_formula(seed, d, kind):
    X, a, Y, b = two_samples(seed, d, kind, most=8)
    expected = oracles.cdistance(X, weighted_rows(a), Y, weighted_rows(b))
    assert cdistance(X, a, Y, b) == pytest.approx(expected, abs=1e-7)


# Known by construction.


def rings(radii, m=12):
    angles = 2 * math.pi * np.arange(m) / m
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([r * circle for r in radii]), np.repeat(np.arange(len(radii)), m)


def test_centroid_cannot_distinguish_concentric_rings():
    X, ring = rings([1, 2, 3])
    one_ring_each = Partition.from_labels(ring)
    opposite_pairs = Partition.from_labels(np.tile(np.arange(6), 6))  # of all rings, at one angle
    everything = Partition.from_labels(np.zeros(len(X)))
    assert centroid(X, one_ring_each, X, opposite_pairs) == pytest.approx(0, abs=1e-12)
    assert centroid(X, one_ring_each, X, everything) == pytest.approx(0, abs=1e-12)
    assert cdistance(X, one_ring_each, X, opposite_pairs) > 0.5
    assert adco(X, one_ring_each, X, everything) > 1


def test_adco_does_not_depend_on_the_distance_between_bins():
    corner = np.array([[0.0, 0.0], [10.0, 10.0]])  # the same range for all
    spot = np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.4]])
    near, far = spot + 1, spot + 8
    a = Partition.from_labels([0, 0, 1, 1, 1])

    def from_spot(other):
        return adco(np.vstack([corner, spot]), a, np.vstack([corner, other]), a)

    assert from_spot(near) == pytest.approx(from_spot(far), rel=1e-12)
    X, Y, Z = (np.vstack([corner, points]) for points in (spot, near, far))
    assert cdistance(X, a, Y, a) < cdistance(X, a, Z, a)


def test_adco_is_discontinuous_if_one_point_moves():
    rng = np.random.default_rng(0)
    X = rng.random((500, 2))
    labels = (X[:, 0] > 0.5).astype(int)
    moved = labels.copy()
    moved[0] = 1 - moved[0]
    a, b = Partition.from_labels(labels), Partition.from_labels(moved)
    assert adco(X, a, X, a) == 0
    assert 1 <= adco(X, a, X, b) < 1.02


def test_adco_of_equal_partitions_is_zero_for_any_order_of_clusters():
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    R = soft_memberships(rng, 30, 4)
    R[3] = 0
    weights = rng.uniform(0.5, 2, 30)
    a = Partition.from_memberships(R, weights)
    b = Partition.from_memberships(R[:, [2, 0, 3, 1]], 3 * weights)
    assert adco(X, a, X.copy(), b) == 0
    R[5] = R[5][::-1]
    assert adco(X, a, X, Partition.from_memberships(R, weights)) > 1
    assert adco(X, a, X + 1, b) > 1  # the same memberships, of other points
    labels = labelling(rng, 30, 4, noise=True)
    renamed = np.where(labels < 0, -1, 3 - labels)
    assert adco(X, Partition.from_labels(labels), X, Partition.from_labels(renamed)) == 0


def test_adco_of_partitions_with_the_same_profiles_is_one_and_not_less():
    X = np.zeros((12, 1))
    for seed in range(150):  # of which some are below one by rounding, if nothing is done
        R = soft_memberships(np.random.default_rng(seed), 12, 3)
        a, b = Partition.from_memberships(R), Partition.from_memberships(R[::-1])
        assert adco(X, a, X, b) >= 1
        assert adco(X, a, X, b) == pytest.approx(1)


def test_adco_is_zero_only_if_all_clusters_are_equal():
    X, a, b = hard_pair(0, n=12, k=3)
    one_in_common = np.where(a.labels == 0, 0, 1 + np.arange(12) % 2)
    assert adco(X, a, X, Partition.from_labels(one_in_common)) >= 1
    twins = np.full((12, 2), 0.5)
    a, b = Partition.from_memberships(twins), Partition.from_memberships(twins[:, ::-1])
    assert adco(X, a, X, b) == 0
    almost = np.column_stack([twins, np.zeros(12)])
    almost[-1] = [0.5, 0.5 - 1e-13, 1e-13]
    assert adco(X, a, X, Partition.from_memberships(almost)) == pytest.approx(1)


def test_cdistance_violates_the_triangle_inequality():
    X = np.array([[0.0], [3.0], [8.0], [11.0]])
    a, b, c = (Partition.from_labels(x) for x in ([0, 1, 0, 2], [0, 1, 2, 0], [0, 1, 1, 0]))
    assert cdistance(X, a, X, b) == pytest.approx(2 / 5)
    assert cdistance(X, b, X, c) == pytest.approx(5 / 11)
    assert cdistance(X, a, X, c) == pytest.approx(22 / 25)  # more than 2/5 + 5/11 = 0.854…


def test_cdistance_of_identical_clusters_is_zero():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((7, 2))
    X = np.vstack([Z, Z[rng.permutation(7)], Z[rng.permutation(7)]])
    thirds = Partition.from_labels(np.repeat([0, 1, 2], 7))
    whole = Partition.from_labels(np.zeros(21))
    assert cdistance(X, thirds, X, whole) == 0
    same_place = np.full((5, 3), 2.5)
    a, b = Partition.from_labels([0, 0, 1, 1, 1]), Partition.from_labels([0, 1, 2, 2, 0])
    assert cdistance(same_place, a, same_place, b) == 0


def test_cdistance_is_zero_despite_rounding():
    rng = np.random.default_rng(0)
    Z, w, order = rng.standard_normal((6, 2)), rng.random(6), rng.permutation(6)
    X, weights = np.vstack([Z, Z[order]]), np.concatenate([w, 3 * w[order]])
    halves = Partition.from_labels(np.repeat([0, 1], 6), weights)
    whole = Partition.from_labels(np.zeros(12), weights)
    assert cdistance(X, halves, X, whole) == 0  # 1e-17 / 1e-17 would be 1


def test_a_single_cluster_is_at_cdistance_one_from_everything_else():
    for seed in range(20):  # of which some are above one by rounding, if nothing is done
        X, a, _ = hard_pair(seed, n=20)
        found = cdistance(X, a, X, Partition.from_labels(np.zeros(20)))
        assert found == pytest.approx(1)
        assert found <= 1


def test_cdistance_distinguishes_soft_clusters_of_the_same_points():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    a, b = (Partition.from_memberships(soft_memberships(rng, 6, k)) for k in (2, 3))
    expected = oracles.cdistance(X, weighted_rows(a), X, weighted_rows(b))
    assert cdistance(X, a, X, b) == pytest.approx(expected, abs=1e-7)


def test_cluster_transports_are_optimal_transport_costs():
    X = np.array([[0.0], [1.0], [2.0], [7.0]])
    a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 2])
    expected = np.array([[0.5, 1.0, 6.5], [4.5, 3.0, 2.5]])
    found = spatial.cluster_transports(X, a, X, b)  # in some unit
    np.testing.assert_allclose(found / found.max(), expected / expected.max())


# Claimed properties.


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("n", [30, 2500])
def test_equal_partitions_are_at_distance_zero(measure, n):
    if measure is cdistance:
        n = 30
    X, a, _ = hard_pair(1, n=n)
    renamed = Partition.from_labels([f"cluster {9 - c}" for c in a.labels])
    assert measure(X, a, X, renamed) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("measure", ACROSS_POINTS)
@settings(max_examples=examples(15))
@given(seed=SEEDS)
def test_symmetry(measure, seed):
    X, a, Y, b = two_samples(seed, 2, "soft weighted")
    assert measure(X, a, Y, b) == pytest.approx(measure(Y, b, X, a), abs=1e-10)


@pytest.mark.parametrize("measure", [centroid, adco])
@settings(max_examples=examples(25))
@given(seed=SEEDS)
def test_triangle_inequality(measure, seed):
    X, a, Y, b = two_samples(seed, 2, "soft weighted")
    Z, c, *_ = two_samples(seed + 1, 2, "hard noisy")
    assert measure(X, a, Z, c) <= measure(X, a, Y, b) + measure(Y, b, Z, c) + 1e-9


@settings(max_examples=examples(25))
@given(seed=SEEDS)
def test_values_lie_within_their_bounds(seed):
    X, a, Y, b = two_samples(seed, 2, "soft weighted")
    both = np.vstack([X, Y])
    diameter = max(math.dist(x, y) for x, y in itertools.combinations(both, 2))
    assert 0 <= centroid(X, a, Y, b) <= diameter + 1e-12
    assert 1 <= adco(X, a, Y, b) <= 2
    assert 0 <= cdistance(X, a, Y, b) <= 1
    X, a, b = hard_pair(seed)
    assert 0 <= spri(X, a, X, b) <= 1
    assert spari(X, a, X, b) >= 0


def rotation(d, rng):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_translating_all_points_changes_nothing(measure, d):
    rng = np.random.default_rng(d)
    X = rng.integers(0, 64, (40, d)) / 8  # so that sums are exact, and bins stay as they are
    a, b = (Partition.from_labels(labelling(rng, 40, 4)) for _ in range(2))
    before = measure(X, a, X, b)
    shift = rng.integers(-9, 9, d) * 1024.0
    assert measure(X + shift, a, X + shift, b) == pytest.approx(before, rel=1e-9)


def test_centroid_loses_no_precision_far_from_the_origin():
    X, a, b = hard_pair(3)
    X = np.round(X * 64) / 64
    assert centroid(X + 2.0**40, a, X + 2.0**40, b) == pytest.approx(centroid(X, a, X, b), rel=1e-9)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("factor", [2.0**-30, 4.0, 2.0**500, 2.0**-500])
def test_scaling_all_points_scales_only_centroid(measure, factor):
    X, a, b = hard_pair(3)
    expected = measure(X, a, X, b) * (factor if measure is centroid else 1)
    assert measure(factor * X, a, factor * X, b) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("scale", [2.0**-600, 1.0, 2.0**600])
def test_mirroring_all_points_changes_nothing(measure, scale):
    X, a, b = hard_pair(3)
    X = scale * np.abs(X)
    X[0] = 0
    assert measure(-X, a, -X, b) == pytest.approx(measure(X, a, X, b), rel=1e-9)


@pytest.mark.parametrize("measure", [adco, spri, spari])
def test_scaling_single_axes_changes_nothing(measure):
    X, a, b = hard_pair(3, d=3)
    scaled = X * [0.25, 1.0, 1024.0]
    assert measure(scaled, a, scaled, b) == pytest.approx(measure(X, a, X, b), rel=1e-9)


@pytest.mark.parametrize("measure", TRANSPORTS)
@pytest.mark.parametrize("d", [2, 3, 5])
def test_rotating_all_points_changes_nothing(measure, d):
    X, a, b = hard_pair(d, d=d)
    rotated = X @ rotation(d, np.random.default_rng(d))
    assert measure(rotated, a, rotated, b) == pytest.approx(measure(X, a, X, b), rel=1e-9)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("n", [40, 2500])
def test_integer_weights_equal_repeated_points(measure, n):
    if measure is cdistance:
        n = 40
    X, a, b = hard_pair(4, n=n)
    copies = np.random.default_rng(0).integers(0, 4, n)
    copies[:10] = 1
    X[copies == 0] *= 100  # points of weight zero must not widen the axes
    weighted = [Partition.from_labels(p.labels, copies) for p in (a, b)]
    Z = np.repeat(X, copies, axis=0)
    repeated = [Partition.from_labels(np.repeat(p.labels, copies)) for p in (a, b)]
    found = measure(X, weighted[0], X, weighted[1])
    assert found == pytest.approx(measure(Z, repeated[0], Z, repeated[1]), rel=1e-8)
    assert abs(found - measure(X, a, X, b)) > 1e-6  # the weights matter


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("n", [40, 2500])
def test_noise_is_left_out(measure, n):
    if measure is cdistance:
        n = 40
    X, a, b = hard_pair(5, n=n)
    noisy = np.random.default_rng(0).random(n) < 0.2
    noisy[0] = True
    X[0] = 100.0  # so that noise would widen the axes
    a_noisy, b_noisy = (Partition.from_labels(np.where(noisy, -1, p.labels)) for p in (a, b))
    a_kept, b_kept = (Partition.from_labels(p.labels[~noisy]) for p in (a, b))
    expected = measure(X[~noisy], a_kept, X[~noisy], b_kept)
    assert measure(X, a_noisy, X, b_noisy) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", PAIRS)
def test_a_point_that_is_noise_in_one_partition_counts_in_neither(measure):
    X, a, b = hard_pair(5)
    half = len(X) // 2
    first = np.arange(len(X)) < half
    noisy = Partition.from_labels(np.where(first, a.labels, -1))
    kept = [Partition.from_labels(p.labels[:half]) for p in (a, b)]
    expected = measure(X[:half], kept[0], X[:half], kept[1])
    assert measure(X, noisy, X, b) == pytest.approx(expected, rel=1e-12)
    assert measure(X, b, X, noisy) != pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32])
def test_points_of_any_dtype_are_accepted(measure, dtype):
    X, a, b = hard_pair(6)
    coarse = np.clip(X * 40 + 128, 0, 255).astype(np.uint8)
    expected = measure(coarse.astype(float), a, coarse.astype(float), b)
    assert measure(coarse.astype(dtype), a, coarse.astype(dtype), b) == pytest.approx(expected)


@pytest.mark.parametrize("measure", ALL)
def test_coordinates_near_the_largest_float_do_not_overflow(measure):
    X = np.array([[-1.7e308], [-1e308], [1e308], [1.7e308]])
    a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 1])
    expected = measure(X / 1e308, a, X / 1e308, b)
    found = measure(X, a, X, b)
    assert found == pytest.approx(expected * (1e308 if measure is centroid else 1))


# Implementation.


def test_cdistance_skips_trivial_transports(monkeypatch):
    X, a, b = hard_pair(7, n=12, k=4)
    alike = np.where(a.labels == a.labels[0], 0, 1 + b.labels)  # shares one cluster with a
    alone = np.where(np.arange(12) == 5, 9, alike)  # and has a cluster of one point
    b = Partition.from_labels(alone)
    sizes = []

    def counted(u, v, C, emd=spatial.solve_transport):
        sizes.append(C.shape)
        return emd(u, v, C)

    monkeypatch.setattr(spatial, "solve_transport", counted)
    found = cdistance(X, a, X, b)
    assert found == pytest.approx(oracles.cdistance(X, weighted_rows(a), X, weighted_rows(b)))
    *between_clusters, _ = sizes
    one_point = sum(np.sum(a.labels == c) == 1 for c in range(a.k)), sum(np.bincount(b.labels) == 1)
    pairs_left = (a.k - one_point[0]) * (b.k - one_point[1])
    assert len(between_clusters) < pairs_left <= (a.k - one_point[0]) * (b.k - 1)
    assert all(min(shape) > 1 for shape in between_clusters)


def test_memory_check_covers_the_allocated_arrays(monkeypatch):
    X, a, _ = hard_pair(0, n=30, d=3, k=4)
    b = Partition.from_labels(np.repeat([0, 1, 2], [3, 10, 17]))
    requested, tables, made = [], [], []
    monkeypatch.setattr(spatial, "check_memory", lambda n_bytes, *words: requested.append(n_bytes))
    monkeypatch.setattr(spatial, "check_pairs", lambda *sizes: tables.append(sizes))

    def recorded(function):
        def call(*arguments):
            result = function(*arguments)
            made.append(result.nbytes)
            return result

        return call

    monkeypatch.setattr(spatial, "_profiles", recorded(spatial._profiles))
    monkeypatch.setattr(spatial, "cdist", recorded(spatial.cdist))
    adco(X, a, X, b, bins=7)
    assert requested == [sum(made)]
    requested.clear(), made.clear()
    cdistance(X, a, X + 1, b)  # no common points, whose mass need not be moved
    assert requested == [3 * max(made)]  # costs, plan, and the solver's own
    centroid(X, a, X, b)
    assert tables == [(4, 3)] * 3


def test_computations_that_exceed_memory_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr(_memory, "_LITTLE", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 1000)
    X, a, b = hard_pair(0, n=30, d=3, k=4)
    profiles = "^profiles of 8 clusters in 1,000 bins of 3 axes .* available; take fewer bins"
    with pytest.raises(MemoryError, match=profiles):
        adco(X, a, X, b, bins=1000)
    with pytest.raises(MemoryError, match=r"^the transport between .* available; take a sample"):
        cdistance(X, a, X, b)


def test_cdistance_reports_progress_for_every_pair_of_clusters():
    X, a, _ = hard_pair(8, n=20, k=3)
    b = Partition.from_labels(np.arange(20) % 2)
    calls = []
    cdistance(X, a, X, b, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(i, 6) for i in range(1, 7)]


@pytest.mark.parametrize("measure", ACROSS_POINTS)
def test_points_of_different_dimension_or_length_are_refused(measure):
    X, a, b = hard_pair(0, n=10)
    with pytest.raises(ValueError, match="points of one space"):
        measure(X, a, X[:, :1], b)
    with pytest.raises(ValueError, match=r"^the first partition has 10 entries but X has 9"):
        measure(X[:9], a, X, b)
    with pytest.raises(ValueError, match=r"^the second partition has 10 entries but Y has 9"):
        measure(X, a, X[:9], b)


def test_bins_must_be_a_positive_integer():
    X, a, b = hard_pair(0, n=10)
    with pytest.raises(ValueError, match=r"^bins must be at least 1"):
        adco(X, a, X, b, bins=0)
    with pytest.raises(TypeError, match="bins must be an integer"):
        adco(X, a, X, b, bins=2.5)
