"""Tasks on whatever scheduler the user has: the only file that knows of Dask."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np

__all__ = [
    "ChunkedRows",
    "chunk_by_chunk",
    "cut_alike",
    "is_dask",
    "lazy_rows",
    "n_rows",
    "row_sizes",
    "width_of_rows",
]

Answer = TypeVar("Answer")
Graph = dict[Any, Any]

# Chunks are added up four neighbours at a time: the shape of the tree, and so the last bits of a
# sum, depends on the number of chunks alone.
_FANOUT = 4
_SHARES = 16  # of a thread's chunks: how evenly neighbours are given to workers


def is_dask(obj: Any) -> bool:
    """Whether rows are a dask array, or columns of a dask data frame."""
    if not callable(getattr(obj, "__dask_graph__", None)):
        return False
    if type(obj).__module__.split(".")[0] != "dask":
        return False  # xarray and others have ways of their own
    if _is_array(obj) or _is_table(obj):
        return True
    raise TypeError(
        f"got a dask {type(obj).__name__}, which does not say what it holds; make it an array with "
        "dask.array.from_delayed, or a data frame"
    )


def width_of_rows(rows: Any) -> int:
    """How many numbers a row has."""
    return int(np.prod(rows.shape[1:])) if _is_array(rows) else len(_columns(rows))


def n_rows(rows: Any) -> int | None:
    """How many rows there are, where that is known before they are computed."""
    if not _is_array(rows) or not _is_known(rows.chunks[0]):
        return None
    return int(sum(rows.chunks[0]))


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Several things about the same points, cut at the same rows, none of them computed yet."""

    graph: Graph
    keys: dict[str, list[Any]]  # of the chunks of each thing
    sizes: tuple[int, ...]  # rows of each chunk

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]

    def add_up(
        self,
        function: Callable[[Any, dict[str, Any], Any], Answer],
        add: Callable[[Answer, Answer], Answer],
        shared: Any,
        own: Sequence[Any],
    ) -> Answer:
        """The sum over all chunks of ``function(shared, {name: chunk}, own[i])``, computed.

        ``shared`` is one key of the graph, whatever the number of chunks; ``own`` goes with the
        task of its chunk. The answer has the same bits on every scheduler, and also where a worker
        is lost: what it held is computed again.
        """
        client = _client()
        name = uuid.uuid4().hex[:12]
        graph, leaves = self._leaves(function, shared, own, name)
        levels = [leaves]
        while len(levels[-1]) > 1:
            levels.append(_add_level(graph, levels[-1], add, name, len(levels)))
        # Data that workers hold already are best added up where they are.
        homes = {} if client is None or self._is_held else _homes(levels, client.nthreads())
        (answer,) = _compute(graph, levels[-1], homes)
        return answer

    def gather(
        self,
        function: Callable[[Any, dict[str, Any], Any], Answer],
        shared: Any,
        own: Sequence[Any],
    ) -> list[Answer]:
        """``function(shared, {name: chunk}, own[i])`` of every chunk, computed."""
        if not own:
            return []
        graph, leaves = self._leaves(function, shared, own, uuid.uuid4().hex[:12])
        return list(_compute(graph, leaves, {}))

    def only(self, chosen: Sequence[int]) -> ChunkedRows:
        """Some of the chunks."""
        keys = {name: [own[i] for i in chosen] for name, own in self.keys.items()}
        return ChunkedRows(self.graph, keys, tuple(self.sizes[i] for i in chosen))

    @property
    def _is_held(self) -> bool:
        return any(key not in self.graph for keys in self.keys.values() for key in keys)

    def _leaves(
        self, function: Any, shared: Any, own: Sequence[Any], name: str
    ) -> tuple[Graph, list[Any]]:
        """One task for each chunk, with all that only this chunk needs, and their keys."""
        from dask._task_spec import DataNode, Task, TaskRef

        common = f"shared-{name}"
        names = tuple(self.keys)
        leaves = {}
        for i, (mine, *keys) in enumerate(zip(own, *self.keys.values(), strict=True)):
            key = (f"chunk-{name}", i)
            refs = [TaskRef(k) for k in keys]
            leaves[key] = Task(key, _call, function, names, TaskRef(common), mine, *refs)
        graph = _fused({**self.graph, common: DataNode(common, shared)}, leaves)
        return graph, list(leaves)


