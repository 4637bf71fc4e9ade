"""Which kind of table a file is, by its content first and its name second."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from .arrays import open_npy, open_npz
from .cells import AnnDataTable
from .columnar import ParquetTable
from .inputs import InputError, check_file
from .table import Table
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
    start = check_file(path)
    for magic, opener in _MAGIC.items():
        if start.startswith(magic):
            return opener(path)
    if path.suffix.lower() in _BINARY:
        raise InputError(
            f"{path} is not a {path.suffix} file, whatever its name; look what is in it"
        )
    return TextTable(path)
