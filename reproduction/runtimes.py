"""Table 2: how long it takes to lift clusters, and to transport every cluster onto every other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from liftcluster._util.typing import Array
from liftcluster.comparison.measures.spatial import cluster_transports
from liftcluster.kernels.bandwidths import bandwidth
from liftcluster.partitions.partition import Partition
from liftcluster.representation.samples import represent

from .combining import cluster_by_kmeans, kmeans_piece
from .data import Labelled, Located
from .ledger import Piece
from .section import Settings, Values
from .sensitivity import CONSTRUCTED

__all__ = ["SAMPLES", "plan_run_times", "time_cdistance", "time_constructed", "time_lift"]

SAMPLES = (5_000, 10_000, 20_000)  # of MNIST train, from which the whole is extrapolated
_LITERAL_POINTS = 400  # lifted one by one
_REPEATS = 5


def plan_run_times(settings: Settings, located: Mapping[str, Located]) -> dict[str, Piece]:
    """Pieces that run alone: on each set the lift, and CDistance on as much as one can wait for."""
    pieces = {
        f"{name} both": Piece(f"table-2-{name}", time_constructed, {"name": name}, alone=True)
        for name in ("2d3c", "2d2c")
    }
    for where in located.values():
        pieces |= _plan_set(where, settings.full)
    return pieces


def _plan_set(where: Located, full: bool) -> dict[str, Piece]:
    def timing(kind: str, function: Callable[..., Any], **options: Any) -> Piece:
        needs = (kmeans_piece(where, 0),)
        return Piece(f"table-2-{where.name}-{kind}", function, options, where, needs, alone=True)

    components = 4000 if where.name.startswith("mnist") else 200  # as in the paper
    pieces = {f"{where.name} lift": timing("lift", time_lift, components=components)}
    if where.name == "mnist-train" and not full:
        return pieces | {
            f"{where.name} cdistance of {n}": timing(f"cdistance-{n}", time_cdistance, sample=n)
            for n in SAMPLES
        }
    return pieces | {f"{where.name} cdistance": timing("cdistance", time_cdistance, sample=None)}


def time_constructed(name: str) -> Values:
    """Both phases on a set of a few points in the plane."""
    data = CONSTRUCTED[name]()
    points = Labelled(data.X, data.reference)
    kmeans = cluster_by_kmeans(points, 0)
    return time_lift(points, kmeans, components=200) | time_cdistance(points, kmeans, sample=None)


def time_lift(points: Labelled, kmeans: list[int], components: int) -> Values:
    """Seconds to lift the classes and k-means: by the library, and as the paper describes it."""
    X, few = points.X, len(points.X) < 1000
    partitions = [Partition.from_labels(labels) for labels in (points.classes, kmeans)]
    width = bandwidth(X, rng=0)

    def ours() -> None:
        represent(
            X,
            partitions,
            bandwidth=width,
            lift="fourier" if few else "auto",
            n_components=components,
            rng=0,
        )

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
    """Seconds for the transport between every class and every cluster of k-means."""
    rows: Any = slice(None)
    if sample is not None:
        rows = np.random.default_rng(0).choice(len(points.X), sample, replace=False)
    X = points.X[rows]
    a, b = (Partition.from_labels(np.asarray(p)[rows]) for p in (points.classes, kmeans))
    busy = share_of_cores_busy()
    repeats = _REPEATS if len(X) < 1000 else 1
    seconds = _best(lambda: cluster_transports(X, a, X, b), repeats)
    return {"cdistance": seconds, "cdistance_points": len(X), "cdistance_busy": busy}


def share_of_cores_busy(patience: float = 0.5) -> float | None:
    """What others do while we do nothing, in [0, 1]; None where the system does not say."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None

    def ticks() -> tuple[int, int]:
        numbers = [int(word) for word in stat.read_text().split("\n", 1)[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all, and idle or waiting for a disk

    before = ticks()
    time.sleep(patience)
    total, idle = (after - early for after, early in zip(ticks(), before, strict=True))
    return round(1 - idle / total, 2) if total else None


def _best(job: Callable[[], object], repeats: int) -> float:
    """The best of several turns: what else ran can only have made it longer."""
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def _literal_seconds(X: Array, partitions: list[Partition], width: float, components: int) -> float:
    """The paper's map as it is written down, on one core: point by point, in double precision.

    Some points are lifted, and the time scaled up to all of them. This is what the machine alone
    has gained since 2011.
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
