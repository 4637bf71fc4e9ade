"""The application that the commands belong to."""

from __future__ import annotations

from typing import Annotated

import typer

from .._util.version import __version__

EXIT_CODES = (
    "Exit codes: 0 success; 2 invalid input, explained in one line on stderr; 1 internal error; "
    "130 interrupted. A file is written completely or not at all."
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