def cut_alike(rows: Mapping[str, Any], sizes: tuple[int, ...]) -> ChunkedRows:
    """Arrays and columns of tables, all cut where ``sizes`` says.

    What does not know its lengths, but comes in as many chunks, is taken to be cut there already;
    whoever looks at the chunks sees whether it is.
    """
    cut = {}
    for name, obj in rows.items():
        whole = _whole_rows(obj) if is_dask(obj) else _from_array(obj, sizes)
        own = _known_sizes(whole)
        if own is None and _n_chunks(whole) != len(sizes):
            own = row_sizes(whole)
        if own is not None and sum(own) != sum(sizes):
            raise ValueError(
                f"{name} has {sum(own)} rows but there are {sum(sizes)} points; they must describe "
                "the same points"
            )
        cut[name] = whole if own in (None, sizes) else _recut(whole, own, sizes)
    graph, keys = _low_level(list(cut.values()))
    return ChunkedRows(graph, dict(zip(cut, keys, strict=True)), sizes)


def row_sizes(rows: Any) -> tuple[int, ...]:
    """How many rows each chunk has, computed where that is not known."""
    known = _known_sizes(rows)
    if known is not None:
        return known
    graph, (keys,) = _low_level([rows])
    chunks = ChunkedRows(graph, {"rows": keys}, ())
    return tuple(chunks.gather(_length, None, [None] * len(keys)))


def chunk_by_chunk(rows: Any, at_a_time: int = 1) -> Iterator[Any]:
    """The chunks themselves, one after another, so many being computed together."""
    graph, (keys,) = _low_level([_whole_rows(rows)])
    for i in range(0, len(keys), at_a_time):
        chunks = ChunkedRows(graph, {"rows": keys[i : i + at_a_time]}, ())
        yield from chunks.gather(_itself, None, [None] * len(chunks.keys["rows"]))


def lazy_rows(
    function: Callable[[Any, Any], Any], shared: Any, X: Any, dtype: Any, columns: int | None
) -> Any:
    """``function(shared, chunk)`` of every chunk as a dask array, computed when it is asked for.

    ``columns``: how many a row of the answer has; None for one number for each row.
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


def _call(function: Any, names: tuple[str, ...], shared: Any, own: Any, *chunks: Any) -> Any:
    return function(shared, dict(zip(names, chunks, strict=True)), own)


def _add_level(graph: Graph, keys: list[Any], add: Any, name: str, level: int) -> list[Any]:
    from dask._task_spec import Task, TaskRef

    above = []
    for i in range(0, len(keys), _FANOUT):
        key = (f"add-{name}", level, i // _FANOUT)
        refs = [TaskRef(k) for k in keys[i : i + _FANOUT]]
        graph[key] = Task(key, _add_all, add, *refs)
        above.append(key)
    return above


def _add_all(add: Any, *parts: Any) -> Any:
    return reduce(add, parts)


def _fused(graph: Graph, leaves: Graph) -> Graph:
    """The graph in which all that only one leaf needs is part of its task.

    So chunks are made where they are used and never sent, and one task holds one of them.
    """
    from dask._task_spec import GraphNode
    from dask.core import toposort

    graph = {**graph, **leaves}
    needs = {key: node.dependencies & graph.keys() for key, node in graph.items()}
    owner: dict[Any, Any] = {key: key for key in leaves}
    several = object()
    for key in reversed(toposort(graph, dependencies=needs)):  # those that need a key before it
        if key not in owner:
            continue  # nobody needs it
        for needed in needs[key]:
            mine = owner[key]
            owner[needed] = mine if owner.get(needed, mine) == mine else several
    parts: dict[Any, list[Any]] = {key: [node] for key, node in leaves.items()}
    rest = {}
    for key, node in graph.items():
        if key in leaves or key not in owner:
            continue
        if owner[key] is several:
            rest[key] = node
        else:
            parts[owner[key]].append(node)
    return rest | {key: GraphNode.fuse(*nodes, key=key) for key, nodes in parts.items()}


def _homes(levels: list[list[Any]], threads: Mapping[str, int]) -> dict[Any, tuple[str]]:
    """A worker for each task, the same for neighbours, so that few sums travel.

    Whole branches of the tree go to one worker, so how many sums are sent depends on the number
    of workers and not on that of chunks. A hint: idle workers take over, lost ones are replaced.
    """
    addresses = [address for address, count in threads.items() for _ in range(count)]
    if not addresses:
        return {}
    n = len(levels[0])
    branch = 1
    while branch * _FANOUT * len(addresses) * _SHARES <= n:
        branch *= _FANOUT
    homes = {}
    for depth, keys in enumerate(levels):
        for i, key in enumerate(keys):
            first = i * _FANOUT**depth // branch * branch  # the first chunk of its branch
            homes[key] = (addresses[first * len(addresses) // n],)
    return homes


def _compute(graph: Graph, keys: list[Any], homes: Mapping[Any, tuple[str]]) -> Iterable[Any]:
    from dask.base import get_scheduler
    from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
    from dask.threaded import get as on_threads

    get = get_scheduler() or on_threads
    if not homes:
        return get(graph, keys)
    hints = {"workers": homes.__getitem__, "allow_other_workers": True}
    placed = {key: node for key, node in graph.items() if key in homes}
    rest = {key: node for key, node in graph.items() if key not in homes}
    layers = {
        "rest": MaterializedLayer(rest),
        "placed": MaterializedLayer(placed, annotations=hints),
    }
    return get(HighLevelGraph(layers, {"rest": set(), "placed": {"rest"}}), keys)


def _client() -> Any:
    """The distributed client that would compute, if any."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "nthreads") else None


