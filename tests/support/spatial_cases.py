"""Random partitions for the tests of spatial measures."""

import numpy as np
from scipy.spatial.distance import cdist

from liftcluster import Partition
from support.generators import soft_memberships


def labelling(rng, n, k, noise=False):
    """n labels that use all of 0 … k-1, some of them -1 if noise is true."""
    labels = rng.integers(k, size=n)
    if noise:
        labels[rng.random(n) < 0.2] = -1
    labels[:k] = np.arange(k)
    return rng.permutation(labels)


def random_partition(rng, n, kind):
    weights = rng.uniform(0.1, 3, n) if "weighted" in kind else None
    k = int(rng.integers(1, min(4, n) + 1))
    if "soft" in kind:
        R = soft_memberships(rng, n, k)
        R[rng.random(n) < 0.2] = 0
        R[0] = 1 / k
        return Partition.from_memberships(R, weights)
    return Partition.from_labels(labelling(rng, n, k, noise="noisy" in kind), weights)


def weighted_rows(p):
    return p.memberships.toarray() * p.weights[:, None]


def two_samples(seed, d, kind, most=10):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(4, most, size=2)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.5
    return X, random_partition(rng, n, kind), Y, random_partition(rng, m, kind)


def hard_pair(seed, n=40, d=2, k=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, *(Partition.from_labels(labelling(rng, n, k)) for _ in range(2))


def similarities(X):
    """exp(−t²) of every two points, with every axis scaled to [0, 1]."""
    U = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return np.exp(-cdist(U, U, "sqeuclidean"))
