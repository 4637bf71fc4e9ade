"""What is read in blocks of rows: arrays on disk, iterables of blocks, columns of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._util.arrays import to_numpy
from .._util.dask import chunk_by_chunk, is_dask, n_rows, row_sizes, width_of_rows
from .._util.typing import Array, IntArray

__all__ = [
    "Blocks",
    "DaskRows",
    "NamedColumns",
    "Origin",
    "Source",
    "as_source",
    "block_rows",
    "is_in_memory",
    "is_stored",
    "is_streamed",
    "len_of",
    "may_be_rows",
]

BLOCK_BYTES = 2**26  # of float64 numbers that a block of points has at most
_MOST_ROWS = 2**20  # that a block has, however narrow: labels may be Python objects
_NO_ROWS = "there are no rows at all; at least one point is needed"
_MULTIPLE = 1024  # of rows: whole runs of the kernels


def block_rows(width: int) -> int:
    """How many rows of so many numbers make a block; of the same points always as many."""
    rows = min(max(BLOCK_BYTES // (8 * max(width, 1)), 1), _MOST_ROWS)
    return rows // _MULTIPLE * _MULTIPLE or rows


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """Rows of a data frame: an array that knows what its columns are called."""

    rows: Array
    columns: tuple[Hashable, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice) -> NamedColumns:
        return NamedColumns(self.rows[rows], self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.rows, dtype=dtype, copy=copy)

    def copy(self) -> NamedColumns:
        return NamedColumns(self.rows.copy(), self.columns)


class Origin(ABC):
    """Where rows come from. Parts of one origin are read together."""

    n: int | None  # rows, where that is known before they are read
    repeats: bool  # whether it can be read again
    reads_ahead: bool  # whether it may be read on another thread
    columns: tuple[Hashable, ...] | None = None  # what they are called, where the whole is a frame

    @abstractmethod
    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        """The rows from ``start`` on, in chunks of any sizes: a tuple with each of the parts."""

    def width(self, part: Hashable) -> int:
        """How many numbers a row has."""
        return int(np.prod(self.first(part).shape[1:]))

    def first(self, part: Hashable) -> Any:
        """The first rows, of which there may be any number but none."""
        for chunk in self.chunks([part], 0):
            if len_of(chunk[0]):
                return chunk[0]
        raise ValueError(_NO_ROWS)

    def count(self, part: Hashable) -> int:
        """How many rows there are, by looking at all of them if need be."""
        if self.n is None:
            self.n = sum(len_of(chunk[0]) for chunk in self.chunks([part], 0))
        return self.n

    def take(self, part: Hashable, rows: IntArray) -> Any:
        """Some rows, in ascending order, or None where only reading all would give them."""
        return None

    @abstractmethod
    def describe(self, part: Hashable) -> list[Any]:
        """What is known of a part without reading it, fit for JSON."""


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that are read in blocks: points, labels, memberships or weights."""

    origin: Origin
    part: Hashable = None

    @property
    def n(self) -> int | None:
        return self.origin.n

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError(
            "this wants its input in memory; what comes in blocks is taken by represent, distance, "
            "distance_matrix, compare, consensus and predict"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.origin.describe(self.part)))})"


class Blocks(Source):
    """Points, labels, memberships or weights as an iterable of blocks of any sizes.

    Parameters
    ----------
    blocks : iterable, or function that returns one
        Of arrays, lists, ... with one row for each point. A function, or anything that can be
        iterated several times, serves where the points are looked at more than once; a generator
        is used up by one look, which is enough where a Lift is given.
    n : int, optional
        How many rows there are in all; saves a look where that must be known first.

    Blocks that are mappings or tuples hold several things about the same points:
    ``blocks["labels"]`` or ``blocks[1]`` is one of them, and those used together are read together.

    Examples
    --------
    >>> import liftcluster as lc
    >>> read = lambda: ({"X": [[i], [i + 1.0]], "label": [i % 4, 0]} for i in range(0, 6, 2))
    >>> blocks = lc.Blocks(read)
    >>> rep = lc.represent(blocks["X"], blocks["label"], bandwidth=1.0)
    >>> rep.cluster_names, rep.masses.round(3).tolist()
    ((0, 2), [0.833, 0.167])
    """

    def __init__(
        self, blocks: Iterable[Any] | Callable[[], Iterable[Any]], n: int | None = None
    ) -> None:
        if not callable(blocks) and not isinstance(blocks, Iterable):
            raise TypeError(
                "blocks must be an iterable of blocks, or a function that returns one, got "
                f"{type(blocks).__name__}"
            )
        super().__init__(_Iterated(blocks, n))

    def __getitem__(self, part: Hashable) -> Source:
        return Source(self.origin, part)


