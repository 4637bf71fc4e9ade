"""The command line: reads, calls, prints; no mathematics of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

from .demo import run_demo, show_measures, show_methods

__all__ = ["app", "main"]

app = typer.Typer(
    name="liftcluster",
    help="Compare and combine clusterings by where their points are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("liftcluster"))
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


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0, max=2**32 - 1)] = 0,
) -> None:
    """Compare three clusterings of 1,797 handwritten digits: how far apart, and what moved.

    Needs no files: the digits come with scikit-learn.
    """
    run_demo(Console(), seed)


@app.command()
def measures() -> None:
    """List every distance between clusterings, what it needs and what it promises."""
    show_measures(Console())


@app.command()
def methods() -> None:
    """List every consensus method, what it needs and where it comes from."""
    show_methods(Console())


def main() -> None:
    app(prog_name="liftcluster")
