"""Lifts by cosines and sines of phases, whichever way the phases come about."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np

from .._util.arrays import full_precision, namespace, on_device
from .._util.typing import Array, FloatArray, IntArray, Points
from .._util.validation import as_points
from ..kernels.kernel import ShiftInvariant
from ..partitions.stack import Rows, as_rows
from ._gpu.waves import Waves
from ._native import warn_if_missing
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
    frequencies: FloatArray  # (M, d), in units of 1/kernel.scale
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

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made ready for one machine."""
        return {name: value for name, value in vars(self).items() if name not in ("_maps", "_sent")}

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
        return self._of_this_space(as_points(X, device=True))

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
        if not isinstance(X, np.ndarray):
            xp = namespace(X)
            Z = self._of_pairs(self._by_waves(X, lambda waves: waves.features(X)))
            single = self.dtype == np.float32
            return xp.astype(Z, xp.float32 if single else xp.float64, copy=False)
        warn_if_missing(len(X) * self.n_components)
        with np.errstate(over="ignore", invalid="ignore"):  # infinitely far is too far
            U = (np.asarray(X, dtype=np.float64) - self.centre) / self.kernel.scale
        if not (np.abs(U) < _FARTHEST).all():
            _refuse_far()
        near = self.dtype == np.float64 or (np.abs(U) < _SINGLE_UP_TO).all()
        return self._cosines_and_sines(self.phases(U.astype(self.dtype) if near else U))

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
        points = self._points_as_they_are(X)
        if on_device(points):
            return self.device_sums(points, R)
        sums = self.fused_sums(points, as_rows(R, len(points)))
        return super().sums(points, R) if sums is None else sums

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        return self._of_pairs(self._by_waves(X, lambda waves: waves.sums(X, R)))

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        sums = self._by_kernels(X, lambda fused: map_sums(fused, X, R))
        return None if sums is None else self._of_pairs(sums)

    def scores(self, X: Points, V: Any) -> FloatArray:
        points = self._points_as_they_are(X)
        V = as_vectors(V, self.n_components)
        pairs = self._to_pairs(V)
        if on_device(points):
            return self._by_waves(points, lambda waves: waves.scores(points, pairs))
        scores = self._by_kernels(points, lambda fused: map_scores(fused, points, pairs))
        return super().scores(points, V) if scores is None else scores

    def assign(self, X: Points, V: Any) -> IntArray:
        points = self._points_as_they_are(X)
        V = as_vectors(V, self.n_components)
        if on_device(points):
            return super().assign(points, V)
        pairs = self._to_pairs(V)
        labels = self._by_kernels(points, lambda fused: map_labels(fused, points, pairs))
        return super().assign(points, V) if labels is None else labels

    def _points_as_they_are(self, X: Points) -> Any:
        """On a device or not; whether they are finite is seen on the way."""
        return self._of_this_space(as_points(X, finite=False, device=True))

    def _by_waves(self, X: Any, function: Callable[[Waves], Any]) -> Any:
        """What a device makes of the points that live there: in float64 if some are far away."""
        scale, (smallest, largest) = self.kernel.scale, USUAL_SCALES
        if self.dtype == np.float32 and smallest < scale < largest:
            waves = self._waves(X, np.float32)
            with full_precision(X), np.errstate(over="ignore", invalid="ignore"):
                answer = function(waves)
            if waves.farthest < _SINGLE_UP_TO * scale:
                return answer
        waves = self._waves(X, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # of namespaces built on NumPy
            answer = function(waves)
        if not waves.farthest < _FARTHEST * scale:
            as_points(X, device=True)  # says which is not finite
            _refuse_far()
        return answer

    def _waves(self, X: Any, dtype: Any) -> Waves:
        """The map on the device of X, sent there the first time only."""
        key = (str(X.device), str(X.dtype), np.dtype(dtype).name)
        if key not in self._sent:
            scale = self.kernel.scale
            self._sent[key] = Waves(self.frequencies, scale, self.centre, X, dtype)
        return self._sent[key].afresh()

    @cached_property
    def _sent(self) -> dict[tuple[str, str, str], Waves]:
        return {}

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
        single = math.cos(self.phase) * Z[:, M - 1] - math.sin(self.phase) * Z[:, 2 * M - 1]
        kept = [Z[:, : M - 1], Z[:, M : 2 * M - 1], single[:, None]]
        return namespace(Z).concat(kept, axis=1) * factor

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


def _refuse_far() -> NoReturn:
    raise ValueError(
        f"points lie more than {_FARTHEST:g} bandwidths away from the others, where phases "
        "mean nothing; use a larger bandwidth or rescale the points"
    )
