"""Transport against linear programming and cases known by construction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

import liftcluster as lc
from liftcluster import emd


def by_linear_programming(a, b, C):
    k, m = C.shape
    rows = np.kron(np.eye(k), np.ones(m))
    columns = np.kron(np.ones(k), np.eye(m))
    return linprog(C.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b])).fun


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_cost_equals_linear_programming(seed, k, m):
    rng = np.random.default_rng(seed)
    a, b = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(m))
    a[rng.random(k) < 0.2] = 0
    a = a / a.sum() if a.any() else np.full(k, 1 / k)
    C = rng.random((k, m))
    result = emd(a, b, C)
    assert result.cost == pytest.approx(by_linear_programming(a, b, C), abs=1e-8)
    np.testing.assert_allclose(result.plan.sum(axis=1), a, atol=1e-12)
    np.testing.assert_allclose(result.plan.sum(axis=0), b, atol=1e-12)
    assert (result.plan >= 0).all()


def test_equal_masses_give_the_assignment_cost():
    C = np.random.default_rng(0).random((30, 30))
    rows, columns = linear_sum_assignment(C)
    masses = np.full(30, 1 / 30)
    assert emd(masses, masses, C).cost == pytest.approx(C[rows, columns].mean())


def test_masses_on_a_line_move_by_their_cumulative_difference():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(12))
    a, b = rng.dirichlet(np.ones(12), 2)
    expected = (np.abs(np.cumsum(a - b))[:-1] * np.diff(x)).sum()
    assert emd(a, b, np.abs(x[:, None] - x)).cost == pytest.approx(expected)


def test_masses_need_not_sum_to_one():
    assert emd([2, 2], [3, 1], [[0, 1], [1, 0]]).cost == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b", "C", "message"),
    [
        ([1], [2], [[0]], "equal sums"),
        ([1], [1], [[0, 1]], r"shape \(1, 1\)"),
        ([1], [1], [[np.nan]], "C must be finite"),
        ([-1, 2], [1], [[0], [0]], "a must be finite masses"),
        ([0.0], [0.0], [[0]], "not all zero"),
        ([], [1], np.zeros((0, 1)), "non-empty"),
        ([np.inf], [np.inf], [[0]], "finite"),
    ],
)
def test_bad_problems_are_refused(a, b, C, message):
    with pytest.raises(ValueError, match=message):
        emd(a, b, C)


def test_errors_name_the_invalid_argument():
    for a, b, C, message in [
        (["x"], [1.0], [[1.0]], "^a must hold"),
        ([1.0], ["x"], [[1.0]], "^b must hold"),
        ([1.0], [1.0], [["x"]], "^C must hold"),
        ([[1.0]], [1.0], [[1.0]], r"^a must be a non-empty array of masses, got shape \(1, 1\)"),
        ([1.0], [], [[1.0]], r"^b must be a non-empty array of masses, got shape \(0,\)"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            emd(a, b, C)


def test_one_bad_cost_among_good_ones_is_refused():
    with pytest.raises(ValueError, match="C must be finite"):
        emd([1.0, 1.0], [1.0, 1.0], [[0.0, 1.0], [np.inf, 0.0]])


@pytest.mark.parametrize("total", [1e-3, 1.0, 1e6])
def test_sums_may_differ_by_a_relative_error_of_1e_minus_9(total):
    assert emd([total], [total * (1 + 0.9e-9)], [[2.0]]).cost == pytest.approx(2 * total)
    with pytest.raises(ValueError, match="equal sums"):
        emd([total], [total * (1 + 1.2e-9)], [[2.0]])


def test_costs_of_very_different_magnitude_are_respected():
    C = np.array([[0.0, 1e-9], [1.0, 0.0]])
    moved = emd([0.6, 0.4], [0.4, 0.6], C)
    assert moved.cost == pytest.approx(0.2e-9, rel=1e-6)
    free = emd([1.0, 2.0], [2.0, 1.0], np.zeros((2, 2)))
    assert free.cost == 0
    assert free.plan.sum() == pytest.approx(3)


@pytest.mark.parametrize("unit", [1e-300, 1e-20, 1e-14, 1e200])
def test_scaling_costs_scales_only_the_cost(unit):
    rng = np.random.default_rng(0)
    a, b, C = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(4)), rng.random((5, 4))
    expected = by_linear_programming(a, b, C)
    moved = emd(a, b, C * unit)
    assert moved.cost / unit == pytest.approx(expected)
    assert (moved.plan * C).sum() == pytest.approx(expected)


def test_subnormal_cost_does_not_distort_the_others():
    assert emd([0.5, 0.5], [0.5, 0.5], [[1e-310, 1.0], [1.0, 0.5]]).cost == pytest.approx(0.25)


def test_solver_failure_is_an_error(monkeypatch):
    import ot

    monkeypatch.setattr(ot, "emd", lambda *_, **__: (np.eye(2), {"warning": "numItermax reached"}))
    with pytest.raises(RuntimeError, match="numItermax reached"):
        emd([1.0, 1.0], [1.0, 1.0], np.eye(2))


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200])
def test_masses_and_costs_of_any_scale_are_accepted(scale):
    plain = lc.emd([1.0, 3.0], [2.0, 2.0], [[0.0, 1.0], [2.0, 0.0]])
    masses = lc.emd(
        np.array([1.0, 3.0]) * scale, np.array([2.0, 2.0]) * scale, [[0.0, 1.0], [2.0, 0.0]]
    )
    assert masses.cost / scale == pytest.approx(plain.cost)
    np.testing.assert_allclose(masses.plan / scale, plain.plan)
    costs = lc.emd([1.0, 3.0], [2.0, 2.0], np.array([[0.0, 1.0], [2.0, 0.0]]) * scale)
    assert costs.cost / scale == pytest.approx(plain.cost)


def test_transport_does_not_look_behind_a_mask():
    with pytest.raises(ValueError, match="a has masked"):
        lc.emd(np.ma.array([1.0, 1.0], mask=[0, 1]), [1.0, 1.0], np.eye(2))
    with pytest.raises(ValueError, match="C has masked"):
        lc.emd([1.0, 1.0], [1.0, 1.0], np.ma.array(np.eye(2), mask=np.eye(2) > 0))
