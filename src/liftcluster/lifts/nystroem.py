"""Nystroem features: projection onto the span of a few landmark points."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._util.arrays import from_device, on_device, row_blocks, send, without_gradients
from .._util.memory import available_memory
from .._util.threads import one_blas_thread
from .._util.typing import Array, FloatArray, IntArray, Points
from ..kernels.kernel import kernel_from_state
from ..kernels.shift_invariant import Gaussian, Kernel, ShiftInvariant
from ..kernels.summary import n_points, take_rows
from ..partitions.stack import Rows, as_rows
from ._gpu.device import memberships_on
from ._gpu.landmarks import FusedSimilarities, can_fuse
from ._gpu.running import SIMILARITIES, try_fused
from ._native import warn_if_missing
from .base import Answer, FeatureLift, LiftedPoints, as_vectors, sums_of_many
from .exact import gram_factor
from .kept import FeatureBlocks
from .native import (
    FeatureMap,
    OutOfReach,
    can_use_kernels,
    fits_single_precision,
    gaussian_map,
    map_labels,
    map_scores,
    map_sums,
)

_MOST_KEPT = 2**28  # bytes of similarities that are kept for several passes over the same points
_SINGLE_BANDWIDTHS = 1e-10, 1e10  # whose squares single precision can hold with many coordinates
_FEW_BANDWIDTHS = 8  # of landmarks from their mean: exponents have errors of at most some 1e-5
_ENLARGED = 1e4  # largest squared length of coefficients, by which squared errors grow
_SINGLE_ROUNDING = 2.0**-22  # of sums of some products in single precision


@dataclass(frozen=True, eq=False)
class _Similarities(FeatureLift):
    """φ(x) = κ(x, L)."""

    kernel: Kernel
    landmarks: Points
    double: bool = field(default=True, kw_only=True)  # whether computed in double precision

    @property
    def n_components(self) -> int:
        return len(self.landmarks)

    @property
    def spreads_over_threads(self) -> bool:  # type: ignore[override]
        return isinstance(self.kernel, ShiftInvariant)

    def points(self, X: Points) -> Points:
        return self.kernel.points(X)

    def features(self, X: Points) -> Array:
        if isinstance(self.kernel, Gaussian) and isinstance(X, np.ndarray):
            warn_if_missing(len(X) * len(self.landmarks))
        return self.kernel(X, self.landmarks)

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        return self._by_native_kernels(X, lambda native: map_sums(native, X, R))

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        members = memberships_on(X, R)
        sums = self._by_fused_kernels(X, lambda fused: fused.sums(X, members))
        return super().device_sums(X, members) if sums is None else members.scale(sums)

    def _scores(self, X: Points, V: Any) -> FloatArray:
        X, V = self.points(X), as_vectors(V, self.n_components)
        if on_device(X):
            scores = self._by_fused_kernels(X, lambda fused: fused.scores(X, V))
        else:
            scores = self._by_native_kernels(X, lambda native: map_scores(native, X, V))
        return super()._scores(X, V) if scores is None else scores

    def _assign(self, X: Points, V: Any) -> IntArray:
        X, V = self.points(X), as_vectors(V, self.n_components)
        if on_device(X):
            labels = self._by_fused_kernels(X, lambda fused: fused.assign(X, V))
        else:
            labels = self._by_native_kernels(X, lambda native: map_labels(native, X, V))
        return super()._assign(X, V) if labels is None else labels

    def _by_native_kernels(self, X: Any, function: Callable[[FeatureMap], Answer]) -> Answer | None:
        """The function of the compiled map; None where the kernels cannot be used for X."""
        if (native := self.map_for(X)) is not None:
            with suppress(OutOfReach):
                return function(native)
        return None  # NumPy computes by differences

    def _by_fused_kernels(self, X: Any, function: Callable[[FusedSimilarities], Any]) -> Any | None:
        """The function of the similarities on a device; None where kernels cannot be used there."""
        kernel, L = self.kernel, self.landmarks
        if not isinstance(kernel, Gaussian) or len(kernel.bandwidths) > 1:
            return None
        if X.shape[1:] != L.shape[1:] or not can_fuse(X, kernel.scale):
            return None
        X = without_gradients(X)
        return try_fused(lambda: function(FusedSimilarities(L, kernel.scale, X)), SIMILARITIES)

    def map_for(self, X: Any) -> FeatureMap | None:
        """The map of the compiled kernels, where they can be used for X."""
        if self._map is None or not can_use_kernels(X):
            return None
        return self._map if X.shape[1:] == self.landmarks.shape[1:] else None

    @cached_property
    def _map(self) -> FeatureMap | None:
        kernel, L = self.kernel, self.landmarks
        if not (isinstance(kernel, Gaussian) and can_use_kernels(L) and L.ndim == 2):
            return None
        if len(kernel.bandwidths) > 1 or not fits_single_precision(kernel.scale):
            return None
        return gaussian_map(L, kernel.scale, double=self.double)


@dataclass(frozen=True, eq=False)
class NystroemLift(_Similarities):
    r"""φ(x) = κ(x, L) U Λ^{-1/2} with κ(L, L) = U Λ Uᵀ for landmarks L.

    Projects every lifted point onto the span of the lifted landmarks. Its error is a bias, not
    random (distances are never too long), so it has no standard error.
    """

    coefficients: FloatArray  # (r, ρ), U Λ^{-1/2}

    kind: ClassVar[str] = "nystroem"

    @property
    def n_components(self) -> int:
        return int(self.coefficients.shape[1])

    @property
    def block_width(self) -> int:
        return len(self.landmarks)

    def features(self, X: Points) -> Array:
        A = send(self.coefficients, X) if on_device(X) else self.coefficients
        return super().features(X) @ A

    # Sums are computed as (RᵀK)A and scores as K(AVᵀ), in O(nr) per point and cluster, where Rᵀ(KA)
    # and (KA)Vᵀ take O(nr²).

    def fused_sums(self, X: Points, R: Rows) -> FloatArray:
        similarities = sums_of_many([self._similarities], X, R)[0]
        with one_blas_thread():
            return np.asarray(similarities @ self.coefficients)

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        return self._similarities.device_sums(X, R) @ self.coefficients

    def _scores(self, X: Points, V: Any) -> FloatArray:
        X, W = self.points(X), self.weights_of(V)
        scores = self._similarities._scores(X, W)
        if not (self.double or on_device(X)):
            self.score_again(X, W, scores, self.close_rows(scores, W))
        return scores

    def _assign(self, X: Points, V: Any) -> IntArray:
        X = self.points(X)
        if self.double or on_device(X):
            return self._similarities._assign(X, self.weights_of(V))
        labels = np.empty(n_points(X), dtype=np.int64)
        for rows in row_blocks(len(labels), len(V)):
            labels[rows] = self._scores(X[rows], V).argmax(axis=1)
        return labels

    def close_rows(self, scores: FloatArray, W: FloatArray) -> IntArray:
        """Points whose two largest scores may be exchanged in single precision.

        W are the weights of the landmarks. Points whose scores are all small are among them.
        """
        error, found = self._rounding * np.abs(W).sum(axis=1).max(), []
        for rows in row_blocks(len(scores), len(W)):
            S = scores[rows]
            behind = S.max(axis=1, keepdims=True) - S
            found.append(rows.start + np.flatnonzero((behind <= 2 * error).sum(axis=1) > 1))
        return np.concatenate(found)

    def score_again(self, X: Points, W: FloatArray, scores: FloatArray, rows: IntArray) -> None:
        """Compute the scores of some points in double precision."""
        for part in row_blocks(len(rows), self.block_width):
            here = rows[part]
            scores[here] = self.precise._scores(take_rows(X, here), W)

    @cached_property
    def precise(self) -> _Similarities:
        """The similarities in double precision."""
        return _Similarities(self.kernel, self.landmarks)

    @cached_property
    def _rounding(self) -> float:
        """Error of a similarity in single precision, from that of its exponent.

        With R the largest distance of a landmark from the mean, in bandwidths, the terms of the
        exponent of a near point add up to about 2R². Far points have small similarities.
        """
        return _SINGLE_ROUNDING * (1 + 2 * self._largest_square)

    @cached_property
    def _largest_square(self) -> float:
        """Of the distance of a landmark from the mean, in bandwidths of a Gaussian."""
        assert isinstance(self.kernel, Gaussian)
        U = (self.landmarks - self.landmarks.mean(axis=0, dtype=np.float64)) / self.kernel.scale
        return float(np.einsum("ij,ij->i", U, U).max())

    def weights_of(self, V: Any) -> FloatArray:
        """(k, r) of the landmarks in each vector."""
        with one_blas_thread():
            return np.asarray(as_vectors(V, self.n_components) @ self.coefficients.T)

    def at(self, X: Points, *, keep: bool = False) -> LiftedPoints:
        """The lift at fixed points; up to 256 MiB of similarities are kept if asked."""
        X = self.points(X)
        native = self._similarities.map_for(X)
        if native is None:
            return LiftedPoints(self, X)
        size = np.dtype(native.dtype).itemsize * len(X) * len(self.landmarks)
        keep = keep and size <= min(_MOST_KEPT, available_memory() // 4)
        return _LandmarkPoints(self, X, FeatureBlocks(native, X, keep=keep))

    @cached_property
    def _similarities(self) -> _Similarities:
        return _Similarities(self.kernel, self.landmarks, double=self.double)

    def rounded(self) -> NystroemLift:
        """The same lift by similarities in single precision, if sums keep six digits by it.

        That is: landmarks are few bandwidths from their mean, and no direction of their span is
        so short that its coefficients enlarge the rounding. It takes half the time.
        """
        kernel, L = self.kernel, self.landmarks
        if not (isinstance(kernel, Gaussian) and isinstance(L, np.ndarray) and L.ndim == 2):
            return self
        low, high = _SINGLE_BANDWIDTHS
        in_range = len(kernel.bandwidths) == 1 and low < kernel.scale < high
        A = self.coefficients
        is_stable = np.einsum("ij,ij->j", A, A).max() < _ENLARGED
        is_safe = in_range and is_stable and self._largest_square < _FEW_BANDWIDTHS**2
        return replace(self, double=False) if is_safe else self

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        arrays = {"landmarks": self.landmarks, "coefficients": self.coefficients}
        rounded = {} if self.double else {"double": False}
        return {"kernel": self.kernel.state()} | rounded, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> NystroemLift:
        lift = cls(kernel_from_state(values["kernel"]), **arrays, double=True)
        if lift.coefficients.ndim != 2 or len(lift.coefficients) != len(lift.landmarks):
            raise ValueError("the arrays of the Nystroem lift have inconsistent shapes")
        return lift if values.get("double", True) else lift.rounded()

    def describe(self) -> str:
        return f"Nystroem, {len(self.landmarks)} landmarks, ρ = {self.n_components}"


@dataclass(frozen=True, eq=False)
class _LandmarkPoints(LiftedPoints):
    """Points whose similarities with landmarks serve scores and sums at once."""

    lift: NystroemLift
    blocks: FeatureBlocks

    def sums(self, R: Any) -> FloatArray:
        with suppress(OutOfReach):
            similarities = self.blocks.sums(as_rows(R, len(self.X)))
            with one_blas_thread():
                return np.asarray(similarities @ self.lift.coefficients)
        return super().sums(R)

    def score(self, V: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        lift, W = self.lift, self.lift.weights_of(V)
        with suppress(OutOfReach):
            scores, similarities = self.blocks.score(W, weights)
            if not lift.double:
                self._correct(W, weights, scores, similarities)
            with one_blas_thread():
                return scores, np.asarray(similarities @ self.lift.coefficients)
        return super().score(V, weights)

    def _correct(
        self, W: FloatArray, weights: FloatArray, scores: FloatArray, sums: FloatArray
    ) -> None:
        """Score points again where two scores are close, and move those with another label."""
        rows = self.lift.close_rows(scores, W)
        before = scores[rows].argmax(axis=1)
        self.lift.score_again(self.X, W, scores, rows)
        after = scores[rows].argmax(axis=1)
        moved = np.flatnonzero(before != after)
        for part in row_blocks(len(moved), self.lift.block_width):
            some = moved[part]
            K = self.lift.precise.features(take_rows(self.X, rows[some]))
            K *= weights[rows[some], None]
            np.subtract.at(sums, before[some], K)
            np.add.at(sums, after[some], K)


def choose_landmarks(n: int, n_components: int, rng: np.random.Generator) -> IntArray:
    """Indices of random landmarks among n points, ascending."""
    return np.sort(rng.choice(n, min(n_components, n), replace=False))


def nystroem_from_landmarks(kernel: Kernel, landmarks: Points) -> NystroemLift:
    """The Nystroem lift with these landmarks."""
    landmarks = from_device(landmarks)
    with one_blas_thread():
        G = kernel(landmarks, landmarks)
    return NystroemLift(kernel, landmarks, gram_factor(G)[1])
