"""Consensus by the barycentre of the inputs: the weighted vectors of the least mean LiftEMD."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..._util.checks import check_count
from ..._util.typing import FloatArray
from ...representation.representation import Representation
from .lifted import group_centres, lift_km
from .tuples import by_first_appearance

_LITTLE = 1e-6  # fall of the mean LiftEMD at which alternations end
_MEDIAN_STEPS = 30
_TINY = 1e-12  # distance at which a vector is at a cluster


def lift_barycentre(
    rep: Representation, k: int, *, max_iter: int = 50, rng: np.random.Generator
) -> FloatArray:
    r"""The k weighted vectors of the least mean LiftEMD to the inputs.

    .. math:: \min_{v, b} \frac1m \sum_i \mathrm{EMD}\bigl((\barΦ(C_i), |C_i|/n), (v, b)\bigr)

    with the distance ‖Φ̄(C) − v‖ as cost, as in LiftEMD, and not its square, whose barycentre
    would have means as its vectors: a Wasserstein-1 barycentre with free support and free weights,
    the objective that the paper names in section 5 and replaces by liftSSD. It starts from
    :func:`lift_km`. In turn, the weights b and the transport plans of all inputs are solved by
    one linear program, and every v moves to the geometric median of the mass that it gets, so that
    the mean never rises. It is a local minimum.

    Parameters
    ----------
    rep : Representation
        s lifted clusters of m partitions.
    k : int
        Number of vectors, at most s.
    max_iter : int
        Largest number of alternations; each solves a linear program of (s + 1) k variables.
    rng : Generator

    Returns
    -------
    (k, ρ) array
        The vectors v; points are assigned by their scores, as for lift_km.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 5; Cuturi, Doucet (2014), Fast
    computation of Wasserstein barycenters, for squared costs; Weiszfeld (1937) for the medians.
    """
    first, codes = by_first_appearance(lift_km(rep, k, rng=rng))
    return improve_barycentre(rep, group_centres(rep, codes, len(first)), max_iter)[0]


def improve_barycentre(
    rep: Representation, centres: FloatArray, max_iter: int = 50
) -> tuple[FloatArray, FloatArray, float]:
    """Vectors from these on, their weights, and their mean LiftEMD to the inputs."""
    V, before = centres, np.inf
    for _ in range(check_count(max_iter, "max_iter")):
        plan, b, mean = best_weights(rep, V)
        if mean > before - _LITTLE:
            break
        before, V = mean, _medians(rep.vectors, plan, V)
    plan, b, mean = best_weights(rep, V)
    return V, b, mean


def best_weights(rep: Representation, V: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """(s, k) transport plans, the k weights that make them cheapest, and their mean cost."""
    from scipy.optimize import linprog

    s, k, m = rep.s, len(V), rep.m
    masses = rep.masses / np.bincount(rep.owner, rep.masses)[rep.owner]
    D = cdist(rep.vectors, V)
    # Variables: the plan of every cluster, row by row, and the weights.
    leave = sp.kron(sp.eye_array(s), np.ones((1, k)))
    inputs = sp.csr_array((np.ones(s), (rep.owner, np.arange(s))), shape=(m, s))
    arrive = sp.kron(inputs, sp.eye_array(k))
    same = sp.kron(np.ones((m, 1)), -sp.eye_array(k))
    equal = sp.block_array([[leave, sp.csr_array((s, k))], [arrive, same]], format="csr")
    right = np.concatenate([masses, np.zeros(m * k)])
    cost = np.concatenate([D.ravel(), np.zeros(k)])
    solved = linprog(cost, A_eq=equal, b_eq=right, method="highs")
    if solved.x is None:
        raise RuntimeError(f"the barycentre's linear program was not solved: {solved.message}")
    plan = np.maximum(solved.x[: s * k], 0.0).reshape(s, k)
    return plan, solved.x[s * k :], float(solved.fun) / m


def _medians(X: FloatArray, plan: FloatArray, V: FloatArray) -> FloatArray:
    """Geometric medians of the vectors with the weights of each column, by Weiszfeld's steps.

    A vector without mass stays.
    """
    for _ in range(_MEDIAN_STEPS):
        pull = (plan / np.maximum(cdist(X, V), _TINY)).T  # (k, s)
        total = pull.sum(axis=1, keepdims=True)
        V = np.where(total > 0, (pull @ X) / np.where(total > 0, total, 1.0), V)
    return V
