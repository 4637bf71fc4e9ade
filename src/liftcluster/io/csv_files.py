"""Tables in text files: CSV and TSV, plain or gzipped, read in one pass."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
# In columns of numbers also as Excel, SAS and the UCI repository write them.
_CODE = re.compile(r"\s*0\d")
_MISSING_NUMBERS = MISSING | {"?", ".", "-", "#n/a", "#na", "-nan"}
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WITH_POINT = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
_WITH_COMMA = re.compile(r"[-+]?\d*,(\d+)(e[-+]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3}){2,}(\.\d*)?")

Row = list[str]


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, where that is not to be inferred."""

    encoding: str | None = None  # None: UTF-8, or UTF-16 with a byte order mark
    decimal: str | None = None  # "." or ","; None: a comma if all first numbers are so written


class TextTable(Table):
    """A CSV file; its delimiter and whether it has a header are inferred from its first lines."""

    _share_read: Callable[[], float]

    def __init__(self, path: Path, text: TextFormat | None = None) -> None:
        self.path = path
        text = text or TextFormat()
        self.encoding = text.encoding or _encoding(path)
        with self._lines() as lines:
            sample = list(islice(lines, SAMPLE))
        if not any(line.strip() for line in sample):
            raise InputError(f"{path} is empty; give a table with a header and one row per point")
        if any("\0" in line for line in sample):
            raise InputError(f"{path} is not text: it contains null bytes; save it as CSV in UTF-8")
        self.line_end = "\r\n" if sample[0].endswith("\r\n") else "\n"
        try:
            self.delimiter = _delimiter(sample, path)
            rows = [row for row in csv.reader(sample, delimiter=self.delimiter) if row]
        except csv.Error as error:
            raise InputError(f"{path} is not a CSV file: {error}") from None
        self.decimal = text.decimal or _decimal(rows, self.delimiter)
        if self.decimal == "," and text.decimal is None:
            self.notes = [f"{path} is read with decimal commas; --decimal . if they are not"]
        self._to_float: Callable[[str], float] = float if self.decimal == "." else _comma_to_float
        self.header = rows[0]
        self.has_header = not self._is_data(rows[0])
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
            and self._is_numeric([row[i] for row in self._sample if i < len(row)])
        ]

    def first_integers(self, names: Sequence[str]) -> dict[str, FloatArray]:
        place = {name: i for i, name in enumerate(self.names)}
        columns = {}
        for name in names:
            cells = [row[place[name]] for row in self._sample if place[name] < len(row)]
            filled = [cell for cell in cells if not _is_missing(cell)]
            if all(map(self._is_number, filled)):
                columns[name] = list(map(self._to_float, filled))
        return only_integers(columns)

    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str],
        may_miss: Collection[str] = (),
        shown: Collection[str] = (),
    ) -> dict[str, Array]:
        place = {name: i for i, name in enumerate(self.names)}
        wanted = [place[name] for name in numbers]
        optional = {place[name] for name in may_miss}
        blocks: list[FloatArray] = []
        # Integer codes of text, in which most labels occur many times.
        code_of: dict[str, dict[str, int]] = {name: {} for name in texts}
        codes: dict[str, list[Array]] = {name: [] for name in texts}
        n = 0
        with self.rows() as rows:
            while chunk := list(islice(rows, _CHUNK)):
                self._check_widths(chunk, n)
                if n == 0:
                    n_total = len(chunk) / max(self._share_read(), 1e-9)  # extrapolated
                    n_columns = 2 * len(numbers) + len(texts)  # numbers twice: chunks, and joined
                    check_size(int(8 * n_total * n_columns), self.path)
                blocks.append(self._floats(chunk, wanted, optional, n))
                for name, code in code_of.items():
                    i = place[name]
                    found = [code.setdefault(row[i], len(code)) for row in chunk]
                    codes[name].append(np.array(found, dtype=np.int64))
                n += len(chunk)
        columns: dict[str, Array] = dict(zip(numbers, np.concatenate(blocks).T, strict=True))
        for name in texts:
            cells = list(code_of[name])
            values = self._as_shown(cells) if name in shown else _labels(cells)
            columns[name] = values[np.concatenate(codes[name])]
        return columns

    def _as_shown(self, cells: list[str]) -> Array:
        """Numbers if all cells are, and none begins with 0 as codes do; else text."""
        filled = [cell for cell in cells if not _is_missing(cell)]
        if all(self._is_number(cell) and not _CODE.match(cell) for cell in filled):
            return np.array([np.nan if _is_missing(c) else self._to_float(c) for c in cells])
        stripped = [cell.strip() for cell in cells]
        return np.array([None if c.lower() in MISSING else c for c in stripped], dtype=object)

    def _floats(
        self, rows: list[Row], wanted: list[int], optional: set[int], start: int
    ) -> FloatArray:
        pick: Any = itemgetter(*wanted) if len(wanted) > 1 else lambda row: [row[i] for i in wanted]
        cells = chain.from_iterable(map(pick, rows))
        with suppress(ValueError):
            block = np.fromiter(map(self._to_float, cells), np.float64, len(rows) * len(wanted))
            if np.isfinite(block).all():
                return block.reshape(len(rows), len(wanted))
        found = np.full((len(rows), len(wanted)), np.nan)
        for r, row in enumerate(rows):
            for j, i in enumerate(wanted):
                if i in optional and _is_missing(row[i]):
                    continue
                if self._cell_problem(row[i]) is not None:
                    raise CellError(self.describe_cell(start + r, self.names[i]), self.names[i])
                found[r, j] = self._to_float(row[i])
        return found

    def describe_cell(self, row: int, name: str) -> str:
        """Where a cell is, and why it is not a number."""
        line, cells = self._find_row(row)
        problem = self._cell_problem(cells[self.names.index(name)])
        return f"{self.path}, line {line}, column {name!r}: {problem}"

    def _is_data(self, row: Row) -> bool:
        """Whether a first row is numbers and not a header; 0, 1, 2, ... is a header of pandas."""
        default_header = [str(i) for i in range(len(row))]
        return all(map(self._is_number, row)) and (row != default_header or len(row) == 1)

    def _is_numeric(self, cells: list[str]) -> bool:
        filled = [cell for cell in cells if not _is_missing(cell)]
        return bool(filled) and 2 * sum(map(self._is_number, filled)) >= len(filled)

    def _is_number(self, cell: str) -> bool:
        return _is_number(cell, self.decimal)

    def _cell_problem(self, cell: str) -> str | None:
        """Why a cell is not a finite number; None if it is one."""
        shown = cell if len(cell) <= 40 else cell[:40] + "…"
        if _is_missing(cell):
            return f"{shown!r} is not a number" if cell.strip() else "the cell is empty"
        try:
            return None if np.isfinite(self._to_float(cell)) else f"{shown!r} is not finite"
        except ValueError:
            other = "." if self.decimal == "," else ","
            hint = f"; say --decimal {other}" if _is_number(cell, other) else ""
            return f"{shown!r} is not a number{hint}"

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
        return self._find_row(index)[0]

    def _find_row(self, index: int) -> tuple[int, Row]:
        """The line on which a row begins, and its cells; cells span lines, lines can be blank."""
        with self._lines() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter)
            before, seen = 0, -1 if self.has_header else 0
            for row in reader:
                if row or len(self.names) == 1:
                    if seen == index:
                        return before + 1, row or [""]
                    seen += 1
                before = reader.line_num
        raise AssertionError(f"{self.path} was changed while it was read")

    @contextmanager
    def rows(self) -> Iterator[Iterator[Row]]:
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
            text = io.TextIOWrapper(opened, encoding=self.encoding, newline="")
            show = None if description else False
            with progress_bar(f"{description} {self.path.name}", size, show=show) as advance:
                yield _bounded_lines(text, self.path, raw, advance)


