"""Files that are whole or not there at all."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

__all__ = ["replacing"]


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
        target = target.resolve()  # the file behind a link, not the link
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
        try:
            yield temporary
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, str(path)) from error
