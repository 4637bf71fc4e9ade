"""k-means by inner products: Lloyd's steps in coordinates, seeds, empty groups."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from liftcluster._util.threads import _loaded_libraries
from liftcluster.combination.methods.kmeans import _step, gram_kmeans, kmeans


def literal_centres(V, w, codes, k):
    return np.array([np.average(V[codes == i], axis=0, weights=w[codes == i]) for i in range(k)])


def cost(V, w, codes):
    k = codes.max() + 1
    return w @ cdist(V, literal_centres(V, w, codes, k), "sqeuclidean")[np.arange(len(V)), codes]


def test_k_means_of_few_different_rows_numbers_its_clusters_consecutively():
    Y = np.array([[5.0], [0.0], [9.0]])[[0, 1, 1, 2, 0, 2]]
    codes = kmeans(Y, 5, 2, np.random.default_rng(0))
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    assert (codes[:, None] == codes).tolist() == (Y == Y.T).tolist()


def test_k_means_of_few_numbers_uses_one_thread(monkeypatch):
    """More of them wait for each other, on a busy machine for seconds."""
    used = []

    def threads():
        return [library["num_threads"] for library in threadpool_info()]

    class Recorder(KMeans):
        def fit(self, Y, sample_weight=None):
            used.extend(threads())
            return super().fit(Y, sample_weight=sample_weight)

    monkeypatch.setattr("sklearn.cluster.KMeans", Recorder)
    _loaded_libraries.cache_clear()  # other tests may have loaded more libraries since
    with threadpool_limits(2):
        before = threads()
        kmeans(np.eye(50), 3, 1, np.random.default_rng(0))
        assert threads() == before
    assert set(used) == {1}


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5))
def test_results_are_fixed_points_in_coordinates(seed, k, d):
    rng = np.random.default_rng(seed)
    V, w = rng.standard_normal((30, d)), rng.uniform(0.1, 3, 30)
    for codes in gram_kmeans(V @ V.T, w, k, 2, rng):
        assert sorted(set(codes.tolist())) == list(range(k))
        D = cdist(V, literal_centres(V, w, codes, k))
        own = D[np.arange(30), codes]
        assert (own <= D.min(axis=1) + 1e-9).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
def test_steps_assign_to_the_nearest_centre_and_leave_no_group_empty(seed, k):
    rng = np.random.default_rng(seed)
    V, w = rng.standard_normal((12, 2)), rng.uniform(0.1, 3, 12)
    codes = np.concatenate([np.arange(k), rng.integers(k, size=12 - k)])
    D = cdist(V, literal_centres(V, w, codes, k))
    found = _step(V @ V.T, w, codes, k)
    assert len(set(found.tolist())) == k
    moved = np.flatnonzero(found != D.argmin(axis=1))
    empty = k - len(set(D.argmin(axis=1).tolist()))
    assert len(moved) == empty  # each gets one vector, farther from its centre than those that stay
    nearest = D.min(axis=1)
    sizes = np.bincount(D.argmin(axis=1), minlength=k)
    if empty == 1:
        others = sizes[D.argmin(axis=1)] > 1
        assert nearest[moved[0]] == pytest.approx(nearest[others].max())


@pytest.mark.parametrize("seed", range(5))
def test_best_of_several_starts_is_the_best_of_all_groupings(seed):
    rng = np.random.default_rng(seed)
    V, w = rng.standard_normal((8, 3)), rng.uniform(0.1, 3, 8)
    groupings = (np.array(c) for c in itertools.product(range(3), repeat=8) if len(set(c)) == 3)
    best = min(cost(V, w, codes) for codes in groupings)
    found = gram_kmeans(V @ V.T, w, 3, 30, rng)
    assert len(found) == 30
    assert min(cost(V, w, codes) for codes in found) == pytest.approx(best)


def test_vectors_that_are_equal_up_to_rounding_are_one_group():
    rng = np.random.default_rng(0)
    V = 1e3 + np.repeat(rng.standard_normal((3, 4)), 5, axis=0)
    V += 1e-12 * rng.standard_normal(V.shape)
    for codes in gram_kmeans(V @ V.T, np.ones(15), 7, 10, rng):
        assert len(set(codes.tolist())) == 3
        assert (codes.reshape(3, 5) == codes[::5, None]).all()


def test_seeds_are_drawn_by_weight_and_distance():
    """Of two vectors far apart and many light ones at the first, both are always found."""
    V = np.array([[0.0]] * 40 + [[100.0]])
    w = np.append(np.ones(40), 1e-6)
    for codes in gram_kmeans(V @ V.T, w, 2, 20, np.random.default_rng(0)):
        np.testing.assert_array_equal(codes == codes[-1], np.arange(41) == 40)
