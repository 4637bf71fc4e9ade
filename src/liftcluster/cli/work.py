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


def about_points(read: Clusterings) -> dict[str, Any]:
    """Names of the coordinates, ids and further columns, as a page takes them."""
    columns = dict(read.further)
    ids = columns.pop("obs_names", None)  # of h5ad
    if read.ids is not None:
        ids = read.ids if read.kept is None else read.ids[read.kept.rows]
    return {"columns": columns, "features": feature_names(read), "ids": ids}


def feature_names(read: Clusterings) -> list[str]:
    """Names of the columns of X; those of a block are numbered.

    >>> from types import SimpleNamespace as Fake
    >>> feature_names(Fake(X=np.zeros((5, 2)), columns=["X_pca"]))
    ['X_pca 1', 'X_pca 2']
    """
    d = 0 if read.X is None else read.X.shape[1]
    if len(read.columns) == d:
        return read.columns
    name = read.columns[0] if len(read.columns) == 1 else "feature"
    return [f"{name} {j}" for j in range(1, d + 1)]
