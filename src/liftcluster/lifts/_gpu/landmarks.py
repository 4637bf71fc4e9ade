"""Sums and scores of similarities with landmarks on NVIDIA GPUs, by fused Triton kernels.

In float64 throughout: the weights of landmarks are large and cancel, which float32 would not
survive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._util.arrays import namespace, send
from ..._util.typing import FloatArray
from .device import Members, row_blocks_on
from .fused import check_memberships
from .running import SIMILARITIES, can_use_kernels_for, triton_kernels

_AXES = 128  # in more dimensions matrix products in steps are faster
_BANDWIDTHS = 1e-100, 1e100  # whose squares float64 holds
_POINTS, _LANDMARKS = 32, 64  # of one step of a sum
_SCORED, _NEAR, _TILE = 64, 32, 64  # points and vectors of one program, landmarks of a step
_CHUNK = 1024, 16384  # points that one program sums, at least and at most
_PARTS_BYTES = 2**29  # of sums of chunks at a time


def can_fuse(X: Any, bandwidth: float) -> bool:
    """Whether the kernels can be used for these points."""
    low, high = _BANDWIDTHS
    return X.shape[1] <= _AXES and low < bandwidth < high and can_use_kernels_for(X, SIMILARITIES)


class FusedSimilarities:
    """exp(−‖x − l‖²/2h²) of points on a GPU with (r, d) landmarks l, for the bandwidth h."""

    def __init__(self, landmarks: FloatArray, bandwidth: float, X: Any) -> None:
        self.r, self.d = landmarks.shape
        self._landmarks = send(np.ascontiguousarray(landmarks.T, dtype=np.float64), X)
        self._exponent = send(np.array([-0.5 / bandwidth**2]), X)

    def sums(self, X: Any, members: Members) -> Any:
        """(s, r) sums of the points of each cluster."""
        check_memberships(members)
        xp, X, s = namespace(X), X.contiguous(), members.shape[1]
        tile = 64 if s <= 64 else 128
        tiles = -(-s // tile)
        edges = np.concatenate([[0], np.cumsum(members.sizes)[:-1]]).astype(np.int32)
        first, labels = send(edges, X), xp.stack(list(members.codes))
        least, most = _CHUNK
        chunk = min(max(1 << (len(X) // 64).bit_length(), least), most)
        batch = max(_PARTS_BYTES // (8 * tiles * tile * self.r), 1) * chunk
        total: Any = 0.0
        for start in range(0, len(X), batch):
            rows = slice(start, min(start + batch, len(X)))
            size = rows.stop - rows.start
            chunks = -(-size // chunk)
            # Triton chooses the layout of a product by the narrowest numbers that it comes from.
            codes = xp.astype(labels[:, rows], xp.int32).contiguous()
            parts = X.new_empty((chunks, tiles * tile, self.r), dtype=xp.float64)
            triton_kernels(SIMILARITIES).sum_similarities[
                (-(-self.r // _LANDMARKS), chunks, tiles)
            ](
                X[rows],
                self._landmarks,
                self._exponent,
                codes,
                first,
                parts,
                size,
                self.d,
                self.r,
                size,
                PARTITIONS=len(codes),
                TILE=tile,
                CHUNK=chunk,
                POINTS=_POINTS,
                LANDMARKS=_LANDMARKS,
                num_warps=4,
            )
            total = parts.sum(dim=0) + total
        return total[:s]

    def scores(self, X: Any, V: FloatArray) -> Any:
        """(n, k) products with (k, r) weights of the landmarks."""
        xp, X, k = namespace(X), X.contiguous(), len(V)
        tile = min(max(1 << (k - 1).bit_length(), 16), _TILE)
        columns = -(-k // tile) * tile
        weights = X.new_zeros((self.r, columns), dtype=xp.float64)
        weights[:, :k] = send(V, X).T
        found = X.new_empty((len(X), columns), dtype=xp.float64)
        triton_kernels(SIMILARITIES).score_similarities[(-(-len(X) // _SCORED), columns // tile)](
            X,
            self._landmarks,
            self._exponent,
            weights,
            found,
            len(X),
            self.d,
            self.r,
            COLUMNS=columns,
            TILE=tile,
            POINTS=_SCORED,
            LANDMARKS=_NEAR,
            num_warps=4,
        )
        return found[:, :k]

    def assign(self, X: Any, V: FloatArray) -> Any:
        """(n,) position of the largest of these products."""
        blocks = row_blocks_on(X, max(len(V), 16))
        return namespace(X).concat([self.scores(X[rows], V).argmax(dim=1) for rows in blocks])
