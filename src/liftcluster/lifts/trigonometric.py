"""Lifts by cosines and sines of phases, whichever way the phases come about."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from .._arrays import namespace
from .._typing import Array, FloatArray, IntArray, Points
from .._validation import as_points
from ..kernels import ShiftInvariant
from ..stack import Rows, as_rows
from .base import FeatureLift, as_vectors
from .engine import (
    LARGEST_PHASE,
    FeatureMap,
    OutOfReach,
    map_features,
    map_labels,
    map_scores,
    map_sums,
    ready,
)

__all__ = ["QUARTER_TURNS", "USUAL_SCALES", "TrigonometricLift"]

Answer = TypeVar("Answer")

QUARTER_TURNS = 2 / math.pi  # in one radian
_FEWEST_GROUPS = 16  # fewer blocks than this say too little about how much blocks vary
_FARTHEST = 1e9  # bandwidths from the centre: float64 phases keep six digits up to here
_SINGLE_UP_TO = 1e3  # the same for float32 phases, which then keep four digits
USUAL_SCALES = 1e-25, 1e25  # in which points survive being single floats


class TrigonometricLift(FeatureLift):
    r"""φ(x) = √(2/ρ) (cos t₁, …, cos t_M, sin t₁, …, sin t_M) of the phases t = ω·(x − centre).

    ‖φ(x)‖ = 1 exactly. An odd ρ has one feature more, :math:`\sqrt{2/ρ} \cos(t + b)` with a
    random phase b, which keeps the mean right (‖φ(x)‖ is then 1 only on average).

    Points are centred in float64; phases, cosines and the sums within a block are in ``dtype``;
    totals are float64. A subclass says how frequencies make phases, to NumPy and to the kernels.
    """

    kernel: ShiftInvariant
    groups: IntArray  # (M,), which independent draw each frequency came from
    phase: float | None  # b, for an odd ρ; the last frequency is then its own
    centre: FloatArray
    dtype: Any

    spreads_over_threads: ClassVar[bool] = True

    @abstractmethod
    def phases(self, U: Any) -> Any:
        """(n, M) phases of points measured in bandwidths from the centre, in their precision."""

    @abstractmethod
    def feature_map(self) -> FeatureMap:
        """The map for the kernels in C, with points measured in their own units."""

    @abstractmethod
    def extend(self, n_components: int, rng: np.random.Generator) -> tuple[Self, Self]:
        """The lift with new frequencies to make up ``n_components``, and the new part alone.

        The old frequencies stay, so that sums already made need only be joined (``join_sums``).
        """

    @property
    def n_pairs(self) -> int:
        return len(self.groups) - (self.phase is not None)

    @property
    def n_components(self) -> int:
        return len(self.groups) + self.n_pairs

    @property
    def d(self) -> int:
        return len(self.centre)

    def points(self, X: Points) -> Array:
        return self._of_this_space(as_points(X))

    def _of_this_space(self, points: Array) -> Array:
        if points.shape[1] != self.d:
            raise ValueError(
                f"points have {points.shape[1]} features, but this lift was made for {self.d}"
            )
        return points

    def features(self, X: Points) -> Any:
        """(n, ρ) features, in the array library and on the device of X."""
        Z = self._by_kernels(X, lambda fused: map_features(fused, X))
        if Z is not None:
            return self._of_pairs(Z).astype(self.dtype, copy=False)
        xp = namespace(X)
        precision = xp.float32 if self.dtype == np.float32 else xp.float64
        centre = xp.asarray(self.centre, dtype=xp.float64, device=X.device)
        with np.errstate(over="ignore", invalid="ignore"):  # infinitely far is too far
            U = (xp.astype(X, xp.float64) - centre) / self.kernel.scale
        if not xp.all(xp.abs(U) < _FARTHEST):
            raise ValueError(
                f"points lie more than {_FARTHEST:g} bandwidths away from the others, where phases "
                "mean nothing; use a larger bandwidth or rescale the points"
            )
        near = precision == xp.float64 or xp.all(xp.abs(U) < _SINGLE_UP_TO)
        T = self.phases(xp.astype(U, precision) if near else U)
        if isinstance(T, np.ndarray):
            return self._cosines_and_sines(T)
        pairs = T[:, : self.n_pairs]
        parts = [xp.cos(pairs), xp.sin(pairs)]
        if self.phase is not None:
            parts.append(xp.cos(T[:, self.n_pairs :] + self.phase))
        Z = xp.concat(parts, axis=1) * math.sqrt(2 / self.n_components)
        return xp.astype(Z, precision, copy=False)

    def _cosines_and_sines(self, T: Array) -> Array:
        """The features of these phases, with no copy between."""
        a = self.n_pairs
        Z = np.empty((len(T), self.n_components), dtype=T.dtype)
        np.cos(T[:, :a], out=Z[:, :a])
        np.sin(T[:, :a], out=Z[:, a : 2 * a])
        if self.phase is not None:
            np.cos(T[:, a:] + T.dtype.type(self.phase), out=Z[:, 2 * a :])
        Z *= math.sqrt(2 / self.n_components)
        return Z.astype(self.dtype, copy=False)

    def sums(self, X: Points, R: Any) -> FloatArray:
        points = self._of_this_space(as_points(X, finite=False))  # the kernels look for themselves
        sums = self.fused_sums(points, as_rows(R, len(points)))
        return super().sums(points, R) if sums is None else sums

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        sums = self._by_kernels(X, lambda fused: map_sums(fused, X, R))
        return None if sums is None else self._of_pairs(sums)

    def scores(self, X: Points, V: Any) -> FloatArray:
        points = self._of_this_space(as_points(X, finite=False))
        V = as_vectors(V, self.n_components)
        pairs = self._to_pairs(V)
        scores = self._by_kernels(points, lambda fused: map_scores(fused, points, pairs))
        return super().scores(points, V) if scores is None else scores

    def assign(self, X: Points, V: Any) -> IntArray:
        points = self._of_this_space(as_points(X, finite=False))
        V = as_vectors(V, self.n_components)
        pairs = self._to_pairs(V)
        labels = self._by_kernels(points, lambda fused: map_labels(fused, points, pairs))
        return super().assign(points, V) if labels is None else labels

    def _by_kernels(self, X: Any, function: Callable[[FeatureMap], Answer]) -> Answer | None:
        """What the kernels in C make of the points; None where they cannot take them."""
        if not ready(X):
            return None
        for fused in self._maps:
            with suppress(OutOfReach):
                return function(fused)
        return None  # NumPy says what is wrong with the points

    @cached_property
    def _maps(self) -> list[FeatureMap]:
        """The map for the kernels in C: in its own precision, and in double for far points."""
        smallest, largest = USUAL_SCALES
        if not smallest < self.kernel.scale < largest:  # points would not survive as single floats
            return []
        precisions = [self.dtype] if self.dtype == np.float64 else [self.dtype, np.float64]
        return [replace(self, dtype=dtype).feature_map() for dtype in precisions]  # type: ignore[type-var]

    def _reach(self, longest: float) -> float:
        """How far from the centre a point may lie, given the longest frequency (quarter turns)."""
        double = self.dtype == np.float64
        far = (_FARTHEST if double else _SINGLE_UP_TO) * self.kernel.scale
        return min(far, LARGEST_PHASE[double] / max(longest, 1e-300))

    def _of_pairs(self, Z: Array) -> Array:
        """Columns of cosines and sines of all M phases as those of the features.

        cos(t + b) = cos b cos t − sin b sin t, so an odd ρ takes both columns of its last phase.
        """
        factor = math.sqrt(2 / self.n_components)
        if self.phase is None:
            Z *= factor
            return Z
        M = len(self.groups)
        single = math.cos(self.phase) * Z[:, M - 1] - math.sin(self.phase) * Z[:, -1]
        kept = [Z[:, : M - 1], Z[:, M:-1], single[:, None].astype(Z.dtype)]
        return np.concatenate(kept, axis=1) * Z.dtype.type(factor)

    def _to_pairs(self, V: FloatArray) -> FloatArray:
        """The adjoint of ``_of_pairs``."""
        factor = math.sqrt(2 / self.n_components)
        if self.phase is None:
            return V * factor
        a, single = self.n_pairs, V[:, -1:]
        cosine, sine = math.cos(self.phase) * single, -math.sin(self.phase) * single
        return np.concatenate([V[:, :a], cosine, V[:, a : 2 * a], sine], axis=1) * factor

    def feature_groups(self) -> IntArray:
        """The block of frequencies that each feature belongs to; its own where blocks are few.

        Taking dependent frequencies for independent ones is careful: it ignores that they
        cancel each other's errors.
        """
        enough = len(np.unique(self.groups)) >= _FEWEST_GROUPS
        groups = self.groups if enough else np.arange(len(self.groups))
        return np.concatenate([groups[: self.n_pairs], groups])  # cosines; sines and the single

    def join_sums(self, V: FloatArray, new: Self, V_new: FloatArray) -> FloatArray:
        """Sums under the joined lift from the sums under this one and under the new part."""
        total = self.n_components + new.n_components
        old = V * math.sqrt(self.n_components / total)
        add = V_new * math.sqrt(new.n_components / total)
        a, b = self.n_pairs, new.n_pairs
        return np.concatenate(
            [old[:, :a], add[:, :b], old[:, a : 2 * a], add[:, b:], old[:, 2 * a :]], axis=1
        )
