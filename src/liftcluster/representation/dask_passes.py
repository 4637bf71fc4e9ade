"""Passes over points that Dask holds: one task for each chunk, sums by a tree."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._util.arrays import is_one_number, one_number
from .._util.dask import ChunkedRows, chunk_by_chunk, cut_alike, lazy_rows
from .._util.threads import one_thread
from .._util.typing import Array, IntArray
from .._util.validation import column_ranges
from ..lifts.base import Lift
from ..partitions.partition import Partition
from ..streaming.sources import DaskRows, NamedColumns, StoredArray, len_of
from ..streaming.streams import PointBlock, Stream, checked_block, checked_points
from .tally import Tally

__all__ = [
    "add_up_chunks",
    "fill_from_chunks",
    "is_on_dask",
    "look_at_chunks",
    "map_chunks",
    "tally_chunks",
]

Answer = TypeVar("Answer")

_PIECE = 2**16  # rows of a chunk that are worked on at a time
_TOGETHER = 64  # chunks of labels or shares that are computed before they are written
_MULTIPLE = 256  # of rows: single floats round as in memory where the kernels' blocks begin there


def is_on_dask(stream: Stream) -> bool:
    """Whether the workers of Dask are to go through the points."""
    return any(isinstance(source.origin, DaskRows) for source in stream.sources.values())


def tally_chunks(stream: Stream, lift: Lift) -> Tally:
    """What all points add to the clusters. The lift is sent once to each worker."""
    return add_up_chunks(stream, _tally_of_block, operator.add, lift)


def add_up_chunks(
    stream: Stream,
    function: Callable[[Any, PointBlock], Answer],
    add: Callable[[Answer, Answer], Answer],
    shared: Any = None,
) -> Answer:
    """The sum of ``function(shared, block)`` over blocks of the points, each on some worker.

    Which rows make a block, and the order in which their answers are added, depend on how the
    points are cut into chunks and on nothing else.
    """
    rows, own = _chunks(stream)
    columns = {name: source.origin.columns for name, source in stream.sources.items()}
    task = _Task(function, add, tuple(stream.partitions), columns)
    answer = rows.add_up(task, partial(_add_some, add), shared, own)
    if answer is None:
        raise ValueError("X has no rows; at least one point is needed")
    return answer


def look_at_chunks(
    X: DaskRows, wanted: dict[str, IntArray], *, with_box: bool
) -> tuple[dict[str, Array], list[Array]]:
    """Some rows of the points, and corners between which all of them lie if asked for."""
    rows = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *wanted.values()]))
    whole = cut_alike({"X": X.rows}, X.sizes)
    edges = np.searchsorted(rows, [*whole.starts, whole.n])
    own = [
        (start, rows[i:j] - start)
        for start, (i, j) in zip(whole.starts, itertools.pairwise(edges), strict=True)
    ]
    chosen = [i for i, size in enumerate(X.sizes) if size and (with_box or len(own[i][1]))]
    seen = whole.only(chosen).gather(_look_at_chunk, with_box, [own[i] for i in chosen])
    corners = [corner for _, chunk_corners in seen for corner in chunk_corners]
    if not len(rows):
        return {what: np.empty((0, X.width(None))) for what in wanted}, corners
    points = np.concatenate([points for points, _ in seen])
    return {what: points[np.searchsorted(rows, own)] for what, own in wanted.items()}, corners


def map_chunks(function: Callable[[Any], Array], X: Any, like: Array) -> Any:
    """What a function makes of every point, as a dask array that is not computed yet.

    ``like`` is what it makes of no points at all.
    """
    columns = like.shape[1] if like.ndim == 2 else None
    return lazy_rows(_of_points, (function, like), X, like.dtype, columns)


def fill_from_chunks(out: Any, lazy: Any) -> Any:
    """Write the rows of a dask array to ``out``, which may be one that only this process sees."""
    row = 0
    for chunk in chunk_by_chunk(lazy, at_a_time=_TOGETHER):
        if row + len_of(chunk) > len_of(out):
            raise ValueError(f"out has {len_of(out)} rows, but more points came")
        out[row : row + len_of(chunk)] = chunk
        row += len_of(chunk)
    if row != len_of(out):
        raise ValueError(f"out has {len_of(out)} rows but X has {row}; give one for each point")
    return out


def _of_points(shared: tuple[Callable[[Any], Array], Array], chunk: Any) -> Array:
    function, like = shared
    with one_thread():
        return np.asarray(function(chunk), dtype=like.dtype) if len(chunk) else like


class _Own(NamedTuple):
    """What goes with the task of a chunk: its first row, and what is in memory about its points."""

    start: int
    found: dict[str, Any]


@dataclass(frozen=True)
class _Task:
    """What is to be done with every chunk."""

    function: Callable[[Any, PointBlock], Any]
    add: Callable[[Any, Any], Any]
    partitions: tuple[Hashable, ...]
    columns: dict[str, tuple[Hashable, ...] | None]  # of what comes from data frames

    def __call__(self, shared: Any, chunk: dict[str, Any], own: _Own) -> Any:
        """None for a chunk without rows."""
        total = None
        with one_thread():
            found = {name: _named(part, self.columns[name]) for name, part in chunk.items()}
            for block in _blocks(found | own.found, own.start, self.partitions):
                part = self.function(shared, block)
                total = part if total is None else self.add(total, part)
        return total


def _chunks(stream: Stream) -> tuple[ChunkedRows, list[_Own]]:
    """All that has to be computed, cut where the points are, and what is in memory beside it."""
    origins = [source.origin for source in stream.sources.values()]  # that of the points first
    first = next(origin for origin in origins if isinstance(origin, DaskRows))
    found = {}
    for name, source in stream.sources.items():
        origin = source.origin
        if not isinstance(origin, DaskRows | StoredArray):
            raise ValueError(
                f"{name} is read in blocks by this process alone, and the workers of Dask cannot; "
                "make it a dask array or a column of a dask data frame too"
            )
        found[name] = origin.rows
    rows = cut_alike(found, first.sizes)
    stream.check_all_used(rows.n)
    own = []
    for start, size in zip(rows.starts, rows.sizes, strict=True):
        beside = stream.in_memory(slice(start, start + size))
        own.append(_Own(start, {name: _packed(part) for name, part in beside.items()}))
    return rows, own


def _blocks(
    found: dict[str, Any], start: int, partitions: tuple[Hashable, ...]
) -> Iterator[PointBlock]:
    lengths = {name: len_of(part) for name, part in found.items()}
    n = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n:
            raise ValueError(
                f"a chunk of {name} has {length} rows where that of {next(iter(lengths))} has {n}; "
                "cut them at the same rows, or give arrays that know their chunks "
                "(compute_chunk_sizes)"
            )
    edges = {start, start + n, min(-(-start // _MULTIPLE) * _MULTIPLE, start + n)}
    edges |= set(range(-(-start // _PIECE) * _PIECE, start + n, _PIECE))
    for i, j in itertools.pairwise(sorted(edges)):
        inside = slice(i - start, j - start)
        piece = {name: _rows_of(part, inside) for name, part in found.items()}
        yield checked_block(slice(i, j), piece, partitions)


def _named(part: Any, columns: tuple[Hashable, ...] | None) -> Any:
    """A chunk of a data frame has its columns, also where it was cut anew as an array."""
    if columns is None or hasattr(part, "columns"):
        return part
    return NamedColumns(part, columns)


def _packed(part: Any) -> Any:
    """A partition whose points weigh the same, without n equal weights to send."""
    if isinstance(part, Partition) and part.n and is_one_number(part.weights):
        return replace(part, weights=np.array(part.weights[:1]))
    return part


def _rows_of(part: Any, rows: slice) -> Any:
    if isinstance(part, Partition):
        size = rows.stop - rows.start
        same = len(part.weights) == 1
        weights = one_number(part.weights[0], size) if same else part.weights[rows]
        return Partition(part.assignment[rows], part.names, weights)
    return part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _add_some(add: Callable[[Answer, Answer], Answer], a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else add(a, b)


def _tally_of_block(lift: Lift, block: PointBlock) -> Tally:
    return Tally.of(lift, block.X, block.partitions)


def _look_at_chunk(
    with_box: bool, chunk: dict[str, Any], own: tuple[int, IntArray]
) -> tuple[Array, Sequence[Array]]:
    start, rows = own
    with one_thread():
        points = checked_points(chunk["X"], start)
        return points[rows], column_ranges(points) if with_box else ()
