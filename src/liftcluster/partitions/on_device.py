"""Labels on a device, encoded there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from .._util.arrays import (
    constant_array,
    fetch,
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

    They are kept as they are until ``read``. ``begin`` can be called before, at a time when the
    device has other work. ``otherwise`` encodes labels in main memory, where the device cannot.
    """

    def __init__(self, labels: Sequence[Any], otherwise: Callable[[Array], Encoding]) -> None:
        self.n = int(labels[0].shape[0])
        self._labels, self._otherwise = tuple(labels), otherwise
        self._counted: tuple[Any, IntArray] | None = None
        self._found: list[Encoding] | None = None

    @cached_property
    def weights(self) -> FloatArray:
        """(n,) ones, which all labelings share."""
        return constant_array(1.0, self.n)

    def begin(self) -> None:
        """Count the labels on their device, where one kernel can; ``read`` does the rest."""
        labels = self._labels  # none once they are read, which another thread may do
        if not labels or self._counted is not None:
            return
        if has_tensor_cores(labels[0]) and _kernel() is not None:
            self._counted = _count_small(_one_matrix(labels))

    def read(self) -> list[Encoding]:
        """Codes on the device, or in main memory where labels have a large range."""
        labels = self._labels
        if self._found is None:
            self.begin()
            counted = self._counted
            found = None if counted is None else _read_small(*counted)
            if found is None:
                L = _one_matrix(labels)
                found = _encode(L) or [self._otherwise(row) for row in to_numpy(L)]
            if not all(encoding.names for encoding in found):
                raise ValueError(
                    f"every one of the {self.n} labels is noise; a partition needs at least one "
                    "cluster"
                )
            self._found = found
            self._labels, self._counted = (), None  # which take memory
        return self._found


def encode_on_device(
    labels: Sequence[Any], otherwise: Callable[[Array], Encoding]
) -> LabelsOnDevice | None:
    """The encoding of (n,) arrays of integers on one device; None for anything else."""
    if not labels or not on_device(labels[0]):
        return None
    first = labels[0]
    kind, dtype, shape, device = type(first), first.dtype, first.shape, first.device
    for a in labels[1:]:
        if type(a) is not kind or a.dtype != dtype or a.shape != shape or a.device != device:
            return None
    if len(shape) != 1 or not shape[0] or dtype not in _integers(namespace(first)):
        return None
    return LabelsOnDevice(labels, otherwise)


@cache
def _integers(xp: Any) -> tuple[Any, ...]:
    """Types of labels that are encoded on a device; none in a namespace that cannot count."""
    if not hasattr(xp, "bincount"):
        return ()
    return xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8


def _one_matrix(labels: Sequence[Any]) -> Any:
    return namespace(labels[0]).stack(list(labels))


def _count_small(L: Any) -> tuple[Any, IntArray]:
    """Labels as small integers on the device, and (m, _SMALL) numbers of each from -1 on.

    The last number is of labels that the kernel does not tell apart.
    """
    xp, (m, n) = namespace(L), L.shape
    codes = L.new_empty((m, n), dtype=xp.int8)
    counts = L.new_zeros((m, _SMALL), dtype=xp.int32)
    grid = (-(-n // _BLOCK), m)
    _kernel()[grid](L, codes, counts, n, VALUES=_SMALL, BLOCK=_BLOCK, num_warps=8)
    return codes, fetch(counts)


def _read_small(codes: Any, counts: IntArray) -> list[Encoding] | None:
    """The encodings by these numbers; None unless all labels are from -1 to 125."""
    rows = counts.tolist()  # faster than NumPy for so few numbers
    if any(row[-1] for row in rows):
        return None
    ks = [_SMALL - row.count(0) - bool(row[0]) for row in rows]
    counts = counts[:, 1:]
    # Labels are codes where none of 0, 1, … is missing.
    if ks == [row.index(0, 1) - 1 for row in rows]:
        names = {k: tuple(range(k)) for k in set(ks)}
        parts = zip(codes.unbind(), ks, counts, strict=True)
        return [Encoding(own, names[k], count[:k]) for own, k, count in parts]
    wide = namespace(codes).astype(codes, namespace(codes).int64)
    return [_partition(own, 0, count) for own, count in zip(wide, counts, strict=True)]


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
