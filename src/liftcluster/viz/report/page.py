"""The report as a thing to look at: one HTML file that needs no network."""

from __future__ import annotations

import base64
import copy
import hashlib
import html
import json
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from ..._util.files import replacing
from .words import Name, Sentence, plain

__all__ = ["Report"]

_SCRIPTS = ("data", "colours", "heatmap", "map", "flow", "points", "tables", "main")
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_MOST_INLINE = 20_000_000  # characters of a page that a notebook should carry


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What :func:`make_report` found, as a page.

    Attributes
    ----------
    title : str
    summary : list of str
        The findings in a few sentences.
    """

    title: str
    sentences: list[Sentence]
    data: dict[str, Any]

    @property
    def summary(self) -> list[str]:
        return [plain(sentence) for sentence in self.sentences]

    def to_dict(self) -> dict[str, Any]:
        """All that is on the page as plain values, fit for JSON.

        What there is one of for each point is base64 of little-endian integers, with its
        ``dtype``; where there are ``low`` and ``high``, 0 stands for the one and 255 for the other.
        """
        return {"title": self.title, "summary": self.summary, **copy.deepcopy(self.data)}

    def html(self) -> str:
        """The page."""
        return self._page

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file: under another name first, so that it is never half there."""
        target = Path(path)
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder; name a file in it, such as page.html")
        if not target.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {target.absolute().parent}; make it first")
        with (
            replacing(target) as temporary,
            open(temporary, "w", encoding="utf-8", newline="\n") as file,
        ):
            file.write(self._page)

    @cached_property
    def _page(self) -> str:
        style = _asset("page.css")
        script = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
        return Template(_asset("page.html")).substitute(
            title=_escaped(self.title),
            policy=_policy(script, style),
            style=style,
            script=script,
            summary="\n".join(f"<p>{_marked_up(s)}</p>" for s in self.sentences),
            data=_embedded({"title": self.title, **self.data}),
        )

    def __str__(self) -> str:
        return "\n".join([self.title, *self.summary])

    def __repr__(self) -> str:
        return f"Report({self.title!r}: {self.summary[0]})"

    def _repr_html_(self) -> str:
        if len(self._page) > _MOST_INLINE:
            size = len(self._page) / 1e6
            told = "".join(f"<p>{_marked_up(s)}</p>" for s in self.sentences)
            return f"{told}<p>The page is large ({size:.0f} MB): save it with .save(path).</p>"
        return (
            f'<iframe srcdoc="{html.escape(self._page)}" sandbox="allow-scripts" '
            f'title="{_escaped(self.title)}" '
            'style="width:100%;height:900px;border:1px solid #8884"></iframe>'
        )


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """JSON that no HTML parser can leave, whatever the names in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _marked_up(sentence: Sentence) -> str:
    """Names isolated, so that one in right-to-left letters turns nothing else round."""
    return "".join(
        f'<bdi class="name">{_escaped(part.text)}</bdi>'
        if isinstance(part, Name)
        else _escaped(part)
        for part in sentence
    )


def _escaped(text: str) -> str:
    """Text that is no markup, without what HTML and UTF-8 do not know: zero bytes, half letters."""
    odd = {ord(c): _UNKNOWN for c in set(text) if unicodedata.category(c) in ("Cc", "Cs")}
    return html.escape(text.translate({**odd, **dict.fromkeys(map(ord, "\t\n\r"), " ")}))


def _policy(script: str, style: str) -> str:
    """Nothing may be loaded or sent; only the script and style of the page itself may run."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
