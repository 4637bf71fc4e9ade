"""Points and partitions that are read in blocks, validated block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from .._util.arrays import is_constant, on_device
from .._util.typing import Array, FloatArray, Points
from .._util.validation import as_points, as_weights
from ..partitions.blocks import Block, as_block
from ..partitions.frames import columns_as_partitions
from ..partitions.partition import Partition, as_partition, as_partitions
from .rows import joined, len_of
from .sources import Source, as_source, block_rows, can_be_streamed, is_stored, is_streamed

Chunk = tuple[Any, ...]  # the same rows of several sources

MAPPED_ROWS_IN_MEMORY = 10_000_000  # below which labels in a memory map are loaded
_FIRST_ROWS = 1000  # that identify a stream
_DONE: Any = object()


@dataclass(frozen=True, eq=False)
class PointBlock:
    """Some of the points and their part of all partitions."""

    rows: slice
    X: Points  # None if there are only partitions
    partitions: dict[Hashable, Block]
    weights: Any = None  # those for all partitions, if given

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)


@dataclass(frozen=True, eq=False)
class Stream:
    """Points with their partitions and weights, some of which are read in blocks."""

    X: Source | None
    partitions: dict[Hashable, Partition | Source]
    weights: FloatArray | Source | None  # of all partitions; they replace those of a Partition

    def __post_init__(self) -> None:
        check_lengths({name: part.n for name, part in self._named().items()})

    def _named(self) -> dict[str, Any]:
        """Points and partitions by the names that errors use."""
        points = {} if self.X is None else {"X": self.X}
        return points | {_label(name): p for name, p in self.partitions.items()}

    @property
    def n(self) -> int | None:
        """Number of points, or None if unknown before reading."""
        return next((p.n for p in self._named().values() if p.n is not None), None)

    @property
    def repeats(self) -> bool:
        return all(source.origin.repeats for source in self.sources.values())

    @property
    def sources(self) -> dict[str, Source]:
        """What has to be read, by the names that errors use."""
        named = self._named() | {"weights": self.weights}
        return {name: source for name, source in named.items() if isinstance(source, Source)}

    @property
    def block_rows(self) -> int:
        return block_rows(1 if self.X is None else n_features_of(self.X))

    def blocks(self, start: int = 0) -> Iterator[PointBlock]:
        """All of it in blocks of ``block_rows`` rows, the last one shorter."""
        row = start
        for rows, found in self._read(start):
            yield validate_block(rows, found | self.in_memory(rows), self.partitions)
            row = rows.stop
        self.check_all_used(row)

    def _read(self, start: int) -> Iterator[tuple[slice, dict[str, Any]]]:
        sources, size = self.sources, self.block_rows
        if sources:
            yield from read_together(sources, size, start)
        elif self.n is not None:  # all is in memory
            for row in range(start, self.n, size):
                yield slice(row, min(row + size, self.n)), {}

    def in_memory(self, rows: slice) -> dict[str, Any]:
        """Some rows of what is in memory, by the names that errors use."""
        found: dict[str, Any] = {}
        if self.weights is not None and not isinstance(self.weights, Source):
            found["weights"] = self.weights[rows]
        for name, p in self.partitions.items():
            if isinstance(p, Partition):
                with _locate_errors(rows, _label(name)):
                    if p.n < rows.stop:
                        raise ValueError(f"it has {p.n} entries, but there are more points")
                found[_label(name)] = Partition(p.assignment[rows], p.names, p.weights[rows])
        return found

    def check_all_used(self, rows: int) -> None:
        """Raise ValueError if anything in memory is longer than the points that were read."""
        if rows == 0:
            raise ValueError("X has no rows; at least one point is needed")
        for name, part in (self._named() | {"weights": self.weights}).items():
            if isinstance(part, Partition | np.ndarray) and len(part) != rows:
                raise ValueError(
                    f"{name} has {len(part)} entries but there are {rows} points; they must "
                    "describe the same points"
                )

    def gather(self) -> tuple[Array | None, dict[Hashable, Partition]]:
        """Load all of it into memory, for few points."""
        names, read = list(self.sources), read_together(self.sources, block_rows(1))
        pieces = [tuple(found[name].copy() for name in names) for _, found in read]
        whole = dict(zip(names, joined(pieces), strict=True)) if pieces else {}
        w = whole.get("weights", self.weights)
        parts = {
            name: as_partition(whole[_label(name)] if isinstance(p, Source) else p, w)
            for name, p in self.partitions.items()
        }
        return whole.get("X"), parts

    def describe(self) -> list[Any]:
        """Shapes, types and a hash of the first rows and of what is in memory, for JSON."""
        digest = hashlib.sha256()
        if self.repeats:
            first = next(self.blocks())
            rows = slice(min(len(first), _FIRST_ROWS))
            digest.update(b"" if first.X is None else first.X[rows].tobytes())
            for block in first.partitions.values():
                p = block.partition
                _update(digest, Partition(p.assignment[rows], p.names, p.weights[rows]))
        for part in (*self.partitions.values(), self.weights):
            if isinstance(part, Partition | np.ndarray):
                _update(digest, part)
        sources = {name: s.origin.describe(s.part) for name, s in self.sources.items()}
        names = list(map(repr, self.partitions))
        return [names, self.block_rows, sources, digest.hexdigest()]


def _update(digest: Any, part: Partition | FloatArray) -> None:
    """Add to a hash all of a partition, or weights, that sums depend on."""
    if isinstance(part, np.ndarray):
        digest.update(part if part.flags.c_contiguous else part.tobytes())
        return
    R, w = part.assignment, part.weights
    digest.update(repr((part.names, part.n)).encode())
    for array in (R,) if part.is_hard else (R.data, R.indices, R.indptr):
        _update(digest, array)
    _update(digest, w[:1] if is_constant(w) else w)


def validate_block(
    rows: slice, found: Mapping[str, Any], partitions: Iterable[Hashable]
) -> PointBlock:
    """Validated rows of points and partitions; errors name the rows in the stream."""
    X = as_points(found["X"], first_row=rows.start) if "X" in found else None
    parts = {}
    for name in partitions:
        with _locate_errors(rows, _label(name)):
            parts[name] = as_block(found[_label(name)], found.get("weights"))
    return PointBlock(rows, X, parts, found.get("weights"))


def needs_stream(X: Points, partitions: Any, weights: Any = None) -> bool:
    """Whether any of these has to be read in blocks."""
    partitions = columns_as_partitions(partitions)
    if isinstance(partitions, Mapping):
        partitions = list(partitions.values())
    parts = partitions if isinstance(partitions, list | tuple) else [partitions]
    return is_streamed(X) or any(map(_is_long, (weights, *parts)))


def _is_long(obj: Any) -> bool:
    """Whether labels or weights are stored, other than in short memory maps, as joblib makes."""
    if not is_stored(obj):
        return False
    return not (isinstance(obj, np.memmap) and len(obj) < MAPPED_ROWS_IN_MEMORY)


def as_stream(X: Points, partitions: Any, weights: Any = None) -> Stream:
    """A Stream of points, partitions and weights, some of them sources, others in memory."""
    named: dict[Hashable, Any]
    partitions = columns_as_partitions(partitions)
    if isinstance(partitions, Mapping):
        named = dict(partitions)
    elif can_be_streamed(partitions) and not (
        hasattr(partitions, "columns") and partitions.ndim == 2
    ):
        named = {0: partitions}
    elif isinstance(partitions, list | tuple) and any(map(can_be_streamed, partitions)):
        named = dict(enumerate(partitions))
    else:
        named = dict(as_partitions(partitions))
    if not named:
        raise ValueError("no partitions were given; pass at least one")
    parts = {
        name: as_source(p) if can_be_streamed(p) else as_partition(p) for name, p in named.items()
    }
    return stream_of_points(X, weights, parts)


def stream_of_points(
    X: Points, weights: Any = None, parts: dict[Hashable, Partition | Source] | None = None
) -> Stream:
    """Points and weights, with partitions that are ready or without any."""
    parts = parts or {}
    points = None
    if X is not None:
        X = X if can_be_streamed(X) else as_points(X, finite=False)
        if on_device(X):
            raise TypeError(
                "points on a device need labels and weights in memory; load those, or move the "
                "points to main memory"
            )
        points = as_source(X)
    if weights is None or can_be_streamed(weights):
        return Stream(points, parts, None if weights is None else as_source(weights))
    n = Stream(points, parts, None).n
    return Stream(points, parts, as_weights(weights, len(weights) if n is None else n))


def read_together(
    sources: Mapping[str, Source], size: int, start: int = 0
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Yield which rows a block holds and the rows of all sources by name, from ``start`` on.

    All blocks but the last have ``size`` rows, however the sources are cut. Sources that share an
    origin are read together. Errors name the source that is too short.
    """
    check_lengths({name: source.n for name, source in sources.items()})
    groups: dict[int, dict[str, Source]] = {}
    for name, source in sources.items():
        groups.setdefault(id(source.origin), {})[name] = source
    feeds = [_feed(group, size, start) for group in groups.values()]
    names = list(chain(*groups.values()))
    firsts = [next(iter(group)) for group in groups.values()]
    row = start
    for pieces in zip_longest(*feeds, fillvalue=()):
        lengths = [len_of(piece[0]) if piece else 0 for piece in pieces]
        if (shortest := min(lengths)) < (longest := max(lengths)):
            short, long = firsts[lengths.index(shortest)], firsts[lengths.index(longest)]
            raise ValueError(_unequal(long, "more rows", short, row + shortest))
        yield slice(row, row + shortest), dict(zip(names, chain(*pieces), strict=True))
        row += shortest
    for name, source in sources.items():
        if source.n not in (None, row):
            raise ValueError(
                f"{name} should have {source.n} rows, but {row} were read; if it has changed "
                "since it was first read, open it again"
            )
    if start == 0:
        for source in sources.values():
            source.origin.n = row  # the next pass must have as many


