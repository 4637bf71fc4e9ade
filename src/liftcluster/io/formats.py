"""Tables in npy, npz and Parquet files, and the detection of a format by its first bytes."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.typing import Array, FloatArray
from ..partitions.labels import as_objects
from .csv_files import TextFormat, TextTable
from .h5ad_files import AnnDataTable
from .input_checks import InputError, check_file, import_pyarrow
from .table import (
    SAMPLE,
    Table,
    as_numbers,
    check_size,
    check_unique,
    only_integers,
    parsing,
)


def open_table(path: str | PathLike[str], text: TextFormat | None = None) -> Table:
    """Open a table in any supported format: CSV or TSV (also gzipped), Parquet, npy, npz, h5ad.

    ``text`` says how CSV and TSV are written, if that is not to be inferred.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "mine.csv")
    >>> _ = path.write_text("x;kind\\n1.5;a\\n2;\\n")
    >>> table = open_table(path)
    >>> table.names, table.default_points([])
    (['x', 'kind'], ['x'])
    >>> table.read(["x"], ["kind"])["kind"].tolist()
    ['a', None]
    >>> folder.cleanup()
    """
    path = Path(path)
    start = check_file(path)
    for magic, opener in _MAGIC.items():
        if start.startswith(magic):
            return opener(path)
    if path.suffix.lower() in _BINARY:
        raise InputError(f"{path} is not a {path.suffix} file, despite its name; check its content")
    return TextTable(path, text)


class ArrayTable(Table):
    """Arrays by name: columns (n,) and blocks (n, d)."""

    def __init__(self, path: Path, arrays: Mapping[str, Array]) -> None:
        self.path = path
        self.arrays = {name: a for name, a in arrays.items() if a.ndim in (1, 2)}
        self.names = list(self.arrays)
        if not any(a.size for a in self.arrays.values()):
            raise InputError(f"{path} is empty; it needs an array with one row per point")

    def default_points(self, taken: Collection[str | None]) -> list[str]:
        """The block X or points, else all blocks, else all numeric columns."""
        free = {n: a for n, a in self.arrays.items() if n not in taken and a.dtype.kind in "fiub"}
        blocks = [name for name, a in free.items() if a.ndim == 2]
        usual = [name for name in blocks if name in ("X", "points")]
        return usual[:1] or blocks or list(free)

    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """Columns alone: a block is points as a whole."""
        return only_integers(
            {name: self.arrays[name][:SAMPLE] for name in names if self.arrays[name].ndim == 1}
        )

    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str],
        may_miss: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> dict[str, Array]:
        lengths = {name: len(self.arrays[name]) for name in (*numbers, *texts)}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
            raise InputError(f"the arrays of {self.path} have different lengths: {shown}")
        found = {
            name: as_numbers(self.arrays[name], self.path, name, may_miss=name in may_miss)
            for name in numbers
        }
        return found | {name: self._labels(name) for name in texts}

    def _labels(self, name: str) -> Array:
        """Labels; bytes are decoded as UTF-8, and text is checked to be valid Unicode."""
        array = self.arrays[name]
        if array.ndim == 2 and array.shape[1] != 1:
            raise InputError(
                f"{self.path}, {name!r} has {array.shape[1]} columns, but labels have one; for "
                f"soft memberships use --memberships {name}"
            )
        array = array.ravel()
        message = f"{self.path}, {name!r} is not text in Unicode; save the labels as text again"
        if array.dtype.kind == "S":
            try:
                return np.char.decode(array, "utf-8")
            except UnicodeDecodeError:
                raise InputError(message) from None
        if array.dtype.kind == "U":
            codes = np.ascontiguousarray(array).view((np.uint32, array.dtype.itemsize // 4))
            codes = codes if array.dtype.isnative else codes.byteswap()
            surrogates = (codes >= 0xD800) & (codes <= 0xDFFF)  # UTF-8 cannot encode them
            if surrogates.any() or (codes > 0x10FFFF).any():
                raise InputError(message)
        return array


def open_npy(path: Path) -> ArrayTable:
    """A matrix has columns "1", "2", ...; a vector is one column with the name of the file."""
    with parsing(path, "npy"), open(path, "rb") as file:
        array = _read_array(file, path, path.stat().st_size)
    if array.dtype.names:
        return ArrayTable(path, {name: array[name] for name in array.dtype.names})
    if array.ndim == 1:
        return ArrayTable(path, {path.stem: array})
    if array.ndim != 2:
        raise InputError(f"{path} has shape {array.shape}; expected points × features, or labels")
    return ArrayTable(path, {str(i): column for i, column in enumerate(array.T, 1)})


def open_npz(path: Path) -> ArrayTable:
    """The arrays of an npz file by name."""
    arrays = {}
    with parsing(path, "npz"), zipfile.ZipFile(path) as archive:
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
    """Read one array, after a check of its header: no Python objects, no more data than bytes."""
    np_format = np.lib.format
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about files that Python 2 wrote
        if np_format.read_magic(file) == (1, 0):
            shape, _, dtype = np_format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np_format.read_array_header_2_0(file)
        if dtype.hasobject:
            raise InputError(
                f"{path} holds pickled Python objects, which are never loaded; save labels as "
                "text or numbers: np.save(path, labels.astype(str))"
            )
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.itemsize < 0 or n_bytes < 0:  # integer overflow in older NumPy
            raise ValueError(f"shape {shape} of {dtype} is too large")
        check_size(n_bytes, path)
        if n_bytes > size:
            raise ValueError(f"shape {shape} needs {n_bytes:,} bytes, the file has {size:,}")
        file.seek(0)
        return np.asarray(np_format.read_array(file, allow_pickle=False))


class ParquetTable(Table):
    """A Parquet file, of which only selected columns are read."""

    def __init__(self, path: Path) -> None:
        parquet = import_pyarrow(f"reading {path}")
        self.path = path
        with parsing(path, "Parquet"):
            self.file: Any = parquet.ParquetFile(path)
            schema = self.file.schema_arrow
            self.names = list(schema.names)
        check_unique(self.names, path)
        self.types = dict(zip(schema.names, schema.types, strict=True))
        metadata = self.file.metadata
        if metadata.num_rows == 0:
            raise InputError(f"{path} has no rows; it needs one per point")
        groups = range(metadata.num_row_groups)
        check_size(sum(metadata.row_group(i).total_byte_size for i in groups), path)

    def default_points(self, taken: Collection[str | None]) -> list[str]:
        return [
            name
            for name, kind in self.types.items()
            if name not in taken
            and _is_numeric(kind)
            and not name.startswith("__index_level_")  # the index of pandas
        ]

    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        with parsing(self.path, "Parquet"):
            batch = next(self.file.iter_batches(SAMPLE, columns=list(names)))
            columns = {name: batch.column(name).to_pylist() for name in names}
        return only_integers(columns)  # a missing value is None, and becomes NaN

    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str],
        may_miss: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> dict[str, Array]:
        # A run of equal values is tiny on disk: check the size in memory.
        check_size(8 * self.file.metadata.num_rows * (len(numbers) + len(texts)), self.path)
        with parsing(self.path, "Parquet"):
            table = self.file.read(columns=[*numbers, *texts])
            found = {name: self._numbers(table, name, name in may_miss) for name in numbers}
            return found | {name: as_objects(table[name].to_pylist()) for name in texts}

    def _numbers(self, table: Any, name: str, may_miss: bool) -> Array:
        values = table[name].to_numpy()
        if values.dtype.kind == "O" and _is_numeric(self.types[name]):
            values = values.astype(np.float64)  # booleans with missing values
        return as_numbers(values, self.path, name, may_miss=may_miss)


def _is_numeric(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat", "bool"))


_MAGIC = {
    b"\x93NUMPY": open_npy,
    b"PK\x03\x04": open_npz,
    b"PK\x05\x06": open_npz,  # an empty archive
    b"PAR1": ParquetTable,
    b"\x89HDF\r\n\x1a\n": AnnDataTable,
}
_BINARY = {".npy", ".npz", ".parquet", ".h5ad"}
