"""Sums and scores of Fourier features on NVIDIA GPUs by fused Triton kernels.

Triton is installed with torch. Without it, with weights or soft memberships,
:mod:`~liftcluster.lifts._gpu.fourier_features` computes them in steps.

Fast: points and features are rounded to float16, which costs a relative error of about
2·10⁻⁴ (1 + r) / (√n ‖μ‖) in the sum of a cluster of n points with mean embedding μ, where r is the
root mean square of the distances from the centre in bandwidths; 3·10⁻⁴ where all points are copies
of one. Precise: each is two float16, and the error that of float32. Sums are computed precisely
where the fast ones would be off by more than a tenth of what random features are.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._util.arrays import array_to_fetch, namespace, send
from ..._util.typing import FloatArray
from .columns import columns_on
from .running import Unfit, triton_kernels
from .weights import Weights, make_weights

if TYPE_CHECKING:
    from ...partitions.stack import Rows
    from .device import Members

_PARTITIONS, _CLUSTERS = 64, 1024  # more are summed in steps: tiles would repeat all features
_UNITS = 64.0  # of a float16 number in a bandwidth: it holds a thousand of them
_POINTS, _PHASES = 64, 64  # of one step of a kernel
_ROWS = 256  # labels of one program
_SCORED, _TILE = 128, 64  # points and vectors of one program
# Points that are summed in float32, which the tensor cores truncate.
_FAST_CHUNK, _PRECISE_CHUNK = 16384, 4096
_BATCH_BYTES = 2**30  # of points, products and sums of chunks at a time
_ADDED_AT_ONCE = 64  # sums of chunks; more are added up by a kernel of their own
_FINISHED = 16  # phases of one program
_FEW = 2**14  # points that are summed precisely in no time
_ERROR, _TOLERATED = 2e-4, 1e-4

Source = tuple[Any, Any]  # points or products with them, and the extent of the points


class _Sums(NamedTuple):
    """Sums in main memory, and what their error is estimated from.

    Norms are computed on the device: the host would wait for the memory that they are read from.
    """

    sums: FloatArray  # (s, 2M)
    largest: float  # coordinate, in bandwidths
    squares: float  # sum of the squares of all coordinates
    lengths: FloatArray  # (s,) squared norms of the sums


class FusedFeatures:
    """The features of one lift on one GPU, in float16 with sums in float32 and totals in float64.

    Parameters
    ----------
    directions, lengths : (M, d) and (M,) arrays
        The frequencies in units of 1/bandwidth are lengths times directions, which have few bits.
    bandwidth, factor : float
        Sums are multiplied by the factor.
    high, low : (d,) arrays on the device
        The centre.
    """

    def __init__(
        self,
        directions: FloatArray,
        lengths: FloatArray,
        bandwidth: float,
        factor: float,
        high: Any,
        low: Any,
    ) -> None:
        self.n_phases, self.d = directions.shape
        self.padded = -(-self.n_phases // _PHASES) * _PHASES
        self._directions = directions
        self._high, self._low, self._xp = high, low, namespace(high)
        self._scale, self._factor = _UNITS / bandwidth, factor
        radians = np.zeros(self.padded, dtype=np.float32)
        radians[: self.n_phases] = lengths / _UNITS
        self._radians = send(radians, high)
        self._weights: dict[bool, Weights] = {}
        self._columns_for = lru_cache(maxsize=64)(partial(columns_on, high, factor))

    def _weights_for(self, precise: bool) -> Weights:
        if precise not in self._weights:
            made = make_weights(self._directions, self.padded, self._high, precise=precise)
            self._weights[precise] = made
        return self._weights[precise]

    def begin(self, X: Any, R: Rows) -> Source | None:
        """The source of fast sums, where all points are likely to be one batch.

        What comes after it needs the numbers of clusters. The device counts the labels early in its
        longest work, so that neither it nor the host waits long for the other.
        """
        n, weights = X.shape[0], self._weights_for(False)  # len of an array of torch is slow
        if not _FEW < n <= _BATCH_BYTES // weights.bytes_of_source:
            return None
        chunk = _chunk(weights, precise=False)
        chunks = -(-n // chunk)
        halves, extent = self._halve(X, weights, chunks * chunk, chunks, chunk)
        if weights.is_narrow:
            R.begin()
            return halves, extent
        products, early = self._new_products(halves), halves.shape[0] // 4
        late = halves[early:], weights, products[early:]
        self._multiply(halves[:early], weights, products[:early])
        R.begin()
        self._multiply(*late)
        return products, extent

    def sums(
        self, X: Any, members: Members, begun: Source | None = None
    ) -> tuple[FloatArray, float]:
        """(s, 2M) sums in main memory, and the largest coordinate relative to the centre.

        The latter is in bandwidths, infinite if a coordinate is not finite.
        """
        check_memberships(members)
        n, counts = X.shape[0], members.counts
        if n > _FEW and _ERROR / math.sqrt(max(counts.min(), 1.0)) < _TOLERATED:
            wholes = counts * (self._factor**2 * self.n_phases)
            found = self._sums(X, members, precise=False, begun=begun)
            if not math.isfinite(found.largest):
                return found.sums, found.largest
            # The mean embedding of a cluster is as long as the mean of its features.
            least, radius = math.sqrt((found.lengths / wholes).min()), math.sqrt(found.squares / n)
            if least and _ERROR * (1 + radius) / least < _TOLERATED:
                return found.sums, found.largest
        del begun
        found = self._sums(X, members, precise=True)
        return found.sums, found.largest

    def _sums(
        self, X: Any, members: Members, *, precise: bool, begun: Source | None = None
    ) -> _Sums:
        xp, kernels, weights = self._xp, triton_kernels(), self._weights_for(precise)
        columns, first, bits, expand = self._columns_for(members.sizes, members.largest)
        n, labels = X.shape[0], members.code_matrix
        phases = self._phases_of_program(weights, columns.tile, precise)
        chunk = _chunk(weights, precise)
        width = columns.tiles * columns.tile
        held = weights.bytes_of_source + 4 * columns.words + 8 * self.padded * width // chunk
        batch = max(_BATCH_BYTES // held // chunk, 1) * chunk
        total, extents = None, []
        for start in range(0, n, batch):
            size = min(batch, n - start)
            chunks = -(-size // chunk)
            if begun is None or size < n:
                begun = self._source(
                    X[start : start + size], weights, chunks * chunk, chunks, chunk
                )
            source, extent = begun
            begun = None
            extents.append(extent)
            words = X.new_empty((chunks * chunk, columns.words), dtype=xp.int32)
            kernels.pack_labels[(chunks * chunk // _ROWS,)](
                labels[:, start:],
                first,
                bits,
                words,
                size,
                labels.stride(0),
                chunks,
                PARTITIONS=len(members.codes),
                WORDS=columns.words,
                CHUNK=chunk,
                ROWS=_ROWS,
            )
            parts = X.new_empty((chunks, 2 * self.padded, width), dtype=xp.float32)
            kernels.sum_features[(self.padded // phases * (1 + precise), chunks, columns.tiles)](
                source,
                weights.matrix,
                self._radians,
                words,
                parts,
                self.padded,
                WIDTH=weights.width if weights.is_narrow else 16,
                STORED=not weights.is_narrow,
                PRECISE=precise,
                TILE=columns.tile,
                WORDS=columns.words,
                CHUNK=chunk,
                POINTS=_POINTS,
                PHASES=phases,
                num_warps=4,
                **(_registers(weights, precise) if X.is_cuda else {}),
            )
            if size == n and chunks <= _ADDED_AT_ONCE:
                break
            if total is None:
                total = X.new_zeros((2 * self.padded, width), dtype=xp.float64)
            kernels.add_parts[(total.numel() // 128,)](
                parts, total, chunks, total.numel(), ROWS=16, BLOCK=128, num_warps=8
            )
            parts, chunks = total, 1
        return self._finish(parts, chunks, expand, _one(extents))

    def _phases_of_program(self, weights: Weights, tile: int, precise: bool) -> int:
        """Twice as many where they fit: memberships are read half as often."""
        fits = not weights.is_narrow and tile == 64 and not precise
        return 2 * _PHASES if fits and self.padded % (2 * _PHASES) == 0 else _PHASES

    def _finish(self, parts: Any, n_parts: int, expand: Any, extent: Any) -> _Sums:
        """Sums of clusters and the extent of all points, at once in main memory."""
        s, width = expand.shape
        size, blocks = s * 2 * self.n_phases, 2 * self.padded // _FINISHED
        out, read = array_to_fetch(size + 2 + s * blocks, expand)
        clusters = 64 if s <= 64 else 128
        triton_kernels().finish_sums[(blocks + 1, -(-s // clusters))](
            parts,
            expand,
            extent,
            out,
            n_parts,
            extent.shape[0],
            s,
            self.n_phases,
            self.padded,
            WIDTH=width,
            COLUMNS=32,
            PARTS=8,
            PHASES=_FINISHED,
            CLUSTERS=clusters,
            EXTENTS=4096,
            num_warps=8,
        )
        found = read()
        largest, squares = found[size : size + 2].tolist()
        lengths = found[size + 2 :].reshape(blocks, s).sum(axis=0)
        return _Sums(found[:size].reshape(s, -1), largest, squares, lengths)

    def _source(
        self, X: Any, weights: Weights, rows: int, chunks: int = 1, chunk: int = 64
    ) -> Source:
        """The points as float16; in many dimensions their products with the frequencies."""
        halves, extent = self._halve(X, weights, rows, chunks, chunk)
        if weights.is_narrow:
            return halves, extent
        products = self._new_products(halves)
        self._multiply(halves, weights, products)
        return products, extent

    def _halve(
        self, X: Any, weights: Weights, rows: int, chunks: int, chunk: int
    ) -> tuple[Any, Any]:
        """The points as float16, spread over chunks; one chunk leaves them in order."""
        xp, X = self._xp, X.contiguous()
        halves = X.new_empty((rows, weights.width), dtype=xp.float16)
        at_once = min(max(1024 // weights.columns, 1), 64)  # which divides the rows
        extent = X.new_empty((rows // at_once, 2), dtype=xp.float32)
        triton_kernels().halve_points[(rows // at_once,)](
            X,
            self._high,
            self._low,
            halves,
            extent,
            X.shape[0],
            self.d,
            self._scale,
            1 / _UNITS,
            chunks,
            STEP=weights.step,
            WIDTH=weights.width,
            PARTS=weights.parts,
            LOW_PART=weights.low_part,
            CHUNK=chunk,
            ROWS=at_once,
            COLUMNS=weights.columns,
            num_warps=2,
        )
        return halves, extent

    def _new_products(self, halves: Any) -> Any:
        return halves.new_empty((halves.shape[0], self.padded), dtype=self._xp.float32)

    def _multiply(self, halves: Any, weights: Weights, out: Any) -> None:
        """Products with the frequencies, in float32."""
        if halves.is_cuda:
            self._xp.mm(halves, weights.transposed, out_dtype=self._xp.float32, out=out)
        else:
            self._xp.matmul(halves.float(), weights.transposed.float(), out=out)

    def scores(self, X: Any, V: FloatArray, units: FloatArray) -> tuple[Any, float]:
        """(n, k) precise inner products with vectors of 2M numbers, and the largest coordinate.

        In float32 on the device; ``V`` has numbers up to 1, in these units.
        """
        return self._scores(X, V, units, precise=True, best=False)

    def assign(self, X: Any, V: FloatArray, units: FloatArray) -> tuple[Any, float]:
        """(n,) position of the largest score of each point, and the largest coordinate."""
        if len(V) <= _TILE:
            return self._scores(X, V, units, precise=False, best=True)
        scores, largest = self._scores(X, V, units, precise=False, best=False)
        return scores.argmax(dim=1), largest

    def _scores(
        self, X: Any, V: FloatArray, units: FloatArray, *, precise: bool, best: bool
    ) -> tuple[Any, float]:
        xp, kernels, weights = self._xp, triton_kernels(), self._weights_for(precise)
        n, k = X.shape[0], len(V)
        tile = min(max(1 << (k - 1).bit_length(), 16), _TILE)
        width = -(-k // tile) * tile
        pairs = send(V, X).view(k, 2, -1).permute(1, 2, 0)
        vectors = xp.zeros((2, 2, self.padded, width), dtype=xp.float16, device=X.device)
        vectors[0, :, : self.n_phases, :k] = pairs
        vectors[1, :, : self.n_phases, :k] = pairs - vectors[0, :, : self.n_phases, :k]
        sent_units = send(np.pad(units, (0, width - k)).astype(np.float32), X)
        held = weights.bytes_of_source + 4 * width
        batch = max(_BATCH_BYTES // held // _SCORED, 1) * _SCORED
        found, extents = [], []
        for start in range(0, n, batch):
            size = min(batch, n - start)
            blocks = -(-size // _SCORED)
            source, extent = self._source(X[start : start + size], weights, blocks * _SCORED)
            extents.append(extent)
            shape, dtype = ((), xp.int64) if best else ((width,), xp.float32)
            out = X.new_empty((blocks * _SCORED, *shape), dtype=dtype)
            kernels.score_points[(blocks, width // tile)](
                source,
                weights.matrix,
                self._radians,
                vectors,
                sent_units,
                out,
                self.padded,
                k,
                WIDTH=weights.width if weights.is_narrow else 16,
                STORED=not weights.is_narrow,
                PRECISE=precise,
                BEST=best,
                POINTS=_SCORED,
                PHASES=_PHASES,
                COLUMNS=tile,
                num_warps=4,
            )
            found.append(out[:size] if best else out[:size, :k])
        return _one(found), float(_joined(extents)[0])


def check_memberships(members: Members) -> None:
    """Raise Unfit unless memberships are labels of points of equal weight, and not too many."""
    hard = 0 < len(members.codes) <= _PARTITIONS and all(w is None for w in members.weights)
    if not hard or members.shape[1] > _CLUSTERS:
        raise Unfit


def _chunk(weights: Weights, precise: bool) -> int:
    """Number of points that are summed in float32."""
    return _PRECISE_CHUNK if precise or not weights.is_narrow else _FAST_CHUNK


def _registers(weights: Weights, precise: bool) -> dict[str, int]:
    """Room for three programs on a multiprocessor, where the numbers of one fit."""
    fits = weights.is_narrow and weights.width <= 64 and not precise
    return {"maxnreg": 168} if fits else {}


def _joined(extents: list[Any]) -> Any:
    """Largest coordinate and sum of squares of all batches, in bandwidths."""
    extent = _one(extents)
    return namespace(extent).stack([extent[:, 0].max(), extent[:, 1].sum()])


def _one(parts: list[Any]) -> Any:
    """The parts one after another."""
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)
