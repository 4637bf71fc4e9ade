"""Nine changes of a clustering, by which docs/choosing/measure.md compares the measures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CENTRES = np.array([[0.0, 0.0], [3.5, 0.0], [0.0, 10.0], [3.5, 10.0]])
SIZE = 100  # points of each cluster


class Case(NamedTuple):
    title: str
    a: np.ndarray  # labels of X
    b: np.ndarray  # labels of Y, or of X without Y
    Y: np.ndarray | None = None


def draw_points(seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal((4 * SIZE, 2))
    return np.repeat(CENTRES, SIZE, axis=0) + noise


def make_cases() -> tuple[np.ndarray, list[Case]]:
    """The points, and the cases with their two clusterings."""
    X, rng = draw_points(0), np.random.default_rng(1)
    a = np.repeat(np.arange(4), SIZE)

    def exchange(i: int, j: int) -> np.ndarray:
        """Ten points of i and ten of j, those nearest to the other cluster, change sides."""
        b = a.copy()
        for own, other in ((i, j), (j, i)):
            members = np.flatnonzero(a == own)
            near = np.linalg.norm(X[members] - CENTRES[other], axis=1).argsort()[:10]
            b[members[near]] = other
        return b

    last = np.flatnonzero(a == 3)
    by_place, at_random, single, noise = a.copy(), a.copy(), a.copy(), a.copy()
    by_place[last[X[last, 1].argsort()[: SIZE // 2]]] = 4
    at_random[rng.choice(last, SIZE // 2, replace=False)] = 4
    single[last[X[last, 0].argmax()]] = 4
    noise[rng.choice(len(a), len(a) // 10, replace=False)] = -1
    return X, [
        Case("1 boundary moves", a, exchange(0, 1)),
        Case("2 far exchange", a, exchange(0, 3)),
        Case("3 split by place", a, by_place),
        Case("4 split at random", a, at_random),
        Case("5 one point alone", a, single),
        Case("6 noise", a, noise),
        Case("7 random labels", a, rng.permutation(a)),
        Case("8 both random", rng.permutation(a), rng.permutation(a)),
        Case("9 other sample", a, a, draw_points(2)),
    ]
