"""Spectral graph cuts by eigenproblems of size s, the number of clusters of all partitions."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ..._util.memory import check_pairs
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from .tuples import fill_empty


def transfer_cut(B: Sparse, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    r"""Normalised cut of a bipartite graph into k parts, by an eigenproblem of its smaller side.

    .. math:: A = B^T W D^{-1} B, \quad d = A 1, \quad
              d^{-1/2} A \, d^{-1/2} U = U Λ, \quad Y = D^{-1} B \, d^{-1/2} U

    with D the row sums of B, W the weights of its rows and U the eigenvectors of the k largest
    eigenvalues; the rows of Y are scaled to unit length and clustered by weighted k-means.

    B are (t, s) non-negative edges between points and clusters. Returns the (t,) part of each
    point, from 0 to k - 1, none empty; k is at most t.

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
    A, walk = cluster_affinity(B, weights)
    return unit_kmeans(walk @ top_eigenvectors(A, k), weights, k, make_rng(rng))


def factor_cut(F: Sparse, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    r"""Normalised cut of the graph with similarities F Fᵀ, without computing these.

    .. math:: d = F F^T w, \quad N = \operatorname{diag}(d)^{-1/2} F, \quad
              N^T W N V = V Λ, \quad Y = N V Λ^{-1/2}

    The rows of Y, (t, k) eigenvectors of the normalised similarities, are scaled to unit length and
    clustered by weighted k-means. F is (t, s) and non-negative.

    References
    ----------
    Ng, Jordan, Weiss: On spectral clustering (NIPS 2001).
    """
    degrees = np.asarray(F @ (F.T @ weights)).ravel()
    check_pairs(F.shape[1], F.shape[1])
    N = sp.csr_array(sp.diags_array(np.sqrt(_inverse(degrees))) @ F)
    values, V = np.linalg.eigh((N.T @ (sp.diags_array(weights) @ N)).toarray())
    top = slice(None, -min(k, len(values)) - 1, -1)
    Y = N @ (V[:, top] * np.sqrt(_inverse(np.maximum(values[top], 0))))
    return unit_kmeans(Y, weights, k, make_rng(rng))


def normalised_cut(A: FloatArray, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    """Normalised cut of a small graph with symmetric weights A: k-means of its eigenvectors."""
    return unit_kmeans(top_eigenvectors(A, k), weights, k, make_rng(rng))


def cluster_affinity(B: Sparse, weights: FloatArray) -> tuple[FloatArray, Sparse]:
    """(s, s) affinities BᵀWD⁻¹B of the clusters, and the (t, s) transitions D⁻¹B."""
    check_pairs(B.shape[1], B.shape[1])
    walk = sp.csr_array(sp.diags_array(_inverse(np.asarray(B.sum(axis=1)).ravel())) @ B)
    return (B.T @ (sp.diags_array(weights) @ walk)).toarray(), walk


def relative_eigengaps(A: FloatArray) -> FloatArray:
    r"""(s,) relative eigengaps 1 − (1 − λ_k)/(1 − λ_{k+1}) of a graph for k = 1, …, s.

    λ are the eigenvalues of the random walk d⁻¹A in decreasing order. The gap is one where the
    graph has k connected components, and zero where λ_k = λ_{k+1}; the last value is zero.

    >>> relative_eigengaps(np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1]])).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    scale = np.sqrt(_inverse(A.sum(axis=1)))
    values = np.linalg.eigvalsh(scale[:, None] * A * scale)[::-1]
    rate = np.clip(1 - values, 0, 1) + 1e-9  # so that rounding is not a gap
    return np.append(1 - rate[:-1] / rate[1:], 0.0)


def top_eigenvectors(A: FloatArray, k: int) -> FloatArray:
    """(s, k) eigenvectors of the random walk d⁻¹ A on a graph, for its k largest eigenvalues."""
    scale = np.sqrt(_inverse(A.sum(axis=1)))
    _, U = np.linalg.eigh(scale[:, None] * A * scale)  # eigenvalues ascend
    return np.asarray(scale[:, None] * U[:, : -min(k, len(A)) - 1 : -1])


def unit_kmeans(Y: FloatArray, weights: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """k non-empty clusters of weighted vectors by their directions."""
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    Y = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    kmeans = KMeans(k, n_init=10, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Fewer than k distinct rows: different tuples may have equal eigenvector entries.
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = kmeans.fit(Y, sample_weight=weights).labels_
    return fill_empty(codes, weights, k)


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and zero for zero."""
    return np.asarray(np.divide(1.0, x, out=np.zeros_like(x), where=x > 0))
