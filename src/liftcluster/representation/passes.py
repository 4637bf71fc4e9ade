"""Cluster vectors of points that are read in blocks: the same sums as in memory."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from .._util.progress import busy
from .._util.typing import FloatArray, RngLike
from .._util.validation import as_points
from .._util.version import __version__
from ..kernels.shift_invariant import Kernel, ShiftInvariant
from ..kernels.summary import PointSummary, Rows
from ..lifts.base import Lift, check_sums_add_up
from ..lifts.choice import Lifting, choose_settings, fit_lift
from ..lifts.settings import Exact, Fourier, LiftSettings, Structured
from ..lifts.transformer import is_fitted
from ..lifts.trigonometric import reach_tolerance
from ..streaming.dask_chunks import add_up_chunks, is_on_dask
from ..streaming.passes import blocks_with_progress, summarize_sources
from ..streaming.sources import Source
from ..streaming.streams import PointBlock, Stream, n_features_of
from .checkpoint import Checkpoint, Position, random_state, restore_generator
from .tally import Tally

_IN_MEMORY_UP_TO = 20_000  # points that are read into memory for the exact lift
_MANY = 10**9  # number of points that a generator is assumed to have


def lift_streams(
    streams: list[Stream],
    lifting: Lifting,
    rng: np.random.Generator,
    *,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
) -> tuple[Lift, Tally, np.random.Generator] | None:
    """The lift, the sums of all blocks, and the generator; None for few points (exact lift).

    The sums have the same bits whether or not the work was interrupted: blocks start at the same
    rows and are added in order, and the generator is restored to the state it was in.
    """
    position = None if checkpoint is None else checkpoint.load()
    if position is None:
        points = [stream.X for stream in streams if stream.X is not None]
        lift = _lift_for_sources(points, lifting, rng, progress)
        if lift is None:
            return None
        position = Position(lift, random_state(rng))
    else:
        rng = restore_generator(rng, position.random)
    passes = _Passes(streams, position, checkpoint, progress)
    settings = lifting.lift if isinstance(lifting.lift, LiftSettings) else None
    lift, sums = reach_tolerance(passes, position.lift, settings, rng)
    return lift, replace(passes.position.done[0], sums=sums), rng


def open_checkpoint(
    path: str | PathLike[str] | None, streams: list[Stream], lifting: Lifting, rng: RngLike
) -> Checkpoint | None:
    """The checkpoint file of some work, which may have been started before; None without a path."""
    if path is None:
        return None
    work = {
        "versions": {"liftcluster": __version__, "numpy": np.__version__},
        "options": lifting.describe() | {"rng": _describe_generator(rng)},
        "points": [stream.describe() for stream in streams],
    }
    return Checkpoint.at(path, work)


def check_few(n: int, kernel: Kernel) -> None:
    """Refuse the exact lift for more points than are read into memory."""
    if n > _IN_MEMORY_UP_TO:
        other = "fourier" if isinstance(kernel, ShiftInvariant) else "nystroem"
        raise ValueError(
            f"the exact lift needs all points in memory, and there are {n:,}, more than "
            f'{_IN_MEMORY_UP_TO:,}; use lift="{other}", or load a sample of them'
        )


def _lift_for_sources(
    sources: list[Source], lifting: Lifting, rng: np.random.Generator, progress: bool | None
) -> Lift | None:
    """The lift after at most one pass over all points; None for the exact one.

    Bandwidth, centre, landmarks and bounding box come from the same rows as in memory.
    """
    if lifting.is_fitted:
        lift = _given_lift(lifting, sources[0])
        check_sums_add_up(lift)
        return lift
    widths = sorted({n_features_of(X) for X in sources})
    if len(widths) > 1:
        raise ValueError(f"the samples have {widths} features; they must be points of one space")
    if not all(X.origin.repeats for X in sources):
        return _lift_for_generator(sources, lifting, rng)
    with busy("counting the points", show=progress):
        sizes = [X.origin.count(X.part) for X in sources]
    settings = choose_settings(lifting, sum(sizes), widths[0])
    if isinstance(settings, Exact):
        check_few(sum(sizes), lifting.kernel)
        return None
    summarize = partial(summarize_sources, sources, sizes, progress)
    return fit_lift(lifting, settings, sizes, widths[0], summarize, rng)


def _lift_for_generator(sources: list[Source], lifting: Lifting, rng: np.random.Generator) -> Lift:
    """A lift for points that can be read only once; the mean of their first block is the centre."""
    X = next(X for X in sources if not X.origin.repeats)
    d = n_features_of(X)
    settings = choose_settings(lifting, _MANY, d)
    needs = None
    if not isinstance(settings, Fourier | Structured):
        needs = f"lift={type(settings).__name__.lower()!r}"
    if lifting.rule is not None:
        needs = f"bandwidth={lifting.rule!r}"
    if needs is not None:
        raise ValueError(
            f"X comes from a generator, which can be read only once, but {needs} needs a pass over "
            "the points before they are lifted; give Blocks a function that returns a new "
            "generator each time, or give a number as bandwidth, or a Lift"
        )

    def summarize(rows: Rows, with_box: bool) -> PointSummary:
        return PointSummary(_MANY, d, {"centre": as_points(X.origin.first(X.part))})

    return fit_lift(lifting, settings, [_MANY], d, summarize, rng, any_points=True)


def _given_lift(lifting: Lifting, X: Source) -> Lift:
    if isinstance(lifting.lift, Lift):
        return lifting.lift
    if not is_fitted(lifting.lift):
        raise ValueError(
            "a transformer for points that are read in blocks must be fitted; fit it on a sample "
            "of them first"
        )
    return lifting.fitted_lift([as_points(X.origin.first(X.part))[:1]])


class _Passes:
    """Sums by one lift after another, each in one pass; finished passes are not repeated."""

    def __init__(
        self,
        streams: list[Stream],
        position: Position,
        checkpoint: Checkpoint | None,
        progress: bool | None,
    ) -> None:
        self.streams, self.checkpoint, self.progress = streams, checkpoint, progress
        self.position = position
        self.n_passes = 0
        if checkpoint is not None:
            _check_storable(position.lift)

    def __call__(self, lift: Lift) -> FloatArray:
        if self.n_passes == len(self.position.done):
            self._add_up(lift)
        self.n_passes += 1
        return self.position.done[self.n_passes - 1].sums

    def _add_up(self, lift: Lift) -> None:
        begun = self.position
        for i in range(begun.sample, len(self.streams)):
            start = begun.row if i == begun.sample else 0
            for stop, part in self._parts(lift, self.streams[i], start):
                before = self.position.tally
                if before is None and self.checkpoint is not None:
                    part.state()  # names that cannot be stored are an error now, not at the end
                tally = part if before is None else before + part
                self._reach(replace(self.position, sample=i, row=stop, tally=tally))
        whole = self.position.tally
        assert whole is not None
        done = (*begun.done, whole)
        self._reach(replace(begun, done=done, sample=0, row=0, tally=None), now=True)

    def _parts(self, lift: Lift, stream: Stream, start: int) -> Iterator[tuple[int, Tally]]:
        """Sums of the rows from ``start`` on, in parts, and the row after each part."""
        if is_on_dask(stream):
            if start == 0:  # otherwise all of it was added before an interruption: it is one part
                with busy("lifting", show=self.progress):
                    tally = add_up_chunks(stream, _tally_of_block, operator.add, lift)
                yield int(tally.sizes.max()), tally
            return
        for block in blocks_with_progress(stream, "lifting", self.progress, start):
            yield block.rows.stop, _tally_of_block(lift, block)

    def _reach(self, position: Position, *, now: bool = False) -> None:
        self.position = position
        if self.checkpoint is not None:
            self.checkpoint.save(position, now=now)


def _tally_of_block(lift: Lift, block: PointBlock) -> Tally:
    return Tally.of(lift, block.X, block.partitions)


def _describe_generator(rng: RngLike) -> Any:
    """A seed in values that JSON can hold; of a random generator only its kind is known."""
    bits = rng.bit_generator if isinstance(rng, np.random.Generator) else rng
    if isinstance(bits, np.random.BitGenerator):
        return type(bits).__name__
    return int(rng) if isinstance(rng, int | np.integer) else None if rng is None else repr(rng)


def _check_storable(lift: Lift) -> None:
    try:
        lift.state()
    except ValueError:
        raise ValueError(
            f"a lift by {lift.describe()} cannot be stored, so the work cannot be resumed from a "
            "checkpoint; leave checkpoint out, or use another kernel or lift"
        ) from None
