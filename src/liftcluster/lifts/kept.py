"""Features of fixed points, computed block by block, or computed once and kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._util.arrays import is_constant
from .._util.typing import Array, FloatArray
from ..partitions.stack import Rows
from ._gpu.device import row_units
from .native import VALUES, FeatureMap, Members, add_over_runs, map_sums

_ROWS = 512  # whose features are held at a time


class FeatureBlocks:
    """Features of points by a map of the compiled kernels.

    With ``keep`` the first pass writes them to memory, where later ones read them. Each pass raises
    OutOfReach where a point is too far away for the map.
    """

    def __init__(self, map: FeatureMap, X: Array, *, keep: bool) -> None:
        self.map, self.X, width = map, X, map.n_features
        self._values = FeatureMap(VALUES, np.zeros(width), math.inf, map.double, width)
        self._kept = np.empty((len(X), width), dtype=map.dtype) if keep else None
        self._is_filled = False

    def sums(self, R: Rows) -> FloatArray:
        """Rᵀφ(X), (s, n_features)."""
        if self._kept is None:
            return map_sums(self.map, self.X, R)
        members = Members(R)

        def add(rows: slice, out: FloatArray) -> None:
            for block in _blocks(rows):
                F = self._features(block)
                self._values.call("sums", F, members.rows(block), out)

        return members.scale(self._add_over_runs(add, R.shape[1]))

    def score(self, V: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """φ(X)Vᵀ, (n, k), and weighted sums of the points by their largest score."""
        k, scores, units = len(V), np.empty((len(self.X), len(V))), row_units(V)
        vectors = np.ascontiguousarray(V / units[:, None], dtype=self.map.dtype)
        same, weights = is_constant(weights), np.ascontiguousarray(weights, dtype=np.float64)

        def add(rows: slice, out: FloatArray) -> None:
            by_map = self._kept is None
            for block in self.map.blocks(rows) if by_map else _blocks(rows):
                map, given = self.map, self.X[block]
                if not by_map:
                    map, given = self._values, self._features(block)
                own = None if same else weights[block]
                map.call("assign", given, vectors, k, units, own, scores[block], out)

        total = self._add_over_runs(add, k)
        return scores, total * weights[0] if same else total

    def _add_over_runs(self, add: Any, s: int) -> FloatArray:
        shape, uses_blas = (s, self.map.n_features), self.map.by_blas and not self._is_filled
        total = add_over_runs(add, len(self.X), shape, uses_blas=uses_blas)
        self._is_filled = self._kept is not None
        return total

    def _features(self, block: slice) -> Array:
        """What is kept of a block, computed if this is the first pass."""
        assert self._kept is not None
        F = self._kept[block]
        if not self._is_filled:
            self.map.call("features", self.X[block], F)
        return F


def _blocks(rows: slice) -> list[slice]:
    starts = range(rows.start, rows.stop, _ROWS)
    return [slice(start, min(start + _ROWS, rows.stop)) for start in starts]
