"""The pages of the documentation, and the code blocks in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
GENERATED = ("_build", "gallery", "generated")  # folders of what Sphinx makes
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if not set(path.relative_to(ROOT).parts) & set(GENERATED)
    ),
]
_FENCE = re.compile(r"\s*(`{3,})(.*)")


class Block(NamedTuple):
    page: str
    line: int
    info: str  # what follows the opening fence
    text: str
    output: str | None  # of the plain block that directly follows, if there is one


def blocks_of(path: Path) -> list[Block]:
    """The fenced blocks of a page, also those inside longer fences of directives."""
    return _blocks(path.read_text(encoding="utf-8").splitlines(), name_of(path), 1)


def rounded(text: str) -> str:
    """Numbers with all of their digits to nine: the last ones depend on the processor."""
    return re.sub(r"\d+\.\d{10,}(e[+-]?\d+)?", lambda found: f"{float(found[0]):.9g}", text)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _blocks(lines: list[str], page: str, first: int) -> list[Block]:
    found: list[Block] = []
    ends: list[int] = []  # number of the line after each block
    i = 0
    while i < len(lines):
        opening = _FENCE.fullmatch(lines[i])
        i += 1
        if opening is None:
            continue
        fence, info = opening[1], opening[2].strip()
        start = i
        while i < len(lines) and lines[i].strip() != fence:
            i += 1
        body = lines[start:i]
        i += 1
        if len(fence) > 3 and info.startswith("{"):
            found += _blocks(body, page, first + start)
            ends += [0] * (len(found) - len(ends))
            continue
        if info == "" and found and not any(map(str.strip, lines[ends[-1] : start - 1])):
            found[-1] = found[-1]._replace(output="\n".join(body))
        else:
            found.append(Block(page, first + start, info, "\n".join(body) + "\n", None))
        ends += [i] * (len(found) - len(ends))
    return found
