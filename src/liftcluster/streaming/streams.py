"""Points and partitions that come in blocks, checked as they come."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.arrays import is_one_number, on_device
from .._util.typing import Array, FloatArray, Points
from .._util.validation import as_points, as_weights, first_bad_cell
from ..partitions.blocks import Block, as_block
from ..partitions.partition import Partition, as_partition, as_partitions
from .readers import joined, read_together
from .sources import Source, as_source, block_rows, is_stored, is_streamed, may_be_rows

__all__ = [
    "MAPPED_ROWS_IN_MEMORY",
    "PointBlock",
    "Stream",
    "as_stream",
    "checked_block",
    "checked_points",
    "needs_stream",
    "point_blocks",
    "width_of",
]

MAPPED_ROWS_IN_MEMORY = 10_000_000  # below which labels in a memory map are read at once
_FIRST_ROWS = 1000  # by which a stream is known again


@dataclass(frozen=True, eq=False)
class PointBlock:
    """Some of the points and what all partitions say of them."""

    rows: slice
    X: Points  # None where there are no points
    partitions: dict[Hashable, Block]

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)


@dataclass(frozen=True, eq=False)
class Stream:
    """Points with their partitions and weights, some of which are not in memory."""

    X: Source | None
    partitions: dict[Hashable, Partition | Source]
    weights: FloatArray | Source | None  # for all partitions, in place of any they carry

    def __post_init__(self) -> None:
        sizes = {name: part.n for name, part in self._named().items() if part.n is not None}
        for name, n in sizes.items():
            if n != self.n:
                first = next(iter(sizes))
                raise ValueError(
                    f"{name} has {n} rows but {first} has {self.n}; they must describe the same "
                    "points"
                )

    def _named(self) -> dict[str, Any]:
        """Points and partitions by the names that errors call them."""
        points = {} if self.X is None else {"X": self.X}
        return points | {_called(name): p for name, p in self.partitions.items()}

    @property
    def n(self) -> int | None:
        """How many points there are, where that is known before they are read."""
        return next((p.n for p in self._named().values() if p.n is not None), None)

    @property
    def repeats(self) -> bool:
        return all(source.origin.repeats for source in self.sources.values())

    @property
    def sources(self) -> dict[str, Source]:
        """What has to be read."""
        named = self._named() | {"weights": self.weights}
        return {name: source for name, source in named.items() if isinstance(source, Source)}

    @property
    def block_rows(self) -> int:
        return block_rows(1 if self.X is None else width_of(self.X))

    def blocks(self, start: int = 0) -> Iterator[PointBlock]:
        """All of it in blocks of equal length, which depends on the number of columns alone."""
        row = start
        for rows, found in self._read(start):
            yield checked_block(rows, found | self.in_memory(rows), self.partitions)
            row = rows.stop
        self.check_all_used(row)

    def _read(self, start: int) -> Iterator[tuple[slice, dict[str, Any]]]:
        sources, size = self.sources, self.block_rows
        if sources:
            yield from read_together(sources, size, start)
        elif self.n is not None:  # all is in memory
            for row in range(start, self.n, size):
                yield slice(row, min(row + size, self.n)), {}

    def in_memory(self, rows: slice) -> dict[str, Any]:
        """Some rows of what need not be read, by the names that errors call it."""
        found: dict[str, Any] = {}
        if self.weights is not None and not isinstance(self.weights, Source):
            found["weights"] = self.weights[rows]
        for name, p in self.partitions.items():
            if isinstance(p, Partition):
                with _told_where(rows, _called(name)):
                    if p.n < rows.stop:
                        raise ValueError(f"it has {p.n} entries, but more points came")
                found[_called(name)] = Partition(p.assignment[rows], p.names, p.weights[rows])
        return found

    def check_all_used(self, rows: int) -> None:
        """Refuse what is in memory and longer than the points, now that all have come."""
        if rows == 0:
            raise ValueError("X has no rows; at least one point is needed")
        named = {_called(name): p for name, p in self.partitions.items()}
        for name, part in (named | {"weights": self.weights}).items():
            if isinstance(part, Partition | np.ndarray) and len(part) != rows:
                raise ValueError(
                    f"{name} has {len(part)} entries but {rows} points came; they must describe "
                    "the same points"
                )

    def gather(self) -> tuple[Array | None, dict[Hashable, Partition]]:
        """All of it in memory, for few points."""
        names, size = list(self.sources), block_rows(1)
        read = read_together(self.sources, size)  # what shares an origin comes side by side
        pieces = [tuple(found[name].copy() for name in names) for _, found in read]
        whole = dict(zip(names, joined(pieces), strict=True)) if pieces else {}
        w = whole.get("weights", self.weights)
        parts = {
            name: as_partition(whole[_called(name)] if isinstance(p, Source) else p, w)
            for name, p in self.partitions.items()
        }
        return whole.get("X"), parts

    def describe(self) -> list[Any]:
        """What tells this stream from another, fit for JSON: shapes, kinds, the first rows.

        And all of the labels and weights that are in memory.
        """
        digest = hashlib.sha256()
        if self.repeats:
            first = next(self.blocks())
            rows = slice(min(len(first), _FIRST_ROWS))
            digest.update(b"" if first.X is None else first.X[rows].tobytes())
            for block in first.partitions.values():
                p = block.partition
                _update(digest, Partition(p.assignment[rows], p.names, p.weights[rows]))
        for part in (*self.partitions.values(), self.weights):
            if isinstance(part, Partition | np.ndarray):
                _update(digest, part)
        sources = {name: s.origin.describe(s.part) for name, s in self.sources.items()}
        names = list(map(repr, self.partitions))
        return [names, self.block_rows, sources, digest.hexdigest()]


def _update(digest: Any, part: Partition | FloatArray) -> None:
    """All that decides what a partition, or weights, add to a sum."""
    if isinstance(part, np.ndarray):
        digest.update(part if part.flags.c_contiguous else part.tobytes())
        return
    R, w = part.assignment, part.weights
    digest.update(repr((part.names, part.n)).encode())
    for array in (R,) if part.is_hard else (R.data, R.indices, R.indptr):
        _update(digest, array)
    _update(digest, w[:1] if is_one_number(w) else w)


def checked_block(
    rows: slice, found: Mapping[str, Any], partitions: Iterable[Hashable]
) -> PointBlock:
    """What all partitions say of some rows; errors name the rows in the whole."""
    X = checked_points(found["X"], rows.start) if "X" in found else None
    parts = {}
    for name in partitions:
        with _told_where(rows, _called(name)):
            parts[name] = as_block(found[_called(name)], found.get("weights"))
    return PointBlock(rows, X, parts)


def needs_stream(X: Points, partitions: Any, weights: Any = None) -> bool:
    """Whether any of these has to be read in blocks."""
    if is_streamed(X) or _is_long(weights) or _is_long(partitions):
        return True
    if isinstance(partitions, Mapping):
        return any(map(_is_long, partitions.values()))
    return isinstance(partitions, list | tuple) and any(map(_is_long, partitions))


def _is_long(obj: Any) -> bool:
    """Whether labels or weights are stored, and too long for a memory map to be read at once.

    joblib hands even short arrays to its workers as memory maps, and nobody asked for blocks then.
    """
    short = isinstance(obj, np.memmap) and len(obj) < MAPPED_ROWS_IN_MEMORY
    return is_stored(obj) and not short


def as_stream(X: Points, partitions: Any, weights: Any = None) -> Stream:
    """Points, partitions and weights, of which some are sources and the others in memory."""
    named: dict[Hashable, Any]
    if isinstance(partitions, Mapping):
        named = dict(partitions)
    elif may_be_rows(partitions) and not _is_frame(partitions):
        named = {0: partitions}
    elif isinstance(partitions, list | tuple) and any(map(may_be_rows, partitions)):
        named = dict(enumerate(partitions))
    else:
        named = dict(as_partitions(partitions))
    if not named:
        raise ValueError("no partitions were given; pass at least one")
    parts = {name: as_source(p) if may_be_rows(p) else as_partition(p) for name, p in named.items()}
    points = None
    if X is not None:
        X = X if may_be_rows(X) else as_points(X, finite=False)
        if on_device(X):
            raise TypeError(
                "points on a device are lifted there, with labels and weights in memory; load "
                "those, or move the points to main memory"
            )
        points = as_source(X)
    if weights is None or may_be_rows(weights):
        return Stream(points, parts, None if weights is None else as_source(weights))
    n = Stream(points, parts, None).n
    return Stream(points, parts, as_weights(weights, len(weights) if n is None else n))


def _is_frame(obj: Any) -> bool:
    return hasattr(obj, "columns") and obj.ndim == 2


def point_blocks(X: Source, start: int = 0) -> Iterator[tuple[slice, Array]]:
    """The points alone, in the same blocks, checked."""
    for rows, found in read_together({"X": X}, block_rows(width_of(X)), start):
        yield rows, checked_points(found["X"], rows.start)


def width_of(X: Source) -> int:
    """Number of features of the points."""
    return X.origin.width(X.part)


def checked_points(block: Any, start: int) -> Array:
    """A block of finite points; errors name the row in the whole."""
    points = as_points(block, finite=False)
    if (bad := first_bad_cell(points)) is not None:
        row, column = bad
        raise ValueError(
            f"X must be finite, got {points[row, column]} in row {start + row}, column {column}; "
            "drop or impute such points"
        )
    return points


def _called(name: Hashable) -> str:
    return f"partition {name!r}"


@contextmanager
def _told_where(rows: slice, what: str) -> Iterator[None]:
    """Errors in a block count its points from zero: say where the block is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{what}, in the block of rows {rows.start} to {rows.stop - 1} (its points counted "
            f"from 0): {error}"
        ) from error
