"""Nystroem features: projection onto the span of a few landmark points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._util.arrays import from_device, on_device, send
from .._util.threads import one_blas_thread
from .._util.typing import Array, FloatArray, IntArray, Points
from ..kernels.kernel import kernel_from_state
from ..kernels.shift_invariant import Kernel, ShiftInvariant
from ..partitions.stack import Rows
from .base import FeatureLift, as_vectors, sums_of_many
from .exact import gram_factor


@dataclass(frozen=True, eq=False)
class _Similarities(FeatureLift):
    """φ(x) = κ(x, L)."""

    kernel: Kernel
    landmarks: Points

    @property
    def n_components(self) -> int:
        return len(self.landmarks)

    @property
    def spreads_over_threads(self) -> bool:  # type: ignore[override]
        return isinstance(self.kernel, ShiftInvariant)

    def points(self, X: Points) -> Points:
        return self.kernel.points(X)

    def features(self, X: Points) -> Array:
        return self.kernel(X, self.landmarks)


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
        with one_blas_thread():
            weights = as_vectors(V, self.n_components) @ self.coefficients.T
        return self._similarities._scores(X, weights)

    @cached_property
    def _similarities(self) -> _Similarities:
        return _Similarities(self.kernel, self.landmarks)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        arrays = {"landmarks": self.landmarks, "coefficients": self.coefficients}
        return {"kernel": self.kernel.state()}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> NystroemLift:
        lift = cls(kernel_from_state(values["kernel"]), **arrays)
        if lift.coefficients.ndim != 2 or len(lift.coefficients) != len(lift.landmarks):
            raise ValueError("the arrays of the Nystroem lift have inconsistent shapes")
        return lift

    def describe(self) -> str:
        return f"Nystroem, {len(self.landmarks)} landmarks, ρ = {self.n_components}"


def choose_landmarks(n: int, n_components: int, rng: np.random.Generator) -> IntArray:
    """Indices of random landmarks among n points, ascending."""
    return np.sort(rng.choice(n, min(n_components, n), replace=False))


def nystroem_from_landmarks(kernel: Kernel, landmarks: Points) -> NystroemLift:
    """The Nystroem lift with these landmarks."""
    landmarks = from_device(landmarks)
    with one_blas_thread():
        G = kernel(landmarks, landmarks)
    return NystroemLift(kernel, landmarks, gram_factor(G)[1])
