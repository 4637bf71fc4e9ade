"""Tables in the formats of other libraries: Parquet (pyarrow) and h5ad (anndata)."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Array
from .table import InputError, Table, as_numbers, check_size, whole

__all__ = ["AnnDataTable", "ParquetTable"]


class ParquetTable(Table):
    """Columns of a Parquet file, of which only those asked for are read."""

    def __init__(self, path: Path) -> None:
        parquet = _needed("pyarrow.parquet", "parquet", path)
        self.path = path
        with whole(path, "Parquet"):
            self.file: Any = parquet.ParquetFile(path)
            schema = self.file.schema_arrow
            self.names = list(schema.names)
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise InputError(f"{path} has two columns called {twice[0]!r}; rename one of them")
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


class AnnDataTable(Table):
    """Columns of .obs, blocks of .obsm, and X, of an h5ad file."""

    def __init__(self, path: Path) -> None:
        anndata = _needed("anndata", "anndata", path)
        self.path = path
        with whole(path, "h5ad"):
            self.data: Any = anndata.read_h5ad(path, backed="r")
        self.names = ["obs_names", *map(str, self.data.obs.columns), *self.data.obsm, "X"]

    def likely_points(self, taken: Collection[str]) -> list[str]:
        """The principal components, as scanpy does; the expression matrix where there are none."""
        return ["X_pca"] if "X_pca" in self.data.obsm else ["X"]

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        with whole(self.path, "h5ad"):
            found = {name: as_numbers(self._block(name), self.path, name) for name in numbers}
            return found | {name: self._labels(name) for name in texts}

    def _block(self, name: str) -> Any:
        if name == "X":
            check_size(8 * self.data.n_obs * self.data.n_vars, self.path)
            X = self.data.X[:]
            return X.toarray() if hasattr(X, "toarray") else X
        if name in self.data.obsm:
            block = self.data.obsm[name]
            return block.toarray() if hasattr(block, "toarray") else np.asarray(block)
        return np.asarray(self.data.obs[name])

    def _labels(self, name: str) -> Array:
        if name == "obs_names":
            return _objects(self.data.obs_names.tolist())
        if name not in self.data.obs:
            raise InputError(
                f"{self.path}, {name!r} is not in .obs, so it is not labels; for soft memberships "
                f"use --memberships {name}"
            )
        return _objects(self.data.obs[name].tolist())


def _needed(module: str, extra: str, path: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(
            f'reading {path} needs {module.split(".")[0]}: pip install "liftcluster[{extra}]"'
        ) from None


def _is_numeric(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat", "bool"))


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
