"""Alternating timing: machines are noisy, so only ratios within one run are meaningful."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

__all__ = ["best_times", "growth", "least_times", "machine", "peak_memory"]


def best_times(jobs: Mapping[str, Callable[[], object]], repeats: int = 3) -> dict[str, float]:
    """The shortest of several runs of each job; the jobs alternate."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            time.sleep(0.1)  # threads of matrix products spin for a while
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def least_times(
    jobs: Mapping[str, Callable[[], object]],
    seconds: float,
    clock: Callable[[], int] = time.process_time_ns,
) -> dict[str, float]:
    """The least time, of the processor by default, of runs of short jobs for some seconds each.

    The jobs alternate, ten runs at a time: the first one may find another job's data in the cache.
    """
    least = dict.fromkeys(jobs, float("inf"))
    until = time.perf_counter() + seconds * len(jobs)
    while time.perf_counter() < until or float("inf") in least.values():
        for name, job in [item for item in jobs.items() for _ in range(10)]:
            start = clock()
            job()
            least[name] = min(least[name], (clock() - start) / 1e9)
    return least


def growth(sizes: list[int], seconds: list[float]) -> float:
    """The exponent of a power law through the measurements."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def peak_memory(job: Callable[[], object], measure: Callable[[], float] | None = None) -> float:
    """Peak growth of the process in MiB while a job runs, by some measure of its size."""
    measure = measure or _resident
    done = threading.Event()
    before = measure()
    peak = before

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, measure())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        job()
        peak = max(peak, measure())
    finally:
        done.set()
        watcher.join()
    return peak - before


def machine() -> str:
    """Processor, number of cores and versions, as text."""
    import os
    import platform

    import scipy
    import sklearn

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":")[1].strip()
            for line in info.read_text().splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy "
        f"{np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20
