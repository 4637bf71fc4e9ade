"""Sums, scores and features by the compiled kernels, in parallel over runs of points."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._util.arrays import is_constant
from .._util.threads import map_in_order, runs
from .._util.typing import Array, FloatArray, IntArray
from ..kernels.distances import FEW_FEATURES, LARGEST_SQUARE_FOR_GEMM
from ..partitions.stack import MatrixRows, Rows
from ._gpu.device import row_units
from ._native import kernels

DENSE, STRUCTURED, GIVEN, GRID, PRODUCTS, DIFFERENCES, EXPONENTS, VALUES = range(8)

# Phases in quarter turns up to which range reduction is exact, in float and double precision.
LARGEST_PHASE = {False: 2.0**20, True: 2.0**45}
_PROJECT_UP_TO = 64  # dimensions up to which the kernels compute phases; beyond, BLAS is faster
_PROJECTED_ROWS = 512  # per block of phases computed by BLAS
_FAR = 1e6  # bandwidths from the centre, beyond which NumPy computes similarities
_NATIVE_TYPES = (np.float32, np.float64, np.uint8)


class OutOfReach(Exception):
    """A point is not finite, or too far from the centre for accurate phases."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A map from points to features for the compiled kernels (see lift.h)."""

    kind: int
    centre: FloatArray
    reach: float  # largest distance of a point from the centre
    double: bool
    n_phases: int = 0
    weights: Array | None = None  # DENSE: (d, n_phases) in quarter turns; GRID: (d,) steps;
    # PRODUCTS: (d + 2, n_phases); DIFFERENCES: (d, n_phases)
    padded: int = 0
    signs: Array | None = None  # STRUCTURED: (blocks, 3, padded) of 0 and 1
    lengths: Array | None = None  # PRODUCTS, DIFFERENCES: (1,) factor of the exponents
    axes: tuple[int, ...] = ()

    @property
    def dtype(self) -> Any:
        return np.float64 if self.double else np.float32

    @property
    def n_features(self) -> int:
        if self.kind == GRID:
            return math.prod(2 * n + 1 for n in self.axes)
        return 2 * self.n_phases if self.kind < GRID else self.n_phases

    @property
    def by_blas(self) -> bool:
        return self.kind in (DENSE, PRODUCTS) and len(self.centre) > _PROJECT_UP_TO

    def _arguments(self) -> tuple[Any, ...]:
        """The map as the tuple that module.c parses."""
        if self.by_blas:
            given, reach = GIVEN, LARGEST_PHASE[self.double]
            if self.kind == PRODUCTS:
                given, reach = EXPONENTS, math.inf
            return (given, self.n_phases, 0, np.zeros(self.n_phases), *[None] * 4, reach)
        return (
            self.kind,
            self.n_phases,
            self.padded,
            self.centre,
            self.weights,
            self.signs,
            self.lengths,
            self.axes,
            self.reach,
        )

    def blocks(self, rows: slice) -> list[slice]:
        """Blocks of rows that are passed to the kernels together."""
        step = _PROJECTED_ROWS if self.by_blas else max(rows.stop - rows.start, 1)
        starts = range(rows.start, rows.stop, step)
        return [slice(start, min(start + step, rows.stop)) for start in starts]

    def call(self, kernel: str, X: Array, *others: Any) -> None:
        """Run a compiled kernel for these points; its last argument receives the result."""
        block = self._prepare(X)
        run = getattr(kernels(), kernel)
        if run(self.double, self._arguments(), block, 0, len(block), *others) >= 0:
            raise OutOfReach

    def _prepare(self, X: Array) -> Array:
        """Points in a dtype that the kernels accept, or their phases or exponents by BLAS."""
        if self.weights is None or not self.by_blas:
            native = X.dtype in _NATIVE_TYPES and X.flags.aligned and X.dtype.isnative
            return X if native else X.astype(np.float64)
        d = len(self.centre)
        extended = np.empty((len(X), len(self.weights)), dtype=self.dtype)
        U = extended[:, :d]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(X, self._centre_like(X), out=U, casting="same_kind")
            squares = np.einsum("ij,ij->i", U, U)
        if not (squares <= self.reach**2).all():  # not for NaN
            raise OutOfReach
        if self.lengths is None:
            return U @ self.weights
        extended[:, d], extended[:, d + 1] = squares / -2, 1
        return extended @ self._scaled_weights

    def _centre_like(self, X: Array) -> Array:
        """The centre, in single precision for such points if that holds it: this is faster."""
        single = X.dtype == self.dtype == np.float32 and self._is_centre_single
        return self.centre.astype(np.float32) if single else self.centre

    @cached_property
    def _is_centre_single(self) -> bool:
        return bool((self.centre.astype(np.float32) == self.centre).all())

    @cached_property
    def _scaled_weights(self) -> Array:
        assert self.weights is not None
        assert self.lengths is not None
        return self.weights * self.lengths


