"""Random Fourier features on a device: cosines and sines of phases."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..._util.arrays import namespace, send, without_gradients
from ..._util.typing import FloatArray
from .device import memberships_on, row_blocks_on, row_units
from .triton_sums import try_triton_sums


class DeviceFeatures:
    """(cos t₁, …, cos t_M, sin t₁, …, sin t_M) of the phases t = ω·(x − centre), in one precision.

    Frequencies and centre are transferred once. ``max_coordinate`` is the largest distance of a
    coordinate from the centre so far; reading it waits for the device.
    """

    def __init__(
        self, frequencies: FloatArray, scale: float, centre: FloatArray, X: Any, dtype: Any
    ) -> None:
        xp = namespace(X)
        single = dtype == np.float32
        self.dtype = xp.float32 if single else xp.float64
        # In float32 the frequencies are divided by the unit of length, which saves a pass.
        self.unit, W = (1.0, frequencies / scale) if single else (scale, frequencies)
        self.weights = send(W.T, X, self.dtype)
        # Points are centred in their own precision.
        self._centring_dtype = X.dtype if single else xp.float64
        # With c as a sum of two numbers, x − c is accurate to the last bit in float32 too.
        with np.errstate(over="ignore"):  # far points are redone in double precision
            high = centre.astype(np.float32) if self._centring_dtype == xp.float32 else centre
        self.high = send(high, X, self._centring_dtype)
        self.low = send(centre - high, X, self._centring_dtype)
        self._max_coordinate: Any = None

    def copy(self) -> DeviceFeatures:
        """The same map with ``max_coordinate`` reset."""
        new = copy(self)
        new._max_coordinate = None
        return new

    @property
    def max_coordinate(self) -> float:
        """NaN if any coordinate was."""
        return 0.0 if self._max_coordinate is None else float(self._max_coordinate)

    @property
    def n_phases(self) -> int:
        return int(self.weights.shape[1])

    def centred(self, X: Any) -> Any:
        xp = namespace(X)
        U = (xp.astype(X, self._centring_dtype, copy=False) - self.high) - self.low
        values = without_gradients(U)
        largest = xp.maximum(xp.max(values), -xp.min(values))
        previous = self._max_coordinate
        self._max_coordinate = largest if previous is None else xp.maximum(previous, largest)
        U = xp.astype(U, self.dtype, copy=False)
        return U if self.unit == 1 else U / self.unit

    def phases(self, X: Any) -> Any:
        return self.centred(X) @ self.weights

    def features(self, X: Any) -> Any:
        """(b, 2M) of a block of points."""
        xp, T = namespace(X), self.phases(X)
        return xp.concat([xp.cos(T), xp.sin(T)], axis=1)

    def sums(self, X: Any, R: Any) -> FloatArray:
        """Rᵀφ(X), (s, 2M), without concatenating cosines and sines."""
        xp, members = namespace(X), memberships_on(X, R)
        if self.dtype == xp.float32:
            total = try_triton_sums(self.centred, self.weights, X, members)
            if total is not None:
                return members.scale(total)
        total = 0.0
        for rows in row_blocks_on(X, self.n_phases):
            T = self.phases(X[rows, ...])
            M = members.transposed(rows, T)
            part = xp.concat([M @ xp.cos(T), M @ xp.sin(T)], axis=1)
            total = xp.astype(part, xp.float64) + total
        return members.scale(total)

    def scores(self, X: Any, V: FloatArray) -> Any:
        """φ(X)Vᵀ, (n, k) in float64 on the device of X."""
        xp, M = namespace(X), self.n_phases
        units = row_units(V)
        cosines, sines = (
            send((part / units[:, None]).T, X, self.dtype) for part in (V[:, :M], V[:, M:])
        )
        found = []
        for rows in row_blocks_on(X, M):
            T = self.phases(X[rows, ...])
            block = xp.cos(T) @ cosines + xp.sin(T) @ sines
            found.append(xp.astype(block, xp.float64) * send(units, X))
        return xp.concat(found, axis=0)
