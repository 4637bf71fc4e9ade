"""Two partitions side by side, and what measures need of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._util.memory import check_pairs
from .._util.progress import progress_bar
from .._util.typing import Array, Points
from .._util.validation import as_points
from ..kernels.kernel import Discrete, Precomputed
from ..partitions.contingency import Contingency, are_whole, contingency
from ..partitions.partition import Partition, as_partition
from ..representation.counts import Counts, Outline, count_clusters
from ..representation.representation import Representation
from ..representation.samples import represent, represent_samples, represent_streams
from ..streaming.sources import Source
from ..streaming.streams import Stream, as_stream, needs_stream
from .comparison import Estimate
from .measures.registry import MEASURES, Measure

__all__ = [
    "AnySides",
    "Sides",
    "check_pairs_fit",
    "make_any_sides",
    "make_sides",
    "needs_no_points",
    "refuse",
]


class AnySides(ABC):
    """Two partitions and their points; what measures need of them is made once, when asked for."""

    X: Points
    Y: Points | None  # None: the points of both are X
    lifting: Mapping[str, Any]  # options of represent

    @property
    @abstractmethod
    def parts(self) -> tuple[Partition, Partition] | tuple[Outline, Outline]:
        """The two partitions."""

    @property
    @abstractmethod
    def representation(self) -> Representation:
        """Both of them, lifted."""

    @property
    @abstractmethod
    def table(self) -> Contingency:
        """What their clusters share."""

    @property
    @abstractmethod
    def numeric_points(self) -> tuple[Array, Array]:
        """The points of both."""

    @property
    @abstractmethod
    def has_whole_weights(self) -> bool:
        """Whether weights can be numbers of points."""

    def arguments(self, measure: Measure) -> tuple[Any, ...]:
        """What the function of a measure is called with."""
        if measure.needs == "vectors":
            return self.representation[0], self.representation[1]
        if measure.needs == "table":
            return (self.table,)
        (X, Y), (a, b) = self.numeric_points, self.parts
        return X, a, Y, b

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
        if measure.needs == "vectors" and self.X is None and not needs_no_points(self.lifting):
            return "it needs the points X"
        if not measure.soft and not all(p.is_hard for p in self.parts):
            return "it is not defined for soft partitions"
        if not measure.any_weights and not self.has_whole_weights:
            return "it takes weights as numbers of points, so they must be whole numbers"
        return None

    def value(
        self, measure: Measure, options: Mapping[str, Any], progress: bool | None = None
    ) -> float:
        """The distance; a slow measure shows how far it has got."""
        arguments = self.arguments(measure)
        if not measure.slow:
            return float(measure.function(*arguments, **options))
        a, b = self.parts
        with progress_bar(measure.name, a.k * b.k, show=progress) as advance:
            shown = {"progress": lambda done, total: advance(1), **options}
            return float(measure.function(*arguments, **shown))

    def estimate(self, measure: Measure, progress: bool | None = None) -> Estimate:
        value = self.value(measure, {}, progress)
        error = None if measure.error is None else measure.error(*self.arguments(measure))
        return Estimate(value, error)


@dataclass(frozen=True, eq=False)
class Sides(AnySides):
    """Two partitions in memory."""

    a: Partition
    b: Partition
    X: Points
    Y: Points | None
    lifting: Mapping[str, Any]
    lifted: Representation | None = None  # both sides, where they have been lifted before

    @property
    def parts(self) -> tuple[Partition, Partition]:
        return self.a, self.b

    @cached_property
    def representation(self) -> Representation:
        if self.lifted is not None:
            return self.lifted
        check_pairs_fit(self.parts)
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

    @property
    def has_whole_weights(self) -> bool:
        return are_whole(self.a.weights) and are_whole(self.b.weights)

    def with_second(self, b: Partition) -> Sides:
        """The same with another second partition of its points."""
        return replace(self, b=b, lifted=None)


@dataclass(frozen=True, eq=False)
class StreamedSides(AnySides):
    """Two partitions that come in blocks, of the same points or each of its own."""

    first: Stream  # with the partition "a", and "b" if it has the same points
    second: Stream | None  # with the partition "b"
    lifting: Mapping[str, Any]

    @property
    def X(self) -> Points:
        return self.first.X

    @property
    def Y(self) -> Points | None:  # type: ignore[override]
        return None if self.second is None else self.second.X

    @cached_property
    def counts(self) -> Counts:
        progress = self.lifting.get("progress")
        if self.second is None:
            return count_clusters(self.first, [("a", "b")], progress)
        both = [count_clusters(s, progress=progress) for s in (self.first, self.second)]
        return Counts(both[0].outlines | both[1].outlines)

    @property
    def parts(self) -> tuple[Outline, Outline]:
        return self.counts.outlines["a"], self.counts.outlines["b"]

    @cached_property
    def representation(self) -> Representation:
        streams = [self.first] if self.second is None else [self.first, self.second]
        return represent_streams(streams, **self.lifting)

    @cached_property
    def table(self) -> Contingency:
        return self.counts.tables["a", "b"].finish()

    @property
    def numeric_points(self) -> tuple[Array, Array]:
        raise ValueError("X, labels or weights come in blocks, and it wants all in memory")

    @property
    def has_whole_weights(self) -> bool:
        return self.counts.tables["a", "b"].is_whole


def make_sides(a: Any, b: Any, X: Points, Y: Points, weights: Any, **lifting: Any) -> Sides:
    """Two partitions in memory, by functions that need them there."""
    w, v = _weights_of_both(X, Y, weights)
    for given in (a, b, X, Y, w, v):
        if isinstance(given, Source):
            np.asarray(given)  # says who takes it
    first, second = as_partition(a, w), as_partition(b, v)
    if Y is None and first.n != second.n:
        raise ValueError(
            f"the partitions have {first.n} and {second.n} points; give the points of the "
            "second as Y if they are others"
        )
    return Sides(first, second, X, Y, lifting)


def make_any_sides(
    a: Any, b: Any, X: Points, Y: Points, weights: Any, **lifting: Any
) -> Sides | StreamedSides:
    """Two partitions in memory, or such that come in blocks."""
    w, v = _weights_of_both(X, Y, weights)
    if not (needs_stream(X, [a, b], w) or needs_stream(Y, [], v) or lifting.get("checkpoint")):
        return make_sides(a, b, X, Y, weights, **lifting)
    if Y is None:
        return StreamedSides(as_stream(X, {"a": a, "b": b}, w), None, lifting)
    return StreamedSides(as_stream(X, {"a": a}, w), as_stream(Y, {"b": b}, v), lifting)


def _weights_of_both(X: Points, Y: Points, weights: Any) -> tuple[Any, Any]:
    if Y is None:
        return weights, weights
    if X is None:
        raise ValueError("Y was given without X; give the points of both partitions")
    try:
        w, v = (None, None) if weights is None else weights
    except (TypeError, ValueError):
        raise ValueError("with Y, weights must be a pair: those of X and those of Y") from None
    return w, v


def refuse(sides: AnySides, measure: Measure) -> None:
    """Say why a measure does not apply, and which would."""
    reason = sides.obstacle(measure)
    if reason is not None:
        others = [m.name for m in MEASURES.values() if sides.obstacle(m) is None]
        raise ValueError(
            f"{measure.name} does not apply: {reason}. "
            + (f"These would: {', '.join(others)}" if others else "")
        )


def needs_no_points(lifting: Mapping[str, Any]) -> bool:
    kernel = lifting["kernel"]
    if isinstance(kernel, str):
        return kernel == "discrete"
    return isinstance(kernel, Discrete | Precomputed)


def _trouble(sides: AnySides, what: str) -> str | None:
    """Why something cannot be made of the two sides, in the words of the error."""
    try:
        getattr(sides, what)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def check_pairs_fit(partitions: Iterable[Partition]) -> None:
    """Before points are lifted: whether clusters by clusters will fit."""
    largest = sorted((p.k for p in partitions), reverse=True)[:2]
    check_pairs(largest[0], largest[-1])
