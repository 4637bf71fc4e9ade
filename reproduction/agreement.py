"""Tables 3 and 4: means over seeds beside the paper's numbers, and what its sentences come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import printed
from .data import SETS
from .section import Claim, Values

__all__ = ["best_two", "check_table_3", "check_table_4", "summarise"]

Row = Mapping[str, float]  # a distance for each method
Rows = Mapping[str, Row]  # by data set

_LAST_DIGIT = 0.0005  # closer than this, printed numbers tie
NEAR = 0.02  # what the paper's "as close as", "similar" and "identical" are taken for


def summarise(results: Mapping[str, Any], group: str) -> dict[str, dict[str, Values]]:
    """Mean and spread over seeds: set → method → measure → [mean, standard deviation]."""
    runs: dict[str, list[Any]] = {}
    for name, found in results.items():
        runs.setdefault(name.split()[0], []).append(found[group])
    return {
        name: {
            method: {
                measure: [float(np.mean(values)), float(np.std(values))]
                for measure in many[0][method]
                if measure != "labels"
                for values in [[run[method][measure] for run in many]]
            }
            for method in many[0]
        }
        for name, many in runs.items()
    }


def means(table: Mapping[str, Mapping[str, Values]], measure: str) -> dict[str, dict[str, float]]:
    """The paper's five methods, by their means."""
    return {
        name: {m: methods[m][measure][0] for m in printed.METHODS_COMPARED if m in methods}
        for name, methods in table.items()
    }


def best_two(row: Row) -> list[str]:
    """The two methods with the smallest values, and any that tie with the second.

    Examples
    --------
    >>> best_two({"cspa": 0.3, "mcla": 0.1, "lift_km": 0.2, "lift_hac": 0.2})
    ['mcla', 'lift_km', 'lift_hac']
    """
    second = sorted(row.values())[:2][-1]
    chosen = [method for method, value in row.items() if value <= second + _LAST_DIGIT]
    return sorted(chosen, key=lambda method: row[method])


def check_table_3(rand: Rows, accuracy: Rows) -> list[Claim]:
    """Section 6.3 on the Rand distance; accuracy as it is, large where good."""
    errors = {name: {m: 1 - v for m, v in row.items()} for name, row in accuracy.items()}
    by_rand, by_accuracy = rows_with_ours(rand), rows_with_ours(errors)
    differ = [name for name in rand if (name in by_rand) != (name in by_accuracy)]
    return [
        among_best(rand, printed.TABLE_3),
        _as_close_as_the_best(rand),
        Claim(
            "The same holds by accuracy: “very similar results”",
            not differ,
            "a lifted method is among the best two in the same rows"
            if not differ
            else f"whether a lifted method is among the best two differs on {titles(differ)}",
        ),
        near_the_paper(rand),
    ]


def check_table_4(emd: Rows, narrow: Rows, rand: Rows) -> list[Claim]:
    """Section 6.3 on LiftEMD, at two bandwidths."""
    apart = [
        f"{SETS[name].title} by {measure} ({row['lift_km']:.3f} and {row['lift_hac']:.3f})"
        for measure, rows in {"Rand": rand, "LiftEMD": emd}.items()
        for name, row in rows.items()
        if abs(row["lift_km"] - row["lift_hac"]) > NEAR
    ]
    return [
        among_best(emd, printed.TABLE_4),
        _smaller_than_all(emd, "at the median distance as bandwidth"),
        _smaller_than_all(narrow, "at a quarter of it"),
        Claim(
            "LiftKm and LiftHAC are mostly identical (Iris under LiftEMD excepted)",
            not apart,
            f"they are within {NEAR} everywhere"
            if not apart
            else f"they are more than {NEAR} apart on {', '.join(apart)}",
        ),
    ]


def rows_with_ours(rows: Rows) -> list[str]:
    """Sets on which LiftKm or LiftHAC is among the best two of the five."""
    return [name for name, row in rows.items() if set(best_two(row)) & set(printed.LIFTED)]


