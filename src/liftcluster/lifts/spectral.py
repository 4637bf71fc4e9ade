"""Square roots of Gram matrices that need not have full rank."""

from __future__ import annotations

import numpy as np

from .._util.threads import one_blas_thread
from .._util.typing import FloatArray

__all__ = ["gram_factor", "inverse_root"]

_NOT_ROUNDING = 1e-7  # a relative negative eigenvalue beyond this is the kernel's fault


def gram_factor(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """V and A with G = VVᵀ and V = GA, from the eigenvectors that are there.

    eigh, not Cholesky: m partitions of the same points leave their Gram rank-deficient by m - 1.
    The matrix is scaled to unit diagonal first, so that a small cluster counts as much as a
    large one when eigenvalues are called zero.
    """
    diagonal = np.diag(G)
    if not (np.isfinite(G).all() and (diagonal > 0).all()):
        raise ValueError(
            "the kernel is not positive definite on these points: a cluster or landmark has "
            "similarity zero or less with itself"
        )
    root = np.sqrt(diagonal)
    with one_blas_thread():  # the number of threads changes the last bits of eigenvectors
        eigenvalues, U = np.linalg.eigh(G / np.outer(root, root))
    largest = eigenvalues[-1]
    if eigenvalues[0] < -_NOT_ROUNDING * largest:
        raise ValueError(
            "the kernel is not positive semi-definite: an eigenvalue of its Gram matrix is "
            f"{eigenvalues[0] / largest:.2g} times the largest; use a valid kernel, or add a "
            "constant to its diagonal"
        )
    keep = eigenvalues > 10 * len(G) * np.finfo(np.float64).eps * largest
    lengths = np.sqrt(eigenvalues[keep])
    V = root[:, None] * U[:, keep] * lengths
    A = U[:, keep] / lengths / root[:, None]
    return V, A


def inverse_root(G: FloatArray) -> FloatArray:
    """A with AᵀGA = I on the span of G."""
    return gram_factor(G)[1]
