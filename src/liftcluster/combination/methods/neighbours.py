"""The graph of places: distinct points, or landmarks among them, joined to their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import (
    can_index,
    from_device,
    namespace,
    on_device,
    row_blocks,
    send,
    to_numpy,
    without_gradients,
)
from ..._util.threads import map_in_order, threads_for
from ..._util.typing import Array, FloatArray, IntArray, Points, Sparse
from ...kernels.kernel import CallableKernel, Discrete, Precomputed
from ...kernels.shift_invariant import Kernel
from ...kernels.summary import n_points, take_rows
from ...lifts._gpu.device import row_blocks_on
from ...lifts.native import can_use_kernels
from ...lifts.nearest import MOST_NEAREST, NearestPlaces
from .places_on_device import NearestOnDevice

NEIGHBOURS = 10
LANDMARKS = 2000  # vertices at most: eigenvectors of sparse graphs of this size take 0.1 s
_LOCAL = 7  # the neighbour whose distance is the local scale
_COMMON = 0.2  # exponent of the common scale in every bandwidth
_TINY = 1e-300
_SHARE_OF_BLOCK = 16  # small blocks, which all threads share
_SAFE = {4: 1e15, 8: 1e100}  # coordinates up to this size have squares in floats of so many bytes

Answer = TypeVar("Answer")
# (points, K) -> distances and positions of the K nearest places, in ascending order
Search = Callable[[Any, int], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class PlaceGraph:
    r"""p places joined to their K nearest neighbours, and how near each point is to them.

    .. math:: κ(x, y) = \exp\Bigl(-\frac{‖x - y‖^2}{σ_x σ_y}\Bigr), \quad
              σ_x = s_x^{0.8} \operatorname{median}(s)^{0.2}

    with s_x the distance of x to its seventh neighbour, after Zelnik-Manor and Perona,
    Self-tuning spectral clustering (NIPS 2004); the median keeps isolated points isolated. κ is
    zero for pairs of which neither is among the K nearest of the other, and halved where only one
    is. Points in the same place are one vertex, and points of weight zero are none.

    Attributes
    ----------
    rows : (p,) int array
        One row of X in each place.
    edges : (p, p) sparse array
        κ, symmetric.
    near : (n, q) int array
        The places nearest to each point; the one it is in (q = 1) if every place is a vertex. On
        the device of points that are on one.
    steps : (n, q) array
        κ between each point and these, relative to the nearest; on the same device.
    """

    rows: IntArray
    edges: Sparse
    near: Any
    steps: Any

    @property
    def p(self) -> int:
        return len(self.rows)

    @property
    def is_whole(self) -> bool:
        """Whether every place is a vertex."""
        return self.near.shape[1] == 1

    @classmethod
    def of(
        cls,
        X: Points,
        weights: FloatArray,
        rng: np.random.Generator,
        *,
        kernel: Kernel | None = None,
        n_neighbours: int = NEIGHBOURS,
        n_landmarks: int = LANDMARKS,
    ) -> PlaceGraph:
        """The graph of these points; landmarks are drawn if there are too many.

        Neighbours are the nearest in Euclidean distance; for objects without coordinates, which
        only a kernel compares, the nearest in its feature space.
        """
        if isinstance(kernel, Discrete):
            raise ValueError(
                "a discrete kernel knows only equal and different points, not which are near; "
                'use another kernel, or method="lwgp"'
            )
        by_kernel = not has_coordinates(kernel)
        counted = np.flatnonzero(weights > 0)
        some = counted
        if is_sampled := len(counted) > n_landmarks:
            some = np.sort(rng.choice(counted, n_landmarks, replace=False))
        if by_kernel and kernel:
            points = kernel.points(X, len(weights))
        else:
            points = coordinates(X, device=is_sampled)
        rows: IntArray = some
        place: IntArray = np.arange(len(some))
        if not by_kernel:
            first, place = _distinct_rows(to_numpy(take_rows(points, some)))
            rows = some[first]
        places = from_device(take_rows(points, rows))
        find = _search(places, kernel if by_kernel else None, len(weights), n_neighbours)
        edges, scales = _edges(find, places, n_neighbours)
        if is_sampled:
            if on_device(points):
                find = NearestOnDevice(places, points)
            near, steps = _join(find, points, scales, n_neighbours)
        else:
            near, steps = np.zeros((len(weights), 1), dtype=np.int32), np.ones((len(weights), 1))
            near[some, 0] = place
            if len(left_out := np.flatnonzero(weights <= 0)):
                near[left_out] = find(take_rows(points, left_out), 1)[1]
        return cls(rows, edges, near, steps)

    def map_blocks(self, function: Callable[[slice, Sparse], Answer]) -> Iterator[Answer]:
        """The function of blocks of rows of the (n, p) matrix of steps, whose rows sum to one."""
        n, q = self.near.shape

        def of_rows(rows: slice) -> Answer:
            steps, size = self.steps[rows], rows.stop - rows.start
            steps = steps / steps.sum(axis=1, keepdims=True)
            parts = (steps.ravel(), self.near[rows].ravel(), np.arange(size + 1) * q)
            return function(rows, sp.csr_array(parts, shape=(size, self.p)))

        return map_in_order(of_rows, list(row_blocks(n, _SHARE_OF_BLOCK * q)), uses_blas=True)


def has_coordinates(kernel: Kernel | None) -> bool:
    """Whether a kernel compares points with coordinates, and not indices or other objects."""
    return not isinstance(kernel, Precomputed | CallableKernel)


def coordinates(X: Points, *, device: bool = False) -> Any:
    """Points in units, and around one of them, so that squares neither overflow nor underflow.

    In main memory, or on their device where that can compute with them and is asked for.
    """
    points = without_gradients(X) if device and can_index(X) else to_numpy(X, "X")
    xp = namespace(points)
    if points.dtype != xp.float32:
        points = xp.astype(points, xp.float64, copy=False)
    # Not of absolute values, which would be a copy.
    largest, safe = float(max(xp.max(points), -xp.min(points))), _SAFE[points.dtype.itemsize]
    if largest == 0 or 1 / safe < largest < safe:
        return points
    half = 0.5 if largest > 1 else 1.0  # differences of large coordinates may overflow
    points = points * half - points[:1, :] * half
    extent = float(xp.max(xp.abs(points)))
    return points / extent if extent else points


def _distinct_rows(points: Array) -> tuple[IntArray, IntArray]:
    """The first of equal rows, in lexicographic order, and the position there of each row.

    As np.unique by rows, which compares coordinates one after another. Here they become bytes of
    the same order: those of negative numbers are inverted, and others have the sign bit set.
    """
    bits = (points + 0.0).view(f"u{points.itemsize}")  # −0 + 0 is 0
    sign = bits.dtype.type(1 << (8 * points.itemsize - 1))
    ordered = np.where(bits & sign, ~bits, bits | sign).astype(bits.dtype.newbyteorder(">"))
    keys = np.ascontiguousarray(ordered).view(f"V{points.itemsize * points.shape[1]}").ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place.ravel()


def _search(places: Points, kernel: Kernel | None, n: int, n_neighbours: int) -> Search:
    """How the nearest places of n points are found; one more than the neighbours, with itself."""
    if kernel is not None:
        return partial(_nearest_by_kernel, kernel, places, kernel.diagonal(places))
    from sklearn.neighbors import NearestNeighbors

    # Centred: distances by matrix products lose digits far from the origin.
    centre = places.mean(axis=0)
    index = NearestNeighbors().fit(places - centre)

    most = min(n_neighbours + 1, len(places))
    compiled = cache(partial(NearestPlaces, places, most))
    are_few = n == len(places) or most > MOST_NEAREST

    def find(block: Array, K: int) -> tuple[FloatArray, IntArray]:
        if not are_few and len(block) >= len(places) and can_use_kernels(block):
            return compiled()(block, K)
        with threads_for(block.size):
            return index.kneighbors(block - centre, n_neighbors=K)

    return find


def _nearest_by_kernel(
    kernel: Kernel, places: Points, norms: FloatArray, block: Points, K: int
) -> tuple[FloatArray, IntArray]:
    """Distances in the feature space, ‖φ(x) − φ(y)‖² = κ(x, x) + κ(y, y) − 2κ(x, y)."""
    squares = kernel.diagonal(block)[:, None] + norms - 2 * kernel(block, places)
    near = np.argsort(squares, axis=1, kind="stable")[:, :K]
    found = np.take_along_axis(squares, near, axis=1)
    return np.sqrt(np.maximum(found, 0)), near


def _edges(find: Search, places: Points, n_neighbours: int) -> tuple[Sparse, FloatArray]:
    """κ between places, and their bandwidths σ."""
    p = len(places)
    if p == 1:
        return sp.csr_array((1, 1)), np.ones(1)
    K = min(n_neighbours, p - 1)
    distances, near = find(places, K + 1)
    # Each place is among its own neighbours, though not always first where some are as near.
    own = near == np.arange(p)[:, None]
    own[~own.any(axis=1), -1] = True
    distances, near = distances[~own].reshape(p, K), near[~own].reshape(p, K)
    scales = _bandwidths(distances)
    values = np.exp(-(distances**2) / np.maximum(scales[:, None] * scales[near], _TINY))
    one_way = sp.csr_array((values.ravel(), near.ravel(), np.arange(p + 1) * K), shape=(p, p))
    return sp.csr_array((one_way + one_way.T) / 2), scales


def _bandwidths(distances: FloatArray) -> FloatArray:
    local = distances[:, min(_LOCAL, distances.shape[1]) - 1]
    middle = float(np.median(local))
    return np.maximum(local, 1e-3 * middle) ** (1 - _COMMON) * middle**_COMMON


def _join(find: Search, points: Points, scales: FloatArray, n_neighbours: int) -> tuple[Any, Any]:
    """The nearest places of every point, and κ to them relative to the nearest."""
    n, K, middle = n_points(points), min(n_neighbours, len(scales)), float(np.median(scales))
    if on_device(points):
        xp, sent, found = namespace(points), send(scales, points), []
        for rows in row_blocks_on(points, len(scales) + K * points.shape[1]):
            distances, near = find(points[rows, :], K)
            steps = _relative_steps(distances, sent[near], middle)
            found.append((xp.astype(near, xp.int32), xp.astype(steps, xp.float32)))
        nears, parts = zip(*found, strict=True)
        return xp.concat(nears, axis=0), xp.concat(parts, axis=0)
    near, steps = np.empty((n, K), dtype=np.int32), np.empty((n, K), dtype=np.float32)
    for rows in row_blocks(n, 8 * K):
        distances, near[rows] = find(points[rows], K)
        steps[rows] = _relative_steps(distances, scales[near[rows]], middle)
    return near, steps


def _relative_steps(distances: Any, scales: Any, middle: float) -> Any:
    """κ between points and their nearest places, which have these scales."""
    xp, K = namespace(distances), distances.shape[1]
    local = xp.clip(distances[:, min(_LOCAL, K) - 1], min=1e-3 * middle)
    own = local ** (1 - _COMMON) * middle**_COMMON
    squares = distances**2
    squares = squares - squares[:, :1]  # the nearest one counts, however far it is
    return xp.exp(-squares / xp.clip(own[:, None] * scales, min=_TINY))
