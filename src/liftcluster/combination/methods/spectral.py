"""Graphs cut by eigenvectors, from eigenproblems as small as all clusters together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._util.memory import check_pairs
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from .tuples import fill_empty

__all__ = [
    "factor_cut",
    "normalised_cut",
    "relative_eigengaps",
    "row_shares",
    "top_eigenvectors",
    "transfer_cut",
    "unit_kmeans",
]


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
    walk = row_shares(B)
    check_pairs(B.shape[1], B.shape[1])
    A = (B.T @ (sp.diags_array(weights) @ walk)).toarray()  # (s, s)
    if extra is not None:
        A += extra
    return unit_kmeans(walk @ top_eigenvectors(A, k), weights, k, make_rng(rng))


def factor_cut(F: Sparse, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    r"""Normalised cut of the graph with similarities F Fᵀ, which is never made.

    .. math:: d = F F^T w, \quad N = \operatorname{diag}(d)^{-1/2} F, \quad
              N^T W N V = V Λ, \quad Y = N V Λ^{-1/2}

    Y are the eigenvectors of the normalised similarities, one row for each point whatever its
    weight; they are scaled to unit length and clustered by weighted k-means.

    Parameters
    ----------
    F : (t, s) sparse matrix
        Non-negative.
    weights : (t,) array
        Weights of the points, positive: a point of weight two is two points.
    k : int
        Number of parts, at most t.
    rng : int, Generator or None
        Seeds k-means.

    References
    ----------
    Ng, Jordan, Weiss: On spectral clustering (NIPS 2001).

    Examples
    --------
    >>> F = sp.csr_array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    >>> parts = factor_cut(F, np.ones(3), 2, rng=0)
    >>> (parts == parts[0]).tolist()
    [True, True, False]
    """
    degrees = np.asarray(F @ (F.T @ weights)).ravel()
    check_pairs(F.shape[1], F.shape[1])
    N = sp.csr_array(sp.diags_array(np.sqrt(_inverse(degrees))) @ F)
    values, V = np.linalg.eigh((N.T @ (sp.diags_array(weights) @ N)).toarray())
    top = slice(None, -min(k, len(values)) - 1, -1)
    Y = N @ (V[:, top] * np.sqrt(_inverse(np.maximum(values[top], 0))))
    return unit_kmeans(Y, weights, k, make_rng(rng))


def normalised_cut(A: FloatArray, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    """Normalised cut of a small graph, given as a symmetric non-negative matrix.

    The rows of the eigenvectors of d^{-1/2} A d^{-1/2}, scaled to unit length, are clustered by
    k-means with the weights of the vertices.

    Examples
    --------
    >>> A = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> parts = normalised_cut(A, np.ones(3), 2, rng=0)
    >>> (parts == parts[0]).tolist()
    [True, True, False]
    """
    return unit_kmeans(top_eigenvectors(A, k), weights, k, make_rng(rng))


def row_shares(B: Sparse) -> Sparse:
    """D⁻¹B, with D the row sums of B; rows of zeros stay zero."""
    return sp.csr_array(sp.diags_array(_inverse(np.asarray(B.sum(axis=1)).ravel())) @ B)


def relative_eigengaps(A: FloatArray) -> FloatArray:
    r"""(s,) how clearly a graph falls into 1, 2, … s parts: at k, 1 − (1 − λ_k)/(1 − λ_{k+1}).

    λ are the eigenvalues of the random walk d⁻¹A, largest first, and 1 − λ is how fast the walk
    forgets. The gap is one where k parts are disconnected and k + 1 are not, and zero where
    nothing tells k from k + 1; the last value is zero.

    Examples
    --------
    >>> relative_eigengaps(np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1]])).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    scale = np.sqrt(_inverse(A.sum(axis=1)))
    values = np.linalg.eigvalsh(scale[:, None] * A * scale)[::-1]
    rate = np.clip(1 - values, 0, 1) + 1e-9  # rounding must not look like a gap
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
        # Fewer than k different rows: the tuples differ where the eigenvectors do not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = kmeans.fit(Y, sample_weight=weights).labels_
    return fill_empty(codes, weights, k)


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and zero for zero: points without clusters and clusters without points stay out."""
    return np.asarray(np.divide(1.0, x, out=np.zeros_like(x), where=x > 0))
