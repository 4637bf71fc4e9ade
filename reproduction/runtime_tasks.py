"""Tasks of table 2: time to lift clusters, and to compute transport between all clusters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from liftcluster import Fourier, Partition, Structured, bandwidth, represent
from liftcluster._util.typing import Array
from liftcluster.comparison.measures.spatial import cluster_transports

from .consensus_tasks import kmeans_labels, kmeans_task
from .data import Labelled, Located
from .section import Settings, Values
from .sensitivity import CONSTRUCTED
from .tasks import Task

__all__ = ["plan_run_times", "share_of_cores_busy", "time_cdistance", "time_lift"]

_SAMPLES = (5_000, 10_000, 20_000)  # sizes from which MNIST train is extrapolated
_LITERAL_POINTS = 400  # lifted one at a time
_REPEATS = 5


def plan_run_times(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
    """Exclusive tasks: the lift of each set, and CDistance on all points or on samples."""
    tasks = {
        f"{name} both": Task(f"table-2-{name}", time_constructed, {"name": name}, exclusive=True)
        for name in ("2d3c", "2d2c")
    }
    for where in located.values():
        tasks |= _plan_set(where, settings.full)
    return tasks


def _plan_set(where: Located, full: bool) -> dict[str, Task]:
    def timing(kind: str, function: Callable[..., Any], **options: Any) -> Task:
        name, needed = f"table-2-{where.name}-{kind}", (kmeans_task(where, 0),)
        return Task(name, function, options, where, needed, exclusive=True)

    components = 4000 if where.name.startswith("mnist") else 200  # as in the paper
    tasks = {f"{where.name} lift": timing("lift", time_lift, components=components)}
    if where.name == "mnist-train" and not full:
        return tasks | {
            f"{where.name} cdistance of {n}": timing(f"cdistance-{n}", time_cdistance, sample=n)
            for n in _SAMPLES
        }
    return tasks | {f"{where.name} cdistance": timing("cdistance", time_cdistance, sample=None)}


def time_constructed(name: str) -> Values:
    """Both run times on a constructed set of a few points in the plane."""
    data = CONSTRUCTED[name]()
    points = Labelled(data.X, data.reference)
    kmeans = kmeans_labels(points, 0)
    return time_lift(points, kmeans, components=200) | time_cdistance(points, kmeans, sample=None)


def time_lift(points: Labelled, kmeans: list[int], components: int) -> Values:
    """Seconds to lift the classes and k-means, by the library and literally as in the paper."""
    X, few = points.X, len(points.X) < 1000
    partitions = [Partition.from_labels(labels) for labels in (points.classes, kmeans)]
    width = bandwidth(X, rng=0)

    lift = Fourier(components) if few or X.shape[1] < 48 else Structured(components)

    def ours() -> None:
        represent(X, partitions, bandwidth=width, lift=lift, rng=0)

    busy = share_of_cores_busy()
    return {
        "n": X.shape[0],
        "d": X.shape[1],
        "components": components,
        "lift_emd": _best(ours, _REPEATS),
        "literal": _literal_seconds(X, partitions, width, components),
        "literal_points": min(len(X), _LITERAL_POINTS),
        "busy": busy,
    }


def time_cdistance(points: Labelled, kmeans: list[int], sample: int | None) -> Values:
    """Seconds to compute the transport between every class and every cluster of k-means."""
    rows: Any = slice(None)
    if sample is not None:
        rows = np.random.default_rng(0).choice(len(points.X), sample, replace=False)
    X = points.X[rows]
    a, b = (Partition.from_labels(np.asarray(p)[rows]) for p in (points.classes, kmeans))
    busy = share_of_cores_busy()
    repeats = _REPEATS if len(X) < 1000 else 1
    seconds = _best(lambda: cluster_transports(X, a, X, b), repeats)
    return {"cdistance": seconds, "cdistance_points": len(X), "cdistance_busy": busy}


def share_of_cores_busy(interval: float = 0.5) -> float | None:
    """Share of the cores that other processes use, in [0, 1]; None if the system does not tell."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None

    def ticks() -> tuple[int, int]:
        numbers = [int(word) for word in stat.read_text().split("\n", 1)[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # total, and idle or waiting for I/O

    before = ticks()
    time.sleep(interval)
    total, idle = (after - early for after, early in zip(ticks(), before, strict=True))
    return round(1 - idle / total, 2) if total else None


def _best(job: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs: other processes can only make it longer."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _literal_seconds(X: Array, partitions: list[Partition], width: float, components: int) -> float:
    """Seconds for the paper's map literally: one core, point by point, in double precision.

    Some points are lifted, and the time is scaled to all of them. Compared with the paper's time it
    shows the gain from hardware since 2011.
    """
    rng = np.random.default_rng(0)
    W = rng.standard_normal((components // 2, X.shape[1])) / width
    some = X[:_LITERAL_POINTS].astype(np.float64)
    clusters = [p.labels[: len(some)] for p in partitions]
    sums = [np.zeros((p.k, components)) for p in partitions]
    half = components // 2

    def lift_some() -> None:
        for i, x in enumerate(some):
            phases = W @ x
            feature = np.empty(components)
            feature[:half], feature[half:] = np.cos(phases), np.sin(phases)
            for total, labels in zip(sums, clusters, strict=True):
                total[labels[i]] += feature

    with threadpool_limits(1):
        return _best(lift_some, 2) * len(X) / len(some)
