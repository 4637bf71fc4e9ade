"""Arrays of any library and device: the only module that knows torch and CuPy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from .typing import Array, FloatArray, IntArray


# A block of float64 features of this size stays in the last-level cache.
BLOCK_BYTES = 8 * 2**20
namespace: Callable[..., ModuleType] = array_namespace  # of arrays: NumPy, torch, CuPy, ...

_PAGE_LOCKED = 2**26  # bytes of an array at most; other programs cannot use this memory
_MAIN_MEMORY = ("cpu",)  # names of devices whose memory NumPy can read
_WITHOUT_DOUBLES = ("mps", "no_float64", "no_x64")  # devices without float64, needed for sums


def on_device(array: Any) -> bool:
    """Whether an array is on a device such as a GPU, on which it can be processed.

    False for arrays of other libraries in main memory: NumPy can use them without a copy.
    """
    if isinstance(array, np.ndarray | type):
        return False
    if is_torch_array(array) and array.is_cuda:  # known at once
        return True
    if not is_array_api_obj(array) or is_dask_array(array):
        return False
    if is_cupy_array(array):
        return True
    where = device(array)
    name = str(getattr(where, "type", None) or getattr(where, "platform", None) or where).lower()
    return not any(host in name for host in (*_MAIN_MEMORY, *_WITHOUT_DOUBLES))


def has_tensor_cores(array: Any) -> bool:
    """Whether a torch array is on an NVIDIA GPU of compute capability 8.0 (2020) or higher."""
    if not (is_torch_array(array) and array.is_cuda):
        return False
    return _is_capable(array.device)


@cache
def _is_capable(device: Any) -> bool:
    torch = sys.modules["torch"]
    return torch.version.cuda is not None and torch.cuda.get_device_capability(device) >= (8, 0)


def from_device(array: Any) -> Any:
    """An array on a device as a NumPy array; anything else unchanged."""
    return to_numpy(array) if on_device(array) else array


def block_of(points: Any, rows: slice) -> Any:
    """Consecutive points of an array, on a device or not, or of another sequence."""
    return points[rows, ...] if on_device(points) else points[rows]


def send(values: Any, like: Any, dtype: Any = None) -> Any:
    """NumPy values in the library and on the device of another array."""
    values = np.ascontiguousarray(values)
    if not values.flags.writeable:  # torch would warn
        values = values.copy()
    return namespace(like).asarray(values, dtype=dtype, device=device(like))


@contextmanager
def full_precision(array: Any) -> Iterator[None]:
    """A context in which torch computes matrix products of float32 in float32.

    Settings of torch may round them to TF32, and ``torch.autocast`` to half floats; three digits
    are not enough for phases. The environment variable ``LIFTCLUSTER_TF32=on`` permits TF32.
    """
    if not is_torch_array(array):
        yield
        return
    torch = sys.modules["torch"]
    with torch.autocast(array.device.type, enabled=False):
        products = torch.backends.cuda.matmul
        # torch 2.9 renamed the setting, and raises an error where both names are used.
        newer = hasattr(products, "fp32_precision")
        setting, full = ("fp32_precision", "ieee") if newer else ("allow_tf32", False)
        before = getattr(products, setting)
        if os.environ.get("LIFTCLUSTER_TF32", "off") != "on":
            setattr(products, setting, full)
        try:
            yield
        finally:
            setattr(products, setting, before)


def without_gradients(array: Any) -> Any:
    """The array without torch's record of gradients, which would keep all results in memory."""
    return array.detach() if is_torch_array(array) else array


