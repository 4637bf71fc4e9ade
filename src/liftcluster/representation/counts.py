"""What labels alone say, added up over blocks: sizes of clusters, and what they share."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from .._util.progress import busy
from .._util.typing import FloatArray
from ..partitions.contingency import PartialTable
from ..streaming.streams import PointBlock, Stream
from .dask_passes import add_up_chunks, is_on_dask
from .passes import shown_blocks
from .tally import Tally

__all__ = ["Counts", "Outline", "count_clusters", "outlines_of"]

Pair = tuple[Hashable, Hashable]
_ROUNDING = 1e-12  # a share of noise below this is none


@dataclass(frozen=True, eq=False, repr=False)
class Outline:
    """What is kept of a partition whose points were read in blocks: its clusters, not its points.

    Attributes are those of a Partition: n, k, names, masses, noise_mass, is_hard.
    """

    n: int
    names: tuple[Hashable, ...]
    masses: FloatArray
    is_hard: bool

    @property
    def k(self) -> int:
        return len(self.names)

    @property
    def noise_mass(self) -> float:
        rest = 1 - float(self.masses.sum())
        return rest if rest > _ROUNDING else 0.0

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        kind = "hard" if self.is_hard else "soft"
        noise = f", {self.noise_mass:.1%} noise" if self.noise_mass else ""
        return f"Outline({kind}, n={self.n}, k={self.k}{noise})"


@dataclass(frozen=True, eq=False)
class Counts:
    """Partitions in outline, and what the clusters of some pairs of them share."""

    outlines: dict[Hashable, Outline]
    tables: dict[Pair, PartialTable] = field(default_factory=dict)


def count_clusters(
    stream: Stream, pairs: Iterable[Pair] = (), progress: bool | None = None
) -> Counts:
    """One look at the labels of a stream, without its points."""
    labels, wanted = replace(stream, X=None), tuple(pairs)
    if is_on_dask(labels):
        with busy("counting", show=progress):
            total = add_up_chunks(labels, _count, operator.add, wanted)
    else:
        blocks = shown_blocks(labels, "counting", progress)
        total = reduce(operator.add, (_count(wanted, block) for block in blocks))
    return Counts(outlines_of(total.tally), total.tables)


@dataclass(frozen=True, eq=False)
class _Found:
    """What a block of points adds to the counts."""

    tally: Tally
    tables: dict[Pair, PartialTable]

    def __add__(self, other: _Found) -> _Found:
        tables = {pair: table + other.tables[pair] for pair, table in self.tables.items()}
        return _Found(self.tally + other.tally, tables)


def _count(pairs: tuple[Pair, ...], block: PointBlock) -> _Found:
    parts = {name: found.partition for name, found in block.partitions.items()}
    tables = {(a, b): PartialTable.of(parts[a], parts[b]) for a, b in pairs}
    return _Found(Tally.of(None, None, block.partitions), tables)


def outlines_of(tally: Tally) -> dict[Hashable, Outline]:
    """The partitions of a tally."""
    whole = tally.in_order()
    masses = whole.cluster_weights / whole.total_weights[whole.owner]
    outlines = {}
    for i, name in enumerate(whole.partition_names):
        own = np.flatnonzero(whole.owner == i)
        names = tuple(whole.cluster_names[j] for j in own)
        outlines[name] = Outline(int(whole.sizes[i]), names, masses[own], bool(whole.hard[i]))
    return outlines
