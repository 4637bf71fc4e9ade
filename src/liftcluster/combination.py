"""What several clusterings agree on: one consensus, by any method of the registry."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._html import paragraph, table
from ._typing import FloatArray, IntArray, Points, RngLike
from ._validation import check_choice, check_count, make_rng
from .comparison import distance_matrix
from .kernels import as_kernel
from .lifts.base import Lift
from .lifts.choice import choose_lift, make_lift
from .lifts.span import SpanLift
from .measures.lifted import lift_emd_matrix
from .methods.lifted import group_by, group_centres, lift_ssd
from .methods.registry import METHODS, Method
from .methods.selection import Curve, choose_k
from .methods.tuples import LabelTuples
from .partition import Partition, as_partitions
from .representation import Representation
from .representing import represent

__all__ = ["Consensus", "consensus"]

_NAME = ("consensus",)  # of the consensus among its inputs, which may be called anything
_LANDMARKS = 500
_POINTS_AS_VERTICES = 3000  # a graph that METIS cuts in seconds
_PIECES_OF_A_PART = 50  # of more points: so fine that METIS can balance to within its 3 per cent
_MOST_ROWS, _MOST_PARTS = 30, 8  # of a table in a notebook
_ROUNDING = 1e-6  # by which equal partitions may miss distance zero


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
        if self.representation is None or self.centres is None:
            return None
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

    def predict(self, X: Points) -> IntArray:
        """Consensus cluster of new points: that of the largest ⟨φ(x), v⟩."""
        lift, centres = self._map()
        return lift.assign(X, centres)

    def predict_proba(self, X: Points) -> FloatArray:
        """(n, k) memberships of new points: ⟨φ(x), v⟩, negative ones taken for none."""
        lift, centres = self._map()
        return shares_of_scores(lift.scores(X, centres))

    def partial_fit(self, X: Points, partitions: Any, weights: Any = None) -> Consensus:
        """The consensus of these and new points, whose partitions have the names of the old.

        Clusters are matched by name, their sums added up, and grouped again into as many groups as
        before, whether or not the new points belong to all of them. Labels are those of the new
        points, distances those of their consensus to all inputs. An exact lift, which spans only
        the clusters it has seen, gives way to features of the same kernel.
        """
        if self.representation is None or self.grouping is None:
            raise ValueError(
                f"{self.method} cannot go on with new points: it looks at all labels at once; "
                "lift_km and lift_hac can"
            )
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
        if self.representation is None or self.representation.lift is None or self.centres is None:
            raise ValueError("new points need the old ones: give consensus the argument X")
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
                _listed_parts(self.composition[i]),
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
    **options: Any,
) -> Consensus:
    """Combine several partitions of the same points into one.

    Where all inputs are the same hard partition into ``n_clusters`` clusters (whatever they call
    them, and no point is noise), the answer is that partition, by every method.

    Parameters
    ----------
    partitions : sequence or mapping of labels, memberships or Partition
        Of any numbers of clusters, hard and soft mixed; a point may lack a label in some.
    n_clusters : int or "auto"
        "auto" chooses by where the graph of the lifted clusters falls apart (needs points; see
        :func:`~liftcluster.methods.selection.choose_k`); the curve is in the result.
    X : (n, d) array-like, optional
        The points. Methods that see only labels do without, and then predict nothing.
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
    **options
        Of the method: ``linkage`` of lift_hac, ``n_init`` of lift_km, ``measure`` of medoid,
        ``partitioner`` of cspa, mcla and hbgf ("metis" or "spectral"); ``whole_tuples=True`` for
        cspa, hbgf and hgpa never parts points that have equal labels in all inputs, which their
        authors do where balance wants it.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0]]
    >>> found = consensus(inputs, 2, X, bandwidth=3.0, rng=0)
    >>> (found.labels == found.labels[0]).tolist()
    [True, True, True, False, False, False]
    """
    rng = make_rng(rng)
    named = as_partitions(partitions, weights)
    chosen = (
        None if not isinstance(method, str) else METHODS[check_choice(method, METHODS, "method")]
    )
    automatic = isinstance(n_clusters, str) and n_clusters == "auto"
    if not automatic:
        n_clusters = check_count(n_clusters, "n_clusters")
    rep = None
    if X is not None:
        n = next(iter(named.values())).n
        lift, n_components = _features_for_consensus(lift, n_components, kernel, n)
        rep = represent(
            X,
            {name: _as_seen(p, chosen) for name, p in named.items()},
            kernel=kernel,
            bandwidth=_bandwidth_for(chosen, bandwidth),
            lift=lift,
            n_components=n_components,
            sampling=sampling,
            rng=rng,
        )
    elif chosen is None or chosen.needs in ("vectors", "labels and vectors") or automatic:
        others = [m.name for m in METHODS.values() if m.needs in ("labels", "distances")]
        raise ValueError(
            "this needs the points X; with labels alone give n_clusters as a number and one of "
            f"the methods {', '.join(others)}"
        )
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
    found = replace(found, curve=curve)
    if chosen is not None and chosen.chooses_k and found.n_clusters != k:
        warnings.warn(
            f"{chosen.name} chooses the number of clusters itself: {found.n_clusters}, not {k}",
            UserWarning,
            stacklevel=2,
        )
    _warn_if_worse(found)
    return found


def _choose_k(rep: Representation, X: Points, named: dict[Hashable, Partition]) -> Curve:
    """By hard clusters, which can be counted and linked."""
    hard = {name: _hardened(p) for name, p in named.items()}
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


def shares_of_scores(scores: FloatArray) -> FloatArray:
    """Memberships in proportion to ⟨φ(x), v⟩; random features may make it negative: none, then.

    A point that is similar to no centre at all belongs to all alike.
    """
    positive = np.maximum(scores, 0)
    total = positive.sum(axis=1, keepdims=True)
    alike = 1 / scores.shape[1]
    return np.divide(positive, total, out=np.full_like(positive, alike), where=total > 0)


def _bandwidth_for(method: Method | None, bandwidth: Any) -> Any:
    """What "auto" stands for: a clusterer that stands in for k-means has k-means' rule."""
    if isinstance(bandwidth, str) and bandwidth == "auto":
        return (method or METHODS["lift_km"]).bandwidth
    return bandwidth


