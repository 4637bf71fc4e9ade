"""Labels on a device, encoded there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .._util.arrays import (
    fetch,
    has_tensor_cores,
    namespace,
    on_device,
    send,
    to_numpy,
)
from .._util.typing import IntArray

_MOST_VALUES = 2**12  # in the range of the labels; more are encoded in main memory
_NOISE = -1
_SMALL = 128  # values that the kernel tells apart: noise, 0 to 125, others
_BLOCK = 4096  # labels of one program


class DeviceLabels(NamedTuple):
    """A partition of points of equal weight, with codes on a device."""

    codes: Any  # (n,), -1 for noise
    names: tuple[int, ...]
    counts: IntArray  # (k,)


def encode_on_device(labels: Sequence[Any]) -> list[DeviceLabels] | None:
    """Codes of (n,) arrays of integers on one device; None where that is not possible.

    All are encoded together, so that the host does not wait for the device for each of them.
    """
    if not labels or not all(map(on_device, labels)):
        return None
    first, xp = labels[0], namespace(labels[0])
    kind = first.dtype, first.shape, first.device
    if any((a.dtype, a.shape, a.device) != kind for a in labels):
        return None
    if first.ndim != 1 or not first.shape[0] or not hasattr(xp, "bincount"):
        return None
    if first.dtype not in (xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8):
        return None
    L = xp.stack(list(labels))
    found = _encode_small(L) if has_tensor_cores(L) and _kernel() is not None else None
    return _encode(L) if found is None else found


def _encode_small(L: Any) -> list[DeviceLabels] | None:
    """The same by one kernel for labels from -1 to 125; None where there are others."""
    xp, (m, n) = namespace(L), L.shape
    codes = xp.empty((m, n), dtype=xp.int8, device=L.device)
    counts = xp.zeros((m, _SMALL), dtype=xp.int32, device=L.device)
    grid = (-(-n // _BLOCK), m)
    _kernel()[grid](L, codes, counts, n, VALUES=_SMALL, BLOCK=_BLOCK, num_warps=8)
    found = fetch(counts)
    if found[:, -1].any():
        return None
    present = found[:, 1:] > 0
    ks = present.sum(axis=1).tolist()
    # Labels are codes where none of 0, 1, … is missing.
    complete = present.argmin(axis=1).tolist() == ks and all(ks)
    found = found[:, 1:]
    if complete:
        names = {k: tuple(range(k)) for k in set(ks)}
        parts = zip(codes, ks, found, strict=True)
        return [DeviceLabels(own, names[k], count[:k]) for own, k, count in parts]
    wide = xp.astype(codes, xp.int64)
    return [_partition(own, 0, count) for own, count in zip(wide, found, strict=True)]


def _encode(L: Any) -> list[DeviceLabels] | None:
    """The same by steps; None for labels from a large range."""
    xp, m = namespace(L), len(L)
    L = xp.astype(L, xp.int64, copy=False)
    lowest, highest = to_numpy(xp.stack([xp.min(L, axis=1), xp.max(L, axis=1)]))
    width = int((highest - lowest).max()) + 1
    if width > _MOST_VALUES:
        return None
    L = L - send(lowest, L)[:, None]
    row = send(np.arange(m) * width, L)[:, None]
    counts = to_numpy(xp.bincount(xp.reshape(L + row, (-1,)), minlength=m * width))
    parts = zip(L, lowest, counts.reshape(m, width), strict=True)
    return [_partition(position, int(low), count) for position, low, count in parts]


def _partition(position: Any, low: int, counts: IntArray) -> DeviceLabels:
    """The partition from labels minus ``low``, and the numbers of the labels from ``low`` on.

    A negative position is noise, which may also be among the labels.
    """
    xp, values = namespace(position), low + np.flatnonzero(counts)
    values = values[values != _NOISE]
    if not len(values):
        raise ValueError(
            f"every one of the {len(position)} labels is noise; a partition needs at least one "
            "cluster"
        )
    table = np.full(len(counts) + 1, -1)  # the last entry is for the position -1
    table[values - low] = np.arange(len(values))
    small = xp.int8 if len(values) < 2**7 else xp.int16
    codes = xp.astype(send(table, position)[position], small)
    return DeviceLabels(codes, tuple(values.tolist()), counts[values - low])


def count_on_device(a: Any, b: Any, shape: tuple[int, int]) -> IntArray | None:
    """Numbers of the points with each two codes; -1 has the first row and column.

    None unless both codes are on one device that can count.
    """
    if a is None or b is None or str(a.device) != str(b.device) or len(a) != len(b):
        return None
    xp = namespace(a, b)
    places = (xp.astype(a, xp.int32) + 1) * shape[1] + (xp.astype(b, xp.int32) + 1)
    found = to_numpy(xp.bincount(places, minlength=shape[0] * shape[1]))
    return np.asarray(found.reshape(shape))


@cache
def _kernel() -> Any:
    """The kernel, or None without Triton."""
    try:
        from ._triton import encode_labels
    except ImportError:
        return None
    return encode_labels
