"""Colours that colour-blind readers can tell apart, and which cluster gets which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._util.typing import FloatArray

__all__ = ["BLUE", "COLOURS", "MARKERS", "ORANGE", "match_colours"]

# Okabe and Ito's, without black, and grey, which is for noise; the yellow darkened to be seen
# on white. Beyond them colours come again with another marker.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#B8A000",
    "#8C4A2F",
    "#7A5FC7",
)
BLUE, ORANGE = COLOURS[:2]
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def match_colours(sizes: Sequence[int], plans: Sequence[FloatArray | None]) -> list[list[int]]:
    """A number for every cluster of every partition; clusters that are alike have the same.

    The first partition with no plan is the one the others are matched to: their plans (k, k_ref)
    say how much of each cluster went to which of its clusters, and the largest flows come first.
    Clusters without a match have numbers of their own.

    Examples
    --------
    >>> match_colours([2, 2], [None, np.array([[0.1, 0.4], [0.5, 0.0]])])
    [[0, 1], [1, 0]]
    """
    reference = next(i for i, plan in enumerate(plans) if plan is None)
    found = []
    for k, plan in zip(sizes, plans, strict=True):
        if plan is None:
            found.append(list(range(k)))
            continue
        numbers: dict[int, int] = {}
        for flow in np.argsort(-plan, axis=None, kind="stable"):
            i, j = divmod(int(flow), plan.shape[1])
            if plan[i, j] > 0 and i not in numbers and j not in numbers.values():
                numbers[i] = j
        spare = iter(range(sizes[reference], sizes[reference] + k))
        found.append([numbers[i] if i in numbers else next(spare) for i in range(k)])
    return found
