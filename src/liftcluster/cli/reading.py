"""Reading the files that are named on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..io import check_file
from . import options as o

if TYPE_CHECKING:
    from ..io import Clusterings


def read_files(
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
    """The points and clusterings that the options of a command name."""
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


def files_read(
    points: Path, labels_file: list[Path] | None, memberships: list[str] | None
) -> list[Path]:
    """Every file that may be read; memberships may be columns or files."""
    return [points, *(labels_file or []), *(Path(m.split("=", 1)[-1]) for m in memberships or [])]
