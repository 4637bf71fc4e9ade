"""Data of the same shape without clusters: what stability means nothing for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..._util.typing import FloatArray, IntArray, Points
from ...kernels.distances import pairwise_distances
from ...kernels.summary import take_rows

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


def random_regions(
    X: Points, numbers: Iterable[int], rng: np.random.Generator
) -> Iterator[IntArray]:
    """For each k, labels by the nearest of k random points: compact, and without a reason."""
    unit = _unit(X)
    for k in numbers:
        centres = take_rows(X, rng.choice(len(X), min(k, len(X)), replace=False))
        D = pairwise_distances(X, centres, scale=unit, power=2)
        nearest = (1 + _TIE) * D.min(axis=1, keepdims=True) >= D
        yield np.asarray(nearest.argmax(axis=1))  # the first of those that are equally near


def _unit(X: Points) -> float:
    """The largest extent of a coordinate."""
    X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore"):
        extent = float(np.ptp(X, axis=0).max()) or 1.0
    return extent if np.isfinite(extent) else float(np.abs(X).max())
