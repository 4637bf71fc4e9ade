"""What comes in through the door: points, weights, sizes, seeds."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .arrays import (
    from_device,
    namespace,
    on_device,
    one_number,
    row_blocks,
    to_numpy,
    without_gradients,
)
from .checks import check_choice, check_count, check_positive
from .threads import in_order
from .typing import Array, FloatArray, RngLike

__all__ = [
    "as_block_weights",
    "as_numbers",
    "as_points",
    "as_weights",
    "check_choice",
    "check_count",
    "check_positive",
    "check_same_length",
    "column_ranges",
    "first_bad_cell",
    "make_rng",
]

# Sums of squares of the weights must neither overflow nor vanish in float64.
_LARGEST_WEIGHT, _SMALLEST_WEIGHT = 1e100, 1e-100
_MANY_NUMBERS = 5_000_000  # for which it is worth to begin threads
_FEW_COLUMNS = 8  # for which NumPy's own reduction along rows is ten times slower


def as_points(X: Any, name: str = "X", *, finite: bool = True, device: bool = False) -> Array:
    """X as a finite (n, d) array of native numbers, not copied where it already is one.

    ``finite=False`` leaves the look for NaN and infinity to the caller; ``device=True`` leaves
    points on a GPU where they are.
    """
    if device and on_device(X):
        return _device_points(X, name, finite)
    if X is None:
        raise ValueError(f"{name} is needed: the points, as an (n, d) array of numbers")
    if hasattr(X, "tocsr"):
        raise TypeError(f"{name} is sparse, expected a dense (n, d) array; use {name}.toarray()")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(f"{name} has masked values; drop those points or fill them in first")
    _refuse_text_columns(X, name)
    points = to_numpy(X, name)
    if points.dtype.kind == "O":
        points = _numbers_from_objects(points, name)
    if points.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must hold real numbers, got dtype {points.dtype}; encode other columns as "
            "numbers or leave them out"
        )
    _check_shape(points.shape, name)
    if points.dtype.kind == "b" or points.dtype in (np.float16, np.longdouble):
        points = points.astype(np.float64)
    native = points.dtype.newbyteorder("=")
    if not points.dtype.isnative:
        points = points.astype(native)
    elif points.dtype.byteorder != native.byteorder:
        points = points.view(native)  # says "<" where it need not, which the kernels do not read
    if finite and (bad := first_bad_cell(points)) is not None:
        _refuse_cell(points, bad, name)
    return points


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        hint = f"; for one feature use {name}.reshape(-1, 1)" if len(shape) == 1 else ""
        raise ValueError(
            f"{name} must be two-dimensional (points × features), got shape {tuple(shape)}{hint}"
        )
    if 0 in shape:
        raise ValueError(
            f"{name} has shape {tuple(shape)}; at least one point and one feature are needed"
        )


def _refuse_cell(points: Array, cell: tuple[int, int], name: str) -> NoReturn:
    row, column = cell
    raise ValueError(
        f"{name} must be finite, got {points[row, column]} in row {row}, column {column}; "
        "drop or impute such points"
    )


def _device_points(X: Any, name: str, finite: bool) -> Any:
    """The same for points on a device: nothing but a bad row leaves it."""
    xp, X = namespace(X), without_gradients(X)
    if not xp.isdtype(X.dtype, ("bool", "real floating", "integral")):
        raise TypeError(f"{name} must hold real numbers, got dtype {X.dtype}")
    _check_shape(X.shape, name)
    if X.dtype not in (xp.float32, xp.float64):
        short = xp.isdtype(X.dtype, "real floating")  # half floats
        X = xp.astype(X, xp.float32 if short else xp.float64)
    if finite and not xp.all(xp.isfinite(X)):
        good = xp.astype(xp.all(xp.isfinite(X), axis=1), xp.int32)
        row = int(xp.argmin(good))
        _, column = first_bad_cell(to_numpy(X[row : row + 1, ...])) or (0, 0)
        _refuse_cell(X, (row, column), name)
    return X


def as_weights(weights: Any, n: int, name: str = "weights") -> FloatArray:
    """Return n finite weights w ≥ 0 with a positive sum, read-only; None means one each."""
    w = as_block_weights(weights, n, name)
    if weights is None or not n:
        return w
    if not w.any():
        raise ValueError(f"{name} sum to zero; give at least one point a positive weight")
    if w.max() < _SMALLEST_WEIGHT:
        raise ValueError(_out_of_range(w, name))
    return w


def as_block_weights(weights: Any, n: int, name: str = "weights") -> FloatArray:
    """The same for some of the points, which may all weigh nothing where others do not."""
    if weights is None:
        return one_number(1.0, n)
    w = np.array(as_numbers(weights, name))
    if w.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one for each point, got {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError(f"{name} must be finite, got {w[~np.isfinite(w)][0]}")
    if (w < 0).any():
        raise ValueError(
            f"{name} must not be negative, got {w.min()} for point {w.argmin()}; "
            "use 0 to leave a point out"
        )
    if n and w.max() > _LARGEST_WEIGHT:
        raise ValueError(_out_of_range(w, name))
    w.setflags(write=False)
    return w


def _out_of_range(w: FloatArray, name: str) -> str:
    return (
        f"{name} reach {w.max():.3g}, outside [{_SMALLEST_WEIGHT:g}, {_LARGEST_WEIGHT:g}]; "
        "divide them by their mean (only ratios matter)"
    )


def as_numbers(values: Any, name: str) -> FloatArray:
    """An array of any shape in float64, from anything but text, dates and complex numbers."""
    values = from_device(values)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values; fill them in first (zeros to leave out)")
    array = to_numpy(values, name)
    if array.dtype.kind == "O":
        return _numbers_from_objects(array, name)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return np.asarray(array, dtype=np.float64).view(np.float64)  # not "<f8"


def make_rng(rng: RngLike) -> np.random.Generator:
    """A Generator from a seed, a Generator or None."""
    if isinstance(rng, np.random.RandomState | float | str | bool):
        raise TypeError(
            f"rng must be an int, a numpy.random.Generator or None, got {type(rng).__name__}"
        )
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:  # what it is not, and a number below zero
        raise type(error)(
            "rng must be a whole number from zero on, a numpy.random.Generator or None, "
            f"got {rng!r}"
        ) from None


def check_same_length(n: int, m: int, what: str, other: str) -> None:
    if n != m:
        raise ValueError(
            f"{what} has {n} entries but {other} has {m} points; they must describe the same points"
        )


def first_bad_cell(points: Array) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity, looking at one block of rows at a time."""
    if points.dtype.kind != "f":
        return None

    def look(rows: slice) -> tuple[int, int] | None:
        finite = np.isfinite(points[rows])
        if finite.all():
            return None
        row, column = np.argwhere(~finite)[0]
        return int(row) + rows.start, int(column)

    blocks = row_blocks(len(points), points.shape[1])
    several = points.size > _MANY_NUMBERS
    answers = in_order(look, blocks) if several else map(look, blocks)
    return next((bad for bad in answers if bad is not None), None)


