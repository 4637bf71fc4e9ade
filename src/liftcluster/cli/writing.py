"""What the commands write to files: tables of the points, and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.files import atomic_write
from ..io import Clusterings

if TYPE_CHECKING:
    from ..comparison.drifting import Drift
    from ..comparison.resampling.resolutions import ResolutionTree
    from ..comparison.resampling.result import Stability


def write_tree(out: Path, found: ResolutionTree, text: str) -> None:
    suffix = out.suffix.lower()
    if suffix == ".json":
        with atomic_write(out) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        return
    axes = found.plot()  # an error that says what to install, if matplotlib is missing
    import matplotlib.pyplot as plt

    try:
        # No date, and the same identifiers each time: the same tree is the same file.
        with plt.rc_context({"svg.hashsalt": "liftcluster"}), atomic_write(out) as temporary:
            options = {"Date": None} if suffix == ".svg" else {"CreationDate": None}
            axes.figure.savefig(
                temporary,
                format=suffix[1:],
                dpi=150,
                bbox_inches="tight",
                metadata=None if suffix == ".png" else options,
            )
    finally:
        plt.close(axes.figure)


def columns_of_stability(found: Stability, read: Clusterings) -> dict[str, Any]:
    """The columns that are written: ids if there are any, the cluster and the stability."""
    return ids_of(read) | {
        "cluster": _names_of_clusters(found.reference),
        "stability": found.points,
    }


def columns_of_samples(
    found: Drift, samples: list[Clusterings], names: tuple[str, str]
) -> dict[str, Any]:
    """The columns that are written: the sample, ids if there are any, and the cluster."""
    tables = [
        {"sample": np.full(p.n, name)} | ids_of(read) | {"cluster": _names_of_clusters(p)}
        for name, read, p in zip(names, samples, (found.a, found.b), strict=True)
    ]
    return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}


def ids_of(read: Clusterings) -> dict[str, Any]:
    return {} if read.ids is None else {str(read.id_name): np.asarray(read.ids)}


def _names_of_clusters(partition: Any) -> Any:
    """The name of each point's cluster, empty for noise."""
    return np.array([*map(str, partition.names), ""])[partition.labels]


def say_what_is_written(quiet: bool, hint: str, *files: Any) -> None:
    written = ", ".join(str(file) for file in files if file is not None)
    if not quiet and (written or hint):
        print(f"liftcluster: {f'written to {written}' if written else hint}", file=sys.stderr)
