"""The commands: compare, consensus, summarise and report; others are in their own modules.

They import the library when they run, so that help and errors in arguments do not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from .._util.checks import nearest
from ..io import InputError, check_target
from . import options as o
from .application import EXIT_CODES
from .application import app as app
from .drifting import drift_command
from .pair_commands import PAIR_COMMANDS
from .provenance import run_rows
from .reading import View, about_points, check_out, files_read, plane_of, read_input
from .running import run
from .summarising import summarise_command
from .trust_commands import TRUST_COMMANDS

if TYPE_CHECKING:
    from ..io import Clusterings

_SHOWN = 30  # further columns of a table that are on a page


@app.command("compare", epilog=EXIT_CODES)
def compare_command(
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
    pair: o.Pair = None,
    measures: o.Measures = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.Bandwidth = "median",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    tol: o.Tolerance = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compare clusterings: two by every measure, with the moves of clusters; more as a table.

    **Examples**

    * `liftcluster compare mine.csv --columns height,weight --labels kmeans,hdbscan`

    * `liftcluster compare cells.h5ad --columns X_pca --labels leiden,cell_type --json`

    * `liftcluster compare points.npy --labels-file labels.csv --measures lift_emd,rand,vi`

    * `liftcluster compare mine.csv --labels kmeans --memberships "gmm=p0,p1,p2"`

    * `liftcluster compare mine.csv --columns 'pc*' --labels 'leiden_*' --pair leiden_1,leiden_2`
    """
    wanted = o.as_measures(measures)
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed, tol)
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, labels_only, how
    )
    if len(read.partitions) < 2:
        raise InputError("one clustering cannot be compared; give --labels two or more")
    two = None if pair is None else _restricted(read, o.names_of([pair]))
    from . import showing, work

    if len(read.partitions) == 2:
        found = work.compare_two(two or read, wanted, lifting)
        showing.show_notes(read, quiet)
        if json:
            showing.show_json(found.to_dict() | {"columns": read.columns})
        else:
            showing.show_comparison(showing.make_console(), found, verbose)
        return
    tables, rep = work.compare_every_two(read, wanted, lifting)
    closely = None if two is None else work.compare_two(two, wanted, lifting)
    showing.show_notes(read, quiet)
    names = list(read.partitions)
    if json:
        lifted = None if rep is None or rep.lift is None else rep.lift.describe()
        values = {"names": names, "columns": read.columns, "lift": lifted} | _as_lists(tables)
        showing.show_json(values if closely is None else values | {"pair": closely.to_dict()})
        return
    console = showing.make_console()
    for measure, matrix in tables.items():
        showing.show_matrix(console, measure, names, matrix)
    if closely is not None:
        showing.show_comparison(console, closely, verbose)
    elif verbose:
        showing.show_lift(console, rep)


