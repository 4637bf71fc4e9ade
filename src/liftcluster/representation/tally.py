"""Sums of lifted points, cluster by cluster, that add up over any blocks of points."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._util.typing import Array, FloatArray, IntArray, Points
from .._util.validation import check_same_length
from ..lifts.base import Lift
from ..partitions.blocks import Block, as_block
from ..partitions.labels import EMPTY_SHARE, warn_dropped_clusters
from ..partitions.stack import Stack
from .representation import Representation, add_fields
from .storage import name_from_json, name_to_json

Order = tuple[Hashable, ...] | None

_ARRAY_FIELDS = ("sums", "cluster_weights", "total_weights", "owner", "sizes", "hard")


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    r"""Sums of lifted points for each cluster, which add up over blocks of points.

    .. math:: Φ(C) = \sum_{\text{blocks}} \sum_{x \in \text{block}} w(x)\, p(C|x)\, φ(x)

    ``a + b`` matches clusters by the names of their partition and their own; the order of addition
    changes rounding only. It holds no points and no lift, so it is small to send and to store;
    ``finish(lift)`` returns the Representation that the points would have in memory.

    Attributes
    ----------
    sums : (s, ρ) array
        Sums of the lifted points of each cluster.
    cluster_weights, total_weights : (s,) and (m,) arrays
        Weight of each cluster, and of each partition with its noise.
    owner : (s,) int array
        Position of the partition that each cluster belongs to.
    sizes, hard : (m,) arrays
        Number of points of each partition, and whether all its memberships were zero or one.
    cluster_names, partition_names : tuples
        Names of the s clusters and of the m partitions.
    orders : tuple
        The order of the clusters of each partition; None: as they sort.

    See Also
    --------
    represent : Does all of it for points in memory or read in blocks.
    make_lift : Makes the lift.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> lift = lc.make_lift(X, lift=lc.Fourier(64), bandwidth=2.0, rng=0)
    >>> parts = [lc.Tally.of(lift, X[i : i + 2], {"p": labels})
    ...          for i, labels in ((0, ["b", None]), (2, ["a", "b"]))]
    >>> (parts[0] + parts[1]).finish(lift).cluster_names
    ('a', 'b')
    """

    sums: FloatArray  # (s, ρ)
    cluster_weights: FloatArray  # (s,), Σ w p(C|x)
    total_weights: FloatArray  # (m,), Σ w, noise included
    owner: IntArray  # (s,), the partition of each cluster
    sizes: IntArray  # (m,), points that each partition has
    hard: Array  # (m,), whether all memberships were zero or one
    cluster_names: tuple[Hashable, ...]
    partition_names: tuple[Hashable, ...]
    orders: tuple[Order, ...]  # of the clusters of each partition; None: as they sort

    @classmethod
    def of(
        cls, lift: Lift | None, X: Points, partitions: Mapping[Hashable, Any], weights: Any = None
    ) -> Tally:
        """The tally of a block of points.

        Parameters
        ----------
        lift : Lift or None
            One map for all blocks, with features: not the exact one. None counts alone.
        X : (b, d) array-like or None
            The points of the block; None where there is no lift.
        partitions : mapping from names to labels, memberships or Partition
            Clusterings of these points alone; all of them may be noise.
        weights : (n,) array-like, optional
            Weights of the points, in place of any that partitions carry; one each by default.
        """
        if lift is not None and lift.is_exact:
            raise ValueError(
                "an exact lift spans only the clusters it was made from, so its sums do not add "
                'up; use a lift with features: make_lift(X, lift="fourier")'
            )
        blocks = {name: as_block(p, weights) for name, p in partitions.items()}
        if not blocks:
            raise ValueError("no partitions were given; pass at least one")
        parts = {name: block.partition for name, block in blocks.items()}
        for name, p in parts.items():
            if lift is not None:
                check_same_length(p.n, len(X), f"partition {name!r}", "X")
        ks = [p.k for p in parts.values()]
        return cls(
            sums=_sums(lift, X, blocks),
            cluster_weights=np.concatenate([p.cluster_weights for p in parts.values()]),
            total_weights=np.array([p.total_weight for p in parts.values()]),
            owner=np.repeat(np.arange(len(parts)), ks),
            sizes=np.array([p.n for p in parts.values()]),
            hard=np.array([p.is_hard for p in parts.values()]),
            cluster_names=tuple(name for p in parts.values() for name in p.names),
            partition_names=tuple(parts),
            orders=tuple(block.order for block in blocks.values()),
        )

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.sums.shape[1] != other.sums.shape[1]:
            raise ValueError(
                f"tallies of {self.sums.shape[1]} and {other.sums.shape[1]} components were made "
                "by different lifts; make one lift and use it for all blocks"
            )
        added = add_fields((self, other), ("sums", "cluster_weights"), ("total_weights", "sizes"))
        names = added["partition_names"]
        hard = dict.fromkeys(names, True)
        for part in (self, other):
            for name, is_hard in zip(part.partition_names, part.hard.tolist(), strict=True):
                hard[name] &= is_hard
        orders = tuple(_joined_order(name, self, other) for name in names)
        return Tally(**added, hard=np.array(list(hard.values())), orders=orders)

    def in_order(self) -> Tally:
        """Clusters in the order that they have in memory, without those of weight zero."""
        rows, empty = [], []
        for i, name in enumerate(self.partition_names):
            own = _ordered(np.flatnonzero(self.owner == i), self.cluster_names, self.orders[i])
            weights = self.cluster_weights[own]
            _check_some_weight(self, i, name, weights)
            kept = weights > EMPTY_SHARE * self.total_weights[i]
            rows.append(own[kept])
            empty += [self.cluster_names[j] for j in own[~kept]]
        if empty:
            warn_dropped_clusters(empty)
        chosen = np.concatenate(rows)
        return replace(
            self,
            sums=self.sums[chosen],
            cluster_weights=self.cluster_weights[chosen],
            owner=self.owner[chosen],
            cluster_names=tuple(self.cluster_names[i] for i in chosen),
        )

    def finish(self, lift: Lift) -> Representation:
        """The representation that all the points together have.

        Parameters
        ----------
        lift : Lift
            The map that made the sums.
        """
        if lift.n_components != self.sums.shape[1]:
            raise ValueError(
                f"the lift has {lift.n_components} components, the tally {self.sums.shape[1]}; "
                "give the lift that made it"
            )
        whole = self.in_order()
        return Representation(
            sums=whole.sums,
            cluster_weights=whole.cluster_weights,
            total_weights=whole.total_weights,
            owner=whole.owner,
            cluster_names=whole.cluster_names,
            partition_names=whole.partition_names,
            lift=lift,
        )

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Values that JSON can hold, and arrays."""
        values = {
            "cluster_names": [name_to_json(name) for name in self.cluster_names],
            "partition_names": [name_to_json(name) for name in self.partition_names],
            "orders": [
                None if order is None else [name_to_json(name) for name in order]
                for order in self.orders
            ],
        }
        return values, {field: getattr(self, field) for field in _ARRAY_FIELDS}

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> Tally:
        """The tally from what ``state`` returned.

        Parameters
        ----------
        values, arrays : dict
            The two results of ``state``.
        """

        def names(stored: list[Any]) -> tuple[Hashable, ...]:
            return tuple(name_from_json(name) for name in stored)

        return cls(
            **{field: arrays[field] for field in _ARRAY_FIELDS},
            cluster_names=names(values["cluster_names"]),
            partition_names=names(values["partition_names"]),
            orders=tuple(None if order is None else names(order) for order in values["orders"]),
        )

    def __sizeof__(self) -> int:
        """Bytes to hold and to send."""
        return sum(getattr(self, field).nbytes for field in _ARRAY_FIELDS) + 500

    def __repr__(self) -> str:
        return (
            f"Tally({len(self.cluster_names)} clusters of {len(self.partition_names)} "
            f"partition(s), {self.sizes.max()} points)"
        )


