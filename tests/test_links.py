"""Links and images of all Markdown files lead to files and headings that exist."""

import re
import unicodedata

import pytest

from support.documentation import GENERATED, ROOT

SKIPPED = {"build", ".git", ".ci", "node_modules", ".venv", *GENERATED}
FILES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not SKIPPED & set(path.relative_to(ROOT).parts)
    and not any(
        part.startswith((".", "liftcluster-paper")) for part in path.parent.relative_to(ROOT).parts
    )
)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\)")
SOURCE = re.compile(r"<(?:img|a)\b[^>]*\b(?:src|href)=\"([^\"]+)\"")
ROLE = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`")
LITERAL = ("{code-block}", "{math}", "{toctree}", "{bibliography}", "{eval-rst}")
DIRECTIVE = re.compile(
    r"^\s*[`:]{3,}\{(?:figure|image|include|literalinclude|plot)\} (\S+)", re.MULTILINE
)


def without_code(text):
    """Text without comments, inline code and fenced code; bodies of other directives stay."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    kept, closing = [], []  # open blocks: their closing fence, and whether they are code
    for line in text.splitlines():
        fence = re.match(r"\s*(`{3,})(.*)", line)
        if closing and fence and line.strip() == closing[-1][0]:
            closing.pop()
        elif fence and not (closing and closing[-1][1]):
            kept.append(line)
            info = fence[2].strip()
            hides = not info.startswith("{") or info.startswith(LITERAL)
            closing.append((fence[1], hides))
        elif not (closing and closing[-1][1]):
            kept.append(line)
    # Code in backticks goes, the text of roles such as {doc}`start` stays.
    inline = re.compile(r"(\{[\w:-]+\}`[^`]+`)|(`+)(?!`).+?(?<!`)\2(?!`)")
    return inline.sub(lambda found: found[1] or "", "\n".join(kept))


def anchors(text):
    """Names of headings as code forges and MyST make them, and explicit targets."""
    found = set(re.findall(r"^\(([^()]+)\)=$", text, re.MULTILINE))
    for heading in re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\{\w+\}|[`*]", "", heading).strip().lower()
        kept = (c for c in plain if c in " -_" or unicodedata.category(c)[0] in "LN")
        found.add("".join(kept).replace(" ", "-"))
    return found


def test_there_are_files():
    assert ROOT / "README.md" in FILES
    assert ROOT / "docs" / "evidence" / "index.md" in FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_and_images_exist(path):
    text = path.read_text(encoding="utf-8")
    prose = without_code(text)
    for target in [*LINK.findall(prose), *SOURCE.findall(prose), *DIRECTIVE.findall(prose)]:
        if re.match(r"[a-z]+:", target):  # another site, or a reference of Sphinx
            continue
        name, _, anchor = target.partition("#")
        base = ROOT / "docs" if name.startswith("/") else path.parent
        file = base / name.lstrip("/") if name else path
        if not file.exists() and base != ROOT / "docs" and target in DIRECTIVE.findall(prose):
            file = ROOT / "docs" / name  # the plot directive also takes paths from docs/
        assert file.exists(), f"{target} does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{target}: no such heading"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_linked_pages_exist(path):
    for target in ROLE.findall(without_code(path.read_text(encoding="utf-8"))):
        page = (ROOT / "docs" if target.startswith("/") else path.parent) / target.lstrip("/")
        made = page.relative_to(ROOT / "docs").parts if target.startswith("/") else ()
        if made[:1] == ("gallery",):
            assert made[1:] == ("index",) or (ROOT / "examples" / f"{made[-1]}.py").exists(), target
        elif made[:2] != ("api", "generated"):
            assert any(page.with_name(page.name + end).exists() for end in (".md", ".rst")), target
