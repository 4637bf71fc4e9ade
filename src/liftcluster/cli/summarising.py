"""The command summarise: a few clusterings that stand for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .._util.checks import check_choice
from ..io import InputError
from . import options as o
from .reading import read_input

if TYPE_CHECKING:
    from rich.console import Console

    from ..comparison.diversity import DiverseSubset

_CHOSEN = 5  # clusterings by default
_METHODS = ("farthest", "medoids")


def summarise_command(
    points: o.Points,
    columns: o.Columns = None,
    labels: o.Labels = None,
    labels_file: o.LabelsFile = None,
    memberships: o.Memberships = None,
    id: o.Id = None,
    standardize: o.Standardize = False,
    missing: o.Missing = "error",
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
    labels_only: o.LabelsOnly = False,
    n: Annotated[
        int | None,
        typer.Option(
            "--n",
            "-n",
            help="How many clusterings to choose. Default: 5, of fewer than ten half of them.",
            min=1,
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="farthest: as different as can be, smallest radius; medoids: most like the "
            "others, smallest mean distance.",
            autocompletion=lambda: list(_METHODS),
        ),
    ] = "farthest",
    measure: o.Measure = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.Bandwidth = "median",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Choose a few clusterings that stand for many, and say which stands for which.

    **Examples**

    * `liftcluster summarise mine.csv --columns height,weight --labels '*' --n 5`

    * `liftcluster summarise mine.csv --labels 'leiden_*' --n 3 --method medoids --json`

    * `liftcluster summarise labels.csv --labels '*' --labels-only --measure vi`
    """
    check_choice(method, _METHODS, "--method")
    by = o.as_measure(measure, labels_only)
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, labels_only, how
    )
    m = len(read.partitions)
    if n is not None and n > m:
        raise InputError(f"--n {n} is more than the {m} clusterings")
    from .._util.progress import busy
    from ..comparison.diversity import diverse_subset
    from . import showing

    with busy(f"comparing {m} clusterings"):
        found = diverse_subset(
            read.partitions,
            n or min(_CHOSEN, (m + 1) // 2),
            read.X,
            method=method,  # type: ignore[arg-type]
            measure=by,  # type: ignore[arg-type]
            progress=False,
            **lifting,
        )
    showing.show_notes(read, quiet)
    if json:
        showing.show_json(found.to_dict() | {"columns": read.columns})
    else:
        _show(showing.make_console(), found)


def _show(console: Console, found: DiverseSubset) -> None:
    from rich.table import Table
    from rich.text import Text

    from .running import visible

    console.print(Text(found.summary()))
    table = Table(title="Clusterings that stand for all")
    table.add_column("clustering")
    for column in ("stands for", "mean distance", "radius"):
        table.add_column(column, justify="right")
    table.add_column("nearest to it")
    for number, row in enumerate(found.rows()):
        own = [name for name, i in zip(found.names, found.nearest, strict=True) if i == number]
        others = [visible(name) for name in own if name != row["clustering"]]
        shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        table.add_row(
            Text(visible(row["clustering"])),
            str(row["stands_for"]),
            f"{row['mean_distance']:.4f}",
            f"{row['radius']:.4f}",
            Text(shown),
        )
    console.print(table)
