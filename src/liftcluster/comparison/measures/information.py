"""Distances between partitions from the entropies of their labels."""

from __future__ import annotations

import numpy as np
from scipy.special import kl_div

from ..._util.typing import Array, FloatArray, IntArray
from ...partitions.contingency import Contingency

__all__ = ["ami", "nmi", "nvi", "vi"]

_TAIL = 60.0  # overlaps that chance gives a probability below e^-60 are not summed over
_WIDE = 2**13  # overlaps, above which their series is as exact as their sum
_CHUNK = 2**18  # terms of the expected information at a time


def vi(overlap: Contingency) -> float:
    r"""Variation of information: what each partition leaves unsaid about the other, in nats.

    .. math:: H(A|B) + H(B|A) = \sum_{ij} p_{ij}
              \Bigl(\log \frac{p_i}{p_{ij}} + \log \frac{p_j}{p_{ij}}\Bigr)

    with p_ij = n_ij / n the joint distribution of the two labels of a point.

    In [0, log n] for n unweighted points, and a metric on hard partitions. Noise: points that
    are noise in either partition are left out. Soft memberships: p_ij is the joint distribution
    when each point draws its two labels by themselves, so a soft partition is not at distance 0
    from itself. Any weights.

    References
    ----------
    Meilă (2007), Comparing clusterings: an information based distance. Journal of Multivariate
    Analysis 98.

    Examples
    --------
    Two labels that know nothing of each other, one bit each: 2 log 2 = 1.386...

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 0, 1])
    >>> round(vi(contingency(a, b)), 6)
    1.386294
    """
    i, j, m = overlap.cells
    unsaid = _log_ratio(overlap.rows[i], m) + _log_ratio(overlap.columns[j], m)
    return float(m @ unsaid / overlap.total)


def nvi(overlap: Contingency) -> float:
    r"""Variation of information over the joint entropy.

    .. math:: \frac{H(A|B) + H(B|A)}{H(A, B)} = 1 - \frac{I(A; B)}{H(A, B)}

    In [0, 1], and a metric on hard partitions. The joint entropy is 0 only when both partitions
    are one cluster; these are equal: 0. Noise: points that are noise in either partition are
    left out. Soft memberships: the joint distribution is that of labels each drawn by itself, so
    a soft partition is not at distance 0 from itself. Any weights.

    References
    ----------
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison. JMLR 11.

    Examples
    --------
    The second partition splits a cluster of the first: H(B) = 1.5 bits, of which A says one.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 1, 2])
    >>> round(nvi(contingency(a, b)), 6)
    0.333333
    """
    joint = _entropy(overlap.cells[2], overlap.total)
    return min(vi(overlap) / joint, 1.0) if joint else 0.0


def nmi(overlap: Contingency) -> float:
    r"""One minus the mutual information over the mean of the two entropies.

    .. math:: 1 - \frac{I(A; B)}{(H(A) + H(B)) / 2} = \frac{H(A|B) + H(B|A)}{H(A) + H(B)}

    In [0, 1]. Not a metric: the triangle inequality fails from three points on. Two partitions
    of one cluster have no entropy and are equal: 0. Noise: points that are noise in either
    partition are left out. Soft memberships: the joint distribution is that of labels each drawn
    by itself, so a soft partition is not at distance 0 from itself. Any weights.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles. JMLR 3. (There with the geometric mean; the
    arithmetic one is scikit-learn's.)

    Examples
    --------
    H(A) = 1 bit, H(B) = 1.5 bits, and A says one bit of B: 1 − 1 / 1.25.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 1, 2])
    >>> round(nmi(contingency(a, b)), 6)
    0.2
    """
    entropies = _entropy(overlap.rows, overlap.total) + _entropy(overlap.columns, overlap.total)
    return min(vi(overlap) / entropies, 1.0) if entropies else 0.0


def ami(overlap: Contingency) -> float:
    r"""One minus the mutual information adjusted for chance.

    .. math:: 1 - \frac{I(A; B) - E}{(H(A) + H(B)) / 2 - E}
              = \frac{(H(A|B) + H(B|A)) / 2}{(H(A) + H(B)) / 2 - E}

    with E the mean of I(A; B) when chance deals the points out and keeps the cluster sizes.

    At least 0: 0 for equal partitions, 1 on average for random ones, more for those that say
    less of each other than random ones. Not a metric: the triangle inequality fails from four
    points on. Nothing is to be expected where both partitions are one cluster, or both single
    points; these are equal: 0. Noise: points that are noise in either partition are left out.
    Hard partitions with whole-number weights only.

    References
    ----------
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison. JMLR 11.

    Examples
    --------
    Of the three ways to deal four points out in two pairs, one repeats the first partition (one
    bit) and two say nothing, so E = 1/3 bit; here I = 0: 1 − (0 − 1/3) / (1 − 1/3).

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 0, 1])
    >>> round(ami(contingency(a, b)), 6)
    1.5
    """
    if not overlap.is_counts:
        raise ValueError(
            "ami deals numbers of points out at random, so it needs hard partitions and weights "
            "that are whole numbers; use nmi or vi, or harden() the partitions"
        )
    unsaid = vi(overlap)
    if not unsaid:
        return 0.0
    entropies = _entropy(overlap.rows, overlap.total) + _entropy(overlap.columns, overlap.total)
    return unsaid / (entropies - 2 * _expected_information(overlap.rows, overlap.columns))


