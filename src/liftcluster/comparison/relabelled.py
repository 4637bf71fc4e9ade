"""Cluster vectors of many partitions of the same points, made one after another, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from .._util.arrays import row_blocks
from .._util.typing import FloatArray, Points
from ..lifts.base import FeatureLift
from ..lifts.grid import GridLift
from ..lifts.trigonometric import TrigonometricLift
from ..lifts.uncertainty import unit_rows
from ..partitions.partition import Partition
from ..partitions.stack import Stack
from ..representation.representation import Representation

_BATCH_SIZE = 50  # partitions for each pass: with more, their sums leave the cache
_BATCH_BYTES = 256 * 2**20  # of their labels and cluster vectors


def lift_relabelled(
    lift: FeatureLift, X: Points, partitions: Iterable[Partition]
) -> Iterator[Representation]:
    """A representation of each partition of the points X, in order.

    The partitions are drawn in batches, each lifted in one pass over the points. Time for each and
    memory do not depend on their number.
    """
    for batch in _batches(partitions, lift.n_components):
        V = _sums(lift, X, batch)
        vectors = unit_rows(V, [name for partition in batch for name in partition.names])
        end = 0
        for partition in batch:
            rows = slice(end, end := end + partition.k)
            lifted = Representation(
                sums=V[rows],
                cluster_weights=partition.cluster_weights,
                total_weights=np.array([partition.total_weight]),
                owner=np.zeros(partition.k, dtype=int),
                cluster_names=partition.names,
                partition_names=(0,),
                lift=lift,
            )
            vars(lifted)["vectors"] = vectors[rows]
            yield lifted


def _batches(partitions: Iterable[Partition], n_components: int) -> Iterator[list[Partition]]:
    batch: list[Partition] = []
    total = 0
    for partition in partitions:
        labels = partition.assignment if partition.is_hard else partition.assignment.data
        own = labels.nbytes + 8 * partition.k * n_components
        if batch and (len(batch) == _BATCH_SIZE or total + own > _BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(partition)
        total += own
    if batch:
        yield batch


def _sums(lift: FeatureLift, X: Points, batch: list[Partition]) -> FloatArray:
    """(s, ρ) vectors of the clusters of all partitions, one partition after another."""
    V = None
    if isinstance(lift, TrigonometricLift | GridLift):  # those with compiled kernels
        V = lift.fused_sums(X, Stack(dict(enumerate(batch))))
    return _sums_by_products(lift, X, batch) if V is None else V


def _sums_by_products(lift: FeatureLift, X: Points, batch: list[Partition]) -> FloatArray:
    """The same by products of dense matrices, far faster here than those of sparse ones."""
    width = max(lift.block_width, *(partition.k for partition in batch))
    groups = _groups(batch, width)
    totals = [np.zeros((stack.shape[1], lift.n_components)) for stack in groups]
    unit = max(float(partition.weights.max()) for partition in batch)
    for rows in row_blocks(len(X), width):
        Z = lift.features(X[rows])
        Z = np.asarray(Z.toarray() if sp.issparse(Z) else Z)
        for total, stack in zip(totals, groups, strict=True):
            R = stack.rows(rows).toarray() / unit  # weights may exceed single precision
            total += R.T.astype(Z.dtype, copy=False) @ Z
    return np.asarray(np.concatenate(totals) * unit)


def _groups(batch: list[Partition], width: int) -> list[Stack]:
    """Consecutive partitions with at most ``width`` clusters together."""
    groups: list[list[Partition]] = []
    for partition in batch:
        if not groups or sum(p.k for p in groups[-1]) + partition.k > width:
            groups.append([])
        groups[-1].append(partition)
    return [Stack(dict(enumerate(group))) for group in groups]
