"""What a comparison found, in numbers and in words: measures, plan, moves, witness."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from .._util.arrays import from_device
from .._util.extras import needs
from .._util.html import items, paragraph, table
from .._util.typing import FloatArray, Points
from ..partitions.partition import Partition
from ..representation.counts import Outline
from ..representation.passes import map_points
from ..representation.representation import Representation
from .measures.lifted import lift_transport
from .measures.registry import MEASURES

__all__ = [
    "Comparison",
    "Estimate",
    "Move",
    "explain",
    "find_moves",
    "summarise",
    "witness_of_scores",
]

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
        what = {
            "stayed": f"{sources} stayed as {targets}",
            "moved": f"{sources} moved to {targets}",
            "split": f"{sources} split into {targets}",
            "merged": f"{sources} merged into {targets}",
            "rearranged": f"{sources} rearranged into {targets}",
            "spilled": f"a little of {sources} went to {targets}",
        }[self.kind]
        mean = "" if self.kind in ("stayed", "moved") else "mean "
        share = f"{100 * self.mass:.1f} % of the mass"
        return f"{what} ({share}, {mean}distance {self.distance:.3f})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "sources": list(self.sources),
            "targets": list(self.targets),
            "mass": self.mass,
            "cost": self.cost,
            "distance": self.distance,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How two partitions differ; made by :func:`liftcluster.compare`.

    Attributes
    ----------
    values : mapping from measure to Estimate
    left_out : mapping from measure to the reason why it does not apply
    plan : (k, k') array or None
        The transport plan of LiftEMD; None without points.
    cluster_distances : (k, k') array or None
        ‖Φ̄(C) − Φ̄(C′)‖ of every two clusters.
    moves : list of Move
        The plan in words, heaviest first.
    representation : Representation or None
        Both partitions, lifted.
    partitions : pair of Partition
        Outlines of them, without points, where those came in blocks.
    """

    names: tuple[Hashable, Hashable]
    values: Mapping[str, Estimate]
    left_out: Mapping[str, str]
    partitions: tuple[Partition, Partition] | tuple[Outline, Outline]
    representation: Representation | None
    plan: FloatArray | None = None
    cluster_distances: FloatArray | None = None
    moves: list[Move] = field(default_factory=list)
    points: Points = None

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

        is positive where C is and C′ is not, negative the other way round. For the partitions as
        wholes, :math:`\sum_{ij} π_{ij} |f_{ij}(x)|` over the transport plan: near zero where
        nothing changed, large where mass came or went.

        Parameters
        ----------
        points : (n, d) array-like or source of blocks, optional
            Where to evaluate it; by default at the points that were compared (those of a), if
            they were in memory.
        cluster, other : names
        """
        rep = self.representation
        if rep is None or rep.lift is None or self.plan is None:
            raise ValueError("a witness needs the points: give compare the argument X")
        P, Q = rep[0], rep[1]
        where = self.points if points is None else points
        if (cluster is None) != (other is None):
            raise ValueError("give both cluster and other, or neither")
        if where is None:
            raise ValueError("the points came in blocks and were not kept: give witness the points")
        lift = rep.lift
        if cluster is not None:
            v = P.vectors[_position(P, cluster)] - Q.vectors[_position(Q, other)]
            return map_points(lambda X: from_device(lift.scores(X, v[None, :]))[:, 0], where)
        flows = np.argwhere(self.plan > _ROUNDING)
        V = P.vectors[flows[:, 0]] - Q.vectors[flows[:, 1]]
        mass = self.plan[flows[:, 0], flows[:, 1]]
        return map_points(lambda X: np.abs(from_device(lift.scores(X, V))) @ mass, where)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain Python values, fit for JSON if the cluster names are."""
        a, b = self.partitions
        lift = None if self.representation is None else self.representation.lift
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
            "lift": None if lift is None else lift.describe(),
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
        rows = {
            name: {
                "value": e.value,
                "error": e.error,
                "is_metric": MEASURES[name].is_metric,
                "title": MEASURES[name].title,
            }
            for name, e in self.values.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")

    def plot(self, ax: Any = None) -> Any:
        """The transport plan as a picture: see :func:`liftcluster.plot.plan`."""
        from ..viz.plot import plan as draw

        return draw(self, ax=ax)

    def __str__(self) -> str:
        a, b = self.partitions
        width = max((len(name) for name in self.values), default=0)
        lines = [f"{self.names[0]}: {a}", f"{self.names[1]}: {b}"]
        if self.representation is not None and self.representation.lift is not None:
            lines.append(f"lift: {self.representation.lift.describe()}")
        lines += [f"  {name:{width}}  {estimate}" for name, estimate in self.values.items()]
        return "\n".join([*lines, *self.summary()])

    def summary(self) -> list[str]:
        """The moves in words, small flows summed up."""
        return summarise(self.moves)

    def __repr__(self) -> str:
        first = next(iter(self.values.items()), None)
        shown = "no measure applies" if first is None else f"{first[0]} = {first[1]}"
        return f"Comparison({self.names[0]} and {self.names[1]}: {shown}, ...)"

    def _repr_html_(self) -> str:
        names = paragraph(f"{self.names[0]} and {self.names[1]}", strong=True)
        rows = [(name, e, MEASURES[name].title) for name, e in self.values.items()]
        lift = None if self.representation is None else self.representation.lift
        how = "" if lift is None else paragraph(f"lift: {lift.describe()}")
        return (
            names + table(("measure", "distance", "what it is"), rows) + items(self.summary()) + how
        )


def explain(
    names: tuple[Hashable, Hashable],
    values: Mapping[str, Estimate],
    left_out: Mapping[str, str],
    partitions: tuple[Partition, Partition] | tuple[Outline, Outline],
    rep: Representation | None,
    points: Points,
) -> Comparison:
    """A comparison with its plan and moves, where there are vectors to make them of."""
    if rep is None:
        return Comparison(names, values, left_out, partitions, None)
    plan = lift_transport(rep[0], rep[1]).plan
    D = cdist(rep[0].vectors, rep[1].vectors)
    moves = find_moves(plan, D, rep[0].cluster_names, rep[1].cluster_names)
    return Comparison(names, values, left_out, partitions, rep, plan, D, moves, points)


def find_moves(
    plan: FloatArray, D: FloatArray, sources: tuple[Hashable, ...], targets: tuple[Hashable, ...]
) -> list[Move]:
    """Group the flows of a plan: clusters joined by more than spill belong to one move."""
    k, k2 = plan.shape
    smaller = np.minimum.outer(plan.sum(axis=1), plan.sum(axis=0))
    major = plan >= _MINOR * np.maximum(smaller, np.finfo(float).tiny)
    ends = np.nonzero(major)
    edges = csr_array((np.ones(len(ends[0])), (ends[0], ends[1] + k)), shape=(k + k2, k + k2))
    groups = connected_components(edges, directed=False)[1]
    moves = []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups[:k] == group)
        columns = np.flatnonzero(groups[k:] == group)
        if len(rows) and len(columns):
            flows = np.where(major, plan, 0)[np.ix_(rows, columns)]
            block = D[np.ix_(rows, columns)]
            moves.append(_move(_kind(flows, block), flows, block, rows, columns, sources, targets))
    for i, j in np.argwhere((plan > _ROUNDING) & ~major):
        flow, cost = plan[i : i + 1, j : j + 1], D[i : i + 1, j : j + 1]
        moves.append(_move("spilled", flow, cost, [i], [j], sources, targets))
    return sorted(moves, key=lambda move: (move.kind == "spilled", -move.mass))


