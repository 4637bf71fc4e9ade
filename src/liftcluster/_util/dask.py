"""Tasks on Dask arrays and data frames: the only module that imports Dask."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import reduce
from graphlib import TopologicalSorter
from typing import Any, TypeVar

import numpy as np

from .threads import one_blas_thread

Answer = TypeVar("Answer")
Graph = dict[Any, Any]
OfChunk = Callable[[Any, dict[str, Any], Any], Answer]  # of what is shared, a chunk, and its own

# Sums of chunks are added four neighbours at a time: the shape of the tree, and so the last bits
# of the sum, depend on the number of chunks alone.
_FANOUT = 4
_BRANCHES_PER_THREAD = 16  # at least: how evenly the chunks are distributed among the workers


def is_dask(obj: Any) -> bool:
    """Whether an object is a dask array, or columns of a dask data frame."""
    if not callable(getattr(obj, "__dask_graph__", None)):
        return False
    if type(obj).__module__.split(".")[0] != "dask":
        return False  # xarray and others wrap Dask themselves
    if _is_array(obj) or (hasattr(type(obj), "map_partitions") and hasattr(type(obj), "loc")):
        return True
    raise TypeError(
        f"got a dask {type(obj).__name__}, whose shape is unknown; make it an array with "
        "dask.array.from_delayed, or a data frame"
    )


def width_of_rows(rows: Any) -> int:
    """Number of values in each row."""
    if _is_array(rows):
        return int(np.prod(rows.shape[1:]))
    return len(rows.columns) if rows.ndim == 2 else 1


def n_rows(rows: Any) -> int | None:
    """Number of rows, or None where only computing them would tell."""
    sizes = _known_sizes(rows)
    return None if sizes is None else sum(sizes)


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Several arrays or tables about the same points, cut at the same rows, not yet computed."""

    graph: Graph
    keys: dict[str, list[Any]]  # of the chunks of each array or table
    sizes: tuple[int, ...]  # rows of each chunk

    @property
    def starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]

    def add_up(
        self, function: OfChunk[Answer], add: Callable[..., Answer], shared: Any, own: Sequence[Any]
    ) -> Answer:
        """The sum over all chunks of ``function(shared, {name: chunk}, own[i])``, computed.

        ``shared`` is one node of the graph, whatever the number of chunks; ``own[i]`` is part of
        the task of chunk i. The sum has the same bits on every scheduler, and also where a worker
        is lost and its tasks run again.
        """
        import dask

        # Persisted chunks are best processed where they are.
        persisted = any(_is_future(self.graph[key]) for keys in self.keys.values() for key in keys)
        placement = _Placement(len(own), [] if persisted else _worker_of_each_thread())
        level, depth = self._tasks(function, shared, own, placement), 0
        while len(level) > 1:
            depth += 1
            groups = [level[i : i + _FANOUT] for i in range(0, len(level), _FANOUT)]
            level = []
            for i, group in enumerate(groups):
                with placement.hint(depth, i):
                    level.append(dask.delayed(_add_all, pure=False)(add, *group))
        (answer,) = _compute(level)
        return answer

    def gather(self, function: OfChunk[Answer], shared: Any, own: Sequence[Any]) -> list[Answer]:
        """``function(shared, {name: chunk}, own[i])`` of every chunk, computed."""
        return list(_compute(self._tasks(function, shared, own, _Placement(len(own), []))))

    def only(self, chosen: Sequence[int]) -> ChunkedRows:
        """Some of the chunks."""
        keys = {name: [own[i] for i in chosen] for name, own in self.keys.items()}
        return ChunkedRows(self.graph, keys, tuple(self.sizes[i] for i in chosen))

    def _tasks(
        self, function: Any, shared: Any, own: Sequence[Any], placement: _Placement
    ) -> list[Any]:
        """One task for each chunk, which also computes the chunk, so that it is never sent."""
        import dask
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph
        from dask.optimization import cull

        chunks = list(zip(*self.keys.values(), strict=True))
        graph, needs = cull(self.graph, [key for keys in chunks for key in keys])
        owners = _owners(chunks, graph, needs)
        parts: list[Graph] = [{} for _ in chunks]
        common: Graph = {}  # what several chunks need, and what workers hold already
        for key, node in graph.items():
            owner = owners[key]
            (common if owner is None else parts[owner])[key] = node
        name = uuid.uuid4().hex[:12]
        rest = HighLevelGraph.from_collections(f"common-{name}", common)
        once = dask.delayed(shared, name=f"shared-{name}", traverse=False)
        tasks = []
        for i, (keys, part) in enumerate(zip(chunks, parts, strict=True)):
            needed = [*keys, *(key for owned in part for key in needs[owned])]
            inputs = [key for key in dict.fromkeys(needed) if owners[key] is None]
            named = dict(zip(self.keys, keys, strict=True))
            task = dask.delayed(_ChunkTask(function, named, own[i], part, inputs), traverse=False)
            values = [Delayed(key, rest, layer=f"common-{name}") for key in inputs]
            with placement.hint(0, i):
                tasks.append(task(once, *values, dask_key_name=f"chunk-{name}-{i}"))
        return tasks


