"""Memberships as bits: which bit of which word stands for a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.arrays import send
from ..._util.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns in which the sums of s clusters of m partitions are computed.

    Partitions that leave no point out have the same sum of all clusters, so that all but one of
    them need no column for their largest cluster: it is what is left.

    Attributes
    ----------
    tile : int
        Columns that a kernel computes at a time, 64 or 96.
    tiles, words : int
        Number of tiles; number of 32-bit words for each point, a power of two.
    first : (m,) array
        Number of clusters of the partitions before.
    bits : (s,) array
        32 · word + bit of each cluster, -1 without a column. Bits j and j + 16 of a word are
        neighbouring columns; the last two words of a tile of 96 have only 16 columns each.
    expand : (s, columns) array
        The sums of all clusters are its product with those of the columns.
    """

    tile: int
    tiles: int
    words: int
    first: IntArray
    bits: IntArray
    expand: FloatArray


def columns_on(
    like: Any, factor: float, sizes: tuple[int, ...], largest: tuple[int, ...]
) -> tuple[Columns, Any, Any, Any]:
    """The layout, and on the device its ``first``, ``bits`` and ``expand`` times the factor."""
    columns = lay_out(sizes, largest)
    arrays = columns.first, columns.bits, columns.expand * factor
    return columns, *(send(array, like) for array in arrays)


def lay_out(sizes: tuple[int, ...], largest: tuple[int, ...]) -> Columns:
    """Columns of partitions with so many clusters.

    ``largest`` is the largest cluster of each partition, -1 for one that leaves points out.

    Examples
    --------
    Three clusters, then two that are the same points: the second of these is what is left.

    >>> lay_out((3, 2), (0, 1)).expand[:, :4].astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, -1]]
    """
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    complete = [p for p, cluster in enumerate(largest) if cluster >= 0]
    derived = np.array([first[p] + largest[p] for p in complete[1:]], dtype=np.int64)
    s = sum(sizes)
    column = np.full(s, -1)
    computed = np.setdiff1d(np.arange(s), derived)
    column[computed] = np.arange(len(computed))
    tile = 64 if len(computed) <= 64 else 96
    tiles = -(-len(computed) // tile)
    per_tile = tile // 32 + tile // 96
    expand = np.zeros((s, tiles * tile))
    expand[computed, column[computed]] = 1.0
    if len(derived):
        base = slice(first[complete[0]], first[complete[0]] + sizes[complete[0]])
        for p, cluster in zip(complete[1:], derived, strict=True):
            others = expand[first[p] : first[p] + sizes[p]].sum(axis=0)
            expand[cluster] = expand[base].sum(axis=0) - others
    number, place = np.divmod(column, tile)
    in_first = place < 64
    word = np.where(in_first, place // 32, 2 + (place - 64) // 16)
    within = np.where(in_first, place % 32, place % 16)
    bits = 32 * (per_tile * number + word) + within // 2 + 16 * (within % 2)
    return Columns(
        tile,
        tiles,
        1 << (tiles * per_tile - 1).bit_length(),
        first,
        np.where(column < 0, -1, bits).astype(np.int32),
        expand,
    )
