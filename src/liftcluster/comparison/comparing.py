"""Comparisons of two clusterings, or of every two of several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from .._util.checks import check_choice, checked_keywords
from .._util.names import MeasureName
from .._util.progress import progress_bar
from .._util.typing import BandwidthLike, FloatArray, Points, RngLike
from .._util.validation import as_points
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition, as_partitions
from ..representation.representation import Representation
from ..representation.samples import represent_in_memory
from .comparison import Comparison, Estimate, Values
from .distances import distance_matrix
from .inputs import (
    MOST_PAIRS,
    LiftedPair,
    Pair,
    PairInMemory,
    check_applicable,
    check_pairs_fit,
    compute,
    compute_error,
    has_plan,
    is_lifted,
    make_pair,
    why_not_applicable,
)
from .measures.lifted import Between
from .measures.placed import Placed, PlacedPair
from .measures.registry import MEASURES, Measure

_MOST_CLUSTERS = 3000  # in all partitions together, whose distances are computed at once
_SLOW_ABOVE = 2000  # points beyond which compare leaves slow measures out


@checked_keywords
def compare(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measures: MeasureName | Iterable[MeasureName] | None = None,
    names: tuple[Hashable, Hashable] | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    progress: bool | None = None,
) -> Comparison:
    """Compare two partitions: all measures, which clusters moved, and where the points differ.

    Parameters
    ----------
    a, b : labels, memberships, Partition or Representation
        (n,) labels, (n, k) memberships or a :class:`~liftcluster.Partition`; or, in place of
        partitions and points, ``rep[0]`` and ``rep[1]`` of a :class:`~liftcluster.Representation`.
    X : (n, d) array-like or source of blocks, optional
        The points. Without them only measures of labels apply. Memory maps, HDF5 and zarr arrays,
        :class:`~liftcluster.Blocks` and tables are read in blocks.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, of any size.
    measures : str or sequence of str, optional
        Names in :data:`~liftcluster.MEASURES`; by default every one that applies (and, above 2,000
        points, is not slow: spri and spari are, in more than three dimensions), computed when they
        are first read. What was left out, and why, is in ``left_out`` of the result.
    names : pair, optional
        Names of the two partitions in tables; by default "a" and "b", or those of representations.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and uses features beyond.
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default. With Y, a
        pair: those of X and those of Y.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Comparison
        Values of the measures, the transport plan, and what became of each cluster.

    See Also
    --------
    distance : One measure, as a number.
    significance : Whether two partitions are nearer to each other than random labels.
    bandwidth_profile : At which scale two partitions differ.
    plot.flow : A picture of what became of each cluster.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> found = lc.compare([0, 0, 1, 1], ["x", "x", "y", "z"], X)
    >>> print(found.moves[0])
    0 stayed as x (50.0 % of the mass, distance 0.000)
    >>> print(found.moves[1])
    1 split into y, z (50.0 % of the mass, mean distance 0.111)
    >>> found["rand"].value, found["lift_emd"].error
    (0.16666666666666666, 0.0)
    """
    lifting, asked = Lifting.of(kernel, bandwidth, lift), check_measures(measures)
    pair = make_pair(a, b, X, Y, weights, lifting, rng, progress)
    _check_lifting_used(lifting, is_lifted(pair))
    if names is None and isinstance(pair, LiftedPair):
        names = pair.representation.partition_names[0], pair.representation.partition_names[1]
    return _compare(pair, asked, names or ("a", "b"), _may_wait, progress=progress)


def compare_all(
    partitions: Any,
    X: Points = None,
    *,
    measures: Any = None,
    lifting: Lifting | None = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> tuple[dict[tuple[Hashable, Hashable], Comparison], Representation | None]:
    """Compare every two of m partitions of the same points, lifted once.

    Returns a dict from the names of two partitions, in their order, to their Comparison; and all
    of them lifted, if they can be.

    Examples
    --------
    >>> parts = {"a": [0, 0, 1], "b": [0, 1, 1], "c": [0, 1, 1]}
    >>> found, _ = compare_all(parts, [[0.0], [1.0], [5.0]])
    >>> {pair: round(c["rand"].value, 3) for pair, c in found.items()}
    {('a', 'b'): 0.667, ('a', 'c'): 0.667, ('b', 'c'): 0.0}
    """
    named, asked = as_partitions(partitions), check_measures(measures)
    lifting, rep = lifting or Lifting.of(), None
    lifts = X is not None or not lifting.needs_points
    _check_lifting_used(lifting, lifts)
    if lifts:
        check_pairs_fit(named.values())
        rep = represent_in_memory(lifting, [(X, named)], rng=rng)
    positions = list(combinations(range(len(named)), 2))
    names, parts = list(named), list(named.values())
    lifted, placed = _lifted_pairs(rep), _placed_pairs(parts, X)
    found = {}
    with progress_bar("comparisons", len(positions), show=progress) as advance:
        for i, j in positions:
            pair = PairInMemory(parts[i], parts[j], X, None, lifting, rng)
            vars(pair).update(lifted(i, j) | placed(i, j))
            # One progress bar is enough: that of the pairs of partitions.
            found[names[i], names[j]] = _compare(
                pair, asked, (names[i], names[j]), _is_slow, n_pairs=len(positions), progress=False
            )
            advance(1)
    return found, rep


Known = Callable[[int, int], dict[str, Any]]  # cached properties of a pair of partitions


def _lifted_pairs(rep: Representation | None) -> Known:
    """Vectors, and distances of all clusters at once while these are few, for every pair."""
    if rep is None:
        return lambda i, j: {}
    parts = [rep[i] for i in range(rep.m)]
    D = rep.distances() if rep.s <= _MOST_CLUSTERS else None
    rows = np.split(np.arange(rep.s), np.cumsum([part.s for part in parts])[:-1])

    def known(i: int, j: int) -> dict[str, Any]:
        both = np.concatenate([rows[i], rows[j]])
        block = None if D is None else D[np.ix_(both, both)]
        return {"between": Between(parts[i], parts[j], block)}

    return known


def _placed_pairs(parts: list[Partition], X: Points) -> Known:
    """Points that are checked once, and what measures need of each partition with them."""
    try:
        points = as_points(X)
    except (TypeError, ValueError):  # none, or without coordinates: measures say what they need
        return lambda i, j: {}
    placed = [Placed(points, part) for part in parts]
    return lambda i, j: {
        "numeric_points": (points, points),
        "placed": PlacedPair(placed[i], placed[j]),
    }


@dataclass(frozen=True, eq=False)
class DistanceMatrix:
    """One measure between all partitions; NaN where it does not apply or has no known error."""

    values: FloatArray  # (m, m)
    errors: FloatArray  # (m, m)


def distance_matrices(
    compared: Mapping[tuple[Hashable, Hashable], Comparison],
    partitions: Mapping[Any, Partition],
    X: Points,
) -> dict[str, DistanceMatrix]:
    """Values and errors of every measure in the comparisons of every two partitions."""
    m, position = len(partitions), {name: i for i, name in enumerate(partitions)}
    pairs = {(position[a], position[b]): found for (a, b), found in compared.items()}
    all_hard = all(p.is_hard for p in partitions.values())
    matrices = {}
    for name in [name for name in MEASURES if any(name in c.values for c in pairs.values())]:
        measure = MEASURES[name]
        values, errors = np.full((m, m), np.nan), np.full((m, m), np.nan)
        np.fill_diagonal(values, 0.0)
        if measure.error is not None:
            np.fill_diagonal(errors, 0.0)
        for (i, j), comparison in pairs.items():
            if name in comparison.values:
                estimate = comparison[name]
                values[i, j] = values[j, i] = estimate.value
                errors[i, j] = errors[j, i] = np.nan if estimate.error is None else estimate.error
        # By pairs of points a soft partition is not at distance zero from itself.
        zero_from_itself = all_hard or measure.needs != "table"
        if not (measure.is_symmetric and zero_from_itself) and not np.isnan(values).any():
            values = distance_matrix(partitions, X, measure=name)  # type: ignore[arg-type]
        matrices[name] = DistanceMatrix(values, errors)
    return matrices


def check_measures(measures: Any) -> list[str] | None:
    """Measures by name, or None for all that apply."""
    if measures is None:
        return None
    if not isinstance(measures, Iterable):
        raise TypeError(f"measures must be names of measures, got {measures!r}")
    asked = [measures] if isinstance(measures, str) else list(measures)
    if not asked:
        raise ValueError("measures is empty; name some, or leave it out for all that apply")
    return [check_choice(name, MEASURES, "measures") for name in asked]


def _check_lifting_used(lifting: Lifting, is_lifted: bool) -> None:
    if lifting.given and not is_lifted:
        raise ValueError(
            f"without the points X nothing is lifted, so {', '.join(lifting.given)} cannot apply; "
            "give X, or leave that out"
        )


def _compare(
    pair: Pair,
    asked: list[str] | None,
    names: tuple[Hashable, Hashable],
    waits: Callable[[Measure, Pair], bool],
    *,
    n_pairs: int = 1,
    progress: bool | None,
) -> Comparison:
    """All measures, those that wait when they are first read."""
    if len(names) != 2:
        raise ValueError(f"names must be two, got {names!r}")
    left_out: dict[str, str] = {}
    by_default = asked is None
    if asked is None:
        for measure in MEASURES.values():
            reason = why_not_applicable(pair, measure) or _skip_reason(pair, measure, n_pairs)
            if reason is not None:
                left_out[measure.name] = reason
        asked = [name for name in MEASURES if name not in left_out]
    else:
        for name in asked:
            check_applicable(pair, MEASURES[name])
    estimates = {name: partial(_estimate, MEASURES[name], pair, progress) for name in asked}
    values = Values(
        {
            name: estimate if by_default and waits(MEASURES[name], pair) else estimate()
            for name, estimate in estimates.items()
        }
    )
    if not has_plan(pair):
        return Comparison(names, values, left_out, pair.parts, None)
    points, n = (pair.X if isinstance(pair, PairInMemory) else None), pair.parts[0].n
    if pair.X is None and n is not None:  # kernels that know a point by its number
        points = pair.lifting.kernel.points(None, n)
    lifted, transport = (pair.between.P, pair.between.Q), pair.between.transport
    plan, D, other = transport.plan, transport.costs, pair.Y is not None
    return Comparison(names, values, left_out, pair.parts, lifted, plan, D, points, other)


def _estimate(measure: Measure, pair: Pair, progress: bool | None) -> Estimate:
    return Estimate(compute(measure, pair, {}, progress), compute_error(measure, pair))


def _may_wait(measure: Measure, pair: Pair) -> bool:
    """Whether a measure can be computed later: of many points, which may change, a slow one."""
    return measure.needs != "points" or pair.keeps_points or _is_slow(measure, pair)


def _is_slow(measure: Measure, pair: Pair) -> bool:
    """Whether a measure costs n² or more."""
    deep = measure.slow_above_d
    return measure.slow or (deep is not None and pair.numeric_points[0].shape[1] > deep)


def _skip_reason(pair: Pair, measure: Measure, n_pairs: int) -> str | None:
    """Why a measure is left out unless asked for: quadratic ones cost n² for every pair."""
    if measure.name == "lift_kd":
        k = sum(p.k for p in pair.parts)
        if k**2 > MOST_PAIRS:  # of all clusters, also of one partition
            return f"slow for {k:,} clusters; ask for it by name"
    if not _is_slow(measure, pair):
        return None
    n = max(p.n or 0 for p in pair.parts)
    if n <= _SLOW_ABOVE and n * np.sqrt(n_pairs) <= 2 * _SLOW_ABOVE:
        return None
    pairs = f" and {n_pairs} pairs" if n_pairs > 1 else ""
    return f"slow for {n:,} points{pairs}; ask for it by name"
