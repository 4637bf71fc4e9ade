"""The commands about trust in clusterings: stability, choose and tree.

As in `commands`, the library is imported when they run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..io import InputError, check_target
from . import options as o
from .provenance import run_rows
from .reading import (
    View,
    about_points,
    check_out,
    files_read,
    plane_of,
    read_runs,
)

if TYPE_CHECKING:
    from ..comparison.resampling.result import Stability
    from ..io import Clusterings

_PICTURES = (".svg", ".png", ".pdf")


def stability_command(
    context: typer.Context,
    points: o.Points,
    columns: o.Columns = None,
    labels: o.Labels = None,
    labels_file: o.LabelsFile = None,
    id: o.Id = None,
    standardize: o.Standardize = False,
    missing: o.Missing = "error",
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="The clustering in question. Default: the one nearest to the others.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[str | None, o.table_file("each point's stability")] = None,
    append: o.Append = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            help="HTML page to write as well: the clusters, the tree of the clusterings, and how "
            "they differ.",
            show_default=False,
        ),
    ] = None,
    view: View = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.AutoBandwidth = "auto",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """How far to trust a clustering: are its clusters, and each point, found again in other runs?

    The runs are clusterings of the same points by other seeds, resolutions or algorithms. 1: always
    in the same place; 0: as any division into compact regions would be.

    **Examples**

    * `liftcluster stability mine.csv --columns 'pc*' --labels 'leiden_*' --reference leiden_1.0`

    * `liftcluster stability mine.csv -c height,weight -l run1,run2,run3 --out stable.csv`

    * `liftcluster stability cells.h5ad -c X_pca -l 'leiden_*' --page stability.html`
    """
    check_out(out, json, files_read(points, labels_file), append)
    if page is not None:
        check_target(page, o.PAGES, files_read(points, labels_file))
    elif view is not None:
        raise InputError("--view is for the plots of a page; give --page as well")
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    read = read_runs(points, columns, labels, labels_file, id, standardize, how, view)
    if reference is not None and reference not in read.partitions:
        given = ", ".join(map(repr, read.partitions))
        raise InputError(f"--reference {reference!r} is none of the clusterings: {given}")
    from .._util.progress import busy
    from ..comparison.resampling.assessing import stability
    from . import showing, writing

    writing.check_append(append, out, read, [f"{name}_stability" for name in read.partitions])
    with busy(f"comparing {len(read.partitions)} clusterings"):
        found = stability(read.X, read.partitions, reference=reference, progress=False, **lifting)
    if page is not None:
        run = run_rows([points, *(labels_file or [])], read, standardize, context.obj)
        _write_page(page, found, read, lifting, plane_of(read, view), run)
    showing.show_notes(read, quiet)
    table = writing.columns_of_stability(found, read, str(found.name) if append else "")
    writing.write_results(out, read, table, append)
    if out == "-":
        return
    if json:
        showing.show_json(found.to_dict() | {"columns": read.columns, "out": out, "page": page})
    else:
        showing.show_stability(showing.make_console(), found)
        hint = "--out stable.csv writes every point" if page is None else ""
        writing.say_what_is_written(quiet, hint, out, page)


def choose_command(
    points: o.Points,
    columns: o.Columns = None,
    labels: o.Labels = None,
    labels_file: o.LabelsFile = None,
    id: o.Id = None,
    standardize: o.Standardize = False,
    missing: o.Missing = "error",
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
    out: Annotated[
        str | None, o.table_file("the cluster and stability of each point in the best clustering")
    ] = None,
    append: o.Append = False,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.AutoBandwidth = "auto",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Which of several clusterings, such as resolutions, is found again best in its neighbours?

    Each is compared with those before and after it, above what random regions give: a pattern of
    labels takes them from few to many clusters, names keep their order. Clusterings of halves of
    the points say more: see `lc.choose` in Python.

    **Examples**

    * `liftcluster choose mine.csv --columns 'pc*' --labels 'leiden_*'`

    * `liftcluster choose mine.csv -c height,weight -l k2,k3,k4,k5 --out best.csv`
    """
    check_out(out, json, files_read(points, labels_file), append)
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    read = read_runs(points, columns, labels, labels_file, id, standardize, how)
    from .._util.progress import busy
    from ..comparison.resampling.choosing import choose
    from . import showing, writing

    writing.check_append(append, out, read, [f"{name}_stability" for name in read.partitions])
    with busy(f"comparing {len(read.partitions)} clusterings"):
        found = choose(read.X, read.partitions, progress=False, **lifting)
    showing.show_notes(read, quiet)
    best = str(found.best) if append else ""
    table = writing.columns_of_stability(found.stability, read, best)
    writing.write_results(out, read, table, append)
    if out == "-":
        return
    if json:
        values = {"best": found.best, "settings": found.rows(), "columns": read.columns}
        showing.show_json(values | {"out": out})
    else:
        showing.show_choice(showing.make_console(), found)
        writing.say_what_is_written(quiet, "--out best.csv writes every point", out)


def tree_command(
    points: o.Points,
    columns: o.Columns = None,
    labels: o.Labels = None,
    labels_file: o.LabelsFile = None,
    id: o.Id = None,
    standardize: o.Standardize = False,
    missing: o.Missing = "error",
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=f"Picture to draw: {', '.join(_PICTURES)}; or .json for nodes and edges.",
            show_default=False,
        ),
    ] = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.AutoBandwidth = "auto",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """The tree of resolutions: what becomes of each cluster as clusterings become finer.

    A pattern of labels takes them from few to many clusters, names keep their order. Clusters are
    coloured by how far they are found again in the clusterings before and after.

    **Examples**

    * `liftcluster tree mine.csv --columns 'pc*' --labels 'leiden_*' --out tree.svg`

    * `liftcluster tree mine.csv -c height,weight -l k2,k3,k4 --json`
    """
    if out is not None:
        check_target(out, (*_PICTURES, ".json"), files_read(points, labels_file))
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    read = read_runs(points, columns, labels, labels_file, id, standardize, how)
    from .._util.progress import busy
    from ..comparison.resampling.resolutions import resolution_tree
    from . import showing, writing

    with busy(f"comparing {len(read.partitions)} clusterings"):
        found = resolution_tree(read.X, read.partitions, **lifting)
    values = found.to_dict() | {"columns": read.columns}
    if out is not None:
        writing.write_tree(out, found, showing.as_json(values))
    showing.show_notes(read, quiet)
    if json:
        showing.show_json(values | {"out": out})
    else:
        showing.show_tree(showing.make_console(), found)
        writing.say_what_is_written(quiet, "--out tree.svg draws it", out)


TRUST_COMMANDS: dict[str, Callable[..., None]] = {
    "stability": stability_command,
    "choose": choose_command,
    "tree": tree_command,
}


def _write_page(
    page: Path,
    found: Stability,
    read: Clusterings,
    lifting: dict[str, Any],
    plane: Any,
    run: list[tuple[str, str]],
) -> None:
    from ..viz.report.build import report_about

    options = dict(lifting)
    rng = options.pop("rng")
    if options["bandwidth"] == "auto":  # that of stability; distances have another default
        options["bandwidth"] = "median"
    made = report_about(
        found,
        read.partitions,
        read.X,
        measures=["lift_emd", "adjusted_rand"],
        lifting=options,
        view=plane,
        title=f"Stability of {found.name}",
        rng=rng,
        run=run,
        **about_points(read),
    )
    made.save(page)