@dataclass(frozen=True, eq=False)
class _ChunkTask:
    """A function of the chunks with the same rows, and the part of the graph that makes them."""

    function: OfChunk[Any]
    keys: dict[str, Any]  # of the chunks
    own: Any
    graph: Graph
    inputs: list[Any]  # keys of the results of other tasks

    def __call__(self, shared: Any, *values: Any) -> Any:
        import dask
        from dask.task_spec import DataNode

        given = {key: DataNode(key, v) for key, v in zip(self.inputs, values, strict=True)}
        chunks = dask.get({**self.graph, **given}, list(self.keys.values()))
        return self.function(shared, dict(zip(self.keys, chunks, strict=True)), self.own)


@dataclass(frozen=True, eq=False)
class _Placement:
    """Which worker gets which task of the tree, so that few sums travel.

    Whole branches go to one worker, so the number of sums that are sent depends on the number of
    workers and not on that of chunks. Idle workers may take tasks over, lost ones are replaced.
    """

    n_chunks: int
    workers: list[str]  # once for each of its threads; empty where there are none to choose from

    def worker(self, depth: int, i: int) -> str:
        """Worker of the i-th task at some depth, where 0 are the chunks."""
        branch = 1
        while branch * _FANOUT * len(self.workers) * _BRANCHES_PER_THREAD <= self.n_chunks:
            branch *= _FANOUT
        first = i * _FANOUT**depth // branch * branch  # the first chunk of its branch
        return self.workers[first * len(self.workers) // self.n_chunks]

    def hint(self, depth: int, i: int) -> AbstractContextManager[Any]:
        """A context in which a task is to be created."""
        import dask

        if not self.workers:
            return nullcontext()
        return dask.annotate(workers=[self.worker(depth, i)], allow_other_workers=True)


def align_chunks(rows: Mapping[str, Any], sizes: tuple[int, ...]) -> ChunkedRows:
    """Arrays and columns of tables, all cut into chunks of the given sizes.

    An object of unknown length with the same number of chunks is assumed to be cut there already;
    tasks check the lengths of their chunks.
    """
    import dask.array as da

    cut = {}
    for name, obj in rows.items():
        lazy = obj if is_dask(obj) else da.from_array(obj, chunks=(sizes, *obj.shape[1:]))
        whole = _whole_rows(lazy)
        own = _known_sizes(whole)
        if own is None and _n_chunks(whole) != len(sizes):
            own = row_sizes(whole)
        if own is not None and sum(own) != sum(sizes):
            raise ValueError(
                f"{name} has {sum(own)} rows but there are {sum(sizes)} points; they must describe "
                "the same points"
            )
        cut[name] = whole if own in (None, sizes) else _recut(whole, own, sizes)
    return _chunked(cut, sizes)


def row_sizes(rows: Any) -> tuple[int, ...]:
    """Number of rows of each chunk, computed where it is not known."""
    own = [None] * _n_chunks(rows)
    return _known_sizes(rows) or tuple(_chunked({"rows": rows}).gather(_length, None, own))


def iterate_chunks(rows: Any, at_a_time: int = 1) -> Iterator[Any]:
    """The chunks themselves, one after another; ``at_a_time`` of them are computed together."""
    chunks = _chunked({"rows": _whole_rows(rows)})
    for i in range(0, _n_chunks(rows), at_a_time):
        keys = chunks.keys["rows"][i : i + at_a_time]
        some = ChunkedRows(chunks.graph, {"rows": keys}, ())
        yield from some.gather(_itself, None, [None] * len(keys))


def map_chunks_lazily(
    function: Callable[[Any, Any], Any], shared: Any, X: Any, dtype: Any, columns: int | None
) -> Any:
    """``function(shared, chunk)`` of every chunk as a dask array that is not computed yet.

    The result is one-dimensional where ``columns``, the number of its columns, is None.
    """
    import dask
    import dask.array as da

    X = _whole_rows(X if _is_array(X) else X.to_dask_array())
    once = dask.delayed(shared, name=f"shared-{uuid.uuid4().hex[:12]}", traverse=False)
    shape = (0,) if columns is None else (0, columns)
    cut = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (columns,))}
    return da.map_blocks(
        _of_chunk, X, function, once, dtype=dtype, meta=np.empty(shape, dtype=dtype), **cut
    )


