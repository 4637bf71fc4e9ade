"""Progress bars for work that takes longer than a moment, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Advance", "progress_bar"]

Advance = Callable[[int], None]  # how many steps were done since the last call

_PATIENCE = 2.0  # seconds after which a person wants to know


@contextmanager
def progress_bar(description: str, total: int, *, show: bool | None = None) -> Iterator[Advance]:
    """Hand out ``advance(steps)``; a bar appears on stderr once the work has taken two seconds.

    ``show=None`` means only if stderr is a terminal.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda steps: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        console=Console(stderr=True, force_terminal=show),  # who asks for it gets it anywhere
        transient=True,
    )
    task = bar.add_task(description, total=total)
    begun = time.monotonic()
    started = False

    def advance(steps: int) -> None:
        nonlocal started
        if not started and time.monotonic() - begun > _PATIENCE:
            bar.start()
            started = True
        bar.advance(task, steps)

    try:
        yield advance
    finally:
        if started:
            bar.stop()
