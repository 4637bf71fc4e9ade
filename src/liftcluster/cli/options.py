"""The options that several commands share, as types that carry their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import typer

from .._util.checks import check_bandwidth_rule, check_choice, check_count, check_positive
from .._util.names import KernelName, LiftName, MeasureName, MethodName
from ..io import InputError, split_names
from ..lifts.settings import Fourier, Grid, Nystroem, Structured

KERNELS, LIFTS = get_args(KernelName), get_args(LiftName)
MEASURES, METHODS = get_args(MeasureName), get_args(MethodName)
MISSING = ("error", "drop", "median")

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".npz")
APPENDED = (*TABLES[:-1], ".txt", ".txt.gz", ".tab", ".tab.gz", ".h5ad")
PAGES = (".html", ".htm")

FILES = "Files and columns"
_LIFTING = "Lift"
_OUTPUT = "Output"


def complete(choices: Any) -> Any:
    """Shell completion for one of several names, after the last comma."""

    def complete(incomplete: str) -> list[str]:
        head, comma, last = incomplete.rpartition(",")
        return [head + comma + name for name in choices if name.startswith(last)]

    return complete


Points = Annotated[
    Path,
    typer.Argument(
        help="The points: CSV or TSV (also .gz), Parquet, npy, npz or h5ad; - is stdin.",
        show_default=False,
        readable=False,  # the reader of files has better messages
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "-c",
        help="Coordinates: names or patterns (pc*), separated by commas. Default: all numeric "
        "columns that are not used otherwise, without integers that are ids (customer_id), labels "
        "(cluster, kmeans_5) or row numbers.",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Columns that hold one clustering each: names or patterns (leiden_*), separated by "
        "commas; * is all but --columns and --id. Empty cells, NA and -1 are noise.",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
LabelsFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels-file",
        help="Another table with labels of the same points. May be repeated.",
        readable=False,
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Memberships = Annotated[
    list[str] | None,
    typer.Option(
        "--memberships",
        "-m",
        help="A soft clustering: name=column,column,... or name=file of a matrix. May be repeated.",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column by which rows of several files are matched, and which --out writes as well. "
        "Default: by their order; obs_names of h5ad.",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize",
        help="Shift and scale each coordinate to mean 0 and standard deviation 1.",
        rich_help_panel=FILES,
    ),
]
LabelsOnly = Annotated[
    bool,
    typer.Option(
        "--labels-only",
        help="Use labels alone, without the points.",
        rich_help_panel=FILES,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        "--missing",
        help="Points that lack a coordinate: error, drop (their place stays in the files that are "
        "written, with an empty label) or median (of the column).",
        autocompletion=complete(MISSING),
        rich_help_panel=FILES,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encoding of text files, such as cp1252. Default: UTF-8, or UTF-16 if marked as such.",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help="Decimal sign of text files, . or , (default: from the first lines).",
        rich_help_panel=FILES,
        show_default=False,
    ),
]
Pair = Annotated[
    str | None,
    typer.Option(
        "--pair",
        help="Two of several clusterings, separated by a comma: also every measure of these, and "
        "what became of the clusters of the first in the second.",
        show_default=False,
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "--measure",
        help="Distances, separated by commas; `liftcluster measures` lists them.",
        autocompletion=complete(MEASURES),
        show_default=False,
    ),
]
Measure = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="Distance between clusterings; `liftcluster measures` lists them. Default: lift_emd, "
        "or vi with --labels-only.",
        autocompletion=complete(MEASURES),
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="Consensus method; `liftcluster methods` lists them. auto chooses by the data.",
        autocompletion=complete(METHODS),
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        help=f"{', '.join(KERNELS)}.",
        autocompletion=complete(KERNELS),
        rich_help_panel=_LIFTING,
    ),
]
Bandwidth = Annotated[
    str,
    typer.Option(
        "--bandwidth",
        help="Bandwidth of the kernel: a number, or a rule such as median or median/4.",
        rich_help_panel=_LIFTING,
    ),
]
AutoBandwidth = Annotated[
    str,
    typer.Option(
        "--bandwidth",
        help="Bandwidth of the kernel: a number, or a rule such as median or median/4. auto is "
        "median/4, and median for distances between clusterings.",
        rich_help_panel=_LIFTING,
    ),
]
Lift = Annotated[
    str,
    typer.Option(
        "--lift",
        help=f"{', '.join(LIFTS)}. auto is exact for few points, else features that suit the "
        "dimension.",
        autocompletion=complete(LIFTS),
        rich_help_panel=_LIFTING,
    ),
]
Components = Annotated[
    int | None,
    typer.Option(
        "--n-components",
        help="Number of features of --lift fourier, structured, grid or nystroem. Default: 2048.",
        min=1,
        rich_help_panel=_LIFTING,
        show_default=False,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tol",
        help="Add features of --lift fourier or structured until no distance between clusters has "
        "a larger standard error.",
        rich_help_panel=_LIFTING,
        show_default=False,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        help="Seed of everything random, as rng in Python: the same seed, the same numbers.",
        min=0,
        max=2**32 - 1,
        rich_help_panel=_LIFTING,
    ),
]
Append = Annotated[
    bool,
    typer.Option(
        "--append",
        help="Write to --out the whole table of the points with the results as new columns: CSV, "
        "Parquet or h5ad, as it is. --out may be the table itself.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=_OUTPUT),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Also show the lift, its errors, and which measures were left out and why.",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No notes and no warnings on stderr.", rich_help_panel=_OUTPUT
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the whole trace of an error.", rich_help_panel=_OUTPUT),
]


Page = Annotated[Path, typer.Option("--out", "-o", help="The page to write.")]


def table_file(content: str) -> Any:
    """The option --out of a command that writes a table."""
    return typer.Option(
        "--out",
        "-o",
        help=f"File for {content}: {', '.join(TABLES)}; - is CSV on stdout.",
        show_default=False,
    )


def names_of(values: list[str] | None) -> list[str]:
    """Names between commas, of an option that may be repeated."""
    names = [name for value in values or [] for name in split_names(value)]
    if values and not all(names):
        raise InputError(f"a name is missing between the commas of {','.join(values)!r}")
    return names


class Reading(NamedTuple):
    """How files are read: options that all commands with files share."""

    missing: str
    encoding: str | None
    decimal: str | None


def as_reading(missing: str, encoding: str | None, decimal: str | None) -> Reading:
    check_choice(missing, MISSING, "--missing")
    if decimal is not None:
        check_choice(decimal, (".", ","), "--decimal")
    if encoding is not None:
        try:
            "".encode(encoding)
        except (LookupError, ValueError):
            known = "cp1252, latin-1, utf-16 and shift_jis are some that are"
            raise InputError(f"--encoding {encoding!r} is not known; {known}") from None
    return Reading(missing, encoding, decimal)


def as_measures(values: list[str] | None) -> list[str]:
    return [check_choice(name, MEASURES, "--measures") for name in names_of(values)]


def as_measure(name: str | None, labels_only: bool) -> str:
    return check_choice(name or ("vi" if labels_only else "lift_emd"), MEASURES, "--measure")


def as_method(name: str) -> str:
    return check_choice(name, METHODS, "--method")


def as_lifting(
    kernel: str,
    bandwidth: str,
    lift: str,
    n_components: int | None,
    seed: int,
    tol: float | None = None,
) -> dict[str, Any]:
    """The options of a lift, checked before a large file is read."""
    return {
        "kernel": check_choice(kernel, KERNELS, "--kernel"),
        "bandwidth": _as_bandwidth(bandwidth),
        "lift": _as_lift(check_choice(lift, LIFTS, "--lift"), n_components, tol),
        "rng": seed,
    }


def _as_lift(name: str, n_components: int | None, tol: float | None) -> Any:
    """A name, or settings where some are given."""
    given = {"--n-components": n_components, "--tol": tol}
    given = {option: value for option, value in given.items() if value is not None}
    takes = {
        "--n-components": {"fourier": Fourier, "structured": Structured, "nystroem": Nystroem}
        | {"grid": Grid},
        "--tol": {"fourier": Fourier, "structured": Structured},
    }
    for option in given:
        if name not in takes[option]:
            raise InputError(f"{option} needs --lift {' or '.join(takes[option])}, not {name}")
    if not given:
        return name
    if len(given) == 2:
        raise InputError("give either --n-components or --tol, which takes as many as it needs")
    if tol is not None:
        return takes["--tol"][name](tol=check_positive(tol, "--tol"))
    return takes["--n-components"][name](n_components=n_components)


def _as_bandwidth(text: str) -> Any:
    """A number, several (a mixture of scales), or a rule."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        if text != "auto":
            check_bandwidth_rule(text)
        return text
    for number in numbers:
        check_positive(number, "--bandwidth")
    return numbers[0] if len(numbers) == 1 else numbers


def as_n_clusters(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    try:
        return check_count(int(text), "--n-clusters")
    except ValueError:
        raise InputError(f"--n-clusters must be an integer from 1, or auto; got {text!r}") from None
