"""The paper's figures without data sets: what each shows, in numbers, and what it claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liftcluster._util.typing import FloatArray, IntArray
from liftcluster.combination.combining import consensus
from liftcluster.comparison.comparing import distance
from liftcluster.datasets import make_far_cells, make_rings
from liftcluster.representation.samples import represent
from liftcluster.viz.layout import look_at

from .data import Located
from .ledger import Piece
from .section import Claim, Settings, Values
from .sensitivity import CONSTRUCTED

__all__ = ["cells", "lifted_views", "rings", "three_partitions", "triple"]


def triple(name: str) -> Values:
    """Figures 1 and 6: a reference and two others, with the distances to them."""
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


def check_triple(values: Values) -> list[Claim]:
    near, far = values["distances"]["FP"], values["distances"]["SP"]
    return [
        Claim(
            "FP and SP are equidistant from RP by a set-based distance, yet FP is nearer in space",
            near["rand"] == far["rand"] and near["lift_emd"] < far["lift_emd"],
            f"Rand {near['rand']:.3f} and {far['rand']:.3f}, LiftEMD {near['lift_emd']:.3f} and "
            f"{far['lift_emd']:.3f}",
        )
    ]


def tell_triple(values: Values) -> str:
    moved = {
        name: sum(a != b for a, b in zip(values["partitions"]["RP"], labels, strict=True))
        for name, labels in values["partitions"].items()
    }
    return (
        f"{len(values['X'])} points. FP and SP each give {moved['FP']} points to another cluster, "
        "as many of each cluster, so that no measure of labels can tell them apart: FP those that "
        "lie nearest to it, SP those farthest from it."
    )


def rings() -> Values:
    """Figure 2: three concentric circles, and the same with two of them as one cluster."""
    X, labels = make_rings()
    merged = np.minimum(labels, 1)
    return {
        "X": X.tolist(),
        "labels": labels.tolist(),
        "centroid": distance(labels, merged, X, measure="centroid"),
        "lift_emd": distance(labels, merged, X),
        "spread_of_centroids": float(
            max(np.linalg.norm(X[labels == c].mean(axis=0)) for c in range(3))
        ),
    }


def check_rings(values: Values) -> list[Claim]:
    return [
        Claim(
            "CC cannot distinguish clusters that are concentric circles",
            values["centroid"] < 1e-9 < values["lift_emd"],
            "between the three circles and the two that are left when the outer ones are one "
            f"cluster, CC is {values['centroid']:.1g} and LiftEMD {values['lift_emd']:.3f}",
        )
    ]


def tell_rings(values: Values) -> str:
    return (
        f"{len(values['X'])} points on three circles about one centre, each a cluster; their "
        "centroids are the same point."
    )


def cells() -> Values:
    """Figure 3: four clusters in grid cells of their own, two near each other and two far."""
    X, labels = make_far_cells()
    pairs = {"near": (0, 1), "far": (2, 3)}
    width = 5.0  # half of the grid, so that near and far are both within sight
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
    """Two clusters, each as a clustering of its own points into one."""
    A, B = X[labels == i], X[labels == j]
    return distance(np.zeros(len(A), int), np.zeros(len(B), int), A, Y=B, **options)


def check_cells(values: Values) -> list[Claim]:
    near, far = values["distances"]["near"], values["distances"]["far"]
    return [
        Claim(
            "ADCO finds two clusters in neighbouring cells as far apart as two at opposite ends",
            near["adco"] == far["adco"] and near["lift_emd"] < far["lift_emd"],
            f"ADCO {near['adco']:.3f} and {far['adco']:.3f}, LiftEMD {near['lift_emd']:.3f} and "
            f"{far['lift_emd']:.3f}",
        )
    ]


def tell_cells(values: Values) -> str:
    return (
        f"{len(values['X'])} points in four of a hundred cells. The clusters in the middle "
        "(circles) are neighbours, those in the corners (triangles) are not; no two share a bin of "
        "any axis."
    )


def three_partitions() -> tuple[FloatArray, dict[str, IntArray]]:
    """A and B far apart; B loses a small part C, at the top, or a larger one, at the side."""
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
    """Figures 4 and 5: clusters of some partitions as points, raw and normalised, and grouped."""
    X, partitions = three_partitions()
    chosen = {name: partitions[name] for name in names}
    width = 1.5
    rep = represent(X, chosen, bandwidth=width, lift="exact")
    clusters = [str(name) for name in rep.cluster_names]
    found = consensus(chosen, k, X, bandwidth=width, rng=0)
    groups = {
        str(cluster): j for j, parts in enumerate(found.composition) for _, cluster, _ in parts
    }
    views = {kind: look_at(V) for kind, V in {"raw": rep.sums, "unit": rep.vectors}.items()}
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


def check_normalisation(values: Values) -> list[Claim]:
    """Figure 4's caption: C₂, a small part of B₁, looks near A₁ until it is normalised."""
    place = {name: i for i, name in enumerate(values["clusters"])}

    def between(kind: str, a: str, b: str) -> float:
        return float(values["distances"][kind][place[a]][place[b]])

    raw, unit = ((between(kind, "C2", "A1"), between(kind, "C2", "B1")) for kind in ("raw", "unit"))
    return [
        Claim(
            "Φ(C2) is closer to Φ(A1) than to Φ(B1), a part of which it is",
            raw[0] < raw[1],
            f"raw vectors: {raw[0]:.3f} to A1, {raw[1]:.3f} to B1",
        ),
        Claim(
            "Normalised, C2 is much closer to B1 than to A1",
            2 * unit[1] < unit[0],
            f"unit vectors: {unit[0]:.3f} to A1, {unit[1]:.3f} to B1",
        ),
    ]


def check_grouping(values: Values) -> list[Claim]:
    """Figure 5's caption: the consensus is {A1, A2, A3} and the rest."""
    groups: dict[int, list[str]] = {}
    for cluster, group in zip(values["clusters"], values["groups"], strict=True):
        groups.setdefault(group, []).append(cluster)
    found = sorted(map(sorted, groups.values()))
    rest = sorted(c for c in values["clusters"] if not c.startswith("A"))
    words = " and ".join("{" + ", ".join(group) + "}" for group in found)
    return [
        Claim(
            "The vectors fall into {A1, A2, A3} and all others",
            found == [["A1", "A2", "A3"], rest],
            f"LiftKm groups them as {words}",
        )
    ]


def tell_views(values: Values) -> str:
    names = ", ".join(values["partitions"])
    return (
        f"{len(values['X'])} points, the partitions {names}, and their {len(values['clusters'])} "
        "clusters as vectors, seen by their two principal components."
    )


def only(
    piece: str, function: Callable[..., Values], options: Values
) -> Callable[[Settings, Mapping[str, Located]], dict[str, Piece]]:
    """A plan of one piece, which needs no data."""

    def plan(settings: Settings, located: Mapping[str, Located]) -> dict[str, Piece]:
        return {"all": Piece(piece, function, options)}

    return plan


def with_claims(
    check: Callable[[Values], list[Claim]],
) -> Callable[[Mapping[str, Any]], Values]:
    """What the one piece found, and what it says of the paper's sentences."""

    def gather(results: Mapping[str, Any]) -> Values:
        values: Values = dict(results["all"])
        return values | {"claims": [claim.as_dict() for claim in check(values)]}

    return gather
