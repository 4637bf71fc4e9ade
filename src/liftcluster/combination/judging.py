"""Whether a consensus stands for its inputs better than one of them: by place and by labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._util.arrays import is_constant
from .._util.typing import Array, FloatArray, IntArray
from .._util.warning import warn
from ..comparison.measures.information import vi
from ..lifts.base import Lift
from ..lifts.choice import Lifting
from ..lifts.exact import SpanLift
from ..lifts.nystroem import NystroemLift, nystroem_from_landmarks
from ..partitions.contingency import Contingency, contingency
from ..partitions.partition import Partition

if TYPE_CHECKING:
    from .result import Consensus

# A consensus is judged at the default bandwidth of ``distance`` and ``compare``, so that its
# figures, those of the page and those of a user who compares it with its inputs are the same.
# It is made at a finer one, which separates points better: among some tried, the best on half of
# the labelled sets. Where a bandwidth is given, both are that one.
JUDGED_AT = "median"
_FINER = 4
COMBINED_AT = f"{JUDGED_AT}/{_FINER}"

_MOST_RIVALS = 30  # inputs that are judged by labels, of many those nearest to the others by place
_MOST_COUNTED = 3e8  # labels; more of them are counted on a sample of the points
_ROUNDING = 1e-6  # a larger distance between equal partitions is not rounding
_SLIGHT = 0.01  # share of the distance to the inputs by which nobody would prefer one of them


class Distances(NamedTuple):
    """Distances of a consensus and of some inputs to all m inputs; NaN where they are unknown.

    All means are over the same inputs: ``mean`` and ``best`` over all of them, where an input has
    the distance 0 to itself, and ``leads`` over all but the input that is compared.
    """

    consensus: FloatArray  # (m,)
    inputs: FloatArray  # (r, m)
    rows: IntArray  # (r,), which inputs these are

    @classmethod
    def of(cls, D: FloatArray) -> Distances:
        """From the distances between all inputs and, in the last row, the consensus."""
        m = len(D) - 1
        among = np.array(D[:m, :m])
        np.fill_diagonal(among, 0.0)
        return cls(D[m, :m], among, np.arange(m))

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.consensus))

    @property
    def best(self) -> float:
        return float(np.nanmean(self.inputs, axis=1).min())

    def leads(self) -> FloatArray:
        """(r,) how much nearer each of these inputs is to the other inputs than the consensus is.

        An input is at distance 0 from itself, errors included, so it is left out here: else no
        consensus of two could win (by the triangle inequality), nor one of three annotators with
        30 per cent of errors, even if it were the truth.
        """
        differences = self.consensus - self.inputs
        differences[np.arange(len(self.rows)), self.rows] = np.nan
        known = np.isfinite(differences)
        return np.where(known, differences, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)

    def relative_leads(self) -> FloatArray:
        """(r,) the same as shares of the mean distance of the consensus; 0 where it is rounding."""
        leads = self.leads()
        return np.where(np.abs(leads) > _ROUNDING, leads / max(self.mean, _ROUNDING), 0.0)


def judging_lifting(lift: Lift | None, lifting: Lifting) -> Callable[[], Lifting] | None:
    """Makes the lift of a consensus at the bandwidth it is judged at; None if it has that one."""
    if lift is None or lifting.rule is None or "bandwidth" in lifting.given:
        return None
    return partial(_coarser, lift)


def _coarser(lift: Lift) -> Lifting:
    """The same landmarks or frequencies in other units.

    So points in memory and in blocks are judged alike.
    """
    kernel = lift.kernel.with_bandwidth(_FINER * lift.kernel.bandwidth)  # type: ignore[attr-defined]
    if isinstance(lift, SpanLift):
        return Lifting.of(kernel, lift="exact")
    if isinstance(lift, NystroemLift):
        return Lifting.of(lift=nystroem_from_landmarks(kernel, lift.landmarks).rounded())
    return Lifting.of(lift=replace(lift, kernel=kernel))  # type: ignore[type-var]


def distances_by_labels(
    inputs: Sequence[Partition], partition: Partition, rows: IntArray | None = None
) -> Distances:
    """Variation of information of the consensus and of some inputs (all of them) to all inputs.

    By at most 3·10⁸ labels: of more, a random sample of the points is taken. All have the weights
    of the consensus.
    """
    m, n = len(inputs), partition.n
    inputs = [_with_weights_of(partition, p) for p in inputs]
    rows = np.arange(m) if rows is None else rows
    counted = int(_MOST_COUNTED / max(len(rows) * m, 1))
    if counted < n:
        chosen = np.sort(np.random.default_rng(0).choice(n, counted, replace=False))
        inputs = [points_of(p, chosen) for p in inputs]
        partition = points_of(partition, chosen)
    shared = share_points([*inputs, partition])

    def between(i: int, j: int) -> Contingency | None:
        a, b = (partition if x == m else inputs[x] for x in (i, j))
        return contingency(a, b) if shared[i, j] else None

    return distances_by_tables(between, m, rows)


def distances_by_tables(
    table: Callable[[int, int], Contingency | None], m: int, rows: IntArray
) -> Distances:
    """The same from contingency tables of inputs i < j, or of i and the consensus (j = m)."""
    D = np.full((m + 1, m + 1), np.nan)
    wanted = {*rows.tolist(), m}
    for i, j in combinations(range(m + 1), 2):
        if (i in wanted or j in wanted) and (found := table(i, j)) is not None:
            D[i, j] = D[j, i] = vi(found)
    every = Distances.of(D)
    return Distances(every.consensus, every.inputs[rows], rows)


def rivals(m: int, by_place: Callable[[], Distances | None]) -> IntArray:
    """The inputs that are nearest to all of them by place; all, unless they are many."""
    found = by_place() if m > _MOST_RIVALS else None
    if found is None:
        return np.arange(m)
    order = np.argsort(np.nanmean(found.inputs, axis=1), kind="stable")
    return np.sort(found.rows[order[:_MOST_RIVALS]])


def describe_distances(found: Consensus) -> str:
    """Mean distances of a consensus to its inputs, and the least that an input has."""
    if found.mean_distance is None:
        return "distances to the inputs are not known"
    means = {"labels": (found.label_distance, found.best_input_label_distance)}
    if found.has_points:
        means = {"place": (found.mean_distance, found.best_input_distance)} | means
    known = {by: pair for by, pair in means.items() if pair[0] is not None}
    own = ", ".join(f"by {by} {mean:.4f}" for by, (mean, _) in known.items())
    least = ", ".join(f"{best:.4f}" for _, best in known.values())
    return f"mean distance to all inputs {own} (least of an input, its own 0 included: {least})"


def warn_if_worse(found: Consensus) -> None:
    """Warn that an input is nearer to the other inputs than the consensus, by all that is known.

    That is by place and by labels, or by labels alone without points. Where inputs are noisy,
    their errors blur all of them alike: the truth behind them is then farther by place than they
    are from each other, but nearer by labels. Of two inputs, both must be nearer. By labels first,
    because that takes no pass over the points.
    """
    if found.method == "medoid" or len(found.inputs) == 1:
        return
    by_labels = found._label_distances
    # None from a Representation.
    if by_labels is None or by_labels.relative_leads().max() <= _SLIGHT:
        return
    judged: tuple[Distances, ...] = (by_labels,)
    if found.has_points and (by_place := found._distances) is not None:
        judged = (by_place, by_labels)
    every = [dict(zip(D.rows.tolist(), D.relative_leads().tolist(), strict=True)) for D in judged]
    leads = {i: min(own[i] for own in every) for i in every[-1]}
    best = max(leads, key=leads.__getitem__)
    decisive = min(leads.values()) if len(found.inputs) == 2 else leads[best]
    if decisive > _SLIGHT:
        _warn(list(found.inputs)[best], best, judged)


def _warn(name: Hashable, best: int, judged: tuple[Distances, ...]) -> None:
    measures = ("by place (LiftEMD)", "by labels (variation of information)")[-len(judged) :]
    figures = []
    for measure, D in zip(measures, judged, strict=True):
        own = D.inputs[D.rows.tolist().index(best)]
        known = np.isfinite(own) & np.isfinite(D.consensus)
        known[best] = False
        figures.append(f"{D.consensus[known].mean():.4f} against {own[known].mean():.4f} {measure}")
    warn(
        f"the consensus is farther from the other inputs than the input {name!r} is: "
        f"{' and '.join(figures)}, on average. So that input alone stands for the others better "
        "than the consensus of all does: take it, or look at the inputs and the number of clusters"
    )


def share_points(partitions: Sequence[Partition]) -> Array:
    """(m, m), whether some point of positive weight is in a cluster of both partitions."""
    inside = {i: (p.labels >= 0) & (p.weights > 0) for i, p in enumerate(partitions)
              if not _is_complete(p)}  # fmt: skip
    shared = np.ones((len(partitions), len(partitions)), dtype=bool)
    for i, j in combinations(inside, 2):
        shared[i, j] = shared[j, i] = (inside[i] & inside[j]).any()
    return shared


def _is_complete(p: Partition) -> bool:
    """Whether all points have a positive weight and a cluster, as far as that is known at once."""
    equal = p.is_hard and is_constant(p.weights)
    return equal and bool(p.cluster_weights.sum() == p.total_weight)


def _with_weights_of(partition: Partition, p: Partition) -> Partition:
    v, w = partition.weights, p.weights
    if v.size and is_constant(v) and is_constant(w) and v[0] == w[0]:
        return p
    return Partition(p.assignment, p.names, v)


def points_of(p: Partition, rows: IntArray) -> Partition:
    equal = is_constant(p.weights) and len(rows) <= p.n
    weights = p.weights[: len(rows)] if equal else p.weights[rows]
    return Partition(p.assignment[rows], p.names, weights)
