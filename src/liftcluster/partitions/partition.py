"""Partitions: n weighted points divided among k clusters, hard or soft."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._util.arrays import add_up, check_is_array_like, is_constant, to_numpy
from .._util.typing import Array, FloatArray, IntArray, Sparse
from .._util.validation import as_weights
from .counting import Encoding
from .frames import columns_as_partitions
from .labels import (
    DEFAULT_NOISE,
    EMPTY_SHARE,
    as_membership_matrix,
    column_names,
    encode_labels,
    hard_or_soft,
    is_one_labelling,
    largest_membership,
    looks_like_labels,
    one_hot,
    read_only,
    renumber,
    warn_dropped_clusters,
)
from .on_device import LabelsOnDevice, encode_on_device


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    r"""n weighted points divided among k clusters: :math:`p(C|x) \ge 0,\ \sum_C p(C|x) = 1`.

    Made by :meth:`from_labels`, :meth:`from_memberships` or :func:`as_partition`, and read-only.
    A hard partition is stored as one integer per point, a soft one as a sparse matrix. Noise
    belongs to no cluster: its label is -1 and its row of memberships is zero.

    Attributes
    ----------
    n, k : int
        Numbers of points and clusters.
    is_hard : bool
        Whether each point is in one cluster, or in none.
    names : tuple
        Names of the clusters: the distinct labels, or the columns.
    assignment : (n,) int array, or (n, k) sparse array
        The labels of a hard partition, or the memberships of a soft one, as stored.
    weights : (n,) array
        Weights of the points as given; one each by default.
    labels : (n,) int array
        Cluster of each point as an index into ``names``, -1 for noise; for a soft partition
        the cluster of largest membership.
    memberships : (n, k) sparse array
        p(C|x); rows sum to one, or to zero for noise.
    masses : (k,) array
        Σ w p(C|x) / Σ w. Together with ``noise_mass`` they sum to one.
    total_weight : float
        Σ w, noise included.

    See Also
    --------
    as_partition : From labels, memberships or a Partition.

    Examples
    --------
    >>> import liftcluster as lc
    >>> p = lc.Partition.from_labels(["a", "b", "a", None])
    >>> p.names, p.labels.tolist(), p.masses.tolist(), p.noise_mass
    (('a', 'b'), [0, 1, 0, -1], [0.5, 0.25], 0.25)
    >>> lc.Partition.from_memberships([[1.0, 0.0], [0.5, 0.5]]).masses.tolist()
    [0.75, 0.25]
    """

    assignment: Any  # (n,) codes of a hard partition, of any signed type; or (n, k) csr
    names: tuple[Hashable, ...]
    weights: FloatArray = field(repr=False)  # (n,)

    # Of a hard partition of points that weigh one, if labels were given on a device.
    given: ClassVar[Any] = None  # LabelsOnDevice, which are read when they are needed
    device_codes: ClassVar[Any] = None
    encoding: ClassVar[Any] = None  # with the number of points of each cluster

    @classmethod
    def from_labels(
        cls, labels: Any, weights: Any = None, noise: Iterable[Any] = DEFAULT_NOISE
    ) -> Partition:
        """A hard partition from one label per point.

        Parameters
        ----------
        labels : (n,) array-like
            Anything hashable: integers, strings, dates, a pandas Series or Categorical (whose
            order of categories is kept; categories that no point has are not clusters).
        weights : (n,) array-like, optional
            Weights w ≥ 0 of the points; one each by default.
        noise : iterable, default (-1, None, nan)
            Labels that mean "in no cluster". NaN, None and masked entries always do.
        """
        plain = weights is None and noise is DEFAULT_NOISE
        if plain and (given := encode_on_device([labels], encode_labels)) is not None:
            given.read()
            return DevicePartition(given, 0)
        codes, names, counts = encode_labels(labels, noise)
        w = as_weights(weights, len(codes))
        if not names:
            raise ValueError(
                f"every one of the {len(codes)} labels is noise; a partition needs at least one "
                "cluster (see the argument noise)"
                if len(codes)
                else "labels are empty; a partition needs at least one point"
            )
        made = cls(read_only(codes), names, w)
        return with_counts(made, counts) if weights is None else _without_empty(made)

    @classmethod
    def from_memberships(
        cls, memberships: Any, weights: Any = None, names: Sequence[Hashable] | None = None
    ) -> Partition:
        """A partition from its matrix of memberships.

        Parameters
        ----------
        memberships : (n, k) array-like, sparse matrix or data frame
            p(C|x). Rows sum to one; a row of zeros is noise. A matrix of zeros and ones gives a
            hard partition. Clusters without mass are dropped with a warning.
        weights : (n,) array-like, optional
            Weights w ≥ 0 of the points; one each by default.
        names : sequence of k hashables, optional
            Names of the clusters; by default the columns of a data frame, else 0 … k-1.
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
        if not self.is_hard:
            return read_only(largest_membership(self.assignment))
        # Arithmetic with numbers of one or two bytes would overflow.
        small = self.assignment.itemsize < 4
        return read_only(self.assignment.astype(np.int32)) if small else self.assignment

    @property
    def memberships(self) -> Sparse:
        return one_hot(self.assignment, self.k) if self.is_hard else self.assignment

    @property
    def is_clustered(self) -> Array:
        """(n,) whether each point belongs to a cluster; the others are noise."""
        return self.assignment >= 0 if self.is_hard else np.diff(self.assignment.indptr) > 0

    @cached_property
    def cluster_weights(self) -> FloatArray:
        """Σ w p(C|x) of each cluster, in the units of the weights."""
        if not self.is_hard:
            return read_only(self.assignment.T @ self.weights)
        codes = np.add(self.assignment, 1, dtype=np.intp)  # the first sum is that of noise
        if self.n and is_constant(self.weights):  # counting is faster
            totals = np.bincount(codes, minlength=self.k + 1) * self.weights[0]
        else:
            totals = add_up(self.weights, codes, self.k + 1)
        return read_only(totals[1:])

    @cached_property
    def total_weight(self) -> float:
        unit = self.n > 0 and is_constant(self.weights) and self.weights[0] == 1
        return float(self.n if unit else self.weights.sum())

    @cached_property
    def masses(self) -> FloatArray:
        return read_only(self.cluster_weights / self.total_weight)

    @property
    def noise_mass(self) -> float:
        """Share of the weight that belongs to no cluster."""
        return float(self.weights[~self.is_clustered].sum() / self.total_weight)

    def with_weights(self, weights: Any) -> Partition:
        """The same partition with other weights of the points.

        Parameters
        ----------
        weights : (n,) array-like
            Weights w ≥ 0 of the points.
        """
        return _without_empty(Partition(self.assignment, self.names, as_weights(weights, self.n)))

    def renamed(self, names: Iterable[Hashable]) -> Partition:
        """The same partition with other names of its clusters.

        Parameters
        ----------
        names : iterable of k hashables
            The new names, in the order of the old ones.
        """
        new = object.__new__(type(self))
        vars(new).update(vars(self), names=tuple(names))
        return new

    def harden(self) -> Partition:
        """The hard partition by the largest membership of each point (the first of several)."""
        if self.is_hard:
            return self
        return _without_empty(Partition(self.labels, self.names, self.weights))

    def weighted_rows(self, rows: slice | IntArray) -> Sparse:
        """Sparse (b, k) array of w(x) p(C|x) for b of the points.

        Parameters
        ----------
        rows : slice or int array
            Which points.
        """
        if self.is_hard:
            return one_hot(self.assignment[rows], self.k, self.weights[rows])
        block = self.assignment[rows, :]
        if is_constant(self.weights):
            return block * self.weights[0] if self.weights.size else block
        data = block.data * np.repeat(self.weights[rows], np.diff(block.indptr))
        return sp.csr_array((data, block.indices, block.indptr), shape=block.shape)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        kind = "hard" if self.is_hard else "soft"
        noise = f", {self.noise_mass:.1%} noise" if self.noise_mass else ""
        return f"Partition({kind}, n={self.n}, k={self.k}{noise})"


