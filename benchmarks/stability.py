"""How often criteria find the number of classes: `python -m benchmarks stability`.

k-means and ``liftcluster.NeighbourCut``, with 2 to 15 clusters, on the labelled data sets of a
folder (LIFTCLUSTER_DATA) and on generated ones, those of `python -m benchmarks consensus` with at
most 15 classes. The number of clusters is chosen by the stability above structureless data
(``liftcluster.choose``), the same without the null, the adjusted Rand index to bootstrap
replicates, the silhouette, the gap statistic (Tibshirani, Walther and Hastie 2001), and the
eigengap of the neighbour graph. None sees a class.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster.combination.methods.neighbours import PlaceGraph
from liftcluster.combination.methods.places import tie
from liftcluster.combination.methods.spectral import (
    relative_eigengaps,
    spectrum_of_graph,
    unit_rows,
)
from liftcluster.comparison.resampling.choosing import Choice
from liftcluster.comparison.resampling.structureless import Shape

from .consensus.sets import HALVES, DataSet, all_sets

NUMBERS = range(2, 16)
_STARTS, _REPLICATES, _REFERENCES = 3, 20, 10
_MEMORY = 200  # neighbour graphs of data sets and resamples


class SharedCut(ClusterMixin, BaseEstimator):
    """As ``liftcluster.NeighbourCut``, with eigenvectors that all numbers of clusters share."""

    def __init__(self, n_clusters: int = 2, random_state: int | None = None) -> None:
        self.n_clusters, self.random_state = n_clusters, random_state

    def fit(self, X: np.ndarray) -> SharedCut:
        place, Y = _eigenvectors(X.shape, X.astype(np.float64).tobytes())
        Y = unit_rows(Y[:, : self.n_clusters])
        model = KMeans(self.n_clusters, n_init=_STARTS, random_state=self.random_state)
        self.labels_ = model.fit(Y).labels_[place]
        return self


@lru_cache(_MEMORY)
def _eigenvectors(shape: tuple[int, int], data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The place of each point, and the first eigenvectors of the graph of places."""
    X, rng = np.frombuffer(data).reshape(shape), np.random.default_rng(0)
    graph = PlaceGraph.of(X, np.ones(len(X)), rng)
    most = min(NUMBERS[-1], graph.p - 1)
    return graph.near[:, 0], spectrum_of_graph(graph.edges, most, rng, tie(graph.p)).vectors


