"""Cosines and sines of phases on a device: random Fourier features where the points are."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..._util.arrays import namespace, send, without_gradients
from ..._util.typing import FloatArray
from .device import Members, members_on, row_units, rows_of
from .fused import try_fused_sums

__all__ = ["Waves"]


class Waves:
    """(cos t₁, …, cos t_M, sin t₁, …, sin t_M) of the phases t = ω·(x − centre), in one precision.

    Frequencies and centre are sent once. ``farthest`` is how far any coordinate that was seen lies
    from the centre, so that nobody waits for the device before the work is done.
    """

    def __init__(
        self, frequencies: FloatArray, scale: float, centre: FloatArray, X: Any, dtype: Any
    ) -> None:
        xp = namespace(X)
        single = dtype == np.float32
        self.dtype = xp.float32 if single else xp.float64
        # In float32 the unit of length goes into the frequencies, which saves a pass.
        self.unit, W = (1.0, frequencies / scale) if single else (scale, frequencies)
        self.weights = send(W.T, X, self.dtype)
        # Where points are seen from the centre: a far one would lose its place in float32.
        self._space = X.dtype if single else xp.float64
        # x − c is exact to the last bit of the result in float32 too, with c as a sum of two.
        with np.errstate(over="ignore"):  # of points that far, double precision takes care
            high = centre.astype(np.float32) if self._space == xp.float32 else centre
        self.high = send(high, X, self._space)
        self.low = send(centre - high, X, self._space)
        self._farthest: Any = None

    def afresh(self) -> Waves:
        """The same map, which has seen no point yet."""
        new = copy(self)
        new._farthest = None
        return new

    @property
    def farthest(self) -> float:
        """NaN if any coordinate was."""
        return 0.0 if self._farthest is None else float(self._farthest)

    @property
    def n_phases(self) -> int:
        return int(self.weights.shape[1])

    def centred(self, X: Any) -> Any:
        xp = namespace(X)
        U = (xp.astype(X, self._space, copy=False) - self.high) - self.low
        seen = without_gradients(U)
        most = xp.maximum(xp.max(seen), -xp.min(seen))
        self._farthest = most if self._farthest is None else xp.maximum(self._farthest, most)
        U = xp.astype(U, self.dtype, copy=False)
        return U if self.unit == 1 else U / self.unit

    def phases(self, X: Any) -> Any:
        return self.centred(X) @ self.weights

    def features(self, X: Any) -> Any:
        """(b, 2M) of a block of points."""
        xp, T = namespace(X), self.phases(X)
        return xp.concat([xp.cos(T), xp.sin(T)], axis=1)

    def sums(self, X: Any, R: Any) -> FloatArray:
        """Rᵀφ(X), (s, 2M); cosines and sines are never put side by side."""
        xp, members = namespace(X), members_on(X, R)
        total = None
        if self.dtype == xp.float32:
            total = try_fused_sums(self.centred, self.weights, X, members)
        if total is None:
            total = self._sums_by_blocks(xp, X, members)
        return members.scale(total)

    def _sums_by_blocks(self, xp: Any, X: Any, members: Members) -> Any:
        total = None
        for rows in rows_of(X, self.n_phases):
            T = self.phases(X[rows, ...])
            M = members.transposed(rows, T)
            part = xp.concat([M @ xp.cos(T), M @ xp.sin(T)], axis=1)
            part = xp.astype(part, xp.float64)
            total = part if total is None else total + part
        return total

    def scores(self, X: Any, V: FloatArray) -> Any:
        """φ(X)Vᵀ, (n, k) in float64 on the device of X."""
        xp, M = namespace(X), self.n_phases
        units = row_units(V)
        cosines, sines = (
            send((part / units[:, None]).T, X, self.dtype) for part in (V[:, :M], V[:, M:])
        )
        found = []
        for rows in rows_of(X, M):
            T = self.phases(X[rows, ...])
            block = xp.cos(T) @ cosines + xp.sin(T) @ sines
            found.append(xp.astype(block, xp.float64) * send(units, X))
        return xp.concat(found, axis=0)