def _listed_parts(parts: list[tuple[Hashable, Hashable, float]]) -> str:
    shown = [f"{name}: {cluster} ({share:.0%})" for name, cluster, share in parts if share >= 0.1]
    return ", ".join(shown[:_MOST_PARTS]) + (
        " …" if len(parts) > min(len(shown), _MOST_PARTS) else ""
    )


def _features_for_consensus(
    lift: Any, n_components: int | None, kernel: Any, n: int
) -> tuple[Any, int | None]:
    """Landmarks instead of Fourier features, where "auto" would take those."""
    automatic = isinstance(lift, str) and lift == "auto"
    if automatic and choose_lift(lift, n, as_kernel(kernel), n_components, spans=True) == "fourier":
        return "nystrom", n_components or _LANDMARKS
    return lift, n_components


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
    asked, k = k, min(k, rep.s)
    if isinstance(method, str):
        function = METHODS[method].function
        assert function is not None
        codes = function(rep, k, rng=rng, **options)
        name = method
    else:
        if options:
            raise TypeError(f"a clusterer has its own settings; got {', '.join(options)}")
        codes, name = group_by(method, rep, k, rng=rng), "lift_km"
    if all_points and (agreed := _unanimous(named, asked)) is not None:
        shares = _mean_shares(agreed, list(named.values()))
        centres = group_centres(rep, _counterparts(named, agreed), asked)
        found = _finish(name, agreed, shares, named, rep, centres, X)
        return replace(found, grouping=(method, options))
    centres = group_centres(rep, codes, int(codes.max()) + 1)
    assert rep.lift is not None
    scores = rep.lift.scores(X, centres)
    labels = scores.argmax(axis=1)
    used = np.flatnonzero(np.bincount(labels, minlength=len(centres)))
    if not all_points:
        used = np.arange(len(centres))
    if len(used) < asked:
        warnings.warn(
            f"{asked} clusters were asked for, but the inputs' {rep.s} clusters form "
            f"{len(centres)} groups, of which {len(used)} are the best for some point",
            UserWarning,
            stacklevel=3,
        )
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
        partition = _medoid(named, X, rep, **options)
    else:
        tuples = _tuples_for(method, named, k, options, rng)
        assert method.function is not None
        weights = next(iter(named.values())).weights
        if method.needs == "labels and vectors":
            given = {"rep": rep, "X": X, "weights": weights}
            labels = method.function(tuples, k, rng=rng, **given, **options)
        else:
            labels = method.function(tuples, k, rng=rng, **options)[tuples.inverse]
        partition = _unanimous(named, k) or Partition.from_labels(labels, weights)
    memberships = _mean_shares(partition, list(named.values()))
    return _finish(method.name, partition, memberships, named, rep, None, X)


