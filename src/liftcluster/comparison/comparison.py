"""The result of a comparison: values of measures, transport plan, moves, witness function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._util.arrays import from_device
from .._util.extras import needs
from .._util.html import items, paragraph, table
from .._util.typing import FloatArray, Points
from ..lifts.base import Lift
from ..partitions.partition import Partition
from ..representation.counts import PartitionSummary
from ..representation.representation import Representation, join
from ..streaming.passes import map_points
from .measures.elements import element_similarity
from .measures.registry import MEASURES
from .moves import ROUNDING, Move, describe_moves, find_moves, listed
from .pointwise import distances_moved, point_distances


@dataclass(frozen=True)
class Estimate:
    """A value and its standard error: zero if exact, None if not known or not defined."""

    value: float
    error: float | None = None

    def __str__(self) -> str:
        if abs(self.value) >= 1000:  # a count
            return f"{self.value:,.0f}"
        return f"{self.value:.4f}" + (f" ± {self.error:.4f}" if self.error else "")


class Values(Mapping[str, Estimate]):
    """Estimates by name of the measure; some are computed when they are first read."""

    def __init__(self, estimates: Mapping[str, Estimate | Callable[[], Estimate]]) -> None:
        self._estimates = dict(estimates)

    def __getitem__(self, name: str) -> Estimate:
        found = self._estimates[name]
        if not isinstance(found, Estimate):
            found = self._estimates[name] = found()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._estimates  # without computing it

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (dict(self),)  # numbers alone, without points


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How two partitions differ; made by :func:`liftcluster.compare`.

    Attributes
    ----------
    names : pair
        Names of the partitions.
    values : mapping from str to Estimate
        ``value`` and standard ``error`` of each measure, also as ``found["rand"]``; computed when
        first read, unless they were asked for by name.
    left_out : mapping from str to str
        Measures that do not apply, and why.
    plan : (k, k') array or None
        The transport plan of LiftEMD; None without points.
    cluster_distances : (k, k') array or None
        ‖Φ̄(C) − Φ̄(C′)‖ of every two clusters.
    moves : list of Move
        The plan in words, heaviest first; each has ``kind``, ``sources``, ``targets``, ``mass``.
    representation : Representation or None
        Both partitions, lifted; None without points.
    lifted : pair of Representation or None
        Each of them by itself.
    lift, points : Lift and array, or None
        The map that lifted them, and the points of a if they were in memory.
    has_other_points : bool
        Whether b is of other points, given as Y.
    partitions : pair of Partition
        Summaries of them, without points, where those were read in blocks.

    See Also
    --------
    compare, plot.plan, plot.flow

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.compare([0, 0, 1], [0, 1, 1], [[0.0], [1.0], [5.0]], measures="lift_emd")
    Comparison(a and b: lift_emd = 0.3741, ...)
    """

    names: tuple[Hashable, Hashable]
    values: Mapping[str, Estimate]
    left_out: Mapping[str, str]
    partitions: tuple[Partition, Partition] | tuple[PartitionSummary, PartitionSummary]
    lifted: tuple[Representation, Representation] | None
    plan: FloatArray | None = None
    cluster_distances: FloatArray | None = None
    points: Points = None
    has_other_points: bool = False

    @property
    def representation(self) -> Representation | None:
        return None if self.lifted is None else join(self.lifted)

    @property
    def lift(self) -> Lift | None:
        return None if self.lifted is None else self.lifted[0].lift

    @cached_property
    def moves(self) -> list[Move]:
        if self.lifted is None or self.plan is None or self.cluster_distances is None:
            return []
        P, Q = self.lifted
        return find_moves(self.plan, self.cluster_distances, P.cluster_names, Q.cluster_names)

    @cached_property
    def element_similarity(self) -> FloatArray:
        r"""(n,) element-centric similarity of both partitions around each point, in [0, 1].

        For hard clusters :math:`|C \cap C'| / \max(|C|, |C'|)`, whose mean is one minus the measure
        ``element_centric``; for soft ones by personalised PageRank (α = 0.9). NaN for noise.

        >>> import liftcluster as lc
        >>> lc.compare([0, 0, 1, 1], [0, 0, 0, 1]).element_similarity.round(3).tolist()
        [0.667, 0.667, 0.333, 0.5]
        """
        return element_similarity(*self._labelled("element_similarity"))

    @cached_property
    def point_distances(self) -> FloatArray:
        r"""(n,) distance between the two clusters that each point belongs to: where both differ.

        .. math:: δ(x) = \sum_{ij} p(C_i | x)\, p(C'_j | x)\, ‖\barΦ(C_i) - \barΦ(C'_j)‖

        0 where both clusters are in the same place; NaN for noise in either. Without noise the mean
        is at least LiftEMD, since the points themselves are a transport plan. With other points
        (``Y``), each point of a has the mean distance that the mass of its cluster moves.

        >>> import liftcluster as lc
        >>> found = lc.compare([0, 0, 1, 1], [0, 0, 0, 1], [[0.0], [1.0], [8.0], [9.0]])
        >>> found.point_distances.round(2).tolist()
        [0.29, 0.29, 0.66, 0.07]
        """
        if self.cluster_distances is None or self.plan is None:
            raise AttributeError("point_distances needs a comparison that was made with X")
        a, b = self._labelled("point_distances")
        if self.has_other_points:
            return distances_moved(a, self.plan, self.cluster_distances)
        return point_distances(a, b, self.cluster_distances)

    def _labelled(self, wanted: str) -> tuple[Partition, Partition]:
        a, b = self.partitions
        if isinstance(a, Partition) and isinstance(b, Partition):
            return a, b
        raise AttributeError(f"labels read in blocks are not kept, and {wanted} needs them")

    def __getitem__(self, measure: str) -> Estimate:
        if measure in self.left_out:
            raise KeyError(f"{measure} was left out: {self.left_out[measure]}")
        return self.values[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def witness(
        self,
        points: Points = None,
        *,
        cluster: Hashable | None = None,
        other: Hashable | None = None,
    ) -> FloatArray:
        r"""The witness function of two clusters, or of both partitions, at any points.

        For a ``cluster`` of the first and an ``other`` of the second, the witness function

        .. math:: f(x) = ⟨φ(x), \barΦ(C) - \barΦ(C')⟩

        is positive where C is and C′ is not, negative the other way round. For whole partitions,
        :math:`\sum_{ij} π_{ij} |f_{ij}(x)|` over the transport plan. It is as smooth as the kernel:
        at the default bandwidth it is large beside the places that differ. For colours of points
        use ``point_distances``.

        Parameters
        ----------
        points : (n, d) array-like or source of blocks, optional
            Where to evaluate it; by default at the points of a, if they were in memory.
        cluster, other : hashable, optional
            Names of two clusters, one of each partition. Give both or neither.
        """
        lift = self.lift
        if self.lifted is None or lift is None or self.plan is None:
            raise ValueError("a witness needs a comparison that was made with X")
        P, Q = self.lifted
        where = self.points if points is None else points
        if (cluster is None) != (other is None):
            raise ValueError("give both cluster and other, or neither")
        if where is None:
            raise ValueError("the points were not kept: give witness the argument points")
        if cluster is not None:
            v = P.vectors[_position(P, cluster)] - Q.vectors[_position(Q, other)]
            return map_points(lambda X: from_device(lift.scores(X, v[None, :]))[:, 0], where)
        i, j = np.nonzero(self.plan > ROUNDING)
        V, mass = P.vectors[i] - Q.vectors[j], self.plan[i, j]
        return map_points(lambda X: np.abs(from_device(lift.scores(X, V))) @ mass, where)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain Python values, fit for JSON if the cluster names are."""
        a, b = self.partitions
        return {
            "names": list(self.names),
            "partitions": [
                {
                    "n": p.n,
                    "k": p.k,
                    "hard": p.is_hard,
                    "clusters": list(p.names),
                    "masses": p.masses.tolist(),
                    "noise_mass": p.noise_mass,
                }
                for p in (a, b)
            ],
            "measures": {
                name: {
                    "value": e.value,
                    # A single random draw says nothing of its error, and JSON knows no infinity.
                    "error": None if e.error is None or np.isinf(e.error) else e.error,
                }
                for name, e in self.values.items()
            },
            "left_out": dict(self.left_out),
            "lift": None if self.lift is None else self.lift.describe(),
            "plan": None if self.plan is None else self.plan.tolist(),
            "cluster_distances": (
                None if self.cluster_distances is None else self.cluster_distances.tolist()
            ),
            "moves": [move.to_dict() for move in self.moves],
        }

    def to_frame(self) -> Any:
        """The measures as a pandas data frame: value, error and what each is."""
        try:
            import pandas as pd
        except ImportError:
            message = needs("pandas", "to_frame")
            raise ImportError(f"{message}; to_dict needs no package") from None
        measures = [(e.value, e.error, MEASURES[name]) for name, e in self.values.items()]
        rows = [(value, error, m.is_metric, m.title) for value, error, m in measures]
        index = pd.Index(self.values, name="measure")
        return pd.DataFrame(rows, index, ["value", "error", "is_metric", "title"])

    def plot(self, ax: Any = None) -> Any:
        """The transport plan as a picture, by :func:`liftcluster.plot.plan`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ..viz.plot import plan as draw

        return draw(self, ax=ax)

    def __str__(self) -> str:
        a, b = self.partitions
        width = max((len(name) for name in self.values), default=0)
        lines = [f"{self.names[0]}: {a}", f"{self.names[1]}: {b}"]
        if self.lift is not None:
            lines.append(f"lift: {self.lift.describe()}")
        lines += [f"  {name:{width}}  {estimate}" for name, estimate in self.values.items()]
        return "\n".join([*lines, *self.summary()])

    def summary(self) -> list[str]:
        """The moves in words, small flows summed up."""
        return describe_moves(self.moves)

    def __repr__(self) -> str:
        first = next(iter(self.values.items()), None)
        shown = "no measure applies" if first is None else f"{first[0]} = {first[1]}"
        return f"Comparison({self.names[0]} and {self.names[1]}: {shown}, ...)"

    def _repr_html_(self) -> str:
        names = paragraph(f"{self.names[0]} and {self.names[1]}", strong=True)
        rows = [(name, e, MEASURES[name].title) for name, e in self.values.items()]
        measures = table(("measure", "distance", "what it is"), rows)
        how = "" if self.lift is None else paragraph(f"lift: {self.lift.describe()}")
        return names + measures + items(self.summary()) + how


def _position(part: Representation, name: Hashable | None) -> int:
    names = part.cluster_names
    if name not in names:
        raise ValueError(f"there is no cluster {name!r}; the clusters are {listed(names)}")
    return names.index(name)
