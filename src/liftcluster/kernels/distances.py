"""Distances between points, accurate at any scale, in main memory or on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import namespace, on_device, send
from .._util.typing import FloatArray, Points

# Below this the identity |x-y|² = |x|² + |y|² - 2x·y loses no more than 1e-10.
LARGEST_SQUARE_FOR_GEMM = 5e4
FEW_FEATURES = 8  # for which differences are as fast as a matrix product


def pairwise_distances(
    X: Points,
    Y: Points,
    metric: str = "euclidean",
    *,
    scale: float = 1.0,
    power: int = 1,
    by_differences: bool = False,
) -> FloatArray:
    """‖x − y‖ᵖ / scaleᵖ for all pairs, for coordinates of any size and far from the origin.

    The metric is "euclidean", with a power p of 1 or 2, or "cityblock". If X is on a device, so is
    the result, in float64. ``by_differences`` makes equal points exactly zero apart, at some cost
    in high dimensions.
    """
    if on_device(X):
        return _device_distances(X, Y, metric, scale, power, by_differences)
    same = X is Y
    X, Y = (np.asarray(Z, dtype=np.float64) for Z in (X, Y))
    with np.errstate(invalid="ignore", over="ignore"):
        V = _in_units(Y, Y[:1], scale, np)
        U = V if same else _in_units(X, Y[:1], scale, np)
    if metric == "cityblock":
        return np.asarray(cdist(U, V, "cityblock")) ** power
    squares = cdist(U, V, "sqeuclidean") if by_differences else _squared_distances(U, V)
    return squares if power == 2 else np.sqrt(squares)


def _squared_distances(U: FloatArray, V: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        uu = np.einsum("ij,ij->i", U, U)
        vv = uu if U is V else np.einsum("ij,ij->i", V, V)
    if U.shape[1] <= FEW_FEATURES or max(uu.max(), vv.max()) > LARGEST_SQUARE_FOR_GEMM:
        return np.asarray(cdist(U, V, "sqeuclidean"))
    # Also where U is V another array: NumPy has a routine for V @ V.T, with other last digits.
    squares = U @ (V * -2.0).T
    squares += uu[:, None] + vv
    squares[squares < 0] = 0.0  # several times as fast as np.maximum
    return squares


def _device_distances(
    X: Any, Y: Any, metric: str, scale: float, power: int, by_differences: bool
) -> Any:
    xp = namespace(X)
    X, Y = (
        xp.astype(Z, xp.float64) if namespace(Z) is xp else send(Z, X, xp.float64) for Z in (X, Y)
    )
    with np.errstate(over="ignore", invalid="ignore"):  # of namespaces built on NumPy
        U, V = ((Z - Y[:1, ...]) / scale for Z in (X, Y))
        uu, vv = xp.sum(U * U, axis=1), xp.sum(V * V, axis=1)
        largest = max(float(xp.max(uu)), float(xp.max(vv)))
        if not np.isfinite(largest):
            U, V = (_in_units(Z, Y[:1, ...], scale, xp) for Z in (X, Y))
    by_product = largest <= LARGEST_SQUARE_FOR_GEMM and not by_differences
    if metric == "cityblock":
        return _add_over_features(U, V, xp.abs) ** power
    if by_product and U.shape[1] > FEW_FEATURES:
        products = U @ xp.permute_dims(V, (1, 0))
        squares = xp.clip(uu[:, None] + vv[None, :] - 2 * products, min=0.0)
    else:
        squares = _add_over_features(U, V, xp.square)
    return squares if power == 2 else xp.sqrt(squares)


def _add_over_features(U: Any, V: Any, of_difference: Any) -> Any:
    xp = namespace(U)
    total = xp.zeros((U.shape[0], V.shape[0]), dtype=U.dtype, device=U.device)
    for j in range(U.shape[1]):
        total += of_difference(U[:, j][:, None] - V[:, j][None, :])
    return total


def _in_units(Z: Any, origin: Any, scale: float, xp: Any) -> Any:
    """Points relative to an origin, in units of ``scale``."""
    U = (Z - origin) / scale  # the difference first, because it is exact for near points
    if not xp.all(xp.isfinite(U)):
        U = Z / scale - origin / scale
    if not xp.all(xp.isfinite(U)):
        raise ValueError(
            f"points lie too far apart for a bandwidth of {scale:g}: their distance in "
            "bandwidths overflows; use a larger bandwidth or rescale the points"
        )
    return U
