"""The command `liftcluster`, outside the package so that it can be stopped while that is loaded."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Load the package and run the command; an interrupt is one line and exit code 130."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt_once)
        from liftcluster.cli import main as run

        run()
    except KeyboardInterrupt:
        print("liftcluster: stopped", file=sys.stderr, flush=True)
        os._exit(130)  # Python itself would end by the signal, if that came at certain moments


def _interrupt_once(number: int, frame: FrameType | None) -> NoReturn:
    """Impatience must not interrupt the last words."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
