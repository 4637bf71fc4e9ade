"""Element-centric similarity: how alike two partitions are around each single point."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import add_up, row_blocks
from ..._util.typing import Array, FloatArray, Sparse
from ...partitions.contingency import Contingency, check_same_points
from ...partitions.partition import Partition

_MOST_SOFT = 2**16  # different memberships of which all pairs are compared


def element_centric(overlap: Contingency) -> float:
    r"""Element-centric distance: one minus the mean similarity of the surroundings of points.

    .. math:: 1 - \frac1n \sum_x S(x), \qquad
              S(x) = 1 - \frac{1}{2α} \sum_y |p_{xy} - q_{xy}|
                   = \frac{|C(x) ∩ C'(x)|}{\max(|C(x)|, |C'(x)|)}

    with p and q the stationary probabilities of a walk that goes from a point to a random point of
    its cluster, or with probability 1 − α back to x. For hard partitions α cancels, and the
    second form needs contingency tables alone. In [0, 1], and a metric on hard partitions. The
    values S(x) of all points, also for soft partitions, are ``compare(a, b).element_similarity``.

    References
    ----------
    Gates, Wood, Hetrick, Ahn (2019), Element-centric clustering comparison unifies overlaps and
    hierarchy. Scientific Reports 9. doi:10.1038/s41598-019-44892-y

    Examples
    --------
    {0, 1} and {2, 3} against {0, 1, 2} and {3}: S is 2/3 for 0 and 1, 1/3 for 2, and 1/2 for 3.

    >>> import liftcluster as lc
    >>> round(lc.distance([0, 0, 1, 1], [0, 0, 0, 1], measure="element_centric"), 6)
    0.458333
    """
    i, j, shared = overlap.cells
    larger = np.maximum(overlap.rows[i], overlap.columns[j]).astype(np.float64)
    # From what differs, so that nearly equal partitions keep all digits and equal ones get zero.
    return float(shared @ ((larger - shared) / larger)) / float(overlap.total)


def element_similarity(a: Partition, b: Partition, *, alpha: float = 0.9) -> FloatArray:
    r"""(n,) element-centric similarity of each point, in [0, 1]; NaN for noise in either.

    .. math:: S(x) = 1 - \frac{1}{2α} \sum_y |p_{xy} - q_{xy}|, \qquad
              p = (1 - α) (I - α R D^{-1} R^T W)^{-1}

    Personalised PageRank p on the graph of points and clusters: from a point to a cluster by its
    memberships R, and on to a point of that cluster by membership and weight W; D are the weights
    of the clusters. Points that are noise in either partition are left out.

    O(n) time for hard partitions, where :func:`element_centric` has the closed form; for soft ones
    O(t² k) for t different memberships in k clusters, without (t, t) arrays.

    Parameters
    ----------
    a, b : Partition
        Of the same points with the same weights. A soft partition may overlap: the memberships of
        a point are shares of it.
    alpha : float
        α in (0, 1); for hard partitions it has no effect.

    Examples
    --------
    >>> a, b = (Partition.from_labels(p) for p in ([0, 0, 1, 1], [0, 0, 0, 1]))
    >>> element_similarity(a, b).round(3).tolist()
    [0.667, 0.667, 0.333, 0.5]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
    check_same_points(a, b)
    inside = a.is_clustered & b.is_clustered
    values = np.full(a.n, np.nan)
    if inside.any():
        similarity = _of_hard if a.is_hard and b.is_hard else _of_soft
        values[inside] = similarity(a, b, inside, alpha)
    return values


def _of_hard(a: Partition, b: Partition, inside: Array, alpha: float) -> FloatArray:
    i, j, w = a.labels[inside].astype(np.int64), b.labels[inside], a.weights[inside]
    cells, cell = np.unique(i * b.k + j, return_inverse=True)
    n_a, n_b = add_up(w, i, a.k), add_up(w, j, b.k)
    larger = np.maximum(n_a[cells // b.k], n_b[cells % b.k])
    shared = add_up(w, cell, len(cells))
    values = np.divide(shared, larger, out=np.zeros(len(cells)), where=larger > 0)
    return np.minimum(values, 1.0)[cell]


def _of_soft(a: Partition, b: Partition, inside: Array, alpha: float) -> FloatArray:
    """By the walk from cluster to cluster, whose matrix is small.

    With B = D⁻¹RᵀW, (I − αRB)⁻¹ = I + αR (I − αBR)⁻¹ B; the identity cancels in p − q.
    """
    R = sp.hstack([a.memberships[inside], b.memberships[inside]], format="csr")
    different, index = _different_rows(R)
    if len(different) > _MOST_SOFT:
        raise ValueError(
            f"element-centric similarity of soft partitions compares all pairs of {_MOST_SOFT:,} "
            f"different memberships at most, got {len(different):,}; take a sample of the points, "
            "or harden the partitions"
        )
    w = add_up(a.weights[inside], index, len(different))
    rows = R[different].toarray()
    walks = [_walk(rows[:, : a.k], w, alpha), -_walk(rows[:, a.k :], w, alpha)]
    steps = np.hstack([rows[:, : a.k] @ walks[0], rows[:, a.k :] @ walks[1]])
    total = np.empty(len(rows))
    for block in row_blocks(len(rows), len(rows)):
        total[block] = np.abs(steps[block] @ rows.T) @ w
    return np.clip(1 - (1 - alpha) / 2 * total, 0.0, 1.0)[index]


def _walk(R: FloatArray, w: FloatArray, alpha: float) -> FloatArray:
    """(k, k) G with p = (1 − α) (I + α R G RᵀW)."""
    weights = R.T @ w
    used = weights > 0  # a cluster of points without weight leads nowhere
    inverse = np.divide(1.0, weights, out=np.zeros_like(weights), where=used)
    Q = inverse[:, None] * (R.T @ (w[:, None] * R))
    return np.linalg.solve(np.eye(len(Q)) - alpha * Q, np.diag(inverse))


def _different_rows(R: Sparse) -> tuple[Any, Any]:
    """Index of one row of each kind, and the kind of each row."""
    codes = np.zeros(R.shape[0], dtype=np.int64)
    columns = sp.csc_array(R)
    for at in range(R.shape[1]):  # one column at a time, renumbering in between
        values = columns[:, [at]].toarray()[:, 0]
        kinds = np.unique(values, return_inverse=True)[1]
        codes = np.unique(codes * (int(kinds.max()) + 1) + kinds, return_inverse=True)[1]
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    return first, index
