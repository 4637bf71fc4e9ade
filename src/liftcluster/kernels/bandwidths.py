"""Bandwidth rules, computed on a sample of the points."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from .._util.arrays import to_numpy
from .._util.checks import check_bandwidth_rule, check_choice, check_count
from .._util.typing import FloatArray, RngLike
from .._util.validation import as_points, make_rng
from .distances import pairwise_distances
from .summary import take_rows

_KEPT_SAMPLES, _KEPT_BYTES = 16, 2**16  # whose bandwidths are remembered, at most
_MANY_FEATURES = 64  # for which a matrix product is faster than differences of all pairs


def bandwidth(
    X: Any,
    rule: str = "median",
    rng: RngLike = 0,
    *,
    n_sample: int = 1000,
    metric: str = "euclidean",
    n_total: int | None = None,
) -> float:
    r"""A bandwidth for the points X by a rule, from at most ``n_sample`` of them.

    =============  ====================================================================
    ``median``     median distance between two points
    ``mean``       mean distance between two points
    ``scale``      :math:`\sqrt{\sum_j \operatorname{var}_j / 2}`: scikit-learn's gamma="scale"
                   (up to the pooling of the columns) as a bandwidth
    ``scott``      :math:`n^{-1/(d+4)}` times the root mean square deviation of a coordinate
    ``silverman``  the same times :math:`(4/(d+2))^{1/(d+4)}`
    =============  ====================================================================

    A factor may follow, as in ``"median/4"`` or ``"mean*2"``. If most points coincide, pairs at
    distance zero are left out; if all do, every bandwidth gives the same kernel and the result
    is 1.

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    rule : str, default "median"
        One of the names above, optionally with a factor.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
        It chooses the sample if there are more than ``n_sample`` points.
    n_sample : int, default 1000
        Maximal size of the sample, at least 2.
    metric : "euclidean" or "cityblock", default "euclidean"
        Distance of ``median`` and ``mean``.
    n_total : int, optional
        Number of all points, if X is only a sample of them; for ``scott`` and ``silverman``.

    Returns
    -------
    float
        The bandwidth.

    See Also
    --------
    bandwidth_profile : A distance over a range of bandwidths.
    Gaussian : A kernel with a bandwidth.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.bandwidth([[0.0], [1.0], [3.0]])  # of 1, 2 and 3
    2.0
    >>> lc.bandwidth([[0.0], [1.0], [3.0]], "median/4")
    0.5
    """
    check_bandwidth_rule(rule)
    check_choice(metric, ("euclidean", "cityblock"), "metric")
    points = as_points(X, device=True)
    n, size = points.shape[0], check_count(n_sample, "n_sample", least=2)
    if n > size:
        rows = np.sort(make_rng(rng).choice(n, size, replace=False))
        points = take_rows(points, rows)
    # In main memory, so that all devices give the same number.
    sample = np.asarray(to_numpy(points), dtype=np.float64)
    n = n if n_total is None else n_total
    if sample.nbytes > _KEPT_BYTES:
        return _by_rule(sample, rule, n, metric)
    return _known_by_rule(sample.tobytes(), sample.shape, rule, n, metric)


@lru_cache(_KEPT_SAMPLES)
def _known_by_rule(data: bytes, shape: tuple[int, int], rule: str, n: int, metric: str) -> float:
    """The same for few points, which a loop over clusterings of them gives again and again."""
    return _by_rule(np.frombuffer(data).reshape(shape), rule, n, metric)


def _by_rule(sample: FloatArray, rule: str, n: int, metric: str) -> float:
    base, factor = check_bandwidth_rule(rule)
    # Coordinates of size 1e300 or 1e-300 would over- or underflow when squared.
    with np.errstate(over="ignore"):
        offsets = sample - sample[0]
        unit = float(np.abs(offsets).max())
    if unit == 0:
        return 1.0
    if not np.isfinite(unit):
        raise ValueError("points lie too far apart: their differences overflow; rescale them")
    width = unit * factor * _RULES[base](offsets / unit, n, metric)
    if not (np.isfinite(width) and width > 0):
        raise ValueError(f"rule {rule!r} gives a bandwidth of {width}; rescale the points")
    return float(width)


def _pair_distances(Z: FloatArray, metric: str) -> FloatArray:
    if metric == "euclidean" and Z.shape[1] > _MANY_FEATURES:
        pairs = np.concatenate([row[i + 1 :] for i, row in enumerate(pairwise_distances(Z, Z))])
    else:
        pairs = pdist(Z, metric)
    n_nonzero = np.count_nonzero(pairs)
    return pairs if n_nonzero * 2 > len(pairs) else pairs[pairs > 0]


def _median(Z: FloatArray, n: int, metric: str) -> float:
    """As numpy.median, which also looks for NaN, and places two numbers, which takes longer."""
    pairs = _pair_distances(Z, metric)
    middle = len(pairs) // 2
    pairs.partition(middle)
    lower = pairs[middle] if len(pairs) % 2 else pairs[:middle].max()
    return float((lower + pairs[middle]) / 2)


def _mean(Z: FloatArray, n: int, metric: str) -> float:
    return float(np.mean(_pair_distances(Z, metric)))


def _scale(Z: FloatArray, n: int, metric: str) -> float:
    return float(np.sqrt(Z.var(axis=0).sum() / 2))


def _scott(Z: FloatArray, n: int, metric: str) -> float:
    return float(np.sqrt(Z.var(axis=0).mean()) * n ** (-1 / (Z.shape[1] + 4)))


def _silverman(Z: FloatArray, n: int, metric: str) -> float:
    d = Z.shape[1]
    return _scott(Z, n, metric) * float((4 / (d + 2)) ** (1 / (d + 4)))


_RULES = {
    "median": _median,
    "mean": _mean,
    "scale": _scale,
    "scott": _scott,
    "silverman": _silverman,
}
