"""Where clusterings differ, for the plots: distances between clusters that share points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..._util.typing import IntArray
from ...comparison.comparison import Comparison
from ...partitions.partition import Partition

MAX_CELLS = 5_000_000  # of all pairs of clusterings, one byte each


def shared_cells(
    pairs: Mapping[tuple[int, int], Comparison], partitions: Sequence[Partition], shown: IntArray
) -> tuple[int, dict[tuple[int, int], list[list[float]]]]:
    """Clusters of each pair that share points: both numbers in order, and their distance.

    Only the first of the points that are plotted count if the cells would be too many; their number
    is returned as well. A point of a soft clustering is in the cluster of its largest membership.
    """
    sizes = [p.k for p in partitions]
    n_cells = sum(min(sizes[i] * sizes[j], len(shown)) for i, j in pairs)
    n_points = len(shown) if n_cells <= MAX_CELLS else max(1, MAX_CELLS // len(pairs))
    labels = [p.labels[shown[:n_points]].astype(np.int64) for p in partitions]
    return n_points, {
        (i, j): _cells(labels[i], labels[j], found) for (i, j), found in pairs.items()
    }


def _cells(a: IntArray, b: IntArray, found: Comparison) -> list[list[float]]:
    D = np.asarray(found.cluster_distances)
    both = (a >= 0) & (b >= 0)
    i, j = np.divmod(np.unique(a[both] * D.shape[1] + b[both]), D.shape[1])
    return [list(cell) for cell in zip(i.tolist(), j.tolist(), D[i, j].tolist(), strict=True)]
