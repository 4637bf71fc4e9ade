"""The function read_clusterings: points and their clusterings from one or more files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._util.typing import Array, FloatArray
from ..partitions.partition import Partition
from .coordinates import ROW_NUMBERS, appended_results, not_coordinates
from .csv_files import TextFormat, TextTable
from .formats import open_table
from .further import further_names, with_label_names
from .gaps import KeptRows, Missing, without_gaps
from .input_checks import CellError, InputError, split_names
from .matched import TableFile, default_id, read_matched
from .scales import note_scales, standardized
from .table import Table, first_repeated, quoted

_MANY = 100  # clusters of one point each, from which they are ids


@dataclass(frozen=True, eq=False)
class Clusterings:
    """Points and clusterings from :func:`read_clusterings`."""

    X: Array | None  # (n, d), the points
    columns: list[str]  # names of the columns of X
    partitions: dict[str, Partition]
    ids: Array | None  # of all rows of the table, the column ``id_name``
    id_name: str | None
    view: FloatArray | None  # (n, 2), coordinates to draw the points at
    view_names: tuple[str, str] | None  # of these coordinates
    notes: list[str]  # messages for the user about defaults and suspicious input
    table: Table  # of the points
    kept: KeptRows | None = None  # if some rows are no points, for lack of coordinates
    further: dict[str, Array] = field(default_factory=dict)  # other columns, one value per point

    @property
    def n_rows(self) -> int:
        """Rows of the table: the points, and those that were left out."""
        if self.kept is not None:
            return self.kept.n
        return len(self.X) if self.X is not None else next(iter(self.partitions.values())).n

    def spread(self, values: Any) -> Any:
        """Values of the points in the rows of the table; masked where a row is no point."""
        return values if self.kept is None else self.kept.spread(values)


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
    labels_required: bool = True,
    missing: Missing = "error",
    text: TextFormat | None = None,
    further: int = 0,
) -> Clusterings:
    """Read points and their clusterings from files.

    Parameters
    ----------
    path : path
        The points: CSV or TSV (also gzipped), Parquet, npy, npz or h5ad.
    labels : sequence of str
        Columns with one clustering each, in ``path`` or ``labels_files``: names or patterns. The
        pattern * stands for all but ``columns`` and ``id``.
    columns : sequence of str, optional
        The coordinates; by default all numeric columns that are not used otherwise, but not
        integers that are ids or labels by their names, or numbers of the rows.
    labels_files : sequence of paths
        More files with labels of the same points.
    memberships : sequence of str
        Soft clusterings: ``"name=column,column,..."``, a block, or ``"name=file"`` of a matrix.
    id : str, optional
        The column by which the rows of different files are matched; by default the names of the
        cells if all are h5ad files or have a column obs_names, else by position.
    view : sequence of str
        Two columns, or a block of two, to draw the points by. They are no coordinates by default.
    standardize : bool
        Scale each coordinate to mean zero and standard deviation one.
    points : bool
        False to read labels only.
    labels_required : bool
        False if the points alone are enough.
    missing : "error", "drop" or "median"
        What to do with points that lack a coordinate.
    text : TextFormat, optional
        How text files are written, if that is not to be inferred.
    further : int
        How many other columns of ``path`` are read as well, to be shown; and the coordinates as
        they are in the file, if they are standardised.

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
    main = TableFile(open_table(path, text))
    others = [TableFile(open_table(file, text)) for file in labels_files]
    notes = [note for file in (main, *others) for note in file.table.notes]
    id, shown_id = default_id(main, others, id, notes)
    if missing != "error" and not points:
        raise InputError("--missing cannot apply to labels alone, of which any may be empty")
    no_labels = {id, *(main.table.choose(columns or []) if "*" in labels else ())}
    required = labels_required and not memberships
    where = _find_labels(main, others, labels, id, no_labels, required=required)
    soft = [_find_memberships(main, others, each, text) for each in memberships]
    _check_unique_names([*where, *(name for name, _, _ in soft)])
    drawn = _find_view(main, view)
    taken = {*where, *main.numbers, id}
    coordinates = _choose_points(main, columns, taken, list(where), notes) if points else []
    shown = further_names(main.table, {*taken, *main.numbers, *main.texts}, further, notes)
    main.add(shown, as_numbers=False)
    files = [main, *others, *(f for _, f, _ in soft if f is not main and f not in others)]
    if text not in (None, TextFormat()) and not any(isinstance(f.table, TextTable) for f in files):
        raise InputError(f"--encoding and --decimal are for CSV and TSV files, not {path}")
    may_miss = [*coordinates, *drawn]
    if shown_id is not None:
        main.add([shown_id], as_numbers=False)
    try:
        read_matched(files, id, notes, may_miss, shown)
        kept, found = without_gaps(main.table, main.values, may_miss, missing)
    except CellError as error:
        if columns or error.column not in coordinates:
            raise
        hint = f"{error.column!r} is a coordinate by default; select them with --columns"
        raise InputError(f"{error} ({hint})") from None
    notes += found
    ids = None if shown_id is None else np.asarray(main.column(shown_id))
    if kept is not None:
        for file in files:
            file.rows = kept.rows if file.rows is None else file.rows[kept.rows]
    partitions = {name: _labels(file, name, notes) for name, file in where.items()}
    partitions |= {name: _memberships(name, file, names) for name, file, names in soft}
    X = main.block(coordinates) if points else None
    other = with_label_names({name: main.column(name) for name in shown}, list(where))
    if X is not None and standardize:
        raw = {name: main.column(name) for name in coordinates} if further else {}
        other = {name: values for name, values in raw.items() if values.ndim == 1} | other
        X = standardized(X)
    elif X is not None and X.shape[1] == len(coordinates) > 1:
        note_scales(X, coordinates, notes)
    Z, axes = _view(main, drawn)
    table = main.table
    return Clusterings(
        X, coordinates, partitions, ids, shown_id, Z, axes, notes, table, kept, other
    )


