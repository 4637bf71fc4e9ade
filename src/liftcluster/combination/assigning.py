"""From scores of points to their clusters and memberships."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import from_device, namespace, on_device
from .._util.typing import FloatArray, IntArray, Points
from ..lifts.base import FeatureLift, Lift
from ..representation.representation import Representation
from ..streaming.passes import check_holds_labels, map_points
from ..streaming.sources import is_streamed


def predict_clusters(
    lift: Lift, centres: FloatArray, X: Points, out: Any, progress: bool | None
) -> Any:
    """Position of the centre with the largest score of each point; int32 for blocks of points."""
    kind = np.int32 if is_streamed(X) else np.int64
    if out is not None:
        check_holds_labels(out, len(centres))

    def assign(block: Points) -> IntArray:  # sent to other processes, so it must not hold X
        labels = lift.assign(block, centres)
        return labels if on_device(labels) else labels.astype(kind, copy=False)

    none = np.empty(0, dtype=kind)
    return map_points(assign, X, out=out, like=none, what="predicting", progress=progress)


def shares_of_scores(scores: FloatArray) -> FloatArray:
    """Memberships in proportion to ⟨φ(x), v⟩; negative scores (random features) are clipped to 0.

    A point with no positive score belongs to all clusters equally.
    """
    xp = namespace(scores)
    positive = xp.clip(scores, min=0.0)
    total = xp.sum(positive, axis=1, keepdims=True)
    if bool(xp.all(total > 0)):  # two copies of the scores fewer
        positive /= total
        return positive
    some = total > 0
    shares = positive / xp.where(some, total, xp.ones_like(total))
    return xp.where(some, shares, xp.full_like(shares, 1 / scores.shape[1]))


def mean_silhouette(rep: Representation | None, centres: FloatArray | None, X: Points) -> float:
    """Mean simplified silhouette of points in the lifted space, by the clusters they score best in.

    From the angles between lifted points and centres: all are scaled to unit length.
    """
    if rep is None or rep.lift is None or centres is None:
        raise ValueError("the score needs a consensus that was fitted with X, and its lift")
    if len(centres) == 1:
        return 0.0
    lift = rep.lift
    lengths = np.linalg.norm(centres, axis=1)

    def silhouettes(block: Points) -> FloatArray:
        scores = np.asarray(from_device(lift.scores(block, centres)))
        own, rows = scores.argmax(axis=1), np.arange(len(scores))
        norms = np.sqrt(np.maximum(_squared_norms(lift, block), 0.0))
        cosines = scores / np.maximum(np.outer(norms, lengths), np.finfo(float).tiny)
        D = np.sqrt(np.clip(2 - 2 * cosines, 0.0, None))
        a = D[rows, own]
        D[rows, own] = np.inf
        b = D.min(axis=1)
        largest = np.maximum(a, b)
        return np.divide(b - a, largest, out=np.zeros(len(a)), where=largest > 0)

    return float(np.asarray(map_points(silhouettes, X)).mean())


def _squared_norms(lift: Lift, X: Points) -> FloatArray:
    """κ(x, x); ‖φ(x)‖² where the lift has no kernel."""
    points = lift.points(X)
    kernel = getattr(lift, "kernel", None)
    if kernel is not None:
        return np.asarray(kernel.diagonal(points))
    assert isinstance(lift, FeatureLift)
    return lift.squared_norms(points)
