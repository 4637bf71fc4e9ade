"""Writing a whole table again with more columns, in its own format: CSV, Parquet or h5ad."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.files import atomic_write
from .._util.typing import Array
from .csv_files import TextTable
from .formats import ParquetTable
from .h5ad_files import AnnDataTable
from .input_checks import InputError, import_pyarrow
from .table import Table, parsing
from .write import arrow_array, flat_columns

# The suffixes of what a table can be written to.
_SUFFIXES: dict[type[Table], tuple[str, ...]] = {
    TextTable: (".csv", ".tsv", ".txt", ".tab", ".csv.gz", ".tsv.gz", ".txt.gz", ".tab.gz"),
    ParquetTable: (".parquet",),
    AnnDataTable: (".h5ad",),
}


def check_appendable(table: Table, target: str, names: Collection[str]) -> None:
    """InputError unless a table can be written to the target with columns of these names."""
    suffixes = _SUFFIXES.get(type(table))
    if suffixes is None:
        raise InputError(f"--append is for CSV, Parquet and h5ad files, not {table.path}")
    if target == "-" and not isinstance(table, TextTable):
        raise InputError(f"--append writes {table.path} in its own format, not to stdout")
    if target != "-" and Path(target).suffix and not target.lower().endswith(suffixes):
        raise InputError(f"--append writes {table.path} in its own format: {', '.join(suffixes)}")
    for name in table.names:
        if any(name == new or re.fullmatch(rf"{re.escape(new)}_\d+", name) for new in names):
            raise InputError(
                f"{table.path} has a column {name!r} already; rename it, or write the results "
                "alone, without --append"
            )


def append_columns(table: Table, target: str, columns: Mapping[str, Array]) -> None:
    """Write a table with more columns, masked where a row has no value.

    Text keeps its cells, delimiter, decimal sign, encoding and line ends; Parquet its types and
    metadata; in h5ad columns are added to .obs (integers as categories) and matrices to .obsm,
    and all else stays as it is. The target may be the table itself, which is replaced when the new
    one is complete.
    """
    try:
        with atomic_write(target) as temporary:
            if isinstance(table, AnnDataTable):
                _append_to_h5ad(table, temporary, columns)
            elif isinstance(table, ParquetTable):
                _append_to_parquet(table, temporary, columns)
            else:
                assert isinstance(table, TextTable)
                with _opened(temporary, table, target.lower().endswith(".gz")) as text:
                    append_to_text(table, text, columns)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error


def append_to_text(table: TextTable, text: IO[str], columns: Mapping[str, Array]) -> None:
    """A table without a header gets one: the numbers of its columns, and the new names."""
    flat = flat_columns(columns)
    new = zip(*(_as_text(column, table.decimal) for column in flat.values()), strict=True)
    header = table.header if table.has_header else table.names
    with table.rows() as rows:
        both = ([*old, *added] for old, added in zip(rows, new, strict=True))
        _write_rows(text, table, [*header, *flat], both)


@contextmanager
def _opened(path: Path, table: TextTable, packed: bool) -> Iterator[IO[str]]:
    """A file to write text to, encoded as that of a table, gzipped without name and time."""
    with ExitStack() as stack:
        file: Any = stack.enter_context(open(path, "wb"))
        if packed:
            options: Any = {"fileobj": file, "mode": "wb", "mtime": 0, "filename": ""}
            file = stack.enter_context(gzip.GzipFile(**options))
        yield stack.enter_context(io.TextIOWrapper(file, encoding=table.encoding, newline=""))


def _write_rows(text: IO[str], table: TextTable, header: list[str], rows: Iterable[Any]) -> None:
    options: Any = {"delimiter": table.delimiter, "lineterminator": table.line_end}
    plain = csv.writer(text, **options)
    # The csv module does not quote a carriage return if the line terminator has none.
    quoted = csv.writer(text, quoting=csv.QUOTE_ALL, **options)
    plain.writerow(header)
    for row in rows:
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)


def _as_text(column: Array, decimal: str) -> list[str]:
    """Cells with all digits; empty where a value is masked."""
    cells = ["" if value is None else str(value) for value in column.tolist()]
    if decimal == "," and column.dtype.kind == "f":
        return [cell.replace(".", ",") for cell in cells]
    return cells


def _append_to_parquet(table: ParquetTable, path: Path, columns: Mapping[str, Array]) -> None:
    parquet = import_pyarrow("writing Parquet")
    with parsing(table.path, "Parquet"):
        whole = table.file.read()
    for name, column in flat_columns(columns).items():
        whole = whole.append_column(name, arrow_array(column))
    parquet.write_table(whole, path)


def _append_to_h5ad(table: AnnDataTable, path: Path, columns: Mapping[str, Array]) -> None:
    h5py, pandas = importlib.import_module("h5py"), importlib.import_module("pandas")
    try:
        write = importlib.import_module("anndata.io").write_elem
    except ImportError:  # before anndata 0.11
        write = importlib.import_module("anndata.experimental").write_elem
    shutil.copyfile(table.path, path)
    with parsing(table.path, "h5ad"), h5py.File(path, "r+") as file:
        added = []
        for name, column in columns.items():
            mask = np.ma.getmaskarray(column)
            if column.ndim == 2:
                write(file["obsm"], name, np.where(mask, np.nan, np.ma.getdata(column)))
                continue
            values = np.ma.getdata(column)
            if values.dtype.kind == "f":
                values = np.where(mask, np.nan, values)
            else:
                values = _categories(pandas, values, mask)
            write(file["obs"], name, values)
            added.append(name)
        order = [*file["obs"].attrs["column-order"], *added]
        file["obs"].attrs["column-order"] = np.array(order, dtype=h5py.string_dtype())


def _categories(pandas: Any, values: Array, mask: Array) -> Any:
    """Text categories in the order of the values; none for noise (-1, "") and masked rows."""
    kept = ~mask & (values != (-1 if values.dtype.kind == "i" else ""))
    names = [str(value) for value in np.unique(values[kept]).tolist()]
    text = [str(value) if keep else None for value, keep in zip(values.tolist(), kept, strict=True)]
    return pandas.Categorical(text, names)