@app.command("consensus", epilog=EXIT_CODES)
def consensus_command(
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
    n_clusters: Annotated[
        str, typer.Option("--n-clusters", "-k", help="How many clusters, or auto.")
    ] = "auto",
    method: o.Method = "auto",
    out: Annotated[str | None, o.table_file("labels, confidence, margin and memberships")] = None,
    append: o.Append = False,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.AutoBandwidth = "auto",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Combine clusterings into one: labels, confidence and memberships of every point.

    The confidence is the share of the clusterings that agree; the margin says how far the
    membership in the own cluster is ahead of the next.

    **Examples**

    * `liftcluster consensus mine.csv --labels a,b,c --n-clusters 4 --out consensus.csv`

    * `liftcluster consensus mine.csv -c height,weight -l a,b,c --method lift_hac --json`

    * `liftcluster consensus labels.csv --labels a,b,c -k 4 --labels-only --method majority`

    * `liftcluster consensus mine.csv -l a,b,c --missing drop --append --out mine.csv`
    """
    check_out(out, json, files_read(points, labels_file, memberships), append)
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    k, method = o.as_n_clusters(n_clusters), o.as_method(method)
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, labels_only, how
    )
    from . import showing, work, writing

    writing.check_append(append, out, read, work.CONSENSUS)
    found = work.combine(read, k, method=method, **lifting)
    showing.show_notes(read, quiet)
    writing.write_results(out, read, work.consensus_columns(found, read, append), append)
    if out == "-":
        return
    if json:
        showing.show_json(showing.consensus_as_dict(found, read, out))
        return
    showing.show_consensus(showing.make_console(), found, verbose)
    if not quiet:
        hint = "--out consensus.csv writes it" if out is None else f"written to {out}"
        print(f"liftcluster: {hint}", file=sys.stderr)


_OTHERS: dict[str, Callable[..., None]] = {"drift": drift_command, "summarise": summarise_command}
for _name, _command in (PAIR_COMMANDS | TRUST_COMMANDS | _OTHERS).items():
    app.command(_name, epilog=EXIT_CODES)(_command)


@app.command("report", epilog=EXIT_CODES)
def report_command(
    context: typer.Context,
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
    out: o.Page = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    view: View = None,
    consensus: Annotated[
        str | None,
        typer.Option(
            "--consensus",
            "-k",
            help="Number of clusters of a consensus that is shown as well, or auto.",
            show_default=False,
        ),
    ] = None,
    method: o.Method = "auto",
    measures: o.Measures = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.Bandwidth = "median",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Write an HTML page that shows how clusterings differ, where, and their consensus.

    It describes each cluster by its coordinates and by all other columns of the table, by which
    points can be coloured; these never count for distances.

    **Examples**

    * `liftcluster report mine.csv --columns height,weight --labels kmeans,hdbscan --out page.html`

    * `liftcluster report cells.h5ad -c X_pca -l leiden,cell_type --consensus auto --view X_umap`
    """
    check_target(out, o.PAGES, files_read(points, labels_file, memberships))
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    k = None if consensus is None else o.as_n_clusters(consensus)
    wanted, method = o.as_measures(measures) or None, o.as_method(method)
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, False, how, view,
        further=_SHOWN,
    )  # fmt: skip
    from . import showing, work

    page = work.make_page(
        read.partitions,
        read.X,
        measures=wanted,
        consensus=k,
        method=method,
        view=plane_of(read, view),
        title=title,
        run=run_rows([points, *(labels_file or [])], read, standardize, context.obj),
        **about_points(read),
        **lifting,
    )
    page.save(out)
    showing.show_notes(read, quiet)
    if json:
        showing.show_json(page.to_dict() | {"out": str(out)})
    elif not quiet:
        print(f"liftcluster: written to {out}; open it in a browser", file=sys.stderr)


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0, max=2**32 - 1)] = 0,
    out: o.Page = Path("liftcluster-demo.html"),
) -> None:
    """Compare and combine clusterings of 1,797 handwritten digits, and write a page about it.

    Needs no files: the digits come with scikit-learn.
    """
    check_target(out, o.PAGES)
    from .demo import run_demo
    from .showing import make_console

    run_demo(make_console(), seed, out)


@app.command()
def measures() -> None:
    """List every distance between clusterings, its requirements and properties."""
    from .demo import show_measures
    from .showing import make_console

    show_measures(make_console())


@app.command()
def methods() -> None:
    """List every consensus method, its requirements and reference."""
    from .demo import show_methods
    from .showing import make_console

    show_methods(make_console())


def _restricted(read: Clusterings, names: list[str]) -> Clusterings:
    """Two of the clusterings that were read, in the order of --pair."""
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"--pair must name two clusterings, such as a,b; got {','.join(names)!r}")
    for name in names:
        if name not in read.partitions:
            close = nearest(name, read.partitions)
            given = ", ".join(map(repr, read.partitions))
            hint = f"did you mean {close!r}?" if close else f"these are: {given}"
            raise InputError(f"--pair: {name!r} is none of the clusterings; {hint}")
    return replace(read, partitions={name: read.partitions[name] for name in names})


def _as_lists(tables: dict[str, Any]) -> dict[str, Any]:
    return {
        "measures": {
            name: {"value": matrix.values, "error": matrix.errors}
            for name, matrix in tables.items()
        }
    }


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command of ``liftcluster`` and exit."""
    run(app, args)
