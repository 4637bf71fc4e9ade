"""Which row of which file belongs to which point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .._util.typing import Array, IntArray
from .table import InputError, Table, listed

__all__ = ["Wishes", "match_rows"]


@dataclass
class Wishes:
    """Which columns are to be read from one table, and as what."""

    table: Table
    texts: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    rows: IntArray | None = None  # which row belongs to each point
    found: dict[str, Array] = field(default_factory=dict)

    def want(self, names: Sequence[str], *, as_numbers: bool) -> list[str]:
        chosen = self.table.choose(names)
        wanted = self.numbers if as_numbers else self.texts
        have = set(wanted)
        wanted += [name for name in chosen if name not in have]
        return chosen

    def read(self) -> None:
        self.found = self.table.read(self.numbers, self.texts)

    def column(self, name: str) -> Array:
        values = self.found[name]
        return values if self.rows is None else values[self.rows]

    def block(self, names: Sequence[str]) -> Array:
        """Columns and blocks side by side."""
        parts = [self.column(name) for name in names]
        return parts[0] if len(parts) == 1 and parts[0].ndim == 2 else np.column_stack(parts)


def match_rows(files: list[Wishes], id: str | None, notes: list[str]) -> None:
    """Read every file and say which of its rows belongs to which point."""
    main = files[0]
    if id is not None:
        main.want([id], as_numbers=False)
    for wishes in files:
        if id is not None and id in wishes.table.names:
            wishes.want([id], as_numbers=False)
        if not (wishes.numbers or [t for t in wishes.texts if t != id]):  # a matrix, all of it
            likely = wishes.table.likely_points([] if id is None else [id])
            wishes.want(likely, as_numbers=True)
        wishes.read()
    n = _length(main)
    index = None if id is None else _index(main, id)
    for wishes in files[1:]:
        if id is not None and id in wishes.found:
            wishes.rows = _rows_of(index, wishes, id, main, notes)
        elif _length(wishes) != n:
            raise InputError(
                f"{main.table.path} has {n:,} rows and {wishes.table.path} has "
                f"{_length(wishes):,}; they must describe the same points, or share an --id column"
            )


def _index(wishes: Wishes, id: str) -> dict[str, int]:
    """The row of each id, as text: 7 in one file is "7" in another that also has an "x7"."""
    rows: dict[str, int] = {}
    for i, value in enumerate(wishes.found[id].tolist()):
        if value is None:
            raise InputError(f"{wishes.table.path} has no {id!r} for point {i + 1}; fill it in")
        value = str(value)
        if value in rows:
            raise InputError(
                f"{wishes.table.path} has {value!r} twice in its column {id!r}; ids must differ"
            )
        rows[value] = i
    return rows


def _rows_of(
    index: dict[str, int] | None, wishes: Wishes, id: str, main: Wishes, notes: list[str]
) -> IntArray:
    assert index is not None
    theirs = _index(wishes, id)
    missing = [value for value in index if value not in theirs]
    if missing:
        raise InputError(
            f"{wishes.table.path} lacks {len(missing):,} of the {len(index):,} ids in column "
            f"{id!r} of {main.table.path}: {listed(missing, 3)}; add them, with an empty label if "
            "they have none"
        )
    if len(theirs) > len(index):
        extra = len(theirs) - len(index)
        notes.append(f"{wishes.table.path}: {extra:,} rows are of no point and were left out")
    return np.fromiter((theirs[value] for value in index), np.int64, len(index))


def _length(wishes: Wishes) -> int:
    return len(next(iter(wishes.found.values())))
