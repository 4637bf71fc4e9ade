"""Quality of consensus methods on labelled data sets: `python -m benchmarks consensus`.

Runs every method on every labelled data set of a folder (LIFTCLUSTER_DATA), with the paper's five
inputs and with 20 k-means of random k. Prints mean adjusted Rand index and NMI to the classes, for
all sets and for each half of them, and mean ranks with the critical difference of Nemenyi's test.
No method sees the classes. Defaults were chosen on the first half: every second set by name.

With --auto: how well the number of clusters is estimated, from inputs with random numbers of them.
With --scale: the time and memory of each method on 60,000 images and on a million points.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import liftcluster as lc
from liftcluster.combination.choice_of_k import CRITERIA, choose_k
from liftcluster.combination.methods.tuples import LabelTuples

from .labelled import labelled_sets

ENSEMBLES = ("paper", "kmeans")
SPECTRAL = {f"{m}, spectral": (m, {"partitioner": "spectral"}) for m in ("cspa", "mcla", "hbgf")}
WHOLE = {f"{m}, whole tuples": (m, {"whole_tuples": True}) for m in ("cspa", "hbgf", "hgpa")}
ROWS = {name: (name, {}) for name in lc.METHODS} | SPECTRAL | WHOLE


def run(folder: Path, most: int, seeds: int, rows: list[str]) -> dict:
    """(methods, ensembles, sets, 2) indices as nested lists, averaged over seeds."""
    sets, values = [], []
    for name, X, classes in labelled_sets(folder, most):
        k = len(set(classes))
        values.append(
            [
                np.mean(
                    [list(_indices(X, classes, k, kind, s, rows)) for s in range(seeds)], axis=0
                )
                for kind in ENSEMBLES
            ]
        )
        sets.append(name)
        print(f"{name}: n = {len(X)}, d = {X.shape[1]}, k = {k}", flush=True)
    return {"sets": sets, "rows": rows, "values": np.transpose(values, (2, 1, 0, 3)).tolist()}


def _indices(X, classes, k: int, kind: str, seed: int, rows: list[str]) -> Iterator[tuple]:
    inputs = lc.base_partitions(X, k, kind, rng=seed)
    for row in rows:
        method, options = ROWS[row]
        # Methods that use labels alone get no points: lifting would take most of the time.
        points = X if lc.METHODS[method].needs not in ("labels",) else None
        labels = lc.consensus(
            inputs, k, points, method=method, method_options=options, rng=seed
        ).labels
        yield (
            adjusted_rand_score(classes, labels),
            normalized_mutual_info_score(classes, labels),
        )


def table(found: dict) -> Iterator[str]:
    """Markdown: mean indices and mean rank of each method under both ensembles."""
    values = np.array(found["values"])  # (rows, ensembles, sets, 2)
    heads = [f"{e}: {c}" for e in ENSEMBLES for c in ("ARI", "half 1", "half 2", "NMI", "rank")]
    yield "| method | " + " | ".join(heads) + " |"
    yield "|---|" + "---|" * len(heads)
    ranks = [mean_ranks(values[:, e, :, 0]) for e in range(len(ENSEMBLES))]
    for i, row in enumerate(found["rows"]):
        cells = []
        for e in range(len(ENSEMBLES)):
            ari, nmi = values[i, e, :, 0], values[i, e, :, 1]
            means = [ari.mean(), ari[::2].mean(), ari[1::2].mean(), nmi.mean()]
            cells += [f"{x:.3f}" for x in means] + [f"{ranks[e][i]:.1f}"]
        yield f"| {row} | " + " | ".join(cells) + " |"
    n = values.shape[2]
    yield f"\n{n} sets; critical difference of mean ranks at 5 %: {nemenyi(len(values), n):.2f}"


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """(methods,) mean over sets of the rank of each method; 1 is best, ties get the mean rank."""
    from scipy.stats import rankdata

    return rankdata(-scores, axis=0).mean(axis=1)


def nemenyi(k: int, n: int) -> float:
    """Smallest significant difference of mean ranks, for k methods on n sets."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def blind_inputs(X, seed: int) -> list[np.ndarray]:
    """20 k-means partitions with random numbers of clusters, from 2 to √n."""
    rng = np.random.default_rng(seed)
    top = min(int(np.sqrt(len(X))), 50)
    return [
        KMeans(int(rng.integers(2, top + 1)), n_init=1, random_state=int(rng.integers(2**31)))
        .fit(X)
        .labels_
        for _ in range(20)
    ]


def auto(folder: Path, most: int, seeds: int) -> Iterator[str]:
    """Accuracy of each criterion for the number of clusters, and the index with its choice."""
    chosen: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for name, X, classes in labelled_sets(folder, most):
        k = len(set(classes))
        for seed in range(seeds):
            kinds = {e: lc.base_partitions(X, k, e, rng=seed) for e in ENSEMBLES}
            for kind, inputs in (kinds | {"blind": blind_inputs(X, seed)}).items():
                parts = [lc.as_partition(p) for p in inputs]
                rep = lc.represent(X, parts, bandwidth="median/4")
                tuples = LabelTuples.from_partitions(parts)
                for criterion in CRITERIA:
                    found = choose_k(rep, tuples, criterion=criterion).k
                    labels = lc.consensus(inputs, found, X, method="lift_hac", rng=seed).labels
                    ari = adjusted_rand_score(classes, labels)
                    row = (found == k, abs(found - k) <= 1, abs(found - k), ari)
                    chosen.setdefault((kind, criterion), []).append(row)
        print(name, flush=True)
    yield "| inputs | criterion | correct | within one | mean error | ARI |"
    yield "|---|---|---|---|---|---|"
    for (kind, criterion), rows in chosen.items():
        right, near, error, ari = np.mean(rows, axis=0)
        yield f"| {kind} | {criterion} | {right:.0%} | {near:.0%} | {error:.1f} | {ari:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LIFTCLUSTER_DATA"))
    parser.add_argument("--most", type=int, default=1000, help="maximum number of points per set")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--json", type=Path, help="file for the indices of every set")
    parser.add_argument("--auto", action="store_true", help="estimate the number of clusters")
    parser.add_argument("--scale", action="store_true", help="measure time and memory")
    options = parser.parse_args()
    if options.data is None:
        parser.error("pass --data or set LIFTCLUSTER_DATA to a folder of labelled CSV files")
    warnings.simplefilter("ignore")
    folder = Path(options.data)
    if options.scale:
        from .consensus_scale import measure_all

        lines = measure_all(folder)
    elif options.auto:
        lines = auto(folder, options.most, options.seeds)
    else:
        found = run(folder, options.most, options.seeds, options.methods)
        if options.json:
            options.json.write_text(json.dumps(found))
        lines = table(found)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
