"""Pieces of a consensus that looks at labels: tuples of them, the most central input, shares."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from .._util.memory import check_memory
from .._util.typing import Array, FloatArray, IntArray, Points
from ..comparison.comparing import distance, distance_matrix
from ..comparison.measures.lifted import lift_emd_matrix
from ..partitions.partition import Partition
from ..representation.representation import Representation
from .methods.registry import Method
from .methods.tuples import LabelTuples

__all__ = [
    "as_seen",
    "check_linked",
    "check_memberships_fit",
    "counterparts",
    "distances_by_labels",
    "hardened",
    "mean_shares",
    "medoid",
    "tuples_for",
    "unanimous",
]

_POINTS_AS_VERTICES = 3000  # a graph that METIS cuts in seconds
_PIECES_OF_A_PART = 50  # of more points: so fine that METIS can balance to within its 3 per cent


def tuples_for(
    method: Method,
    named: dict[Hashable, Partition],
    k: int,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> LabelTuples:
    """Points with equal labels as one, or as several where the method has to balance them.

    The authors of cspa, hgpa and hbgf cut graphs of points. Whole tuples would keep METIS from
    balancing, which often helps, but is another method: ``whole_tuples=True``.
    """
    tuples = LabelTuples.from_partitions(named.values())
    if not method.balanced or options.pop("whole_tuples", False) or tuples.t <= k:
        return tuples
    weights = next(iter(named.values())).weights
    n = len(weights)
    largest = 0.0 if n <= _POINTS_AS_VERTICES else weights.sum() / (k * _PIECES_OF_A_PART)
    return tuples.split(largest, weights, rng)


def check_linked(named: dict[Hashable, Partition], method: Method) -> None:
    """Whether labels alone can say which clusters of different inputs belong together.

    Two inputs may share no point, if others lead from one to the other.
    """
    shared, names = _share_points(list(named.values())), list(named)
    groups = connected_components(shared, directed=False)[1]
    if groups.any():
        one, other = names[0], names[int(groups.argmax())]
        raise ValueError(
            f"inputs {one!r} and {other!r} share no labelled point, and no other inputs lead from "
            "one to the other, so labels cannot say which of their clusters belong together; give "
            "the points X, or combine inputs that overlap"
        )
    if method.needs == "distances" and not shared.all():
        i, j = np.argwhere(~shared)[0]
        raise ValueError(
            f"{method.name} compares every two inputs, and {names[i]!r} and {names[j]!r} share no "
            "labelled point; give the points X, or take another method"
        )


def distances_by_labels(partitions: list[Partition]) -> FloatArray:
    """Variation of information between every two partitions; NaN where they share no point."""
    shared = _share_points(partitions)
    if shared.all():
        return distance_matrix(partitions, measure="vi")
    D = np.where(shared, 0.0, np.nan)
    for i, j in np.argwhere(np.triu(shared)):
        D[i, j] = D[j, i] = distance(partitions[i], partitions[j], measure="vi")
    return D


def _share_points(partitions: list[Partition]) -> Array:
    """(m, m), whether some point that weighs something is in a cluster of both."""
    inside = [(p.labels >= 0) & (p.weights > 0) for p in partitions]
    shared = np.ones((len(inside), len(inside)), dtype=bool)
    partial = [i for i, where in enumerate(inside) if not where.all()]
    for i, j in combinations(partial, 2):
        shared[i, j] = shared[j, i] = (inside[i] & inside[j]).any()
    return shared


def medoid(
    named: dict[Hashable, Partition],
    X: Points,
    rep: Representation | None,
    measure: str | None = None,
    **options: Any,
) -> Partition:
    """The input with the least sum of distances to the others."""
    if rep is not None and measure in (None, "lift_emd"):
        D = lift_emd_matrix(rep)
    else:
        D = distance_matrix(named, X, measure=measure or "rand", **options)
    return hardened(list(named.values())[int(D.sum(axis=1).argmin())])


def mean_shares(partition: Partition, inputs: list[Partition]) -> FloatArray:
    """p(c|x): how much of the clusters that x is in, over the inputs that label it, is in c."""
    R = partition.memberships
    check_memberships_fit(*R.shape)
    total = np.zeros(R.shape)
    for p in inputs:
        P = p.memberships
        weighted = P.multiply(p.weights[:, None])
        total += P @ ((weighted.T @ R).toarray() / p.cluster_weights[:, None])
    sums = total.sum(axis=1, keepdims=True)
    # Points that no input labels have nothing but the consensus itself to go by.
    return np.divide(total, sums, out=R.toarray(), where=sums > 0)


def as_seen(partition: Partition, method: Method | None) -> Partition:
    """Hardened for methods that look at labels, clusters that are nowhere the largest left out."""
    return partition if method is None or method.soft else hardened(partition)


def hardened(partition: Partition) -> Partition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return partition.harden()


def check_memberships_fit(n: int, k: int) -> None:
    """Before n points are scored by k clusters."""
    check_memory(
        3 * 8 * n * k,
        f"memberships of {n:,} points in {k:,} clusters",
        "ask for fewer clusters, or predict the points block by block from a consensus of some",
    )


def unanimous(named: dict[Hashable, Partition], k: int) -> Partition | None:
    """The one partition that all inputs are, whatever they call its clusters, if it has k of them.

    Methods that move points to the nearest centre, or balance clusters, would change it.
    """
    first, *others = named.values()
    if not (first.is_hard and first.k == k and (first.labels >= 0).all()):
        return None
    for p in others:
        if not (p.is_hard and p.k == k and (p.labels >= 0).all()):
            return None
        pairs = first.labels.astype(np.int64) * k + p.labels
        if len(np.unique(pairs)) != k:
            return None
    return Partition.from_labels(first.labels, first.weights)


def counterparts(named: dict[Hashable, Partition], agreed: Partition) -> IntArray:
    """For each cluster of each input the cluster of the agreed partition that it is."""
    codes = np.empty((len(named), agreed.k), dtype=np.int64)
    for row, p in zip(codes, named.values(), strict=True):
        row[p.labels] = agreed.labels
    return codes.ravel()
