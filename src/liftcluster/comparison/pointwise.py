"""Where two partitions differ: a distance for each point."""

from __future__ import annotations

import numpy as np

from .._util.typing import FloatArray
from ..partitions.partition import Partition

_BLOCK = 100_000  # rows of soft memberships at a time


def point_distances(a: Partition, b: Partition, D: FloatArray) -> FloatArray:
    """(n,) mean of the distances D over the clusters of each point; NaN for noise in either."""
    known = a.is_clustered & b.is_clustered
    found = np.full(a.n, np.nan)
    if a.is_hard and b.is_hard:
        found[known] = D[a.assignment[known], b.assignment[known]]
        return found
    R, S = a.memberships, b.memberships
    for start in range(0, a.n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        found[rows] = np.asarray(R[rows].multiply(S[rows] @ D.T).sum(axis=1)).ravel()
    found[~known] = np.nan
    return found


def distances_moved(a: Partition, plan: FloatArray, D: FloatArray) -> FloatArray:
    """(n,) mean distance that the mass of each point's cluster moves by a plan; NaN for noise."""
    moved = (plan * D).sum(axis=1) / plan.sum(axis=1)
    found = np.asarray(a.memberships @ moved)
    found[~a.is_clustered] = np.nan
    return found