class _Iterated(Origin):
    """Blocks from an iterable; on the caller's thread, for it may belong to that."""

    reads_ahead = False

    def __init__(self, blocks: Any, n: int | None) -> None:
        self.blocks, self.n, self.said = blocks, n, n
        self.repeats = callable(blocks) or iter(blocks) is not blocks
        self.used_up = False
        self.last: Any = None  # iterator that was read
        self.widths: dict[Hashable, int] = {}

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        if self.used_up:
            raise ValueError(
                "these blocks come from a generator, which can be read only once, and have been "
                "read; give Blocks a function that returns a new one each time"
            )
        self.used_up = not self.repeats
        row, columns = 0, None
        for block in self._new_iterator():
            chunk = tuple(_as_rows(_part(block, part)) for part in parts)
            stop = row + len_of(chunk[0])
            if stop > row:
                columns = _same_columns(columns, [getattr(rows, "columns", None) for rows in chunk])
            if stop > start:
                skip = max(start - row, 0)
                yield tuple(rows[skip:] for rows in chunk) if skip else chunk
            row = stop

    def _new_iterator(self) -> Iterator[Any]:
        """The blocks from the first one on; who stops half-way closes what makes them."""
        blocks = iter(self.blocks() if callable(self.blocks) else self.blocks)
        if self.repeats and blocks is self.last:
            raise ValueError(
                "these blocks came from the same iterator as before, which has been read; let the "
                "function that is given to Blocks make a new one each time"
            )
        self.last = blocks
        yield from blocks  # and not by a loop, which would leave them open

    def width(self, part: Hashable) -> int:
        if part not in self.widths:
            self.widths[part] = super().width(part)
        return self.widths[part]

    def first(self, part: Hashable) -> Any:
        if self.repeats or self.used_up:
            return super().first(part)
        seen: list[Any] = []
        rows: Any = ()
        for block in self.blocks:
            seen.append(block)
            if len_of(rows := _as_rows(_part(block, part))):
                break
        self.blocks = chain(seen, self.blocks)  # put back what was taken
        if not len_of(rows):
            raise ValueError(_NO_ROWS)
        return rows

    def describe(self, part: Hashable) -> list[Any]:
        return ["blocks", repr(part), self.said]  # not what has been counted since


