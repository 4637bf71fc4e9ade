"""Blocks of rows in memory: from any object to arrays that can be cut and joined."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import to_numpy
from .._util.typing import Array
from ..partitions.labels import as_objects, needs_objects

_EXACT_FLOAT = 2**53  # integers up to here are exact in float64


def as_rows(block: Any) -> Any:
    """A block as an array, a sparse csr matrix or NamedColumns."""
    shape = getattr(block, "shape", None)
    if isinstance(block, str | bytes) or shape == () or not (shape or hasattr(block, "__iter__")):
        raise TypeError(
            f"a block must hold rows, got {type(block).__name__}; give Blocks an iterable of "
            "arrays, and [array] for a single one"
        )
    if hasattr(block, "tocsr"):
        return block.tocsr()
    if hasattr(block, "categories") or hasattr(getattr(block, "values", None), "categories"):
        return np.asarray(block, dtype=object)
    if hasattr(block, "columns"):
        return NamedColumns(np.asarray(block), tuple(block.columns))
    if isinstance(block, np.ndarray) or hasattr(block, "dtype"):
        if isinstance(block, np.ma.MaskedArray):
            return block
        if isinstance(block.dtype, np.dtype) or not hasattr(block, "to_list"):
            return to_numpy(block, "a block")
        block = block.to_list()  # NumPy would make nullable integers floats
    return _array_of_list(list(block))


def _array_of_list(values: list[Any]) -> Array:
    """The array that NumPy makes, unless it would change values: 1 and "a", 2⁶⁰ + 1 and NaN."""
    kinds = {type(value) for value in values}
    if not needs_objects(values) and type(None) not in kinds:
        return np.asarray(values)
    if kinds <= {list, tuple} and np.ndim(values[0]) == 1:
        try:
            return np.asarray(values, dtype=np.float64)  # rows of points
        except (TypeError, ValueError):
            pass
    return as_objects(values)


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Rows of a data frame: an array with the names of its columns."""

    rows: Array
    columns: tuple[Hashable, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice) -> NamedColumns:
        return NamedColumns(self.rows[rows], self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.rows, dtype=dtype, copy=copy)

    def copy(self) -> NamedColumns:
        return NamedColumns(self.rows.copy(), self.columns)


def len_of(rows: Any) -> int:
    """Number of rows of an array, a sparse matrix or a sequence."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def joined(pieces: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Concatenate pieces, each a tuple with rows of several objects."""
    if len(pieces) == 1:
        return pieces[0]
    return tuple(_concatenated(parts) for parts in zip(*pieces, strict=True))


def _concatenated(parts: Sequence[Any]) -> Any:
    if any(sp.issparse(part) for part in parts):
        return sp.vstack(parts, format="csr")
    if isinstance(parts[0], NamedColumns):
        return NamedColumns(_concatenated([part.rows for part in parts]), parts[0].columns)
    kinds = {part.dtype.kind for part in parts}
    if (len(kinds) > 1 and not kinds <= set("biuf")) or _would_round(parts):
        parts = [part.astype(object) for part in parts]  # NumPy would turn numbers into strings
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
    return np.concatenate(parts)


def _would_round(parts: Sequence[Array]) -> bool:
    """Whether integer labels would become floats, and large ones equal."""
    known = [np.ma.getdata(part) for part in parts]
    whole = [part for part in known if part.ndim == 1 and part.dtype.kind in "iu" and len(part)]
    if not whole or np.result_type(*parts).kind != "f":
        return False
    return any(max(-int(part.min()), int(part.max())) > _EXACT_FLOAT for part in whole)
