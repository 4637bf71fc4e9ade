"""Hierarchical clustering of weighted vectors and similarities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from ..._util.arrays import row_blocks
from ..._util.native import load_extension
from ..._util.typing import FloatArray, IntArray
from .agreements import CountedSimilarities

_UNIT = 1e-12  # to which similarities, of order one, are rounded
_MOST_UNITS = 2**50  # beyond which compiled code does not round them
_MOST_CODES = 2**16 - 2  # of labels for compiled code
_HELD = 1 / 3  # of all similarities in compiled code: rows on a chain, 11 to 31 % in trials

_compiled = load_extension(f"{__package__}._linkage")


def weighted_ward(V: FloatArray, weights: FloatArray, k: int) -> IntArray:
    """k groups of weighted vectors by Ward's method."""
    return next(ward_groupings(V, weights, k))


def ward_groupings(V: FloatArray, weights: FloatArray, most: int) -> Iterator[IntArray]:
    """Groupings by weighted Ward into ``most``, ``most`` - 1, …, 1 groups."""
    centres, w = np.array(V), np.array(weights, dtype=np.float64)
    codes = np.arange(len(V))
    cost = _ward_costs(centres, w, centres, w)
    np.fill_diagonal(cost, np.inf)
    alive = np.ones(len(V), dtype=bool)
    for k in range(len(V), 0, -1):
        if k <= most:
            yield np.unique(codes, return_inverse=True)[1]
        if k == 1:
            return
        a, b = np.unravel_index(cost.argmin(), cost.shape)
        centres[a] = (w[a] * centres[a] + w[b] * centres[b]) / (w[a] + w[b])
        w[a] += w[b]
        codes[codes == b] = a
        alive[b] = False
        cost[b], cost[:, b] = np.inf, np.inf
        row = np.where(alive, _ward_costs(centres[[a]], w[[a]], centres, w)[0], np.inf)
        row[a] = np.inf
        cost[a], cost[:, a] = row, row


def average_linkage(S: FloatArray | CountedSimilarities, weights: FloatArray, k: int) -> IntArray:
    r"""k clusters of weighted points by average linkage.

    .. math:: S(A ∪ B, C) = \frac{w(A) S(A, C) + w(B) S(B, C)}{w(A) + w(B)}

    SciPy's linkage takes no weights. Overwrites S if it is a symmetric (t, t) matrix. For counted
    similarities compiled code needs no matrix, only rows for clusters of several points.
    """
    merges, height = _average_merges(S, weights)
    # Any t - k merges leave k clusters, since they form a tree.
    return _joined(merges[np.argsort(-height, kind="stable")[: len(weights) - k]], len(weights))


def average_linkage_above(
    S: FloatArray | CountedSimilarities, weights: FloatArray, least: float
) -> IntArray:
    """Clusters by average linkage with merges of a similarity above ``least``; overwrites S."""
    merges, height = _average_merges(S, weights)
    return _joined(merges[height > least / _UNIT], len(weights))


def _average_merges(
    S: FloatArray | CountedSimilarities, weights: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Pairs that are merged, not in order, and the similarity of each merge in units of 1e-12.

    Merges are found by nearest-neighbour chains, which give the same tree (average linkage is
    reducible) in O(t²) time. Similarities are rounded to that unit, so that the order of ties does
    not depend on the unit of the weights. Compiled code and NumPy give the same.
    """
    w = np.array(weights, dtype=np.float64)
    t = len(w)
    merges, height = np.empty((t - 1, 2), dtype=np.int64), np.empty(t - 1)
    if isinstance(S, CountedSimilarities):
        values, most = _in_units(S.values.copy()), max(t, S.codes.shape[1])
        if _compiled is not None and t > 1 and most <= _MOST_CODES and _is_small(values):
            S.check_memory(_HELD)
            labels = np.ascontiguousarray(S.codes.T + 1, dtype=np.uint16)
            _compiled.link_labels(t, len(labels), labels, values, w, merges, height)
            return merges, height
        S = S.matrix()
    S = _in_units(np.ascontiguousarray(S))
    if _compiled is not None and t > 1 and _is_small(S):
        _compiled.link_matrix(t, S, w, merges, height)
    else:
        _link(S, w, merges, height)
    return merges, height


def _in_units(S: FloatArray) -> FloatArray:
    """S in units, in place."""
    for rows in row_blocks(*S.shape):
        np.rint(np.divide(S[rows], _UNIT, out=S[rows]), out=S[rows])
    return S


def _is_small(S: FloatArray) -> bool:
    return bool(S.min() > -_MOST_UNITS and S.max() < _MOST_UNITS)


def _link(S: FloatArray, w: FloatArray, merges: IntArray, height: FloatArray) -> None:
    """The merges of similarities in units, by NumPy; overwrites S and w."""
    t = len(w)
    np.fill_diagonal(S, -np.inf)
    numbers, penalty = np.arange(t), np.zeros(t)  # -inf for rows that were merged into others
    chain: list[int] = []
    for step in range(t - 1):
        if 2 * (t - step) <= len(w):  # half of the rows are left: copy them, columns are slow
            kept = np.flatnonzero(penalty == 0)
            chain = np.searchsorted(kept, chain).tolist()
            S, w, numbers, penalty = S[np.ix_(kept, kept)], w[kept], numbers[kept], penalty[kept]
        if not chain:
            chain.append(int(penalty.argmax()))
        a, b = _mutual_neighbours(S, penalty, chain)
        merges[step], height[step] = numbers[[a, b]], S[a, b]
        row = np.rint((w[a] * S[a] + w[b] * S[b]) / (w[a] + w[b]))
        row[b] = -np.inf
        S[b], S[:, b] = row, row
        w[b] += w[a]
        penalty[a] = -np.inf


def _joined(pairs: IntArray, t: int) -> IntArray:
    graph = sp.coo_array((np.ones(len(pairs)), pairs.T), shape=(t, t))
    return np.asarray(connected_components(graph, directed=False)[1])


def _mutual_neighbours(S: FloatArray, penalty: FloatArray, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours until two are mutual, and remove these from the chain."""
    while True:
        a = chain[-1]
        b = int((S[a] + penalty).argmax())
        # Ties go to the previous point, otherwise the chain may not end.
        if len(chain) > 1 and S[a, chain[-2]] >= S[a, b]:
            chain.pop()
            return a, chain.pop()
        if len(chain) == len(S):  # a cycle, where rounding made S asymmetric
            pair = a, chain[-2]
            chain.clear()
            return pair
        chain.append(b)


def _ward_costs(A: FloatArray, a: FloatArray, B: FloatArray, b: FloatArray) -> FloatArray:
    harmonic = np.multiply.outer(a, b) / np.add.outer(a, b)
    return np.asarray(harmonic * cdist(A, B, "sqeuclidean"))
