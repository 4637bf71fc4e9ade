"""Replicates of a clustering: a clusterer run again on resampled points."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from ..._util.arrays import constant_array, is_constant
from ..._util.typing import Array, FloatArray, IntArray, Points
from ...kernels.summary import n_points, take_rows
from ...partitions.labels import DEFAULT_NOISE, encode_labels
from ..fitting import fit_clusterer

Resample = Literal["halves", "bootstrap", "subsample", "seeds", "noise"]
RESAMPLES = get_args(Resample)
_SUBSAMPLE = 0.8  # share of the points
_NOISE = 0.1  # in standard deviations of each feature


class Fit(Protocol):
    """Clusters points: labels, and a function that predicts those of others, or None."""

    def __call__(
        self, X: Points, rng: np.random.Generator, *, reseed: bool
    ) -> tuple[Any, Callable[[Points], Any] | None]: ...


class Replicate(NamedTuple):
    """A clustering of a resample of n points.

    Attributes
    ----------
    counts : (n,) array
        How often each point is in the resample.
    codes : (n,) int array
        Cluster of each point, -1 for noise; of points outside only if the clusterer predicts.
    known : (n,) bool array
        Which of the points have a cluster or are noise.
    k : int
        Number of clusters.
    """

    counts: FloatArray
    codes: IntArray
    known: Array
    k: int

    @classmethod
    def of_all_points(cls, codes: IntArray, k: int) -> Replicate:
        """A clustering of the points themselves."""
        n = len(codes)
        return cls(constant_array(1.0, n), codes, np.ones(n, dtype=bool), k)

    def times(self, weights: FloatArray) -> FloatArray:
        """Weights of the points in the resample; the same array if each point is there once."""
        once = is_constant(self.counts) and bool(self.counts[:1] == 1)
        return weights if once else weights * self.counts


def as_fit(source: Any) -> Fit:
    """A function that clusters points, from a scikit-learn clusterer or a function of points."""
    if hasattr(source, "fit") and not inspect.isclass(source):
        return partial(_fit_estimator, source)
    if callable(source) and not inspect.isclass(source):
        return lambda X, rng, *, reseed: (source(X), None)
    hint = f"; write {source.__name__}()" if inspect.isclass(source) else ""
    raise TypeError(
        "source must be a clusterer with fit, a function of points that returns labels, or "
        f"labels of runs, got {type(source).__name__ if not hint else source.__name__}{hint}"
    )


def _fit_estimator(
    source: Any, X: Points, rng: np.random.Generator, *, reseed: bool
) -> tuple[Any, Callable[[Points], Any] | None]:
    labels, model = fit_clusterer(source, X, rng, reseed=reseed)
    return labels, getattr(model, "predict", None)


def reference_labels(fit: Fit, X: Points, rng: np.random.Generator) -> Any:
    """Labels of all points, with the seeds that the clusterer was given."""
    labels = fit(X, rng, reseed=False)[0]
    _check_length(labels, n_points(X))
    return labels


def replicates(
    fit: Fit, X: Points, resample: str, count: int, rng: np.random.Generator
) -> Iterator[Replicate]:
    """``count`` clusterings of resamples of the points; halves come in disjoint pairs."""
    n = n_points(X)
    for child, rows in zip(rng.spawn(count), _resamples(resample, n, count, rng), strict=True):
        counts = np.bincount(rows, minlength=n).astype(np.float64)
        chosen = take_rows(X, rows) if resample not in ("seeds", "noise") else X
        if resample == "noise":
            spread = np.std(np.asarray(X), axis=0)
            chosen = X + _NOISE * spread * child.standard_normal(np.shape(X))
        labels, predict = fit(chosen, child, reseed=True)
        _check_length(labels, len(rows))
        found, names, _ = encode_labels(labels, DEFAULT_NOISE)
        codes, known = np.full(n, -1), counts > 0
        codes[rows] = found
        outside = np.flatnonzero(~known)
        if predict is not None and len(outside):
            number = {name: i for i, name in enumerate(names)}
            # Predicted labels that the fit did not give, such as noise, are no clusters.
            predicted = np.asarray(predict(take_rows(X, outside))).tolist()
            codes[outside] = [number.get(label, -1) for label in predicted]
            known = np.ones(n, dtype=bool)
        yield Replicate(counts, codes, known, len(names))


def _resamples(resample: str, n: int, count: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Rows of each resample, one for each of ``count`` replicates."""
    order = np.arange(n)
    for number in range(count):
        if resample == "halves":
            if number % 2 == 0:
                order = rng.permutation(n)
            yield np.sort(order[: n // 2] if number % 2 == 0 else order[n // 2 :])
        elif resample == "bootstrap":
            yield np.sort(rng.integers(0, n, n))
        elif resample == "subsample":
            yield np.sort(rng.permutation(n)[: max(1, round(_SUBSAMPLE * n))])
        else:
            yield order


def _check_length(labels: Any, n: int) -> None:
    if np.ndim(labels) != 1 or len(labels) != n:
        raise ValueError(
            f"the clusterer returned labels of shape {np.shape(labels)} for {n} points; it must "
            "return one label for each"
        )
