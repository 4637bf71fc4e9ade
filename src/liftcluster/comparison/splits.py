"""Random splits of two pooled samples, with a clustering of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from .._util.arrays import constant_array, is_constant
from .._util.typing import Array, FloatArray, IntArray
from .._util.validation import check_same_length
from ..partitions.labels import renumber
from ..partitions.partition import Partition, as_partition
from .fitting import fit_clusterer


@dataclass(frozen=True, eq=False)
class Pool:
    """The points of two samples, shuffled, so that their order does not depend on the sample."""

    points: Array
    order: IntArray  # (n + n',) the row in [X; Y] of each point
    n: int  # how many are points of X

    @classmethod
    def of(cls, X: Array, Y: Array, rng: np.random.Generator) -> Pool:
        if X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"X and Y have {X.shape[1]} and {Y.shape[1]} features; they must be points of one "
                "space"
            )
        order = rng.permutation(len(X) + len(Y))
        return cls(np.concatenate([X, Y])[order], order, len(X))

    @property
    def is_first(self) -> Array:
        """Which points are of X."""
        return self.order < self.n

    def in_order(self, split: Split) -> tuple[Partition, Partition]:
        """The clusterings of the samples themselves, for their points in the order given."""
        first = self.is_first
        a, b = np.argsort(self.order[first]), np.argsort(self.order[~first])
        return take(split.a, a), take(split.b, b)


@dataclass(frozen=True, eq=False)
class Split:
    """A division of the pooled points into two parts, and a clustering of each part."""

    first: Array  # (n + n',) which points are in the first part
    a: Partition
    b: Partition

    def joined(self) -> Partition:
        """The clusters of both parts as one partition of all points, named (part, name)."""
        a, b = self.a, self.b
        names = (*((0, name) for name in a.names), *((1, name) for name in b.names))
        back = np.empty(len(self.first), dtype=np.intp)  # position among the parts in a row
        back[self.first], back[~self.first] = np.arange(a.n), np.arange(a.n, a.n + b.n)
        if a.is_hard and b.is_hard:
            shifted = np.where(b.labels < 0, -1, b.labels + a.k)
            assignment: Any = np.concatenate([a.labels, shifted]).astype(np.int32)[back]
        else:
            blocks = sp.block_diag([a.memberships, b.memberships], format="csr")
            assignment = sp.csr_array(blocks)[back, :]
        return Partition(assignment, names, _join_weights(a, b, back))


class Labeller(Protocol):
    """Gives the clustering of some of the pooled points."""

    def __call__(self, chosen: Array, rng: np.random.Generator) -> Partition: ...


def draw_splits(
    pool: Pool, cluster: Labeller, children: list[np.random.Generator]
) -> Iterator[Split]:
    """First the two samples themselves, then random splits, with a generator for each."""

    def one(i: int, child: np.random.Generator) -> Split:
        first = pool.is_first if i == 0 else child.permutation(pool.is_first)
        return Split(first, cluster(first, child), cluster(~first, child))

    if isinstance(cluster, FixedLabels):
        return (one(i, child) for i, child in enumerate(children))
    from joblib import Parallel, delayed  # slow to import

    threads = Parallel(prefer="threads", return_as="generator")
    return iter(threads(delayed(one)(i, child) for i, child in enumerate(children)))


def make_labeller(source: Any, pool: Pool) -> Labeller:
    """How the parts of a split are clustered: by fitting anew, or by labels given before."""
    if isinstance(source, tuple | list) and len(source) == 2:
        return FixedLabels.of(pool, *source)
    if isinstance(source, type):
        raise TypeError(f"source must be an instance of a clusterer, such as {source.__name__}()")
    if hasattr(source, "fit"):
        # Given seeds are kept for the samples and all splits alike, so the test stays exact.
        return Refit(
            pool.points, lambda points, rng: fit_clusterer(source, points, rng, reseed=False)[0]
        )
    if callable(source):
        return Refit(pool.points, lambda points, rng: source(points))
    raise TypeError(
        "source must be a clusterer, a function from points to labels, or a pair (a, b) of labels "
        f"that one rule gave to X and Y, got {type(source).__name__}"
    )


@dataclass(frozen=True, eq=False)
class Refit:
    """Clusters the points of each part anew."""

    points: Array
    cluster: Callable[[Array, np.random.Generator], Any]

    def __call__(self, chosen: Array, rng: np.random.Generator) -> Partition:
        points = self.points[chosen]
        partition = as_partition(self.cluster(points, rng))
        check_same_length(partition.n, len(points), "the result of the clusterer", "its sample")
        return partition


@dataclass(frozen=True, eq=False)
class FixedLabels:
    """Labels that stay with their points, in the order of the pool."""

    partition: Partition

    @classmethod
    def of(cls, pool: Pool, a: Any, b: Any) -> FixedLabels:
        a, b = as_partition(a), as_partition(b)
        check_same_length(a.n, pool.n, "a", "X")
        check_same_length(b.n, len(pool.order) - pool.n, "b", "Y")
        if not (a.weights.all() and b.weights.all()):
            raise ValueError(
                "points of weight zero cannot take part in a test of drift: a cluster may receive "
                "no others; leave them out"
            )
        if not set(a.names) & set(b.names):
            raise ValueError(
                "a and b have no cluster name in common; they must be labels that one rule gave to "
                "both samples. For clusterings made separately, give the clusterer"
            )
        names = tuple(dict.fromkeys((*a.names, *b.names)))
        if a.is_hard and b.is_hard:
            codes = [_recode(p, names)[p.assignment] for p in (a, b)]
            assignment: Any = np.concatenate(codes)[pool.order]
        else:
            blocks = [_with_columns(p, names) for p in (a, b)]
            assignment = sp.csr_array(sp.vstack(blocks, format="csr"))[pool.order, :]
        return cls(Partition(assignment, names, _join_weights(a, b, pool.order)))

    def __call__(self, chosen: Array, rng: np.random.Generator) -> Partition:
        return without_absent(take(self.partition, np.flatnonzero(chosen)))


def _recode(partition: Partition, names: tuple[Any, ...]) -> IntArray:
    """The position in ``names`` of each cluster; the last entry is for noise, -1."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([*(place[name] for name in partition.names), -1], dtype=np.int32)


