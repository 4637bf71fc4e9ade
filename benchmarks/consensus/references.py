"""Clusterings to compare a consensus with: of the points alone, and the inputs themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from liftcluster.combination.methods.places import cut_points

__all__ = ["INPUTS", "POINTS_ONLY", "score", "score_inputs"]

Score = list[float]  # adjusted Rand index and normalised mutual information
INPUTS = ("best input", "mean input")


def score(classes: np.ndarray, labels: np.ndarray) -> Score:
    """Adjusted Rand index and NMI to the classes, to six digits; noise counts as one cluster."""
    found = adjusted_rand_score(classes, labels), normalized_mutual_info_score(classes, labels)
    return [round(float(value), 6) for value in found]


def score_inputs(classes: np.ndarray, inputs: list[np.ndarray]) -> dict[str, Score]:
    """Scores of the best input and means over all inputs.

    The best input is that of the largest adjusted Rand index to the classes, so that nobody can
    choose it without them: an oracle, not a method.
    """
    scores = np.array([score(classes, labels) for labels in inputs])
    best = scores[scores[:, 0].argmax()]
    return {"best input": best.tolist(), "mean input": scores.mean(axis=0).round(6).tolist()}


def kmeans(X: np.ndarray, k: int, seed: int, n_init: int = 50) -> np.ndarray:
    return KMeans(k, n_init=n_init, random_state=seed).fit(X).labels_


def ward(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    return AgglomerativeClustering(k).fit(X).labels_


def knn_spectral(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Spectral clustering of the graph of 10 nearest neighbours."""
    model = SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=10, random_state=seed, assign_labels="kmeans"
    )
    return model.fit(X).labels_


def graph_without_inputs(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """The cut of the graph of liftcluster that uses no input."""
    return np.asarray(cut_points(X, k, np.random.default_rng(seed)))


POINTS_ONLY: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "k-means, 50 starts": kmeans,
    "Ward": ward,
    "kNN spectral": knn_spectral,
    "graph without inputs": graph_without_inputs,
}