def _bounded_lines(
    text: io.TextIOWrapper, path: Path, raw: IO[bytes], advance: Advance
) -> Iterator[str]:
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
    except UnicodeError as error:  # of which some codecs say no more
        name = (text.encoding or "").upper().removesuffix("-SIG")
        byte = ""
        if isinstance(error, UnicodeDecodeError):
            byte = f"byte 0x{error.object[error.start]:02x} "
        raise InputError(
            f"{path} is not {name} text ({byte}after line {number}); say how it is encoded, such "
            "as --encoding cp1252 (Windows) or latin-1, or save it in UTF-8"
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
            cells = chain.from_iterable(rows[1:] or rows)
            same_width = same_width and all(_is_number(c) or _is_number(c, ",") for c in cells)
        if same_width and len(rows[0]) > 1:
            widths[delimiter] = len(rows[0])
    if ";" in widths and "," in widths and _are_decimal_commas(sample[:50]):
        return ";"
    if widths:
        return max(widths, key=lambda delimiter: widths[delimiter])
    return max(_DELIMITERS[:-1], key=sample[0].count)


def _are_decimal_commas(lines: list[str]) -> bool:
    """Whether each comma is within a number between semicolons."""
    cells = [c.strip() for row in csv.reader(lines, delimiter=";") for c in row if "," in c]
    return all(_WITH_COMMA.fullmatch(cell) for cell in cells)


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in _MISSING_NUMBERS


def _is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number; 1_2, which Python accepts, is not."""
    try:
        float(cell) if decimal == "." else _comma_to_float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _comma_to_float(cell: str) -> float:
    """A number with a decimal comma; a point, which could separate thousands, is an error."""
    if "." in cell:
        raise ValueError(f"{cell!r} has a decimal point")
    return float(cell.replace(",", ".", 1))


def _encoding(path: Path) -> str:
    """The encoding of the byte order mark that a file begins with, else UTF-8."""
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        try:
            start = gzip.GzipFile(fileobj=raw).read(3) if packed else raw.read(3)
        except (OSError, EOFError, zlib.error):
            start = b""  # reported when it is read
    marked = (name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark))
    return next(marked, "utf-8")


def _decimal(rows: list[Row], delimiter: str) -> str:
    """The comma if no first cell has a decimal point and some are numbers only with a comma.

    1,234 could be a thousand, unless cells are separated by semicolons, as programs write them
    where the decimal sign is a comma.
    """
    cells = [cell.strip() for row in rows for cell in row]
    if any(_WITH_POINT.fullmatch(cell) or _THOUSANDS.fullmatch(cell) for cell in cells):
        return "."
    digits = [match[1] for cell in cells if (match := _WITH_COMMA.fullmatch(cell))]
    is_clear = delimiter == ";" or any(len(after) != 3 for after in digits)
    return "," if digits and is_clear else "."
