"""The commands about two clusterings: significance and profile.

As in `commands`, the library is imported when they run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from .._util.checks import check_count, check_positive
from ..io import InputError
from . import options as o
from .reading import check_out, files_read, read_input

if TYPE_CHECKING:
    from ..io import Clusterings


def significance_command(
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
    measure: o.Measure = None,
    n_permutations: Annotated[
        int,
        typer.Option(help="Permutations: the smallest p-value is 1 / (1 + n-permutations).", min=1),
    ] = 999,
    out: Annotated[str | None, o.table_file("the distances to permuted labels")] = None,
    kernel: o.Kernel = "gaussian",
    bandwidth: o.Bandwidth = "median",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Are two clusterings related, or as far apart as labels assigned at random?

    A permutation test: the labels of the second are permuted among its points. A small p means that
    they are related, not that they differ; whether two samples differ is what `drift` tests.

    **Examples**

    * `liftcluster significance mine.csv --columns height,weight --labels kmeans,hdbscan`

    * `liftcluster significance cells.h5ad -c X_pca -l leiden,cell_type --measure spari --json`

    * `liftcluster significance labels.csv --labels a,b --labels-only --out null.csv`
    """
    by = o.as_measure(measure, labels_only)
    check_out(out, json, files_read(points, labels_file, memberships))
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, bandwidth, lift, n_components, seed)
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, labels_only, how
    )
    a, b = _two_of(read)
    from ..comparison.permutation import significance
    from . import showing, writing

    found = significance(
        read.partitions[a],
        read.partitions[b],
        read.X,
        measure=by,  # type: ignore[arg-type]
        n_permutations=n_permutations,
        **lifting,
    )
    showing.show_notes(read, quiet)
    writing.write_table(out, {by: found.null})
    if out == "-":
        return
    if json:
        values = {"names": [a, b], "columns": read.columns} | found.to_dict()
        showing.show_json(values | {"out": out})
    else:
        showing.show_significance(showing.make_console(), found, (a, b))
        writing.say_what_is_written(quiet, "", out)


def profile_command(
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
    bandwidths: Annotated[
        str,
        typer.Option(
            help="How many, from a thirtieth of the median distance between points to ten times "
            "it; or which, separated by commas, such as 0.5,1,2.",
        ),
    ] = "13",
    measure: Annotated[
        str,
        typer.Option(
            help="A lifted distance: lift_emd, lift_kd or lift_hausdorff.",
            autocompletion=lambda: [name for name in o.MEASURES if name.startswith("lift")],
        ),
    ] = "lift_emd",
    out: Annotated[str | None, o.table_file("bandwidths, distances and standard errors")] = None,
    kernel: o.Kernel = "gaussian",
    lift: o.Lift = "auto",
    n_components: o.Components = None,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """At which scale do two clusterings differ? A lifted distance over a range of bandwidths.

    A small bandwidth sees which points are shared, a large one little more than centroids: a
    distance that remains at large bandwidths is one between clusters in different places.

    **Examples**

    * `liftcluster profile mine.csv --columns height,weight --labels kmeans,hdbscan`

    * `liftcluster profile mine.csv -c height,weight -l a,b --bandwidths 0.5,1,2 --out profile.csv`
    """
    by = o.as_measure(measure, False)
    widths = _as_bandwidths(bandwidths)
    check_out(out, json, files_read(points, labels_file, memberships))
    how = o.as_reading(missing, encoding, decimal)
    lifting = o.as_lifting(kernel, "median", lift, n_components, seed)
    del lifting["bandwidth"]  # which varies
    read = read_input(
        points, columns, labels, labels_file, memberships, id, standardize, False, how
    )
    a, b = _two_of(read)
    from .._util.progress import busy
    from ..comparison.profile import bandwidth_profile
    from . import showing, writing

    with busy(f"comparing {a} and {b} at every bandwidth"):
        found = bandwidth_profile(
            read.partitions[a],
            read.partitions[b],
            read.X,
            bandwidths=widths,
            measure=by,  # type: ignore[arg-type]
            **lifting,
        )
    showing.show_notes(read, quiet)
    values = found.to_dict()
    writing.write_table(out, showing.profile_columns(found))
    if out == "-":
        return
    if json:
        showing.show_json({"names": [a, b], "columns": read.columns} | values | {"out": out})
    else:
        showing.show_profile(showing.make_console(), found, (a, b))
        writing.say_what_is_written(quiet, "--out profile.csv writes it", out)


PAIR_COMMANDS: dict[str, Callable[..., None]] = {
    "significance": significance_command,
    "profile": profile_command,
}


def _two_of(read: Clusterings) -> tuple[str, str]:
    """The names of the two clusterings that are compared."""
    if len(read.partitions) != 2:
        given = f"got {len(read.partitions)}: {', '.join(map(str, read.partitions))}"
        raise InputError(f"give two clusterings, such as --labels a,b; {given}")
    a, b = read.partitions
    return a, b


def _as_bandwidths(text: str) -> int | list[float]:
    """How many, or which."""
    parts = o.names_of([text])
    try:
        if len(parts) == 1 and parts[0].lstrip("-").isdigit():
            return check_count(int(parts[0]), "--bandwidths", least=2)
        return [check_positive(float(part), "--bandwidths") for part in parts]
    except ValueError as error:
        raise InputError(
            f"--bandwidths must be a number of them from 2, or positive numbers separated by "
            f"commas; got {text!r}"
        ) from error
