"""Sources of rows that are read in blocks: arrays on disk, iterables of blocks, Dask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from .._util.arrays import on_device
from .._util.dask import is_dask, iterate_chunks, n_rows, row_sizes, width_of_rows
from .._util.typing import Array, IntArray
from .rows import as_rows, len_of

BLOCK_BYTES = 2**26  # maximal size of a block of points, in float64
_MOST_ROWS = 2**20  # maximal number of rows of a block: labels may be Python objects
_NO_ROWS = "there are no rows at all; at least one point is needed"
_IN_MEMORY = (np.ndarray, list, type(None))  # which most calls are given
_MULTIPLE = 1024  # rows of a block are a multiple of this, as the runs of the kernels


def block_rows(width: int) -> int:
    """Number of rows of a block, which depends on the number of columns alone."""
    rows = min(max(BLOCK_BYTES // (8 * max(width, 1)), 1), _MOST_ROWS)
    return rows // _MULTIPLE * _MULTIPLE or rows


class Origin(ABC):
    """Where rows come from; several parts (columns) of one origin are read together."""

    n: int | None  # number of rows, or None if unknown before reading
    repeats: bool  # whether it can be read again
    reads_ahead: bool  # whether it may be read on another thread
    columns: tuple[Hashable, ...] | None = None  # names of the columns of a data frame

    @abstractmethod
    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        """The rows from ``start`` on, in chunks of any sizes: tuples with one entry per part."""

    def width(self, part: Hashable) -> int:
        """Number of values in each row."""
        return int(np.prod(self.first(part).shape[1:]))

    def first(self, part: Hashable) -> Any:
        """The first chunk that is not empty."""
        for chunk in self.chunks([part], 0):
            if len_of(chunk[0]):
                return chunk[0]
        raise ValueError(_NO_ROWS)

    def count(self, part: Hashable) -> int:
        """Number of rows, by reading all of them if necessary."""
        if self.n is None:
            self.n = sum(len_of(chunk[0]) for chunk in self.chunks([part], 0))
        return self.n

    def take(self, part: Hashable, rows: IntArray) -> Any:
        """Some rows, in ascending order; None if all would have to be read."""
        return None

    @abstractmethod
    def describe(self, part: Hashable) -> list[Any]:
        """What is known of a part without reading it, as values that JSON can hold."""


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
            "out-of-core input is not supported here; load it into memory, or use represent, "
            "distance, distance_matrix, compare, consensus or predict"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.origin.describe(self.part)))})"


class Blocks(Source):
    """Points, labels, memberships or weights as an iterable of blocks of any sizes.

    Blocks may also be mappings or tuples that hold points, labels, ...: ``blocks["labels"]`` or
    ``blocks[1]`` selects one of them, and those used together are read together.

    Parameters
    ----------
    blocks : iterable, or function that returns one
        Arrays, lists, ... with one row for each point. If several passes over the points are
        needed, give a function, or an object that can be iterated several times. A generator can
        be read once, which is enough if a Lift is given.
    n : int, optional
        Total number of rows; saves a pass over the points where it is needed.

    See Also
    --------
    scan_table : Columns of Parquet, Arrow and CSV files.
    represent, distance_matrix, consensus

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
    """Blocks from an iterable, read on the thread of the caller, to which it may be bound."""

    reads_ahead = False

    def __init__(self, blocks: Any, n: int | None) -> None:
        self.blocks, self.n, self.n_given = blocks, n, n
        self.repeats = callable(blocks) or iter(blocks) is not blocks
        self.last: Any = None  # the iterator of the previous pass
        self.widths: dict[Hashable, int] = {}

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        row, columns = 0, None
        for block in self._new_iterator():
            chunk = tuple(as_rows(_part(block, part)) for part in parts)
            stop = row + len_of(chunk[0])
            if stop > row:
                columns = _same_columns(columns, [getattr(rows, "columns", None) for rows in chunk])
            if stop > start:
                skip = max(start - row, 0)
                yield tuple(rows[skip:] for rows in chunk) if skip else chunk
            row = stop

    def _new_iterator(self) -> Iterator[Any]:
        """The blocks from the first one on; closing it also closes a generator of blocks."""
        blocks = iter(self.blocks() if callable(self.blocks) else self.blocks)
        if blocks is self.last:
            raise ValueError(
                "these blocks came from the same iterator as before, which can be read only once; "
                "give Blocks a function, which must return a new iterator each time"
            )
        self.last = blocks
        yield from blocks  # not a loop, which would not close a generator

    def width(self, part: Hashable) -> int:
        if part not in self.widths:
            self.widths[part] = super().width(part)
        return self.widths[part]

    def first(self, part: Hashable) -> Any:
        if self.repeats or self.last is not None:
            return super().first(part)
        seen = []
        for block in self.blocks:
            seen.append(block)
            rows = as_rows(_part(block, part))
            if len_of(rows):
                self.blocks = chain(seen, self.blocks)  # to be read again
                return rows
        raise ValueError(_NO_ROWS)

    def describe(self, part: Hashable) -> list[Any]:
        return ["blocks", repr(part), self.n_given]  # not n, which may have been counted since


