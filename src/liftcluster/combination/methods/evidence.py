"""Evidence accumulation: average linkage on how often points share a cluster."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._util.typing import FloatArray, IntArray, RngLike
from ..._util.validation import check_count, check_positive
from .tuples import LIMIT, LabelTuples, Profiles, cluster_labelled, gather

__all__ = ["average_linkage", "cluster_reliability", "evidence", "lwea"]

_DIGITS = 12  # of similarities, which are of the size of one


def evidence(tuples: LabelTuples, k: int, *, rng: RngLike = None, limit: int = LIMIT) -> IntArray:
    r"""Evidence accumulation: co-association, average linkage, cut into k clusters.

    .. math:: S(x, y) = \frac{\#\{i : C_i(x) = C_i(y)\}}{\#\{i : i \text{ labels } x, y\}}

    Tuples carry the weight of their points into the averages, so the answer is that of average
    linkage on the n points, whatever their number, up to the order in which equal similarities
    are merged (there are many: S has at most m + 1 values where no label is missing).

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points. Soft ones are hardened; noise is a missing label, and a
        pair that no partition labels together has S = 0. Points without any label go to the
        heaviest cluster.
    k : int
        Number of clusters; fewer, with a warning, where there are fewer different tuples.
    rng : ignored
        Nothing is random here; taken so that all methods are called alike.
    limit : int
        Largest number of different tuples that are linked one by one. Above it the heaviest
        ``limit`` tuples lead groups that the others join by similarity (see
        ``gather``), and the groups are linked with their
        exact average similarities, as if these had been the first mergers.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    With t tuples, O(t² m) time and 8 t² bytes; beyond the limit O(t · limit · m) time.

    References
    ----------
    Fred, Jain: Combining multiple clusterings using evidence accumulation (TPAMI 2005).

    Examples
    --------
    >>> from liftcluster import Partition
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> tuples = LabelTuples.from_partitions(Partition.from_labels(p) for p in inputs)
    >>> evidence(tuples, 2)[tuples.inverse].tolist()
    [0, 0, 0, 1, 1]
    """
    return cluster_labelled(tuples, k, lambda part, k: _link(part, k, None, limit))


def lwea(
    tuples: LabelTuples,
    k: int,
    *,
    theta: float = 0.4,
    rng: RngLike = None,
    limit: int = LIMIT,
) -> IntArray:
    r"""Locally weighted evidence accumulation: pairs count more in clusters that others confirm.

    .. math:: S(x, y) = \frac{\sum_i u(C_i(x)) \, [C_i(x) = C_i(y)]}
                             {\#\{i : i \text{ labels } x, y\}}

    with the reliability u of :func:`cluster_reliability`, then average linkage as in
    :func:`evidence`, whose parameters, treatment of soft and missing labels, cost and grouping
    beyond ``limit`` it shares. Points with equal labels are one point here and stay together;
    the original lets them part where all their clusters are unreliable, because their S is
    below one.

    Parameters
    ----------
    tuples, k, rng, limit
        As for :func:`evidence`.
    theta : float
        Smaller values trust doubtful clusters less; the authors advise 0.2 to 1.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    References
    ----------
    Huang, Wang, Lai: Locally weighted ensemble clustering (IEEE Trans. Cybernetics 2018).
    """
    theta = check_positive(theta, "theta")
    return cluster_labelled(
        tuples, k, lambda part, k: _link(part, k, cluster_reliability(part, theta), limit)
    )


def cluster_reliability(tuples: LabelTuples, theta: float = 0.4) -> FloatArray:
    r"""How far the other partitions keep each cluster whole: one if all do, towards zero if none.

    .. math:: u(C) = \exp\Bigl(-\frac{1}{θ m} \sum_i H_i(C)\Bigr), \quad
              H_i(C) = -\sum_{C' ∈ P_i} p \log_2 p, \quad p = \frac{w(C ∩ C')}{w(C)}

    The logarithm is binary, as in Huang et al. Where labels are missing, p is a share of the part
    of C that partition i labels, and the mean is over the partitions that label some of it.

    Returns
    -------
    (s,) array, the clusters of all partitions numbered through

    References
    ----------
    Huang, Wang, Lai (2018), section III: the ensemble-driven cluster index.

    Examples
    --------
    The second partition halves the cluster of the first, one bit of entropy out of two partitions:

    >>> from liftcluster import Partition
    >>> pair = [Partition.from_labels(p) for p in ([0, 0, 0, 0], [0, 0, 1, 1])]
    >>> u = cluster_reliability(LabelTuples.from_partitions(pair), theta=0.5)
    >>> u.round(3).tolist()  # e⁻¹, 1, 1
    [0.368, 1.0, 1.0]
    """
    first = np.cumsum(tuples.sizes) - tuples.sizes
    shared = tuples.overlaps()
    within = np.add.reduceat(shared, first, axis=1)  # (s, m), what partition i labels of C
    p = np.divide(shared, within[:, tuples.owner], out=np.zeros_like(shared), where=shared > 0)
    entropy = -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1)
    with np.errstate(over="ignore"):  # a θ so small that nothing is reliable
        return np.asarray(np.exp(-entropy / (within > 0).sum(axis=1) / theta))


def average_linkage(S: FloatArray, weights: FloatArray, k: int) -> IntArray:
    r"""k clusters of weighted points by repeatedly merging the two most similar on average.

    .. math:: S(A ∪ B, C) = \frac{w(A) S(A, C) + w(B) S(B, C)}{w(A) + w(B)}

    SciPy's linkage takes no weights, and points of weight w are not w points there. Merges are
    found along chains of nearest neighbours, which gives the same tree (averages are reducible)
    in O(t²) time. Uses S, a symmetric (t, t) matrix of similarities, as its workspace.

    Similarities that differ by rounding are equal, or which of many equal ones comes first would
    hang on the unit of the weights.

    Examples
    --------
    >>> S = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    >>> average_linkage(S, np.ones(3), 2).tolist()
    [0, 0, 1]
    """
    w = np.array(weights, dtype=np.float64)
    t = len(w)
    np.round(S, _DIGITS, out=S)
    np.fill_diagonal(S, -np.inf)
    merges = np.empty((t - 1, 2), dtype=np.int64)
    height = np.empty(t - 1)
    alive = np.ones(t, dtype=bool)
    chain: list[int] = []
    for step in range(t - 1):
        if not chain:
            chain.append(int(alive.argmax()))
        a, b = _mutual_neighbours(S, chain)
        merges[step], height[step] = (a, b), S[a, b]
        row = np.round((w[a] * S[a] + w[b] * S[b]) / (w[a] + w[b]), _DIGITS)
        row[b] = -np.inf
        S[b], S[:, b] = row, row
        S[a], S[:, a] = -np.inf, -np.inf
        w[b] += w[a]
        alive[a] = False
    # Chains find merges out of order. Any t - k of them leave k clusters: they form a tree.
    kept = merges[np.argsort(-height, kind="stable")[: t - k]]
    graph = sp.coo_array((np.ones(len(kept)), kept.T), shape=(t, t))
    return np.asarray(connected_components(graph, directed=False)[1])


def _mutual_neighbours(S: FloatArray, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours until two are each other's; take them off the chain."""
    while True:
        a = chain[-1]
        b = int(S[a].argmax())
        # Equals go to the point before, or the chain would never end.
        if len(chain) > 1 and S[a, chain[-2]] >= S[a, b]:
            chain.pop()
            return a, chain.pop()
        chain.append(b)


def _link(tuples: LabelTuples, k: int, reliability: FloatArray | None, limit: int) -> IntArray:
    limit = max(check_count(limit, "limit", least=2), k)
    profiles, groups = gather(Profiles.of(tuples), limit, reliability)
    S = profiles.co_association(profiles, reliability)
    return average_linkage(S, profiles.weights, k)[groups]
