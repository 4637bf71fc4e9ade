"""Which kind of table a file is, by its content first and its name second."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from .arrays import open_npy, open_npz
from .cells import AnnDataTable
from .columnar import ParquetTable
from .table import InputError, Table
from .text import TextTable

__all__ = ["open_table"]

_MAGIC = {
    b"\x93NUMPY": open_npy,
    b"PK\x03\x04": open_npz,
    b"PK\x05\x06": open_npz,  # an archive of nothing
    b"PAR1": ParquetTable,
    b"\x89HDF\r\n\x1a\n": AnnDataTable,
}
_BINARY = {".npy", ".npz", ".parquet", ".h5ad"}


def open_table(path: str | PathLike[str]) -> Table:
    """A table in any format that is read: CSV or TSV (also gzipped), Parquet, npy, npz, h5ad.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "mine.csv")
    >>> _ = path.write_text("x;kind\\n1.5;a\\n2;\\n")
    >>> table = open_table(path)
    >>> table.names, table.likely_points([])
    (['x', 'kind'], ['x'])
    >>> table.read(["x"], ["kind"])["kind"].tolist()
    ['a', None]
    >>> folder.cleanup()
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file in it")
    if not path.exists():
        raise InputError(_not_there(path))
    if not path.is_file():
        raise InputError(f"{path} is a device or a pipe; save the table to a file first")
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if not start:
        raise InputError(f"{path} is empty; give a table with a header and a row for each point")
    for magic, opener in _MAGIC.items():
        if start.startswith(magic):
            return opener(path)
    if path.suffix.lower() in _BINARY:
        raise InputError(
            f"{path} is not a {path.suffix} file, whatever its name; look what is in it"
        )
    return TextTable(path)


def _not_there(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"{path} is not there: there is no folder {folder}"
    near = get_close_matches(path.name, [p.name for p in folder.iterdir()], 1)
    hint = f"did you mean {folder / near[0]}?" if near else "check the name and the folder"
    return f"{path} is not there; {hint}"
