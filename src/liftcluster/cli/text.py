"""Text that is safe to print."""

from __future__ import annotations

from typing import Any

__all__ = ["visible"]


def visible(name: Any) -> str:
    """A name out of somebody's file, without the characters that command a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(name))
