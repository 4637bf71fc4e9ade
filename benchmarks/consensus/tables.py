"""Markdown tables of the scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .ensembles import ENSEMBLES
from .measuring import METHOD_ROWS, label_only
from .references import INPUTS, POINTS_ONLY
from .results import Record, score_array
from .sets import FAMILIES, HALVES
from .statistics import GROUPS, compare, family_means, group_means, mean_ranks, nemenyi

__all__ = [
    "comparison_table",
    "family_table",
    "mean_table",
    "points_table",
    "rank_table",
    "set_table",
    "title",
]

Records = dict[str, Record]
_KINDS = tuple(ENSEMBLES)


def mean_table(records: Records, rows: Sequence[str]) -> str:
    """Mean adjusted Rand index by kind of inputs and by group, and mean NMI; best rows first."""
    scores = score_array(records, rows, _KINDS)
    groups = {group: values.mean(axis=1) for group, values in group_means(scores, _KINDS).items()}
    nmi = score_array(records, rows, _KINDS, index=1).mean(axis=(1, 2))
    columns = np.column_stack([scores.mean(axis=1), *groups.values(), nmi])
    order = np.argsort(-groups["all six"], kind="stable")
    lines = [[title(rows[i]), *_digits(columns[i])] for i in order]
    return _markdown(["method", *_KINDS, *(f"mean: {group}" for group in GROUPS), "NMI"], lines)


def rank_table(records: Records, rows: Sequence[str]) -> str:
    """Mean ranks by group, and the critical difference; inputs have no rank, as no methods."""
    ranked = [row for row in rows if row not in INPUTS]
    groups = group_means(score_array(records, ranked, _KINDS), _KINDS)
    ranks = {group: mean_ranks(scores) for group, scores in groups.items()}
    order = np.argsort(ranks["all six"], kind="stable")
    lines = [[title(ranked[i]), *(f"{r[i]:.1f}" for r in ranks.values())] for i in order]
    table = _markdown(["method", *GROUPS], lines)
    return f"{table}\n\n{_critical_difference(len(ranked), len(records))}"


def _critical_difference(k: int, n: int) -> str:
    if k < 2:
        return f"{k} row, {n} data sets."
    return (
        f"{k} rows, {n} data sets: mean ranks that differ by less than {nemenyi(k, n):.2f} do not "
        "differ significantly (Nemenyi's test at 5 %)."
    )


def comparison_table(records: Records, rows: Sequence[str], name: str) -> str:
    """Sets on which a row is better than each other one, as good, or worse; and p-values."""
    scores = group_means(score_array(records, rows, _KINDS), _KINDS)["all six"]
    found = sorted(compare(scores, rows, name), key=lambda each: -each.difference)
    lines = [
        [title(c.other), *map(str, (c.wins, c.ties, c.losses)), f"{c.difference:+z.3f}", _p(c.p)]
        for c in found
    ]
    return _markdown([f"{title(name)} against", "wins", "ties", "losses", "difference", "p"], lines)


def family_table(records: Records, rows: Sequence[str]) -> str:
    """Mean adjusted Rand index over all six kinds of inputs, by family of data sets."""
    scores = group_means(score_array(records, rows, _KINDS), _KINDS)["all six"]
    return _by_family(records, rows, scores)


def points_table(records: Records, rows: Sequence[str]) -> str:
    """Clustering without given partitions: mean index by half and family, over all, and ranks."""
    scores = score_array(records, rows, ("points",))[:, :, 0]
    halves = np.array([record["half"] for record in records.values()])
    columns = {half: scores[:, halves == half] for half in HALVES if half in halves}
    means = {half: values.mean(axis=1) for half, values in columns.items()}
    table = _by_family(records, rows, scores, means, mean_ranks(scores))
    return f"{table}\n\n{_critical_difference(len(rows), len(records))}"


def _by_family(
    records: Records,
    rows: Sequence[str],
    scores: np.ndarray,
    more: dict[str, np.ndarray] | None = None,
    ranks: np.ndarray | None = None,
) -> str:
    """Means of scores (rows, sets) over each family and all sets, after other columns of means."""
    families = [record["family"] for record in records.values()]
    means = family_means(scores, families)
    columns = dict(more or {})
    for family in FAMILIES:
        if family in means:
            columns[f"{family} ({families.count(family)} sets)"] = means[family]
    columns[f"all ({len(families)} sets)"] = overall = scores.mean(axis=1)
    lines = [
        [title(rows[i]), *_digits([values[i] for values in columns.values()])]
        + ([] if ranks is None else [f"{ranks[i]:.1f}"])
        for i in np.argsort(-overall, kind="stable")
    ]
    return _markdown(["method", *columns] + ([] if ranks is None else ["mean rank"]), lines)


def set_table(records: Records, rows: Sequence[str], name: str) -> str:
    """Size of each data set, and the index of a row, the best reference and label-only method."""
    scores = score_array(records, rows, _KINDS).mean(axis=2)
    references = [i for i, row in enumerate(rows) if row in POINTS_ONLY]
    by_labels = [i for i, row in enumerate(rows) if label_only(row)]
    own = list(rows).index(name)
    lines = []
    for number, (key, record) in enumerate(records.items()):
        about = [str(record[field]) for field in ("n", "d", "k", "family", "half")]
        best = [_best(scores[:, number], rows, among) for among in (references, by_labels)]
        lines.append([key, *about, f"{scores[own, number]:.3f}", *best])
    heads = ["data set", "n", "d", "k", "family", "half"]
    heads += [title(name), "best reference", "best label-only method"]
    return _markdown(heads, lines, words=("data set", "family", "half"))


def _best(scores: np.ndarray, rows: Sequence[str], among: list[int]) -> str:
    if not among:
        return "–"
    best = max(among, key=lambda i: scores[i])
    return f"{scores[best]:.3f} ({title(rows[best])})"


def title(row: str) -> str:
    """A method as code, its variant after a comma; anything else as it is.

    >>> title("Ward")
    'Ward'
    """
    if row not in METHOD_ROWS:
        return row
    method, comma, variant = row.partition(", ")
    return f"`{method}`{comma}{variant}"


def _digits(values: Iterable[float]) -> list[str]:
    return [f"{value:z.3f}" for value in values]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _markdown(heads: list[str], lines: list[list[str]], words: Sequence[str] = ()) -> str:
    """A table whose first column and columns of words are aligned to the left."""
    rule = ["---" if i == 0 or head in words else "--:" for i, head in enumerate(heads)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rule, *lines])
