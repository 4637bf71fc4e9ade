"""Tables 3 and 4 as they are shown: ours beside the paper's, and what the inputs are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liftcluster.combination.methods.registry import METHODS

from . import printed
from .agreement import best_two, check_table_3, check_table_4, label, means, summarise
from .combining import INPUTS, consensus_pieces
from .data import SETS
from .section import Claim, Section, Values, format_seconds, markdown_table

__all__ = ["TABLE_3", "TABLE_4"]

_SETS = tuple(printed.TABLE_3)
OTHERS = tuple(name for name in METHODS if name not in printed.METHODS_COMPARED)
_NOT_MUCH_SLOWER = 3.0  # times, for which "comparable" is taken


def _gather_table_3(results: Mapping[str, Any]) -> Values:
    values = _gather(results)
    claims = check_table_3(means(values["methods"], "rand"), means(values["methods"], "accuracy"))
    if "mnist-test" in values["methods"]:
        claims.append(check_run_times(values["methods"]["mnist-test"]))
    return values | {"claims": [claim.as_dict() for claim in claims]}


def _gather_table_4(results: Mapping[str, Any]) -> Values:
    values = _gather(results)
    claims = check_table_4(
        *(means(values["methods"], m) for m in ("lift_emd", "lift_emd_narrow", "rand"))
    )
    return values | {"claims": [claim.as_dict() for claim in claims]}


def _gather(results: Mapping[str, Any]) -> Values:
    runs = [name.split()[0] for name in results]
    left_out: dict[str, str] = {}
    for found in results.values():
        left_out |= found["left_out"]
    return {
        "methods": summarise(results, "methods"),
        "inputs": summarise(results, "inputs"),
        "seeds": {name: runs.count(name) for name in dict.fromkeys(runs)},
        "left_out": left_out,
        "graphs_cut_by": next(iter(results.values()))["graphs_cut_by"],
    }


def check_run_times(methods: Mapping[str, Values]) -> Claim:
    """On MNIST test, where times are more than overhead."""
    ours = {m: methods[m]["seconds"][0] for m in printed.LIFTED}
    theirs = {m: methods[m]["seconds"][0] for m in printed.HYPERGRAPH if m in methods}
    slowest, fastest = max(ours.values()), min(theirs.values())
    words = [f"{label(m)} {format_seconds(s)}" for m, s in (ours | theirs).items()]
    return Claim(
        "The running time of LiftKm and LiftHAC is comparable to the best hypergraph methods'",
        slowest <= _NOT_MUCH_SLOWER * fastest,
        f"on MNIST test, {', '.join(words)}: the slower of ours takes {slowest / fastest:.1f} "
        "times the fastest of the others, which here see points with equal labels as one, unlike "
        "those of 2011 (one core for each, and several at once: ratios, not seconds)",
    )


def _tell_table_3(values: Values) -> str:
    return "\n\n".join(
        [
            _main_table(values, "rand", printed.TABLE_3),
            "Rand distance to the classes: mean ± standard deviation over seeds, in brackets the "
            "paper's. Bold: the best two of the five here, and what ties with them. "
            + _about_inputs(values),
            "Accuracy of the same (the share of points in the best one-to-one matching of "
            "clusters and classes; the paper prints none):",
            _plain_table(values["methods"], printed.METHODS_COMPARED, "accuracy"),
            "Our other methods, Rand distance:",
            _plain_table(values["methods"], OTHERS, "rand"),
            "What went in, Rand distance of each input alone:",
            _plain_table(values["inputs"], INPUTS, "rand"),
        ]
    )


def _tell_table_4(values: Values) -> str:
    return "\n\n".join(
        [
            _main_table(values, "lift_emd", printed.TABLE_4),
            "LiftEMD to the classes, exact, at the median distance of points as bandwidth; as "
            "above. The paper's bandwidth is not known and sets the scale of these numbers, so "
            "that only orders within a row can be compared. The same at a quarter of the median, "
            "where the consensus methods work:",
            _plain_table(values["methods"], printed.METHODS_COMPARED, "lift_emd_narrow"),
            "Our other methods, LiftEMD at the median:",
            _plain_table(values["methods"], OTHERS, "lift_emd"),
            "What went in, LiftEMD of each input alone, at the median:",
            _plain_table(values["inputs"], INPUTS, "lift_emd"),
        ]
    )


def _about_inputs(values: Values) -> str:
    seeds = ", ".join(f"{n} on {SETS[name].title}" for name, n in values["seeds"].items())
    left_out = "".join(f" {label(m)} is left out: {why}." for m, why in values["left_out"].items())
    return (
        "Inputs as in the paper: k-means (one start from k points, as MATLAB's default was), and "
        "single, average, complete and Ward linkage, all with as many clusters as there are "
        f"classes, on the raw features. Seeds: {seeds}; they change k-means and what is random in "
        f"a method. Graphs are cut by {values['graphs_cut_by']}.{left_out}"
    )


def _main_table(values: Values, measure: str, paper: Mapping[str, Mapping[str, float]]) -> str:
    rows = []
    for name, methods in values["methods"].items():
        best = best_two(means({name: methods}, measure)[name])
        row = [SETS[name].title]
        for m in printed.METHODS_COMPARED:
            theirs = f"{paper[name][m]:.3f}" if m in paper[name] else "–"
            row.append(f"{_cell(methods.get(m), measure, bold=m in best)} ({theirs})")
        rows.append(row)
    return markdown_table(["", *map(label, printed.METHODS_COMPARED)], rows)


def _plain_table(
    table: Mapping[str, Mapping[str, Values]], columns: tuple[str, ...], measure: str
) -> str:
    rows = [
        [SETS[name].title, *(_cell(found.get(column), measure) for column in columns)]
        for name, found in table.items()
    ]
    names = [label(c) if c in printed.METHODS_COMPARED else f"`{c}`" for c in columns]
    return markdown_table(["", *(names if columns != INPUTS else columns)], rows)


def _cell(found: Values | None, measure: str, *, bold: bool = False) -> str:
    if found is None:
        return "–"
    mean, spread = found[measure]
    value = f"**{mean:.3f}**" if bold else f"{mean:.3f}"
    return value if spread < 0.0005 else f"{value} ± {spread:.3f}"


TABLE_3 = Section(
    "table-3",
    "Table 3: consensus by the Rand distance",
    _SETS,
    consensus_pieces,
    _gather_table_3,
    _tell_table_3,
)
TABLE_4 = Section(
    "table-4",
    "Table 4: consensus by LiftEMD",
    _SETS,
    consensus_pieces,
    _gather_table_4,
    _tell_table_4,
)
