"""Base partitions: reproducible, in agreement with scikit-learn, and invariant to scaling."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from support.consensus_cases import separated_blobs
from support.generators import blobs


def test_base_partitions_are_reproducible_and_agree_with_scikit_learn():
    X, _ = separated_blobs(np.random.default_rng(0), 100, 2)
    paper = lc.base_partitions(X, 4, rng=0)
    assert [p.k for p in paper] == [4] * 5
    for a, b in zip(paper, lc.base_partitions(X, 4, rng=0), strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
    for how, p in zip(("single", "average", "complete", "ward"), paper[1:], strict=True):
        theirs = AgglomerativeClustering(4, linkage=how).fit(X).labels_
        assert adjusted_rand_score(theirs, p.labels) == 1
    kmeans = lc.base_partitions(X, 4, "kmeans", rng=0)
    assert len(kmeans) == 20
    assert {p.k for p in kmeans} <= set(range(4, 11))
    assert len({p.k for p in kmeans}) > 3


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e200, 1e300])
def test_base_partitions_are_invariant_to_scaling(scale):
    X, _ = blobs(np.random.default_rng(0), 30, 2, k=3)
    for kind in ("paper", "kmeans"):
        plain, scaled = (lc.base_partitions(Z, 3, kind, rng=0, n_partitions=3) for Z in (X, X * scale))  # fmt: skip
        for p, q in zip(plain, scaled, strict=True):
            assert lc.distance(p, q, measure="rand") == 0


def test_base_partitions_warn_about_too_few_distinct_points():
    with pytest.warns(UserWarning, match="some partitions have only 1"):
        lc.base_partitions(np.ones((6, 2)), 3, rng=0)
