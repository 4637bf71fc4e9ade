"""Work that measures and pairs share: the same values as one measure of one pair at a time."""

import pickle
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import liftcluster as lc
from liftcluster.comparison import comparing, inputs
from liftcluster.comparison.comparing import compare_all
from liftcluster.comparison.measures import lifted, spatial
from liftcluster.comparison.measures.lifted import Between
from liftcluster.comparison.measures.registry import MEASURES
from liftcluster.comparison.moves import find_moves
from liftcluster.lifts import exact
from liftcluster.lifts.uncertainty import distance_deviations, standard_error
from liftcluster.partitions.partition import Partition, as_partitions
from support import oracles_spatial
from support.generators import blobs


def clusterings(rng, labels, count=3):
    """Copies in which some points moved, one with noise, one finer, and one with other names."""
    n, k = len(labels), int(labels.max()) + 1
    found = {
        f"moved {i}": np.where(rng.random(n) < 0.1 * (i + 1), rng.integers(k, size=n), labels)
        for i in range(count)
    }
    return found | {
        "noise": np.where(rng.random(n) < 0.1, -1, labels),
        "finer": 2 * labels + rng.integers(2, size=n),
        "same": k - labels,
    }


def same(found, expected):
    # lift_kd is the root of a difference: 1e-16 of terms of size one.
    if found is None or expected is None:
        return found is expected
    return found == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("lift", "most"), [("exact", 3000), ("grid", 3000), (lc.Fourier(200), 3000), ("fourier", 2)]
)
def test_all_pairs_together_equal_one_function_at_a_time(lift, most, weighted, monkeypatch):
    monkeypatch.setattr(comparing, "_MOST_CLUSTERS", most)  # whose distances are computed at once
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2)
    w = rng.integers(1, 4, 60) if weighted else None
    named = as_partitions(clusterings(rng, labels), w)
    lifting = comparing.Lifting.of("gaussian", 1.5, lift)
    found, rep = compare_all(named, X, lifting=lifting, rng=0)
    assert list(found) == list(combinations(named, 2))
    for (first, second), comparison in found.items():
        a, b = named[first], named[second]
        assert set(comparison.values) == set(MEASURES)
        parts = rep[first], rep[second]
        for name, estimate in comparison.values.items():
            measure = MEASURES[name]
            table = inputs.contingency(a, b)
            given = {"vectors": parts, "table": (table,), "points": (X, a, X, b)}[measure.needs]
            assert same(estimate.value, float(measure.function(*given)))
            if name != "lift_kd" or estimate.value > 1e-4:  # of a distance that is not rounding
                assert same(estimate.error, measure.error(*given) if measure.error else None)
        joined = comparison.representation
        assert joined.partition_names == (first, second)
        sums = [part.sums for part in parts]
        np.testing.assert_array_equal(joined.sums, np.concatenate(sums))


def literal_error(P, Q, gradient):
    """Standard error of Σ gradient · D from the deviations of all distances by groups."""
    deviations = distance_deviations(P.sums, Q.sums, P.lift.feature_groups(), normalise=True)
    return float(standard_error(np.asarray((gradient * d).sum()) for d in deviations))


@pytest.mark.parametrize("sampling", ["iid", "orthogonal"])
def test_errors_equal_those_by_all_deviations(sampling):
    rng = np.random.default_rng(1)
    X, labels = blobs(rng, 200, 4)
    parts = clusterings(rng, labels)
    rep = lc.represent(X, parts, lift=lc.Fourier(301, sampling=sampling), rng=0)
    for first, second in combinations(parts, 2):
        P, Q = rep[first], rep[second]
        between = Between(P, Q)
        assert same(between.emd_error(), literal_error(P, Q, between.transport.plan))
        D = between.distances
        i, j = np.argwhere(between.hausdorff() == D)[0]
        gradient = np.zeros_like(D)
        gradient[i, j] = 1
        assert same(between.hausdorff_error(), literal_error(P, Q, gradient))
        value = between.kernel_distance()
        if value > 1e-4:  # for equal clusters it is rounding
            both = lc.representation.representation.join([P, Q])
            signed = np.concatenate([P.masses / P.masses.sum(), -Q.masses / Q.masses.sum()])
            D = both.distances()
            gradient = np.outer(signed, signed) * -2 * D * np.exp(-(D**2)) / (2 * value)
            expected = literal_error(both, both, gradient)
            assert between.kernel_error() == pytest.approx(expected, rel=1e-9)


