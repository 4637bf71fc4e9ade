"""Work spread over threads, with an answer that does not depend on how many there are."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["in_order", "n_threads", "one_blas_thread", "one_thread", "runs"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# A run of rows is added up by itself, and runs are added up in order. How long they are depends on
# the number of points alone, so neither threads nor partitions change a sum's last bits.
_RUNS = 16
_SHORTEST_RUN, _LONGEST_RUN = 1024, 32768
_MULTIPLE = 256  # of the block of points that the kernels hold


def runs(n: int) -> list[slice]:
    """Slices that cover n rows: enough to keep cores busy, few enough to add up."""
    wanted = -(-n // (_RUNS * _MULTIPLE)) * _MULTIPLE
    size = min(max(wanted, _SHORTEST_RUN), _LONGEST_RUN)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], *, uses_blas: bool = False
) -> Iterator[Answer]:
    """The answers in the order of the items; no more of them wait than there are threads.

    ``uses_blas`` keeps matrix products on the thread that asks for them: more would get in each
    other's way, and how many there are would change the last bits.
    """
    threads = n_threads()
    with _limit if uses_blas else nullcontext():
        if threads == 1:
            yield from map(function, items)
        else:
            yield from _on_threads(function, items, threads)


def _on_threads(
    function: Callable[[Item], Answer], items: Iterable[Item], threads: int
) -> Iterator[Answer]:
    waiting: deque[Future[Answer]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # after an error or an interrupt: do not begin the rest
                future.cancel()


@contextmanager
def one_thread() -> Iterator[None]:
    """Whatever this thread does here it does alone: others are the business of a scheduler."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        with _limit:
            yield
    finally:
        _here.alone = before


def n_threads() -> int:
    """Cores that this process may use, within OMP_NUM_THREADS and threadpoolctl's limits."""
    if getattr(_here, "alone", False):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min([cores or 1, *_limit.libraries_allow()]))


class _OneBlasThread(AbstractContextManager[None]):
    """One thread for each matrix product, as long as anybody wants it so.

    The limit is one for the whole process: whoever comes first sets it, whoever leaves last puts
    it back. In between the number before it still says how many threads are allowed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._allowed: list[int] = []
        self._limiter: Any = None

    def libraries_allow(self) -> list[int]:
        with self._lock:
            return self._allowed if self._inside else _allowed_by_libraries()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._allowed = _allowed_by_libraries()
                self._limiter = _libraries().limit(limits=1, user_api="blas")
                self._limiter.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.__exit__(None, None, None)


_limit = _OneBlasThread()
_here = threading.local()


def one_blas_thread() -> AbstractContextManager[None]:
    """Within it, matrix products and factorisations give the same bits on every machine load."""
    return _limit


def _allowed_by_libraries() -> list[int]:
    return [int(library.num_threads) for library in _libraries().lib_controllers]


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # looks through everything loaded: once is enough
