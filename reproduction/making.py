"""From names of tables and figures to a folder with the page, the numbers and the pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from liftcluster._util.files import replacing

from .contents import SECTIONS
from .data import Located, MissingData, locate
from .ledger import Finished, Ledger, Piece
from .page import IMAGES, write_page
from .pictures import load_matplotlib
from .section import Section, Settings, Values
from .working import Work, do_all

__all__ = ["Made", "make_paper"]

FORMAT = "liftcluster paper 2"
_PARTS = {"values", "circumstances", "missing"}  # of a section, without which it is not ours


@dataclass(frozen=True)
class Made:
    """What was made: the sections that were asked for, and how much of it was there before."""

    sections: dict[str, Values]
    missing: dict[str, str]  # data sets, and how to get them
    notes: tuple[str, ...]
    reused: int
    computed: int
    page: Path


def make_paper(
    names: Iterable[str],
    out: Path,
    data: Path | None = None,
    *,
    settings: Settings | None = None,
    sets: Iterable[str] | None = None,
    jobs: int = 1,
    redo: bool = False,
    tell: Callable[[str], object] = lambda sentence: None,
    show: bool | None = None,
) -> Made:
    """Make some tables and figures, or take them from what an earlier call has done.

    The folder ``out`` gets ``paper.md``, ``paper.json``, ``images/`` and ``pieces/``; sections made
    by earlier calls stay on the page. ``sets`` restricts the data sets, and leaves sections alone
    that have none of them. ``tell`` is called with each thing that is missing, at once.
    """
    settings = settings or Settings()
    allowed = None if sets is None else set(sets)
    chosen = _about([SECTIONS[name] for name in names], allowed)
    located, missing = _locate_all(chosen, allowed, data, out / "data", tell)
    plans = {
        section.name: section.plan(settings, {n: located[n] for n in section.sets if n in located})
        for section in chosen
        if not section.sets or any(name in located for name in section.sets)
    }
    pieces = [piece for plan in plans.values() for piece in plan.values()]
    again = {p.name for piece in pieces for p in piece.with_all_it_needs()} if redo else set()
    work = do_all(pieces, Ledger(out / "pieces"), jobs=jobs, redo=again, show=show)
    made: dict[str, Values] = {}
    notes = []
    for section in chosen:
        found, note = _make_section(section, plans.get(section.name), work, out)
        lacking = {name: missing[name] for name in section.sets if name in missing}
        made[section.name] = found | {"missing": lacking, "settings": asdict(settings)}
        notes += [note] if note else []
    page = _write_book(out, made)
    unique = tuple(dict.fromkeys(notes))
    return Made(made, missing, unique, len(work.reused), len(work.computed), page)


def _about(sections: list[Section], allowed: set[str] | None) -> list[Section]:
    """The sections of which something can be made of these data sets."""
    if allowed is None:
        return sections
    found = [section for section in sections if not section.sets or allowed & set(section.sets)]
    if not found:
        raise ValueError(
            f"{sections[0].title} is about {', '.join(sections[0].sets)}, and none of them is "
            "among the sets asked for"
        )
    return found


def _locate_all(
    chosen: list[Section],
    allowed: set[str] | None,
    data: Path | None,
    cache: Path,
    tell: Callable[[str], object],
) -> tuple[dict[str, Located], dict[str, str]]:
    """Where the data sets are, and a sentence for each that is nowhere."""
    located: dict[str, Located] = {}
    missing: dict[str, str] = {}
    for name in dict.fromkeys(name for section in chosen for name in section.sets):
        if allowed is not None and name not in allowed:
            continue
        try:
            located[name] = locate(name, data, cache)
        except MissingData as error:
            missing[name] = str(error)
            tell(str(error))
    return located, missing


def _make_section(
    section: Section, plan: dict[str, Piece] | None, work: Work, out: Path
) -> tuple[Values, str | None]:
    """What the book says of a section, and a note if its picture could not be drawn."""
    record: Values = {"circumstances": [], "seconds": 0.0, "values": {}}
    if plan is None:
        return record, None
    results = {name: work.finished[piece.name].result for name, piece in plan.items()}
    record["values"] = section.gather(results)
    names = {p.name for piece in plan.values() for p in piece.with_all_it_needs()}
    record["durations"] = {name: round(work.finished[name].seconds, 4) for name in sorted(names)}
    record["seconds"] = sum(record["durations"].values())
    record["circumstances"] = _circumstances([work.finished[name] for name in sorted(names)])
    if section.draw is None:
        return record, None
    try:
        load_matplotlib()
    except ImportError as error:
        return record, str(error)
    picture = f"paper-{section.name}.png"
    _save_picture(section.draw(record["values"], results), out / IMAGES / picture)
    return record | {"picture": picture}, None


def _circumstances(pieces: list[Finished]) -> list[Values]:
    """Of the work itself, some of which may have been done before; each with its seconds."""
    found: dict[str, Values] = {}
    for piece in pieces:
        key = json.dumps(piece.circumstances, sort_keys=True)
        record = found.setdefault(key, {**piece.circumstances, "seconds": 0.0})
        record["seconds"] += round(piece.seconds, 4)
    return list(found.values())


def _save_picture(figure: Any, path: Path) -> None:
    """As PNG and SVG; the same numbers give the same bytes."""
    import matplotlib

    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "liftcluster", "svg.fonttype": "none"}):
        for target, options in (
            (path, {"dpi": 138, "metadata": {"Software": None}}),
            (path.with_suffix(".svg"), {"metadata": {"Date": None}}),
        ):
            with replacing(target) as temporary:
                figure.savefig(temporary, format=target.suffix[1:], **options)


def _write_book(out: Path, made: dict[str, Values]) -> Path:
    """All that is known, old and new, as JSON and as a page."""
    old = _old_sections(out / "paper.json")
    # What was found once stays, also where its data are missing now.
    known = old | {n: found for n, found in made.items() if found["values"] or n not in old}
    sections = {name: known[name] for name in SECTIONS if name in known}
    # A line for each section: what changed is seen, and points do not take a line each.
    lines = [
        f" {json.dumps(name)}: {json.dumps(found, ensure_ascii=False, allow_nan=False)}"
        for name, found in sections.items()
    ]
    texts = {
        "paper.json": f'{{"format": {json.dumps(FORMAT)}, "sections": {{\n'
        + ",\n".join(lines)
        + "\n}}\n",
        "paper.md": write_page({"sections": sections}),
    }
    for name, text in texts.items():
        with replacing(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return out / "paper.md"


def _old_sections(path: Path) -> dict[str, Values]:
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
        sections = dict(book["sections"]) if book["format"] == FORMAT else {}
        return {
            name: found
            for name, found in sections.items()
            if isinstance(found, dict) and found.keys() >= _PARTS
        }
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}
