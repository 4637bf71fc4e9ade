"""Average linkage: compiled code, NumPy and SciPy agree."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from liftcluster.combination.methods import linkage
from liftcluster.combination.methods.agreements import CountedSimilarities
from liftcluster.combination.methods.linkage import average_linkage, average_linkage_above

compiled = linkage._compiled
needs_compiled = pytest.mark.skipif(compiled is None, reason="the extension was not built")
WAYS = ["numpy"] if compiled is None else ["compiled", "numpy"]
# Blocks have 1,024 clusters, of which 32 are compared at a time.
SIZES = [2, 3, 4, 31, 32, 33, 200, 1023, 1024, 1025, 1100]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(linkage, "_compiled", None)
    return request.param


def counted(t, m, k, missing, seed):
    """Similarities of random tuples, many of them equal, and their weights."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(k, size=(8, m))
    codes = centres[rng.integers(8, size=t)]
    noise = rng.random((t, m)) < 0.4
    codes[noise] = rng.integers(k, size=int(noise.sum()))
    codes[rng.random((t, m)) < missing] = -1
    both, agree = np.indices((m + 1, m + 1))
    return CountedSimilarities(codes, agree / np.maximum(both, 1), "ask for less"), rng.integers(
        1, 9, size=t
    )


def by_numpy(S, weights, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(linkage, "_compiled", None)
        return linkage._average_merges(S, weights)


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@needs_compiled
@pytest.mark.parametrize("missing", [0, 0.1])
@pytest.mark.parametrize("t", SIZES)
def test_merges_of_tuples_are_those_of_numpy_also_among_ties(t, missing, monkeypatch):
    S, weights = counted(t, 7, 5, missing, t)
    expected = by_numpy(S, weights, monkeypatch)
    assert_same(linkage._average_merges(S, weights), expected)
    assert_same(linkage._average_merges(S.matrix(), weights), expected)


@needs_compiled
@pytest.mark.parametrize("seed", range(5))
def test_merges_of_any_similarities_are_those_of_numpy(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((300, 3))
    S, weights = V @ V.T, rng.random(300) + 0.01
    expected = by_numpy(S.copy(), weights, monkeypatch)
    assert_same(linkage._average_merges(S.copy(), weights), expected)
    assert_same(linkage._average_merges(np.asfortranarray(S), weights), expected)


@pytest.mark.parametrize("scale", [1.0, 1e6])  # the second is not for compiled code
def test_clusters_are_those_of_scipy_with_points_repeated_by_their_weights(way, scale):
    rng = np.random.default_rng(1)
    X, counts = rng.standard_normal((60, 4)), rng.integers(1, 5, size=60)
    D = scale * np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    owner = np.repeat(np.arange(60), counts)
    tree = hierarchy.linkage(squareform(D[np.ix_(owner, owner)], checks=False), "average")
    for k in (1, 2, 5, 20, 59):
        expected = hierarchy.fcluster(tree, k, "maxclust")
        found = average_linkage(-D, counts, k)
        assert adjusted_rand_score(expected, found[owner]) == 1
    expected = hierarchy.fcluster(tree, 1.5 * scale, "distance")
    found = average_linkage_above(-D, counts, -1.5 * scale)
    assert adjusted_rand_score(expected, found[owner]) == 1


def test_counted_similarities_are_those_of_a_loop():
    S, _ = counted(40, 6, 3, 0.2, 0)
    expected = np.zeros((40, 40))
    for x, a in enumerate(S.codes):
        for y, b in enumerate(S.codes):
            known = [(c, d) for c, d in zip(a, b, strict=True) if c >= 0 and d >= 0]
            expected[x, y] = sum(c == d for c, d in known) / max(len(known), 1)
    np.testing.assert_array_equal(S.matrix(), expected)


def test_similarities_that_rounding_made_asymmetric_are_linked(way):
    n = 40
    S = np.full((n, n), 0.5)
    S[np.arange(n), (np.arange(n) + 1) % n] += 1e-12  # nearest neighbours form a cycle
    for k in (1, 2, 7):
        assert len(np.unique(average_linkage(S.copy(), np.ones(n), k))) == k


def test_one_point_is_one_cluster(way):
    assert average_linkage(np.ones((1, 1)), np.ones(1), 1).tolist() == [0]
    assert average_linkage(counted(1, 3, 2, 0, 0)[0], np.ones(1), 1).tolist() == [0]


@needs_compiled
def test_buffers_that_do_not_fit_are_refused():
    pairs, heights, weights = np.empty((2, 2), np.int64), np.empty(2), np.ones(3)
    labels, values = np.ones((4, 3), np.uint16), np.ones((5, 5))
    with pytest.raises(ValueError, match="similarities of 64 bytes do not fit"):
        compiled.link_matrix(3, np.ones(8), weights, pairs, heights)
    with pytest.raises(ValueError, match="weights of 16 bytes do not fit"):
        compiled.link_labels(3, 4, labels, values, weights[:2], pairs, heights)
    with pytest.raises(ValueError, match="labels of 18 bytes do not fit"):
        compiled.link_labels(3, 4, labels[1:], values, weights, pairs, heights)
    with pytest.raises(ValueError, match="similarities of 160 bytes do not fit"):
        compiled.link_labels(3, 4, labels, values[1:], weights, pairs, heights)
    with pytest.raises(ValueError, match="1 points"):
        compiled.link_matrix(1, np.ones(1), np.ones(1), pairs[:0], heights[:0])


def test_compiled_code_can_be_switched_off():
    command = "from liftcluster.combination.methods import linkage; print(linkage._compiled)"
    environment = {**os.environ, "LIFTCLUSTER_NATIVE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "None"


def test_memory_is_checked_for_the_pairs_that_are_held(way, monkeypatch):
    """All of them without compiled code, a third with it."""
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", "0.25")
    S, weights = counted(6000, 3, 5, 0, 0)
    if way == "compiled":
        assert average_linkage(S, weights, 4).max() == 3
        S, weights = counted(11_000, 3, 5, 0, 0)
    with pytest.raises(MemoryError, match=r"all pairs of .* tuples of labels.*ask for less"):
        average_linkage(S, weights, 4)
