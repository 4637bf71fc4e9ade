"""Clusterings as values: n weighted points shared among k clusters, hard or soft."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import add_up, is_one_number, to_numpy
from .._util.typing import Array, FloatArray, IntArray, Sparse
from .._util.validation import as_numbers, as_weights, first_bad_cell
from .labels import DEFAULT_NOISE, encode_labels, looks_like_labels, plain_name

__all__ = [
    "NOTHING",
    "Partition",
    "as_membership_matrix",
    "as_partition",
    "as_partitions",
    "column_names",
    "hard_or_soft",
    "warn_of_dropped",
]

# Memberships computed in float32 miss one by a few 1e-7; anything farther is a mistake.
_SUM_TOLERANCE = 1e-5
NOTHING = 1e-30  # share of the weight below which a cluster counts as empty


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    r"""n weighted points shared among k clusters: :math:`p(C|x) \ge 0,\ \sum_C p(C|x) = 1`.

    Made by :meth:`from_labels`, :meth:`from_memberships` or :func:`as_partition`, and read-only.
    A hard partition is stored as one integer for each point, a soft one as a sparse matrix;
    everything else is derived. Noise belongs to no cluster: its label is -1 and its row of
    memberships is zero.

    Attributes
    ----------
    n, k : int
        Numbers of points and clusters.
    names : tuple
        What the clusters are called: the distinct labels, or the columns.
    weights : (n,) array
        Weights of the points as given; one each by default.
    labels : (n,) int array
        Cluster of each point as an index into ``names``, -1 for noise; for a soft partition
        the cluster of largest membership.
    memberships : (n, k) sparse array
        p(C|x); rows sum to one, or to zero for noise.
    masses : (k,) array
        Σ w p(C|x) / Σ w. Together with ``noise_mass`` they sum to one.

    Examples
    --------
    >>> p = Partition.from_labels(["a", "b", "a", None])
    >>> p.names, p.labels.tolist(), p.masses.tolist(), p.noise_mass
    (('a', 'b'), [0, 1, 0, -1], [0.5, 0.25], 0.25)
    >>> Partition.from_memberships([[1.0, 0.0], [0.5, 0.5]]).masses.tolist()
    [0.75, 0.25]
    """

    assignment: Any  # (n,) codes of a hard partition, or (n, k) csr of a soft one
    names: tuple[Hashable, ...]
    weights: FloatArray = field(repr=False)  # (n,)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        weights: Any = None,
        noise: Iterable[Any] = DEFAULT_NOISE,
    ) -> Partition:
        """A hard partition from one label for each point.

        Parameters
        ----------
        labels : (n,) array-like
            Anything hashable: integers, strings, dates, a pandas Series or Categorical (whose
            order of categories is kept; categories that no point has are not clusters).
        weights : (n,) array-like, optional
            Weights w ≥ 0 of the points.
        noise : iterable
            Labels that mean "in no cluster". NaN, None and masked entries always do.
        """
        codes, names = encode_labels(labels, noise)
        w = as_weights(weights, len(codes))
        if not names:
            raise ValueError(
                f"every one of the {len(codes)} labels is noise; a partition needs at least one "
                "cluster (see the argument noise)"
                if len(codes)
                else "labels are empty; a partition needs at least one point"
            )
        return _without_empty(cls(_read_only(codes), names, w))

    @classmethod
    def from_memberships(
        cls,
        memberships: Any,
        weights: Any = None,
        names: Sequence[Hashable] | None = None,
    ) -> Partition:
        """A soft partition from the matrix p(C|x), dense or sparse, one column for each cluster.

        Rows must sum to one; a row of zeros is noise. A matrix of zeros and ones is a hard
        partition and becomes one. Clusters without mass are dropped with a warning.
        """
        R = as_membership_matrix(memberships)
        names = column_names(memberships, R.shape[1], names)
        w = as_weights(weights, R.shape[0])
        if R.nnz == 0:
            raise ValueError("memberships are all zero; a partition needs at least one cluster")
        return _without_empty(cls(hard_or_soft(R), names, w))

    @property
    def n(self) -> int:
        return int(self.assignment.shape[0])

    @property
    def k(self) -> int:
        return len(self.names)

    @property
    def is_hard(self) -> bool:
        return isinstance(self.assignment, np.ndarray)

    @cached_property
    def labels(self) -> IntArray:
        return self.assignment if self.is_hard else _read_only(_largest_membership(self.assignment))

    @property
    def memberships(self) -> Sparse:
        return _one_hot(self.assignment, self.k) if self.is_hard else self.assignment

    @cached_property
    def cluster_weights(self) -> FloatArray:
        """Σ w p(C|x) of each cluster, in the units of the weights."""
        if self.is_hard and self.n and is_one_number(self.weights):  # equal: counting is quicker
            counts = np.bincount(self.assignment + 1, minlength=self.k + 1)[1:]
            totals = counts * self.weights[0]
        elif self.is_hard:
            inside = self.assignment >= 0
            totals = add_up(self.weights[inside], self.assignment[inside], self.k)
        else:
            totals = self.assignment.T @ self.weights
        return _read_only(totals)

    @cached_property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def masses(self) -> FloatArray:
        return _read_only(self.cluster_weights / self.total_weight)

    @property
    def noise_mass(self) -> float:
        """Share of the weight that belongs to no cluster."""
        if self.is_hard:
            return float(self.weights[self.assignment < 0].sum() / self.total_weight)
        inside = np.asarray(self.assignment.sum(axis=1)).ravel() > 0
        return float(self.weights[~inside].sum() / self.total_weight)

    def with_weights(self, weights: Any) -> Partition:
        """The same clusters over points that weigh something else."""
        return _without_empty(Partition(self.assignment, self.names, as_weights(weights, self.n)))

    def harden(self) -> Partition:
        """Each point wholly in its cluster of largest membership (the first of several)."""
        if self.is_hard:
            return self
        return _without_empty(Partition(self.labels, self.names, self.weights))

    def weighted_rows(self, rows: slice) -> Sparse:
        """w(x) p(C|x) for some of the points: a sparse (b, k) block."""
        block = (
            _one_hot(self.assignment[rows], self.k) if self.is_hard else self.assignment[rows, :]
        )
        if is_one_number(self.weights):  # all weigh the same
            return block * self.weights[0] if self.weights.size else block
        return sp.csr_array(
            (
                block.data * np.repeat(self.weights[rows], np.diff(block.indptr)),
                block.indices,
                block.indptr,
            ),
            shape=block.shape,
        )

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        kind = "hard" if self.is_hard else "soft"
        noise = f", {self.noise_mass:.1%} noise" if self.noise_mass else ""
        return f"Partition({kind}, n={self.n}, k={self.k}{noise})"


def as_partition(obj: Any, weights: Any = None) -> Partition:
    """Labels, a membership matrix or a Partition as a Partition.

    One-dimensional input is labels, two-dimensional (dense, sparse or a data frame) is
    memberships. ``weights``, where given, replace those a Partition carries.

    Examples
    --------
    >>> as_partition(["x", "x", "y"])
    Partition(hard, n=3, k=2)
    >>> as_partition([[0.9, 0.1], [0.2, 0.8]])
    Partition(soft, n=2, k=2)
    """
    if isinstance(obj, Partition):
        return obj if weights is None else obj.with_weights(weights)
    if looks_like_labels(obj):
        return Partition.from_labels(obj, weights)
    shape = np.shape(obj)
    if len(shape) == 2 and shape[1] == 1 and not (to_numpy(obj) == 1).all():
        raise ValueError(
            "one column could be labels or memberships: use .ravel() for labels, or "
            "Partition.from_memberships for one cluster and noise"
        )
    return Partition.from_memberships(obj, weights)


def as_partitions(obj: Any, weights: Any = None) -> dict[Hashable, Partition]:
    """Several partitions by name: a mapping of them, a sequence (named 0, 1, ...), or one alone."""
    if isinstance(obj, Mapping):
        named = dict(obj)
    elif hasattr(obj, "columns"):
        raise TypeError(
            "a data frame could be labels or memberships: pass dict(frame) for one labelling in "
            "each column, or Partition.from_memberships(frame) for one soft partition"
        )
    elif isinstance(obj, list | tuple) and not _is_one_labelling(obj):
        named = dict(enumerate(obj))
    else:
        named = {0: obj}
    if not named:
        raise ValueError("no partitions were given; pass at least one")
    return {name: as_partition(p, weights) for name, p in named.items()}


def _is_one_labelling(obj: Sequence[Any]) -> bool:
    """[0, 0, 1] is one labelling; [[0, 0, 1], [0, 1, 1]] and [Partition, ...] are several."""
    return bool(obj) and not any(
        isinstance(item, Partition)
        or (hasattr(item, "__len__") and not isinstance(item, str | bytes))
        for item in obj
    )


def column_names(
    memberships: Any, k: int, names: Sequence[Hashable] | None = None
) -> tuple[Hashable, ...]:
    """What the k clusters are called: as given, as the columns, or by number."""
    if names is None and hasattr(memberships, "columns"):
        names = list(memberships.columns)
    names = tuple(range(k)) if names is None else tuple(plain_name(name) for name in names)
    if len(names) != k or len(set(names)) != k:
        raise ValueError(f"names must be {k} different names, got {list(names)!r}")
    return names


def hard_or_soft(R: Sparse) -> Any:
    """The assignment of a partition: codes where all memberships are one, else the matrix."""
    return _read_only(_codes(R) if (R.data == 1).all() else R)


def as_membership_matrix(memberships: Any) -> Sparse:
    """A canonical csr matrix of valid memberships."""
    if sp.issparse(memberships):
        if memberships.dtype.kind == "c":
            raise TypeError("memberships must be real numbers")
        R = sp.csr_array(memberships).astype(np.float64)
    else:
        R = sp.csr_array(_dense_memberships(memberships))
    if R.shape[0] == 0 or R.shape[1] == 0:
        raise ValueError(f"memberships have shape {R.shape}; a partition needs points and clusters")
    R.sum_duplicates()
    R.eliminate_zeros()
    if not np.isfinite(R.data).all():
        row, column = _first_entry(R, ~np.isfinite(R.data))
        raise ValueError(f"memberships must be finite, got {R[row, column]} for point {row}")
    if (R.data < 0).any():
        row, column = _first_entry(R, R.data < 0)
        raise ValueError(
            f"memberships must not be negative, got {R[row, column]} for point {row}, "
            f"cluster {column}"
        )
    with np.errstate(over="ignore"):
        sums = np.asarray(R.sum(axis=1)).ravel()
    wrong = (np.abs(sums - 1) > _SUM_TOLERANCE) & (sums != 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        hint = "; labels belong in one dimension: use .ravel()" if R.shape[1] == 1 else ""
        raise ValueError(
            f"memberships of a point must sum to one (or to zero for noise), "
            f"got {sums[row]:.6g} for point {row}; divide each row by its sum{hint}"
        )
    R.data /= np.repeat(np.where(sums == 0, 1.0, sums), np.diff(R.indptr))
    return R


def _dense_memberships(memberships: Any) -> FloatArray:
    try:
        R = as_numbers(memberships, "memberships")
    except TypeError as error:
        raise TypeError(
            f"{error}; they are an (n, k) matrix of numbers, and labels have one dimension"
        ) from None
    if R.ndim != 2:
        raise ValueError(
            f"memberships must be two-dimensional (points × clusters), got shape {R.shape}; "
            "use Partition.from_labels for one label per point"
        )
    if (bad := first_bad_cell(R)) is not None:
        raise ValueError(f"memberships must be finite, got {R[bad]} for point {bad[0]}")
    return R


def _without_empty(partition: Partition) -> Partition:
    """Drop the clusters that hold no weight, saying which."""
    # A cluster this light is nothing in float64, and its square nothing at all.
    empty = partition.cluster_weights <= NOTHING * partition.total_weight
    if not empty.any():
        return partition
    names = [name for name, gone in zip(partition.names, empty, strict=True) if gone]
    if empty.all():
        raise ValueError("every cluster is empty: all the weight is on noise points")
    warn_of_dropped(names)
    kept = np.flatnonzero(~empty)
    if partition.is_hard:
        new_code = np.full(partition.k + 1, -1)  # the last entry serves the code -1
        new_code[kept] = np.arange(len(kept))
        assignment: Any = new_code[partition.assignment].astype(partition.assignment.dtype)
    else:
        assignment = sp.csr_array(partition.assignment[:, kept])
    return Partition(
        _read_only(assignment), tuple(partition.names[i] for i in kept), partition.weights
    )


def warn_of_dropped(names: Sequence[Hashable]) -> None:
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    warnings.warn(
        f"dropped {len(names)} empty cluster(s): {shown}", UserWarning, stacklevel=_user_level()
    )


def _user_level() -> int:
    """The stack level of the first frame outside this package, so that warnings point there."""
    import inspect

    package = __name__.split(".")[0]
    frame = inspect.currentframe()
    level = 0
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return max(level, 1)


def _one_hot(codes: IntArray, k: int) -> Sparse:
    inside = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(inside)])
    return sp.csr_array((np.ones(int(indptr[-1])), codes[inside], indptr), shape=(len(codes), k))


def _codes(R: Sparse) -> IntArray:
    """The inverse of one-hot coding: column of each row's only entry, -1 for none."""
    codes = np.full(R.shape[0], -1, dtype=np.int32)
    codes[np.diff(R.indptr) > 0] = R.indices
    return codes


def _largest_membership(R: Sparse) -> IntArray:
    """Column of the largest entry in each row (the first of several), -1 for empty rows."""
    labels = np.full(R.shape[0], -1, dtype=np.int32)
    filled = np.flatnonzero(np.diff(R.indptr) > 0)
    if len(filled):
        starts = R.indptr[filled]
        largest = np.maximum.reduceat(R.data, starts)
        row_of = np.repeat(np.arange(len(filled)), np.diff(R.indptr)[filled])
        is_largest = np.flatnonzero(R.data == largest[row_of])
        first = np.unique(row_of[is_largest], return_index=True)[1]
        labels[filled] = R.indices[is_largest[first]]
    return labels


def _first_entry(R: Sparse, where: Array) -> tuple[int, int]:
    i = int(np.flatnonzero(where)[0])
    return int(np.searchsorted(R.indptr, i, side="right") - 1), int(R.indices[i])


def _read_only(array: Any) -> Any:
    parts = [array] if isinstance(array, np.ndarray) else [array.data, array.indices, array.indptr]
    for part in parts:
        part.setflags(write=False)
    return array