def check_is_array_like(obj: Any, name: str = "X") -> None:
    """TypeError for containers that NumPy would read cell by cell, or cannot read.

    Attributes of the class are looked at, not those of the object: a lazy frame computes some.
    """
    kind = type(obj)
    if hasattr(kind, "obs") and hasattr(kind, "obsm"):  # AnnData, MuData
        raise TypeError(
            f"{name} is an {kind.__name__}, expected an array; lc.anndata has the same functions "
            'for these, such as lc.anndata.compare(adata, "a", "b", use_rep="X_pca"); or give '
            'adata.obsm["X_pca"] as points and adata.obs["a"] as labels'
        )
    if hasattr(kind, "collect") and hasattr(kind, "lazy"):  # polars
        raise TypeError(f"{name} is a {kind.__name__}, which is not computed yet; use .collect()")


def to_numpy(array: Any, name: str = "array") -> Array:
    """A NumPy view (or a copy where a view is impossible) of anything array-like."""
    if isinstance(array, np.ndarray):
        return np.asarray(array)
    check_is_array_like(array, name)
    if is_torch_array(array):
        array = array.detach().cpu()
    elif is_cupy_array(array):
        array = array.get()
    elif on_device(array) and namespace(array).__name__ == "array_api_strict":
        array = to_device(array, namespace(array).Device("CPU_DEVICE"))
    if is_array_api_obj(array):
        try:
            return np.asarray(np.from_dlpack(array))
        except (BufferError, RuntimeError, TypeError, AttributeError):
            pass  # on another device, or without DLPack: use its own conversion
    try:
        return np.asarray(array)
    except ValueError:
        raise ValueError(f"{name} is ragged: its rows have different lengths") from None
    except (RuntimeError, TypeError, BufferError) as error:
        raise TypeError(f"{name} cannot be read as a NumPy array: {error}") from None


def fetch(array: Any) -> Array:
    """An array as a NumPy array that can be written to, by way of page-locked memory if possible.

    Transfers from a device to page-locked memory are faster.
    """
    if not (is_torch_array(array) and array.is_cuda and array.nbytes <= _PAGE_LOCKED):
        found = to_numpy(array)
        return found if found.flags.writeable else found.copy()
    there = sys.modules["torch"].empty(array.shape, dtype=array.dtype, pin_memory=True)
    return np.asarray(there.copy_(array.detach()).numpy())


def array_to_fetch(size: int, like: Any) -> tuple[Any, Callable[[], Array]]:
    """A vector that a device writes to, with the dtype of another, and what waits to read it.

    It is in page-locked main memory if possible: then a kernel transfers while it computes.
    """
    if not (is_torch_array(like) and like.is_cuda and size * like.itemsize <= _PAGE_LOCKED):
        there = like.new_empty(size)
        return there, partial(fetch, there)
    torch = sys.modules["torch"]
    here = torch.empty(size, dtype=like.dtype, pin_memory=True)
    stream = torch.cuda.current_stream(like.device)

    def read() -> Array:
        stream.synchronize()
        return np.asarray(here.numpy())

    return here, read


def can_index(array: Any) -> bool:
    """Whether an array is on a device, and integers index it, which the standard leaves out."""
    return on_device(array) and (is_torch_array(array) or is_cupy_array(array))


def smallest(values: Any, k: int) -> Any:
    """(n, k) positions of the k smallest numbers of each row, in ascending order."""
    if is_torch_array(values):
        return values.topk(k, dim=1, largest=False).indices
    return namespace(values).argsort(values, axis=1)[:, :k]


def row_blocks(n: int, width: int, *, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover n rows, each holding at most `block_bytes` of `width` float64 columns.

    All blocks but the last have the same size, so results do not depend on the caller.
    """
    size = min(max(block_bytes // (8 * max(width, 1)), 16), 2**16)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def constant_array(value: float, n: int) -> FloatArray:
    """An array of n equal numbers, read-only, in the memory of one: see is_one_number."""
    return np.broadcast_to(np.float64(value), (n,))


def is_constant(values: Array) -> bool:
    """Whether an array was made by one_number (False for copies): then sums need only counts."""
    return values.strides == (0,)


def add_up(values: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Sums of the values with equal codes in 0 … k-1."""
    return np.asarray(np.bincount(codes, values, minlength=k), dtype=np.float64)
