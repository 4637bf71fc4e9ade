"""The results that a report shows, and the sentences at its top that summarise them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._util.typing import FloatArray, IntArray, Points
from ...comparison.comparison import Comparison, Move
from ...partitions.partition import Partition
from ..layout import View

if TYPE_CHECKING:
    from ...combination.result import Consensus
    from ...comparison.comparing import DistanceMatrix
    from .trust import Trust

_UNDECIDED = 0.5  # share of the inputs that agree, below which a point is undecided
_OUTLIER_FACTOR = 1.5  # an outlier has this many times the median of the mean distances
_ZERO = 1e-9  # distances and costs below are rounding errors
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ISOLATE = "\u2068{}\u2069"  # Unicode isolates: the text inside does not reorder the text around


@dataclass(frozen=True, eq=False)
class Results:
    """The results. Clusterings are numbered; the consensus, if there is one, is the last."""

    X: Points
    n_inputs: int
    n_clusters: int | Literal["auto"] | None  # of the consensus, as asked for
    lifting: Mapping[str, Any]  # kernel, bandwidth and lift, as asked for
    lift: Any  # of all clusterings
    view: View
    seed: int
    partitions: dict[str, Partition]
    pairs: dict[tuple[int, int], Comparison]
    matrices: dict[str, DistanceMatrix]
    consensus: Consensus | None
    shown: IntArray  # indices of the points in the plots, in random order
    witnesses: dict[tuple[int, int], FloatArray]  # at the first points of ``shown``
    trust: Trust | None
    notes: list[str]

    @property
    def is_random(self) -> bool:
        """Whether errors are standard errors of a random lift, and not deterministic bounds."""
        return self.lift.feature_groups() is not None


class Name(str):
    """A name from the data, which the page marks up."""


Sentence = tuple[str, ...]  # its parts


def summary_sentences(results: Results) -> list[Sentence]:
    """Sentences about the distances, the largest change, the consensus and the errors."""
    D = results.matrices["lift_emd"].values
    names = [Name(_short(name)) for name in results.partitions]
    m = results.n_inputs
    return [
        _subject(results),
        _closest_and_farthest(D[:m, :m], names),
        *_outlier(D[:m, :m], names),
        *_largest_change(results, names),
        *_consensus(results, D, names),
        *_trust(results),
        *_precision(results),
    ]


def moves_with_safe_names(moves: Iterable[Move]) -> list[Move]:
    """The moves with names that can stand in a sentence: short, right-to-left ones isolated."""
    return [
        replace(move, sources=isolated(move.sources), targets=isolated(move.targets))
        for move in moves
    ]


def main_change(moves: Iterable[Move]) -> str | None:
    """The description of the move with the highest cost; None if no cluster moved."""
    changes = [
        move for move in moves if move.kind not in ("stayed", "spilled") and move.cost > _ZERO
    ]
    if not changes:
        return None
    return str(moves_with_safe_names([max(changes, key=lambda move: move.cost)])[0])


def _subject(results: Results) -> Sentence:
    n, d = len(results.view.coordinates), np.shape(results.X)[1:2]
    features = f" with {d[0]:,} feature{'s' if d[0] != 1 else ''}" if d else ""
    points = f"{n:,} point{'s' if n != 1 else ''}"
    return (f"{results.n_inputs} clusterings of {points}{features}.",)


def _closest_and_farthest(D: FloatArray, names: list[Name]) -> Sentence:
    i, j = np.triu_indices(len(D), 1)
    distances = D[i, j]
    near, far = int(distances.argmin()), int(distances.argmax())
    zero = "where 0 means that they lie in the same places."
    if len(distances) == 1:
        return (names[0], " and ", names[1], f" are {distances[0]:.3f} apart by LiftEMD, {zero}")
    if distances[far] <= _ZERO:
        return ("All clusterings have the same clusters by LiftEMD: every distance is 0.",)
    closest = (names[i[near]], " and ", names[j[near]], f" ({distances[near]:.3f})")
    farthest = (names[i[far]], " and ", names[j[far]], f" ({distances[far]:.3f})")
    return ("Closest are ", *closest, ", farthest ", *farthest, f", by LiftEMD, {zero}")


def _outlier(D: FloatArray, names: list[Name]) -> list[Sentence]:
    if len(D) < 4:
        return []
    means = D.sum(axis=1) / (len(D) - 1)
    worst, typical = int(means.argmax()), float(np.median(means))
    if means[worst] < _OUTLIER_FACTOR * max(typical, _ZERO):
        return []
    factor = means[worst] / typical if typical > _ZERO else np.inf
    amount = f"{factor:.1f} times" if factor < 100 else "over 100 times"
    return [(names[worst], f" is an outlier: its mean distance is {amount} the median one.")]


def _largest_change(results: Results, names: list[Name]) -> list[Sentence]:
    """The move with the highest cost between the two inputs that are farthest apart."""
    inputs = {pair: c for pair, c in results.pairs.items() if max(pair) < results.n_inputs}
    (i, j), comparison = max(inputs.items(), key=lambda item: item[1]["lift_emd"].value)
    change = main_change(comparison.moves)
    if comparison["lift_emd"].value <= _ZERO:
        return [("From ", names[i], " to ", names[j], " no cluster moved.")]
    if change is None:
        return []
    return [("The largest change from ", names[i], " to ", names[j], f": {change}.")]


def _consensus(results: Results, D: FloatArray, names: list[Name]) -> list[Sentence]:
    consensus = results.consensus
    if consensus is None:
        return []
    undecided = float((consensus.confidence < _UNDECIDED).mean())
    overruled = len(consensus.overruled)
    against = f" All inputs put {overruled:,} of the points into another of its clusters."
    k = consensus.n_clusters
    chosen = " (chosen automatically)" if consensus.curve is not None else ""
    return [
        (
            f"Their consensus has {k} cluster{'s' if k != 1 else ''}{chosen}. It is ",
            *_nearest_and_farthest(D[-1, :-1], names),
            f"; {_percent(undecided)} of the points are undecided (fewer than half of the inputs "
            "agree with their cluster).",
            against if overruled else "",
        ),
        *_decision(consensus),
    ]


def _trust(results: Results) -> list[Sentence]:
    trust = results.trust
    if trust is None:
        return []
    verdicts = Counter(row["verdict"] for row in trust.found.rows())
    counts = [f"{verdicts[word]} {word}" for word in ("stable", "doubtful", "unstable")]
    counts[0] = counts[0].replace(" ", " is " if verdicts["stable"] == 1 else " are ")
    who = " (nearest to the others)" if trust.is_nearest else ""
    others = "other clusterings" if trust.found.n_replicates > 1 else "other clustering"
    return [
        (
            f"Of the {trust.found.reference.k} clusters of ",
            Name(_short(trust.reference)),
            f"{who}, {', '.join(counts[:2])} and {counts[2]}, by how far they are found again in "
            f"the {others}, above random regions.",
        )
    ]


def _decision(consensus: Consensus) -> list[Sentence]:
    if consensus.decision is None:
        return []
    return [(f"It was made by {consensus.method}, because {consensus.decision.reason}.",)]


def _nearest_and_farthest(distances: FloatArray, names: list[Name]) -> Sentence:
    near, far = int(distances.argmin()), int(distances.argmax())
    if distances[far] <= _ZERO:
        return ("the same as all of them by LiftEMD",)
    if distances[far] - distances[near] <= _ZERO:
        return (f"equally far from all of them ({distances[near]:.3f})",)
    nearest = ("nearest to ", names[near], f" ({distances[near]:.3f})")
    return (*nearest, " and farthest from ", names[far], f" ({distances[far]:.3f})")


def _precision(results: Results) -> list[Sentence]:
    errors = results.matrices["lift_emd"].errors
    known = errors[np.isfinite(errors)]
    if not known.size or known.max() == 0:
        return []
    if not results.is_random:
        return [(f"The absolute errors of these distances are at most {known.max():.1g}.",)]
    return [(f"These distances have standard errors of at most {known.max():.2g}.",)]


def _percent(share: float) -> str:
    """A share in whole per cent, but never 0 % of something.

    >>> _percent(0.0), _percent(0.001), _percent(0.126)
    ('0%', 'under 1%', '13%')
    """
    return "under 1%" if 0 < share < 0.005 else f"{share:.0%}"


def _short(name: Any, max_length: int = 40) -> str:
    """A name on one line, without direction marks.

    >>> _short("two\\nlines"), _short("a very long name", 10)
    ('two lines', 'a very lo…')
    """
    line = " ".join(_DIRECTION_MARKS.sub("", str(name)).split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def isolated(names: Iterable[Any]) -> tuple[str, ...]:
    """Short names on one line, right-to-left ones in Unicode isolates."""
    return tuple(_isolated(str(name)) for name in names)


@lru_cache(4096)  # the same names stand in many sentences
def _isolated(name: str) -> str:
    line = _short(name, 24)
    right_to_left = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in line)
    return _ISOLATE.format(line) if right_to_left else line
