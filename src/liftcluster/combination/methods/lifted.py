"""Consensus in the lifted space: group the clusters of all partitions, not the points."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..._util.arrays import add_up, block_of, from_device, row_blocks
from ..._util.typing import FloatArray, IntArray, Points, Sparse
from ..._util.validation import check_choice, check_count, check_positive
from ...lifts.spectral import gram_factor
from ...representation.representation import Representation
from ..mmd import climb_mmd
from .evidence import average_linkage, cluster_reliability
from .spectral import row_shares, top_eigenvectors, unit_kmeans
from .tuples import LIMIT, LabelTuples, Profiles, cluster_labelled, gather

__all__ = [
    "cluster_graph",
    "group_by",
    "group_centres",
    "lift_evidence",
    "lift_graph",
    "lift_hac",
    "lift_km",
    "lift_ssd",
    "ward_groupings",
    "weighted_ward",
]

LINKAGES = ("ward", "average", "complete", "single")
_WARD_UP_TO = 1500  # clusters: merging all of them is cubic
_TRUST = 8  # power of the share of labels that places foretell: nearly all, or they count little


def lift_km(rep: Representation, k: int, *, n_init: int = 20, rng: np.random.Generator) -> IntArray:
    r"""Group the lifted clusters of all partitions by weighted k-means (the paper's LiftKm).

    .. math:: \min_{v_1 … v_k} \mathrm{liftSSD} = \sum_C \frac{|C|}{n} \min_l ‖\barΦ(C) - v_l‖^2

    Lloyd's iterations from ``n_init`` seedings, and Ward's grouping, each improved by moving single
    clusters until no move helps; the best of all is kept.

    Returns
    -------
    (s,) int array
        Group of each cluster; ``group_centres`` gives the v.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 5, Algorithm 1.
    """
    from sklearn.cluster import KMeans

    starts = [weighted_ward(rep.vectors, rep.masses, k)] if rep.s <= _WARD_UP_TO else []
    for _ in range(check_count(n_init, "n_init")):
        starts.append(group_by(KMeans(k, n_init=1), rep, k, rng=rng))
    G = rep.inner_products()

    def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
        return np.asarray((R.T @ G[rows]).T)

    # Moving clusters lowers liftSSD by what it raises Σ ‖S‖²/w, the climb of MaxMMDClustering.
    climbs = [
        climb_mmd(affinity, np.diag(G), rep.masses, codes, int(codes.max()) + 1) for codes in starts
    ]
    return max(climbs, key=lambda climb: climb.objective).codes


def lift_hac(
    rep: Representation, k: int, *, linkage: str = "ward", rng: np.random.Generator | None = None
) -> IntArray:
    r"""Group the lifted clusters agglomeratively (the paper's LiftHAC).

    Ward's linkage merges the two groups that raise liftSSD least,

    .. math:: \frac{w_A w_B}{w_A + w_B} ‖c_A - c_B‖^2,

    with masses as weights from the start: the agglomerative form of what k-means minimises. Average
    linkage counts masses too; complete and single linkage have none to count.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 5, Algorithm 1; Ward (1963).
    """
    check_choice(linkage, LINKAGES, "linkage")
    if linkage == "ward":
        return weighted_ward(rep.vectors, rep.masses, k)
    D = cdist(rep.vectors, rep.vectors)
    if linkage == "average":
        return average_linkage(-D, rep.masses, k)
    from scipy.cluster.hierarchy import fcluster
    from scipy.cluster.hierarchy import linkage as tree
    from scipy.spatial.distance import squareform

    if len(D) == 1:
        return np.zeros(1, dtype=np.int64)
    merges = tree(squareform(D, checks=False), linkage)
    return np.asarray(fcluster(merges, k, "maxclust")) - 1


def lift_graph(
    tuples: LabelTuples,
    k: int,
    *,
    rep: Representation,
    X: Points,
    weights: FloatArray | None = None,
    strength: float = 0.5,
    power: float = 4.0,
    placement: float = 0.9,
    theta: float = 0.4,
    rng: np.random.Generator,
) -> IntArray:
    r"""Cut the graph of points and clusters, with links between clusters that lie together.

    .. math:: A = B^\top W D^{-1} B + λ\, (G_+)^q \circ \sqrt{|C|\,|C'|} / m, \quad
              Y = \bigl((1 - αc) D^{-1} B + αc P\bigr) d^{-1/2} U, \quad
              P_{xC} ∝ ⟨φ(x), \barΦ(C)⟩_+^q

    With λ = α = 0 this is ``lwgp``, which sees labels alone. G
    are the inner products of the unit cluster vectors, |C| the weight of a cluster, d and U the
    row sums and first eigenvectors of A. Points find their place among the eigenvectors by the
    clusters they are most like, and not only by those they are in, so that points with equal
    labels may part, and a point without any label has its place too. As far as c goes: the share
    of labels, by weight, that places foretell, beyond chance and to the eighth power. Where
    clusters do not hang together in X (domains drawn from genes, seen in space), labels alone
    decide. The rows of Y, scaled to unit length, are clustered by k-means. One lift and an s × s
    eigenproblem, linear in the points.

    Parameters
    ----------
    tuples : LabelTuples
        Partitions of the same points, hardened; noise is a missing label.
    k : int
    rep : Representation
        The clusters of ``tuples``, lifted.
    X : (n, d) array
    weights : (n,) array, optional
        Of the points, one each by default.
    strength, power, placement, theta : float
        λ, q, α in [0, 1], and the θ of
        ``cluster_reliability``.

    Returns
    -------
    (n,) int array
        Cluster of each point, from 0 to k - 1.
    """
    theta = check_positive(theta, "theta")
    power = check_positive(power, "power")
    if not 0 <= placement <= 1:
        raise ValueError(f"placement must be between 0 and 1, got {placement}")
    if not 0 <= strength < np.inf:
        raise ValueError(f"strength must be finite and not negative, got {strength}")
    if k == 1 or np.count_nonzero((tuples.codes >= 0).any(axis=1)) <= k:  # nothing to cut
        return cluster_labelled(tuples, k, lambda part, _: np.arange(part.t))[tuples.inverse]
    A, walk = cluster_graph(tuples, rep, strength=strength, power=power, theta=theta)
    U = top_eigenvectors(A, k)
    w = np.ones(len(tuples.inverse)) if weights is None else weights
    placed, foretold = _placed(rep, X, tuples, w, U, power)
    alpha = placement * foretold**_TRUST
    Y = (1 - alpha) * np.asarray(walk @ U)[tuples.inverse] + alpha * placed
    return unit_kmeans(Y, w, k, rng)


def cluster_graph(
    tuples: LabelTuples,
    rep: Representation,
    *,
    strength: float = 0.5,
    power: float = 4.0,
    theta: float = 0.4,
) -> tuple[FloatArray, Sparse]:
    """(s, s) edges A between the clusters, and the (t, s) steps D⁻¹B from tuples to clusters.

    Clusters are joined by the points they share, reliable ones more, and by lying together; the
    formula is at :func:`lift_graph`.
    """
    B = sp.csr_array(tuples.indicator() @ sp.diags_array(cluster_reliability(tuples, theta)))
    walk = row_shares(B)
    sizes = np.sqrt(np.diag(tuples.overlaps()))
    links = np.clip(rep.inner_products(), 0, 1) ** power * np.outer(sizes, sizes) / tuples.m
    shared = (B.T @ (sp.diags_array(tuples.weights) @ walk)).toarray()
    return shared + strength * links, walk


def _placed(
    rep: Representation,
    X: Points,
    tuples: LabelTuples,
    weights: FloatArray,
    U: FloatArray,
    power: float,
) -> tuple[FloatArray, float]:
    """(n, k) means of the rows of U by the similarity of each point to the clusters, and how well
    places foretell labels, by weight.
    """
    lift = rep.lift
    assert lift is not None
    X = lift.points(X)  # which can be sliced
    n, clusters = len(tuples.inverse), [np.flatnonzero(rep.owner == i) for i in range(rep.m)]
    Y = np.empty((n, U.shape[1]))
    foretold = labelled = 0.0
    for rows in row_blocks(n, rep.s):
        similar = np.maximum(from_device(lift.scores(block_of(X, rows), rep.vectors)), 0)
        codes = tuples.codes[tuples.inverse[rows]]
        most_like = np.column_stack([similar[:, c].argmax(axis=1) for c in clusters])
        foretold += weights[rows] @ np.count_nonzero(most_like == codes, axis=1)
        labelled += weights[rows] @ np.count_nonzero(codes >= 0, axis=1)
        # In units of the largest, so that no power of it vanishes.
        similar /= np.maximum(similar.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        similar **= power
        Y[rows] = (similar @ U) / np.maximum(similar.sum(axis=1, keepdims=True), 1)
    chance = rep.m / rep.s
    return Y, max((foretold / labelled - chance) / max(1 - chance, 1e-12), 0.0)


def lift_evidence(
    tuples: LabelTuples,
    k: int,
    *,
    rep: Representation,
    X: Points = None,
    weights: FloatArray | None = None,
    theta: float | None = 0.4,
    limit: int = LIMIT,
    rng: np.random.Generator | None = None,
) -> IntArray:
    r"""Accumulate evidence that is graded by place: points are as similar as their clusters are.

    .. math:: S(x, y) = \frac{1}{m^2} \sum_{ij} u_i u_j ⟨\barΦ(C_i(x)), \barΦ(C_j(y))⟩

    scaled to unit diagonal, then average linkage on the different tuples of labels; u are the
    clusters' reliabilities (``theta=None``: all one). Where the tuples are too many, the heaviest
    lead groups that the others join by co-association.

    Returns
    -------
    (n,) int array
        Cluster of each point, from 0 to k - 1. X, weights and rng play no part in it: they are
        taken so that all methods on labels and vectors are called alike.
    """
    if theta is not None:
        theta = check_positive(theta, "theta")
    limit = check_count(limit, "limit", least=2)

    def link(part: LabelTuples, k: int) -> IntArray:
        u = np.ones(part.s) if theta is None else cluster_reliability(part, theta)
        profiles, groups = gather(Profiles.of(part), max(limit, k))
        H = sp.csr_array(part.indicator() @ sp.diags_array(u))
        w = sp.diags_array(part.weights)
        sums = sp.csr_array(
            (np.ones(part.t), (groups, np.arange(part.t))), shape=(len(profiles), part.t)
        )
        Z = (sums @ (w @ H)) @ rep.vectors  # (g, ρ), weighted sums of cluster vectors
        Z = np.asarray(Z) / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)
        return average_linkage(Z @ Z.T, profiles.weights, k)[groups]

    return cluster_labelled(tuples, k, link)[tuples.inverse]


def group_by(clusterer: Any, rep: Representation, k: int, *, rng: np.random.Generator) -> IntArray:
    """Group the lifted clusters by any scikit-learn clusterer, with masses where it takes weights.

    Vectors are first turned into their span, at most s numbers each, which changes no distance.
    """
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    clusterer = clone(clusterer)
    settings = clusterer.get_params()
    chosen = {"n_clusters": k, "n_components": k, "random_state": int(rng.integers(2**31))}
    clusterer.set_params(**{name: v for name, v in chosen.items() if name in settings})
    V = rep.vectors if rep.n_components <= rep.s else gram_factor(rep.inner_products())[0]
    takes_weights = "sample_weight" in inspect.signature(clusterer.fit).parameters
    weights = {"sample_weight": rep.masses * rep.s / rep.m} if takes_weights else {}
    with warnings.catch_warnings():
        # Fewer different vectors than k: the caller says so, in its own terms.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if hasattr(clusterer, "fit_predict"):
            codes = clusterer.fit_predict(V, **weights)
        else:
            codes = clusterer.fit(V, **weights).predict(V)
    return np.unique(codes, return_inverse=True)[1]


def weighted_ward(V: FloatArray, weights: FloatArray, k: int) -> IntArray:
    """k groups of weighted vectors by merging the two that raise the sum of squares least."""
    return next(ward_groupings(V, weights, k))


def ward_groupings(V: FloatArray, weights: FloatArray, most: int) -> Iterator[IntArray]:
    """The groupings of weighted Ward into ``most`` groups, one less, and so on to a single one."""
    centres, w = np.array(V), np.array(weights, dtype=np.float64)
    codes = np.arange(len(V))
    cost = _ward_costs(centres, w, centres, w)
    np.fill_diagonal(cost, np.inf)
    alive = np.ones(len(V), dtype=bool)
    for k in range(len(V), 0, -1):
        if k <= most:
            yield np.unique(codes, return_inverse=True)[1]
        if k == 1:
            return
        a, b = np.unravel_index(cost.argmin(), cost.shape)
        centres[a] = (w[a] * centres[a] + w[b] * centres[b]) / (w[a] + w[b])
        w[a] += w[b]
        codes[codes == b] = a
        alive[b] = False
        cost[b], cost[:, b] = np.inf, np.inf
        row = np.where(alive, _ward_costs(centres[[a]], w[[a]], centres, w)[0], np.inf)
        row[a] = np.inf
        cost[a], cost[:, a] = row, row


def group_centres(rep: Representation, codes: IntArray, k: int) -> FloatArray:
    """(k, ρ) weighted means of the unit vectors of each group."""
    R = sp.csr_array((rep.masses, (codes, np.arange(rep.s))), shape=(k, rep.s))
    return np.asarray((R @ rep.vectors) / add_up(rep.masses, codes, k)[:, None])


def lift_ssd(rep: Representation, centres: FloatArray) -> float:
    r"""liftSSD = Σ |C|/n min_v ‖Φ̄(C) − v‖², the objective of the paper's section 5."""
    return float(rep.masses @ cdist(rep.vectors, centres, "sqeuclidean").min(axis=1))


def _ward_costs(A: FloatArray, a: FloatArray, B: FloatArray, b: FloatArray) -> FloatArray:
    harmonic = np.multiply.outer(a, b) / np.add.outer(a, b)
    return np.asarray(harmonic * cdist(A, B, "sqeuclidean"))