def _of_chunk(chunk: Any, function: Any, shared: Any) -> Any:
    return function(shared, chunk)


def _add_all(add: Any, *parts: Any) -> Any:
    return reduce(add, parts)


def _owners(
    chunks: list[tuple[Any, ...]], graph: Graph, needs: Mapping[Any, Iterable[Any]]
) -> dict[Any, int | None]:
    """Index of the only chunk that needs each key; None for several, and for held results."""
    owners: dict[Any, int | None] = {}

    def add(key: Any, owner: int | None) -> None:
        owners[key] = owner if owners.get(key, owner) == owner else None

    for i, keys in enumerate(chunks):
        for key in keys:
            add(key, i)
    others = {key: [k for k in needed if k != key] for key, needed in needs.items()}
    for key in reversed(list(TopologicalSorter(others).static_order())):  # users of a key first
        if _is_future(graph[key]):
            owners[key] = None
        for needed in others[key]:
            add(needed, owners[key])
    return owners


def _compute(tasks: list[Any]) -> tuple[Any, ...]:
    import dask

    # Threads of a scheduler limit BLAS, too, but threadpoolctl obeys one thread of a process only,
    # mostly the main one, which waits for them here.
    with one_blas_thread():
        return dask.compute(*tasks, traverse=False)


def _worker_of_each_thread() -> list[str]:
    """Addresses of the workers of the current distributed client, if there is one."""
    distributed = sys.modules.get("distributed")
    try:
        threads = distributed.Client.current().nthreads() if distributed else {}
    except ValueError:  # there is no client
        threads = {}
    return [address for address, count in threads.items() for _ in range(count)]


def _is_future(node: Any) -> bool:
    """Whether a node of a graph stands for a result that workers hold, after ``persist``."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(node, distributed.Future)


def _is_array(obj: Any) -> bool:
    # On the type, because a Delayed object has every attribute.
    return hasattr(type(obj), "rechunk") and hasattr(type(obj), "map_blocks")


def _n_chunks(rows: Any) -> int:
    return int(rows.numblocks[0] if _is_array(rows) else rows.npartitions)


def _known_sizes(rows: Any) -> tuple[int, ...] | None:
    if not _is_array(rows) or np.isnan(rows.chunks[0]).any():
        return None
    return tuple(map(int, rows.chunks[0]))


def _length(shared: None, chunk: dict[str, Any], own: None) -> int:
    return len(chunk["rows"])


def _itself(shared: None, chunk: dict[str, Any], own: None) -> Any:
    return chunk["rows"]


def _whole_rows(rows: Any) -> Any:
    """The same array, rechunked where rows are divided among chunks."""
    if _is_array(rows) and rows.ndim > 1 and rows.numblocks[1] > 1:
        return rows.rechunk({1: -1})
    return rows


def _recut(rows: Any, sizes: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    """An array of chunks of the wanted sizes; its own may have been unknown to it."""
    import dask.array as da

    if _is_array(rows):
        chunks = (sizes, *rows.chunks[1:])
        array = da.Array(rows.dask, rows.name, chunks, dtype=rows.dtype, meta=rows)
    else:
        array = rows.to_dask_array(lengths=list(sizes))
    return array.rechunk({0: wanted})


def _chunked(rows: Mapping[str, Any], sizes: tuple[int, ...] = ()) -> ChunkedRows:
    """Arrays and tables as one graph of tasks, and the keys of their chunks."""
    # Without Dask's own fusion, which computes points again for every array that is made of them;
    # tables still read only the columns that are used.
    graph: Graph = {}
    keys = {}
    for name, obj in rows.items():
        plain = obj if _is_array(obj) else obj.optimize(fuse=False)
        chunks = np.ravel(plain.to_delayed(optimize_graph=False))
        graph.update(chunks[0].dask)  # of all chunks
        keys[name] = [chunk.key for chunk in chunks]
    return ChunkedRows(graph, keys, sizes)
