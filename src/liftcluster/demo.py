"""What `liftcluster demo` shows: a real run on points that come with scikit-learn."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits

from ._typing import Array
from .lifting import represent
from .partition import Partition
from .representation import Representation

__all__ = ["run_demo"]


def run_demo(console: Console, seed: int) -> None:
    X, digits = load_digits(return_X_y=True)
    n, d = X.shape
    console.print(f"[bold]{n:,} handwritten digits[/bold], {d} pixels each, clustered three ways:")
    partitions = {
        "digits": Partition.from_labels(digits),
        "k-means": Partition.from_labels(KMeans(10, n_init=4, random_state=seed).fit(X).labels_),
        "Ward": Partition.from_labels(AgglomerativeClustering(10).fit(X).labels_),
    }
    for name, partition in partitions.items():
        console.print(f"  {name}: {partition}")
    exact, exact_seconds = _timed(X, partitions, lift="exact", seed=seed)
    fourier, fourier_seconds = _timed(X, partitions, lift="fourier", seed=seed)
    console.print(
        "\nEach cluster becomes one vector: the normalised sum of its lifted points.\n"
        f"  {exact_seconds:5.2f} s  {exact}\n"
        f"  {fourier_seconds:5.2f} s  {fourier}\n"
    )
    console.print(_nearest_clusters(exact, fourier))
    _report_coverage(console, exact, fourier)


def _timed(
    X: Array, partitions: dict[str, Partition], *, lift: str, seed: int
) -> tuple[Representation, float]:
    start = time.perf_counter()
    rep = represent(X, partitions, lift=lift, rng=seed)
    return rep, time.perf_counter() - start


def _nearest_clusters(exact: Representation, fourier: Representation) -> Table:
    """For each digit, the nearest cluster of each clustering and its distance both ways."""
    table = Table(title="The cluster nearest to each digit (distance 0 = same place, √2 = apart)")
    table.add_column("digit", justify="right")
    for name in exact.partition_names[1:]:
        table.add_column(f"{name}: exact", justify="right")
        table.add_column("approximate", justify="right")
    D, D_fourier = exact.distances(), fourier.distances()
    errors = fourier.distance_errors()
    assert errors is not None
    for i in np.flatnonzero(exact.owner == 0):
        cells = [str(exact.cluster_names[i])]
        for other in range(1, exact.m):
            clusters = np.flatnonzero(exact.owner == other)
            j = clusters[D[i, clusters].argmin()]
            cells += [f"{D[i, j]:.3f}", f"{D_fourier[i, j]:.3f} ± {errors[i, j]:.3f}"]
        table.add_row(*cells)
    return table


def _report_coverage(console: Console, exact: Representation, fourier: Representation) -> None:
    pairs = np.triu_indices(exact.s, 1)
    misses = np.abs(exact.distances() - fourier.distances())[pairs]
    errors = fourier.distance_errors()
    assert errors is not None
    covered = (misses <= 2 * errors[pairs]).mean()
    console.print(
        f"Of all {len(misses)} distances between clusters, {covered:.0%} of the exact ones lie "
        f"within two of the reported standard errors; the largest miss is {misses.max():.4f}."
    )
