"""Coordinates on one scale, and a note where they are on very different ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._util.typing import Array, FloatArray
from .._util.validation import column_ranges
from .input_checks import InputError

_MAX_SCALE_RATIO = 100.0  # of standard deviations, above which standardizing is suggested


def standardize_together(samples: Sequence[Array | None]) -> list[FloatArray]:
    """Several samples, shifted and scaled by the mean and standard deviation of all of them."""
    points = [np.asarray(X, dtype=np.float64) for X in samples]
    if len({X.shape[1] for X in points}) > 1:
        sizes = " and ".join(str(X.shape[1]) for X in points)
        raise InputError(f"the samples have {sizes} coordinates; they must be points of one space")
    ends = np.cumsum([len(X) for X in points])
    return np.split(standardized(np.concatenate(points)), ends[:-1])


def standardized(X: Array) -> FloatArray:
    """X with mean zero and standard deviation one; constant columns are zero."""
    Z = X / _magnitudes(X)
    spread = Z.std(axis=0)
    return np.asarray((Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _magnitudes(X: Array) -> FloatArray:
    """The largest absolute value of each column; division by it prevents overflow of squares."""
    largest = np.abs(np.array(column_ranges(X), dtype=np.float64)).max(axis=0)
    return np.where(largest > 0, largest, 1.0)


def note_scales(X: Array, columns: list[str], notes: list[str]) -> None:
    unit = _magnitudes(X)
    spread = (X / unit).std(axis=0) * unit
    wide, narrow = int(spread.argmax()), int(np.where(spread > 0, spread, np.inf).argmin())
    if spread[wide] > _MAX_SCALE_RATIO * spread[narrow] > 0:
        with np.errstate(over="ignore"):
            ratio = spread[wide] / spread[narrow]
        shown = f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"
        notes.append(
            f"the standard deviation of {columns[wide]!r} is {shown} times that of "
            f"{columns[narrow]!r}; --standardize scales all columns to the same one"
        )
