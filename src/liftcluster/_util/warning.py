"""Warnings that point at the line of the user's code, however deep they are raised."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.split(".")[0]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first frame outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
