"""Who decides a consensus: the points, the labels at their places, or the labels alone."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._util.arrays import constant_array, from_device
from .._util.typing import Array, FloatArray, IntArray, Points
from ..comparison.measures.pairs import adjusted_rand
from ..kernels.kernel import Discrete
from ..kernels.summary import take_rows
from ..lifts.base import Lift
from ..lifts.choice import Lifting
from ..partitions.contingency import Contingency, contingency
from ..partitions.partition import Partition
from ..partitions.stack import Stack
from ..representation.representation import Representation
from ..representation.samples import represent_in_memory
from .evaluation import unanimous
from .grouping import group_clusters
from .judging import points_of
from .methods.evidence import lwgp
from .methods.kmeans import kmeans
from .methods.neighbours import PlaceGraph, coordinates, has_coordinates
from .methods.places import Places
from .methods.registry import METHODS, Task
from .methods.tuples import LabelTuples

_UNANIMOUS = 0.95  # agreement from which the inputs say the same
_SAME = 0.02  # difference of two agreements that are the same: not all inputs are left out
_EXPLAINED = 0.8  # share of the agreement that a clustering of the points alone must reach
_SMOOTH = 0.97  # share of the labels that neighbours predict where inputs come from the points
_TRUST = 0.8  # how far a clear eigengap lowers the agreement that the graph must reach
_LOST = 0.6  # share of the agreement of labels below which their places are misleading
_CLEAR = 0.8  # agreement of inputs that neighbours may not overrule
_STARTS = 2  # of k-means
SAMPLED = 20_000  # points whose clusters are lifted for the decision, at most
_ROUNDING = 1e-9  # relative difference of weights that are multiples of the smallest one
_MANY = 2.0**53  # points, beyond which pairs of them are not counted exactly
_HELD_OUT = 5  # inputs that those of the others are compared with, at most
_SUMS = "lift_km"  # needs nothing but the sums of the clusters
_COMPACT = "k-means of the points"


@dataclass(frozen=True)
class Decision:
    """Which method ``method="auto"`` chose, and why.

    Attributes
    ----------
    method : str
        The method that made the consensus. Another one is used by naming it: ``method=...``.
    reason : str
        One sentence with the numbers that decided.
    agreements : mapping
        Mean adjusted Rand index of each candidate to the inputs; that of lwgp to inputs that were
        left out of it. "k-means of the points" has seen none.
    eigengap : float or None
        How clearly the neighbour graph of the points falls into so many pieces, from 0 to 1.
    smoothness : float or None
        Share of the labels of the inputs that the labels of nearest neighbours predict.
    """

    method: str
    reason: str
    agreements: Mapping[str, float]
    eigengap: float | None = None
    smoothness: float | None = None

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


class Decided(NamedTuple):
    """A decision, and what was computed for it."""

    decision: Decision
    places: Places | None = None
    centres: FloatArray | None = None  # of the groups of lift_km
    before: np.random.Generator | None = None  # the state that these were grouped at


def decide(
    named: dict[Hashable, Partition],
    X: Points,
    rep: Representation | None,
    k: int,
    rng: np.random.Generator,
) -> Decided:
    r"""Choose the method for a consensus from the data; no class label is known here.

    With a(c) the mean adjusted Rand index of a partition c to the inputs (of lwgp, which would
    follow the errors of few inputs, to inputs that are left out), γ the relative eigengap
    of the neighbour graph at k, and b the better one of lift_km and lift_walk:

    1. max(a(b), a(lwgp)) ≥ 0.95: the inputs say the same, and the more similar of both is taken.
    2. max(a(b), a(lift_places), a(k-means of the points)) < 0.6 a(lwgp): whatever uses places loses
       what the inputs agree on: lwgp.
    3. a(lift_places) ≥ (1 − 0.8 γ) a(b): the graph of the points falls into pieces that the inputs
       do not contradict. Or a(k-means of the points) ≥ 0.8 a(b), or the labels around a point
       predict 97 % of its labels where the inputs agree less than 0.8: they say little that the
       points alone would not. The points decide: lift_places.
    4. Otherwise the inputs know more than the points, and b averages them over places.

    For more than 2,000 points agreement is measured on a sample of so many, and for more than
    20,000 lift_km groups the clusters of so many, whose representation is ``rep``. Returns also
    what was computed on the way and the method may need.
    """
    if unanimous(named, k) is not None:
        method = "lwgp" if rep is None else _SUMS
        return Decided(Decision(method, "all inputs are the same partition, which it returns", {}))
    if rep is None:
        return Decided(Decision("lwgp", "there are no points, so the labels decide", {}))
    kernel = getattr(rep.lift, "kernel", None)
    if isinstance(kernel, Discrete):
        reason = "a discrete kernel knows no neighbours, so the labels decide"
        return Decided(Decision("lwgp", reason, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of candidates that are not chosen
        return _decide(named, X, rep, k, rng, with_kmeans=has_coordinates(kernel))


def lift_sample(lift: Lift, X: Points, named: dict[Hashable, Partition]) -> Representation | None:
    """The clusters of 20,000 random points, by which a method is chosen for more of them.

    Without the clusters that have none of these points; None if all of them are noise.
    """
    n = next(iter(named.values())).n
    rows = np.sort(np.random.default_rng(0).choice(n, SAMPLED, replace=False))
    parts = {name: points_of(p, rows) for name, p in named.items()}
    labelled = {name: p for name, p in parts.items() if p.cluster_weights.any()}
    if not labelled:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of clusters without any of these points
        labelled = {name: p.with_weights(p.weights) for name, p in labelled.items()}
        return represent_in_memory(Lifting.of(lift=lift), [(take_rows(X, rows), labelled)])


def decide_by_sums(task: Task, why: str) -> tuple[Task, Decision | None]:
    """Replace "auto" by the method that needs only the sums of clusters."""
    if task.method.needs != "any":
        return task, None
    decision = Decision(_SUMS, f"{why}, so that only sums of clusters are known", {})
    return task._replace(method=METHODS[_SUMS]), decision


def _decide(
    named: dict[Hashable, Partition],
    X: Points,
    rep: Representation,
    k: int,
    rng: np.random.Generator,
    *,
    with_kmeans: bool,
) -> Decided:
    kernel = getattr(rep.lift, "kernel", None)
    places = Places.of(Stack(named), X, k, rng=rng, kernel=kernel)
    if k == 1:
        return Decided(Decision(_SUMS, "one cluster was asked for", {}), places)
    if places.graph.p <= k:
        reason = f"the points are in only {places.graph.p} different places, so the labels decide"
        return Decided(Decision("lwgp", reason, {}), places)
    sample = _Sample.of(named, X, places.graph)
    if not sample.inputs:
        reason = "so few points are labelled that a sample of 2,000 has none of them"
        return Decided(Decision(_SUMS, reason, {}), places)
    a = {
        "lift_places": sample.agreement(places.pieces[0][sample.place]),
        "lift_walk": sample.agreement(places.walk_scores.argmax(axis=1)[sample.place]),
    }
    before = deepcopy(rng)
    centres = group_clusters(Task(METHODS[_SUMS], {}, rng), k, rep)
    a[_SUMS] = sample.agreement(_by_vectors(rep, sample.X, centres))
    a["lwgp"] = _agreement_of_labels(sample, k, rng)
    if with_kmeans:
        a[_COMPACT] = sample.agreement(kmeans(coordinates(sample.X), k, _STARTS, rng))
    method, reason = _choose(a, places.eigengap, places.smoothness)
    decision = Decision(method, reason, a, places.eigengap, places.smoothness)
    return Decided(decision, places, centres, before)


def _choose(a: dict[str, float], gap: float, smoothness: float) -> tuple[str, str]:
    """The rule of :func:`decide`, in words."""
    by_place = max("lift_walk", "lift_km", key=a.__getitem__)
    best, labels, graph = max(a[by_place], 1e-3), a["lwgp"], a["lift_places"]
    if max(best, labels) >= _UNANIMOUS:
        method = by_place if best >= labels - _SAME else "lwgp"
        return method, f"the inputs say nearly the same (agreement {a[method]:.2f} with them)"
    compact = a.get(_COMPACT, 0.0)
    if max(best, graph, compact) < _LOST * labels:
        return "lwgp", (
            f"labels alone agree with the inputs by {labels:.2f}, whatever uses places only by "
            f"{max(best, graph, compact):.2f}: the clusters are not visible in the points"
        )
    if graph >= (1 - _TRUST * gap) * best:
        return "lift_places", (
            f"the neighbour graph of the points, cut into pieces (eigengap {gap:.2f}), agrees with "
            f"the inputs by {graph:.2f}, and {by_place} by {best:.2f}"
        )
    if compact >= _EXPLAINED * best:
        return "lift_places", (
            "the inputs say little that the points alone would not: k-means of the points agrees "
            f"with them by {compact:.2f}, {by_place} by {best:.2f}; so the neighbour graph decides"
        )
    if smoothness >= _SMOOTH and max(best, labels) < _CLEAR:
        return "lift_places", (
            "the inputs say little that the points alone would not: nearest neighbours predict "
            f"{smoothness:.0%} of the labels; so the neighbour graph decides"
        )
    return by_place, (
        f"the inputs know more than the points alone, whose graph agrees with them by "
        f"{graph:.2f} and k-means by {compact:.2f}; averaged over places they agree "
        f"by {best:.2f}"
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some points with their labels and places; all of them if they are few."""

    X: Points
    inputs: list[Partition]
    place: IntArray

    @classmethod
    def of(cls, named: dict[Hashable, Partition], X: Points, graph: PlaceGraph) -> _Sample:
        w = next(iter(named.values())).weights
        if graph.is_whole:
            inputs = [p.with_weights(_in_points(w)) for p in named.values()]
            return cls(X, inputs, graph.near[:, 0])
        rows = graph.rows
        inputs = [
            Partition.from_labels(p.labels[rows], _in_points(w[rows]))
            for p in named.values()
            if (p.labels[rows] >= 0).any()
        ]
        return cls(take_rows(X, rows), inputs, np.arange(graph.p))

    def agreement(self, labels: Array) -> float:
        """Mean adjusted Rand index to the inputs, over the points that each of them labels."""
        weights = self.inputs[0].weights
        found = Partition.from_labels(labels, weights)
        return float(np.mean([_adjusted_rand(contingency(p, found)) for p in self.inputs]))


