r"""Standard errors of inner products and distances under a random lift.

An inner product of lifted vectors is a sum over groups of features, each drawn independently of
the others: :math:`⟨v, w⟩ = \sum_g ⟨v_g, w_g⟩`. The variation between the groups gives the standard
error of the sum, whose mean is the kernel value. A smooth function of inner products has the error
of its linearisation: each group has a *deviation*, deviations sum to zero, and

.. math:: \mathrm{se}^2 = \frac{G}{G-1} \sum_g \mathrm{deviation}_g^2 .
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import row_blocks
from .._util.typing import FloatArray, IntArray


def standard_error(deviations: Iterator[FloatArray]) -> FloatArray:
    """√(G/(G−1) Σ deviation²); infinite for a single group."""
    total, n_groups = np.zeros(()), 0
    for deviation in deviations:
        total = total + deviation**2
        n_groups += 1
    if n_groups == 1:
        return np.full_like(total, np.inf)
    return np.asarray(np.sqrt(total * (n_groups / (n_groups - 1))))


def inner_product_deviations(
    V: FloatArray, W: FloatArray, groups: IntArray, *, normalise: bool
) -> Iterator[FloatArray]:
    r"""Deviations of ⟨v, w⟩ for all pairs of rows, or of the cosine ⟨v, w⟩/(‖v‖‖w‖).

    The cosine c of unit vectors deviates by
    :math:`⟨v_g, w_g⟩ - \tfrac{c}{2}(‖v_g‖^2 + ‖w_g‖^2)`: their lengths are estimates too.
    """
    return _deviations(lambda v, w: v @ w.T, V, W, groups, normalise)[1]


def distance_deviations(
    V: FloatArray, W: FloatArray, groups: IntArray, *, normalise: bool
) -> Iterator[FloatArray]:
    r"""Deviations of D = ‖v − w‖ for all pairs of rows, scaled to unit length if ``normalise``.

    D² of unit vectors deviates by
    :math:`‖v_g - w_g‖^2 - \tfrac{D^2}{2}(‖v_g‖^2 + ‖w_g‖^2)`, and D by that over 2D. Since the
    deviation of D² vanishes with D², this stays bounded as D → 0.
    """
    # By differences, so that equal vectors give exactly zero.
    squared_distances = partial(cdist, metric="sqeuclidean")
    squares, deviations = _deviations(squared_distances, V, W, groups, normalise)
    twice = 2 * np.sqrt(squares)
    for deviation in deviations:
        yield np.divide(deviation, twice, out=np.zeros_like(twice), where=twice > 0)


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Unit vectors, the features of each random draw side by side, for sums over the draws."""

    units: FloatArray  # (s, ρ)
    starts: IntArray  # (G,) first column of each group
    squares: FloatArray  # (s, G) squared length of each part

    @classmethod
    def of(cls, units: FloatArray, groups: IntArray) -> GroupedRows:
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order[0]] - 1))
        ordered = units[:, order]
        return cls(ordered, starts, np.add.reduceat(ordered**2, starts, axis=1))


def error_of_some_distances(V: GroupedRows, W: GroupedRows, gradient: FloatArray) -> float:
    """Standard error of Σ gradient · D over the pairs of rows whose gradient is not zero.

    That of :func:`distance_deviations` where a transport plan, say, uses few of the distances.
    """
    rows, columns = np.nonzero(gradient)
    totals = np.zeros(len(V.starts))
    for block in row_blocks(len(rows), V.units.shape[1]):
        i, j = rows[block], columns[block]
        # By differences, so that equal vectors give exactly zero.
        squares = np.add.reduceat((V.units[i] - W.units[j]) ** 2, V.starts, axis=1)
        total = squares.sum(axis=1)
        slope = np.divide(gradient[i, j], 2 * np.sqrt(total), where=total > 0, out=np.zeros(len(i)))
        totals += slope @ squares - (slope * total / 2) @ (V.squares[i] + W.squares[j])
    return _error_of_totals(totals)


def error_of_all_distances(
    V: GroupedRows, W: GroupedRows, squares: FloatArray, slope: FloatArray
) -> float:
    """The same for the squared distances of all rows of V and W to each other, (s + t, s + t).

    ``slope`` is the gradient with respect to these, and symmetric.
    """
    units, own = np.concatenate([V.units, W.units]), np.concatenate([V.squares, W.squares])
    # Σ slope ‖u − v‖² is a quadratic form of the vectors, and one matrix product gives its parts.
    moved = slope.sum(axis=1)[:, None] * units - slope @ units
    totals = 2 * np.add.reduceat(np.einsum("ij,ij->j", units, moved), V.starts)
    return _error_of_totals(totals - (slope * squares).sum(axis=1) @ own)


def _error_of_totals(totals: FloatArray) -> float:
    """√(G/(G−1) Σ deviation²) of one sum; infinite for a single group."""
    G = len(totals)
    return float(np.sqrt(totals @ totals * (G / (G - 1)))) if G > 1 else float("inf")


def unit_rows(V: FloatArray, names: Sequence[Hashable] | None = None) -> FloatArray:
    """Rows scaled to unit length; a zero vector has no direction."""
    norms = np.linalg.norm(V, axis=1, keepdims=True)
    if not (norms > 0).all():
        i = int(np.flatnonzero(~(norms[:, 0] > 0))[0])
        raise ValueError(
            f"cluster {i if names is None else names[i]!r} has a zero vector under this lift, so "
            "no direction; use another kernel or more components"
        )
    return np.asarray(V / norms)


def _deviations(
    quantity: Callable[[FloatArray, FloatArray], FloatArray],
    V: FloatArray,
    W: FloatArray,
    groups: IntArray,
    normalise: bool,
) -> tuple[FloatArray, Iterator[FloatArray]]:
    """A sum over groups of columns, and how much each group deviates from its expected part."""
    if normalise:
        V, W = unit_rows(V), unit_rows(W)
    total = quantity(V, W)
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1

    def deviation(v: FloatArray, w: FloatArray) -> FloatArray:
        if normalise:
            expected = total / 2 * np.add.outer(*(np.einsum("ij,ij->j", z, z) for z in (v, w)))
        else:
            expected = total * (len(v) / len(order))
        return quantity(v.T, w.T) - expected

    parts = (np.split(np.ascontiguousarray(Z[:, order].T), edges) for Z in (V, W))
    return total, map(deviation, *parts)
