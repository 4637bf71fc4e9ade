"""Columns of Parquet, Arrow and CSV files as points and labels, read in batches by pyarrow."""

from __future__ import annotations

import glob
import importlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import Any

import numpy as np

from .._util.extras import needs
from .._util.typing import Array
from .sources import Origin, Source

_BATCH_ROWS = 2**17
# Text for missing values, as pandas, R and NumPy write them.
_WORDS = ("", "na", "n/a", "nan", "none", "null", "<na>", "#n/a", "#na", "-nan", "NaN", "-NaN")
_CASES = (str, str.upper, str.capitalize, str.title)
_MISSING = sorted({case(word) for word in _WORDS for case in _CASES})


def scan_table(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]], *, format: str | None = None
) -> TableScan:
    """Open Parquet, Arrow or CSV files as one table that is read in batches (extra ``parquet``).

    Parameters
    ----------
    paths : path, or sequence of paths
        Files of one format with the same columns, read one after another; a folder; or a pattern
        such as ``"points-*.parquet"``, which takes files in the order of their names.
    format : str, optional
        "parquet", "csv", "tsv", "feather" (or another format of pyarrow); by default from the
        extension of the first file.

    Returns
    -------
    TableScan
        ``table[["x", "y"]]`` are points or memberships, ``table["leiden"]`` are labels or weights.
        Nothing is read yet; columns that are used together are read together.

    See Also
    --------
    Blocks : Rows from any iterable.
    represent, distance_matrix, consensus

    Examples
    --------
    >>> import tempfile, os, liftcluster as lc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "points.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("x,y,leiden\\n0,0,a\\n0,1,a\\n5,5,b\\n")
    ...     table = lc.scan_table(path)
    ...     rep = lc.represent(table[["x", "y"]], table["leiden"], bandwidth=1.0)
    >>> rep.cluster_names
    ('a', 'b')
    """
    try:
        pyarrow = importlib.import_module("pyarrow.dataset")
    except ImportError:
        raise ImportError(needs("pyarrow", "reading tables in batches")) from None
    files = _files(paths)
    kind = format or _format_of(files[0])
    how: Any = kind
    if kind in ("csv", "tsv"):
        csv = importlib.import_module("pyarrow.csv")
        how = pyarrow.CsvFileFormat(
            parse_options=csv.ParseOptions(delimiter="," if kind == "csv" else "\t"),
            convert_options=csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True),
        )
    try:
        data = pyarrow.dataset(files if len(files) > 1 else files[0], format=how)
    except (OSError, ValueError) as error:
        raise ValueError(f"{files[0]} cannot be read as {kind}: {error}") from error
    return TableScan(data, counts_quickly=kind == "parquet")


