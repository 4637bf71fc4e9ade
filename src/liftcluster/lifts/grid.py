"""Grid features: in one to three dimensions frequencies need not be random at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import namespace, send
from .._util.typing import Array, FloatArray, Points
from .._util.validation import as_points, column_ranges
from ..kernels.kernel import Gaussian, Kernel, kernel_from_state
from ..partitions.stack import Rows
from ._native import warn_if_missing
from .base import FeatureLift, as_vectors
from .engine import GRID, FeatureMap, map_features, map_labels, map_scores, map_sums, ready
from .nufft import nufft, nufft_sums
from .trigonometric import QUARTER_TURNS, USUAL_SCALES
from .uncertainty import unit_rows

__all__ = ["MOST_AXES", "GridLift", "GridTooLarge", "finest_grid_lift", "fit_grid_lift"]

MOST_AXES = 3
MOST_GRID_COMPONENTS = 2**17
_MOST_MULTIPLES = 512  # on one axis; the kernels in C have room for as many
_TRANSFORM_FROM = {1: 10**9, 2: 4000, 3: 12000}  # components: finufft is quicker, where installed
_MARGIN = 0.1  # of the range, within which points beyond the box are still welcome


class GridTooLarge(ValueError):
    """The range of the points, in bandwidths, asks for too many frequencies."""


@dataclass(frozen=True, eq=False)
class GridLift(FeatureLift):
    r"""A Gaussian kernel's Fourier integral by the trapezoid rule, axis by axis.

    With step h and N multiples of it on an axis, weights :math:`w_j \propto e^{-(σjh)^2/2}`,

    .. math:: e^{-x^2/2σ^2} ≈ \sum_{|j| ≤ N} w_j \cos(jhx)

    and features are all products over the axes of :math:`\sqrt{w_0}, \sqrt{2w_j}\cos(jhx),
    \sqrt{2w_j}\sin(jhx)`, so ρ = ∏(2N + 1). The trapezoid rule repeats the kernel every 2π/h; what
    that and leaving out higher frequencies amounts to is at most ``error`` for any two points of
    the box, and falls exponentially with N. Several bandwidths make a weighted mean of kernels.

    Attributes
    ----------
    kernel : Gaussian
    centre, half_range : (d,) arrays
        The box in which the error holds; points beyond it are refused.
    steps : (d,) array
        h of each axis, in units of 1/kernel.scale.
    counts : tuple of d ints
        N of each axis.
    error : float
        Largest error of a kernel value, so of an inner product of mean embeddings as well.
    """

    kernel: Gaussian
    centre: FloatArray
    half_range: FloatArray
    steps: FloatArray
    counts: tuple[int, ...]
    error: float
    dtype: Any = np.float64

    kind: ClassVar[str] = "grid"
    spreads_over_threads: ClassVar[bool] = True

    @property
    def n_components(self) -> int:
        return _size(self.counts)

    @cached_property
    def roots(self) -> FloatArray:
        """(ρ,) square roots of the weights, as the features are ordered."""
        weights = np.zeros(self.n_components)
        shares = self.kernel.weights or (1.0,)
        for alpha, bandwidth in zip(shares, self.kernel.bandwidths, strict=True):
            product = np.ones(1)
            for h, N in zip(self.steps, self.counts, strict=True):
                one_axis = _axis_weights(h * bandwidth / self.kernel.scale, N)
                product = np.outer(product, one_axis).ravel()
            weights += alpha * product
        return np.sqrt(weights)

    def points(self, X: Points) -> Array:
        points = as_points(X, device=True)
        d = len(self.centre)
        if points.shape[1] != d:
            raise ValueError(
                f"points have {points.shape[1]} features, but this lift was made for {d}"
            )
        low, high = column_ranges(points)
        corners = self.centre - self.half_range, self.centre + self.half_range
        if (low < corners[0]).any() or (high > corners[1]).any():
            raise ValueError(
                "points lie outside the box that this grid lift was made for, where it is wrong; "
                'make it from all the points, or use lift="fourier"'
            )
        return points

    def features(self, X: Points) -> Array:
        """(n, ρ) features of points inside the box."""
        if ready(X) and self._native is not None:
            return map_features(self._native, X) * self.roots.astype(self.dtype)
        if isinstance(X, np.ndarray):
            warn_if_missing(len(X) * self.n_components)
        xp, n = namespace(X), X.shape[0]
        precision = xp.float32 if self.dtype == np.float32 else xp.float64
        U = (xp.astype(X, xp.float64) - send(self.centre, X)) / self.kernel.scale
        Z = xp.ones((n, 1), dtype=precision, device=X.device)
        for axis, (h, N) in enumerate(zip(self.steps, self.counts, strict=True)):
            multiples = send(h * np.arange(1, N + 1), X)
            T = xp.astype(U[:, axis][:, None] * multiples[None, :], precision)
            one_axis = xp.concat([xp.ones_like(Z[:, :1]), xp.cos(T), xp.sin(T)], axis=1)
            Z = xp.reshape(Z[:, :, None] * one_axis[:, None, :], (n, -1))
        return Z * send(self.roots, X, precision)

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        large = self.n_components >= _TRANSFORM_FROM[len(self.centre)]
        if (large or not ready(X)) and nufft() is not None:
            return nufft_sums(self._angles, X, R, self.counts, self.error / 100) * self.roots
        if not ready(X) or self._native is None:
            return None
        return map_sums(self._native, X, R) * self.roots

    def _angles(self, X: Array) -> Array:
        """θ of points on each axis, within ±π."""
        U = (np.asarray(X, dtype=np.float64) - self.centre) / self.kernel.scale
        return np.asarray(U * self.steps)

    def scores(self, X: Points, V: Any) -> FloatArray:
        points, V = self.points(X), as_vectors(V, self.n_components)
        if ready(points) and self._native is not None:
            return map_scores(self._native, points, V * self.roots)
        return super().scores(points, V)

    def assign(self, X: Points, V: Any) -> Any:
        points, V = self.points(X), as_vectors(V, self.n_components)
        if ready(points) and self._native is not None:
            return map_labels(self._native, points, V * self.roots)
        return super().assign(points, V)

    @cached_property
    def _native(self) -> FeatureMap | None:
        smallest, largest = USUAL_SCALES
        if not smallest < self.kernel.scale < largest:
            return None
        return FeatureMap(
            GRID,
            self.centre,
            reach=math.inf,  # points() has looked at the box
            double=self.dtype == np.float64,
            weights=(self.steps * (QUARTER_TURNS / self.kernel.scale)).astype(self.dtype),
            axes=self.counts,
        )

    def distance_bound(self, V: FloatArray, W: FloatArray) -> FloatArray:
        r"""(s, t) sure bounds on the error of distances between unit vectors along sums V and W.

        The first feature is constant, so it tells each cluster's weight, and with it the length ℓ
        of its mean embedding. A cosine errs by at most
        :math:`δ = ε (1/ℓℓ' + 1/2ℓ^2 + 1/2ℓ'^2)`, a distance D by min(δ/D, √(2δ)).
        """
        a, b = (1 / self._mean_lengths(Z) for Z in (V, W))
        cosine = self.error * (np.outer(a, b) + np.add.outer(a**2, b**2) / 2)
        D = cdist(unit_rows(V), unit_rows(W))
        small = np.sqrt(2 * cosine)
        return np.asarray(np.minimum(small, cosine / np.maximum(D, small / 2)))

    def _mean_lengths(self, V: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(V, axis=1) / np.abs(V[:, 0] / self.roots[0]))

    def describe(self) -> str:
        return f"grid of frequencies, ρ = {self.n_components}, kernel error below {self.error:.1g}"

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        values = {
            "kernel": self.kernel.state(),
            "counts": list(self.counts),
            "error": self.error,
            "dtype": np.dtype(self.dtype).name,
        }
        arrays = {"centre": self.centre, "half_range": self.half_range, "steps": self.steps}
        return values, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> GridLift:
        kernel = kernel_from_state(values["kernel"])
        if not isinstance(kernel, Gaussian):
            raise ValueError(f"a grid lift cannot have the kernel {kernel.name}")
        counts = tuple(int(N) for N in values["counts"])
        dtype = {"float32": np.float32, "float64": np.float64}[values["dtype"]]
        lift = cls(kernel, counts=counts, error=float(values["error"]), dtype=dtype, **arrays)
        shape = (len(counts),)
        if not (
            1 <= len(counts) <= MOST_AXES
            and all(0 <= N <= _MOST_MULTIPLES for N in counts)
            and lift.centre.shape == lift.half_range.shape == lift.steps.shape == shape
        ):
            raise ValueError("the parts of the grid lift do not fit together")
        return lift


def fit_grid_lift(
    kernel: Kernel,
    box: tuple[Any, Any],
    *,
    eps: float = 1e-6,
    most: int = MOST_GRID_COMPONENTS,
    dtype: Any = np.float64,
) -> GridLift:
    """The grid for points between the corners of a box, with kernel values right to ``eps``."""
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"a grid of frequencies needs the Gaussian kernel, not {kernel.name}; "
            'use lift="fourier"'
        )
    low, high = (np.asarray(corner, dtype=np.float64) for corner in box)
    d = len(low)
    if d > MOST_AXES:
        raise ValueError(
            f'a grid has at most {MOST_AXES} axes, got {d} features; use lift="fourier"'
        )
    with np.errstate(over="ignore"):  # an infinite range is too large as well
        half_range = (high / 2 - low / 2) * (1 + 2 * _MARGIN)
        bandwidths_across = np.max(2 * half_range) / min(kernel.bandwidths)
    steps, counts = _steps_and_counts(kernel, 2 * half_range, eps / d)
    if max(counts) > _MOST_MULTIPLES or _size(counts) > most:
        raise GridTooLarge(
            f"points that range over {bandwidths_across:.3g} bandwidths need more than {most} "
            f"frequencies on a grid for an error of {eps:.0e}; "
            'use a larger bandwidth or lift="fourier"'
        )
    axes = zip(2 * half_range, steps, counts, strict=True)
    error = sum(_axis_error(kernel, width, h, N) for width, h, N in axes)
    error += _rounding(kernel, half_range, dtype)
    return GridLift(kernel, low / 2 + high / 2, half_range, steps, counts, error, dtype)


def _rounding(kernel: Gaussian, half_range: FloatArray, dtype: Any) -> float:
    """What the rounding of cosines and of the points' places may add to the error."""
    eps = float(np.finfo(dtype).eps)
    return 8 * eps + eps * float(np.sum(half_range)) / min(kernel.bandwidths)


