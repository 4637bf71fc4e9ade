"""Six kinds of inputs for a consensus: four that are made from the points, two from the classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

import liftcluster as lc

__all__ = ["ANNOTATORS", "ENSEMBLES", "FROM_POINTS", "make_inputs"]

Labels = list[np.ndarray]
Rng = np.random.Generator


def make_inputs(kind: str, X: np.ndarray, classes: np.ndarray, seed: int) -> Labels:
    """Label arrays of one kind; -1 is noise. Only the annotators are given the classes."""
    codes = np.unique(classes, return_inverse=True)[1]
    k = int(codes.max()) + 1
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind in FROM_POINTS:
            return FROM_POINTS[kind](X, k, rng)
        return ANNOTATORS[kind](X, codes, k, rng)


def _paper(X: np.ndarray, k: int, rng: Rng) -> Labels:
    """5 inputs with k clusters: k-means (best of 10 starts), single, average, complete and Ward
    linkage, as in section 6 of the paper.
    """
    return [p.labels for p in lc.base_partitions(X, k, "paper", rng)]


def _kmeans(X: np.ndarray, k: int, rng: Rng) -> Labels:
    """20 runs of k-means with one start and k to √n clusters (at most 50, at least k)."""
    return [p.labels for p in lc.base_partitions(X, k, "kmeans", rng)]


def _weak(X: np.ndarray, k: int, rng: Rng) -> Labels:
    """12 inputs: 8 linkages (single, average, complete or Ward) of a random 80 % of the points into
    k to 2 k + 2 clusters, the other points labelled as their nearest neighbour; 4 runs of DBSCAN
    with at least 5 points and the 50 to 95 % quantile of the distances to the 8th neighbour as
    radius, whose noise stays noise (another linkage where it finds fewer than two clusters).
    """
    inputs = []
    near = NearestNeighbors(n_neighbors=min(8, len(X) - 1)).fit(X).kneighbors()[0][:, -1]
    for number in range(12):
        if number % 3 == 2:
            radius = np.quantile(near, rng.uniform(0.5, 0.95))
            labels = DBSCAN(eps=radius, min_samples=5).fit(X).labels_
            if labels.max() < 1:  # all in one cluster, or all noise
                labels = _random_linkage(X, k, rng)
        else:
            labels = _random_linkage(X, k, rng)
        inputs.append(labels)
    return inputs


def _random_linkage(X: np.ndarray, k: int, rng: Rng) -> np.ndarray:
    kind = rng.choice(["single", "average", "complete", "ward"])
    rows = rng.permutation(len(X))[: max(int(0.8 * len(X)), k + 1)]
    count = int(rng.integers(k, 2 * k + 3))
    found = fcluster(linkage(X[rows], kind), count, "maxclust")
    nearest = NearestNeighbors(n_neighbors=1).fit(X[rows]).kneighbors(X)[1][:, 0]
    return found[nearest]


def _subspaces(X: np.ndarray, k: int, rng: Rng) -> Labels:
    """15 runs of k-means with one start and k to 2 k clusters, each on a random half of the columns
    (at least 2), or on a random projection to one dimension less where there are at most 3.
    """
    d = X.shape[1]
    inputs = []
    for _ in range(15):
        if d > 3:
            Z = X[:, rng.permutation(d)[: max(d // 2, 2)]]
        else:
            Z = X @ rng.standard_normal((d, max(d - 1, 1)))
        count = min(int(rng.integers(k, 2 * k + 1)), len(X))
        inputs.append(KMeans(count, n_init=1, random_state=int(rng.integers(2**31))).fit(Z).labels_)
    return inputs


def _annotators(X: np.ndarray, codes: np.ndarray, k: int, rng: Rng) -> Labels:
    """6 annotators: the classes, with random classes for 20 to 70 % of the points (up to 10
    percentage points more or less for each annotator); with probability one half, an annotator
    joins two of at least three classes, and with probability one half splits one by a random
    hyperplane.
    """
    inputs = []
    share = rng.uniform(0.2, 0.7)
    for _ in range(6):
        labels = codes.copy()
        wrong = rng.random(len(X)) < np.clip(share + rng.uniform(-0.1, 0.1), 0, 1)
        labels[wrong] = rng.integers(k, size=int(wrong.sum()))
        if k > 2 and rng.random() < 0.5:
            a, b = rng.choice(k, 2, replace=False)
            labels[labels == a] = b
        if rng.random() < 0.5:
            target = labels == rng.integers(k)
            side = X @ rng.standard_normal(X.shape[1])
            if target.any():
                labels[target & (side > np.median(side[target]))] = k
        inputs.append(labels)
    return inputs


def _balls(X: np.ndarray, codes: np.ndarray, k: int, rng: Rng) -> Labels:
    """6 annotators: the classes, but each annotator gives one random class to all points of each
    of 3 to 10 balls (as many for all six) that hold 4 to 15 % of the points.
    """
    inputs = []
    n, count = len(X), int(rng.integers(3, 11))
    for _ in range(6):
        labels = codes.copy()
        for centre in rng.choice(n, count, replace=False):
            distance = pairwise_distances(X[[centre]], X)[0]
            inside = np.argsort(distance)[: int(rng.uniform(0.04, 0.15) * n)]
            labels[inside] = rng.integers(k)
        inputs.append(labels)
    return inputs


FROM_POINTS: dict[str, Callable[[np.ndarray, int, Rng], Labels]] = {
    "paper": _paper,
    "kmeans": _kmeans,
    "weak": _weak,
    "subspaces": _subspaces,
}
ANNOTATORS: dict[str, Callable[[np.ndarray, np.ndarray, int, Rng], Labels]] = {
    "annotators": _annotators,
    "balls": _balls,
}
ENSEMBLES: dict[str, Callable[..., Labels]] = FROM_POINTS | ANNOTATORS
