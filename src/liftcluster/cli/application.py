"""The application that the commands belong to."""

from __future__ import annotations

from typing import Annotated

import typer

from .._util.version import __version__

__all__ = ["EXIT_CODES", "app"]

EXIT_CODES = (
    "Exit codes: 0 done; 2 something in the input is to be mended, which one line on stderr says; "
    "1 our fault; 130 stopped. A file is written whole or not at all."
)

app = typer.Typer(
    name="liftcluster",
    help="Compare and combine clusterings by where their points are.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and stop.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    pass
