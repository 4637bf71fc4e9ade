"""Clusterings by similarity: an order that puts like ones side by side, and groups of them."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from ..._util.typing import FloatArray, IntArray

_MAX_OPTIMAL = 300  # clusterings: the optimal order of the leaves takes cubic time


def similarity_order(D: FloatArray) -> IntArray:
    r"""An order of m clusterings in which neighbours are near, from their distances (m, m).

    The leaves of the tree of average linkage, in the order with the least
    :math:`\sum_i D_{o_i o_{i+1}}` that the tree allows (Bar-Joseph, Gifford, Jaakkola 2001,
    doi:10.1093/bioinformatics/17.suppl_1.S22); the given order where that has a smaller sum.

    Examples
    --------
    >>> similarity_order(np.abs(np.subtract.outer([0.0, 5.0, 1.0], [0.0, 5.0, 1.0]))).tolist()
    [0, 2, 1]
    """
    D = _symmetric(D)
    given = np.arange(len(D))
    if len(D) < 3:
        return given
    apart = squareform(D, checks=False)
    tree = linkage(apart, "average")
    if len(D) <= _MAX_OPTIMAL:
        tree = optimal_leaf_ordering(tree, apart)
    order = leaves_list(tree)
    if D[order[:-1], order[1:]].sum() >= D[given[:-1], given[1:]].sum():
        return given
    # An order and its reverse are equally good: the first clustering comes before the last.
    place = np.argsort(order)
    return order[::-1].copy() if place[0] > place[-1] else order


def similar_groups(D: FloatArray) -> list[IntArray]:
    """Groups of like clusterings, the largest first: average linkage, cut at half of its height.

    Examples
    --------
    >>> x = [0.0, 9.0, 1.0, 8.0, 0.0]
    >>> [group.tolist() for group in similar_groups(np.abs(np.subtract.outer(x, x)))]
    [[0, 2, 4], [1, 3]]
    """
    tree = linkage(squareform(_symmetric(D), checks=False), "average")
    found = fcluster(tree, tree[-1, 2] / 2, "distance")
    groups = [np.flatnonzero(found == group) for group in np.unique(found)]
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _symmetric(D: FloatArray) -> FloatArray:
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)  # rounding errors
    return D
