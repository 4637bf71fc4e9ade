"""What became of clusters: the flows of a transport plan, grouped and in words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.typing import FloatArray

Cell = tuple[int, int, float, float, bool]  # of a plan: row, column, flow, distance, whether major

ROUNDING = 1e-12  # a flow below this is the solver's arithmetic
_MINOR = 0.2  # a flow below this share of the smaller of its two clusters is spill
_STAYED = 0.25  # unit vectors nearer than this are the same place


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
        sources, targets = listed(self.sources), listed(self.targets)
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
        if mass > ROUNDING and not major:
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


def _kind(n_sources: int, n_targets: int, distance: float) -> str:
    if n_sources == n_targets == 1:
        return "stayed" if distance <= _STAYED else "moved"
    return "split" if n_sources == 1 else "merged" if n_targets == 1 else "rearranged"


def listed(names: tuple[Hashable, ...], most: int = 12) -> str:
    shown = [str(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
