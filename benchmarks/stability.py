"""How often criteria find the number of classes: `python -m benchmarks stability`.

k-means with 2 to 15 clusters on the labelled data sets of a folder (LIFTCLUSTER_DATA) and on
generated ones, those of `python -m benchmarks consensus` with at most 15 classes. The number of
clusters is chosen by the stability above structureless data (``liftcluster.choose``), the same
without the null, the adjusted Rand index to bootstrap replicates, the silhouette, the gap statistic
(Tibshirani, Walther and Hastie 2001), and the eigengap of the neighbour graph. None sees a class.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import joblib
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster.combination.methods.neighbours import PlaceGraph
from liftcluster.combination.methods.spectral import relative_eigengaps, spectrum_of_graph
from liftcluster.comparison.resampling.structureless import Shape

from .consensus.sets import HALVES, DataSet, all_sets

NUMBERS = range(2, 16)
CRITERIA = (
    "stability above structureless data",
    "stability without a null",
    "bootstrap ARI",
    "silhouette",
    "gap statistic",
    "eigengap",
)
_STARTS, _REPLICATES, _REFERENCES = 3, 20, 10


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("LIFTCLUSTER_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--most", type=int, default=500, help="maximum number of points per set")
    parser.add_argument("--jobs", type=int, default=joblib.cpu_count())
    options = parser.parse_args(arguments)
    sets = [data for data in all_sets(options.data, options.most) if data.k <= NUMBERS[-1]]
    pool = joblib.Parallel(n_jobs=options.jobs, return_as="generator")
    found = []
    for data, outcome in zip(sets, pool(map(joblib.delayed(measure), sets)), strict=True):
        found.append(outcome)
        chosen = ", ".join(f"{name} {k}" for name, (k, _) in outcome.items())
        print(f"{data.name}, {data.k} classes: {chosen}", flush=True)
    for title, part in _parts(sets):
        rows = [(data, outcome) for data, outcome in zip(sets, found, strict=True) if part(data)]
        print(f"\n{title}, {len(rows)} data sets\n\n{table(rows)}")


def measure(data: DataSet) -> dict[str, tuple[int, float]]:
    """For each criterion its number of clusters, and the index of that k-means to the classes."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, numbers = data.X, [k for k in NUMBERS if k <= len(data.X) // 3]
        models = {k: KMeans(k, n_init=_STARTS, random_state=0).fit(X) for k in numbers}
        choice = lc.choose(X, KMeans(n_init=_STARTS), {"n_clusters": numbers}, rng=0)
        plain = [each.outcome.whole.mean() for each in choice.stabilities]
        values = {
            CRITERIA[0]: choice.curve,
            CRITERIA[1]: plain,
            CRITERIA[2]: [_bootstrap(X, models[k]) for k in numbers],
            CRITERIA[3]: [silhouette_score(X, models[k].labels_) for k in numbers],
        }
        chosen = {name: numbers[int(np.argmax(each))] for name, each in values.items()}
        chosen[CRITERIA[4]] = _gap(X, models)
        chosen[CRITERIA[5]] = _eigengap(X, numbers)
        return {
            name: (k, float(adjusted_rand_score(data.classes, models[k].labels_)))
            for name, k in chosen.items()
        }


def _bootstrap(X: np.ndarray, model: KMeans) -> float:
    """Mean adjusted Rand index of k-means of bootstrap samples, applied to all points."""
    rng, found = np.random.default_rng(0), []
    for seed in range(_REPLICATES):
        again = KMeans(model.n_clusters, n_init=_STARTS, random_state=seed)
        again.fit(X[rng.integers(0, len(X), len(X))])
        found.append(adjusted_rand_score(model.labels_, again.predict(X)))
    return float(np.mean(found))


def _gap(X: np.ndarray, models: dict[int, KMeans]) -> int:
    """The smallest k with gap(k) ≥ gap(k + 1) − s(k + 1), uniform in the box of the axes."""
    rng, shape = np.random.default_rng(0), Shape.of(X)
    references = [shape.uniform(len(X), rng) for _ in range(_REFERENCES)]
    gaps, errors = [], []
    for k, model in models.items():
        fits = [KMeans(k, n_init=1, random_state=0).fit(Z).inertia_ for Z in references]
        logs = np.log(fits)
        gaps.append(logs.mean() - np.log(model.inertia_))
        errors.append(logs.std() * np.sqrt(1 + 1 / _REFERENCES))
    numbers = list(models)
    for i in range(len(numbers) - 1):
        if gaps[i] >= gaps[i + 1] - errors[i + 1]:
            return numbers[i]
    return numbers[-1]


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
