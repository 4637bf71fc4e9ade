"""How far apart clusterings are: one number, a matrix of them, or everything about two."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import combinations, product
from os import PathLike
from typing import Any

import numpy as np

from .._util.progress import progress_bar
from .._util.typing import FloatArray, Points, RngLike
from .._util.validation import check_choice
from ..kernels.kernel import as_kernel
from ..partitions.partition import Partition, as_partitions
from ..representation.counts import count_clusters
from ..representation.samples import represent, represent_streams
from ..streaming.streams import Stream, as_stream, needs_stream
from .comparison import Comparison, Estimate, explain
from .inputs import AnySides, Sides, check_pairs_fit, make_any_sides, needs_no_points, refuse
from .measures.registry import MEASURES, Measure

__all__ = ["compare", "compare_all", "distance", "distance_matrix"]

_SLOW_ABOVE = 2000  # points beyond which compare leaves slow measures out


def distance(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measure: str = "lift_emd",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Any = None,
    rng: RngLike = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
    **options: Any,
) -> float:
    """How far apart two partitions are, under any measure of ``MEASURES``.

    Parameters
    ----------
    a, b : labels, memberships or Partition
    X : (n, d) array-like or source of blocks, optional
        The points. Measures that see only labels do without. What is not in memory is read in
        blocks, labels too (see :func:`liftcluster.represent`); measures that look at pairs of
        points need them in memory.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, another size, another day.
    measure : str
        A name in ``liftcluster.MEASURES``.
    kernel, bandwidth, lift, n_components, sampling, tol, rng
        How lifted measures lift; as for :func:`liftcluster.represent`.
    weights : (n,) array-like, optional
        Weights of the points; with Y, a pair of them.
    progress : bool, optional
        Show a bar for what takes long; by default on a terminal, after two seconds.
    checkpoint : path, optional
        Where the sums of lifted points are kept, so that interrupted work can go on; as for
        :func:`liftcluster.represent`.
    **options
        Of the measure: ``outer_kernel`` of lift_kd, ``bins`` of adco, ``alpha`` of spri and spari.

    Returns
    -------
    float

    Examples
    --------
    Moving the boundary is cheap, swapping the ends is not; the Rand distance sees no difference:

    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> truth, near, far = [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0]
    >>> [round(distance(truth, p, X), 3) for p in (near, far)]
    [0.164, 0.514]
    >>> [round(distance(truth, p, measure="rand"), 3) for p in (near, far)]
    [0.533, 0.533]
    """
    chosen = MEASURES[check_choice(measure, MEASURES, "measure")]
    sides = make_any_sides(
        a,
        b,
        X,
        Y,
        weights,
        kernel=kernel,
        bandwidth=bandwidth,
        lift=lift,
        n_components=n_components,
        sampling=sampling,
        tol=tol,
        rng=rng,
        progress=progress,
        checkpoint=checkpoint,
    )
    refuse(sides, chosen)
    return sides.value(chosen, options, progress)


def distance_matrix(
    partitions: Any,
    X: Points = None,
    *,
    measure: str = "lift_emd",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Any = None,
    rng: RngLike = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
    **options: Any,
) -> FloatArray:
    """Distances between every two of m partitions of the same points, lifted once.

    Parameters
    ----------
    partitions : sequence or mapping of labels, memberships or Partition
    progress : bool, optional
        Show a bar; by default on a terminal, after two seconds.
    X, measure, kernel, bandwidth, lift, n_components, sampling, tol, weights, rng, checkpoint, \
    **options
        As for :func:`distance`.

    Returns
    -------
    (m, m) array
        Row: the first argument of the measure; column: the second.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0]]
    >>> distance_matrix([[0, 0, 1], [0, 1, 1], [1, 1, 0]], X, measure="rand").round(3)
    array([[0.   , 0.667, 0.   ],
           [0.667, 0.   , 0.667],
           [0.   , 0.667, 0.   ]])
    """
    chosen = MEASURES[check_choice(measure, MEASURES, "measure")]
    lifting = {
        "kernel": kernel,
        "bandwidth": bandwidth,
        "lift": lift,
        "n_components": n_components,
        "sampling": sampling,
        "tol": tol,
        "rng": rng,
    }
    if checkpoint is not None or needs_stream(X, partitions, weights):
        stream = as_stream(X, partitions, weights)
        arguments = _streamed_arguments(stream, chosen, checkpoint, progress, lifting)
        names = list(stream.partitions)
    else:
        named = as_partitions(partitions, weights)
        arguments = _arguments(named, X, chosen, lifting)
        names = list(named)
    m = len(names)
    D = np.zeros((m, m))
    pairs = [(i, j) for i in range(m) for j in range(m) if i <= j or not chosen.is_symmetric]
    with progress_bar(f"{measure} distances", len(pairs), show=progress) as advance:
        for i, j in pairs:
            D[i, j] = chosen.function(*arguments(i, j), **options)
            if chosen.is_symmetric:
                D[j, i] = D[i, j]
            advance(1)
    return D


def _arguments(
    named: dict[Hashable, Partition], X: Points, measure: Measure, lifting: dict[str, Any]
) -> Callable[[int, int], tuple[Any, ...]]:
    """What a measure is called with for two of the partitions, by position."""
    parts = list(named.values())
    for part in parts:
        refuse(Sides(parts[0], part, X, None, lifting), measure)
    if measure.needs == "vectors":
        check_pairs_fit(parts)
        rep = represent(X, named, **lifting)
        return lambda i, j: (rep[i], rep[j])
    return lambda i, j: Sides(parts[i], parts[j], X, None, lifting).arguments(measure)


def _streamed_arguments(
    stream: Stream,
    measure: Measure,
    checkpoint: str | PathLike[str] | None,
    progress: bool | None,
    lifting: dict[str, Any],
) -> Callable[[int, int], tuple[Any, ...]]:
    """The same for partitions that come in blocks: all of them in one look."""
    names = list(stream.partitions)
    if measure.needs == "points":
        raise ValueError(f"{measure.name} does not apply: it wants all points in memory")
    if measure.needs == "vectors":
        if stream.X is None and not needs_no_points(lifting):
            raise ValueError(f"{measure.name} does not apply: it needs the points X")
        rep = represent_streams([stream], checkpoint=checkpoint, progress=progress, **lifting)
        return lambda i, j: (rep[i], rep[j])
    counts = count_clusters(stream, product(names, names), progress)
    if not measure.soft and not all(outline.is_hard for outline in counts.outlines.values()):
        raise ValueError(f"{measure.name} does not apply: it is not defined for soft partitions")
    return lambda i, j: (counts.tables[names[i], names[j]].finish(),)


def compare(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measures: Any = None,
    names: tuple[Hashable, Hashable] = ("a", "b"),
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Any = None,
    rng: RngLike = None,
    progress: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Comparison:
    """Everything about how two partitions differ: all measures, what moved, and where.

    Parameters
    ----------
    a, b, X, Y, kernel, bandwidth, lift, n_components, sampling, tol, weights, rng, progress, \
    checkpoint
        As for :func:`distance`.
    measures : sequence of str, optional
        Names in ``MEASURES``; by default every one that applies (and, above 2,000 points, is not
        slow: spri and spari are, in more than three dimensions). What was left out, and why, is
        in ``Comparison.left_out``.
    names : pair
        What to call the two in tables.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> found = compare([0, 0, 1, 1], ["x", "x", "y", "z"], X)
    >>> print(found.moves[0])
    0 stayed as x (50.0 % of the mass, distance 0.000)
    >>> print(found.moves[1])
    1 split into y, z (50.0 % of the mass, mean distance 0.111)
    >>> found["rand"].value, found["lift_emd"].error
    (0.16666666666666666, 0.0)
    """
    sides = make_any_sides(
        a,
        b,
        X,
        Y,
        weights,
        kernel=kernel,
        bandwidth=bandwidth,
        lift=lift,
        n_components=n_components,
        sampling=sampling,
        tol=tol,
        rng=rng,
        progress=progress,
        checkpoint=checkpoint,
    )
    return _compare_sides(sides, _asked(measures), names, progress=progress)


def compare_all(
    partitions: Any,
    X: Points = None,
    *,
    measures: Any = None,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Any = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> dict[tuple[Hashable, Hashable], Comparison]:
    """Compare every two of m partitions of the same points, lifted once.

    Parameters
    ----------
    partitions : sequence or mapping of labels, memberships or Partition
    X, measures, kernel, bandwidth, lift, n_components, sampling, tol, weights, rng, progress
        As for :func:`compare`; for many pairs, what is slow is left out at fewer points.

    Returns
    -------
    dict
        From the names of two partitions, in their order, to their Comparison.

    Examples
    --------
    >>> found = compare_all({"a": [0, 0, 1], "b": [0, 1, 1], "c": [0, 1, 1]}, [[0.0], [1.0], [5.0]])
    >>> {pair: round(c["rand"].value, 3) for pair, c in found.items()}
    {('a', 'b'): 0.667, ('a', 'c'): 0.667, ('b', 'c'): 0.0}
    """
    named = as_partitions(partitions, weights)
    lifting = {
        "kernel": kernel,
        "bandwidth": bandwidth,
        "lift": lift,
        "n_components": n_components,
        "sampling": sampling,
        "tol": tol,
        "rng": rng,
    }
    asked = _asked(measures)
    rep = None
    if X is not None or needs_no_points(lifting):
        check_pairs_fit(named.values())
        rep = represent(X, named, **lifting)
    pairs = list(combinations(enumerate(named), 2))
    found = {}
    with progress_bar("comparisons", len(pairs), show=progress) as advance:
        for (i, first), (j, second) in pairs:
            lifted = None if rep is None else rep[[i, j]]
            sides = Sides(named[first], named[second], X, None, lifting, lifted)
            # One bar is enough: that of the pairs of partitions.
            found[first, second] = _compare_sides(
                sides, asked, (first, second), n_pairs=len(pairs), progress=False
            )
            advance(1)
    return found


def _asked(measures: Any) -> list[str] | None:
    """The measures by name, or None for all that apply."""
    if measures is None:
        return None
    if not isinstance(measures, Iterable):
        raise TypeError(f"measures must be names of measures, got {measures!r}")
    asked = [measures] if isinstance(measures, str) else list(measures)
    if not asked:
        raise ValueError("measures is empty; name some, or leave it out for all that apply")
    return [check_choice(name, MEASURES, "measures") for name in asked]


def _compare_sides(
    sides: AnySides,
    asked: list[str] | None,
    names: tuple[Hashable, Hashable],
    *,
    n_pairs: int = 1,
    progress: bool | None,
) -> Comparison:
    if len(names) != 2:
        raise ValueError(f"names must be two, got {names!r}")
    values: dict[str, Estimate] = {}
    left_out: dict[str, str] = {}
    for measure in (MEASURES[name] for name in asked or MEASURES):
        if asked is not None:
            refuse(sides, measure)
        reason = sides.obstacle(measure)
        if reason is None and asked is None:
            reason = _patience(sides, measure, n_pairs)
        if reason is None:
            values[measure.name] = sides.estimate(measure, progress)
        else:
            left_out[measure.name] = reason
    lifted = sides.obstacle(MEASURES["lift_emd"]) is None
    points = sides.X if isinstance(sides, Sides) else None  # blocks are not kept
    if lifted and sides.X is None:  # a kernel that needs none: each point is its own number
        points = as_kernel(sides.lifting["kernel"]).points(None, sides.parts[0].n)
    return explain(
        names,
        values,
        left_out,
        sides.parts,
        sides.representation if lifted else None,
        points,
    )


def _patience(sides: AnySides, measure: Measure, n_pairs: int) -> str | None:
    """Why nobody would wait for a measure, if so; quadratic ones cost n² for every pair."""
    deep = measure.slow_above_d
    if not measure.slow and (deep is None or sides.numeric_points[0].shape[1] <= deep):
        return None
    n = _size(sides)
    if n <= _SLOW_ABOVE and n * np.sqrt(n_pairs) <= 2 * _SLOW_ABOVE:
        return None
    pairs = f" and {n_pairs} pairs" if n_pairs > 1 else ""
    return f"slow for {n:,} points{pairs}; ask for it by name"


def _size(sides: AnySides) -> int:
    return max(p.n for p in sides.parts)
