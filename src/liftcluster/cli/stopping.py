"""Ctrl-C and kill, answered within a second whatever the work is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from .._util.files import remove_unfinished

__all__ = ["Stop", "stoppable"]

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_PATIENCE = 0.5  # seconds in which the work may end by itself
_SHOW_CURSOR = b"\x1b[?25h"


class Stop:
    """Whether somebody wants the command to stop, and by which signal."""

    def __init__(self) -> None:
        self.wanted = False
        self.signal: int = signal.SIGINT

    @property
    def exit_code(self) -> int:
        return 128 + self.signal

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        """Interrupt the work; impatience must not interrupt its tidying up."""
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        self.wanted, self.signal = True, number
        raise KeyboardInterrupt

    def end(self, code: int) -> NoReturn:
        """Where Python might end by the signal instead, or wait for threads."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        _release_semaphores()
        os._exit(code)


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Interrupt the work inside when a signal asks for it, and end the process if that is no help.

    Python passes a signal on only between two of its own steps, and a long call into a library,
    such as a large transport, is one step. So a thread learns of the signal as well, waits for a
    moment, removes what is half written and ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Those that are ignored stay so, as nohup wants it and a shell for what is in the background.
    heeded = {number for number, handler in before.items() if handler is not signal.SIG_IGN}
    ended = threading.Event()
    heard, told = socket.socketpair()
    told.setblocking(False)
    watch = threading.Thread(target=_watch, args=(heard, heeded, ended), daemon=True)
    watch.start()
    earlier = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    try:
        for number in heeded:
            signal.signal(number, stop)
        yield
    finally:
        ended.set()
        if not stop.wanted:  # else the process is about to end, and nobody need ask twice
            for number in heeded:
                signal.signal(number, before[number])
        signal.set_wakeup_fd(earlier)
        told.close()  # which the thread hears, and ends
        watch.join()
        heard.close()


def _watch(heard: socket.socket, heeded: set[int], ended: threading.Event) -> None:
    while number := heard.recv(1):
        if number[0] in heeded:
            if not ended.wait(_PATIENCE):
                _end(128 + number[0])
            return


def _release_semaphores() -> None:
    """Those of processes that worked for the command: Python warns of what nobody gave back."""
    if (util := sys.modules.get("multiprocessing.util")) is not None:
        with suppress(Exception):  # whatever goes wrong, the process is about to end
            util._run_finalizers(0)


def _end(code: int) -> NoReturn:
    """Leave at once: no lock is waited for, so nothing that the work holds can prevent it."""
    remove_unfinished()
    with suppress(OSError):
        if sys.stderr is not None and os.isatty(2):
            os.write(2, _SHOW_CURSOR)  # a progress bar has hidden it
        os.write(2, b"liftcluster: stopped\n")
    _release_semaphores()
    os._exit(code)
