"""Distances between partitions from the entropies of their labels.

All are functions of the joint distribution p_ij = n_ij / n of the two labels of a point. Points
that are noise in either partition are left out. For soft memberships p_ij is the joint distribution
when every point draws its two labels independently, so the distance of a soft partition to itself
is not 0. Any weights, except for ``ami``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlog1py

from ..._util.typing import Array, FloatArray, IntArray
from ...partitions.contingency import Contingency

_LOG_TAIL = 60.0  # overlaps outside an interval of probability 1 - 2 exp(-60) are not summed
_SERIES_FROM = 2**13  # width of that interval from which a series is as accurate as the sum
_CHUNK = 2**14  # terms of the expected information held at a time: they stay in cache
_CELLS = 2**14  # pairs of cluster sizes at a time
_LARGE_COUNT = 16  # from which Stirling's series has an error of 1e-15
_DEVIATION = 1.4  # number of terms of a sum per standard deviation


def vi(overlap: Contingency) -> float:
    r"""Variation of information: the sum of the two conditional entropies, in nats.

    .. math:: H(A|B) + H(B|A) = \sum_{ij} p_{ij}
              \Bigl(\log \frac{p_i}{p_{ij}} + \log \frac{p_j}{p_{ij}}\Bigr)

    In [0, log n] for n unweighted points, and a metric on hard partitions.

    References
    ----------
    Meilă (2007), Comparing clusterings: an information based distance. Journal of Multivariate
    Analysis 98. doi:10.1016/j.jmva.2006.11.013

    Examples
    --------
    Two independent labels of one bit each: 2 log 2 = 1.386...

    >>> import liftcluster as lc
    >>> round(lc.distance([0, 0, 1, 1], [0, 1, 0, 1], measure="vi"), 6)
    1.386294
    """
    i, j, m = overlap.cells
    conditional = _log_ratio(overlap.rows[i], m) + _log_ratio(overlap.columns[j], m)
    return float(m @ conditional / overlap.total)


def nvi(overlap: Contingency) -> float:
    r"""Variation of information divided by the joint entropy.

    .. math:: \frac{H(A|B) + H(B|A)}{H(A, B)} = 1 - \frac{I(A; B)}{H(A, B)}

    In [0, 1], and a metric on hard partitions; 0 where both partitions are one cluster.

    References
    ----------
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison. JMLR 11.

    Examples
    --------
    The second partition splits a cluster of the first: H(A, B) = H(B) = 1.5 bits, H(A) = 1 bit.

    >>> import liftcluster as lc
    >>> round(lc.distance([0, 0, 1, 1], [0, 0, 1, 2], measure="nvi"), 6)
    0.333333
    """
    joint = _entropy(overlap.cells[2], overlap.total)
    return min(vi(overlap) / joint, 1.0) if joint else 0.0


def nmi(overlap: Contingency) -> float:
    r"""One minus the mutual information divided by the mean of the two entropies.

    .. math:: 1 - \frac{I(A; B)}{(H(A) + H(B)) / 2} = \frac{H(A|B) + H(B|A)}{H(A) + H(B)}

    In [0, 1]; 0 where both partitions are one cluster. Not a metric: the triangle inequality fails
    from three points on.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles. JMLR 3. (There with the geometric mean; the
    arithmetic one is scikit-learn's.)

    Examples
    --------
    H(A) = 1 bit, H(B) = 1.5 bits, I(A; B) = 1 bit: 1 − 1 / 1.25.

    >>> import liftcluster as lc
    >>> round(lc.distance([0, 0, 1, 1], [0, 0, 1, 2], measure="nmi"), 6)
    0.2
    """
    entropies = _entropy(overlap.rows, overlap.total) + _entropy(overlap.columns, overlap.total)
    return min(vi(overlap) / entropies, 1.0) if entropies else 0.0


def ami(overlap: Contingency) -> float:
    r"""One minus the adjusted mutual information.

    .. math:: 1 - \frac{I(A; B) - E}{(H(A) + H(B)) / 2 - E}
              = \frac{(H(A|B) + H(B|A)) / 2}{(H(A) + H(B)) / 2 - E}

    with E the expectation of I(A; B) over random permutations of the points, cluster sizes fixed.

    At least 0: 0 for equal partitions, 1 on average for random ones, more for those that share
    less information than random ones. Not a metric: the triangle inequality fails from four
    points on. Hard partitions with integer weights only.

    References
    ----------
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison. JMLR 11.

    Examples
    --------
    Of the three ways to divide four points into two pairs, one repeats the first partition (one
    bit) and two are independent of it, so E = 1/3 bit; here I = 0: 1 − (0 − 1/3) / (1 − 1/3).

    >>> import liftcluster as lc
    >>> round(lc.distance([0, 0, 1, 1], [0, 1, 0, 1], measure="ami"), 6)
    1.5
    """
    if not overlap.is_counts:
        raise ValueError(
            "ami permutes points at random, so it needs hard partitions and weights that are "
            "integers; use nmi or vi, or harden() the partitions"
        )
    information_distance = vi(overlap)
    if not information_distance:
        return 0.0
    entropies = _entropy(overlap.rows, overlap.total) + _entropy(overlap.columns, overlap.total)
    expected = _expected_information(overlap.rows, overlap.columns)
    return information_distance / (entropies - 2 * expected)


def _log_ratio(whole: Array | float, part: Array) -> FloatArray:
    """log(whole / part) ≥ 0, accurate also where the part is nearly the whole."""
    return np.log1p(np.maximum(whole - part, 0) / part)  # rounding may make part > whole


def _entropy(sizes: Array, total: float) -> float:
    return float(sizes @ _log_ratio(total, sizes) / total)


def _expected_information(rows: IntArray, columns: IntArray) -> float:
    r"""Expectation of the mutual information over random permutations of the points.

    .. math:: E = \frac1n \sum_{ij} \mathbb{E}\bigl[ X \log (X / μ) - X + μ \bigr], \quad
              X \sim \mathrm{Hypergeometric}(n, n_i, n_j), \ μ = n_i n_j / n

    Vinh, Epps, Bailey (2010) write X log(X/μ). The added −X + μ has mean zero and makes all terms
    non-negative, so nothing cancels.
    """
    n = int(rows.sum())
    a, times_a = np.unique(rows, return_counts=True)
    b, times_b = np.unique(columns, return_counts=True)
    total, step = 0.0, max(1, _CELLS // len(b))
    for start in range(0, len(a), step):
        sizes, times = a[start : start + step], times_a[start : start + step]
        every_a = np.repeat(sizes, len(b)).astype(np.float64)
        found = _cell_information(every_a, np.tile(b, len(sizes)).astype(np.float64), n)
        total += float(times @ found.reshape(len(sizes), -1) @ times_b)
    return total / n


def _cell_information(a: FloatArray, b: FloatArray, n: int) -> FloatArray:
    """E[X log(X/μ) − X + μ] for clusters of sizes a and b, one of each."""
    low, high = _overlap_interval(a, b, n)
    deviation = np.sqrt(a * b / n * (1 - a / n) * (1 - b / n))
    by_series = high - low >= _SERIES_FROM
    stride = np.where(_is_inside(low, high, a, b, n), np.floor(deviation / _DEVIATION), 1.0)
    by_stride = ~by_series & (stride > 1)
    information = np.empty_like(b)
    information[by_series] = _cell_information_by_series(a[by_series], b[by_series], n)
    # Cells with about equally many terms share a rectangular array of them.
    length = np.where(by_stride, np.floor((high - low) / np.maximum(stride, 1)), high - low) + 1
    width_class = np.frexp(length)[1]  # length ≤ 2^class
    for chosen, terms in ((by_stride, _strided_terms), (~by_series & ~by_stride, _all_terms)):
        for exponent in np.unique(width_class[chosen]).tolist():
            members = np.flatnonzero(chosen & (width_class == exponent))
            step = max(1, _CHUNK >> exponent)
            for start in range(0, len(members), step):
                m = members[start : start + step]
                interval = low[m, None], high[m, None], stride[m, None]
                x, P = terms(a[m, None], b[m, None], *interval, n, int(length[m].max()))
                mean = (a * b / n)[m, None]
                # log1p of the small difference: X log(X/μ) would lose the digits of X.
                excess = x - mean
                information[m] = (P * (xlog1py(x, excess / mean) - excess)).sum(axis=1)
    return information


def _cell_information_by_series(a: FloatArray, b: FloatArray, n: int) -> FloatArray:
    """The same for large overlaps, by the Taylor series of X log(X/μ) − X + μ in X − μ.

    With the fourth moment of a normal variable and no higher ones: relative error about 1/μ².
    """
    mean = a * b / n
    variance = mean * (1 - a / n) * (n - b) / (n - 1)
    third = variance * (1 - 2 * a / n) * (1 - 2 * b / n)
    return np.asarray(variance / (2 * mean) - third / (6 * mean**2) + variance**2 / (4 * mean**3))


def _overlap_interval(a: FloatArray, b: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Interval that contains the overlap with probability 1 − 2 e⁻⁶⁰, by Bernstein's inequality."""
    # It holds without replacement too: Hoeffding (1963), doi:10.1080/01621459.1963.10500830.
    mean = a * b / n
    variance = mean * (1 - np.maximum(a, b) / n)
    reach = _LOG_TAIL / 3 + np.sqrt(_LOG_TAIL**2 / 9 + 2 * _LOG_TAIL * variance)
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - reach))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach))
    return low, high


