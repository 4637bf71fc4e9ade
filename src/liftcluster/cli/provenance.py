"""What a command was run with, for the page that it writes: files, columns, rows, command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..io import Clusterings

_MAX_COLUMNS = 30  # that are named
_VALUE = re.compile(r"(-[^=]*=|[^=/\\~]*=)?(.*)", re.DOTALL)  # of --option=value and name=file


def run_rows(
    files: Sequence[Path], read: Clusterings, standardize: bool, args: Sequence[str] | None
) -> list[tuple[str, str]]:
    """Names and values for the page: no folders, of which a reader may not know."""
    more = len(read.columns) - _MAX_COLUMNS
    columns = ", ".join(read.columns[:_MAX_COLUMNS]) + (f" and {more:,} more" if more > 0 else "")
    gaps = [note for note in read.notes if "lack a coordinate" in note]
    rows = [
        ("file", ", ".join("stdin" if str(file) == "-" else file.name for file in files)),
        ("rows", f"{read.n_rows:,}"),
        ("missing coordinates", gaps[0] if gaps else "none"),
        ("coordinates", columns),
        ("standardised", "yes, each to mean 0 and variance 1" if standardize else "no"),
    ]
    return rows if args is None else [*rows, ("command", command_line(args))]


def command_line(args: Sequence[str]) -> str:
    """The command as typed and quoted for a shell, with absolute paths cut to the file's name.

    >>> command_line(["report", "/home/me/my file.csv", "-l", "a,b", "--out=~/page.html"])
    "liftcluster report 'my file.csv' -l a,b --out=page.html"
    """
    return shlex.join(["liftcluster", *map(_without_folders, args)])


def _without_folders(arg: str) -> str:
    found = _VALUE.fullmatch(arg)
    assert found is not None  # it matches any text
    option, value = found[1] or "", found[2]
    if value.startswith("~") or Path(value).is_absolute():
        value = Path(value).name
    elif PureWindowsPath(value).is_absolute():
        value = PureWindowsPath(value).name
    return option + value
