"""One pass over the points by the kernels in C: what they are handed, and by which threads."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._util.arrays import is_one_number
from .._util.threads import in_order, runs
from .._util.typing import Array, FloatArray, IntArray
from ..partitions.stack import MatrixRows, Rows, Stack
from ._gpu.device import row_units
from ._native import kernels

__all__ = [
    "DENSE",
    "GRID",
    "LARGEST_PHASE",
    "STRUCTURED",
    "FeatureMap",
    "OutOfReach",
    "map_features",
    "map_labels",
    "map_scores",
    "map_sums",
    "ready",
]

DENSE, STRUCTURED, GIVEN, GRID = range(4)

# Rounding to whole quarter turns works up to 2**21 (float) and 2**50 (double) of them.
LARGEST_PHASE = {False: 2.0**20, True: 2.0**45}
_PROJECT_UP_TO = 64  # dimensions in which the kernels project points; beyond, BLAS does it better
_PROJECTED_ROWS = 512  # whose phases are held at a time
_NATIVE_TYPES = (np.float32, np.float64, np.uint8)


class OutOfReach(Exception):
    """A point that is not finite, or too far from the centre for phases to mean anything."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """A map from points to features, as the kernels in C take it (see lift.h)."""

    kind: int
    centre: FloatArray
    reach: float  # a point farther from the centre than this is refused
    double: bool
    n_phases: int = 0
    weights: Array | None = None  # DENSE: (d, n_phases) in quarter turns; GRID: (d,) steps
    padded: int = 0
    signs: Array | None = None  # STRUCTURED: (blocks, 3, padded) of 0 and 1
    lengths: Array | None = None
    axes: tuple[int, ...] = field(default=())

    @property
    def dtype(self) -> Any:
        return np.float64 if self.double else np.float32

    @property
    def n_features(self) -> int:
        if self.kind == GRID:
            return int(np.prod([2 * n + 1 for n in self.axes]))
        return 2 * self.n_phases

    @property
    def by_blas(self) -> bool:
        return self.kind == DENSE and len(self.centre) > _PROJECT_UP_TO

    def in_c(self) -> tuple[Any, ...]:
        if self.by_blas:
            origin = np.zeros(self.n_phases)
            most = LARGEST_PHASE[self.double]
            return (GIVEN, self.n_phases, 0, origin, None, None, None, None, most)
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

    def rows(self, X: Array) -> list[slice]:
        """Blocks of a run of points that are handed over together."""
        step = _PROJECTED_ROWS if self.by_blas else max(len(X), 1)
        return [slice(i, min(i + step, len(X))) for i in range(0, len(X), step)]

    def prepare(self, X: Array) -> Array:
        """Points in a type that the kernels read, or the phases that BLAS makes of them."""
        if not self.by_blas:
            return X if X.dtype in _NATIVE_TYPES and _aligned(X) else X.astype(np.float64)
        assert self.weights is not None
        with np.errstate(over="ignore", invalid="ignore"):
            U = X - self.centre
            near = np.einsum("ij,ij->i", U, U) <= self.reach**2  # not for NaN
        if not near.all():
            raise OutOfReach(int(near.argmin()))
        return U.astype(self.dtype) @ self.weights


def ready(X: Any) -> bool:
    """Whether the kernels can take these points."""
    return kernels() is not None and isinstance(X, np.ndarray) and X.dtype.kind in "fiu"


def map_sums(map: FeatureMap, X: Array, R: Rows) -> FloatArray:
    """Rᵀφ(X), (s, n_features)."""
    native = kernels()
    assert native is not None
    in_c, members = map.in_c(), _Members(R)
    s, width = R.shape[1], map.n_features
    used: deque[FloatArray] = deque()  # memory of runs that have been added up already

    def add(rows: slice) -> FloatArray:
        try:
            out = used.pop()
            out.fill(0.0)
        except IndexError:
            # An odd number of cache lines from row to row, so that clusters do not fight over them.
            out = np.zeros((s, (width // 16 + 1) * 16 + 8))
        points = X[rows]
        for part in map.rows(points):
            here = slice(rows.start + part.start, rows.start + part.stop)
            block = map.prepare(points[part])
            bad = native.sums(map.double, in_c, block, 0, len(block), members.rows(here), out)
            _check(bad, here.start)
        return out

    total = np.zeros((s, width))
    for part in in_order(add, runs(len(X)), uses_blas=map.by_blas):
        total += part[:, :width]
        used.append(part)
    return members.scale(total)


def map_scores(map: FeatureMap, X: Array, V: FloatArray) -> FloatArray:
    """φ(X)Vᵀ, (n, k)."""
    scores = np.empty((len(X), len(V)))

    def fill(rows: slice) -> None:
        scores[rows] = score(rows)

    score = _scorer(map, X, V)
    for _ in in_order(fill, runs(len(X)), uses_blas=map.by_blas):
        pass
    return scores


def map_labels(map: FeatureMap, X: Array, V: FloatArray) -> IntArray:
    """The largest score's column for each point, without holding all scores."""
    score = _scorer(map, X, V)
    labels = in_order(lambda rows: score(rows).argmax(axis=1), runs(len(X)), uses_blas=map.by_blas)
    return np.concatenate(list(labels))