class StoredArray(Origin):
    """An array that is read by slices of rows: in memory, a memory map, HDF5, zarr."""

    repeats = True

    def __init__(self, array: Any) -> None:
        if not array.shape:
            raise ValueError("points and labels need rows, got an array without dimensions")
        self.array = array
        self.n = int(array.shape[0])
        self.reads_ahead = not isinstance(array, np.ndarray) or isinstance(array, np.memmap)
        # h5py returns strings as bytes by default.
        is_text = array.dtype.kind == "O" and hasattr(array, "asstr")
        self.rows: Any = array.asstr() if is_text else array

    @property
    def step(self) -> int:
        """Rows that are read at a time: a block, rounded up to whole chunks of the file."""
        chunk = int((getattr(self.array, "chunks", None) or [1])[0] or 1)
        return -(-block_rows(self.width(None)) // chunk) * chunk

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        n, step = len_of(self.array), self.step
        for i in range(start // step * step, n, step):
            chunk = self.rows[max(i, start) : min(i + step, n)]
            # A memory map is read here, possibly on another thread.
            yield (np.array(chunk) if isinstance(chunk, np.memmap) else as_rows(chunk),)

    def width(self, part: Hashable) -> int:
        return int(np.prod(self.array.shape[1:]))

    def take(self, part: Hashable, rows: IntArray) -> Any:
        chooser = getattr(self.rows, "oindex", self.rows)  # zarr selects rows with oindex
        return np.asarray(chooser[rows])

    def describe(self, part: Hashable) -> list[Any]:
        return ["array", list(map(int, self.array.shape)), str(self.array.dtype)]


class DaskRows(Origin):
    """A dask array, or columns of a dask data frame, processed chunk by chunk."""

    repeats = True
    reads_ahead = False

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.n = n_rows(rows)
        is_frame = hasattr(rows, "columns") and rows.ndim == 2
        self.columns = tuple(rows.columns) if is_frame else None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each chunk, computed for data frames."""
        return row_sizes(self.rows)

    def chunks(self, parts: Sequence[Hashable], start: int) -> Iterator[tuple[Any, ...]]:
        row = 0
        for chunk in map(as_rows, iterate_chunks(self.rows)):
            row += len_of(chunk)
            if row > start:
                yield (chunk[max(len_of(chunk) - (row - start), 0) :],)

    def count(self, part: Hashable) -> int:
        self.n = sum(self.sizes)
        return self.n

    def width(self, part: Hashable) -> int:
        return width_of_rows(self.rows)

    def describe(self, part: Hashable) -> list[Any]:
        dtypes = getattr(self.rows, "dtypes", getattr(self.rows, "dtype", ()))
        return ["dask", self.n, self.width(part), list(map(str, np.ravel(dtypes)))]


def is_stored(obj: Any) -> bool:
    """Whether an object is a source, or an array that is not in memory."""
    if type(obj) in _IN_MEMORY or on_device(obj):
        return False
    return isinstance(obj, Source | np.memmap) or is_dask(obj) or _is_array_on_disk(obj)


def is_in_memory(source: Source) -> bool:
    """Whether a source is an array in memory."""
    return isinstance(source.origin, StoredArray) and not source.origin.reads_ahead


def is_streamed(X: Any) -> bool:
    """Whether points are read in blocks; memory maps are used as arrays."""
    return not isinstance(X, np.memmap) and can_be_streamed(X)


def as_source(obj: Any) -> Source:
    """A Source from an array that is read by slices, an iterator of blocks, or a Source."""
    if isinstance(obj, Source):
        return obj
    if isinstance(obj, Iterator):
        return Blocks(obj)
    return Source(DaskRows(obj) if is_dask(obj) else StoredArray(obj))


def can_be_streamed(obj: Any) -> bool:
    """Whether an object can be read in blocks, beside others that must be."""
    return is_stored(obj) or isinstance(obj, Iterator)


def _is_array_on_disk(obj: Any) -> bool:
    """Whether an object is a dataset of h5py, zarr or similar: sliced, chunked, not yet read."""
    return (
        all(hasattr(obj, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
        and not isinstance(obj, np.ndarray)
        and not is_array_api_obj(obj)
        and not hasattr(obj, "values")  # xarray is not supported
    )


def _part(block: Any, part: Hashable) -> Any:
    if part is None:
        return block
    try:
        return block[part]
    except (KeyError, IndexError, TypeError):
        raise ValueError(
            f"blocks must be mappings or tuples that hold {part!r}, got {type(block).__name__}"
        ) from None


def _same_columns(before: list[Any] | None, columns: list[Any]) -> list[Any]:
    """Return the columns of a block, which must be those of the blocks before it."""
    for expected, names in zip(before or columns, columns, strict=True):
        if names != expected:
            shown = [None if own is None else list(own) for own in (names, expected)]
            raise ValueError(
                f"a block has the columns {shown[0]}, and those before it have {shown[1]}; all "
                "blocks must have the same columns in the same order"
            )
    return columns