class TableScan(Origin):
    """Files with the same columns; made by :func:`scan_table`.

    ``table[["x", "y"]]`` are points or memberships, ``table["leiden"]`` are labels or weights, for
    any function that reads blocks.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    n : int or None
        Number of rows, if the files store it.

    See Also
    --------
    scan_table : The function that returns it.

    Examples
    --------
    >>> import tempfile, os, liftcluster as lc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "points.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("x,leiden\\n0,a\\n5,b\\n")
    ...     print(lc.scan_table(path).names)
    ['x', 'leiden']
    """

    repeats = True
    reads_ahead = True

    def __init__(self, data: Any, *, counts_quickly: bool) -> None:
        self.data = data
        self.names: list[str] = list(data.schema.names)
        self.counts_quickly = counts_quickly

    @cached_property
    def n(self) -> int | None:  # type: ignore[override]
        """Number of rows, if the files store it; others would have to be read."""
        return int(self.data.count_rows()) if self.counts_quickly else None

    def __getitem__(self, columns: str | list[str]) -> Source:
        names = [columns] if isinstance(columns, str) else list(columns)
        missing = [name for name in names if name not in self.names]
        if missing or not names:
            problem = f"the table has no column {missing[0]!r}" if missing else "choose a column"
            shown = [*map(repr, self.names[:12]), *["..."] * (len(self.names) > 12)]
            raise KeyError(f"{problem}; its columns are {', '.join(shown)}")
        return Source(self, columns if isinstance(columns, str) else tuple(names))

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        wanted = dict.fromkeys(name for part in parts for name in _columns(part))
        skip = start
        for fragment in self.data.get_fragments():
            if skip and self.counts_quickly and fragment.count_rows() <= skip:
                skip -= fragment.count_rows()
                continue
            batches = fragment.to_batches(
                columns=list(wanted),
                schema=self._schema_of(fragment, wanted),
                batch_size=_BATCH_ROWS,
                batch_readahead=2,  # the default of 16 takes much memory
                fragment_readahead=1,
            )
            for batch in batches:
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                    continue
                yield tuple(_array(batch.slice(skip), part) for part in parts)
                skip = 0

    def _schema_of(self, fragment: Any, wanted: Iterable[str]) -> Any:
        """The schema of the first file, but with the numeric types of this file.

        By default pyarrow reads missing columns as missing values, and rounds numbers to the types
        of the first file.
        """
        schema, own = self.data.schema, fragment.physical_schema
        for name in wanted:
            if name not in own.names:
                raise ValueError(
                    f"{fragment.path} has no column {name!r}, as the first file has; all files of "
                    "a table must have the columns that are used"
                )
            if _is_number(own.field(name).type) and _is_number(schema.field(name).type):
                schema = schema.set(schema.get_field_index(name), own.field(name))
        return schema

    def count(self, part: Hashable) -> int:
        if self.n is None:
            self.n = int(self.data.count_rows())
        return self.n

    def width(self, part: Hashable) -> int:
        return len(_columns(part))

    def describe(self, part: Hashable) -> list[Any]:
        types = [str(self.data.schema.field(name).type) for name in _columns(part)]
        return ["table", list(_columns(part)), types, self.n if self.counts_quickly else None]

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError(
            'choose columns of the table: table[["x", "y"]] as points, table["z"] as labels'
        )

    def __repr__(self) -> str:
        return f"TableScan({', '.join(self.names)})"


def _is_number(kind: Any) -> bool:
    types = importlib.import_module("pyarrow").types
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _columns(part: Hashable) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else tuple(part)  # type: ignore[arg-type]


def _array(batch: Any, part: Hashable) -> Array:
    """One column as labels or weights, several as a matrix of numbers."""
    if isinstance(part, str):
        return _values(batch.column(part))
    columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in _columns(part)]
    for name, column in zip(_columns(part), columns, strict=True):
        if column.dtype.kind not in "biuf":
            raise TypeError(
                f"column {name!r} must hold numbers, got {batch.schema.field(name).type}; "
                "choose the numeric columns"
            )
    return np.column_stack(columns)


def _values(column: Any) -> Array:
    kind = str(column.type)
    if kind.startswith(("string", "large_string", "dictionary")):
        coded = column if kind.startswith("dictionary") else column.dictionary_encode()
        names = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
        return names[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    if column.null_count and kind.startswith(("int", "uint", "bool")):
        return np.array(column.to_pylist(), dtype=object)  # floats would round large ones
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _files(paths: Any) -> list[str]:
    if isinstance(paths, str | PathLike):
        path = fspath(paths)
        found = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
    else:
        found = [fspath(path) for path in paths]
    if not found:
        raise ValueError(f"no file matches {paths!r}; check the pattern")
    return found


def _format_of(path: str) -> str:
    kinds = {
        ".tsv": "tsv",
        ".txt": "tsv",
        ".csv": "csv",
        ".feather": "feather",
        ".arrow": "feather",
    }
    name = path.lower().removesuffix(".gz")
    return next((kind for ending, kind in kinds.items() if name.endswith(ending)), "parquet")
