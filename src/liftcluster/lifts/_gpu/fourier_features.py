"""Random Fourier features on a device: cosines and sines of phases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import full_precision, namespace, send, without_gradients
from ..._util.typing import FloatArray
from .device import Members, row_blocks_on, row_units
from .fused import FusedFeatures
from .running import can_use_kernels_for, try_fused

if TYPE_CHECKING:
    from ...partitions.stack import Rows


class DeviceFeatures:
    """(cos t₁, …, cos t_M, sin t₁, …, sin t_M) of the phases t = ω·(x − centre), in one precision.

    Frequencies are lengths times directions, which have few bits. They and the centre are
    transferred once. Sums are multiplied by ``factor``. ``max_coordinate`` is the largest distance
    of a coordinate from the centre so far; reading it waits for the device.
    """

    def __init__(
        self,
        directions: FloatArray,
        lengths: FloatArray,
        scale: float,
        centre: FloatArray,
        X: Any,
        dtype: Any,
        factor: float,
    ) -> None:
        xp = namespace(X)
        self._factor = factor
        self._scale, single = scale, dtype == np.float32
        self.dtype = xp.float32 if single else xp.float64
        # In float32 the frequencies are divided by the unit of length, which saves a pass.
        self.unit, radians = (1.0, lengths / scale) if single else (scale, lengths)
        # Points are centred in their own precision.
        self._centring_dtype = X.dtype if single else xp.float64
        # With c as a sum of two numbers, x − c is accurate to the last bit in float32 too.
        with np.errstate(over="ignore"):  # far points are redone in double precision
            high = centre.astype(np.float32) if self._centring_dtype == xp.float32 else centre
        self.high = send(high, X, self._centring_dtype)
        self.low = send(centre - high, X, self._centring_dtype)
        self._weights = cache(partial(_frequencies_on, self.high, directions, radians, self.dtype))
        self._max_coordinate: Any = None
        self._fused: FusedFeatures | None = None
        if single and can_use_kernels_for(X):
            self._fused = FusedFeatures(directions, lengths, scale, factor, self.high, self.low)

    def copy(self) -> DeviceFeatures:
        """The same map with ``max_coordinate`` reset."""
        new = object.__new__(DeviceFeatures)
        vars(new).update(vars(self), _max_coordinate=None)
        return new

    @property
    def max_coordinate(self) -> float:
        """NaN if any coordinate was."""
        return 0.0 if self._max_coordinate is None else float(self._max_coordinate)

    @property
    def weights(self) -> Any:
        """(d, M) frequencies, which the fused kernels do not need."""
        return self._weights()

    @property
    def n_phases(self) -> int:
        return int(self.weights.shape[1])

    def centred(self, X: Any) -> Any:
        xp = namespace(X)
        U = (xp.astype(X, self._centring_dtype, copy=False) - self.high) - self.low
        values = without_gradients(U)
        self._reach(xp.maximum(xp.max(values), -xp.min(values)))
        U = xp.astype(U, self.dtype, copy=False)
        return U if self.unit == 1 else U / self.unit

    def _reach(self, largest: Any) -> None:
        previous = self._max_coordinate
        if previous is not None and isinstance(largest, float):
            largest = max(float(previous), largest)
        elif previous is not None:
            largest = namespace(largest).maximum(previous, largest)
        self._max_coordinate = largest

    def phases(self, X: Any) -> Any:
        return self.centred(X) @ self.weights

    def features(self, X: Any) -> Any:
        """(b, 2M) of a block of points."""
        xp = namespace(X)
        with full_precision(X):
            T = self.phases(X)
            return xp.concat([xp.cos(T), xp.sin(T)], axis=1)

    def begin(self, X: Any, R: Rows) -> Any:
        """Begin with the part of the sums that needs no clusters, where the kernels have one."""
        fused = self._fused
        return None if fused is None else try_fused(lambda: fused.begin(X, R))

    def sums(self, X: Any, members: Members, begun: Any = None) -> Any:
        """(s, 2M) sums of features times the factor, on the device or in main memory."""
        fused = self._fused
        if fused is not None:
            there = self._try(lambda: fused.sums(X, members, begun))
            if there is not None:
                return there
        xp, total = namespace(X), 0.0
        with full_precision(X):
            for rows in row_blocks_on(X, self.n_phases):
                T = self.phases(X[rows, ...])
                M = members.transposed(rows, T)
                part = xp.concat([M @ xp.cos(T), M @ xp.sin(T)], axis=1)
                total = xp.astype(part, xp.float64) + total
        return total * self._factor

    def scores(self, X: Any, V: FloatArray) -> Any:
        """φ(X)Vᵀ, (n, k) in float64 on the device of X."""
        fused, xp, M = self._fused, namespace(X), V.shape[1] // 2
        units = row_units(V)
        V = V / units[:, None]
        if fused is not None:
            there = self._try(lambda: fused.scores(X, V, np.ones(len(V))))
            if there is not None:
                return xp.astype(there, xp.float64) * send(units, X)
        cosines, sines = (send(part.T, X, self.dtype) for part in (V[:, :M], V[:, M:]))
        found = []
        with full_precision(X):
            for rows in row_blocks_on(X, M):
                T = self.phases(X[rows, ...])
                block = xp.cos(T) @ cosines + xp.sin(T) @ sines
                found.append(xp.astype(block, xp.float64) * send(units, X))
        return xp.concat(found, axis=0)

    def assign(self, X: Any, V: FloatArray) -> Any | None:
        """The position of the largest score of each point; None where that takes all scores."""
        fused, units = self._fused, row_units(V)
        if fused is None:
            return None
        V, units = V / units[:, None], units / units.max()
        return self._try(lambda: fused.assign(X, V, units))

    def _try(self, function: Callable[[], tuple[Any, float]]) -> Any | None:
        """What the fused kernels compute, with the largest coordinate; None where they cannot."""
        found = try_fused(function)
        if found is None:
            return None
        self._reach(found[1] * self._scale)
        return found[0]


def _frequencies_on(like: Any, directions: FloatArray, lengths: FloatArray, dtype: Any) -> Any:
    return send((directions * lengths[:, None]).T, like, dtype)
