"""Pieces of work, and the book of those that are done: one file each, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from liftcluster._util.files import replacing
from liftcluster._util.version import __version__

from .data import Located, load
from .record import circumstances

__all__ = ["Finished", "Ledger", "Piece"]


@dataclass(frozen=True)
class Piece:
    """One unit of work: a function of the module's top level, and all that determines its answer.

    The function is called with the points (where there are some), then with the answers of the
    pieces it needs, then with the options by name; it returns what JSON can hold.
    """

    name: str
    function: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    points: Located | None = None
    needs: tuple[Piece, ...] = ()
    alone: bool = False  # it measures time, so nothing may run beside it

    @property
    def key(self) -> str:
        """Changes with anything that could change the answer, and with nothing else."""
        determined_by = {
            "name": self.name,
            "version": __version__,
            "options": dict(self.options),
            "points": None if self.points is None else [self.points.name, self.points.digest],
            "needs": [piece.key for piece in self.needs],
        }
        text = json.dumps(determined_by, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def with_all_it_needs(self) -> Iterator[Piece]:
        """The pieces to be done before it, deepest first, and itself last."""
        for piece in self.needs:
            yield from piece.with_all_it_needs()
        yield self


@dataclass(frozen=True)
class Finished:
    """The answer of a piece, how long it took, and on which day, machine and versions."""

    result: Any
    seconds: float
    circumstances: Mapping[str, Any]


class Ledger:
    """A folder with a file for each finished piece."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, piece: Piece) -> Finished | None:
        """What was found before, if it was for the same version, options and points."""
        try:
            kept = json.loads(self._path(piece).read_text())
            if kept["key"] == piece.key:
                return Finished(kept["result"], kept["seconds"], kept["circumstances"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass  # not there, or not ours
        return None

    def do(self, piece: Piece) -> Finished:
        """Do a piece whose needs are done, and keep what it found."""
        arguments = [] if piece.points is None else [load(piece.points)]
        arguments += [self.result(needed) for needed in piece.needs]
        begun = time.perf_counter()
        result = piece.function(*arguments, **piece.options)
        seconds = time.perf_counter() - begun
        kept = {
            "key": piece.key,
            "piece": piece.name,
            "version": __version__,
            "options": dict(piece.options),
            "circumstances": circumstances(),
            "seconds": seconds,
            "result": result,
        }
        text = json.dumps(kept, allow_nan=False) + "\n"
        with replacing(self._path(piece)) as temporary:
            temporary.write_text(text)
        again = json.loads(text)
        return Finished(again["result"], seconds, again["circumstances"])

    def result(self, piece: Piece) -> Any:
        finished = self.find(piece)
        assert finished is not None, f"{piece.name} is needed before it is done"
        return finished.result

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, and sweep out what a process that was killed had begun to write.

        Not while another run is at work in the same folder: its files are not left behind.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with _used_together(self.folder) as alone:
            if alone:
                for half in self.folder.glob(".*.tmp"):
                    half.unlink(missing_ok=True)
            yield

    def _path(self, piece: Piece) -> Path:
        return self.folder / f"{piece.name}.json"


@contextmanager
def _used_together(folder: Path) -> Iterator[bool]:
    """Take part in the use of a folder; whether nobody else did in the beginning."""
    try:
        import fcntl
    except ImportError:  # not on this system, where nobody can tell
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except OSError:  # held by another run, or a file system without locks
            alone = False
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield alone
    finally:
        os.close(handle)
