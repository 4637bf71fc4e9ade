"""Several partitions side by side, R = [R₁ … R_m], so that one pass lifts all clusters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._util.typing import FloatArray, IntArray, Sparse
from .._util.validation import as_numbers, check_same_length

if TYPE_CHECKING:
    from .partition import Partition


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Weighted memberships given as one (n, s) matrix, read in blocks of rows."""

    matrix: Sparse

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def begin(self) -> None:
        """Begin nothing: the memberships are known."""

    def rows(self, rows: slice) -> Sparse:
        every = rows == slice(0, self.shape[0])
        return self.matrix if every else self.matrix[rows, :]

    def dense_rows(self, rows: slice) -> FloatArray:
        return np.asarray(self.rows(rows).toarray())


@dataclass(frozen=True, eq=False)
class Stack:
    """m partitions of the same n points, their s clusters numbered consecutively."""

    partitions: Mapping[Hashable, Partition]

    def __post_init__(self) -> None:
        sizes = {p.n for p in self.partitions.values()}
        if len(sizes) > 1:
            raise ValueError(
                f"partitions of one point set must have the same length, got {sorted(sizes)}; "
                "use represent_samples for partitions of different point sets"
            )

    def begin(self) -> None:
        """Let a device begin with labels that it has."""
        for given in {p.given for p in self.partitions.values()} - {None}:
            given.begin()

    @cached_property
    def shape(self) -> tuple[int, int]:
        return next(iter(self.partitions.values())).n, len(self.owner)

    @cached_property
    def owner(self) -> IntArray:
        """Index of the partition of each cluster."""
        sizes = [p.k for p in self.partitions.values()]
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def cluster_names(self) -> tuple[Hashable, ...]:
        return tuple(chain.from_iterable(p.names for p in self.partitions.values()))

    @cached_property
    def cluster_weights(self) -> FloatArray:
        return np.concatenate([p.cluster_weights for p in self.partitions.values()])

    @property
    def total_weights(self) -> FloatArray:
        return np.array([p.total_weight for p in self.partitions.values()])

    @property
    def has_no_noise(self) -> bool:
        """Whether some hard partition has every point in a cluster."""
        return any(p.is_hard and p.assignment.min(initial=0) >= 0 for p in self.partitions.values())

    def rows(self, rows: slice | IntArray) -> Sparse:
        """w(x) p(C|x) of b points for all clusters, as a sparse (b, s) matrix."""
        parts = list(self.partitions.values())
        if all(p.is_hard for p in parts):
            return _hard_rows(parts, rows)
        return sp.csr_array(sp.hstack([p.weighted_rows(rows) for p in parts], format="csr"))

    def dense_rows(self, rows: slice) -> FloatArray:
        """The same as a dense matrix, for few clusters."""
        parts = list(self.partitions.values())
        if not all(p.is_hard for p in parts):
            return np.asarray(self.rows(rows).toarray())
        R = np.zeros((len(parts[0].assignment[rows]), self.shape[1]))
        first = 0
        for part in parts:
            column = part.assignment[rows]
            inside = np.flatnonzero(column >= 0)
            R[:, first : first + part.k][inside, column[inside]] = part.weights[rows][inside]
            first += part.k
        return R


def _hard_rows(parts: list[Partition], rows: slice | IntArray) -> Sparse:
    """Rows of a stack of hard partitions, each with one entry per partition or none for noise."""
    columns, sizes, m = [p.assignment[rows] for p in parts], [p.k for p in parts], len(parts)
    codes, weights = np.empty((len(columns[0]), m), np.int32), np.empty((len(columns[0]), m))
    for j, (part, column) in enumerate(zip(parts, columns, strict=True)):
        codes[:, j], weights[:, j] = column, part.weights[rows]
    inside = codes >= 0
    codes += np.cumsum([0, *sizes[:-1]], dtype=np.int32)
    if inside.all():
        entries = weights.ravel(), codes.ravel(), np.arange(0, codes.size + 1, m)
    else:
        indptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        entries = weights[inside], codes[inside], indptr
    return sp.csr_array(entries, shape=(len(codes), sum(sizes)))


Rows = Stack | MatrixRows


def as_rows(R: Any, n: int) -> Rows:
    """Memberships for n points from a Stack, a Partition, or any dense or sparse (n, s) matrix."""
    if hasattr(R, "weighted_rows"):  # a Partition
        R = Stack({0: R})
    if not isinstance(R, Stack | MatrixRows):
        R = R if sp.issparse(R) else as_numbers(R, "memberships R")
        if R.ndim != 2 or not R.shape[1]:
            raise ValueError(
                f"memberships R must be an (n, s) matrix or a Partition, got shape {R.shape}"
            )
        if R.dtype.kind == "c":
            raise TypeError("memberships R must be real numbers")
        R = MatrixRows(sp.csr_array(R))
        if not np.isfinite(R.matrix.data).all():
            raise ValueError("memberships R must be finite, got NaN or infinity")
    check_same_length(R.shape[0], n, "R", "X")
    return R
