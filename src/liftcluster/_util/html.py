"""HTML tables for notebooks, in the colours of the notebook; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def paragraph(text: Any, *, strong: bool = False) -> str:
    return f"<p><b>{_isolated(text)}</b></p>" if strong else f"<p>{_isolated(text)}</p>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with its text aligned to the left, where notebooks align it to the right."""
    left = ' style="text-align:left"'
    head = "".join(f"<th{left}>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td{left}>{_isolated(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def items(lines: Iterable[Any]) -> str:
    return "<ul>" + "".join(f"<li>{_isolated(line)}</li>" for line in lines) + "</ul>"


def _isolated(text: Any) -> str:
    """Escaped text, isolated so that right-to-left letters do not reorder what is around it."""
    return f"<bdi>{escape(str(text))}</bdi>"
