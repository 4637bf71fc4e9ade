"""The nearest places of points by the compiled kernels."""

from __future__ import annotations

import numpy as np

from .._util.threads import map_in_order, one_blas_thread, runs
from .._util.typing import Array, FloatArray, IntArray
from ._native import kernels

MOST_NEAREST = 64  # neighbours of a point, as in lift.h
_ROWS = 512  # of a block of products
_STEP = 64  # numbers of axes that are tried are multiples of this
_SHARE = 4  # at most a quarter of the coordinates are axes
_SAMPLE = 128  # places by which the number of axes is chosen
_COST = 12  # of a coordinate in a difference; in a matrix product it is 1
_ROUNDING = 2e-5  # of squared lengths in single precision
_LEAST_UNIT = 1e-30  # of coordinates: its inverse is a number in single precision
_FARTHEST = 1e15  # coordinate in these units, whose square is one, too
_LEAST = 0.02  # residual length below which too many digits are lost


class NearestPlaces:
    r"""Finds the k nearest of p places, or fewer, by Euclidean distance.

    Candidates come from a matrix product in single precision, the distances from differences in
    double precision. In many dimensions the product is of shorter vectors,

    .. math:: ξ(x) = (Q^\top x, ‖x - QQ^\top x‖), \quad ‖ξ(x) - ξ(y)‖ ≤ ‖x - y‖

    with some principal axes Q of the places. Then a place y can be among the nearest only if ξ(y)
    is no farther from ξ(x) than the k-th nearest candidate from x; the distances of all these are
    computed, so the answer is exact. The number of axes is the cheapest one for some of the places;
    where none excludes enough, all coordinates are used.
    """

    def __init__(self, places: Array, k: int) -> None:
        self.places, self.k = np.ascontiguousarray(places), k
        # Products lose digits far from the origin.
        self._centre = places.mean(axis=0, dtype=np.float64).astype(places.dtype)
        self._unit = max(float(np.abs(places - self._centre).max()), _LEAST_UNIT)
        with one_blas_thread():
            self._products = _cheapest_products(self._single(places), k)

    def __call__(self, X: Array, k: int | None = None) -> tuple[FloatArray, IntArray]:
        """(n, k) distances and positions of the nearest places of each point, nearest first."""
        X, k = X.astype(self.places.dtype, copy=False), k or self.k
        squares, positions = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.int32)

        def fill(rows: slice) -> None:
            for start in range(rows.start, rows.stop, _ROWS):
                block = slice(start, min(start + _ROWS, rows.stop))
                self._find(X[block], positions[block], squares[block])

        for _ in map_in_order(fill, runs(len(X)), uses_blas=True):
            pass
        return np.sqrt(squares, out=squares), positions

    def _find(self, X: Array, positions: IntArray, squares: FloatArray) -> None:
        compiled = kernels()
        assert compiled is not None
        compiled.nearest(
            self.places.dtype == np.float64,
            len(X),
            *self.places.shape,
            positions.shape[1],
            *self._products(self._single(X)),
            0.5 / self._unit**2,
            np.ascontiguousarray(X),
            self.places,
            positions,
            squares,
        )

    def _single(self, X: Array) -> Array:
        """Points around the centre in units of the largest coordinate of a place, as float32.

        Those far away are moved to the sides of a box around the places, which makes no distance
        larger.
        """
        U = X - self._centre
        side = min(_FARTHEST * self._unit, float(np.finfo(U.dtype).max))
        np.clip(U, -side, side, out=U)
        U *= U.dtype.type(1 / self._unit)
        return U.astype(np.float32, copy=False)


class _Products:
    """Products of ξ of points with ξ of places; all coordinates without axes."""

    def __init__(self, places: Array, axes: Array | None = None) -> None:
        self._axes = axes
        self._least = _LEAST * np.sqrt(np.einsum("ij,ij->i", places, places).mean())
        self._places = self._shorten(places)
        squares = np.einsum("ij,ij->i", self._places, self._places)
        self._half_squares, self._slack = squares / 2, _ROUNDING * squares.max()

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """(n, p) ξ(x)·ξ(y) − ‖ξ(y)‖²/2, and (n,) limits: this minus half of ‖x − y‖² is less."""
        short = self._shorten(points)
        values = short @ self._places.T
        values -= self._half_squares
        if self._axes is None:  # the largest values are of the nearest places
            return values, np.full(len(short), np.inf, dtype=np.float32)
        squares = np.einsum("ij,ij->i", short, short)
        return values, (squares - (_ROUNDING * squares + self._slack)) / 2

    def _shorten(self, points: Array) -> Array:
        """ξ of points; residuals have a least length, which makes none of them more different."""
        if self._axes is None:
            return points
        r = self._axes.shape[1]
        short = np.empty((len(points), r + 1), dtype=np.float32)
        short[:, :r] = points @ self._axes
        squares = np.einsum("ij,ij->i", points, points)
        squares -= np.einsum("ij,ij->i", short[:, :r], short[:, :r])
        short[:, r] = np.maximum(np.sqrt(np.maximum(squares, 0)), self._least)
        return short


def _cheapest_products(places: Array, k: int) -> _Products:
    p, d = places.shape
    best, least = _Products(places), p * d + _COST * k * d
    most = d // _SHARE // _STEP * _STEP
    if p < 2 * max(_SAMPLE, most) or not most:
        return best
    axes, sample = _principal_axes(places, most), places[:: p // _SAMPLE]
    norms, products = np.einsum("ij,ij->i", places, places), sample @ places.T
    squares = norms[:: p // _SAMPLE, None] + norms - 2 * products
    farthest = np.partition(squares, k, axis=1)[:, k]  # without the place itself
    for r in range(_STEP, most + 1, _STEP):
        shorter = _Products(places, np.ascontiguousarray(axes[:, :r]))
        values, limits = shorter(sample)
        remaining = (values >= (limits - farthest / 2)[:, None]).sum(axis=1).mean()
        cost = (p + d) * r + _COST * remaining * d
        if cost < least:
            best, least = shorter, cost
    return best


def _principal_axes(places: Array, r: int) -> Array:
    """(d, r) orthonormal axes, the longest first, by a step of subspace iteration."""
    start = places[:: len(places) // r][:r]
    Q = np.linalg.qr(places.T @ (places @ start.T))[0]
    projected = places @ Q
    return np.asarray(Q @ np.linalg.eigh(projected.T @ projected)[1][:, ::-1])
