r"""Clustering aggregation: the clustering with the fewest disagreements with all inputs.

With X the share of the inputs that separate two points, all methods look for clusters of least

.. math:: \sum_{u, v \text{ together}} X_{uv} + \sum_{u, v \text{ apart}} (1 - X_{uv})

whatever their number. An input that lacks the label of u or v counts half for either, as in the
paper, so that X keeps the triangle inequality. Points with equal labels in all inputs are together
in a best clustering; so the methods cluster tuples of labels, weighted by their points, and return
the (t,) cluster of each. ``disagreements`` has the cost and its lower bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import row_blocks
from ..._util.checks import check_positive
from ..._util.typing import IntArray, RngLike
from .agreements import CountedSimilarities, by_inputs
from .disagreements import cost_of, separations
from .linkage import average_linkage_above
from .local_search import (
    best_input,
    check_table_fits,
    improve,
    rows_of_table,
    total_separation,
)
from .tuples import LabelTuples, by_first_appearance, cluster_known

_MOST_LINKED = 16_000  # tuples: without compiled code the matrix takes 2 GB, linkage half a minute
_ALSO_LINKED = 2000  # tuples of which local_search tries the linkage, too
_DIGITS = 12  # to which means of separations are rounded
_ROUNDING = 1e-12  # changes of sums of squares of the weight are larger shares of it


def balls(
    tuples: LabelTuples, k: int | None = None, *, alpha: float = 0.4, rng: RngLike = None
) -> IntArray:
    r"""Clusters around points, if the points nearby are near on average.

    Points are visited by increasing Σ X. The free points within X ≤ ½ of one form a cluster with it
    if their mean X is at most α; otherwise it is a cluster alone. (Points with equal labels are
    one here, and do not count in the mean.)

    For α = ¼ the cost is at most 3 times that of the best clustering, where no labels are missing.
    O(t k m) time for k clusters, O(t m) memory.

    Parameters
    ----------
    tuples : LabelTuples
        As for ``evidence``.
    k, rng : ignored
        Accepted so that all methods have the same signature.
    alpha : float
        α; the authors advise ⅖, and prove the factor for ¼.

    References
    ----------
    Gionis, Mannila, Tsaparas: Clustering aggregation (ACM TKDD 2007), doi:10.1145/1217299.1217303.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]
    >>> found = lc.consensus(inputs, "auto", method="balls")
    >>> found.labels.tolist(), found.aggregation.lower_bound  # the example of the paper
    ([0, 1, 0, 1, 2, 2], 1.6666666666666667)
    """
    alpha = check_positive(alpha, "alpha")
    return _cluster_in_order(tuples, lambda part: _take_balls(part, alpha))


def agglomerative(tuples: LabelTuples, k: int | None = None, *, rng: RngLike = None) -> IntArray:
    r"""Average linkage: merge clusters while their mean X is below ½, the smallest first.

    Every merge lowers the cost. O(t² m) time and 8 t² bytes for at most 16,000 tuples; an error
    for more.

    Parameters
    ----------
    tuples, k, rng
        As for :func:`balls`.

    References
    ----------
    Gionis, Mannila, Tsaparas: Clustering aggregation (ACM TKDD 2007), doi:10.1145/1217299.1217303.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]
    >>> lc.consensus(inputs, "auto", method="agglomerative").labels.tolist()
    [0, 1, 0, 1, 2, 2]
    """
    return _cluster_in_order(tuples, _link)


def furthest(tuples: LabelTuples, k: int | None = None, *, rng: RngLike = None) -> IntArray:
    r"""Furthest-first traversal: add the furthest point as a centre while the cost falls.

    From one cluster of all points to the two points of the largest X, and on with the point whose
    smallest X to a centre is largest; each point is in the cluster of its nearest centre (the
    first of several). O(t m) time for each centre, up to O(t² m) to find the first two, and
    O(t m + s k) memory for k clusters of the result.

    Parameters
    ----------
    tuples, k, rng
        As for :func:`balls`.

    References
    ----------
    Gionis, Mannila, Tsaparas: Clustering aggregation (ACM TKDD 2007), doi:10.1145/1217299.1217303.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1]]
    >>> lc.consensus(inputs, "auto", method="furthest").labels.tolist()
    [0, 0, 1, 1]
    """
    return _cluster_in_order(tuples, _traverse)


def local_search(tuples: LabelTuples, k: int | None = None, *, rng: RngLike = None) -> IntArray:
    r"""Move points to where the cost falls most, and merge clusters, until it falls no more.

    A point v costs :math:`M(v, C) = |C| - \frac2m \sum_i |C ∩ C_i(v)|` in a cluster C, and nothing
    in one of its own, so that contingency tables suffice: O(t m k) time a sweep, and O(s k) memory
    besides the labels, for s clusters of the inputs and k of the result. All points with the same
    labels move together.

    It starts from the input of the smallest cost, and for up to 2,000 tuples from
    :func:`agglomerative` as well, and returns the better result. So where no labels are missing
    the cost is at most 2 (1 − 1/m) times that of the best clustering.

    Parameters
    ----------
    tuples, k, rng
        As for :func:`balls`.

    References
    ----------
    Gionis, Mannila, Tsaparas: Clustering aggregation (ACM TKDD 2007), doi:10.1145/1217299.1217303.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]
    >>> found = lc.consensus(inputs, "auto", method="local_search")
    >>> found.labels.tolist(), found.aggregation.cost
    ([0, 1, 0, 1, 2, 2], 1.6666666666666667)
    """
    return _cluster_in_order(tuples, _search)


def _cluster_in_order(tuples: LabelTuples, cluster: Callable[[LabelTuples], IntArray]) -> IntArray:
    """The consensus, with tuples that are tried first of several equal ones by their weight.

    Then by their mean X to all points: X has few values, and the order of the points and the names
    of labels should not decide between those.
    """

    def cluster_ordered(known: LabelTuples) -> IntArray:
        order = np.lexsort([np.round(total_separation(known), _DIGITS), -known.weights])
        ordered = LabelTuples(
            known.codes[order], np.arange(known.t), known.weights[order], known.sizes
        )
        found = np.empty(known.t, dtype=np.int64)
        found[order] = cluster(ordered)
        return by_first_appearance(found)[1]

    return cluster_known(tuples, cluster_ordered)


def _take_balls(tuples: LabelTuples, alpha: float) -> IntArray:
    codes, w = by_inputs(tuples.codes), tuples.weights
    found = np.full(tuples.t, -1)
    near, index = codes, np.arange(tuples.t)  # of the free tuples, and of some that were
    for u in np.argsort(np.round(total_separation(tuples), _DIGITS), kind="stable"):
        if found[u] >= 0:
            continue
        free = found[index] < 0
        if 2 * free.sum() < len(index):
            near, index = near[:, free], index[free]
            free = np.ones(len(index), dtype=bool)
        separated = separations(codes[:, [u]], near)[0]
        ball = free & (separated <= tuples.m) & (index != u)
        others = index[ball]
        found[u] = u
        if len(others):
            mean = w[others] @ separated[ball] / w[others].sum() / (2 * tuples.m)
            if round(mean, _DIGITS) <= alpha:
                found[others] = u
    return found


def _link(tuples: LabelTuples) -> IntArray:
    t, m = tuples.t, tuples.m
    instead = 'take method="local_search", which needs none of them'
    if t > _MOST_LINKED:
        raise ValueError(
            f"agglomerative compares all pairs of at most {_MOST_LINKED:,} different tuples of "
            f"labels, and the inputs have {t:,}; {instead}"
        )
    both, agree = np.indices((m + 1, m + 1))
    S = CountedSimilarities(tuples.codes, 1 - (m + both - 2 * agree) / (2 * m), instead)
    return average_linkage_above(S, tuples.weights, 0.5)


def _traverse(tuples: LabelTuples) -> IntArray:
    codes = by_inputs(tuples.codes)
    found = np.zeros(tuples.t, dtype=np.int64)
    if tuples.t == 1:
        return found
    falls = _Splits(tuples)
    first, centre = _furthest_pair(codes)
    nearest = separations(codes[:, [first]], codes)[0]  # to a centre
    nearest[first] = -1  # a centre; its X to itself is not 0 where labels are missing
    for number in range(1, tuples.t):
        to_centre = separations(codes[:, [centre]], codes)[0]
        to_centre[centre] = -1
        moved = np.flatnonzero(to_centre < nearest)
        if not falls.split(moved, found[moved], number):
            break
        found[moved] = number
        nearest[moved] = to_centre[moved]
        centre = int(nearest.argmax())
    return found


class _Splits:
    """The cost of a clustering that gets one cluster more at a time, from those that move there.

    The cost is Σ_C Σ_r f_r T_rC² / 2m, and a constant, for the table T and the factors f of
    ``rows_of_table``.
    """

    def __init__(self, tuples: LabelTuples) -> None:
        rows, self.factors = rows_of_table(tuples)
        self.rows = sp.csr_array(sp.diags_array(tuples.weights) @ rows)
        self.table = np.asarray(self.rows.sum(axis=0))[None, :]  # (clusters, r)
        self.least = _ROUNDING * tuples.m * float(tuples.weights.sum()) ** 2

    def split(self, moved: IntArray, source: IntArray, number: int) -> bool:
        """Move tuples from their clusters to a new one if that lowers the cost; whether it does."""
        old, column = np.unique(source, return_inverse=True)
        one = sp.csr_array((np.ones(len(moved)), (column, np.arange(len(moved)))))
        part = (one @ self.rows[moved]).toarray()  # of each cluster that loses tuples
        new = part.sum(axis=0)
        change = self.factors @ (new**2 + (part * (part - 2 * self.table[old])).sum(axis=0))
        if change > -self.least:
            return False
        if number == len(self.table):
            check_table_fits(self.table.shape[1], 2 * number)
            self.table = np.vstack([self.table, np.zeros_like(self.table)])
        self.table[old] -= part
        self.table[number] = new
        return True


def _furthest_pair(codes: IntArray) -> tuple[int, int]:
    """The two tuples of the largest X, the first of several."""
    best, pair = -1, (0, 1)
    for rows in row_blocks(codes.shape[1], codes.shape[1]):
        separated = separations(codes[:, rows], codes[:, rows.start :])
        np.fill_diagonal(separated, -1)
        if (most := int(separated.max())) > best:
            i, j = np.unravel_index(separated.argmax(), separated.shape)
            best, pair = most, (rows.start + int(i), rows.start + int(j))
        if best == 2 * len(codes):  # no pair is further apart
            break
    return pair


def _search(tuples: LabelTuples) -> IntArray:
    starts = [best_input(tuples)]
    if tuples.t <= _ALSO_LINKED:
        starts.append(_link(tuples))
    found = [improve(tuples, start) for start in starts]
    return min(found, key=lambda codes: cost_of(tuples, codes))
