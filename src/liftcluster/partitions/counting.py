"""Codes of labels and counts of codes, each in one pass, by compiled code or by NumPy."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from .._util.native import load_extension
from .._util.typing import Array, FloatArray, IntArray

_BLOCK = 2**16  # labels that NumPy counts at a time: their codes stay in cache
_MOST_CELLS = 2**31 - 1  # of a table for compiled code
_MOST_GROUPS = 2**16  # different items, beyond which sorting them is as fast

_compiled = load_extension(f"{__package__}._counting")


class Encoding(NamedTuple):
    """Labels as codes in 0 … k-1, with -1 for noise."""

    codes: Any  # (n,) of the smallest type, on the device of the labels where it can encode them
    names: tuple[Hashable, ...]  # (k,) of the codes
    counts: IntArray  # (k,) labels of each


def code_type(k: int) -> type[np.signedinteger[Any]]:
    """The smallest integers for codes in -1 … k-1.

    >>> [code_type(k).__name__ for k in (128, 129, 10**5)]
    ['int8', 'int16', 'int32']
    """
    return np.int8 if k <= 2**7 else np.int16 if k <= 2**15 else np.int32


def encode_range(labels: IntArray, low: int, size: int, shift: int) -> tuple[IntArray, IntArray]:
    """Codes label − low − shift, and how many labels there are of each of low … low + size - 1.

    >>> encode_range(np.array([7, 5, 7]), 5, 3, 0)
    (array([2, 0, 2], dtype=int8), array([1, 0, 2]))
    """
    counts = np.zeros(size, dtype=np.int64)
    codes = np.empty(len(labels), dtype=code_type(size - shift))
    if _compiled is not None and len(labels) and size:
        native = np.ascontiguousarray(labels, dtype=labels.dtype.newbyteorder("="))
        signed = native.dtype.kind == "i"
        _compiled.encode(native, native.itemsize, signed, low, shift, counts, codes, codes.itemsize)
        return codes, counts
    # Differences of labels are exact in their own type if not signed, else in int64.
    own = labels.dtype.newbyteorder("=") if labels.dtype.kind == "u" else np.dtype(np.int64)
    block = max(_BLOCK, size)  # adding the counts of a block must not cost more than counting
    for start in range(0, len(labels), block):
        rows = slice(start, start + block)
        place = np.subtract(labels[rows], own.type(low), dtype=own).astype(np.intp, copy=False)
        counts += np.bincount(place, minlength=size)
        codes[rows] = place - shift
    return codes, counts


def group_equal(items: Array) -> tuple[IntArray, IntArray] | None:
    """Codes of equal items by first appearance, and the first item of each code.

    Items are equal if their bytes are. None where sorting all of them is as fast, and without
    compiled code.
    """
    if _compiled is None or not items.nbytes or items.dtype.hasobject:
        return None
    items, codes = np.ascontiguousarray(items), np.empty(len(items), dtype=np.int32)
    firsts = np.empty(min(len(items), _MOST_GROUPS), dtype=np.int64)
    found = _compiled.group(items.view(np.uint8), items.itemsize, codes, firsts)
    return None if found < 0 else (codes, firsts[:found])


def translate(codes: IntArray, table: Array) -> IntArray:
    """Entries of a table for codes in -1 … k-1; its last entry is that of the code -1.

    >>> translate(np.array([0, 2, -1]), np.array([5, 6, 7, -1]))
    array([ 5,  7, -1])
    """
    if _compiled is None or not _is_plain(codes) or table.dtype != codes.dtype:
        return np.asarray(table[codes])
    out = np.empty_like(codes)
    _compiled.translate(codes, np.ascontiguousarray(table), out, out.itemsize)
    return out


def count_pairs(
    a: IntArray, b: IntArray, shape: tuple[int, int], weights: FloatArray | None = None
) -> Array:
    """Numbers, or weights, of the points with each two codes; -1 has the first row and column.

    >>> count_pairs(np.array([0, 0, -1]), np.array([0, 1, 1]), (2, 3))
    array([[0, 0, 1],
           [0, 1, 1]])
    """
    cells, dtype = shape[0] * shape[1], np.int64 if weights is None else np.float64
    if _compiled is not None and _is_plain(a) and _is_plain(b) and cells <= _MOST_CELLS:
        table = np.zeros(shape, dtype)
        w = None if weights is None else np.ascontiguousarray(weights, dtype)
        _compiled.count_pairs(a, a.itemsize, b, b.itemsize, *shape, w, table)
        return table
    sums = np.zeros(cells, dtype)
    block = max(_BLOCK, cells)  # adding the counts of a block must not cost more than counting
    for start in range(0, len(a), block):
        rows = slice(start, start + block)
        code = a[rows] * np.int64(shape[1])
        code += b[rows]
        code += shape[1] + 1
        sums += np.bincount(code, None if weights is None else weights[rows], minlength=cells)
    return sums.reshape(shape)


def _is_plain(codes: IntArray) -> bool:
    """Whether compiled code can read the codes."""
    flags = codes.flags
    small = codes.dtype in (np.int8, np.int16, np.int32)
    return small and flags.c_contiguous and flags.aligned and len(codes) > 0
