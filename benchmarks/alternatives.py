"""Draws by quality, and second true clusterings: `python -m benchmarks alternatives`.

The first table says how good and how different the draws of ``liftcluster.sample_partitions`` are,
by beta; the second how often ``liftcluster.alternative``, shown one of two independent clusterings,
gives the other (adjusted Rand index of at least 0.95), by trade-off and bandwidth.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

import liftcluster as lc
from liftcluster.combination.features import compactness, kmeans, point_features
from liftcluster.lifts.choice import Lifting

BETAS = (2.0, 4.0, 6.0, 12.0)
TRADE_OFFS = (0.5, 1.0, 2.0, 4.0, 8.0)
BANDWIDTHS = ("median", "median/2", "median/4")
_FOUND = 0.95  # adjusted Rand index to the other true clustering
Truth = tuple[np.ndarray, np.ndarray, np.ndarray]  # points, and two independent clusterings


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=9, help="draws of each pair of clusterings")
    parser.add_argument("--draws", type=int, default=20, help="partitions for each beta")
    options = parser.parse_args(arguments)
    print("| data | beta | quality of the worst draw | mean index between draws |")
    print("|---|--:|--:|--:|")
    for name, (X, k) in data_sets().items():
        for beta in BETAS:
            quality, index = draw(X, k, beta, options.draws)
            print(f"| {name} | {beta:g} | {quality:.3f} | {index:.2f} |", flush=True)
    print("\n| bandwidth | trade-off | cases | found | least index |\n|---|--:|--:|--:|--:|")
    for bandwidth in BANDWIDTHS:
        indices = np.array([*second_clusterings(bandwidth, options.seeds)])
        for trade_off, column in zip(TRADE_OFFS, indices.T, strict=True):
            found = (column >= _FOUND).mean()
            print(f"| {bandwidth} | {trade_off:g} | {len(column)} | {found:.0%} ", end="")
            print(f"| {column.min():.2f} |", flush=True)


def data_sets() -> dict[str, tuple[np.ndarray, int]]:
    """Points, and a number of clusters."""
    rng = np.random.default_rng(0)
    return {
        "iris": (load_iris().data, 3),
        "wine": (scale(load_wine().data), 3),
        "600 digits": (load_digits().data[:600], 10),
        "blobs": (make_blobs(300, 2, centers=4, random_state=1)[0], 4),
        "uniform": (rng.random((300, 2)), 4),
        "normal": (rng.normal(size=(300, 5)), 3),
    }


def draw(X: np.ndarray, k: int, beta: float, count: int) -> tuple[float, float]:
    """The least quality of draws, and the mean adjusted Rand index between two of them.

    Quality is 1 for kernel k-means and 0 for a single cluster.
    """
    rng = np.random.default_rng(0)
    Z = point_features(Lifting.of(), X, rng)
    one = compactness(Z, np.zeros(len(Z), dtype=int), 1)
    best = compactness(Z, kmeans(Z, k, rng, n_init=5), k) - one
    codes = [p.labels for p in lc.sample_partitions(X, k, count, beta=beta, rng=0)]
    qualities = [(compactness(Z, c, k) - one) / best for c in codes]
    return min(qualities), float(
        np.mean([adjusted_rand_score(a, b) for a, b in combinations(codes, 2)])
    )


def second_clusterings(bandwidth: str, seeds: int) -> Iterator[list[float]]:
    """For each case the index of the answer to the other true clustering, by trade-off."""
    for seed in range(seeds):
        for X, a, b in truths(np.random.default_rng(seed)):
            for shown, other in ((a, b), (b, a)):
                k = len(np.unique(other))
                found = lc.alternative(X, shown, k, bandwidth=bandwidth, rng=0)
                yield [adjusted_rand_score(other, found.at(t).labels) for t in TRADE_OFFS]


def truths(rng: np.random.Generator) -> Iterator[Truth]:
    """Two mixtures in different coordinates; images by shape and by colour."""
    yield mixtures(rng, 300, (2, 2), (6, 6), (2, 2))
    yield mixtures(rng, 400, (3, 3), (6, 6), (3, 3))
    yield mixtures(rng, 300, (2, 3), (8, 5), (2, 3))
    yield mixtures(rng, 300, (2, 2), (10, 5), (2, 2))
    yield mixtures(rng, 600, (4, 4), (6, 6), (4, 4))
    yield mixtures(rng, 400, (3, 3), (6, 6), (3, 10))
    yield images(rng, 300, 0.1)
    yield images(rng, 300, 0.3)


def mixtures(
    rng: np.random.Generator,
    n: int,
    numbers: tuple[int, int],
    separations: tuple[float, float],
    dimensions: tuple[int, int],
) -> Truth:
    """Normal clusters at corners, independently in two groups of coordinates."""
    codes = [rng.integers(k, size=n) for k in numbers]
    parts = [
        s * np.eye(k, d)[c] + rng.normal(size=(n, d))
        for k, s, d, c in zip(numbers, separations, dimensions, codes, strict=True)
    ]
    return np.hstack(parts), codes[0], codes[1]


def images(rng: np.random.Generator, n: int, noise: float) -> Truth:
    """Bars and crosses in red, green and blue, of varying brightness, with noise."""
    y, x = np.mgrid[:10, :10] - 4.5
    shapes = np.array([abs(x) <= 1.2, abs(y) <= 1.2, abs(abs(x) - abs(y)) <= 0.6], dtype=float)
    shape, colour = rng.integers(3, size=(2, n))
    colours = 0.2 + 0.8 * np.eye(3)
    drawn = np.einsum("nij,nc->nijc", shapes[shape], colours[colour]).reshape(n, -1)
    drawn *= rng.uniform(0.8, 1, size=(n, 1))
    return drawn + rng.normal(0, noise, drawn.shape), shape, colour


if __name__ == "__main__":
    main()