def summarise(moves: list[Move]) -> list[str]:
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


def witness_of_scores(plan: FloatArray, S: FloatArray, T: FloatArray) -> FloatArray:
    r"""The witness :math:`\sum_{ij} π_{ij} |S_{xi} - T_{xj}|` of every point.

    S (n, k) and T (n, k') are the scores ⟨φ(x), Φ̄(C)⟩ of the clusters on both sides. Where many
    pairs of partitions are wanted, scoring each cluster once is quicker than each pair of clusters.
    """
    total = np.zeros(len(S))
    for i, j in np.argwhere(plan > _ROUNDING):
        total += plan[i, j] * np.abs(S[:, i] - T[:, j])
    return total


def _kind(flows: FloatArray, D: FloatArray) -> str:
    rows, columns = flows.shape
    if rows == columns == 1:
        return "stayed" if D[0, 0] <= _STAYED else "moved"
    return "split" if rows == 1 else "merged" if columns == 1 else "rearranged"


def _move(
    kind: str, flows: Any, D: Any, rows: Any, columns: Any, sources: Any, targets: Any
) -> Move:
    return Move(
        kind,
        tuple(sources[i] for i in rows),
        tuple(targets[j] for j in columns),
        mass=float(flows.sum()),
        cost=float((flows * D).sum()),
    )


def _position(part: Representation, name: Hashable | None) -> int:
    try:
        return part.cluster_names.index(name)
    except ValueError:
        raise ValueError(
            f"there is no cluster {name!r}; the clusters are {_listed(part.cluster_names)}"
        ) from None


def _listed(names: tuple[Hashable, ...], most: int = 12) -> str:
    shown = [str(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