def _find_labels(
    main: TableFile,
    others: list[TableFile],
    labels: Sequence[str],
    id: str | None,
    no_labels: set[str | None],
    *,
    required: bool,
) -> dict[str, TableFile]:
    """The file of each column of labels; by default all columns of ``others``.

    The pattern * stands for all columns but those in ``no_labels``.
    """
    if not labels and others:
        pairs = [(n, f) for f in others for n in f.add(_columns_but(f, id), as_numbers=False)]
        _check_unique_names([name for name, _ in pairs])
        return dict(pairs)
    if not labels and required:
        has = f"{main.table.path} has {quoted(_columns_but(main, id))}"
        raise InputError(f"select the columns of clusterings with --labels; {has}")
    _check_unique_names(list(labels))
    where: dict[str, TableFile] = {}
    for label in labels:
        found = [f for f in (*others, main) if label in f.table.names or "*" in label]
        if len(found) > 1 and "*" not in label:
            paths = quoted([f.table.path for f in found])
            raise InputError(f"the column {label!r} is in several files: {paths}; rename one")
        file = (found or [*others, main])[0]
        names = [label]
        if label == "*":
            names = [name for name in file.table.label_names if name not in no_labels]
            if not names:
                raise InputError(f"{file.table.path} has no column left for --labels '*'")
        where |= dict.fromkeys(file.add(names, as_numbers=False), file)
    return where


def _find_memberships(
    main: TableFile, others: list[TableFile], text: str, written: TextFormat | None
) -> tuple[str, TableFile, list[str]]:
    """The name of a soft clustering, its file and its columns (none for all)."""
    name, equals, rest = text.partition("=")
    names = split_names(rest if equals else text)
    for file in (*others, main):
        if all(n in file.table.names or "*" in n for n in names):
            return name.strip(), file, file.add(names, as_numbers=True)
    path = Path(rest if equals else text)
    if path.is_file():
        return name if equals else path.stem, TableFile(open_table(path, written)), []
    missing = next(n for n in names if n not in main.table.names)
    raise InputError(
        f"--memberships {text!r}: {missing!r} is neither a column of {main.table.path} nor a file; "
        "write name=column,column,... or name=file"
    )


