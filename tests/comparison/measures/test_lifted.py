"""Lifted distances against literal formulas, and their errors against exact values."""

import itertools
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

import liftcluster as lc
from liftcluster._util import memory as _memory
from liftcluster.comparison.measures import lifted
from liftcluster.comparison.measures.lifted import (
    lift_emd,
    lift_emd_error,
    lift_emd_matrix,
    lift_hausdorff,
    lift_hausdorff_error,
    lift_kd,
    lift_kd_error,
    lift_transport,
)
from support.generators import blobs, points_and_partitions
from support.oracles import cluster_products, distance_from_products, gram

MIXTURE = lc.Gaussian([0.4, 1.1], weights=[1, 3])


def cluster_distances(X, partitions, kernel):
    """All distances of unit cluster vectors by loops over points."""
    R = np.hstack([p.memberships.toarray() * p.weights[:, None] for p in partitions])
    G = cluster_products(gram(kernel, X), R)
    s = len(G)
    D = np.array(
        [[distance_from_products(G, a, b, normalise=True) for b in range(s)] for a in range(s)]
    )
    np.fill_diagonal(D, 0)
    return D


def emd_by_linear_programming(a, b, D):
    k, m = D.shape
    A = np.vstack([np.kron(np.eye(k), np.ones(m)), np.kron(np.ones(k), np.eye(m))])
    return linprog(D.ravel(), A_eq=A, b_eq=np.concatenate([a, b])).fun


@settings(max_examples=25)
@given(points_and_partitions(max_points=12))
def test_lifted_distances_equal_their_formulas(case):
    X, partitions = case
    p, q = partitions[0], partitions[-1]
    kernel = lc.Gaussian(1.0)
    D = cluster_distances(X, [p, q], kernel)
    k, a, b = p.k, p.masses, q.masses
    cross = D[:k, k:]
    expected = {
        "lift_emd": emd_by_linear_programming(a, b, cross),
        "lift_hausdorff": max(
            max(min(row) for row in cross.tolist()), max(min(col) for col in cross.T.tolist())
        ),
        "lift_kd": np.sqrt(
            max(
                sum(a[i] * a[j] * np.exp(-(D[i, j] ** 2)) for i in range(k) for j in range(k))
                + sum(
                    b[i] * b[j] * np.exp(-(D[k + i, k + j] ** 2))
                    for i, j in itertools.product(range(q.k), repeat=2)
                )
                - 2
                * sum(
                    a[i] * b[j] * np.exp(-(cross[i, j] ** 2)) for i in range(k) for j in range(q.k)
                ),
                0,
            )
        ),
    }
    for measure, value in expected.items():
        # Squares of nearly equal vectors are rounded to 1e-16, so their roots to 1e-8; and once more.
        tolerance = 1e-4 if measure == "lift_kd" else 1e-6
        assert lc.distance(p, q, X, kernel=kernel, measure=measure) == pytest.approx(
            value, abs=tolerance
        )


def test_plan_moves_all_mass_and_its_cost_is_lift_emd():
    X, labels = blobs(np.random.default_rng(0), 60, 3)
    rep = lc.represent(X, [labels, labels % 2])
    found = lift_transport(rep[0], rep[1])
    np.testing.assert_allclose(found.plan.sum(axis=1), rep[0].masses)
    np.testing.assert_allclose(found.plan.sum(axis=0), rep[1].masses)
    assert (found.plan * rep.distances()[:4, 4:]).sum() == pytest.approx(lift_emd(rep[0], rep[1]))


