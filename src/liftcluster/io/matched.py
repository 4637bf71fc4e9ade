"""Columns of several tables whose rows describe the same points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .._util.typing import Array, IntArray
from .input_checks import InputError
from .table import Table, quoted


@dataclass
class TableFile:
    """A table and the columns that are read from it."""

    table: Table
    texts: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    rows: IntArray | None = None  # the row of each point, if they are matched by id
    values: dict[str, Array] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values.values())))

    def add(self, names: Sequence[str], *, as_numbers: bool) -> list[str]:
        """Select columns, and return their names."""
        chosen = self.table.choose(names, None if as_numbers else self.table.label_names)
        selected = self.numbers if as_numbers else self.texts
        before = set(selected)
        selected += [name for name in chosen if name not in before]
        return chosen

    def column(self, name: str) -> Array:
        """The values of a column, one per point."""
        values = self.values[name]
        return values if self.rows is None else values[self.rows]

    def block(self, names: Sequence[str]) -> Array:
        """Columns and blocks side by side, (n, d)."""
        parts = [self.column(name) for name in names]
        return parts[0] if len(parts) == 1 and parts[0].ndim == 2 else np.column_stack(parts)


def default_id(
    main: TableFile, others: list[TableFile], id: str | None, notes: list[str]
) -> tuple[str | None, str | None]:
    """The column by which rows are matched, and that of the ids that are written.

    By default those that the format has, such as barcodes. Rows are not matched by them if another
    file does not have them, and then they need not differ.
    """
    own = main.table.id_name
    if id is not None or own is None:
        return id, id
    if not others or not all(own in file.table.names for file in others):
        return None, own
    notes.append(f"rows of the files are matched by {own}")
    return own, own


def read_matched(
    files: list[TableFile],
    id: str | None,
    notes: list[str],
    may_miss: Sequence[str],
    shown: Sequence[str],
) -> None:
    """Read all files, and match their rows to those of the first by the column ``id``."""
    main = files[0]
    for file in files:
        if id is not None and (file is main or id in file.table.names):
            file.add([id], as_numbers=False)
        if not (file.numbers or [name for name in file.texts if name != id]):  # a matrix
            file.add(file.table.default_points([id]), as_numbers=True)
        optional = may_miss if file is main else []
        file.values = file.table.read(
            file.numbers, file.texts, optional, shown if file is main else []
        )
    index = {} if id is None else _row_of_id(main, id)
    for file in files[1:]:
        if id is not None and id in file.values:
            file.rows = _matching_rows(index, file, id, main, notes)
        elif file.n_rows != main.n_rows:
            raise InputError(
                f"{main.table.path} has {main.n_rows:,} rows and {file.table.path} has "
                f"{file.n_rows:,}; they must describe the same points, or share an --id column"
            )


def _row_of_id(file: TableFile, id: str) -> dict[str, int]:
    """The row of each id, as text: 7 in one file is "7" in another that also has "x7"."""
    rows: dict[str, int] = {}
    for i, value in enumerate(file.values[id].tolist()):
        if value is None:
            raise InputError(f"{file.table.path} has no {id!r} for point {i + 1}; fill it in")
        value = str(value)
        if value in rows:
            raise InputError(
                f"{file.table.path} has {value!r} twice in its column {id!r}; ids must be unique"
            )
        rows[value] = i
    return rows


def _matching_rows(
    index: dict[str, int], file: TableFile, id: str, main: TableFile, notes: list[str]
) -> IntArray:
    row_of = _row_of_id(file, id)
    if missing := [value for value in index if value not in row_of]:
        raise InputError(
            f"{file.table.path} lacks {len(missing):,} of the {len(index):,} ids in column "
            f"{id!r} of {main.table.path}: {quoted(missing, 3)}; add them, with an empty label if "
            "they have none"
        )
    if (extra := len(row_of) - len(index)) > 0:
        notes.append(f"{file.table.path}: {extra:,} rows with unknown ids are ignored")
    return np.fromiter((row_of[value] for value in index), np.int64, len(index))
