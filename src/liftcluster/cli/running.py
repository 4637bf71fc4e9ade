"""Running a command: arguments in, exit code out, one line for each error."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from .stopping import Stop, stoppable

_NO_MEMORY = "there is not enough memory; take fewer points, or --lift fourier"
_PACKAGES = (__name__.split(".")[0], "reproduction")

# What typer raises for wrong arguments, wherever it keeps it: its own click or the real one.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

# Messages of the library in the terms of the command line.
_WORDS = {
    r'\b(lift|method)="(\w+)"': r"--\1 \2",
    r"\bgive n_clusters\b": "give --n-clusters",
    r'\bn_clusters="(\w+)"': r"--n-clusters \1",
    r"\bn_components\b": "--n-components",
    r"\bsay with view\b": "say with --view",
    r"\bthe points X\b": "the points",
    r"\bgive X, or leave that out\b": "leave out --labels-only, or that option",
    r'\bsay partitioner="\w+" if that is what you want, or install METIS\b': "install METIS",
    r"\(see the argument noise\)": "(empty cells, NA and -1 are noise)",
}


def run(
    application: typer.Typer, args: Sequence[str] | None = None, program: str = "liftcluster"
) -> NoReturn:
    """Run a command and exit: 0 success, 2 invalid input, 1 internal error, 130 interrupted."""
    _open_streams()
    given = (sys.argv[1:] if args is None else list(args)) or ["--help"]
    stop = Stop()
    try:
        with warnings.catch_warnings(), stoppable(stop):
            quiet = _asked(given, "--quiet", "-q")
            warnings.simplefilter("ignore" if quiet else "always", UserWarning)
            warnings.showwarning = _show_warning
            code = _flush(_run(given, application, program, stop))
    except KeyboardInterrupt:
        code = _say("stopped", stop.exit_code)
    if stop.wanted:
        stop.end(code)
    sys.exit(code)


def visible(name: Any) -> str:
    """A name from a file, without control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))


def _run(args: list[str], application: typer.Typer, program: str, stop: Stop) -> int:
    try:
        code = int(application(args, prog_name=program, standalone_mode=False, obj=args) or 0)
        if code == 130:  # typer's code for an interrupt
            raise KeyboardInterrupt
        return code
    except SystemExit as stopped:  # typer and rich exit so when a pipe is closed
        return 0 if stopped.code == 1 else int(stopped.code or 0)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.Exit as stopped:
        return int(stopped.exit_code)
    except BrokenPipeError:
        return 0
    except Exception as error:
        if stop.wanted:  # an import that was interrupted may fail in any way
            raise KeyboardInterrupt from None
        if _asked(args, "--debug"):
            traceback.print_exc()
        return _explain(error)


def _explain(error: Exception) -> int:
    """One line about an error; the exit code says whether the input or this package caused it."""
    if isinstance(error, _UsageError):
        return _say(f"{error.format_message().rstrip('.')}; see liftcluster --help", 2)
    if isinstance(error, OSError):
        where = error.filename or "the output cannot be written"
        return _say(f"{where}: {error.strerror or error}", 2)
    if isinstance(error, MemoryError):
        return _say(_in_options(str(error)) if _is_ours(error) else f"{_NO_MEMORY} ({error})", 2)
    if isinstance(error, ValueError | TypeError | ImportError) and _is_ours(error):
        return _say(_in_options(str(error)), 2)
    return _say(
        f"unexpected {type(error).__name__}: {error}; this is a bug: please report it with what "
        "--debug shows",
        1,
    )


def _is_ours(error: Exception) -> bool:
    """Whether this package raised the error, which is then about the input."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    raised_in = frames[-1].f_globals.get("__name__", "") if frames else ""
    return raised_in.split(".")[0] in _PACKAGES


def _say(message: str, code: int) -> int:
    print(f"liftcluster: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {_in_options(str(message))}", 0)


def _in_options(message: str) -> str:
    for python, words in _WORDS.items():
        message = re.sub(python, words, message)
    return message


def _asked(args: list[str], *names: str) -> bool:
    return any(name in args for name in names)


def _open_streams() -> None:
    """Replace closed standard streams, so that no file gets their numbers, and escape any name.

    Output that cannot be written is an error, so stdout is replaced by a read-only file.
    """
    for name, flags in {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}.items():
        if getattr(sys, name) is None:
            substitute = os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(substitute, "r" if name == "stdin" else "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _flush(code: int) -> int:
    """Flush stdout; a full disk or a closed pipe may be noticed only now."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python flushes again at exit, and would report the error a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code if code or isinstance(error, BrokenPipeError) else _explain(error)
    return code
