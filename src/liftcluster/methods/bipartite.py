"""Points and clusters as the two sides of one graph, cut by a small eigenproblem."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, RngLike, Sparse
from .._validation import check_positive, make_rng
from .evidence import cluster_reliability
from .tuples import LabelTuples, cluster_labelled, fill_empty

__all__ = ["lwgp", "transfer_cut"]


def lwgp(tuples: LabelTuples, k: int, *, theta: float = 0.4, rng: RngLike = None) -> IntArray:
    r"""Locally weighted graph partitioning: cut the graph of points and clusters into k parts.

    A point is joined to each of its clusters by an edge of weight u, the cluster's reliability
    (:func:`~liftcluster.methods.evidence.cluster_reliability`): B = H diag(u). The graph is cut by
    :func:`transfer_cut`. Unlike the methods on METIS it does not force clusters to be of similar
    size.

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points. Soft ones are hardened; noise is a missing label, an edge
        less. Points without any label go to the heaviest cluster.
    k : int
        Number of clusters; fewer, with a warning, where there are fewer different tuples.
    theta : float
        As in :func:`~liftcluster.methods.evidence.lwea`.
    rng : int, Generator or None
        Seeds k-means.

    Returns
    -------
    (t,) int array
        Cluster of each tuple, from 0 to k - 1.

    Notes
    -----
    O(t m² + s³ + t k² · iterations) time, O(t (m + k) + s²) memory: linear in the points.

    References
    ----------
    Huang, Wang, Lai: Locally weighted ensemble clustering (IEEE Trans. Cybernetics 2018).

    Examples
    --------
    >>> from liftcluster import Partition
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> tuples = LabelTuples.from_partitions(Partition.from_labels(p) for p in inputs)
    >>> labels = lwgp(tuples, 2, rng=0)[tuples.inverse]
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False]
    """
    check_positive(theta, "theta")
    rng = make_rng(rng)

    def cut(part: LabelTuples, k: int) -> IntArray:
        B = part.indicator() @ sp.diags_array(cluster_reliability(part, theta))
        return transfer_cut(B, part.weights, k, rng=rng)

    return cluster_labelled(tuples, k, cut)


def transfer_cut(
    B: Sparse, weights: FloatArray, k: int, *, extra: Any = None, rng: RngLike = None
) -> IntArray:
    r"""Normalised cut of a bipartite graph into k parts, from an eigenproblem of its smaller side.

    .. math:: A = B^T W D^{-1} B + \text{extra}, \quad d = A 1, \quad
              d^{-1/2} A \, d^{-1/2} U = U Λ, \quad Y = D^{-1} B \, d^{-1/2} U

    with D the row sums of B, W the weights of its rows and U the eigenvectors of the k largest
    eigenvalues; the rows of Y are scaled to unit length and clustered by weighted k-means.

    Parameters
    ----------
    B : (t, s) sparse matrix
        Non-negative edges between points and clusters.
    weights : (t,) array
        Weights of the points, positive: a point of weight two is two points.
    k : int
        Number of parts, at most t.
    extra : (s, s) array, optional
        Non-negative symmetric edges among the clusters themselves.
    rng : int, Generator or None
        Seeds k-means.

    Returns
    -------
    (t,) int array
        Part of each point, from 0 to k - 1, none empty.

    References
    ----------
    Li, Wu, Chang: Segmentation using superpixels (CVPR 2012), for the transfer of the cut.

    Examples
    --------
    >>> B = sp.csr_array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    >>> parts = transfer_cut(B, np.ones(3), 2, rng=0)
    >>> (parts == parts[0]).tolist()
    [True, True, False]
    """
    walk = sp.diags_array(_inverse(np.asarray(B.sum(axis=1)).ravel())) @ B  # D⁻¹B
    A = (B.T @ (sp.diags_array(weights) @ walk)).toarray()  # (s, s)
    if extra is not None:
        A += extra
    scale = np.sqrt(_inverse(A.sum(axis=1)))
    _, U = np.linalg.eigh(scale[:, None] * A * scale)  # eigenvalues ascend
    Y = walk @ (scale[:, None] * U[:, : -min(k, len(A)) - 1 : -1])  # (t, k)
    Y /= np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return _weighted_kmeans(Y, weights, k, make_rng(rng))


def _weighted_kmeans(
    Y: FloatArray, weights: FloatArray, k: int, rng: np.random.Generator
) -> IntArray:
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    kmeans = KMeans(k, n_init=10, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Fewer than k different rows: the tuples differ where the eigenvectors do not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = kmeans.fit(Y, sample_weight=weights).labels_
    return fill_empty(codes, weights, k)


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and zero for zero: points without clusters and clusters without points stay out."""
    return np.asarray(np.divide(1.0, x, out=np.zeros_like(x), where=x > 0))
