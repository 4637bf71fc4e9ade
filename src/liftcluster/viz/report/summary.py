"""The results that a report shows, and the sentences at its top that summarise them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._util.typing import FloatArray, IntArray, Points
from ...comparison.comparison import Comparison
from ...comparison.moves import Move
from ...partitions.partition import Partition
from ..layout import View
from .similarity import similar_groups

if TYPE_CHECKING:
    from ...combination.result import Consensus
    from ...comparison.comparing import DistanceMatrix
    from ...comparison.drifting import Drift
    from .columns import PointTable
    from .profiles import Profiles
    from .trust import Trust

_UNDECIDED = 0.5  # share of the inputs that agree, below which a point is undecided
_MAX_GROUPS = 5  # of like clusterings, in a sentence
_ZERO = 1e-9  # distances and costs below are rounding errors
_UNLIKELY = 0.05  # p-value up to which two samples differ
# In words, up to these mean distances. Labels: 1 - adjusted Rand index, whose values from 0.9 and
# 0.65 are called excellent and moderate (Steinley 2004, doi:10.1037/1082-989X.9.3.386). Places:
# clusters nearer than 0.25 are in the same place.
_BY_LABELS = (
    (0.1, "agree almost entirely"),
    (0.35, "agree largely"),
    (0.7, "agree in part"),
    (np.inf, "hardly agree"),
)
_BY_PLACE = tuple(zip((0.05, 0.125, 0.25, np.inf), (w for _, w in _BY_LABELS), strict=True))
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
    trust: Trust | None
    drift: Drift | None  # of two samples, each of which is in no cluster of the other's clustering
    run: Sequence[tuple[str, str]]  # what was run: names and values
    table: PointTable
    profiles: Profiles
    notes: list[str]

    @property
    def is_random(self) -> bool:
        """Whether errors are standard errors of a random lift, and not deterministic bounds."""
        return self.lift.feature_groups() is not None


class Name(str):
    """A name from the data, which the page marks up."""


Sentence = tuple[str, ...]  # its parts


def summary_sentences(results: Results) -> list[Sentence]:
    """A few sentences in plain words: agreement, groups, the largest change, consensus, trust."""
    D = results.matrices["lift_emd"].values
    names = [Name(_short(name)) for name in results.partitions]
    m = results.n_inputs
    if results.drift is not None:
        return [_samples(results.drift, names), *_largest_change(results, names)]
    return [
        _agreement(results, D[:m, :m]),
        *_alike(D[:m, :m], names[:m]),
        *_largest_change(results, names),
        *_consensus(results, D, names),
        *_trust(results),
    ]


def _agreement(results: Results, D: FloatArray) -> Sentence:
    """How many clusterings of what, and whether they agree: in a word, by labels and by place."""
    n, d, m = len(results.view.coordinates), np.shape(results.X)[1:2], len(D)
    features = f" with {d[0]:,} feature{'s' if d[0] != 1 else ''}" if d else ""
    subject = f"{m} clusterings of {n:,} point{'s' if n != 1 else ''}{features}"
    distance = _mean_of_pairs(D)
    adjusted, outside = (_label_distance(results, name) for name in ("adjusted_rand", "accuracy"))
    if D.max() <= _ZERO and (adjusted is None or adjusted <= _ZERO):
        return (f"{subject} are all the same: every distance is 0.",)
    word = _word(_BY_PLACE, distance) if adjusted is None else _word(_BY_LABELS, adjusted)
    apart = f"{distance:.3f} apart by LiftEMD, where 0 means in the same places"
    average = "on average, " if m > 2 else ""
    who = "two of them" if m > 2 else "they"
    if outside is None:
        return (f"{subject} {word} ({average}{who} are {apart}).",)
    share = f"{_percent(1 - outside)} of the {_what_is_shared(results)}"
    return (f"{subject} {word}: {average}{who} put {share} into matching clusters ({apart}).",)


def _samples(drift: Drift, names: list[Name]) -> Sentence:
    """Whether two samples differ more than random splits of both together do."""
    name = "lift_emd" if "lift_emd" in drift.values else next(iter(drift.values))
    by = "LiftEMD" if name == "lift_emd" else name
    verb = "differ" if drift.p_value <= _UNLIKELY else "do not differ"
    return (
        names[0],
        f" ({drift.a.n:,} points) and ",
        names[1],
        f" ({drift.b.n:,} points) {verb} more than sampling noise explains "
        f"(p = {drift.p_value:.2g}): their clusters are {drift.values[name]:.3f} apart by {by}, "
        f"those of random splits of all points {drift.null[name].mean():.3f} on average.",
    )


def _label_distance(results: Results, name: str) -> float | None:
    """The mean distance of the inputs by a measure of labels; None if it was not computed."""
    m = results.n_inputs
    if name not in results.matrices:
        return None
    found = _mean_of_pairs(results.matrices[name].values[:m, :m])
    return found if np.isfinite(found) else None


def _mean_of_pairs(D: FloatArray) -> float:
    return float(D[np.triu_indices(len(D), 1)].mean())


def _word(words: Iterable[tuple[float, str]], distance: float) -> str:
    return next(word for largest, word in words if distance <= largest)


def _what_is_shared(results: Results) -> str:
    weights = next(iter(results.partitions.values())).weights
    return "points" if np.ptp(weights) == 0 else "weight of the points"


def _alike(D: FloatArray, names: list[Name]) -> list[Sentence]:
    """Groups of like clusterings if there are few, else the two that are nearest."""
    m = len(D)
    if m < 3 or D.max() <= _ZERO:
        return []
    groups = similar_groups(D)
    several = [group for group in groups if len(group) > 1]
    alone = [int(group[0]) for group in groups if len(group) == 1]
    if m < 4 or len(groups) > _MAX_GROUPS or not several:
        i, j = np.triu_indices(m, 1)
        near = int(D[i, j].argmin())
        return [
            ("Most alike are ", names[i[near]], " and ", names[j[near]], f" ({D[i, j].min():.3f}).")
        ]
    parts: list[str] = []
    for number, group in enumerate(several):
        within = D[np.ix_(group, group)].max()
        listed = _listed([names[i] for i in group])
        parts += ["; " if number else "", *listed, f" (at most {within:.3f} apart)"]
    intro = f"They fall into {len(several)} groups of like clusterings: "
    stand = " stands" if len(alone) == 1 else " stand"
    rest = ["; ", *_listed([names[i] for i in alone]), f"{stand} apart"] if alone else []
    return [(intro if len(several) > 1 else "Alike are ", *parts, *rest, ".")]


def _largest_change(results: Results, names: list[Name]) -> list[Sentence]:
    """The move with the highest cost between the two inputs that are farthest apart."""
    inputs = {pair: c for pair, c in results.pairs.items() if max(pair) < results.n_inputs}
    # Rounded: the first of equal pairs, on any processor.
    (i, j), comparison = max(inputs.items(), key=lambda item: round(item[1]["lift_emd"].value, 9))
    distance = comparison["lift_emd"].value
    if distance <= _ZERO:
        return [("From ", names[i], " to ", names[j], " no cluster moved.")]
    change = main_move(comparison.moves)
    what = "all clusters stay near their places" if change is None else _in_plain_words(change)
    share = (
        "" if change is None else f" ({_percent(change.mass)} of the {_what_is_shared(results)})"
    )
    if results.n_inputs == 2:
        return [("The largest change from ", names[i], " to ", names[j], f": {what}{share}.")]
    pair = (names[i], " and ", names[j], f" ({distance:.3f})")
    return [("Farthest apart are ", *pair, f"; from the first to the second, {what}{share}.")]


def main_move(moves: Iterable[Move]) -> Move | None:
    """The move with the highest cost; None if no cluster moved."""
    changes = [m for m in moves if m.kind not in ("stayed", "spilled") and m.cost > _ZERO]
    return max(changes, key=lambda move: move.cost) if changes else None


def _in_plain_words(move: Move) -> str:
    """A move as a clause.

    >>> _in_plain_words(Move("split", ("a",), ("b", "c"), 0.5, 0.1))
    'cluster a is split into b and c'
    >>> _in_plain_words(Move("merged", ("a", "b", "c", "d"), ("e",), 0.5, 0.1))
    'clusters a, b, c and d are merged into e'
    """
    sources, targets = ("".join(_listed(isolated(names))) for names in (move.sources, move.targets))
    verb = {"moved": "moved to", "split": "split into", "merged": "merged into"}
    several = len(move.sources) > 1
    subject = f"cluster{'s' if several else ''} {sources} {'are' if several else 'is'}"
    return f"{subject} {verb.get(move.kind, 'divided anew into')} {targets}"


def _listed(names: Sequence[str], most: int = 4) -> list[str]:
    """Some names and how many more, as parts of a sentence.

    >>> "".join(_listed("abcdefg"))
    'a, b, c and 4 others'
    """
    shown = list(names) if len(names) <= most else list(names[: most - 1])
    if len(shown) < len(names):
        shown.append(f"{len(names) - len(shown)} others")
    between = [", "] * (len(shown) - 2) + [" and "] * (len(shown) > 1)
    return [part for pair in zip(shown, [*between, ""], strict=True) for part in pair if part]


def _consensus(results: Results, D: FloatArray, names: list[Name]) -> list[Sentence]:
    consensus = results.consensus
    if consensus is None:
        return []
    k, decided = consensus.n_clusters, float((consensus.confidence >= _UNDECIDED).mean())
    chosen = " (chosen automatically)" if consensus.curve is not None else ""
    overruled = len(consensus.overruled)
    against = f"; all of them put {overruled:,} of the points into another of its clusters"
    return [
        (
            f"Their consensus has {k} cluster{'s' if k != 1 else ''}{chosen} and is ",
            *_nearest(D[-1, :-1], names),
            f": at least half of the clusterings agree with it on {_percent(decided)} of the points"
            f"{against if overruled else ''}.",
        )
    ]


def _nearest(distances: FloatArray, names: list[Name]) -> Sentence:
    near, far = int(distances.argmin()), int(distances.argmax())
    if distances[far] <= _ZERO:
        return ("the same as all of them",)
    if distances[far] - distances[near] <= _ZERO:
        return (f"equally far from all of them ({distances[near]:.3f})",)
    if distances[near] <= _ZERO:
        return ("the same as ", names[near])
    return ("nearest to ", names[near], f" ({distances[near]:.3f})")


def _trust(results: Results) -> list[Sentence]:
    trust = results.trust
    if trust is None:
        return []
    verdicts = Counter(row["verdict"] for row in trust.found.rows())
    counts = [f"{verdicts[word]} {word}" for word in ("stable", "doubtful", "unstable")]
    counts[0] = counts[0].replace(" ", " is " if verdicts["stable"] == 1 else " are ")
    who = " (nearest to the others)" if trust.is_nearest else ""
    several = trust.found.n_replicates > 1
    others = "other clusterings find" if several else "other clustering finds"
    return [
        (
            f"Of the {trust.found.reference.k} clusters of ",
            Name(_short(trust.reference)),
            f"{who}, {', '.join(counts[:2])} and {counts[2]}, by whether the {others} them again.",
        )
    ]


def _percent(share: float) -> str:
    """A share in whole per cent, but never 0 % of something or 100 % of less than all.

    >>> _percent(0.0), _percent(0.001), _percent(0.126), _percent(0.999)
    ('0%', 'under 1%', '13%', 'over 99%')
    """
    if 0.995 <= share < 1 - _ZERO:
        return "over 99%"
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
    return tuple(_isolated(_short(name, 24)) for name in names)


def _isolated(line: str) -> str:
    right_to_left = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in line)
    return _ISOLATE.format(line) if right_to_left else line