def finest_grid_lift(
    kernel: Kernel, box: tuple[Any, Any], most: int, dtype: Any = np.float64
) -> GridLift:
    """The most precise grid that has no more than ``most`` components."""
    for exponent in np.arange(-14, -0.5, 0.25):
        try:
            return fit_grid_lift(kernel, box, eps=10**exponent, most=most, dtype=dtype)
        except GridTooLarge:
            continue
    return fit_grid_lift(kernel, box, eps=10**-0.5, most=most)  # says that it is too large


def _steps_and_counts(
    kernel: Gaussian, ranges: FloatArray, eps: float
) -> tuple[FloatArray, tuple[int, ...]]:
    """Step (in units of 1/scale) and number of multiples for each axis, for an error of eps on it.

    Repetitions of the widest kernel stay away by c of its bandwidths, and the narrowest loses
    what is c beyond the middle of its spectrum.
    """
    c = math.sqrt(2 * math.log(8 / eps))
    with np.errstate(over="ignore", divide="ignore"):
        steps = 2 * math.pi / (ranges / kernel.scale + c)
        highest = c * kernel.scale / min(kernel.bandwidths)
        return steps, tuple(int(min(np.ceil(highest / h), 2.0**30)) for h in steps)


def _size(counts: tuple[int, ...]) -> int:
    return math.prod(2 * N + 1 for N in counts)