def test_lift_emd_matrix_equals_single_distances():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 3)
    noisy = np.where(rng.random(60) < 0.2, -1, labels)
    rep = lc.represent(X, [labels, labels % 2, noisy])
    expected = [[lift_emd(rep[i], rep[j]) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(lift_emd_matrix(rep), expected, atol=1e-9)


def test_another_outer_kernel_gives_another_kernel_distance():
    X, labels = blobs(np.random.default_rng(0), 60, 3)
    rep = lc.represent(X, [labels, labels % 2])
    P, Q = rep[0], rep[1]
    linear = lift_kd(P, Q, outer_kernel=lambda V, W: V @ W.T)
    expected = np.linalg.norm(P.masses @ P.vectors - Q.masses @ Q.vectors)
    assert linear == pytest.approx(expected)
    narrow, wide = (lift_kd(P, Q, outer_kernel=lc.Gaussian(h)) for h in (0.1, 10.0))
    assert narrow > lift_kd(P, Q) > wide
    fourier = lc.represent(X, [labels, labels % 2], lift="fourier", rng=0)
    assert lift_kd_error(fourier[0], fourier[1], outer_kernel=lambda V, W: V @ W.T) is None


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (lift_emd, lift_emd_error),
        (lift_kd, lift_kd_error),
        (lift_hausdorff, lift_hausdorff_error),
    ],
)
@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "quasi"])
def test_two_standard_errors_cover_the_exact_distance(value, error, sampling):
    exact, drawn = exact_and_drawn(sampling)
    truth = value(exact[0], exact[1])
    assert error(exact[0], exact[1]) == 0
    covered = sum(abs(value(r[0], r[1]) - truth) <= 2 * error(r[0], r[1]) for r in drawn)
    assert covered >= 0.88 * len(drawn)  # 95 % of 100, less three deviations
    if sampling == "iid":
        assert covered < len(drawn)


@cache
def exact_and_drawn(sampling):
    """Two partitions lifted exactly, and by a hundred draws of random features."""
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 300, 5, k=5)
    other = np.where(rng.random(300) < 0.3, rng.integers(5, size=300), labels)
    partitions, kernel = [labels, other], lc.Gaussian(3.0)
    lift = lc.Fourier(600, sampling=sampling)
    drawn = [lc.represent(X, partitions, kernel=kernel, lift=lift, rng=i) for i in range(100)]
    return lc.represent(X, partitions, kernel=kernel), drawn


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (lift_emd, lift_emd_error),
        (lift_kd, lift_kd_error),
        (partial(lift_kd, outer_kernel=MIXTURE), partial(lift_kd_error, outer_kernel=MIXTURE)),
        (lift_hausdorff, lift_hausdorff_error),
    ],
)
def test_standard_error_agrees_with_the_jackknife(value, error):
    """Leaving out one frequency at a time estimates the same variance without any formula."""
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 100, 3)
    other = np.where(rng.random(100) < 0.3, rng.integers(3, size=100), labels)
    rep = lc.represent(X, [labels, other], kernel=lc.Gaussian(2.0), lift=lc.Fourier(400, sampling="iid"), rng=0)  # fmt: skip
    groups = rep.lift.feature_groups()
    fewer = [replace(rep, sums=rep.sums[:, groups != group]) for group in np.unique(groups)]
    left_out = np.array([value(some[0], some[1]) for some in fewer])
    jackknife = np.sqrt((len(fewer) - 1) * left_out.var())
    assert error(rep[0], rep[1]) == pytest.approx(jackknife, rel=0.05)


@pytest.mark.parametrize("measure", [lift_emd, lift_hausdorff])
def test_pairs_of_clusters_that_do_not_fit_in_memory_are_refused(monkeypatch, measure):
    ids = np.arange(300)
    rep = lc.represent(ids[:, None] * 1.0, [ids, ids], lift=lc.Fourier(2))
    monkeypatch.setattr(_memory, "_LITTLE", 2**10)
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", str(2**20 / 2**30))
    with pytest.raises(MemoryError, match="all pairs of 300 and 300 clusters"):
        measure(rep[0], rep[1])


