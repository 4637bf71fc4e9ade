"""How much the clusters of two partitions share, and the pairs of points they agree on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._util.arrays import is_one_number
from .._util.typing import Array, FloatArray, IntArray, Sparse
from .partition import Partition

__all__ = ["Contingency", "PairCounts", "PartialTable", "are_whole", "contingency"]

_SMALL_TABLE = 2**16  # cells; tables up to this size are dense however few the points are
_BLOCK = 2**16  # points counted at a time: their codes stay in cache
_EXACT_FLOAT = 2**53  # whole numbers up to here are exact in float64
_EXACT_SQUARE = isqrt(2**63 - 1)  # the squares of up to this many points fit into int64
# Expected pair counts are differences of sums of squares: below this many pairs for each point
# nothing but rounding is left.
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

    Made by :func:`contingency`, and read-only. Every measure that looks at labels only is a
    function of this table.

    Attributes
    ----------
    table : (k, k') array or csr_array
        n_ij; int64 when both partitions are hard and the weights whole numbers, else float64.
        Sparse when there are many more cells than points. No row or column is empty.
    left_out : float
        Share of the weight that is noise in either partition, and so not in the table.
    self_pairs : tuple of three floats, optional
        What a table of floats needs for pair counts: the expected number of (copies of) points
        that are together with themselves, drawn twice, in both partitions, in a and in b. A
        table of integers does not need it, and weights that are not whole numbers have none.
    """

    table: Any
    left_out: float = 0.0
    self_pairs: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        values = self.table.data if sp.issparse(self.table) else self.table
        values.setflags(write=False)

    @property
    def is_counts(self) -> bool:
        """Whether the cells are numbers of points: hard partitions, weights whole numbers."""
        return bool(self.table.dtype.kind == "i")

    @cached_property
    def rows(self) -> Array:
        """n_i: the weight of each cluster of a, without what was left out."""
        return np.asarray(self.table.sum(axis=1)).ravel()

    @cached_property
    def columns(self) -> Array:
        """n_j: the weight of each cluster of b, without what was left out."""
        return np.asarray(self.table.sum(axis=0)).ravel()

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
        point draws its cluster by itself, where :math:`\sum_x w(x) \sum_i p(i|x)^2
        \sum_j q(j|x)^2` takes the place of the n points that pair with themselves. A weight is
        a number of points.
        """
        if self.is_counts:
            n = int(self.total)
            both, in_a, in_b = (
                (_sum_of_squares(m, n) - n) // 2 for m in (self.cells[2], self.rows, self.columns)
            )
            return PairCounts(both, in_a, in_b, n * (n - 1) // 2)
        if self.self_pairs is None:
            raise ValueError(
                "pair counts take a weight as a number of points, so weights must be whole "
                "numbers; for other weights use nmi, vi or lift_emd"
            )
        return self._expected_pairs(*self.self_pairs)

    def _expected_pairs(self, self_both: float, self_a: float, self_b: float) -> PairCounts:
        n = round(self.total)

        def expected(m: FloatArray, with_themselves: float) -> float:
            pairs = float(m @ m - with_themselves) / 2
            return pairs if pairs > _ROUNDING * n else 0.0

        in_a, in_b = expected(self.rows, self_a), expected(self.columns, self_b)
        both = min(expected(self.cells[2], self_both), in_a, in_b)
        if n > _EXACT_FLOAT:  # whole numbers all of them, whose products may exceed any float
            both, in_a, in_b = int(both), int(in_a), int(in_b)
        return PairCounts(both, in_a, in_b, n * (n - 1) // 2)


def contingency(a: Partition, b: Partition) -> Contingency:
    """The contingency table of two partitions of the same points.

    Points that are noise in either partition are left out.

    Parameters
    ----------
    a, b : Partition
        Hard or soft, with the same points and the same weights.

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
    _check_same_points(a, b)
    whole = are_whole(a.weights)
    if a.is_hard and b.is_hard:
        table = _hard_table(a, b)
        if whole and a.total_weight <= _EXACT_FLOAT:
            table = table.astype(np.int64, copy=False)
            self_pairs = None
        else:
            table = table.astype(np.float64, copy=False)
            self_pairs = (float(table.sum()),) * 3 if whole else None
    else:
        table = _soft_table(a, b)
        self_pairs = _self_pairs(a, b) if whole else None
    table = _without_empty(table)
    in_table = _some_weight(table)
    return Contingency(table, _share_left_out(a, b, table, in_table), self_pairs)


