"""How the clusters of a reference fare in many replicates, added up in a few passes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..._util.arrays import add_up, constant_array
from ..._util.typing import Array, FloatArray, IntArray, Points
from ...lifts.base import Lift
from ...partitions.partition import Partition
from ...partitions.stack import Stack
from .matching import Lifted, Match, match
from .replicates import Replicate

_BATCH = 32  # replicates that are lifted together


@dataclass(frozen=True, eq=False)
class Outcome:
    """What B replicates say of the k clusters and n points of a reference.

    Attributes
    ----------
    values : (B, k) array
        Stability of each cluster in each replicate; NaN if it has no points there.
    whole : (B,) array
        Stability of the whole partition.
    distances : (B,) array
        LiftEMD to the reference.
    jaccard : (B, k) array or None
        Largest Jaccard index with a cluster of the replicate; None without common points.
    flows : (k, k) array
        Share of each cluster that is together with each of them in a cluster of a replicate.
    pieces : (k,) array
        Number of clusters of a replicate that a cluster is divided among, on average.
    points : (n,) array
        Mean share of the point's cluster in the replicate that comes from its own cluster.
    """

    values: FloatArray
    whole: FloatArray
    distances: FloatArray
    jaccard: FloatArray | None
    flows: FloatArray
    pieces: FloatArray
    points: FloatArray

    @property
    def means(self) -> FloatArray:
        """(k,) mean stability of each cluster over the replicates that have it."""
        return mean_of_known(self.values)


def mean_of_known(values: FloatArray) -> FloatArray:
    """Means of the columns without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def assess(
    lift: Lift,
    X: Points,
    codes: IntArray,
    k: int,
    found: Iterable[Replicate],
    weights: FloatArray | None = None,
    advance: Callable[[int], None] = lambda steps: None,
) -> Outcome:
    """Compare replicates with the reference, each on the points that the replicate has."""
    weights = constant_array(1.0, len(codes)) if weights is None else weights
    tally = Tally(codes, k)
    remaining = iter(found)
    while batch := tuple(islice(remaining, _BATCH)):
        for replicate, (reference, other) in zip(
            batch, _lift_batch(lift, X, codes, k, batch, weights), strict=True
        ):
            shared = np.where(replicate.counts > 0, replicate.codes, -2)
            overlap = _overlap(codes, shared, k, replicate.k, replicate.times(weights))
            tally.add(match(reference, other), overlap, replicate.codes, replicate.known)
            advance(1)
    return tally.finish()


def _lift_batch(
    lift: Lift,
    X: Points,
    codes: IntArray,
    k: int,
    batch: tuple[Replicate, ...],
    weights: FloatArray,
) -> Iterator[tuple[Lifted, Lifted]]:
    """The reference and the replicate, lifted with the weights of each replicate's points."""
    names = tuple(range(max(k, *(r.k for r in batch))))
    counts = batch[0].counts
    same = all(r.counts is counts or np.array_equal(r.counts, counts) for r in batch)
    parts: dict[Hashable, Partition] = {}
    for i, r in enumerate(batch):
        w = parts[0].weights if same and i else r.times(weights)
        inside = r.counts > 0
        if not (same and i):  # all replicates of the same points have one reference
            parts[2 * i] = Partition(np.where(inside, codes, -1), names[:k], w)
        parts[2 * i + 1] = Partition(np.where(inside, r.codes, -1), names[: r.k], w)
    some = {i: p for i, p in parts.items() if p.k}
    sums = lift.sums(X, Stack(some))
    starts = np.cumsum([0] + [p.k for p in some.values()])
    rows = {i: sums[a:b] for i, a, b in zip(some, starts[:-1], starts[1:], strict=True)}
    for i in range(len(batch)):
        total = float(parts[2 * i + 1].weights.sum())
        first = 2 * i if 2 * i in parts else 0
        yield (
            as_lifted(rows[first], parts[first], total),
            as_lifted(rows.get(2 * i + 1, sums[:0]), parts[2 * i + 1], total),
        )


def as_lifted(sums: FloatArray, partition: Partition, total: float) -> Lifted:
    """A partition of points with this total weight as vectors, given its sums Φ(C)."""
    own = partition.cluster_weights
    noise = total - float(own.sum())
    return Lifted(sums, own, noise if noise > 1e-9 * total else 0.0)


def _overlap(codes: IntArray, other: IntArray, k: int, m: int, weights: FloatArray) -> FloatArray:
    """(k, m + 1) weights of the points in each cluster of both; the last column is noise."""
    inside = (codes >= 0) & (other >= -1)
    column = np.where(other[inside] < 0, m, other[inside])
    cells = codes[inside] * (m + 1) + column
    return add_up(weights[inside], cells, k * (m + 1)).reshape(k, m + 1)


class Tally:
    """Sums over replicates."""

    def __init__(self, codes: IntArray, k: int) -> None:
        self.codes, self.k = codes, k
        self.matches: list[Match] = []
        self.jaccard: list[FloatArray] = []
        self.flows = np.zeros((k, k))
        self.pieces, self.seen = np.zeros(k), np.zeros(k)
        self.stays, self.known = np.zeros(len(codes)), np.zeros(len(codes))

    def add(self, found: Match, overlap: FloatArray | None, other: IntArray, known: Array) -> None:
        """One more replicate; ``overlap`` is None if it has other points."""
        self.matches.append(found)
        table = found.plan if overlap is None else overlap
        own = table.sum(axis=1)
        share = table / np.where(own > 0, own, 1)[:, None]  # of each cluster, where it goes
        if overlap is not None:
            clusters = overlap[:, :-1]
            union = own[:, None] + clusters.sum(axis=0) - clusters
            index = np.divide(clusters, union, out=np.zeros_like(clusters), where=union > 0)
            best = index.max(axis=1, initial=0.0)
            self.jaccard.append(np.where(own > 0, best, np.nan))
            share = share[:, :-1]
            table = clusters
        total = np.maximum(table.sum(axis=0), 1e-300)
        self.flows += share @ (table / total).T
        self.pieces += np.where(own > 0, 1 / np.maximum((share**2).sum(axis=1), 1e-12), 0)
        self.seen += own > 0
        clustered = known & (self.codes >= 0) & (other >= 0)
        values = found.received[self.codes[clustered], other[clustered]]
        self.stays[clustered] += np.minimum(values, 1)
        self.known += known & (self.codes >= 0)

    def finish(self) -> Outcome:
        seen = np.maximum(self.seen, 1)
        points = np.full(len(self.codes), np.nan)
        np.divide(self.stays, self.known, out=points, where=self.known > 0)
        return Outcome(
            values=np.array([m.values for m in self.matches]).reshape(-1, self.k),
            whole=np.array([m.whole for m in self.matches]),
            distances=np.array([m.distance for m in self.matches]),
            jaccard=np.array(self.jaccard) if self.jaccard else None,
            flows=self.flows / seen[:, None],
            pieces=self.pieces / seen,
            points=points,
        )
