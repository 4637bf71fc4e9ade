"""The places nearest to points on a device, and what is computed from them there.

In double precision, as in main memory; blocks of points by all places are dense there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import is_constant, namespace, send, smallest, to_numpy
from ..._util.typing import Array, FloatArray
from ...lifts._gpu.device import memberships_on, row_blocks_on
from ...partitions.partition import Partition
from ...partitions.stack import Stack

if TYPE_CHECKING:
    from .neighbours import PlaceGraph
    from .places import Places

_TINY = 1e-300


class NearestOnDevice:
    """Finds the K nearest of p places by Euclidean distance, for points on the device of ``like``.

    Candidates come from matrix products, their distances from differences.
    """

    def __init__(self, places: Array, like: Any) -> None:
        centre = places.mean(axis=0, dtype=np.float64)
        centred = places - centre
        self._centre, self._places = send(centre, like), send(centred, like)
        self._half_squares = send(np.einsum("ij,ij->i", centred, centred) / 2, like)

    def __call__(self, X: Any, K: int) -> tuple[Any, Any]:
        """(b, K) distances and positions of the nearest places of each point, nearest first."""
        xp = namespace(X)
        U = xp.astype(X, xp.float64) - self._centre
        near = smallest(self._half_squares - U @ self._places.T, K)
        gaps = U[:, None, :] - self._places[near]
        return xp.sqrt(xp.sum(gaps * gaps, axis=2)), near


def sums_around(graph: PlaceGraph, stack: Stack) -> FloatArray:
    """(p, s) weight of each cluster among the points nearest to each place."""
    members, total = memberships_on(graph.steps, stack), 0.0
    for rows, near, steps in _blocks(graph):
        total = members.transposed(rows, steps) @ _dense(graph.p, near, steps) + total
    return members.scale(total).T


def largest_scores(graph: PlaceGraph, scores: FloatArray) -> Any:
    """(n,) position of the largest score, by the (p, k) scores of the places, for each point."""
    there = send(scores, graph.steps)
    found = [(_dense(graph.p, *block) @ there).argmax(axis=1) for _, *block in _blocks(graph)]
    return namespace(there).concat(found, axis=0)


def nearest_centres(
    places: Places, Y: FloatArray, centres: FloatArray, gate: Callable[[Any], Any]
) -> Any:
    """(n,) position of the centre nearest to the direction of the mean of Y at the nearest places.

    Steps are weighted by the gate of the agreement of the labels of a point and around a place.
    """
    graph, members = places.graph, memberships_on(places.graph.steps, places.stack)
    columns = members.units * np.sqrt(places.coherence)
    arrays = columns, places.profiles.T, Y, centres.T, (centres**2).sum(axis=1) / 2
    columns, profiles, Y, centres, half_squares = (send(part, graph.steps) for part in arrays)
    xp, found = namespace(Y), []
    for rows, near, steps in _blocks(graph):
        own = _unit_rows(members.block(rows, steps) * columns)
        steps = steps * gate((own @ profiles)[_column_of_rows(steps), near])
        Z = _unit_rows(_dense(graph.p, near, steps) @ Y)
        found.append((half_squares - Z @ centres).argmin(axis=1))
    return xp.concat(found, axis=0)


def by_first_appearance_on_device(labels: Any) -> Any:
    """Labels 0, …, k - 1 numbered anew in the order in which they appear, as small integers."""
    xp, n = namespace(labels), labels.shape[0]
    rows = xp.arange(n, device=labels.device)
    names = range(int(xp.max(labels)) + 1)
    first = to_numpy(xp.stack([xp.min(xp.where(labels == c, rows, n)) for c in names]))
    table = np.empty(len(first), dtype=np.min_scalar_type(-len(first)))
    table[np.argsort(first)] = np.arange(len(first))
    return send(table, labels)[labels]


def partition_on_device(labels: Any, weights: FloatArray) -> Partition:
    """Labels that stay on the device if all points weigh one; clusters are named by number."""
    if is_constant(weights) and weights[0] == 1:
        return Partition.from_labels(labels)
    return Partition.from_labels(to_numpy(labels), weights)


def _blocks(graph: PlaceGraph) -> Iterator[tuple[slice, Any, Any]]:
    """Rows, and their (b, q) nearest places and steps, whose sums are one."""
    xp = namespace(graph.steps)
    for rows in row_blocks_on(graph.steps, 4 * graph.p):
        steps = xp.astype(graph.steps[rows, :], xp.float64)
        near = xp.astype(graph.near[rows, :], xp.int64)
        yield rows, near, steps / xp.sum(steps, axis=1, keepdims=True)


def _dense(p: int, near: Any, steps: Any) -> Any:
    """(b, p) steps to all places."""
    xp = namespace(steps)
    found = xp.zeros((len(steps), p), dtype=steps.dtype, device=steps.device)
    found[_column_of_rows(steps), near] = steps
    return found


def _column_of_rows(steps: Any) -> Any:
    return namespace(steps).arange(len(steps), device=steps.device)[:, None]


def _unit_rows(values: Any) -> Any:
    xp = namespace(values)
    return values / xp.clip(xp.sqrt(xp.sum(values * values, axis=1, keepdims=True)), min=_TINY)
