"""Consensus by majority vote on pairs of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._util.arrays import add_up, row_blocks
from ..._util.typing import Array, IntArray, RngLike
from .tuples import LabelTuples


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
    known = np.flatnonzero((tuples.codes >= 0).any(axis=1))
    codes = np.ascontiguousarray(tuples.codes[known].T, dtype=np.int32)  # (m, t)
    found: IntArray = np.arange(len(known))
    for rows in row_blocks(len(known), len(known)):
        later = slice(rows.start, None)
        i, j = np.nonzero(_linked(codes[:, rows], codes[:, later]))
        found = _join(found, found[rows][i], found[later][j])
    _, found = np.unique(found, return_inverse=True)
    heaviest = add_up(tuples.weights[known], found, int(found.max()) + 1).argmax()
    consensus = np.full(tuples.t, heaviest)
    consensus[known] = found
    return consensus


def _linked(a: IntArray, b: IntArray) -> Array:
    """(p, q) whether more than half of the partitions that label both agree, for (m, ·) codes."""
    count = np.uint8 if len(a) < 256 else np.uint32  # bytes: the time is spent on memory access
    agree = np.zeros((a.shape[1], b.shape[1]), dtype=count)
    for x, y in zip(a, np.where(b < 0, -2, b), strict=True):  # missing is never equal
        agree += (x[:, None] == y).view(np.uint8)
    if a.min() >= 0 and b.min() >= 0:
        return np.asarray(agree > count(len(a) // 2))
    both = (a >= 0).astype(np.float32).T @ (b >= 0).astype(np.float32)
    return np.asarray(agree > (both // 2).astype(count))


def _join(found: IntArray, a: IntArray, b: IntArray) -> IntArray:
    """Components after the components a[i] and b[i] have been joined for all i."""
    apart = a != b
    a, b = a[apart], b[apart]
    if not len(a):
        return found
    graph = sp.coo_array((np.ones(len(a)), (a, b)), shape=(len(found), len(found)))
    return np.asarray(connected_components(graph, directed=False)[1][found])
