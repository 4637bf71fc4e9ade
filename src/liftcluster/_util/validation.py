"""Validation of arrays (points, weights, other numbers) and of random seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import (
    check_is_array_like,
    constant_array,
    is_constant,
    namespace,
    on_device,
    row_blocks,
    to_numpy,
    without_gradients,
)
from .threads import map_in_order
from .typing import Array, FloatArray, RngLike

# Sums of squares of the weights must neither overflow nor underflow in float64.
_LARGEST_WEIGHT, _SMALLEST_WEIGHT = 1e100, 1e-100
_MANY_NUMBERS = 5_000_000  # for which starting threads pays off
_FEW_COLUMNS = 8  # for which NumPy's reduction over the first axis is ten times slower


def as_points(
    X: Any, name: str = "X", *, finite: bool = True, device: bool = False, first_row: int = 0
) -> Array:
    """Return X as a finite (n, d) array of numbers, without a copy where it is one already.

    ``finite=False`` leaves the check for NaN and infinity to the caller; ``device=True`` keeps
    points on their device; errors count the rows from ``first_row``.
    """
    check_is_array_like(X, name)
    if device and on_device(X):
        return _device_points(X, name, finite)
    if X is None:
        raise ValueError(f"{name} is needed: the points, as an (n, d) array of numbers")
    if hasattr(X, "tocsr"):
        raise TypeError(f"{name} is sparse, expected a dense (n, d) array; use {name}.toarray()")
    _check_columns_are_numeric(X, name)
    points = _real_numbers(X, name)
    _check_shape(points.shape, name)
    if points.dtype.kind == "b" or points.dtype in (np.float16, np.longdouble):
        points = points.astype(np.float64)
    native = points.dtype.newbyteorder("=")
    if not points.dtype.isnative:
        points = points.astype(native)
    elif points.dtype.byteorder != native.byteorder:
        points = points.view(native)  # dtype "<f8" instead of "=f8", which the kernels reject
    if finite and (bad := first_bad_cell(points)) is not None:
        raise ValueError(_not_finite(points, bad, name, first_row))
    return points


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or 0 in shape:
        hint = f"; for one feature use {name}.reshape(-1, 1)" if len(shape) == 1 else ""
        raise ValueError(
            f"{name} must be two-dimensional (points × features), with at least one point and one "
            f"feature, got shape {tuple(shape)}{hint}"
        )


def _not_finite(points: Array, cell: tuple[int, int], name: str, first_row: int = 0) -> str:
    row, column = cell
    return (
        f"{name} must be finite, got {points[cell]} in row {first_row + row}, column {column}; "
        "drop or impute such points"
    )


def _device_points(X: Any, name: str, finite: bool) -> Any:
    """The same for points on a device; only a row that is not finite is copied from it."""
    xp, X = namespace(X), without_gradients(X)
    usual = X.dtype in (xp.float32, xp.float64)
    if not usual and not xp.isdtype(X.dtype, ("bool", "real floating", "integral")):
        raise TypeError(f"{name} must hold real numbers, got dtype {X.dtype}")
    _check_shape(X.shape, name)
    if not usual:
        short = xp.isdtype(X.dtype, "real floating")  # half floats
        X = xp.astype(X, xp.float32 if short else xp.float64)
    if finite and not xp.all(xp.isfinite(X)):
        good = xp.astype(xp.all(xp.isfinite(X), axis=1), xp.int32)
        row = int(xp.argmin(good))
        _, column = first_bad_cell(to_numpy(X[row : row + 1, ...])) or (0, 0)
        raise ValueError(_not_finite(X, (row, column), name))
    return X


def as_weights(weights: Any, n: int, *, may_be_zero: bool = False) -> FloatArray:
    """Return n finite weights w ≥ 0, read-only; None means one each.

    Their sum must be positive, unless they are those of a block (``may_be_zero``).
    """
    if weights is None:
        return constant_array(1.0, n)
    if isinstance(weights, np.ndarray) and weights.shape == (n,) and n and is_constant(weights):
        one = as_weights(weights[:1].copy(), 1, may_be_zero=may_be_zero)
        return constant_array(float(one[0]), n)  # and stays one number
    w = np.array(as_numbers(weights, "weights"))
    if w.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one for each point, got {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError(f"weights must be finite, got {w[~np.isfinite(w)][0]}")
    if (w < 0).any():
        raise ValueError(
            f"weights must not be negative, got {w.min()} for point {w.argmin()}; "
            "use 0 to leave a point out"
        )
    largest, least = w.max(initial=0.0), 0.0 if may_be_zero or not n else _SMALLEST_WEIGHT
    if largest == 0 < least:
        raise ValueError("weights sum to zero; give at least one point a positive weight")
    if not least <= largest <= _LARGEST_WEIGHT:
        raise ValueError(
            f"weights reach {largest:.3g}, outside [{_SMALLEST_WEIGHT:g}, {_LARGEST_WEIGHT:g}]; "
            "divide them by their mean (only ratios matter)"
        )
    w.setflags(write=False)
    return w


def as_numbers(values: Any, name: str) -> FloatArray:
    """Return a float64 array of any shape; text, dates and complex numbers raise TypeError."""
    array = _real_numbers(values, name)
    return np.asarray(array, dtype=np.float64).view(np.float64)  # "=f8", not "<f8"


def make_rng(rng: RngLike) -> np.random.Generator:
    """A Generator from a seed, a Generator or None."""
    if isinstance(rng, np.random.RandomState | float | str | bool):
        raise TypeError(
            f"rng must be an int, a numpy.random.Generator or None, got {type(rng).__name__}"
        )
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:  # other types, and negative numbers
        raise type(error)(
            f"rng must be a non-negative integer, a numpy.random.Generator or None, got {rng!r}"
        ) from None


def check_rng(rng: RngLike) -> RngLike:
    """The same seed, checked as ``make_rng`` does, for work that may need no random numbers."""
    if not (rng is None or (type(rng) is int and rng >= 0)):
        return make_rng(rng)
    return rng


def check_same_length(n: int | None, m: int, what: str, other: str) -> None:
    """Raise ValueError unless two descriptions of the points have the same length, if known."""
    if n not in (None, m):
        raise ValueError(
            f"{what} has {n} entries but {other} has {m} points; they must describe the same points"
        )


def first_bad_cell(points: Array) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity, or None; one block of rows at a time."""
    if points.dtype.kind != "f":
        return None

    def first_in_block(rows: slice) -> tuple[int, int] | None:
        finite = np.isfinite(points[rows])
        if finite.all():
            return None
        row, column = np.argwhere(~finite)[0]
        return int(row) + rows.start, int(column)

    blocks = row_blocks(len(points), points.shape[1])
    several = points.size > _MANY_NUMBERS
    found = map_in_order(first_in_block, blocks) if several else map(first_in_block, blocks)
    return next((bad for bad in found if bad is not None), None)


