"""What every kind of table file can do: name its columns, and read some of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .._util.memory import check_memory, most_file_bytes
from .._util.typing import Array
from .._util.validation import first_bad_cell
from .inputs import CellError, InputError

__all__ = [
    "CellError",
    "InputError",
    "Table",
    "as_numbers",
    "check_size",
    "first_repeated",
    "listed",
    "refuse_twice",
    "whole",
]

_MOST_COMPARED = 10_000  # names among which one that is nearly right is looked for


class Table(ABC):
    """A file of n rows under named columns, some of which may be blocks of several numbers."""

    path: Path
    names: list[str]
    row_word: ClassVar[str] = "row"  # how messages call a row, counted from one

    @abstractmethod
    def likely_points(self, taken: Collection[str]) -> list[str]:
        """Columns to take for coordinates when nobody said which, without those in use."""

    @abstractmethod
    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        """Some columns: finite numbers, (n,) or (n, d); or labels, None where there is none."""

    def choose(self, wanted: Sequence[str]) -> list[str]:
        """The columns that are meant: names, or patterns such as ``pc*``."""
        chosen: list[str] = []
        known = set(self.names)
        for name in wanted:
            if name in known:
                chosen.append(name)
            elif matches := [n for n in self.names if "*" in name and fnmatchcase(n, name)]:
                chosen += matches
            else:
                raise InputError(self._no_such(name))
        if (twice := first_repeated(chosen)) is not None:
            raise InputError(f"the column {twice!r} was asked for twice; name it once")
        return chosen

    def _no_such(self, name: str) -> str:
        near = get_close_matches(name, self.names, 1) if len(self.names) <= _MOST_COMPARED else []
        hint = f"did you mean {near[0]!r}?" if near else f"its columns: {listed(self.names)}"
        return f"{self.path} has no column {name!r}; {hint}"


def first_repeated(names: Sequence[str]) -> str | None:
    """The first of some names that occurs again, of which there may be a million."""
    counts = Counter(names)
    return None if len(counts) == len(names) else next(n for n in names if counts[n] > 1)


def refuse_twice(names: Sequence[str], path: Path) -> None:
    if (twice := first_repeated(names)) is not None:
        raise InputError(f"{path} has two columns called {twice!r}; rename one of them")


@contextmanager
def whole(path: Path, kind: str) -> Iterator[None]:
    """Around the work of a parser: a damaged file makes it raise nearly anything."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise InputError(f"{path} is not a whole {kind} file: {reason}") from error


def as_numbers(values: Any, path: Path, name: str) -> Array:
    """Finite numbers of a column or block, or an error that names the cell."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
        raise InputError(
            f"{path}, column {name!r} is not numbers (it is {array.dtype}); choose others with "
            "--columns"
        )
    block = array.reshape(len(array), -1)
    if (bad := first_bad_cell(block)) is not None:
        row, column = bad
        within = f" (number {column + 1} of it)" if array.ndim == 2 else ""
        what = "is empty" if np.isnan(block[row, column]) else f"is {block[row, column]}"
        raise CellError(f"{path}, row {row + 1}, column {name!r}{within} {what}", name)
    return array


def check_size(n_bytes: int, path: Path) -> None:
    """Refuse what would not be a table but a bomb, or does not fit into memory."""
    most = most_file_bytes()
    if n_bytes > most:
        raise InputError(
            f"{path} holds {n_bytes / 2**30:,.1f} GiB of data, more than the {most / 2**30:g} GiB "
            "that are read; split it, take fewer columns, or set LIFTCLUSTER_FILE_GIB"
        )
    check_memory(n_bytes, f"what is to be read of {path}", "split it, or take fewer columns")


def listed(names: Collection[Any], most: int = 12) -> str:
    """Names for a message, in quotes, not too many."""
    shown = ", ".join(repr(str(name)) for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
