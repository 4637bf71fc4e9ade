"""Where the nodes of a tree of resolutions are drawn: order in each row, and coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._util.typing import FloatArray, IntArray

_LEAST_SHARE = 0.05  # of either cluster that an edge needs to be drawn
_SWEEPS = 12  # down and up, until no crossing is removed any more
_PLACING_SWEEPS = 30
_NOTHING = 1e-300


def order_rows(plans: Sequence[FloatArray]) -> list[IntArray]:
    """For each row the order of its nodes from left to right, such that few edges cross.

    Barycentre sweeps: down and up the rows, the nodes of each row are sorted by the mean position
    of their neighbours in the row before, weighted by mass; then adjacent nodes are exchanged while
    that removes crossings. The best order that occurs is kept.

    Parameters
    ----------
    plans : m − 1 arrays (k, k′)
        Weights of the edges between the nodes of each row and the next; zero if there is none.

    Examples
    --------
    >>> plan = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> [order.tolist() for order in order_rows([plan])]
    [[0, 1], [1, 0]]
    """
    sizes = [plans[0].shape[0], *(plan.shape[1] for plan in plans)]
    orders = [np.arange(k) for k in sizes]
    best, least = list(orders), crossings(plans, orders)
    for _ in range(_SWEEPS):
        for i in range(1, len(sizes)):
            orders[i] = _by_barycentre(orders[i], plans[i - 1].T, orders[i - 1])
        for i in range(len(sizes) - 2, -1, -1):
            orders[i] = _by_barycentre(orders[i], plans[i], orders[i + 1])
        for i in range(len(sizes)):
            orders[i] = _exchange(i, plans, orders)
        count = crossings(plans, orders)
        if count >= least:
            break
        best, least = list(orders), count
    return best


def drawn_flows(plan: FloatArray, masses: FloatArray, next_masses: FloatArray) -> FloatArray:
    """The plan without edges that have less than 5 % of both their clusters."""
    share = np.maximum(plan / masses[:, None], plan / next_masses)
    return np.where(share >= _LEAST_SHARE, plan, 0.0)


def crossings(plans: Sequence[FloatArray], orders: Sequence[IntArray]) -> float:
    """Sum over pairs of edges that cross of the product of their weights."""
    return sum(
        _crossings_of(plan[np.ix_(above, below)])
        for plan, above, below in zip(plans, orders[:-1], orders[1:], strict=True)
    )


def place_rows(
    plans: Sequence[FloatArray], orders: Sequence[IntArray], widths: Sequence[FloatArray]
) -> list[FloatArray]:
    """Coordinates of the nodes of each row, in the given order and without overlap.

    They minimise the sum over edges of weight times squared horizontal length, one row after the
    other: where a row would like to be is the weighted mean of its neighbours, and the nearest
    positions at least (w + w′)/2 apart are an isotonic regression.

    Parameters
    ----------
    plans, orders
        As for :func:`order_rows`.
    widths : m arrays (k,)
        Room that each node takes.
    """
    offsets = [_offsets(w[order]) for w, order in zip(widths, orders, strict=True)]
    places = []
    for order, offset in zip(orders, offsets, strict=True):
        x = np.empty(len(order))
        x[order] = offset
        places.append(x)
    m = len(orders)
    for _ in range(_PLACING_SWEEPS):
        for i in [*range(m - 1), *range(m - 1, 0, -1)]:
            pull, wanted = np.full(len(orders[i]), _NOTHING), places[i] * _NOTHING
            if i > 0:
                pull, wanted = (
                    pull + plans[i - 1].sum(axis=0),
                    wanted + places[i - 1] @ plans[i - 1],
                )
            if i < m - 1:
                pull, wanted = pull + plans[i].sum(axis=1), wanted + plans[i] @ places[i + 1]
            order, offset = orders[i], offsets[i]
            free = (wanted / pull)[order] - offset
            places[i][order] = _isotonic(free, pull[order]) + offset
    return places


def _isotonic(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The nearest numbers that do not decrease, by weighted squares: adjacent violators are pooled.

    >>> _isotonic(np.array([1.0, 4.0, 2.0]), np.array([1.0, 1.0, 3.0])).tolist()
    [1.0, 2.5, 2.5]
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for mean, weight in zip(values.tolist(), weights.tolist(), strict=True):
        count = 1
        while pools and pools[-1][0] >= mean:
            before, more, others = pools.pop()
            mean += (before - mean) * (more / (more + weight))
            weight, count = weight + more, count + others
        pools.append((mean, weight, count))
    means, _, counts = zip(*pools, strict=True)
    return np.repeat(means, counts)


def _offsets(widths: FloatArray) -> FloatArray:
    """Centres of nodes that stand side by side, the middle of all at zero."""
    centres = np.cumsum(widths) - widths / 2
    return np.asarray(centres - widths.sum() / 2)


def _by_barycentre(order: IntArray, weights: FloatArray, neighbours: IntArray) -> IntArray:
    """Nodes sorted by the mean position of their neighbours; ties keep their order."""
    position = np.argsort(neighbours)
    total = weights.sum(axis=1)
    mean = weights @ position / np.maximum(total, _NOTHING)
    # A node without edges stays where it is, as far as the others allow.
    mean = np.where(total > 0, mean, np.argsort(order) * len(neighbours) / len(order))
    return np.asarray(order[np.argsort(mean[order].round(9), kind="stable")])


def _exchange(i: int, plans: Sequence[FloatArray], orders: Sequence[IntArray]) -> IntArray:
    """The order of row i after exchanges of adjacent nodes that remove crossings."""
    order = orders[i].copy()
    sides = []
    if i > 0:
        sides.append(plans[i - 1].T[:, orders[i - 1]])
    if i < len(plans):
        sides.append(plans[i][:, orders[i + 1]])
    # cost[a, b]: crossings of the edges of a with those of b if a is to the left of b.
    cost = sum(side @ (np.cumsum(side, axis=1) - side).T for side in sides)
    assert isinstance(cost, np.ndarray)
    for _ in range(len(order)):
        changed = False
        for j in range(len(order) - 1):
            a, b = order[j], order[j + 1]
            if cost[b, a] < cost[a, b] - 1e-15:
                order[j], order[j + 1] = b, a
                changed = True
        if not changed:
            break
    return order


def _crossings_of(plan: FloatArray) -> float:
    """Edges (i, j) and (i', j') cross if i < i' and j > j'."""
    below = np.cumsum(plan[::-1], axis=0)[::-1] - plan  # of later rows
    before = np.cumsum(below, axis=1) - below  # and earlier columns
    return float((plan * before).sum())
