"""Running a clusterer of scikit-learn: a copy is fitted, and its seeds follow one rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.typing import Points


def fit_clusterer(
    clusterer: Any, X: Points, rng: np.random.Generator, *, reseed: bool
) -> tuple[Any, Any]:
    """Labels by a fitted copy of a clusterer, and that copy.

    Seeds that are None are drawn from ``rng``. Seeds that are given are kept, so that the
    clustering is the one that the user gets from the same clusterer; with ``reseed`` all are drawn,
    so that replicates have nothing in common with the reference but the points.
    """
    from sklearn.base import clone  # slow to import

    model = clone(clusterer)
    given = model.get_params()
    drawn = [name for name in seeds_of(model) if reseed or given[name] is None]
    model.set_params(**{name: int(rng.integers(2**31)) for name in drawn})
    labels = model.fit_predict(X) if hasattr(model, "fit_predict") else model.fit(X).labels_
    return labels, model


def seeds_of(clusterer: Any) -> list[str]:
    """Names of the parameters of an estimator that seed it, those of its parts included."""
    if not hasattr(clusterer, "get_params"):
        return []
    names = sorted(clusterer.get_params())
    return [name for name in names if name.rpartition("__")[2] == "random_state"]
