"""Consensus of partitions that are read in blocks: a pass that lifts, and one that assigns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np

from .._util.dask import is_dask
from .._util.typing import Array, FloatArray, IntArray, Points
from ..comparison.measures.lifted import lift_emd_matrix
from ..lifts.base import Lift
from ..lifts.choice import Lifting, choose_settings
from ..lifts.settings import Exact
from ..partitions.blocks import as_block
from ..partitions.contingency import Contingency, PartialTable
from ..partitions.partition import Partition
from ..representation.counts import (
    PartitionSummary,
    count_clusters,
    summaries_of_representation,
    summaries_of_tally,
)
from ..representation.passes import check_few, lift_streams
from ..representation.representation import Representation
from ..representation.tally import Tally
from ..streaming.dask_chunks import is_on_dask
from ..streaming.passes import add_up, blocks_with_progress, check_holds_labels, check_one_row_each
from ..streaming.rows import len_of
from ..streaming.sources import is_in_memory
from ..streaming.streams import PointBlock, Stream, stream_of_points
from .agreement import Agreement, agreement_by, main_clusters
from .assigning import predict_clusters
from .composition import Composition, compose
from .evaluation import CONSENSUS
from .grouping import group_clusters, lifting_for_consensus, warn_if_fewer
from .judging import Distances, distances_by_tables, judging_lifting
from .methods.registry import METHODS, Task
from .result import Consensus, Lifted


def is_read_into_memory(stream: Stream, lifting: Lifting) -> bool:
    """Whether there are so few points, or none, that they are read into memory."""
    X, is_exact = stream.X, isinstance(lifting.lift, Exact)
    if X is None or (is_exact and not X.origin.repeats):
        return True
    if lifting.is_fitted or not X.origin.repeats:
        return False
    n = X.origin.count(X.part)
    if is_exact and not is_in_memory(X):
        check_few(n, lifting.kernel)
    return isinstance(choose_settings(lifting, n, None), Exact)


def consensus_of_stream(
    task: Task,
    n_clusters: int | str,
    stream: Stream,
    lifting: Lifting,
    out: Any,
    progress: bool | None,
) -> Consensus:
    """Algorithm 1 in two passes over the points."""
    k = _check_method(task, n_clusters, "must be in memory, and here are read in blocks")
    if not stream.repeats:
        raise ValueError(
            "a consensus makes two passes over points and labels, and some of these come from a "
            "generator, which can be read only once; give Blocks a function that returns a new one"
        )
    if out is not None:
        if stream.n not in (None, len_of(out)):
            raise ValueError(f"out has {len_of(out)} rows but there are {stream.n} points")
        check_holds_labels(out, k)
    assert stream.X is not None
    if not lifting.is_fitted:
        lifting = lifting_for_consensus(lifting, stream.X.origin.count(stream.X.part))
    made = lift_streams([stream], lifting, task.rng, progress=progress)
    assert made is not None  # few points are read into memory
    lift, inputs, rng = made
    rep = inputs.finish(lift)
    centres = group_clusters(task._replace(rng=rng), k, rep)
    judged_by = judging_lifting(lift, lifting)
    return _assign(
        stream, task, k, rep, centres, summaries_of_tally(inputs), out, progress, judged_by
    )


def consensus_of_representation(
    task: Task,
    n_clusters: int | str,
    rep: Representation,
    X: Points,
    weights: Any,
    out: Any,
    progress: bool | None,
) -> Consensus:
    """Algorithm 1 for clusters that are lifted already; one pass over the points, if given."""
    k = _check_method(task, n_clusters, "a Representation does not have")
    if len(set(rep.partition_names)) < rep.m:
        raise ValueError(f"the partitions need different names, got {rep.partition_names}")
    if X is None and (weights is not None or out is not None):
        useless = "weights" if weights is not None else "out"
        raise ValueError(f"{useless} cannot apply without the points X; give X, or leave it out")
    if X is not None and (rep.lift is None or rep.lift.is_exact):
        has = "no lift" if rep.lift is None else "an exact lift, which spans only its own clusters"
        raise ValueError(
            f"the representation has {has}, so the points X cannot be assigned by it; give "
            'consensus the partitions, or lift them by features: represent(..., lift="nystroem")'
        )
    centres = group_clusters(task, k, rep)
    summaries, name = summaries_of_representation(rep), task.method.name
    if X is None:
        return Consensus(name, summaries, len(centres), _lifted=Lifted(rep, centres))
    stream = stream_of_points(X, weights)
    return _assign(stream, task, k, rep, centres, summaries, out, progress)


def _check_method(task: Task, n_clusters: int | str, why: str) -> int:
    if task.method.needs != "vectors":
        able = ", ".join(m.name for m in METHODS.values() if m.needs == "vectors")
        raise ValueError(
            f"{task.method.name} needs the labels of all points, which {why}; use {able} or a "
            "clusterer"
        )
    if isinstance(n_clusters, str):
        raise ValueError(
            f'n_clusters="auto" needs the labels of all points, which {why}; give a number, for '
            "example what a sample of the points suggests"
        )
    return n_clusters


def _assign(
    stream: Stream,
    task: Task,
    k: int,
    rep: Representation,
    centres: FloatArray,
    inputs: dict[Hashable, PartitionSummary],
    out: Any,
    progress: bool | None,
    judged_by: Callable[[], Lifting] | None = None,
) -> Consensus:
    """The result after a pass that assigns every point to a group of lifted clusters."""
    assert rep.lift is not None
    assert stream.X is not None
    judge = None if judged_by is None else judged_by().lift
    shared, labels = (rep.lift, centres, judge), _Labels(out)
    if is_on_dask(stream):
        groups = add_up(stream, _groups_of_block, shared, "assigning", progress)
    else:
        blocks = blocks_with_progress(stream, "assigning", progress)
        groups = reduce(add, (_groups_of_block(shared, block, labels) for block in blocks))
        if out is not None:
            check_one_row_each(out, labels.rows[-1].stop)
    own = np.flatnonzero(groups.tally.owner == len(groups.tally.sizes) - 1)  # of the consensus
    weights = {groups.tally.cluster_names[i]: groups.tally.cluster_weights[i] for i in own}
    used = np.flatnonzero([i in weights for i in range(len(centres))])
    warn_if_fewer(k, rep, len(centres), len(used))
    if labels.rows:
        found = labels.among(used, len(centres))
    else:  # only sums have come back from Dask's workers
        found = predict_clusters(rep.lift, centres[used], stream.X, out, None)
    masses = np.array([weights[i] for i in used.tolist()]) / groups.tally.total_weights[-1]
    if judge is None:
        together = rep + groups.tally.finish(rep.lift)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of empty clusters, which are known
            together = groups.tally.finish(judge)
    reader = _StreamedLabels(replace(stream, X=None), groups.shared, used)
    return Consensus(
        task.method.name,
        inputs,
        len(used),
        labels=found,
        masses=masses,
        _lifted=Lifted(rep, centres[used]),
        _composition=_composition(rep, groups.shared, used),
        _judge=Distances.of(lift_emd_matrix(together)),
        _reader=reader if groups.shared else None,
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Sums of the groups over some points, and their contingency tables with each input."""

    tally: Tally
    shared: dict[Hashable, PartialTable]

    def __add__(self, other: _Groups) -> _Groups:
        shared = {name: table + other.shared[name] for name, table in self.shared.items()}
        return _Groups(self.tally + other.tally, shared)


