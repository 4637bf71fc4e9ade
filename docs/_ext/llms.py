"""Text for language models: llms.txt lists the pages, llms-full.txt has all of them as plain text.

`python _ext/llms.py _build/text _build/html`, after both were built; as an extension of Sphinx it
replaces the pictures of examples, which the text builder does not know.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_gallery.directives import imgsgnode

INTRODUCTION = """# liftcluster

> Python library and command-line tool: compare and combine clusterings by where their points are.

Every page is also in llms-full.txt, as plain text.
"""
FIRST = [
    "index",
    "start",
    "how_it_works",
    "mathematics",
    "choosing",
    "guides",
    "gallery",
    "api",
    "evidence",
]


def write(text: Path, site: Path) -> None:
    pages = sorted(text.rglob("*.txt"), key=lambda path: _order(path.relative_to(text)))
    pages = [path for path in pages if path.name not in ("genindex.txt", "search.txt")]
    lines, full = [INTRODUCTION], []
    for path in pages:
        content = path.read_text()
        address = path.relative_to(text).with_suffix(".html").as_posix()
        title = next((line.strip("* ") for line in content.splitlines() if line.strip()), address)
        lines.append(f"- [{title}]({address})")
        full.append(f"<!-- {address} -->\n\n{content}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n")
    (site / "llms-full.txt").write_text("\n\n".join(full))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", _name_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _name_pictures(app: Sphinx, doctree: nodes.document, name: str) -> None:
    if app.builder.format == "text":
        for picture in list(doctree.findall(imgsgnode)):
            picture.replace_self(nodes.paragraph("", f"[picture: {picture['alt']}]"))


def _order(path: Path) -> tuple[int, str]:
    first = path.parts[0].removesuffix(".txt")
    return FIRST.index(first) if first in FIRST else len(FIRST), path.as_posix()


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
