"""What the commands compute: calls of the library, with a sign of life while they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._util.progress import busy
from ..combination.combining import Consensus, consensus
from ..comparison.comparing import compare, distance_matrix
from ..comparison.comparison import Comparison, Estimate
from ..comparison.measures.registry import MEASURES
from ..io import Clusterings
from ..representation.representation import Representation
from ..representation.samples import represent
from ..viz.report import make_report

__all__ = ["combine", "compare_all", "compare_two", "consensus_columns", "make_page"]


def compare_two(read: Clusterings, measures: list[str], lifting: Mapping[str, Any]) -> Comparison:
    (first, a), (second, b) = read.partitions.items()
    options: dict[str, Any] = {"measures": measures or None, "names": (first, second), **lifting}
    if any(MEASURES[name].slow for name in measures):  # which have a bar of their own
        return compare(a, b, read.X, **options)
    with busy(f"comparing {first} and {second}"):
        return compare(a, b, read.X, **options, progress=False)


def compare_all(
    read: Clusterings, measures: list[str], lifting: Mapping[str, Any]
) -> tuple[dict[str, list[list[Estimate]]], Representation | None]:
    """Every two of several clusterings under some measures, lifted once."""
    # A soft clustering is not at distance zero from itself by pairs of points, which would puzzle.
    usual = [
        name
        for name, fits in {
            "lift_emd": read.X is not None,
            "adjusted_rand": all(p.is_hard for p in read.partitions.values()) or read.X is None,
        }.items()
        if fits
    ]
    wanted = measures or usual
    rep = None
    if read.X is not None and any(MEASURES[name].needs == "vectors" for name in wanted):
        with busy(f"lifting {len(read.X):,} points"):
            rep = represent(read.X, read.partitions, **lifting)
    found = {}
    for name in wanted:
        if rep is not None and MEASURES[name].needs == "vectors":
            found[name] = _lifted(name, rep, len(read.partitions))
        else:
            D = distance_matrix(read.partitions, read.X, measure=name, **lifting)
            found[name] = [[Estimate(float(value)) for value in row] for row in D]
    return found, rep


def _lifted(name: str, rep: Representation, m: int) -> list[list[Estimate]]:
    measure = MEASURES[name]
    assert measure.error is not None
    error = measure.error
    return [
        [
            Estimate(float(measure.function(rep[i], rep[j])), error(rep[i], rep[j]))
            if i != j
            else Estimate(0.0, 0.0)
            for j in range(m)
        ]
        for i in range(m)
    ]


def combine(read: Clusterings, n_clusters: int | str, **options: Any) -> Consensus:
    with busy(f"combining {len(read.partitions)} clusterings"):
        found = consensus(read.partitions, n_clusters, read.X, **options)
    assert isinstance(found, Consensus)  # what is in memory stays there
    return found


def consensus_columns(found: Consensus, read: Clusterings) -> dict[str, Any]:
    """What is written: ids where there are some, labels, confidence, memberships."""
    ids = {} if read.ids is None else {str(read.id_name): np.asarray(read.ids)}
    return ids | {
        "consensus": np.asarray(found.labels),
        "confidence": found.confidence,
        "membership": found.memberships,
    }


def make_page(partitions: Mapping[str, Any], X: Any, **options: Any) -> Any:
    with busy("making the page"):
        return make_report(partitions, X, **options)