def can_use_kernels(X: Any) -> bool:
    """Whether the compiled kernels can be used for these points."""
    return kernels() is not None and isinstance(X, np.ndarray) and X.dtype.kind in "fiu"


def fits_single_precision(scale: float) -> bool:
    """Whether points can be represented in float32 with this bandwidth as their unit."""
    return 1e-25 < scale < 1e25


def gaussian_map(landmarks: Array, bandwidth: float, *, double: bool = True) -> FeatureMap | None:
    """The map to similarities exp(−‖x − l‖²/(2 bandwidth²)).

    None where landmarks lie too far apart. Relative errors are about 10⁻¹⁵ max(1, ‖x − l‖²) in few
    dimensions, where coordinates are subtracted, else 10⁻¹⁶ times the squared distances to the mean
    landmark, all in bandwidths; 10⁻⁷ times those in single precision, which few dimensions do not
    have. Similarities below 10⁻³⁰⁷, or 10⁻³⁷, are zero.
    """
    centre = landmarks.mean(axis=0, dtype=np.float64)
    if not double:
        centre = centre.astype(np.float32).astype(np.float64)
    L = np.ascontiguousarray(landmarks.T - centre[:, None])
    if len(L) <= FEW_FEATURES:
        factor, reach = np.array([-0.5 / bandwidth**2]), _FAR * bandwidth
        return FeatureMap(DIFFERENCES, centre, reach, True, len(landmarks), L, lengths=factor)
    squares, most = np.einsum("ji,ji->i", L, L), LARGEST_SQUARE_FOR_GEMM * bandwidth**2
    if not squares.max() <= most:
        return None
    dtype = np.float64 if double else np.float32
    W = np.concatenate([L, np.ones((1, len(landmarks))), squares[None, :] / -2]).astype(dtype)
    factor, reach = np.array([1 / bandwidth**2], dtype=dtype), math.sqrt(most)
    return FeatureMap(PRODUCTS, centre, reach, double, len(landmarks), W, lengths=factor)


def map_sums(map: FeatureMap, X: Array, R: Rows) -> FloatArray:
    """Rᵀφ(X), (s, n_features)."""
    members = Members(R)

    def add(rows: slice, out: FloatArray) -> None:
        for block in map.blocks(rows):
            map.call("sums", X[block], members.rows(block), out)

    total = add_over_runs(add, len(X), (R.shape[1], map.n_features), uses_blas=map.by_blas)
    return members.scale(total)


