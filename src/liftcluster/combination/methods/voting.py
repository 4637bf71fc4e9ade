"""Consensus by majority vote on pairs of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._util.arrays import row_blocks
from ..._util.typing import IntArray, RngLike
from .agreements import by_inputs
from .disagreements import joined_by_most
from .tuples import LabelTuples, cluster_known


def majority(tuples: LabelTuples, k: int | None = None, *, rng: RngLike = None) -> IntArray:
    r"""Join all pairs that share a cluster in more than half of the partitions that label both.

    The clusters are the connected components of

    .. math:: \{(x, y) : 2\,\#\{i : C_i(x) = C_i(y)\} > \#\{i : i \text{ labels } x, y\}\}

    so their number is not chosen but found. Chains of pairs can join points that most partitions
    separate. O(t² m) time in blocks of rows, O(t) memory besides a block.

    Parameters
    ----------
    tuples : LabelTuples
        As for ``evidence``.
    k, rng : ignored
        Accepted so that all methods have the same signature.

    References
    ----------
    Fred: Finding consistent clusters in data partitions (MCS 2001).

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 2]]
    >>> lc.consensus(inputs, 2, method="majority").labels.tolist()
    [0, 0, 1, 1]
    """
    return cluster_known(tuples, _join_pairs)


def _join_pairs(tuples: LabelTuples) -> IntArray:
    codes = by_inputs(tuples.codes)
    found: IntArray = np.arange(tuples.t)
    for rows in row_blocks(tuples.t, tuples.t):
        later = slice(rows.start, None)
        i, j = np.nonzero(joined_by_most(codes[:, rows], codes[:, later]))
        found = _join(found, found[rows][i], found[later][j])
    return np.unique(found, return_inverse=True)[1]


def _join(found: IntArray, a: IntArray, b: IntArray) -> IntArray:
    """Components after the components a[i] and b[i] have been joined for all i."""
    apart = a != b
    a, b = a[apart], b[apart]
    if not len(a):
        return found
    graph = sp.coo_array((np.ones(len(a)), (a, b)), shape=(len(found), len(found)))
    return np.asarray(connected_components(graph, directed=False)[1][found])