def _axis_weights(h: float, N: int) -> FloatArray:
    """Weights of 1, cos, …, sin, … on one axis, for a step in units of 1/bandwidth."""
    w = np.exp(-((h * np.arange(N + 1)) ** 2) / 2)
    w[1:] *= 2
    w /= w.sum()
    return np.concatenate([w, w[1:]])


def _axis_error(kernel: Gaussian, width: float, h: float, N: int) -> float:
    r"""Bound on the error on one axis, for differences up to the width of the box.

    By Poisson's formula the sum over all multiples is :math:`\sum_l κ(x + 2πl/h)`, whose terms
    l ≠ 0 are at most :math:`2 \sum_{l≥1} κ(2πl/h − R)`; those beyond N are left out. If both make
    an error of e, scaling the weights to sum to one makes it at most 2e/(1 − e).
    """
    worst = 0.0
    for bandwidth in kernel.bandwidths:
        step, R = h * bandwidth / kernel.scale, width / bandwidth
        repetition = 2 * math.pi * np.arange(1, 20) / step - R
        multiple = step * np.arange(N + 1, 4 * N + 200)
        repeated = 2 * np.exp(-(repetition**2) / 2).sum()
        left_out = 2 * step / math.sqrt(2 * math.pi) * np.exp(-(multiple**2) / 2).sum()
        e = float(repeated + left_out)
        worst = max(worst, 2 * e / (1 - e) if e < 1 else math.inf)
    return worst
