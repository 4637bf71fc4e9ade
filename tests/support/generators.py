"""Problems for the tests: random ones by hypothesis, real ones from scikit-learn."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine

from liftcluster import Cauchy, Gaussian, Laplace, Matern, Partition


def blobs(rng, n, d, k=4):
    """n points around k centres, and the index of each point's centre."""
    centres = 3 * rng.standard_normal((k, d))
    labels = rng.integers(k, size=n)
    labels[:k] = np.arange(k)
    return centres[labels] + rng.standard_normal((n, d)), labels


def soft_memberships(rng, n, k):
    return rng.dirichlet(np.full(k, 0.5), size=n)


def real_problem(name):
    """Points that come with scikit-learn, and two clusterings of them."""
    X = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    kmeans = KMeans(3, n_init=1, random_state=0).fit(X).labels_
    return X, [kmeans, AgglomerativeClustering(4).fit(X).labels_]


@st.composite
def points_and_partitions(draw, max_points=40):
    """(X, partitions): hard, soft and noisy partitions of the same weighted points."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_points))
    d = draw(st.integers(1, 6))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from([0.1, 1.0, 30.0]))
    weights = rng.uniform(0.1, 3, n) if draw(st.booleans()) else None
    partitions = []
    for kind in draw(st.lists(st.sampled_from(["hard", "soft"]), min_size=1, max_size=4)):
        k = draw(st.integers(1, min(5, n)))
        if kind == "hard":
            labels = rng.integers(k, size=n)
            partitions.append(Partition.from_labels(labels, weights))
        else:
            partitions.append(Partition.from_memberships(soft_memberships(rng, n, k), weights))
    return X, partitions


KERNELS = [
    Gaussian(1.5),
    Laplace(3.0),
    Cauchy(2.0),
    Matern(0.5, 2.0),
    Matern(1.5, 2.0),
    Matern(2.2, 2.0),
    Gaussian([0.7, 3.0], weights=[1, 3]),
    Matern(2.5, [1.0, 4.0]),
]

SAMPLINGS = ["iid", "orthogonal", "quasi"]
