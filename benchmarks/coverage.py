"""Coverage of the reported standard errors: `python -m benchmarks coverage`.

Lifts the same clusters with many independent draws of random features, and counts how often the
exact distance lies within two reported standard errors. Independent features should cover about
95 %; orthogonal and quasi-random ones may cover more. The last column is the ratio of the reported
to the true error.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

import liftcluster as lc


@dataclass(frozen=True)
class Coverage:
    distances: float  # share of exact distances within two standard errors
    inner_products: float
    care: float  # root mean square reported error over the true one


def coverage(
    X, partitions, sampling, *, n_components, seeds, kernel=None, normalise=True
) -> Coverage:
    """Coverage over `seeds` independent lifts of the clusters of the partitions."""
    kernel = lc.Gaussian(lc.bandwidth(X, rng=0)) if kernel is None else kernel
    exact = lc.represent(X, partitions, kernel=kernel, lift="exact")
    pairs = np.triu_indices(exact.s, 1)
    covered_d, covered_p, squared, reported = [], [], [], []
    for seed in range(seeds):
        rep = lc.represent(
            X, partitions, kernel=kernel, lift=lc.Fourier(n_components, sampling=sampling), rng=seed
        )
        options = {"normalise": normalise}
        misses, errors = misses_and_errors(rep, exact, **options)
        covered_d.append(np.abs(misses) <= 2 * errors)
        squared.append(misses**2)
        reported.append(errors**2)
        misses = (rep.inner_products(**options) - exact.inner_products(**options))[pairs]
        covered_p.append(np.abs(misses) <= 2 * rep.inner_product_errors(**options)[pairs])
    return Coverage(
        distances=float(np.mean(covered_d)),
        inner_products=float(np.mean(covered_p)),
        care=float(np.sqrt(np.mean(reported) / np.mean(squared))),
    )


def misses_and_errors(rep, exact, *, normalise=True):
    """Errors of the distances between all pairs of clusters, and their reported errors."""
    pairs = np.triu_indices(exact.s, 1)
    misses = rep.distances(normalise=normalise) - exact.distances(normalise=normalise)
    return misses[pairs], rep.distance_errors(normalise=normalise)[pairs]


def problems():
    """Real and synthetic points that need no download, each with two clusterings."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons

    sets = {
        "moons (d=2)": make_moons(400, noise=0.1, random_state=0)[0],
        "iris (d=4)": load_iris().data,
        "wine (d=13)": load_wine().data,
        "cancer (d=30)": load_breast_cancer().data,
        "digits (d=64)": load_digits().data,
    }
    for name, X in sets.items():
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        yield (
            name,
            X,
            [
                KMeans(6, n_init=1, random_state=0).fit(X).labels_,
                AgglomerativeClustering(5).fit(X).labels_,
            ],
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--components", type=int, nargs="+", default=[200, 2000])
    options = parser.parse_args()
    print("| points | ρ | frequencies | distances covered | inner products | reported / true |")
    print("|---|---|---|---|---|---|")
    for name, X, partitions in problems():
        for rho in options.components:
            for sampling in ("iid", "orthogonal", "quasi"):
                c = coverage(X, partitions, sampling, n_components=rho, seeds=options.seeds)
                print(
                    f"| {name} | {rho} | {sampling} | {c.distances:.1%} | {c.inner_products:.1%} "
                    f"| {c.care:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
