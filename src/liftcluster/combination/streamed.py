"""Consensus of partitions that come in blocks: two looks at the points, nothing of their size held.

The first look lifts the clusters of all inputs, the second gives each point to a group of them.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from os import PathLike
from typing import Any

import numpy as np

from .._util.arrays import on_device
from .._util.html import paragraph, table
from .._util.progress import busy
from .._util.typing import Array, FloatArray, IntArray, Points, RngLike
from .._util.validation import make_rng
from ..comparison.measures.lifted import lift_emd_matrix
from ..kernels.kernel import as_kernel
from ..lifts.base import Lift
from ..lifts.choice import choose_lift
from ..partitions.contingency import PartialTable
from ..partitions.partition import Partition
from ..representation.counts import Outline, outlines_of
from ..representation.dask_passes import add_up_chunks, is_on_dask
from ..representation.passes import (
    check_holds_labels,
    check_one_row_each,
    lift_streams,
    map_points,
    open_checkpoint,
    shown_blocks,
)
from ..representation.representation import Representation
from ..representation.surveying import check_few
from ..representation.tally import Tally
from ..streaming.sources import Source, is_in_memory, is_streamed, len_of
from ..streaming.streams import PointBlock, Stream
from .by_vectors import (
    CONSENSUS,
    distances_to_inputs,
    features_for_consensus,
    group_clusters,
    listed_parts,
    shares_of_scores,
    warn_if_fewer,
)
from .methods.lifted import lift_ssd
from .methods.registry import METHODS

__all__ = [
    "StreamedConsensus",
    "consensus_of_stream",
    "is_read_whole",
    "predict_clusters",
    "predict_shares",
]

_MOST_ROWS = 30  # of a table in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class StreamedConsensus:
    """What partitions agree on whose points came in blocks; made by :func:`consensus`.

    Like :class:`Consensus`, without what is as large as all points: memberships of a block are
    what ``predict_proba`` gives for it.

    Attributes
    ----------
    labels : (n,) int32 array, or what was given as ``out``
        A dask array, not computed yet, where the points are one.
    n_clusters : int
    masses : (k,) array
        Share of the weight that each cluster has.
    inputs : mapping from the names of the inputs to their outlines
    centres : (k, ρ) array
        What points are scored by.
    representation : Representation
        The clusters of the inputs, lifted.
    score : float
        liftSSD of the centres.
    composition : list of lists
        For each consensus cluster the input clusters it is made of, as (partition, cluster, share
        of that cluster), largest first.
    mean_distance, best_input_distance : float
        Mean LiftEMD of the consensus to the inputs, and the least mean of an input to the others.
    """

    method: str
    labels: Any
    masses: FloatArray
    inputs: dict[Hashable, Outline]
    representation: Representation
    centres: FloatArray
    composition: list[list[tuple[Hashable, Hashable, float]]]
    mean_distance: float
    best_input_distance: float

    @property
    def n_clusters(self) -> int:
        return len(self.centres)

    @cached_property
    def score(self) -> float:
        return lift_ssd(self.representation, self.centres)

    @property
    def memberships(self) -> FloatArray:
        raise AttributeError(
            "memberships of points that come in blocks are not held; predict_proba gives those of "
            "any points, block by block into out= if you like"
        )

    @property
    def confidence(self) -> FloatArray:
        raise AttributeError(
            "confidence needs the memberships of all points, which are not held where those come "
            "in blocks; see predict_proba"
        )

    def predict(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """Consensus cluster of points; those that come in blocks may go to ``out``."""
        return predict_clusters(self._lift, self.centres, X, out, progress)

    def predict_proba(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """(n, k) memberships of points: ⟨φ(x), v⟩, negative ones taken for none."""
        return predict_shares(self._lift, self.centres, X, out, progress)

    @property
    def _lift(self) -> Lift:
        assert self.representation.lift is not None
        return self.representation.lift

    def __repr__(self) -> str:
        n = next(iter(self.inputs.values())).n
        return (
            f"StreamedConsensus({self.method} of {len(self.inputs)} partitions: {self.n_clusters} "
            f"clusters of {n} points, liftSSD = {self.score:.4f})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (i, f"{self.masses[i]:.1%}", listed_parts(self.composition[i]))
            for i in range(min(self.n_clusters, _MOST_ROWS))
        ]
        more = self.n_clusters - len(rows)
        distances = (
            f"mean distance to the inputs {self.mean_distance:.4f}; the most central input has "
            f"{self.best_input_distance:.4f} to the others"
        )
        return (
            paragraph(repr(self))
            + table(("cluster", "share", "made of (share of that cluster)"), rows)
            + (paragraph(f"… and {more} more") if more else "")
            + paragraph(distances)
        )


def predict_clusters(
    lift: Lift, centres: FloatArray, X: Points, out: Any, progress: bool | None
) -> Any:
    """Position of the centre that each point is most like; for many points as int32."""

    kind = np.int32 if is_streamed(X) else np.int64
    if out is not None:
        check_holds_labels(out, len(centres))

    def assign(block: Points) -> IntArray:  # sent to others, so it must not hold X
        labels = lift.assign(block, centres)
        return labels if on_device(labels) else labels.astype(kind, copy=False)

    none = np.empty(0, dtype=kind)
    return map_points(assign, X, out=out, like=none, what="predicting", progress=progress)


def predict_shares(
    lift: Lift, centres: FloatArray, X: Points, out: Any, progress: bool | None
) -> Any:
    """(n, k) memberships in proportion to similarity."""

    def share(block: Points) -> FloatArray:
        return shares_of_scores(lift.scores(block, centres))

    none = np.empty((0, len(centres)))
    return map_points(share, X, out=out, like=none, what="predicting", progress=progress)


def is_read_whole(stream: Stream, lifting: dict[str, Any]) -> bool:
    """Whether there are so few points, or none, that they are taken as if they were in memory."""
    X, lift = stream.X, lifting["lift"]
    if X is None or (lift == "exact" and not X.origin.repeats):
        return True
    if not isinstance(lift, str) or not X.origin.repeats:
        return False
    n, kernel = X.origin.count(X.part), as_kernel(lifting["kernel"])
    if lift == "exact" and not is_in_memory(X):
        check_few(n, kernel)
    name = choose_lift(lift, n, kernel, lifting["n_components"], spans=True)
    return name == "exact"


def consensus_of_stream(
    stream: Stream,
    n_clusters: int | str,
    *,
    method: Any,
    options: dict[str, Any],
    lifting: dict[str, Any],
    rng: RngLike = None,
    out: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> StreamedConsensus:
    """Algorithm 1 in two looks at the points."""
    k = _checked_task(stream, n_clusters, method, out)
    assert stream.X is not None
    if isinstance(lifting["lift"], str):
        lifting = features_for_consensus(lifting, stream.X.origin.count(stream.X.part))
    file = open_checkpoint(checkpoint, [stream], {**lifting, "rng": rng})
    made = lift_streams([stream], rng=make_rng(rng), checkpoint=file, progress=progress, **lifting)
    assert made is not None  # few points do not come here
    lift, inputs, rng = made
    rep = inputs.finish(lift)
    centres, name = group_clusters(method, rep, k, options, rng)
    look = _SecondLook(lift, centres, out)
    groups = look.at(stream, progress)
    used = np.flatnonzero([i in groups.tally.cluster_names for i in range(len(centres))])
    warn_if_fewer(k, rep, len(centres), len(used))
    D = lift_emd_matrix(rep + groups.tally.finish(lift))
    mean_distance, best_input_distance = distances_to_inputs(D)
    found = StreamedConsensus(
        method=name,
        labels=look.labels_among(used, stream.X),
        masses=_masses(groups.tally, used),
        inputs=outlines_of(inputs),
        representation=rep,
        centres=centres[used],
        composition=_composition(rep, groups.shared, used),
        mean_distance=mean_distance,
        best_input_distance=best_input_distance,
    )
    if file is not None:
        file.remove()
    return found


def _checked_task(stream: Stream, n_clusters: int | str, method: Any, out: Any) -> int:
    """How many clusters to make, of what can be done in blocks."""
    if isinstance(method, str) and METHODS[method].needs != "vectors":
        able = [m.name for m in METHODS.values() if m.needs == "vectors"]
        raise ValueError(
            f"{method} looks at the labels of all points at once, so these must be in memory; "
            f"points that come in blocks are combined by {', '.join(able)} or a clusterer"
        )
    if isinstance(n_clusters, str):
        raise ValueError(
            'n_clusters="auto" looks at the labels of all points at once; give a number for '
            "points that come in blocks, for example what a sample of them suggests"
        )
    if not stream.repeats:
        raise ValueError(
            "a consensus looks at points and labels twice, and some of these come from a "
            "generator, which can be read only once; give Blocks a function that returns a new one"
        )
    if out is not None:
        if stream.n not in (None, len_of(out)):
            raise ValueError(f"out has {len_of(out)} rows but there are {stream.n} points")
        check_holds_labels(out, n_clusters)
    return n_clusters


@dataclass(frozen=True, eq=False)
class _Groups:
    """What some points add to the groups, and what these share with the clusters of each input."""

    tally: Tally
    shared: dict[Hashable, PartialTable]

    @classmethod
    def of(cls, lift: Lift, block: PointBlock, codes: IntArray, k: int) -> _Groups:
        inputs = {name: part.partition for name, part in block.partitions.items()}
        weights = next(iter(inputs.values())).weights
        numbers = tuple(range(k))
        return cls(
            Tally.of(lift, block.X, {CONSENSUS: codes}, weights),
            {
                name: PartialTable.of(p, Partition(codes, numbers, p.weights))
                for name, p in inputs.items()
            },
        )

    def __add__(self, other: _Groups) -> _Groups:
        shared = {name: table + other.shared[name] for name, table in self.shared.items()}
        return _Groups(self.tally + other.tally, shared)


def _groups_of_block(shared: tuple[Lift, FloatArray], block: PointBlock) -> _Groups:
    lift, centres = shared
    codes = lift.assign(block.X, centres).astype(np.int32)
    return _Groups.of(lift, block, codes, len(centres))


@dataclass(eq=False)
class _SecondLook:
    """Points are given to their groups, block by block; what is kept of it adds up."""

    lift: Lift
    centres: FloatArray
    out: Any
    labels: list[IntArray] = field(default_factory=list)
    rows: list[slice] = field(default_factory=list)

    def at(self, stream: Stream, progress: bool | None) -> _Groups:
        if is_on_dask(stream):
            with busy("assigning", show=progress):
                shared = (self.lift, self.centres)
                return add_up_chunks(stream, _groups_of_block, operator.add, shared)
        blocks = shown_blocks(stream, "assigning", progress)
        groups = reduce(operator.add, map(self._see, blocks))
        if self.out is not None:
            check_one_row_each(self.out, self.rows[-1].stop)
        return groups

    def _see(self, block: PointBlock) -> _Groups:
        codes = self.lift.assign(block.X, self.centres).astype(np.int32)
        self.rows.append(block.rows)
        if self.out is None:
            self.labels.append(codes)
        else:
            check_one_row_each(self.out, block.rows.stop, so_far=True)
            self.out[block.rows] = codes
        return _Groups.of(self.lift, block, codes, len(self.centres))

    def labels_among(self, used: IntArray, X: Source) -> Any:
        """All labels, counting only the groups that have points."""
        if not self.rows:  # workers have seen the points, and only sums have come back
            return predict_clusters(self.lift, self.centres[used], X, self.out, None)
        if self.out is None:
            return np.searchsorted(used, np.concatenate(self.labels)).astype(np.int32)
        if len(used) < len(self.centres):
            for rows in self.rows:
                self.out[rows] = np.searchsorted(used, self.out[rows])
        return self.out


def _masses(groups: Tally, used: IntArray) -> FloatArray:
    """Share of the weight of each group, zero for one whose points weigh nothing."""
    weight = dict(zip(groups.cluster_names, groups.cluster_weights, strict=True))
    return np.array([weight[i] for i in used.tolist()]) / groups.total_weights[0]


def _composition(
    rep: Representation, shared: dict[Hashable, PartialTable], used: IntArray
) -> list[list[tuple[Hashable, Hashable, float]]]:
    """For each group what share of which input cluster it has."""
    made_of: list[list[tuple[Hashable, Hashable, float]]] = [[] for _ in used]
    for i, name in enumerate(rep.partition_names):
        own = np.flatnonzero(rep.owner == i)
        weight = {rep.cluster_names[j]: rep.cluster_weights[j] for j in own}
        table: Array = shared[name].table[:, used].toarray()
        for row, cluster in enumerate(shared[name].names[0]):
            for group in np.flatnonzero(table[row] if cluster in weight else []):
                share = float(table[row, group] / weight[cluster])
                made_of[group].append((name, cluster, share))
    return [sorted(parts, key=lambda part: -part[2]) for parts in made_of]
