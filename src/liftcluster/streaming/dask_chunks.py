"""Passes over points in dask collections: one task for each chunk, sums by a tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .._util.arrays import constant_array, is_constant
from .._util.dask import ChunkedRows, align_chunks, map_chunks_lazily
from .._util.threads import one_thread
from .._util.typing import Array, IntArray
from .._util.validation import as_points, column_ranges
from ..partitions.partition import Partition
from .rows import NamedColumns, len_of
from .sources import DaskRows, StoredArray
from .streams import PointBlock, Stream, validate_block

Answer = TypeVar("Answer")

_Own = tuple[int, dict[str, Any]]  # the first row of a chunk, and what is in memory beside it
_PIECE = 2**16  # rows of a chunk that are worked on at a time
_MULTIPLE = 256  # of rows: single floats round as in memory where the kernels' blocks begin there


def is_on_dask(stream: Stream) -> bool:
    """Whether some of the stream is a dask collection, so that Dask's workers make the pass."""
    return any(isinstance(source.origin, DaskRows) for source in stream.sources.values())


def add_up_chunks(
    stream: Stream,
    function: Callable[[Any, PointBlock], Answer],
    add: Callable[[Answer, Answer], Answer],
    shared: Any = None,
) -> Answer:
    """The sum of ``function(shared, block)`` over blocks of the points, each on some worker.

    The blocks, and the order in which they are added, depend on the chunks of the points alone.
    """
    chunks, own = _chunks(stream)
    columns = {name: source.origin.columns for name, source in stream.sources.items()}
    task = _Task(function, add, tuple(stream.partitions), columns)
    return chunks.add_up(task, partial(_add_some, add), shared, own)


def sample_chunks(
    X: DaskRows, wanted: dict[str, IntArray], *, with_box: bool
) -> tuple[dict[str, Array], list[Array]]:
    """Some rows of the points, and corners between which all of them lie if asked for."""
    rows = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *wanted.values()]))
    whole = align_chunks({"X": X.rows}, X.sizes)
    inside = np.split(rows, np.searchsorted(rows, whole.starts[1:]))
    own = [(start, some - start) for start, some in zip(whole.starts, inside, strict=True)]
    chosen = [i for i, size in enumerate(X.sizes) if size and (with_box or len(own[i][1]))]
    seen = whole.only(chosen).gather(_sample_chunk, with_box, [own[i] for i in chosen])
    corners = [corner for _, chunk_corners in seen for corner in chunk_corners]
    if not len(rows):
        return {what: np.empty((0, X.width(None))) for what in wanted}, corners
    points = np.concatenate([points for points, _ in seen])
    return {what: points[np.searchsorted(rows, own)] for what, own in wanted.items()}, corners


def map_chunks(function: Callable[[Any], Array], X: Any, like: Array) -> Any:
    """The function of all points as a lazy dask array; ``like`` is its result for no points."""
    columns = like.shape[1] if like.ndim == 2 else None
    return map_chunks_lazily(_of_points, (function, like), X, like.dtype, columns)


def _of_points(shared: tuple[Callable[[Any], Array], Array], chunk: Any) -> Array:
    function, like = shared
    with one_thread():
        return np.asarray(function(chunk), dtype=like.dtype) if len(chunk) else like


@dataclass(frozen=True)
class _Task:
    """What is to be done with every chunk."""

    function: Callable[[Any, PointBlock], Any]
    add: Callable[[Any, Any], Any]
    partitions: tuple[Hashable, ...]
    columns: dict[str, tuple[Hashable, ...] | None]  # of what comes from data frames

    def __call__(self, shared: Any, chunk: dict[str, Any], own: _Own) -> Any:
        """None for a chunk without rows."""
        total, (start, beside) = None, own
        with one_thread():
            found = {name: _named(part, self.columns[name]) for name, part in chunk.items()}
            for block in _blocks(found | beside, start, self.partitions):
                part = self.function(shared, block)
                total = part if total is None else self.add(total, part)
        return total


def _chunks(stream: Stream) -> tuple[ChunkedRows, list[_Own]]:
    """All that has to be computed, cut where the points are, and what is in memory beside it."""
    origins = {name: source.origin for name, source in stream.sources.items()}  # points first
    first = next(origin for origin in origins.values() if isinstance(origin, DaskRows))
    found = {}
    for name, origin in origins.items():
        if not isinstance(origin, DaskRows | StoredArray):
            raise ValueError(
                f"{name} is read in blocks by this process alone, and the workers of Dask cannot; "
                "make it a dask array or a column of a dask data frame too"
            )
        found[name] = origin.rows
    chunks = align_chunks(found, first.sizes)
    stream.check_all_used(sum(first.sizes))
    own = []
    for start, size in zip(chunks.starts, first.sizes, strict=True):
        beside = stream.in_memory(slice(start, start + size))
        own.append((start, {name: _packed(part) for name, part in beside.items()}))
    return chunks, own


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
        yield validate_block(slice(i, j), piece, partitions)


def _named(part: Any, columns: tuple[Hashable, ...] | None) -> Any:
    """A chunk of a data frame has its columns, also where it was cut anew as an array."""
    return part if columns is None or hasattr(part, "columns") else NamedColumns(part, columns)


def _packed(part: Any) -> Any:
    """A partition whose points weigh the same, without n equal weights to send."""
    if isinstance(part, Partition) and part.n and is_constant(part.weights):
        return replace(part, weights=np.array(part.weights[:1]))
    return part


def _rows_of(part: Any, rows: slice) -> Any:
    if isinstance(part, Partition):
        w, size = part.weights, rows.stop - rows.start
        weights = constant_array(w[0], size) if len(w) == 1 else w[rows]
        return Partition(part.assignment[rows], part.names, weights)
    return part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _add_some(add: Callable[[Answer, Answer], Answer], a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else add(a, b)


def _sample_chunk(
    with_box: bool, chunk: dict[str, Any], own: tuple[int, IntArray]
) -> tuple[Array, Sequence[Array]]:
    start, rows = own
    with one_thread():
        points = as_points(chunk["X"], first_row=start)
        return points[rows], column_ranges(points) if with_box else ()
