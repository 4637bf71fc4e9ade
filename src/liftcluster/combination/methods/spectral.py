"""Spectral graph cuts by eigenproblems of size s, the number of clusters of all partitions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._util.threads import blas_threads_for, one_blas_thread
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from .kmeans import kmeans
from .tuples import LabelTuples, fill_empty

_DENSE = 400  # vertices up to which a dense matrix is faster than iterations
_GUARDS = 8  # more vectors than asked for: the last ones converge slowly
_TOLERANCE, _MAX_ITER = 1e-6, 200
_CONVERGED = 1e-7  # as LOBPCG mostly leaves the first vectors, since it waits for the last ones
_ROUNDS, _DEGREE = 12, 20  # of polynomials, before LOBPCG
_MOST_GROWTH = 18  # logarithm of the growth of a vector, which must leave digits of the others
_ROUNDING = 1e-6  # of 1 − λ, so that rounding is not a gap


def transfer_cut(
    tuples: LabelTuples, k: int, reliability: FloatArray | None = None, *, rng: RngLike = None
) -> IntArray:
    r"""Normalised cut of the graph of tuples and clusters, by an eigenproblem of the clusters.

    .. math:: A = B^T W D^{-1} B, \quad d = A 1, \quad
              d^{-1/2} A \, d^{-1/2} U = U Λ, \quad Y = D^{-1} B \, d^{-1/2} U

    with B = H diag(u) the (t, s) edges between the tuples and their clusters, u the reliability of
    the clusters (one by default), D the row sums of B, W the weights of the tuples and U the
    eigenvectors of the k largest eigenvalues; the rows of Y are scaled to unit length and clustered
    by weighted k-means.

    Returns the (t,) part of each tuple, from 0 to k - 1, none empty; k is at most t.

    References
    ----------
    Li, Wu, Chang: Segmentation using superpixels (CVPR 2012), for the transfer of the cut.

    Examples
    --------
    >>> from liftcluster import Partition
    >>> labels = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]
    >>> tuples = LabelTuples.from_partitions([Partition.from_labels(p) for p in labels])
    >>> parts = transfer_cut(tuples, 2, rng=0)[tuples.inverse]
    >>> (parts == parts[0]).tolist()
    [True, True, True, False, False, False]
    """
    u, H = np.ones(tuples.s) if reliability is None else reliability, tuples.indicator()
    degrees = H @ u
    A = cluster_affinity(tuples, u, degrees)
    Y = H @ (u[:, None] * top_eigenvectors(A, k)) * _inverse(degrees)[:, None]
    return unit_kmeans(Y, tuples.weights, k, make_rng(rng))


def factor_cut(tuples: LabelTuples, k: int, *, rng: RngLike = None) -> IntArray:
    r"""Normalised cut of the graph of tuples with similarities H Hᵀ, without computing these.

    .. math:: d = H H^T w, \quad N = \operatorname{diag}(d)^{-1/2} H, \quad
              N^T W N V = V Λ, \quad Y = N V Λ^{-1/2}

    The rows of Y, (t, k) eigenvectors of the normalised similarities, are scaled to unit length and
    clustered by weighted k-means.

    References
    ----------
    Ng, Jordan, Weiss: On spectral clustering (NIPS 2001).
    """
    H, w = tuples.indicator(), tuples.weights
    inverse = _inverse(H @ (H.T @ w))
    A = tuples.overlaps(w * inverse)
    with blas_threads_for(A.size):
        values, V = np.linalg.eigh(A)
    top = slice(None, -min(k, len(values)) - 1, -1)
    Y = H @ (V[:, top] * np.sqrt(_inverse(np.maximum(values[top], 0))))
    return unit_kmeans(np.sqrt(inverse)[:, None] * Y, w, k, make_rng(rng))


def normalised_cut(A: FloatArray, weights: FloatArray, k: int, *, rng: RngLike = None) -> IntArray:
    """Normalised cut of a small graph with symmetric weights A: k-means of its eigenvectors."""
    return unit_kmeans(top_eigenvectors(A, k), weights, k, make_rng(rng))


def cluster_affinity(tuples: LabelTuples, u: FloatArray, degrees: FloatArray) -> FloatArray:
    """(s, s) affinities BᵀWD⁻¹B of the clusters, with B = H diag(u) and its row sums D."""
    return u[:, None] * tuples.overlaps(tuples.weights * _inverse(degrees)) * u


def relative_eigengaps(values: FloatArray) -> FloatArray:
    r"""Relative gaps 1 − (1 − λ_k)/(1 − λ_{k+1}) after each but the last eigenvalue of a graph.

    λ are the largest eigenvalues of its random walk, in decreasing order. The gap is one where the
    graph has k pieces that no edge joins, and zero where λ_k = λ_{k+1}.

    >>> relative_eigengaps(np.array([1.0, 1.0, 0.5, 0.5])).round(3).tolist()
    [0.0, 1.0, 0.0]
    """
    rate = np.clip(1 - values, 0, 1) + _ROUNDING
    return np.asarray(1 - rate[:-1] / rate[1:])


def top_eigenvectors(A: FloatArray, k: int) -> FloatArray:
    """(s, k) eigenvectors of the random walk d⁻¹ A on a graph, for its k largest eigenvalues."""
    scale = np.sqrt(_inverse(A.sum(axis=1)))
    with blas_threads_for(A.size):
        _, U = np.linalg.eigh(scale[:, None] * A * scale)  # eigenvalues ascend
    return np.asarray(scale[:, None] * U[:, : -min(k, len(A)) - 1 : -1])


class Spectrum(NamedTuple):
    """The largest eigenvalues of a normalised graph, descending, and their eigenvectors."""

    values: FloatArray  # (k,)
    vectors: FloatArray  # (p, k)


def spectrum_of_graph(
    edges: Sparse, k: int, rng: np.random.Generator, factor: Sparse | None = None
) -> Spectrum:
    r"""The k largest eigenvalues of D⁻¹ᐟ²AD⁻¹ᐟ² for the sparse graph A = E + F Fᵀ.

    D are the row sums of A. Graphs of more than some hundred vertices are never made dense: blocks
    of vectors are multiplied by E and by the factor F. Polynomials of A enlarge the wanted
    directions; where the eigenvalues that follow are so near that this takes many steps, LOBPCG
    (Knyazev 2001) continues. Unlike Lanczos' method both find all eigenvectors of pieces that no
    edge joins, which have the same eigenvalue.
    """
    p, factor = edges.shape[0], sp.csr_array((edges.shape[0], 1)) if factor is None else factor
    degrees = edges.sum(axis=1) + factor @ (factor.T @ np.ones(p))
    root = sp.diags_array(np.sqrt(_inverse(np.asarray(degrees).ravel())))
    E, F = sp.csr_array(root @ edges @ root), sp.csr_array(root @ factor)
    k, width = min(k, p), k + _GUARDS
    if p <= max(_DENSE, 6 * width):
        return _dense_spectrum(E, F, k)
    F_transposed = sp.csr_array(F.T)

    def multiply(V: FloatArray) -> FloatArray:
        return np.asarray(E @ V + F @ (F_transposed @ V))

    # Hundreds of products of thin matrices: threads would mostly wait for each other, or, on a busy
    # machine, for a core.
    with one_blas_thread():
        values, U, converged = _filtered_block(multiply, rng.standard_normal((p, width)), k)
        if not converged:
            values, U = _lobpcg(multiply, U)
    if not (np.isfinite(values).all() and np.isfinite(U).all()):
        return _dense_spectrum(E, F, k)
    order = np.argsort(-values)[:k]
    return Spectrum(values[order], U[:, order])


Multiply = Callable[[FloatArray], FloatArray]


def _filtered_block(
    multiply: Multiply, U: FloatArray, k: int
) -> tuple[FloatArray, FloatArray, bool]:
    r"""Ritz values, descending, and vectors of a matrix with eigenvalues in [−1, 1].

    By iteration of a subspace with Chebyshev polynomials, which are at most one on [−1, b] and grow
    fast beyond it; b is the least Ritz value. Also returns whether the first k have converged, and
    where they have not, a better block to start from.

    References
    ----------
    Zhou, Saad: A Chebyshev-Davidson algorithm for large symmetric eigenproblems (SIAM Journal on
    Matrix Analysis and Applications 29, 2007).
    """
    for _ in range(_ROUNDS):
        U = np.linalg.qr(U)[0]
        AU = multiply(U)
        values, S = np.linalg.eigh(U.T @ AU)
        values, S = values[::-1], S[:, ::-1]
        U, AU = U @ S, AU @ S
        residuals = np.linalg.norm(AU[:, :k] - U[:, :k] * values[:k], axis=0)
        if residuals.max() <= _CONVERGED:
            return values, U, True
        centre, radius = (values[-1] - 1) / 2, (values[-1] + 1) / 2
        growth = np.arccosh(max((1 - centre) / radius, 1 + _ROUNDING))
        degree = int(np.clip(_MOST_GROWTH / growth, 1, _DEGREE))
        before, U = U, (AU - centre * U) / radius
        for _ in range(degree - 1):
            before, U = U, (multiply(U) - centre * U) * (2 / radius) - before
    return values, U, False


def _lobpcg(multiply: Multiply, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.sparse.linalg import LinearOperator, lobpcg

    p = len(start)
    A = LinearOperator((p, p), matvec=multiply, matmat=multiply, dtype=np.float64)
    with warnings.catch_warnings():
        # Vectors beyond the k-th need not converge.
        warnings.simplefilter("ignore", UserWarning)
        values, U = lobpcg(A, start, largest=True, tol=_TOLERANCE, maxiter=_MAX_ITER)
    return values, U


def _dense_spectrum(E: Sparse, F: Sparse, k: int) -> Spectrum:
    from scipy.linalg import eigh

    A = E.toarray() + (F @ F.T).toarray()
    with one_blas_thread():
        values, U = eigh(A, subset_by_index=[len(A) - k, len(A) - 1], overwrite_a=True)
    return Spectrum(values[::-1], U[:, ::-1])


def unit_rows(Y: FloatArray) -> FloatArray:
    """Rows divided by their lengths; rows of zeros stay."""
    return Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(np.float64).tiny)


def unit_kmeans(Y: FloatArray, weights: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """k non-empty clusters of weighted vectors by their directions."""
    return fill_empty(kmeans(unit_rows(Y), k, 10, rng, weights), weights, k)


def _inverse(x: FloatArray) -> FloatArray:
    """1/x, and zero for zero."""
    return np.asarray(np.divide(1.0, x, out=np.zeros_like(x), where=x > 0))
