"""Progress bars for work that takes longer than a moment, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Advance", "busy", "progress_bar"]

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
        TextColumn("{task.description}", markup=False),
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


@contextmanager
def busy(description: str, *, show: bool | None = None) -> Iterator[None]:
    """A sign of life on stderr for work that cannot say how far it has got, after two seconds."""
    if not (sys.stderr.isatty() if show is None else show):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    sign = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=show),
        transient=True,
    )
    sign.add_task(description, total=None)
    timer = threading.Timer(_PATIENCE, sign.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if sign.live.is_started:
            sign.stop()
