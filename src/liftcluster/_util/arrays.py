"""Where arrays come from: the only file that knows of array libraries other than NumPy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_dask_array,
    is_torch_array,
    to_device,
)

from .typing import Array, FloatArray, IntArray

__all__ = [
    "BLOCK_BYTES",
    "add_up",
    "block_of",
    "from_device",
    "full_precision",
    "has_tensor_cores",
    "is_one_number",
    "namespace",
    "on_device",
    "one_number",
    "row_blocks",
    "send",
    "take",
    "to_numpy",
    "without_gradients",
]

# A block of float64 features of this size stays in the last-level cache.
BLOCK_BYTES = 8 * 2**20
_MAIN_MEMORY = ("cpu",)  # what devices are called on which NumPy works itself
_WITHOUT_DOUBLES = ("mps", "no_float64", "no_x64")  # devices that have no float64 for totals


def namespace(*arrays: Any) -> ModuleType:
    """The array-API namespace of the arrays: NumPy, torch, CuPy, a strict one, ..."""
    xp: ModuleType = array_namespace(*arrays)
    return xp


def on_device(array: Any) -> bool:
    """Whether an array lives where NumPy cannot see it, and can be worked on there.

    Arrays of other libraries in main memory are not meant: those become NumPy's without a copy.
    """
    if isinstance(array, np.ndarray | type) or not is_array_api_obj(array) or is_dask_array(array):
        return False
    if is_cupy_array(array):
        return True
    where = device(array)
    name = str(getattr(where, "type", None) or getattr(where, "platform", None) or where).lower()
    return not any(host in name for host in (*_MAIN_MEMORY, *_WITHOUT_DOUBLES))


def has_tensor_cores(array: Any) -> bool:
    """Whether a torch array lives on an NVIDIA GPU of 2020 or later."""
    if not (is_torch_array(array) and array.is_cuda):
        return False
    torch = sys.modules["torch"]
    capable = torch.cuda.get_device_capability(array.device) >= (8, 0)
    return bool(torch.version.cuda is not None and capable)


def from_device(array: Any) -> Any:
    """An array on a device as NumPy's; anything else as it is."""
    return to_numpy(array) if on_device(array) else array


def block_of(points: Any, rows: slice) -> Any:
    """Consecutive points of an array, on a device or not, or of any other sequence."""
    return points[rows, ...] if on_device(points) else points[rows]


def send(values: Any, like: Any, dtype: Any = None) -> Any:
    """NumPy values in the library and on the device of another array."""
    values = np.ascontiguousarray(values)
    if not values.flags.writeable:  # torch cannot promise that, and warns
        values = values.copy()
    return namespace(like).asarray(values, dtype=dtype, device=device(like))


def take(array: Any, rows: IntArray) -> Any:
    """Some rows of an array on a device."""
    return namespace(array).take(array, send(rows, array), axis=0)


@contextmanager
def full_precision(array: Any) -> Iterator[None]:
    """Matrix products of float32 in float32: torch may have been told to round them.

    To TF32, by a setting, or to half floats, by ``torch.autocast`` around the call. Three digits
    are not enough for phases. ``LIFTCLUSTER_TF32=on`` asks for TF32 all the same.
    """
    if not is_torch_array(array):
        yield
        return
    with sys.modules["torch"].autocast(array.device.type, enabled=False), _without_tf32():
        yield


@contextmanager
def _without_tf32() -> Iterator[None]:
    if os.environ.get("LIFTCLUSTER_TF32", "off") == "on":
        yield
        return
    products = sys.modules["torch"].backends.cuda.matmul
    # torch 2.9 has another name for it, and refuses to have both used.
    newer = hasattr(products, "fp32_precision")
    setting, full = ("fp32_precision", "ieee") if newer else ("allow_tf32", False)
    before = getattr(products, setting)
    setattr(products, setting, full)
    try:
        yield
    finally:
        setattr(products, setting, before)


def without_gradients(array: Any) -> Any:
    """The array alone: torch would keep all that is made of it, for gradients nobody asks for."""
    return array.detach() if is_torch_array(array) else array


def to_numpy(array: Any, name: str = "array") -> Array:
    """A NumPy view (or copy, where there is no view) of anything array-like."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    if is_array_api_obj(array):
        array = _in_main_memory(array)
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


def _in_main_memory(array: Any) -> Any:
    if is_torch_array(array):
        return array.detach().cpu()
    if is_cupy_array(array):
        return array.get()
    if on_device(array) and namespace(array).__name__ == "array_api_strict":
        return to_device(array, namespace(array).Device("CPU_DEVICE"))
    return array


def row_blocks(n: int, width: int, *, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover n rows, each holding at most `block_bytes` of `width` float64 columns.

    Blocks always begin at multiples of the same size, so results do not depend on who asks.
    """
    size = min(max(block_bytes // (8 * max(width, 1)), 16), 2**16)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def one_number(value: float, n: int) -> FloatArray:
    """A number n times over, read-only and without memory for n: see is_one_number."""
    return np.broadcast_to(np.float64(value), (n,))


def is_one_number(values: Array) -> bool:
    """Whether an array is made of one number, as weights are where none were given.

    Then counting takes the place of adding, and one number is sent in place of n. Numbers that
    are merely equal do not count; nor does an array that was copied or pickled, which is as right
    and only slower.
    """
    return values.strides == (0,)


def add_up(values: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Sums of the values that share a code in 0 … k-1."""
    return np.asarray(np.bincount(codes, values, minlength=k), dtype=np.float64)
