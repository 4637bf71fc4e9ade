"""Some of the points of a partition: what a block may lack that a whole partition may not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .._util.typing import IntArray
from .._util.validation import as_block_weights
from .labels import DEFAULT_NOISE, encode_labels, looks_like_labels, plain_name
from .partition import Partition, as_membership_matrix, column_names, hard_or_soft

__all__ = ["Block", "as_block"]


class Block(NamedTuple):
    """A partition of some of the points: with no clusters, no weight or no points, if need be."""

    partition: Partition
    order: tuple[Hashable, ...] | None  # of the clusters of the whole; None: as they sort


def as_block(obj: Any, weights: Any = None, noise: Iterable[Any] = DEFAULT_NOISE) -> Block:
    """Labels, memberships or a Partition of some of the points.

    Clusters that other blocks have are missing, unless they are columns of memberships, which all
    blocks have.

    Examples
    --------
    >>> as_block([-1, -1]).partition
    Partition(hard, n=2, k=0, 100.0% noise)
    >>> as_block([[1.0, 0.0]]).order
    (0, 1)
    """
    if isinstance(obj, Block):
        return obj if weights is None else Block(_reweighted(obj.partition, weights), obj.order)
    if isinstance(obj, Partition):
        whole = obj if weights is None else _reweighted(obj, weights)
        return Block(whole, whole.names)
    if not looks_like_labels(obj):
        return _block_of_memberships(obj, weights)
    codes, names = encode_labels(obj, noise)
    categories = getattr(getattr(obj, "values", obj), "categories", None)
    if categories is not None:
        order = tuple(plain_name(category) for category in categories)
    else:
        order = None
        codes, names = _by_appearance(codes, names)
    codes.setflags(write=False)
    return Block(Partition(codes, names, as_block_weights(weights, len(codes))), order)


def _block_of_memberships(memberships: Any, weights: Any) -> Block:
    n, k = np.shape(memberships)
    names = column_names(memberships, k)
    if n == 0:
        assignment: Any = np.empty(0, dtype=np.int32)
    else:
        assignment = hard_or_soft(as_membership_matrix(memberships))
    return Block(Partition(assignment, names, as_block_weights(weights, n)), names)


def _reweighted(partition: Partition, weights: Any) -> Partition:
    w = as_block_weights(weights, partition.n)
    return Partition(partition.assignment, partition.names, w)


def _by_appearance(
    codes: IntArray, names: tuple[Hashable, ...]
) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Clusters in the order in which they come first, which is what adds up over blocks."""
    first = np.full(len(names) + 1, len(codes))  # the last entry serves the code -1
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first[:-1])
    rank = np.full(len(names) + 1, -1, dtype=codes.dtype)
    rank[order] = np.arange(len(names))
    return rank[codes], tuple(names[i] for i in order)
