"""Layout of a tree of resolutions: crossings, order and coordinates."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from liftcluster.viz.tree_layout import _isotonic, crossings, order_rows, place_rows


def crossings_by_pairs(plans, orders):
    """Every pair of edges, one after the other."""
    total = 0.0
    for plan, above, below in zip(plans, orders[:-1], orders[1:], strict=True):
        x, y = np.argsort(above), np.argsort(below)
        edges = [(x[i], y[j], plan[i, j]) for i, j in np.ndindex(plan.shape)]
        for a, b, mass in edges:
            total += sum(mass * other for c, d, other in edges if a < c and b > d)
    return total


def random_plans(seed, sizes=(3, 5, 4, 6), density=0.5):
    rng = np.random.default_rng(seed)
    return [rng.random((k, m)) * (rng.random((k, m)) < density) for k, m in pairwise(sizes)]


def natural(plans):
    return [np.arange(plan.shape[0]) for plan in plans] + [np.arange(plans[-1].shape[1])]


@pytest.mark.parametrize("seed", range(5))
def test_crossings_are_those_of_all_pairs(seed):
    plans = random_plans(seed)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(order)) for order in natural(plans)]
    assert crossings(plans, orders) == pytest.approx(crossings_by_pairs(plans, orders))


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_nested_rows_are_drawn_without_crossings(seed):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(k) for k in (2, 4, 8, 16)]
    plans = []
    for above, below in pairwise(rows):
        plan = np.zeros((len(above), len(below)))
        plan[above[np.arange(len(below)) // 2], below] = 1 / len(below)
        plans.append(plan)
    assert crossings(plans, natural(plans)) > 0
    assert crossings(plans, order_rows(plans)) == 0


def test_two_crossing_edges_are_untangled():
    plan = np.array([[0, 0, 0.4], [0.2, 0, 0], [0, 0.4, 0]])
    above, below = order_rows([plan])
    targets = [int(plan[i].argmax()) for i in above]
    assert targets == below.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_no_order_has_more_crossings_than_the_given_one(seed):
    plans = random_plans(seed, sizes=(6, 9, 7, 12), density=0.3)
    orders = order_rows(plans)
    assert [sorted(order.tolist()) for order in orders] == [list(o) for o in natural(plans)]
    assert crossings(plans, orders) < crossings(plans, natural(plans))


def test_rows_without_edges_keep_their_order():
    plans = [np.zeros((3, 4)), np.zeros((4, 2))]
    assert [order.tolist() for order in order_rows(plans)] == [[0, 1, 2], [0, 1, 2, 3], [0, 1]]
    places = place_rows(plans, order_rows(plans), [np.ones(3), np.ones(4), np.ones(2)])
    assert all(np.isfinite(x).all() for x in places)


def test_nodes_do_not_overlap_and_keep_their_order():
    plans = random_plans(0, sizes=(4, 9, 6))
    orders = order_rows(plans)
    widths = [np.random.default_rng(1).uniform(0.5, 2, len(order)) for order in orders]
    for x, order, w in zip(place_rows(plans, orders, widths), orders, widths, strict=True):
        room = (w[order][:-1] + w[order][1:]) / 2
        assert (np.diff(x[order]) >= room - 1e-9).all()


def test_parents_stand_above_the_middle_of_their_children():
    plan = np.kron(np.eye(3), np.full((1, 2), 1 / 6))  # two children each
    above, below = place_rows([plan], order_rows([plan]), [np.ones(3), np.ones(6)])
    np.testing.assert_allclose(above, below.reshape(3, 2).mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(np.diff(below), 1, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_isotonic_regression_equals_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.integers(8, size=20) * 1.0, rng.random(20)
    weights[rng.random(20) < 0.3] = 1e-300  # nodes without edges
    expected = isotonic_regression(values, sample_weight=weights)
    np.testing.assert_allclose(_isotonic(values, weights), expected, atol=1e-12)
