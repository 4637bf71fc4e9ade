"""Reading the files that a command is given, and checking those that it is to write."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.files import temporary_copy
from ..io import InputError, check_file, check_target
from ..io.input_checks import name_stdin
from . import options as o

if TYPE_CHECKING:
    from ..io import Clusterings

_STDIN = Path("-")
VIEWS = ("pca", "neighbours")  # planes that are computed

View = Annotated[
    str | None,
    typer.Option(
        "--view",
        help="Plane of the plots of points: pca (two principal components), neighbours (an "
        "embedding that keeps neighbours together), two columns (umap1,umap2), or a block of an "
        "h5ad file (X_umap). Default: whichever of the first two suits.",
        autocompletion=o.complete(VIEWS),
        rich_help_panel=o.FILES,
        show_default=False,
    ),
]


def read_input(
    points: Path,
    columns: list[str] | None,
    labels: list[str] | None,
    labels_file: list[Path] | None,
    memberships: list[str] | None,
    id: str | None,
    standardize: bool,
    labels_only: bool,
    how: o.Reading,
    view: str | None = None,
    further: int = 0,
) -> Clusterings:
    """Points and clusterings, as the options of a command say."""
    names, coordinates = o.names_of(labels), o.names_of(columns) or None
    drawn = [] if view is None or view in VIEWS else o.names_of([view])
    with _opened([points, *(labels_file or [])]) as (file, *more):
        from ..io import read_clusterings

        read = read_clusterings(
            file,
            labels=names,
            columns=coordinates,
            labels_files=more,
            memberships=memberships or [],
            id=id,
            view=drawn,
            standardize=standardize,
            points=not labels_only,
            further=further,
            **_as_options(how),
        )
        return replace(read, notes=[name_stdin(note, file) for note in read.notes])


def read_runs(
    points: Path,
    columns: list[str] | None,
    labels: list[str] | None,
    labels_file: list[Path] | None,
    id: str | None,
    standardize: bool,
    how: o.Reading,
    view: str | None = None,
) -> Clusterings:
    """Points and two or more clusterings; those of a pattern go from few to many clusters."""
    read = read_input(points, columns, labels, labels_file, None, id, standardize, False, how, view)
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
    how: o.Reading,
) -> list[Clusterings]:
    """Two samples with the same coordinates, of one clustering or of none."""
    names, coordinates = o.names_of(labels), o.names_of(columns) or None
    found: list[Clusterings] = []
    with _opened(files) as opened:
        from ..io import read_clusterings
        from ..io.scales import standardize_together

        for file in opened:
            read = read_clusterings(
                file,
                labels=names,
                columns=coordinates,
                id=id,
                labels_required=False,
                **_as_options(how),
            )
            found.append(replace(read, notes=[name_stdin(note, file) for note in read.notes]))
            coordinates = found[0].columns
    if not standardize:
        return found
    together = standardize_together([read.X for read in found])
    return [replace(read, X=X) for read, X in zip(found, together, strict=True)]


def about_points(read: Clusterings) -> dict[str, Any]:
    """Names of the coordinates, ids and further columns, as a page takes them."""
    columns = dict(read.further)
    ids = columns.pop("obs_names", None)  # of h5ad
    if read.ids is not None:
        ids = read.ids if read.kept is None else read.ids[read.kept.rows]
    return {"columns": columns, "features": feature_names(read), "ids": ids}


def feature_names(read: Clusterings) -> list[str]:
    """Names of the columns of X; those of a block are numbered.

    >>> import numpy as np
    >>> from types import SimpleNamespace as Fake
    >>> feature_names(Fake(X=np.zeros((5, 2)), columns=["X_pca"]))
    ['X_pca 1', 'X_pca 2']
    """
    d = 0 if read.X is None else read.X.shape[1]
    if len(read.columns) == d:
        return read.columns
    name = read.columns[0] if len(read.columns) == 1 else "feature"
    return [f"{name} {j}" for j in range(1, d + 1)]


def plane_of(read: Clusterings, view: str | None) -> Any:
    """What --view asks for: coordinates that were read, a word, or None."""
    if read.view is None or read.view_names is None:
        return view
    from ..viz.layout import View

    return View(read.view, read.view_names)


@contextmanager
def _opened(files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files, checked; stdin as a temporary copy, which errors call stdin."""
    if files.count(_STDIN) > 1:
        raise InputError("stdin can be read only once; save one of the tables to a file")
    for file in files:
        if file != _STDIN:
            check_file(file)
    opened = [_copy_of_stdin() if file == _STDIN else file for file in files]
    try:
        for file in opened:
            check_file(file)
        yield opened
    except InputError as error:
        message = str(error)
        for given, file in zip(files, opened, strict=True):
            message = name_stdin(message, file) if given == _STDIN else message
        raise InputError(message) from error


def _copy_of_stdin() -> Path:
    if sys.stdin.isatty():
        raise InputError("- is stdin, which is a terminal; pipe a table into the command")
    return temporary_copy(sys.stdin.buffer, "stdin")


def _as_options(how: o.Reading) -> dict[str, Any]:
    from ..io.csv_files import TextFormat

    return {"missing": how.missing, "text": TextFormat(how.encoding, how.decimal)}


def files_read(
    points: Path, labels_file: list[Path] | None, memberships: list[str] | None = None
) -> list[Path]:
    """Every file that may be read; memberships may be columns or files."""
    return [points, *(labels_file or []), *(Path(m.split("=", 1)[-1]) for m in memberships or [])]


def check_out(out: str | None, json: bool, inputs: list[Path], append: bool = False) -> None:
    """Check the table that --out asks for, before any work."""
    if append and out is None:
        raise InputError("--append needs --out, the file for the whole table; it may be the input")
    if out is not None and out != "-":
        # The whole table may replace itself; its format is checked once it has been read.
        check_target(out, o.APPENDED if append else o.TABLES, inputs[1:] if append else inputs)
    if out == "-" and json:
        raise InputError("--json and --out - both write to stdout; choose one")
