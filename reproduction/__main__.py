"""`python -m reproduction` reproduces the paper's tables and figures."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from liftcluster._util.checks import check_choice
from liftcluster.cli import options as o
from liftcluster.cli.application import EXIT_CODES
from liftcluster.cli.running import run
from liftcluster.cli.showing import make_console
from liftcluster.io import InputError

from . import SECTIONS, SETS, Settings, format_claims, reproduce_paper

__all__ = ["app"]

_MAX_JOBS = 4  # each may need a gibibyte on MNIST

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")


@app.command(epilog=EXIT_CODES, context_settings={"help_option_names": ["--help", "-h"]})
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Sections: {', '.join(SECTIONS)}, or all (default).", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Output folder, created if it does not exist.")
    ] = Path("liftcluster-paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of data sets. Missing ones are downloaded from OpenML and kept under "
            "--out.",
            envvar="LIFTCLUSTER_DATA",
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only these data sets, separated by commas: {', '.join(SETS)}.",
            show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also time CDistance on 60,000 points; takes long.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Number of parallel tasks; timings always run alone. Default: the number of "
            f"cores, at most {_MAX_JOBS}.",
            min=1,
            show_default=False,
        ),
    ] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Run finished tasks again.")] = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Reproduce the tables and figures of the paper and compare them with its numbers.

    Writes `paper.md`, `paper.json` and `images/` into a folder. Finished tasks are not run again:
    after an interruption, start the same command.

    **Examples**

    * `python -m reproduction all --data data --out paper`

    * `python -m reproduction table-1 table-3 --sets iris,wine --data data`
    """

    def note(sentence: str) -> None:
        if not quiet:
            print(f"liftcluster: {sentence}", file=sys.stderr)

    chosen = _sections(names)
    wanted = None
    if sets is not None:
        wanted = [check_choice(name, SETS, "--sets") for name in o.names_of(sets)]
    if data is not None and not data.is_dir():
        raise InputError(
            f"{data} is not a folder; --data or LIFTCLUSTER_DATA must be the folder of data sets"
        )
    found = reproduce_paper(
        chosen,
        _output_folder(out),
        data,
        settings=Settings(full=full),
        sets=wanted,
        jobs=jobs or min(os.cpu_count() or 1, _MAX_JOBS),
        redo=redo,
        on_missing=lambda sentence: note(f"missing: {sentence}"),
    )
    console = make_console()
    for name, section in found.sections.items():
        console.print(f"[bold]{SECTIONS[name].title}[/bold]")
        for line in format_claims(section["values"]):
            console.print(f"  {line}", markup=False)
        if section["missing"]:
            titles = ", ".join(SETS[n].title for n in section["missing"])
            console.print(f"  missing: {titles}", markup=False)
    for sentence in found.notes:
        note(sentence)
    total = found.reused + found.computed
    note(f"{total} tasks: {found.computed} computed, {found.reused} loaded from earlier runs")
    note(f"written to {found.page}")


def _sections(names: list[str] | None) -> list[str]:
    """Names of sections in the given order, without duplicates."""
    chosen = names or ["all"]
    for name in chosen:
        check_choice(name, ("all", *SECTIONS), "section")
    return list(SECTIONS) if "all" in chosen else list(dict.fromkeys(chosen))


def _output_folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; --out must be a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise InputError(f"{path} is not writable; choose another folder")
    return path


if __name__ == "__main__":
    run(app, program="python -m reproduction")
