"""The commands that need no files: demo, measures, methods.

They import the library when they run, so that help and mistakes in arguments need not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..io import check_target
from .application import app

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
    from .demo import run_demo
    from .showing import make_console

    run_demo(make_console(), seed, out)


@app.command()
def measures() -> None:
    """List every distance between clusterings, what it needs and what it promises."""
    from .demo import show_measures
    from .showing import make_console

    show_measures(make_console())


@app.command()
def methods() -> None:
    """List every consensus method, what it needs and where it comes from."""
    from .demo import show_methods
    from .showing import make_console

    show_methods(make_console())