def _is_array(obj: Any) -> bool:
    # The type is asked, because a Delayed says that it has everything.
    return hasattr(type(obj), "rechunk") and hasattr(type(obj), "map_blocks")


def _is_table(obj: Any) -> bool:
    return hasattr(type(obj), "map_partitions") and hasattr(type(obj), "loc")


def _columns(table: Any) -> Any:
    return table.columns if getattr(table, "ndim", 2) == 2 else (table.name,)


def _is_known(sizes: Iterable[float]) -> bool:
    return all(size == size for size in sizes)  # NaN is not


def _n_chunks(rows: Any) -> int:
    return int(rows.numblocks[0] if _is_array(rows) else rows.npartitions)


def _known_sizes(rows: Any) -> tuple[int, ...] | None:
    if not _is_array(rows) or not _is_known(rows.chunks[0]):
        return None
    return tuple(map(int, rows.chunks[0]))


def _length(shared: None, chunk: dict[str, Any], own: None) -> int:
    return len(chunk["rows"])


def _itself(shared: None, chunk: dict[str, Any], own: None) -> Any:
    return chunk["rows"]


def _whole_rows(rows: Any) -> Any:
    """No row is in two chunks."""
    if _is_array(rows) and rows.ndim > 1 and rows.numblocks[1] > 1:
        return rows.rechunk({1: -1})
    return rows


def _from_array(array: Any, sizes: tuple[int, ...]) -> Any:
    import dask.array as da

    return da.from_array(array, chunks=(sizes, *((width,) for width in array.shape[1:])))


def _recut(rows: Any, sizes: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    array = rows if _is_array(rows) else rows.to_dask_array()
    array = array.copy()
    array._chunks = (sizes, *array.chunks[1:])  # lengths that were computed may be new to it
    return array.rechunk({0: wanted})


def _low_level(collections: list[Any]) -> tuple[Graph, list[list[Any]]]:
    """One graph of tasks for all of them, and the keys of the chunks of each."""
    from dask._task_spec import convert_legacy_graph
    from dask.core import flatten

    # Not by Dask's own fusion, which makes points anew for every array that is made of them. Tasks
    # are fused later, when it is known who shares what. Tables read only the columns asked for.
    graph: Graph = {}
    keys = []
    for rows in collections:
        plain = rows if _is_array(rows) else rows.optimize(fuse=False)
        graph.update(plain.__dask_graph__())
        keys.append(list(flatten(plain.__dask_keys__())))
    return convert_legacy_graph(graph), keys
