"""Sums and scores of points that live on a device: blocks of features, made and used up there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.arrays import full_precision, is_one_number, namespace, send, to_numpy
from ..._util.typing import Array, FloatArray
from ...partitions.stack import MatrixRows, Rows, as_rows

__all__ = ["Members", "device_scores", "device_sums", "members_on", "row_units", "rows_of"]

# Of float64 features in a block. Large enough to keep a GPU busy, small beside its memory.
_BLOCK_BYTES = 2**30

Features = Callable[[Any], Any]  # of a block of points, (b, d) to (b, ρ)


@dataclass(frozen=True, eq=False)
class Members:
    """Weighted memberships R beside the points: codes and weights, or blocks sent as they come."""

    rows: Rows
    units: FloatArray  # (s,), of the weights in each column: single floats end at 1e38
    codes: tuple[Any, ...] = ()  # (n,) integers of each partition, where all are hard
    sizes: tuple[int, ...] = ()  # k of each
    weights: tuple[Any, ...] = ()  # (n,) in their units; None where all points weigh the same

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    def block(self, rows: slice, Z: Any) -> Any:
        """(b, s) memberships of some points, dense, in the type and on the device of Z."""
        if not self.codes:
            return send(self.rows.rows(rows).toarray() / self.units, Z, Z.dtype)
        xp = namespace(Z)
        columns = []
        for codes, k, w in zip(self.codes, self.sizes, self.weights, strict=True):
            names = xp.arange(k, dtype=codes.dtype, device=Z.device)
            inside = xp.astype(codes[rows][:, None] == names[None, :], Z.dtype)
            if w is not None:
                inside *= xp.astype(w[rows], Z.dtype)[:, None]
            columns.append(inside)
        return xp.concat(columns, axis=1)

    def transposed(self, rows: slice, Z: Any) -> Any:
        """The same as (s, b), ready to be multiplied with Z."""
        return namespace(Z).permute_dims(self.block(rows, Z), (1, 0))

    def scale(self, sums: Any) -> FloatArray:
        """Sums in main memory, in the units of the weights as they were given."""
        return np.asarray(to_numpy(sums) * self.units[:, None])


def members_on(X: Any, R: Any) -> Members:
    """Memberships where the points X are. Codes travel once, in as few bytes as they need."""
    if isinstance(R, Members):
        return R
    R = as_rows(R, X.shape[0])
    if isinstance(R, MatrixRows):
        largest = np.abs(R.matrix.data).max(initial=0.0)
        return Members(R, np.full(R.shape[1], largest or 1.0))
    parts = list(R.partitions.values())
    sizes = tuple(p.k for p in parts)
    units = np.repeat([float(p.weights.max()) for p in parts], sizes)
    if not all(p.is_hard for p in parts):
        return Members(R, units)
    return Members(
        R,
        units,
        tuple(send(_short(p.assignment, p.k), X) for p in parts),
        sizes,
        tuple(
            None if is_one_number(p.weights) else send(p.weights / p.weights.max(), X)
            for p in parts
        ),
    )


def _short(codes: Array, k: int) -> Array:
    return codes.astype(np.int8 if k < 128 else np.int16 if k < 2**15 else np.int32)


def rows_of(X: Any, width: int) -> Iterator[slice]:
    """Blocks of the points of which ``width`` numbers each are held at a time."""
    size = max(_BLOCK_BYTES // (8 * max(width, 1)), 256)
    n = X.shape[0]
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def device_sums(features: Features, X: Any, R: Any, width: int) -> FloatArray:
    """Rᵀφ(X), (s, ρ), in the precision of the features with float64 totals."""
    xp, members, total = namespace(X), members_on(X, R), None
    with full_precision(X):
        for rows in rows_of(X, width):
            Z = features(X[rows, ...])
            part = xp.astype(members.transposed(rows, Z) @ Z, xp.float64)
            total = part if total is None else total + part
    return members.scale(total)


def device_scores(features: Features, X: Any, V: FloatArray, width: int) -> Any:
    """φ(X)Vᵀ, (n, k) in float64 on the device of X."""
    xp = namespace(X)
    with full_precision(X):
        blocks = [_scores(features(X[rows, ...]), V) for rows in rows_of(X, width)]
    return xp.concat(blocks, axis=0)


def row_units(V: FloatArray) -> FloatArray:
    """The largest entry of each vector: in units of it, single floats do not end at 1e38."""
    largest = np.abs(V).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(largest, np.finfo(np.float64).tiny))


def _scores(Z: Any, V: FloatArray) -> Any:
    xp, units = namespace(Z), row_units(V)
    scores = Z @ send((V / units[:, None]).T, Z, Z.dtype)
    return xp.astype(scores, xp.float64) * send(units, Z)
