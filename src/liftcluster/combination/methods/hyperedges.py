"""Consensus by clusters of the inputs that stand for the others, and grow until all points join."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ...comparison.selection import exchanged_medoids
from .propagation import jaccard
from .tuples import LabelTuples, by_first_appearance, cluster_labelled


def hyperedge_medoids(tuples: LabelTuples, k: int, *, rng: RngLike = None) -> IntArray:
    r"""k-HyperEdge Medoids: k clusters of the inputs as centres, improved by moving points.

    The k medoids of all clusters by Jaccard distance are the first groups :math:`M_j`; points that
    are in none or in several of them are free. A point belongs to a group by

    .. math:: b(x, M) = \sum_{C \ni x} \frac{w(C ∩ M)}{w(C)}

    Points join the group to which they belong most, in k rounds: those first whose two largest b
    differ most. Then points move until none belongs more to another group, which never lowers
    :math:`\sum_{C, j} w(C ∩ M_j)^2 / w(C)`. This is lift_km with clusters as sets of points and
    not where these are. The sum is largest for one group of all points, and where the inputs agree
    little that is where the points end, as with the authors' code; every other group then gets a
    single tuple.

    Points with equal labels move together. Medoids are found by exchanges from two deterministic
    starts, where the authors draw the first ones at random; and the authors have fewer rounds
    where fewer than k √n points are free. O(k s²) time for each exchange, O(t m k) for each round;
    O(t (m + k) + s²) memory.

    Parameters
    ----------
    tuples, k, rng
        As for ``evidence``; a missing label is a cluster less to which a point belongs.

    References
    ----------
    Li, Wang, Zhang, Qian, Jin, Yan, Du: k-HyperEdge Medoids for clustering ensemble (AAAI 2025),
    arXiv:2412.08289.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> lc.consensus(inputs, 2, method="hyperedge_medoids").labels.tolist()
    [0, 0, 0, 1, 1]
    """
    return cluster_labelled(tuples, k, _grow)


def _grow(tuples: LabelTuples, k: int) -> IntArray:
    H, w = tuples.indicator(), tuples.weights
    shares = sp.csr_array(H.T @ sp.diags_array(w))  # of tuples in clusters, (s, t)
    shares = sp.diags_array(1 / shares.sum(axis=1)) @ shares
    medoids = exchanged_medoids(1 - jaccard(tuples), min(k, tuples.s))
    chosen = H[:, medoids].toarray() > 0
    found = np.where(chosen.sum(axis=1) == 1, chosen.argmax(axis=1), -1)
    free = float(w[found < 0].sum())
    for rounds in range(1, k + 1):
        belongs = _belonging(H, shares, found, len(medoids))
        first, second = -np.partition(-belongs, 1, axis=1)[:, :2].T
        order = np.lexsort([-w, np.round(second - first, 12)])
        before = np.cumsum(w[order]) - w[order]
        joined = order[before < w.sum() - free * (1 - rounds / k)]
        found = np.full(tuples.t, -1)
        found[joined] = belongs[joined].argmax(axis=1)
    while True:  # each move that changes anything raises the objective, which is convex
        new = _belonging(H, shares, found, len(medoids)).argmax(axis=1)
        if np.array_equal(new, found):
            return by_first_appearance(found)[1]
        found = new


def _belonging(H: Sparse, shares: Sparse, found: IntArray, k: int) -> FloatArray:
    """(t, k) b of tuples and groups, of which -1 is none."""
    joined = np.flatnonzero(found >= 0)
    groups = sp.csr_array((np.ones(len(joined)), (joined, found[joined])), shape=(len(found), k))
    return np.round((H @ (shares @ groups)).toarray(), 12)
