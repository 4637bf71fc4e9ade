"""How far points are from each other, safely at any scale, in main memory or on a device."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import namespace, send
from .._util.typing import Array, FloatArray

__all__ = ["device_distances", "pairwise_distances"]

# Below this the identity |x-y|² = |x|² + |y|² - 2x·y loses no more than 1e-10.
_LARGEST_SQUARE_FOR_GEMM = 5e4
_FEW_FEATURES = 8  # so few that differences are as quick as a matrix product


def pairwise_distances(
    X: Array,
    Y: Array,
    metric: str = "euclidean",
    *,
    scale: float = 1.0,
    power: int = 1,
    by_differences: bool = False,
) -> FloatArray:
    """‖x − y‖ᵖ / scaleᵖ for all pairs, safe for coordinates of any size and far from the origin.

    ``by_differences`` makes equal points exactly zero apart, at some cost in high dimensions.
    """
    U, V = (_from_origin(Z, Y[:1], scale) for Z in (X, Y))
    if not (np.isfinite(U).all() and np.isfinite(V).all()):
        _refuse_overflow(scale)
    if metric == "cityblock":
        return np.asarray(cdist(U, V, "cityblock")) ** power
    squares = cdist(U, V, "sqeuclidean") if by_differences else _squared_distances(U, V)
    return squares if power == 2 else np.sqrt(squares)


def _from_origin(X: Array, origin: Array, scale: float) -> FloatArray:
    """X as seen from a point, in units; the difference first, since it is exact for near points."""
    X, origin = (np.asarray(Z, dtype=np.float64) for Z in (X, origin))
    with np.errstate(invalid="ignore", over="ignore"):
        U = (X - origin) / scale
        return np.asarray(U if np.isfinite(U).all() else X / scale - origin / scale)


def _squared_distances(U: FloatArray, V: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        uu, vv = np.einsum("ij,ij->i", U, U), np.einsum("ij,ij->i", V, V)
    if U.shape[1] <= _FEW_FEATURES or max(uu.max(), vv.max()) > _LARGEST_SQUARE_FOR_GEMM:
        return np.asarray(cdist(U, V, "sqeuclidean"))
    squares = uu[:, None] + vv[None, :] - 2 * (U @ V.T)
    return np.maximum(squares, 0, out=squares)


def device_distances(
    X: Any,
    Y: Any,
    metric: str = "euclidean",
    *,
    scale: float = 1.0,
    power: int = 1,
    by_differences: bool = False,
) -> Any:
    """The same where X is on a device, in float64 there; Y is sent after it."""
    xp = namespace(X)
    X, Y = (
        xp.astype(Z, xp.float64) if namespace(Z) is xp else send(Z, X, xp.float64) for Z in (X, Y)
    )
    origin = Y[:1, ...]
    with np.errstate(over="ignore", invalid="ignore"):  # of namespaces built on NumPy
        U, V = ((Z - origin) / scale for Z in (X, Y))  # exact for near points
        uu, vv = xp.sum(U * U, axis=1), xp.sum(V * V, axis=1)
        largest = max(float(xp.max(uu)), float(xp.max(vv)))
        if not np.isfinite(largest):
            U, V = (_even_if_far(Z, origin, scale) for Z in (X, Y))
    by_product = largest <= _LARGEST_SQUARE_FOR_GEMM and not by_differences
    if metric == "cityblock":
        return _add_over_features(U, V, xp.abs) ** power
    if by_product and U.shape[1] > _FEW_FEATURES:
        squares = uu[:, None] + vv[None, :] - 2 * (U @ xp.permute_dims(V, (1, 0)))
        squares = xp.clip(squares, min=0.0)
    else:
        squares = _add_over_features(U, V, xp.square)
    return squares if power == 2 else xp.sqrt(squares)


def _even_if_far(X: Any, origin: Any, scale: float) -> Any:
    """X as seen from a point, in units, where the difference may be beyond all floats."""
    xp = namespace(X)
    U = (X - origin) / scale
    if not xp.all(xp.isfinite(U)):
        U = X / scale - origin / scale
    if not xp.all(xp.isfinite(U)):
        _refuse_overflow(scale)
    return U


def _add_over_features(U: Any, V: Any, of_difference: Any) -> Any:
    xp = namespace(U)
    total = xp.zeros((U.shape[0], V.shape[0]), dtype=U.dtype, device=U.device)
    for j in range(U.shape[1]):
        total += of_difference(U[:, j][:, None] - V[:, j][None, :])
    return total


def _refuse_overflow(scale: float) -> NoReturn:
    raise ValueError(
        f"points lie too far apart for a bandwidth of {scale:g}: their distance in bandwidths "
        "overflows; use a larger bandwidth or rescale the points"
    )
