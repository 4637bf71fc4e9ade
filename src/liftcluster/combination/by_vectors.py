"""Consensus by grouping lifted clusters: the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._util.arrays import on_device, to_numpy
from .._util.typing import FloatArray, Points
from .._util.validation import make_rng
from ..lifts.base import LiftedPoints
from ..lifts.choice import Lifting, make_lift
from ..lifts.exact import SpanLift
from ..partitions.partition import Partition, as_partitions
from ..representation.representation import Representation
from .assigning import shares_of_scores
from .evaluation import check_memberships_fit, counterparts, finish, represent_again, unanimous
from .grouping import group_clusters, warn_if_fewer
from .methods.lifted import group_centres
from .methods.places_on_device import partition_on_device
from .methods.registry import METHODS, Task
from .result import Consensus


def combine_vectors(
    task: Task,
    k: int,
    rep: Representation,
    points: LiftedPoints,
    named: dict[Hashable, Partition],
    *,
    centres: FloatArray | None = None,
    all_points: bool = True,
    judged_by: Callable[[], Lifting] | None = None,
) -> Consensus:
    """Group the lifted clusters, then assign each point to the group with the largest score.

    ``centres`` are those of the groups, where they are known. Where these are only a block of the
    points, groups without any of them are kept.
    """
    memberships: FloatArray | Callable[[], FloatArray] | None = None
    sums = None
    if centres is None:
        centres = group_clusters(task, k, rep)
    if all_points and (agreed := unanimous(named, k)) is not None:
        partition = agreed
        centres = group_centres(rep, counterparts(named, agreed), k)
    else:
        weights = next(iter(named.values())).weights
        if on_device(points.X):
            labels = points.lift.assign(points.X, centres)
            partition = partition_on_device(labels, weights)
            used = np.asarray(partition.names) if all_points else np.arange(len(centres))
            warn_if_fewer(k, rep, len(centres), len(used))
            if all_points:
                partition, centres = partition.renamed(range(len(used))), centres[used]
            memberships = partial(_memberships_on_device, points, centres)
        else:
            check_memberships_fit(len(weights), len(centres))
            scores, sums = points.score(centres, weights)
            labels = scores.argmax(axis=1)
            used = np.arange(len(centres))
            if all_points:
                used = np.flatnonzero(np.bincount(labels, minlength=len(centres)))
            warn_if_fewer(k, rep, len(centres), len(used))
            if len(used) < len(centres):
                labels, scores = np.searchsorted(used, labels), scores[:, used]
                sums = None if sums is None else sums[used]
            partition = Partition.from_labels(labels, weights)
            memberships, centres = partial(shares_of_scores, scores), centres[used]
            if sums is not None:
                sums = sums[np.asarray(partition.names)]
    found = finish(
        task.method.name, partition, named, rep, points, centres, memberships, sums, judged_by
    )
    return replace(found, _update=partial(_combine_more, task))


def _memberships_on_device(points: LiftedPoints, centres: FloatArray) -> FloatArray:
    check_memberships_fit(points.X.shape[0], len(centres))
    return np.asarray(to_numpy(shares_of_scores(points.lift.scores(points.X, centres))))


def update_by_sums(task: Task) -> Callable[..., Consensus]:
    """``partial_fit`` by lift_km for a method that needs the labels of all points."""
    return partial(_combine_more, task._replace(method=METHODS["lift_km"], options={}))


def _combine_more(
    task: Task, found: Consensus, X: Points, partitions: Any, weights: Any
) -> Consensus:
    """The consensus of the points of ``found`` and of new ones."""
    assert found.representation is not None
    named = as_partitions(partitions, weights)
    if set(named) != set(found.inputs):
        raise ValueError(
            f"new points need the same partitions as the old: {list(found.inputs)}, got "
            f"{list(named)}"
        )
    old = _as_features(found.representation)
    both = old + represent_again(old, X, named)
    assert old.lift is not None
    task, points = task._replace(rng=make_rng(0)), old.lift.at(X)
    return combine_vectors(task, found.n_clusters, both, points, named, all_points=False)


def _as_features(rep: Representation) -> Representation:
    """The same clusters by a lift with features, if theirs is the exact one."""
    exact = rep.lift
    if not isinstance(exact, SpanLift):
        return rep
    lift = make_lift(exact.anchors, kernel=exact.kernel, rng=0)
    sums = lift.sums(exact.anchors, exact.memberships)  # of the consensus too, after its inputs
    return replace(rep, sums=sums[: rep.s], lift=lift)
