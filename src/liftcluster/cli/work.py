"""What the commands compute: calls of the library, with a progress indicator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .._util.progress import busy
from ..combination.combining import consensus
from ..combination.result import Consensus
from ..comparison.comparing import DistanceMatrix, compare, compare_all, distance_matrices
from ..comparison.comparison import Comparison
from ..comparison.distances import distance_matrix
from ..comparison.measures.registry import MEASURES
from ..io import Clusterings
from ..lifts.choice import Lifting
from ..representation.representation import Representation
from ..viz.report.build import report_about


def compare_two(read: Clusterings, measures: list[str], lifting: Mapping[str, Any]) -> Comparison:
    (first, a), (second, b) = read.partitions.items()
    options: dict[str, Any] = {"measures": measures or None, "names": (first, second), **lifting}
    if any(MEASURES[name].slow for name in measures):  # these have a progress bar of their own
        return compare(a, b, read.X, **options)
    with busy(f"comparing {first} and {second}"):
        return compare(a, b, read.X, **options, progress=False)


def compare_every_two(
    read: Clusterings, measures: list[str], lifting: Mapping[str, Any]
) -> tuple[dict[str, DistanceMatrix], Representation | None]:
    """Every two of several clusterings under some measures, lifted once."""
    # By pairs of points a soft clustering is not at distance zero from itself.
    usual = {
        "lift_emd": read.X is not None,
        "adjusted_rand": all(p.is_hard for p in read.partitions.values()) or read.X is None,
    }
    wanted = measures or [name for name, fits in usual.items() if fits]
    options = dict(lifting)
    rng = options.pop("rng")
    with busy(f"comparing {len(read.partitions)} clusterings"):
        if not any(MEASURES[name].needs == "vectors" for name in wanted):
            matrices = {}
            for name in wanted:
                D = distance_matrix(read.partitions, read.X, measure=name, **options)  # type: ignore[arg-type]
                matrices[name] = DistanceMatrix(D, np.full_like(D, np.nan))
            return matrices, None
        found, rep = compare_all(
            read.partitions, read.X, measures=wanted, lifting=Lifting.of(**options), rng=rng
        )
        return distance_matrices(found, read.partitions, read.X), rep


def combine(read: Clusterings, n_clusters: int | Literal["auto"], **options: Any) -> Consensus:
    with busy(f"combining {len(read.partitions)} clusterings"):
        return consensus(read.partitions, n_clusters, read.X, **options)


CONSENSUS = [  # columns of --append
    "consensus",
    "consensus_confidence",
    "consensus_margin",
    "consensus_memberships",
]


def consensus_columns(found: Consensus, read: Clusterings, append: bool) -> dict[str, Any]:
    """The columns that are written: labels, confidence, margin, memberships."""
    names = CONSENSUS if append else ["consensus", "confidence", "margin", "membership"]
    values = (np.asarray(found.labels), found.confidence, found.margin, found.memberships)
    return {name: read.spread(value) for name, value in zip(names, values, strict=True)}


def make_page(partitions: Mapping[str, Any], X: Any, **options: Any) -> Any:
    """The page of ``make_report``, which also says what was run."""
    lifting = {key: options.pop(key) for key in ("kernel", "bandwidth", "lift")}
    with busy("making the page"):
        return report_about(None, partitions, X, lifting=lifting, **options)
