"""Consensus by grouping the lifted clusters of all partitions."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from ..._util.arrays import add_up, block_of, from_device, row_blocks
from ..._util.checks import check_choice, check_count, check_positive
from ..._util.typing import FloatArray, IntArray, Points, RngLike, Sparse
from ...lifts.exact import gram_factor
from ...representation.representation import Representation
from .ascent import ascend_mmd
from .evidence import average_linkage, cluster_reliability
from .spectral import cluster_affinity, top_eigenvectors, unit_kmeans
from .tuples import LIMIT, LabelTuples, Profiles, cluster_labelled, gather

Linkage = Literal["ward", "average", "complete", "single"]
_WARD_UP_TO = 1500  # clusters: Ward's method takes cubic time
_TRUST = 8  # power of the accuracy with which positions predict labels


def lift_km(rep: Representation, k: int, *, n_init: int = 20, rng: np.random.Generator) -> IntArray:
    r"""Group the lifted clusters of all partitions by weighted k-means (the paper's LiftKm).

    .. math:: \min_{v_1 … v_k} \mathrm{liftSSD} = \sum_C \frac{|C|}{n} \min_l ‖\barΦ(C) - v_l‖^2

    Lloyd's algorithm from ``n_init`` initialisations, and Ward's grouping, each improved by moving
    single clusters until no move lowers liftSSD; the best result is kept.

    Parameters
    ----------
    rep : Representation
        s lifted clusters of m partitions.
    k : int
        Number of groups, at most s.
    n_init : int
        Number of k-means++ initialisations.
    rng : Generator

    Returns
    -------
    (s,) int array
        Group of each cluster; ``group_centres`` computes the v.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 5, Algorithm 1.
    """
    from sklearn.cluster import KMeans

    starts = [weighted_ward(rep.vectors, rep.masses, k)] if rep.s <= _WARD_UP_TO else []
    G = rep.inner_products()
    V = _span_coordinates(rep, G)
    for _ in range(check_count(n_init, "n_init")):
        starts.append(_fit_groups(KMeans(n_init=1), V, rep, k, rng))

    def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
        return np.asarray((R.T @ G[rows]).T)

    # liftSSD is a constant minus Σ ‖S‖²/w, which ascend_mmd maximises.
    climbs = [
        ascend_mmd(affinity, np.diag(G), rep.masses, codes, int(codes.max()) + 1)
        for codes in starts
    ]
    return max(climbs, key=lambda climb: climb.objective).codes


def lift_hac(
    rep: Representation, k: int, *, linkage: Linkage = "ward", rng: RngLike = None
) -> IntArray:
    r"""Group the lifted clusters by hierarchical agglomeration (the paper's LiftHAC).

    Ward's linkage merges the two groups that increase liftSSD least, by

    .. math:: \frac{w_A w_B}{w_A + w_B} ‖c_A - c_B‖^2

    with the masses w. Average linkage is weighted by mass too, complete and single linkage are not.

    Parameters
    ----------
    rep, k, rng
        As for :func:`lift_km`, like the result; nothing is random here.
    linkage : "ward", "average", "complete" or "single"

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 5, Algorithm 1; Ward (1963),
    doi:10.1080/01621459.1963.10500845.
    """
    check_choice(linkage, get_args(Linkage), "linkage")
    if linkage == "ward":
        return weighted_ward(rep.vectors, rep.masses, k)
    if linkage == "average":
        return average_linkage(-cdist(rep.vectors, rep.vectors), rep.masses, k)
    if rep.s == 1:
        return np.zeros(1, dtype=np.int64)
    from scipy.cluster import hierarchy

    tree = hierarchy.linkage(pdist(rep.vectors), linkage)
    return np.asarray(hierarchy.fcluster(tree, k, "maxclust")) - 1


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
    r"""Cut the graph of points and clusters, with edges between similar lifted clusters.

    .. math:: A = B^\top W D^{-1} B + λ\, (G_+)^q \circ \sqrt{|C|\,|C'|} / m, \quad
              Y = \bigl((1 - αc) D^{-1} B + αc P\bigr) d^{-1/2} U, \quad
              P_{xC} ∝ ⟨φ(x), \barΦ(C)⟩_+^q

    With λ = α = 0 this is ``lwgp``, which uses labels only. G are the inner products of the unit
    cluster vectors, |C| the weight of a cluster, d and U the row sums and first eigenvectors of A.
    Points are embedded by the clusters they are similar to and not only by those they are in, so
    that points with equal labels may be separated and a point without any label is embedded too.
    This is weighted by c, the share of labels (by weight) that is predicted correctly from the
    positions, corrected for chance, to the eighth power: where clusters are not compact in X, the
    labels decide. The rows of Y, scaled to unit length, are clustered by k-means. One lift and an
    s × s eigenproblem: linear in the number of points.

    Parameters
    ----------
    tuples, k
        As for ``evidence``.
    rep : Representation
        The lifted clusters of ``tuples``.
    X : (n, d) array
        The points.
    weights : (n,) array, optional
        Weights of the points, one each by default.
    strength, power, placement, theta : float
        λ, q, α in [0, 1], and the θ of ``cluster_reliability``.
    rng : Generator
        Seeds k-means.

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
    by_position, accuracy = _embed_by_position(rep, X, tuples, w, U, power)
    alpha = placement * accuracy**_TRUST
    Y = (1 - alpha) * np.asarray(walk @ U)[tuples.inverse] + alpha * by_position
    return unit_kmeans(Y, w, k, rng)


def cluster_graph(
    tuples: LabelTuples,
    rep: Representation,
    *,
    strength: float = 0.5,
    power: float = 4.0,
    theta: float = 0.4,
) -> tuple[FloatArray, Sparse]:
    """(s, s) edges A between the clusters and (t, s) transitions D⁻¹B of :func:`lift_graph`."""
    B = sp.csr_array(tuples.indicator() @ sp.diags_array(cluster_reliability(tuples, theta)))
    sizes = np.sqrt(np.diag(tuples.overlaps()))
    links = np.clip(rep.inner_products(), 0, 1) ** power * np.outer(sizes, sizes) / tuples.m
    shared, walk = cluster_affinity(B, tuples.weights)
    return shared + strength * links, walk


def _embed_by_position(
    rep: Representation,
    X: Points,
    tuples: LabelTuples,
    weights: FloatArray,
    U: FloatArray,
    power: float,
) -> tuple[FloatArray, float]:
    """(n, k) means of the rows of U, by similarity to the clusters, and the accuracy c."""
    lift = rep.lift
    assert lift is not None
    X = lift.points(X)  # can be sliced
    n, clusters = len(tuples.inverse), [np.flatnonzero(rep.owner == i) for i in range(rep.m)]
    Y = np.empty((n, U.shape[1]))
    correct = labelled = 0.0
    for rows in row_blocks(n, rep.s):
        similar = np.maximum(from_device(lift.scores(block_of(X, rows), rep.vectors)), 0)
        codes = tuples.codes[tuples.inverse[rows]]
        predicted = np.column_stack([similar[:, c].argmax(axis=1) for c in clusters])
        correct += weights[rows] @ np.count_nonzero(predicted == codes, axis=1)
        labelled += weights[rows] @ np.count_nonzero(codes >= 0, axis=1)
        # Relative to the largest, so that powers do not underflow.
        similar /= np.maximum(similar.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        similar **= power
        Y[rows] = (similar @ U) / np.maximum(similar.sum(axis=1, keepdims=True), 1)
    chance = rep.m / rep.s
    return Y, max((correct / labelled - chance) / max(1 - chance, 1e-12), 0.0)


def lift_evidence(
    tuples: LabelTuples,
    k: int,
    *,
    rep: Representation,
    X: Points = None,
    weights: FloatArray | None = None,
    theta: float | None = 0.4,
    limit: int = LIMIT,
    rng: RngLike = None,
) -> IntArray:
    r"""Evidence accumulation in which points are as similar as their lifted clusters.

    .. math:: S(x, y) = \frac{1}{m^2} \sum_{ij} u_i u_j ⟨\barΦ(C_i(x)), \barΦ(C_j(y))⟩

    scaled to unit diagonal, then average linkage of the distinct tuples of labels, with u the
    reliabilities of the clusters.

    Parameters
    ----------
    tuples, k, rep
        As for :func:`lift_graph`, like the result.
    X, weights, rng : ignored
        Accepted so that all methods on labels and vectors have the same signature.
    theta : float or None
        The θ of ``cluster_reliability``; None sets all u to one.
    limit : int
        As for ``evidence``; tuples are grouped by co-association.
    """
    if theta is not None:
        theta = check_positive(theta, "theta")
    limit = check_count(limit, "limit", least=2)

    def link(part: LabelTuples, k: int) -> IntArray:
        u = np.ones(part.s) if theta is None else cluster_reliability(part, theta)
        profiles, groups = gather(Profiles.of(part), max(limit, k))
        H = part.indicator() @ sp.diags_array(u)
        shape = (len(profiles), part.t)
        sums = sp.csr_array((part.weights, (groups, np.arange(part.t))), shape=shape)
        Z = (sums @ H) @ rep.vectors  # (g, ρ), weighted sums of cluster vectors
        Z = np.asarray(Z) / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)
        return average_linkage(Z @ Z.T, profiles.weights, k)[groups]

    return cluster_labelled(tuples, k, link)[tuples.inverse]


def group_by(clusterer: Any, rep: Representation, k: int, *, rng: np.random.Generator) -> IntArray:
    """(s,) groups of the lifted clusters by any scikit-learn clusterer, weighted if it can be."""
    return _fit_groups(clusterer, _span_coordinates(rep), rep, k, rng)


def _span_coordinates(rep: Representation, G: FloatArray | None = None) -> FloatArray:
    """The cluster vectors in at most s orthonormal coordinates; G are their inner products."""
    if rep.n_components <= rep.s:
        return rep.vectors
    return gram_factor(rep.inner_products() if G is None else G)[0]


def _fit_groups(
    clusterer: Any, V: FloatArray, rep: Representation, k: int, rng: np.random.Generator
) -> IntArray:
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    clusterer = clone(clusterer)
    settings = clusterer.get_params()
    chosen = {"n_clusters": k, "n_components": k, "random_state": int(rng.integers(2**31))}
    clusterer.set_params(**{name: v for name, v in chosen.items() if name in settings})
    takes_weights = "sample_weight" in inspect.signature(clusterer.fit).parameters
    weights = {"sample_weight": rep.masses * rep.s / rep.m} if takes_weights else {}
    with warnings.catch_warnings():
        # Fewer distinct vectors than k: the caller warns about this.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if hasattr(clusterer, "fit_predict"):
            codes = clusterer.fit_predict(V, **weights)
        else:
            codes = clusterer.fit(V, **weights).predict(V)
    return np.unique(codes, return_inverse=True)[1]


def weighted_ward(V: FloatArray, weights: FloatArray, k: int) -> IntArray:
    """k groups of weighted vectors by Ward's method."""
    return next(ward_groupings(V, weights, k))


def ward_groupings(V: FloatArray, weights: FloatArray, most: int) -> Iterator[IntArray]:
    """Groupings by weighted Ward into ``most``, ``most`` - 1, …, 1 groups."""
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
