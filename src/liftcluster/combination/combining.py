"""What several clusterings agree on: one consensus, by any method of the registry."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from .._util.arrays import from_device
from .._util.html import paragraph, table
from .._util.memory import check_pairs
from .._util.typing import FloatArray, IntArray, Points, RngLike
from .._util.validation import check_choice, check_count, make_rng
from ..comparison.measures.lifted import lift_emd_matrix
from ..lifts.base import Lift
from ..lifts.choice import is_made, make_lift
from ..lifts.exact import SpanLift
from ..partitions.partition import Partition, as_partitions
from ..representation.passes import check_holds_labels, check_one_row_each
from ..representation.representation import Representation
from ..representation.samples import represent
from ..streaming.streams import as_stream, needs_stream
from .by_labels import (
    as_seen,
    check_linked,
    check_memberships_fit,
    counterparts,
    distances_by_labels,
    hardened,
    mean_shares,
    medoid,
    tuples_for,
    unanimous,
)
from .by_vectors import (
    CONSENSUS,
    bandwidth_for,
    distances_to_inputs,
    features_for_consensus,
    group_clusters,
    listed_parts,
    shares_of_scores,
    warn_if_fewer,
    warn_if_worse,
)
from .methods.lifted import group_centres, lift_ssd
from .methods.registry import METHODS, Method
from .methods.selection import Curve, choose_k
from .methods.tuples import LabelTuples
from .streamed import (
    StreamedConsensus,
    consensus_of_stream,
    is_read_whole,
    predict_clusters,
    predict_shares,
)

__all__ = ["Consensus", "consensus"]

_MOST_ROWS = 30  # of a table in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """What several partitions agree on; made by :func:`consensus`.

    Attributes
    ----------
    partition : Partition
        The consensus, hard.
    labels : (n,) int array
    memberships : (n, k) array
        Soft consensus; rows sum to one.
    confidence : (n,) array
        How far a point's membership in its cluster is ahead of its next best, in [0, 1].
    centres : (k, ρ) array or None
        What points are scored by; None without points.
    score : float or None
        liftSSD of the centres: how far the inputs' clusters are from them, squared, by mass.
    composition : list of lists
        For each consensus cluster the input clusters it is made of, as (partition, cluster, share
        of that cluster), largest first.
    mean_distance, best_input_distance : float
        Mean distance of the consensus to the inputs, and the least mean distance of an input to
        the others: LiftEMD with points, the variation of information without.
    curve : Curve or None
        How the number of clusters was chosen, if it was.
    """

    method: str
    partition: Partition
    memberships: FloatArray
    inputs: dict[Hashable, Partition]
    representation: Representation | None
    centres: FloatArray | None
    mean_distance: float
    best_input_distance: float
    curve: Curve | None = None
    grouping: tuple[Any, dict[str, Any]] | None = None  # how lifted clusters were grouped

    @property
    def labels(self) -> IntArray:
        codes = self.partition.labels
        if self.partition.k == self.n_clusters:
            return codes
        # A block of points that some clusters have no part in; its clusters are called by number.
        return np.asarray(self.partition.names)[codes]

    @property
    def n_clusters(self) -> int:
        return int(self.memberships.shape[1])

    @cached_property
    def confidence(self) -> FloatArray:
        if self.memberships.shape[1] == 1:
            return np.ones(len(self.memberships))
        top = np.partition(self.memberships, -2, axis=1)[:, -2:]
        own = self.memberships[np.arange(len(top)), self.labels]
        own = np.where(
            self.labels >= 0, own, 0.0
        )  # the medoid may have noise: nothing is sure there
        return np.maximum(np.where(own >= top[:, 1], own - top[:, 0], own - top[:, 1]), 0.0)

    @cached_property
    def score(self) -> float | None:
        if self.representation is None:
            return None
        assert self.centres is not None
        return lift_ssd(self.representation, self.centres)

    @cached_property
    def composition(self) -> list[list[tuple[Hashable, Hashable, float]]]:
        made_of: list[list[tuple[Hashable, Hashable, float]]] = [[] for _ in range(self.n_clusters)]
        R = self.partition.memberships
        numbers = np.unique(self.labels[self.labels >= 0])  # all of them, but for a small block
        for name, p in self.inputs.items():
            shares = (p.memberships.multiply(p.weights[:, None]).T @ R).toarray()
            shares /= p.cluster_weights[:, None]
            for i, j in np.argwhere(shares > 0):
                made_of[numbers[j]].append((name, p.names[i], float(shares[i, j])))
        return [sorted(parts, key=lambda part: -part[2]) for parts in made_of]

    def predict(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """Consensus cluster of new points: that of the largest ⟨φ(x), v⟩.

        Labels of points on a device stay there. Points that come in blocks are taken so; labels are
        written to ``out``, if given, which is anything with rows that can be assigned to.
        """
        return predict_clusters(*self._map(), X, out, progress)

    def predict_proba(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """(n, k) memberships of new points: ⟨φ(x), v⟩, negative ones taken for none."""
        return predict_shares(*self._map(), X, out, progress)

    def partial_fit(self, X: Points, partitions: Any, weights: Any = None) -> Consensus:
        """The consensus of these and new points, whose partitions have the names of the old.

        Clusters are matched by name, their sums added up, and grouped again into as many groups as
        before, whether or not the new points belong to all of them. Labels are those of the new
        points, distances those of their consensus to all inputs. An exact lift, which spans only
        the clusters it has seen, gives way to features of the same kernel.
        """
        if self.grouping is None:
            raise ValueError(
                f"{self.method} cannot go on with new points: it looks at all labels at once; "
                "lift_km and lift_hac can"
            )
        assert self.representation is not None
        named = as_partitions(partitions, weights)
        if set(named) != set(self.inputs):
            raise ValueError(
                f"new points need the same partitions as the old: {list(self.inputs)}, got "
                f"{list(named)}"
            )
        old = as_features(self.representation)
        both = old + represent(X, named, lift=old.lift)
        method, options = self.grouping
        return _combine_vectors(
            method, both, X, named, self.n_clusters, options, make_rng(0), all_points=False
        )

    def _map(self) -> tuple[Lift, FloatArray]:
        if self.representation is None:
            raise ValueError("new points need the old ones: give consensus the argument X")
        assert self.representation.lift is not None
        assert self.centres is not None
        return self.representation.lift, self.centres

    def __repr__(self) -> str:
        score = "" if self.score is None else f", liftSSD = {self.score:.4f}"
        return (
            f"Consensus({self.method} of {len(self.inputs)} partitions: {self.n_clusters} clusters"
            f"{score}, mean confidence {self.confidence.mean():.2f})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                f"{self.partition.masses[i]:.1%}",
                f"{self.confidence[self.labels == i].mean():.2f}",
                listed_parts(self.composition[i]),
            )
            for i, name in enumerate(self.partition.names[:_MOST_ROWS])
        ]
        more = self.n_clusters - len(rows)
        distances = (
            f"mean distance to the inputs {self.mean_distance:.4f}; the most central input has "
            f"{self.best_input_distance:.4f} to the others"
        )
        return (
            paragraph(repr(self))
            + table(("cluster", "share", "confidence", "made of (share of that cluster)"), rows)
            + (paragraph(f"… and {more} more") if more else "")
            + paragraph(distances)
        )


def consensus(
    partitions: Any,
    n_clusters: int | str,
    X: Points = None,
    *,
    method: Any = "lift_km",
    kernel: Any = "gaussian",
    bandwidth: Any = "auto",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    weights: Any = None,
    rng: RngLike = None,
    out: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Consensus | StreamedConsensus:
    """Combine several partitions of the same points into one.

    Where all inputs are the same hard partition into ``n_clusters`` clusters (whatever they call
    them, and no point is noise), the answer is that partition, by every method.

    Parameters
    ----------
    partitions : sequence or mapping of labels, memberships or Partition
        Of any numbers of clusters, hard and soft mixed; a point may lack a label in some.
    n_clusters : int or "auto"
        "auto" chooses by where the graph of the lifted clusters falls apart (needs points; see
        :func:`~liftcluster.combination.methods.selection.choose_k`); the curve is in the result.
    X : (n, d) array-like or source of blocks, optional
        The points. Methods that see only labels do without, and then predict nothing. Points and
        labels that are not in memory (see :func:`liftcluster.represent`) are looked at twice, by
        lift_km, lift_hac or a clusterer; few of them, and labels without points, are read whole.
    method : str or scikit-learn clusterer
        A name in ``liftcluster.METHODS``, or a clusterer of vectors to stand in for k-means.
        "majority" and "medoid" choose the number of clusters themselves and say so; "medoid" is
        one of the inputs as it is, with the points that it leaves in no cluster.
    bandwidth : float, rule or "auto"
        "auto" is a quarter of the median distance between points (an eighth for lift_evidence).
    kernel, lift, n_components, sampling, weights, rng
        As for :func:`liftcluster.represent`, but that lift="auto" takes Nystroem features (500 of
        them) where the exact lift is too slow: points are told apart by small similarities, which
        drown in the noise of random Fourier features.
    out : array of n whole numbers, optional
        Where the labels of points that come in blocks go: anything with rows that can be assigned
        to, such as a memory map or an array of HDF5 or zarr.
    checkpoint, progress
        As for :func:`liftcluster.represent`.
    **options
        Of the method: ``linkage`` of lift_hac, ``n_init`` of lift_km, ``measure`` of medoid,
        ``partitioner`` of cspa, mcla and hbgf ("metis" or "spectral"); ``whole_tuples=True`` for
        cspa, hbgf and hgpa never parts points that have equal labels in all inputs, which their
        authors do where balance wants it.

    Returns
    -------
    Consensus
        A StreamedConsensus, which holds no memberships, for many points that come in blocks.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0]]
    >>> found = consensus(inputs, 2, X, bandwidth=3.0, rng=0)
    >>> (found.labels == found.labels[0]).tolist()
    [True, True, True, False, False, False]
    """
    chosen = (
        None if not isinstance(method, str) else METHODS[check_choice(method, METHODS, "method")]
    )
    automatic = isinstance(n_clusters, str) and n_clusters == "auto"
    if not automatic:
        n_clusters = check_count(n_clusters, "n_clusters")
    lifting = {
        "kernel": kernel,
        "bandwidth": bandwidth if is_made(lift) else bandwidth_for(chosen, bandwidth),
        "lift": lift,
        "n_components": n_components,
        "sampling": sampling,
    }
    found: Consensus | StreamedConsensus
    if out is None and checkpoint is None and not needs_stream(X, partitions, weights):
        named = as_partitions(partitions, weights)
        found = _consensus_in_memory(named, n_clusters, X, method, lifting, options, rng)
    else:
        stream = as_stream(X, partitions, weights)
        if is_read_whole(stream, lifting):
            X, named = stream.gather()
            found = _consensus_in_memory(named, n_clusters, X, method, lifting, options, rng)
            if out is not None:
                check_one_row_each(out, len(found.labels))
                check_holds_labels(out, found.n_clusters)
                out[:] = found.labels
        else:
            found = consensus_of_stream(
                stream,
                n_clusters,
                method=method,
                options=options,
                lifting=lifting,
                rng=rng,
                out=out,
                checkpoint=checkpoint,
                progress=progress,
            )
    if found.method != "medoid":  # which is an input itself
        warn_if_worse(len(found.inputs), found.mean_distance, found.best_input_distance)
    return found


def _consensus_in_memory(
    named: dict[Hashable, Partition],
    n_clusters: int | str,
    X: Points,
    method: Any,
    lifting: dict[str, Any],
    options: dict[str, Any],
    rng: RngLike,
) -> Consensus:
    rng = make_rng(rng)
    chosen = METHODS[method] if isinstance(method, str) else None
    automatic = n_clusters == "auto"
    rep = None
    if X is not None:
        n = next(iter(named.values())).n
        seen = {name: as_seen(p, chosen) for name, p in named.items()}
        s = sum(p.k for p in seen.values())
        check_pairs(s, s)
        rep = represent(X, seen, rng=rng, **features_for_consensus(lifting, n))
    elif chosen is None or chosen.needs in ("vectors", "labels and vectors") or automatic:
        others = [m.name for m in METHODS.values() if m.needs in ("labels", "distances")]
        raise ValueError(
            "this needs the points X; with labels alone give n_clusters as a number and one of "
            f"the methods {', '.join(others)}"
        )
    else:
        check_linked(named, chosen)
    curve = None
    if automatic:
        assert rep is not None
        curve = _choose_k(rep, X, named)
        n_clusters = curve.k
    k = int(n_clusters)
    if chosen is None or chosen.needs == "vectors":
        assert rep is not None
        found = _combine_vectors(method, rep, X, named, k, options, rng)
    else:
        found = _combine_labels(chosen, rep, X, named, k, options, rng)
    if chosen is not None and chosen.chooses_k and found.n_clusters != k:
        warnings.warn(
            f"{chosen.name} chooses the number of clusters itself: {found.n_clusters}, not {k}",
            UserWarning,
            stacklevel=3,
        )
    return replace(found, curve=curve)


def _choose_k(rep: Representation, X: Points, named: dict[Hashable, Partition]) -> Curve:
    """By hard clusters, which can be counted and linked."""
    hard = {name: hardened(p) for name, p in named.items()}
    if not all(p.is_hard for p in named.values()):
        lift = rep.lift
        if isinstance(lift, SpanLift):  # spans the soft clusters only
            rep = represent(X, hard, kernel=lift.kernel, lift="exact")
        else:
            rep = represent(X, hard, lift=lift)
    return choose_k(rep, LabelTuples.from_partitions(hard.values()))


def as_features(rep: Representation) -> Representation:
    """The same clusters by a lift with features, if theirs is the exact one."""
    exact = rep.lift
    if not isinstance(exact, SpanLift):
        return rep
    lift = make_lift(exact.anchors, kernel=exact.kernel, rng=0)
    return replace(rep, sums=lift.sums(exact.anchors, exact.memberships), lift=lift)


def _combine_vectors(
    method: Any,
    rep: Representation,
    X: Points,
    named: dict[Hashable, Partition],
    k: int,
    options: dict[str, Any],
    rng: np.random.Generator,
    *,
    all_points: bool = True,
) -> Consensus:
    """Algorithm 1: group the lifted clusters, then give each point to the group it is most like.

    Where X is only a block of the points, groups that none of them belongs to stay.
    """
    centres, name = group_clusters(method, rep, k, options, rng)
    if all_points and (agreed := unanimous(named, k)) is not None:
        shares = mean_shares(agreed, list(named.values()))
        centres = group_centres(rep, counterparts(named, agreed), k)
        found = _finish(name, agreed, shares, named, rep, centres, X)
        return replace(found, grouping=(method, options))
    assert rep.lift is not None
    check_memberships_fit(next(iter(named.values())).n, len(centres))
    scores = from_device(rep.lift.scores(X, centres))
    labels = scores.argmax(axis=1)
    used = np.flatnonzero(np.bincount(labels, minlength=len(centres)))
    if not all_points:
        used = np.arange(len(centres))
    warn_if_fewer(k, rep, len(centres), len(used))
    weights = next(iter(named.values())).weights
    partition = Partition.from_labels(np.searchsorted(used, labels), weights)
    memberships = shares_of_scores(scores[:, used])
    found = _finish(name, partition, memberships, named, rep, centres[used], X)
    return replace(found, grouping=(method, options))


def _combine_labels(
    method: Method,
    rep: Representation | None,
    X: Points,
    named: dict[Hashable, Partition],
    k: int,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> Consensus:
    if method.needs == "distances":
        partition = medoid(named, X, rep, **options)
    else:
        tuples = tuples_for(method, named, k, options, rng)
        assert method.function is not None
        weights = next(iter(named.values())).weights
        if method.needs == "labels and vectors":
            given = {"rep": rep, "X": X, "weights": weights}
            labels = method.function(tuples, k, rng=rng, **given, **options)
        else:
            labels = method.function(tuples, k, rng=rng, **options)[tuples.inverse]
        partition = unanimous(named, k) or Partition.from_labels(labels, weights)
    memberships = mean_shares(partition, list(named.values()))
    return _finish(method.name, partition, memberships, named, rep, None, X)


def _finish(
    method: str,
    partition: Partition,
    memberships: FloatArray,
    named: dict[Hashable, Partition],
    rep: Representation | None,
    centres: FloatArray | None,
    X: Points,
) -> Consensus:
    """Measure the consensus against its inputs, by place where there are points."""
    m = len(named)
    if rep is None:
        D = distances_by_labels([*named.values(), partition])
    else:
        together = _lift_together(rep, partition, named, X)
        D = lift_emd_matrix(together)
        if centres is None:  # points are scored by the clusters of the consensus themselves
            rep, centres = together[:m], together[m].vectors
    mean_distance, best_input_distance = distances_to_inputs(D)
    return Consensus(
        method=method,
        partition=partition,
        memberships=memberships,
        inputs=named,
        representation=rep,
        centres=centres,
        mean_distance=mean_distance,
        best_input_distance=best_input_distance,
    )


def _lift_together(
    rep: Representation, partition: Partition, named: dict[Hashable, Partition], X: Points
) -> Representation:
    """The inputs and the consensus by one map."""
    lift = rep.lift
    if isinstance(lift, SpanLift):  # spans the inputs only
        return represent(X, {**named, CONSENSUS: partition}, kernel=lift.kernel, lift="exact")
    return rep + represent(X, {CONSENSUS: partition}, lift=lift)
