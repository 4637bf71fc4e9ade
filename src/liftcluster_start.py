"""The command `liftcluster`, outside the package so that it can be stopped while that is loaded."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

__all__ = ["main"]

_AS_A_MODULE = ("liftcluster", "liftcluster.__main__", "-mliftcluster")


def main() -> NoReturn:
    """Load the package and run the command; an interrupt is one line and exit code 130."""
    try:
        if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _end):
            signal.signal(signal.SIGINT, _interrupt_once)
        from liftcluster.cli import main as run

        run()
    except KeyboardInterrupt:
        print("liftcluster: stopped", file=sys.stderr, flush=True)
        os._exit(130)  # Python itself would end by the signal, if that came at certain moments


def _end_quietly_while_loading() -> None:
    """For ``python -m liftcluster``, which loads the package before any line of its __main__.

    Until Python has found that, it calls itself -m; the name stood before the arguments.
    """
    as_a_module = sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)] in _AS_A_MODULE
    if as_a_module and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"liftcluster: stopped\n")
    os._exit(130)


def _interrupt_once(number: int, frame: FrameType | None) -> NoReturn:
    """Impatience must not interrupt the last words."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


_end_quietly_while_loading()
