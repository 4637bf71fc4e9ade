"""Stability from clusterings that exist already, of the same points or of other samples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from ..._util.arrays import from_device
from ..._util.typing import FloatArray, IntArray, Points
from ...kernels.summary import n_points
from ...lifts.base import FeatureLift, Lift
from ...partitions.partition import Partition
from ...partitions.stack import Stack
from ...representation.representation import Representation
from ..measures.lifted import lift_emd_matrix
from .matching import Lifted, match
from .outcomes import Outcome, Tally, assess
from .replicates import Replicate
from .structureless import draw_centres, random_regions, regions_around

_NULL_RUNS = 20


def is_samples(runs: Any) -> bool:
    """Whether these are pairs (X, labels) rather than labels."""
    if isinstance(runs, Mapping) or not isinstance(runs, Sequence) or isinstance(runs, str):
        return False
    return bool(runs) and all(
        isinstance(pair, tuple) and len(pair) == 2 and np.ndim(pair[0]) == 2 for pair in runs
    )


def medoid(lift: Lift, X: Points, named: dict[Hashable, Partition]) -> Hashable:
    """The run with the least sum of LiftEMD to the others."""
    rep = lift_runs(lift, X, named)
    return list(named)[int(lift_emd_matrix(rep).sum(axis=1).argmin())]


def lift_runs(lift: Lift, X: Points, named: dict[Hashable, Partition]) -> Representation:
    """The clusters of all runs, lifted in one pass."""
    stack = Stack(named)
    return Representation(
        sums=lift.sums(X, stack),
        cluster_weights=stack.cluster_weights,
        total_weights=stack.total_weights,
        owner=stack.owner,
        cluster_names=stack.cluster_names,
        partition_names=tuple(named),
        lift=lift,
    )


def null_of_runs(
    lift: Lift, X: Points, partition: Partition, sizes: list[int], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Stability of the whole and of each cluster if the runs were random regions."""
    numbers = np.resize(np.maximum(sizes, 1), _NULL_RUNS)
    regions = random_regions(X, numbers, rng)
    found = (Replicate.of_all_points(*pair) for pair in zip(regions, numbers, strict=True))
    outcome = assess(lift, X, partition.labels, partition.k, found, partition.weights)
    return outcome.whole, np.nan_to_num(outcome.means)


def assess_samples(
    lift: Lift,
    X: Points,
    partition: Partition,
    samples: list[tuple[Points, Partition]],
    rng: np.random.Generator,
    *,
    with_null: bool,
) -> tuple[Outcome, FloatArray, FloatArray]:
    """Compare clusterings of other points with the reference, by where the clusters are.

    A mean of n lifted points is longer than that of their population, by a part that is estimated
    from the points and taken away. Returns the stability of random regions as well.
    """
    reference = _lift_sample(lift, X, partition)
    tally, null = Tally(partition.labels, partition.k), Tally(partition.labels, partition.k)
    everywhere = np.ones(partition.n, dtype=bool)
    for Y, other in samples:
        lifted = _lift_sample(lift, Y, other)
        nearest: IntArray = np.asarray(from_device(lift.assign(X, _unit(lifted.sums))))
        tally.add(match(reference, lifted), None, nearest, everywhere)
    if not with_null:
        return tally.finish(), np.empty(0), np.zeros(partition.k)
    turns = list(islice(cycle(samples), _NULL_RUNS))
    drawn = [draw_centres(n_points(Y), other.k, rng) for Y, other in turns]
    for i, (Y, _) in enumerate(samples[:_NULL_RUNS]):
        for labels in regions_around(Y, drawn[i :: len(samples)]):
            found = match(reference, _lift_sample(lift, Y, Partition.from_labels(labels)))
            null.add(found, None, np.full(partition.n, -1), ~everywhere)
    by_chance = null.finish()
    return tally.finish(), by_chance.whole, np.nan_to_num(by_chance.means)


def _lift_sample(lift: Lift, X: Points, partition: Partition) -> Lifted:
    if partition.n != n_points(X):
        raise ValueError(f"a sample has {n_points(X)} points and {partition.n} labels")
    sums = lift.sums(X, partition)
    weights = partition.cluster_weights
    noise = partition.total_weight - float(weights.sum())
    corrections = None
    if isinstance(lift, FeatureLift):
        # Σ w² (‖φ‖² − ‖Φ/W‖²), the variance of Φ(C), by its unbiased estimate.
        w = partition.weights
        R = partition.memberships.multiply(w[:, None]).power(2).tocsr()
        squares = np.asarray(R.T @ lift.squared_norms(X)).ravel()
        size = np.asarray(R.sum(axis=0)).ravel()
        mean_square = np.einsum("ij,ij->i", sums, sums) / weights**2
        count = weights**2 / size  # points that count
        factor = count / np.maximum(count - 1, 1e-9)
        corrections = np.where(count > 1.5, (squares - size * mean_square) * factor, 0.0)
    return Lifted(sums, weights, max(noise, 0.0), corrections)


def _unit(V: FloatArray) -> FloatArray:
    return V / np.maximum(np.linalg.norm(V, axis=1), 1e-300)[:, None]