def _in_points(weights: FloatArray) -> FloatArray:
    """Weights as numbers of points where they are multiples of the smallest, else as shares.

    Pair counts take integers as numbers of points, and a common factor must change no decision.
    """
    if weights.min() == weights.max():
        return constant_array(1.0, len(weights))
    with np.errstate(over="ignore"):
        ratios = weights / weights[weights > 0].min()
    counts = np.rint(ratios)
    are_counts = counts.max() < _MANY and np.allclose(ratios, counts, rtol=_ROUNDING, atol=0)
    return counts if are_counts else weights / weights.max()


def _adjusted_rand(overlap: Contingency) -> float:
    """The adjusted Rand index; of infinitely many points where weights are not counts of points."""
    if overlap.is_counts or overlap.self_pairs is not None:
        return 1 - adjusted_rand(overlap)
    shares = (overlap.cells[2], overlap.rows, overlap.columns)
    both, in_a, in_b = (float(((x / overlap.total) ** 2).sum()) for x in shares)
    most = (in_a + in_b) / 2
    return (both - in_a * in_b) / (most - in_a * in_b) if most > in_a * in_b else 1.0


def _by_vectors(rep: Representation, X: Points, centres: FloatArray) -> IntArray:
    """lift_km, of the points of a sample."""
    assert rep.lift is not None
    return np.asarray(from_device(rep.lift.scores(X, centres))).argmax(axis=1)


def _agreement_of_labels(sample: _Sample, k: int, rng: np.random.Generator) -> float:
    """Mean adjusted Rand index of lwgp of all inputs but one to that one.

    Of all inputs, labels alone would repeat the errors of few of them, and agree with these.
    """
    found = []
    for i in range(min(len(sample.inputs), _HELD_OUT)):
        one = sample.inputs[i : i + 1]
        others = sample.inputs[:i] + sample.inputs[i + 1 :] or one
        tuples = LabelTuples.from_partitions(others)
        labels = lwgp(tuples, k, rng=rng)[tuples.inverse]
        found.append(_Sample(sample.X, one, sample.place).agreement(labels))
    return float(np.mean(found))
