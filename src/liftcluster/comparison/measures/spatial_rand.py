r"""Rand indices weighted by the distance of the two points of a pair (spRI and spARI).

In linear time: the sum of exp(−t²) over the pairs of points in a set S is
:math:`(\lVert Φ \rVert^2 - |S|)/2` with Φ the sum of the points of S lifted by the Gaussian kernel,
and the lifted cells of the contingency table add up to the lifted clusters of both partitions.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammainc

from ..._util.arrays import add_up, row_blocks
from ..._util.checks import check_positive
from ..._util.typing import Array, FloatArray, IntArray
from ..._util.validation import check_same_length
from ...kernels.distances import pairwise_distances
from ...partitions.contingency import PairCounts
from ...partitions.partition import Partition
from .placed import Placed, PlacedPair

_FEW_POINTS = 2_000  # up to which summing over pairs is as fast as lifting
_MAX_AXES = 3  # up to which the power series is short
_MAX_POINTS = 20_000  # up to which sums over all pairs are computed
_BLOCK = 1024  # rows and columns of the kernel matrix held at a time
_CELL_BYTES = 2**28  # of lifted cells held at a time


def spri(
    X: Array, a: Partition, Y: Array, b: Partition, *, alpha: float = 0.8, tol: float = 1e-9
) -> float:
    r"""One minus the spatial Rand index (spRI of Yan et al.) of clustering b for reference a.

    .. math:: d(a, b) = \frac{1}{N} \Bigl( \sum_{b \setminus a} \bigl(1 - α e^{-t^2}\bigr)
              + \sum_{a \setminus b} \bigl(1 - α (1 - e^{-t^2})\bigr) \Bigr)

    over the pairs that are together only in b, and those together only in a; t is the distance of
    the pair with every axis scaled to [0, 1], and N the number of all pairs. Joining two points
    that the reference separates counts less where they are near, separating two that it joins
    counts less where they are far.

    In [0, 1]. **Not symmetric**: a is the reference. Not a metric; 0 exactly for equal partitions
    (and, with α = 1, where all joined points coincide). With α = 0 it is the Rand distance.
    Invariant to translations and scalings of each axis, not to rotations. Points that are noise in
    a or in b are left out before the axes are scaled. The authors' R package counts pairs at
    distance 0 on which the partitions disagree as complete disagreement; here they follow the
    formula. Above 2,000 points in up to three dimensions a power series replaces the sum over
    pairs: linear time, and the result is within α·tol (and rounding, about 1e-13).

    Parameters
    ----------
    X, Y : (n, d) arrays
        The points: the same for a and b.
    a, b : Partition
        The reference and the clustering. Hard; weights must be integers, the number of copies of
        each point.
    alpha : float
        Influence of the distance, in [0, 1].
    tol : float
        Largest error of exp(−t²) where the power series is used.

    References
    ----------
    Yan, Feng, Luo, "Spatially aware adjusted Rand index for evaluating spatial transcriptomics
    clustering" (Biometrics 2025), doi:10.1093/biomtc/ujaf127. The power series: Cotter, Keshet,
    Srebro, "Explicit approximations of the Gaussian kernel" (arXiv:1109.4603).

    Examples
    --------
    One pair at distance 1, separated by the reference, joined by the clustering: 1 − 0.8/e.

    >>> X = np.array([[0.0], [5.0]])
    >>> apart, together = Partition.from_labels([0, 1]), Partition.from_labels([0, 0])
    >>> round(spri(X, apart, X, together), 6)
    0.705696
    >>> round(spri(X, together, X, apart), 6)  # 1 - 0.8 (1 - 1/e)
    0.494304
    """
    return _losses(_pair(X, a, Y, b), alpha, tol)[0]


def spari(
    X: Array, a: Partition, Y: Array, b: Partition, *, alpha: float = 0.8, tol: float = 1e-9
) -> float:
    r"""One minus the spatially aware adjusted Rand index (spARI of Yan et al.).

    .. math:: d(a, b) = 1 - \frac{\mathrm{spRI} - E}{1 - E} = \frac{1 - \mathrm{spRI}}{1 - E},
              \qquad E = pq + (1-p)(1-q) + (1-p)\,q\,α\bar e + p\,(1-q)\,α(1 - \bar e)

    with spRI as in :func:`spri`, p and q the shares of pairs together in the reference a and in
    the clustering b, and ē the mean of exp(−t²) over all pairs: E is the spRI expected
    if b joined pairs independently of the reference and of their positions. 0/0 is 0.

    **Not symmetric**: a is the reference. Not a metric; 0 exactly for equal partitions, about 1 for
    unrelated ones, more, without bound, for worse. With α = 0 it is one minus the adjusted Rand
    index. Invariances, noise, weights and the limits on size are those of :func:`spri`. Where the
    power series is used, the error is at most α·tol·(1 + d)/(1 − E), and rounding.

    Parameters
    ----------
    X, a, Y, b, alpha, tol
        As for :func:`spri`.

    References
    ----------
    Yan, Feng, Luo (Biometrics 2025), doi:10.1093/biomtc/ujaf127.

    Examples
    --------
    p = 0 and q = 1, so E is the observed spRI.

    >>> X = np.array([[0.0], [5.0]])
    >>> apart, together = Partition.from_labels([0, 1]), Partition.from_labels([0, 0])
    >>> round(spari(X, apart, X, together), 12), spari(X, apart, X, apart)
    (1.0, 0.0)
    """
    return spari_of(_pair(X, a, Y, b), alpha=alpha, tol=tol)


def spri_of(pair: PlacedPair, *, alpha: float = 0.8, tol: float = 1e-9) -> float:
    """The same from what both measures of a pair share: the sums over pairs of points."""
    return _losses(pair, alpha, tol)[0]


def spari_of(pair: PlacedPair, *, alpha: float = 0.8, tol: float = 1e-9) -> float:
    """The same from what both measures of a pair share: the sums over pairs of points."""
    observed, expected = _losses(pair, alpha, tol)
    return observed / expected if expected > 0 else 0.0


def _pair(X: Array, a: Partition, Y: Array, b: Partition) -> PlacedPair:
    for partition in (a, b):
        check_same_length(partition.n, len(X), "the partition", "X")
    return PlacedPair(Placed(X, a), Placed(Y, b))


def _losses(pair: PlacedPair, alpha: float, tol: float) -> tuple[float, float]:
    """1 − spRI and 1 − E; (0, 1) where the partitions agree on every pair."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie in [0, 1], got {alpha}")
    tol = check_positive(tol, "tol")
    if tol not in pair.known:
        X, table = _contingency(pair)
        agree = not table.pairs.disagreements
        pair.known[tol] = table.pairs, () if agree else _mean_similarities(X, table, tol)
    pairs, similarities = pair.known[tol]
    if not similarities:
        return 0.0, 1.0
    near_a, near_b, near = similarities

    def loss(share_b: float, share_a: float, near_b: float, near_a: float) -> float:
        # Not 1 - alpha (1 - near_a), which loses digits for far pairs where alpha is one.
        return share_b * (1 - alpha * near_b) + share_a * (1 - alpha + alpha * near_a)

    N = pairs.all
    p, q = pairs.in_a / N, pairs.in_b / N
    only_a, only_b = pairs.in_a - pairs.both, pairs.in_b - pairs.both
    observed = loss(only_b / N, only_a / N, near_b, near_a)
    return observed, loss((1 - p) * q, p * (1 - q), near, near)


