"""What the commands write to files: tables of the points, and pictures."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.files import atomic_write
from ..io import Clusterings, InputError, write_columns, write_csv
from ..io.input_checks import name_stdin

if TYPE_CHECKING:
    from ..comparison.drifting import Drift
    from ..comparison.resampling.resolutions import ResolutionTree
    from ..comparison.resampling.result import Stability


def check_append(append: bool, out: str | None, read: Clusterings, names: list[str]) -> None:
    """Check that the whole table can be written with more columns, before the work."""
    if append and out is not None:
        from ..io.append import check_appendable

        try:
            check_appendable(read.table, out, names)
        except InputError as error:
            raise InputError(name_stdin(str(error), read.table.path)) from None


def write_results(
    out: str | None, read: Clusterings, columns: dict[str, Any], append: bool
) -> None:
    """Write a table of the points to --out, if it is given: alone, or after the columns read."""
    if append and out is not None:
        from ..io.append import append_columns

        if out == "-":
            show_appended(read.table, columns)
        else:
            append_columns(read.table, out, columns)
    else:
        write_table(out, ids_of(read) | columns)


def write_table(out: str | None, columns: Mapping[str, Any]) -> None:
    """Write a table to --out, if it is given."""
    if out == "-":
        show_csv(columns)
    elif out is not None:
        write_columns(out, columns)


def show_csv(columns: Mapping[str, Any]) -> None:
    """Columns on stdout as in a file: UTF-8, whatever the encoding of the terminal."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    write_csv(sys.stdout, columns)


def show_appended(table: Any, columns: Mapping[str, Any]) -> None:
    """A table with more columns on stdout, encoded as it is."""
    from ..io.append import append_to_text

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=table.encoding, newline="")
    append_to_text(table, sys.stdout, columns)


def write_tree(out: Path, found: ResolutionTree, text: str) -> None:
    suffix = out.suffix.lower()
    if suffix == ".json":
        with atomic_write(out) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        return
    axes = found.plot()  # an error that says what to install, if matplotlib is missing
    import matplotlib.pyplot as plt

    try:
        # No date, and the same identifiers each time: the same tree is the same file.
        with plt.rc_context({"svg.hashsalt": "liftcluster"}), atomic_write(out) as temporary:
            options = {"Date": None} if suffix == ".svg" else {"CreationDate": None}
            axes.figure.savefig(
                temporary,
                format=suffix[1:],
                dpi=150,
                bbox_inches="tight",
                metadata=None if suffix == ".png" else options,
            )
    finally:
        plt.close(axes.figure)


def columns_of_stability(
    found: Stability, read: Clusterings, append_to: str = ""
) -> dict[str, Any]:
    """The columns that are written: the cluster and the stability; the latter if appended."""
    if append_to:
        return {f"{append_to}_stability": read.spread(found.points)}
    return {
        "cluster": read.spread(_names_of_clusters(found.reference)),
        "stability": read.spread(found.points),
    }


def columns_of_samples(
    found: Drift, samples: list[Clusterings], names: tuple[str, str]
) -> dict[str, Any]:
    """The columns that are written: the sample, ids if there are any, and the cluster."""
    tables = [
        {"sample": np.full(read.n_rows, name)}
        | ids_of(read)
        | {"cluster": read.spread(_names_of_clusters(p))}
        for name, read, p in zip(names, samples, (found.a, found.b), strict=True)
    ]
    join: Any = np.ma.concatenate
    # Ids only if both samples have them.
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    return {key: join([table[key] for table in tables]) for key in shared}


def ids_of(read: Clusterings) -> dict[str, Any]:
    return {} if read.ids is None else {str(read.id_name): np.asarray(read.ids)}


def _names_of_clusters(partition: Any) -> Any:
    """The name of each point's cluster, empty for noise."""
    return np.array([*map(str, partition.names), ""])[partition.labels]


def say_what_is_written(quiet: bool, hint: str, *files: Any) -> None:
    written = ", ".join(str(file) for file in files if file is not None)
    if not quiet and (written or hint):
        print(f"liftcluster: {f'written to {written}' if written else hint}", file=sys.stderr)