def _find_view(main: TableFile, names: Sequence[str]) -> list[str]:
    """The columns or the block to draw by."""
    try:
        drawn = main.add(names, as_numbers=True)
    except InputError as error:
        raise InputError(f"--view: {error}; or pca or neighbours, which are computed") from None
    if len(drawn) > 2:
        raise InputError(f"--view must be two columns of {main.table.path}, got {quoted(drawn)}")
    return drawn


def _view(main: TableFile, drawn: list[str]) -> tuple[FloatArray | None, tuple[str, str] | None]:
    """Coordinates (n, 2) to draw the points at, and their names."""
    if not drawn:
        return None, None
    Z = main.block(drawn).astype(np.float64)
    if Z.shape[1] != 2:
        several = f"{drawn[0]!r} has {Z.shape[1]}" if len(drawn) == 1 else f"got {Z.shape[1]}"
        raise InputError(
            f"--view must be two columns, or a block of two, of {main.table.path}; {several}"
        )
    first, second = drawn if len(drawn) == 2 else (f"{drawn[0]} 1", f"{drawn[0]} 2")
    return Z, (first, second)


def _choose_points(
    main: TableFile,
    columns: Sequence[str] | None,
    taken: set[str | None],
    labels: Sequence[str],
    notes: list[str],
) -> list[str]:
    if columns:
        chosen = main.add(columns, as_numbers=True)
        if both := [name for name in chosen if name in main.texts]:
            notes.append(f"{both[0]!r} is both a coordinate and a clustering")
        return chosen
    numeric = main.table.default_points(taken)
    left_out = not_coordinates(main.table.first_integers(numeric), labels)
    left_out |= appended_results(numeric, main.table.names)
    if len(left_out) == len(numeric):  # numbers of the rows are better than nothing
        left_out = {name: kind for name, kind in left_out.items() if kind != ROW_NUMBERS}
    chosen = [name for name in numeric if name not in left_out]
    kinds = {
        what: [name for name in numeric if left_out.get(name) == what] for what in left_out.values()
    }
    without = ", ".join(f"{_few(names)} ({what})" for what, names in kinds.items())
    if not chosen:
        but = f" but {without}" if without else ""
        raise InputError(
            f"{main.table.path} has no other numeric columns{but}; "
            "select the coordinates with --columns, or compare labels without points with "
            "--labels-only"
        )
    main.add(chosen, as_numbers=True)
    why = f"; left out: {without};" if without else " (all other numeric columns);"
    notes.append(f"points: {_few(chosen)}{why} select with --columns")
    return chosen


def _few(names: Sequence[str]) -> str:
    """Names, or the first two and the last of many."""
    if len(names) <= 8:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, …, {names[-1]} ({len(names)} columns)"


def _labels(file: TableFile, name: str, notes: list[str]) -> Partition:
    try:
        partition = Partition.from_labels(file.column(name), noise=file.table.noise)
    except (TypeError, ValueError) as error:
        raise InputError(f"{file.table.path}, column {name!r}: {error}") from None
    if partition.k >= _MANY and partition.k == partition.is_clustered.sum():
        raise InputError(
            f"{file.table.path}, column {name!r} has another value for each of {partition.k:,} "
            "points: an id, not a clustering; leave it out of --labels, or give it as --id"
        )
    if partition.k > max(partition.n // 2, 20):
        notes.append(
            f"{name!r} has {partition.k:,} different values for {partition.n:,} points; check "
            "that it is a clustering"
        )
    return partition


def _memberships(name: str, file: TableFile, columns: list[str]) -> Partition:
    columns = columns or file.numbers
    try:
        R = file.block(columns)
        return Partition.from_memberships(R, names=columns if R.shape[1] == len(columns) else None)
    except (TypeError, ValueError) as error:
        raise InputError(f"memberships {name!r} of {file.table.path}: {error}") from None


def _columns_but(file: TableFile, id: str | None) -> list[str]:
    return [name for name in file.table.label_names if name != id]


def _check_unique_names(names: list[str]) -> None:
    if (twice := first_repeated(names)) is not None:
        raise InputError(f"two clusterings are called {twice!r}; rename one of them")
