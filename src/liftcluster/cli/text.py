"""Text that is safe to print."""

from __future__ import annotations

from typing import Any


def visible(name: Any) -> str:
    """A name from a file, without control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))
