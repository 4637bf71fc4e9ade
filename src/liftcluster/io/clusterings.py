"""Points and their clusterings out of one or more files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from .._util.typing import Array, FloatArray
from .._util.validation import column_ranges
from ..partitions.partition import Partition
from .inputs import split_names
from .matching import Wishes, match_rows
from .open import open_table
from .table import CellError, InputError, Table, first_repeated, listed

__all__ = ["Clusterings", "read_clusterings"]

_FAR_APART = 100.0  # ratio of spreads beyond which the widest column is all that counts
_MANY_TIMES = 1e6  # beyond which only the size of such a ratio is shown


@dataclass(frozen=True, eq=False)
class Clusterings:
    """What :func:`read_clusterings` found.

    Attributes
    ----------
    X : (n, d) array or None
    columns : list of str
        Where X came from.
    partitions : dict of Partition by name
    ids : (n,) array or None
    notes : list of str
        What was chosen for the user, and what looks odd: to be shown.
    """

    X: Array | None
    columns: list[str]
    partitions: dict[str, Partition]
    ids: Array | None = None
    id_name: str | None = None
    view: FloatArray | None = None
    notes: list[str] = field(default_factory=list)


def read_clusterings(
    path: str | PathLike[str],
    *,
    labels: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    labels_files: Sequence[str | PathLike[str]] = (),
    memberships: Sequence[str] = (),
    id: str | None = None,
    view: Sequence[str] = (),
    standardize: bool = False,
    points: bool = True,
) -> Clusterings:
    """Points and clusterings of them out of tables.

    Parameters
    ----------
    path : path
        The points: CSV or TSV (also gzipped), Parquet, npy, npz or h5ad.
    labels : sequence of str
        Columns that hold one clustering each, here or in ``labels_files``.
    columns : sequence of str, optional
        The coordinates; by default all columns of numbers that serve for nothing else.
    labels_files : sequence of paths
        More tables with labels of the same points.
    memberships : sequence of str
        Soft clusterings: ``"name=column,column,..."``, a block, or ``"name=file"`` of a matrix.
    id : str, optional
        The column by whose values rows of different files belong together; else by their order.
    view : two columns to draw the points by
    standardize : bool
        Give each coordinate mean zero and standard deviation one.
    points : bool
        False to leave the coordinates alone and compare labels only.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "mine.csv")
    >>> _ = path.write_text("x,y,mine\\n0,1,a\\n2,3,b\\n")
    >>> found = read_clusterings(path, labels=["mine"])
    >>> found.X.tolist(), found.partitions, found.columns
    ([[0.0, 1.0], [2.0, 3.0]], {'mine': Partition(hard, n=2, k=2)}, ['x', 'y'])
    >>> folder.cleanup()
    """
    main = Wishes(open_table(path))
    others = [Wishes(open_table(file)) for file in labels_files]
    notes: list[str] = []
    where = _find_labels(main, others, labels, id, wants_some=not memberships)
    soft = [_find_memberships(main, others, text) for text in memberships]
    _refuse_twice([*where, *(name for name, _, _ in soft)])
    drawn = main.want(view, as_numbers=True)
    if len(drawn) not in (0, 2):
        raise InputError(f"a view is two columns of {main.table.path}, got {listed(drawn)}")
    coordinates = (
        _choose_points(main, columns, {*where, *main.numbers}, id, notes) if points else []
    )
    files = [main, *others, *(w for _, w, _ in soft if w is not main and w not in others)]
    try:
        match_rows(files, id, notes)
    except CellError as error:
        if columns or error.column not in coordinates:
            raise
        hint = f"{error.column!r} was taken for a coordinate, choose them with --columns"
        raise InputError(f"{error} ({hint})") from None
    partitions = {name: _labels(wishes, name, notes) for name, wishes in where.items()}
    partitions |= {name: _memberships(name, w, columns) for name, w, columns in soft}
    X = main.block(coordinates) if points else None
    if X is not None:
        X = _standardized(X) if standardize else X
        _note_scales(X, coordinates, standardize, notes)
    return Clusterings(
        X,
        coordinates,
        partitions,
        ids=None if id is None else main.column(id),
        id_name=id,
        view=main.block(drawn).astype(np.float64) if drawn else None,
        notes=notes,
    )


def _find_labels(
    main: Wishes, others: list[Wishes], labels: Sequence[str], id: str | None, *, wants_some: bool
) -> dict[str, Wishes]:
    """In which file each labelling is; by default all columns of the files of labels."""
    if not labels and others:
        pairs = [(n, w) for w in others for n in w.want(_but(w.table, id), as_numbers=False)]
        _refuse_twice([name for name, _ in pairs])
        return dict(pairs)
    if not labels and wants_some:
        names = listed(_but(main.table, id))
        raise InputError(
            f"say with --labels which columns are clusterings; {main.table.path} has {names}"
        )
    _refuse_twice(list(labels))
    where: dict[str, Wishes] = {}
    for label in labels:
        having = [w for w in (*others, main) if label in w.table.names or "*" in label]
        homes = having or [*others, main]
        if len(having) > 1 and "*" not in label:
            paths = listed([w.table.path for w in having])
            raise InputError(f"the column {label!r} is in several files: {paths}; rename one")
        where |= dict.fromkeys(homes[0].want([label], as_numbers=False), homes[0])
    return where


def _find_memberships(
    main: Wishes, others: list[Wishes], text: str
) -> tuple[str, Wishes, list[str]]:
    """The name of a soft clustering, and which columns of which file make it up."""
    name, equals, rest = text.partition("=")
    names = split_names(rest if equals else text)
    for wishes in (*others, main):
        if all(n in wishes.table.names or "*" in n for n in names):
            return name.strip(), wishes, wishes.want(names, as_numbers=True)
    file = Path(rest if equals else text)
    if file.is_file():
        wishes = Wishes(open_table(file))
        return name if equals else file.stem, wishes, []
    missing = next(n for n in names if n not in main.table.names)
    raise InputError(
        f"--memberships {text!r}: {missing!r} is neither a column of {main.table.path} nor a file; "
        "write name=column,column,... or name=file"
    )


def _choose_points(
    main: Wishes, columns: Sequence[str] | None, taken: set[str], id: str | None, notes: list[str]
) -> list[str]:
    if columns:
        chosen = main.want(columns, as_numbers=True)
        if both := [name for name in chosen if name in main.texts]:
            notes.append(f"{both[0]!r} is both a coordinate and a clustering")
        return chosen
    likely = main.table.likely_points({*taken, *([] if id is None else [id])})
    if not likely:
        raise InputError(
            f"{main.table.path} has no columns of numbers besides; choose the coordinates with "
            "--columns, or compare labels alone with --labels-only"
        )
    main.want(likely, as_numbers=True)
    notes.append(
        f"points: {_in_short(likely)} (all columns of numbers that serve for nothing else; "
        "--columns chooses)"
    )
    return likely


def _in_short(names: list[str]) -> str:
    if len(names) <= 8:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, …, {names[-1]} ({len(names)} columns)"


def _labels(wishes: Wishes, name: str, notes: list[str]) -> Partition:
    try:
        partition = Partition.from_labels(wishes.column(name))
    except (TypeError, ValueError) as error:
        raise InputError(f"{wishes.table.path}, column {name!r}: {error}") from None
    if partition.k > max(partition.n // 2, 20):
        notes.append(
            f"{name!r} has {partition.k:,} different values for {partition.n:,} points; is it a "
            "clustering?"
        )
    return partition


def _memberships(name: str, wishes: Wishes, columns: list[str]) -> Partition:
    columns = columns or wishes.numbers
    try:
        R = wishes.block(columns)
        names = columns if R.shape[1] == len(columns) else None
        return Partition.from_memberships(R, names=names)
    except (TypeError, ValueError) as error:
        raise InputError(f"memberships {name!r} of {wishes.table.path}: {error}") from None


def _standardized(X: Array) -> FloatArray:
    """Mean zero, deviation one; a column that never varies is zero."""
    Z = X / _magnitudes(X)
    spread = Z.std(axis=0)
    return np.asarray((Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _magnitudes(X: Array) -> FloatArray:
    """The largest number of each column, in units of which no square is too large or too small."""
    low, high = column_ranges(X)
    largest = np.maximum(-low.astype(np.float64), high.astype(np.float64))
    return np.where(largest > 0, largest, 1.0)


def _note_scales(X: Array, columns: list[str], standardized: bool, notes: list[str]) -> None:
    if standardized or X.shape[1] != len(columns) or X.shape[1] < 2:
        return
    unit = _magnitudes(X)
    spread = (X / unit).std(axis=0) * unit
    wide, narrow = int(spread.argmax()), int(np.where(spread > 0, spread, np.inf).argmin())
    if spread[wide] > _FAR_APART * spread[narrow] > 0:
        with np.errstate(over="ignore"):
            times = spread[wide] / spread[narrow]
        shown = f"{times:,.0f}" if times < _MANY_TIMES else f"{times:.0e}"
        notes.append(
            f"{columns[wide]!r} varies {shown} times as much as {columns[narrow]!r} and will "
            "outweigh it; --standardize gives all the same weight"
        )


def _but(table: Table, id: str | None) -> list[str]:
    return [name for name in table.names if name != id]


def _refuse_twice(names: list[str]) -> None:
    if (twice := first_repeated(names)) is not None:
        raise InputError(f"two clusterings are called {twice!r}; give one another name")
