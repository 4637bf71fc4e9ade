"""The command `liftcluster`, outside the package so that it can be stopped while that is loaded."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Load the package and run the command; an interrupt is one line and exit code 130."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    from liftcluster.cli import main as run

    run()


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Exit at once: an exception could be lost in a callback, and nothing is there to clean up."""
    with suppress(OSError):  # stderr may be closed
        os.write(2, b"liftcluster: stopped\n")
    os._exit(128 + number)
