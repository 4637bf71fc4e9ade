"""Sources that describe the same points, read side by side in blocks of equal rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from .._util.typing import Array
from .sources import NamedColumns, Origin, Source, len_of

__all__ = ["joined", "read_together"]

Item = TypeVar("Item")
Chunk = tuple[Any, ...]
_DONE: Any = object()
_EXACT_FLOAT = 2**53  # whole numbers up to here are exact in float64


def read_together(
    sources: Mapping[str, Source], size: int, start: int = 0
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """The rows of all sources from ``start`` on, ``size`` at a time, and which rows they are.

    Where a block begins and ends depends on ``size`` alone, not on how the sources are cut. What
    shares an origin is read together. Names tell in errors which source is too short.
    """
    check_lengths(sources)
    groups: dict[int, list[str]] = {}
    for name, source in sources.items():
        groups.setdefault(id(source.origin), []).append(name)
    feeds = [
        _feed([(name, sources[name]) for name in names], size, start) for names in groups.values()
    ]
    row = start
    for pieces in zip_longest(*feeds, fillvalue=()):
        lengths = [len_of(piece[0]) if piece else 0 for piece in pieces]
        _check_same_rows(list(groups.values()), lengths, row)
        names = [name for group in groups.values() for name in group]
        parts = [part for piece in pieces for part in piece]
        yield slice(row, row + lengths[0]), dict(zip(names, parts, strict=True))
        row += lengths[0]
    _check_promises(sources, row)
    if start == 0:
        for source in sources.values():
            source.origin.n = row  # as many must come next time


def check_lengths(sources: Mapping[str, Source]) -> None:
    """Refuse sources that are known to have different numbers of rows."""
    known = {name: source.n for name, source in sources.items() if source.n is not None}
    for name, n in known.items():
        first, rows = next(iter(known.items()))
        if n != rows:
            raise ValueError(_unequal(first, f"{rows} rows", name, n))


def _feed(named: list[tuple[str, Source]], size: int, start: int) -> Iterator[Chunk]:
    origin: Origin = named[0][1].origin
    pieces = _cut(origin.chunks([source.part for _, source in named], start), size, named)
    return _one_ahead(pieces) if origin.reads_ahead else pieces


def _cut(
    chunks: Iterator[Chunk], size: int, named: Sequence[tuple[str, Source]]
) -> Iterator[Chunk]:
    """The same rows in pieces of ``size``, the last one shorter; empty chunks are none."""
    held: list[Chunk] = []
    rows = 0
    for chunk in chunks:
        length = len_of(chunk[0])
        for (name, _), part in zip(named, chunk, strict=True):
            if len_of(part) != length:
                raise ValueError(
                    _unequal(named[0][0], f"{length} rows in a block", name, len_of(part))
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
        if held:  # a reader may fill the same array with its next block
            held[-1] = tuple(part.copy() for part in held[-1])
    if held:
        yield joined(held)


def joined(pieces: list[Chunk]) -> Chunk:
    """Pieces of several things one after another."""
    if len(pieces) == 1:
        return pieces[0]
    return tuple(_concatenated(parts) for parts in zip(*pieces, strict=True))


def _concatenated(parts: Sequence[Any]) -> Any:
    if any(sp.issparse(part) for part in parts):
        return sp.vstack(parts, format="csr")
    if isinstance(parts[0], NamedColumns):
        return NamedColumns(_concatenated([part.rows for part in parts]), parts[0].columns)
    kinds = {part.dtype.kind for part in parts}
    if (len(kinds) > 1 and not kinds <= set("biuf")) or _would_round(parts):
        parts = [part.astype(object) for part in parts]  # NumPy would turn numbers into texts
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        return np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
    return np.concatenate(parts)


def _would_round(parts: Sequence[Array]) -> bool:
    """Whether labels that are whole numbers would become floats that cannot tell them apart."""
    known = [np.ma.getdata(part) for part in parts]
    whole = [part for part in known if part.ndim == 1 and part.dtype.kind in "iu" and len(part)]
    if not whole or np.result_type(*parts).kind != "f":
        return False
    return any(max(-int(part.min()), int(part.max())) > _EXACT_FLOAT for part in whole)


def _one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, the next one being made while the present one is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, _DONE)
        while (item := coming.result()) is not _DONE:
            coming = pool.submit(next, items, _DONE)
            yield item


def _check_same_rows(groups: list[list[str]], lengths: list[int], row: int) -> None:
    shortest, longest = min(lengths), max(lengths)
    if shortest < longest:
        short, long = groups[lengths.index(shortest)][0], groups[lengths.index(longest)][0]
        raise ValueError(_unequal(long, "more rows", short, row + shortest))


def _check_promises(sources: Mapping[str, Source], rows: int) -> None:
    for name, source in sources.items():
        if source.n not in (None, rows):
            raise ValueError(
                f"{name} was said to have {source.n} rows, but {rows} came; if it has changed "
                "since it was first read, open it anew"
            )


def _unequal(first: Hashable, has: str, second: Hashable, n: int | None) -> str:
    return f"{first} has {has} but {second} has {n}; they must describe the same points"
