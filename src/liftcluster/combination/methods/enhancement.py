r"""Consensus by co-association that is improved by its own most reliable entries.

Both methods alternate between parts of an optimisation problem over matrices of all pairs of
points. Points with equal labels have equal rows there, up to the diagonal; so tuples of labels and
their weights suffice. An n × n matrix is stored in t + 1 rows: entries between two points of the
tuples a and b in row a and column b (for a = b too), and in the last row those of a point with
itself. The results are those of n points, and weights count points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._util.checks import check_count, check_positive
from ..._util.memory import check_memory
from ..._util.threads import one_blas_thread
from ..._util.typing import Array, FloatArray, IntArray, RngLike
from .evidence import cluster_reliability
from .linkage import average_linkage
from .propagation import within_partitions
from .tuples import LabelTuples, Profiles, cluster_labelled, gather

# Tuples: less than a minute of one core if reliable pairs join them all.
_MOST_ENHANCED, _MOST_GUIDED = 1000, 900
_THETA = 0.4  # of the locally weighted co-association that EC-CMS improves
_LEAST_DISSIMILARITY = 0.8  # τ of SDGCA
_LARGEST_PENALTY = 1e6  # of SDGCA
_MOST_POINTS = 1e9  # more count as so many, so that a penalty of one is not lost by rounding


def ec_cms(
    tuples: LabelTuples,
    k: int,
    *,
    alpha: float = 0.75,
    lam: float = 0.01,
    rng: RngLike = None,
    limit: int = _MOST_ENHANCED,
) -> IntArray:
    r"""Co-association matrix self-enhancement: spread what most partitions agree on.

    .. math:: \min_{C, E} \operatorname{tr}(C^T Φ C) + \tfrac{λ}{2} ‖E‖^2, \quad B = C + E, \quad
              C = C^T, \quad 0 ≤ C ≤ 1, \quad E = 0 \text{ where } H > 0

    with B the co-association of ``lwea`` (θ = 0.4), H that of ``evidence`` where it is at least α
    and 0 elsewhere, and Φ the graph Laplacian of H: C differs from B where B is not reliable, and
    points that H joins get similar rows. C is found by up to 100 steps of ADMM,

    .. math:: C = (2Φ + 2I)^{-1}(B - E + Y_1 + F - Y_2), \quad
              E = \frac{B - C + Y_1}{λ + 1} [H = 0], \quad
              F = \operatorname{clip}\bigl(\operatorname{sym}(C + Y_2), 0, 1\bigr)

    :math:`Y_1` growing by B − C − E and :math:`Y_2` by C − F, until nothing changes by one per cent
    of its norm; then by average linkage of sym(C). O(t³) time for each step and O(t²) memory.

    Φ grows with the number of points and the other terms do not, so chains of points that H joins
    count for more, the more points there are. Where clusters touch, most points can end in one
    cluster: 97 % of 2,000 images of digits with ten k-means clusterings, by the n × n formula as
    well, where 1,000 of them fall into several large clusters.

    Parameters
    ----------
    tuples, k, rng
        As for ``evidence``, except that points with equal labels stay together: their C is below
        one where all their clusters are unreliable. Weights count points, so that their unit
        matters; where they sum to less than the number of points, they are scaled to do so.
    alpha, lam : float
        α and λ; the authors advise the defaults.
    limit : int
        As for ``evidence``: more tuples are gathered into so many groups, which count as points
        with equal labels. With the default a call takes less than a minute.

    References
    ----------
    Jia, Tao, Wang, Wang: Ensemble clustering via co-association matrix self-enhancement (IEEE
    Trans. Neural Networks and Learning Systems 2024), doi:10.1109/TNNLS.2023.3249207.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> lc.consensus(inputs, 2, method="ec_cms").labels.tolist()
    [0, 0, 0, 1, 1]
    """
    alpha, lam = check_positive(alpha, "alpha"), check_positive(lam, "lam")

    def link(part: LabelTuples, k: int) -> IntArray:
        u = cluster_reliability(part, _THETA)
        profiles, groups = _gathered(part, k, limit, u)
        H = _at_least(profiles.co_association(profiles), alpha)
        graph = _Graph(H, _counts(profiles.weights, len(tuples.inverse)))
        C = enhanced(graph, profiles.co_association(profiles, u), lam)
        return average_linkage(C, profiles.weights, k)[groups]

    with one_blas_thread():  # more of them take turns at small matrices, and change the last bits
        return cluster_labelled(tuples, k, link)


def sdgca(
    tuples: LabelTuples,
    k: int,
    *,
    lam: float = 0.09,
    eta: float = 0.75,
    theta: float = 0.65,
    rng: RngLike = None,
    limit: int = _MOST_GUIDED,
) -> IntArray:
    r"""Co-association guided by what is surely similar and what is surely dissimilar.

    The reliability of a cluster C of a partition into κ clusters is :math:`u(C)^{1 / \log_2 κ}`,
    with u that of ``lwea`` for θ = λ: small clusters are more reliable. The co-association W that
    it weights, divided by its maximum, is then corrected by a similarity S and a dissimilarity D,

    .. math:: \min_{S, D} \operatorname{tr}(S L S^T) + \operatorname{tr}(D L D^T)
              + \sum_{xy} S_{xy} D_{xy}, \quad 0 ≤ S, D ≤ 1

    with L the Laplacian of the co-association of at least η. S is given where the co-association
    is at least θ, as 0.8 + 0.2 W (W moved and scaled to [0, 1] there), and D where it is at least
    0.8, as 1 − S of ``ecpcs_hc``, which comes first. ADMM with a penalty that grows by a tenth in
    each step gives both, and

    .. math:: W' = \begin{cases} 1 - (1 - S + D)(1 - W) & S ≥ D \\ (1 + S - D) W & S < D
              \end{cases}

    the similarity for average linkage. O(t³) time for each of up to 145 steps, O(t²) memory.
    As for :func:`ec_cms`, L grows with the number of points, and most of many points can end in one
    cluster.

    Parameters
    ----------
    tuples, k, rng, limit
        As for :func:`ec_cms`. A pair that no partition labels together has D = 0.
    lam, eta, theta : float
        λ, η and θ; the defaults are those of the authors' example. They choose them for each data
        set by its classes.

    References
    ----------
    Zhang, Jia, Song, Wang: Similarity and dissimilarity guided co-association matrix construction
    for ensemble clustering (IEEE TKDE 2025), arXiv:2411.00904.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> lc.consensus(inputs, 2, method="sdgca").labels.tolist()
    [0, 0, 0, 1, 1]
    """
    lam, eta = check_positive(lam, "lam"), check_positive(eta, "eta")
    theta = check_positive(theta, "theta")

    def link(part: LabelTuples, k: int) -> IntArray:
        with np.errstate(divide="ignore"):  # a partition of one cluster says nothing: u = 0 or 1
            u = cluster_reliability(part, lam) ** (1 / np.log2(np.repeat(part.sizes, part.sizes)))
        profiles, groups = _gathered(part, k, limit, u)
        CA, W = profiles.co_association(profiles), profiles.co_association(profiles, u)
        W /= W.max() or 1.0
        apart = 1 - profiles.co_association(profiles, within_partitions(part, steps=20))
        apart[(profiles.labelled @ profiles.labelled.T) == 0] = 0.0
        graph = _Graph(_at_least(CA, eta), _counts(profiles.weights, len(tuples.inverse)))
        S, D = guides(graph, *_known_guides(_at_least(CA, theta) > 0, W, apart))
        return average_linkage(corrected(S, D, W), profiles.weights, k)[groups]

    with one_blas_thread():
        return cluster_labelled(tuples, k, link)


class _Graph:
    """The Laplacian L of a graph of n points that is the same for all points of a tuple.

    H are (t, t) edges between two points of the tuples, for a = b too.
    """

    def __init__(self, H: FloatArray, weights: FloatArray) -> None:
        self.H, self.weights = H, weights
        # Without edges within a tuple, which cancel in its own equation.
        self.degrees = (H - np.diag(np.diag(H))) @ weights
        pieces = connected_components(sp.csr_array(H), directed=False)[1]
        self.pieces = [np.flatnonzero(pieces == c) for c in np.flatnonzero(np.bincount(pieces) > 1)]
        self.counts = _with_own(np.outer(weights, weights), weights)  # of entries of n points
        self.counts[np.diag_indices_from(H)] -= np.minimum(weights, weights**2)

    def inverse(self, penalty: float) -> Callable[[FloatArray], FloatArray]:
        r"""X ↦ (2L + 2 penalty I)⁻¹ X, for matrices in t + 1 rows.

        With X = P M Pᵀ + diag(P e) for the (n, t) tuples P of the points,
        L X = P ((Δ − H W) M − H diag(e)) Pᵀ + diag(P Δ e), Δ = diag(H w).
        """
        from scipy.linalg import lu_factor, lu_solve

        between = 2 * self.degrees + 2 * penalty
        own = between + 2 * np.diag(self.H) * self.weights
        # Edges are few: most of the time one factor for each piece of the graph is much smaller.
        factors = []
        for piece in self.pieces:
            K = -2 * self.H[np.ix_(piece, piece)] * self.weights[piece]
            np.fill_diagonal(K, between[piece])
            factors.append(lu_factor(K, overwrite_a=True, check_finite=False))

        def solve(X: FloatArray) -> FloatArray:
            excess = (X[-1] - np.diag(X)) / own
            R = X[:-1] + 2 * self.H * excess
            M = R / between[:, None]
            for piece, factor in zip(self.pieces, factors, strict=True):
                M[piece] = lu_solve(factor, R[piece], check_finite=False)
            return _with_own(M, np.diag(M) + excess)

        return solve

    def norm(self, X: FloatArray) -> float:
        """The Frobenius norm of an n × n matrix."""
        return float(np.sqrt(np.einsum("ij,ij,ij", self.counts, X, X)))


def enhanced(graph: _Graph, B: FloatArray, lam: float) -> FloatArray:
    """(t, t) sym(C) of EC-CMS between points of two tuples, from B."""
    B = _with_own(B, 1.0)
    reliable = _with_own(graph.H, 0.0) > 0
    solve = graph.inverse(1.0)
    C, E, F, Y1, Y2 = np.zeros_like(B), np.zeros_like(B), np.zeros_like(B), B, np.zeros_like(B)
    for _ in range(100):
        before = C, E, F, Y1, Y2
        C = solve(B - E + Y1 + F - Y2)
        E = np.where(reliable, 0.0, (B - C + Y1) / (lam + 1))
        F = np.clip(_symmetric(C + Y2), 0, 1)
        Y1, Y2 = Y1 + (B - C - E), Y2 + (C - F)
        pairs = zip((C, E, F, Y1, Y2), before, strict=True)
        if all(graph.norm(new - old) <= 0.01 * graph.norm(old) for new, old in pairs):
            break
    return _symmetric(C)[:-1]


def guides(
    graph: _Graph, similar: FloatArray, dissimilar: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """S and D of SDGCA, in t + 1 rows, from the entries that are known.

    The authors solve from the right, X (2L + …)⁻¹: this is the same with all matrices transposed,
    and only sym(S) and sym(D) matter in the end. And they go on, up to 300 steps, after the penalty
    has reached its maximum, when they hardly change anything any more.
    """
    zero = np.zeros_like(similar)
    S, D, F1, F2, Y1, Y2, penalty = zero, zero, zero, zero, zero, zero, 1.0
    while penalty < _LARGEST_PENALTY:
        before = S, D
        solve = graph.inverse(penalty)
        S = solve(2 * penalty * F1 - _transposed(D) - Y1)
        F1 = _completed(S + Y1 / (2 * penalty), similar)
        D = solve(2 * penalty * F2 - _transposed(S) - Y2)
        F2 = _completed(D + Y2 / (2 * penalty), dissimilar)
        Y1, Y2 = Y1 + penalty * (S - F1), Y2 + penalty * (D - F2)
        penalty *= 1.1
        if all(graph.norm(X) < 1e-3 for X in (S - before[0], D - before[1], S - F1, D - F2)):
            break
    return S, D


def corrected(S: FloatArray, D: FloatArray, W: FloatArray) -> FloatArray:
    """(t, t) W' of SDGCA."""
    S, D = np.clip(_symmetric(S), 0, 1)[:-1], np.clip(_symmetric(D), 0, 1)[:-1]
    return np.where(S >= D, 1 - (1 - S + D) * (1 - W), (1 + S - D) * W)


