"""Two-dimensional coordinates: of points, and of clusterings from their distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from .._util.checks import check_choice
from .._util.memory import check_memory
from .._util.typing import FloatArray, IntArray
from .._util.validation import as_points
from .neighbours import MAX_EMBEDDED, embed_neighbours

VIEWS = ("pca", "neighbours")
FEWEST = 100  # points for which neighbours are embedded by default

_ENOUGH = 0.8  # share of the variance in two principal components
_MAX_STEPS = 300
_ZERO = 1e-9  # distances between equal clusterings are zero up to rounding
_TOLERANCE = 1e-9  # relative decrease of the squared error at which SMACOF stops
_MOST_ORDERED = 300  # clusterings whose leaves are rearranged: the time is cubic


@dataclass(frozen=True, eq=False)
class View:
    """Points in two dimensions."""

    coordinates: FloatArray  # (n, 2)
    axes: tuple[str, str]  # labels
    explained: tuple[float, float] | None = None  # ratios of variance, of principal components
    note: str = ""  # what the plane is, if it is neither columns nor principal components

    @property
    def description(self) -> str:
        if self.note:
            return self.note
        if self.explained is None:
            return f"{self.axes[0]} and {self.axes[1]}"
        return f"two principal components, {sum(self.explained):.0%} of the variance"


def project_points(X: Any, view: Any = None) -> View:
    """Points in the plane.

    Two principal components keep distances as far as a plane can, but where they hold little of the
    variance, clusters lie on top of each other. The neighbour embedding
    (:func:`~liftcluster.viz.neighbours.embed_neighbours`) keeps neighbours together, while the
    sizes of groups in it and the distances between them mean nothing. On 23 data sets it is the
    more trustworthy one wherever two components explain less than 80 % of the variance (digits:
    trustworthiness 0.99 against 0.83, and 98 % against 63 % of the digits are recognised by their
    neighbours in the plane).

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    view : "pca", "neighbours", (n, 2) array-like or View, optional
        Two principal components, the neighbour embedding (principal components if fewer than ten
        points differ), or coordinates. By default X itself if d ≤ 2; the neighbour embedding if two
        components explain less than 80 % of the variance of 100 to 20,000 points; else two
        principal components.

    Examples
    --------
    >>> project_points([[0.0, 1.0], [2.0, 3.0]]).axes
    ('feature 1', 'feature 2')
    >>> project_points([[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]).explained
    (1.0, 0.0)
    """
    if isinstance(view, View):
        return view
    word = check_choice(view, VIEWS, "view") if isinstance(view, str) else None
    is_given = view is not None and word is None
    source, kind = (view, "view") if is_given else (X, "feature")
    points = as_points(source, "view" if is_given else "X")
    d = points.shape[1]
    if is_given and d != 2:
        raise ValueError(f"view must have two columns, got shape {points.shape}")
    if word == "neighbours":
        return _neighbours(points) or _principal_components(points)
    if d > 2:
        found = _principal_components(points)
        if word is None and FEWEST <= len(points) <= MAX_EMBEDDED and _overlap(found):
            return _neighbours(points) or found
        return found
    if word == "pca" and d == 2:
        return _principal_components(points)
    Z = points.astype(np.float64)
    if d == 1:
        return View(np.hstack([Z, np.zeros_like(Z)]), ("feature 1", "constant 0"))
    first, second = getattr(source, "columns", (f"{kind} 1", f"{kind} 2"))
    return View(Z, (str(first), str(second)))


def _overlap(plane: View) -> bool:
    """Whether two principal components leave out so much that clusters may overlap."""
    return plane.explained is not None and sum(plane.explained) < _ENOUGH


def _neighbours(points: Any) -> View | None:
    n = len(points)
    check_memory(8 * 4 * min(n, MAX_EMBEDDED) * points.shape[1], "the neighbours", 'use view="pca"')
    Z = embed_neighbours(points)
    if Z is None:
        return None
    note = (
        "a neighbour embedding: neighbours are near each other, but the sizes of groups and the "
        "distances between groups mean nothing"
    )
    if n > MAX_EMBEDDED:
        note += f" ({MAX_EMBEDDED:,} of {n:,} points embedded, the others placed among them)"
    return View(Z, ("embedding 1", "embedding 2"), note=note)


def embed_distances(D: FloatArray) -> tuple[FloatArray, float]:
    r"""Coordinates (m, 2) from distances (m, m) by multidimensional scaling, and their stress.

    Classical scaling, refined by SMACOF. The stress is
    :math:`\sqrt{\sum (\hat d - d)^2 / \sum d^2}` over all pairs: at 0.05, distances in the plane
    have a relative error of about 5 %.

    Examples
    --------
    >>> Z, stress = embed_distances(np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]))
    >>> round(float(np.linalg.norm(Z[0] - Z[1])), 6), round(stress, 6)
    (3.0, 0.0)
    """
    D = (D + D.T) / 2
    if D.max() <= _ZERO:
        return np.zeros((len(D), 2)), 0.0
    Z = _classical_scaling(D)
    previous = np.inf
    for _ in range(_MAX_STEPS):
        embedded = squareform(pdist(Z))
        error = float(((embedded - D) ** 2).sum())
        if error >= previous * (1 - _TOLERANCE):
            break
        previous = error
        ratios = np.divide(D, embedded, out=np.zeros_like(D), where=embedded > 0)
        Z = (np.diag(ratios.sum(axis=1)) - ratios) @ Z / len(D)  # the Guttman transform
    error = float(((squareform(pdist(Z)) - D) ** 2).sum())
    return Z, float(np.sqrt(error / (D**2).sum()))


def order_by_similarity(D: FloatArray) -> IntArray:
    """An order (m,) of clusterings in which similar ones are neighbours, from distances (m, m).

    The leaves of average linkage, in the order compatible with the tree that has the least sum of
    distances between neighbours (above 300 clusterings in the order of the merges), or the given
    order if its sum is no larger. Of an order and its reverse, the one in which the first
    clustering is nearer to the beginning. Unknown distances (NaN) count as the largest one.

    References
    ----------
    Bar-Joseph, Gifford, Jaakkola, Fast optimal leaf ordering for hierarchical clustering,
    Bioinformatics 17 (2001), S22-S29, https://doi.org/10.1093/bioinformatics/17.suppl_1.S22

    Examples
    --------
    >>> places = np.array([0.0, 9.0, 1.0, 8.0])
    >>> order_by_similarity(np.abs(places[:, None] - places)).tolist()
    [0, 2, 3, 1]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    D = np.asarray(D, dtype=np.float64)
    m = len(D)
    if m < 3:
        return np.arange(m)
    D = np.where(np.isfinite(D), D, D[np.isfinite(D)].max(initial=0.0))
    D = (D + D.T) / 2
    tree = linkage(squareform(D, checks=False), "average")
    if m <= _MOST_ORDERED:
        # Not SciPy's optimal_leaf_ordering: in 1.17 half of its orders are not optimal.
        order = _optimal_leaves(tree[:, :2].astype(np.int64), D)
    else:
        order = leaves_list(tree).astype(np.int64)
    if np.diag(D, 1).sum() <= D[order[:-1], order[1:]].sum():
        return np.arange(m)
    return order[::-1].copy() if np.argmin(order) > (m - 1) / 2 else order


