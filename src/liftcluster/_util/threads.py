"""Work on several threads, with results that do not depend on their number."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Runs of rows are summed separately, and their sums are added in order. Their length depends on the
# number of points alone, so neither threads nor partitions change the last bits of a sum.
_RUNS = 16
_SHORTEST_RUN, _LONGEST_RUN = 1024, 32768
_MULTIPLE = 256  # rows that the native kernels process at a time
_FEW_NUMBERS = 2_000_000  # in a matrix; threads that share so few mostly wait for each other


def runs(n: int) -> list[slice]:
    """Slices that cover n rows: enough to keep all cores busy, few enough to add up."""
    wanted = -(-n // (_RUNS * _MULTIPLE)) * _MULTIPLE
    size = min(max(wanted, _SHORTEST_RUN), _LONGEST_RUN)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def map_in_order(
    function: Callable[[Item], Answer], items: Iterable[Item], *, uses_blas: bool = False
) -> Iterator[Answer]:
    """Yield ``function(item)`` in the order of the items, at most one per thread at a time.

    ``uses_blas`` limits matrix products to one thread each: more would change the last bits.
    """
    threads = 1 if isinstance(items, Sized) and len(items) < 2 else n_threads()
    waiting: deque[Future[Answer]] = deque()
    if threads == 1:
        with _limit if uses_blas else nullcontext():
            yield from map(function, items)
        return
    with _limit if uses_blas else nullcontext(), ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # after an error or an interrupt: do not start the rest
                future.cancel()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, the current thread starts no others: a scheduler such as Dask runs several."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        with _limit:
            yield
    finally:
        _here.alone = before


def n_threads() -> int:
    """Number of cores to use, within OMP_NUM_THREADS and the limits of threadpoolctl."""
    if getattr(_here, "alone", False):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min([cores or 1, *_limit.libraries_allow()]))


class _OneBlasThread(AbstractContextManager[None]):
    """A context in which each matrix product uses one thread.

    The limit holds for the whole process: the first thread that enters sets it, the last one that
    leaves resets it. ``n_threads`` still uses the limits from before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._allowed: list[int] = []

    def libraries_allow(self) -> list[int]:
        with self._lock:
            return self._allowed if self._inside else _allowed_by_libraries()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._allowed = _allowed_by_libraries()
                _limit_blas([1] * len(self._allowed))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _limit_blas(self._allowed)


_limit = _OneBlasThread()
_here = threading.local()


def one_blas_thread() -> AbstractContextManager[None]:
    """A context in which matrix products and factorisations are reproducible to the last bit."""
    return _limit


def blas_threads_for(size: int) -> AbstractContextManager[None]:
    """A context in which BLAS uses one thread for matrices of so few numbers.

    Several threads that take turns at small work finish little sooner, and on a busy machine much
    later: at each step they wait until all of them have a core.
    """
    return _limit if size <= _FEW_NUMBERS else nullcontext()


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """The same for functions of scikit-learn, which use OpenMP, too; after they are imported."""
    if size > _FEW_NUMBERS:
        yield
        return
    # Limits of OpenMP are those of one thread of Python, those of BLAS of the whole process.
    with _limit, _loaded_libraries().limit(limits=1, user_api="openmp"):
        yield


@cache
def _loaded_libraries() -> ThreadpoolController:
    """Libraries with threads, with OpenMP of scikit-learn, which is loaded by now."""
    return ThreadpoolController()  # takes as long as k-means of few vectors


def _allowed_by_libraries() -> list[int]:
    return [int(library.num_threads) for library in _libraries()]


def _limit_blas(threads: list[int]) -> None:
    """Set the number of threads of each library for matrix products; the others keep theirs."""
    # Not ThreadpoolController.limit, which takes twenty times as long as small products do.
    for library, allowed in zip(_libraries(), threads, strict=True):
        if library.user_api == "blas":
            library.set_num_threads(allowed)


@cache
def _libraries() -> list[Any]:
    # Searches all loaded libraries: once is enough.
    return list(ThreadpoolController().lib_controllers)
