"""Pieces of a consensus that do not depend on where the points are."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np

from .._util.arrays import namespace
from .._util.typing import FloatArray, IntArray
from ..kernels.kernel import as_kernel
from ..lifts.choice import choose_lift
from ..representation.representation import Representation
from .methods.lifted import group_by, group_centres
from .methods.registry import METHODS, Method

__all__ = [
    "CONSENSUS",
    "bandwidth_for",
    "distances_to_inputs",
    "features_for_consensus",
    "group_clusters",
    "listed_parts",
    "shares_of_scores",
    "warn_if_fewer",
    "warn_if_worse",
]

CONSENSUS = ("consensus",)  # its name among its inputs, which may be called anything
_LANDMARKS = 500
_MOST_PARTS = 8  # of a cluster, in a table in a notebook
_ROUNDING = 1e-6  # by which equal partitions may miss distance zero


def group_clusters(
    method: Any, rep: Representation, k: int, options: dict[str, Any], rng: np.random.Generator
) -> tuple[FloatArray, str]:
    """Centres of at most k groups of the lifted clusters, and what the method is called."""
    k = min(k, rep.s)
    if isinstance(method, str):
        function = METHODS[method].function
        assert function is not None
        codes, name = function(rep, k, rng=rng, **options), method
    else:
        if options:
            raise TypeError(f"a clusterer has its own settings; got {', '.join(options)}")
        codes, name = group_by(method, rep, k, rng=rng), "lift_km"
    codes = in_order_of_appearance(codes)
    return group_centres(rep, codes, int(codes.max()) + 1), name


def in_order_of_appearance(codes: IntArray) -> IntArray:
    """The same groups, that of the first cluster called 0, and so on.

    So what groups are called depends on the inputs, and not on which random centre k-means came
    from, or on the last bits that decide it.
    """
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[codes])


def distances_to_inputs(D: FloatArray) -> tuple[float, float]:
    """Mean distance of the last partition to the others; the least mean distance among those.

    Means are of the distances that are known: NaN is none.
    """
    m = len(D) - 1
    among = np.array(D[:m, :m])
    others = (np.nansum(among, axis=1) - np.diag(among)) / np.maximum(
        np.isfinite(among).sum(axis=1) - 1, 1
    )
    return float(np.nanmean(D[m, :m])), float(others.min())


def shares_of_scores(scores: FloatArray) -> FloatArray:
    """Memberships in proportion to ⟨φ(x), v⟩; random features may make it negative: none, then.

    A point that is similar to no centre at all belongs to all alike.
    """
    xp = namespace(scores)
    positive = xp.clip(scores, min=0.0)
    total = xp.sum(positive, axis=1, keepdims=True)
    some = total > 0
    shares = positive / xp.where(some, total, xp.ones_like(total))
    return xp.where(some, shares, xp.full_like(shares, 1 / scores.shape[1]))


def bandwidth_for(method: Method | None, bandwidth: Any) -> Any:
    """What "auto" stands for: a clusterer that stands in for k-means has k-means' rule."""
    if isinstance(bandwidth, str) and bandwidth == "auto":
        return (method or METHODS["lift_km"]).bandwidth
    return bandwidth


def features_for_consensus(lifting: dict[str, Any], n: int) -> dict[str, Any]:
    """Landmarks instead of Fourier features, where "auto" would take those."""
    lift, n_components = lifting["lift"], lifting["n_components"]
    automatic = isinstance(lift, str) and lift == "auto"
    kernel = as_kernel(lifting["kernel"])
    if automatic and choose_lift(lift, n, kernel, n_components, spans=True) == "fourier":
        return {**lifting, "lift": "nystrom", "n_components": n_components or _LANDMARKS}
    return lifting


def listed_parts(parts: list[tuple[Hashable, Hashable, float]]) -> str:
    shown = [f"{name}: {cluster} ({share:.0%})" for name, cluster, share in parts if share >= 0.1]
    return ", ".join(shown[:_MOST_PARTS]) + (
        " …" if len(parts) > min(len(shown), _MOST_PARTS) else ""
    )


def warn_if_fewer(asked: int, rep: Representation, n_groups: int, used: int) -> None:
    """Say that fewer clusters came out than were asked for."""
    if used < asked:
        warnings.warn(
            f"{asked} clusters were asked for, but the inputs' {rep.s} clusters form "
            f"{n_groups} groups, of which {used} are the best for some point",
            UserWarning,
            stacklevel=4,
        )


def warn_if_worse(n_inputs: int, mean_distance: float, best_input_distance: float) -> None:
    """Say that one of several inputs would have served better."""
    if n_inputs > 1 and mean_distance > best_input_distance + _ROUNDING:
        warnings.warn(
            f"the consensus is farther from its inputs (mean distance {mean_distance:.4f}) "
            f"than the best of them is from the others ({best_input_distance:.4f}); "
            'look at the inputs, or take the best: method="medoid"',
            UserWarning,
            stacklevel=3,
        )
