"""Distances between partitions from their lifted cluster vectors (the paper's section 4).

Each takes two representations of one partition each, made by the same lift. Noise is left out:
masses are shares of the weight in clusters.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..._util.memory import check_pairs
from ..._util.typing import FloatArray
from ...kernels.kernel import as_kernel
from ...kernels.shift_invariant import Gaussian
from ...lifts.uncertainty import distance_deviations, standard_error
from ...representation.representation import Representation
from ..transport import Transport, solve_transport

OUTER_KERNEL = Gaussian(1 / np.sqrt(2))  # κ′(v, w) = exp(−‖v − w‖²), the paper's


def lift_emd(P: Representation, Q: Representation) -> float:
    r"""Transport distance between the cluster vectors of two partitions, LiftEMD.

    .. math:: d(P, Q) = \min_π \sum_{ij} π_{ij} \lVert \barΦ(C_i) - \barΦ(C'_j) \rVert,
              \quad \sum_j π_{ij} = m_i, \ \sum_i π_{ij} = m'_j

    with the clusters' masses m as supply and demand, solved exactly. In [0, 2]; at most √2 when the
    kernel is non-negative and the lift exact. A metric: zero only if the clusters have the same
    vectors with the same masses.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 4.

    Examples
    --------
    >>> import liftcluster as lc
    >>> rep = lc.represent([[0.0], [9.0]], [["a", "b"], ["x", "x"]], bandwidth=1.0)
    >>> round(lift_emd(rep[0], rep[1]), 6)  # √(2 − √2)
    0.765367
    """
    return lift_transport(P, Q).cost


def lift_kd(P: Representation, Q: Representation, *, outer_kernel: Any = OUTER_KERNEL) -> float:
    r"""Kernel distance between the weighted cluster vectors of two partitions, LiftKD.

    .. math:: d(P, Q)^2 = m^\top κ'(V, V) m + m'^\top κ'(V', V') m' - 2 m^\top κ'(V, V') m'

    with the masses m and cluster vectors V of each. In [0, √2]. A metric where κ′ is
    characteristic, as the Gaussian is.

    Parameters
    ----------
    P, Q : Representation
        Two partitions lifted by the same lift.
    outer_kernel : kernel
        κ′, by default the paper's exp(−‖v − w‖²).

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 4.
    """
    signed = np.concatenate([_masses(P), -_masses(Q)])
    V = np.concatenate([P.vectors, Q.vectors])
    return float(np.sqrt(max(signed @ as_kernel(outer_kernel)(V, V) @ signed, 0.0)))


def lift_hausdorff(P: Representation, Q: Representation) -> float:
    r"""Hausdorff distance between the cluster vectors of two partitions, LiftH.

    .. math:: d(P, Q) = \max\bigl(\max_i \min_j D_{ij},\ \max_j \min_i D_{ij}\bigr),
              \quad D_{ij} = \lVert \barΦ(C_i) - \barΦ(C'_j) \rVert

    The largest distance of a cluster to the nearest cluster of the other partition, bounded as
    :func:`lift_emd` is. A metric on sets of cluster vectors; masses play no part, so a cluster of
    one point counts as much as the largest.

    References
    ----------
    Raman, Phillips, Venkatasubramanian (SDM 2011), section 4.
    """
    D = _distances(P, Q)
    return float(D[_hausdorff_pair(D)])


def lift_transport(P: Representation, Q: Representation) -> Transport:
    """The transport problem of ``lift_emd``, solved: its cost, plan and (k, k′) cost matrix."""
    return solve_transport(_masses(P), _masses(Q), _distances(P, Q))


def lift_emd_matrix(rep: Representation) -> FloatArray:
    """(m, m) LiftEMD between all partitions of a representation."""
    D = rep.distances()
    rows = [np.flatnonzero(rep.owner == i) for i in range(rep.m)]
    masses = [rep.masses[r] / rep.masses[r].sum() for r in rows]
    costs = np.zeros((rep.m, rep.m))
    for i, j in combinations(range(rep.m), 2):
        block = D[np.ix_(rows[i], rows[j])]
        costs[i, j] = costs[j, i] = solve_transport(masses[i], masses[j], block).cost
    return costs


def lift_emd_error(
    P: Representation, Q: Representation, *, transport: Transport | None = None
) -> float | None:
    """Standard error of ``lift_emd``: that of the cost of its plan, which may be known already."""
    transport = transport or lift_transport(P, Q)
    return _standard_error(P, P.sums, Q.sums, transport.plan)


def lift_hausdorff_error(P: Representation, Q: Representation) -> float | None:
    """Standard error of ``lift_hausdorff``: that of the one distance it equals."""
    D = _distances(P, Q)
    gradient = np.zeros_like(D)
    gradient[_hausdorff_pair(D)] = 1.0
    return _standard_error(P, P.sums, Q.sums, gradient)


def lift_kd_error(
    P: Representation, Q: Representation, *, outer_kernel: Any = OUTER_KERNEL
) -> float | None:
    """Standard error of ``lift_kd``; None for an outer kernel that is not Gaussian."""
    kernel = as_kernel(outer_kernel)
    if P.lift is not None and P.lift.is_exact and isinstance(kernel, Gaussian):
        return 0.0
    value = lift_kd(P, Q, outer_kernel=kernel)
    if value == 0 or not isinstance(kernel, Gaussian):
        return 0.0 if value == 0 else None
    signed = np.concatenate([_masses(P), -_masses(Q)])
    V = np.concatenate([P.vectors, Q.vectors])
    D = cdist(V, V)
    slope = sum(  # dκ′/dD
        -alpha * D / h**2 * np.exp(-(D**2) / (2 * h**2))
        for alpha, h in zip(kernel.weights or (1.0,), kernel.bandwidths, strict=True)
    )
    gradient = np.outer(signed, signed) * slope / (2 * value)
    sums = np.concatenate([P.sums, Q.sums])
    return _standard_error(P, sums, sums, gradient)


def _standard_error(
    P: Representation, V: FloatArray, W: FloatArray, gradient: FloatArray
) -> float | None:
    """Standard error of Σ gradient · D to first order, or a deterministic bound if there is one."""
    if P.lift is None:
        return None
    if P.lift.is_exact:
        return 0.0
    bound = P.lift.distance_bound(V, W)
    if bound is not None:
        return float(np.sum(np.abs(gradient) * bound))
    groups = P.lift.feature_groups()
    if groups is None:
        return None
    deviations = distance_deviations(V, W, groups, normalise=True)
    totals = (np.asarray(np.sum(gradient * deviation)) for deviation in deviations)
    return float(standard_error(totals))


def _hausdorff_pair(D: FloatArray) -> tuple[int, int]:
    """The pair (i, j) whose distance is the Hausdorff distance."""
    i, j = int(D.min(axis=1).argmax()), int(D.min(axis=0).argmax())
    forward, backward = (i, int(D[i].argmin())), (int(D[:, j].argmin()), j)
    return forward if D[forward] >= D[backward] else backward


def _distances(P: Representation, Q: Representation) -> FloatArray:
    """(k, k′) ‖Φ̄(C) − Φ̄(C′)‖."""
    check_pairs(P.s, Q.s)
    return np.asarray(cdist(P.vectors, Q.vectors))


def _masses(P: Representation) -> FloatArray:
    return np.asarray(P.masses / P.masses.sum())
