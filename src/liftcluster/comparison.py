"""How far apart clusterings are: one number, a matrix of them, or everything about two."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ._progress import progress_bar
from ._typing import Array, FloatArray, Points, RngLike
from ._validation import as_points, check_choice
from .contingency import Contingency, are_whole, contingency
from .explanation import Comparison, Estimate, explain
from .kernels import Discrete, Precomputed, as_kernel
from .measures.registry import MEASURES, Measure
from .partition import Partition, as_partition, as_partitions
from .representation import Representation
from .representing import represent, represent_samples

__all__ = [
    "Sides",
    "compare",
    "compare_all",
    "distance",
    "distance_matrix",
    "make_sides",
    "refuse",
]

_SLOW_ABOVE = 2000  # points beyond which compare leaves slow measures out


@dataclass(frozen=True, eq=False)
class Sides:
    """Two partitions and their points; what measures need of them is made once, when asked for."""

    a: Partition
    b: Partition
    X: Points
    Y: Points | None  # None: the points of both are X
    lifting: Mapping[str, Any]  # options of represent
    lifted: Representation | None = None  # both sides, where they have been lifted before

    @cached_property
    def representation(self) -> Representation:
        if self.lifted is not None:
            return self.lifted
        if self.Y is None:
            return represent(self.X, {"a": self.a, "b": self.b}, **self.lifting)
        samples = [(self.X, {"a": self.a}), (self.Y, {"b": self.b})]
        return represent_samples(samples, **self.lifting)

    @cached_property
    def numeric_points(self) -> tuple[Array, Array]:
        X = as_points(self.X)
        return X, (X if self.Y is None else as_points(self.Y, "Y"))

    @cached_property
    def table(self) -> Contingency:
        return contingency(self.a, self.b)

    def with_second(self, b: Partition) -> Sides:
        """The same with another second partition of its points."""
        return replace(self, b=b, lifted=None)

    def arguments(self, measure: Measure) -> tuple[Any, ...]:
        """What the function of a measure is called with."""
        if measure.needs == "vectors":
            return self.representation[0], self.representation[1]
        if measure.needs == "table":
            return (self.table,)
        X, Y = self.numeric_points
        return X, self.a, Y, self.b

    def obstacle(self, measure: Measure) -> str | None:
        """Why a measure does not apply here, if it does not."""
        if measure.same_points and self.Y is not None:
            return "it compares partitions of the same points, and Y was given"
        if measure.needs == "points" and self.X is None:
            return "it needs the points X"
        if measure.needs == "points" and (trouble := _trouble(self, "numeric_points")):
            return f"it needs points with coordinates: {trouble}"
        if measure.same_points and (trouble := _trouble(self, "table")):
            return trouble
        if measure.needs == "vectors" and self.X is None and not _needs_no_points(self.lifting):
            return "it needs the points X"
        if not measure.soft and not (self.a.is_hard and self.b.is_hard):
            return "it is not defined for soft partitions"
        if not measure.any_weights and not (
            are_whole(self.a.weights) and are_whole(self.b.weights)
        ):
            return "it takes weights as numbers of points, so they must be whole numbers"
        return None

    def value(
        self, measure: Measure, options: Mapping[str, Any], progress: bool | None = None
    ) -> float:
        """The distance; a slow measure shows how far it has got."""
        arguments = self.arguments(measure)
        if not measure.slow:
            return float(measure.function(*arguments, **options))
        with progress_bar(measure.name, self.a.k * self.b.k, show=progress) as advance:
            shown = {"progress": lambda done, total: advance(1), **options}
            return float(measure.function(*arguments, **shown))

    def estimate(self, measure: Measure, progress: bool | None = None) -> Estimate:
        value = self.value(measure, {}, progress)
        error = None if measure.error is None else measure.error(*self.arguments(measure))
        return Estimate(value, error)


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
    **options: Any,
) -> float:
    """How far apart two partitions are, under any measure of ``MEASURES``.

    Parameters
    ----------
    a, b : labels, memberships or Partition
    X : (n, d) array-like, optional
        The points. Measures that see only labels do without.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, another size, another day.
    measure : str
        A name in ``liftcluster.MEASURES``.
    kernel, bandwidth, lift, n_components, sampling, tol, rng
        How lifted measures lift; as for :func:`liftcluster.represent`.
    weights : (n,) array-like, optional
        Weights of the points; with Y, a pair of them.
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
    sides = make_sides(
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
    )
    refuse(sides, chosen)
    return sides.value(chosen, options)


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
    **options: Any,
) -> FloatArray:
    """Distances between every two of m partitions of the same points, lifted once.

    Parameters
    ----------
    partitions : sequence or mapping of labels, memberships or Partition
    progress : bool, optional
        Show a bar; by default on a terminal, after two seconds.
    X, measure, kernel, bandwidth, lift, n_components, sampling, tol, weights, rng, **options
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
    named = as_partitions(partitions, weights)
    parts = list(named.values())
    lifting = {
        "kernel": kernel,
        "bandwidth": bandwidth,
        "lift": lift,
        "n_components": n_components,
        "sampling": sampling,
        "tol": tol,
        "rng": rng,
    }
    for part in parts:
        refuse(Sides(parts[0], part, X, None, lifting), chosen)
    rep = represent(X, named, **lifting) if chosen.needs == "vectors" else None
    m = len(parts)
    D = np.zeros((m, m))
    pairs = [(i, j) for i in range(m) for j in range(m) if i <= j or not chosen.is_symmetric]
    with progress_bar(f"{measure} distances", len(pairs), show=progress) as advance:
        for i, j in pairs:
            if rep is not None:
                D[i, j] = chosen.function(rep[i], rep[j], **options)
            else:
                # One bar is enough: that of the pairs of partitions.
                sides = Sides(parts[i], parts[j], X, None, lifting)
                D[i, j] = sides.value(chosen, options, progress=False)
            if chosen.is_symmetric:
                D[j, i] = D[i, j]
            advance(1)
    return D


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
) -> Comparison:
    """Everything about how two partitions differ: all measures, what moved, and where.

    Parameters
    ----------
    a, b, X, Y, kernel, bandwidth, lift, n_components, sampling, tol, weights, rng
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
    sides = make_sides(
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
    if X is not None or _needs_no_points(lifting):
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
    sides: Sides,
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
    points = sides.X
    if lifted and points is None:  # a kernel that needs none: each point is its own number
        points = as_kernel(sides.lifting["kernel"]).points(None, sides.a.n)
    return explain(
        names,
        values,
        left_out,
        (sides.a, sides.b),
        sides.representation if lifted else None,
        points,
    )


def make_sides(a: Any, b: Any, X: Points, Y: Points, weights: Any, **lifting: Any) -> Sides:
    if Y is None:
        first, second = as_partition(a, weights), as_partition(b, weights)
        if first.n != second.n:
            raise ValueError(
                f"the partitions have {first.n} and {second.n} points; give the points of the "
                "second as Y if they are others"
            )
    else:
        if X is None:
            raise ValueError("Y was given without X; give the points of both partitions")
        try:
            w, v = (None, None) if weights is None else weights
        except (TypeError, ValueError):
            raise ValueError("with Y, weights must be a pair: those of X and those of Y") from None
        first, second = as_partition(a, w), as_partition(b, v)
    return Sides(first, second, X, Y, lifting)


def refuse(sides: Sides, measure: Measure) -> None:
    """Say why a measure does not apply, and which would."""
    reason = sides.obstacle(measure)
    if reason is not None:
        others = [m.name for m in MEASURES.values() if sides.obstacle(m) is None]
        raise ValueError(
            f"{measure.name} does not apply: {reason}. "
            + (f"These would: {', '.join(others)}" if others else "")
        )


def _needs_no_points(lifting: Mapping[str, Any]) -> bool:
    kernel = lifting["kernel"]
    if isinstance(kernel, str):
        return kernel == "discrete"
    return isinstance(kernel, Discrete | Precomputed)


def _trouble(sides: Sides, what: str) -> str | None:
    """Why something cannot be made of the two sides, in the words of the error."""
    try:
        getattr(sides, what)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def _patience(sides: Sides, measure: Measure, n_pairs: int) -> str | None:
    """Why nobody would wait for a measure, if so; quadratic ones cost n² for every pair."""
    deep = measure.slow_above_d
    if not measure.slow and (deep is None or sides.numeric_points[0].shape[1] <= deep):
        return None
    n = _size(sides)
    if n <= _SLOW_ABOVE and n * np.sqrt(n_pairs) <= 2 * _SLOW_ABOVE:
        return None
    pairs = f" and {n_pairs} pairs" if n_pairs > 1 else ""
    return f"slow for {n:,} points{pairs}; ask for it by name"


def _size(sides: Sides) -> int:
    return max(sides.a.n, sides.b.n)
