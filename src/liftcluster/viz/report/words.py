"""What a report says first: a few sentences in plain words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._util.typing import FloatArray
from .findings import Findings
from .text import main_change, shown

__all__ = ["Name", "Sentence", "plain", "summary"]

_UNSURE = 0.2  # confidence below which a point is said to be undecided
_APART = 1.5  # times the typical mean distance, from which a clustering is said to be an outlier
_SAME = 1e-9


class Name(NamedTuple):
    """A name from the data, which a page must set apart from our own words."""

    text: str


Sentence = tuple["str | Name", ...]


def plain(sentence: Sentence) -> str:
    return "".join(part.text if isinstance(part, Name) else part for part in sentence)


def summary(found: Findings) -> list[Sentence]:
    """What is close, what is far, what the consensus agrees with, where the largest change is."""
    D = found.matrices["lift_emd"].values
    names = [Name(shown(name)) for name in found.partitions]
    m = len(found.asked.partitions)
    sentences = [_subject(found), _extremes(D[:m, :m], names)]
    sentences += _outlier(D[:m, :m], names)
    sentences += _largest_change(found, names)
    sentences += _consensus(found, D, names)
    sentences += _precision(found)
    return sentences


def _subject(found: Findings) -> Sentence:
    n = next(iter(found.partitions.values())).n
    d = np.shape(found.asked.X)[1:2]
    features = f" with {d[0]:,} feature{'s' if d[0] != 1 else ''}" if d else ""
    points = f"{n:,} point{'s' if n != 1 else ''}"
    return (f"{len(found.asked.partitions)} clusterings of {points}{features}.",)


def _extremes(D: FloatArray, names: list[Name]) -> Sentence:
    i, j = np.triu_indices(len(D), 1)
    distances = D[i, j]
    near, far = int(distances.argmin()), int(distances.argmax())
    zero = "where 0 means that they lie in the same places."
    if len(distances) == 1:
        return (names[0], " and ", names[1], f" are {distances[0]:.3f} apart by LiftEMD, {zero}")
    if distances[far] <= _SAME:
        return ("All of them put their clusters in the same places: every distance is 0.",)
    closest = (names[i[near]], " and ", names[j[near]], f" ({distances[near]:.3f})")
    farthest = (names[i[far]], " and ", names[j[far]], f" ({distances[far]:.3f})")
    return ("Closest are ", *closest, ", farthest ", *farthest, f", by LiftEMD, {zero}")


def _outlier(D: FloatArray, names: list[Name]) -> list[Sentence]:
    if len(D) < 4:
        return []
    means = D.sum(axis=1) / (len(D) - 1)
    worst, typical = int(means.argmax()), float(np.median(means))
    if means[worst] < _APART * max(typical, _SAME):
        return []
    times = means[worst] / typical if typical > _SAME else np.inf
    amount = f"{times:.1f} times as far" if times < 100 else "far"
    return [(names[worst], f" stands apart: {amount} from the others as is typical.")]


def _largest_change(found: Findings, names: list[Name]) -> list[Sentence]:
    """The costliest move between the two inputs that are farthest apart."""
    m = len(found.asked.partitions)
    inputs = {pair: c for pair, c in found.pairs.items() if max(pair) < m}
    (i, j), comparison = max(inputs.items(), key=lambda item: item[1]["lift_emd"].value)
    change = main_change(comparison.moves)
    if comparison["lift_emd"].value <= _SAME:
        return [("From ", names[i], " to ", names[j], " nothing changed places.")]
    if change is None:
        return []
    return [("The costliest change from ", names[i], " to ", names[j], f": {change}.")]


def _consensus(found: Findings, D: FloatArray, names: list[Name]) -> list[Sentence]:
    combined = found.consensus
    if combined is None:
        return []
    unsure = float((combined.confidence < _UNSURE).mean())
    k = combined.n_clusters
    chosen = ", a number it chose itself" if combined.curve is not None else ""
    return [
        (
            f"Their consensus has {k} cluster{'s' if k != 1 else ''}{chosen}. It is ",
            *_nearest_and_farthest(D[-1, :-1], names),
            f"; {unsure:.0%} of the points are undecided (confidence below {_UNSURE}).",
        )
    ]


def _nearest_and_farthest(distances: FloatArray, names: list[Name]) -> Sentence:
    near, far = int(distances.argmin()), int(distances.argmax())
    if distances[far] <= _SAME:
        return ("the same as all of them by LiftEMD",)
    if distances[far] - distances[near] <= _SAME:
        return (f"equally far from all of them ({distances[near]:.3f})",)
    nearest = ("nearest to ", names[near], f" ({distances[near]:.3f})")
    return (*nearest, " and farthest from ", names[far], f" ({distances[far]:.3f})")


def _precision(found: Findings) -> list[Sentence]:
    errors = found.matrices["lift_emd"].errors
    known = errors[np.isfinite(errors)]
    if not known.size or known.max() == 0:
        return []
    if not found.is_random:
        return [(f"These distances are off by {known.max():.1g} at most.",)]
    return [(f"These distances have standard errors of at most {known.max():.2g}.",)]
