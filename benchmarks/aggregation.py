"""Two consensus methods against their variants by place: `python -m benchmarks aggregation`.

The first table compares clustering aggregation (Gionis, Mannila, Tsaparas 2007) with the same where
X, the share of the inputs that separate two points, is graded by place: two clusters of an input
separate their points by 1 − κ, with κ the inner product of their unit vectors. The second compares
``lift_barycentre``, which minimises the mean LiftEMD to the inputs, with ``lift_km``, which
minimises liftSSD in its place. Means over labelled data sets (LIFTCLUSTER_DATA, and generated ones)
and the six kinds of inputs of `python -m benchmarks consensus`.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods.barycentre import best_weights
from liftcluster.combination.methods.linkage import average_linkage_above

from .consensus.ensembles import ENSEMBLES, make_inputs
from .consensus.sets import DataSet, all_sets

METHODS = ("agglomerative", "local_search")
BANDWIDTHS = ("median/4", "median/8", "median/16")
_SAME = 0.005  # difference of two indices that are the same
_SWEEPS = 60


def graded_similarity(X: np.ndarray, inputs: Sequence[np.ndarray], bandwidth: str) -> np.ndarray:
    """(n, n) 1 − X: the mean over the inputs of κ(C(u), C(v)), half where a label is missing."""
    rep = lc.represent(X, list(inputs), bandwidth=bandwidth, lift="exact")
    total = np.zeros((len(X), len(X)))
    for labels, part in zip(inputs, rep, strict=True):
        codes = lc.as_partition(labels).labels
        kernel = np.clip(part.inner_products(), 0, 1)
        similarity = kernel[np.ix_(codes, codes)]
        similarity[codes < 0] = similarity[:, codes < 0] = 0.5
        total += similarity
    return total / len(inputs)


def agglomerative(S: np.ndarray) -> np.ndarray:
    return average_linkage_above(S.copy(), np.ones(len(S)), 0.5)


def local_search(S: np.ndarray) -> np.ndarray:
    """Move points one by one where Σ_together X + Σ_apart (1 − X) falls most, until none moves."""
    gain, codes = 1 - 2 * S, agglomerative(S)
    np.fill_diagonal(gain, 0)
    for _ in range(_SWEEPS):
        moved = False
        for v in range(len(S)):
            cost = np.bincount(codes, gain[v], minlength=codes.max() + 2)  # the last is empty
            best = int(cost.argmin())
            if cost[best] < cost[codes[v]] - 1e-9:
                codes[v], moved = best, True
                codes = np.unique(codes, return_inverse=True)[1]
        if not moved:
            break
    return codes


GRADED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "agglomerative": agglomerative,
    "local_search": local_search,
}


def aggregate(data: DataSet, seed: int) -> Iterator[tuple[str, float, float]]:
    """Row, adjusted Rand index and number of clusters over that of the classes."""
    for kind in ENSEMBLES:
        inputs = make_inputs(kind, data.X, data.classes, seed)
        found = {name: lc.consensus(inputs, "auto", method=name).labels for name in METHODS}
        for bandwidth in BANDWIDTHS:
            S = graded_similarity(data.X, inputs, bandwidth)
            found |= {f"{name}, graded, {bandwidth}": GRADED[name](S) for name in METHODS}
        for row, labels in found.items():
            index = adjusted_rand_score(data.classes, labels)
            yield row, index, len(np.unique(labels)) / data.k


def minimise(data: DataSet, seed: int) -> Iterator[tuple[str, float, float, float]]:
    """Method, liftSSD, mean LiftEMD of the vectors to the inputs, and adjusted Rand index."""
    for kind in ENSEMBLES:
        inputs = make_inputs(kind, data.X, data.classes, seed)
        for name in ("lift_km", "lift_barycentre"):
            found = lc.consensus(inputs, data.k, data.X, method=name, rng=seed)
            distance = best_weights(found.representation, found.centres)[2]
            index = adjusted_rand_score(data.classes, found.labels)
            yield name, found.score, distance, index


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("LIFTCLUSTER_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--half", choices=["chosen", "reported", "both"], default="both")
    parser.add_argument("--most", type=int, default=300, help="maximum number of points per set")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    sets = [
        data for data in all_sets(options.data, options.most) if options.half in ("both", data.half)
    ]
    print(f"{len(sets)} data sets of up to {options.most} points, one seed\n")
    rows: dict[str, list[list[tuple[float, float]]]] = {}
    other: dict[str, list[tuple[float, float, float]]] = {}
    for data in sets:
        per_set: dict[str, list[tuple[float, float]]] = {}
        for row, *values in aggregate(data, options.seed):
            per_set.setdefault(row, []).append((values[0], values[1]))
        for row, values_of_set in per_set.items():
            rows.setdefault(row, []).append(values_of_set)
        for name, *triple in minimise(data, options.seed):
            other.setdefault(name, []).append((triple[0], triple[1], triple[2]))
    print("| aggregation | mean index | clusters / classes, median | wins | ties | losses |")
    print("|---|--:|--:|--:|--:|--:|")
    for row, values in rows.items():
        index = np.array(values)[:, :, 0].mean(axis=1)
        apart = index - np.array(rows[row.split(",")[0]])[:, :, 0].mean(axis=1)
        counts = ((apart > _SAME).sum(), (np.abs(apart) <= _SAME).sum(), (apart < -_SAME).sum())
        shown = " | | |" if "," not in row else " | ".join(map(str, counts)) + " |"
        ratio = np.median(np.array(values)[:, :, 1])
        print(f"| {row} | {index.mean():.3f} | {ratio:.2f} | {shown}")
    print("\n| method | liftSSD | mean LiftEMD to the inputs | mean index |\n|---|--:|--:|--:|")
    for name, triples in other.items():
        print(f"| {name} | " + " | ".join(f"{x:.3f}" for x in np.mean(triples, axis=0)) + " |")


if __name__ == "__main__":
    main()