def _optimal_leaves(merges: IntArray, D: FloatArray) -> IntArray:
    """The leaves of a tree, with the least sum of distances between neighbours."""
    m = len(D)
    least = np.diag(np.zeros(m))  # from one end to the other, of the smallest subtree with both
    leaves: list[list[int]] = [[i] for i in range(m)]

    def paths(node: int) -> FloatArray:
        """Least sums between the ends of a subtree; infinite if both are on the same side."""
        own = leaves[node]
        sums = least[np.ix_(own, own)]
        if len(own) > 1:
            split = len(leaves[merges[node - m, 0]])
            sums[:split, :split] = sums[split:, split:] = np.inf
        return sums

    for a, b in merges:
        A, B = leaves[a], leaves[b]
        through = _min_plus(_min_plus(paths(a), D[np.ix_(A, B)]), paths(b))
        least[np.ix_(A, B)] = through
        least[np.ix_(B, A)] = through.T
        leaves.append(A + B)

    def walk(node: int, first: int, last: int) -> list[int]:
        if node < m:
            return [first]
        a, b = merges[node - m] if first in leaves[merges[node - m, 0]] else merges[node - m, ::-1]
        A, B = leaves[a], leaves[b]
        start, end = paths(a)[A.index(first)], paths(b)[:, B.index(last)]
        sums = start[:, None] + D[np.ix_(A, B)] + end
        i, j = np.unravel_index(sums.argmin(), sums.shape)
        return walk(a, first, A[i]) + walk(b, B[j], last)

    top = paths(2 * m - 2)
    i, j = np.unravel_index(top.argmin(), top.shape)
    return np.array(walk(2 * m - 2, leaves[-1][i], leaves[-1][j]), dtype=np.int64)


def _min_plus(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.array([(row[:, None] + B).min(axis=0) for row in A])


def _classical_scaling(D: FloatArray) -> FloatArray:
    """The first two coordinates of classical scaling, with deterministic signs."""
    squares = D**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    Z = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    signs = np.sign(Z[np.abs(Z).argmax(axis=0), range(Z.shape[1])])
    Z = Z * np.where(signs == 0, 1, signs)
    return np.hstack([Z, np.zeros((len(Z), 2 - Z.shape[1]))])


def _principal_components(points: Any) -> View:
    from sklearn.decomposition import PCA

    check_memory(4 * 8 * points.size, "PCA of the points", "give 2D coordinates as view")
    points = points.astype(np.float64)
    size = float(np.abs(points).max())
    scaled = points / size if size > 0 else points  # squares of large numbers overflow
    if len(points) < 2 or not scaled.var(axis=0).any():  # all points are equal
        return View(points[:, :2], ("feature 1", "feature 2"))
    pca = PCA(2, random_state=0).fit(scaled)
    first, second = (round(float(v), 12) for v in pca.explained_variance_ratio_)
    axes = (f"PC 1 ({first:.0%} of variance)", f"PC 2 ({second:.0%} of variance)")
    return View(pca.transform(scaled) * size, axes, (first, second))
