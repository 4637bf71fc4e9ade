"""Where clusterings differ, for the plots of the points: values by pair, or by cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.arrays import from_device
from ..._util.typing import FloatArray, IntArray
from ...comparison.comparison import Comparison, witness_from_scores
from ...kernels.summary import take_rows
from ...representation.representation import Representation

MAX_WITNESSES = 5_000_000  # pairs of clusterings times points, one byte each
MAX_SCORES = 1_500_000  # clusters of all clusterings times points, one byte each
_BLOCK = 20_000  # points per call of scores


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Witness functions at some points, or the scores of clusters that they are computed from.

    m clusterings have m (m - 1) / 2 pairs but only some 10 m clusters, so that with many
    clusterings the page gets the scores, and computes the witness of the selected pair.
    """

    n_points: int  # how many: the first ones of those that are plotted
    of_pairs: dict[tuple[int, int], FloatArray] | None
    of_clusters: list[FloatArray] | None  # (n_points, k) of each clustering


def find_witnesses(
    pairs: Mapping[tuple[int, int], Comparison], rep: Representation, shown: IntArray
) -> Witnesses:
    """Witnesses of all pairs, or scores of all clusters if these are fewer."""
    parts = [rep[i] for i in range(rep.m)]
    n_clusters = sum(p.s for p in parts)
    by_pairs = len(pairs) <= n_clusters
    most = MAX_WITNESSES // len(pairs) if by_pairs else MAX_SCORES // n_clusters
    rows = shown[: max(1, most)]
    V, edges = np.vstack([p.vectors for p in parts]), np.cumsum([p.s for p in parts[:-1]])
    lift: Any = rep.lift
    points = pairs[0, 1].points
    of_pairs = {pair: np.zeros(len(rows)) for pair in pairs} if by_pairs else None
    of_clusters = None if by_pairs else [np.zeros((len(rows), p.s)) for p in parts]
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        X = take_rows(points, rows[block])
        scores = np.split(from_device(lift.scores(X, V)), edges, axis=1)
        if of_clusters is not None:
            for kept, found in zip(of_clusters, scores, strict=True):
                kept[block] = found
        for (i, j), values in (of_pairs or {}).items():
            plan = np.asarray(pairs[i, j].plan)
            values[block] = witness_from_scores(plan, scores[i], scores[j])
    return Witnesses(len(rows), of_pairs, of_clusters)
