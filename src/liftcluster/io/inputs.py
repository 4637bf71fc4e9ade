"""Names of files and columns that a user gives, checked without NumPy, so at once."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

__all__ = ["CellError", "InputError", "check_file", "split_names"]

_LONGEST_MESSAGE = 1200


class InputError(ValueError):
    """A file or a choice of columns that cannot be used; the message says which and why."""

    def __init__(self, message: str) -> None:
        # Names out of a file may be of any length; which file and what to do stay to be seen.
        long = len(message) > _LONGEST_MESSAGE
        super().__init__(f"{message[:800]} … {message[-300:]}" if long else message)


class CellError(InputError):
    """A cell that should hold a number and does not."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def check_file(path: str | PathLike[str]) -> bytes:
    """The first bytes of a file that can be read and is not empty."""
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
    return start


def _not_there(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"{path} is not there: there is no folder {folder}"
    near = get_close_matches(path.name, [p.name for p in folder.iterdir()], 1)
    hint = f"did you mean {folder / near[0]}?" if near else "check the name and the folder"
    return f"{path} is not there; {hint}"


def split_names(text: str) -> list[str]:
    """Names between commas; quotes keep a comma inside a name.

    >>> split_names('a, b,"c,d"')
    ['a', 'b', 'c,d']
    """
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
