"""Claims about tables 3 and 4, checked on means over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import published
from .data import SETS
from .section import Claim, Values

__all__ = ["best_two", "check_table_3", "check_table_4", "means", "method_title", "summarise"]

Row = Mapping[str, float]  # method → distance
Rows = Mapping[str, Row]  # data set → row

_TIE = 0.0005  # equal in the three digits that the paper prints
TOLERANCE = 0.02  # for "as close as", "similar" and "identical" in the paper


def summarise(results: Mapping[str, Any], group: str) -> dict[str, dict[str, Values]]:
    """Set → method → measure → [mean, standard deviation] over seeds."""
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
    """Means of the paper's five methods: set → method → mean."""
    return {
        name: {m: methods[m][measure][0] for m in published.METHODS_COMPARED if m in methods}
        for name, methods in table.items()
    }


def best_two(row: Row) -> list[str]:
    """The two methods with the smallest values, and all that tie with the second.

    Examples
    --------
    >>> best_two({"cspa": 0.3, "mcla": 0.1, "lift_km": 0.2, "lift_hac": 0.2})
    ['mcla', 'lift_km', 'lift_hac']
    """
    second = sorted(row.values())[:2][-1]
    chosen = [method for method, value in row.items() if value <= second + _TIE]
    return sorted(chosen, key=lambda method: row[method])


def check_table_3(rand: Rows, accuracy: Rows) -> list[Claim]:
    """Claims of section 6.3 about the Rand distance, and about accuracy (larger is better)."""
    errors = {name: {m: 1 - v for m, v in row.items()} for name, row in accuracy.items()}
    by_rand, by_accuracy = _with_lifted_best(rand), _with_lifted_best(errors)
    return [
        _among_best(rand, published.TABLE_3),
        _as_close_as_the_best(rand),
        Claim.unless(
            [SETS[name].title for name in rand if (name in by_rand) != (name in by_accuracy)],
            "The same holds for accuracy: “very similar results”",
            "a lifted method is among the best two in the same rows",
            "whether a lifted method is among the best two differs on",
        ),
        _close_to_the_paper(rand),
    ]


def check_table_4(emd: Rows, narrow: Rows, rand: Rows) -> list[Claim]:
    """Claims of section 6.3 about LiftEMD, at two bandwidths."""
    apart = [
        f"{SETS[name].title} by {measure} ({row['lift_km']:.3f} and {row['lift_hac']:.3f})"
        for measure, rows in {"Rand": rand, "LiftEMD": emd}.items()
        for name, row in rows.items()
        if abs(row["lift_km"] - row["lift_hac"]) > TOLERANCE
    ]
    return [
        _among_best(emd, published.TABLE_4),
        _closest_to_classes(emd, "with the median distance as bandwidth"),
        _closest_to_classes(narrow, "with a quarter of it"),
        Claim.unless(
            apart,
            "LiftKm and LiftHAC are mostly identical (except on Iris by LiftEMD)",
            f"they differ by at most {TOLERANCE} everywhere",
            f"they differ by more than {TOLERANCE} on",
        ),
    ]


def _with_lifted_best(rows: Rows) -> list[str]:
    """Data sets on which LiftKm or LiftHAC is among the best two of the five methods."""
    return [name for name, row in rows.items() if set(best_two(row)) & set(published.LIFTED)]


def _among_best(rows: Rows, paper: Rows) -> Claim:
    ours = _with_lifted_best(rows)
    others = [SETS[name].title for name in rows if name not in ours]
    best = [f"{SETS[n].title}: {', '.join(map(method_title, best_two(rows[n])))}" for n in rows]
    in_paper = _with_lifted_best({name: paper[name] for name in rows})
    exceptions = [SETS[name].title for name in rows if name not in in_paper]
    return Claim(
        "LiftKm or LiftHAC is among the best two of the five methods in each row"
        + _not_in_paper(exceptions),
        not others,
        (f"not on {', '.join(others)}" if others else "in every row")
        + f". Best two here: {'; '.join(best)}",
    )


def _close_to_the_paper(rand: Rows) -> Claim:
    """A claim of ours: the results are as good as the paper's."""
    pairs = {
        f"{method_title(m)} on {SETS[name].title}": (row[m], published.TABLE_3[name][m])
        for name, row in rand.items()
        for m in published.LIFTED
    }
    better = sum(here <= paper + _TIE for here, paper in pairs.values())
    return Claim.unless(
        [
            f"{cell} ({here:.3f}, paper {paper:.3f})"
            for cell, (here, paper) in pairs.items()
            if here > paper + TOLERANCE
        ],
        f"(Ours.) LiftKm and LiftHAC are within {TOLERANCE} of the paper's Rand distances, or "
        "better",
        f"everywhere, and as good or better in {better} of {len(pairs)} cells",
        "not",
    )


def _as_close_as_the_best(rand: Rows) -> Claim:
    return Claim.unless(
        [_name_both(name, row) for name, row in rand.items() if _gap(row) > TOLERANCE],
        "LiftKm and LiftHAC are “almost always as close as the best answer” of CSPA, HGPA, MCLA",
        f"the better of the two is never more than {TOLERANCE} worse",
        f"the better of the two is more than {TOLERANCE} worse on",
    )


def _closest_to_classes(emd: Rows, bandwidth: str) -> Claim:
    rows = {name: row for name, row in emd.items() if name != "ionosphere"}
    in_paper = [SETS[name].title for name in rows if _gap(published.TABLE_4[name]) >= 0]
    return Claim.unless(
        [_name_both(name, row) for name, row in rows.items() if _gap(row) >= 0],
        "By LiftEMD, LiftKm or LiftHAC is closer to the classes than CSPA, HGPA and MCLA on all "
        f"sets but Ionosphere{_not_in_paper(in_paper)}; {bandwidth}",
        "on all of them",
        "not on",
    )


def _gap(row: Row) -> float:
    """How much worse the best lifted method is than the best hypergraph method."""
    return row[_best(row, published.LIFTED)] - row[_best(row, published.HYPERGRAPH)]


def _best(row: Row, methods: tuple[str, ...]) -> str:
    return min((m for m in methods if m in row), key=lambda m: row[m])


def _name_both(name: str, row: Row) -> str:
    """A data set with its best lifted and its best hypergraph method."""
    best = [_best(row, methods) for methods in (published.LIFTED, published.HYPERGRAPH)]
    values = ", ".join(f"{method_title(m)} {row[m]:.3f}" for m in best)
    equal = ", equal to three digits" if 0 <= _gap(row) < _TIE else ""
    return f"{SETS[name].title} ({values}{equal})"


def _not_in_paper(exceptions: list[str]) -> str:
    return f" (in the paper's own table not on {', '.join(exceptions)})" if exceptions else ""


def method_title(method: str) -> str:
    """The paper's name of a method."""
    return {"lift_km": "LiftKm", "lift_hac": "LiftHAC"}.get(method, method.upper())