def _sums(lift: Lift | None, X: Points, blocks: Mapping[Hashable, Block]) -> FloatArray:
    """(s, ρ) sums; partitions without clusters in this block are skipped."""
    parts = {name: block.partition for name, block in blocks.items()}
    if lift is None:
        return np.zeros((sum(p.k for p in parts.values()), 0))
    present = {name: p for name, p in parts.items() if p.cluster_weights.any()}
    made = lift.sums(X, Stack(present)) if present else np.zeros((0, lift.n_components))
    rows = iter(np.split(made, np.cumsum([p.k for p in present.values()])[:-1]))
    return np.concatenate(
        [
            next(rows) if name in present else np.zeros((p.k, lift.n_components))
            for name, p in parts.items()
        ]
    )


def _joined_order(name: Hashable, a: Tally, b: Tally) -> Order:
    """The order of the first tally, then what only the second has; None if one has none."""
    known = [dict(zip(t.partition_names, t.orders, strict=True)) for t in (a, b)]
    orders = [own[name] for own in known if name in own]
    if any(order is None for order in orders):
        return None
    return tuple(dict.fromkeys(cluster for order in orders for cluster in order or ()))


def _ordered(rows: IntArray, names: tuple[Hashable, ...], order: Order) -> IntArray:
    rank: Any = names.__getitem__
    if order is not None:
        position = {name: i for i, name in enumerate(order)}
        return np.array(sorted(rows, key=lambda row: position[names[row]]), dtype=np.int64)
    try:
        return np.array(sorted(rows, key=rank), dtype=np.int64)
    except TypeError:
        return rows  # mixed kinds have no order: keep that of appearance


def _check_some_weight(tally: Tally, i: int, name: Hashable, weights: FloatArray) -> None:
    if not len(weights):
        raise ValueError(
            f"every one of the {tally.sizes[i]} labels of partition {name!r} is noise; a partition "
            "needs at least one cluster"
        )
    if not tally.total_weights[i] > 0:
        raise ValueError("weights sum to zero; give at least one point a positive weight")
    if not weights.any():
        raise ValueError(f"every cluster of {name!r} is empty: all the weight is on noise points")
