"""What a lift is: an operator from points to cluster vectors, and its adjoint."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._arrays import row_blocks
from .._typing import Array, FloatArray, IntArray, Points
from ..stack import as_rows

__all__ = ["FeatureLift", "Lift", "as_vectors", "sums_of_many", "take_rows"]


class Lift(ABC):
    r"""A map φ from points to :math:`\mathbb{R}^ρ`, known by what it does to sums.

    ``sums(X, R)`` is :math:`R^\top φ(X)`, one vector for each column of memberships;
    ``scores(X, V)`` is its adjoint :math:`φ(X) V^\top`, so that

    .. math:: \langle \mathrm{sums}(X, R), V \rangle = \langle R, \mathrm{scores}(X, V) \rangle .

    Neither holds more than a block of features at a time.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def n_components(self) -> int:
        """ρ, the length of a lifted vector."""

    @abstractmethod
    def sums(self, X: Points, R: Any) -> FloatArray:
        """(s, ρ) cluster vectors Σ R(x, C) φ(x) of the points X under (n, s) memberships R."""

    @abstractmethod
    def scores(self, X: Points, V: Any) -> FloatArray:
        """(n, k) inner products ⟨φ(x), v⟩ of the points with k vectors."""

    def describe(self) -> str:
        """A few words for people: what the lift is."""
        return f"{self.kind}, ρ = {self.n_components}"

    def feature_groups(self) -> IntArray | None:
        """Which independent random draw each of the ρ features came from, if any did.

        The variation between the groups gives standard errors; None says that there is nothing
        random here (see ``is_exact`` for whether there is another error).
        """
        return None

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What makes the map: values that JSON can hold, and arrays."""
        raise ValueError(
            f"a lift by {self.describe()} cannot be stored without pickle, which is unsafe to "
            "load; save the representation with with_lift=False"
        )

    def fingerprint(self) -> str:
        """Equal for lifts that are the same map."""
        try:
            values, arrays = self.state()
        except ValueError:
            return f"only-{id(self)}"
        digest = hashlib.sha256(json.dumps([self.kind, values], sort_keys=True).encode())
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    @property
    def is_exact(self) -> bool:
        """Whether inner products of the vectors are those of the kernel, up to rounding."""
        return False


class FeatureLift(Lift):
    """A lift by explicit features: ``features(X)`` is all that a subclass must give."""

    @abstractmethod
    def features(self, X: Points) -> Any:
        """(n, ρ) features of a block of points."""

    def points(self, X: Points) -> Points:
        """The points as ``features`` wants them, checked."""
        return X

    @property
    def block_width(self) -> int:
        """How many numbers computing the features of one point takes."""
        return self.n_components

    def sums(self, X: Points, R: Any) -> FloatArray:
        return sums_of_many([self], X, R)[0]

    def scores(self, X: Points, V: Any) -> FloatArray:
        X = self.points(X)
        V = as_vectors(V, self.n_components)
        scores = np.empty((len(X), len(V)))
        for rows in row_blocks(len(X), self.block_width):
            Z = self.features(X[rows])
            scores[rows] = Z @ V.T.astype(Z.dtype, copy=False)
        return scores

    def squared_norms(self, X: Points) -> FloatArray:
        """‖φ(x)‖² of each point."""
        X = self.points(X)
        norms = np.empty(len(X))
        for rows in row_blocks(len(X), self.block_width):
            Z = self.features(X[rows])
            norms[rows] = np.asarray((Z * Z).sum(axis=1)).ravel()
        return norms


def sums_of_many(lifts: Sequence[FeatureLift], X: Points, R: Any) -> list[FloatArray]:
    """The sums of several lifts of the same points, in one pass over blocks of them."""
    X = lifts[0].points(X)
    R = as_rows(R, len(X))
    totals = [np.zeros((R.shape[1], lift.n_components)) for lift in lifts]
    for rows in row_blocks(len(X), max(lift.block_width for lift in lifts)):
        block, points = R.rows(rows), X[rows]
        inside = np.diff(block.indptr) > 0
        if not inside.any():
            continue
        if not inside.all():  # noise costs nothing
            chosen = np.flatnonzero(inside)
            block, points = block[chosen, :], take_rows(points, chosen)
        for total, lift in zip(totals, lifts, strict=True):
            total += _product(block, lift.features(points))
    return totals


def as_vectors(V: Any, n_components: int) -> FloatArray:
    V = np.asarray(V, dtype=np.float64)
    if V.ndim != 2 or V.shape[1] != n_components:
        raise ValueError(
            f"vectors must have shape (k, {n_components}) to be scored by this lift, got {V.shape}"
        )
    return V


def _product(block: Any, Z: Any) -> Array:
    """RᵀZ in the precision of the features: clusters add up their points one after another.

    Sparse on purpose: a matrix product of dense indicators may add in another order for another
    column, and equal clusters in two partitions would get vectors that differ in the last bits.
    """
    scale = np.abs(block.data).max() if Z.dtype == np.float32 else 1.0  # weights may exceed float32
    product = (block.T / scale).astype(Z.dtype) @ Z
    return np.asarray(product.toarray() if sp.issparse(product) else product) * scale


def take_rows(points: Points, chosen: IntArray) -> Points:
    """Some of the points, which are an array or any other sequence."""
    return points[chosen] if hasattr(points, "shape") else [points[i] for i in chosen]
