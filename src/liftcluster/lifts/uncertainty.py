r"""Standard errors of what a random lift computes, from the variation of its own features.

An inner product of lifted vectors is a sum over groups of features, each drawn independently of
the others: :math:`⟨v, w⟩ = \sum_g ⟨v_g, w_g⟩`. How much the groups differ says how far the sum is
from its mean, the kernel's value. A smooth function of inner products has the error of its
linearisation: each group has a *deviation*, deviations sum to zero, and

.. math:: \mathrm{se}^2 = \frac{G}{G-1} \sum_g \mathrm{deviation}_g^2 .
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from scipy.spatial.distance import cdist

from .._util.typing import FloatArray, IntArray

__all__ = ["distance_deviations", "inner_product_deviations", "standard_error", "unit_rows"]


def standard_error(deviations: Iterator[FloatArray]) -> FloatArray:
    """√(G/(G−1) Σ deviation²); infinite where a single group tells nothing."""
    total: FloatArray | None = None
    n_groups = 0
    for deviation in deviations:
        square = deviation**2
        total = square if total is None else total + square
        n_groups += 1
    if total is None:
        raise ValueError("a lift without features has no error")
    if n_groups == 1:
        return np.full_like(total, np.inf)
    return np.asarray(np.sqrt(total * (n_groups / (n_groups - 1))))


def inner_product_deviations(
    V: FloatArray, W: FloatArray, groups: IntArray, *, normalise: bool
) -> Iterator[FloatArray]:
    r"""Deviations of ⟨v, w⟩ for all pairs of rows, or of the cosine ⟨v, w⟩/(‖v‖‖w‖).

    The cosine c of unit vectors deviates by
    :math:`⟨v_g, w_g⟩ - \tfrac{c}{2}(‖v_g‖^2 + ‖w_g‖^2)`: their lengths are estimates, too.
    """
    if normalise:
        V, W = (unit_rows(Z) for Z in (V, W))
    products = V @ W.T
    for v, w, share in _by_group(V, W, groups):
        if normalise:
            yield v @ w.T - products / 2 * np.add.outer(_squares(v), _squares(w))
        else:
            yield v @ w.T - products * share


def distance_deviations(
    V: FloatArray, W: FloatArray, groups: IntArray, *, normalise: bool
) -> Iterator[FloatArray]:
    r"""Deviations of D = ‖v − w‖ for all pairs of rows, each scaled to unit length if asked.

    D² of unit vectors deviates by
    :math:`‖v_g - w_g‖^2 - \tfrac{D^2}{2}(‖v_g‖^2 + ‖w_g‖^2)`, and D by that over 2D. Since the
    deviation of D² vanishes with D², this stays bounded as D → 0.
    """
    if normalise:
        V, W = (unit_rows(Z) for Z in (V, W))
    squares = _squared_differences(V, W)
    twice = 2 * np.sqrt(squares)
    for v, w, share in _by_group(V, W, groups):
        expected = (
            squares / 2 * np.add.outer(_squares(v), _squares(w)) if normalise else squares * share
        )
        deviation = _squared_differences(v, w) - expected
        yield np.divide(deviation, twice, out=np.zeros_like(twice), where=twice > 0)


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


def _by_group(
    V: FloatArray, W: FloatArray, groups: IntArray
) -> Iterator[tuple[FloatArray, FloatArray, float]]:
    """The columns of each group, and the share of all features it holds."""
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    V, W = (np.ascontiguousarray(Z[:, order].T) for Z in (V, W))
    for columns in np.split(np.arange(len(order)), edges):
        part = slice(columns[0], columns[-1] + 1)
        yield V[part].T, W[part].T, len(columns) / len(order)


def _squares(v: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", v, v)


def _squared_differences(v: FloatArray, w: FloatArray) -> FloatArray:
    # By differences: equal vectors must come out at zero, not at its rounding.
    return np.asarray(cdist(v, w, "sqeuclidean"))