class DevicePartition(Partition):
    """A hard partition of points of equal weight that was given as labels on a device.

    The first use of its clusters waits for the device, which encodes them; codes are copied to
    main memory when something there needs them.
    """

    _number: int

    def __init__(self, given: LabelsOnDevice, number: int) -> None:
        vars(self).update(given=given, _number=number, total_weight=float(given.n))

    @cached_property
    def encoding(self) -> Encoding:
        return self.given.read()[self._number]

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        return self.encoding.names

    @cached_property
    def cluster_weights(self) -> FloatArray:
        return read_only(self.encoding.counts.astype(np.float64))

    @property
    def device_codes(self) -> Any:
        codes = self.encoding.codes
        return None if isinstance(codes, np.ndarray) else codes

    @property
    def weights(self) -> FloatArray:
        return self.given.weights

    @cached_property
    def assignment(self) -> IntArray:
        return np.asarray(read_only(to_numpy(self.encoding.codes)))

    @property
    def n(self) -> int:
        return self.given.n

    @property
    def k(self) -> int:
        return len(self.encoding.counts)

    @property
    def is_hard(self) -> bool:
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return Partition, (self.assignment, self.names, np.ones(self.n))


def as_partition(obj: Any, weights: Any = None) -> Partition:
    """A Partition from labels, a membership matrix or a Partition.

    Parameters
    ----------
    obj : (n,) or (n, k) array-like, or Partition
        One-dimensional input is labels, two-dimensional (dense, sparse or a data frame) is
        memberships.
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default.

    Returns
    -------
    Partition
        The partition; the given one, if it is a Partition and there are no weights.

    See Also
    --------
    Partition : What it is, and other ways to make one.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.as_partition(["x", "x", "y"])
    Partition(hard, n=3, k=2)
    >>> lc.as_partition([[0.9, 0.1], [0.2, 0.8]])
    Partition(soft, n=2, k=2)
    """
    if isinstance(obj, Partition):
        return obj if weights is None else obj.with_weights(weights)
    check_is_array_like(obj, "a partition")
    if looks_like_labels(obj):
        return Partition.from_labels(obj, weights)
    shape = np.shape(obj)
    if len(shape) == 2 and shape[1] == 1 and not (to_numpy(obj) == 1).all():
        column = f"frame[{obj.columns[0]!r}]" if hasattr(obj, "columns") else ".ravel()"
        raise ValueError(
            f"one column could be labels or memberships: use {column} for labels, or "
            "Partition.from_memberships for one cluster and noise"
        )
    return Partition.from_memberships(obj, weights)


