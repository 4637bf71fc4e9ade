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
from liftcluster.cli.running import main
from liftcluster.cli.showing import make_console
from liftcluster.io import InputError

from . import SECTIONS, SETS, Settings, claims_in_words, make_paper

__all__ = ["app"]

_MOST_JOBS = 4  # each may need a gibibyte on MNIST

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")


@app.command(epilog=EXIT_CODES, context_settings={"help_option_names": ["--help", "-h"]})
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Which: {', '.join(SECTIONS)}, or all (the default).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to write to; made if need be.")
    ] = Path("liftcluster-paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder of data sets. Those not in it are fetched from OpenML, and kept "
            "under --out.",
            envvar="LIFTCLUSTER_DATA",
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only these data sets, with commas between: {', '.join(SETS)}.",
            show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also measure CDistance on 60,000 points, which takes long."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="How many pieces of work at once; times are always measured alone. Default: the "
            f"number of cores, at most {_MOST_JOBS}.",
            min=1,
            show_default=False,
        ),
    ] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Do also again what has been done.")] = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Reproduce the tables and figures of the paper, with its own numbers beside ours.

    Writes `paper.md`, `paper.json` and `images/` into a folder. What was done is not done again:
    after an interruption, start the same command.

    **Examples**

    * `python -m reproduction all --data data --out paper`

    * `python -m reproduction table-1 table-3 --sets iris,wine --data data`
    """
    chosen = _sections(names)
    wanted = None
    if sets is not None:
        wanted = [check_choice(name, SETS, "--sets") for name in o.names_of(sets)]
    folder, data = _folder(out), _data_folder(data)
    made = make_paper(
        chosen,
        folder,
        data,
        settings=Settings(full=full),
        sets=wanted,
        jobs=jobs or min(os.cpu_count() or 1, _MOST_JOBS),
        redo=redo,
        tell=lambda sentence: _note(f"missing: {sentence}", quiet),
    )
    console = make_console()
    for name in made.sections:
        console.print(f"[bold]{SECTIONS[name].title}[/bold]")
        for line in claims_in_words(made.sections[name]["values"]):
            console.print(f"  {line}", markup=False)
        if made.sections[name]["missing"]:
            titles = ", ".join(SETS[n].title for n in made.sections[name]["missing"])
            console.print(f"  missing: {titles}", markup=False)
    for note in made.notes:
        _note(note, quiet)
    total = made.reused + made.computed
    _note(f"{total} pieces of work: {made.computed} done now, {made.reused} before", quiet)
    _note(f"written to {made.page}", quiet)


def _sections(names: list[str] | None) -> list[str]:
    """Names of sections in the order given, each once."""
    asked = names or ["all"]
    for name in asked:
        check_choice(name, ("all", *SECTIONS), "what to make")
    return list(SECTIONS) if "all" in asked else list(dict.fromkeys(asked))


def _folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; --out must be a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise InputError(f"{path} cannot be written: no permission; choose another place")
    return path


def _data_folder(path: Path | None) -> Path | None:
    if path is not None and not path.is_dir():
        raise InputError(
            f"{path} is not a folder; --data or LIFTCLUSTER_DATA must be the folder of data sets"
        )
    return path


def _note(sentence: str, quiet: bool) -> None:
    if not quiet:
        print(f"liftcluster: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    main(application=app, program="python -m reproduction")