def _groups_of_block(
    shared: tuple[Lift, FloatArray, Lift | None], block: PointBlock, labels: _Labels | None = None
) -> _Groups:
    """The sums of a block; its labels are added to ``labels``."""
    lift, centres, judge = shared
    codes = lift.assign(block.X, centres).astype(np.int32)
    if labels is not None:
        labels.add(block.rows, codes)
    inputs = {name: part.partition for name, part in block.partitions.items()}
    weights = next((p.weights for p in inputs.values()), block.weights)
    numbers = tuple(range(len(centres)))
    tables = {
        name: PartialTable.of(p, Partition(codes, numbers, p.weights)) for name, p in inputs.items()
    }
    lifted: dict[Hashable, Any] = {CONSENSUS: as_block(codes, weights)}
    if judge is not None:
        lifted = block.partitions | lifted
    return _Groups(Tally.of(judge or lift, block.X, lifted), tables)


@dataclass(frozen=True, eq=False)
class _StreamedLabels:
    """Labels of the inputs that are read once more, and where their clusters lie."""

    stream: Stream  # without points
    shared: dict[Hashable, PartialTable]  # with all groups
    used: IntArray  # the groups that have points

    def agreement(self, labels: Any) -> Agreement:
        """The agreement of the inputs with the labels of all points."""
        main = {
            name: main_clusters(table.table[:, self.used]) for name, table in self.shared.items()
        }
        row = {
            name: {cluster: i for i, cluster in enumerate(table.names[0])}
            for name, table in self.shared.items()
        }
        found = []
        labels = np.asarray(labels) if is_dask(labels) else labels
        for block in self.stream.blocks():
            parts = {name: part.partition for name, part in block.partitions.items()}
            inputs = [
                (p, main[name][[row[name][cluster] for cluster in p.names]])
                for name, p in parts.items()
            ]
            own = agreement_by(inputs, np.asarray(labels[block.rows]))
            found.append(own._replace(overruled=own.overruled + block.rows.start))
        return Agreement(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def distances(self, rows: IntArray) -> Distances:
        """Variation of information of some inputs, and of the consensus, to all inputs."""
        names, m = list(self.shared), len(self.shared)
        chosen = set(rows.tolist())
        pairs = [(i, j) for i, j in combinations(range(m), 2) if i in chosen or j in chosen]
        stream = self.stream
        if stream.weights is None:  # those of one partition for all
            parts = (p for p in stream.partitions.values() if isinstance(p, Partition))
            stream = replace(stream, weights=next((p.weights for p in parts), None))
        counted = count_clusters(stream, [(names[i], names[j]) for i, j in pairs]).tables

        def between(i: int, j: int) -> Contingency | None:
            part = self.shared[names[i]] if j == m else counted[names[i], names[j]]
            return part.finish() if part.table.sum() > 0 else None

        return distances_by_tables(between, m, rows)


@dataclass(eq=False)
class _Labels:
    """Groups of points, block by block, kept in memory or written to ``out``."""

    out: Any
    kept: list[IntArray] = field(default_factory=list)
    rows: list[slice] = field(default_factory=list)

    def add(self, rows: slice, codes: IntArray) -> None:
        self.rows.append(rows)
        if self.out is None:
            self.kept.append(codes)
        else:
            check_one_row_each(self.out, rows.stop, so_far=True)
            self.out[rows] = codes

    def among(self, used: IntArray, k: int) -> Any:
        """All labels, counting only the groups that have points."""
        if self.out is None:
            return np.searchsorted(used, np.concatenate(self.kept)).astype(np.int32)
        if len(used) < k:
            for rows in self.rows:
                self.out[rows] = np.searchsorted(used, self.out[rows])
        return self.out


def _composition(
    rep: Representation, shared: dict[Hashable, PartialTable], used: IntArray
) -> Composition:
    """For each group the share that it has of each input cluster."""
    shares = {}
    for i, name in enumerate(rep.partition_names):
        if name in shared:
            own = np.flatnonzero(rep.owner == i)
            weights = {rep.cluster_names[j]: rep.cluster_weights[j] for j in own}
            clusters = shared[name].names[0]
            table: Array = shared[name].table[:, used].toarray()
            kept = [row for row, cluster in enumerate(clusters) if cluster in weights]
            totals = np.array([weights[clusters[row]] for row in kept])
            shares[name] = tuple(clusters[row] for row in kept), table[kept] / totals[:, None]
    return compose(shares, len(used))