def column_ranges(points: Array) -> tuple[Array, Array]:
    """Minimum and maximum of each column."""
    if on_device(points):
        xp = namespace(points)
        return to_numpy(xp.min(points, axis=0)), to_numpy(xp.max(points, axis=0))
    if points.shape[1] > _FEW_COLUMNS:
        return points.min(axis=0), points.max(axis=0)
    low, high = zip(*((column.min(), column.max()) for column in points.T), strict=True)
    return np.array(low), np.array(high)


def _check_columns_are_numeric(X: Any, name: str) -> None:
    """Raise TypeError that names the columns of a data frame that are not numeric."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns") or not hasattr(dtypes, "items"):
        return
    bad = [c for c, dtype in dtypes.items() if getattr(dtype, "kind", "f") not in "fiubO"]
    if bad:
        raise TypeError(
            f"{name} has columns that are not numbers: {', '.join(map(repr, bad[:5]))}; "
            "choose the numeric columns"
        )


def _real_numbers(values: Any, name: str) -> Array:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values; leave those points out or fill them in first")
    array = to_numpy(values, name)
    if array.dtype.kind in "fiub":
        return array
    if array.dtype.kind != "O":
        raise TypeError(
            f"{name} must hold real numbers, got dtype {array.dtype}; encode other columns as "
            "numbers or leave them out"
        )
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        for index, value in np.ndenumerate(array):
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                where = ", ".join(map(str, index))
                raise TypeError(
                    f"{name} must hold numbers, got {value!r} at [{where}]; encode text columns as "
                    "numbers or leave them out"
                ) from None
        raise TypeError(f"{name} must be a rectangular (n, d) array of numbers") from None
