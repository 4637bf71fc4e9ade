"""Shift-invariant kernels: their values and their spectra.

A shift-invariant kernel is the characteristic function of a probability law on frequencies
(Bochner), κ(x − y) = E cos(ω·(x − y)). Each kernel here defines both: its value, and how uniform
random numbers become draws from that law in any dimension.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from .._util.arrays import namespace
from .._util.checks import check_positive
from .._util.typing import FloatArray, Points
from .._util.validation import as_points, check_same_length
from .distances import pairwise_distances

_SMALLEST_NU, _LARGEST_NU = 0.1, 100.0  # between which a Matérn kernel is accurate to nine digits
_WIDE_RANGE = 30.0  # ratio of bandwidths from which rounding of large distances matters


class Kernel(ABC):
    """A positive definite function of two points; ``K(X, Y)`` is the (n, m) matrix of values."""

    name: ClassVar[str] = "kernel"

    @abstractmethod
    def __call__(self, X: Points, Y: Points) -> FloatArray:
        """Similarities of every point of X with every point of Y."""

    def diagonal(self, X: Points) -> FloatArray:
        """κ(x, x) of each point."""
        step = 64  # small, because only the diagonal of each block is used
        blocks = (X[i : i + step] for i in range(0, len(X), step))
        return np.concatenate([np.diag(self(block, block)) for block in blocks])

    def state(self) -> dict[str, Any]:
        """The kernel as values that JSON can hold."""
        raise ValueError(
            f"a {self.name} kernel cannot be stored; save the representation with with_lift=False"
        )

    def points(self, X: Points, n: int | None = None) -> Points:
        """Points in the form this kernel works on, validated; n is the expected number."""
        points = as_points(X, device=self.on_devices)
        check_same_length(n, points.shape[0], "the partition", "X")
        return points

    @property
    def on_devices(self) -> bool:
        """Whether the kernel can be computed by any array library, on its device."""
        return False


@dataclass(frozen=True)
class ShiftInvariant(Kernel):
    """κ(x, y) = g((x − y)/bandwidth) with g(0) = 1, or a mixture over several bandwidths.

    Parameters
    ----------
    bandwidth : float, sequence of floats, or None
        Scale at which two points count as near. Several give the kernel
        Σᵢ αᵢ g((x − y)/bandwidthᵢ). None leaves it to the bandwidth rule of the caller.
    weights : sequence of floats, optional
        The αᵢ, scaled to sum to one; equal by default.
    """

    bandwidth: float | Sequence[float] | None = None
    weights: Sequence[float] | None = None

    metric: ClassVar[str] = "euclidean"  # in which bandwidths are measured
    power: ClassVar[int] = 1  # profile() takes distance ** power
    isotropic: ClassVar[bool] = True  # depends on the Euclidean distance alone
    extra_uniforms: ClassVar[int] = 0  # random numbers of the spectral law beyond one per axis

    def __post_init__(self) -> None:
        if self.bandwidth is None:
            if self.weights is not None:
                raise ValueError("weights belong to several bandwidths; give those too")
            return
        several = np.ndim(self.bandwidth) > 0
        given: Any = self.bandwidth if several else [self.bandwidth]
        scales = tuple(check_positive(h, "bandwidth") for h in given)
        if not scales:
            raise ValueError("bandwidth is an empty sequence; give at least one number")
        shares = [1.0] * len(scales) if self.weights is None else self.weights
        weights = tuple(check_positive(a, "weights of bandwidths") for a in shares)
        if len(weights) != len(scales):
            raise ValueError(f"{len(scales)} bandwidths need as many weights, got {len(weights)}")
        object.__setattr__(self, "bandwidth", scales if several else scales[0])
        object.__setattr__(self, "weights", tuple(a / sum(weights) for a in weights))

    @property
    def bandwidths(self) -> tuple[float, ...]:
        if self.bandwidth is None:
            raise ValueError(
                f"this {type(self).__name__} kernel has no bandwidth yet; give it one, for example "
                f"{type(self).__name__}(bandwidth=liftcluster.bandwidth(X))"
            )
        return self.bandwidth if isinstance(self.bandwidth, tuple) else (self.bandwidth,)

    @property
    def scale(self) -> float:
        """The unit in which points are measured: the largest bandwidth."""
        return max(self.bandwidths)

    def __call__(self, X: Points, Y: Points) -> FloatArray:
        if np.shape(X)[1:] != np.shape(Y)[1:]:
            raise ValueError(
                f"the two sets of points have {np.shape(X)[1:]} and {np.shape(Y)[1:]} features; "
                "a kernel compares points of one space"
            )
        return self.of_distances(self.distances(X, Y, [self]), self.scale)

    def distances(self, X: Points, Y: Points, kernels: Sequence[ShiftInvariant]) -> FloatArray:
        """Distances to the power ``power``, in units of the widest of several kernels."""
        scales = [h for kernel in kernels for h in kernel.bandwidths]
        wide = max(scales) > _WIDE_RANGE * min(scales)
        return pairwise_distances(
            X, Y, self.metric, scale=max(scales), power=self.power, by_differences=wide
        )

    def of_distances(self, D: FloatArray, unit: float) -> FloatArray:
        """κ from distances to the power ``power``, measured in some unit of length."""
        if self.bandwidths == (unit,):
            return self.profile(D)
        xp = namespace(D)
        values: Any = 0.0
        for alpha, h in zip(self.weights or (1.0,), self.bandwidths, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):  # g(∞) = 0
                factor = float(np.float64(unit / h) ** self.power)
                scaled = D * factor
            if math.isinf(factor):
                scaled = xp.where(D == 0, xp.zeros_like(D), scaled)
            values = values + alpha * self.profile(scaled)
        return values

    @property
    def on_devices(self) -> bool:
        return True

    def diagonal(self, X: Points) -> FloatArray:
        return np.ones(len(X))

    @abstractmethod
    def profile(self, distance: FloatArray) -> FloatArray:
        """g as a function of the scaled distance to the power ``power``."""

    @abstractmethod
    def unit_spectrum(self, U: FloatArray) -> FloatArray:
        """Frequencies of the unit-bandwidth kernel from (M, d + extra_uniforms) uniforms."""

    def n_uniforms(self, d: int) -> int:
        """Number of uniforms that one frequency takes in d dimensions."""
        return d + self.extra_uniforms + (len(self.bandwidths) > 1)

    def spectrum(self, U: FloatArray) -> FloatArray:
        """Frequencies, in units of 1/``scale``, from (M, n_uniforms(d)) uniforms in (0, 1).

        The map sends independent uniforms to draws from the multivariate spectral law, and a
        low-discrepancy set to a quasi-random one.
        """
        U = np.clip(U, 2.0**-53, 1 - 2.0**-53)
        if len(self.bandwidths) == 1:
            return self.unit_spectrum(U)
        edges = np.cumsum(self.weights or ())[:-1]
        component = np.searchsorted(edges, U[:, -1], side="right")
        factors = self.scale / np.asarray(self.bandwidths)
        return self.unit_spectrum(U[:, :-1]) * factors[component, None]

    def sample_spectrum(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """n independent frequencies, in units of 1/``scale``."""
        return self.spectrum(rng.random((n, self.n_uniforms(d))))

    def sample_lengths(self, n: int, d: int, rng: np.random.Generator) -> FloatArray:
        """Lengths of n independent frequencies in d dimensions, without drawing their directions.

        A kernel that depends on the Euclidean distance alone in every dimension is a mixture of
        Gaussians (Schoenberg), so each frequency is a normal vector times a random factor. That
        factor is the frequency on one axis whose normal number is one.
        """
        if not self.isotropic:
            return np.linalg.norm(self.sample_spectrum(n, d, rng), axis=1)
        U = rng.random((n, self.n_uniforms(1)))
        U[:, 0] = special.ndtr(1.0)
        return np.sqrt(rng.chisquare(d, n)) * self.spectrum(U)[:, 0]

    def with_bandwidth(self, bandwidth: float | Sequence[float]) -> ShiftInvariant:
        return type(self)(bandwidth=bandwidth)

    def state(self) -> dict[str, Any]:
        several = isinstance(self.bandwidth, tuple)
        return {
            "kernel": self.name,
            "bandwidth": list(self.bandwidths) if several else self.bandwidth,
            "weights": list(self.weights or ()) if several else None,
        }


class Gaussian(ShiftInvariant):
    """Gaussian kernel, κ(x, y) = exp(−‖x − y‖² / (2 bandwidth²)).

    Its random frequencies are normal.

    Parameters
    ----------
    bandwidth : float or sequence of floats, optional
        The distance at which two points count as near; several give a mixture of kernels. By
        default the function that gets the kernel computes it from the points.
    weights : sequence of floats, optional
        Shares of several bandwidths in the mixture, scaled to sum to one; equal by default.

    See Also
    --------
    Laplace, Cauchy, Matern, bandwidth

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.Gaussian(1.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(6)  # exp(-25/2)
    array([[4.e-06]])
    >>> lc.Gaussian([1.0, 5.0])([[0.0, 0.0]], [[3.0, 4.0]]).round(4)  # the mean of two kernels
    array([[0.3033]])
    """

    name: ClassVar[str] = "gaussian"
    power: ClassVar[int] = 2

    def profile(self, distance: FloatArray) -> FloatArray:
        return namespace(distance).exp(distance * -0.5)

    def unit_spectrum(self, U: FloatArray) -> FloatArray:
        return np.asarray(special.ndtri(U))


class Laplace(ShiftInvariant):
    """Laplace kernel, κ(x, y) = exp(−‖x − y‖₁ / bandwidth), as scikit-learn's.

    Its random frequencies are Cauchy on each axis. A product over the axes, so not invariant under
    rotations: for exp(−‖x − y‖₂ / bandwidth) use ``Matern(nu=0.5)``. Bandwidth rules use the L1
    distance.

    Parameters
    ----------
    bandwidth : float or sequence of floats, optional
        The distance at which two points count as near; several give a mixture of kernels. By
        default the function that gets the kernel computes it from the points.
    weights : sequence of floats, optional
        Shares of several bandwidths in the mixture, scaled to sum to one; equal by default.

    See Also
    --------
    Gaussian, Cauchy, Matern, bandwidth

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.Laplace(7.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)  # exp(-1)
    array([[0.3679]])
    """

    name: ClassVar[str] = "laplace"
    metric: ClassVar[str] = "cityblock"
    isotropic: ClassVar[bool] = False

    def profile(self, distance: FloatArray) -> FloatArray:
        return namespace(distance).exp(-distance)

    def unit_spectrum(self, U: FloatArray) -> FloatArray:
        return np.tan(np.pi * (U - 0.5))


class Cauchy(ShiftInvariant):
    """Cauchy kernel, κ(x, y) = 1 / (1 + ‖x − y‖² / bandwidth²).

    Its heavy tails give weight to far points. A Gaussian kernel whose precision is exponentially
    distributed, hence random frequencies √(2E)·N(0, I) with E exponential.

    Parameters
    ----------
    bandwidth : float or sequence of floats, optional
        The distance at which two points count as near; several give a mixture of kernels. By
        default the function that gets the kernel computes it from the points.
    weights : sequence of floats, optional
        Shares of several bandwidths in the mixture, scaled to sum to one; equal by default.

    See Also
    --------
    Gaussian, Laplace, Matern, bandwidth

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.Cauchy(5.0)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[0.5]])
    """

    name: ClassVar[str] = "cauchy"
    power: ClassVar[int] = 2
    extra_uniforms: ClassVar[int] = 1

    def profile(self, distance: FloatArray) -> FloatArray:
        return 1 / (1 + distance)

    def unit_spectrum(self, U: FloatArray) -> FloatArray:
        exponential = -np.log1p(-U[:, -1:])
        return np.asarray(special.ndtri(U[:, :-1])) * np.sqrt(2 * exponential)


@dataclass(frozen=True)
class Matern(ShiftInvariant):
    r"""Matérn kernel of smoothness ν, isotropic in any dimension.

    .. math:: κ(r) = \frac{2^{1-ν}}{Γ(ν)} (\sqrt{2ν}\, r)^ν K_ν(\sqrt{2ν}\, r),
              \qquad r = \lVert x - y \rVert / \text{bandwidth}

    Frequencies follow the *multivariate* t law with 2ν degrees of freedom: one χ² for all axes.
    ν = ½ is exp(−r); ν → ∞ is the Gaussian.

    Parameters
    ----------
    nu : float, default 1.5
        Smoothness ν, from 0.1 to 100. ½, 1.5 and 2.5 are fastest.
    bandwidth : float or sequence of floats, optional
        The distance at which two points count as near; several give a mixture of kernels. By
        default the function that gets the kernel computes it from the points.
    weights : sequence of floats, optional
        Shares of several bandwidths in the mixture, scaled to sum to one; equal by default.

    See Also
    --------
    Gaussian, Laplace, Cauchy, bandwidth

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.Matern(0.5, 5.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)  # exp(-1)
    array([[0.3679]])
    """

    nu: float = 1.5

    name: ClassVar[str] = "matern"
    extra_uniforms: ClassVar[int] = 1

    def __init__(
        self,
        nu: float = 1.5,
        bandwidth: float | Sequence[float] | None = None,
        weights: Sequence[float] | None = None,
    ) -> None:
        if not _SMALLEST_NU <= check_positive(nu, "nu") <= _LARGEST_NU:
            raise ValueError(
                f"nu must lie in [{_SMALLEST_NU}, {_LARGEST_NU}], got {nu}; beyond, use the "
                "Gaussian kernel, the limit for large nu"
            )
        object.__setattr__(self, "nu", float(nu))
        super().__init__(bandwidth, weights)

    def profile(self, distance: FloatArray) -> FloatArray:
        xp = namespace(distance)
        # κ is zero from there on, and ∞ · 0 is avoided.
        z = xp.clip(math.sqrt(2 * self.nu) * distance, max=1e3)
        if self.nu == 0.5:
            return xp.exp(-z)
        if self.nu == 1.5:
            return (1 + z) * xp.exp(-z)
        if self.nu == 2.5:
            return (1 + z + z**2 / 3) * xp.exp(-z)
        # kve = K exp(z) does not underflow where z is large.
        inside = np.maximum(z, 1e-100 if self.nu < 1 else 1e-8)
        log_factor = (1 - self.nu) * math.log(2) - special.gammaln(self.nu)
        log_bessel = np.log(special.kve(self.nu, inside)) - inside
        values = np.exp(np.minimum(log_factor + self.nu * np.log(inside) + log_bessel, 0.0))
        if self.nu > 2:  # where K overflows, two terms of the series in z suffice
            values = np.where(np.isfinite(log_bessel), values, 1 - z**2 / (4 * (self.nu - 1)))
        return np.where(z == 0, 1.0, values)

    @property
    def on_devices(self) -> bool:
        return self.nu in (0.5, 1.5, 2.5)

    def unit_spectrum(self, U: FloatArray) -> FloatArray:
        chi2 = special.chdtri(2 * self.nu, 1 - U[:, -1:])
        return np.asarray(special.ndtri(U[:, :-1])) * np.sqrt(2 * self.nu / chi2)

    def with_bandwidth(self, bandwidth: float | Sequence[float]) -> Matern:
        return Matern(self.nu, bandwidth)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "nu": self.nu}
