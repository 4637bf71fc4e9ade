"""Consensus by grouping the lifted clusters of all partitions."""

from __future__ import annotations

import inspect
import warnings
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from ..._util.arrays import add_up
from ..._util.checks import check_choice, check_count
from ..._util.threads import blas_threads_for
from ..._util.typing import FloatArray, IntArray, RngLike
from ...lifts.exact import gram_factor
from ...representation.representation import Representation
from .ascent import ascend_mmd
from .kmeans import gram_kmeans
from .linkage import average_linkage, weighted_ward
from .tuples import by_first_appearance

Linkage = Literal["ward", "average", "complete", "single"]
_WARD_UP_TO = 1500  # clusters: Ward's method takes cubic time


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
    starts = [weighted_ward(rep.vectors, rep.masses, k)] if rep.s <= _WARD_UP_TO else []
    with blas_threads_for(rep.sums.size):
        G = rep.inner_products()
    starts += gram_kmeans(G, rep.masses, k, check_count(n_init, "n_init"), rng)
    # Groups that several starts find are improved once.
    different = {by_first_appearance(codes)[1].tobytes(): codes for codes in starts}

    def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
        return np.asarray((R.T @ G[rows]).T)

    # liftSSD is a constant minus Σ ‖S‖²/w, which ascend_mmd maximises.
    climbs = [
        ascend_mmd(affinity, np.diag(G), rep.masses, codes, int(codes.max()) + 1)
        for codes in different.values()
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


def group_by(clusterer: Any, rep: Representation, k: int, *, rng: np.random.Generator) -> IntArray:
    """(s,) groups of the lifted clusters by any scikit-learn clusterer, weighted if it can be."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    V = rep.vectors  # in at most s orthonormal coordinates
    if rep.n_components > rep.s:
        V = gram_factor(rep.inner_products())[0]
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


def group_centres(rep: Representation, codes: IntArray, k: int) -> FloatArray:
    """(k, ρ) weighted means of the unit vectors of each group."""
    R = sp.csr_array((rep.masses, (codes, np.arange(rep.s))), shape=(k, rep.s))
    return np.asarray((R @ rep.vectors) / add_up(rep.masses, codes, k)[:, None])


def lift_ssd(rep: Representation, centres: FloatArray) -> float:
    r"""liftSSD = Σ |C|/n min_v ‖Φ̄(C) − v‖², the objective of the paper's section 5."""
    return float(rep.masses @ cdist(rep.vectors, centres, "sqeuclidean").min(axis=1))
