"""Quick checks of files, names and installed packages, without NumPy, and their errors."""

from __future__ import annotations

import csv
import importlib
from os import PathLike
from pathlib import Path
from typing import Any

from .._util.checks import nearest
from .._util.extras import needs


class InputError(ValueError):
    """A file or a choice of columns that cannot be used; the message says which and why."""

    def __init__(self, message: str) -> None:
        # Names in a file may have any length: keep the beginning and the end of the message.
        is_long = len(message) > 1200
        super().__init__(f"{message[:800]} … {message[-300:]}" if is_long else message)


class CellError(InputError):
    """A cell of a column of numbers that is not a finite number."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def check_file(path: str | PathLike[str]) -> bytes:
    """The first bytes of a file; InputError if it cannot be read or is empty."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{path} is not there: the folder {path.parent} does not exist")
    if not path.exists():
        # Endings are left out: all tables have the same.
        others = {_without_endings(p): p for p in sorted(path.parent.iterdir(), reverse=True)}
        near = nearest(_without_endings(path), others)
        hint = f"did you mean {others[near]}?" if near else "check the name and the folder"
        raise InputError(f"{path} is not there; {hint}")
    if not path.is_file():
        raise InputError(
            f"{path} is a device or a pipe; save the table to a file first, or pipe it in as -"
        )
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if not start:
        raise InputError(f"{path} is empty; give a table with a header and a row for each point")
    return start


def _without_endings(path: Path) -> str:
    return path.name.removesuffix("".join(path.suffixes)) or path.name


def name_stdin(message: str, file: Path) -> str:
    """A message about a file, in which a copy of stdin is called so."""
    return message.replace(str(file), "stdin") if file.name == "stdin" else message


def import_pyarrow(purpose: str) -> Any:
    """The module ``pyarrow.parquet``; InputError if it is missing or broken."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        why = " ".join(str(error).split())
        raise InputError(f"{needs('pyarrow', purpose)} ({why})") from None


def split_names(text: str) -> list[str]:
    """Names separated by commas; a quoted name may contain a comma.

    >>> split_names('a, b,"c,d"')
    ['a', 'b', 'c,d']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
