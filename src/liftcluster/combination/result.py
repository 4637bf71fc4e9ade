"""The result of a consensus, in memory or read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.arrays import namespace, on_device
from .._util.checks import check_count
from .._util.html import paragraph, table
from .._util.typing import FloatArray, IntArray, Points, RngLike
from .._util.validation import make_rng
from ..lifts.base import Lift
from ..lifts.choice import Lifting
from ..partitions.partition import Partition
from ..representation.counts import PartitionSummary
from ..representation.representation import Representation
from ..streaming.passes import check_holds_labels, map_points
from ..streaming.sources import is_streamed
from .cells import Affinities, affinities_of_features
from .features import point_features
from .methods.lifted import lift_ssd

if TYPE_CHECKING:
    from .choice_of_k import Curve
    from .deciding import Decision
    from .methods.disagreements import Aggregation

# For each consensus cluster: (partition, cluster, share of that cluster), largest first.
Composition = list[list[tuple[Hashable, Hashable, float]]]

_MOST_ROWS = 30  # of a table in a notebook
_MOST_PARTS = 8  # of a cluster, in such a table


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """One partition that combines several; made by :func:`liftcluster.consensus`.

    Attributes
    ----------
    method : str
    inputs : mapping from the names of the inputs to partitions
        Summaries of them, without points, where those were read in blocks.
    n_clusters : int
    labels : (n,) int array, or what was given as ``out``
        A dask array that is not computed yet, where the points are one; None for a consensus of a
        Representation without points.
    partition : Partition
        The same as a hard partition.
    memberships : (n, k) array
        Soft consensus; rows sum to one. Computed when first used, where a method has chosen so
        many clusters that they take more than 400 MB.
    confidence : (n,) array
        How far a point's membership in its cluster is ahead of its next best, in [0, 1].
    is_in_memory : bool
        Whether ``partition``, ``memberships`` and ``confidence`` are kept. They are not where
        points were read in blocks: an AttributeError that names ``predict_proba``.
    masses : (k,) array or None
        Share of the weight that each cluster has; None without points.
    representation : Representation or None
        The clusters of the inputs, lifted; None without points.
    centres : (k, ρ) array or None
        The vectors that points are scored by; None without points.
    score : float or None
        liftSSD of the centres: squared distance of the inputs' clusters to them, weighted by mass.
    composition : list of lists
        For each consensus cluster the input clusters it is made of, as (partition, cluster, share
        of that cluster), largest first.
    mean_distance, best_input_distance : float or None
        Mean distance of the consensus to the inputs, and the smallest mean distance of an input to
        the others: LiftEMD with points, the variation of information without. None for a consensus
        of a Representation without points.
    curve : Curve or None
        How the number of clusters was chosen, if it was.
    aggregation : Aggregation or None
        Cost of a consensus by balls, agglomerative, furthest or local_search: how many pairs of
        points it and an input judge differently, and the least that any clustering could reach.
    decision : Decision or None
        Why ``method="auto"`` chose this method, in numbers and a sentence; None if it was named.
    """

    method: str
    inputs: Mapping[Hashable, Partition | PartitionSummary]
    n_clusters: int
    representation: Representation | None
    centres: FloatArray | None
    labels: Any = None
    masses: FloatArray | None = None
    mean_distance: float | None = None
    best_input_distance: float | None = None
    curve: Curve | None = None
    aggregation: Aggregation | None = None
    decision: Decision | None = None
    _partition: Partition | None = None
    _update: Callable[..., Consensus] | None = None  # partial_fit, where the method has it
    _memberships: FloatArray | Callable[[], FloatArray] | None = None  # or how to compute them
    _composition: Composition | None = None

    @property
    def is_in_memory(self) -> bool:
        return self._partition is not None

    @property
    def partition(self) -> Partition:
        if self._partition is None:
            raise AttributeError(
                "the partition of points that are read in blocks is not kept; see labels and masses"
            )
        return self._partition

    @cached_property
    def memberships(self) -> FloatArray:
        if self._memberships is None:
            raise AttributeError(
                "memberships of points that are read in blocks are not kept, and confidence needs "
                "them; predict_proba returns those of any points, or writes them to out"
            )
        return self._memberships() if callable(self._memberships) else self._memberships

    @property
    def _is_wide(self) -> bool:
        """Whether memberships are so many that they are computed only on request."""
        return callable(self._memberships) and "memberships" not in self.__dict__

    @cached_property
    def confidence(self) -> FloatArray:
        memberships = self.memberships
        if self.n_clusters == 1:
            return np.ones(len(memberships))
        top = np.partition(memberships, -2, axis=1)[:, -2:]
        own = memberships[np.arange(len(top)), self.labels]
        own = np.where(self.labels >= 0, own, 0.0)  # the medoid may have noise
        return np.maximum(own - np.where(own >= top[:, 1], top[:, 0], top[:, 1]), 0.0)

    @cached_property
    def score(self) -> float | None:
        if self.representation is None or self.centres is None:
            return None
        return lift_ssd(self.representation, self.centres)

    @cached_property
    def composition(self) -> Composition:
        if self._composition is not None:
            return self._composition
        if not self.is_in_memory:
            return [[] for _ in range(self.n_clusters)]
        R = self.partition.memberships
        numbers = np.unique(self.labels[self.labels >= 0])  # all of them, except for a small block
        shares = {}
        for name, p in self.inputs.items():
            assert isinstance(p, Partition)
            own = np.zeros((p.k, self.n_clusters))
            own[:, numbers] = (p.memberships.multiply(p.weights[:, None]).T @ R).toarray()
            shares[name] = p.names, own / p.cluster_weights[:, None]
        return compose(shares, self.n_clusters)

    def predict(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """Consensus cluster of each point: that of the largest ⟨φ(x), v⟩.

        For the points of the consensus itself these are its labels if it was made by lift_km or
        lift_hac; other methods use more than the place of a point, and a few may differ.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
        out : array of n integers, optional
            Where the labels are written, such as a memory map.
        progress : bool, optional

        Returns
        -------
        (n,) int array
            On the device of X, a dask array like X, or ``out``.
        """
        return predict_clusters(*self._map(), X, out, progress)

    def predict_proba(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """(n, k) memberships of points in proportion to ⟨φ(x), v⟩, negative ones clipped to 0.

        Parameters
        ----------
        X, out, progress
            As for :meth:`predict`; ``out`` has k columns of floats.
        """
        lift, centres = self._map()

        def shares(block: Points) -> FloatArray:
            return shares_of_scores(lift.scores(block, centres))

        none = np.empty((0, len(centres)))
        return map_points(shares, X, out=out, like=none, what="predicting", progress=progress)

    def affinities(self, X: Points, *, n_samples: int = 5000, rng: RngLike = 0) -> Affinities:
        """How firmly each point belongs to each cluster, from where it lies alone.

        By :func:`liftcluster.affinities`, with the kernel of the consensus. Unlike ``confidence``
        it knows nothing of the inputs: a point may be doubtful although all of them agree.

        Parameters
        ----------
        X : (n, d) array-like
            The points of the consensus.
        n_samples, rng
            As for :func:`liftcluster.affinities`.
        """
        count, rng = check_count(n_samples, "n_samples"), make_rng(rng)
        lift: Any = self._map()[0]
        lifting = Lifting.of(lift.kernel) if lift.is_exact else Lifting.of(lift=lift)
        Z = point_features(lifting, X, rng)
        return affinities_of_features(Z, self.partition, count, rng)

    def partial_fit(self, X: Points, partitions: Any, weights: Any = None) -> Consensus:
        """The consensus of these and new points, whose partitions have the names of the old ones.

        Sums of clusters with the same name are added, and the clusters are grouped again into as
        many groups as before. Labels are those of the new points, distances those of their
        consensus to all inputs. An exact lift is replaced by features of the same kernel.

        Parameters
        ----------
        X : (n, d) array-like
        partitions : mapping, sequence or data frame of labels, memberships or Partition
        weights : (n,) array-like, optional
        """
        if self._update is None:
            raise ValueError(
                f"{self.method} cannot be updated with new points: it needs all labels at once, "
                "and points that are read in blocks are fitted together; lift_km and lift_hac can, "
                "in memory"
            )
        return self._update(self, X, partitions, weights)

    def _map(self) -> tuple[Lift, FloatArray]:
        if self.representation is None or self.centres is None:
            raise ValueError("predict needs a consensus that was fitted with X")
        if self.representation.lift is None:
            raise ValueError("predict needs a representation that was saved with its lift")
        return self.representation.lift, self.centres

    def __repr__(self) -> str:
        text = f"{self.method} of {len(self.inputs)} partitions: {self.n_clusters} clusters"
        if not self.is_in_memory and (n := next(iter(self.inputs.values())).n) is not None:
            text += f" of {n} points"
        if self.score is not None:
            text += f", liftSSD = {self.score:.4f}"
        if self.is_in_memory and not self._is_wide:
            text += f", mean confidence {self.confidence.mean():.2f}"
        if self.aggregation is not None:
            text += f"; {self.aggregation}"
        return f"Consensus({text})"

    def _repr_html_(self) -> str:
        shown = range(min(self.n_clusters, _MOST_ROWS))
        columns: dict[str, list[Any]] = {"cluster": list(shown)}
        if self.masses is not None:
            columns["share"] = [f"{self.masses[i]:.1%}" for i in shown]
        if self.is_in_memory and not self._is_wide:
            own = [self.confidence[self.labels == i] for i in shown]
            columns["confidence"] = [f"{c.mean():.2f}" if len(c) else "" for c in own]
        columns["made of (share of that cluster)"] = [_list(self.composition[i]) for i in shown]
        rows = list(zip(*columns.values(), strict=False))
        html = paragraph(repr(self)) + table(tuple(columns), rows)
        if self.decision is not None:
            html += paragraph(f"chosen by auto: {self.decision}")
        if more := self.n_clusters - len(shown):
            html += paragraph(f"… and {more} more")
        if self.mean_distance is not None:
            html += paragraph(
                f"mean distance to the inputs {self.mean_distance:.4f}; the most central input has "
                f"{self.best_input_distance:.4f} to the others"
            )
        return html


def compose(
    shares: Mapping[Hashable, tuple[tuple[Hashable, ...], FloatArray]], k: int
) -> Composition:
    """The composition from the (clusters of an input, k) shares that the k groups have of them."""
    made_of: Composition = [[] for _ in range(k)]
    for name, (clusters, matrix) in shares.items():
        for i, j in np.argwhere(matrix > 0):
            made_of[j].append((name, clusters[i], float(matrix[i, j])))
    return [sorted(parts, key=lambda part: -part[2]) for parts in made_of]


def predict_clusters(
    lift: Lift, centres: FloatArray, X: Points, out: Any, progress: bool | None
) -> Any:
    """Position of the centre with the largest score of each point; int32 for blocks of points."""
    kind = np.int32 if is_streamed(X) else np.int64
    if out is not None:
        check_holds_labels(out, len(centres))

    def assign(block: Points) -> IntArray:  # sent to other processes, so it must not hold X
        labels = lift.assign(block, centres)
        return labels if on_device(labels) else labels.astype(kind, copy=False)

    none = np.empty(0, dtype=kind)
    return map_points(assign, X, out=out, like=none, what="predicting", progress=progress)


def shares_of_scores(scores: FloatArray) -> FloatArray:
    """Memberships in proportion to ⟨φ(x), v⟩; negative scores (random features) are clipped to 0.

    A point with no positive score belongs to all clusters equally.
    """
    xp = namespace(scores)
    positive = xp.clip(scores, min=0.0)
    total = xp.sum(positive, axis=1, keepdims=True)
    if bool(xp.all(total > 0)):  # two copies of the scores fewer
        positive /= total
        return positive
    some = total > 0
    shares = positive / xp.where(some, total, xp.ones_like(total))
    return xp.where(some, shares, xp.full_like(shares, 1 / scores.shape[1]))


def _list(parts: list[tuple[Hashable, Hashable, float]]) -> str:
    shown = [f"{name}: {cluster} ({share:.0%})" for name, cluster, share in parts if share >= 0.1]
    shown = shown[:_MOST_PARTS]
    return ", ".join(shown) + (" …" if len(parts) > len(shown) else "")