@dataclass(frozen=True, eq=False)
class _Contingency:
    """The non-empty cells of a contingency table of points that carry multiplicities."""

    a: IntArray  # (n,) codes
    b: IntArray
    multiplicities: FloatArray  # (n,) integers

    @cached_property
    def order(self) -> IntArray:
        """The points sorted by cell."""
        return np.argsort(self._codes, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Position in that order at which each cell starts, (s,)."""
        ordered = self._codes[self.order]
        return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))

    @property
    def _codes(self) -> IntArray:
        return self.a.astype(np.int64) * (int(self.b.max()) + 1) + self.b

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray]:
        """The clusters of a and of b that each cell belongs to, (s,) each."""
        first = self.order[self.starts]
        return self.a[first], self.b[first]

    @cached_property
    def pairs(self) -> PairCounts:
        sizes = np.add.reduceat(self.multiplicities[self.order], self.starts)
        in_a, in_b = (_pairs_within(add_up(sizes, codes, 0)) for codes in self.cells)
        return PairCounts(_pairs_within(sizes), in_a, in_b, _pairs_within(sizes.sum(keepdims=True)))


def _pairs_within(sizes: FloatArray) -> int:
    """Σ c(c − 1)/2, in Python integers, which do not overflow."""
    return sum(c * (c - 1) // 2 for c in map(int, sizes.tolist()))


def _contingency(pair: PlacedPair) -> tuple[Array, _Contingency]:
    """The points in clusters of both partitions, and their contingency table."""
    X, Y, a, b = pair.P.X, pair.Q.X, pair.P.partition, pair.Q.partition
    if not (a.is_hard and b.is_hard):
        raise ValueError(
            "spri and spari count pairs and need hard partitions, got a soft one; "
            "use .harden() or another measure"
        )
    if X is not Y and not np.array_equal(X, Y):
        raise ValueError("spri and spari compare partitions of the same points; X and Y differ")
    w = a.weights
    if not np.array_equal(w, b.weights):
        raise ValueError("spri and spari need the same weights for both partitions")
    if not np.array_equal(w, np.floor(w)):
        raise ValueError(
            "spri and spari need integer weights, the number of copies of each point; got "
            f"{w[w != np.floor(w)][0]:g}"
        )
    inside = (a.labels >= 0) & (b.labels >= 0) & (w > 0)
    if not inside.any():
        raise ValueError("no point lies in a cluster of both partitions; all are noise in one")
    rows = slice(None) if inside.all() else inside
    return X[rows], _Contingency(a.labels[rows], b.labels[rows], w[rows])


def _mean_similarities(X: Array, table: _Contingency, tol: float) -> tuple[float, ...]:
    """Mean exp(−t²) over the pairs joined only in a, those joined only in b, and all pairs."""
    n, d = X.shape
    box = _unit_box(X)
    if n > _FEW_POINTS and d <= _MAX_AXES:
        sums = _sums_by_lifting(X, box, table, tol / 2)
    elif n <= _MAX_POINTS:
        sums = _sums_by_pairs(box.place(X), table)
    else:
        raise ValueError(
            f"spri and spari are exact for up to {_MAX_AXES} coordinates, such as positions in a "
            f"tissue, or {_MAX_POINTS:,} points; got {n:,} points with {d} coordinates: "
            "use fewer coordinates or a sample of the points"
        )
    pairs = table.pairs
    counts = (pairs.in_a - pairs.both, pairs.in_b - pairs.both, pairs.all)
    # No pair of the unit box is farther apart than √d, so anything outside is rounding.
    return tuple(
        min(max(total / count, math.exp(-d)), 1.0) if count else 1.0
        for total, count in zip(sums, counts, strict=True)
    )


class _Box(NamedTuple):
    centre: FloatArray  # (d,)
    half: FloatArray  # half the range of each axis; 1 for a constant one

    def place(self, X: Array) -> FloatArray:
        """Points scaled to [−½, ½] on each axis, and to 0 where they are constant."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / 2 / self.half)


def _unit_box(X: Array) -> _Box:
    # Halves, because high - low may overflow.
    low, high = X.min(axis=0).astype(np.float64) / 2, X.max(axis=0).astype(np.float64) / 2
    half = high - low
    return _Box(low + high, np.where(half == 0, 1.0, half))


def _sums_by_pairs(U: FloatArray, table: _Contingency) -> tuple[float, ...]:
    """Σ exp(−t²) over the pairs joined only in a, only in b, and all, by blocks of pairs."""
    U, w = U[table.order], table.multiplicities[table.order]
    plain = bool((w == 1).all())
    totals = np.zeros(3)
    blocks = list(row_blocks(len(U), _BLOCK, block_bytes=8 * _BLOCK**2))
    cells = [_cells_of_block(table.starts, rows) for rows in blocks]
    for i, (rows, own) in enumerate(zip(blocks, cells, strict=True)):
        for columns, other in zip(blocks[i:], cells[i:], strict=True):
            K = pairwise_distances(U[rows], U[columns], power=2)
            np.exp(np.negative(K, out=K), out=K)
            if not plain:
                K *= np.multiply.outer(w[rows], w[columns])
            if rows == columns:  # contains every pair twice, and every copy with itself
                np.fill_diagonal(K, w[rows] * (w[rows] - 1))
                K /= 2
            # Sums over pairs of cells, whose points are all together or all apart.
            K = np.add.reduceat(np.add.reduceat(K, own[1], axis=0), other[1], axis=1)
            in_a, in_b = (np.equal.outer(of[own[0]], of[other[0]]) for of in table.cells)
            totals += [K[in_a & ~in_b].sum(), K[in_b & ~in_a].sum(), K.sum()]
    return tuple(totals.tolist())


def _cells_of_block(starts: IntArray, rows: slice) -> tuple[slice, IntArray]:
    """Which cells have points in a block of them in their order, and where each begins there."""
    first = int(np.searchsorted(starts, rows.start, side="right")) - 1
    cells = slice(first, int(np.searchsorted(starts, rows.stop)))
    return cells, np.maximum(starts[cells] - rows.start, 0)


def _sums_by_lifting(X: Array, box: _Box, table: _Contingency, tol: float) -> tuple[float, ...]:
    r"""Σ exp(−t²) over the pairs joined only in a, only in b, and all, by lifting the cells.

    .. math:: e^{-\lVert u - v \rVert^2} = \sum_α φ_α(u) φ_α(v), \qquad
              φ_α(u) = e^{-\lVert u \rVert^2} \prod_i \sqrt{2^{α_i} / α_i!}\; u_i^{α_i}

    is truncated to total degree |α| < m. The remainder is at most
    :math:`e^{-s} \sum_{k \ge m} s^k / k!` with s = 2‖u‖‖v‖ ≤ d/2 in the centred unit box, the
    probability that a Poisson variable of mean d/2 reaches m; m is the smallest with this ≤ tol.
    """
    s = len(table.starts)
    # Sums over the cells of each cluster.
    A, B = (sp.csr_array((np.ones(s), (codes, np.arange(s)))) for codes in table.cells)
    exponents = _exponents(X.shape[1], _degree(X.shape[1], tol))
    step = max(_CELL_BYTES // (8 * s), 1)
    totals = np.zeros(4)
    for i in range(0, len(exponents), step):
        V = _lifted_cells(X, box, table, exponents[i : i + step])  # (features, s)
        totals += [_squares(V), _squares(A @ V.T), _squares(B @ V.T), _squares(V.sum(axis=1))]
    cells, by_a, by_b, everywhere = totals.tolist()
    self_pairs = float(table.multiplicities.sum())
    return (by_a - cells) / 2, (by_b - cells) / 2, (everywhere - self_pairs) / 2


def _squares(V: FloatArray) -> float:
    return float(np.vdot(V, V))


def _degree(d: int, tol: float) -> int:
    """The total degree from which the power series is truncated."""
    tol = max(tol, 2.0**-53)  # the rounding error
    return next(m for m in itertools.count(1) if gammainc(m, d / 2) <= tol)


def _exponents(d: int, degree: int) -> IntArray:
    """All d-tuples α of integers ≥ 0 whose sum is below the degree."""
    alphas = itertools.product(range(degree), repeat=d)
    return np.array([alpha for alpha in alphas if sum(alpha) < degree])


def _lifted_cells(X: Array, box: _Box, table: _Contingency, exponents: IntArray) -> FloatArray:
    """Σ φ_α over the points of each cell, (features, s), by blocks of points."""
    starts = table.starts
    sums = np.zeros((len(exponents), len(starts)))
    for rows in row_blocks(len(X), 2 * len(exponents)):
        points = table.order[rows]
        Z = _power_features(box.place(X[points]), table.multiplicities[points], exponents)
        cells, begin = _cells_of_block(starts, rows)
        sums[:, cells] += np.add.reduceat(Z, begin, axis=1)
    return sums


def _power_features(U: FloatArray, w: FloatArray, exponents: IntArray) -> FloatArray:
    """w φ_α(u), (features, b), as products of powers over the axes."""
    weight = w * np.exp(-np.einsum("ij,ij->i", U, U))
    Z = _scaled_powers(U[:, 0], weight, exponents[:, 0].max())[exponents[:, 0]]
    for u, alpha in zip(U.T[1:], exponents.T[1:], strict=True):
        Z *= _scaled_powers(u, np.ones_like(u), alpha.max())[alpha]
    return Z


def _scaled_powers(u: FloatArray, first: FloatArray, highest: int) -> FloatArray:
    """first · √(2ᵏ / k!) uᵏ for k = 0 … highest, (highest + 1, b)."""
    powers = np.empty((highest + 1, len(u)))
    powers[0] = first
    for k in range(1, highest + 1):
        powers[k] = powers[k - 1] * u * math.sqrt(2 / k)
    return powers
