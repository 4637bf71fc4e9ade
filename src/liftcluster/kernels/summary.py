"""What the choice of a bandwidth and of a lift needs to know about points, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .._util.arrays import namespace, on_device, send, to_numpy
from .._util.typing import Array, IntArray, Points
from .._util.validation import column_ranges

Box: TypeAlias = tuple[Array, Array]  # the corners with the smallest and the largest coordinates
Rows: TypeAlias = Mapping[
    str, Sequence[IntArray | range]
]  # which rows of each point set, by purpose

_SAMPLE_SIZE = 1000  # rows for a bandwidth or a centre
_POOL_SIZE = 2000  # rows that represent several point sets together


@dataclass(frozen=True, eq=False)
class PointSummary:
    """Sampled rows and the bounding box of one or several point sets."""

    n: int  # number of points
    d: int | None  # number of coordinates; None for objects that only the kernel understands
    samples: Mapping[str, Points]  # by purpose: "bandwidth", "centre", "landmarks", "pool"
    box: Box | None = None  # if it was asked for


# Makes the summary with some rows, and with the bounding box if asked for.
Summarize: TypeAlias = Callable[[Rows, bool], PointSummary]


def summarize_points(point_sets: Sequence[Points], rows: Rows, with_box: bool) -> PointSummary:
    """The summary of points in memory or on a device."""
    samples = {purpose: concatenate_rows(point_sets, own) for purpose, own in rows.items()}
    box = None
    if with_box:
        lows, highs = zip(*map(column_ranges, point_sets), strict=True)
        box = np.min(lows, axis=0), np.max(highs, axis=0)
    n = sum(map(n_points, point_sets))
    return PointSummary(n, dimension(point_sets[0]), samples, box)


def bandwidth_rows(n: int) -> IntArray | range:
    """Rows from which the bandwidth of n points is computed: always the same ones."""
    if n <= _SAMPLE_SIZE:
        return range(n)
    return np.sort(np.random.default_rng(0).choice(n, _SAMPLE_SIZE, replace=False))


def centre_rows(n: int) -> range:
    """Rows whose mean is the centre of n points."""
    return range(0, n, max(1, n // _SAMPLE_SIZE))


def pool_rows(sizes: Sequence[int]) -> list[IntArray]:
    """Rows of each of several point sets that represent all of them: always the same ones."""
    n = sum(sizes)
    rng = np.random.default_rng(0)
    return [
        np.sort(rng.choice(size, min(size, max(1, _POOL_SIZE * size // n)), replace=False))
        for size in sizes
    ]


def pool_points(point_sets: list[Points]) -> Points:
    """All points of one point set, a sample of the points of several."""
    if len(point_sets) == 1:
        return point_sets[0]
    return concatenate_rows(point_sets, pool_rows(list(map(n_points, point_sets))))


def concatenate_rows(point_sets: Sequence[Points], rows: Sequence[IntArray | range]) -> Points:
    return concatenate_points([take_rows(X, r) for X, r in zip(point_sets, rows, strict=True)])


def concatenate_points(point_sets: Sequence[Points]) -> Points:
    if len(point_sets) == 1:
        return point_sets[0]
    if all(isinstance(X, list | tuple) for X in point_sets):
        return [x for X in point_sets for x in X]
    return np.concatenate([to_numpy(X) for X in point_sets])


def take_rows(points: Points, rows: IntArray | range) -> Points:
    """Some of the points, which are an array, on a device or not, or any other sequence."""
    if isinstance(rows, range):
        chosen = slice(rows.start, rows.stop, rows.step)  # an array is not copied
        return points[chosen, ...] if hasattr(points, "shape") else points[chosen]
    if on_device(points):
        return namespace(points).take(points, send(rows, points), axis=0)
    return points[rows] if hasattr(points, "shape") else [points[i] for i in rows]


def dimension(points: Points) -> int | None:
    """Number of coordinates, where the points have any."""
    return points.shape[1] if getattr(points, "ndim", 0) == 2 else None


def n_points(points: Points) -> int:
    return int(points.shape[0]) if on_device(points) else len(points)
