"""Random Fourier features: the approximate lifting map of the paper's section 3.1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._util.checks import check_choice, check_count, check_positive
from .._util.threads import blas_threads_for
from .._util.typing import Array, FloatArray, IntArray
from ..kernels.kernel import kernel_from_state
from ..kernels.shift_invariant import ShiftInvariant
from .native import DENSE, FeatureMap
from .settings import SAMPLINGS
from .trigonometric import QUARTER_TURNS, TrigonometricLift

_RUNS_OF_SOBOL = 16  # how many groups a sequence is cut into, to see how much they vary
_MOST_SOBOL_DIMENSIONS = 21201
_QUASI_BELOW = 16  # dimensions up to which quasi-random frequencies beat orthogonal ones


@dataclass(frozen=True, eq=False)
class FourierLift(TrigonometricLift):
    r"""Cosine–sine pairs at M frequencies drawn from the kernel's spectral law.

    .. math:: φ(x) = \sqrt{2/ρ}\,\bigl(\cos ω_1^\top x, …, \cos ω_M^\top x,
                                       \sin ω_1^\top x, …, \sin ω_M^\top x\bigr), \quad ρ = 2M

    so that :math:`\mathbb{E}⟨φ(x), φ(y)⟩ = κ(x, y)`.

    Attributes
    ----------
    kernel : ShiftInvariant
    frequencies : (M, d) array
        In units of 1/kernel.scale; the last belongs to the single feature of an odd ρ.
    groups : (M,) array
        Which independent draw a frequency came from.
    phase : float or None
        b, for an odd ρ.
    centre : (d,) array
    sampling : "iid", "orthogonal" or "quasi"
    """

    kernel: ShiftInvariant
    frequencies: FloatArray
    groups: IntArray
    phase: float | None
    centre: FloatArray
    sampling: str
    dtype: Any = np.float64

    kind: ClassVar[str] = "fourier"

    def phases(self, U: Array) -> Array:
        return U @ self.frequencies.T.astype(U.dtype, copy=False)

    def feature_map(self) -> FeatureMap:
        W = self.frequencies * (QUARTER_TURNS / self.kernel.scale)
        return FeatureMap(
            DENSE,
            self.centre,
            reach=self._reach(float(np.linalg.norm(W, axis=1).max())),
            double=self.dtype == np.float64,
            n_phases=len(W),
            weights=np.ascontiguousarray(W.T, dtype=self.dtype),
        )

    def describe(self) -> str:
        name = {"iid": "independent", "orthogonal": "orthogonal", "quasi": "quasi-random"}
        return f"{name[self.sampling]} Fourier features, ρ = {self.n_components}"

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> FourierLift:
        kernel = kernel_from_state(values["kernel"])
        if not isinstance(kernel, ShiftInvariant):
            raise ValueError(f"a Fourier lift cannot have the kernel {kernel.name}")
        dtype = {"float32": np.float32, "float64": np.float64}[values["dtype"]]
        sampling = check_choice(values["sampling"], SAMPLINGS, "sampling")
        lift = cls(kernel, phase=values["phase"], sampling=sampling, dtype=dtype, **arrays)
        M, d = lift.frequencies.shape
        if lift.groups.shape != (M,) or lift.centre.shape != (d,):
            raise ValueError("the arrays of the Fourier lift have inconsistent shapes")
        return lift

    def extend(
        self, n_components: int, rng: np.random.Generator
    ) -> tuple[FourierLift, FourierLift]:
        n_new = -(-(n_components - self.n_components) // 2)
        W, groups = _draw(self.kernel, n_new, self.frequencies.shape[1], self.sampling, rng)
        new = replace(self, frequencies=W, groups=groups, phase=None)
        joined = replace(  # the single frequency of an odd ρ stays last
            self,
            frequencies=np.insert(self.frequencies, self.n_pairs, W, axis=0),
            groups=np.insert(self.groups, self.n_pairs, groups + self.groups.max() + 1),
        )
        return joined, new


def draw_fourier_lift(
    kernel: ShiftInvariant,
    d: int,
    n_components: int,
    *,
    sampling: str = "auto",
    centre: Any = None,
    dtype: Any = np.float64,
    rng: np.random.Generator,
) -> FourierLift:
    """Draw the frequencies of a lift in d dimensions; see :class:`Fourier` for ``sampling``."""
    n_components = check_count(n_components, "n_components")
    sampling = _choose_sampling(kernel, d, sampling)
    W, groups = _draw(kernel, -(-n_components // 2), d, sampling, rng)
    phase = float(rng.uniform(0, 2 * math.pi)) if n_components % 2 else None
    centre = np.zeros(d) if centre is None else np.asarray(centre, dtype=np.float64)
    return FourierLift(kernel, W, groups, phase, centre, sampling, dtype)


def n_components_for(eps: float, delta: float, n: int) -> int:
    r"""Number of features ρ that keeps distances of n vectors within ε with probability 1 − δ.

    .. math:: ρ = 2 \left\lceil \frac{8}{ε^2} \ln\frac{n(n-1)}{δ} \right\rceil

    The paper's Theorem 3.1 with a constant, for independent frequencies and any shift-invariant
    kernel with κ(x, x) = 1; the n vectors are lifted points or mean embeddings of clusters. The
    squared distance of two lifted points is a mean of M = ρ/2 independent terms
    :math:`2 - 2\cos ω^\top(x - y) \in [0, 4]` of mean D² and second moment at most 4D². It exceeds
    D² by ε(2D + ε) with probability at most exp(−3Mε²/14), by Bernstein's inequality, and falls
    εD below with at most exp(−Mε²/8), for terms that are not negative. So each of the n(n−1)/2
    pairs fails with probability at most 2 exp(−Mε²/8), whatever D.

    Parameters
    ----------
    eps : float
        Largest error ε of a distance, in (0, 2].
    delta : float
        Probability δ in (0, 1) that some distance has a larger error.
    n : int
        Number of vectors, at least 2.

    Returns
    -------
    int
        ρ, for ``Fourier(n_components)``.

    See Also
    --------
    Fourier : Also takes a tolerance of standard errors, which needs fewer features.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.n_components_for(0.1, 0.01, 1000)
    29472
    """
    if not check_positive(eps, "eps") <= 2:
        raise ValueError(f"eps must lie in (0, 2], got {eps}")
    if not check_positive(delta, "delta") < 1:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")
    n = check_count(n, "n", least=2)
    pairs = 8 / float(eps) / float(eps) * (math.log(n * (n - 1)) - math.log(delta))
    if not math.isfinite(pairs):
        raise ValueError(f"eps = {eps:g} would take more components than floats can count")
    return 2 * math.ceil(pairs)


def _choose_sampling(kernel: ShiftInvariant, d: int, sampling: str) -> str:
    check_choice(sampling, ("auto", *SAMPLINGS), "sampling")
    few_enough = kernel.n_uniforms(d) <= _MOST_SOBOL_DIMENSIONS
    if sampling == "auto":
        prefers_quasi = d < _QUASI_BELOW or not kernel.isotropic
        return "orthogonal" if not prefers_quasi else "quasi" if few_enough else "iid"
    if sampling == "orthogonal" and not kernel.isotropic:
        raise ValueError(
            f"orthogonal frequencies need a kernel of the Euclidean distance, and {kernel.name} is "
            'not one; use sampling="iid" or "quasi"'
        )
    if sampling == "quasi" and not few_enough:
        raise ValueError(
            f"quasi-random frequencies reach {_MOST_SOBOL_DIMENSIONS} dimensions, got {d}; "
            'use sampling="orthogonal" or "iid"'
        )
    return sampling


def _draw(
    kernel: ShiftInvariant, n: int, d: int, sampling: str, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """n frequencies in d dimensions and the group of each.

    They have 11 significant bits, which float16 holds: a product on the tensor cores of a GPU is
    then exact, and every device has the same map. That moves a frequency by 2⁻¹² of itself at most.
    """
    W, groups = _draw_exactly(kernel, n, d, sampling, rng)
    mantissa, exponent = np.frexp(W)
    return np.ldexp(np.rint(mantissa * 2**11), exponent - 11), groups


def _draw_exactly(
    kernel: ShiftInvariant, n: int, d: int, sampling: str, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    if sampling == "iid":
        return kernel.sample_spectrum(n, d, rng), np.arange(n)
    if sampling == "quasi":
        from scipy.stats import qmc  # slow to import, and most lifts are exact

        sobol = qmc.Sobol(kernel.n_uniforms(d), scramble=True, rng=rng)
        U = sobol.random_base2((n - 1).bit_length())[:n]
        # A run of 2ⁱ points is itself well spread, so runs vary less than single points do, and
        # more than they cancel: careful, but by less than taking points for independent.
        run = 2 ** max((n // _RUNS_OF_SOBOL).bit_length() - 1, 0)
        return kernel.spectrum(U), np.arange(n) // run
    lengths = kernel.sample_lengths(n, d, rng)
    directions = np.concatenate(
        [_orthonormal_rows(min(d, n - start), d, rng) for start in range(0, n, d)]
    )
    return directions * lengths[:, None], np.arange(n) // d


def _orthonormal_rows(size: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Rows of a uniformly distributed orthogonal matrix."""
    with blas_threads_for(d * size):
        Q, R = np.linalg.qr(rng.standard_normal((d, size)))
    # Without the signs Q is not uniform: LAPACK fixes those of R's diagonal in its own way.
    return np.asarray((Q * np.sign(np.diag(R))).T)
