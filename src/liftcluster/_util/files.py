"""Files that are whole or not there at all."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

__all__ = ["remove_leftovers", "remove_unfinished", "replacing"]

_STALE = 600.0  # seconds for which nothing was written to what somebody still writes
_unfinished: set[Path] = set()  # what is being written just now


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A name to write to; what was written takes the place of the target when it is whole.

    An error names the target. A device is written to as it is: to replace it by a file, as root
    can, would take it away from everybody.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        target = Path(os.path.realpath(target))  # the file behind a link, not the link
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        temporary = target.with_name(f"{_beginning(target)}{uuid.uuid4().hex}.tmp")
        _unfinished.add(temporary)
        try:
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            _reach_the_disk(temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
            _unfinished.discard(temporary)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def remove_unfinished() -> None:
    """Take away what is half written, for who ends the process without another word."""
    for temporary in list(_unfinished):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_leftovers(path: str | PathLike[str]) -> None:
    """Take away what others left half written of a file, when they were killed."""
    target = Path(os.path.realpath(path))
    for leftover in target.parent.glob(f"{_beginning(target)}*.tmp"):
        with suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _STALE:
                leftover.unlink(missing_ok=True)


def _beginning(target: Path) -> str:
    """Of the names under which a file is written; its own may be as long as a name can be."""
    return f".liftcluster-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"


def _reach_the_disk(path: Path) -> None:
    """Before the name moves: after a loss of power it could stand for an empty file otherwise."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
