"""Ratio of error to reported error on thousands of random problems: `python -m benchmarks soak`.

A problem is generated from its number: points in some dimension, weights, hard and soft partitions
with noise, a kernel and a bandwidth. Each applicable lift is compared with the exact one for all
pairs of clusters: |distance − exact distance| over the reported standard error. For a normal error
with a correct standard error, half of the ratios are below 0.67, 95 % below 1.96 and 99 % below
2.58. The errors of a grid are deterministic bounds: no ratio may exceed one.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import replace

import numpy as np

import liftcluster as lc

from .coverage import misses_and_errors

DIMENSIONS = (1, 2, 3, 5, 10, 50)
COMPONENTS = (64, 512)
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
_ROUNDING = 1e-7  # equal distances differ by the square root of rounding
# name: (lift, sampling of the frequencies)
RANDOM = {
    "iid": lc.Fourier(sampling="iid"),
    "orthogonal": lc.Fourier(sampling="orthogonal"),
    "quasi": lc.Fourier(sampling="quasi"),
    "structured": lc.Structured(),
}


def problem(number: int):
    """(X, partitions, kernel) of a number."""
    rng = np.random.default_rng([2011, number])
    n, d = int(rng.integers(20, 300)), int(rng.choice(DIMENSIONS))
    centres = rng.standard_normal((4, d)) * rng.choice([0.5, 2.0, 6.0])
    X = centres[rng.integers(4, size=n)] + rng.standard_normal((n, d))
    if rng.random() < 0.2:
        X = np.round(X)  # many identical points
    if rng.random() < 0.2:
        X = X * rng.lognormal(0, 2, d)  # axes of different scale
    weights = rng.lognormal(0, 1, n) if rng.random() < 0.3 else None
    partitions = []
    for _ in range(2):
        k = int(rng.integers(2, 6))
        if rng.random() < 0.3:
            p = lc.Partition.from_memberships(rng.dirichlet(np.full(k, 0.3), n), weights)
        else:
            labels = np.argmin(((X[:, None] - X[rng.choice(n, k)]) ** 2).sum(axis=2), axis=1)
            labels[rng.random(n) < rng.choice([0, 0.2])] = rng.integers(k)
            p = lc.Partition.from_labels(labels, weights)
        partitions.append(p)
    family = (lc.Gaussian, lc.Gaussian, lc.Laplace, lc.Cauchy, lc.Matern)[rng.integers(5)]
    metric = family.metric
    h = lc.bandwidth(X, metric=metric) * rng.choice([0.25, 1.0, 3.0])
    return X, partitions, family(bandwidth=h)


def soak(numbers):
    """{(lift, d, ρ): ratios of error to reported error} for the problems of these numbers."""
    ratios = defaultdict(list)
    for number in numbers:
        X, partitions, kernel = problem(number)
        d = X.shape[1]
        exact = lc.represent(X, partitions, kernel=kernel, lift="exact")
        for name, settings in RANDOM.items():
            if name in ("structured", "orthogonal") and not kernel.isotropic:
                continue
            for rho in COMPONENTS:
                lift = replace(settings, n_components=rho)
                rep = lc.represent(X, partitions, kernel=kernel, lift=lift, rng=number)
                ratios[name, d, rho].append(_ratios(rep, exact))
        if isinstance(kernel, lc.Gaussian) and d <= 3:
            try:
                rep = lc.represent(X, partitions, kernel=kernel, lift="grid")
            except ValueError:
                continue  # the range is too many bandwidths for a grid
            ratios["grid (bound)", d, 0].append(_ratios(rep, exact))
    return {key: np.concatenate(parts) for key, parts in sorted(ratios.items())}


def _ratios(rep, exact):
    misses, errors = misses_and_errors(rep, exact)
    return np.maximum(np.abs(misses) - _ROUNDING, 0) / np.maximum(errors, 1e-300)


def rows(ratios):
    """Rows of the table: by lift and ρ, then by lift and d."""
    groups = defaultdict(list)
    for (name, _, rho), values in ratios.items():
        groups[name, f"ρ = {rho}" if rho else "all"].append(values)
    for (name, d, _), values in ratios.items():
        groups[name, f"d = {d}"].append(values)
    for (name, what), parts in groups.items():
        values = np.concatenate(parts)
        yield name, what, len(values), *np.quantile(values, QUANTILES), values.max()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    options = parser.parse_args()
    found = soak(range(options.first, options.first + options.problems))
    heads = " | ".join(f"{q:.1%}" for q in QUANTILES)
    print(f"| lift | problems | distances | {heads} | largest |")
    print("|---|---|---|" + "---|" * (len(QUANTILES) + 1))
    for name, what, count, *values in rows(found):
        print(f"| {name} | {what} | {count:,} | " + " | ".join(f"{v:.2f}" for v in values) + " |")


if __name__ == "__main__":
    main()