def _with_columns(partition: Partition, names: tuple[Any, ...]) -> Any:
    """Memberships with a column for each of ``names``."""
    R = partition.memberships
    columns = _recode(partition, names)[R.indices]
    return sp.csr_array((R.data, columns, R.indptr), shape=(partition.n, len(names)))


def take(partition: Partition, rows: IntArray) -> Partition:
    """The clustering of some of the points; clusters may be left without points."""
    w = partition.weights
    weights = constant_array(w[0], len(rows)) if is_constant(w) else w[rows]
    return Partition(partition.assignment[rows], partition.names, weights)


def without_absent(partition: Partition) -> Partition:
    """Only the clusters that have points: rare ones may be in one part of a split alone."""
    present = np.flatnonzero(partition.cluster_weights > 0)
    if len(present) == partition.k:
        return partition
    if not len(present):
        raise ValueError("a part of a split has noise points only; leave noise out of the samples")
    names = tuple(partition.names[i] for i in present)
    if partition.is_hard:
        return Partition(renumber(partition.assignment, present, partition.k), names,
                         partition.weights)  # fmt: skip
    return Partition(sp.csr_array(partition.assignment[:, present]), names, partition.weights)


def _join_weights(a: Partition, b: Partition, order: IntArray) -> FloatArray:
    """Weights of the points of both, one after another, in some order."""
    if is_constant(a.weights) and is_constant(b.weights) and a.weights[0] == b.weights[0]:
        return constant_array(a.weights[0], len(order))
    return np.concatenate([a.weights, b.weights])[order]
