"""What all estimators check: the points, and the source of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._util.arrays import check_is_array_like, to_numpy
from .._util.validation import as_points


def make_rng_of(estimator: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(estimator.random_state).randint(2**31))


def points_of(estimator: BaseEstimator, X: Any, *, reset: bool = True) -> Any:
    """X as scikit-learn checks it, once what it would misread has been refused."""
    check_is_array_like(X)
    if hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray):
        X = to_numpy(X, "X")
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if hasattr(X, "columns") or isinstance(X, np.ma.MaskedArray) or kind in "USMmV":
        as_points(X, finite=False)  # scikit-learn takes masked numbers, dates and "1.0" as they are
    try:
        return validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset)
    except OverflowError:
        raise ValueError("X holds integers that are too large for float64") from None
