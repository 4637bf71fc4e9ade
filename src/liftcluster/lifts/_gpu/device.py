"""Sums and scores of points on a device, by blocks of features computed there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.arrays import fetch, full_precision, is_constant, namespace, send
from ..._util.typing import FloatArray
from ...partitions.stack import MatrixRows, Rows, as_rows

if TYPE_CHECKING:
    from ...partitions.partition import Partition

_BLOCK_BYTES = 2**30  # of float64 features in a block: enough to keep a GPU busy


@dataclass(frozen=True, eq=False)
class Members:
    """Weighted memberships R on a device: as codes and weights, or sent block by block."""

    rows: Rows
    units: FloatArray  # (s,), of the weights in each column, which may exceed float32
    codes: tuple[Any, ...] = ()  # (n,) cluster of each point by partition, where all are hard
    sizes: tuple[int, ...] = ()  # k of each partition
    weights: tuple[Any, ...] = ()  # (n,) in these units; None where all are equal
    counts: Any = None  # (s,) points of each cluster, where known
    scaled: bool = True  # whether some unit is not one

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def largest(self) -> tuple[int, ...]:
        """The largest cluster of each partition, -1 for one that leaves points out."""
        n, rest, found = self.shape[0], iter(self.counts.tolist()), []
        for k in self.sizes:
            counts = [*islice(rest, k)]
            found.append(counts.index(max(counts)) if sum(counts) == n else -1)
        return tuple(found)

    @property
    def code_matrix(self) -> Any:
        """(m, n) codes; without a copy where they are the rows of one array."""
        codes, whole, n = self.codes, self.codes[0]._base, self.shape[0]
        if whole is not None and whole.shape == (len(codes), n) and whole.is_contiguous():
            rows = enumerate(codes)
            if all(c._base is whole and c.storage_offset() == i * n for i, c in rows):
                return whole
        return namespace(codes[0]).stack(list(codes))

    def block(self, rows: slice, Z: Any) -> Any:
        """(b, s) dense memberships of some points, with the dtype and on the device of Z."""
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
        """(s, b), the transpose of ``block``."""
        return namespace(Z).permute_dims(self.block(rows, Z), (1, 0))

    def scale(self, sums: Any) -> FloatArray:
        """Sums in main memory, in the original units of the weights."""
        return fetch(sums * send(self.units, sums)[:, None] if self.scaled else sums)


def memberships_on(X: Any, R: Any) -> Members:
    """Memberships on the device of X. Codes are transferred once, in the smallest integer type."""
    if isinstance(R, Members):
        return R
    R = as_rows(R, X.shape[0])
    if isinstance(R, MatrixRows):
        largest = np.abs(R.matrix.data).max(initial=0.0)
        return Members(R, np.full(R.shape[1], largest or 1.0))
    parts = list(R.partitions.values())
    known = [p.encoding for p in parts]
    if None not in known:
        sizes = tuple(len(encoding.names) for encoding in known)
        units, weights = np.ones(sum(sizes)), (None,) * len(parts)
        codes = _codes_on(X, parts)
        return Members(R, units, codes, sizes, weights, R.cluster_weights, scaled=False)
    sizes = tuple(p.k for p in parts)
    largest = [float(p.weights[0] if is_constant(p.weights) else p.weights.max()) for p in parts]
    units, scaled = np.repeat(largest, sizes), any(unit != 1 for unit in largest)
    if not all(p.is_hard for p in parts):
        return Members(R, units, scaled=scaled)
    shares = [None if is_constant(p.weights) else p.weights / p.weights.max() for p in parts]
    weights = tuple(w if w is None else send(w, X) for w in shares)
    counts = np.rint(R.cluster_weights / units)
    return Members(R, units, _codes_on(X, parts), sizes, weights, counts, scaled)


def _codes_on(X: Any, partitions: list[Partition]) -> tuple[Any, ...]:
    """Codes of the clusters on the device of X, in the smallest integer type."""
    kind, device, found = type(X), X.device, []
    for p in partitions:
        codes = p.device_codes
        if type(codes) is not kind or codes.device != device:
            codes = send(p.assignment.astype(np.min_scalar_type(-1 - p.k)), X)
        found.append(codes)
    return tuple(found)


def row_blocks_on(X: Any, width: int) -> Iterator[slice]:
    """Blocks of the points of X for which ``width`` numbers per point fit in memory."""
    size = max(_BLOCK_BYTES // (8 * max(width, 1)), 256)
    for start in range(0, X.shape[0], size):
        yield slice(start, min(start + size, X.shape[0]))


def device_sums(features: Callable[[Any], Any], X: Any, R: Any, width: int) -> FloatArray:
    """Rᵀφ(X), (s, ρ), in the precision of the features with float64 totals."""
    xp, members, total = namespace(X), memberships_on(X, R), 0.0
    with full_precision(X):
        for rows in row_blocks_on(X, width):
            Z = features(X[rows, ...])
            total = xp.astype(members.transposed(rows, Z) @ Z, xp.float64) + total
    return members.scale(total)


def device_scores(features: Callable[[Any], Any], X: Any, V: FloatArray, width: int) -> Any:
    """φ(X)Vᵀ, (n, k) in float64 on the device of X."""
    xp, units, found = namespace(X), row_units(V), []
    with full_precision(X):
        for rows in row_blocks_on(X, width):
            Z = features(X[rows, ...])
            scores = Z @ send((V / units[:, None]).T, Z, Z.dtype)
            found.append(xp.astype(scores, xp.float64) * send(units, Z))
    return xp.concat(found, axis=0)


def row_units(V: FloatArray) -> FloatArray:
    """The largest entry of each vector; in this unit vectors do not overflow float32."""
    largest = np.abs(V).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(largest, np.finfo(np.float64).tiny))
