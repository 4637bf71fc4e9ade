"""The barycentre of the inputs: its linear program, medians, and what never rises."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods.barycentre import (
    _medians,
    best_weights,
    improve_barycentre,
    lift_barycentre,
)
from liftcluster.combination.methods.lifted import group_centres, lift_km
from support.consensus_cases import noisy_inputs, separated_blobs


def noisy_case(seed, n=60, share=0.3):
    rng = np.random.default_rng(seed)
    X, labels = separated_blobs(rng, n, 2)
    return X, labels, noisy_inputs(rng, labels, m=4, share=share)


def lifted(seed):
    X, _, inputs = noisy_case(seed)
    return lc.represent(X, inputs, bandwidth=4.0, lift="exact")


def mean_emd(rep, V, b):
    """Mean LiftEMD of weighted vectors to the inputs, one transport problem each."""
    costs = []
    for i in range(rep.m):
        P = rep[i]
        a = P.masses / P.masses.sum()
        costs.append(lc.emd(a, b / b.sum(), cdist(P.vectors, V)).cost)
    return np.mean(costs)


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_the_best_for_the_vectors(seed):
    rep, rng = lifted(seed), np.random.default_rng(seed)
    V = rep.vectors[rng.choice(rep.s, 3, replace=False)]
    plan, b, mean = best_weights(rep, V)
    assert b.sum() == pytest.approx(1)
    assert mean == pytest.approx(mean_emd(rep, V, b), abs=1e-8)
    for i in range(rep.m):  # every input gives each vector the same mass
        np.testing.assert_allclose(plan[rep.owner == i].sum(axis=0), b, atol=1e-8)
    others = rng.dirichlet(np.ones(3), 50)
    others[:25] = np.abs(b + 0.02 * rng.normal(size=(25, 3))) + 1e-9
    assert all(mean_emd(rep, V, other) >= mean - 1e-8 for other in others)


def test_medians_have_the_least_sum_of_distances():
    rng = np.random.default_rng(0)
    X, plan = rng.normal(size=(12, 2)), rng.uniform(size=(12, 3))
    plan[:, 2] = 0  # without mass a vector stays
    start = rng.normal(size=(3, 2))
    V = start
    for _ in range(20):
        V = _medians(X, plan, V)
    np.testing.assert_array_equal(V[2], start[2])
    for v, w in zip(V[:2], plan.T, strict=False):
        least = minimize(lambda u, w=w: w @ cdist(X, u[None, :])[:, 0], v, method="Nelder-Mead").fun
        assert w @ cdist(X, v[None, :])[:, 0] <= least + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_mean_distance_never_rises_and_is_below_that_of_lift_km(seed):
    rep = lifted(seed)
    codes = lift_km(rep, 4, rng=np.random.default_rng(0))
    V = group_centres(rep, codes, 4)
    means = [best_weights(rep, V)[2]]
    for rounds in (1, 2, 5, 20):
        means.append(improve_barycentre(rep, V, rounds)[2])
    assert (np.diff(means) <= 1e-9).all()
    assert means[-1] < means[0] - 1e-3


def test_mean_of_one_vector_is_the_median_of_all_clusters():
    rep = lifted(0)
    V = lift_barycentre(rep, 1, rng=np.random.default_rng(0))
    found = rep.masses @ cdist(rep.vectors, V)[:, 0]
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1e-2, 0.1):
        other = V + scale * rng.normal(size=V.shape)
        assert rep.masses @ cdist(rep.vectors, other)[:, 0] >= found - 1e-9


def test_equal_inputs_are_their_own_barycentre():
    X, labels, _ = noisy_case(0)
    rep = lc.represent(X, [labels, 3 - labels, labels], bandwidth=4.0, lift="exact")
    V, b, mean = improve_barycentre(rep, lift_barycentre(rep, 4, rng=np.random.default_rng(0)))
    assert mean == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(b, 0.25, atol=1e-8)
    np.testing.assert_allclose(cdist(V, rep[0].vectors).min(axis=1), 0, atol=1e-6)


def test_planted_clusters_are_recovered_and_predicted():
    X, labels, inputs = noisy_case(3, n=120, share=0.2)
    found = lc.consensus(inputs, 4, X, method="lift_barycentre", rng=0)
    assert adjusted_rand_score(found.labels, labels) == 1
    np.testing.assert_array_equal(found.predict(X), found.labels)


def test_max_iter_is_an_option_and_must_be_positive():
    X, _, inputs = noisy_case(0)
    options = {"max_iter": 0}
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        lc.consensus(inputs, 4, X, method="lift_barycentre", method_options=options, rng=0)
