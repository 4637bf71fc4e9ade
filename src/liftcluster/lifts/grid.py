"""Deterministic Fourier features on a grid of frequencies, in one to three dimensions."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import namespace, send
from .._util.threads import map_in_order
from .._util.typing import Array, FloatArray, Points, Sparse
from .._util.validation import column_ranges
from ..kernels.kernel import kernel_from_state
from ..kernels.shift_invariant import Gaussian, Kernel
from ..partitions.stack import Rows
from ._native import warn_if_missing
from .base import FeatureLift, as_vectors, state_of_fields
from .native import (
    GRID,
    FeatureMap,
    can_use_kernels,
    fits_single_precision,
    map_features,
    map_labels,
    map_scores,
    map_sums,
)
from .trigonometric import QUARTER_TURNS, points_of_dimension
from .uncertainty import unit_rows

MAX_AXES = 3
_MAX_COMPONENTS = 2**17
_MAX_MULTIPLES = 512  # on one axis, as in lift.h
_NUFFT_FROM = {1: 10**9, 2: 4000, 3: 12000}  # components from which finufft is faster, by d
_NUFFT_CHUNK = 2**20  # points per pass
_NUFFT_ACCURACY = 1e-14  # the best that finufft reaches
_MARGIN = 0.1  # share of the range by which the box is extended on each side


class GridTooLarge(ValueError):
    """The range of the points, in bandwidths, needs too many frequencies."""


@dataclass(frozen=True, eq=False)
class GridLift(FeatureLift):
    r"""Features from the trapezoidal rule for the Fourier integral of a Gaussian kernel.

    With step h and N multiples of it on an axis, weights :math:`w_j \propto e^{-(σjh)^2/2}`,

    .. math:: e^{-x^2/2σ^2} ≈ \sum_{|j| ≤ N} w_j \cos(jhx)

    and features are all products over the axes of :math:`\sqrt{w_0}, \sqrt{2w_j}\cos(jhx),
    \sqrt{2w_j}\sin(jhx)`, so ρ = ∏(2N + 1). The kernel becomes periodic with period 2π/h and its
    spectrum is truncated; the error decreases exponentially with N.

    Attributes
    ----------
    kernel : Gaussian
    centre, half_range : (d,) arrays
        The box in which the error bound holds; points outside are an error.
    steps : (d,) array
        h on each axis, in units of 1/kernel.scale.
    counts : tuple of d ints
        N on each axis.
    error : float
        Bound on the error of kernel values, hence of inner products of mean embeddings.
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
        """(ρ,) square roots of the weights, in the order of the features."""
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
        points = points_of_dimension(X, len(self.centre))
        low, high = column_ranges(points)
        corners = self.centre - self.half_range, self.centre + self.half_range
        if (low < corners[0]).any() or (high > corners[1]).any():
            raise ValueError(
                "points lie outside the box that this grid lift was fitted to; fit it to all the "
                'points, or use lift="fourier"'
            )
        return points

    def features(self, X: Points) -> Array:
        """(n, ρ) features of points inside the box."""
        if (native := self._map_for(X)) is not None:
            return map_features(native, X) * self.roots.astype(self.dtype)
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
        large = self.n_components >= _NUFFT_FROM[len(self.centre)]
        if (large or not can_use_kernels(X)) and nufft() is not None:
            return _nufft_sums(self, X, R) * self.roots
        native = self._map_for(X)
        return None if native is None else map_sums(native, X, R) * self.roots

    def _scores(self, X: Points, V: Any) -> FloatArray:
        points, V = self.points(X), as_vectors(V, self.n_components)
        if (native := self._map_for(points)) is not None:
            return map_scores(native, points, V * self.roots)
        return super()._scores(points, V)

    def _assign(self, X: Points, V: Any) -> Any:
        points, V = self.points(X), as_vectors(V, self.n_components)
        if (native := self._map_for(points)) is not None:
            return map_labels(native, points, V * self.roots)
        return super()._assign(points, V)

    def _map_for(self, X: Any) -> FeatureMap | None:
        """The map for the compiled kernels, where they can be used for X."""
        usable = can_use_kernels(X) and fits_single_precision(self.kernel.scale)
        return self._native if usable else None

    @cached_property
    def _native(self) -> FeatureMap:
        return FeatureMap(
            GRID,
            self.centre,
            reach=math.inf,  # points() has checked the box
            double=self.dtype == np.float64,
            weights=(self.steps * (QUARTER_TURNS / self.kernel.scale)).astype(self.dtype),
            axes=self.counts,
        )

    def distance_bound(self, V: FloatArray, W: FloatArray) -> FloatArray:
        r"""(s, t) deterministic bounds on the error of distances between unit vectors.

        The first feature is constant, so it gives each cluster's weight, and with it the length ℓ
        of its mean embedding. The error of a cosine is at most
        :math:`δ = ε (1/ℓℓ' + 1/2ℓ^2 + 1/2ℓ'^2)`, that of a distance D at most min(δ/D, √(2δ)).
        """
        a, b = (np.abs(Z[:, 0] / self.roots[0]) / np.linalg.norm(Z, axis=1) for Z in (V, W))
        cosine = self.error * (np.outer(a, b) + np.add.outer(a**2, b**2) / 2)
        D = cdist(unit_rows(V), unit_rows(W))
        small = np.sqrt(2 * cosine)
        return np.asarray(np.minimum(small, cosine / np.maximum(D, small / 2)))

    def describe(self) -> str:
        return f"grid of frequencies, ρ = {self.n_components}, kernel error below {self.error:.1g}"

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return state_of_fields(self)

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
            1 <= len(counts) <= MAX_AXES
            and all(0 <= N <= _MAX_MULTIPLES for N in counts)
            and lift.centre.shape == lift.half_range.shape == lift.steps.shape == shape
        ):
            raise ValueError("the arrays of the grid lift have inconsistent shapes")
        return lift


