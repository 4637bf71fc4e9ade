"""Distances between partitions from their lifted cluster vectors (the paper's section 4).

Each takes two representations of one partition each, made by the same lift. Noise is left out:
masses are shares of the weight in clusters.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..._util.memory import check_pairs
from ..._util.typing import FloatArray
from ...kernels.distances import pairwise_distances
from ...kernels.kernel import as_kernel
from ...kernels.shift_invariant import Gaussian
from ...lifts.uncertainty import error_of_all_distances, error_of_some_distances
from ...representation.representation import Representation
from ..transport import Transport, solve_transport

_MANY_CLUSTERS = 500  # whose distances are computed by matrix products, not by differences
OUTER_KERNEL = Gaussian(1 / np.sqrt(2))  # κ′(v, w) = exp(−‖v − w‖²), the paper's


class Between:
    """Two partitions lifted by the same lift, and what several measures need of both.

    ``known`` are all distances between the clusters of P and Q, P first, where they are known.
    """

    def __init__(self, P: Representation, Q: Representation, known: FloatArray | None = None):
        self.P, self.Q = P, Q
        if known is not None:
            self.distances = np.ascontiguousarray(known[: P.s, P.s :])
            self.all_squares = known**2

    @cached_property
    def distances(self) -> FloatArray:
        """(k, k′) ‖Φ̄(C) − Φ̄(C′)‖."""
        check_pairs(self.P.s, self.Q.s)
        return np.asarray(cdist(self.P.vectors, self.Q.vectors))

    @cached_property
    def all_squares(self) -> FloatArray:
        """(k + k′, k + k′) squared distances of all clusters of both."""
        s = self.P.s + self.Q.s
        check_pairs(s, s)
        V, W = self.P.vectors, self.Q.vectors
        if s > _MANY_CLUSTERS:  # one matrix product for all
            both = np.concatenate([V, W])
            return pairwise_distances(both, both, power=2)
        between = self.distances**2
        own = (cdist(U, U) ** 2 for U in (V, W))  # all alike: what is equal cancels
        return np.block([[next(own), between], [between.T, next(own)]])

    @cached_property
    def masses(self) -> tuple[FloatArray, FloatArray]:
        return self.P.shares, self.Q.shares

    @cached_property
    def transport(self) -> Transport:
        """The transport problem of LiftEMD, solved."""
        return solve_transport(*self.masses, self.distances)

    def emd(self) -> float:
        return self.transport.cost

    def emd_error(self) -> float | None:
        return self.error(self.transport.plan)

    def hausdorff(self) -> float:
        return float(self.distances[_hausdorff_pair(self.distances)])

    def hausdorff_error(self) -> float | None:
        gradient = np.zeros_like(self.distances)
        gradient[_hausdorff_pair(self.distances)] = 1.0
        return self.error(gradient)

    def kernel_distance(self, *, outer_kernel: Any = OUTER_KERNEL) -> float:
        kernel = as_kernel(outer_kernel)
        if isinstance(kernel, Gaussian):
            K = kernel.of_distances(self.all_squares, 1.0)
        else:
            V = np.concatenate([self.P.vectors, self.Q.vectors])
            K = kernel(V, V)
        return math.sqrt(max(float(self._signed @ K @ self._signed), 0.0))

    def kernel_error(self, *, outer_kernel: Any = OUTER_KERNEL) -> float | None:
        kernel, lift = as_kernel(outer_kernel), self.P.lift
        if lift is not None and lift.is_exact and isinstance(kernel, Gaussian):
            return 0.0
        value = self.kernel_distance(outer_kernel=kernel)
        if value == 0 or not isinstance(kernel, Gaussian):
            return 0.0 if value == 0 else None
        if lift is None:
            return None
        squares = self.all_squares
        slope = sum(  # dκ′/dD²
            -alpha / (2 * h**2) * np.exp(-squares / (2 * h**2))
            for alpha, h in zip(kernel.weights or (1.0,), kernel.bandwidths, strict=True)
        )
        slope = np.outer(self._signed, self._signed) * slope / (2 * value)
        sums = np.concatenate([self.P.sums, self.Q.sums])
        bound = lift.distance_bound(sums, sums)
        if bound is not None:
            return float(np.sum(np.abs(2 * slope) * np.sqrt(squares) * bound))
        V, W = self.P.grouped_vectors, self.Q.grouped_vectors
        return None if V is None or W is None else error_of_all_distances(V, W, squares, slope)

    def error(self, gradient: FloatArray) -> float | None:
        """Standard error of Σ gradient · D to first order, or a deterministic bound if known."""
        lift = self.P.lift
        if lift is None:
            return None
        if lift.is_exact:
            return 0.0
        bound = lift.distance_bound(self.P.sums, self.Q.sums)
        if bound is not None:
            return float(np.sum(np.abs(gradient) * bound))
        V, W = self.P.grouped_vectors, self.Q.grouped_vectors
        return None if V is None or W is None else error_of_some_distances(V, W, gradient)

    @cached_property
    def _signed(self) -> FloatArray:
        return np.concatenate([self.masses[0], -self.masses[1]])


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
    return Between(P, Q).emd()


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
    return Between(P, Q).kernel_distance(outer_kernel=outer_kernel)


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
    return Between(P, Q).hausdorff()


def lift_transport(P: Representation, Q: Representation) -> Transport:
    """The transport problem of ``lift_emd``, solved: its cost, plan and (k, k′) cost matrix."""
    return Between(P, Q).transport


def lift_emd_matrix(rep: Representation) -> FloatArray:
    """(m, m) LiftEMD between all partitions of a representation."""
    D = rep.distances()
    rows = [np.flatnonzero(rep.owner == i) for i in range(rep.m)]
    every = rep.masses
    masses = [every[r] / every[r].sum() for r in rows]
    costs = np.zeros((rep.m, rep.m))
    for i, j in combinations(range(rep.m), 2):
        block = D[np.ix_(rows[i], rows[j])]
        costs[i, j] = costs[j, i] = solve_transport(masses[i], masses[j], block).cost
    return costs


def lift_emd_error(
    P: Representation, Q: Representation, *, transport: Transport | None = None
) -> float | None:
    """Standard error of ``lift_emd``: that of the cost of its plan, which may be known already."""
    between = Between(P, Q)
    return between.emd_error() if transport is None else between.error(transport.plan)


def lift_hausdorff_error(P: Representation, Q: Representation) -> float | None:
    """Standard error of ``lift_hausdorff``: that of the one distance it equals."""
    return Between(P, Q).hausdorff_error()


def lift_kd_error(
    P: Representation, Q: Representation, *, outer_kernel: Any = OUTER_KERNEL
) -> float | None:
    """Standard error of ``lift_kd``; None for an outer kernel that is not Gaussian."""
    return Between(P, Q).kernel_error(outer_kernel=outer_kernel)


def _hausdorff_pair(D: FloatArray) -> tuple[int, int]:
    """The pair (i, j) whose distance is the Hausdorff distance."""
    i, j = int(D.min(axis=1).argmax()), int(D.min(axis=0).argmax())
    forward, backward = (i, int(D[i].argmin())), (int(D[:, j].argmin()), j)
    return forward if D[forward] >= D[backward] else backward
