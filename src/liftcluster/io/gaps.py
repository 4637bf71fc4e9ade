"""Points whose coordinates are missing: left out, filled in, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from .._util.checks import check_choice
from .._util.typing import Array, IntArray
from .input_checks import CellError, InputError
from .table import Table

Missing = Literal["error", "drop", "median"]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows of a table that are points, if others were left out."""

    rows: IntArray
    n: int  # of all rows

    def spread(self, values: Any) -> Any:
        """Values of the points in the rows of the table, the others masked.

        >>> KeptRows(np.array([0, 2]), 3).spread([7, 8]).tolist()
        [7, None, 8]
        """
        values = np.asarray(values)
        full = np.zeros((self.n, *values.shape[1:]), dtype=values.dtype)
        full[self.rows] = values
        left_out = np.ones(full.shape, dtype=bool)
        left_out[self.rows] = False
        return np.ma.MaskedArray(full, left_out)


def without_gaps(
    table: Table, values: dict[str, Array], names: Sequence[str], missing: Missing
) -> tuple[KeptRows | None, list[str]]:
    """Treat missing numbers in some columns: the rows to keep if not all, and notes.

    "median" replaces the columns in ``values`` by filled ones; "error" raises a CellError that
    names the first missing cell and counts the rows.
    """
    check_choice(missing, get_args(Missing), "--missing")
    gaps = {name: _rows_with_gaps(values[name]) for name in dict.fromkeys(names)}
    found = {name: where for name, where in gaps.items() if where.any()}
    if not found:
        return None, []
    empty = np.any([*found.values()], axis=0)
    n, count = len(empty), int(empty.sum())
    rows = f"{count:,} of {n:,} rows"
    if missing == "error":
        name, row = min(((c, int(where.argmax())) for c, where in found.items()), key=_by_row)
        raise CellError(
            f"{table.describe_cell(row, name)}; {rows} lack a coordinate: --missing drop leaves "
            "them out, median fills them in",
            name,
        )
    if missing == "drop":
        if count == n:
            most = max(found, key=lambda name: int(found[name].sum()))
            raise InputError(
                f"{table.path}: each of the {n:,} rows lacks a coordinate, most often {most!r}; "
                "select others with --columns, or fill them in with --missing median"
            )
        note = f"{rows} lack a coordinate and are left out: {_counts(found)}"
        return KeptRows(np.flatnonzero(~empty), n), [note]
    for name in found:
        values[name] = _filled(values[name], table, name)
    note = f"{rows} lack a coordinate, which the median of its column fills in: {_counts(found)}"
    return None, [note]


def _rows_with_gaps(values: Array) -> Array:
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    return np.asarray(np.isnan(values) if values.ndim == 1 else np.isnan(values).any(axis=1))


def _by_row(cell: tuple[str, int]) -> int:
    return cell[1]


def _counts(found: dict[str, Array], max_shown: int = 8) -> str:
    shown = [f"{name} ({where.sum():,})" for name, where in found.items()]
    more = len(shown) - max_shown
    return ", ".join(shown[:max_shown]) + (f" and {more} more columns" if more > 0 else "")


def _filled(values: Array, table: Table, name: str) -> Array:
    block = np.array(values.reshape(len(values), -1))
    gaps = np.isnan(block)
    if gaps.all(axis=0).any():
        raise InputError(f"{table.path}, column {name!r} is empty; leave it out with --columns")
    block[gaps] = np.broadcast_to(np.nanmedian(block, axis=0), block.shape)[gaps]
    return block.reshape(values.shape)
