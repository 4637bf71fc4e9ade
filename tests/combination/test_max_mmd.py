"""Maximum-MMD clustering: the objective against loops, the ascent against brute force."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import liftcluster as lc
from liftcluster.combination.methods.ascent import ascend_mmd, spread_out_seeds
from liftcluster.lifts.exact import kernel_sums
from support.generators import blobs
from support.oracles import gram, mmd_objective


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_objective_equals_its_formula(lam):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 14, 2, k=3)
    w = rng.uniform(0.5, 2, 14)
    kernel = lc.Gaussian(1.5)
    rep = lc.represent(X, [labels, labels > 0], kernel=kernel, weights=w)
    expected = [mmd_objective(gram(kernel, X), p, w, lam) for p in (labels, labels > 0)]
    np.testing.assert_allclose(lc.mmd_objective(rep, regularisation=lam), expected, rtol=1e-10)


@pytest.mark.parametrize("lam", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_ascent_finds_the_best_of_all_partitions(k, lam):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((7, 2))
    w = rng.uniform(0.5, 2, 7)
    kernel = lc.Gaussian(1.0)
    K = gram(kernel, X)
    best = max(
        mmd_objective(K, np.array(labels), w, lam)
        for labels in itertools.product(range(k), repeat=7)
        if len(set(labels)) == k
    )
    model = lc.MaxMMDClustering(
        k, kernel=kernel, lift="exact", regularisation=lam, n_init=30, random_state=0
    ).fit(X, sample_weight=w)
    assert model.objective_ == pytest.approx(best, rel=1e-9)
    assert mmd_objective(K, model.labels_, w, lam) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_ascent_is_monotone_and_ends_in_a_local_maximum(lam):
    rng = np.random.default_rng(0)
    X, _ = blobs(rng, 60, 3)
    kernel = lc.Gaussian(2.0)
    K = kernel(X, X)
    w = np.ones(60)

    def affinity(rows, R):
        return kernel_sums(kernel, X, X[rows], R)

    codes = rng.integers(4, size=60)
    codes[:4] = np.arange(4)
    values = [mmd_objective(K, codes, w, lam)]
    for rounds in range(1, 30):
        ascent = ascend_mmd(affinity, np.ones(60), w, codes, 4, regularisation=lam, max_iter=rounds)
        values.append(ascent.objective)
        assert ascent.objective == pytest.approx(mmd_objective(K, ascent.codes, w, lam), rel=1e-9)
        if ascent.converged:
            break
    assert ascent.converged
    assert (np.diff(values) >= -1e-12).all()
    for i in range(60):
        for c in range(4):
            moved = ascent.codes.copy()
            moved[i] = c
            if len(set(moved)) == 4:
                assert mmd_objective(K, moved, w, lam) <= ascent.objective + 1e-9


def test_requested_number_of_clusters_is_returned():
    for X in (np.zeros((6, 2)), np.arange(6.0)[:, None], np.repeat(np.eye(2), 3, axis=0)):
        for k in (1, 3, 6):
            labels = lc.MaxMMDClustering(k, random_state=0).fit_predict(X)
            assert len(set(labels)) == k


def test_seeds_are_spread_out():
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.01, (50, 1)) for c in (0, 5, 10)])
    kernel = lc.Gaussian(1.0)

    def affinity(rows, R):
        return kernel_sums(kernel, X, X[rows], R)

    for seed in range(10):
        codes = spread_out_seeds(
            affinity, np.ones(150), np.ones(150), 3, np.random.default_rng(seed)
        )
        assert [len(set(codes[i : i + 50])) for i in (0, 50, 100)] == [1, 1, 1]
        assert len(set(codes)) == 3


@pytest.mark.parametrize("lift", ["exact", "fourier", "nystroem"])
def test_concentric_circles_are_separated_by_a_narrow_kernel(lift):
    X, y = make_circles(300, factor=0.2, noise=0.03, random_state=0)
    model = lc.MaxMMDClustering(2, bandwidth=0.5, lift=lift, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_lifts_agree_on_iris():
    X = load_iris().data
    models = [
        lc.MaxMMDClustering(3, lift=lift, random_state=0).fit(X)
        for lift in ("exact", "fourier", "nystroem")
    ]
    for model in models[1:]:
        assert adjusted_rand_score(models[0].labels_, model.labels_) > 0.95
        assert model.objective_ == pytest.approx(models[0].objective_, rel=0.02)


def test_points_of_weight_zero_are_assigned_but_do_not_count():
    X, _ = blobs(np.random.default_rng(0), 60, 2)
    w = np.where(np.arange(60) < 40, 1.0, 0.0)
    options = {"n_clusters": 3, "kernel": lc.Gaussian(2.0), "random_state": 0}
    weighted = lc.MaxMMDClustering(**options).fit(X, sample_weight=w)
    fewer = lc.MaxMMDClustering(**options).fit(X[:40])
    np.testing.assert_array_equal(weighted.labels_[:40], fewer.labels_)
    np.testing.assert_array_equal(weighted.labels_[40:], fewer.predict(X[40:]))


def test_ascent_without_convergence_warns():
    X, _ = blobs(np.random.default_rng(0), 200, 2)
    with pytest.warns(UserWarning, match="max_iter=1"):
        lc.MaxMMDClustering(5, max_iter=1, n_init=1, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
        ({"n_clusters": 2.5}, TypeError, "integer"),
        ({"n_clusters": 11}, ValueError, "n_samples=10 .* fewer than n_clusters=11"),
        ({"regularisation": -1}, ValueError, "regularisation must not be negative"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"lift": "best"}, ValueError, "lift must be one of"),
    ],
)
def test_bad_settings_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        lc.MaxMMDClustering(**{"n_clusters": 2, **options}).fit(np.arange(20.0).reshape(10, 2))


@parametrize_with_checks(
    [lc.MaxMMDClustering(n_clusters=3, n_init=2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "seeds are drawn at random, as in KMeans"
    },
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)


def test_very_small_weights_are_accepted():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    labels = lc.MaxMMDClustering(2, random_state=0).fit(X, sample_weight=np.full(4, 1e-200)).labels_
    assert labels[0] == labels[1] != labels[2] == labels[3]
