"""Consensus by similarities of clusters that random walks spread over all partitions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..._util.checks import check_count
from ..._util.threads import one_blas_thread
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from .evidence import link_tuples
from .spectral import normalised_cut
from .tuples import LIMIT, LabelTuples, by_first_appearance, cluster_labelled


def ecpcs_hc(
    tuples: LabelTuples, k: int, *, steps: int = 20, rng: RngLike = None, limit: int = LIMIT
) -> IntArray:
    r"""Enhanced co-association: clusters that are similar count, not only equal ones.

    .. math:: S(x, y) = \operatorname{mean}_i Z(C_i(x), C_i(y))

    over the partitions i that label both points, with Z of :func:`walked_similarity`, then average
    linkage. Points with equal labels have S = 1. O(s³ log(steps)) time for s clusters besides that
    of ``evidence``, and as much memory.

    Parameters
    ----------
    tuples, k, rng, limit
        As for ``evidence``.
    steps : int
        Length of the random walks.

    References
    ----------
    Huang, Wang, Peng, Lai, Kwoh: Enhanced ensemble clustering via fast propagation of cluster-wise
    similarities (IEEE Trans. SMC: Systems 2021), doi:10.1109/TSMC.2018.2876202.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> lc.consensus(inputs, 2, method="ecpcs_hc").labels.tolist()
    [0, 0, 0, 1, 1]
    """
    steps = check_count(steps, "steps")
    return cluster_labelled(
        tuples, k, lambda part, k: link_tuples(part, k, within_partitions(part, steps), limit)
    )


def ecpcs_mc(tuples: LabelTuples, k: int, *, steps: int = 20, rng: RngLike = None) -> IntArray:
    r"""Meta-clusters of similar clusters, to which points are assigned by vote.

    The graph of the s clusters with edges Z (:func:`walked_similarity`) is divided by a normalised
    cut, and a point is assigned to the meta-cluster M that maximises
    :math:`\operatorname{mean}_{C ∈ M} [x ∈ C]`. The authors round the eigenvectors of the cut by
    rotations; here k-means does. Linear in the number of points: O(t m² + s³ log(steps)) time and
    O(t m + s²) memory.

    Parameters
    ----------
    tuples, k, steps
        As for :func:`ecpcs_hc`; a missing label is a missing vote.
    rng : int, Generator or None
        Seeds k-means.

    References
    ----------
    Huang, Wang, Peng, Lai, Kwoh: Enhanced ensemble clustering via fast propagation of cluster-wise
    similarities (IEEE Trans. SMC: Systems 2021), doi:10.1109/TSMC.2018.2876202.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> labels = lc.consensus(inputs, 2, method="ecpcs_mc", rng=0).labels
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False]
    """
    steps, rng = check_count(steps, "steps"), make_rng(rng)

    def cut(part: LabelTuples, k: int) -> IntArray:
        n_parts = min(k, part.s)
        Z = walked_similarity(jaccard(part), steps)
        meta = normalised_cut(Z, np.ones(part.s), n_parts, rng=rng)
        votes = np.eye(n_parts)[meta] / np.bincount(meta)  # (s, parts)
        # Rounded: sums in another order must not decide between equal votes.
        found = np.round(part.indicator() @ votes, 12).argmax(axis=1)
        return by_first_appearance(found)[1]

    return cluster_labelled(tuples, k, cut)


def jaccard(tuples: LabelTuples) -> FloatArray:
    """(s, s) weight of the intersection over that of the union, of every two clusters."""
    shared = tuples.overlaps()
    sizes = np.diag(shared)
    return np.asarray(shared / (np.add.outer(sizes, sizes) - shared))


def walked_similarity(J: FloatArray, steps: int = 20) -> FloatArray:
    r"""Similarity of vertices of a graph by where random walks from them are at each step.

    .. math:: Z_{ij} = \cos\bigl((P_i, P^2_i, …, P^{steps}_i), (P_j, P^2_j, …, P^{steps}_j)\bigr),
              \quad P_{ij} = J_{ij} / \sum_{l ≠ i} J_{il}, \quad P_{ii} = 0

    with :math:`P^l_i` row i of a power of P. J are symmetric edges, of which the diagonal is
    ignored. A vertex without edges is similar to itself alone.

    Examples
    --------
    The two ends of a chain are reached in the same way:

    >>> J = np.array([[1.0, 0.2, 0.0], [0.2, 1.0, 0.2], [0.0, 0.2, 1.0]])
    >>> walked_similarity(J).round(6).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    P = J - np.diag(np.diag(J))
    degrees = P.sum(axis=1, keepdims=True)
    np.divide(P, degrees, out=P, where=degrees > 0)
    with one_blas_thread():
        products = _sum_of_products(P, steps)[0]
    lengths = np.sqrt(np.diag(products))
    lengths[lengths == 0] = 1.0
    Z = products / np.outer(lengths, lengths)
    np.fill_diagonal(Z, 1.0)
    return np.asarray(Z)


def within_partitions(tuples: LabelTuples, steps: int) -> Sparse:
    """(s, s) Z between clusters of the same partition."""
    Z = walked_similarity(jaccard(tuples), steps)
    ends = np.cumsum(tuples.sizes)
    blocks = [Z[a:b, a:b] for a, b in zip(ends - tuples.sizes, ends, strict=True)]
    return sp.csr_array(sp.block_diag(blocks))


def _sum_of_products(P: FloatArray, steps: int) -> tuple[FloatArray, FloatArray]:
    """Σ P^l (P^l)ᵀ of l = 1 … steps, and the last power, by doubling the number of steps."""
    if steps == 1:
        return P @ P.T, P
    half, power = _sum_of_products(P, steps // 2)
    total, power = half + power @ half @ power.T, power @ power
    if steps % 2:
        total, power = P @ (np.eye(len(P)) + total) @ P.T, P @ power
    return total, power