def add_over_runs(
    add: Callable[[slice, FloatArray], None], n: int, shape: tuple[int, int], *, uses_blas: bool
) -> FloatArray:
    """The total of what ``add`` adds to an array for each run of n rows."""
    s, width = shape
    used: deque[FloatArray] = deque()  # buffers to be reused

    def of_run(rows: slice) -> FloatArray:
        try:
            out = used.pop()
            out.fill(0.0)
        except IndexError:
            # Rows an odd number of cache lines apart, to avoid conflicts in the cache.
            out = np.zeros((s, (width // 16 + 1) * 16 + 8))
        add(rows, out)
        return out

    total = np.zeros(shape)
    for part in map_in_order(of_run, runs(n), uses_blas=uses_blas):
        total += part[:, :width]
        used.append(part)
    return total


def map_scores(map: FeatureMap, X: Array, V: FloatArray) -> FloatArray:
    """φ(X)Vᵀ, (n, k)."""
    scores, score = np.empty((len(X), len(V))), _scorer(map, X, V)

    def fill(rows: slice) -> None:
        scores[rows] = score(rows)

    for _ in map_in_order(fill, runs(len(X)), uses_blas=map.by_blas):
        pass
    return scores


def map_labels(map: FeatureMap, X: Array, V: FloatArray) -> IntArray:
    """(n,) column of the largest score of each point, without holding all scores."""
    score = _scorer(map, X, V)
    labels = map_in_order(
        lambda rows: score(rows).argmax(axis=1), runs(len(X)), uses_blas=map.by_blas
    )
    return np.concatenate(list(labels))


def map_features(map: FeatureMap, X: Array) -> Array:
    """φ(X), (n, n_features)."""
    features = np.empty((len(X), map.n_features), dtype=map.dtype)
    for block in map.blocks(slice(0, len(X))):
        map.call("features", X[block], features[block])
    return features


def _scorer(map: FeatureMap, X: Array, V: FloatArray) -> Callable[[slice], FloatArray]:
    """The function that scores some rows of X."""
    units = row_units(V)
    vectors = np.ascontiguousarray(V / units[:, None], dtype=map.dtype)

    def score(rows: slice) -> FloatArray:
        out = np.empty((rows.stop - rows.start, len(V)))
        for block in map.blocks(rows):
            here = out[block.start - rows.start : block.stop - rows.start]
            map.call("scores", X[block], vectors, len(V), here)
        return out * units

    return score


class Members:
    """Weighted memberships for the kernels, in blocks of rows."""

    def __init__(self, R: Rows) -> None:
        self._parts: list[tuple[int, Array | None, tuple[Array, ...]]] = []
        self._units: list[FloatArray] = []
        if isinstance(R, MatrixRows):
            self._add(R.shape[1], None, _csr_parts(R.matrix))
            return
        for p in R.partitions.values():
            same = is_constant(p.weights)
            memberships = (p.assignment,) if p.is_hard else _csr_parts(p.assignment)
            self._add(p.k, None if same else p.weights, memberships)
            if same:
                self._units[-1] *= p.weights[0]

    def _add(self, k: int, weights: Array | None, memberships: tuple[Array, ...]) -> None:
        unit = 1.0
        if weights is not None:  # relative to the largest, which may exceed float32
            unit = _power_of_two(weights)
            weights = np.ascontiguousarray(weights / unit)
        elif len(memberships) == 3:
            indptr, indices, shares = memberships
            unit = _power_of_two(shares)
            memberships = (indptr, indices, shares / unit)
        self._parts.append((k, weights, memberships))
        self._units.append(np.full(k, unit))

    def rows(self, rows: slice) -> tuple[Any, ...]:
        parts: list[tuple[Any, ...]] = []
        for k, weights, (first, *others) in self._parts:
            # The codes of some rows, which mostly have one byte, or the bounds of their entries.
            own = first[rows.start : rows.stop + 1] if others else first[rows].astype(np.int32)
            parts.append((k, None if weights is None else weights[rows], own, *others))
        return tuple(parts)

    def scale(self, total: FloatArray) -> FloatArray:
        total *= np.concatenate(self._units)[:, None]
        return total


def _power_of_two(values: FloatArray) -> float:
    """The largest power of two up to the largest value; dividing by it is exact."""
    return math.ldexp(1.0, math.frexp(float(np.abs(values).max(initial=0.0)))[1] - 1)


def _csr_parts(R: Any) -> tuple[Array, ...]:
    return (
        np.ascontiguousarray(R.indptr, dtype=np.int64),
        np.ascontiguousarray(R.indices, dtype=np.int32),
        np.ascontiguousarray(R.data, dtype=np.float64),
    )
