"""Tables as NumPy files: npy and npz, never unpickled."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from .._util.typing import Array
from .table import InputError, Table, as_numbers, check_size, whole

__all__ = ["ArrayTable", "open_npy", "open_npz"]


class ArrayTable(Table):
    """Arrays by name: one dimension is a column, two are a block of numbers."""

    def __init__(self, path: Path, arrays: Mapping[str, Array]) -> None:
        self.path = path
        self.arrays = {name: a for name, a in arrays.items() if a.ndim in (1, 2)}
        self.names = list(self.arrays)
        if not any(a.size for a in self.arrays.values()):
            raise InputError(f"{path} is empty; it needs an array with a row for each point")

    def likely_points(self, taken: Collection[str]) -> list[str]:
        """The block called X or points, else all blocks, else all columns of numbers."""
        free = {n: a for n, a in self.arrays.items() if n not in taken and a.dtype.kind in "fiub"}
        blocks = [name for name, a in free.items() if a.ndim == 2]
        usual = [name for name in blocks if name in ("X", "points")]
        return usual[:1] or blocks or list(free)

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        lengths = {name: len(self.arrays[name]) for name in (*numbers, *texts)}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
            raise InputError(f"the arrays of {self.path} have different lengths: {shown}")
        found = {name: as_numbers(self.arrays[name], self.path, name) for name in numbers}
        return found | {name: self._labels(name) for name in texts}

    def _labels(self, name: str) -> Array:
        array = self.arrays[name]
        if array.ndim == 2 and array.shape[1] != 1:
            raise InputError(
                f"{self.path}, {name!r} has {array.shape[1]} columns, so it is not labels; for "
                f"soft memberships use --memberships {name}"
            )
        return _as_text(array.ravel(), self.path, name)


def _as_text(array: Array, path: Path, name: str) -> Array:
    """Labels; those that are text as text that can be written again."""
    if array.dtype.kind not in "SU":
        return array
    trouble = f"{path}, {name!r} is not text in Unicode; save the labels again, as text"
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise InputError(trouble) from None
    codes = np.ascontiguousarray(array).view((np.uint32, array.dtype.itemsize // 4))
    codes = codes if array.dtype.isnative else codes.byteswap()
    halves = (codes >= 0xD800) & (codes <= 0xDFFF)  # of characters, which no file takes
    if halves.any() or (codes > 0x10FFFF).any():
        raise InputError(trouble)
    return array


def open_npy(path: Path) -> ArrayTable:
    """A matrix is points (columns 1, 2, ...), a vector is labels called as the file is."""
    with whole(path, "npy"), open(path, "rb") as file:
        array = _read_array(file, path, path.stat().st_size)
    if array.dtype.names:
        return ArrayTable(path, {name: array[name] for name in array.dtype.names})
    if array.ndim == 1:
        return ArrayTable(path, {path.stem: array})
    if array.ndim != 2:
        raise InputError(f"{path} has shape {array.shape}; expected points × features, or labels")
    columns = {str(i): array[:, i - 1] for i in range(1, array.shape[1] + 1)}
    return ArrayTable(path, columns)


def open_npz(path: Path) -> ArrayTable:
    arrays = {}
    with whole(path, "npz"), zipfile.ZipFile(path) as archive:
        members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
        check_size(sum(m.file_size for m in members), path)
        for member in members:
            with archive.open(member) as file:
                name = member.filename.removesuffix(".npy")
                arrays[name] = _read_array(file, path, member.file_size)
    if not arrays:
        raise InputError(f"{path} holds no arrays; write it with np.savez")
    return ArrayTable(path, arrays)


def _read_array(file: IO[bytes], path: Path, size: int) -> Array:
    """One array whose header promises no more than the file holds, and no Python objects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Python 2 wrote it, or that it seems so
        return _read_checked(file, path, size)


def _read_checked(file: IO[bytes], path: Path, size: int) -> Array:
    version = np.lib.format.read_magic(file)
    read_header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise InputError(
            f"{path} holds pickled Python objects, which are never loaded; save labels as text or "
            "numbers: np.save(path, labels.astype(str))"
        )
    needed = math.prod(shape) * dtype.itemsize
    if dtype.itemsize < 0 or needed < 0:  # older NumPy counts round
        raise ValueError(f"shape {shape} of {dtype} is more than there can be")
    check_size(needed, path)
    if needed > size:
        raise ValueError(f"shape {shape} needs {needed:,} bytes and there are {size:,}")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