@dataclass(frozen=True, eq=False)
class PartialTable:
    """What a block of points adds to the contingency table of two partitions.

    Tables add up, clusters matched by name; ``finish`` makes the Contingency of all points.
    """

    table: Sparse  # (k, k')
    names: tuple[tuple[Hashable, ...], tuple[Hashable, ...]]  # of rows and columns
    n: int
    total: float  # weight of all points
    outside: float  # weight of those that are noise in either
    self_pairs: tuple[float, float, float]
    is_hard: bool
    is_whole: bool  # whether weights are whole numbers

    @classmethod
    def of(cls, a: Partition, b: Partition) -> PartialTable:
        _check_same_points(a, b)
        hard = a.is_hard and b.is_hard
        table = sp.csr_array(_hard_table(a, b) if hard else _soft_table(a, b), dtype=np.float64)
        outside = ~(_is_clustered(a) & _is_clustered(b))
        return cls(
            table=table,
            names=(a.names, b.names),
            n=a.n,
            total=a.total_weight,
            outside=float(a.weights[outside].sum()),
            self_pairs=(float(table.sum()),) * 3 if hard else _self_pairs(a, b),
            is_hard=hard,
            is_whole=are_whole(a.weights),
        )

    def __add__(self, other: PartialTable) -> PartialTable:
        names = tuple(
            tuple(dict.fromkeys(mine + theirs))
            for mine, theirs in zip(self.names, other.names, strict=True)
        )
        both, in_a, in_b = (x + y for x, y in zip(self.self_pairs, other.self_pairs, strict=True))
        return PartialTable(
            table=sp.csr_array(_spread(self, names) + _spread(other, names)),
            names=(names[0], names[1]),
            n=self.n + other.n,
            total=self.total + other.total,
            outside=self.outside + other.outside,
            self_pairs=(both, in_a, in_b),
            is_hard=self.is_hard and other.is_hard,
            is_whole=self.is_whole and other.is_whole,
        )

    def finish(self) -> Contingency:
        cells = self.table.shape[0] * self.table.shape[1]
        table = self.table.toarray() if cells <= max(4 * self.n, _SMALL_TABLE) else self.table
        table = _without_empty(table)
        in_table = _some_weight(table)
        if self.is_hard and self.is_whole and self.total <= _EXACT_FLOAT:
            left_out = (self.total - in_table) / self.total
            return Contingency(table.astype(np.int64), left_out)
        self_pairs = self.self_pairs if self.is_whole else None
        return Contingency(table, self.outside / self.total, self_pairs)


def _spread(part: PartialTable, names: tuple[tuple[Hashable, ...], ...]) -> Sparse:
    """The table of a part among the clusters of all."""
    entries = part.table.tocoo()
    places = []
    for own, every, index in zip(part.names, names, (entries.row, entries.col), strict=True):
        at = {name: i for i, name in enumerate(every)}
        places.append(np.array([at[name] for name in own], dtype=np.int64)[index])
    shape = (len(names[0]), len(names[1]))
    return sp.coo_array((entries.data, (places[0], places[1])), shape=shape).tocsr()


def _some_weight(table: Any) -> float:
    in_table = float(table.sum())
    if not in_table > 0:
        raise ValueError(
            "the partitions have no point in common: each is noise (or weighs nothing) in one of "
            "them"
        )
    return in_table


