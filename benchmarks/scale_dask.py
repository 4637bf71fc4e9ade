"""Lifting on Dask: two workers compared with one, their memory and traffic, a lost worker."""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import liftcluster as lc

from .timing import machine

D, K, PARTITIONS = 16, 10, 5


class Run(NamedTuple):
    """One call of represent on a cluster."""

    rep: lc.Representation
    wall: float
    cpu: float  # seconds of all workers together
    busiest: float  # CPU seconds of the busiest worker
    sent: int  # bytes from worker to worker
    peak: float  # MiB, maximum over the workers


def points_of(numbers: np.ndarray) -> np.ndarray:
    """Points determined by their numbers, generated on the workers chunk by chunk."""
    rng = np.random.default_rng(int(numbers[0]))
    centres = 2 * np.random.default_rng(0).standard_normal((K, D))
    return centres[rng.integers(0, K, len(numbers))] + rng.standard_normal((len(numbers), D))


def labels_of(X: np.ndarray, seed: int) -> np.ndarray:
    """Labels of the nearest of some random centres."""
    centres = 2 * np.random.default_rng(seed).standard_normal((K, D))
    return (X @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)


def problem(n: int, rows: int) -> tuple[Any, dict[str, Any]]:
    numbers = da.arange(n, chunks=rows)
    shape = (numbers.chunks[0], (D,))
    X = numbers.map_blocks(points_of, dtype=float, new_axis=1, chunks=shape, meta=np.empty((0, D)))
    meta = np.empty(0, dtype=np.int64)
    return X, {
        f"p{seed}": X.map_blocks(labels_of, seed, drop_axis=1, dtype=np.int64, meta=meta)
        for seed in range(1, PARTITIONS + 1)
    }


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Processes of one thread each that communicate over TCP."""
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            protocol="tcp",
            dashboard_address=":0",
            memory_limit="1GiB",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(_import)
        yield client


def _import() -> None:
    import liftcluster  # noqa: F401


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def lift(client: Client, n: int, rows: int, rho: int, kill_after: float | None = None) -> Run:
    X, labels = problem(n, rows)
    cpu, sent = client.run(time.process_time), client.run(_sent)
    if kill_after is not None:
        victim = min(client.run(os.getpid).values())
        threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL)).start()
    start = time.perf_counter()
    rep = lc.represent(X, labels, lift=lc.Fourier(rho), rng=0)
    wall = time.perf_counter() - start
    # The counters of a lost worker are lost.
    now_cpu, now_sent = client.run(time.process_time), client.run(_sent)
    spent = [seconds - cpu.get(worker, 0.0) for worker, seconds in now_cpu.items()]
    return Run(
        rep,
        wall,
        sum(spent),
        max(spent),
        sum(count - sent.get(worker, 0) for worker, count in now_sent.items()),
        max(client.run(_peak).values()),
    )


def in_memory(n: int, rows: int, rho: int) -> tuple[lc.Representation, float]:
    X, labels = problem(n, rows)
    points = X.compute()
    known = {name: p.astype(np.int32).compute() for name, p in labels.items()}
    start = time.perf_counter()
    rep = lc.represent(points, known, lift=lc.Fourier(rho), rng=0)
    return rep, time.perf_counter() - start


def relative(found: lc.Representation, expected: lc.Representation) -> float:
    gaps = np.linalg.norm(found.sums - expected.sums, axis=1)
    return float((gaps / np.linalg.norm(expected.sums, axis=1)).max())


def heading(n: int, rows: int, rho: int) -> Iterator[str]:
    yield machine()
    yield f"{n:,} × {D} points in chunks of {rows:,}, {PARTITIONS} partitions of {K}, ρ = {rho}"
    yield ""
    yield "| workers | points | wall, s | CPU, s | points per CPU second | peak MiB | MiB sent |"
    yield "|---|---|---|---|---|---|---|"


def measure_one(n: int, rows: int, rho: int, count: int) -> Iterator[str]:
    """One run alone, of points that need not fit into memory."""
    yield from heading(n, rows, rho)
    with workers(count) as client:
        yield _row(count, n, lift(client, n, rows, rho))


def measure(n: int, rows: int, rho: int, repeats: int) -> Iterator[str]:
    yield from heading(n, rows, rho)
    best: dict[int, Run] = {}
    for count in (1, 2) * repeats:
        with workers(count) as client:
            run = lift(client, n, rows, rho)
        yield _row(count, n, run)
        if count not in best or run.wall < best[count].wall:
            best[count] = run
    with workers(2) as client:
        for share in (4, 2):
            yield _row(2, n // share, lift(client, n // share, rows, rho))
        killed = lift(client, n, rows, rho, kill_after=0.4 * best[2].wall)
        yield _row(2, n, killed)
    sums = best[2].rep.sums
    yield ""
    yield (
        f"two workers compared with one: {best[1].wall / best[2].wall:.2f} times as fast; by "
        "CPU time of the busier one, which other processes disturb less, "
        f"{best[1].busiest / best[2].busiest:.2f}"
    )
    yield (
        f"one sum of all clusters (s × ρ × 8): {sums.nbytes / 2**20:.2f} MiB; the lift: "
        f"{len(pickle.dumps(best[2].rep.lift)) / 2**20:.2f} MiB"
    )
    for name, run in (("one worker", best[1]), ("a worker killed (last row)", killed)):
        same = np.array_equal(run.rep.sums, sums)
        yield f"{name} and two: {'the same bits' if same else 'DIFFERENT BITS'}"
    rep, wall = in_memory(n, rows, rho)
    gap = relative(best[2].rep, rep)
    yield f"in memory, one process with {os.cpu_count()} threads: {wall:.1f} s"
    yield f"largest relative difference of a cluster vector from that: {gap:.1e}"


def _row(count: int, n: int, run: Run) -> str:
    rate = n / run.cpu if run.cpu > 0 else float("nan")
    return (
        f"| {count} | {n:,} | {run.wall:.1f} | {run.cpu:.1f} | {rate:,.0f} | {run.peak:.0f} "
        f"| {run.sent / 2**20:.2f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=100_000, help="rows per chunk")
    parser.add_argument("--components", type=int, default=2048)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--workers", type=int, help="one run by so many workers, and nothing else")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    what = chosen.points, chosen.rows, chosen.components
    lines = measure_one(*what, chosen.workers) if chosen.workers else measure(*what, chosen.repeats)
    for line in lines:
        print(line, flush=True)
