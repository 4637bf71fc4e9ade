"""One pass after another over points that come in blocks: the same sums as in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from .._util.dask import is_dask
from .._util.progress import Advance, busy, progress_bar
from .._util.typing import Array, FloatArray, Points
from .._util.validation import as_points, check_positive
from .._util.version import __version__
from ..kernels.kernel import as_kernel
from ..lifts.base import Lift
from ..lifts.transformer import is_transformer
from ..streaming.sources import DaskRows, Source, as_source, is_stored, is_streamed, len_of
from ..streaming.streams import PointBlock, Stream, point_blocks
from .checkpoint import Checkpoint, Position, random_state, restored
from .dask_passes import fill_from_chunks, is_on_dask, map_chunks, tally_chunks
from .lifting import lift_to_tolerance
from .surveying import lift_for_sources
from .tally import Tally

__all__ = [
    "check_holds_labels",
    "check_one_row_each",
    "lift_streams",
    "map_points",
    "open_checkpoint",
    "shown_blocks",
]

_ONE_EACH = np.empty(0)  # a number for each point


def lift_streams(
    streams: list[Stream],
    *,
    rng: np.random.Generator,
    tol: float | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
    **lifting: Any,
) -> tuple[Lift, Tally, np.random.Generator] | None:
    """The lift, what all blocks add up to, and the generator; None for few points (exact).

    Sums are the same bits whether or not the work was interrupted: blocks begin at the same rows
    and are added one after another, and the generator goes on where it was.
    """
    tol = None if tol is None else check_positive(tol, "tol")
    position = None if checkpoint is None else checkpoint.load()
    if position is None:
        points = [stream.X for stream in streams if stream.X is not None]
        lift = lift_for_sources(points, tol=tol, rng=rng, progress=progress, **lifting)
        if lift is None:
            return None
        position = Position(lift, random_state(rng))
    else:
        rng = restored(rng, position.random)
    looks = _Looks(streams, position, checkpoint, progress)
    was_given = isinstance(lifting["lift"], Lift) or is_transformer(lifting["lift"])
    lift, sums = lift_to_tolerance(looks, position.lift, tol, rng, may_extend=not was_given)
    return lift, replace(looks.position.done[0], sums=sums), rng


def open_checkpoint(
    path: str | PathLike[str] | None, streams: list[Stream], lifting: dict[str, Any]
) -> Checkpoint | None:
    """The file of some work, which may have begun before; None where none is wanted."""
    if path is None:
        return None
    asked = {name: _described(value) for name, value in lifting.items()}
    work = {
        "versions": {"liftcluster": __version__, "numpy": np.__version__},
        "options": asked | {"kernel": _described(as_kernel(lifting["kernel"]))},
        "points": [stream.describe() for stream in streams],
    }
    return Checkpoint.at(path, work)


class _Looks:
    """Sums by one lift after another, each a look at all points; what is done is not repeated."""

    def __init__(
        self,
        streams: list[Stream],
        position: Position,
        checkpoint: Checkpoint | None,
        progress: bool | None,
    ) -> None:
        self.streams, self.checkpoint, self.progress = streams, checkpoint, progress
        self.position = position
        self.looks = 0
        if checkpoint is not None:
            _check_storable(position.lift)

    def __call__(self, lift: Lift) -> FloatArray:
        if self.looks == len(self.position.done):
            self._look(lift)
        self.looks += 1
        return self.position.done[self.looks - 1].sums

    def _look(self, lift: Lift) -> None:
        begun = self.position
        for i in range(begun.sample, len(self.streams)):
            start = begun.row if i == begun.sample else 0
            for stop, part in self._parts(lift, self.streams[i], start):
                before = self.position.tally
                if before is None and self.checkpoint is not None:
                    part.state()  # names that cannot be stored are told now, not in the end
                tally = part if before is None else before + part
                self._reach(replace(self.position, sample=i, row=stop, tally=tally))
        whole = self.position.tally
        assert whole is not None
        done = (*begun.done, whole)
        self._reach(replace(begun, done=done, sample=0, row=0, tally=None), now=True)

    def _parts(self, lift: Lift, stream: Stream, start: int) -> Iterator[tuple[int, Tally]]:
        """What the rows from ``start`` on add, and where the next part begins."""
        if is_on_dask(stream):
            if start == 0:  # else the whole was added before an interruption: it is one part
                with busy("lifting", show=self.progress):
                    tally = tally_chunks(stream, lift)
                yield int(tally.sizes.max()), tally
            return
        for block in shown_blocks(stream, "lifting", self.progress, start):
            yield block.rows.stop, Tally.of(lift, block.X, block.partitions)

    def _reach(self, position: Position, *, now: bool = False) -> None:
        self.position = position
        if self.checkpoint is not None:
            self.checkpoint.save(position, now=now)


def shown_blocks(
    stream: Stream, what: str, progress: bool | None = None, start: int = 0
) -> Iterator[PointBlock]:
    """The blocks of a stream, with a bar that shows how far they have got."""
    with _bar(what, stream.n, progress) as advance:
        advance(start)
        for block in stream.blocks(start):
            yield block
            advance(len(block))


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
        return lazy if out is None else fill_from_chunks(out, lazy)
    if out is None and not is_streamed(X):
        return function(X)
    points = as_source(X if is_streamed(X) or is_stored(X) else as_points(X, finite=False))
    if out is not None:
        check_one_row_each(out, points.n)
    made = []
    row = 0
    with _bar(what, points.n, progress) as advance:
        for rows, block in point_blocks(points):
            found = np.asarray(function(block))
            if out is None:
                made.append(found)
            else:
                check_one_row_each(out, rows.stop, so_far=True)
                out[rows] = found
            row = rows.stop
            advance(len(block))
    if out is not None:
        check_one_row_each(out, row)
        return out
    if not made:
        raise ValueError("X has no rows; at least one point is needed")
    return np.concatenate(made)


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


def _described(value: Any) -> Any:
    """An option as JSON can hold it; of a random generator only its kind is known."""
    if isinstance(value, Lift):
        return value.fingerprint()
    if isinstance(value, np.random.Generator):
        value = value.bit_generator
    if isinstance(value, np.random.BitGenerator):
        return type(value).__name__
    state: Any = getattr(value, "state", None)
    if callable(state):
        try:
            return state()
        except ValueError:
            return repr(type(value))
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return np.asarray(value).tolist() if np.ndim(value) else repr(value)


def _check_storable(lift: Lift) -> None:
    try:
        lift.state()
    except ValueError:
        raise ValueError(
            f"a lift by {lift.describe()} cannot be stored, so the work cannot go on from a "
            "checkpoint; leave checkpoint out, or use another kernel or lift"
        ) from None
