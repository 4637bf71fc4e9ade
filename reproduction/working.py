"""Doing the pieces that are not done: several at once, timings by themselves, stoppable."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from liftcluster._util.progress import Advance, progress_bar

from .data import SETS, ChangedData
from .ledger import Finished, Ledger, Piece

__all__ = ["Work", "do_all"]

_MANY_POINTS = 1000


@dataclass(frozen=True)
class Work:
    """What came of all pieces, and which of them had been done before."""

    finished: dict[str, Finished]
    reused: tuple[str, ...]
    computed: tuple[str, ...]


def do_all(
    pieces: Iterable[Piece],
    ledger: Ledger,
    *,
    jobs: int = 1,
    redo: Iterable[str] = (),
    show: bool | None = None,
) -> Work:
    """Do every piece and what it needs, except those in the ledger that need not be done again.

    An interrupt leaves the pieces that were finished, whole, and nothing of the others.
    """
    with ledger.opened():
        return _do_wanted(list(pieces), ledger, jobs, set(redo), show)


def _do_wanted(
    pieces: list[Piece], ledger: Ledger, jobs: int, again: set[str], show: bool | None
) -> Work:
    wanted = {piece.name: piece for piece in _in_order(pieces)}
    finished: dict[str, Finished] = {}
    to_do: list[Piece] = []
    for piece in wanted.values():
        before = None if piece.name in again else ledger.find(piece)
        if before is None:
            to_do.append(piece)
        else:
            finished[piece.name] = before
    reused = tuple(finished)
    with progress_bar("the paper's tables and figures", len(wanted), show=show) as advance:
        advance(len(reused))
        together = [piece for piece in to_do if not piece.alone]
        for level in _levels(together):
            finished |= _do_level(level, ledger, jobs, advance)
        for piece in to_do:
            if piece.alone:
                finished[piece.name] = ledger.do(piece)
                advance(1)
    return Work(finished, reused, tuple(piece.name for piece in to_do))


def _in_order(pieces: Iterable[Piece]) -> Iterable[Piece]:
    for piece in pieces:
        yield from piece.with_all_it_needs()


def _levels(pieces: list[Piece]) -> list[list[Piece]]:
    """Pieces that can be done at the same time, after those before them."""
    names = {piece.name for piece in pieces}
    levels: list[list[Piece]] = []
    done: set[str] = set()
    while len(done) < len(names):
        ready = [
            piece
            for piece in pieces
            if piece.name not in done
            and all(need.name in done or need.name not in names for need in piece.needs)
        ]
        levels.append(ready)
        done |= {piece.name for piece in ready}
    return levels


def _do_level(
    pieces: list[Piece], ledger: Ledger, jobs: int, advance: Advance
) -> dict[str, Finished]:
    if jobs == 1 or len(pieces) < 2:
        found = {}
        for piece in pieces:
            # On a few vectors threads only wait for each other.
            with threadpool_limits(None if _n_points(piece) > _MANY_POINTS else 1):
                found[piece.name] = ledger.do(piece)
            advance(1)
        return found
    return _do_in_processes(pieces, ledger, jobs, advance)


def _do_in_processes(
    pieces: list[Piece], ledger: Ledger, jobs: int, advance: Advance
) -> dict[str, Finished]:
    # Fresh processes: threads of this one, which matrix products start, do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(pieces)), mp_context=context, initializer=_be_a_worker)
    # The largest first: begun last, they would keep one core busy and the others idle.
    largest_first = sorted(pieces, key=_n_points, reverse=True)
    not_ours = set(multiprocessing.active_children())
    found: dict[str, Finished] = {}
    with pool:
        try:
            with _interrupts_wait():  # the processes begun here never get any
                futures = {pool.submit(_do_one, ledger, p): p.name for p in largest_first}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                advance(1)
        except BrokenProcessPool:
            raise ValueError(
                "a process was ended from outside, probably for want of memory; what is done is "
                "kept: start again with --jobs 1"
            ) from None
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - not_ours:
                worker.terminate()
            if isinstance(error, ChangedData):  # of the user's, though it comes out of the pool
                raise ValueError(str(error)) from None
            raise
    return found


def _n_points(piece: Piece) -> int:
    return 0 if piece.points is None else SETS[piece.points.name].shape[0]


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold back interrupts; processes that are begun meanwhile inherit that, and keep it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_a_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us stops us


def _do_one(ledger: Ledger, piece: Piece) -> Finished:
    with threadpool_limits(1):  # each has a core of its own
        return ledger.do(piece)
