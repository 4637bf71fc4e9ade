"""The result of a comparison: values of measures, transport plan, moves, witness function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
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

Cell = tuple[int, int, float, float, bool]  # of a plan: row, column, flow, distance, whether major

_MINOR = 0.2  # a flow below this share of the smaller of its two clusters is spill
_ROUNDING = 1e-12  # a flow below this is the solver's arithmetic
_STAYED = 0.25  # unit vectors nearer than this are the same place


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
    """Estimates by name of the measure; slow ones are computed when they are first read."""

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


@dataclass(frozen=True)
class Move:
    """What became of some clusters: where their mass went, and at what cost.

    Attributes
    ----------
    kind : str
        "stayed" and "moved": one cluster became one, in the same place or elsewhere; "split": one
        became several; "merged": several became one; "rearranged": several became several;
        "spilled": a flow beside those, small for both of its clusters.
    sources, targets : tuples of cluster names
    mass : float
        Share of the mass; over all moves it sums to one.
    cost : float
        Mass times distance; over all moves it sums to LiftEMD.
    """

    kind: str
    sources: tuple[Hashable, ...]
    targets: tuple[Hashable, ...]
    mass: float
    cost: float

    @property
    def distance(self) -> float:
        """Mean distance that the mass travels."""
        return self.cost / self.mass

    def __str__(self) -> str:
        sources, targets = _listed(self.sources), _listed(self.targets)
        preposition = {"stayed": "as", "moved": "to"}.get(self.kind, "into")
        what = f"{sources} {self.kind} {preposition} {targets}"
        if self.kind == "spilled":
            what = f"a little of {sources} went to {targets}"
        mean = "" if self.kind in ("stayed", "moved") else "mean "
        share = f"{100 * self.mass:.1f} % of the mass"
        return f"{what} ({share}, {mean}distance {self.distance:.3f})"

    def to_dict(self) -> dict[str, Any]:
        clusters = {"sources": list(self.sources), "targets": list(self.targets)}
        return {**vars(self), **clusters, "distance": self.distance}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How two partitions differ; made by :func:`liftcluster.compare`.

    Attributes
    ----------
    names : pair
        Names of the partitions.
    values : mapping from str to Estimate
        ``value`` and standard ``error`` of each measure, also as ``found["rand"]``. Slow ones
        (cdistance; spri and spari above three dimensions) are computed when first read.
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
    moves: list[Move] = field(default_factory=list)
    points: Points = None

    @property
    def representation(self) -> Representation | None:
        return None if self.lifted is None else join(self.lifted)

    @property
    def lift(self) -> Lift | None:
        return None if self.lifted is None else self.lifted[0].lift

    @cached_property
    def element_similarity(self) -> FloatArray:
        r"""(n,) element-centric similarity of both partitions around each point, in [0, 1].

        For hard clusters :math:`|C \cap C'| / \max(|C|, |C'|)`, whose mean is one minus the measure
        ``element_centric``; for soft ones by personalised PageRank (α = 0.9). NaN for noise.

        >>> import liftcluster as lc
        >>> lc.compare([0, 0, 1, 1], [0, 0, 0, 1]).element_similarity.round(3).tolist()
        [0.667, 0.667, 0.333, 0.5]
        """
        a, b = self.partitions
        if not (isinstance(a, Partition) and isinstance(b, Partition)):
            raise AttributeError(
                "labels that are read in blocks are not kept, and element_similarity needs them"
            )
        return element_similarity(a, b)

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
        r"""Where the partitions differ: a number for each point.

        For a ``cluster`` of the first and an ``other`` of the second, the witness function

        .. math:: f(x) = ⟨φ(x), \barΦ(C) - \barΦ(C')⟩

        is positive where C is and C′ is not, negative the other way round. For whole partitions,
        :math:`\sum_{ij} π_{ij} |f_{ij}(x)|` over the transport plan: large where mass came or went.

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
        i, j = np.nonzero(self.plan > _ROUNDING)
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


def find_moves(
    plan: FloatArray, D: FloatArray, sources: tuple[Hashable, ...], targets: tuple[Hashable, ...]
) -> list[Move]:
    """Group the flows of a plan: clusters joined by more than spill belong to one move."""
    i, j = np.nonzero(plan)
    flows, distances = plan[i, j], D[i, j]
    smaller = np.minimum(plan.sum(axis=1)[i], plan.sum(axis=0)[j])
    is_major = flows >= _MINOR * np.maximum(smaller, np.finfo(float).tiny)
    columns = i.tolist(), j.tolist(), flows.tolist(), distances.tolist(), is_major.tolist()
    cells = list(zip(*columns, strict=True))  # plain numbers: they are few, and grouped one by one
    moves = []
    for group in _connected([cell for cell in cells if cell[-1]]):
        rows, others = sorted({cell[0] for cell in group}), sorted({cell[1] for cell in group})
        kind = _kind(len(rows), len(others), float(D[rows[0], others[0]]))
        clusters = tuple(sources[r] for r in rows), tuple(targets[c] for c in others)
        mass, cost = sum(cell[2] for cell in group), sum(cell[2] * cell[3] for cell in group)
        moves.append(Move(kind, *clusters, mass, cost))
    for row, column, mass, distance, major in cells:
        if mass > _ROUNDING and not major:
            clusters = (sources[row],), (targets[column],)
            moves.append(Move("spilled", *clusters, mass, mass * distance))
    return sorted(moves, key=lambda move: (move.kind == "spilled", -move.mass))


def _connected(cells: list[Cell]) -> list[list[Cell]]:
    """The cells of each connected part of a bipartite graph, in the order of their first rows."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            parent[node] = node = parent[parent[node]]
        return node

    for row, column, *_ in cells:
        parent[root(-1 - column)] = root(row)
    parts: dict[int, list[Cell]] = {}
    for cell in cells:
        parts.setdefault(root(cell[0]), []).append(cell)
    return list(parts.values())


def describe_moves(moves: list[Move]) -> list[str]:
    """Moves in words, small flows summed up."""
    lines = [str(move) for move in moves if move.kind != "spilled"]
    spilled = [move for move in moves if move.kind == "spilled"]
    if spilled:
        mass, cost = sum(m.mass for m in spilled), sum(m.cost for m in spilled)
        lines.append(
            f"{len(spilled)} small flows between others ({100 * mass:.1f} % of the mass, mean "
            f"distance {cost / mass:.3f})"
        )
    return lines


def witness_from_scores(plan: FloatArray, S: FloatArray, T: FloatArray) -> FloatArray:
    r"""The witness :math:`\sum_{ij} π_{ij} |S_{xi} - T_{xj}|` of every point.

    S (n, k) and T (n, k') are the scores ⟨φ(x), Φ̄(C)⟩ of the clusters on both sides.
    """
    i, j = np.nonzero(plan > _ROUNDING)
    differences = S.T[i]  # rows of contiguous numbers if S is a transpose
    differences -= T.T[j]
    return np.asarray(plan[i, j] @ np.abs(differences, out=differences))


def _kind(n_sources: int, n_targets: int, distance: float) -> str:
    if n_sources == n_targets == 1:
        return "stayed" if distance <= _STAYED else "moved"
    return "split" if n_sources == 1 else "merged" if n_targets == 1 else "rearranged"


def _position(part: Representation, name: Hashable | None) -> int:
    names = part.cluster_names
    if name not in names:
        raise ValueError(f"there is no cluster {name!r}; the clusters are {_listed(names)}")
    return names.index(name)


def _listed(names: tuple[Hashable, ...], most: int = 12) -> str:
    shown = [str(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