def test_equal_partitions_are_at_distance_zero_without_error():
    X, labels = blobs(np.random.default_rng(0), 200, 3)
    for lift in ("exact", "fourier"):
        rep = lc.represent(X, [labels, 3 - labels], lift=lift, rng=0)
        for value in (lift_emd, lift_kd, lift_hausdorff):
            assert value(rep[0], rep[1]) == pytest.approx(0, abs=1e-7)
        assert lift_emd_error(rep[0], rep[1]) == pytest.approx(0, abs=1e-9)


def test_noise_is_left_out_of_the_masses():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    noisy, clean = [0, 0, -1, -1], [0, 0, 0, 0]
    kernel = lc.Gaussian(1.0)
    expected = lc.distance([0, 0], clean, X[:2], Y=X, kernel=kernel)
    assert lc.distance(noisy, clean, X, kernel=kernel) == pytest.approx(expected, abs=1e-7)
    assert expected > 0.5


def test_error_of_lift_kd_is_zero_for_equal_partitions_and_none_if_unknown():
    X = np.random.default_rng(0).standard_normal((30, 2))
    rep = lc.represent(X, [[0] * 30, [0] * 30, [0, 1, 1] * 10], lift="fourier", rng=0)
    assert lift_kd_error(rep[0], rep[1]) == 0.0
    assert lift_kd_error(rep[0], rep[1], outer_kernel=lc.Cauchy(1.0)) == 0.0
    assert lift_kd_error(rep[0], rep[2]) > 0
    assert lift_kd_error(rep[0], rep[2], outer_kernel=lc.Cauchy(1.0)) is None


def test_a_mixture_of_equal_outer_kernels_has_the_error_of_one():
    X = np.random.default_rng(0).standard_normal((30, 2))
    rep = lc.represent(X, [[0] * 30, [0, 1, 1] * 10], lift="fourier", rng=0)
    one = lift_kd_error(rep[0], rep[1], outer_kernel=lc.Gaussian(0.8))
    mixture = lc.Gaussian([0.8, 0.8], weights=[1, 3])
    assert lift_kd_error(rep[0], rep[1], outer_kernel=mixture) == pytest.approx(one)


@pytest.mark.parametrize("error", [lift_emd_error, lift_hausdorff_error, lift_kd_error])
def test_error_is_zero_for_exact_lifts_and_none_for_nystroem_or_without_lift(error):
    X = np.random.default_rng(0).standard_normal((30, 2))
    parts = [[0] * 15 + [1] * 15, [0, 1, 1] * 10]
    exact, nystroem = (lc.represent(X, parts, lift=lift, rng=0) for lift in ("exact", "nystroem"))
    assert error(exact[0], exact[1]) == 0.0
    assert error(nystroem[0], nystroem[1]) is None
    alone = replace(exact, lift=None)
    assert error(alone[0], alone[1]) is None


def test_lift_emd_error_on_a_grid_is_the_bound_weighted_by_the_plan():
    X = np.random.default_rng(0).standard_normal((30, 2))
    rep = lc.represent(X, [[0] * 15 + [1] * 15, [0, 1, 1] * 10], lift="grid")
    bound = rep.lift.distance_bound(rep[0].sums, rep[1].sums)
    expected = (lift_transport(rep[0], rep[1]).plan * bound).sum()
    assert 0 < lift_emd_error(rep[0], rep[1]) == pytest.approx(expected)


def test_value_error_and_plan_need_one_transport(monkeypatch):
    X, labels = blobs(np.random.default_rng(0), 60, 2)
    rep = lc.represent(X, [labels, np.roll(labels, 7)], lift="fourier", rng=0)
    transport = lift_transport(rep[0], rep[1])
    expected = lift_emd(rep[0], rep[1]), lift_emd_error(rep[0], rep[1])
    monkeypatch.delattr(lifted, "solve_transport")
    assert transport.cost == expected[0]
    assert lift_emd_error(rep[0], rep[1], transport=transport) == expected[1]
    np.testing.assert_array_equal(
        transport.costs, cdist(rep[0].vectors, rep[1].vectors), strict=True
    )
    assert (transport.plan * transport.costs).sum() == pytest.approx(transport.cost)
