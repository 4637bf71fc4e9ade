"""Contingency tables of two partitions, and counts of pairs of points."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._util.arrays import is_constant
from .._util.typing import Array, FloatArray, IntArray, Sparse
from .counting import count_pairs
from .on_device import count_on_device
from .partition import Partition

_SMALL_TABLE = 2**16  # cells; tables up to this size are dense for any number of points
_EXACT_FLOAT = 2**53  # integers up to here are exact in float64
_EXACT_SQUARE = isqrt(2**63 - 1)  # the squares of up to this many points fit into int64
# Expected pair counts are differences of sums of squares: fewer pairs per point than this are
# rounding errors.
_ROUNDING = 1e-12


class PairCounts(NamedTuple):
    """Numbers of unordered pairs of different points; expected numbers for soft partitions."""

    both: float  # together in a and in b
    in_a: float
    in_b: float
    all: int

    @property
    def disagreements(self) -> float:
        """Pairs that are together in one partition and apart in the other."""
        return self.in_a + self.in_b - 2 * self.both


@dataclass(frozen=True, eq=False)
class Contingency:
    r"""The weight that each cluster of one partition shares with each cluster of another.

    .. math:: n_{ij} = \sum_x w(x)\, p(i|x)\, q(j|x)

    Made by :func:`contingency`, and read-only. Every measure that uses labels alone is a function
    of this table. It is an array of int64 when both partitions are hard and the weights integers,
    else of float64; sparse when there are many more cells than points. No row or column is empty.
    """

    table: Any  # (k, k') array or csr_array
    left_out: float = 0.0  # share of the weight that is noise in either partition
    # Expected number of points that share a cluster with themselves when it is drawn twice, in both
    # partitions, in a and in b. Pair counts of floats need it; None where weights are not integers.
    self_pairs: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        values = self.table.data if sp.issparse(self.table) else self.table
        values.setflags(write=False)

    @property
    def is_counts(self) -> bool:
        """Whether the cells are numbers of points: hard partitions with integer weights."""
        return bool(self.table.dtype.kind == "i")

    @cached_property
    def rows(self) -> Array:
        """n_i: the weight of each cluster of a, without what was left out."""
        return _sums(self.table, axis=1)

    @cached_property
    def columns(self) -> Array:
        """n_j: the weight of each cluster of b, without what was left out."""
        return _sums(self.table, axis=0)

    @cached_property
    def total(self) -> float:
        """The weight in the table; an int where the cells are counts."""
        total = self.rows.sum()
        return int(total) if self.is_counts else float(total)

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, Array]:
        """Rows, columns and values of the cells that are not zero."""
        if sp.issparse(self.table):
            entries = self.table.tocoo()
            return entries.row, entries.col, entries.data
        i, j = np.nonzero(self.table)
        return i, j, self.table[i, j]

    @cached_property
    def pairs(self) -> PairCounts:
        r"""Pairs of different points that are together in both partitions, in a, in b; all pairs.

        .. math:: \tfrac12 \sum_{ij} n_{ij} (n_{ij} - 1), \quad \tfrac12 \sum_i n_i (n_i - 1),
                  \quad \tfrac12 \sum_j n_j (n_j - 1), \quad \tfrac12 n (n - 1)

        Exact Python integers for hard partitions. For soft ones the expected numbers when every
        point draws its cluster independently, where :math:`\sum_x w(x) \sum_i p(i|x)^2
        \sum_j q(j|x)^2` replaces the n pairs of a point with itself. A weight is a number
        of points.
        """
        if self.is_counts:
            n = int(self.total)
            cells = self.table.data if sp.issparse(self.table) else self.table.ravel()
            both, in_a, in_b = (
                (_sum_of_squares(m, n) - n) // 2 for m in (cells, self.rows, self.columns)
            )
            return PairCounts(both, in_a, in_b, n * (n - 1) // 2)
        if self.self_pairs is None:
            raise ValueError(
                "pair counts take a weight as a number of points, so weights must be integers; for "
                "other weights use nmi, vi or lift_emd"
            )
        return self._expected_pairs(*self.self_pairs)

    def _expected_pairs(self, self_both: float, self_a: float, self_b: float) -> PairCounts:
        n = round(self.total)

        def expected(m: FloatArray, with_themselves: float) -> float:
            pairs = float(m @ m - with_themselves) / 2
            return pairs if pairs > _ROUNDING * n else 0.0

        in_a, in_b = expected(self.rows, self_a), expected(self.columns, self_b)
        both = min(expected(self.cells[2], self_both), in_a, in_b)
        if n > _EXACT_FLOAT:  # products of these integers may overflow floats
            both, in_a, in_b = int(both), int(in_a), int(in_b)
        return PairCounts(both, in_a, in_b, n * (n - 1) // 2)


def contingency(a: Partition, b: Partition) -> Contingency:
    """The contingency table of two partitions, hard or soft, of the same points and weights.

    Points that are noise in either partition are left out.

    Examples
    --------
    >>> a = Partition.from_labels(["x", "x", "y", "y", None])
    >>> b = Partition.from_labels([0, 0, 0, 1, 1])
    >>> c = contingency(a, b)
    >>> c.table.tolist(), c.left_out
    ([[2, 0], [1, 1]], 0.2)
    >>> c.pairs
    PairCounts(both=1, in_a=2, in_b=3, all=6)
    """
    return _count(a, b).finish()


@dataclass(frozen=True, eq=False)
class PartialTable:
    """The contingency table of a block of points.

    Tables can be added; clusters are matched by name. ``finish`` returns the Contingency.
    """

    table: Any  # (k, k'), dense or sparse
    names: tuple[tuple[Hashable, ...], tuple[Hashable, ...]]  # of rows and columns
    n: int
    total: float  # weight of all points
    outside: float  # weight of the points that are noise in either
    self_pairs: tuple[float, float, float]
    is_hard: bool
    is_integer: bool  # whether weights are integers

    @classmethod
    def of(cls, a: Partition, b: Partition) -> PartialTable:
        part = _count(a, b)
        return replace(part, table=sp.csr_array(part.table))

    def __add__(self, other: PartialTable) -> PartialTable:
        rows, columns = (
            tuple(dict.fromkeys(x + y)) for x, y in zip(self.names, other.names, strict=True)
        )
        both, in_a, in_b = (x + y for x, y in zip(self.self_pairs, other.self_pairs, strict=True))
        return PartialTable(
            table=_spread(self, rows, columns) + _spread(other, rows, columns),
            names=(rows, columns),
            n=self.n + other.n,
            total=self.total + other.total,
            outside=self.outside + other.outside,
            self_pairs=(both, in_a, in_b),
            is_hard=self.is_hard and other.is_hard,
            is_integer=self.is_integer and other.is_integer,
        )

    def finish(self) -> Contingency:
        table = self.table
        if isinstance(table, np.ndarray):
            table = np.ascontiguousarray(table)
        elif np.prod(table.shape) <= max(4 * self.n, _SMALL_TABLE):
            table = table.toarray()
        else:
            table.eliminate_zeros()
        rows, columns = _sums(table, axis=1), _sums(table, axis=0)
        whole = bool(rows.all() and columns.all())
        if not whole:  # clusters whose points are all left out
            if not rows.any():
                raise ValueError(
                    "the partitions have no point in common: each point is noise (or has no "
                    "weight) in one of them"
                )
            table = table[rows > 0][:, columns > 0]
        is_counts = self.is_hard and self.is_integer and self.total <= _EXACT_FLOAT
        cells = table.astype(np.int64 if is_counts else np.float64, copy=False)
        made = Contingency(
            cells,
            self.outside / self.total,
            self.self_pairs if self.is_integer and not is_counts else None,
        )
        if whole and cells is table:
            vars(made).update(rows=rows, columns=columns)
        return made


def _count(a: Partition, b: Partition) -> PartialTable:
    check_same_points(a, b)
    is_hard, is_integer, total = a.is_hard and b.is_hard, are_integers(a.weights), a.total_weight
    if is_hard:
        table = _hard_table(a, b)
        inside = float(table.sum())
        self_pairs = (inside, inside, inside)
    else:
        table = (a.weighted_rows(slice(None)).T @ b.memberships).tocsr()  # rows of noise are zero
        self_pairs = _self_pairs(a, b) if is_integer else (0.0, 0.0, 0.0)  # no use for others
    if is_hard and is_integer and total <= _EXACT_FLOAT:
        outside = total - inside
    else:  # summed, because a difference would be nothing but rounding
        outside = float(a.weights[~(a.is_clustered & b.is_clustered)].sum())
    return PartialTable(
        table, (a.names, b.names), a.n, total, outside, self_pairs, is_hard, is_integer
    )


def _spread(part: PartialTable, *names: tuple[Hashable, ...]) -> Sparse:
    """The table of a block with the rows and columns of all clusters."""
    entries = sp.coo_array(part.table)
    places = []
    for own, every, index in zip(part.names, names, (entries.row, entries.col), strict=True):
        at = {name: i for i, name in enumerate(every)}
        places.append(np.array([at[name] for name in own], dtype=np.int64)[index])
    return sp.coo_array((entries.data, tuple(places)), shape=tuple(map(len, names))).tocsr()


def check_same_points(a: Partition, b: Partition) -> None:
    if a.n != b.n:
        raise ValueError(
            f"the partitions have {a.n} and {b.n} points; this comparison needs the same points "
            "in both"
        )
    v, w = a.weights, b.weights
    constant = a.n > 0 and is_constant(v) and is_constant(w)
    same = v[0] == w[0] if constant else np.array_equal(v, w)
    if not same:
        x = int(np.flatnonzero(v != w)[0])
        raise ValueError(
            f"the partitions must have the same weights, got {v[x]:g} and {w[x]:g} for point {x}; "
            "use with_weights to give them the same"
        )


def are_integers(weights: FloatArray) -> bool:
    """Whether weights are integers, so that they can be numbers of points."""
    if is_constant(weights):
        return not len(weights) or float(weights[0]).is_integer()
    return bool((weights == np.floor(weights)).all())


def _hard_table(a: Partition, b: Partition) -> Any:
    """Counts, or sums of weights, in O(n) without sorting."""
    shape = a.k + 1, b.k + 1  # noise has the first row and the first column
    if shape[0] * shape[1] > max(4 * a.n, _SMALL_TABLE):
        both = a.is_clustered & b.is_clustered
        where = a.labels[both], b.labels[both]
        return sp.coo_array((a.weights[both], where), shape=(a.k, b.k)).tocsr()
    unit = is_constant(a.weights) and bool(a.n == 0 or a.weights[0] == 1)
    there = count_on_device(a.device_codes, b.device_codes, shape) if unit else None
    if there is not None:
        return there[1:, 1:]
    codes = a.assignment, b.assignment
    return count_pairs(*codes, shape, None if unit else a.weights)[1:, 1:]


def _self_pairs(a: Partition, b: Partition) -> tuple[float, float, float]:
    """Σ_x w Σ_i p² Σ_j q², Σ_x w Σ_i p² and Σ_x w Σ_j q² over the points in both partitions."""
    # Σ_C p(C|x)²: the probability that two draws of a point's cluster are the same.
    squares = (R.multiply(R) for R in (a.memberships, b.memberships))
    p, q = (np.asarray(S.sum(axis=1), dtype=np.float64).ravel() for S in squares)
    w = a.weights
    return float(w @ (p * q)), float(w @ (p * (q > 0))), float(w @ (q * (p > 0)))


def _sums(table: Any, axis: int) -> Array:
    return np.asarray(table.sum(axis=axis)).ravel()


def _sum_of_squares(counts: IntArray, n: int) -> int:
    if n <= _EXACT_SQUARE:  # Σ c² ≤ (Σ c)² = n²
        counts = counts.astype(np.int64, copy=False)
        return int(counts @ counts)
    return sum(c * c for c in counts.tolist())