def _unanimous(named: dict[Hashable, Partition], k: int) -> Partition | None:
    """The one partition that all inputs are, whatever they call its clusters, if it has k of them.

    Methods that move points to the nearest centre, or balance clusters, would change it.
    """
    first, *others = named.values()
    if not (first.is_hard and first.k == k and (first.labels >= 0).all()):
        return None
    for p in others:
        if not (p.is_hard and p.k == k and (p.labels >= 0).all()):
            return None
        pairs = first.labels.astype(np.int64) * k + p.labels
        if len(np.unique(pairs)) != k:
            return None
    return Partition.from_labels(first.labels, first.weights)


def _counterparts(named: dict[Hashable, Partition], agreed: Partition) -> IntArray:
    """For each cluster of each input the cluster of the agreed partition that it is."""
    codes = np.empty((len(named), agreed.k), dtype=np.int64)
    for row, p in zip(codes, named.values(), strict=True):
        row[p.labels] = agreed.labels
    return codes.ravel()


def _tuples_for(
    method: Method,
    named: dict[Hashable, Partition],
    k: int,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> LabelTuples:
    """Points with equal labels as one, or as several where the method has to balance them.

    The authors of cspa, hgpa and hbgf cut graphs of points. Whole tuples would keep METIS from
    balancing, which often helps, but is another method: ``whole_tuples=True``.
    """
    tuples = LabelTuples.from_partitions(named.values())
    if not method.balanced or options.pop("whole_tuples", False) or tuples.t <= k:
        return tuples
    weights = next(iter(named.values())).weights
    n = len(weights)
    largest = 0.0 if n <= _POINTS_AS_VERTICES else weights.sum() / (k * _PIECES_OF_A_PART)
    return tuples.split(largest, weights, rng)


def _medoid(
    named: dict[Hashable, Partition],
    X: Points,
    rep: Representation | None,
    measure: str | None = None,
    **options: Any,
) -> Partition:
    """The input with the least sum of distances to the others."""
    if rep is not None and measure in (None, "lift_emd"):
        D = lift_emd_matrix(rep)
    else:
        D = distance_matrix(named, X, measure=measure or "rand", **options)
    return _hardened(list(named.values())[int(D.sum(axis=1).argmin())])


def _mean_shares(partition: Partition, inputs: list[Partition]) -> FloatArray:
    """p(c|x): how much of the clusters that x is in, over the inputs that label it, is in c."""
    R = partition.memberships
    total = np.zeros(R.shape)
    for p in inputs:
        P = p.memberships
        weighted = P.multiply(p.weights[:, None])
        total += P @ ((weighted.T @ R).toarray() / p.cluster_weights[:, None])
    sums = total.sum(axis=1, keepdims=True)
    # Points that no input labels have nothing but the consensus itself to go by.
    return np.divide(total, sums, out=R.toarray(), where=sums > 0)


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
        D = distance_matrix([*named.values(), partition], measure="vi")
    else:
        together = _lift_together(rep, partition, named, X)
        D = lift_emd_matrix(together)
        if centres is None:  # points are scored by the clusters of the consensus themselves
            rep, centres = together[:m], together[m].vectors
    others = (D[:m, :m].sum(axis=1) - np.diag(D[:m, :m])) / max(m - 1, 1)
    return Consensus(
        method=method,
        partition=partition,
        memberships=memberships,
        inputs=named,
        representation=rep,
        centres=centres,
        mean_distance=float(D[m, :m].mean()),
        best_input_distance=float(others.min()),
    )


def _lift_together(
    rep: Representation, partition: Partition, named: dict[Hashable, Partition], X: Points
) -> Representation:
    """The inputs and the consensus by one map."""
    lift = rep.lift
    if isinstance(lift, SpanLift):  # spans the inputs only
        return represent(X, {**named, _NAME: partition}, kernel=lift.kernel, lift="exact")
    return rep + represent(X, {_NAME: partition}, lift=lift)


def _as_seen(partition: Partition, method: Method | None) -> Partition:
    """Hardened for methods that look at labels, clusters that are nowhere the largest left out."""
    return partition if method is None or method.soft else _hardened(partition)


def _hardened(partition: Partition) -> Partition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return partition.harden()


def _warn_if_worse(found: Consensus) -> None:
    if len(found.inputs) == 1 or found.method == "medoid":  # which is an input itself
        return
    if found.mean_distance > found.best_input_distance + _ROUNDING:
        warnings.warn(
            f"the consensus is farther from its inputs (mean distance {found.mean_distance:.4f}) "
            f"than the best of them is from the others ({found.best_input_distance:.4f}); "
            'look at the inputs, or take the best: method="medoid"',
            UserWarning,
            stacklevel=3,
        )
