"""Figures 1 to 6, on constructed points: the values they show and the claims they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liftcluster import consensus, distance, represent
from liftcluster._util.typing import FloatArray, IntArray
from liftcluster.datasets import make_far_cells, make_rings
from liftcluster.viz.layout import project_points

from .data import Located
from .plots import plot_cells, plot_rings, plot_triple, plot_views
from .section import Claim, Section, Settings, Values
from .sensitivity import CONSTRUCTED
from .tasks import Task

__all__ = ["CONSTRUCTED_FIGURES"]


def triple(name: str) -> Values:
    """Figures 1 and 6: a reference partition and two others, with their distances to it."""
    data = CONSTRUCTED[name]()
    others = {"FP": data.first, "SP": data.second}
    return {
        "X": data.X.tolist(),
        "partitions": {"RP": data.reference.tolist()} | {n: p.tolist() for n, p in others.items()},
        "distances": {
            n: {m: distance(data.reference, p, data.X, measure=m) for m in ("rand", "lift_emd")}
            for n, p in others.items()
        },
    }


def _check_triple(values: Values) -> list[Claim]:
    near, far = values["distances"]["FP"], values["distances"]["SP"]
    return [
        Claim(
            "FP and SP are equidistant from RP by a set-based distance, yet FP is nearer in space",
            near["rand"] == far["rand"] and near["lift_emd"] < far["lift_emd"],
            f"Rand {near['rand']:.3f} and {far['rand']:.3f}, LiftEMD {near['lift_emd']:.3f} and "
            f"{far['lift_emd']:.3f}",
        )
    ]


def _describe_triple(values: Values) -> str:
    pairs = zip(values["partitions"]["RP"], values["partitions"]["FP"], strict=True)
    moved = sum(a != b for a, b in pairs)
    return (
        f"{len(values['X'])} points. FP and SP each move {moved} points to another cluster, the "
        "same number from each cluster, so that no measure of labels can distinguish them: FP "
        "moves the points closest to that cluster, SP the farthest."
    )


def rings() -> Values:
    """Figure 2: three concentric circles, and the same with two of them merged."""
    X, labels = make_rings()
    merged = np.minimum(labels, 1)
    return {
        "X": X.tolist(),
        "labels": labels.tolist(),
        "centroid": distance(labels, merged, X, measure="centroid"),
        "lift_emd": distance(labels, merged, X),
    }


def _check_rings(values: Values) -> list[Claim]:
    return [
        Claim(
            "CC cannot distinguish clusters that are concentric circles",
            values["centroid"] < 1e-9 < values["lift_emd"],
            "between the three circles and the partition that merges the outer two, CC is "
            f"{values['centroid']:.1g} and LiftEMD {values['lift_emd']:.3f}",
        )
    ]


def _describe_rings(values: Values) -> str:
    return (
        f"{len(values['X'])} points on three circles with the same centre, each circle a cluster; "
        "their centroids coincide."
    )


def cells() -> Values:
    """Figure 3: four clusters in different grid cells, two close together and two far apart."""
    X, labels = make_far_cells()
    pairs = {"near": (0, 1), "far": (2, 3)}
    width = 5.0  # half of the grid, so that both distances are well below the maximum
    return {
        "X": X.tolist(),
        "labels": labels.tolist(),
        "distances": {
            name: {
                "adco": _between(X, labels, *pair, measure="adco"),
                "lift_emd": _between(X, labels, *pair, bandwidth=width),
            }
            for name, pair in pairs.items()
        },
    }


def _between(X: FloatArray, labels: IntArray, i: int, j: int, **options: Any) -> float:
    """Distance between two clusters, each as a partition of its points into one cluster."""
    A, B = X[labels == i], X[labels == j]
    return distance(np.zeros(len(A), int), np.zeros(len(B), int), A, Y=B, **options)


def _check_cells(values: Values) -> list[Claim]:
    near, far = values["distances"]["near"], values["distances"]["far"]
    return [
        Claim(
            "ADCO finds two clusters in neighbouring cells as far apart as two at opposite ends",
            near["adco"] == far["adco"] and near["lift_emd"] < far["lift_emd"],
            f"ADCO {near['adco']:.3f} and {far['adco']:.3f}, LiftEMD {near['lift_emd']:.3f} and "
            f"{far['lift_emd']:.3f}",
        )
    ]


def _describe_cells(values: Values) -> str:
    return (
        f"{len(values['X'])} points in four of a hundred cells. The clusters in the middle "
        "(circles) are neighbours, those in the corners (triangles) are not; no two clusters share "
        "a bin of any axis."
    )


def three_partitions() -> tuple[FloatArray, dict[str, IntArray]]:
    """Points in A and B, far apart; P2 and P3 split a small or a larger part C off B."""
    rng = np.random.default_rng(2011)
    sizes = {"A": 26, "B": 26, "top": 5, "side": 9}
    centres = {"A": (0.0, 0.0), "B": (4.0, 0.0), "top": (4.1, 0.9), "side": (4.8, -0.3)}
    X = np.vstack([rng.normal(centres[c], 0.28, (n, 2)) for c, n in sizes.items()])
    blocks = list(sizes.values())
    return X, {
        "P1": np.repeat(["A1", "B1", "B1", "B1"], blocks),
        "P2": np.repeat(["A2", "B2", "C2", "B2"], blocks),
        "P3": np.repeat(["A3", "B3", "B3", "C3"], blocks),
    }


def lifted_views(names: list[str], k: int) -> Values:
    """Figures 4 and 5: raw and unit cluster vectors of some partitions, and their consensus."""
    X, partitions = three_partitions()
    chosen = {name: partitions[name] for name in names}
    width = 1.5
    rep = represent(X, chosen, bandwidth=width, lift="exact")
    clusters = [str(name) for name in rep.cluster_names]
    found = consensus(chosen, k, X, bandwidth=width, rng=0)
    groups = {
        str(cluster): j for j, parts in enumerate(found.composition) for _, cluster, _ in parts
    }
    views = {
        kind: project_points(V, "pca") for kind, V in {"raw": rep.sums, "unit": rep.vectors}.items()
    }
    return {
        "X": X.tolist(),
        "partitions": {name: labels.tolist() for name, labels in chosen.items()},
        "clusters": clusters,
        "groups": [groups[cluster] for cluster in clusters],
        "views": {kind: view.coordinates.tolist() for kind, view in views.items()},
        "axes": {kind: list(view.axes) for kind, view in views.items()},
        "distances": {
            kind: rep.distances(normalise=kind == "unit").tolist() for kind in ("raw", "unit")
        },
    }


def _check_normalisation(values: Values) -> list[Claim]:
    """Caption of figure 4: C₂, a small part of B₁, is close to A₁ unless normalised."""
    a, b, c = (values["clusters"].index(name) for name in ("A1", "B1", "C2"))
    raw, unit = ((D[c][a], D[c][b]) for D in map(values["distances"].get, ("raw", "unit")))
    return [
        Claim(
            "Φ(C2) is closer to Φ(A1) than to Φ(B1), although C2 is a part of B1",
            raw[0] < raw[1],
            f"raw vectors: {raw[0]:.3f} to A1, {raw[1]:.3f} to B1",
        ),
        Claim(
            "Normalised, C2 is much closer to B1 than to A1",
            2 * unit[1] < unit[0],
            f"unit vectors: {unit[0]:.3f} to A1, {unit[1]:.3f} to B1",
        ),
    ]


def _check_grouping(values: Values) -> list[Claim]:
    """Caption of figure 5: the consensus is {A1, A2, A3} and the rest."""
    groups: dict[int, list[str]] = {}
    for cluster, group in zip(values["clusters"], values["groups"], strict=True):
        groups.setdefault(group, []).append(cluster)
    found = sorted(map(sorted, groups.values()))
    rest = sorted(c for c in values["clusters"] if not c.startswith("A"))
    return [
        Claim(
            "The vectors form the groups {A1, A2, A3} and all others",
            found == [["A1", "A2", "A3"], rest],
            "the groups of LiftKm are "
            + " and ".join("{" + ", ".join(group) + "}" for group in found),
        )
    ]


def _describe_views(values: Values) -> str:
    names = ", ".join(values["partitions"])
    return (
        f"{len(values['X'])} points, the partitions {names}, and their {len(values['clusters'])} "
        "clusters as vectors, shown by their first two principal components."
    )


def _figure(
    number: int,
    title: str,
    function: Callable[..., Values],
    check: Callable[[Values], list[Claim]],
    describe: Callable[[Values], str],
    plot: Callable[[Values, Mapping[str, Any]], Any],
    **options: Any,
) -> Section:
    """A figure that consists of one task, without data sets."""
    name = f"figure-{number}"

    def plan(settings: Settings, located: Mapping[str, Located]) -> dict[str, Task]:
        return {"all": Task(name, function, options)}

    def collect(results: Mapping[str, Any]) -> Values:
        return dict(results["all"])

    return Section(name, f"Figure {number}: {title}", (), plan, collect, check, describe, plot)


_TRIPLE = (triple, _check_triple, _describe_triple, plot_triple)
_RINGS = (rings, _check_rings, _describe_rings, plot_rings)
_CELLS = (cells, _check_cells, _describe_cells, plot_cells)
_NORMALISATION = (lifted_views, _check_normalisation, _describe_views, plot_views)
_GROUPING = (lifted_views, _check_grouping, _describe_views, plot_views)
CONSTRUCTED_FIGURES = [
    _figure(1, "why space matters (2D2C)", *_TRIPLE, name="2d2c"),
    _figure(2, "concentric circles, where CC fails", *_RINGS),
    _figure(3, "clusters in cells of a grid, where ADCO fails", *_CELLS),
    _figure(4, "why vectors are normalised", *_NORMALISATION, names=["P1", "P2"], k=2),
    _figure(5, "a consensus of three partitions", *_GROUPING, names=["P1", "P2", "P3"], k=2),
    _figure(6, "the three partitions of 2D3C", *_TRIPLE, name="2d3c"),
]
