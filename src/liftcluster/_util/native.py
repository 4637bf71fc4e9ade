"""Compiled code, which the environment variable ``LIFTCLUSTER_NATIVE`` can disable."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType


def wanted_native() -> str:
    """What the user sets it to; "on" by default."""
    return os.environ.get("LIFTCLUSTER_NATIVE", "")


def is_off(wanted: str) -> bool:
    """Whether this setting disables compiled code."""
    return wanted.lower() in ("off", "0", "no")


def load_extension(name: str) -> ModuleType | None:
    """An extension module by its full name; None if it is disabled or was not built."""
    if is_off(wanted_native()):
        return None
    try:
        return import_module(name)
    except ImportError:  # NumPy does the same work
        return None
