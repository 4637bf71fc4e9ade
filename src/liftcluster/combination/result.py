"""The result of a consensus, in memory or read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .._util.checks import check_count
from .._util.html import paragraph, table
from .._util.typing import FloatArray, IntArray, Points, RngLike
from .._util.validation import make_rng
from ..lifts.base import Lift
from ..lifts.choice import Lifting
from ..partitions.partition import Partition
from ..representation.counts import PartitionSummary
from ..representation.representation import Representation
from ..streaming.passes import map_points
from .agreement import Agreement, agreement, margins
from .assigning import predict_clusters, shares_of_scores
from .cells import Affinities, affinities_of_features
from .composition import Composition, composition_of, list_parts
from .features import point_features
from .judging import Distances, describe_distances, distances_by_labels, rivals
from .methods.lifted import lift_ssd

if TYPE_CHECKING:
    from .choice_of_k import Curve
    from .deciding import Decision
    from .methods.disagreements import Aggregation

_MOST_ROWS = 30  # of a table in a notebook


class LabelReader(Protocol):
    """Labels of the inputs that are read in blocks."""

    def agreement(self, labels: Any) -> Agreement: ...

    def distances(self, rows: IntArray) -> Distances: ...


class Lifted(NamedTuple):
    """The clusters of the inputs, lifted, and the vectors that points are scored by."""

    representation: Representation
    centres: FloatArray  # (k, ρ)


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """One partition that combines several; made by :func:`liftcluster.consensus`.

    Attributes
    ----------
    method : str
        Name of the method.
    inputs : mapping from names to Partition
        The inputs; summaries of them, without points, where those were read in blocks.
    n_clusters : int
        Number of clusters k.
    labels : (n,) int array, or what was given as ``out``
        A dask array that is not computed yet, where the points are one; None for a consensus of a
        Representation without points.
    partition : Partition
        The same as a hard partition.
    memberships : (n, k) array
        Soft consensus; rows sum to one. Computed when first used.
    confidence : (n,) array
        Share of the inputs that agree with the cluster of a point, for every method alike: those
        whose cluster at that point lies mostly in its consensus cluster, with the largest share
        of its weight (an equal one in several counts for each). Only inputs that label the point
        count, soft ones in proportion to its memberships. 1 where all agree; 0 where no input
        labels the point, or the consensus does not. Where points were read in blocks, the labels
        are read once more when it is first used.
    overruled : (r,) int array
        The points that all inputs put into one other consensus cluster, by where their clusters
        mostly lie: there the inputs agree, but the place of the point decided otherwise.
    margin : (n,) array
        How far a point's membership in its cluster is ahead of its next best, in [0, 1]. For
        lift_km, lift_hac and lift_barycentre, whose memberships are by place, it says how clear
        the place is; a place between two clusters is not clear, even if all inputs agree.
    has_points : bool
        Whether it was made with the points, so that clusters of others can be predicted.
    is_in_memory : bool
        Whether ``partition``, ``memberships`` and ``margin`` are kept. They are not where
        points were read in blocks: an AttributeError that names ``predict_proba``.
    masses : (k,) array or None
        Share of the weight that each cluster has; None without points.
    representation : Representation or None
        The clusters of the inputs, lifted; None without points. Methods by labels, and above 5,000
        points lift_places and lift_walk, compute it and the centres when they are first used.
    centres : (k, ρ) array or None
        The vectors that points are scored by; None without points.
    score : float or None
        liftSSD of the centres: squared distance of the inputs' clusters to them, weighted by mass.
    composition : list of lists
        For each consensus cluster the input clusters it is made of, as (partition, cluster, share
        of that cluster), largest first.
    mean_distance, best_input_distance : float or None
        Mean distance of the consensus to all inputs, and the smallest that an input has to all of
        them, 0 to itself included. LiftEMD with points, at the bandwidth that
        :func:`liftcluster.distance` has by default unless one was given; the variation of
        information without. None for a consensus of a Representation without points. Computed when
        first used, from the points, which are kept until then and must not be changed. That an
        input has less means little with few inputs: with two, nothing can have less than either.
    label_distance, best_input_label_distance : float or None
        The same by labels alone: the variation of information. Of more than 30 inputs only those
        that are nearest to all by place are candidates for the best. None for a consensus of a
        Representation.
    curve : Curve or None
        How the number of clusters was chosen, if it was.
    aggregation : Aggregation or None
        Cost of a consensus by balls, agglomerative, furthest or local_search: how many pairs of
        points it and an input judge differently, and the least that any clustering could reach.
    decision : Decision or None
        Why ``method="auto"`` chose this method, in numbers and a sentence; None if it was named.

    See Also
    --------
    consensus, plot.composition, plot.points, plot.curve

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> found = lc.consensus([list("aaabbb"), list("aabbbb")], 2, X, bandwidth=3.0, rng=0)
    >>> found.confidence.tolist(), bool(found.predict([[0.5]])[0] == found.labels[0])
    ([1.0, 1.0, 0.5, 1.0, 1.0, 1.0], True)
    """

    method: str
    inputs: Mapping[Hashable, Partition | PartitionSummary]
    n_clusters: int
    labels: Any = None
    masses: FloatArray | None = None
    curve: Curve | None = None
    aggregation: Aggregation | None = None
    decision: Decision | None = None
    _lifted: Lifted | Callable[[], Lifted] | None = None  # or how to compute them
    _partition: Partition | None = None
    _update: Callable[..., Consensus] | None = None  # partial_fit, where the method has it
    _memberships: FloatArray | Callable[[], FloatArray] | None = None  # or how to compute them
    _composition: Composition | None = None
    _judge: Distances | Callable[[], Distances] | None = None  # or how to compute them
    _reader: LabelReader | None = None  # of the inputs, where they are not in memory

    def __getstate__(self) -> dict[str, Any]:
        # Open files cannot be sent or stored, and points that are kept for the distances need not.
        return self.__dict__ | {
            "_reader": None,
            "_judge": self._distances,
            "_lifted": self._vectors,
            "_memberships": None if self._memberships is None else self.memberships,
        }

    @cached_property
    def _vectors(self) -> Lifted | None:
        return self._lifted() if callable(self._lifted) else self._lifted

    @property
    def representation(self) -> Representation | None:
        return None if self._vectors is None else self._vectors.representation

    @property
    def centres(self) -> FloatArray | None:
        return None if self._vectors is None else self._vectors.centres

    @property
    def has_points(self) -> bool:
        return self._lifted is not None

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
                "memberships of points that are read in blocks are not kept, and margin needs "
                "them; predict_proba returns those of any points, or writes them to out"
            )
        found = self._memberships() if callable(self._memberships) else self._memberships
        self.__dict__["_memberships"] = found  # what they were computed from is no longer needed
        return found

    @cached_property
    def _agreement(self) -> Agreement:
        if self._reader is not None:
            return self._reader.agreement(self.labels)
        if self._partition is None:
            raise AttributeError(
                "confidence needs the labels of the inputs, which a Representation does not have, "
                "nor does a stored consensus of points that were read in blocks; give consensus "
                "the partitions, and use confidence before it is stored"
            )
        return agreement(self._partition, self._partitions)

    @property
    def _partitions(self) -> list[Partition]:
        return [p for p in self.inputs.values() if isinstance(p, Partition)]

    @property
    def confidence(self) -> FloatArray:
        return self._agreement.confidence

    @property
    def overruled(self) -> IntArray:
        return self._agreement.overruled

    @cached_property
    def margin(self) -> FloatArray:
        return margins(self.memberships, self.labels)

    @cached_property
    def _distances(self) -> Distances | None:
        """By place, or by labels without points."""
        found = self._judge() if callable(self._judge) else self._judge
        self.__dict__["_judge"] = found  # the points are no longer needed
        return found

    @property
    def mean_distance(self) -> float | None:
        return None if self._distances is None else self._distances.mean

    @property
    def best_input_distance(self) -> float | None:
        return None if self._distances is None else self._distances.best

    @cached_property
    def _label_distances(self) -> Distances | None:
        if self._judge is None or not self.has_points:
            return self._distances
        rows = rivals(len(self.inputs), lambda: self._distances)
        if self._reader is not None:
            return self._reader.distances(rows)
        if self._partition is None:
            return None
        return distances_by_labels(self._partitions, self._partition, rows)

    @property
    def label_distance(self) -> float | None:
        return None if self._label_distances is None else self._label_distances.mean

    @property
    def best_input_label_distance(self) -> float | None:
        return None if self._label_distances is None else self._label_distances.best

    @cached_property
    def score(self) -> float | None:
        return None if self._vectors is None else lift_ssd(*self._vectors)

    @cached_property
    def composition(self) -> Composition:
        if self._composition is not None:
            return self._composition
        if not self.is_in_memory:
            return [[] for _ in range(self.n_clusters)]
        return composition_of(self.partition, self.labels, self.inputs, self.n_clusters)

    def predict(self, X: Points, *, out: Any = None, progress: bool | None = None) -> Any:
        """Consensus cluster of each point: that of the largest ⟨φ(x), v⟩.

        For the points of the consensus itself these are its labels if it was made by lift_km or
        lift_hac; other methods use more than the place of a point, and a few may differ.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
            The points.
        out : array of n integers, optional
            Where the labels are written, such as a memory map.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal, after two seconds.

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
        X : (n, d) array-like or source of blocks
            The points.
        out : (n, k) array of floats, optional
            Where the memberships are written, such as a memory map.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal, after two seconds.
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
        n_samples : int, default 5000
            Number of samples by which affinities are estimated.
        rng : int, Generator or None, default 0
            Seed of random numbers: the same answer from call to call. None draws others each time.
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
        consensus to all inputs, by the lift of the consensus. An exact lift is replaced by features
        of the same kernel.

        Parameters
        ----------
        X : (n, d) array-like
            The new points.
        partitions : mapping, sequence or data frame of labels, memberships or Partition
            Their clusterings.
        weights : (n,) array-like, optional
            Weights of the points, in place of any that partitions carry; one each by default.
        """
        if self._update is None:
            raise ValueError(
                f"{self.method} cannot be updated with new points: it needs all labels at once, "
                "and points that are read in blocks are fitted together; lift_km and lift_hac can, "
                "in memory"
            )
        return self._update(self, X, partitions, weights)

    def _map(self) -> tuple[Lift, FloatArray]:
        if self._vectors is None:
            raise ValueError("predict needs a consensus that was fitted with X")
        rep, centres = self._vectors
        if rep.lift is None:
            raise ValueError("predict needs a representation that was saved with its lift")
        return rep.lift, centres

    def __repr__(self) -> str:
        text = f"{self.method} of {len(self.inputs)} partitions: {self.n_clusters} clusters"
        if not self.is_in_memory and (n := next(iter(self.inputs.values())).n) is not None:
            text += f" of {n} points"
        if not callable(self._lifted) and self.score is not None:  # known without another pass
            text += f", liftSSD = {self.score:.4f}"
        if self.is_in_memory:
            text += f", mean confidence {self.confidence.mean():.2f}"
            if r := len(self.overruled):
                text += f", {r} point{'s' if r > 1 else ''} overruled"
        if self.aggregation is not None:
            text += f"; {self.aggregation}"
        return f"Consensus({text})"

    def _repr_html_(self) -> str:
        shown = range(min(self.n_clusters, _MOST_ROWS))
        columns: dict[str, list[Any]] = {"cluster": list(shown)}
        if self.masses is not None:
            columns["share"] = [f"{self.masses[i]:.1%}" for i in shown]
        if self.is_in_memory:
            own = [self.confidence[self.labels == i] for i in shown]
            columns["confidence"] = [f"{c.mean():.2f}" if len(c) else "" for c in own]
        made_of = [list_parts(self.composition[i]) for i in shown]
        columns["made of (share of that cluster)"] = made_of
        rows = list(zip(*columns.values(), strict=True))
        html = paragraph(repr(self)) + table(tuple(columns), rows)
        html += "" if self.decision is None else paragraph(f"chosen by auto: {self.decision}")
        if more := self.n_clusters - len(shown):
            html += paragraph(f"… and {more} more")
        if self.mean_distance is not None:
            html += paragraph(describe_distances(self))
        return html
