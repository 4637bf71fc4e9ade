"""How well the number of clusters is estimated from the inputs of a consensus."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import joblib
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster.combination.choice_of_k import CRITERIA, Curve, choose_k
from liftcluster.combination.methods.places import Places
from liftcluster.combination.methods.spectral import spectrum_of_graph, unit_kmeans, unit_rows
from liftcluster.comparison.resampling.outcomes import assess
from liftcluster.comparison.resampling.replicates import Replicate
from liftcluster.partitions.partition import as_partitions
from liftcluster.partitions.stack import Stack

from .sets import DataSet

__all__ = ["ROWS", "estimate_all"]

ROWS = (*CRITERIA, "stability", "eigengap × stability")
_KINDS = ("paper", "kmeans")
_METHOD = "auto"  # of the consensus into the number of clusters that was chosen
_SPLITS = 3  # of the points into two halves
_SMALLEST = 4  # points of a cluster in a half, on average: more clusters are not tried there
Outcome = tuple[bool, bool, int, float]


def estimate_all(sets: list[DataSet], seeds: int, jobs: int) -> Iterator[str]:
    """Markdown tables: accuracy of each criterion, and the index of a consensus with its choice.

    The inputs are the paper's five, 20 k-means of at least k clusters, and 20 k-means of random
    numbers of clusters that do not depend on k (blind).
    """
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator")
    found = []
    for data, rows in zip(
        sets, pool(joblib.delayed(_measure)(data, seeds) for data in sets), strict=True
    ):
        found += [(data.half, *row) for row in rows]
        yield data.name
    for half in dict.fromkeys(half for half, *_ in found):
        outcomes: dict[tuple[str, str], list[Outcome]] = {}
        for which, kind, criterion, outcome in found:
            if which == half:
                outcomes.setdefault((kind, criterion), []).append(outcome)
        yield f"\n{half} half\n\n| inputs | criterion | correct | within one | mean error | ARI |"
        yield "|---|---|---|---|---|---|"
        for (kind, criterion), each in outcomes.items():
            right, near, error, ari = np.mean(each, axis=0)
            yield f"| {kind} | {criterion} | {right:.0%} | {near:.0%} | {error:.1f} | {ari:.3f} |"


def _measure(data: DataSet, seeds: int) -> list[tuple[str, str, Outcome]]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            (kind, criterion, outcome)
            for seed in range(seeds)
            for kind, inputs in _inputs(data.X, data.k, seed).items()
            for criterion, outcome in _estimates(data, inputs, seed)
        ]


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


def _estimates(data: DataSet, inputs: list, seed: int) -> Iterator[tuple[str, Outcome]]:
    """For each criterion: is k right, is it within one, its error, and the index with it."""
    X, labels = data.X, [np.asarray(p.labels) for p in as_partitions(inputs).values()]
    stack = Stack(as_partitions(inputs))
    rep = lc.represent(X, stack.partitions, bandwidth="median/4")
    places = Places.of(stack, X, 1, rng=np.random.default_rng(seed))
    curves = {name: choose_k(rep, places, criterion=name) for name in CRITERIA}
    chosen = {name: curve.k for name, curve in curves.items()}
    chosen |= _by_stability(X, labels, curves["eigengap"], rep.lift, seed)
    index = {}
    for k in set(chosen.values()):
        found = lc.consensus(inputs, k, X, method=_METHOD, rng=seed).labels
        index[k] = float(adjusted_rand_score(data.classes, found))
    for criterion in ROWS:
        k = chosen[criterion]
        error = abs(k - data.k)
        yield criterion, (error == 0, error <= 1, error, index[k])


def _by_stability(
    X: np.ndarray, inputs: list[np.ndarray], eigengap: Curve, lift: lc.Lift, seed: int
) -> dict[str, int]:
    """Numbers of clusters that halves of the points find again, alone and with the eigengap.

    The same inputs, restricted to half of the points, are combined by ``lift_places``; the
    stability is 1 − LiftEMD to the consensus of all points, in units of chance. There is no null:
    nobody knows which inputs structureless data would have got.
    """
    n, rng = len(X), np.random.default_rng(seed)
    numbers = eigengap.candidates[eigengap.candidates <= max(2, n // (2 * _SMALLEST))]
    orders = [rng.permutation(n) for _ in range(_SPLITS)]
    halves = [np.sort(part) for order in orders for part in (order[: n // 2], order[n // 2 :])]
    whole = _Cut(X, inputs, int(numbers[-1]), seed)
    parts = [_Cut(X[rows], [a[rows] for a in inputs], int(numbers[-1]), seed) for rows in halves]
    values = []
    for k in numbers:
        codes, found = whole.into(int(k)), []
        for rows, part in zip(halves, parts, strict=True):
            counts, other = np.zeros(n), np.full(n, -1)
            counts[rows], other[rows] = 1.0, part.into(int(k))
            found.append(Replicate(counts, other, counts > 0, int(k)))
        values.append(assess(lift, X, codes, int(k), found).whole.mean())
    stability = np.maximum(values, 0)
    both = np.maximum(eigengap.values[: len(numbers)], 0) * stability
    return {
        "stability": int(numbers[stability.argmax()]),
        "eigengap × stability": int(numbers[both.argmax()]),
    }


class _Cut:
    """The consensus by ``lift_places``, with eigenvectors that all numbers of clusters share."""

    def __init__(self, X: np.ndarray, inputs: list[np.ndarray], most: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        stack = Stack(as_partitions(inputs))
        places = Places.of(stack, X, most, rng=self.rng)
        self.place = places.graph.near[:, 0]
        self.vectors = spectrum_of_graph(
            places.weighted_edges, min(most, places.graph.p), self.rng, places.ties
        ).vectors

    def into(self, k: int) -> np.ndarray:
        Y = unit_rows(self.vectors[:, :k])
        codes = unit_kmeans(Y, np.ones(len(Y)), min(k, len(Y)), self.rng)
        return codes[self.place]
