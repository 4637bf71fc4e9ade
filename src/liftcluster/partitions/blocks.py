"""Partitions of some of the points, of a stream that is read in blocks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from .._util.typing import IntArray
from .._util.validation import as_weights
from .labels import (
    DEFAULT_NOISE,
    as_membership_matrix,
    column_names,
    encode_labels,
    hard_or_soft,
    looks_like_labels,
    plain_name,
    read_only,
    renumber,
)
from .partition import Partition, with_counts

_FEW_POINTS = 1024  # among which the first point of each cluster is searched first


class Block(NamedTuple):
    """A partition of some of the points; unlike a Partition of all points, it may be empty."""

    partition: Partition
    order: tuple[Hashable, ...] | None  # of the clusters of all blocks; None: sorted


def as_block(obj: Any, weights: Any = None) -> Block:
    """A block from labels, memberships or a Partition of some of the points.

    It holds only the clusters that occur in it, or all columns of memberships.

    Examples
    --------
    >>> as_block([-1, -1]).partition
    Partition(hard, n=2, k=0, 100.0% noise)
    >>> as_block([[1.0, 0.0]]).order
    (0, 1)
    """
    if isinstance(obj, Block | Partition):
        part, order = obj if isinstance(obj, Block) else (obj, obj.names)
        if weights is None:
            return Block(part, order)
        codes, names = part.assignment, part.names
    elif looks_like_labels(obj):
        codes, names, counts = encode_labels(obj, DEFAULT_NOISE)
        categories = getattr(getattr(obj, "values", obj), "categories", None)
        order = None if categories is None else tuple(map(plain_name, categories))
        if order is None:
            codes, names, counts = _by_appearance(codes, names, counts)
        codes = read_only(codes)
        if weights is None:
            made = Partition(codes, names, as_weights(None, len(codes), may_be_zero=True))
            return Block(with_counts(made, counts), order)
    else:
        n, k = np.shape(obj)
        names = order = column_names(obj, k)
        codes = hard_or_soft(as_membership_matrix(obj)) if n else np.empty(0, dtype=np.int32)
    w = as_weights(weights, codes.shape[0], may_be_zero=True)
    return Block(Partition(codes, names, w), order)


def _by_appearance(
    codes: IntArray, names: tuple[Hashable, ...], counts: IntArray
) -> tuple[IntArray, tuple[Hashable, ...], IntArray]:
    """Clusters in the order of their first points, which is consistent over blocks."""
    order = np.argsort(_first_points(codes, len(names)))
    if (order[1:] > order[:-1]).all():
        return codes, names, counts
    named = tuple(names[i] for i in order)
    return renumber(codes, order, len(names)), named, counts[order]


def _first_points(codes: IntArray, k: int) -> IntArray:
    """The first point of each of k clusters, which are mostly found among the first points."""
    size = _FEW_POINTS
    while True:
        head = codes[:size]
        first = np.full(k + 1, len(codes))  # the last entry is for the code -1
        first[head[::-1]] = np.arange(len(head))[::-1]
        if size >= len(codes) or (first[:-1] < size).all():
            return first[:-1]
        size *= 8
