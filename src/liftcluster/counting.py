"""What labels alone say, added up over blocks: sizes of clusters, and what they share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ._typing import FloatArray
from .contingency import PartialTable
from .streaming import shown_blocks
from .streams import Stream
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
    tables: dict[Pair, PartialTable | None] = dict.fromkeys(pairs)
    total: Tally | None = None
    for block in shown_blocks(replace(stream, X=None), "counting", progress):
        part = Tally.of(None, None, block.partitions)
        total = part if total is None else total + part
        for a, b in tables:
            found = PartialTable.of(block.partitions[a].partition, block.partitions[b].partition)
            before = tables[a, b]
            tables[a, b] = found if before is None else before + found
    assert total is not None
    return Counts(
        outlines_of(total), {pair: table for pair, table in tables.items() if table is not None}
    )


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
