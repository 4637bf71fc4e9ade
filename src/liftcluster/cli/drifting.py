"""The command drift: two samples.

As in `commands`, the library is imported when it runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..io import InputError, check_target
from . import options as o
from .provenance import command_line, run_rows
from .reading import about_points, check_out, read_samples

if TYPE_CHECKING:
    from ..comparison.drifting import Drift
    from ..io import Clusterings

_STARTS = 10  # of k-means: what differs between starts would hide drift

_Old = Annotated[
    Path,
    typer.Argument(
        metavar="OLD",
        help="The first sample: CSV or TSV (also .gz), Parquet, npy, npz or h5ad; - is stdin.",
        show_default=False,
        readable=False,
    ),
]
_New = Annotated[
    Path,
    typer.Argument(
        metavar="NEW",
        help="The second sample, with the same coordinates.",
        show_default=False,
        readable=False,
    ),
]


def drift_command(
    context: typer.Context,
    old: _Old,
    new: _New,
    columns: o.Columns = None,
    labels: o.Labels = None,
    id: Annotated[
        str | None,
        typer.Option(help="Column of ids, which --out writes as well.", show_default=False),
    ] = None,
    standardize: o.Standardize = False,
    missing: o.Missing = "error",
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "--n-clusters",
            "-k",
            help="Cluster both samples, and all splits of the pooled sample, by k-means.",
            min=1,
            show_default=False,
        ),
    ] = None,
    n_splits: Annotated[
        int,
        typer.Option(help="Random splits: the smallest p-value is 1 / (1 + n-splits).", min=1),
    ] = 199,
    measures: o.Measures = None,
    out: Annotated[str | None, o.table_file("the cluster of each point of both samples")] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            help="HTML page to write as well: both samples side by side, what became of the "
            "clusters, and what each is like.",
            show_default=False,
        ),
    ] = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.Bandwidth = "median",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Do the clusterings of two samples differ more than sampling noise explains?

    Either -k, and the samples are clustered here; or --labels with one column that both files have,
    whose labels one rule gave to both samples, such as a classifier trained on other data. Labels
    of clusterings made separately cannot be tested. The coordinates must be those of one space, and
    the points independent.

    **Examples**

    * `liftcluster drift mine.csv new.csv --columns height,weight -k 4`

    * `liftcluster drift mine.csv new.csv --columns height,weight -k 4 --page drift.html`

    * `liftcluster drift monday.h5ad friday.h5ad -c X_scvi --labels cell_type --json`
    """
    check_out(out, json, [old, new])
    if page is not None:
        check_target(page, o.PAGES, [old, new])
    if (n_clusters is None) == (labels is None):
        raise InputError(
            "give either -k, to cluster both samples by k-means, or --labels, a column that one "
            "rule gave to both"
        )
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    options: dict[str, Any] = {"n_splits": n_splits, **lifting}
    if wanted := o.as_measures(measures):
        options["measures"] = wanted
    samples = read_samples([old, new], columns, labels, id, standardize, how)
    first, second = samples
    if labels is not None and len(first.partitions) != 1:
        raise InputError("give --labels one column, which both files have")
    names = _names_of_samples(old, new)
    from ..comparison.comparing import compare
    from ..comparison.drifting import drift
    from . import showing, writing

    found = drift(first.X, second.X, _source(samples, n_clusters), **options)
    moves = compare(
        found.a, found.b, first.X, Y=second.X, measures="lift_emd", names=names, **lifting
    )
    for read in samples:
        showing.show_notes(read, quiet)
    if page is not None:
        run = [
            (f"{what}, {name}", value)
            for name, file, read in zip(names, (old, new), samples, strict=True)
            for what, value in run_rows([file], read, standardize, None)
        ]
        if context.obj is not None:
            run.append(("command", command_line(context.obj)))
        _write_page(page, found, samples, names, lifting, run)
    if out is not None:
        writing.write_table(out, writing.columns_of_samples(found, samples, names))
    if out == "-":
        return
    if json:
        values = found.to_dict() | {"names": names, "moves": moves.summary()}
        showing.show_json(values | {"columns": first.columns, "out": out, "page": page})
    else:
        showing.show_drift(showing.make_console(), found, moves)
        hint = "--out clusters.csv writes every point" if page is None else ""
        writing.say_what_is_written(quiet, hint, out, page)


def _names_of_samples(old: Path, new: Path) -> tuple[str, str]:
    """The names of the files without endings, unless these are the same."""
    first, second = ("stdin" if str(file) == "-" else file.stem for file in (old, new))
    return (first, second) if first != second else (str(old), str(new))


def _source(samples: list[Clusterings], n_clusters: int | None) -> Any:
    """k-means, or the labels of both samples."""
    if n_clusters is None:
        a, b = (next(iter(read.partitions.values())) for read in samples)
        return a, b
    smallest = min(len(read.X) for read in samples if read.X is not None)
    if n_clusters > smallest:
        raise InputError(f"-k {n_clusters} is more than the {smallest} points of a sample")
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=_STARTS)


def _write_page(
    page: Path,
    found: Drift,
    samples: list[Clusterings],
    names: tuple[str, str],
    lifting: dict[str, Any],
    run: list[tuple[str, str]],
) -> None:
    """The page of both samples together, each point in no cluster of the other sample."""
    import numpy as np

    from ..partitions.partition import Partition
    from ..viz.report.build import report_about

    n = found.a.n + found.b.n
    pooled = {}
    for name, part, start in zip(names, (found.a, found.b), (0, found.a.n), strict=True):
        codes = np.full(n, -1)
        codes[start : start + part.n] = part.assignment
        pooled[name] = Partition(codes, part.names, np.ones(n))
    about = [about_points(read) for read in samples]
    ids = [each["ids"] for each in about]
    options = dict(lifting)
    rng = options.pop("rng")
    made = report_about(
        found,
        pooled,
        np.concatenate([read.X for read in samples if read.X is not None]),
        measures=["lift_emd", "lift_kd", "lift_hausdorff"],
        features=about[0]["features"],
        ids=None if any(each is None for each in ids) else np.concatenate(ids),
        lifting=options,
        title=f"{names[0]} and {names[1]}",
        rng=rng,
        run=run,
    )
    made.save(page)