def _check_same_points(a: Partition, b: Partition) -> None:
    if a.n != b.n:
        raise ValueError(
            f"the partitions have {a.n} and {b.n} points; this comparison needs the same points "
            "in both"
        )
    v, w = a.weights, b.weights
    constant = a.n > 0 and is_one_number(v) and is_one_number(w)
    same = v[0] == w[0] if constant else np.array_equal(v, w)
    if not same:
        x = int(np.flatnonzero(v != w)[0])
        raise ValueError(
            f"the partitions must have the same weights, got {v[x]:g} and {w[x]:g} for point {x}; "
            "use with_weights to give them the same"
        )


def are_whole(weights: FloatArray) -> bool:
    """Whether weights can be numbers of points."""
    w = weights[:1] if is_one_number(weights) else weights
    return bool((w == np.floor(w)).all())


def _hard_table(a: Partition, b: Partition) -> Any:
    """Counts, or sums of weights, by counting alone: O(n), nothing is sorted."""
    cells = (a.k + 1) * (b.k + 1)  # noise has the first row and the first column
    if cells > max(4 * a.n, _SMALL_TABLE):
        return _sparse_hard_table(a, b)
    unit = is_one_number(a.weights) and bool((a.weights[:1] == 1).all())
    sums = np.zeros(cells, dtype=np.int64 if unit else np.float64)
    size = max(_BLOCK, cells)  # adding the counts of a block must not cost more than counting
    for start in range(0, a.n, size):
        block = slice(start, start + size)
        code = a.labels[block] * np.int64(b.k + 1)
        code += b.labels[block]
        code += b.k + 2
        sums += np.bincount(code, None if unit else a.weights[block], minlength=cells)
    return sums.reshape(a.k + 1, b.k + 1)[1:, 1:]


def _sparse_hard_table(a: Partition, b: Partition) -> Sparse:
    common = (a.labels >= 0) & (b.labels >= 0)
    where = (a.labels[common], b.labels[common])
    return sp.coo_array((a.weights[common], where), shape=(a.k, b.k)).tocsr()


def _soft_table(a: Partition, b: Partition) -> Any:
    table = a.weighted_rows(slice(None)).T @ b.memberships  # rows of noise are zero
    return table.toarray() if a.k * b.k <= max(4 * a.n, _SMALL_TABLE) else table.tocsr()


def _self_pairs(a: Partition, b: Partition) -> tuple[float, float, float]:
    """Σ_x w Σ_i p² Σ_j q², Σ_x w Σ_i p² and Σ_x w Σ_j q² over the points in both partitions."""
    p, q = _squared_memberships(a), _squared_memberships(b)
    w = a.weights
    return float(w @ (p * q)), float(w @ (p * (q > 0))), float(w @ (q * (p > 0)))


def _squared_memberships(partition: Partition) -> FloatArray:
    """Σ_C p(C|x)²: how likely two draws of a point's cluster are the same."""
    R = partition.memberships
    return np.asarray(R.multiply(R).sum(axis=1), dtype=np.float64).ravel()


def _share_left_out(a: Partition, b: Partition, table: Any, in_table: float) -> float:
    if table.dtype.kind == "i":
        return (a.total_weight - in_table) / a.total_weight
    outside = ~(_is_clustered(a) & _is_clustered(b))  # a difference of sums would be rounding
    return float(a.weights[outside].sum() / a.total_weight)


def _is_clustered(partition: Partition) -> Array:
    if partition.is_hard:
        return np.asarray(partition.labels >= 0)
    return np.diff(partition.memberships.indptr) > 0


def _without_empty(table: Any) -> Any:
    """Clusters whose points are all left out are no part of the comparison."""
    if sp.issparse(table):
        table.eliminate_zeros()
    rows, columns = (np.asarray(table.sum(axis=axis)).ravel() > 0 for axis in (1, 0))
    if rows.all() and columns.all():
        return table if sp.issparse(table) else np.ascontiguousarray(table)
    return table[rows][:, columns]


def _sum_of_squares(counts: IntArray, n: int) -> int:
    if n <= _EXACT_SQUARE:  # Σ c² ≤ (Σ c)² = n²
        counts = counts.astype(np.int64, copy=False)
        return int(counts @ counts)
    return sum(c * c for c in counts.tolist())
