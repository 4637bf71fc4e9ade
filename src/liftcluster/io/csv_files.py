"""Tables in text files: CSV and TSV, plain or gzipped, read in one pass."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.memory import max_file_bytes
from .._util.progress import Advance, progress_bar
from .._util.typing import Array, FloatArray
from .input_checks import CellError, InputError
from .table import SAMPLE, Table, check_size, check_unique, only_integers

_MAX_LINE = 2**26  # characters
_CHUNK = 20_000  # rows converted at a time
_DELIMITERS = (",", "\t", ";", "|", " ")
# Missing values as written by pandas and R, in lower case; such a point is in no cluster.
MISSING = frozenset({"", "na", "nan", "n/a", "none", "null", "<na>"})

Row = list[str]


class TextTable(Table):
    """A CSV file; its delimiter and whether it has a header are inferred from its first lines."""

    _share_read: Callable[[], float]

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._lines() as lines:
            sample = list(islice(lines, SAMPLE))
        if not any(line.strip() for line in sample):
            raise InputError(f"{path} is empty; give a table with a header and one row per point")
        if any("\0" in line for line in sample):
            raise InputError(f"{path} is not text: it contains null bytes; save it as CSV in UTF-8")
        try:
            self.delimiter = _delimiter(sample, path)
            rows = [row for row in csv.reader(sample, delimiter=self.delimiter) if row]
        except csv.Error as error:
            raise InputError(f"{path} is not a CSV file: {error}") from None
        self.has_header = not _is_data(rows[0])
        self.names = [
            (cell.strip() or f"column {i}") if self.has_header else str(i)
            for i, cell in enumerate(rows[0], 1)
        ]
        check_unique(self.names, path)
        self._sample = rows[1:] if self.has_header else rows
        if not self._sample:
            raise InputError(f"{path} has a header but no rows; add one per point")

    def default_points(self, taken: Collection[str | None]) -> list[str]:
        """Named columns in which at least half of the first cells are numbers."""
        return [
            name
            for i, name in enumerate(self.names)
            if name not in taken
            and not name.startswith("column ")
            and _is_numeric_column([row[i] for row in self._sample if i < len(row)])
        ]

    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        place = {name: i for i, name in enumerate(self.names)}
        columns = {}
        for name in names:
            cells = [row[place[name]] for row in self._sample if place[name] < len(row)]
            filled = [cell for cell in cells if cell.strip().lower() not in MISSING]
            if all(map(_is_number, filled)):
                columns[name] = list(map(float, filled))
        return only_integers(columns)

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        place = {name: i for i, name in enumerate(self.names)}
        wanted = [place[name] for name in numbers]
        blocks: list[FloatArray] = []
        # Integer codes of text, in which most labels occur many times.
        code_of: dict[str, dict[str, int]] = {name: {} for name in texts}
        codes: dict[str, list[Array]] = {name: [] for name in texts}
        n = 0
        with self._rows() as rows:
            while chunk := list(islice(rows, _CHUNK)):
                self._check_widths(chunk, n)
                if n == 0:
                    n_total = len(chunk) / max(self._share_read(), 1e-9)  # extrapolated
                    n_columns = 2 * len(numbers) + len(texts)  # numbers twice: chunks, and joined
                    check_size(int(8 * n_total * n_columns), self.path)
                blocks.append(self._floats(chunk, wanted, n))
                for name, code in code_of.items():
                    i = place[name]
                    found = [code.setdefault(row[i], len(code)) for row in chunk]
                    codes[name].append(np.array(found, dtype=np.int64))
                n += len(chunk)
        columns: dict[str, Array] = dict(zip(numbers, np.concatenate(blocks).T, strict=True))
        for name in texts:
            columns[name] = _labels(list(code_of[name]))[np.concatenate(codes[name])]
        return columns

    def _floats(self, rows: list[Row], wanted: list[int], start: int) -> FloatArray:
        pick: Any = itemgetter(*wanted) if len(wanted) > 1 else lambda row: [row[i] for i in wanted]
        cells = chain.from_iterable(map(pick, rows))
        with suppress(ValueError):
            block = np.fromiter(map(float, cells), np.float64, len(rows) * len(wanted))
            if np.isfinite(block).all():
                return block.reshape(len(rows), len(wanted))
        for r, row in enumerate(rows):
            for i in wanted:
                if (problem := _cell_problem(row[i])) is not None:
                    line, name = self._line_of(start + r), self.names[i]
                    raise CellError(f"{self.path}, line {line}, column {name!r}: {problem}", name)
        raise AssertionError("all cells are numbers")

    def _check_widths(self, rows: list[Row], start: int) -> None:
        width = len(self.names)
        if set(map(len, rows)) <= {width}:
            return
        r = next(r for r, row in enumerate(rows) if len(row) != width)
        raise InputError(
            f"{self.path}, line {self._line_of(start + r)} has {len(rows[r])} cells, the first "
            f"line has {width}; quote cells that contain {self.delimiter!r}"
        )

    def _line_of(self, index: int) -> int:
        """The line on which a row begins; quoted cells can span lines, and lines can be blank."""
        with self._lines() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter)
            before, seen = 0, -1 if self.has_header else 0
            for row in reader:
                if row or len(self.names) == 1:
                    if seen == index:
                        return before + 1
                    seen += 1
                before = reader.line_num
        raise AssertionError(f"{self.path} was changed while it was read")

    @contextmanager
    def _rows(self) -> Iterator[Iterator[Row]]:
        """The rows below the header, without blank lines."""
        with self._lines("reading") as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            rows = filter(None, reader) if len(self.names) > 1 else _single_cells(reader)
            try:
                if self.has_header:
                    next(rows)
                yield rows
            except csv.Error as error:
                raise InputError(
                    f"{self.path}, line {reader.line_num}: {error}; check the quotes there"
                ) from None

    @contextmanager
    def _lines(self, description: str = "") -> Iterator[Iterator[str]]:
        with open(self.path, "rb") as raw:
            size = max(self.path.stat().st_size, 1)
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            self._share_read = lambda: raw.tell() / size
            opened: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            text = io.TextIOWrapper(opened, encoding="utf-8-sig", newline="")
            show = None if description else False
            with progress_bar(f"{description} {self.path.name}", size, show=show) as advance:
                yield _bounded_lines(text, self.path, raw, advance)


def _bounded_lines(text: IO[str], path: Path, raw: IO[bytes], advance: Advance) -> Iterator[str]:
    """Lines of text, with limits on the length of a line and on the total size."""
    total = number = position = 0
    limit = max_file_bytes()
    try:
        while line := text.readline(_MAX_LINE):
            number += 1
            total += len(line)
            if len(line) == _MAX_LINE:
                raise InputError(f"{path}, line {number} has over {_MAX_LINE:,} characters")
            if total > limit:
                check_size(total, path)
            if number % _CHUNK == 0:
                advance(raw.tell() - position)
                position = raw.tell()
            yield line
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte 0x{error.object[error.start]:02x} after line "
            f"{number}); save it as CSV in UTF-8"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged: {error}; get another copy of it") from None


def _single_cells(reader: Iterator[Row]) -> Iterator[Row]:
    """Rows of one cell; a blank line is an empty cell, unless only blank lines follow."""
    pending = 0
    for row in reader:
        if row:
            yield from [[""]] * pending
            pending = 0
            yield row
        else:
            pending += 1


def _labels(cells: Sequence[str]) -> Array:
    """Labels from cells: integers if all cells are integers, else text; None if missing.

    >>> _labels(["2", "-1", "", "NA"]).tolist()
    [2, -1, None, None]
    >>> _labels(["2.0", "B cell", "-1", "01"]).tolist()
    ['2.0', 'B cell', None, '01']
    """
    stripped = [cell.strip() for cell in cells]
    filled = [cell for cell in stripped if cell.lower() not in MISSING]
    values: dict[str, Any] = {cell: _as_integer(cell) for cell in filled}
    if None in values.values() or len(set(values.values())) < len(values):
        values = {cell: None if cell == "-1" else cell for cell in filled}  # "1" is not "01"
    labels = [values.get(cell) for cell in stripped]
    is_integer = all(isinstance(label, int) for label in labels)
    return np.array(labels, dtype=np.int64 if is_integer else object)


def _as_integer(cell: str) -> int | None:
    """The integer in a cell such as 1, -1 or 1.0, as pandas writes integers with missing values."""
    text = cell.removesuffix(".0")
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 19 else None


def _delimiter(sample: list[str], path: Path) -> str:
    """The delimiter that splits all first rows into the same, largest number of cells."""
    if {".tsv", ".tab"} & {suffix.lower() for suffix in path.suffixes}:
        return "\t"
    widths: dict[str, int] = {}
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(sample[:50], delimiter=delimiter) if row]
        except csv.Error:  # a cell is too long with this delimiter
            continue
        same_width = len({len(row) for row in rows}) == 1
        if delimiter == " ":  # numbers are columns, words of a text are not
            same_width = same_width and all(_is_data(row) for row in rows[1:] or rows)
        if same_width and len(rows[0]) > 1:
            widths[delimiter] = len(rows[0])
    if widths:
        return max(widths, key=lambda delimiter: widths[delimiter])
    return max(_DELIMITERS[:-1], key=sample[0].count)


def _is_data(row: Row) -> bool:
    """Whether a first row is numbers and not a header; 0, 1, 2, ... is a header of pandas."""
    default_header = [str(i) for i in range(len(row))]
    return all(map(_is_number, row)) and (row != default_header or len(row) == 1)


def _is_numeric_column(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell.strip().lower() not in MISSING]
    return bool(filled) and 2 * sum(map(_is_number, filled)) >= len(filled)


def _is_number(cell: str) -> bool:
    """Whether a cell is a number; 1_2, which Python accepts, is not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _cell_problem(cell: str) -> str | None:
    """Why a cell is not a finite number; None if it is one."""
    shown = cell if len(cell) <= 40 else cell[:40] + "…"
    if cell.strip().lower() in MISSING:
        return f"{shown!r} is not a number" if cell.strip() else "the cell is empty"
    try:
        return None if np.isfinite(float(cell)) else f"{shown!r} is not finite"
    except ValueError:
        hint = "; use a decimal point" if _is_number(cell.replace(",", ".")) else ""
        return f"{shown!r} is not a number{hint}"
