"""The commands that need no files: demo, measures, methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..demo import run_demo, show_measures, show_methods
from ..files import check_target
from .application import app
from .showing import make_console

__all__: list[str] = []


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0, max=2**32 - 1)] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path(
        "liftcluster-demo.html"
    ),
) -> None:
    """Compare and combine clusterings of 1,797 handwritten digits, and write a page about it.

    Needs no files: the digits come with scikit-learn.
    """
    check_target(out, (".html", ".htm"))
    run_demo(make_console(), seed, out)


@app.command()
def measures() -> None:
    """List every distance between clusterings, what it needs and what it promises."""
    show_measures(make_console())


@app.command()
def methods() -> None:
    """List every consensus method, what it needs and where it comes from."""
    show_methods(make_console())
