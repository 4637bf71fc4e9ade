"""Everything a report is about, found once: distances, plans, consensus, places."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._util.arrays import from_device
from ..._util.typing import FloatArray, IntArray, Points
from ...combination.combining import Consensus, consensus
from ...comparison.comparing import compare_all, distance_matrix
from ...comparison.comparison import Comparison, witness_of_scores
from ...comparison.measures.registry import MEASURES
from ...lifts.base import take_rows
from ...partitions.partition import Partition
from ...representation.representation import Representation
from ..layout import View

__all__ = ["Asked", "Findings", "Matrix", "find"]

MOST_POINTS = 200_000  # beyond which a sample is shown
MOST_WITNESSES = 20_000_000  # one byte for each pair of clusterings and point
_BLOCK = 20_000  # points scored at a time


@dataclass(frozen=True, eq=False)
class Asked:
    """What a report was asked for."""

    partitions: Mapping[str, Partition]
    X: Points
    measures: list[str] | None
    consensus: int | str | None
    method: str
    lifting: Mapping[str, Any]  # kernel, bandwidth, lift, n_components
    view: View
    seed: int


@dataclass(frozen=True, eq=False)
class Matrix:
    """One measure between all clusterings; NaN where it does not apply or has no known error."""

    values: FloatArray  # (m, m)
    errors: FloatArray  # (m, m)


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found. Clusterings are numbered; the consensus, if there is one, is the last."""

    asked: Asked
    partitions: dict[str, Partition]
    pairs: dict[tuple[int, int], Comparison]
    matrices: dict[str, Matrix]
    consensus: Consensus | None
    shown: IntArray  # the points in the pictures, in random order
    witnesses: dict[tuple[int, int], FloatArray]  # of the first of those
    notes: list[str] = field(default_factory=list)

    @property
    def representation(self) -> Representation:
        """Of the first two clusterings; its lift is that of all."""
        found = self.pairs[0, 1].representation
        assert found is not None
        return found

    @property
    def is_random(self) -> bool:
        """Whether errors are standard errors; where nothing is random they are sure bounds."""
        lift = self.representation.lift
        return lift is not None and lift.feature_groups() is not None


def find(asked: Asked) -> Findings:
    """Compare all clusterings and their consensus, and look where they differ."""
    notes: list[str] = []
    partitions = dict(asked.partitions)
    n = next(iter(partitions.values())).n
    with _noting(notes):
        combined = _combine(asked)
        if combined is not None:
            partitions[free_name("consensus", partitions)] = combined.partition
        compared = compare_all(
            partitions,
            asked.X,
            measures=asked.measures,
            rng=asked.seed,
            **asked.lifting,
        )
    number = {name: i for i, name in enumerate(partitions)}
    pairs = {(number[str(a)], number[str(b)]): found for (a, b), found in compared.items()}
    shown = np.random.default_rng(asked.seed).permutation(n)[:MOST_POINTS]
    return Findings(
        asked=asked,
        partitions=partitions,
        pairs=pairs,
        matrices=_matrices(pairs, partitions, asked.X),
        consensus=combined,
        shown=shown,
        witnesses=_witnesses(pairs, shown[: max(1, MOST_WITNESSES // len(pairs))]),
        notes=notes,
    )


def free_name(wanted: str, taken: Mapping[str, Any]) -> str:
    """The name, or the name with the first number that makes it a new one."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


def _combine(asked: Asked) -> Consensus | None:
    if asked.consensus is None:
        return None
    lifting = dict(asked.lifting)
    if isinstance(lifting["bandwidth"], str) and lifting["bandwidth"] == "median":
        lifting["bandwidth"] = "auto"  # what is best for telling points apart is finer
    found = consensus(
        asked.partitions,
        asked.consensus,
        asked.X,
        method=asked.method,
        rng=asked.seed,
        **lifting,
    )
    assert isinstance(found, Consensus)  # a page wants points in memory
    return found


def _matrices(
    pairs: Mapping[tuple[int, int], Comparison], partitions: dict[str, Partition], X: Points
) -> dict[str, Matrix]:
    """Values and errors of every measure that applies to some pair."""
    m = len(partitions)
    found: dict[str, Matrix] = {}
    for name in [name for name in MEASURES if any(name in c.values for c in pairs.values())]:
        values, errors = np.full((m, m), np.nan), np.full((m, m), np.nan)
        np.fill_diagonal(values, 0.0)
        for (i, j), comparison in pairs.items():
            if name in comparison.values:
                estimate = comparison[name]
                values[i, j] = values[j, i] = estimate.value
                errors[i, j] = errors[j, i] = np.nan if estimate.error is None else estimate.error
        if not MEASURES[name].is_symmetric and not np.isnan(values).any():
            values = distance_matrix(partitions, X, measure=name)
        found[name] = Matrix(values, errors)
    return found


def _witnesses(
    pairs: Mapping[tuple[int, int], Comparison], chosen: IntArray
) -> dict[tuple[int, int], FloatArray]:
    """Where each two clusterings differ, at some of the points; every cluster is scored once."""
    found = {pair: np.zeros(len(chosen)) for pair in pairs}
    sides = _sides(pairs)
    lift, points = sides[0].lift, pairs[0, 1].points
    assert lift is not None
    V = np.vstack([sides[i].vectors for i in range(len(sides))])
    edges = np.cumsum([sides[i].s for i in range(len(sides) - 1)])
    for start in range(0, len(chosen), _BLOCK):
        block = slice(start, start + _BLOCK)
        scores = np.split(
            from_device(lift.scores(take_rows(points, chosen[block]), V)), edges, axis=1
        )
        for (i, j), comparison in pairs.items():
            assert comparison.plan is not None
            found[i, j][block] = witness_of_scores(comparison.plan, scores[i], scores[j])
    return found


def _sides(pairs: Mapping[tuple[int, int], Comparison]) -> dict[int, Representation]:
    """Each clustering, lifted."""
    found: dict[int, Representation] = {}
    for (i, j), comparison in pairs.items():
        assert comparison.representation is not None
        found[i], found[j] = comparison.representation[0], comparison.representation[1]
    return found


@contextmanager
def _noting(notes: list[str]) -> Iterator[None]:
    """Keep what is warned of for the page, and let it through."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notes.append(str(warning.message))
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=5)
