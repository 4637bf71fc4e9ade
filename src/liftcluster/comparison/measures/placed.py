"""Partitions with their points, and what measures of several pairs compute of them once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._util.arrays import add_up
from ..._util.typing import Array, FloatArray, Sparse
from ..._util.validation import check_same_length
from ...partitions.partition import Partition

_KEPT_UP_TO = 2**14  # points up to which the shares of clusters are kept for several measures


@dataclass(frozen=True, eq=False)
class Placed:
    """A partition and its points, and what measures compute of it for several pairs."""

    X: Array
    partition: Partition
    known: dict[Any, FloatArray] = field(default_factory=dict)  # means and profiles

    def __post_init__(self) -> None:
        check_same_length(self.partition.n, len(self.X), "the partition", "X")

    @property
    def shares(self) -> tuple[Array, Sparse]:
        """The points in some cluster, and their shares w p(C|x) of the total weight, (n, k)."""
        return self._kept if self.partition.n <= _KEPT_UP_TO else _shares(self.X, self.partition)

    @cached_property
    def _kept(self) -> tuple[Array, Sparse]:
        return _shares(self.X, self.partition)

    @cached_property
    def _facts(self) -> tuple[FloatArray, tuple[Array, Array, Array]]:
        X, R = self.shares
        return _masses(R), (X.min(axis=0), X.max(axis=0), X[:1])

    @property
    def masses(self) -> FloatArray:
        return self._facts[0]

    @property
    def box(self) -> tuple[Array, Array, Array]:
        """The least and the largest coordinates of the points in clusters, and the first point."""
        return self._facts[1]

    def remember(self, key: Any, make: Callable[[], FloatArray]) -> FloatArray:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]


@dataclass(frozen=True, eq=False)
class PlacedPair:
    """Two partitions with their points, and what several measures of this pair share."""

    P: Placed
    Q: Placed
    known: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        d, e = self.P.X.shape[1], self.Q.X.shape[1]
        if d != e:
            raise ValueError(f"X has {d} features and Y has {e}; they must be points of one space")

    @classmethod
    def of(cls, X: Array, a: Partition, Y: Array, b: Partition) -> PlacedPair:
        check_same_length(a.n, len(X), "the first partition", "X")
        check_same_length(b.n, len(Y), "the second partition", "Y")
        return cls(Placed(X, a), Placed(Y, b))

    @property
    def unit(self) -> float:
        """A power of two that scales coordinates to [-2, 2]: squares do not overflow or vanish."""
        largest = max(
            abs(float(c)) for Z in (self.P, self.Q) for z in Z.box[:2] for c in (z.min(), z.max())
        )
        return 2.0 ** (math.frexp(largest)[1] - 1)


def _shares(X: Array, partition: Partition) -> tuple[Array, Sparse]:
    """The points in some cluster, and their shares w p(C|x) of the total weight, (n, k)."""
    R = partition.weighted_rows(slice(0, partition.n))
    R.eliminate_zeros()
    inside = np.diff(R.indptr) > 0
    # Summing the weights, not R, gives the same bits for any order of the clusters.
    R.data /= partition.weights[inside].sum()
    return (X, R) if inside.all() else (X[inside], R[inside, :])


def _masses(R: Sparse) -> FloatArray:
    return add_up(R.data, R.indices, R.shape[1])
