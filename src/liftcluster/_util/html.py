"""Small tables for notebooks, in whatever colours the notebook has; every name is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["items", "paragraph", "table"]


def paragraph(text: Any, *, strong: bool = False) -> str:
    return f"<p><b>{_isolated(text)}</b></p>" if strong else f"<p>{_isolated(text)}</p>"


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Text to the left, which notebooks would put to the right."""
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
    """Isolated, so that right-to-left letters turn nothing else round."""
    return f"<bdi>{escape(str(text))}</bdi>"
