"""Point sets of the paper's figures, with clusterings whose distances have a known order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._util.typing import FloatArray, IntArray

__all__ = ["Triple", "make_2d2c", "make_2d3c", "make_far_cells", "make_rings"]


@dataclass(frozen=True, eq=False)
class Triple:
    """Points with a reference clustering and two others.

    By measures on labels, ``first`` and ``second`` are at the same distance from ``reference``; by
    the positions of the points, ``first`` is nearer.

    Attributes
    ----------
    X : (n, 2) array
        The points.
    reference, first, second : (n,) int arrays
        Labels of the three clusterings.

    See Also
    --------
    liftcluster.datasets.make_2d2c, liftcluster.datasets.make_2d3c

    Examples
    --------
    >>> import liftcluster as lc
    >>> data = lc.datasets.make_2d3c()
    >>> data.X.shape, sorted(set(data.reference.tolist()))
    ((24, 2), [0, 1, 2])
    """

    X: FloatArray
    reference: IntArray
    first: IntArray
    second: IntArray


def make_2d2c() -> Triple:
    """45 points in two clusters (the paper's 2D2C, figure 1).

    ``first`` exchanges the five points of each cluster that are nearest to the other, ``second``
    the five that are farthest from it. Both have the same contingency table with the reference.

    Returns
    -------
    Triple
        The points ``X`` and labels ``reference``, ``first`` and ``second``.

    See Also
    --------
    liftcluster.datasets.make_2d3c, liftcluster.distance

    Examples
    --------
    >>> import liftcluster as lc
    >>> data = lc.datasets.make_2d2c()
    >>> near, far = (lc.distance(data.reference, p, data.X) for p in (data.first, data.second))
    >>> near < far
    True
    """
    return _exchange(np.array([[-2.0, 0.0], [2.0, 0.0]]), [23, 22], spread=0.9, moved=5)


def make_2d3c() -> Triple:
    """24 points in three clusters of eight (the paper's 2D3C, figure 6).

    Two points of each cluster are moved to the next: in ``first`` those nearest to it, in
    ``second`` those farthest from it.

    Returns
    -------
    Triple
        The points ``X`` and labels ``reference``, ``first`` and ``second``.

    See Also
    --------
    liftcluster.datasets.make_2d2c, liftcluster.distance

    Examples
    --------
    >>> import liftcluster as lc
    >>> data = lc.datasets.make_2d3c()
    >>> near, far = (lc.distance(data.reference, p, data.X) for p in (data.first, data.second))
    >>> near < far
    True
    """
    angles = np.pi / 2 + 2 * np.pi / 3 * np.arange(3)
    centres = 2.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    return _exchange(centres, [8, 8, 8], spread=0.7, moved=2)


def make_rings(
    n: int = 300, radii: tuple[float, ...] = (1.0, 2.0, 3.0)
) -> tuple[FloatArray, IntArray]:
    """Evenly spaced points on concentric circles (figure 2), clusters with the same centroid.

    Parameters
    ----------
    n : int, default 300
        Number of points, a multiple of the number of circles.
    radii : tuple of float, default (1.0, 2.0, 3.0)
        Radii of the circles.

    Returns
    -------
    (n, 2) array and (n,) int array
        The points and their labels.

    See Also
    --------
    liftcluster.NeighbourCut, liftcluster.datasets.make_far_cells

    Examples
    --------
    >>> import liftcluster as lc
    >>> X, labels = lc.datasets.make_rings(30)
    >>> X.shape, (X**2).sum(axis=1)[:3].round(6).tolist(), labels[:3].tolist()
    ((30, 2), [1.0, 4.0, 9.0], [0, 1, 2])
    """
    if n % len(radii) or n < 2 * len(radii):
        raise ValueError(
            f"n must be a multiple of {len(radii)}, at least two points on each ring, got {n}"
        )
    labels = np.arange(n) % len(radii)
    angles = 2 * np.pi * (np.arange(n) // len(radii)) / (n // len(radii))
    points = np.asarray(radii)[labels, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return points, labels


def make_far_cells(n: int = 40) -> tuple[FloatArray, IntArray]:
    """Points in four clusters, each in one cell of a 10 × 10 grid (figure 3), and their labels.

    Clusters 0 and 1 are neighbours, 2 and 3 lie at opposite corners; histograms on the grid have
    the same distance for both pairs.

    Parameters
    ----------
    n : int, default 40
        Number of points.

    Returns
    -------
    (n, 2) array and (n,) int array
        The points and their labels.

    See Also
    --------
    liftcluster.datasets.make_rings, liftcluster.cluster_distance

    Examples
    --------
    >>> import liftcluster as lc
    >>> X, labels = lc.datasets.make_far_cells()
    >>> near, far = (lc.cluster_distance(labels == i, labels == i + 1, X) for i in (0, 2))
    >>> near < far
    True
    """
    cells = np.array([[4.5, 5.5], [5.5, 4.5], [0.5, 9.5], [9.5, 0.5]])
    labels = np.arange(n) % 4
    noise = 0.4 * np.random.default_rng(2011).uniform(-1, 1, (n, 2))
    return cells[labels] + noise, labels


def _exchange(centres: FloatArray, sizes: list[int], *, spread: float, moved: int) -> Triple:
    """Gaussian clusters, and two ways to move some points of each to the next."""
    k = len(centres)
    labels = np.repeat(np.arange(k), sizes)
    noise = np.random.default_rng(2011).standard_normal((len(labels), 2))
    X = np.round(centres[labels] + spread * noise, 2)
    first, second = labels.copy(), labels.copy()
    for c in range(k):
        members = np.flatnonzero(labels == c)
        receiver = (c + 1) % k
        to_receiver = np.linalg.norm(X[members] - centres[receiver], axis=1)
        nearest_first = members[np.argsort(to_receiver, kind="stable")]
        first[nearest_first[:moved]] = receiver
        second[nearest_first[-moved:]] = receiver
    return Triple(X, labels, first, second)
