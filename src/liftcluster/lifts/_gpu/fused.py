"""One kernel for NVIDIA GPUs from points to sums: phases, cosines and sums never leave the chip.

Written in Triton, which comes with torch. Without it, or for points of many dimensions, where a
matrix product is the larger part of the work, :mod:`~liftcluster.lifts._gpu.waves` does the same in
several steps.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

from ..._util.arrays import has_tensor_cores, namespace
from .device import Members

__all__ = ["fused_sums", "may_fuse", "try_fused_sums"]

_MOST_DIMENSIONS = 32  # beyond, several steps are as quick
_CHUNK = 4096  # points whose sums are added up in float32, by truncation on the tensor cores
_BATCH = 2**22  # points at a time
_PART_BYTES = 2**29  # of the sums of their chunks, which are held
_MOST_PARTITIONS = 64  # which the kernel spells out one by one
_POINTS, _PHASES, _CLUSTERS = 64, 128, 128  # of one tile
_WARPS, _STAGES = 8, 1
_PIECES = 2  # of 11 bits each, which a cosine is cut into for the tensor cores

_gave_up = False  # after a failure: trying again would take as long, and fail again


def may_fuse(X: Any, members: Members) -> bool:
    """Whether the kernel can take these points and memberships."""
    hard = 0 < len(members.codes) <= _MOST_PARTITIONS and all(w is None for w in members.weights)
    few = X.shape[1] <= _MOST_DIMENSIONS and members.shape[1] < 2**15
    return hard and few and has_tensor_cores(X) and _kernel() is not None


def fused_sums(centred: Any, weights: Any, X: Any, members: Members) -> Any:
    """(s, 2M) sums of cosines and sines, in float64 on the device.

    ``centred`` takes points to their coordinates from the centre in float32, ``weights`` are
    (d, M) frequencies.
    """
    xp, n, M = namespace(X), X.shape[0], weights.shape[1]
    s, turns = members.shape[1], weights * (2 / math.pi)
    total = xp.zeros((s, 2 * M), dtype=xp.float64, device=X.device)
    chunks = max(_PART_BYTES // (4 * s * 2 * M), 1)
    batch = min(chunks * _CHUNK, _BATCH)
    for start in range(0, n, batch):
        rows = slice(start, min(start + batch, n))
        U = xp.permute_dims(centred(X[rows, ...]), (1, 0)).contiguous()  # read along the points
        total += _sums_of_batch(U, turns, _columns(xp, members, rows), s)
    return total


def _sums_of_batch(U: Any, turns: Any, columns: Any, s: int) -> Any:
    """(s, 2M) sums of some points, whose coordinates are (d, b)."""
    import triton

    xp, (d, b), M, m = namespace(U), U.shape, turns.shape[1], columns.shape[0]
    chunks = triton.cdiv(b, _CHUNK)
    parts = xp.empty((chunks, s, 2 * M), dtype=xp.float32, device=U.device)
    grid = (triton.cdiv(M, _PHASES), triton.cdiv(s, _CLUSTERS), chunks)
    _kernel()[grid](
        U,
        turns,
        columns,
        parts,
        b,
        M,
        s,
        D=d,
        AXES=max(triton.next_power_of_2(d), 16),
        PARTITIONS=m,
        CHUNK=_CHUNK,
        POINTS=_POINTS,
        PHASES=_PHASES,
        CLUSTERS=_CLUSTERS,
        PIECES=_PIECES,
        num_warps=_WARPS,
        num_stages=_STAGES,
    )
    return xp.sum(parts, axis=0, dtype=xp.float64)


def _columns(xp: Any, members: Members, rows: slice) -> Any:
    """(m, b) column of R that each point is in, by partition; -1 for none."""
    found, first = [], 0
    for codes, k in zip(members.codes, members.sizes, strict=True):
        part = xp.astype(codes[rows], xp.int16)
        found.append(xp.where(part >= 0, part + first, part))
        first += k
    return xp.stack(found, axis=0)


def try_fused_sums(centred: Any, weights: Any, X: Any, members: Members) -> Any | None:
    """The same, or None where Triton cannot compile or run it: no compiler, say, or no room."""
    global _gave_up
    if _gave_up or not may_fuse(X, members):
        return None
    try:
        return fused_sums(centred, weights, X, members)
    except Exception as error:  # Triton raises many kinds, and there is another way
        _gave_up = "memory" not in str(error).lower()
        warnings.warn(
            f"the fused kernel does not run here ({type(error).__name__}: {error}); the sums are "
            "made in several steps instead",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


@cache
def _kernel() -> Any:
    """The kernel, if Triton is there to compile it."""
    try:
        from ._triton import sum_waves
    except ImportError:
        return None
    return sum_waves
