"""Results as files: whole or not there at all, in the format that the name asks for."""

from __future__ import annotations

import csv
import errno
import gzip
import importlib
import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .._util.extras import needs
from .._util.files import replacing
from .inputs import InputError

if TYPE_CHECKING:  # at run time only npz files need NumPy
    from .._util.typing import Array

__all__ = ["check_target", "write_columns", "write_csv"]


def write_columns(path: str | PathLike[str], columns: Mapping[str, Array]) -> None:
    """Columns of one length as CSV, TSV, gzipped or not, Parquet, or npz, by the suffix.

    A matrix becomes as many columns, numbered from zero; in npz it stays a matrix.

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
    with _writing(target) as file:
        write(file, columns)


def check_target(
    path: str | PathLike[str],
    suffixes: Collection[str],
    inputs: Iterable[str | PathLike[str]] = (),
) -> Path:
    """A path that could be written, asked before the work rather than after it.

    None of the files that are read, ``inputs``, may be the one that is written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file in it")
    if _suffix(target, suffixes) == ".parquet":
        _check_pyarrow()
    real = Path(os.path.realpath(target))  # the file behind a link
    if real.is_symlink():
        raise InputError(f"{target} cannot be written: {os.strerror(errno.ELOOP)}")
    folder = real.parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise InputError(f"{target} cannot be written: there is no folder {folder}; make it first")
    if not _may_be_written(real):
        raise InputError(f"{target} cannot be written: no permission; choose another place")
    for read in map(Path, inputs):
        if target.is_file() and os.path.exists(read) and target.samefile(read):
            raise InputError(f"{target} is read and would be overwritten; choose another name")
    return target


def _may_be_written(real: Path) -> bool:
    """A file gives way to another in its folder, so both must allow it; a device stays."""
    if not real.exists():
        return os.access(real.parent, os.W_OK)
    return os.access(real, os.W_OK) and (not real.is_file() or os.access(real.parent, os.W_OK))


@contextmanager
def _writing(target: Path) -> Iterator[IO[bytes]]:
    try:
        with replacing(target) as temporary, open(temporary, "wb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error


def write_csv(file: IO[str], columns: Mapping[str, Array], delimiter: str = ",") -> None:
    """Columns as text; numbers with as many digits as they have, nothing for None."""
    flat = _flat(columns)
    cells = list(flat)
    cells += [str(cell) for c in flat.values() if c.dtype.kind in "OU" for cell in c]
    # Python leaves a bare carriage return unquoted when lines end without one.
    odd = any("\r" in cell for cell in cells)
    writer = csv.writer(
        file,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL,
    )
    writer.writerow(flat)
    writer.writerows(zip(*(column.tolist() for column in flat.values()), strict=True))


def _write_text(delimiter: str, packed: bool) -> Callable[[IO[bytes], Mapping[str, Array]], None]:
    def write(file: IO[bytes], columns: Mapping[str, Array]) -> None:
        out: Any = gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") if packed else file
        text = io.TextIOWrapper(out, encoding="utf-8", newline="")
        write_csv(text, columns, delimiter)
        text.flush()
        text.detach()
        if packed:
            out.close()

    return write


def _write_npz(file: IO[bytes], columns: Mapping[str, Array]) -> None:
    import numpy as np

    plain = {name: a.astype(str) if a.dtype.kind == "O" else a for name, a in columns.items()}
    np.savez(file, allow_pickle=False, **plain)


def _write_parquet(file: IO[bytes], columns: Mapping[str, Array]) -> None:
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    parquet.write_table(arrow.table({n: arrow.array(a) for n, a in _flat(columns).items()}), file)


_WRITERS: dict[str, Callable[[IO[bytes], Mapping[str, Array]], None]] = {
    ".csv": _write_text(",", packed=False),
    ".csv.gz": _write_text(",", packed=True),
    ".tsv": _write_text("\t", packed=False),
    ".tsv.gz": _write_text("\t", packed=True),
    ".parquet": _write_parquet,
    ".npz": _write_npz,
}


def _check_pyarrow() -> None:
    """Loaded, not only found: one that is broken would be no use after the work."""
    try:
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        why = " ".join(str(error).split())
        raise InputError(f"{needs('pyarrow', 'writing Parquet')} ({why})") from None


def _suffix(target: Path, suffixes: Collection[str]) -> str:
    name = target.name.lower()
    found = [suffix for suffix in suffixes if name.endswith(suffix)]
    if target.exists() and not target.is_file():
        return next(iter(suffixes))  # a device has no format of its own: the usual one
    if not found:
        raise InputError(f"{target} has no known ending; name it with one of {', '.join(suffixes)}")
    return max(found, key=len)


def _flat(columns: Mapping[str, Array]) -> dict[str, Array]:
    flat: dict[str, Array] = {}
    for name, array in columns.items():
        if array.ndim == 1:
            flat[name] = array
        else:
            flat |= {f"{name}_{j}": array[:, j] for j in range(array.shape[1])}
    return flat
