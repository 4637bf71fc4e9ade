"""Tables as text: CSV and TSV, plain or gzipped, read in one bounded pass."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, ClassVar, NoReturn

import numpy as np

from .._util.memory import most_file_bytes
from .._util.progress import progress_bar
from .._util.typing import Array, FloatArray
from .labels import MISSING, label_values
from .table import CellError, InputError, Table, check_size, refuse_twice

__all__ = ["TextTable"]

_LONGEST_LINE = 2**26  # characters; a longer line is no line of a table
_CHUNK = 20_000  # rows converted at a time
_SAMPLE = 1000  # rows by which a column is judged
_DELIMITERS = (",", "\t", ";", "|", " ")

Row = list[str]


class TextTable(Table):
    """A table of text; its delimiter and whether it has a header are found from its first rows."""

    row_word: ClassVar[str] = "line"
    _share_read: Callable[[], float]

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._lines() as lines:
            sample = list(islice(lines, _SAMPLE))
        if not any(line.strip() for line in sample):
            raise InputError(
                f"{path} is empty; give a table with a header and a row for each point"
            )
        if any("\0" in line for line in sample):
            raise InputError(f"{path} is not text: it has zero bytes; save it as CSV in UTF-8")
        try:
            self.delimiter = _delimiter(sample, path)
            rows = [row for row in csv.reader(sample, delimiter=self.delimiter) if row]
        except csv.Error as error:
            raise InputError(f"{path} is not a table of text: {error}") from None
        self.has_header = not _is_data(rows[0])
        self.names = _names(rows[0], path) if self.has_header else _numbered(rows[0])
        self._sample = rows[1:] if self.has_header else rows
        if not self._sample:
            raise InputError(f"{path} has a header but no rows; add one for each point")

    def likely_points(self, taken: Collection[str]) -> list[str]:
        """Columns with a name of which at least half of the first rows hold a number."""
        return [
            name
            for i, name in enumerate(self.names)
            if name not in taken
            and not name.startswith("column ")
            and _mostly_numbers([row[i] for row in self._sample if i < len(row)])
        ]

    def read(self, numbers: Sequence[str], texts: Sequence[str]) -> dict[str, Array]:
        place = {name: i for i, name in enumerate(self.names)}
        wanted = [place[name] for name in numbers]
        encoders = [_Encoder(place[name]) for name in texts]
        blocks: list[FloatArray] = []
        n = 0
        with self._rows() as rows:
            for chunk in _chunks(rows):
                self._check_widths(chunk, n)
                if n == 0:
                    self._check_room(len(chunk), len(numbers), len(texts))
                blocks.append(self._floats(chunk, wanted, n))
                for encoder in encoders:
                    encoder.add(chunk)
                n += len(chunk)
        M = np.concatenate(blocks)
        found: dict[str, Array] = {name: M[:, i] for i, name in enumerate(numbers)}
        return found | {
            name: encoder.labels() for name, encoder in zip(texts, encoders, strict=True)
        }

    def _check_room(self, n_rows: int, n_numbers: int, n_texts: int) -> None:
        """Whether the whole file will fit, judged by its beginning."""
        n = n_rows / max(self._share_read(), 1e-9)
        check_size(int(n * 8 * (2 * n_numbers + n_texts)), self.path)  # blocks, then all of them

    def _floats(self, rows: list[Row], wanted: list[int], start: int) -> FloatArray:
        pick: Any = itemgetter(*wanted) if len(wanted) > 1 else lambda row: [row[i] for i in wanted]
        cells = chain.from_iterable(map(pick, rows))
        count = len(rows) * len(wanted)
        try:
            block = np.fromiter(map(float, cells), np.float64, count)
        except ValueError:
            self._complain(rows, wanted, start)
        if not np.isfinite(block).all():
            self._complain(rows, wanted, start)
        return block.reshape(len(rows), len(wanted))

    def _complain(self, rows: list[Row], wanted: list[int], start: int) -> NoReturn:
        for r, row in enumerate(rows):
            for i in wanted:
                if (trouble := _trouble(row[i])) is not None:
                    where = (
                        f"{self.path}, line {self._line_of(start + r)}, column {self.names[i]!r}"
                    )
                    raise CellError(f"{where}: {trouble}", self.names[i])
        raise AssertionError("a cell that was not a number is one now")

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
        """On which line a row begins: quoted cells may hold several lines, and some are blank."""
        with self._lines() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter)
            before, seen = 0, -1 if self.has_header else 0
            for row in reader:
                if row or len(self.names) == 1:
                    if seen == index:
                        return before + 1
                    seen += 1
                before = reader.line_num
        raise AssertionError(f"{self.path} has no row {index} any more")

    @contextmanager
    def _rows(self) -> Iterator[Iterator[Row]]:
        """Rows below the header; blank lines are none, but where there is one column only."""
        with self._lines("reading") as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            rows = _without_blanks(reader, len(self.names))
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
        show = None if description else False
        with open(self.path, "rb") as raw:
            size = max(self.path.stat().st_size, 1)
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            self._share_read = lambda: raw.tell() / size
            opened: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            text = io.TextIOWrapper(opened, encoding="utf-8-sig", newline="")
            with progress_bar(f"{description} {self.path.name}", size, show=show) as advance:
                yield _bounded_lines(text, self.path, raw, advance)


def _bounded_lines(
    text: io.TextIOWrapper, path: Path, raw: IO[bytes], advance: Callable[[int], None]
) -> Iterator[str]:
    """Lines of text; neither one of them nor all of them may be absurdly long."""
    total = number = position = 0
    most = most_file_bytes()
    try:
        while line := text.readline(_LONGEST_LINE):
            number += 1
            total += len(line)
            if len(line) == _LONGEST_LINE:
                raise InputError(f"{path}, line {number} has over {_LONGEST_LINE:,} characters")
            if total > most:
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
        raise InputError(f"{path} is damaged: {error}; get a whole copy of it") from None


def _without_blanks(reader: Iterator[Row], width: int) -> Iterator[Row]:
    return filter(None, reader) if width > 1 else _cells_of_one_column(reader)


def _cells_of_one_column(reader: Iterator[Row]) -> Iterator[Row]:
    """There a blank line is an empty cell, unless only blank lines follow."""
    pending = 0
    for row in reader:
        if row:
            yield from [[""]] * pending
            pending = 0
            yield row
        else:
            pending += 1


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk


class _Encoder:
    """A column of text as codes: most labels occur many times."""

    def __init__(self, column: int) -> None:
        self.column = column
        self.index: dict[str, int] = {}
        self.codes: list[Array] = []

    def add(self, rows: list[Row]) -> None:
        index, i = self.index, self.column
        codes = [index.setdefault(row[i], len(index)) for row in rows]
        self.codes.append(np.array(codes, dtype=np.int64))

    def labels(self) -> Array:
        return label_values(list(self.index))[np.concatenate(self.codes)]


def _delimiter(sample: list[str], path: Path) -> str:
    """The one that splits all first rows into the same number of cells, as many as can be."""
    if {".tsv", ".tab"} & {suffix.lower() for suffix in path.suffixes}:
        return "\t"
    widths = {}
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(sample[:50], delimiter=delimiter) if row]
        except csv.Error:  # one cell of a hundred thousand characters: it is another delimiter
            continue
        same = len({len(row) for row in rows}) == 1
        if delimiter == " ":  # words in a cell are no columns; numbers are
            same = same and all(_is_data(row) for row in rows[1:] or rows)
        if same:
            widths[delimiter] = len(rows[0])
    if widths and (best := max(widths.values())) > 1:
        return next(d for d in widths if widths[d] == best)
    return max(_DELIMITERS[:-1], key=sample[0].count)


def _names(header: Row, path: Path) -> list[str]:
    names = [cell.strip() or f"column {i}" for i, cell in enumerate(header, 1)]
    refuse_twice(names, path)
    return names


def _numbered(row: Row) -> list[str]:
    return [str(i) for i in range(1, len(row) + 1)]


def _is_data(row: Row) -> bool:
    """Whether a first row holds numbers rather than names; 0, 1, 2, ... are pandas' names."""
    counting = [str(i) for i in range(len(row))]
    return all(map(_is_number, row)) and (row != counting or len(row) == 1)


def _mostly_numbers(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell.strip().lower() not in MISSING]
    return bool(filled) and 2 * sum(map(_is_number, filled)) >= len(filled)


def _is_number(cell: str) -> bool:
    """Whether a cell looks like a number to a person; 1_2, a number for Python, does not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _trouble(cell: str) -> str | None:
    """What is wrong with a cell that should be a number."""
    shown = cell if len(cell) <= 40 else cell[:40] + "…"
    if cell.strip().lower() in MISSING:
        return f"{shown!r} where a number should be" if cell.strip() else "the cell is empty"
    try:
        return None if np.isfinite(float(cell)) else f"{shown!r} is not finite"
    except ValueError:
        comma = "; decimals are written with a point" if _is_number(cell.replace(",", ".")) else ""
        return f"{shown!r} is not a number{comma}"
