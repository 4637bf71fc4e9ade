"""Clustering aggregation: optima by brute force, proven factors, literal formulas, invariances."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import liftcluster as lc
from liftcluster.combination.methods import aggregation, disagreements, local_search
from liftcluster.combination.methods.disagreements import (
    Aggregation,
    aggregation_of,
    cost_of,
    lower_bound,
)
from support import oracles_consensus as oracle
from support.amount import also
from support.consensus_cases import WORSE
from support.label_cases import label_arrays, noisy_copies, tuples_of

METHODS = [name for name, method in lc.METHODS.items() if method.aggregates]
FUNCTIONS = [getattr(aggregation, name) for name in METHODS]
pytestmark = WORSE


def solve(method, labels, weights=None, **options):
    """Clusters of the points, and their cost."""
    tuples = tuples_of(labels, weights)
    found = method(tuples, **options)
    return found[tuples.inverse], cost_of(tuples, found)


def random_labels(rng, n, complete=True):
    m, k = rng.integers(1, 6), rng.integers(1, 5)
    labels = rng.integers(k, size=(n, m))
    if not complete:
        labels[rng.random((n, m)) < 0.3] = -1
        labels[0] = 0  # no input without labels
    return labels


class Optimum:
    """The least cost over all partitions of n points, by literal shares of all pairs."""

    def __init__(self, n):
        self.pairs = np.triu_indices(n, 1)
        codes = oracle.all_partitions(n)
        self.together = codes[:, self.pairs[0]] == codes[:, self.pairs[1]]

    def of(self, labels):
        X = oracle.separation(labels)[self.pairs]
        return np.where(self.together, X, 1 - X).sum(axis=1).min()


# the best clustering


def cases_with_optimum(n, amount, complete=True):
    rng, optimum = np.random.default_rng(n), Optimum(n)
    for _ in range(amount):
        labels = random_labels(rng, n, complete)
        yield labels, optimum.of(labels)


@pytest.mark.parametrize(
    ("n", "amount"), [(4, 500), (7, 500), also(4, 5000), also(7, 5000), also(9, 3000)]
)
def test_balls_cost_at_most_three_times_the_least(n, amount):
    ratios = []
    for labels, least in cases_with_optimum(n, amount):
        cost = solve(aggregation.balls, labels, alpha=0.25)[1]
        assert cost <= 3 * least + 1e-9
        ratios.append(cost / least if least > 1e-9 else 1.0)
    assert max(ratios) > 1.01  # the cases are not all easy


@pytest.mark.parametrize(("n", "amount"), [(7, 100), also(7, 2000), also(9, 2000)])
@pytest.mark.parametrize("method", FUNCTIONS)
def test_cost_lies_between_the_least_and_a_small_multiple_of_it(method, n, amount):
    ratios = []
    for labels, least in cases_with_optimum(n, amount):
        bound = lower_bound(tuples_of(labels))
        cost = solve(method, labels)[1]
        assert bound <= least + 1e-9
        assert least <= cost + 1e-9
        if method is aggregation.local_search:
            assert cost <= 2 * (1 - 1 / labels.shape[1]) * least + 1e-9
        ratios.append(cost / least if least > 1e-9 else 1.0)
    assert np.mean(ratios) < (1.01 if method is aggregation.local_search else 1.4)


@pytest.mark.parametrize("n", [6, also(8)])
def test_missing_labels_count_half_in_the_factor_of_balls(n):
    for labels, least in cases_with_optimum(n, 150, complete=False):
        found, _ = solve(aggregation.balls, labels, alpha=0.25)
        X, pairs = oracle.separation(labels), np.triu_indices(n, 1)
        together = (found[:, None] == found)[pairs]
        assert np.where(together, X[pairs], 1 - X[pairs]).sum() <= 3 * least + 1e-9


# literal formulas


@given(label_arrays(), st.booleans())
def test_cost_and_bound_equal_sums_over_all_pairs(labels, weighted):
    rng = np.random.default_rng(0)
    w = rng.uniform(0.5, 2, len(labels)) if weighted else None
    tuples = tuples_of(labels, w)
    found = rng.integers(3, size=tuples.t)
    expected = oracle.disagreement(labels, found[tuples.inverse], w)
    np.testing.assert_allclose(cost_of(tuples, found), expected, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(
        lower_bound(tuples), oracle.least_disagreement(labels, w), rtol=1e-10, atol=1e-9
    )


def test_bound_is_the_same_in_blocks(monkeypatch):
    tuples = tuples_of(noisy_copies(np.random.default_rng(0), 90, 4, 5, 0.6, 0.2)[1])
    whole = lower_bound(tuples)
    monkeypatch.setattr(
        disagreements, "row_blocks", lambda n, _: (slice(i, min(i + 7, n)) for i in range(0, n, 7))
    )
    assert lower_bound(tuples) == pytest.approx(whole, rel=1e-12)


def different_rows(seed, missing=0.0):
    labels = noisy_copies(np.random.default_rng(seed), 25, 3, 5, 0.5, missing)[1]
    return labels[np.unique(labels, axis=0, return_index=True)[1]]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("alpha", [0.25, 0.4])
@pytest.mark.parametrize("seed", range(10))
def test_balls_equal_the_literal_algorithm(seed, alpha, missing):
    labels = different_rows(seed, missing)
    known = (labels >= 0).any(axis=1)
    expected = oracle.balls(labels[known], alpha)
    assert oracle.same_clusters(solve(aggregation.balls, labels, alpha=alpha)[0][known], expected)


@pytest.mark.parametrize("seed", range(10))
def test_furthest_equals_the_literal_algorithm(seed):
    labels = different_rows(seed)
    # Equal weights, except that the first of ties is the heaviest.
    w = 1 + 1e-9 * np.arange(len(labels))[::-1]
    assert oracle.same_clusters(solve(aggregation.furthest, labels, w)[0], oracle.furthest(labels))


def linkage_below_one_half(X):
    tree = linkage(squareform(X, checks=False), "average")
    return fcluster(tree, 0.5 - 1e-9, "distance")


def test_agglomerative_is_average_linkage_below_one_half():
    compared = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = noisy_copies(rng, 30, 3, 23, 0.5)[1]
        X = oracle.separation(labels)
        np.fill_diagonal(X, 0)
        noise = 1e-7 * rng.normal(size=(30, *X.shape))  # decides ties, in one way or another
        ways = [linkage_below_one_half(X + np.triu(e, 1) + np.triu(e, 1).T) for e in noise]
        if all(oracle.same_clusters(way, ways[0]) for way in ways):
            compared += 1
            assert oracle.same_clusters(solve(aggregation.agglomerative, labels)[0], ways[0])
    assert compared > 5


# local search


@given(label_arrays())
def test_local_search_never_raises_the_cost(labels):
    tuples = tuples_of(labels[(labels >= 0).any(axis=1)])
    rng = np.random.default_rng(0)
    for k in (1, 3, tuples.t):
        start = rng.integers(k, size=tuples.t)
        assert cost_of(tuples, local_search.improve(tuples, start)) <= cost_of(tuples, start) + 1e-9


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_no_move_of_a_point_lowers_the_cost_after_local_search(seed, missing):
    labels = noisy_copies(np.random.default_rng(seed), 24, 3, 4, 0.6, missing)[1]
    found, cost = solve(aggregation.local_search, labels)
    for v in range(len(labels)):
        for c in [*np.unique(found), found.max() + 1]:
            other = found.copy()
            other[v] = c
            assert oracle.disagreement(labels, other) >= cost - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_table_of_local_search_is_that_of_its_clusters(seed):
    tuples = tuples_of(noisy_copies(np.random.default_rng(seed), 80, 4, 6, 0.7, 0.1)[1])
    search = local_search._Search(tuples, local_search.best_input(tuples))
    assert search.sweep()
    moved = search.table[:, : search.codes.max() + 1]
    fresh = local_search._Search(tuples, search.codes)
    np.testing.assert_allclose(moved[:, np.unique(search.codes)], fresh.table[:, :-1], atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_near_tuples_are_all_that_can_be_better(seed, missing):
    labels = noisy_copies(np.random.default_rng(seed), 70, 4, 5, 0.5, missing)[1]
    tuples = tuples_of(labels[(labels >= 0).any(axis=1)])
    search = local_search._Search(tuples, np.arange(tuples.t) % 9)
    search._find_near()
    _, gain = search._best_of_all(slice(5, tuples.t))
    np.testing.assert_allclose(search._best_near(slice(5, tuples.t))[1], gain, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_search_among_near_tuples_is_as_good(seed, monkeypatch):
    tuples = tuples_of(noisy_copies(np.random.default_rng(seed), 200, 4, 6, 0.5, 0.1)[1])
    start = local_search.best_input(tuples)
    cost = cost_of(tuples, local_search.improve(tuples, start))
    monkeypatch.setattr(local_search, "_MOST_CELLS", 0)
    near = cost_of(tuples, local_search.improve(tuples, start))
    assert near <= cost_of(tuples, start)
    assert near == pytest.approx(cost, rel=0.03)


def test_local_search_warns_where_it_stops_early(monkeypatch):
    monkeypatch.setattr(local_search, "_MOST_SWEEPS", 1)
    tuples = tuples_of(noisy_copies(np.random.default_rng(0), 80, 4, 6, 0.7)[1])
    with pytest.warns(UserWarning, match="local_search stopped after 1 sweeps"):
        local_search.improve(tuples, np.arange(tuples.t) % 2)


# answers known by construction


@pytest.mark.parametrize("method", METHODS)
def test_equal_inputs_come_back(method):
    truth = np.random.default_rng(0).integers(5, size=60)
    found = lc.consensus([truth, 7 - truth, truth + 3], "auto", method=method)
    assert oracle.same_clusters(found.labels, truth)
    assert found.aggregation == Aggregation(0.0, 0.0)
    assert found.aggregation.ratio == 1


@pytest.mark.parametrize("method", FUNCTIONS)
def test_planted_clusters_are_recovered_with_their_number(method):
    truth, labels = noisy_copies(np.random.default_rng(0), 300, 4, 9, 0.1, 0.05)
    found = solve(method, labels)[0]
    correct = ((labels == truth[:, None]) | (labels < 0)).all(axis=1)
    assert oracle.same_clusters(found[correct], truth[correct])


def test_the_example_of_the_paper_has_the_least_cost_by_all_methods():
    """Figure 1: inputs {1,2}{3,4}{5,6}, {1,3}{2,4}{5}{6}, {1,3}{2,4}{5,6}; five disagreements."""
    inputs = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]
    for method in METHODS:
        found = lc.consensus(inputs, "auto", method=method)
        assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
        assert found.aggregation.cost == pytest.approx(5 / 3)
        assert found.aggregation.ratio == pytest.approx(1)


# invariances


def generic_case(seed, missing=0.1):
    """Labels and weights without ties."""
    rng = np.random.default_rng(seed)
    labels = noisy_copies(rng, 60, 3, 5, 0.4, missing)[1]
    return rng, labels, rng.uniform(0.5, 2, len(labels))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", FUNCTIONS)
def test_order_of_rows_and_names_of_labels_change_nothing(method, seed):
    rng, labels, w = generic_case(seed)
    known = (labels >= 0).any(axis=1)
    found, cost = solve(method, labels, w)
    order = rng.permutation(len(labels))
    renamed = np.where(labels >= 0, 5 - labels, -1)[order]
    other, other_cost = solve(method, renamed, w[order])
    assert other_cost == pytest.approx(cost)
    assert oracle.same_clusters(other[known[order]], found[order][known[order]])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", FUNCTIONS)
def test_repeated_points_are_weights(method, seed):
    rng, labels, _ = generic_case(seed)
    times = rng.integers(1, 4, len(labels))
    found, cost = solve(method, labels, times.astype(float))
    repeated, other_cost = solve(method, np.repeat(labels, times, axis=0))
    assert other_cost == pytest.approx(cost)
    np.testing.assert_array_equal(repeated, np.repeat(found, times))


@pytest.mark.parametrize("method", FUNCTIONS)
def test_unit_of_weights_and_points_without_weight_change_nothing(method):
    _, labels, w = generic_case(0)
    found, cost = solve(method, labels, w)
    scaled, scaled_cost = solve(method, labels, 1000 * w)
    np.testing.assert_array_equal(scaled, found)
    assert scaled_cost == pytest.approx(1e6 * cost)
    more = np.vstack([labels, [[0, 1, 2, 0, 1]]])
    with_more, same_cost = solve(method, more, np.append(w, 0.0))
    if method is aggregation.local_search:  # which may stop in another local minimum
        assert same_cost == pytest.approx(cost, rel=0.02)
    else:
        assert oracle.same_clusters(with_more[:-1], found)


# in consensus


@pytest.mark.parametrize("method", METHODS)
def test_method_chooses_the_number_of_clusters_and_reports_its_cost(method):
    labels = noisy_copies(np.random.default_rng(1), 80, 3, 7, 0.1)[1]
    X = np.random.default_rng(0).normal(size=(80, 2))
    found = lc.consensus(list(labels.T), "auto", method=method)
    assert found.n_clusters == len(np.unique(found.labels))
    assert found.aggregation.cost == pytest.approx(oracle.disagreement(labels, found.labels))
    assert found.aggregation.lower_bound == pytest.approx(oracle.least_disagreement(labels))
    assert "disagrees with an input on" in str(found)
    with_points = lc.consensus(list(labels.T), "auto", X, method=method)
    np.testing.assert_array_equal(with_points.labels, found.labels)
    assert with_points.curve is None
    with pytest.warns(UserWarning, match=f"{method} chooses the number of clusters itself"):
        lc.consensus(list(labels.T), found.n_clusters + 1, method=method)


@pytest.mark.parametrize("method", ["local_search", "evidence"])
def test_memberships_by_labels_are_computed_on_request(method):
    inputs = list(noisy_copies(np.random.default_rng(1), 80, 3, 7, 0.1)[1].T)
    found = lc.consensus(inputs, 3, method=method)
    assert "mean confidence" in repr(found)
    assert "confidence" in found._repr_html_()
    assert "memberships" not in vars(found)
    stored = pickle.loads(pickle.dumps(found))
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1)
    np.testing.assert_array_equal(stored.memberships, found.memberships)
    np.testing.assert_array_equal(stored.margin, found.margin)


def test_other_methods_report_no_cost():
    assert lc.consensus([[0, 0, 1], [0, 1, 1]], 2, method="evidence").aggregation is None


def test_points_without_labels_join_the_heaviest_cluster():
    inputs = [[0, 0, 0, 1, -1], [0, 0, 0, 1, -1]]
    for method in METHODS:
        assert lc.consensus(inputs, "auto", method=method).labels.tolist() == [0, 0, 0, 1, 0]


def test_too_many_tuples_are_refused_with_a_method_that_takes_them(monkeypatch):
    monkeypatch.setattr(aggregation, "_MOST_LINKED", 10)
    labels = list(noisy_copies(np.random.default_rng(0), 80, 3, 5, 0.5)[1].T)
    with pytest.raises(ValueError, match=r'at most 10 different tuples.*method="local_search"'):
        lc.consensus(labels, "auto", method="agglomerative")
    monkeypatch.setattr(aggregation, "_ALSO_LINKED", 10)
    assert lc.consensus(labels, "auto", method="local_search").aggregation.ratio < 1.5


def test_bound_is_none_where_all_pairs_are_too_many(monkeypatch):
    monkeypatch.setattr(disagreements, "MOST_COMPARED", 10)
    tuples = tuples_of(noisy_copies(np.random.default_rng(0), 80, 3, 5, 0.5)[1])
    found = aggregation_of(tuples, np.zeros(tuples.t, dtype=int))
    assert found.lower_bound is found.ratio is None
    assert "no lower bound: more than 10 different tuples" in str(found)


@pytest.mark.parametrize("alpha", [0, -1, np.nan])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="alpha must be positive"):
        lc.consensus([[0, 1], [0, 0]], "auto", method="balls", method_options={"alpha": alpha})
