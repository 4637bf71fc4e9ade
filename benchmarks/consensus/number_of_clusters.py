"""How well the number of clusters is estimated from the inputs of a consensus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.choice_of_k import CRITERIA, choose_k
from liftcluster.combination.methods.places import Places
from liftcluster.partitions.partition import as_partitions
from liftcluster.partitions.stack import Stack

from ..labelled import labelled_sets

__all__ = ["estimate_all"]

_KINDS = ("paper", "kmeans")
_METHOD = "auto"  # of the consensus into the number of clusters that was chosen
Outcome = tuple[bool, bool, int, float]


def estimate_all(folder: Path, most: int, seeds: int) -> Iterator[str]:
    """Markdown table: accuracy of each criterion, and the index of a consensus with its choice.

    The inputs are the paper's five, 20 k-means of at least k clusters, and 20 k-means of random
    numbers of clusters that do not depend on k (blind).
    """
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for name, X, classes in labelled_sets(folder, most):
        for seed in range(seeds):
            for kind, inputs in _inputs(X, len(set(classes)), seed).items():
                for criterion, found in _estimates(X, classes, inputs, seed):
                    outcomes.setdefault((kind, criterion), []).append(found)
        print(name, flush=True)
    yield "| inputs | criterion | correct | within one | mean error | ARI |"
    yield "|---|---|---|---|---|---|"
    for (kind, criterion), found in outcomes.items():
        right, near, error, ari = np.mean(found, axis=0)
        yield f"| {kind} | {criterion} | {right:.0%} | {near:.0%} | {error:.1f} | {ari:.3f} |"


def _inputs(X: np.ndarray, k: int, seed: int) -> dict[str, list]:
    kinds = {kind: lc.base_partitions(X, k, kind, rng=seed) for kind in _KINDS}
    return kinds | {"blind": blind_inputs(X, seed)}


def blind_inputs(X: np.ndarray, seed: int) -> list[np.ndarray]:
    """20 k-means partitions with random numbers of clusters, from 2 to √n, at most 50."""
    rng = np.random.default_rng(seed)
    top = min(int(np.sqrt(len(X))), 50)
    return [
        KMeans(int(rng.integers(2, top + 1)), n_init=1, random_state=int(rng.integers(2**31)))
        .fit(X)
        .labels_
        for _ in range(20)
    ]


def _estimates(
    X: np.ndarray, classes: np.ndarray, inputs: list, seed: int
) -> Iterator[tuple[str, Outcome]]:
    """For each criterion: is k right, is it within one, its error, and the index with it."""
    stack = Stack(as_partitions(inputs))
    rep = lc.represent(X, stack.partitions, bandwidth="median/4")
    places = Places.of(stack, X, rep, 1, rng=np.random.default_rng(seed))
    for criterion in CRITERIA:
        k = choose_k(rep, places, criterion=criterion).k
        labels = lc.consensus(inputs, k, X, method=_METHOD, rng=seed).labels
        error = abs(k - len(set(classes)))
        ari = float(adjusted_rand_score(classes, labels))
        yield criterion, (error == 0, error <= 1, error, ari)
