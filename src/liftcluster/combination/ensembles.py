"""Ensembles of base clusterings to compare and combine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.checks import check_choice, check_count
from .._util.memory import check_memory
from .._util.typing import Array, FloatArray, RngLike
from .._util.validation import as_points, make_rng
from .._util.warning import warn
from ..partitions.partition import Partition
from .methods.kmeans import kmeans

_MAX_POINTS = 30_000  # whose pairwise distances fit in memory


def base_partitions(
    X: Any, n_clusters: int, kind: str = "paper", rng: RngLike = 0, *, n_partitions: int = 20
) -> list[Partition]:
    """An ensemble of partitions of the points X.

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    n_clusters : int
        Number of clusters, or the smallest one for "kmeans".
    kind : "paper" or "kmeans", default "paper"
        "paper": k-means and single, average, complete and Ward linkage, each into ``n_clusters``
        (the paper's section 6; linkages need O(n²) memory, so up to 30,000 points). "kmeans":
        ``n_partitions`` runs of k-means, each with one initialisation and a random number of
        clusters between ``n_clusters`` and min(√n, 50).
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    n_partitions : int, default 20
        Number of partitions of kind "kmeans".

    Returns
    -------
    list of Partition
        In the order of the linkages named above, or of the runs of k-means.

    See Also
    --------
    consensus : Combines them.
    sample_partitions : Partitions drawn by their quality.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.base_partitions([[0.0], [1.0], [9.0], [10.0]], 2, rng=0)[1]
    Partition(hard, n=4, k=2)
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    points = _in_safe_units(as_points(X))
    k = check_count(n_clusters, "n_clusters")
    n = len(points)
    if k > n:
        raise ValueError(f"n_clusters={k} is more than the {n} points")
    check_choice(kind, ("paper", "kmeans"), "kind")
    rng = make_rng(rng)

    def by_kmeans(k: int, n_init: int) -> Partition:
        return Partition.from_labels(kmeans(points, k, n_init, rng))

    if kind == "kmeans":
        count = check_count(n_partitions, "n_partitions")
        top = max(k, min(int(np.sqrt(n)), 50))
        sizes = (int(rng.integers(k, top + 1)) for _ in range(count))
        return _warn_if_fewer(k, [by_kmeans(size, 1) for size in sizes])
    if n > _MAX_POINTS:
        raise ValueError(
            f"linkage needs all pairwise distances, so at most {_MAX_POINTS:,} points, got {n:,}; "
            'use kind="kmeans"'
        )
    check_memory(8 * n * n, f"all distances of {n:,} points", 'use kind="kmeans"')
    if n == 1:
        return [Partition.from_labels([0]) for _ in range(5)]
    distances = pdist(points)
    trees = [linkage(distances, how) for how in ("single", "average", "complete", "ward")]
    linked = [Partition.from_labels(fcluster(tree, k, "maxclust")) for tree in trees]
    return _warn_if_fewer(k, [by_kmeans(k, 10), *linked])


def _in_safe_units(points: Array) -> FloatArray:
    """The points, scaled if their squares would overflow or underflow in float64."""
    points = np.asarray(points, dtype=np.float64)
    largest = np.abs(points).max()
    return points if largest == 0 or 1e-100 < largest < 1e100 else points / largest


def _warn_if_fewer(k: int, partitions: list[Partition]) -> list[Partition]:
    """The partitions; warns if some have fewer than k clusters because points coincide."""
    fewest = min(p.k for p in partitions)
    if fewest < k:
        warn(
            f"{k} clusters were asked for, but some partitions have only {fewest}: there are "
            "too few distinct points"
        )
    return partitions
