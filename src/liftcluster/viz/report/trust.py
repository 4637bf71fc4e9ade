"""How far to trust the clusters: their stability over the given runs, and the tree of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..._util.progress import busy
from ..._util.typing import FloatArray, Points
from ...comparison.resampling.assessing import has_coordinates, stability
from ...comparison.resampling.resolutions import (
    ResolutionTree,
    from_coarse_to_fine,
    resolution_tree,
)
from ...comparison.resampling.result import Stability
from ...comparison.splits import take, without_absent
from ...kernels.summary import dimension, n_points, take_rows
from ...lifts.choice import Lifting
from ...partitions.partition import Partition
from ..tree_layout import drawn_flows, order_rows, place_rows
from .summary import isolated

MAX_POINTS = 10_000  # larger data are sampled: a tree of 15 runs of 30 clusters takes seconds
MAX_CLUSTERS = 300  # of a clustering: beyond, transport to random regions takes too long
MAX_NODES = 600  # of the tree
_SIZES = (12.0, 36.0)  # diameters of nodes, in pixels
_GAP = 8.0  # between them
_WIDTH = 900.0  # that names may take: longer ones are shortened
_LETTER = 6.5  # width of a letter


@dataclass(frozen=True, eq=False)
class Trust:
    """Stability of one of the clusterings over the others, and the tree of all of them.

    Attributes
    ----------
    found : Stability
    reference : str
        Which clustering it is of.
    is_nearest : bool
        Whether it was taken because it is the nearest to the others.
    n_points : int
        How many of the points the stability is computed from; the others are left out.
    tree : ResolutionTree or None
        None if the clusterings cannot be ordered by their numbers of clusters, or if these are too
        many.
    too_many : int
        How many clusters the tree would have if it was left out because they are too many; else 0.
    """

    found: Stability
    reference: str
    is_nearest: bool
    n_points: int
    tree: ResolutionTree | None
    too_many: int = 0


@busy("stability of the clusters")
def assess_trust(
    partitions: Mapping[str, Partition],
    X: Points,
    distances: FloatArray,
    lifting: Mapping[str, Any],
    seed: int,
    given: Stability | None = None,
) -> Trust | None:
    """Stability of the clustering nearest to the others, or what is ``given`` in its place.

    None where stability means nothing: without coordinates there are no random regions to compare
    with, and a single cluster is always found again. Nothing is clustered anew, and clusterings of
    more than 300 clusters are left out, so that a page does not take long.
    """
    asked = Lifting.of(**lifting)
    if dimension(X) is None or not has_coordinates(asked):
        if given is None:
            return None
        return Trust(given, str(given.name), False, given.reference.n, None)
    totals = dict(zip(partitions, distances.sum(axis=1), strict=True))
    partitions = {name: p for name, p in partitions.items() if p.k <= MAX_CLUSTERS}
    n = n_points(X)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:MAX_POINTS])
    if len(rows) < n:
        X, partitions = take_rows(X, rows), _sampled(partitions, rows)
    options = _options(lifting, asked) | {"rng": seed}
    tree, nodes = None, sum(p.k for p in partitions.values())
    ordered = _is_ordered(partitions)
    too_many = nodes if ordered and nodes > MAX_NODES else 0
    if ordered and not too_many:
        tree = resolution_tree(X, from_coarse_to_fine(partitions), **options)
    if given is not None:
        return Trust(given, str(given.name), False, n, tree, too_many)
    suited = [name for name, p in partitions.items() if p.k > 1]
    if not suited or len(partitions) < 2:
        return None
    reference = min(suited, key=totals.__getitem__)
    found = stability(X, partitions, reference=reference, progress=False, **options)
    return Trust(found, reference, len(partitions) > 2, len(rows), tree, too_many)


def trust_data(trust: Trust | None, partitions: Mapping[str, Partition]) -> dict[str, Any] | None:
    """The same as plain values; clusterings and clusters by their numbers on the page."""
    if trust is None:
        return None
    found, numbers = trust.found, {name: i for i, name in enumerate(partitions)}
    names = found.reference.names
    of_page = _numbers(partitions[trust.reference])
    fates = found.fates(isolated(names))
    return {
        "reference": numbers[trust.reference],
        "is_nearest": trust.is_nearest,
        "n_points": trust.n_points,
        "how": found.how,
        "runs": found.n_replicates,
        "score": found.score,
        "clusters": [
            {
                "cluster": of_page[row["cluster"]],
                "mass": row["mass"],
                **{key: _finite(row[key]) for key in ("stability", "low", "high")},
                "verdict": row["verdict"],
                "fate": fate,
            }
            for row, fate in zip(found.rows(), fates, strict=True)
        ],
        "too_many": trust.too_many,
        "tree": None if trust.tree is None else _tree_data(trust.tree, partitions, numbers),
    }


def _options(lifting: Mapping[str, Any], asked: Lifting) -> dict[str, Any]:
    """Kernel and bandwidth as asked for; the defaults of stability in place of those of a page."""
    default = isinstance(lifting["bandwidth"], str) and lifting["bandwidth"] == "median"
    return {
        "kernel": lifting["kernel"],
        "bandwidth": "auto" if default else lifting["bandwidth"],
        "lift": lifting["lift"] if asked.is_fitted else "auto",
    }


def _sampled(partitions: Mapping[str, Partition], rows: Any) -> dict[str, Partition]:
    """The clusterings of some of the points; those that are noise there are left out."""
    taken = {name: take(p, rows) for name, p in partitions.items()}
    return {name: without_absent(p) for name, p in taken.items() if p.cluster_weights.any()}


def _is_ordered(partitions: Mapping[str, Partition]) -> bool:
    """Whether more than half of the numbers of clusters are different."""
    numbers = [p.k for p in partitions.values()]
    return len(set(numbers)) > max(1, len(numbers) / 2)


def _tree_data(
    tree: ResolutionTree, partitions: Mapping[str, Partition], numbers: Mapping[str, int]
) -> dict[str, Any]:
    parts = list(tree.runs.values())
    shown = [
        drawn_flows(plan, a.masses, b.masses)
        for plan, (a, b) in zip(tree.plans, pairwise(parts), strict=True)
    ]
    largest = max(float(p.masses.max()) for p in parts)
    sizes = [np.maximum(_SIZES[1] * np.sqrt(p.masses / largest), _SIZES[0]) for p in parts]
    rooms = [np.maximum(d, _room_for_names(p)) + _GAP for p, d in zip(parts, sizes, strict=True)]
    places = place_rows(shown, order_rows(shown), rooms)
    left = min(float((x - w / 2).min()) for x, w in zip(places, rooms, strict=True))
    right = max(float((x + w / 2).max()) for x, w in zip(places, rooms, strict=True))
    rows = []
    for (name, p), x, d, values in zip(
        tree.runs.items(), places, sizes, tree.stabilities, strict=True
    ):
        of_page = _numbers(partitions[str(name)])
        rows.append(
            {
                "clustering": numbers[str(name)],
                "clusters": [of_page[cluster] for cluster in p.names],
                "masses": p.masses.tolist(),
                "stabilities": [_finite(value) for value in values],
                "x": (x - left).round(1).tolist(),
                "sizes": d.round(1).tolist(),
            }
        )
    edges = [
        [row, int(i), int(j), float(plan[i, j]), float(D[i, j])]
        for row, (plan, D) in enumerate(zip(shown, tree.distances, strict=True))
        for i, j in np.argwhere(plan > 0)
    ]
    return {"width": round(right - left, 1), "rows": rows, "edges": edges}


def _room_for_names(partition: Partition) -> FloatArray:
    letters = np.array([len(str(name)) for name in partition.names])
    return np.minimum(_LETTER * letters, max(_WIDTH / partition.k - _GAP, 2 * _LETTER))


def _numbers(partition: Partition) -> dict[Any, int]:
    return {name: i for i, name in enumerate(partition.names)}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