def among_best(rows: Rows, paper: Rows) -> Claim:
    ours = rows_with_ours(rows)
    others = [name for name in rows if name not in ours]
    in_paper = rows_with_ours({name: paper[name] for name in rows})
    exceptions = [name for name in rows if name not in in_paper]
    words = [f"{SETS[n].title}: {', '.join(map(label, best_two(rows[n])))}" for n in rows]
    return Claim(
        "LiftKm or LiftHAC is among the best two of the five methods in each row"
        + (f" (in the paper's own table not on {titles(exceptions)})" if exceptions else ""),
        not others,
        ("in every row" if not others else f"not on {titles(others)}")
        + f". The best two here: {'; '.join(words)}",
    )


def near_the_paper(rand: Rows) -> Claim:
    """Not a sentence of the paper: whether we get at least what it got."""
    worse = [
        f"{label(m)} on {SETS[name].title} ({row[m]:.3f}, paper {printed.TABLE_3[name][m]:.3f})"
        for name, row in rand.items()
        for m in printed.LIFTED
        if row[m] > printed.TABLE_3[name][m] + NEAR
    ]
    better = sum(
        row[m] <= printed.TABLE_3[name][m] + _LAST_DIGIT
        for name, row in rand.items()
        for m in printed.LIFTED
    )
    return Claim(
        f"(Ours.) LiftKm and LiftHAC are within {NEAR} of the paper's Rand distances, or better",
        not worse,
        f"everywhere, and as good or better in {better} of {2 * len(rand)} cells"
        if not worse
        else "not " + ", ".join(worse),
    )


def _as_close_as_the_best(rand: Rows) -> Claim:
    behind = []
    for name, row in rand.items():
        ours, theirs = _best(row, printed.LIFTED), _best(row, printed.HYPERGRAPH)
        if row[ours] > row[theirs] + NEAR:
            behind.append(
                f"{SETS[name].title} ({label(ours)} {row[ours]:.3f}, "
                f"{label(theirs)} {row[theirs]:.3f})"
            )
    return Claim(
        "LiftKm and LiftHAC are “almost always as close as the best answer” of CSPA, HGPA, MCLA",
        not behind,
        f"the better of the two is never more than {NEAR} behind"
        if not behind
        else f"the better of the two is more than {NEAR} behind on {', '.join(behind)}",
    )


def _smaller_than_all(emd: Rows, where: str) -> Claim:
    not_so = []
    for name, row in emd.items():
        ours, theirs = _best(row, printed.LIFTED), _best(row, printed.HYPERGRAPH)
        if name != "ionosphere" and not row[ours] < row[theirs]:
            tied = ", which print alike" if row[ours] < row[theirs] + _LAST_DIGIT else ""
            not_so.append(
                f"{SETS[name].title} ({label(ours)} {row[ours]:.3f}, "
                f"{label(theirs)} {row[theirs]:.3f}{tied})"
            )
    paper = [
        name
        for name in emd
        if name != "ionosphere"
        and not printed.TABLE_4[name][_best(printed.TABLE_4[name], printed.LIFTED)]
        < printed.TABLE_4[name][_best(printed.TABLE_4[name], printed.HYPERGRAPH)]
    ]
    own = f" (in the paper's own table not on {titles(paper)})" if paper else ""
    return Claim(
        "By LiftEMD ours is nearer to the classes than CSPA, HGPA and MCLA in all cases but "
        f"Ionosphere{own}; {where}",
        not not_so,
        "so it is" if not not_so else f"not on {', '.join(not_so)}",
    )


def _best(row: Row, methods: tuple[str, ...]) -> str:
    return min((m for m in methods if m in row), key=lambda m: row[m])


def label(method: str) -> str:
    """What the paper calls a method."""
    return {"lift_km": "LiftKm", "lift_hac": "LiftHAC"}.get(method, method.upper())


def titles(names: list[str]) -> str:
    return ", ".join(SETS[name].title for name in names)
