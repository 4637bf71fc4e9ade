"""What a lift is: an operator from points to cluster vectors, and its adjoint."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from .._util.arrays import block_of, from_device, namespace, on_device, row_blocks
from .._util.dask import is_dask, map_chunks_lazily
from .._util.threads import map_in_order, one_thread, runs
from .._util.typing import Array, FloatArray, IntArray, Points
from ..kernels.summary import take_rows
from ..partitions.stack import Rows, as_rows
from ._gpu.device import device_scores, device_sums, row_blocks_on, row_units

Answer = TypeVar("Answer")


class Lift(ABC):
    r"""A map φ from points to :math:`\mathbb{R}^ρ`, known by what it does to sums.

    ``sums(X, R)`` is :math:`R^\top φ(X)`, one vector for each column of memberships;
    ``scores(X, V)`` is its adjoint :math:`φ(X) V^\top`, so that

    .. math:: \langle \mathrm{sums}(X, R), V \rangle = \langle R, \mathrm{scores}(X, V) \rangle .

    Neither holds more than a block of features at a time. Points on a device are processed there;
    their sums are NumPy arrays, their scores stay on the device.

    See Also
    --------
    make_lift : The function that returns one.
    represent : Applies one to the clusters of partitions.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0]]
    >>> lift = lc.make_lift(X, lift=lc.Fourier(50), bandwidth=2.0, rng=0)
    >>> V = lift.sums(X, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> V.shape, lift.assign(X, V).tolist()
    ((2, 50), [0, 0, 1])
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def n_components(self) -> int:
        """ρ, the length of a lifted vector."""

    @abstractmethod
    def sums(self, X: Points, R: Any) -> FloatArray:
        """(s, ρ) cluster vectors Σ R(x, C) φ(x) of the points.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        R : (n, s) array-like or sparse
            Memberships of the points in s clusters.
        """

    def scores(self, X: Points, V: Any) -> FloatArray:
        """(n, k) inner products ⟨φ(x), v⟩ of the points with k vectors; lazy for a dask array.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        V : (k, ρ) array-like
            The vectors.
        """
        if is_dask(X):
            return _lazily(self, "_scores", X, V, np.empty((0, len(V))))
        return self._scores(X, V)

    @abstractmethod
    def _scores(self, X: Points, V: Any) -> FloatArray:
        """``scores`` of points in memory or on a device."""

    def points(self, X: Points) -> Points:
        """The points in the form that the lift works on, validated.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        """
        return from_device(X)

    def assign(self, X: Points, V: Any) -> IntArray:
        """(n,) position of the vector with the largest ⟨φ(x), v⟩ for each point.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        V : (k, ρ) array-like
            The vectors.
        """
        if is_dask(X):
            return _lazily(self, "_assign", X, V, np.empty(0, dtype=np.int64))
        return self._assign(X, V)

    def _assign(self, X: Points, V: Any) -> IntArray:
        """``assign`` for points in memory or on a device."""
        return np.asarray(self._scores(X, V).argmax(axis=1))

    def at(self, X: Points, *, keep: bool = False) -> LiftedPoints:
        """The lift at fixed points, for several passes over them.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        keep : bool, default False
            Whether features may be kept in memory.
        """
        return LiftedPoints(self, X)

    def describe(self) -> str:
        """A few words for people: what the lift is."""
        return f"{self.kind}, ρ = {self.n_components}"

    def feature_groups(self) -> IntArray | None:
        """Index of the independent random draw of each feature; None where nothing is random."""
        return None

    def distance_bound(self, V: FloatArray, W: FloatArray) -> FloatArray | None:
        """(s, t) deterministic bounds on the error of distances between unit vectors, if known.

        Parameters
        ----------
        V, W : (s, ρ) and (t, ρ) arrays
            Sums of clusters.
        """
        return None

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What makes the map: values that JSON can hold, and arrays."""
        raise ValueError(
            f"a lift by {self.describe()} cannot be stored without pickle, which is unsafe to "
            "load; save the representation with with_lift=False"
        )

    def fingerprint(self) -> str:
        """Equal for lifts that are the same map."""
        try:
            values, arrays = self.state()
        except ValueError:
            return f"only-{id(self)}"
        digest = hashlib.sha256(json.dumps([self.kind, values], sort_keys=True).encode())
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def __sizeof__(self) -> int:
        """Bytes to hold and to send."""
        parts = [part for part in vars(self).values() if isinstance(part, np.ndarray)]
        return 500 + sum(part.nbytes for part in parts)

    @property
    def is_exact(self) -> bool:
        """Whether inner products of the vectors are those of the kernel, up to rounding."""
        return False


@dataclass(frozen=True, eq=False)
class LiftedPoints:
    """Points and their lift, for several passes over the same points."""

    lift: Lift
    X: Points

    def begin(self, R: Rows) -> None:
        """Let a device begin with the part of the sums that needs no clusters."""

    def sums(self, R: Any) -> FloatArray:
        """``lift.sums`` of the points."""
        return self.lift.sums(self.X, R)

    def score(self, V: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """(n, k) scores in main memory, and sums of the points by their largest score.

        The (k, ρ) weighted sums are None where they would take a pass of their own.
        """
        return np.asarray(from_device(self.lift.scores(self.X, V))), None


class FeatureLift(Lift):
    """A lift by explicit features: ``features(X)`` is all that a subclass must give."""

    @abstractmethod
    def features(self, X: Points) -> Any:
        """(n, ρ) features of a block of points."""

    # Whether features may be computed on several threads at once; functions of users may not.
    spreads_over_threads: ClassVar[bool] = False

    @property
    def block_width(self) -> int:
        """How many numbers computing the features of one point takes."""
        return self.n_components

    def fused_sums(self, X: Points, R: Rows) -> FloatArray | None:
        """The sums by a kernel that holds no features at all, where there is one for X."""
        return None

    def device_sums(self, X: Any, R: Any) -> FloatArray:
        """The sums of points that live on a device and were left there by ``points``."""
        return device_sums(self.features, X, R, self.block_width)

    def sums(self, X: Points, R: Any) -> FloatArray:
        return sums_of_many([self], X, R)[0]

    def _scores(self, X: Points, V: Any) -> FloatArray:
        X = self.points(X)
        V = as_vectors(V, self.n_components)
        if on_device(X):
            return device_scores(self.features, X, V, self.block_width)
        scores = np.empty((len(X), len(V)))

        def fill(rows: slice) -> None:
            for block in row_blocks(rows.stop - rows.start, self.block_width):
                here = slice(rows.start + block.start, rows.start + block.stop)
                scores[here] = _inner_products(self.features(X[here]), V)

        for _ in _over_runs(fill, len(X), self.spreads_over_threads):
            pass
        return scores

    def _assign(self, X: Points, V: Any) -> IntArray:
        X = self.points(X)
        width = max(len(V), self.block_width)
        blocks = row_blocks_on(X, width) if on_device(X) else row_blocks(len(X), width)
        scores = (self._scores(block_of(X, rows), V) for rows in blocks)
        labels = [namespace(part).argmax(part, axis=1) for part in scores]
        return namespace(*labels).concat(labels, axis=0)

    def squared_norms(self, X: Points) -> FloatArray:
        """‖φ(x)‖² of each point."""
        X = self.points(X)
        norms = np.empty(len(X))
        for rows in row_blocks(len(X), self.block_width):
            Z = self.features(X[rows])
            norms[rows] = np.asarray((Z * Z).sum(axis=1)).ravel()
        return norms


def _lazily(lift: Lift, method: str, X: Any, V: Any, like: Array) -> Any:
    """What a method makes of a dask array, chunk by chunk; ``like`` is its result for no points."""
    columns = None if like.ndim == 1 else like.shape[1]
    return map_chunks_lazily(_of_chunk, (lift, method, np.asarray(V), like), X, like.dtype, columns)


def _of_chunk(shared: tuple[Lift, str, FloatArray, Array], chunk: Any) -> Array:
    lift, method, V, like = shared
    with one_thread():
        return np.asarray(getattr(lift, method)(chunk, V)) if len(chunk) else like


def sums_of_many(lifts: Sequence[FeatureLift], X: Points, R: Any) -> list[FloatArray]:
    """The sums of several lifts of the same points, in one pass over blocks of them."""
    X = lifts[0].points(X)
    if on_device(X):
        return [lift.device_sums(X, R) for lift in lifts]
    R = as_rows(R, len(X))
    fused = [V for lift in lifts if (V := lift.fused_sums(X, R)) is not None]
    if len(fused) == len(lifts):
        return fused
    totals = [np.zeros((R.shape[1], lift.n_components)) for lift in lifts]
    threads = all(lift.spreads_over_threads for lift in lifts)
    for parts in _over_runs(partial(_sums_of_run, lifts, X, R), len(X), threads):
        for total, part in zip(totals, parts, strict=True):
            total += part
    return totals


def _sums_of_run(lifts: Sequence[FeatureLift], X: Points, R: Rows, run: slice) -> list[FloatArray]:
    totals = [np.zeros((R.shape[1], lift.n_components)) for lift in lifts]
    for rows in row_blocks(run.stop - run.start, max(lift.block_width for lift in lifts)):
        here = slice(run.start + rows.start, run.start + rows.stop)
        block, points = R.rows(here), X[here]
        inside = np.diff(block.indptr) > 0
        if not inside.any():
            continue
        if not inside.all():  # noise costs nothing
            chosen = np.flatnonzero(inside)
            block, points = block[chosen, :], take_rows(points, chosen)
        for total, lift in zip(totals, lifts, strict=True):
            total += _product(block, lift.features(points))
    return totals


def _over_runs(function: Callable[[slice], Answer], n: int, threads: bool) -> Iterator[Answer]:
    """Answers for runs of n rows, in order; on several threads if asked."""
    return map_in_order(function, runs(n), uses_blas=True) if threads else map(function, runs(n))


def as_vectors(V: Any, n_components: int) -> FloatArray:
    V = np.asarray(V, dtype=np.float64)
    if V.ndim != 2 or V.shape[1] != n_components:
        raise ValueError(
            f"vectors must have shape (k, {n_components}) to be scored by this lift, got {V.shape}"
        )
    return V


def _inner_products(Z: Any, V: FloatArray) -> Any:
    """ZVᵀ; for single floats in units of each vector, which may be beyond their range."""
    if Z.dtype != np.float32:
        return Z @ V.T.astype(Z.dtype, copy=False)
    units = row_units(V)
    return (Z @ (V / units[:, None]).T.astype(np.float32)) * units


def _product(block: Any, Z: Any) -> Array:
    """RᵀZ in the precision of the features: clusters add up their points one after another.

    Sparse on purpose: a matrix product of dense indicators may add in another order for another
    column, and equal clusters in two partitions would get vectors that differ in the last bits.
    """
    scale = 1.0
    if Z.dtype == np.float32:  # which weights may exceed
        scale = np.abs(block.data).max() or 1.0
    product = (block.T / scale).astype(Z.dtype) @ Z
    return np.asarray(product.toarray() if sp.issparse(product) else product) * scale


def state_of_fields(lift: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """The state of a lift with a kernel and a dtype that its fields determine."""
    parts = {field.name: getattr(lift, field.name) for field in fields(lift)}
    parts |= {"kernel": lift.kernel.state(), "dtype": np.dtype(lift.dtype).name}
    arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    return {name: part for name, part in parts.items() if name not in arrays}, arrays


def check_sums_add_up(lift: Lift) -> None:
    if lift.is_exact:
        raise ValueError(
            "an exact lift spans only the clusters it was made from; let represent make it "
            '(lift="exact"), or use a feature lift for several calls'
        )