def _is_inside(low: FloatArray, high: FloatArray, a: FloatArray, b: FloatArray, n: int) -> Array:
    """Whether all counts of the table stay large, so that probabilities end before any is zero."""
    return np.minimum(np.minimum(low, n - a - b + low), np.minimum(a, b) - high) >= _LARGE_COUNT


def _all_terms(
    a: FloatArray, b: FloatArray, low: FloatArray, high: FloatArray, stride: Any, n: int, size: int
) -> tuple[FloatArray, FloatArray]:
    """Overlaps and their hypergeometric probabilities, one row for each cell, zero beyond high.

    From ratios of successive terms, not from log-gammas, which lose seven digits at n = 10^8.
    """
    x = low + np.arange(size)
    step_up = (a - x) * (b - x) / ((x + 1) * (n - a - b + x + 1))
    log_ratio = np.log(np.where(x < high, step_up, 1))
    log_P = np.zeros_like(x)
    np.cumsum(log_ratio[:, :-1], axis=1, out=log_P[:, 1:])
    return x, _normalised(log_P, x <= high)


def _strided_terms(
    a: FloatArray,
    b: FloatArray,
    low: FloatArray,
    high: FloatArray,
    stride: FloatArray,
    n: int,
    size: int,
) -> tuple[FloatArray, FloatArray]:
    """The same for some of the overlaps, a fraction of a standard deviation apart.

    The sum of a smooth function that vanishes at both ends is its integral, by Poisson's formula up
    to its Fourier transform at 2π / stride: about exp(−2 π² (deviation / stride)²) < 1e-16 here.
    """
    middle = np.floor((low + high) / 2)
    x = middle + stride * (np.arange(size) - size // 2)
    inside = (x >= low) & (x <= high)
    x = np.where(inside, x, middle)
    t = x - middle
    # log P up to a constant, from the four counts of the table, which change by +t or −t.
    counts = ((1, middle), (-1, a - middle), (-1, b - middle), (1, n - a - b + middle))
    log_P = -sum(_log_factorial_ratio(count, sign * t) for sign, count in counts)
    ratio = middle / ((a - middle) * (b - middle)) * (n - a - b + middle)
    return x, _normalised(log_P - t * np.log(ratio), inside)


def _log_factorial_ratio(z: FloatArray, t: FloatArray) -> FloatArray:
    """log((z + t)! / z!) − t log z by Stirling's series, for large counts z and z + t."""
    w = z + t
    correction = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / w**2) / w**2) / w**2) / w
    return (w + 0.5) * np.log1p(t / z) - t + correction  # that of z is a constant of the row


def _normalised(log_P: FloatArray, inside: Array) -> FloatArray:
    P = np.where(inside, np.exp(log_P - log_P.max(axis=1, keepdims=True)), 0)
    return np.asarray(P / P.sum(axis=1, keepdims=True))