def _known_guides(joined: Array, W: FloatArray, apart: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The known entries of S and D of SDGCA, in t + 1 rows; all others are zero."""
    dissimilar = _at_least(apart, _LEAST_DISSIMILARITY)
    W = np.where(joined, W, 0.0)
    least = W.min()
    W = (W - least) / (1 - least) if least < 1 else np.zeros_like(W)
    similar = np.where((W > 1e-15) & (dissimilar == 0), 0.8 + W / 5, 0.0)
    return _with_own(similar, 1.0), _with_own(dissimilar, 0.0)


def _completed(F: FloatArray, known: FloatArray) -> FloatArray:
    return _symmetric(np.where(known > 0, known, np.clip(F, 0, 1)))


def _at_least(S: FloatArray, least: float) -> FloatArray:
    # Shares of m partitions, up to rounding.
    return np.where(least - 1e-9 <= S, S, 0.0)


def _counts(weights: FloatArray, n: int) -> FloatArray:
    """Weights as numbers of points, of n points in all or more."""
    total = weights.sum()
    return np.asarray(weights * np.clip(1.0, n / total, max(n, _MOST_POINTS) / total))


def _gathered(
    tuples: LabelTuples, k: int, limit: int, reliability: FloatArray
) -> tuple[Profiles, IntArray]:
    limit = max(check_count(limit, "limit", least=2), k)
    n = min(tuples.t, limit)
    check_memory(20 * 8 * n * n, f"all pairs of {n:,} tuples of labels", "take a smaller limit")
    return gather(Profiles.of(tuples), limit, reliability)


def _with_own(M: FloatArray, own: FloatArray | float) -> FloatArray:
    """The t + 1 rows of entries between points, and of points with themselves."""
    return np.vstack([M, np.broadcast_to(own, (1, len(M)))])


def _transposed(X: FloatArray) -> FloatArray:
    return _with_own(X[:-1].T, X[-1])


def _symmetric(X: FloatArray) -> FloatArray:
    return (X + _transposed(X)) / 2
