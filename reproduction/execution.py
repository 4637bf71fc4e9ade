"""Execution of tasks: in parallel processes, timings one at a time, safe to interrupt."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter

from threadpoolctl import threadpool_limits

from liftcluster._util.progress import Advance, progress_bar

from .data import SETS, ChangedData
from .tasks import Task, TaskCache, TaskResult

__all__ = ["Execution", "run_tasks"]

_MANY_POINTS = 1000


@dataclass(frozen=True)
class Execution:
    """The results of all tasks, and which of them were loaded or computed."""

    results: dict[str, TaskResult]
    reused: tuple[str, ...]
    computed: tuple[str, ...]


def run_tasks(
    tasks: Iterable[Task],
    cache: TaskCache,
    *,
    jobs: int = 1,
    redo: Iterable[str] = (),
    show: bool | None = None,
) -> Execution:
    """Run all tasks and their dependencies, except those with a result in the cache.

    ``redo`` names tasks that run again although they are in the cache. After an interrupt the cache
    has the complete results of the tasks that finished, and nothing of the others.
    """
    wanted = {task.name: task for root in tasks for task in root.with_dependencies()}
    again = set(redo)
    with cache.opened():
        results: dict[str, TaskResult] = {}
        for name, task in wanted.items():
            if name not in again and (known := cache.load(task)) is not None:
                results[name] = known
        reused = tuple(results)
        to_run = {name: task for name, task in wanted.items() if name not in results}
        with progress_bar("the paper's tables and figures", len(wanted), show=show) as advance:
            advance(len(reused))
            for group in _groups([task for task in to_run.values() if not task.exclusive]):
                results |= _run_group(group, cache, jobs, advance)
            for task in to_run.values():
                if task.exclusive:
                    results[task.name] = cache.run(task)
                    advance(1)
    return Execution(results, reused, tuple(to_run))


def _groups(tasks: list[Task]) -> Iterator[list[Task]]:
    """Groups of tasks that can run in parallel, each after the groups it depends on."""
    by_name = {task.name: task for task in tasks}
    sorter = TopologicalSorter(
        {
            name: [other.name for other in task.dependencies if other.name in by_name]
            for name, task in by_name.items()
        }
    )
    sorter.prepare()
    while sorter.is_active():
        ready = sorter.get_ready()
        yield [by_name[name] for name in ready]
        sorter.done(*ready)


def _run_group(
    tasks: list[Task], cache: TaskCache, jobs: int, advance: Advance
) -> dict[str, TaskResult]:
    if jobs > 1 and len(tasks) > 1:
        return _run_in_processes(tasks, cache, jobs, advance)
    results = {}
    for task in tasks:
        # For few points, threads cost more than they gain.
        with threadpool_limits(None if _n_points(task) > _MANY_POINTS else 1):
            results[task.name] = cache.run(task)
        advance(1)
    return results


def _run_in_processes(
    tasks: list[Task], cache: TaskCache, jobs: int, advance: Advance
) -> dict[str, TaskResult]:
    # Spawn, not fork: BLAS threads of this process do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=context, initializer=_ignore_interrupts
    )
    # Largest first: started last, they would keep one core busy while the others are idle.
    largest_first = sorted(tasks, key=_n_points, reverse=True)
    children_before = set(multiprocessing.active_children())
    results: dict[str, TaskResult] = {}
    with pool:
        try:
            with _interrupts_blocked():  # which the new processes inherit
                futures = {pool.submit(_run_on_one_core, cache, t): t.name for t in largest_first}
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                advance(1)
        except BrokenProcessPool:
            raise ValueError(
                "a worker process was killed, probably because memory ran out; finished tasks are "
                "kept: run again with --jobs 1"
            ) from None
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - children_before:
                worker.kill()  # METIS would catch a mere request, and print an error
            if isinstance(error, ChangedData):  # without the traceback of the worker
                raise ValueError(str(error)) from None
            raise
    return results


def _n_points(task: Task) -> int:
    return 0 if task.points is None else SETS[task.points.name].shape[0]


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT; processes that are started meanwhile inherit the mask and keep it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process terminates its workers


def _run_on_one_core(cache: TaskCache, task: Task) -> TaskResult:
    with threadpool_limits(1):
        return cache.run(task)
