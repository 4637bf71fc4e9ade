"""Tables 3 and 4: consensus methods compared with the paper, and the inputs on their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import published
from .consensus_claims import (
    best_two,
    check_table_3,
    check_table_4,
    means,
    method_title,
    summarise,
)
from .consensus_tasks import INPUTS, OTHERS, plan_consensus
from .data import SETS
from .section import Claim, Section, Values, format_seconds, markdown_table

__all__ = ["TABLE_3", "TABLE_4"]

_SETS = tuple(published.TABLE_3)
_COMPARABLE = 3.0  # ratio of run times up to which they are called "comparable"


def _collect(results: Mapping[str, Any]) -> Values:
    runs = [name.split()[0] for name in results]
    left_out: dict[str, str] = {}
    for found in results.values():
        left_out |= found["left_out"]
    return {
        "methods": summarise(results, "methods"),
        "inputs": summarise(results, "inputs"),
        "seeds": {name: runs.count(name) for name in dict.fromkeys(runs)},
        "left_out": left_out,
        "partitioner": next(iter(results.values()))["partitioner"],
    }


def _check_table_3(values: Values) -> list[Claim]:
    methods = values["methods"]
    claims = check_table_3(means(methods, "rand"), means(methods, "accuracy"))
    if "mnist-test" in methods:
        claims.append(_check_run_times(methods["mnist-test"]))
    return claims


def _check_table_4(values: Values) -> list[Claim]:
    return check_table_4(
        *(means(values["methods"], m) for m in ("lift_emd", "lift_emd_narrow", "rand"))
    )


def _check_run_times(methods: Mapping[str, Values]) -> Claim:
    """Run times on MNIST test, the only set where they are more than overhead."""
    ours = {m: methods[m]["seconds"][0] for m in published.LIFTED}
    theirs = {m: methods[m]["seconds"][0] for m in published.HYPERGRAPH if m in methods}
    slowest, fastest = max(ours.values()), min(theirs.values())
    times = [f"{method_title(m)} {format_seconds(s)}" for m, s in (ours | theirs).items()]
    return Claim(
        "The running time of LiftKm and LiftHAC is comparable to the best hypergraph methods'",
        slowest <= _COMPARABLE * fastest,
        f"on MNIST test, {', '.join(times)}: the slower of the lifted methods takes "
        f"{slowest / fastest:.1f} times as long as the fastest of the others, which here merge "
        "points with equal labels, unlike in 2011 (one core each, several in parallel: ratios are "
        "meaningful, seconds are not)",
    )


def _describe_table_3(values: Values) -> str:
    return "\n\n".join(
        [
            _main_table(values, "rand", published.TABLE_3),
            "Rand distance to the classes: mean ± standard deviation over seeds, in brackets the "
            "paper's value. Bold: the best two of the five methods here, and ties with them. "
            + _describe_inputs(values),
            "Accuracy of the same partitions (the share of points in the best one-to-one matching "
            "of clusters and classes; the paper gives no values):",
            _plain_table(values["methods"], published.METHODS_COMPARED, "accuracy"),
            "Other methods of the literature, Rand distance:",
            _plain_table(values["methods"], OTHERS, "rand"),
            "Rand distance of each input partition:",
            _plain_table(values["inputs"], INPUTS, "rand"),
        ]
    )


def _describe_table_4(values: Values) -> str:
    return "\n\n".join(
        [
            _main_table(values, "lift_emd", published.TABLE_4),
            "Exact LiftEMD to the classes, with the median distance between points as bandwidth; "
            "otherwise as in table 3. The paper's bandwidth is unknown and determines the scale of "
            "these numbers, so only the order within a row can be compared. With a quarter of the "
            "median, the bandwidth of the consensus methods:",
            _plain_table(values["methods"], published.METHODS_COMPARED, "lift_emd_narrow"),
            "Other methods of the literature, LiftEMD at the median:",
            _plain_table(values["methods"], OTHERS, "lift_emd"),
            "LiftEMD of each input partition, at the median:",
            _plain_table(values["inputs"], INPUTS, "lift_emd"),
        ]
    )


def _describe_inputs(values: Values) -> str:
    seeds = ", ".join(f"{n} on {SETS[name].title}" for name, n in values["seeds"].items())
    left_out = "".join(
        f" {method_title(m)} is left out: {reason}." for m, reason in values["left_out"].items()
    )
    return (
        "Inputs as in the paper: k-means (one start from k points, the default of MATLAB), and "
        "single, average, complete and Ward linkage, all with as many clusters as classes, on the "
        f"raw features. Seeds: {seeds}; they change k-means and the randomised methods. Graphs are "
        f"partitioned by {values['partitioner']}.{left_out}"
    )


def _main_table(values: Values, measure: str, paper: Mapping[str, Mapping[str, float]]) -> str:
    rows = []
    for name, methods in values["methods"].items():
        best = best_two(means({name: methods}, measure)[name])
        row = [SETS[name].title]
        for m in published.METHODS_COMPARED:
            theirs = f"{paper[name][m]:.3f}" if m in paper[name] else "–"
            row.append(f"{_cell(methods.get(m), measure, bold=m in best)} ({theirs})")
        rows.append(row)
    return markdown_table(["", *map(method_title, published.METHODS_COMPARED)], rows)


def _plain_table(
    table: Mapping[str, Mapping[str, Values]], columns: tuple[str, ...], measure: str
) -> str:
    rows = [
        [SETS[name].title, *(_cell(found.get(column), measure) for column in columns)]
        for name, found in table.items()
    ]
    names = [method_title(c) if c in published.METHODS_COMPARED else f"`{c}`" for c in columns]
    return markdown_table(["", *(names if columns != INPUTS else columns)], rows)


def _cell(found: Values | None, measure: str, *, bold: bool = False) -> str:
    if found is None:
        return "–"
    mean, deviation = found[measure]
    value = f"**{mean:.3f}**" if bold else f"{mean:.3f}"
    return value if deviation < 0.0005 else f"{value} ± {deviation:.3f}"


TABLE_3 = Section(
    "table-3",
    "Table 3: consensus by the Rand distance",
    _SETS,
    plan_consensus,
    _collect,
    _check_table_3,
    _describe_table_3,
)
TABLE_4 = Section(
    "table-4",
    "Table 4: consensus by LiftEMD",
    _SETS,
    plan_consensus,
    _collect,
    _check_table_4,
    _describe_table_4,
)
