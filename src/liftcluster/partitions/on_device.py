"""Labels on a device, encoded there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from .._util.arrays import (
    constant_array,
    fetch_later,
    has_tensor_cores,
    namespace,
    on_device,
    send,
    to_numpy,
)
from .._util.typing import Array, FloatArray, IntArray
from .counting import Encoding

_MOST_VALUES = 2**12  # in the range of the labels; more are encoded in main memory
_NOISE = -1
_SMALL = 128  # values that the kernel tells apart: noise, 0 to 125, others
_BLOCK = 4096  # labels of one program


class LabelsOnDevice:
    """Several labelings of points of equal weight, encoded together on their device.

    The device begins at once. Until names and sizes of clusters are needed it can be given other
    work; then ``wait`` returns them. ``otherwise`` encodes labels in main memory, where the device
    cannot.
    """

    def __init__(self, labels: Any, otherwise: Callable[[Array], Encoding]) -> None:
        self.n = int(labels.shape[1])
        can_use_kernel = has_tensor_cores(labels) and _kernel() is not None
        self._read = _begin_small(labels) if can_use_kernel else lambda: None
        self._labels, self._otherwise = labels, otherwise  # (m, n)
        self._found: list[Encoding] | None = None

    @cached_property
    def weights(self) -> FloatArray:
        """(n,) ones, which all labelings share."""
        return constant_array(1.0, self.n)

    def wait(self) -> list[Encoding]:
        """Codes on the device, or in main memory where labels have a large range."""
        if self._found is None:
            found = self._read() or _encode(self._labels)
            if found is None:
                found = [self._otherwise(row) for row in to_numpy(self._labels)]
            if not all(encoding.names for encoding in found):
                raise ValueError(
                    f"every one of the {self.n} labels is noise; a partition needs at least one "
                    "cluster"
                )
            self._found = found
            del self._labels, self._read  # which take memory
        return self._found


def encode_on_device(
    labels: Sequence[Any], otherwise: Callable[[Array], Encoding]
) -> LabelsOnDevice | None:
    """The encoding of (n,) arrays of integers on one device; None for anything else."""
    if not labels or not on_device(labels[0]):
        return None
    first, xp = labels[0], namespace(labels[0])
    kind = type(first), first.dtype, first.shape, first.device
    if any(type(a) is not kind[0] or (kind[0], a.dtype, a.shape, a.device) != kind for a in labels):
        return None
    if first.ndim != 1 or not first.shape[0] or not hasattr(xp, "bincount"):
        return None
    if first.dtype not in (xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8):
        return None
    return LabelsOnDevice(xp.stack(list(labels)), otherwise)


def _begin_small(L: Any) -> Callable[[], list[Encoding] | None]:
    """Begin to encode by one kernel; the result is None unless labels are from -1 to 125."""
    xp, (m, n) = namespace(L), L.shape
    codes = L.new_empty((m, n), dtype=xp.int8)
    counts = L.new_zeros((m, _SMALL), dtype=xp.int32)
    grid = (-(-n // _BLOCK), m)
    _kernel()[grid](L, codes, counts, n, VALUES=_SMALL, BLOCK=_BLOCK, num_warps=8)
    counted = fetch_later(counts)

    def read() -> list[Encoding] | None:
        found = counted()
        if found[:, -1].any():
            return None
        found = found[:, 1:]
        present = found > 0
        ks = present.sum(axis=1).tolist()
        # Labels are codes where none of 0, 1, … is missing.
        if present.argmin(axis=1).tolist() == ks:
            names = {k: tuple(range(k)) for k in set(ks)}
            parts = zip(codes.unbind(), ks, found, strict=True)
            return [Encoding(own, names[k], count[:k]) for own, k, count in parts]
        wide = xp.astype(codes, xp.int64)
        return [_partition(own, 0, count) for own, count in zip(wide, found, strict=True)]

    return read


def _encode(L: Any) -> list[Encoding] | None:
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


def _partition(position: Any, low: int, counts: IntArray) -> Encoding:
    """The encoding from labels minus ``low``, and the numbers of the labels from ``low`` on.

    A negative position is noise, which may also be among the labels.
    """
    xp, values = namespace(position), low + np.flatnonzero(counts)
    values = values[values != _NOISE]
    table = np.full(len(counts) + 1, -1)  # the last entry is for the position -1
    table[values - low] = np.arange(len(values))
    small = xp.int8 if len(values) < 2**7 else xp.int16
    codes = xp.astype(send(table, position)[position], small)
    return Encoding(codes, tuple(values.tolist()), counts[values - low])


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
