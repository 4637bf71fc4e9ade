"""A good clustering that is far from given ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from .._util.checks import check_count, check_positive, checked_keywords
from .._util.html import paragraph, table
from .._util.threads import one_blas_thread
from .._util.typing import BandwidthLike, FloatArray, IntArray, Points, RngLike, Sparse
from .._util.validation import check_same_length, make_rng
from ..comparison.transport import emd
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition, as_partitions
from ..partitions.stack import Stack
from .features import at_most_n_features, cluster_sums, point_features
from .methods.kmeans import kmeans
from .methods.tuples import by_first_appearance

_STRENGTHS = (0.5, 1.0)  # share of the given clusterings that is removed from the features
_MOST_DIRECTIONS = 50  # principal components of features that k-means works on
_N_INIT = 5
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class TradeOff:
    """One clustering of the curve of an :class:`Alternative`.

    Attributes
    ----------
    least : float
        It is the best one for trade-offs λ from here up to ``least`` of the next.
    quality : float
        Compactness of its lifted clusters: 1 for the best clustering known, 0 for one cluster.
    distance : float
        Mean LiftEMD to the given clusterings.
    partition : Partition
        The clustering.

    See Also
    --------
    Alternative : Has several of them as its ``curve``.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0, 0.0], [0.0, 5.0], [6.0, 0.0], [6.0, 5.0]]
    >>> lc.alternative(X, [0, 0, 1, 1], 2, rng=0).curve[0].quality
    1.0
    """

    least: float
    quality: float
    distance: float
    partition: Partition

    @property
    def labels(self) -> IntArray:
        """(n,) labels of the clustering."""
        return self.partition.labels


@dataclass(frozen=True, eq=False)
class Alternative:
    """Clusterings that are good and far from given ones; made by :func:`alternative`.

    Attributes
    ----------
    curve : tuple of TradeOff
        From the best clustering to the farthest: quality falls, and the distance rises.
    trade_off : float
        λ of the recommended one.
    unit : float
        d₀, the unit of the distance in the objective.
    given : mapping from names to Partition
        What was given.

    See Also
    --------
    alternative : The function that returns it.
    plot.alternative : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0, 0.0], [0.0, 5.0], [6.0, 0.0], [6.0, 5.0]]
    >>> found = lc.alternative(X, [0, 0, 1, 1], 2, rng=0)
    >>> found.labels.tolist(), found.at(0.0).labels.tolist()
    ([0, 1, 0, 1], [0, 0, 1, 1])
    """

    curve: tuple[TradeOff, ...]
    trade_off: float
    unit: float
    given: Mapping[Hashable, Partition]

    def at(self, trade_off: float) -> TradeOff:
        """The clustering that is best for a trade-off λ.

        Parameters
        ----------
        trade_off : float
            λ ≥ 0, the weight of the distance.
        """
        if not trade_off >= 0:
            raise ValueError(f"trade_off must not be negative, got {trade_off}")
        return [each for each in self.curve if each.least <= trade_off][-1]

    @property
    def recommended(self) -> TradeOff:
        """The clustering for the trade-off that was asked for."""
        return self.at(self.trade_off)

    @property
    def partition(self) -> Partition:
        """The recommended clustering."""
        return self.recommended.partition

    @property
    def labels(self) -> IntArray:
        """(n,) labels of the recommended clustering."""
        return self.partition.labels

    @property
    def quality(self) -> float:
        """Quality of the recommended clustering."""
        return self.recommended.quality

    @property
    def distance(self) -> float:
        """Mean LiftEMD of the recommended clustering to the given ones."""
        return self.recommended.distance

    def plot(self, ax: Any = None) -> Any:
        """Draw quality against distance, by :func:`liftcluster.plot.alternative`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ..viz.plot import alternative as draw

        return draw(self, ax=ax)

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        ends = [each.least for each in self.curve[1:]] + [np.inf]
        rows = []
        for each, end in zip(self.curve, ends, strict=True):
            span = f"{each.least:.2f} to {end:.2f}" if end < np.inf else f"from {each.least:.2f}"
            mark = "recommended" if each is self.recommended else ""
            numbers = f"{each.quality:.3f}", f"{each.distance:.4f}", str(each.partition.k)
            rows.append((span, *numbers, mark))
        return rows

    def __str__(self) -> str:
        known = f"{len(self.given)} given clustering" + ("s" if len(self.given) > 1 else "")
        lines = [f"an alternative to {known}, for trade-off {self.trade_off:g}:"]
        lines += [
            f"  λ {span:>13}: quality {quality}, distance {distance}, {k} clusters {mark}".rstrip()
            for span, quality, distance, k, mark in self._rows()
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        headings = ("trade-off", "quality", "distance", "clusters", "")
        return paragraph(str(self).splitlines()[0]) + table(headings, self._rows())


@checked_keywords
def alternative(
    X: Points,
    given: Any,
    n_clusters: int,
    *,
    trade_off: float = 2.0,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
) -> Alternative:
    r"""A clustering that is good on the points and far from one or several given ones.

    .. math:: \max_P \; \frac{q(P) - q_1}{q^* - q_1}
              + λ\, \frac{1}{m d_0} \sum_{i=1}^m d(P, G_i), \qquad
              q(P) = \sum_{C \in P} \frac{‖Φ(C)‖^2}{|C|}

    with the lifted compactness q, q₁ that of one cluster with all points and q* the best one found,
    and LiftEMD d, in units of d₀, the mean distance of the given clusterings to one cluster. Both
    terms are about 1 for a good and different clustering; λ is the weight of the second.

    The maximum is over clusterings by k-means of the lifted points, as they are and with the given
    clusterings removed from them, by half and entirely: either the mean of its given cluster is
    subtracted from each point, or the points are projected off the span of these means; in all
    directions and in the k − 1 main ones. So each is a compact clustering of some view of the
    points. Moves of single points that increase the objective further are not made: they exaggerate
    the differences that two independent clusterings have by chance. The ``curve`` has the maximum
    for every λ ≥ 0, so that you can choose another.

    Parameters
    ----------
    X : (n, d) array-like
        The points, in memory.
    given : labels, memberships or Partition, or a sequence, mapping or data frame of them
        Clusterings that are known already. Noise is left out.
    n_clusters : int
        Number of clusters, at least 2.
    trade_off : float, default 2.0
        λ of the recommended clustering. With 1 to 8, the second of two independent clusterings was
        found (adjusted Rand index of at least 0.95) in all of 144 cases with Gaussian mixtures and
        images at the default bandwidth (``python -m benchmarks alternatives``); with 0.5 some were
        missed.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. A narrow kernel puts all clusters far apart: with half of the median distance 99 %
        of these cases were found, with a quarter 32 %.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is ``Nystroem(500)``, which is exact up to 500 points. Features of all
        points are held twice, 16nρ bytes; O(nρ²) operations.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Returns
    -------
    Alternative
        The recommended clustering, and the curve of quality against distance.

    See Also
    --------
    sample_partitions : Many clusterings, the better the more likely.
    diverse_subset : Clusterings that are far apart, of many given ones.

    References
    ----------
    Cui, Fern, Dy, Non-redundant multi-view clustering via orthogonalization (ICDM 2007),
    doi:10.1109/ICDM.2007.94, for removing the given clusterings. Bae, Bailey, COALA: a novel
    approach for the extraction of an alternate clustering of high quality and high dissimilarity
    (ICDM 2006), doi:10.1109/ICDM.2006.37, for the two aims.

    Examples
    --------
    Four points at the corners of a rectangle, divided by its long side; the other way is:

    >>> import liftcluster as lc
    >>> X = [[0.0, 0.0], [0.0, 5.0], [6.0, 0.0], [6.0, 5.0]]
    >>> found = lc.alternative(X, [0, 0, 1, 1], 2, rng=0)
    >>> found.labels.tolist()
    [0, 1, 0, 1]
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    k = check_count(n_clusters, "n_clusters", least=2)
    trade_off = check_positive(trade_off, "trade_off")
    rng = make_rng(rng)
    named = as_partitions(given)
    stack = Stack(named)  # checks that they are of the same points
    Z = at_most_n_features(point_features(lifting, X, rng))
    check_same_length(stack.shape[0], len(Z), "given", "X")
    if k > len(Z):
        raise ValueError(f"n_clusters={k} is more than the {len(Z)} points")
    known = [_Known.of(Z, p) for p in named.values()]
    candidates = _candidates(Z, list(named.values()), k, rng)
    qualities, distances, one, unit = _judge(Z, candidates, known)
    best = qualities.max() - one
    shares = (qualities - one) / best if best > _ROUNDING * abs(one) else np.zeros(len(qualities))
    curve = tuple(
        TradeOff(least, float(shares[i]), float(distances[i]), Partition.from_labels(candidates[i]))
        for i, least in upper_envelope(shares, distances / unit)
    )
    return Alternative(curve, trade_off, unit, named)


def upper_envelope(a: FloatArray, b: FloatArray) -> list[tuple[int, float]]:
    """Positions of the maxima of a + λb for all λ ≥ 0, each with the least λ, which rises."""
    order = np.lexsort((-b, -a))
    position, least = int(order[0]), 0.0
    found = [(position, least)]
    while True:
        farther = np.flatnonzero(b > b[position] + _ROUNDING)
        if not len(farther):
            return found
        at = (a[position] - a[farther]) / (b[farther] - b[position])
        first = at.min() + _ROUNDING
        position = int(max(farther[at <= first], key=lambda i: b[i]))
        least = max(least, float(at.min()))
        found.append((position, least))


@dataclass(frozen=True, eq=False)
class _Known:
    """The unit vectors and masses of the clusters of a given clustering."""

    vectors: FloatArray
    masses: FloatArray

    @classmethod
    def of(cls, Z: FloatArray, partition: Partition) -> _Known:
        sums = np.asarray(partition.weighted_rows(slice(0, partition.n)).T @ Z)
        return cls(_unit(sums), partition.cluster_weights / partition.cluster_weights.sum())

    def distance(self, sums: FloatArray, sizes: FloatArray) -> float:
        """LiftEMD to the clusters with these sums and sizes."""
        return emd(sizes / sizes.sum(), self.masses, cdist(_unit(sums), self.vectors)).cost


def _unit(V: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.where(lengths > 0, lengths, 1.0)


def _judge(
    Z: FloatArray, candidates: list[IntArray], known: list[_Known]
) -> tuple[FloatArray, FloatArray, float, float]:
    """Qualities and mean distances of clusterings, and those of one cluster with all points."""
    qualities, distances = [], []
    for codes in [*candidates, np.zeros(len(Z), dtype=np.int64)]:
        k = int(codes.max()) + 1
        sums, sizes = cluster_sums(Z, codes, k), np.bincount(codes).astype(np.float64)
        qualities.append(float((np.einsum("ij,ij->i", sums, sums) / sizes).sum()))
        distances.append(float(np.mean([each.distance(sums, sizes) for each in known])))
    *qualities, one = qualities
    *distances, unit = distances
    return np.array(qualities), np.array(distances), one, unit if unit > _ROUNDING else 1.0


def _candidates(
    Z: FloatArray, given: list[Partition], k: int, rng: np.random.Generator
) -> list[IntArray]:
    """Different clusterings into at most k clusters, numbered by first appearance."""
    found: dict[bytes, IntArray] = {}
    for view in _views(Z, given):
        for width in {_MOST_DIRECTIONS, k - 1}:
            codes = kmeans(view[:, :width], k, _N_INIT, rng)
            codes = by_first_appearance(codes)[1].astype(np.int64)
            found.setdefault(codes.tobytes(), codes)
    return list(found.values())


def _views(Z: FloatArray, given: list[Partition]) -> Iterator[FloatArray]:
    """Principal components of the points, as they are and without the given clusterings."""
    Z = Z - Z.mean(axis=0)
    R: Sparse = sp.hstack([p.memberships for p in given], format="csr")  # (n, s)
    total = Z.T @ Z
    sums = np.asarray(R.T @ Z)  # (s, ρ)
    # Least squares of the features on the memberships, R @ fit: with one clustering, the mean of
    # its cluster for each point.
    fit = np.linalg.pinv(np.asarray((R.T @ R).toarray())) @ sums
    within = sums.T @ fit  # what they explain of the total
    means = sums / np.asarray(R.sum(axis=0)).reshape(-1, 1)
    _, lengths, basis = np.linalg.svd(means, full_matrices=False)
    basis = basis[lengths > _ROUNDING * max(lengths[0], 1.0)]
    yield Z @ _directions(total)
    for strength in _STRENGTHS:
        V = _directions(total - strength * (2 - strength) * within)
        yield Z @ V - strength * (R @ (fit @ V))
        off = np.eye(len(total)) - strength * basis.T @ basis
        yield Z @ (off @ _directions(off @ total @ off))


def _directions(G: FloatArray) -> FloatArray:
    """(ρ, r) leading eigenvectors of a Gram matrix, at most 50."""
    with one_blas_thread():  # more of them wait for each other, and change the last bits
        return np.linalg.eigh((G + G.T) / 2)[1][:, ::-1][:, :_MOST_DIRECTIONS]
