"""Structured orthogonal features: frequencies that a fast transform applies, in many dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import hadamard

from .._util.checks import check_count
from .._util.typing import Array, FloatArray, IntArray
from ..kernels.kernel import kernel_from_state
from ..kernels.shift_invariant import ShiftInvariant
from .native import STRUCTURED, FeatureMap
from .trigonometric import QUARTER_TURNS, TrigonometricLift

_SMALLEST_BLOCK = 64  # frequencies; what the kernels in C hold in registers
_hadamard_matrix = cache(hadamard)


@dataclass(frozen=True, eq=False)
class StructuredLift(TrigonometricLift):
    r"""Cosine–sine pairs at frequencies drawn in blocks of orthogonal directions,

    .. math:: ω = \ell\, e_j^\top \tilde H D_3 \tilde H D_2 \tilde H D_1,
              \qquad \tilde H = H / \sqrt{p},

    with H the Walsh–Hadamard matrix of size p (d rounded up to a power of two), random signs D and
    lengths ℓ of the kernel's spectral law in p dimensions, whose first d coordinates follow the
    law in d. All phases of a point take O(ρ log d) steps instead of O(ρ d).

    The error is that of orthogonal frequencies. In fewer than about 32 dimensions the directions
    are too regular.

    Attributes
    ----------
    kernel : ShiftInvariant
        Of the Euclidean distance alone.
    signs : (blocks, 3, p) array, 1 where D₁, D₂, D₃ have −1 and 0 elsewhere
    lengths : (M,) array
        ℓ, in units of 1/kernel.scale; a last block may use fewer than p of its frequencies.
    phase, centre, dtype
        As for :class:`FourierLift`.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, Orthogonal Random Features (NIPS 2016).
    """

    kernel: ShiftInvariant
    signs: Array
    lengths: FloatArray
    phase: float | None
    centre: FloatArray
    dtype: Any = np.float64

    kind: ClassVar[str] = "structured"

    @property
    def padded(self) -> int:
        """p, the size of a block."""
        return int(self.signs.shape[2])

    @cached_property
    def groups(self) -> IntArray:  # type: ignore[override]
        return np.arange(len(self.lengths)) // self.padded

    @cached_property
    def frequencies(self) -> FloatArray:  # type: ignore[override]
        """(M, d) matrix of the fast transform, for devices, which are best at matrix products."""
        return self._directions * (self.lengths / self.padded**1.5)[:, None]

    def factored(self) -> tuple[FloatArray, FloatArray]:
        """Directions of whole numbers; up to 1,024 dimensions float16 holds them exactly."""
        bits = int(np.bitwise_or.reduce(self._directions.astype(np.int64), axis=None))
        common = max(bits & -bits, 1)  # the largest power of two that divides all of them
        return self._directions / common, self.lengths * (common / self.padded**1.5)

    @cached_property
    def _directions(self) -> Array:
        """(M, d) of length p^1.5: whole numbers, which float32 holds exactly up to 2²⁴."""
        dtype = np.float32 if self.padded <= 2**16 else np.float64
        ones = replace(self, lengths=np.full(len(self.lengths), self.padded**1.5))
        return np.ascontiguousarray(ones.phases(np.eye(self.d, dtype=dtype)).T)

    def phases(self, U: Array) -> Array:
        n, p, M = len(U), self.padded, len(self.lengths)
        filled = np.zeros((n, p), dtype=U.dtype)
        filled[:, : self.d] = U
        scale = (self.lengths / p**1.5).astype(U.dtype)
        phases = np.empty((n, M), dtype=U.dtype)
        for start, signs in zip(range(0, M, p), 1 - 2 * self.signs.astype(U.dtype), strict=True):
            Z = filled
            for D in signs:
                Z = _hadamard(Z * D)
            block = slice(start, min(start + p, M))
            np.multiply(Z[:, : block.stop - start], scale[block], out=phases[:, block])
        return phases

    def feature_map(self) -> FeatureMap:
        lengths = self.lengths * (QUARTER_TURNS / self.kernel.scale)
        return FeatureMap(
            STRUCTURED,
            self.centre,
            reach=self._reach(float(lengths.max())),
            double=self.dtype == np.float64,
            n_phases=len(lengths),
            padded=self.padded,
            signs=np.ascontiguousarray(self.signs, dtype=np.uint8),
            # The kernel's transform has no 1/√p.
            lengths=(lengths / self.padded**1.5).astype(self.dtype),
        )

    def describe(self) -> str:
        return f"structured orthogonal Fourier features, ρ = {self.n_components}"

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> StructuredLift:
        kernel = kernel_from_state(values["kernel"])
        if not (isinstance(kernel, ShiftInvariant) and kernel.isotropic):
            raise ValueError(f"a structured lift cannot have the kernel {kernel.name}")
        dtype = {"float32": np.float32, "float64": np.float64}[values["dtype"]]
        lift = cls(kernel, phase=values["phase"], dtype=dtype, **arrays)
        shape, M = lift.signs.shape, len(lift.lengths)
        p = _block_size(len(lift.centre))
        if shape != (-(-M // p), 3, p) or lift.lengths.ndim != 1 or lift.signs.max() > 1:
            raise ValueError("the arrays of the structured lift have inconsistent shapes")
        return lift

    def extend(
        self, n_components: int, rng: np.random.Generator
    ) -> tuple[StructuredLift, StructuredLift]:
        """Whole blocks stay, a last one that is not full gives way to new ones."""
        old = self._whole_blocks()
        missing = -(-(n_components - old.n_components) // (2 * self.padded))
        drawn = draw_structured_lift(self.kernel, self.d, 2 * self.padded * missing, rng=rng)
        new = replace(drawn, centre=self.centre, dtype=self.dtype)
        signs = np.concatenate([old.signs, new.signs])
        lengths = np.concatenate([old.lengths, new.lengths])
        return replace(old, signs=signs, lengths=lengths), new

    def join_sums(self, V: FloatArray, new: StructuredLift, V_new: FloatArray) -> FloatArray:
        old = self._whole_blocks()
        if old.n_pairs == 0:
            return V_new
        a, b = old.n_pairs, self.n_pairs
        kept = np.concatenate([V[:, :a], V[:, b : b + a]], axis=1)
        kept *= math.sqrt(self.n_components / old.n_components)
        return super(StructuredLift, old).join_sums(kept, new, V_new)

    def _whole_blocks(self) -> StructuredLift:
        blocks = self.n_pairs // self.padded
        whole = slice(0, blocks * self.padded)
        return replace(self, signs=self.signs[:blocks], lengths=self.lengths[whole], phase=None)


def draw_structured_lift(
    kernel: ShiftInvariant,
    d: int,
    n_components: int,
    *,
    centre: Any = None,
    dtype: Any = np.float64,
    rng: np.random.Generator,
) -> StructuredLift:
    """Draw the signs and lengths of a structured lift in d dimensions."""
    n_components = check_count(n_components, "n_components")
    if not kernel.isotropic:
        raise ValueError(
            f"structured frequencies need a kernel of the Euclidean distance, and {kernel.name} is "
            'not one; use lift="fourier"'
        )
    p, M = _block_size(d), -(-n_components // 2)
    signs = rng.integers(0, 2, (-(-M // p), 3, p), dtype=np.uint8)
    lengths = kernel.sample_lengths(M, p, rng)
    phase = float(rng.uniform(0, 2 * math.pi)) if n_components % 2 else None
    centre = np.zeros(d) if centre is None else np.asarray(centre, dtype=np.float64)
    return StructuredLift(kernel, signs, lengths, phase, centre, dtype)


def _block_size(d: int) -> int:
    return max(_SMALLEST_BLOCK, 1 << (d - 1).bit_length())


def _hadamard(Z: Array) -> Array:
    """Rows times the Walsh–Hadamard matrix, which is a Kronecker product of two small ones."""
    n, p = Z.shape
    a = 1 << (p.bit_length() // 2)
    blocks = Z.reshape(n, a, p // a) @ _hadamard_matrix(p // a, Z.dtype.name)
    return (_hadamard_matrix(a, Z.dtype.name) @ blocks).reshape(n, p)
