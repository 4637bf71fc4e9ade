"""The demo on handwritten digits, and the tables of measures and methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from .._util.typing import FloatArray
from ..combination.combining import consensus
from ..combination.methods.registry import METHODS
from ..comparison.comparing import compare
from ..comparison.comparison import Comparison
from ..comparison.distances import distance_matrix
from ..comparison.measures.registry import MEASURES, Measure
from ..partitions.partition import Partition
from ..representation.representation import Representation
from ..representation.samples import represent
from ..viz.report.build import make_report


def run_demo(console: Console, seed: int, page: Path) -> None:
    """Compare and combine clusterings, and write a page about them."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.datasets import load_digits

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
    D = distance_matrix(partitions, X)
    console.print()
    console.print(_matrix(D, list(partitions), "LiftEMD between them"))
    found = compare(
        partitions["k-means"], partitions["Ward"], X, names=("k-means", "Ward"), lift="exact"
    )
    near = compare(
        partitions["k-means"],
        partitions["Ward"],
        X,
        names=("k-means", "Ward"),
        lift="fourier",
        rng=seed,
    )
    console.print(_measures(found, near))
    console.print("[bold]What became of each k-means cluster under Ward[/bold]")
    for line in found.summary():
        console.print(f"  {line}", highlight=False)
    _report_coverage(
        console,
        represent(X, partitions, lift="exact"),
        represent(X, partitions, lift="fourier", rng=seed),
    )
    combined = _combine(console, X, partitions["digits"], seed)
    _write_page(console, X, {**partitions, "consensus": combined}, page)


def _combine(console: Console, X: FloatArray, digits: Partition, seed: int) -> Partition:
    """A consensus of several clusterings that do not use the classes, compared with these."""
    from sklearn.cluster import AgglomerativeClustering, KMeans

    inputs = {
        f"k-means {i + 1}": Partition.from_labels(
            KMeans(10, n_init=1, random_state=seed + i).fit(X).labels_
        )
        for i in range(4)
    }
    inputs["Ward"] = Partition.from_labels(AgglomerativeClustering(10).fit(X).labels_)
    found = consensus(inputs, 10, X, rng=seed)
    console.print(
        "\n[bold]A consensus of five clusterings[/bold] that know nothing of the digits' names"
    )
    console.print(f"  {found}", highlight=False)
    if found.decision is not None:
        console.print(f"  chosen because {found.decision.reason}", highlight=False)
    everything = {"digits": digits, **inputs, "consensus": found.partition}
    D = distance_matrix(everything, X)[0]
    table = Table("clustering", title="LiftEMD to the digits")
    table.add_column("distance", justify="right")
    for name, value in zip(list(everything)[1:], D[1:], strict=True):
        table.add_row(name, f"{value:.3f}")
    console.print(table)
    return found.partition


def _write_page(
    console: Console, X: FloatArray, partitions: dict[str, Partition], page: Path
) -> None:
    made = make_report(partitions, X, title="Handwritten digits, clustered", rng=0)
    made.save(page)
    console.print(f"A page about it: {page} (open it in a browser)", markup=False)


def show_measures(console: Console) -> None:
    table = Table(title="Distances between clusterings")
    for column in ("name", "what it is", "needs", "metric", "range", "reference"):
        table.add_column(column)
    for measure in MEASURES.values():
        low, high = measure.bounds
        top = "∞" if np.isinf(high) else "√2" if high == 2**0.5 else f"{high:g}"
        table.add_row(
            measure.name,
            measure.title,
            _needs(measure),
            "yes" if measure.is_metric else "",
            f"{low:g} … {top}",
            measure.reference,
        )
    console.print(table)


def show_methods(console: Console) -> None:
    table = Table(title="Consensus of clusterings")
    for column in ("name", "what it is", "needs", "soft", "extra", "reference"):
        table.add_column(column)
    for method in METHODS.values():
        table.add_row(
            method.name,
            method.title,
            {"vectors": "points", "labels and points": "points"}.get(method.needs, "labels"),
            "yes" if method.soft else "",
            method.extra or "",
            method.reference,
        )
    console.print(table)


def _needs(measure: Measure) -> str:
    points = {"vectors": "points", "points": "points", "table": "labels"}[measure.needs]
    return points + (", hard" if not measure.soft else "")


def _matrix(D: FloatArray, names: list[str], title: str) -> Table:
    table = Table(title=title)
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    for name, row in zip(names, D, strict=True):
        table.add_row(name, *(f"{value:.3f}" for value in row))
    return table


def _measures(exact: Comparison, near: Comparison) -> Table:
    """All measures of one comparison, with the approximate ones beside the exact."""
    table = Table(title="k-means against Ward, by every measure")
    table.add_column("measure")
    table.add_column("distance", justify="right")
    table.add_column("by random features", justify="right")
    for name, estimate in exact.values.items():
        approximate = str(near[name]) if MEASURES[name].needs == "vectors" else ""
        table.add_row(name, str(estimate), approximate)
    return table


def _report_coverage(console: Console, exact: Representation, near: Representation) -> None:
    pairs = np.triu_indices(exact.s, 1)
    misses = np.abs(exact.distances() - near.distances())[pairs]
    errors = near.distance_errors()
    assert errors is not None
    covered = (misses <= 2 * errors[pairs]).mean()
    console.print(
        f"\nOf all {len(misses)} distances between clusters, {covered:.0%} of the exact ones lie "
        "within two standard errors of those by random features; the largest miss is "
        f"{misses.max():.4f}."
    )
