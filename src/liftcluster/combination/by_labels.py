"""Consensus by methods that need the labels of all points."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from .._util.arrays import on_device
from .._util.typing import Points
from .._util.warning import warn
from ..kernels.shift_invariant import Kernel
from ..partitions.partition import Partition
from ..partitions.stack import Stack
from .evaluation import unanimous
from .methods.disagreements import Aggregation, aggregation_of
from .methods.places import Places
from .methods.places_on_device import by_first_appearance_on_device, partition_on_device
from .methods.registry import Task
from .methods.tuples import LabelTuples, by_first_appearance

_POINTS_AS_VERTICES = 3000  # a graph that METIS cuts in seconds
_PIECES_OF_A_PART = 50  # of more points: so fine that METIS can balance to within its 3 per cent


def combine_labels(
    task: Task,
    k: int | None,
    X: Points,
    named: dict[Hashable, Partition],
    *,
    kernel: Kernel | None = None,
    places: Places | None = None,
) -> Partition:
    """The consensus by a method that needs the labels of all points; places if they are known.

    Without k only by a method that chooses it. The kernel compares objects without coordinates.
    """
    method, options, rng = task.method, dict(task.options), task.rng
    first = next(iter(named.values()))
    weights = first.weights
    assert method.function is not None
    if method.needs == "labels and points":
        assert k is not None
        places = places or Places.of(Stack(named), X, k, rng=rng, kernel=kernel, **options)
        if (agreed := unanimous(named, k)) is not None:
            return agreed
        labels = method.function(places)
        if on_device(labels):
            found = partition_on_device(by_first_appearance_on_device(labels), weights)
        else:
            found = Partition.from_labels(by_first_appearance(labels)[1], weights)
        if found.k < min(k, places.graph.p):
            warn(f"{k} clusters were asked for, but only {found.k} are the best for some point")
        return found
    tuples = LabelTuples.from_partitions(named.values())
    if method.balanced and k and not options.pop("whole_tuples", False) and tuples.t > k:
        # The authors of cspa, hgpa and hbgf cut graphs of points. Whole tuples would keep METIS
        # from balancing, which often helps, but is another method.
        many = len(weights) > _POINTS_AS_VERTICES
        largest = weights.sum() / (k * _PIECES_OF_A_PART) if many else 0.0
        tuples = tuples.split(largest, weights, rng)
    labels = method.function(tuples, k, rng=rng, **options)[tuples.inverse]
    agreed = unanimous(named, first.k if method.chooses_k or k is None else k)
    return agreed or Partition.from_labels(labels, weights)


def aggregation(named: dict[Hashable, Partition], found: Partition) -> Aggregation:
    """How many pairs of points the consensus and an input judge differently, and the least."""
    tuples = LabelTuples.from_partitions(named.values())
    codes = np.empty(tuples.t, dtype=np.int64)
    # Points of a cluster without weight are in none, and cost nothing in one of their own.
    codes[tuples.inverse] = np.where(found.labels < 0, found.k, found.labels)
    return aggregation_of(tuples, codes)
