"""Atomic writing of tables, in the format given by the suffix of the file."""

from __future__ import annotations

import csv
import errno
import gzip
import importlib
import io
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .._util.files import atomic_write
from .input_checks import InputError, import_pyarrow

if TYPE_CHECKING:  # NumPy is imported only where it is needed
    from .._util.typing import Array


def write_columns(path: str | PathLike[str], columns: Mapping[str, Array]) -> None:
    """Write columns of n entries as CSV, TSV (.gz for gzipped), Parquet or npz, by the suffix.

    A matrix is written as several columns, numbered from zero; in npz it stays a matrix.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "found.csv")
    >>> write_columns(path, {"name": np.array(["a", "b"]), "p": np.array([[1.0, 0.0], [0.5, 0.5]])})
    >>> path.read_text().split()
    ['name,p_0,p_1', 'a,1.0,0.0', 'b,0.5,0.5']
    >>> folder.cleanup()
    """
    target = check_target(path, _WRITERS)
    write = _WRITERS[_suffix(target, _WRITERS)]
    try:
        with atomic_write(target) as temporary, open(temporary, "wb") as file:
            write(file, columns)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error


def check_target(
    path: str | PathLike[str],
    suffixes: Collection[str],
    inputs: Iterable[str | PathLike[str]] = (),
) -> Path:
    """The path of a file to write, checked before the work: InputError if it cannot be written.

    It needs one of the ``suffixes`` and must not be one of the ``inputs``, which are read.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file in it")
    if _suffix(target, suffixes) == ".parquet":
        import_pyarrow("writing Parquet")
    real = Path(os.path.realpath(target))  # the target of a link
    if real.is_symlink():
        raise InputError(f"{target} cannot be written: {os.strerror(errno.ELOOP)}")
    folder = real.parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise InputError(f"{target} cannot be written: there is no folder {folder}; create it")
    # A file is replaced by another in its folder, so that both must be writable; a device is not.
    needed = [real, real.parent] if real.is_file() else [real if real.exists() else real.parent]
    if not all(os.access(path, os.W_OK) for path in needed):
        raise InputError(f"{target} cannot be written: no permission; choose another folder")
    for path in map(Path, inputs):
        if target.is_file() and os.path.exists(path) and target.samefile(path):
            raise InputError(f"{target} is an input and would be overwritten; choose another name")
    return target


def write_csv(file: IO[str], columns: Mapping[str, Array], delimiter: str = ",") -> None:
    """Write columns as text: numbers with all their digits, None as an empty cell."""
    flat = flat_columns(columns)
    cells = list(flat)
    cells += [str(cell) for c in flat.values() if c.dtype.kind in "OU" for cell in c]
    # The csv module does not quote a carriage return if the line terminator has none.
    quote_all = any("\r" in cell for cell in cells)
    quoting: Any = csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting)
    writer.writerow(flat)
    writer.writerows(zip(*(column.tolist() for column in flat.values()), strict=True))


def _write_text(file: IO[bytes], columns: Mapping[str, Array], delimiter: str) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    write_csv(text, columns, delimiter)
    text.flush()
    text.detach()


def _write_gzipped(file: IO[bytes], columns: Mapping[str, Array], delimiter: str) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        _write_text(packed, columns, delimiter)  # type: ignore[arg-type]


def _write_npz(file: IO[bytes], columns: Mapping[str, Array]) -> None:
    import numpy as np

    plain = {}
    for name, column in columns.items():
        a = column
        if isinstance(a, np.ma.MaskedArray):  # -1 is noise, as elsewhere
            a = a.filled({"i": -1, "f": np.nan}.get(a.dtype.kind, ""))
        plain[name] = a.astype(str) if a.dtype.kind == "O" else a
    np.savez(file, allow_pickle=False, **plain)


def _write_parquet(file: IO[bytes], columns: Mapping[str, Array]) -> None:
    parquet, arrow = import_pyarrow("writing Parquet"), importlib.import_module("pyarrow")
    table = arrow.table({name: arrow_array(a) for name, a in flat_columns(columns).items()})
    parquet.write_table(table, file)


def arrow_array(values: Array) -> Any:
    """An array of pyarrow, null where a masked array is masked."""
    import numpy as np

    arrow = importlib.import_module("pyarrow")
    if not isinstance(values, np.ma.MaskedArray):
        return arrow.array(values)
    return arrow.array(values.data, mask=np.ma.getmaskarray(values))


_WRITERS: dict[str, Callable[[IO[bytes], Mapping[str, Array]], None]] = {
    ".csv": partial(_write_text, delimiter=","),
    ".csv.gz": partial(_write_gzipped, delimiter=","),
    ".tsv": partial(_write_text, delimiter="\t"),
    ".tsv.gz": partial(_write_gzipped, delimiter="\t"),
    ".parquet": _write_parquet,
    ".npz": _write_npz,
}


def _suffix(target: Path, suffixes: Collection[str]) -> str:
    found = [suffix for suffix in suffixes if target.name.lower().endswith(suffix)]
    if target.exists() and not target.is_file():
        return next(iter(suffixes))  # a device has no suffix: the default format
    if not found:
        raise InputError(f"{target} must have one of the suffixes {', '.join(suffixes)}")
    return max(found, key=len)


def flat_columns(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Columns (n,), with matrices split into several."""
    flat: dict[str, Array] = {}
    for name, array in columns.items():
        if array.ndim == 1:
            flat[name] = array
        else:
            flat |= {f"{name}_{j}": array[:, j] for j in range(array.shape[1])}
    return flat
