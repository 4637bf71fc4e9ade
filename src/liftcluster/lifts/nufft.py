"""Sums over a large grid of frequencies by a non-uniform fast Fourier transform (finufft)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .._util.threads import in_order
from .._util.typing import Array, FloatArray, Sparse
from ..partitions.stack import Rows

__all__ = ["nufft", "nufft_sums"]

_CHUNK = 2**20  # points that are sorted by cluster at a time
_BEST_ACCURACY = 1e-14


@cache
def nufft() -> ModuleType | None:
    """finufft, if the extra is installed."""
    try:
        import finufft
    except ImportError:
        return None
    module: ModuleType = finufft
    return module


def nufft_sums(
    angles: Callable[[Array], Array], X: Array, R: Rows, counts: tuple[int, ...], accuracy: float
) -> FloatArray:
    """Σ over each cluster of all products of 1, cos jθ, sin jθ over the axes, (s, ρ).

    ``angles`` turns points into their θ, within ±π. All in double precision: in single precision
    the transform itself errs by several 10⁻⁶.
    """
    n, s = R.shape
    total = np.zeros((s, math.prod(2 * N + 1 for N in counts)))
    for start in range(0, n, _CHUNK):
        rows = slice(start, min(start + _CHUNK, n))
        theta, columns = angles(X[rows]), R.rows(rows).tocsc()

        def transform(cluster: int, theta: Array = theta, columns: Sparse = columns) -> Any:
            inside = slice(columns.indptr[cluster], columns.indptr[cluster + 1])
            chosen, shares = columns.indices[inside], columns.data[inside]
            if not len(chosen):
                return 0.0
            return _products(_modes(theta[chosen], shares, counts, accuracy), counts)

        for cluster, sums in enumerate(in_order(transform, range(s))):
            total[cluster] += sums
    return total


def _modes(theta: Array, shares: FloatArray, counts: tuple[int, ...], accuracy: float) -> Array:
    """Σ share · exp(i k·θ) for |k| ≤ N on each axis."""
    library = nufft()
    assert library is not None
    transform = getattr(library, f"nufft{len(counts)}d1")
    # One thread each: clusters are spread over threads, and more would change the last bits.
    return np.asarray(
        transform(
            *(np.ascontiguousarray(axis) for axis in theta.T),
            shares.astype(np.complex128),
            tuple(2 * N + 1 for N in counts),
            eps=max(accuracy, _BEST_ACCURACY),
            isign=1,
            nthreads=1,
        )
    )


def _products(modes: Array, counts: tuple[int, ...]) -> FloatArray:
    """Cosines and sines from exponentials, one axis after another."""
    for axis, N in enumerate(counts):
        f = np.moveaxis(modes, axis, 0)
        plus, minus = f[N + 1 :], f[:N][::-1]
        parts = [f[N : N + 1], (plus + minus) / 2, (plus - minus) / 2j]
        modes = np.moveaxis(np.concatenate(parts), 0, axis)
    return np.asarray(modes.real).ravel()
