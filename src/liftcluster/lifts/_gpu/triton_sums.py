"""Sums of Fourier features on NVIDIA GPUs by one fused Triton kernel.

Triton is installed with torch. Without it, or for points of many dimensions, where the matrix
product dominates, :mod:`~liftcluster.lifts._gpu.fourier_features` computes the sums in steps.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from ..._util.arrays import has_tensor_cores, namespace
from ..._util.warning import warn

if TYPE_CHECKING:
    from .device import Members


_MAX_DIMENSIONS = 32  # beyond, separate steps are as fast
_CHUNK = 4096  # points summed in float32, which tensor cores truncate
_BATCH = 2**22  # points at a time
_PART_BYTES = 2**29  # of the sums of all chunks of a batch
_MAX_PARTITIONS = 64  # the kernel unrolls the loop over them
_POINTS, _PHASES, _CLUSTERS = 64, 128, 128  # of one tile
_WARPS, _STAGES = 8, 1
_PIECES = 2  # of 11 bits each, into which a cosine is split for the tensor cores

_failed = False  # do not try again after a failure


def can_use_triton(X: Any, members: Members) -> bool:
    """Whether the kernel applies to these points and memberships."""
    hard = 0 < len(members.codes) <= _MAX_PARTITIONS and all(w is None for w in members.weights)
    few = X.shape[1] <= _MAX_DIMENSIONS and members.shape[1] < 2**15
    return hard and few and has_tensor_cores(X) and _kernel() is not None


def triton_sums(centred: Any, weights: Any, X: Any, members: Members) -> Any:
    """(s, 2M) sums of cosines and sines, in float64 on the device.

    ``centred`` maps points to coordinates relative to the centre in float32, ``weights`` are (d, M)
    frequencies.
    """
    xp, n, M = namespace(X), X.shape[0], weights.shape[1]
    s, turns = members.shape[1], weights * (2 / math.pi)
    total = xp.zeros((s, 2 * M), dtype=xp.float64, device=X.device)
    chunks = max(_PART_BYTES // (4 * s * 2 * M), 1)
    batch = min(chunks * _CHUNK, _BATCH)
    for start in range(0, n, batch):
        rows = slice(start, min(start + batch, n))
        # Contiguous, for coalesced reads of consecutive points.
        U = xp.permute_dims(centred(X[rows, ...]), (1, 0)).contiguous()
        total += _sums_of_batch(U, turns, _columns(xp, members, rows), s)
    return total


def _sums_of_batch(U: Any, turns: Any, columns: Any, s: int) -> Any:
    """(s, 2M) sums of the points with (d, b) coordinates U."""
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
    """(m, b) column of R of each point in each partition; -1 for none."""
    columns, first = [], 0
    for codes, k in zip(members.codes, members.sizes, strict=True):
        part = xp.astype(codes[rows], xp.int16)
        columns.append(xp.where(part >= 0, part + first, part))
        first += k
    return xp.stack(columns, axis=0)


def try_triton_sums(centred: Any, weights: Any, X: Any, members: Members) -> Any | None:
    """``triton_sums``, or None, with a warning, where Triton cannot compile or run the kernel."""
    global _failed
    if _failed or not can_use_triton(X, members):
        return None
    try:
        return triton_sums(centred, weights, X, members)
    except Exception as error:  # Triton raises many types
        _failed = "memory" not in str(error).lower()
        warn(
            f"the Triton kernel failed ({type(error).__name__}: {error}); the sums are computed in "
            "several steps instead",
            RuntimeWarning,
        )
        return None


@cache
def _kernel() -> Any:
    """The kernel, or None without Triton."""
    try:
        from ._triton import sum_features
    except ImportError:
        return None
    return sum_features
