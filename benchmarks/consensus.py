"""Which consensus is best, on real data with known classes: `python -m benchmarks consensus`.

Runs every method on every labelled set of a data folder (LIFTCLUSTER_DATA), with the paper's five
inputs and with 20 k-means of random k, and prints the mean adjusted Rand index to the classes, mean
ranks with the critical difference of Nemenyi's test, and the same for a range of bandwidths. No
class label reaches a method.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.methods.selection import CRITERIA, choose_k

ENSEMBLES = ("paper", "kmeans")


def labelled_sets(folder: Path, most: int):
    """(name, X, classes) of every CSV whose last column is `class`, standardised, subsampled."""
    import pandas as pd

    for path in sorted(
        [*folder.glob("*.csv"), *folder.glob("extra/*.csv.gz"), *folder.glob("shapes/*.csv.gz")]
    ):
        frame = pd.read_csv(path, na_values="?")
        if frame.columns[-1] != "class" or path.name.startswith("soybean_large_train"):
            continue
        frame = frame.dropna()
        X, y = frame.iloc[:, :-1].to_numpy(dtype=float), frame["class"].astype(str).to_numpy()
        if len(X) > most:
            rows = np.random.default_rng(0).choice(len(X), most, replace=False)
            X, y = X[rows], y[rows]
        spread = X.std(axis=0)
        X = (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
        yield path.name.split(".")[0], X, y


def table(results: dict[str, dict[str, list[float]]]) -> None:
    """Mean index and mean rank of each method under both ensembles."""
    print("| method | " + " | ".join(f"{e}: mean ARI | {e}: mean rank" for e in ENSEMBLES) + " |")
    print("|---|" + "---|" * (2 * len(ENSEMBLES)))
    columns = {}
    for ensemble in ENSEMBLES:
        scores = np.array([results[method][ensemble] for method in results])  # (methods, sets)
        order = (-scores).argsort(axis=0, kind="stable")
        ranks = np.empty_like(scores)
        for j in range(scores.shape[1]):
            ranks[order[:, j], j] = np.arange(1, len(scores) + 1)
            for value in np.unique(scores[:, j]):
                ranks[scores[:, j] == value, j] = ranks[scores[:, j] == value, j].mean()
        columns[ensemble] = scores.mean(axis=1), ranks.mean(axis=1)
    for i, method in enumerate(results):
        cells = " | ".join(f"{columns[e][0][i]:.3f} | {columns[e][1][i]:.2f}" for e in ENSEMBLES)
        print(f"| {method} | {cells} |")
    count, n = len(results), scores.shape[1]
    print(f"\n{n} sets; critical difference of mean ranks at 5 %: {_nemenyi(count, n):.2f}")


def _nemenyi(k: int, n: int) -> float:
    from scipy.stats import studentized_range

    return float(
        studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LIFTCLUSTER_DATA"))
    parser.add_argument("--most", type=int, default=1000, help="points of a set")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=list(lc.METHODS))
    parser.add_argument("--bandwidths", nargs="+", default=["median/4"])
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data or set LIFTCLUSTER_DATA to a folder of labelled CSV files")
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, list[float]]] = {}
    chosen: dict[str, list[bool]] = {}
    for name, X, y in labelled_sets(Path(options.data), options.most):
        k = len(set(y))
        for ensemble in ENSEMBLES:
            runs: dict[str, list[float]] = {}
            for seed in range(options.seeds):
                inputs = lc.base_partitions(X, k, ensemble, rng=seed)
                for method in options.methods:
                    lifted = method.startswith("lift")
                    for bandwidth in options.bandwidths if lifted else options.bandwidths[:1]:
                        found = lc.consensus(
                            inputs, k, X, method=method, bandwidth=bandwidth, rng=seed
                        )
                        label = f"{method}, {bandwidth}" if lifted else method
                        runs.setdefault(label, []).append(adjusted_rand_score(y, found.labels))
                rep = lc.represent(X, inputs, bandwidth="median/4")
                for criterion in CRITERIA:
                    right = choose_k(rep, criterion=criterion).k == k
                    chosen.setdefault(f"{criterion}, {ensemble}", []).append(right)
            for label, values in runs.items():
                results.setdefault(label, {}).setdefault(ensemble, []).append(
                    float(np.mean(values))
                )
        print(f"{name}: n = {len(X)}, k = {k}", flush=True)
    print()
    table(results)
    print("\nHow often a criterion finds the number of classes:")
    for label, hits in chosen.items():
        print(f"  {label}: {np.mean(hits):.0%}")


if __name__ == "__main__":
    main()