def fit_grid_lift(
    kernel: Kernel,
    box: Any,
    *,
    eps: float = 1e-6,
    most: int = _MAX_COMPONENTS,
    dtype: Any = np.float64,
) -> GridLift:
    """The grid lift for points between the corners of a box, with kernel errors below ``eps``."""
    assert isinstance(kernel, Gaussian)  # checked with the settings
    low, high = (np.asarray(corner, dtype=np.float64) for corner in box)
    d = len(low)
    if d > MAX_AXES:
        raise ValueError(
            f'a grid has at most {MAX_AXES} axes, got {d} features; use lift="fourier"'
        )
    with np.errstate(over="ignore"):  # an infinite range is too large too
        half_range = (high / 2 - low / 2) * (1 + 2 * _MARGIN)
        bandwidths_across = np.max(2 * half_range) / min(kernel.bandwidths)
    steps, counts = _steps_and_counts(kernel, 2 * half_range, eps / d)
    if max(counts) > _MAX_MULTIPLES or _size(counts) > most:
        raise GridTooLarge(
            f"points that range over {bandwidths_across:.3g} bandwidths need more than {most} "
            f"frequencies on a grid for an error of {eps:.0e}; "
            'use a larger bandwidth or lift="fourier"'
        )
    axes = zip(2 * half_range, steps, counts, strict=True)
    error = sum(_axis_error(kernel, width, h, N) for width, h, N in axes)
    rounding = float(np.finfo(dtype).eps)  # of cosines and of coordinates
    error += rounding * (8 + float(np.sum(half_range)) / min(kernel.bandwidths))
    return GridLift(kernel, low / 2 + high / 2, half_range, steps, counts, error, dtype)


def finest_grid_lift(kernel: Kernel, box: Any, most: int) -> GridLift:
    """The most accurate grid lift with at most ``most`` components."""
    for exponent in np.arange(-14, -0.5, 0.25):
        with suppress(GridTooLarge):
            return fit_grid_lift(kernel, box, eps=10**exponent, most=most)
    return fit_grid_lift(kernel, box, eps=10**-0.5, most=most)  # raises GridTooLarge


def _steps_and_counts(
    kernel: Gaussian, ranges: FloatArray, eps: float
) -> tuple[FloatArray, tuple[int, ...]]:
    """Step (in units of 1/scale) and number of multiples on each axis, for an error of eps each.

    Periodic copies of the widest kernel are at least c of its bandwidths away, and the spectrum of
    the narrowest is truncated at c of its standard deviations.
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
    l ≠ 0 are at most :math:`2 \sum_{l≥1} κ(2πl/h − R)`; multiples beyond N are left out. If both
    errors sum to e, the error with weights scaled to sum to one is at most 2e/(1 − e).
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


@cache
def nufft() -> ModuleType | None:
    """finufft, if the extra is installed."""
    try:
        return import_module("finufft")
    except ImportError:
        return None


def _nufft_sums(lift: GridLift, X: Array, R: Rows) -> FloatArray:
    """Sums of the features without their weights, by non-uniform fast Fourier transforms.

    In double precision: in single precision the error of the transform is several 10⁻⁶.
    """
    n, s = R.shape
    counts, accuracy = lift.counts, max(lift.error / 100, _NUFFT_ACCURACY)
    total = np.zeros((s, lift.n_components))
    for start in range(0, n, _NUFFT_CHUNK):
        rows = slice(start, min(start + _NUFFT_CHUNK, n))
        U = (np.asarray(X[rows], dtype=np.float64) - lift.centre) / lift.kernel.scale
        theta, columns = U * lift.steps, R.rows(rows).tocsc()  # angles are within ±π

        def transform(cluster: int, theta: Array = theta, columns: Sparse = columns) -> Any:
            inside = slice(columns.indptr[cluster], columns.indptr[cluster + 1])
            chosen, shares = columns.indices[inside], columns.data[inside]
            if not len(chosen):
                return 0.0
            return _products(_modes(theta[chosen], shares, counts, accuracy), counts)

        for cluster, sums in enumerate(map_in_order(transform, range(s))):
            total[cluster] += sums
    return total


def _modes(theta: Array, shares: FloatArray, counts: tuple[int, ...], accuracy: float) -> Array:
    """Σ share · exp(i k·θ) for |k| ≤ N on each axis."""
    transform = getattr(nufft(), f"nufft{len(counts)}d1")
    # One thread per transform: clusters run in parallel, and more would change the last bits.
    return np.asarray(
        transform(
            *(np.ascontiguousarray(axis) for axis in theta.T),
            shares.astype(np.complex128),
            tuple(2 * N + 1 for N in counts),
            eps=accuracy,
            isign=1,
            nthreads=1,
        )
    )


def _products(modes: Array, counts: tuple[int, ...]) -> FloatArray:
    """Cosines and sines from exponentials, axis by axis."""
    for axis, N in enumerate(counts):
        f = np.moveaxis(modes, axis, 0)
        plus, minus = f[N + 1 :], f[:N][::-1]
        parts = [f[N : N + 1], (plus + minus) / 2, (plus - minus) / 2j]
        modes = np.moveaxis(np.concatenate(parts), 0, axis)
    return np.asarray(modes.real).ravel()
