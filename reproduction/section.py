"""Sections of the reproduction (tables and figures), their settings and the claims they check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .data import Located
from .tasks import Task

__all__ = ["Claim", "Section", "Settings", "format_seconds", "markdown_table"]

Values = dict[str, Any]  # representable in JSON
Results = Mapping[str, Any]  # of the tasks of a section, by their keys in its plan
Plan = Callable[["Settings", Mapping[str, Located]], dict[str, Task]]


@dataclass(frozen=True)
class Settings:
    """The number of random seeds, and whether to run what takes hours."""

    seeds: int = 20
    seeds_mnist: int = 5
    full: bool = False

    def seeds_of(self, name: str) -> int:
        return self.seeds_mnist if name.startswith("mnist") else self.seeds


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, whether it holds here, and the numbers that show it."""

    statement: str
    holds: bool
    evidence: str

    @classmethod
    def unless(cls, exceptions: list[str], statement: str, if_none: str, otherwise: str) -> Claim:
        """A claim that holds if there are no exceptions; otherwise its evidence lists them."""
        evidence = f"{otherwise} {', '.join(exceptions)}" if exceptions else if_none
        return cls(statement, not exceptions, evidence)


@dataclass(frozen=True)
class Section:
    """A table or figure: its tasks, and how their results are summarised, checked and shown.

    Attributes
    ----------
    name, title : str
    sets : tuple of str
        Data sets it needs, beyond the constructed ones.
    plan : callable
        ``plan(settings, located)`` returns the tasks, as a dict.
    collect : callable
        ``collect(results)`` returns the values to show, from the results of the tasks.
    check : callable
        ``check(values)`` returns the claims.
    describe : callable
        ``describe(values)`` returns the text, in Markdown.
    plot : callable or None
        ``plot(values, results)`` returns a matplotlib figure.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    plan: Plan
    collect: Callable[[Results], Values]
    check: Callable[[Values], list[Claim]]
    describe: Callable[[Values], str]
    plot: Callable[[Values, Results], Any] | None = None

    def evaluate(self, results: Results) -> Values:
        """The values to show, with the claims under the key "claims"."""
        values = self.collect(results)
        claims = [asdict(claim) | {"holds": bool(claim.holds)} for claim in self.check(values)]
        return values | {"claims": claims}


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is text and whose other columns are numbers.

    Examples
    --------
    >>> print(markdown_table(["set", "Rand"], [["Iris", "0.1"]]))
    | set | Rand |
    |---|--:|
    | Iris | 0.1 |
    """
    texts = ["| " + " | ".join(line) + " |" for line in [header, *rows]]
    return "\n".join([texts[0], "|---|" + "--:|" * (len(header) - 1), *texts[1:]])


def format_seconds(seconds: float) -> str:
    """A duration in milliseconds or seconds, with three digits or more.

    Examples
    --------
    >>> [format_seconds(s) for s in (0.00203, 0.31, 1774.2, 202681)]
    ['2.03 ms', '310 ms', '1,774.2 s', '202,681 s']
    """
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:,.1f} s".replace(".0 s", " s")
