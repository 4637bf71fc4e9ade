"""Distances between partitions from their points: centroids, density profiles, transport.

Every measure is called as ``f(X, a, Y, b)`` with the partitions a and b, hard or soft, weighted or
not, and their points X (n, d) and Y (n', d), which may be different points of one space. A point
contributes w(x) p(C|x) to a cluster. Noise is left out, and the masses of the clusters are shares
of the remaining weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.distance import cdist

from ..._util.arrays import row_blocks
from ..._util.checks import check_count
from ..._util.memory import check_memory, check_pairs
from ..._util.typing import Array, FloatArray, IntArray, Sparse
from ...partitions.partition import Partition
from ..transport import solve_transport
from .placed import Placed, PlacedPair

_ROUNDING = 1e-13  # a transport cost below this share of the maximal cost is rounding

Progress = Callable[[int, int], object]  # called with the numbers of pairs done and of all


def centroid(X: Array, a: Partition, Y: Array, b: Partition) -> float:
    r"""Transport between cluster centroids (CC of Zhou et al.).

    .. math:: d(a, b) = \min_{π} \sum_{ij} π_{ij} \lVert μ_i - ν_j \rVert, \quad
              \sum_j π_{ij} = |A_i|, \ \sum_i π_{ij} = |B_j|

    with μ and ν the centroids of the clusters of a and b, and |A|, |B| their masses. In
    [0, diameter of the points], in the units of the coordinates.

    A pseudo-metric: symmetric, with the triangle inequality, but only centroids and masses count,
    so that concentric rings are at distance 0. Invariant to rotations and translations, and
    proportional to scalings.

    References
    ----------
    Zhou, Li, Zha, "A new Mallows distance based metric for comparing clusterings" (ICML 2005), in
    the form that Raman, Phillips, Venkatasubramanian (SDM 2011) describe.

    Examples
    --------
    Centroids 1 and 5 with masses ½ and ½, against 0 and 4 with masses ¼ and ¾:

    >>> X = np.array([[0.0], [2.0], [4.0], [6.0]])
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 1])
    >>> round(centroid(X, a, X, b), 12)  # 1 * 1/4 + 3 * 1/4 + 1 * 1/2
    1.5
    """
    return centroid_of(PlacedPair.of(X, a, Y, b))


def centroid_of(pair: PlacedPair) -> float:
    """The same from what several pairs share."""
    P, Q = pair.P, pair.Q
    check_pairs(P.partition.k, Q.partition.k)
    unit = pair.unit
    origin = _in_units(Q.box[2], unit)
    D = cdist(*(_means(Z, origin, unit) for Z in (P, Q)))
    return solve_transport(P.masses, Q.masses, D).cost * unit


def adco(X: Array, a: Partition, Y: Array, b: Partition, *, bins: int = 10) -> float:
    r"""Two minus the similarity of the clusters' density profiles (ADCO of Bae et al.).

    .. math:: d(a, b) = 2 - \frac{\max_σ \sum_i ⟨p_i, q_{σ(i)}⟩}
                                 {\max(\sum_i ⟨p_i, p_i⟩,\ \sum_j ⟨q_j, q_j⟩)}
              \ \text{ if } a \ne b, \qquad d(a, a) = 0

    where p and q count the points of each cluster of a and b in each bin of each axis, and σ
    matches clusters one to one. 0, or in [1, 2].

    A metric, for the trivial reason that 2 ≤ 1 + 1; it jumps from 0 to at least 1 as soon as one
    point changes cluster. Clusters without a common bin are equally dissimilar at any distance.
    Invariant to translations and scalings of each axis (up to points on the edge of a bin), not to
    rotations. It follows the description of Raman, Phillips, Venkatasubramanian (SDM 2011), with
    bins of equal width over the range of both point sets, one bin for a constant axis, and shares
    of the points in place of counts, which matters only where X and Y differ in size.

    Parameters
    ----------
    X, a, Y, b
        See the module. The partitions are equal if X and Y hold the same points in the same order,
        with the same memberships up to the order of the clusters.
    bins : int
        Number of bins on each axis.

    References
    ----------
    Bae, Bailey, Dong, "Clustering similarity comparison using density profiles" (AI 2006); "A
    clustering comparison measure using density profiles and its application to the discovery of
    alternate clusterings" (Data Mining and Knowledge Discovery 21, 2010).

    Examples
    --------
    Profiles (2, 0), (0, 2) against (1, 0), (1, 2): matched 2 + 4, self-similarities 8 and 6.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 1])
    >>> adco(X, a, X, b, bins=2)  # 2 - 6/8
    1.25
    """
    return adco_of(PlacedPair.of(X, a, Y, b), bins=bins)


def adco_of(pair: PlacedPair, *, bins: int = 10) -> float:
    """The same from what several pairs share."""
    bins = check_count(bins, "bins")
    P, Q = pair.P, pair.Q
    (k, m), d = (P.partition.k, Q.partition.k), P.X.shape[1]
    check_pairs(k, m)
    check_memory(
        8 * (k + m) * d * bins,
        f"profiles of {k + m:,} clusters in {bins:,} bins of {d:,} axes",
        "take fewer bins, or the measure lift_emd",
    )
    if _are_equal(P, Q):
        return 0.0
    from scipy.optimize import linear_sum_assignment  # slow to import

    low, high = (
        choose(one, other).astype(np.float64)
        for choose, one, other in zip((np.minimum, np.maximum), P.box, Q.box, strict=False)
    )
    U, V = (_profiles(Z, low, high, bins) for Z in (P, Q))
    products = U @ V.T
    matched = products[linear_sum_assignment(products, maximize=True)].sum()
    similarity = matched / max((U * U).sum(), (V * V).sum())
    return float(2 - min(similarity, 1.0))  # at most one up to rounding


def cdistance(
    X: Array, a: Partition, Y: Array, b: Partition, *, progress: Progress | None = None
) -> float:
    r"""Transport cost between partitions relative to the product plan (CDistance of Coen et al.).

    .. math:: d(a, b) = \frac{\min_{π} \sum_{ij} π_{ij} D_{ij}}{\sum_{ij} |A_i| |B_j| D_{ij}},
              \quad D_{ij} = W_1(A_i, B_j)

    The ground distance D is the optimal transport cost between the points of two clusters, with
    Euclidean costs and weights that sum to one; the plan π moves the masses |A| onto |B|, and the
    denominator is the cost of the product plan |A||B|ᵀ. 0/0, all clusters alike, is 0.

    In [0, 1]. Symmetric, but not a metric: the triangle inequality fails, and splitting a
    cluster into parts with the same distribution costs nothing. A single cluster is at distance 1
    from everything else, as there is only one plan. Invariant to rotations, translations and
    scalings.

    Solves k·k' transport problems, one at a time, in time about cubic in the cluster sizes: meant
    for some thousands of points.

    Parameters
    ----------
    X, a, Y, b
        See the module.
    progress : callable, optional
        Called as ``progress(done, total)`` after each pair of clusters.

    References
    ----------
    Coen, Ansari, Fillmore, "Comparing clusterings in space" (ICML 2010).

    Examples
    --------
    D is ((½, 3/2), (5/2, ½)), masses are (½, ½) and (¼, ¾): the best plan costs ¾, the product
    plan 9/8.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 1])
    >>> round(cdistance(X, a, X, b), 12)
    0.666666666667
    """
    return cdistance_of(PlacedPair.of(X, a, Y, b), progress=progress)


def cdistance_of(pair: PlacedPair, *, progress: Progress | None = None) -> float:
    """The same from what several measures share."""
    D = _cluster_transports(pair, progress)
    A, B = pair.P.masses, pair.Q.masses
    independent = float(A @ D @ B)
    if independent == 0:
        return 0.0
    return min(solve_transport(A, B, D).cost / independent, 1.0)  # at most one up to rounding


def cluster_transports(
    X: Array, a: Partition, Y: Array, b: Partition, *, progress: Progress | None = None
) -> FloatArray:
    """W₁ between every cluster of a and every cluster of b, (k, k'), in an arbitrary unit.

    CDistance spends nearly all its time here.
    """
    return _cluster_transports(PlacedPair.of(X, a, Y, b), progress)


def _cluster_transports(pair: PlacedPair, progress: Progress | None) -> FloatArray:
    (X, R), (Y, S), unit = pair.P.shares, pair.Q.shares, pair.unit
    R, S = R.tocsc(), S.tocsc()
    k, m = R.shape[1], S.shape[1]
    check_pairs(k, m)
    most = int(np.diff(R.indptr).max()), int(np.diff(S.indptr).max())
    check_memory(
        8 * most[0] * most[1] * 3,
        f"the transport between clusters of {most[0]:,} and {most[1]:,} points",
        "take a sample of the points, or the measure lift_emd, which needs no pairs of points",
    )
    D = np.empty((k, m))
    same = X is Y
    clusters = [_cluster(Y, S, j, unit) for j in range(m)]
    for i in range(k):
        own = _cluster(X, R, i, unit)
        for j, other in enumerate(clusters):
            D[i, j] = _transport(*(_without_common(own, other) if same else (own, other)))
            if progress is not None:
                progress(i * m + j + 1, k * m)
    return D


def _in_units(X: Array, unit: float) -> FloatArray:
    return np.asarray(X, dtype=np.float64) / unit


def _means(placed: Placed, origin: FloatArray, unit: float) -> FloatArray:
    """Centroids of the clusters relative to the origin, (k, d), in units."""

    def compute() -> FloatArray:
        X, R = placed.shares
        sums = np.zeros((R.shape[1], X.shape[1]))
        for rows in row_blocks(*X.shape):
            # Relative to one of the points: coordinates far from zero keep their digits.
            block = R if rows == slice(0, len(X)) else R[rows, :]
            sums += block.T @ (_in_units(X[rows], unit) - origin)
        return sums / placed.masses[:, None]

    return placed.remember((origin.tobytes(), unit), compute)


def _profiles(placed: Placed, low: FloatArray, high: FloatArray, bins: int) -> FloatArray:
    """Share of the points in each cluster and each bin of each axis, (k, d · bins)."""

    def compute() -> FloatArray:
        X, R = placed.shares
        k, d = R.shape[1], X.shape[1]
        profiles = np.empty((k, d, bins))
        clusters, entries = R.indices.astype(np.int64), np.diff(R.indptr)
        half = high / 2 - low / 2  # because high - low may overflow
        half[half == 0] = 1  # all points of a constant axis are in its first bin
        for axis in range(d):
            share = (np.asarray(X[:, axis], dtype=np.float64) / 2 - low[axis] / 2) / half[axis]
            bin_of = np.minimum((share * bins).astype(np.int64), bins - 1)  # the last is closed
            cells = clusters * bins + np.repeat(bin_of, entries)
            profiles[:, axis] = np.bincount(cells, R.data, minlength=k * bins).reshape(k, bins)
        return profiles.reshape(k, d * bins)

    return placed.remember((low.tobytes(), high.tobytes(), bins), compute)


def _are_equal(P: Placed, Q: Placed) -> bool:
    """Whether points and clusters are the same, the latter in any order."""
    if P.partition.k != Q.partition.k or not np.allclose(np.sort(P.masses), np.sort(Q.masses)):
        return False
    (X, R), (Y, S) = P.shares, Q.shares
    return (X is Y or np.array_equal(X, Y)) and _same_clusters(R, S)


def _same_clusters(R: Sparse, S: Sparse) -> bool:
    """Whether the columns of R are those of S in some order, up to rounding."""
    return R.shape == S.shape and all(
        i == j and np.allclose(u, v, rtol=1e-12, atol=0)
        for (i, u), (j, v) in zip(_sorted_columns(R), _sorted_columns(S), strict=True)
    )


def _sorted_columns(R: Sparse) -> list[tuple[list[int], list[float]]]:
    """Rows and values of the columns, in an order that does not depend on theirs."""
    R = R.tocsc()
    return sorted(
        (R.indices[start:stop].tolist(), R.data[start:stop].tolist())
        for start, stop in pairwise(R.indptr)
    )


@dataclass(frozen=True, eq=False)
class _Cluster:
    """The points of a cluster, with weights that sum to one."""

    rows: IntArray
    points: FloatArray
    weights: FloatArray


def _cluster(X: Array, R: Sparse, i: int, unit: float) -> _Cluster:
    column = slice(R.indptr[i], R.indptr[i + 1])
    weights = R.data[column]
    rows = R.indices[column]
    return _Cluster(rows, _in_units(X[rows], unit), weights / weights.sum())


def _without_common(A: _Cluster, B: _Cluster) -> tuple[_Cluster, _Cluster]:
    """Two clusters without the mass that they have at the same points.

    Distances are a metric, so that some optimal plan leaves it where it is.
    """
    _, i, j = np.intersect1d(A.rows, B.rows, assume_unique=True, return_indices=True)
    if not len(i):
        return A, B
    u, v = A.weights.copy(), B.weights.copy()
    common = np.minimum(u[i], v[j])
    u[i] -= common
    v[j] -= common
    return _some(A, u), _some(B, v)


def _some(cluster: _Cluster, weights: FloatArray) -> _Cluster:
    rest = np.flatnonzero(weights)
    return _Cluster(cluster.rows[rest], cluster.points[rest], weights[rest])


def _transport(A: _Cluster, B: _Cluster) -> float:
    """W₁ between two sets of weighted points, with the same total."""
    U, u, V, v = A.points, A.weights, B.points, B.weights
    if not (len(u) and len(v)) or (np.array_equal(U, V) and np.array_equal(u, v)):
        return 0.0
    C = cdist(U, V)
    if len(u) == 1 or len(v) == 1:
        return float(u @ C @ v) / float(u.sum())  # the only plan
    cost = solve_transport(u, v, C).cost
    return cost if cost > _ROUNDING * C.max() else 0.0
