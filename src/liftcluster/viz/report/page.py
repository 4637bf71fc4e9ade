"""The class Report: a page in one HTML file that works offline."""

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

from ..._util.files import atomic_write
from .packing import pack_page
from .summary import Name, Sentence

_STYLES = ("page", "clusters")
_SCRIPTS = (
    "data", "pairs", "colours", "heatmap", "map", "flow", "columns", "lasso", "points", "tables",
    "trust", "clusters", "downloads", "link", "main",
)  # fmt: skip
_MAX_INLINE = 20_000_000  # characters of a page that is shown inside a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page made by :func:`liftcluster.make_report`.

    Attributes
    ----------
    title : str
        Title of the page.
    summary, sentences : lists
        The main results in a few sentences: as text, and with names of clusterings marked.
    data : dict
        The data of the page; ``to_dict`` returns a copy.

    See Also
    --------
    make_report : The function that returns it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.make_report({"u": [0, 0, 1, 1], "v": [0, 0, 1, 2]}, [[0.0], [1.0], [5.0], [6.0]]).title
    '2 clusterings compared'
    """

    title: str
    sentences: list[Sentence]
    data: dict[str, Any]

    @property
    def summary(self) -> list[str]:
        return ["".join(sentence) for sentence in self.sentences]

    def to_dict(self) -> dict[str, Any]:
        """The data of the page as plain values, ready for JSON.

        Arrays with one entry per point are little-endian integers in base64, with their
        ``dtype``; if they have ``low`` and ``high``, 0 stands for ``low`` and 255 for ``high``.
        """
        return {"title": self.title, "summary": self.summary, **copy.deepcopy(self.data)}

    def html(self) -> str:
        """The page as a string of HTML."""
        return self._page

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, atomically: an error leaves an old file unchanged.

        Parameters
        ----------
        path : str or path
            The file to write, such as "page.html", in an existing folder.
        """
        target = Path(path)
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder; give a file in it, such as page.html")
        if not target.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {target.absolute().parent}; create it")
        with atomic_write(target) as temporary:
            temporary.write_text(self._page, encoding="utf-8", newline="\n")

    @cached_property
    def _page(self) -> str:
        style = "\n".join(_asset(f"{name}.css") for name in _STYLES)
        script = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
        return Template(_asset("page.html")).substitute(
            title=_escaped(self.title),
            style_hash=_hash(style),
            script_hash=_hash(script),
            style=style,
            script=script,
            summary=self._summary_html,
            data=_embedded({"title": self.title, **pack_page(self.data)}),
        )

    @property
    def _summary_html(self) -> str:
        return "\n".join(f"<p>{_marked_up(sentence)}</p>" for sentence in self.sentences)

    def __str__(self) -> str:
        return "\n".join([self.title, *self.summary])

    def __repr__(self) -> str:
        return f"Report({self.title!r}: {self.summary[0]})"

    def _repr_html_(self) -> str:
        if len(self._page) > _MAX_INLINE:
            size = f"{len(self._page) / 1e6:.0f} MB"
            return f"{self._summary_html}<p>The page is large ({size}): use .save(path).</p>"
        return (
            f'<iframe srcdoc="{html.escape(self._page)}" sandbox="allow-scripts allow-downloads" '
            f'title="{_escaped(self.title)}" '
            'style="width:100%;height:900px;border:1px solid #8884"></iframe>'
        )


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """JSON in which no name can end the script element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _marked_up(sentence: Sentence) -> str:
    """A sentence as HTML; names in bdi elements, so that right-to-left ones affect only them."""
    return "".join(
        f'<bdi class="name">{_escaped(part)}</bdi>' if isinstance(part, Name) else _escaped(part)
        for part in sentence
    )


def _escaped(text: str) -> str:
    """Text as HTML; control characters and surrogates become replacement characters."""
    invalid = {ord(c): "\ufffd" for c in set(text) if unicodedata.category(c) in ("Cc", "Cs")}
    return html.escape(text.translate({**invalid, **dict.fromkeys(map(ord, "\t\n\r"), " ")}))


def _hash(text: str) -> str:
    """A hash for the content security policy, which allows only this script and this style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
