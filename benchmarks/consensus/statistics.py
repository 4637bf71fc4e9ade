"""Statistics of scores over data sets: means, ranks, wins and losses, and their significance.

Arrays of scores have the axes (rows, sets) or (rows, sets, kinds of inputs); larger is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, studentized_range, wilcoxon

from .ensembles import ANNOTATORS, ENSEMBLES, FROM_POINTS

__all__ = [
    "GROUPS",
    "TIE",
    "Comparison",
    "compare",
    "family_means",
    "group_means",
    "holm",
    "mean_ranks",
    "nemenyi",
]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "from points": tuple(FROM_POINTS),
    "annotators": tuple(ANNOTATORS),
    "all six": tuple(ENSEMBLES),
}
TIE = 0.005


def group_means(scores: np.ndarray, kinds: Sequence[str]) -> dict[str, np.ndarray]:
    """(rows, sets) means over the kinds of inputs of each group."""
    return {
        group: scores[:, :, [list(kinds).index(kind) for kind in members]].mean(axis=2)
        for group, members in GROUPS.items()
    }


def family_means(scores: np.ndarray, families: Sequence[str]) -> dict[str, np.ndarray]:
    """(rows,) means over the sets of each family, of scores (rows, sets)."""
    each = np.asarray(families)
    return {family: scores[:, each == family].mean(axis=1) for family in dict.fromkeys(families)}


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """(rows,) mean over sets of the rank of each row; 1 is best, ties get the mean rank."""
    return rankdata(-scores, axis=0).mean(axis=1)


def nemenyi(k: int, n: int) -> float:
    """Smallest significant difference of mean ranks at 5 %, for k rows on n sets."""
    q = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


@dataclass(frozen=True)
class Comparison:
    """One row compared with another, over data sets.

    Attributes
    ----------
    other : str
    wins, ties, losses : int
        Numbers of sets on which the score is larger, within ``TIE``, or smaller.
    difference : float
        Mean difference of the scores.
    p : float
        Of Wilcoxon's signed-rank test (two-sided), corrected by Holm for all rows compared.
    """

    other: str
    wins: int
    ties: int
    losses: int
    difference: float
    p: float


def compare(scores: np.ndarray, rows: Sequence[str], name: str) -> list[Comparison]:
    """The named row compared with each other row, from scores (rows, sets)."""
    own = scores[list(rows).index(name)]
    others = [
        (row, (own - values).round(9))  # means over seeds and kinds differ by rounding
        for row, values in zip(rows, scores, strict=True)
        if row != name
    ]
    p_values = holm([_signed_rank(difference) for _, difference in others])
    return [
        Comparison(
            row,
            wins=int((difference > TIE).sum()),
            ties=int((abs(difference) <= TIE).sum()),
            losses=int((difference < -TIE).sum()),
            difference=float(difference.mean()),
            p=p,
        )
        for (row, difference), p in zip(others, p_values, strict=True)
    ]


def _signed_rank(differences: np.ndarray) -> float:
    """p-value of Wilcoxon's test without differences of zero; 1 if there are no others."""
    different = differences[differences != 0]
    return float(wilcoxon(different).pvalue) if len(different) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number by Holm's step-down method."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted.tolist()