def test_many_clusters_have_the_same_kernel_distance_and_error(monkeypatch):
    X, labels = blobs(np.random.default_rng(2), 90, 2)
    rep = lc.represent(X, [labels, np.arange(90) // 3], lift="fourier", rng=0)
    few = Between(rep[0], rep[1])
    expected = few.kernel_distance(), few.kernel_error()
    monkeypatch.setattr(lifted, "_MANY_CLUSTERS", 1)
    many = Between(rep[0], rep[1])
    assert (many.kernel_distance(), many.kernel_error()) == pytest.approx(expected, rel=1e-9)


def test_one_contingency_table_transport_and_sum_over_pairs_serve_all_measures(monkeypatch):
    calls = []

    def counted(module, name):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **o: calls.append(name) or function(*a, **o))

    counted(inputs, "contingency")
    counted(lifted, "solve_transport")
    counted(spatial, "solve_transport")
    from liftcluster.comparison.measures import spatial_rand

    counted(spatial_rand, "_sums_by_pairs")
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    found = lc.compare(
        labels, np.roll(labels, 3), X, measures=["lift_emd", "spri", "spari", *list(MEASURES)[8:]]
    )
    assert len(found.moves) > 0
    assert sorted(calls) == ["_sums_by_pairs", "contingency", "solve_transport"]


def test_slow_measures_wait_until_they_are_read(monkeypatch):
    solved = []
    monkeypatch.setattr(
        spatial, "_cluster_transports", lambda *a: solved.append(1) or np.ones((4, 4))
    )
    X, labels = blobs(np.random.default_rng(0), 40, 4, k=4)
    other = np.roll(labels, 1)
    found = lc.compare(labels, other, X)
    assert "cdistance" in found.values
    assert list(found.values) == list(MEASURES)
    assert found["lift_emd"].value > 0
    assert not solved
    assert found["cdistance"].value == found.values["cdistance"].value == 1.0
    assert len(solved) == 1
    lc.compare(labels, other, X, measures="cdistance")  # asked for: at once
    assert len(solved) == 2
    again = pickle.loads(pickle.dumps(lc.compare(labels, other, X).values))
    assert len(solved) == 3
    assert dict(again) == dict(found.values)
    assert repr(again) == repr(dict(again))


def test_measures_wait_until_they_are_read_unless_they_are_asked_for(monkeypatch):
    computed = []

    def count(measure, *rest):
        computed.append(measure.name)
        return inputs.compute(measure, *rest)

    monkeypatch.setattr(comparing, "compute", count)
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    other = np.roll(labels, 3)
    found = lc.compare(labels, other, X)
    assert not computed
    assert found["rand"].value == lc.distance(labels, other, measure="rand")
    assert computed == ["rand"]
    assert str(found) == str(found)
    assert sorted(computed) == sorted(found.values) == sorted(MEASURES)
    computed.clear()
    lc.compare(labels, other, X, measures=["rand", "centroid"])
    assert computed == ["rand", "centroid"]
    computed.clear()
    monkeypatch.setattr(inputs, "_KEPT_BYTES", X.nbytes - 1)  # points too many to be copied
    lc.compare(labels, other, X)
    assert computed == ["centroid", "adco", "spri", "spari"]


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("as_given", [np.asarray, lc.as_partition])
@pytest.mark.parametrize("two_samples", [False, True])
def test_measures_that_wait_are_of_the_data_at_the_call(d, as_given, two_samples):
    X, labels = blobs(np.random.default_rng(0), 40, d)
    other, Y = np.roll(labels, 3), X + 1.0 if two_samples else None
    given = as_given(labels), as_given(other), X
    expected = lc.compare(*given, Y=Y).to_dict()
    found = lc.compare(*given, Y=Y)
    labels[:], other[:], X[:] = 0, 1, -7.0
    if two_samples:
        Y[:] = 3.0
    assert found.to_dict() == expected


def test_comparison_that_waits_can_be_pickled():
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    found = lc.compare(labels, np.roll(labels, 3), X)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert str(again) == str(found)
    assert again.moves == found.moves
    assert found.moves


@pytest.mark.parametrize("seed", range(5))
def test_mass_at_common_points_stays_in_cdistance(seed):
    rng = np.random.default_rng(seed)
    X, labels = blobs(rng, 30, 2)
    X[1] = X[0]
    w = rng.integers(1, 4, 30)
    a = Partition.from_labels(labels, w)
    b = Partition.from_labels(np.where(rng.random(30) < 0.2, rng.integers(4, size=30), labels), w)
    soft = Partition.from_memberships(rng.dirichlet(np.ones(3), size=30), w)
    rows = {p: p.weighted_rows(slice(0, 30)).toarray() for p in (a, b, soft)}
    for p, q in combinations((a, b, soft), 2):
        expected = oracles_spatial.cdistance(X, rows[p], X, rows[q])
        assert spatial.cdistance(X, p, X, q) == pytest.approx(expected, rel=1e-9)
        # A copy of the points is not known to be the same, so all mass is moved.
        assert spatial.cdistance(X, p, X.copy(), q) == pytest.approx(expected, rel=1e-9)


def literal_moves(plan, D):
    """Kinds, clusters, masses and costs of connected clusters, by repeated merging of sets."""
    smaller = np.minimum.outer(plan.sum(axis=1), plan.sum(axis=0))
    major = (plan >= 0.2 * smaller) & (plan > 0)
    groups = [{("row", i), ("column", j)} for i, j in np.argwhere(major).tolist()]
    while overlapping := [(g, h) for g, h in combinations(groups, 2) if g & h]:
        g, h = overlapping[0]
        groups = [x for x in groups if x is not g and x is not h] + [g | h]
    found = set()
    for group in groups:
        rows, columns = (sorted(at for side, at in group if side == s) for s in ("row", "column"))
        cells = [(i, j) for i in rows for j in columns if major[i, j]]
        mass = sum(plan[cell] for cell in cells)
        cost = sum(plan[cell] * D[cell] for cell in cells)
        found.add((tuple(rows), tuple(columns), round(mass, 12), round(cost, 12)))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_moves_are_the_connected_parts_of_the_plan(seed):
    rng = np.random.default_rng(seed)
    k, m = rng.integers(1, 9, 2)
    plan = rng.random((k, m)) ** 3 * (rng.random((k, m)) < 0.4)
    plan[0, 0] += 0.1
    plan /= plan.sum()
    D = rng.random((k, m))
    moves = find_moves(plan, D, tuple(range(k)), tuple(range(m)))
    joined = [v for v in moves if v.kind != "spilled"]
    assert {
        (v.sources, v.targets, round(v.mass, 12), round(v.cost, 12)) for v in joined
    } == literal_moves(plan, D)
    assert sum(v.mass for v in moves) == pytest.approx(1)
    assert sum(v.cost for v in moves) == pytest.approx((plan * D).sum())


# Columns of ids.


@pytest.mark.parametrize("rank", [40, 25])
def test_factor_of_a_large_gram_matrix_by_pivots(rank, monkeypatch):
    monkeypatch.setattr(exact, "_LARGE_GRAM", 10)
    B = np.random.default_rng(rank).standard_normal((40, rank)) * np.logspace(0, 2, 40)[:, None]
    G = B @ B.T
    V, A = exact.gram_factor(G)
    assert V.shape == A.shape == (40, rank)
    np.testing.assert_allclose(V @ V.T, G, atol=1e-11 * np.abs(G).max())
    np.testing.assert_allclose(G @ A, V, atol=1e-7 * np.abs(V).max())
    np.testing.assert_allclose(A.T @ G @ A, np.eye(rank), atol=1e-6)
    with pytest.raises(ValueError, match="not positive semi-definite; use a valid kernel"):
        exact.gram_factor(2.0 - np.eye(40))


def test_gram_matrix_of_many_clusters_equals_its_formula(monkeypatch):
    monkeypatch.setattr(exact, "_BLOCK", 16)
    rng = np.random.default_rng(0)
    X, R = rng.standard_normal((90, 2)), np.zeros((90, 55))
    R[np.arange(90), rng.permutation(90) // 2] = rng.random(90)
    R[np.arange(90), 45 + rng.integers(10, size=90)] = 1
    kernel = lc.Gaussian(1.0)
    found = exact._cluster_gram(kernel, X, exact.MatrixRows(sp.csr_array(R)))
    np.testing.assert_allclose(found, R.T @ kernel(X, X) @ R, rtol=1e-12, atol=1e-12)


def test_ids_against_ids_are_refused_by_place_and_compared_by_labels(monkeypatch):
    monkeypatch.setattr(inputs, "MOST_PAIRS", 500)
    monkeypatch.setattr(comparing, "MOST_PAIRS", 500)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    ids, few = np.arange(30), np.arange(30) % 3
    found = lc.compare(ids, ids[::-1], X)
    by_place = {"lift_emd", "lift_kd", "lift_hausdorff", "centroid", "adco", "cdistance"}
    assert set(found.left_out) == by_place
    assert found["rand"].value == 0
    assert (found.plan, found.representation, found.moves) == (None, None, [])
    message = r"^lift_emd does not apply: .* at most 500, got 30 × 30, .* \(is the column an id"
    with pytest.raises(ValueError, match=message):
        lc.distance(ids, ids, X)
    with pytest.raises(ValueError, match="is the column an id"):
        lc.compare(ids, ids, X, measures="adco")
    one = lc.compare(ids, few, X)  # 90 pairs of clusters, but 33² with themselves
    assert one.left_out == {"lift_kd": "slow for 33 clusters; ask for it by name"}
    assert len(one.moves) > 0
    assert lc.distance(ids, few, X, measure="lift_kd") > 0
