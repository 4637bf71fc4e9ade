"""Permutation tests: right by construction, the same for any number of threads."""

import tracemalloc

import joblib
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from support.generators import blobs


def noisy_copy(labels, share, rng):
    return np.where(rng.random(len(labels)) < share, rng.permutation(labels), labels)


@pytest.mark.parametrize(
    "measure", ["lift_emd", "lift_kd", "lift_hausdorff", "centroid", "rand", "ami"]
)
def test_similar_clusterings_are_significant(measure):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 150, 3)
    near = lc.significance(
        labels, noisy_copy(labels, 0.3, rng), X, measure=measure, n_permutations=99, rng=0
    )
    assert near.p_value == 0.01
    assert near.z < -4
    assert near.adjusted > 0.3
    assert len(near.null) == 99


@pytest.mark.parametrize(
    ("measure", "options"), [("lift_emd", {"lift": lc.Fourier(64)}), ("rand", {})]
)
def test_p_values_of_unrelated_labels_are_uniform(measure, options):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2)
    p = [
        lc.significance(
            labels,
            rng.permutation(labels),
            X,
            measure=measure,
            n_permutations=19,
            rng=rng,
            **options,
        ).p_value
        for _ in range(60)
    ]
    # A share of 5 % is below 0.05 under the null: 60 draws, failing once in a thousand.
    assert np.mean(np.array(p) <= 0.05) <= 0.17
    assert 0.35 < np.mean(p) < 0.65


def test_adjusted_value_of_rand_approximates_the_adjusted_rand_index():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=400)
    other = noisy_copy(labels, 0.5, rng)
    found = lc.significance(labels, other, measure="rand", n_permutations=400, rng=0)
    assert found.adjusted == pytest.approx(adjusted_rand_score(labels, other), abs=0.01)


def test_lifted_null_distribution_equals_single_distances():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 80, 2)
    other = noisy_copy(labels, 0.2, rng)
    lift = lc.make_lift(X, lift=lc.Fourier(50), rng=0)
    found = lc.significance(
        labels, other, X, lift=lift, n_permutations=10, rng=np.random.default_rng(5)
    )
    children = np.random.default_rng(5).spawn(10)
    expected = [
        lc.distance(labels, other[child.permutation(80)], X, lift=lift) for child in children
    ]
    np.testing.assert_allclose(found.null, expected, atol=1e-9)
    assert found.value == pytest.approx(lc.distance(labels, other, X, lift=lift))


def test_soft_memberships_weights_and_noise_are_permuted_with_their_rows():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 50, 2)
    soft = rng.dirichlet(np.ones(3), 50)
    soft[:5] = 0
    w = rng.uniform(0.5, 2, 50)
    lift = lc.make_lift(X, lift=lc.Fourier(40), rng=0)
    first = lc.Partition.from_labels(labels, w)
    second = lc.Partition.from_memberships(soft, w)
    found = lc.significance(
        first, second, X, lift=lift, n_permutations=6, rng=np.random.default_rng(1)
    )
    children = np.random.default_rng(1).spawn(6)
    expected = [
        lc.distance(labels, soft[child.permutation(50)], X, lift=lift, weights=w)
        for child in children
    ]
    np.testing.assert_allclose(found.null, expected, atol=1e-9)


@pytest.mark.parametrize("measure", ["lift_emd", "rand", "centroid"])
def test_threads_and_chunks_change_nothing(measure, monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2)
    other = noisy_copy(labels, 0.4, rng)
    options = {"measure": measure, "n_permutations": 30, "rng": 3}
    one = lc.significance(labels, other, X, **options)
    with joblib.parallel_config(n_jobs=2):
        two = lc.significance(labels, other, X, **options)
    monkeypatch.setattr("liftcluster.comparison.relabelled._BATCH_SIZE", 7)
    chunked = lc.significance(labels, other, X, **options)
    np.testing.assert_array_equal(one.null, two.null)
    np.testing.assert_allclose(one.null, chunked.null, atol=1e-12)


def test_different_samples_are_permuted_within_themselves():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 2)), rng.standard_normal((40, 2))
    found = lc.significance(X[:, 0] > 0, Y[:, 0] > 0, X, Y=Y, n_permutations=49, rng=0)
    assert found.p_value == pytest.approx(0.02)


def test_equal_singletons_have_p_value_one():
    same = lc.significance([0, 1, 2], [0, 1, 2], measure="rand", n_permutations=9, rng=0)
    # Permuted singletons are singletons.
    assert (same.value, same.p_value, same.z, same.adjusted) == (0, 1, 0, 1)
    assert "labels at random" in str(same)
    assert "p = 1 (small if related)" in str(same)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 0}, "at least 1"),
        ({"lift": "exact"}, 'use lift="fourier"'),
        ({"measure": "best"}, "measure must be one of"),
        ({"X": None}, "needs the points"),
        ({"b": lc.Partition.from_labels(np.arange(20) % 2, np.arange(20))}, "weight zero"),
    ],
)
def test_invalid_permutation_tests_are_refused(options, message):
    X, labels = blobs(np.random.default_rng(0), 20, 2)
    with pytest.raises(ValueError, match=message):
        lc.significance(**{"a": labels, "b": labels, "X": X} | options)


def test_kernels_without_features_use_exact_distances():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 700, 2)
    other = noisy_copy(labels, 0.5, rng)
    K = lc.Gaussian(2.0)(X, X)
    for options in ({"kernel": "discrete"}, {"kernel": lc.Precomputed(K)}):
        found = lc.significance(
            labels, other, n_permutations=4, rng=np.random.default_rng(1), **options
        )
        children = np.random.default_rng(1).spawn(4)
        expected = [lc.distance(labels, other[c.permutation(700)], **options) for c in children]
        np.testing.assert_allclose(found.null, expected, atol=1e-9)
        assert found.value == pytest.approx(lc.distance(labels, other, **options))


def test_equal_distances_are_ties_in_single_precision_too():
    n = 30_000
    X = np.random.default_rng(0).standard_normal((n, 2))
    labels = (X[:, 0] > 0).astype(int)
    found = lc.significance(labels, np.zeros(n, int), X, n_permutations=5, rng=0)
    assert found.p_value == 1  # permuting the labels of one cluster changes nothing


def test_many_clusters_need_no_dense_membership_matrix():
    n = 3000
    X = np.random.default_rng(0).standard_normal((n, 1))
    tracemalloc.start()
    lc.significance(
        np.arange(n) % 2,
        np.arange(n) % 1500,
        X,
        n_permutations=1,
        lift=lc.Fourier(2),
        rng=0,
        measure="lift_hausdorff",
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * 1500 * 8
