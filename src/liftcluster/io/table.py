"""The base class of tables in files, and the checks that all formats share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._util.checks import nearest
from .._util.memory import check_memory, max_file_bytes
from .._util.typing import Array, FloatArray
from .._util.validation import first_bad_cell
from ..partitions.labels import DEFAULT_NOISE
from .input_checks import CellError, InputError

_MAX_COMPARED = 10_000  # column names that are searched for a similar one
SAMPLE = 1000  # first rows from which the kinds of columns are inferred


class Table(ABC):
    """A file with n rows and named columns; a column can be an (n, d) block of numbers."""

    path: Path
    names: list[str]
    notes: Sequence[str] = ()  # for the user, about how the file is read
    noise: Sequence[Any] = DEFAULT_NOISE  # labels that mean "in no cluster"
    id_name: str | None = None  # the column of ids, if the format has one

    @abstractmethod
    def default_points(self, taken: Collection[str | None]) -> list[str]:
        """The columns that are coordinates by default, without those in ``taken``."""

    @abstractmethod
    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """The first values of those columns that hold integers, without missing values."""

    @abstractmethod
    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str],
        may_miss: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> dict[str, Array]:
        """Columns by name: ``numbers`` as finite (n,) or (n, d) arrays, ``texts`` as labels.

        Missing numbers in the columns ``may_miss`` are NaN, in others an error. Those of the texts
        that are only ``shown`` are numbers where all of their values are.
        """

    def describe_cell(self, row: int, name: str) -> str:
        """Where a missing number is, for an error."""
        return f"{self.path}, row {row + 1}, column {name!r} is empty"

    @cached_property
    def label_names(self) -> list[str]:
        """The columns that a pattern of labels may stand for."""
        return self.names

    def choose(self, wanted: Sequence[str], among: Sequence[str] | None = None) -> list[str]:
        """The names of columns given by name or by a pattern such as ``pc*`` for some of them."""
        chosen: list[str] = []
        known = set(self.names)
        for name in wanted:
            if name in known:
                chosen.append(name)
            elif matches := [
                n for n in among or self.names if "*" in name and fnmatchcase(n, name)
            ]:
                chosen += matches
            else:
                few = self.names if len(self.names) <= _MAX_COMPARED else []
                near = nearest(name, few)
                hint = f"did you mean {near!r}?" if near else f"its columns: {quoted(self.names)}"
                raise InputError(f"{self.path} has no column {name!r}; {hint}")
        if (twice := first_repeated(chosen)) is not None:
            raise InputError(f"the column {twice!r} is selected twice; name it once")
        return chosen


def first_repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs more than once, in linear time."""
    counts = Counter(names)
    return None if len(counts) == len(names) else next(n for n in names if counts[n] > 1)


def check_unique(names: Sequence[str], path: Path) -> None:
    if (twice := first_repeated(names)) is not None:
        raise InputError(f"{path} has two columns called {twice!r}; rename one of them")


@contextmanager
def parsing(path: Path, kind: str) -> Iterator[None]:
    """Turn any exception of a parser, which a damaged file can cause, into an InputError."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise InputError(f"{path} is not a valid {kind} file: {reason}") from error


def as_numbers(values: Any, path: Path, name: str, *, may_miss: bool = False) -> Array:
    """A column or block as finite numbers, or NaN if some may be missing; errors name the cell."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
        raise InputError(
            f"{path}, column {name!r} is not numeric (it is {array.dtype}); select others with "
            "--columns"
        )
    block = array.reshape(len(array), -1)
    bad = first_bad_cell(block)
    if bad is not None and may_miss:  # infinity is not missing
        bad = next(map(tuple, np.argwhere(np.isinf(block))), None)
    if bad is not None:
        row, column = bad
        within = f" (number {column + 1} of it)" if array.ndim == 2 else ""
        what = "is empty" if np.isnan(block[row, column]) else f"is {block[row, column]}"
        raise CellError(f"{path}, row {row + 1}, column {name!r}{within} {what}", name)
    return array


def only_integers(columns: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Those of some columns of numbers that hold integers, without missing values."""
    found = {}
    for name, values in columns.items():
        numbers = np.asarray(values, dtype=np.float64)
        filled = numbers[~np.isnan(numbers)]
        if filled.size and np.isfinite(filled).all() and (filled == np.floor(filled)).all():
            found[name] = filled
    return found


def check_size(n_bytes: int, path: Path) -> None:
    """InputError if data exceed the size limit, MemoryError if they do not fit into memory."""
    limit = max_file_bytes()
    if n_bytes > limit:
        raise InputError(
            f"{path} holds {n_bytes / 2**30:,.1f} GiB of data, more than the {limit / 2**30:g} GiB "
            "limit; split it, take fewer columns, or set LIFTCLUSTER_FILE_GIB"
        )
    check_memory(n_bytes, f"the data of {path}", "split it, or take fewer columns")


def quoted(names: Collection[Any], max_shown: int = 12) -> str:
    """A list of quoted names for an error message, shortened if it is long."""
    shown = ", ".join(repr(str(name)) for name in list(names)[:max_shown])
    more = len(names) - max_shown
    return shown + (f" and {more} more" if more > 0 else "")
