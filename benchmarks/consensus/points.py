"""Clustering without given partitions, by LiftedConsensus and by methods of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.cluster import HDBSCAN, Birch
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

import liftcluster as lc

from .references import Score, kmeans, knn_spectral, score, ward
from .results import Task
from .sets import DataSet

__all__ = ["CLUSTERERS", "NO_PARTITIONS"]

_SMALLEST = (5, 10, 15, 25, 50)  # values of min_cluster_size


def measure_set(data: DataSet, rows: list[str], seeds: int) -> dict[str, dict[str, list[Score]]]:
    """Scores of each row on the points alone, one for each seed."""
    return {
        row: {
            "points": [
                score(data.classes, CLUSTERERS[row](data.X, data.k, seed)) for seed in range(seeds)
            ]
        }
        for row in rows
    }


def lifted_consensus(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """With all defaults, which make their own partitions."""
    return lc.LiftedConsensus(k, random_state=seed).fit(X).labels_


def kmeans_10(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    return kmeans(X, k, seed, n_init=10)


def gaussian_mixture(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Full covariances, the best of 3 starts, in double precision."""
    model = GaussianMixture(k, covariance_type="full", n_init=3, random_state=seed)
    return model.fit_predict(np.asarray(X, dtype=float))


def hdbscan(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """HDBSCAN, which finds the number of clusters itself.

    Of the smallest cluster sizes 5, 10, 15, 25 and 50, the one whose number of clusters is nearest
    to k (the first of several). Noise gets the label of the nearest point in a cluster.
    """
    found = [
        HDBSCAN(min_cluster_size=size, copy=True).fit(X).labels_
        for size in _SMALLEST
        if size <= len(X)
    ]
    labels = min(found, key=lambda labels: abs(labels.max() + 1 - k))
    return fill_noise(X, labels)


def fill_noise(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels in which noise (-1) has the label of the nearest other point, if there is one."""
    clear = np.flatnonzero(labels >= 0)
    if len(clear) == 0:
        return np.zeros_like(labels)
    nearest = NearestNeighbors(n_neighbors=1).fit(X[clear]).kneighbors(X)[1][:, 0]
    return np.where(labels >= 0, labels, labels[clear[nearest]])


def birch(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    return Birch(n_clusters=k).fit(X).labels_


CLUSTERERS: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "LiftedConsensus": lifted_consensus,
    "k-means, 10 starts": kmeans_10,
    "Ward": ward,
    "kNN spectral": knn_spectral,
    "Gaussian mixture": gaussian_mixture,
    "HDBSCAN": hdbscan,
    "Birch": birch,
}
NO_PARTITIONS = Task("no partitions", measure_set, ("points",))
