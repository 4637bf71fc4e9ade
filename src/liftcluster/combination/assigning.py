"""From scores of points to their clusters and memberships."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.arrays import namespace, on_device
from .._util.typing import FloatArray, IntArray, Points
from ..lifts.base import Lift
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
