"""Reading the files that a command is given, and checking those that it is to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..io import InputError, check_file, check_target
from . import options as o

if TYPE_CHECKING:
    from ..io import Clusterings


def read_input(
    points: Path,
    columns: list[str] | None,
    labels: list[str] | None,
    labels_file: list[Path] | None,
    memberships: list[str] | None,
    id: str | None,
    standardize: bool,
    labels_only: bool,
    view: str | None = None,
) -> Clusterings:
    """Points and clusterings, as the options of a command say."""
    names, coordinates = o.names_of(labels), o.names_of(columns) or None
    drawn = [] if view is None else o.names_of([view])
    for file in (points, *(labels_file or [])):
        check_file(file)
    from ..io import read_clusterings

    return read_clusterings(
        points,
        labels=names,
        columns=coordinates,
        labels_files=labels_file or [],
        memberships=memberships or [],
        id=id,
        view=drawn,
        standardize=standardize,
        points=not labels_only,
    )


def read_runs(
    points: Path,
    columns: list[str] | None,
    labels: list[str] | None,
    labels_file: list[Path] | None,
    id: str | None,
    standardize: bool,
) -> Clusterings:
    """Points and two or more clusterings; those of a pattern go from few to many clusters."""
    read = read_input(points, columns, labels, labels_file, None, id, standardize, False)
    if len(read.partitions) < 2:
        raise InputError("one clustering cannot be compared with others; give --labels two or more")
    if labels and not any("*" in name for name in labels):
        return read
    from ..comparison.resampling.resolutions import from_coarse_to_fine

    return replace(read, partitions=from_coarse_to_fine(read.partitions))


def read_samples(
    files: Sequence[Path],
    columns: list[str] | None,
    labels: list[str] | None,
    id: str | None,
    standardize: bool,
) -> list[Clusterings]:
    """Two samples with the same coordinates, of one clustering or of none."""
    names, coordinates = o.names_of(labels), o.names_of(columns) or None
    for file in files:
        check_file(file)
    from ..io import read_clusterings
    from ..io.clusterings import standardize_together

    found: list[Clusterings] = []
    for file in files:
        found.append(
            read_clusterings(file, labels=names, columns=coordinates, id=id, labels_required=False)
        )
        coordinates = found[0].columns
    if not standardize:
        return found
    together = standardize_together([read.X for read in found])
    return [replace(read, X=X) for read, X in zip(found, together, strict=True)]


def files_read(
    points: Path, labels_file: list[Path] | None, memberships: list[str] | None = None
) -> list[Path]:
    """Every file that may be read; memberships may be columns or files."""
    return [points, *(labels_file or []), *(Path(m.split("=", 1)[-1]) for m in memberships or [])]


def check_out(out: str | None, json: bool, inputs: list[Path]) -> None:
    """Check the table that --out asks for, before any work."""
    if out is not None and out != "-":
        check_target(out, o.TABLES, inputs)
    if out == "-" and json:
        raise InputError("--json and --out - both write to stdout; choose one")
