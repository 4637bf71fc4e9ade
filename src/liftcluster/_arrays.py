"""Where arrays come from: the only file that knows of array libraries other than NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from ._typing import Array, FloatArray, IntArray

__all__ = ["BLOCK_BYTES", "add_up", "namespace", "row_blocks", "to_numpy"]

# A block of float64 features of this size stays in the last-level cache.
BLOCK_BYTES = 8 * 2**20


def namespace(*arrays: Any) -> ModuleType:
    """The array-API namespace of the arrays: NumPy, torch, CuPy, a strict one, ..."""
    xp: ModuleType = array_namespace(*arrays)
    return xp


def to_numpy(array: Any, name: str = "array") -> Array:
    """A NumPy view (or copy, where there is no view) of anything array-like."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if is_array_api_obj(array):
        try:
            return np.asarray(np.from_dlpack(array))
        except (BufferError, RuntimeError, TypeError, AttributeError):
            pass  # on another device, or no DLPack: fall through to its own conversion
    if hasattr(array, "detach"):  # a tensor that gradients are taken for
        array = array.detach()
    try:
        return np.asarray(array)
    except ValueError:
        raise ValueError(f"{name} is ragged: its rows have different lengths") from None
    except (RuntimeError, TypeError, BufferError) as error:
        raise TypeError(f"{name} cannot be read as a NumPy array: {error}") from None


def row_blocks(n: int, width: int, *, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover n rows, each holding at most `block_bytes` of `width` float64 columns.

    Blocks always begin at multiples of the same size, so results do not depend on who asks.
    """
    size = min(max(block_bytes // (8 * max(width, 1)), 16), 2**16)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def add_up(values: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Sums of the values that share a code in 0 … k-1."""
    return np.asarray(np.bincount(codes, values, minlength=k), dtype=np.float64)
