"""What a table or figure of the paper is to the program, and what is said of its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .data import Located
from .ledger import Piece

__all__ = ["Claim", "Section", "Settings", "format_seconds", "markdown_table"]

Values = dict[str, Any]  # what JSON can hold


@dataclass(frozen=True)
class Settings:
    """How much is to be done."""

    seeds: int = 20
    seeds_mnist: int = 5
    full: bool = False  # also what takes hours

    def seeds_of(self, name: str) -> int:
        return self.seeds_mnist if name.startswith("mnist") else self.seeds


@dataclass(frozen=True)
class Section:
    """A table or figure: which pieces it is made of, and how they are put together and shown.

    Attributes
    ----------
    name, title : str
    sets : tuple of str
        Data sets it is about, beyond those that are constructed.
    plan : callable
        ``plan(settings, located)`` gives the pieces of work, by what they are called in ``gather``.
    gather : callable
        ``gather(results)`` makes the values shown, among them ``claims``, from the pieces' results.
    tell : callable
        ``tell(values)`` is the text, in Markdown.
    draw : callable or None
        ``draw(values, results)`` is the picture, a matplotlib figure.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    plan: Callable[[Settings, Mapping[str, Located]], dict[str, Piece]]
    gather: Callable[[Mapping[str, Any]], Values]
    tell: Callable[[Values], str]
    draw: Callable[[Values, Mapping[str, Any]], Any] | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it is so here, by the numbers found here."""

    says: str
    holds: bool
    here: str

    def as_dict(self) -> Values:
        return {"says": self.says, "holds": bool(self.holds), "here": self.here}


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers.

    Examples
    --------
    >>> print(markdown_table(["set", "Rand"], [["Iris", "0.1"]]))
    | set | Rand |
    |---|--:|
    | Iris | 0.1 |
    """
    lines = [header, *rows]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([texts[0], "|---|" + "--:|" * (len(header) - 1), *texts[1:]])


def format_seconds(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> [format_seconds(s) for s in (0.00203, 0.31, 1774.2, 202681)]
    ['2.03 ms', '310 ms', '1,774.2 s', '202,681 s']
    """
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:,.1f} s".replace(".0 s", " s")
