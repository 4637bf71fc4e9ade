"""Evidence accumulation: which points share clusters, all equally reliable or weighted locally.

All methods return the (t,) cluster of each tuple, from 0 to k - 1.
"""

from __future__ import annotations

import numpy as np

from ..._util.checks import check_count, check_positive
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from .agreements import CountedSimilarities
from .linkage import average_linkage
from .spectral import transfer_cut
from .tuples import LIMIT, LabelTuples, Profiles, cluster_labelled, gather


def evidence(tuples: LabelTuples, k: int, *, rng: RngLike = None, limit: int = LIMIT) -> IntArray:
    r"""Evidence accumulation: co-association, average linkage, cut into k clusters.

    .. math:: S(x, y) = \frac{\#\{i : C_i(x) = C_i(y)\}}{\#\{i : i \text{ labels } x, y\}}

    Tuples are weighted by their points, so the result is that of average linkage on the n points,
    up to the order in which equal similarities are merged (there are many: S has at most m + 1
    values where no label is missing). O(t² m) time and at most 8 t² bytes for t tuples; beyond the
    limit O(t · limit · m) time.

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points. Soft ones are hardened; noise is a missing label, and a
        pair that no partition labels together has S = 0. Points without any label are assigned to
        the heaviest cluster.
    k : int
        Number of clusters; fewer, with a warning, where there are fewer different tuples.
    rng : ignored
        Accepted so that all methods have the same signature.
    limit : int
        Largest number of tuples that are linked directly. Above it the tuples are first grouped
        around the heaviest ``limit`` of them (see ``gather``), and the groups are linked with
        their exact average similarities, as if these had been the first merges.

    References
    ----------
    Fred, Jain: Combining multiple clusterings using evidence accumulation (TPAMI 2005),
    doi:10.1109/TPAMI.2005.113.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> lc.consensus(inputs, 2, method="evidence").labels.tolist()
    [0, 0, 0, 1, 1]
    """
    return cluster_labelled(tuples, k, lambda part, k: link_tuples(part, k, None, limit))


def lwea(
    tuples: LabelTuples, k: int, *, theta: float = 0.4, rng: RngLike = None, limit: int = LIMIT
) -> IntArray:
    r"""Locally weighted evidence accumulation: co-association weighted by cluster reliability.

    .. math:: S(x, y) = \frac{\sum_i u(C_i(x)) \, [C_i(x) = C_i(y)]}
                             {\#\{i : i \text{ labels } x, y\}}

    with the reliability u of :func:`cluster_reliability`, then average linkage.
    Points with equal labels stay together here; the original may separate them where all their
    clusters are unreliable, because their S is below one.

    Parameters
    ----------
    tuples, k, rng, limit
        As for :func:`evidence`.
    theta : float
        θ; smaller values give unreliable clusters less weight. The authors advise 0.2 to 1.

    References
    ----------
    Huang, Wang, Lai: Locally weighted ensemble clustering (IEEE Trans. Cybernetics 2018),
    doi:10.1109/TCYB.2017.2702343.
    """
    theta = check_positive(theta, "theta")
    return cluster_labelled(
        tuples, k, lambda part, k: link_tuples(part, k, cluster_reliability(part, theta), limit)
    )


def lwgp(tuples: LabelTuples, k: int, *, theta: float = 0.4, rng: RngLike = None) -> IntArray:
    r"""Locally weighted graph partitioning: cut the bipartite graph of points and clusters.

    A point is joined to each of its clusters by an edge of weight u, the cluster's reliability
    (:func:`cluster_reliability`): B = H diag(u). The graph is cut by ``transfer_cut``, which does
    not balance the cluster sizes as METIS does. Linear in the number of points:
    O(t m² + s³ + t k² · iterations) time, O(t (m + k) + s²) memory.

    Parameters
    ----------
    tuples, k
        As for :func:`evidence`; a missing label is a missing edge.
    theta : float
        As for :func:`lwea`.
    rng : int, Generator or None
        Seeds k-means.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> labels = lc.consensus(inputs, 2, method="lwgp", rng=0).labels
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False]
    """
    theta = check_positive(theta, "theta")
    rng = make_rng(rng)

    def cut(part: LabelTuples, k: int) -> IntArray:
        return transfer_cut(part, k, cluster_reliability(part, theta), rng=rng)

    return cluster_labelled(tuples, k, cut)


def cluster_reliability(tuples: LabelTuples, theta: float = 0.4) -> FloatArray:
    r"""Ensemble-driven cluster index: 1 if no partition splits the cluster, towards 0 if all do.

    .. math:: u(C) = \exp\Bigl(-\frac{1}{θ m} \sum_i H_i(C)\Bigr), \quad
              H_i(C) = -\sum_{C' ∈ P_i} p \log_2 p, \quad p = \frac{w(C ∩ C')}{w(C)}

    of all s clusters (Huang et al., section III). Where labels are missing, p is a share of the
    part of C that partition i labels, and the mean is over the partitions that label some of it.

    Examples
    --------
    The second partition halves the cluster of the first: one bit of entropy in two partitions.

    >>> from liftcluster import Partition
    >>> pair = [Partition.from_labels(p) for p in ([0, 0, 0, 0], [0, 0, 1, 1])]
    >>> u = cluster_reliability(LabelTuples.from_partitions(pair), theta=0.5)
    >>> u.round(3).tolist()  # e⁻¹, 1, 1
    [0.368, 1.0, 1.0]
    """
    first = np.cumsum(tuples.sizes) - tuples.sizes
    shared = tuples.overlaps()
    within = np.add.reduceat(shared, first, axis=1)  # (s, m), weight of C that partition i labels
    labelled = np.repeat(within, tuples.sizes, axis=1)
    p = np.divide(shared, labelled, out=np.zeros_like(shared), where=shared > 0)
    entropy = -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1)
    with np.errstate(over="ignore"):  # a very small θ
        return np.asarray(np.exp(-entropy / (within > 0).sum(axis=1) / theta))


def link_tuples(
    tuples: LabelTuples, k: int, reliability: FloatArray | Sparse | None, limit: int
) -> IntArray:
    """(t,) clusters by average linkage of at most ``limit`` groups of tuples."""
    limit = max(check_count(limit, "limit", least=2), k)
    if reliability is None and tuples.t <= limit:
        return average_linkage(_shares_that_agree(tuples), tuples.weights, k)
    profiles, groups = gather(Profiles.of(tuples), limit, reliability)
    S = profiles.co_association(profiles, reliability)
    return average_linkage(S, profiles.weights, k)[groups]


def _shares_that_agree(tuples: LabelTuples) -> CountedSimilarities:
    m = tuples.codes.shape[1]
    both, agree = np.indices((m + 1, m + 1))
    return CountedSimilarities(tuples.codes, agree / np.maximum(both, 1), "take a smaller limit")
