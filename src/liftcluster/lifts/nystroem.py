"""Nystroem features: the kernel seen from a few landmark points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._util.arrays import from_device, on_device, send
from .._util.threads import one_blas_thread
from .._util.typing import Array, FloatArray, IntArray, Points
from ..kernels.kernel import Kernel, ShiftInvariant, kernel_from_state
from ..partitions.stack import Rows
from .base import FeatureLift, as_vectors, sums_of_many, take_rows
from .spectral import inverse_root

__all__ = ["NystromLift", "choose_landmarks", "fit_nystrom_lift", "nystrom_from_landmarks"]


@dataclass(frozen=True, eq=False)
class _Similarities(FeatureLift):
    """φ(x) = κ(x, L) alone."""

    kernel: Kernel
    landmarks: Points

    kind: ClassVar[str] = "similarities"

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
class NystromLift(FeatureLift):
    r"""φ(x) = κ(x, L) U Λ^{-1/2} with κ(L, L) = U Λ Uᵀ for landmarks L.

    Projects every lifted point onto the span of the lifted landmarks. Works for any kernel, of any
    objects. Its error is a bias (distances come out too short, never too long), not noise, so no
    standard error is reported.
    """

    kernel: Kernel
    landmarks: Points
    coefficients: FloatArray  # (r, ρ), U Λ^{-1/2}

    kind: ClassVar[str] = "nystrom"

    @property
    def n_components(self) -> int:
        return int(self.coefficients.shape[1])

    @property
    def block_width(self) -> int:
        return len(self.landmarks)

    def points(self, X: Points) -> Points:
        return self.kernel.points(X)

    def features(self, X: Points) -> Array:
        A = send(self.coefficients, X) if on_device(X) else self.coefficients
        return self.kernel(X, self.landmarks) @ A

    # Similarities to the landmarks are added up before they are turned into features, and vectors
    # are turned into weights of landmarks before they are scored: (RᵀK)A and K(AVᵀ) take a step of
    # O(nr) where Rᵀ(KA) and (KA)Vᵀ take one of O(nr²).

    def fused_sums(self, X: Points, R: Rows) -> FloatArray:
        similarities = sums_of_many([self._similarities], X, R)[0]
        with one_blas_thread():
            return np.asarray(similarities @ self.coefficients)

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        return self._similarities.device_sums(X, R) @ self.coefficients

    def scores(self, X: Points, V: Any) -> FloatArray:
        with one_blas_thread():
            weights = as_vectors(V, self.n_components) @ self.coefficients.T
        return self._similarities.scores(X, weights)

    @cached_property
    def _similarities(self) -> _Similarities:
        return _Similarities(self.kernel, self.landmarks)

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        arrays = {"landmarks": self.landmarks, "coefficients": self.coefficients}
        return {"kernel": self.kernel.state()}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> NystromLift:
        lift = cls(kernel_from_state(values["kernel"]), **arrays)
        if lift.coefficients.ndim != 2 or len(lift.coefficients) != len(lift.landmarks):
            raise ValueError("the parts of the Nystroem lift do not fit together")
        return lift

    def describe(self) -> str:
        return f"Nystroem, {len(self.landmarks)} landmarks, ρ = {self.n_components}"


def fit_nystrom_lift(
    kernel: Kernel, X: Points, n_components: int, *, rng: np.random.Generator
) -> NystromLift:
    """Take ``n_components`` points at random as landmarks (all of them if there are fewer)."""
    X = kernel.points(X)
    n = X.shape[0] if on_device(X) else len(X)
    return nystrom_from_landmarks(kernel, take_rows(X, choose_landmarks(n, n_components, rng)))


def choose_landmarks(n: int, n_components: int, rng: np.random.Generator) -> IntArray:
    """Which of n points are to be landmarks, in ascending order."""
    return np.sort(rng.choice(n, min(n_components, n), replace=False))


def nystrom_from_landmarks(kernel: Kernel, landmarks: Points) -> NystromLift:
    landmarks = from_device(landmarks)
    with one_blas_thread():
        G = kernel(landmarks, landmarks)
    return NystromLift(kernel, landmarks, inverse_root(G))