CLUSTERERS = {"k-means": KMeans(n_init=_STARTS), "NeighbourCut": SharedCut()}
CRITERIA = (
    "stability above structureless data",
    "stability without a null",
    "bootstrap ARI",
    "silhouette",
    "gap statistic",
    "eigengap",
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("LIFTCLUSTER_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--most", type=int, default=500, help="maximum number of points per set")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    parser.add_argument("--clusterer", choices=CLUSTERERS, help="one of them only")
    options = parser.parse_args(arguments)
    sets = [data for data in all_sets(options.data, options.most) if data.k <= NUMBERS[-1]]
    for clusterer in [options.clusterer] if options.clusterer else CLUSTERERS:
        _report(sets, clusterer, options.jobs)


def _report(sets: list[DataSet], clusterer: str, jobs: int) -> None:
    """Print what each criterion finds for each data set, then the tables."""
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator")
    work = pool(joblib.delayed(measure)(data, CLUSTERERS[clusterer]) for data in sets)
    found = []
    for data, outcome in zip(sets, work, strict=True):
        found.append(outcome)
        chosen = ", ".join(f"{name} {k}" for name, (k, _) in outcome.items())
        print(f"{clusterer}, {data.name}, {data.k} classes: {chosen}", flush=True)
    for title, part in _parts(sets):
        rows = [(data, outcome) for data, outcome in zip(sets, found, strict=True) if part(data)]
        print(f"\n{clusterer}, {title}, {len(rows)} data sets\n\n{table(rows)}", flush=True)


def measure(data: DataSet, clusterer: Any) -> dict[str, tuple[int, float]]:
    """For each criterion its number of clusters, and the index of those clusters to the classes."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, numbers = data.X, [k for k in NUMBERS if k <= len(data.X) // 3]
        labels = {k: _cluster(clusterer, k, X, 0) for k in numbers}
        choice = lc.choose(X, clusterer, {"n_clusters": numbers}, rng=0)
        plain = Choice(
            choice.settings, tuple(replace(s, null=np.empty(0)) for s in choice.stabilities)
        )
        chosen = {
            CRITERIA[0]: choice.best["n_clusters"],
            CRITERIA[1]: plain.best["n_clusters"],
            CRITERIA[2]: max(numbers, key=lambda k: _bootstrap(X, clusterer, labels[k], k)),
            CRITERIA[3]: max(numbers, key=lambda k: silhouette_score(X, labels[k])),
            CRITERIA[4]: _gap(X, clusterer, labels),
            CRITERIA[5]: _eigengap(X, numbers),
        }
        return {
            name: (k, float(adjusted_rand_score(data.classes, labels[k])))
            for name, k in chosen.items()
        }


def _cluster(clusterer: Any, k: int, X: np.ndarray, seed: int) -> np.ndarray:
    return clone(clusterer).set_params(n_clusters=k, random_state=seed).fit_predict(X)


def _bootstrap(X: np.ndarray, clusterer: Any, labels: np.ndarray, k: int) -> float:
    """Mean adjusted Rand index of clusterings of bootstrap samples, on their points."""
    rng, found = np.random.default_rng(0), []
    for seed in range(_REPLICATES):
        rows = rng.integers(0, len(X), len(X))
        _, first = np.unique(rows, return_index=True)
        again = _cluster(clusterer, k, X[rows], seed)
        found.append(adjusted_rand_score(labels[rows[first]], again[first]))
    return float(np.mean(found))


def _gap(X: np.ndarray, clusterer: Any, labels: dict[int, np.ndarray]) -> int:
    """The smallest k with gap(k) ≥ gap(k + 1) − s(k + 1), uniform in the box of the axes."""
    rng, shape = np.random.default_rng(0), Shape.of(X)
    references = [shape.uniform(len(X), rng) for _ in range(_REFERENCES)]
    gaps, errors = [], []
    for k, codes in labels.items():
        logs = np.log([_within(Z, _cluster(clusterer, k, Z, 0)) for Z in references])
        gaps.append(logs.mean() - np.log(_within(X, codes)))
        errors.append(logs.std() * np.sqrt(1 + 1 / _REFERENCES))
    numbers = list(labels)
    for i in range(len(numbers) - 1):
        if gaps[i] >= gaps[i + 1] - errors[i + 1]:
            return numbers[i]
    return numbers[-1]


def _within(X: np.ndarray, labels: np.ndarray) -> float:
    """Sum of the squared distances to the mean of the own cluster."""
    parts = (X[labels == label] for label in np.unique(labels))
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def _eigengap(X: np.ndarray, numbers: list[int]) -> int:
    """The largest relative eigengap of the graph of nearest neighbours."""
    rng = np.random.default_rng(0)
    graph = PlaceGraph.of(X, np.ones(len(X)), rng)
    values = spectrum_of_graph(graph.edges, min(numbers[-1] + 1, graph.p - 1), rng).values
    gaps = relative_eigengaps(values)
    return max((k for k in numbers if k <= len(gaps)), key=lambda k: gaps[k - 1])


def table(rows: list[tuple[DataSet, dict[str, tuple[int, float]]]]) -> str:
    """How often each criterion is right, and within one; mean index with its number."""
    lines = ["| criterion | right | within one | ARI |", "|---|--:|--:|--:|"]
    for name in CRITERIA:
        errors = np.array([abs(outcome[name][0] - data.k) for data, outcome in rows])
        index = np.mean([outcome[name][1] for _, outcome in rows])
        lines.append(
            f"| {name} | {(errors == 0).mean():.0%} | {(errors <= 1).mean():.0%} | {index:.3f} |"
        )
    return "\n".join(lines)


def _parts(sets: list[DataSet]) -> list:
    """Titles and conditions of the parts that are reported."""
    parts = [(f"{half} half", lambda data, half=half: data.half == half) for half in HALVES]
    parts.append(("files", lambda data: data.name.startswith("real_")))
    return [*parts, ("all", lambda data: True)]


if __name__ == "__main__":
    main()
