"""What becomes of clusters in another partition: values by the literal formula, and known cases."""

import numpy as np
import pytest
from scipy.optimize import linprog

import liftcluster as lc
from liftcluster.comparison.resampling.matching import Lifted, match
from liftcluster.comparison.resampling.runs import _lift_sample


def unit(v):
    return v / np.linalg.norm(v)


def literal_values(V, a, W, b):
    """The formula of ``stability``, by a linear programme and loops."""
    k, m = len(V), len(W)
    D = np.array([[np.linalg.norm(unit(v) - unit(w)) for w in W] for v in V])
    rows = [np.repeat(np.eye(k)[i], m) for i in range(k)]
    columns = [np.tile(np.eye(m)[j], k) for j in range(m)]
    masses = np.concatenate([a / a.sum(), b / b.sum()])
    solved = linprog(D.ravel(), A_eq=np.array(rows + columns), b_eq=masses)
    plan = solved.x.reshape(k, m)
    everything = unit(V.sum(axis=0))
    values = []
    for i in range(k):
        becomes = sum(plan[i, j] / (b[j] / b.sum()) * W[j] for j in range(m))
        chance = np.linalg.norm(unit(V[i]) - everything)
        values.append(1 - np.linalg.norm(unit(V[i]) - unit(becomes)) / chance)
    by_chance = sum(a[i] / a.sum() * np.linalg.norm(unit(V[i]) - everything) for i in range(k))
    return np.clip(values, -1, 1), 1 - solved.fun / by_chance


@pytest.mark.parametrize("seed", range(20))
def test_values_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    k, m = rng.integers(2, 6, 2)
    V, W = rng.random((k, 7)) + np.eye(k, 7), rng.random((m, 7)) + np.eye(m, 7)
    a, b = rng.random(k) + 0.1, rng.random(m) + 0.1
    found = match(Lifted(V, a, 0.0), Lifted(W, b * a.sum() / b.sum(), 0.0))
    values, whole = literal_values(V, a, W, b)
    # Two solvers may find different plans of equal cost; random costs have one optimum.
    np.testing.assert_allclose(found.values, values, atol=1e-6)
    np.testing.assert_allclose(found.whole, whole, atol=1e-6)


def test_a_partition_becomes_itself():
    V, a = np.random.default_rng(0).random((4, 6)), np.arange(1.0, 5.0)
    found = match(Lifted(V, a, 0.0), Lifted(V[::-1].copy(), a[::-1].copy(), 0.0))
    np.testing.assert_array_equal(found.values, np.ones(4))
    assert found.whole == 1


def two_partitions(a, b, X):
    """Both lifted by one map."""
    lift = lc.make_lift(X, bandwidth=1.0, lift=lc.Fourier(2000), rng=0)
    found = []
    for labels in (a, b):
        p = lc.Partition.from_labels(labels)
        found.append(Lifted(lift.sums(X, p), p.cluster_weights, p.noise_mass * p.total_weight))
    return found


X = np.array([[0.0], [0.2], [1.0], [1.2], [6.0], [6.3], [7.0], [7.1]])
WHOLE = [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_cluster_that_is_divided_further_is_stable_and_one_that_is_merged_is_not():
    parts = [0, 0, 2, 2, 1, 1, 1, 1]
    divided = match(*two_partitions(WHOLE, parts, X))
    np.testing.assert_allclose(divided.values, 1, atol=1e-9)
    merged = match(*two_partitions(parts, WHOLE, X))
    assert merged.values[1] == pytest.approx(1)  # cluster 1 is the same in both
    assert (merged.values[[0, 2]] < 0.9).all()


def test_everything_in_one_cluster_or_in_noise_is_chance():
    for other in ([0] * 8, [-1] * 7 + [0]):
        reference, replicate = two_partitions(WHOLE, other, X)
        if -1 in other:
            replicate = Lifted(replicate.sums[:0], replicate.weights[:0], 8.0)
        np.testing.assert_allclose(match(reference, replicate).values, 0, atol=1e-7)


def test_noise_costs_in_proportion_to_what_is_lost():
    some = [0, 0, 0, -1, 1, 1, 1, 1]
    found = match(*two_partitions(WHOLE, some, X))
    assert found.values[1] == pytest.approx(1, abs=0.02)
    assert 0 < found.values[0] < 0.98


def test_a_cluster_without_points_has_no_value():
    V, a = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 1.0])
    found = match(Lifted(V, a, 0.0), Lifted(V[[0, 2]], a[[0, 2]], 0.0))
    np.testing.assert_array_equal(found.values, [1, np.nan, 1])


def test_points_in_one_place_are_found_again():
    V = np.array([[2.0, 0.0], [3.0, 0.0]])
    found = match(Lifted(V, np.array([2.0, 3.0]), 0.0), Lifted(V, np.array([3.0, 2.0]), 0.0))
    np.testing.assert_array_equal(found.values, [1, 1])


def test_lengths_of_samples_are_corrected_without_bias():
    """E ⟨Φ, Φ⟩ − correction = ‖E Φ‖²: over many samples of a population of known mean."""
    rng = np.random.default_rng(0)
    population = rng.standard_normal((4000, 2))
    lift = lc.make_lift(population, bandwidth=1.0, lift=lc.Fourier(200), rng=0)
    n = 12
    exact = np.square(lift.sums(population, np.ones((4000, 1))) / 4000).sum()
    found, plain = [], []
    for _ in range(400):
        Y = population[rng.integers(0, 4000, n)]
        one = _lift_sample(lift, Y, lc.Partition.from_labels(np.zeros(n, dtype=int)))
        plain.append(np.square(one.sums).sum() / n**2)
        found.append(plain[-1] - one.noise_of_norm[0] / n**2)
    error = np.std(found) / 20
    assert abs(np.mean(found) - exact) < 4 * error
    assert np.mean(plain) > exact + 4 * error  # what the correction is for