def check_lengths(lengths: Mapping[str, int | None]) -> None:
    """Raise ValueError if known numbers of rows differ; None is unknown."""
    known = [(name, n) for name, n in lengths.items() if n is not None]
    for name, n in known:
        if n != known[0][1]:
            raise ValueError(_unequal(name, f"{n} rows", *known[0]))


def _feed(group: Mapping[str, Source], size: int, start: int) -> Iterator[Chunk]:
    """The rows of sources with the same origin in pieces of ``size``."""
    origin = next(iter(group.values())).origin
    chunks = origin.chunks([source.part for source in group.values()], start)
    pieces = _cut(chunks, size, list(group))
    return _one_ahead(pieces) if origin.reads_ahead else pieces


def _cut(chunks: Iterator[Chunk], size: int, names: Sequence[str]) -> Iterator[Chunk]:
    """The same rows in pieces of ``size``, the last one shorter; empty chunks are skipped."""
    held: list[Chunk] = []
    rows = 0
    for chunk in chunks:
        length = len_of(chunk[0])
        for name, part in zip(names, chunk, strict=True):
            if len_of(part) != length:
                raise ValueError(
                    _unequal(names[0], f"{length} rows in a block", name, len_of(part))
                )
        begin = 0
        while begin < length:
            end = min(begin + size - rows, length)
            held.append(tuple(part[begin:end] for part in chunk))
            rows += end - begin
            begin = end
            if rows == size:
                yield joined(held)
                held, rows = [], 0
        if held:  # a reader may reuse its array for the next block
            held[-1] = tuple(part.copy() for part in held[-1])
    if held:
        yield joined(held)


def _one_ahead(items: Iterator[Chunk]) -> Iterator[Chunk]:
    """The same items; the next one is computed on another thread while one is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, _DONE)
        while (item := coming.result()) is not _DONE:
            coming = pool.submit(next, items, _DONE)
            yield item


def _unequal(first: Hashable, has: str, second: Hashable, n: int | None) -> str:
    return f"{first} has {has} but {second} has {n}; they must describe the same points"


def point_blocks(X: Source, start: int = 0) -> Iterator[tuple[slice, Array]]:
    """The points alone, in the same blocks, validated."""
    for rows, found in read_together({"X": X}, block_rows(n_features_of(X)), start):
        yield rows, as_points(found["X"], first_row=rows.start)


def n_features_of(X: Source) -> int:
    """Number of features of the points."""
    return X.origin.width(X.part)


def _label(name: Hashable) -> str:
    return f"partition {name!r}"


@contextmanager
def _locate_errors(rows: slice, what: str) -> Iterator[None]:
    """Add the rows of the block to errors, which count its points from zero."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{what}, in the block of rows {rows.start} to {rows.stop - 1} (its points counted "
            f"from 0): {error}"
        ) from error
