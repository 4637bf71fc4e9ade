"""Pairs of points that partitions judge differently: counts, the cost of a consensus, its bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import add_up, row_blocks
from ..._util.typing import Array, FloatArray, IntArray
from .agreements import by_inputs, count_agreements
from .tuples import LabelTuples

# Tuples whose pairs are all compared for the lower bound: up to here that takes half a minute.
MOST_COMPARED = 2**16
_ROUNDING = 1e-12  # sums of squares of the weight differ by this share of it


@dataclass(frozen=True)
class Aggregation:
    r"""The cost of a consensus by clustering aggregation, and the least that any could have.

    .. math:: \text{cost} = \sum_{u < v} w_u w_v \begin{cases}
              X_{uv} & u, v \text{ together} \\ 1 - X_{uv} & u, v \text{ apart}\end{cases}
              \;\ge\; \sum_{u < v} w_u w_v \min(X_{uv}, 1 - X_{uv})

    with X the share of the inputs that separate two points: the cost is the number of pairs on
    which an input and the consensus disagree, on average over the inputs. Where labels are missing,
    1 − X is the share of the inputs that join them, and an input counts only pairs that it labels.

    Attributes
    ----------
    cost : float
    lower_bound : float or None
        No clustering has a smaller cost, and in general none reaches it. None where there are too
        many different tuples of labels to compare all pairs of them.
    """

    cost: float
    lower_bound: float | None

    @property
    def ratio(self) -> float | None:
        """Cost over the lower bound: at most so many times the cost of the best clustering.

        1 where both are 0, None without a bound.
        """
        if self.lower_bound is None:
            return None
        if self.lower_bound == 0:
            return 1.0 if self.cost == 0 else np.inf
        return self.cost / self.lower_bound

    def __str__(self) -> str:
        text = f"disagrees with an input on {_count(self.cost)} pairs on average"
        if self.lower_bound is None:
            return (
                f"{text} (no lower bound: more than {MOST_COMPARED:,} different tuples of labels)"
            )
        return f"{text}, and every clustering on at least {_count(self.lower_bound)}"


def _count(pairs: float) -> str:
    return f"{pairs:,.0f}" if pairs >= 1000 else f"{pairs:.4g}"


def aggregation_of(tuples: LabelTuples, found: IntArray) -> Aggregation:
    """Cost and lower bound of the clusters of the tuples."""
    bound = lower_bound(tuples) if tuples.t <= MOST_COMPARED else None
    return Aggregation(cost_of(tuples, found), bound)


def cost_of(tuples: LabelTuples, found: IntArray) -> float:
    r"""Weight of the pairs on which an input and clusters of the tuples disagree; mean over inputs.

    .. math:: \frac1m \sum_i \frac12 \Bigl(\sum_c n_c^2 + \sum_C n_C^2 - 2 \sum_{cC} n_{cC}^2\Bigr)

    with the weights n_c of the clusters of input i, n_C of the consensus within what i labels, and
    n_cC of both. O(t m) time; every cluster of ``found`` counts, from zero up.
    """
    k, total = int(found.max()) + 1, 0.0
    for codes, size in zip(tuples.codes.T, tuples.sizes, strict=True):
        rows = slice(None) if codes.min() >= 0 else np.flatnonzero(codes >= 0)
        total += _disagreement(codes[rows], int(size), found[rows], k, tuples.weights[rows])
    cost = total / tuples.m
    return cost if cost > _ROUNDING * tuples.weights.sum() ** 2 else 0.0


def _disagreement(a: IntArray, k_a: int, b: IntArray, k_b: int, w: FloatArray) -> float:
    """Weight of the pairs that two clusterings judge differently."""
    if k_a * k_b > 4 * len(a):  # only the cells that are not empty
        keys, where = np.unique(a * k_b + b, return_inverse=True)
        i, j = np.divmod(keys, k_b)
        shared = add_up(w, where, len(keys))
    else:
        i, j = np.divmod(np.arange(k_a * k_b), k_b)
        shared = add_up(w, a * k_b + b, k_a * k_b)
    # Each term is positive, so that nearly equal partitions keep their digits.
    apart = (add_up(w, a, k_a)[i] - shared) + (add_up(w, b, k_b)[j] - shared)
    return float(shared @ apart) / 2


def lower_bound(tuples: LabelTuples) -> float:
    """Σ min(X, 1 − X) over all pairs of points, in O(t² m) time by blocks of rows."""
    codes = by_inputs(tuples.codes)
    w, total = tuples.weights, 0.0
    for rows in row_blocks(tuples.t, tuples.t):
        later = slice(rows.start, None)
        agree, known = count_agreements(codes[:, rows], codes[:, later])
        fewer = np.minimum(agree, known - agree)
        own = rows.stop - rows.start  # pairs within the block come twice
        sums = fewer[:, own:] @ w[rows.stop :] + fewer[:, :own] @ w[rows] / 2
        total += float(w[rows] @ sums)
    return total / tuples.m


def separations(a: IntArray, b: IntArray) -> Array:
    """(p, q) 2 m X, an integer: twice the number of partitions that separate two tuples.

    A partition that lacks a label of one of them counts as half of one that separates.
    """
    agree, known = count_agreements(a, b)
    return np.asarray(len(a) + known.astype(np.int32) - 2 * agree.astype(np.int32))


def joined_by_most(a: IntArray, b: IntArray) -> Array:
    """(p, q) whether more than half of the partitions that label both join two tuples: X < ½."""
    agree, known = count_agreements(a, b)
    return np.asarray(agree > known // 2)
