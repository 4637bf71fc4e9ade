"""Few objects that stand for many, from the distances between all of them."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from .._util.typing import FloatArray, IntArray

_ROUNDING = 1e-9  # relative to the largest distance
_MOST_SETS = 10_000  # among which the best medoids are found by trying all


def farthest_first(D: FloatArray, r: int) -> IntArray:
    """Positions of r of the objects, each the farthest from those before it."""
    positions = [int(D.sum(axis=1).argmin())]
    distances = D[positions[0]].copy()
    while len(positions) < r:
        distances[positions[-1]] = -1.0  # none twice, also among equal ones
        positions.append(int(distances.argmax()))
        distances = np.minimum(distances, D[positions[-1]])
    return np.array(positions)


def medoids(D: FloatArray, r: int) -> IntArray:
    """Positions of r of the objects with the least mean distance, or that no exchange improves."""
    if math.comb(len(D), r) <= _MOST_SETS:
        every = (np.array(chosen) for chosen in combinations(range(len(D)), r))
        return min(every, key=lambda positions: _cost(D, positions))
    return exchanged_medoids(D, r)


def exchanged_medoids(D: FloatArray, r: int) -> IntArray:
    """Positions of r of the objects that no exchange of one of them improves."""
    starts = [farthest_first(D, r), _greedy(D, r)]
    found = [_exchange(D, positions) for positions in starts]
    return min(found, key=lambda positions: _cost(D, positions))


def _cost(D: FloatArray, positions: IntArray) -> float:
    return float(D[:, positions].min(axis=1).sum())


def _greedy(D: FloatArray, r: int) -> IntArray:
    """Positions of r of the objects, each reducing the sum of distances most."""
    positions: list[int] = []
    distances = np.full(len(D), np.inf)
    for _ in range(r):
        costs = np.minimum(distances[:, None], D).sum(axis=0)
        costs[positions] = np.inf
        positions.append(int(costs.argmin()))
        distances = np.minimum(distances, D[:, positions[-1]])
    return np.array(positions)


def _exchange(D: FloatArray, positions: IntArray) -> IntArray:
    """The best exchange of one of them for another object, again and again until none is better."""
    positions, cost = positions.copy(), _cost(D, positions)
    slack = _ROUNDING * max(float(D.max()), 0.0)
    while True:
        best = cost, 0, 0
        for i in range(len(positions)):
            others = np.delete(positions, i)
            left = D[:, others].min(axis=1, initial=np.inf)
            costs = np.minimum(left[:, None], D).sum(axis=0)
            costs[others] = np.inf
            best = min(best, (float(costs.min()), i, int(costs.argmin())))
        if best[0] >= cost - slack:
            return positions
        cost, positions[best[1]] = best[0], best[2]
