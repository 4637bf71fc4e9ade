"""Sums over a large grid of frequencies by a non-uniform fast Fourier transform (finufft)."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .._threads import in_order
from .._typing import Array, FloatArray
from ..stack import Rows

__all__ = ["nufft", "nufft_sums"]

_CHUNK = 2**20  # points of one cluster that are transformed at a time
_ACCURACY = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-14}


@cache
def nufft() -> ModuleType | None:
    """finufft, if the extra is installed."""
    try:
        import finufft
    except ImportError:
        return None
    module: ModuleType = finufft
    return module


def nufft_sums(theta: Array, R: Rows, counts: tuple[int, ...], accuracy: float) -> FloatArray:
    """Σ over each cluster of all products of 1, cos jθ, sin jθ over the axes, (s, ρ).

    theta : (n, d) angles in [−π, π], in the precision of the work
    """
    n, s = R.shape
    columns = R.rows(slice(0, n)).tocsc()

    def transform(cluster: int) -> FloatArray:
        inside = slice(columns.indptr[cluster], columns.indptr[cluster + 1])
        rows, shares = columns.indices[inside], columns.data[inside]
        unit = np.abs(shares).max(initial=0.0) or 1.0
        total: Any = 0.0
        for start in range(0, len(rows), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            total = total + _modes(theta[rows[chunk]], shares[chunk] / unit, counts, accuracy)
        return _products(total, counts) * unit if len(rows) else np.zeros(_size(counts))

    return np.stack(list(in_order(transform, range(s))))


def _modes(theta: Array, shares: FloatArray, counts: tuple[int, ...], accuracy: float) -> Array:
    """Σ share · exp(i k·θ) for |k| ≤ N on each axis."""
    library = nufft()
    assert library is not None
    transform = getattr(library, f"nufft{len(counts)}d1")
    precision = np.complex64 if theta.dtype == np.float32 else np.complex128
    # One thread each: clusters are spread over threads, and more would change the last bits.
    return np.asarray(
        transform(
            *(np.ascontiguousarray(axis) for axis in theta.T),
            shares.astype(precision),
            tuple(2 * N + 1 for N in counts),
            eps=max(accuracy, _ACCURACY[theta.dtype]),
            isign=1,
            nthreads=1,
        ),
        dtype=np.complex128,
    )


def _products(modes: Array, counts: tuple[int, ...]) -> FloatArray:
    """Cosines and sines from exponentials, one axis after another."""
    for axis, N in enumerate(counts):
        f = np.moveaxis(modes, axis, 0)
        plus, minus = f[N + 1 :], f[:N][::-1]
        parts = [f[N : N + 1], (plus + minus) / 2, (plus - minus) / 2j]
        modes = np.moveaxis(np.concatenate(parts), 0, axis)
    return np.asarray(modes.real).ravel()


def _size(counts: tuple[int, ...]) -> int:
    return int(np.prod([2 * N + 1 for N in counts]))