def as_partitions(obj: Any, weights: Any = None) -> dict[Hashable, Partition]:
    """Partitions by name.

    From a mapping, a data frame of labels, a sequence (named 0, 1, ...), or a single partition.
    """
    obj = columns_as_partitions(obj)
    if isinstance(obj, Mapping):
        named = dict(obj)
    elif hasattr(obj, "columns"):
        raise TypeError(
            "a data frame could be labels or memberships: pass {name: frame[name]} for one "
            "labelling in each column, or [frame] for one soft partition"
        )
    elif isinstance(obj, list | tuple) and not is_one_labelling(obj):
        named = dict(enumerate(obj))
    else:
        named = {0: obj}
    if not named:
        raise ValueError("no partitions were given; pass at least one")
    begun = encode_on_device([*named.values()], encode_labels) if weights is None else None
    if begun is not None:
        return {name: DevicePartition(begun, i) for i, name in enumerate(named)}
    return {name: as_partition(p, weights) for name, p in named.items()}


def with_counts(partition: Partition, counts: IntArray) -> Partition:
    """A partition of points of weight one, whose clusters have been counted."""
    vars(partition)["cluster_weights"] = read_only(counts * 1.0)
    return partition


def _without_empty(partition: Partition) -> Partition:
    """Drop clusters without weight, with a warning that names them."""
    # The square of a smaller weight would underflow in float64.
    empty = partition.cluster_weights <= EMPTY_SHARE * partition.total_weight
    if not empty.any():
        return partition
    if empty.all():
        raise ValueError("every cluster is empty: all the weight is on noise points")
    warn_dropped_clusters([partition.names[i] for i in np.flatnonzero(empty)])
    kept = np.flatnonzero(~empty)
    if partition.is_hard:
        assignment: Any = renumber(partition.assignment, kept, partition.k)
    else:
        assignment = sp.csr_array(partition.assignment[:, kept])
    return Partition(
        read_only(assignment), tuple(partition.names[i] for i in kept), partition.weights
    )