class StoredArray(Origin):
    """An array that is read by slices of rows: in memory, a memory map, HDF5, zarr."""

    repeats = True

    def __init__(self, array: Any) -> None:
        if not array.shape:
            raise ValueError("points and labels have rows, got an array without dimensions")
        self.array = array
        self.n = int(array.shape[0])
        self.reads_ahead = not _in_memory(array)
        # Texts come as bytes from HDF5, unless asked for.
        is_text = array.dtype.kind == "O" and hasattr(array, "asstr")
        self.rows: Any = array.asstr() if is_text else array

    @property
    def step(self) -> int:
        """Rows that are read at a time: a block, in whole chunks of the file."""
        step = block_rows(self.width(None))
        chunks = getattr(self.array, "chunks", None)
        if not chunks or not chunks[0]:
            return step
        return -(-step // int(chunks[0])) * int(chunks[0])

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        assert self.n is not None
        for i in range(start // self.step * self.step, self.n, self.step):
            chunk = self.rows[max(i, start) : min(i + self.step, self.n)]
            # A map is copied here, where reading it holds up nobody.
            yield (np.array(chunk) if isinstance(chunk, np.memmap) else _as_rows(chunk),)

    def width(self, part: Hashable) -> int:
        return int(np.prod(self.array.shape[1:]))

    def take(self, part: Hashable, rows: IntArray) -> Any:
        chooser = getattr(self.rows, "oindex", self.rows)  # zarr's way to choose rows
        return np.asarray(chooser[rows])

    def describe(self, part: Hashable) -> list[Any]:
        return ["array", list(map(int, self.array.shape)), str(self.array.dtype)]


class DaskRows(Origin):
    """A dask array, or columns of a dask data frame; what is large is done where the chunks are."""

    repeats = True
    reads_ahead = False

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.n = n_rows(rows)
        is_frame = hasattr(rows, "columns") and rows.ndim == 2
        self.columns = tuple(rows.columns) if is_frame else None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each chunk; data frames have to look."""
        return row_sizes(self.rows)

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        row = 0
        for chunk in map(_as_rows, chunk_by_chunk(self.rows)):
            row += len_of(chunk)
            if row > start:
                yield (chunk[max(len_of(chunk) - (row - start), 0) :],)

    def count(self, part: Hashable) -> int:
        self.n = sum(self.sizes)
        return self.n

    def width(self, part: Hashable) -> int:
        return width_of_rows(self.rows)

    def describe(self, part: Hashable) -> list[Any]:
        return ["dask", self.n, self.width(part), _kinds(self.rows)]


def is_stored(obj: Any) -> bool:
    """Whether an object is a source, or an array that is not in memory."""
    return isinstance(obj, Source | np.memmap) or is_dask(obj) or _is_array_on_disk(obj)


def is_in_memory(source: Source) -> bool:
    """Whether a source is an array that was there before, and stands beside what is read."""
    return isinstance(source.origin, StoredArray) and _in_memory(source.origin.array)


def is_streamed(X: Any) -> bool:
    """Whether points come in blocks: a memory map is an array like others, as far as it goes."""
    return not isinstance(X, np.memmap) and (is_stored(X) or isinstance(X, Iterator))


def as_source(obj: Any) -> Source:
    """A source, an array that is read by slices, or an iterator of blocks."""
    if isinstance(obj, Source):
        return obj
    if isinstance(obj, Iterator):
        return Blocks(obj)
    return Source(DaskRows(obj) if is_dask(obj) else StoredArray(obj))


def may_be_rows(obj: Any) -> bool:
    """Whether an object is read in blocks, where something beside it is."""
    return is_stored(obj) or isinstance(obj, Iterator)


def len_of(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _is_array_on_disk(obj: Any) -> bool:
    """h5py, zarr and their like: sliced as arrays are, cut into chunks, and not yet read."""
    return (
        all(hasattr(obj, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
        and not isinstance(obj, np.ndarray)
        and not is_array_api_obj(obj)
        and not is_dask(obj)
        and not hasattr(obj, "values")  # xarray has its own ways
    )


def _kinds(rows: Any) -> list[str]:
    """Of the columns of a table, or of the whole array."""
    dtypes = getattr(rows, "dtypes", None)
    return list(map(str, [rows.dtype] if dtypes is None else np.ravel(dtypes)))


def _in_memory(array: Any) -> bool:
    return isinstance(array, np.ndarray) and not isinstance(array, np.memmap)


def _part(block: Any, part: Hashable) -> Any:
    if part is None:
        return block
    try:
        return block[part]
    except (KeyError, IndexError, TypeError):
        raise ValueError(
            f"blocks must be mappings or tuples that hold {part!r}, got {type(block).__name__}"
        ) from None


def _as_rows(block: Any) -> Any:
    """A block that can be cut and joined: an array, or a sparse matrix."""
    shape = getattr(block, "shape", None)
    if isinstance(block, str | bytes) or shape == () or not (shape or hasattr(block, "__iter__")):
        raise TypeError(
            f"a block must hold rows, got {type(block).__name__}; give Blocks an iterable of "
            "arrays, and [array] for one alone"
        )
    if hasattr(block, "tocsr"):
        return block.tocsr()
    if hasattr(block, "categories") or hasattr(getattr(block, "values", None), "categories"):
        return np.asarray(block, dtype=object)
    if hasattr(block, "columns"):
        return NamedColumns(np.asarray(block), tuple(block.columns))
    if isinstance(block, np.ndarray) or hasattr(block, "dtype"):
        return block if isinstance(block, np.ma.MaskedArray) else _plain(block)
    return _array_of_list(list(block))


def _same_columns(before: list[Any] | None, columns: list[Any]) -> list[Any]:
    """The columns of a block, which are those of the blocks before it, in the same order."""
    for expected, names in zip(before or columns, columns, strict=True):
        if names != expected:
            shown = [None if own is None else list(own) for own in (names, expected)]
            raise ValueError(
                f"a block has the columns {shown[0]}, and those before it have {shown[1]}; give "
                "all blocks the same, in the same order"
            )
    return columns


def _plain(block: Any) -> Array:
    dtype = getattr(block, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype) and hasattr(block, "to_list"):
        return _array_of_list(block.to_list())  # nullable columns would turn to floats
    return to_numpy(block, "a block")  # from wherever it is


def _array_of_list(values: list[Any]) -> Array:
    """As NumPy has it, but that 1 and "a" stay what they are, and 2⁶⁰ + 1 beside a NaN too."""
    kinds = {type(value) for value in values}
    huge = kinds == {int} and not -(2**63) <= min(values) <= max(values) < 2**63
    if len(kinds) <= 1 and not kinds & {tuple, type(None)} and not huge:
        return np.asarray(values)
    if kinds <= {list, tuple} and all(np.ndim(value) == 1 for value in values[:1]):
        try:
            return np.asarray(values, dtype=np.float64)  # rows of points
        except (TypeError, ValueError):
            pass
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
