"""Passes over points that are read in blocks: sums, functions and a summary of all points."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from .._util.dask import is_dask, iterate_chunks
from .._util.progress import Advance, busy, progress_bar
from .._util.typing import Array, IntArray, Points
from .._util.validation import as_points, column_ranges, first_bad_cell
from ..kernels.summary import PointSummary, Rows
from .dask_chunks import add_up_chunks, is_on_dask, map_chunks, sample_chunks
from .rows import len_of
from .sources import DaskRows, Source, as_source, can_be_streamed, is_streamed
from .streams import PointBlock, Stream, n_features_of, point_blocks

Total = TypeVar("Total")

_ONE_EACH = np.empty(0)  # a number for each point
_TOGETHER = 64  # dask chunks of results that are computed before they are written


def blocks_with_progress(
    stream: Stream, what: str, progress: bool | None = None, start: int = 0
) -> Iterator[PointBlock]:
    """The blocks of a stream, with a bar that shows how far they have got."""
    with _bar(what, stream.n, progress) as advance:
        advance(start)
        for block in stream.blocks(start):
            yield block
            advance(len(block))


def add_up(
    stream: Stream,
    function: Callable[[Any, PointBlock], Total],
    shared: Any,
    what: str,
    progress: bool | None = None,
) -> Total:
    """The sum of ``function(shared, block)`` over all blocks, by Dask's workers if it is theirs."""
    if is_on_dask(stream):
        with busy(what, show=progress):
            return add_up_chunks(stream, function, operator.add, shared)
    blocks = blocks_with_progress(stream, what, progress)
    return reduce(operator.add, (function(shared, block) for block in blocks))


def map_points(
    function: Callable[[Points], Array],
    X: Points,
    *,
    out: Any = None,
    like: Array = _ONE_EACH,
    what: str = "scoring",
    progress: bool | None = None,
) -> Any:
    """What a function makes of every point, block by block where they come so.

    ``out`` is filled and returned, if given: anything with rows that can be assigned to. ``like``
    is what the function makes of no points: dask arrays want to know before they are computed.
    """
    if isinstance(X, Source) and isinstance(X.origin, DaskRows):
        X = X.origin.rows
    if out is not None:
        _check_holds_rows(out, like)
    if is_dask(X):
        lazy = map_chunks(function, X, like)
        return lazy if out is None else _fill(out, iterate_chunks(lazy, at_a_time=_TOGETHER))
    if out is None and not is_streamed(X):
        return function(X)
    points = as_source(X if can_be_streamed(X) else as_points(X, finite=False))
    results = _map_blocks(function, points, what, progress)
    if out is not None:
        check_one_row_each(out, points.n)
        return _fill(out, results)
    made = list(results)
    if not made:
        raise ValueError("X has no rows; at least one point is needed")
    return np.concatenate(made)


def _map_blocks(
    function: Callable[[Points], Array], X: Source, what: str, progress: bool | None
) -> Iterator[Array]:
    with _bar(what, X.n, progress) as advance:
        for _, block in point_blocks(X):
            yield np.asarray(function(block))
            advance(len(block))


def _fill(out: Any, pieces: Iterator[Array]) -> Any:
    """Write consecutive rows to ``out``, which may be an array that only this process sees."""
    row = 0
    for piece in pieces:
        stop = row + len_of(piece)
        check_one_row_each(out, stop, so_far=True)
        out[row:stop] = piece
        row = stop
    check_one_row_each(out, row)
    return out


def summarize_sources(
    sources: Sequence[Source],
    sizes: Sequence[int],
    progress: bool | None,
    rows: Rows,
    with_box: bool,
) -> PointSummary:
    """Sampled rows and, if asked for, the bounding box of points from one or several sources."""
    samples: dict[str, list[Array]] = {purpose: [] for purpose in rows}
    corners: list[Array] = []
    with progress_bar("sampling the points", sum(sizes), show=progress) as advance:
        for i, X in enumerate(sources):
            wanted = {purpose: np.asarray(own[i]) for purpose, own in rows.items()}
            sampled = _sample(X, wanted, with_box)
            if sampled is not None:
                for purpose, points in sampled[0].items():
                    samples[purpose].append(points)
                corners += sampled[1]
                continue
            for block, points in point_blocks(X):
                for purpose, own in wanted.items():
                    first, last = np.searchsorted(own, [block.start, block.stop])
                    samples[purpose].append(points[own[first:last] - block.start])
                if with_box:
                    corners += column_ranges(points)
                advance(len(points))
    return PointSummary(
        sum(sizes),
        n_features_of(sources[0]),
        {purpose: np.concatenate(parts) for purpose, parts in samples.items()},
        (np.min(corners, axis=0), np.max(corners, axis=0)) if with_box else None,
    )


def _sample(
    X: Source, wanted: dict[str, IntArray], with_box: bool
) -> tuple[dict[str, Array], list[Array]] | None:
    """The wanted rows, and corners of all points, without a pass in this process if possible."""
    if isinstance(X.origin, DaskRows):
        return sample_chunks(X.origin, wanted, with_box=with_box)
    if with_box:
        return None
    found = {}
    for purpose, rows in wanted.items():
        points = X.origin.take(X.part, rows)
        if points is None:
            return None
        found[purpose] = as_points(points, finite=False)
        if first_bad_cell(found[purpose]) is not None:
            return None  # a pass over all points reports the row
    return found, []


def check_one_row_each(out: Any, n: int | None, *, so_far: bool = False) -> None:
    """Refuse an ``out`` that is longer or shorter than the points, as far as they are known."""
    rows = len_of(out)
    if n is not None and (rows < n if so_far else rows != n):
        raise ValueError(f"out has {rows} rows but X has {n}; give one for each point")


def check_holds_labels(out: Any, k: int) -> None:
    """Refuse an ``out`` in which k different labels would not be what they are."""
    labels = np.arange(k)
    dtype = getattr(out, "dtype", labels.dtype)
    if not np.array_equal(labels.astype(dtype), labels):
        raise ValueError(
            f"out holds {dtype}, which has no room for labels from 0 to {k - 1}; give one of int32"
        )


def _check_holds_rows(out: Any, like: Array) -> None:
    """Refuse an ``out`` to which rows would be written in part, or rounded to whole numbers."""
    shape, dtype = getattr(out, "shape", (0, *like.shape[1:])), getattr(out, "dtype", like.dtype)
    if tuple(shape[1:]) != like.shape[1:]:
        expected = ", ".join(map(str, ("n", *like.shape[1:])))
        raise ValueError(f"out has shape {tuple(shape)}, expected ({expected})")
    if like.dtype.kind == "f" and np.dtype(dtype).kind not in "fO":
        raise ValueError(f"out holds {dtype}, expected floats: shares lie between 0 and 1")


@contextmanager
def _bar(what: str, n: int | None, progress: bool | None) -> Iterator[Advance]:
    if n is not None:
        with progress_bar(what, n, show=progress) as advance:
            yield advance
    else:
        with busy(what, show=progress):
            yield lambda steps: None
