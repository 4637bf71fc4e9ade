"""What partitions have in common, and how far a consensus is from its inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.sparse.csgraph import connected_components

from .._util.memory import check_memory
from .._util.typing import FloatArray, IntArray, Points
from ..comparison.measures.lifted import lift_emd_matrix
from ..kernels.summary import n_points
from ..lifts.base import Lift, LiftedPoints
from ..lifts.choice import Lifting, choose_settings, lift_for_any_points
from ..lifts.exact import SpanLift
from ..lifts.settings import Exact
from ..partitions.partition import Partition
from ..partitions.stack import Stack
from ..representation.assembling import assemble
from ..representation.representation import Representation
from ..representation.samples import represent_in_memory
from .judging import Distances, distances_by_labels, judging_lifting, share_points
from .methods.registry import METHODS, Method
from .result import Consensus, Lifted

CONSENSUS = ("consensus",)  # its name among its inputs, which may have any names


def finish(
    method: str,
    partition: Partition,
    named: dict[Hashable, Partition],
    rep: Representation | None,
    points: LiftedPoints | None,
    centres: FloatArray | None = None,
    memberships: FloatArray | Callable[[], FloatArray] | None = None,
    sums: FloatArray | None = None,
    judged_by: Callable[[], Lifting] | None = None,
    on_request: LiftOnRequest | None = None,
) -> Consensus:
    """The result in memory, with its distances to the inputs, which are computed on request.

    They are by place where there are points, else by labels. By default points are scored
    by the clusters of the consensus themselves, and memberships are those in the inputs. ``sums``
    are those of the clusters of the partition, where they are known. The distances are those of
    ``judged_by``, or of the lift of the inputs. With ``on_request`` nothing is lifted yet.
    """
    m = len(named)
    k = partition.k if memberships is None or centres is None else len(centres)
    if memberships is None:
        if not METHODS[method].chooses_k:  # who asks for a number is told at once that it is high
            check_memberships_fit(partition.n, k)
        memberships = partial(_mean_shares, partition, list(named.values()))
    judge: Callable[[], Distances]
    lifted: Lifted | Callable[[], Lifted] | None = None
    if on_request is not None:
        judge, lifted = on_request.distances, on_request.vectors
    elif rep is None or points is None:
        judge = partial(distances_by_labels, [*named.values()], partition)
    else:
        found: dict[Hashable, Partition] = {CONSENSUS: partition}
        if judged_by is None or centres is None:
            together = _represent_together(rep, points, named, found, sums)
            judge = partial(_distances_by_place, together)
            if centres is None:
                rep, centres = together[:m], together[m].vectors
        if judged_by is not None:
            judge = partial(_distances_by_lift, judged_by, points.X, named | found)
    labels, masses = partition.labels, partition.masses
    if partition.k != k:  # a block of points without some clusters, which are named by number
        numbers = np.asarray(partition.names)
        labels, masses = numbers[labels], np.zeros(k)
        masses[numbers] = partition.masses
    if rep is not None and centres is not None:
        lifted = Lifted(rep, centres)
    return Consensus(
        method,
        named,
        k,
        labels=labels,
        masses=masses,
        _judge=judge,
        _lifted=lifted,
        _partition=partition,
        _memberships=memberships,
    )


@dataclass(frozen=True, eq=False)
class LiftOnRequest:
    """Lifts the inputs of a consensus, and the consensus, when that is asked for.

    In one pass over the points; the distances at another bandwidth take one more. The lift is
    fitted before where the method needs random numbers after it.
    """

    lifting: Lifting
    X: Points
    named: dict[Hashable, Partition]
    partition: Partition
    rng: np.random.Generator
    fitted: Lift | None = None

    @property
    def partitions(self) -> dict[Hashable, Partition]:
        return self.named | {CONSENSUS: self.partition}

    @cached_property
    def together(self) -> Representation:
        lifting = self.lifting if self.fitted is None else Lifting.of(lift=self.fitted)
        return represent_in_memory(lifting, [(self.X, self.partitions)], rng=self.rng)

    def vectors(self) -> Lifted:
        m = len(self.named)
        return Lifted(self.together[:m], self.together[m].vectors)

    def distances(self) -> Distances:
        judged_by = judging_lifting(self.fitted or self.together.lift, self.lifting)
        if judged_by is None:
            return _distances_by_place(self.together)
        return _distances_by_lift(judged_by, self.X, self.partitions)


def fit_before_sums(lifting: Lifting, X: Points, rng: np.random.Generator) -> Lift | None:
    """The lift of points, by the random numbers that lifting clusters takes; None if it needs sums.

    The exact lift spans the clusters, a tolerance is that of their distances, and a lift that was
    given may not suit the points, which lifting them tells.
    """
    if lifting.is_fitted:
        return None
    settings = choose_settings(lifting, n_points(X), None)
    if isinstance(settings, Exact) or getattr(settings, "tol", None) is not None:
        return None
    return lift_for_any_points(lifting, X, rng)


def _distances_by_lift(
    lifting: Callable[[], Lifting], X: Points, partitions: dict[Hashable, Partition]
) -> Distances:
    return _distances_by_place(represent_in_memory(lifting(), [(X, partitions)]))


def _distances_by_place(together: Representation) -> Distances:
    return Distances.of(lift_emd_matrix(together))


def _represent_together(
    rep: Representation,
    points: LiftedPoints,
    named: dict[Hashable, Partition],
    found: dict[Hashable, Partition],
    sums: FloatArray | None,
) -> Representation:
    """The inputs and, last, the consensus by the lift of the inputs."""
    if isinstance(rep.lift, SpanLift):
        return represent_again(rep, points.X, named | found)
    stack = Stack(found)
    sums = points.sums(stack) if sums is None else sums
    return rep + assemble([stack], points.lift, sums)


def represent_again(
    rep: Representation, X: Points, named: dict[Hashable, Partition]
) -> Representation:
    """Other partitions, by the lift of a representation."""
    assert rep.lift is not None
    lifting = Lifting.of(lift=rep.lift)
    if isinstance(rep.lift, SpanLift):  # spans the clusters of the representation only
        lifting = Lifting.of(rep.lift.kernel, lift="exact")
    return represent_in_memory(lifting, [(X, named)])


def unanimous(named: dict[Hashable, Partition], k: int) -> Partition | None:
    """The one partition that all inputs are, whatever they call its clusters, if it has k of them.

    Methods that move points to the nearest centre, or balance clusters, would change it.
    """
    first = next(iter(named.values()))
    sizes = np.sort(first.cluster_weights)
    for p in named.values():
        if not (p.is_hard and p.k == k and np.array_equal(np.sort(p.cluster_weights), sizes)):
            return None
    for p in named.values():
        if not (p.labels >= 0).all():
            return None
        pairs = first.labels.astype(np.int64) * k + p.labels
        if len(np.unique(pairs)) != k:
            return None
    return Partition.from_labels(first.labels, first.weights)


def counterparts(named: dict[Hashable, Partition], agreed: Partition) -> IntArray:
    """For each cluster of each input the cluster of the agreed partition that it is."""
    codes = np.empty((len(named), agreed.k), dtype=np.int64)
    for row, p in zip(codes, named.values(), strict=True):
        row[p.labels] = agreed.labels
    return codes.ravel()


def _mean_shares(partition: Partition, inputs: Iterable[Partition]) -> FloatArray:
    """p(c|x): how much of the clusters that x is in, over the inputs that label it, is in c."""
    R = partition.memberships
    check_memberships_fit(*R.shape)
    total = np.zeros(R.shape)
    for p in inputs:
        P = p.memberships
        weighted = P.multiply(p.weights[:, None])
        total += P @ ((weighted.T @ R).toarray() / p.cluster_weights[:, None])
    sums = total.sum(axis=1, keepdims=True)
    # Points that no input labels have nothing but the consensus itself to go by.
    return np.divide(total, sums, out=R.toarray(), where=sums > 0)


def check_memberships_fit(n: int, k: int) -> None:
    check_memory(
        3 * 8 * n * k,
        f"memberships of {n:,} points in {k:,} clusters",
        "ask for fewer clusters, or predict the points block by block from a consensus of some",
    )


def hardened(partition: Partition) -> Partition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return partition.harden()


def check_linked(named: dict[Hashable, Partition], method: Method) -> None:
    """Whether labels alone can say which clusters of different inputs belong together."""
    shared, names = share_points(list(named.values())), list(named)
    groups = connected_components(shared, directed=False)[1]
    if groups.any():
        one, other = names[0], names[int(groups.argmax())]
        raise ValueError(
            f"inputs {one!r} and {other!r} share no labelled point, and no other inputs lead from "
            "one to the other, so labels cannot say which of their clusters belong together; give "
            "the points X, or combine inputs that overlap"
        )
    if method.needs == "distances" and not shared.all():
        i, j = np.argwhere(~shared)[0]
        raise ValueError(
            f"{method.name} compares every two inputs, and {names[i]!r} and {names[j]!r} share no "
            "labelled point; give the points X, or take another method"
        )
