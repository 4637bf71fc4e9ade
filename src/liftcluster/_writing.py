"""Files that are whole or not there at all."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

__all__ = ["remove_unfinished", "replacing"]

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
        # Not after the target, whose name may be as long as a name can be.
        temporary = target.with_name(f".liftcluster-{uuid.uuid4().hex}.tmp")
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


def _reach_the_disk(path: Path) -> None:
    """Before the name moves: after a loss of power it could stand for an empty file otherwise."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