def _log_ratio(whole: Array | float, part: Array) -> FloatArray:
    """log(whole / part) ≥ 0, to full precision also where the part is nearly the whole."""
    return np.log1p(np.maximum(whole - part, 0) / part)  # a sum of floats may miss by a bit


def _entropy(sizes: Array, total: float) -> float:
    return float(sizes @ _log_ratio(total, sizes) / total)


def _expected_information(rows: IntArray, columns: IntArray) -> float:
    r"""Mean of the mutual information over all ways to deal points out, cluster sizes kept.

    .. math:: E = \frac1n \sum_{ij} \mathbb{E}\bigl[ X \log (X / μ) - X + μ \bigr], \quad
              X \sim \mathrm{Hypergeometric}(n, n_i, n_j), \ μ = n_i n_j / n

    Vinh, Epps, Bailey (2010) write X log(X/μ); what is added has mean zero and makes no term
    negative, so nothing cancels.
    """
    n = int(rows.sum())
    a, times_a = np.unique(rows, return_counts=True)
    b, times_b = np.unique(columns, return_counts=True)
    if len(a) > len(b):  # one pass for each size of the side that has fewer of them
        a, times_a, b, times_b = b, times_b, a, times_a
    total = 0.0
    for size, times in zip(a.tolist(), times_a.tolist(), strict=True):
        total += times * float(times_b @ _cell_information(float(size), b.astype(np.float64), n))
    return total / n


def _cell_information(a: float, b: FloatArray, n: int) -> FloatArray:
    """E[X log(X/μ) − X + μ] for a cluster of size a and each one of the sizes b."""
    low, high = _likely_overlaps(a, b, n)
    information = np.empty_like(b)
    wide = high - low >= _WIDE
    information[wide] = _information_of_many(a, b[wide], n)
    # Sizes whose ranges are about equally wide share a rectangular array of terms.
    width_class = np.frexp(high - low + 1)[1]  # width ≤ 2^class
    for exponent in np.unique(width_class[~wide]).tolist():
        members = np.flatnonzero(width_class == exponent)
        step = max(1, _CHUNK >> exponent)
        for start in range(0, len(members), step):
            m = members[start : start + step]
            x = low[m, None] + np.arange((high - low)[m].max() + 1)
            P = _overlap_probabilities(x, a, b[m, None], n, high[m, None])
            information[m] = (P * kl_div(x, a * b[m, None] / n)).sum(axis=1)
    return information


def _information_of_many(a: float, b: FloatArray, n: int) -> FloatArray:
    """The same where overlaps vary by thousands: X log(X/μ) − X + μ as a series in X − μ.

    Its fourth moment is taken for that of a normal variable, and higher ones are left out, which
    costs a share of about 1/μ². So there may be as many points as float64 can count.
    """
    mean = a * b / n
    variance = mean * (1 - a / n) * (n - b) / (n - 1)
    third = variance * (1 - 2 * a / n) * (1 - 2 * b / n)
    return np.asarray(variance / (2 * mean) - third / (6 * mean**2) + variance**2 / (4 * mean**3))


def _likely_overlaps(a: float, b: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """The range that an overlap leaves with probability below 2 e^-60, by Bernstein's inequality.

    Dealing without replacement spreads no more than dealing with it does (Hoeffding 1963).
    """
    mean = a * b / n
    variance = mean * (1 - np.maximum(a, b) / n)
    reach = _TAIL / 3 + np.sqrt(_TAIL**2 / 9 + 2 * _TAIL * variance)
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - reach))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach))
    return low, high


def _overlap_probabilities(
    x: FloatArray, a: float, b: FloatArray, n: int, high: FloatArray
) -> FloatArray:
    """Hypergeometric probabilities of the overlaps x ≤ high in each row, zero beyond.

    From the ratios of neighbours, not from log-gammas: those of n = 10^8 have lost seven digits.
    """
    inside = x < high
    step_up = (a - x) * (b - x) / ((x + 1) * (n - a - b + x + 1))
    log_ratio = np.log(np.where(inside, step_up, 1))
    log_P = np.zeros_like(x)
    np.cumsum(log_ratio[:, :-1], axis=1, out=log_P[:, 1:])
    P = np.where(x <= high, np.exp(log_P - log_P.max(axis=1, keepdims=True)), 0)
    return P / P.sum(axis=1, keepdims=True)
