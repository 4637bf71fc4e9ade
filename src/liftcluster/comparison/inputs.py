"""Two partitions, and what measures need of them: cluster vectors, a table or the points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._util.checks import check_choice, check_options
from .._util.memory import check_pairs
from .._util.progress import progress_bar
from .._util.typing import Array, Points, RngLike
from .._util.validation import as_points
from ..kernels.summary import pool_points
from ..lifts.choice import Lifting
from ..partitions.contingency import Contingency, are_integers, contingency
from ..partitions.partition import Partition, as_partition
from ..representation.counts import (
    Counts,
    PartitionSummary,
    count_clusters,
    summary_of_lifted,
)
from ..representation.representation import Representation, join
from ..representation.samples import represent_in_memory, represent_streams
from ..streaming.sources import Source
from ..streaming.streams import Stream, as_stream, needs_stream
from .measures.lifted import Between
from .measures.placed import PlacedPair
from .measures.registry import MEASURES, Measure

MOST_PAIRS = 10_000_000  # of clusters, beyond which a transport problem takes minutes
_KEPT_BYTES = 2**20  # points up to this size are copied: measures may wait although X may change


class _Shared:
    """What is computed once for all measures of a pair."""

    representation: Any
    numeric_points: Any
    parts: Any

    @cached_property
    def between(self) -> Between:
        """Both partitions, lifted, and the distances of their clusters."""
        return Between(self.representation[0], self.representation[1])

    @cached_property
    def placed(self) -> PlacedPair:
        """Both partitions with their points."""
        (X, Y), (a, b) = self.numeric_points, self.parts
        return PlacedPair.of(X, a, Y, b)


@dataclass(frozen=True, eq=False)
class PairInMemory(_Shared):
    """Two partitions in memory."""

    a: Partition
    b: Partition
    X: Points
    Y: Points | None  # None: both partitions are of the points X
    lifting: Lifting
    rng: RngLike = None

    @property
    def parts(self) -> tuple[Partition, Partition]:
        return self.a, self.b

    @property
    def samples(self) -> list[tuple[Points, dict[str, Partition]]]:
        """The point sets with their partitions."""
        if self.Y is None:
            return [(self.X, {"a": self.a, "b": self.b})]
        return [(self.X, {"a": self.a}), (self.Y, {"b": self.b})]

    @property
    def pool(self) -> Points:
        """The points of both, or a sample of them."""
        return self.X if self.Y is None else pool_points([*self.numeric_points])

    @cached_property
    def representation(self) -> Representation:
        check_pairs_fit(self.parts)
        return represent_in_memory(self.lifting, self.samples, rng=self.rng)

    @cached_property
    def numeric_points(self) -> tuple[Array, Array]:
        X = as_points(self.X)
        Y = X if self.Y is None else as_points(self.Y, "Y")
        if X.nbytes + Y.nbytes > _KEPT_BYTES:
            return X, Y
        X = X.copy()
        return X, (X if self.Y is None else Y.copy())

    @cached_property
    def keeps_points(self) -> bool:
        return sum(Z.nbytes for Z in self.numeric_points) <= _KEPT_BYTES

    @cached_property
    def table(self) -> Contingency:
        return contingency(self.a, self.b)

    @cached_property
    def has_integer_weights(self) -> bool:
        return are_integers(self.a.weights) and are_integers(self.b.weights)


@dataclass(frozen=True, eq=False)
class StreamedPair(_Shared):
    """Two partitions that are read in blocks, of the same points or each of its own."""

    streams: list[Stream]  # one with the partitions "a" and "b", or one for each
    lifting: Lifting
    rng: RngLike = None
    progress: bool | None = None

    keeps_points: ClassVar[bool] = False

    @property
    def X(self) -> Points:
        return self.streams[0].X

    @property
    def Y(self) -> Points | None:
        return self.streams[1].X if len(self.streams) > 1 else None

    @cached_property
    def counts(self) -> Counts:
        if len(self.streams) == 1:
            return count_clusters(self.streams[0], [("a", "b")], self.progress)
        a, b = (count_clusters(stream, progress=self.progress) for stream in self.streams)
        return Counts(a.summaries | b.summaries)

    @property
    def parts(self) -> tuple[PartitionSummary, PartitionSummary]:
        return self.counts.summaries["a"], self.counts.summaries["b"]

    @cached_property
    def representation(self) -> Representation:
        return represent_streams(self.streams, self.lifting, rng=self.rng, progress=self.progress)

    @cached_property
    def table(self) -> Contingency:
        return self.counts.tables["a", "b"].finish()

    @property
    def numeric_points(self) -> tuple[Array, Array]:
        raise ValueError("X, labels or weights are read in blocks, and it needs them in memory")

    @property
    def has_integer_weights(self) -> bool:
        return self.counts.tables["a", "b"].is_integer


@dataclass(frozen=True, eq=False)
class LiftedPair(_Shared):
    """Two partitions of which only the cluster vectors are known."""

    representation: Representation  # of both
    lifted: tuple[Representation, Representation]
    lifting: Lifting
    X = Y = None
    has_integer_weights = True
    keeps_points = False

    @cached_property
    def between(self) -> Between:
        return Between(*self.lifted)

    @cached_property
    def parts(self) -> tuple[PartitionSummary, PartitionSummary]:
        P, Q = self.lifted
        return summary_of_lifted(P), summary_of_lifted(Q)

    @property
    def table(self) -> Contingency:
        raise ValueError("it needs labels, which a Representation does not have")

    @property
    def numeric_points(self) -> tuple[Array, Array]:
        raise ValueError("it needs the points, which a Representation does not have")


Pair = PairInMemory | StreamedPair | LiftedPair


def make_pair(
    a: Any,
    b: Any,
    X: Points,
    Y: Points,
    weights: Any,
    lifting: Lifting,
    rng: RngLike = None,
    progress: bool | None = None,
) -> Pair:
    """Two partitions in memory, read in blocks, or lifted before."""
    if isinstance(a, Representation) or isinstance(b, Representation):
        return _lifted_pair(a, b, X, Y, weights, lifting)
    w, v = _weights_of_both(X, Y, weights)
    if not (needs_stream(X, [a, b], w) or needs_stream(Y, [], v)):
        return make_pair_in_memory(a, b, X, Y, weights, lifting, rng)
    if Y is None:
        streams = [as_stream(X, {"a": a, "b": b}, w)]
    else:
        streams = [as_stream(X, {"a": a}, w), as_stream(Y, {"b": b}, v)]
    return StreamedPair(streams, lifting, rng, progress)


def make_pair_in_memory(
    a: Any, b: Any, X: Points, Y: Points, weights: Any, lifting: Lifting, rng: RngLike = None
) -> PairInMemory:
    """Two partitions for functions that need them in memory."""
    w, v = _weights_of_both(X, Y, weights)
    if isinstance(a, Representation) or isinstance(b, Representation):
        raise TypeError("this needs the partitions themselves, not a Representation of them")
    for given in (a, b, X, Y, w, v):
        if isinstance(given, Source):
            np.asarray(given)  # the error names the functions that read blocks
    first, second = as_partition(a, w), as_partition(b, v)
    if Y is None and first.n != second.n:
        raise ValueError(
            f"the partitions have {first.n} and {second.n} points; give the points of the "
            "second as Y if they are others"
        )
    return PairInMemory(first, second, X, Y, lifting, rng)


def _lifted_pair(
    a: Any, b: Any, X: Points, Y: Points, weights: Any, lifting: Lifting
) -> LiftedPair:
    for given in (a, b):
        if not isinstance(given, Representation) or given.m != 1:
            raise TypeError(
                "give two representations of one partition each, such as rep[0] and rep[1], or two "
                "partitions"
            )
    others = {"X": X, "Y": Y, "weights": weights}
    useless = [name for name, value in others.items() if value is not None] + [*lifting.given]
    if useless:
        raise ValueError(
            f"the partitions are lifted already, so {', '.join(useless)} cannot apply; leave "
            "that out"
        )
    return LiftedPair(join([a, b]), (a, b), lifting)


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


def check_measure(
    name: str, options: Mapping[str, Any] | None, kernel: Any, bandwidth: Any, lift: Any
) -> tuple[Measure, Lifting]:
    """A measure and how to lift for it, checked before any work."""
    measure = MEASURES[check_choice(name, MEASURES, "measure")]
    check_options(options, measure.options, f"the measure {name}")
    lifting = Lifting.of(kernel, bandwidth, lift)
    if lifting.given and measure.needs != "vectors":
        raise ValueError(
            f"{name} lifts nothing, so {', '.join(lifting.given)} cannot apply; leave that out, or "
            "choose a lifted measure such as lift_emd"
        )
    return measure, lifting


def is_lifted(pair: Pair) -> bool:
    """Whether cluster vectors are known or can be computed."""
    return isinstance(pair, LiftedPair) or pair.X is not None or not pair.lifting.needs_points


def why_not_applicable(pair: Pair, measure: Measure) -> str | None:
    """Why a measure does not apply here, if it does not."""
    if measure.same_points and pair.Y is not None:
        return "it compares partitions of the same points, and Y was given"
    if measure.needs == "points" and pair.X is None:
        return "it needs the points X"
    if measure.needs == "points":
        try:
            _ = pair.numeric_points
        except (TypeError, ValueError) as error:
            return f"it needs points with coordinates: {error}"
    if measure.same_points:
        try:
            _ = pair.table
        except (TypeError, ValueError) as error:
            return str(error)
    if measure.needs == "vectors" and not is_lifted(pair):
        return "it needs the points X"
    if not measure.soft and not (pair.parts[0].is_hard and pair.parts[1].is_hard):
        return "it is not defined for soft partitions"
    if measure.pairs_clusters and (reason := _too_many_pairs(pair)) is not None:
        return reason
    if not measure.any_weights and not pair.has_integer_weights:
        return "it takes weights as numbers of points, so they must be integers"
    return None


def _too_many_pairs(pair: Pair) -> str | None:
    a, b = pair.parts
    if a.k * b.k <= MOST_PAIRS:
        return None
    return (
        f"it compares all pairs of clusters, at most {MOST_PAIRS:,}, got {a.k:,} × {b.k:,}, which "
        "would take very long; so many are rarely a clustering (is the column an id, or a "
        "measurement?); use other labels"
    )


def has_plan(pair: Pair) -> bool:
    """Whether the transport between the clusters can be computed."""
    return is_lifted(pair) and _too_many_pairs(pair) is None


def check_applicable(pair: Pair, measure: Measure) -> None:
    """Raise an error that says why a measure does not apply, and which would."""
    reason = why_not_applicable(pair, measure)
    if reason is not None:
        others = [m.name for m in MEASURES.values() if why_not_applicable(pair, m) is None]
        raise ValueError(
            f"{measure.name} does not apply: {reason}. "
            + (f"These would: {', '.join(others)}" if others else "")
        )


def check_pairs_fit(partitions: Iterable[Partition]) -> None:
    """Before points are lifted: whether clusters by clusters will fit into memory."""
    largest = sorted((p.k for p in partitions), reverse=True)[:2]
    check_pairs(largest[0], largest[-1])


def inputs_for(measure: Measure, pair: Pair) -> tuple[Any, ...]:
    """The arguments that the function of a measure is called with."""
    if measure.needs == "vectors":
        return pair.between.P, pair.between.Q
    if measure.needs == "table":
        return (pair.table,)
    (X, Y), (a, b) = pair.numeric_points, pair.parts
    return X, a, Y, b


def shared_by(measure: Measure, pair: Pair) -> Any:
    """What the measure of a pair shares with the others that need the same."""
    if measure.needs == "table":
        return pair.table
    return pair.between if measure.needs == "vectors" else pair.placed


def compute(
    measure: Measure, pair: Pair, options: Mapping[str, Any], progress: bool | None
) -> float:
    """The distance; a slow measure shows a progress bar."""
    function, shared = measure.shared or measure.function, shared_by(measure, pair)
    if not measure.slow:
        return float(function(shared, **options))
    a, b = pair.parts
    with progress_bar(measure.name, a.k * b.k, show=progress) as advance:
        shown = {"progress": lambda done, total: advance(1), **options}
        return float(function(shared, **shown))


def compute_error(measure: Measure, pair: Pair) -> float | None:
    """The standard error of a distance without options, if it is known."""
    if measure.shared_error is None:
        return None
    return measure.shared_error(shared_by(measure, pair))
