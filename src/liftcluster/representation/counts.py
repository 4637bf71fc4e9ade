"""Sizes of clusters and contingency tables, added up over blocks of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from .._util.typing import FloatArray
from ..partitions.contingency import PartialTable
from ..streaming.passes import add_up
from ..streaming.streams import PointBlock, Stream
from .representation import Representation
from .tally import Tally

Pair = tuple[Hashable, Hashable]
_ROUNDING = 1e-12  # a share of noise below this is none


@dataclass(frozen=True, eq=False, repr=False)
class PartitionSummary:
    """The clusters of a partition without its points, which were read in blocks or lifted.

    Attributes are those of a Partition: n, k, names, masses, noise_mass, is_hard. From a
    Representation n and is_hard are not known: None.
    """

    n: int | None
    names: tuple[Hashable, ...]
    masses: FloatArray
    is_hard: bool | None

    @property
    def k(self) -> int:
        return len(self.names)

    @property
    def noise_mass(self) -> float:
        rest = 1 - float(self.masses.sum())
        return rest if rest > _ROUNDING else 0.0

    def __repr__(self) -> str:
        known = "" if self.is_hard is None else "hard, " if self.is_hard else "soft, "
        known += "" if self.n is None else f"n={self.n}, "
        noise = f", {self.noise_mass:.1%} noise" if self.noise_mass else ""
        return f"PartitionSummary({known}k={self.k}{noise})"


@dataclass(frozen=True, eq=False)
class Counts:
    """Summaries of partitions, and contingency tables of some pairs of them."""

    summaries: dict[Hashable, PartitionSummary]
    tables: dict[Pair, PartialTable] = field(default_factory=dict)


def count_clusters(
    stream: Stream, pairs: Iterable[Pair] = (), progress: bool | None = None
) -> Counts:
    """One pass over the labels of a stream, without its points."""
    labels = replace(stream, X=None)
    total = add_up(labels, _count, tuple(pairs), "counting", progress)
    return Counts(summaries_of_tally(total.tally), total.tables)


@dataclass(frozen=True, eq=False)
class _BlockCounts:
    """Counts of a block of points."""

    tally: Tally
    tables: dict[Pair, PartialTable]

    def __add__(self, other: _BlockCounts) -> _BlockCounts:
        tables = {pair: table + other.tables[pair] for pair, table in self.tables.items()}
        return _BlockCounts(self.tally + other.tally, tables)


def _count(pairs: tuple[Pair, ...], block: PointBlock) -> _BlockCounts:
    parts = {name: found.partition for name, found in block.partitions.items()}
    tables = {(a, b): PartialTable.of(parts[a], parts[b]) for a, b in pairs}
    return _BlockCounts(Tally.of(None, None, block.partitions), tables)


def summaries_of_tally(tally: Tally) -> dict[Hashable, PartitionSummary]:
    """The partitions of a tally by name."""
    whole = tally.in_order()
    masses = whole.cluster_weights / whole.total_weights[whole.owner]
    summaries = {}
    for i, name in enumerate(whole.partition_names):
        own = np.flatnonzero(whole.owner == i)
        names = tuple(whole.cluster_names[j] for j in own)
        summaries[name] = PartitionSummary(
            int(whole.sizes[i]), names, masses[own], bool(whole.hard[i])
        )
    return summaries


def summary_of_lifted(part: Representation) -> PartitionSummary:
    """A partition of which only the cluster vectors are known."""
    return PartitionSummary(None, part.cluster_names, part.masses, None)


def summaries_of_representation(rep: Representation) -> dict[Hashable, PartitionSummary]:
    """The partitions of a representation by name."""
    return {name: summary_of_lifted(rep[i]) for i, name in enumerate(rep.partition_names)}
