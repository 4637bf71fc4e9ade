"""Atomic writes: a file is replaced when the new one is complete, or not at all."""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO

_STALE = 600.0  # seconds without a write after which a temporary file counts as abandoned
_FOLDER = "liftcluster-"  # start of the names of temporary folders
_unfinished: set[Path] = set()  # temporary files that this process is writing


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield the name of a temporary file, which replaces the target when the block ends.

    Errors name the target. A device such as /dev/stdout is written to directly: root could
    otherwise replace it by a file.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        target = Path(os.path.realpath(target))  # the file behind a link, not the link
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        temporary = target.with_name(f"{_prefix(target)}{uuid.uuid4().hex}.tmp")
        _unfinished.add(temporary)
        try:
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())  # or a loss of power could leave an empty file
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
            _unfinished.discard(temporary)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error


def temporary_copy(stream: IO[bytes], name: str) -> Path:
    """A file with all that a stream holds, in a folder of its own, until the process ends."""
    folder = tempfile.TemporaryDirectory(prefix=_FOLDER)
    atexit.register(folder.cleanup)
    path = Path(folder.name, name)
    _unfinished.add(path)
    with open(path, "wb") as file:
        shutil.copyfileobj(stream, file)
    return path


def remove_unfinished() -> None:
    """Remove the temporary files of this process, before it is ended abruptly."""
    for temporary in list(_unfinished):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
            if temporary.parent.name.startswith(_FOLDER):
                temporary.parent.rmdir()


def remove_leftovers(path: str | PathLike[str]) -> None:
    """Remove abandoned temporary files of a target, left by processes that were killed."""
    target = Path(os.path.realpath(path))
    for leftover in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _STALE:
                leftover.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    """Start of the names of temporary files; hashed, because names may have the maximal length."""
    return f".liftcluster-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}-"
