"""Tables in the format of another library: Parquet (pyarrow)."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._util.extras import needs
from .._util.typing import Array
from .table import InputError, Table, as_numbers, check_size, refuse_twice, whole

__all__ = ["ParquetTable"]


class ParquetTable(Table):
    """Columns of a Parquet file, of which only those asked for are read."""

    def __init__(self, path: Path) -> None:
        parquet = _needed(path)
        self.path = path
        with whole(path, "Parquet"):
            self.file: Any = parquet.ParquetFile(path)
            schema = self.file.schema_arrow
            self.names = list(schema.names)
        refuse_twice(self.names, path)
        self.types = dict(zip(schema.names, schema.types, strict=True))
        metadata = self.file.metadata
        if metadata.num_rows == 0:
            raise InputError(f"{path} has no rows; it needs one for each point")
        groups = range(metadata.num_row_groups)
        check_size(sum(metadata.row_group(i).total_byte_size for i in groups), path)

    def likely_points(self, taken: Collection[str]) -> list[str]:
        return [
            name
            for name, kind in self.types.items()
            if name not in taken
            and _is_numeric(kind)
            and not name.startswith("__index_level_")  # pandas' row numbers
        ]

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        # A run of equal values is tiny on disk: what counts is what it becomes.
        check_size(8 * self.file.metadata.num_rows * (len(numbers) + len(texts)), self.path)
        with whole(self.path, "Parquet"):
            table = self.file.read(columns=[*numbers, *texts])
            found = {name: self._numbers(table, name) for name in numbers}
            return found | {name: _objects(table[name].to_pylist()) for name in texts}

    def _numbers(self, table: Any, name: str) -> Array:
        values = table[name].to_numpy()
        if values.dtype.kind == "O" and _is_numeric(self.types[name]):  # booleans with gaps
            values = values.astype(np.float64)
        return as_numbers(values, self.path, name)


def _needed(path: Path) -> Any:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(needs("pyarrow", f"reading {path}")) from None


def _is_numeric(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat", "bool"))


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