def map_features(map: FeatureMap, X: Array) -> Array:
    """φ(X), (n, n_features)."""
    native = kernels()
    assert native is not None
    in_c = map.in_c()
    features = np.empty((len(X), map.n_features), dtype=map.dtype)
    for rows in map.rows(X):
        block = map.prepare(X[rows])
        _check(native.features(map.double, in_c, block, 0, len(block), features[rows]), rows.start)
    return features


def _scorer(map: FeatureMap, X: Array, V: FloatArray) -> Any:
    native = kernels()
    assert native is not None
    in_c, k = map.in_c(), len(V)
    units = row_units(V)
    vectors = np.ascontiguousarray(V / units[:, None], dtype=map.dtype)

    def score(rows: slice) -> FloatArray:
        points = X[rows]
        out = np.empty((len(points), k))
        for part in map.rows(points):
            block = map.prepare(points[part])
            bad = native.scores(map.double, in_c, block, 0, len(block), vectors, k, out[part])
            _check(bad, rows.start + part.start)
        return out * units

    return score


def _check(bad: int, offset: int) -> None:
    if bad >= 0:
        raise OutOfReach(offset + bad)


def _aligned(X: Array) -> bool:
    return X.flags.aligned and X.dtype.isnative


class _Members:
    """Weighted memberships as the kernels take them, in blocks of rows."""

    def __init__(self, R: Rows) -> None:
        self._parts: list[tuple[int, Array | None, tuple[Array, ...]]] = []
        self._units: list[FloatArray] = []
        if isinstance(R, MatrixRows):
            self._add(R.shape[1], None, _csr_parts(R.matrix))
        else:
            assert isinstance(R, Stack)
            for p in R.partitions.values():
                same = is_one_number(p.weights)
                memberships = _codes(p.assignment) if p.is_hard else _csr_parts(p.assignment)
                self._add(p.k, None if same else p.weights, memberships)
                if same:
                    self._units[-1] *= p.weights[0]

    def _add(self, k: int, weights: Array | None, memberships: tuple[Array, ...]) -> None:
        unit = 1.0
        if weights is not None:  # relative to the largest: single floats end at 1e38
            unit = _power_of_two(weights)
            weights = np.ascontiguousarray(weights / unit)
        elif len(memberships) == 3:
            indptr, indices, shares = memberships
            unit = _power_of_two(shares)
            memberships = (indptr, indices, shares / unit)
        self._parts.append((k, weights, memberships))
        self._units.append(np.full(k, unit))

    def rows(self, rows: slice) -> tuple[Any, ...]:
        found: list[tuple[Any, ...]] = []
        for k, weights, memberships in self._parts:
            w = None if weights is None else weights[rows]
            if len(memberships) == 1:
                found.append((k, w, memberships[0][rows]))
            else:
                indptr, indices, shares = memberships
                found.append((k, w, indptr[rows.start : rows.stop + 1], indices, shares))
        return tuple(found)

    def scale(self, total: FloatArray) -> FloatArray:
        units = np.concatenate(self._units)
        if (units != 1).any():
            total *= units[:, None]
        return total


def _power_of_two(values: FloatArray) -> float:
    """The largest up to a factor of two. Dividing by it is exact: blocks of points round alike."""
    return math.ldexp(1.0, math.frexp(float(np.abs(values).max(initial=0.0)))[1] - 1)


def _codes(codes: Array) -> tuple[Array]:
    return (np.ascontiguousarray(codes, dtype=np.int32),)


def _csr_parts(R: Any) -> tuple[Array, ...]:
    return (
        np.ascontiguousarray(R.indptr, dtype=np.int64),
        np.ascontiguousarray(R.indices, dtype=np.int32),
        np.ascontiguousarray(R.data, dtype=np.float64),
    )
