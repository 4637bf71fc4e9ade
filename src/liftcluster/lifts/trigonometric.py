"""Base class of lifts by cosines and sines of random phases."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np

from .._util.arrays import namespace, on_device
from .._util.typing import Array, FloatArray, IntArray, Points
from .._util.validation import as_points
from .._util.warning import warn
from ..kernels.shift_invariant import ShiftInvariant
from ..partitions.stack import Rows, as_rows
from ._gpu.device import memberships_on
from ._gpu.fourier_features import DeviceFeatures
from ._native import warn_if_missing
from .base import FeatureLift, Lift, LiftedPoints, as_vectors, state_of_fields
from .native import (
    LARGEST_PHASE,
    FeatureMap,
    OutOfReach,
    can_use_kernels,
    fits_single_precision,
    map_features,
    map_labels,
    map_scores,
    map_sums,
)
from .settings import Fourier, LiftSettings, Structured
from .uncertainty import distance_deviations, standard_error

Answer = TypeVar("Answer")

QUARTER_TURNS = 2 / math.pi  # in one radian
_MIN_GROUPS = 16  # with fewer groups their variation is too uncertain
_MAX_RADIUS = 1e9  # bandwidths from the centre up to which float64 phases keep six digits
_MAX_RADIUS_SINGLE = 1e3  # the same for float32 phases, which then keep four digits
_MAX_BYTES = 2**30  # of frequencies and cluster vectors, where the search for a tolerance ends


class TrigonometricLift(FeatureLift):
    r"""φ(x) = √(2/ρ) (cos t₁, …, cos t_M, sin t₁, …, sin t_M) of the phases t = ω·(x − centre).

    ‖φ(x)‖ = 1 exactly. An odd ρ has one feature more, :math:`\sqrt{2/ρ} \cos(t + b)` with a
    random phase b, which keeps the mean right (‖φ(x)‖ is then 1 only on average).

    Points are centred in float64; phases, cosines and the sums within a block are in ``dtype``;
    totals are float64. Subclasses define the phases, for NumPy and for the compiled kernels.
    """

    kernel: ShiftInvariant
    frequencies: FloatArray  # (M, d), in units of 1/kernel.scale
    groups: IntArray  # (M,), the independent random draw of each frequency
    phase: float | None  # b, for an odd ρ, of the last frequency
    centre: FloatArray
    dtype: Any

    spreads_over_threads: ClassVar[bool] = True

    @abstractmethod
    def phases(self, U: Any) -> Any:
        """(n, M) phases of points in bandwidths from the centre, in their precision."""

    def factored(self) -> tuple[FloatArray, FloatArray]:
        """(M, d) directions that float16 holds, as far as it can, and (M,) lengths.

        Their products are the frequencies. Here lengths are powers of two.
        """
        largest = np.abs(self.frequencies).max(axis=1, initial=0.0)
        lengths = np.exp2(np.frexp(np.maximum(largest, np.finfo(np.float64).tiny))[1])
        return self.frequencies / lengths[:, None], lengths

    @abstractmethod
    def feature_map(self) -> FeatureMap:
        """The map for the compiled kernels, for points in their own units."""

    @abstractmethod
    def extend(self, n_components: int, rng: np.random.Generator) -> tuple[Self, Self]:
        """The lift with new frequencies added up to ``n_components``, and the new part alone."""

    def __getstate__(self) -> dict[str, Any]:
        """Without caches, which are specific to a machine."""
        caches = "_maps", "_device_features"
        return {name: value for name, value in vars(self).items() if name not in caches}

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return state_of_fields(self)

    @property
    def n_pairs(self) -> int:
        return len(self.groups) - (self.phase is not None)

    @property
    def n_components(self) -> int:
        return len(self.groups) + self.n_pairs

    @property
    def d(self) -> int:
        return len(self.centre)

    def points(self, X: Points, *, finite: bool = True) -> Array:
        """The points, checked; the kernels check themselves whether they are ``finite``."""
        return points_of_dimension(X, self.d, finite=finite)

    def features(self, X: Points) -> Any:
        """(n, ρ) features, in the array library and on the device of X."""
        Z = self._by_native_kernels(X, lambda native: map_features(native, X))
        if Z is None and isinstance(X, np.ndarray):
            Z = self._by_numpy(X)
        elif Z is None:
            Z = self._on_device(X, lambda device: device.features(X))
        xp = namespace(Z)
        single = self.dtype == np.float32
        return xp.astype(self._scaled_pairs(Z), xp.float32 if single else xp.float64, copy=False)

    def _by_numpy(self, X: Array) -> Array:
        warn_if_missing(len(X) * self.n_components)
        with np.errstate(over="ignore", invalid="ignore"):
            U = (np.asarray(X, dtype=np.float64) - self.centre) / self.kernel.scale
        if not (np.abs(U) < _MAX_RADIUS).all():
            _raise_too_far()
        near = self.dtype == np.float64 or (np.abs(U) < _MAX_RADIUS_SINGLE).all()
        T = self.phases(U.astype(self.dtype) if near else U)
        return np.concatenate([np.cos(T), np.sin(T)], axis=1)

    def sums(self, X: Points, R: Any) -> FloatArray:
        points = self.points(X, finite=False)
        if on_device(points):
            return self.device_sums(points, R)
        sums = self.fused_sums(points, as_rows(R, len(points)))
        return super().sums(points, R) if sums is None else sums

    def at(self, X: Points, *, keep: bool = False) -> LiftedPoints:
        if on_device(X):
            return _PointsOnDevice(self, self.points(X, finite=False))
        return LiftedPoints(self, X)

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        points, R = _PointsOnDevice(self, X), as_rows(R, X.shape[0])
        points.begin(R)
        return points.sums(R)

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        sums = self._by_native_kernels(X, lambda native: map_sums(native, X, R))
        return None if sums is None else self._scaled_pairs(sums)

    def _scores(self, X: Points, V: Any) -> FloatArray:
        points = self.points(X, finite=False)
        V = as_vectors(V, self.n_components)
        pairs = self._to_pairs(V)
        if on_device(points):
            return self._on_device(points, lambda device: device.scores(points, pairs))
        scores = self._by_native_kernels(points, lambda native: map_scores(native, points, pairs))
        return super()._scores(points, V) if scores is None else scores

    def _assign(self, X: Points, V: Any) -> IntArray:
        points = self.points(X, finite=False)
        V = as_vectors(V, self.n_components)
        pairs = self._to_pairs(V)
        if on_device(points):
            there = self._on_device(points, lambda device: device.assign(points, pairs))
            return super()._assign(points, V) if there is None else there
        labels = self._by_native_kernels(points, lambda native: map_labels(native, points, pairs))
        return super()._assign(points, V) if labels is None else labels

    def _on_device(self, X: Any, function: Callable[[DeviceFeatures], Any]) -> Any:
        """The function of the map on the device of X, in float64 if some points are far away."""
        scale = self.kernel.scale
        if self._is_single_on_device():
            device = self._features_on(X, np.float32).copy()
            with np.errstate(over="ignore", invalid="ignore"):
                answer = function(device)
            if device.max_coordinate < _MAX_RADIUS_SINGLE * scale:
                return answer
        device = self._features_on(X, np.float64).copy()
        with np.errstate(over="ignore", invalid="ignore"):  # of namespaces built on NumPy
            answer = function(device)
        if not device.max_coordinate < _MAX_RADIUS * scale:
            as_points(X, device=True)  # raises if one is not finite
            _raise_too_far()
        return answer

    def _is_single_on_device(self) -> bool:
        return self.dtype == np.float32 and fits_single_precision(self.kernel.scale)

    def _features_on(self, X: Any, dtype: Any) -> DeviceFeatures:
        """The map on the device of X, transferred there only once."""
        key = str(X.device), str(X.dtype), dtype
        if key not in self._device_features:
            self._device_features[key] = DeviceFeatures(
                *self.factored(), self.kernel.scale, self.centre, X, dtype, self._factor
            )
        return self._device_features[key]

    @cached_property
    def _device_features(self) -> dict[tuple[str, str, type], DeviceFeatures]:
        return {}

    def _by_native_kernels(self, X: Any, function: Callable[[FeatureMap], Answer]) -> Answer | None:
        """The function of the compiled map; None where the kernels cannot be used for X."""
        if not can_use_kernels(X):
            return None
        for native in self._maps:
            with suppress(OutOfReach):
                return function(native)
        return None  # NumPy will raise the error

    @cached_property
    def _maps(self) -> list[FeatureMap]:
        """The map for the compiled kernels: in its own precision, and in double for far points."""
        if not fits_single_precision(self.kernel.scale):
            return []
        precisions = [self.dtype] if self.dtype == np.float64 else [self.dtype, np.float64]
        return [replace(self, dtype=dtype).feature_map() for dtype in precisions]  # type: ignore[type-var]

    def _reach(self, longest: float) -> float:
        """Largest distance of a point from the centre, given the longest frequency."""
        double = self.dtype == np.float64
        radius = (_MAX_RADIUS if double else _MAX_RADIUS_SINGLE) * self.kernel.scale
        return min(radius, LARGEST_PHASE[double] / max(longest, 1e-300))

    @property
    def _factor(self) -> float:
        return math.sqrt(2 / self.n_components)

    def _scaled_pairs(self, Z: Array) -> Array:
        Z *= self._factor
        return self._of_pairs(Z)

    def _of_pairs(self, Z: Array) -> Array:
        """The features from columns of cosines and sines of all M phases.

        cos(t + b) = cos b cos t − sin b sin t, so an odd ρ needs both columns of its last phase.
        """
        if self.phase is None:
            return Z
        M = len(self.groups)
        single = math.cos(self.phase) * Z[:, M - 1] - math.sin(self.phase) * Z[:, 2 * M - 1]
        kept = [Z[:, : M - 1], Z[:, M : 2 * M - 1], single[:, None]]
        return namespace(Z).concat(kept, axis=1)

    def _to_pairs(self, V: FloatArray) -> FloatArray:
        """The adjoint of ``_of_pairs``."""
        factor = self._factor
        if self.phase is None:
            return V * factor
        a, single = self.n_pairs, V[:, -1:]
        cosine, sine = math.cos(self.phase) * single, -math.sin(self.phase) * single
        return np.concatenate([V[:, :a], cosine, V[:, a : 2 * a], sine], axis=1) * factor

    def feature_groups(self) -> IntArray:
        """(ρ,) group of each feature; every frequency is its own group where groups are few.

        Treating dependent frequencies as independent is conservative: their errors partly cancel.
        """
        enough = len(np.unique(self.groups)) >= _MIN_GROUPS
        groups = self.groups if enough else np.arange(len(self.groups))
        return np.concatenate([groups[: self.n_pairs], groups])  # cosines; sines and the single

    def join_sums(self, V: FloatArray, new: Self, V_new: FloatArray) -> FloatArray:
        """Sums under the extended lift from those under this lift and under the new part."""
        total = self.n_components + new.n_components
        old = V * math.sqrt(self.n_components / total)
        add = V_new * math.sqrt(new.n_components / total)
        a, b = self.n_pairs, new.n_pairs
        return np.concatenate(
            [old[:, :a], add[:, :b], old[:, a : 2 * a], add[:, b:], old[:, 2 * a :]], axis=1
        )


@dataclass(frozen=True, eq=False)
class _PointsOnDevice(LiftedPoints):
    """Points on a device, which begins with them while the host reads the labels."""

    lift: TrigonometricLift
    _begun: list[Any] = field(default_factory=list, repr=False)  # what the next sums begin with

    def begin(self, R: Rows) -> None:
        X, lift = self.X, self.lift
        if lift._is_single_on_device():
            self._begun[:] = [lift._features_on(X, np.float32).begin(X, R)]

    def sums(self, R: Any) -> FloatArray:
        X, lift = self.X, self.lift
        begun = self._begun.pop() if self._begun else None
        members = memberships_on(X, R)
        sums = lift._on_device(X, lambda device: device.sums(X, members, begun))
        return members.scale(lift._of_pairs(sums))


def points_of_dimension(X: Points, d: int, *, finite: bool = True) -> Array:
    points = as_points(X, finite=finite, device=True)
    if points.shape[1] != d:
        raise ValueError(f"points have {points.shape[1]} features, but this lift was made for {d}")
    return points


def reach_tolerance(
    sums_by: Callable[[Lift], FloatArray],
    lift: Lift,
    settings: LiftSettings | None,
    rng: np.random.Generator,
) -> tuple[Lift, FloatArray]:
    """Cluster vectors; where the settings have a tolerance, with as many features as it takes."""
    V = sums_by(lift)
    tol = settings.tol if isinstance(settings, Fourier | Structured) else None
    if tol is None or not isinstance(lift, TrigonometricLift):
        return lift, V
    most = max(_MAX_BYTES // (8 * (2 * len(V) + lift.d)), lift.n_components)
    while True:
        deviations = distance_deviations(V, V, lift.feature_groups(), normalise=True)
        error = float(standard_error(deviations).max())
        if not error > tol:
            return lift, V
        if lift.n_components >= most:
            warn(
                f"the standard error is {error:.3g}, above tol = {tol:g}, with n_components = "
                f"{lift.n_components} (more would not fit in memory)"
            )
            return lift, V
        # The error falls as 1/√ρ; a tenth more, since it is itself an estimate.
        wanted = lift.n_components * min(1.1 * (error / tol) ** 2, 16.0)
        joined, new = lift.extend(min(max(math.ceil(wanted), lift.n_components + 2), most), rng)
        lift, V = joined, lift.join_sums(V, new, sums_by(new))


def _raise_too_far() -> NoReturn:
    raise ValueError(
        f"points lie more than {_MAX_RADIUS:g} bandwidths away from the others, where phases "
        "are inaccurate; use a larger bandwidth or rescale the points"
    )
