"""Progress bars for work that takes longer than two seconds, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int], None]  # takes the number of steps done since the last call

_DELAY = 2.0  # seconds before anything is shown


@contextmanager
def progress_bar(description: str, total: int, *, show: bool | None = None) -> Iterator[Advance]:
    """Yield ``advance(steps)``; a bar appears on stderr once the work has taken two seconds.

    ``show=None`` means only if stderr is a terminal.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda steps: None
        return
    from rich.progress import BarColumn, TimeRemainingColumn

    bar = _progress(show, [], [BarColumn(), "{task.completed}/{task.total}", TimeRemainingColumn()])
    task = bar.add_task(description, total=total)
    begun = time.monotonic()

    def advance(steps: int) -> None:
        if not bar.live.is_started and time.monotonic() - begun > _DELAY:
            bar.start()
        bar.advance(task, steps)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def busy(description: str, *, show: bool | None = None) -> Iterator[None]:
    """Show a spinner on stderr after two seconds, for work whose progress is unknown."""
    if not (sys.stderr.isatty() if show is None else show):
        yield
        return
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    spinner = _progress(show, [SpinnerColumn()], [TimeElapsedColumn()])
    spinner.add_task(description, total=None)
    timer = threading.Timer(_DELAY, spinner.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if spinner.live.is_started:
            spinner.stop()


def _progress(show: bool | None, before: list[Any], after: list[Any]) -> Any:
    """Progress with columns before and after the description of the task."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    description = TextColumn("{task.description}", markup=False)  # file names may hold brackets
    # show=True shows it also where stderr is no terminal.
    console = Console(stderr=True, force_terminal=show)
    return Progress(*before, description, *after, console=console, transient=True)