def column_ranges(points: Array) -> tuple[Array, Array]:
    """The least and the greatest of each column; one column at a time where there are few."""
    if on_device(points):
        xp = namespace(points)
        return to_numpy(xp.min(points, axis=0)), to_numpy(xp.max(points, axis=0))
    if points.shape[1] > _FEW_COLUMNS:
        return points.min(axis=0), points.max(axis=0)
    return (
        np.array([column.min() for column in points.T]),
        np.array([column.max() for column in points.T]),
    )


def _refuse_text_columns(X: Any, name: str) -> None:
    """A data frame knows which of its columns is not numeric: name it."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns") or not hasattr(dtypes, "items"):
        return
    bad = [c for c, dtype in dtypes.items() if getattr(dtype, "kind", "f") not in "fiubO"]
    if bad:
        raise TypeError(
            f"{name} has columns that are not numbers: {', '.join(map(repr, bad[:5]))}; "
            "choose the numeric columns"
        )


def _numbers_from_objects(points: Array, name: str) -> FloatArray:
    try:
        return points.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        _complain_of_first_text(points, name)


def _complain_of_first_text(points: Array, name: str) -> NoReturn:
    for index, value in np.ndenumerate(points):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            where = ", ".join(map(str, index))
            raise TypeError(
                f"{name} must hold numbers, got {value!r} at [{where}]; encode text columns as "
                "numbers or leave them out"
            ) from None
    raise TypeError(f"{name} must be a rectangular (n, d) array of numbers")
