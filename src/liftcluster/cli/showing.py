"""Output of the commands: tables, or JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..combination.judging import describe_distances
from ..combination.result import Consensus
from ..comparison.comparing import DistanceMatrix
from ..comparison.comparison import Comparison, Estimate
from ..comparison.resampling.result import Stability
from ..io import Clusterings
from .running import visible

if TYPE_CHECKING:
    from ..comparison.drifting import Drift
    from ..comparison.permutation import Significance
    from ..comparison.profile import Profile
    from ..comparison.resampling.choosing import Choice
    from ..comparison.resampling.resolutions import ResolutionTree

_WIDE = 120  # columns without a terminal
_PARTS = 5  # of a consensus cluster that are listed
_BAR = 30  # letters of the longest bar
_SHOWN = 5e-5  # the smallest distance that is not 0.0000


def make_console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def show_notes(read: Clusterings, quiet: bool) -> None:
    for note in [] if quiet else read.notes:
        print(f"liftcluster: {visible(note)}", file=sys.stderr)


def show_json(values: Mapping[str, Any]) -> None:
    escape = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    typer.echo(as_json(values, escape=escape))


def as_json(values: Mapping[str, Any], *, escape: bool = False) -> str:
    return json.dumps(_plain(values), indent=2, ensure_ascii=escape, allow_nan=False)


def show_comparison(console: Console, found: Comparison, verbose: bool) -> None:
    for name, partition in zip(found.names, found.partitions, strict=True):
        console.print(Text(f"{visible(name)}: {partition}"))
    table = Table("measure", title="How far apart")
    table.add_column("distance", justify="right")
    for measure, estimate in found.values.items():
        table.add_row(measure, str(estimate))
    console.print(table)
    if found.moves:
        first, second = map(visible, found.names)
        console.print(Text(f"What became of the clusters of {first} in {second}", style="bold"))
    for line in found.summary():
        console.print(Text(f"  {visible(line)}"))
    if verbose:
        show_lift(console, found.representation)
        for measure, reason in found.left_out.items():
            console.print(Text(f"left out: {measure}: {reason}"))


def show_matrix(console: Console, measure: str, names: list[str], matrix: DistanceMatrix) -> None:
    table = Table(title=f"{measure} between them")
    table.add_column("")
    for name in names:
        table.add_column(Text(visible(name)), justify="right")
    for i, name in enumerate(names):
        row = zip(matrix.values[i], matrix.errors[i], strict=True)
        cells = [Estimate(value, None if np.isnan(error) else error) for value, error in row]
        table.add_row(Text(visible(name)), *map(str, cells))
    console.print(table)


def show_consensus(console: Console, found: Consensus, verbose: bool) -> None:
    console.print(Text(f"{found.method} of {len(found.inputs)} clusterings"))
    if found.decision is not None:
        console.print(Text(f"chosen because {found.decision.reason}"))
    table = Table(title="Consensus")
    for column in ("cluster", "points", "confidence"):
        table.add_column(column, justify="right")
    table.add_column("made of")
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=found.n_clusters)
    for j, made_of in enumerate(found.composition):
        parts = [f"{visible(c)} of {visible(p)} ({share:.0%})" for p, c, share in made_of]
        most = [part for part, (_, _, share) in zip(parts, made_of, strict=True) if share >= 0.5]
        sure = found.confidence[found.labels == j].mean()
        table.add_row(str(j), f"{sizes[j]:,}", f"{sure:.2f}", Text(_listed(most or parts[:1])))
    console.print(table)
    console.print(describe_distances(found))
    if r := len(found.overruled):
        console.print(f"points that all inputs put into another cluster: {r:,}")
    if found.curve is not None:
        console.print(f"the number of clusters was chosen by {found.curve.criterion}")
    if verbose:
        show_lift(console, found.representation)


def _listed(parts: list[str]) -> str:
    more = len(parts) - _PARTS
    return ", ".join(parts[:_PARTS]) + (f" and {more} more" if more > 0 else "")


def show_stability(console: Console, found: Stability) -> None:
    summary = found.summary()
    console.print(Text(visible(summary[0])))
    table = Table(title="Stability of the clusters")
    table.add_column("cluster")
    for column in ("mass", "stability", "95 % of runs", "Jaccard"):
        table.add_column(column, justify="right")
    table.add_column("what becomes of it")
    for row in found.rows():
        table.add_row(
            Text(visible(row["cluster"])),
            f"{row['mass']:.1%}",
            f"{row['stability']:.2f}",
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['jaccard']:.2f}",
            Text(f"{row['verdict']}: {visible(row['fate'])}"),
        )
    console.print(table)


def show_choice(console: Console, found: Choice) -> None:
    console.print(Text(f"best: {visible(found.best)}"))
    table = Table(title="Stability of the clusterings")
    table.add_column("clustering")
    for column in ("clusters", "stability", "interval"):
        table.add_column(column, justify="right")
    table.add_column("")
    for i, row in enumerate(found.rows()):
        known = math.isfinite(row["low"])  # not from a single neighbour
        table.add_row(
            Text(visible(row["setting"])),
            str(row["n_clusters"]),
            f"{row['stability']:.2f}",
            f"{row['low']:.2f} to {row['high']:.2f}" if known else "",
            "best" if i == found.position else "",
        )
    console.print(table)
    if found.doubt is not None:
        console.print(Text(visible(found.doubt)))


def show_tree(console: Console, found: ResolutionTree) -> None:
    table = Table(title="From coarse to fine")
    table.add_column("clustering")
    for column in ("clusters", "stable", "distance to the next"):
        table.add_column(column, justify="right")
    for row in found.rows():
        distance = "" if row["distance"] is None else f"{row['distance']:.4f}"
        table.add_row(
            Text(visible(row["run"])), str(row["n_clusters"]), str(row["stable"]), distance
        )
    console.print(table)


def show_drift(console: Console, found: Drift, moves: Comparison) -> None:
    first, second = map(visible, moves.names)
    console.print(Text(f"p = {found.p_value:.3g}: small if {first} and {second} differ"))
    table = Table("measure", title="Distance of the clusterings")
    for column in ("between the samples", "between random splits", "p alone"):
        table.add_column(column, justify="right")
    for name, p in found.p_values.items():
        null = found.null[name]
        by_chance = f"{null.mean():.4f} ± {null.std():.4f}"
        table.add_row(name, f"{found.values[name]:.4f}", by_chance, f"{p:.3g}")
    console.print(table)
    console.print(Text(f"What became of the clusters of {first} in {second}", style="bold"))
    for line in moves.summary():
        console.print(Text(f"  {visible(line)}"))


def show_significance(console: Console, found: Significance, names: tuple[str, str]) -> None:
    first, second = map(visible, names)
    p, least = found.p_value, 1 / (1 + len(found.null))
    bound = " (the least that so many permutations can give)" if p == least else ""
    console.print(Text(f"p = {p:.3g}{bound}: small if {first} and {second} are related"))
    table = Table("measure", title="Distance of the clusterings")
    for column in ("between them", "to labels at random", "z", "adjusted for chance"):
        table.add_column(column, justify="right")
    by_chance = f"{found.null.mean():.4f} ± {found.null.std():.4f}"
    table.add_row(
        found.measure,
        str(Estimate(found.value)),
        by_chance,
        f"{found.z:.1f}",
        f"{found.adjusted:.3f}",
    )
    console.print(table)


def show_profile(console: Console, found: Profile, names: tuple[str, str]) -> None:
    first, second = map(visible, names)
    table = Table(title=Text(f"{found.measure} between {first} and {second}"))
    for column in ("bandwidth", "of the median", "distance"):
        table.add_column(column, justify="right")
    table.add_column("")
    errors = [None] * len(found.values) if found.errors is None else found.errors
    largest = float(found.values.max())
    for h, value, error in zip(found.bandwidths, found.values, errors, strict=True):
        table.add_row(
            f"{h:.4g}",
            f"{h / found.median:.2g}" if found.median > 0 else "",
            str(Estimate(float(value), error)),
            _bar(float(value) / max(largest, _SHOWN), console.encoding),
        )
    console.print(table)
    if largest >= _SHOWN:
        console.print(
            f"half of the largest distance remains up to the bandwidth {found.scale:.4g}; the "
            f"median distance between points is {found.median:.4g}"
        )
    else:
        console.print("they are in the same places at every bandwidth")


def profile_columns(found: Profile) -> dict[str, Any]:
    """The columns that are written: bandwidths, distances, and errors if they are known."""
    columns = {"bandwidth": found.bandwidths, found.measure: found.values}
    return columns if found.errors is None else columns | {"standard_error": found.errors}


def _bar(share: float, encoding: str) -> str:
    """A bar for a share from 0 to 1, in eighths of letters where the terminal has them."""
    if not encoding.lower().startswith("utf"):
        return "#" * round(_BAR * share)
    whole, eighths = divmod(round(8 * _BAR * share), 8)
    return "█" * whole + ("", *"▏▎▍▌▋▊▉")[eighths]


def consensus_as_dict(found: Consensus, read: Clusterings, out: str | None) -> dict[str, Any]:
    """A consensus as plain values, with labels unless they were written to a file."""
    lift = None if found.representation is None else found.representation.lift
    values: dict[str, Any] = {
        "method": found.method,
        "decision": None if found.decision is None else asdict(found.decision),
        "inputs": list(found.inputs),
        "columns": read.columns,
        "n_clusters": found.n_clusters,
        "sizes": np.bincount(found.labels[found.labels >= 0], minlength=found.n_clusters),
        "score": found.score,
        "mean_confidence": float(found.confidence.mean()),
        "mean_margin": float(found.margin.mean()),
        "overruled": found.overruled,
        "mean_distance": found.mean_distance,
        "best_input_distance": found.best_input_distance,
        "label_distance": found.label_distance,
        "best_input_label_distance": found.best_input_label_distance,
        "composition": [
            [{"clustering": p, "cluster": c, "share": share} for p, c, share in made_of]
            for made_of in found.composition
        ],
        "lift": None if lift is None else lift.describe(),
        "out": out,
    }
    if out:
        return values
    points = {"labels": found.labels, "confidence": found.confidence, "margin": found.margin}
    return values | {name: read.spread(value) for name, value in points.items()}


def show_lift(console: Console, representation: Any) -> None:
    if representation is None or representation.lift is None:
        return
    errors = representation.distance_errors()
    largest = "not known" if errors is None else f"{np.max(errors):.4f}"
    console.print(Text(f"lift: {representation.lift.describe()}"))
    if not representation.lift.is_exact:
        console.print(f"largest standard error of a distance between clusters: {largest}")


def _plain(value: Any) -> Any:
    """Values that JSON can hold: no arrays, no infinity, no other objects."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
