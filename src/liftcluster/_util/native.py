"""The environment variable ``LIFTCLUSTER_NATIVE``, which can disable compiled code."""

from __future__ import annotations

import os


def wanted_native() -> str:
    """What the user sets it to; "on" by default."""
    return os.environ.get("LIFTCLUSTER_NATIVE", "")


def is_off(wanted: str) -> bool:
    """Whether this setting disables compiled code."""
    return wanted.lower() in ("off", "0", "no")
