"""Interrupts: a command ends within a second of Ctrl-C or kill, whatever it is doing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from .._util.files import remove_unfinished

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_GRACE_PERIOD = 0.5  # seconds in which the work may end by itself
_SHOW_CURSOR = b"\x1b[?25h"


class Stop:
    """Whether the command was interrupted, and by which signal."""

    def __init__(self) -> None:
        self.wanted = False
        self.signal: int = signal.SIGINT

    @property
    def exit_code(self) -> int:
        return 128 + self.signal

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the work; further signals must not interrupt its cleanup.

        While a module is imported the process ends here: modules in C turn the exception into an
        error of their own, and callbacks of Python's import system lose it.
        """
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        self.wanted, self.signal = True, number
        _hide_interrupts()
        if _is_importing(frame):
            _end(self.exit_code)
        raise KeyboardInterrupt

    def end(self, code: int) -> NoReturn:
        """Exit without the end of Python, which might wait for threads or use another code."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        _release_semaphores()
        os._exit(code)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _hide_interrupts() -> None:
    """Print no tracebacks of interrupts: compiled functions print those that they cannot raise."""
    show, show_ignored = sys.excepthook, sys.unraisablehook

    def excepthook(kind: type[BaseException], *rest: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            show(kind, *rest)

    def unraisablehook(ignored: Any) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            show_ignored(ignored)

    sys.excepthook, sys.unraisablehook = excepthook, unraisablehook


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Interrupt the work inside on a signal, and end the process if that does not suffice.

    Python handles a signal only between two bytecodes, and a long call into a library, such as a
    large transport problem, is one of them. So a thread is notified as well, waits for a moment,
    removes unfinished files and ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Ignored signals stay ignored, as nohup and background jobs need it.
    handled = {number for number, handler in before.items() if handler is not signal.SIG_IGN}
    ended = threading.Event()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    watch = threading.Thread(target=_watch, args=(receiver, handled, ended), daemon=True)
    watch.start()
    earlier = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    try:
        for number in handled:
            signal.signal(number, stop)
        yield
    finally:
        ended.set()
        if not stop.wanted:  # otherwise the process is about to end
            for number in handled:
                signal.signal(number, before[number])
        signal.set_wakeup_fd(earlier)
        sender.close()  # ends the thread
        watch.join()
        receiver.close()


def _watch(receiver: socket.socket, handled: set[int], ended: threading.Event) -> None:
    while number := receiver.recv(1):
        if number[0] in handled:
            if not ended.wait(_GRACE_PERIOD):
                _end(128 + number[0])
            return


def _release_semaphores() -> None:
    """Release the semaphores of worker processes, about which Python would warn."""
    if (util := sys.modules.get("multiprocessing.util")) is not None:
        with suppress(Exception):
            util._run_finalizers(0)


def _end(code: int) -> NoReturn:
    """Exit at once, without waiting for any lock that the work may hold."""
    remove_unfinished()
    with suppress(OSError):
        if sys.stderr is not None and os.isatty(2):
            os.write(2, _SHOW_CURSOR)  # a progress bar has hidden it
        os.write(2, b"liftcluster: stopped\n")
    _release_semaphores()
    os._exit(code)
