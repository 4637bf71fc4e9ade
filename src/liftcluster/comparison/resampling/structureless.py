"""Data of the same shape without clusters: what stability means nothing for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..._util.arrays import row_blocks, to_numpy
from ..._util.threads import map_in_order
from ..._util.typing import Array, FloatArray, IntArray, Points
from ...kernels.distances import pairwise_distances

_BLOCK_BYTES = 2**20  # of points and distances in float64, which fit into a cache
_TIE = 1e-9  # relative difference of squared distances that is rounding


@dataclass(frozen=True, eq=False)
class Shape:
    """Where some points are along their principal axes, in the simplest terms.

    Attributes
    ----------
    centre : (d,) array
    axes : (r, d) array
        Unit vectors.
    low, high, deviation : (r,) arrays
        Range and standard deviation along each axis.
    """

    centre: FloatArray
    axes: FloatArray
    low: FloatArray
    high: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Shape:
        unit, first = _unit(X), X[0]  # squares of coordinates, or their sum, may overflow
        points = X / unit - first / unit
        centre = points.mean(axis=0)
        U, S, axes = np.linalg.svd(points - centre, full_matrices=False)
        along = U * S
        extent = (along.min(axis=0), along.max(axis=0), along.std(axis=0))
        return cls(unit * centre + first, axes, *(unit * part for part in extent))

    def uniform(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points that are uniform in the box of the same extent (Tibshirani et al. 2001)."""
        along = rng.uniform(self.low, self.high, (n, len(self.low)))
        return np.asarray(self.centre + along @ self.axes)

    def normal(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points that are normally distributed with the same covariance."""
        along = self.deviation * rng.standard_normal((n, len(self.low)))
        return np.asarray(self.centre + along @ self.axes)


def random_regions(X: Points, numbers: Iterable[int], rng: np.random.Generator) -> list[IntArray]:
    """For each k, labels by the nearest of k random points: compact, and without a reason."""
    return regions_around(X, [draw_centres(len(X), k, rng) for k in numbers])


def draw_centres(n: int, k: int, rng: np.random.Generator) -> IntArray:
    """Rows of k different points of n, or of all."""
    return rng.choice(n, min(k, n), replace=False)


def regions_around(X: Points, drawn: Sequence[IntArray]) -> list[IntArray]:
    """For each set of rows, labels by the nearest of these points, in one pass over all points."""
    X = to_numpy(X)
    unit, (n, d) = _unit(X), X.shape
    centres = X[np.concatenate(drawn)]
    ends = np.cumsum([len(rows) for rows in drawn])
    labels: list[IntArray] = [np.empty(n, dtype=np.int32) for _ in drawn]

    def assign(block: slice) -> None:
        squares = pairwise_distances(X[block], centres, scale=unit, power=2)
        for own, D in zip(labels, np.split(squares, ends[:-1], axis=1), strict=True):
            nearest = (1 + _TIE) * D.min(axis=1, keepdims=True) >= D
            own[block] = nearest.argmax(axis=1)  # the first of those that are equally near

    blocks = list(row_blocks(n, d + len(centres), block_bytes=_BLOCK_BYTES))
    for _ in map_in_order(assign, blocks, uses_blas=True):
        pass
    return labels


def _unit(X: Array) -> float:
    """The largest extent of a coordinate."""
    low, high = (np.asarray(f(X, axis=0), dtype=np.float64) for f in (np.min, np.max))
    with np.errstate(over="ignore"):
        extent = float((high - low).max()) or 1.0
    return extent if np.isfinite(extent) else float(max(high.max(), -low.min()))
