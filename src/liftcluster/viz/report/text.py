"""Names and moves as they may stand in a sentence: short, and turning nothing round."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...comparison.comparison import Move

__all__ = ["main_change", "retold", "shown"]

_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # they reach past a name
_FIRST, _LAST = "\u2068", "\u2069"  # what stands between them keeps its direction to itself
_NOTHING = 1e-9  # a cost that rounding leaves


def shown(name: Any, most: int = 40) -> str:
    """A name on one line, without marks of direction, not too long.

    Examples
    --------
    >>> shown("two\\nlines"), shown("a very long name", 10)
    ('two lines', 'a very lo…')
    """
    line = " ".join(_DIRECTIONS.sub("", str(name)).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def retold(moves: Iterable[Move]) -> list[Move]:
    """The same moves with names fit for a sentence."""
    return [
        replace(
            move,
            sources=tuple(_isolated(name) for name in move.sources),
            targets=tuple(_isolated(name) for name in move.targets),
        )
        for move in moves
    ]


def main_change(moves: Iterable[Move]) -> str | None:
    """The costliest move in words; None where every cluster stayed in its place, but for spill."""
    real = [
        move
        for move in retold(moves)
        if move.kind not in ("stayed", "spilled") and move.cost > _NOTHING
    ]
    return str(max(real, key=lambda move: move.cost)) if real else None


def _isolated(name: Any) -> str:
    line = shown(name, 24)
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in line)
    return f"{_FIRST}{line}{_LAST}" if turns else line
