"""Reproduce sections of the paper: run their tasks, write the page, the values and the plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from liftcluster._util.files import atomic_write

from .data import Located, MissingData, locate
from .execution import Execution, run_tasks
from .page import IMAGES, write_page
from .plots import load_matplotlib
from .registry import SECTIONS
from .section import Section, Settings, Values
from .tasks import Task, TaskCache, TaskResult

__all__ = ["Reproduction", "reproduce_paper"]

FORMAT = "liftcluster paper 3"
_REQUIRED_KEYS = {"values", "environments", "missing"}  # of a section in paper.json


@dataclass(frozen=True)
class Reproduction:
    """The requested sections, and how many tasks were loaded from the cache or computed."""

    sections: dict[str, Values]
    missing: dict[str, str]  # data sets that were not found, and how to get them
    notes: tuple[str, ...]
    reused: int
    computed: int
    page: Path


def reproduce_paper(
    names: Iterable[str],
    out: Path,
    data: Path | None = None,
    *,
    settings: Settings | None = None,
    sets: Iterable[str] | None = None,
    jobs: int = 1,
    redo: bool = False,
    on_missing: Callable[[str], object] = lambda sentence: None,
    show: bool | None = None,
) -> Reproduction:
    """Reproduce some tables and figures, with the results of earlier calls where there are any.

    The folder ``out`` gets ``paper.md``, ``paper.json``, ``images/`` and ``tasks/``; sections of
    earlier calls stay on the page. ``sets`` restricts the data sets, and skips sections that use
    none of them. ``on_missing`` is called with a message for each missing data set.
    """
    settings = settings or Settings()
    allowed = None if sets is None else set(sets)
    chosen = _using([SECTIONS[name] for name in names], allowed)
    located, missing = _locate_all(chosen, allowed, data, out / "data", on_missing)
    plans = {
        section.name: section.plan(settings, {n: located[n] for n in section.sets if n in located})
        for section in chosen
        if not section.sets or any(name in located for name in section.sets)
    }
    tasks = [task for plan in plans.values() for task in plan.values()]
    again = {t.name for task in tasks for t in task.with_dependencies()} if redo else set()
    execution = run_tasks(tasks, TaskCache(out / "tasks"), jobs=jobs, redo=again, show=show)
    sections: dict[str, Values] = {}
    notes = []
    for section in chosen:
        record, note = _make_section(section, plans.get(section.name), execution, out)
        absent = {name: missing[name] for name in section.sets if name in missing}
        sections[section.name] = record | {"missing": absent, "settings": asdict(settings)}
        notes += [note] if note else []
    page = _write_files(out, sections)
    counts = len(execution.reused), len(execution.computed)
    return Reproduction(sections, missing, tuple(dict.fromkeys(notes)), *counts, page)


def _using(sections: list[Section], allowed: set[str] | None) -> list[Section]:
    """The sections that need no data set, or one of those allowed."""
    if allowed is None:
        return sections
    found = [section for section in sections if not section.sets or allowed & set(section.sets)]
    if not found:
        raise ValueError(
            f"{sections[0].title} uses {', '.join(sections[0].sets)}, but the sets given are "
            f"{', '.join(sorted(allowed))}"
        )
    return found


def _locate_all(
    chosen: list[Section],
    allowed: set[str] | None,
    data: Path | None,
    cache: Path,
    on_missing: Callable[[str], object],
) -> tuple[dict[str, Located], dict[str, str]]:
    """The data sets that were found, and a message for each that was not."""
    located: dict[str, Located] = {}
    missing: dict[str, str] = {}
    for name in dict.fromkeys(name for section in chosen for name in section.sets):
        if allowed is not None and name not in allowed:
            continue
        try:
            located[name] = locate(name, data, cache)
        except MissingData as error:
            missing[name] = str(error)
            on_missing(str(error))
    return located, missing


def _make_section(
    section: Section, plan: dict[str, Task] | None, execution: Execution, out: Path
) -> tuple[Values, str | None]:
    """The record of a section for paper.json, and a note if its plot could not be drawn."""
    record: Values = {"environments": [], "seconds": 0.0, "values": {}}
    if plan is None:
        return record, None
    results = {key: execution.results[task.name].result for key, task in plan.items()}
    names = sorted({t.name for task in plan.values() for t in task.with_dependencies()})
    used = {name: execution.results[name] for name in names}
    record["values"] = section.evaluate(results)
    record["durations"] = {name: round(found.seconds, 4) for name, found in used.items()}
    record["seconds"] = sum(record["durations"].values())
    record["environments"] = _environments(used.values())
    if section.plot is None:
        return record, None
    try:
        load_matplotlib()
    except ImportError as error:
        return record, str(error)
    picture = f"paper-{section.name}.png"
    _save_plot(section.plot(record["values"], results), out / IMAGES / picture)
    return record | {"picture": picture}, None


def _environments(results: Iterable[TaskResult]) -> list[Values]:
    """The different environments of some results, each with the total time spent in it."""
    found: dict[str, Values] = {}
    for result in results:
        key = json.dumps(result.environment, sort_keys=True)
        record = found.setdefault(key, {**result.environment, "seconds": 0.0})
        record["seconds"] += round(result.seconds, 4)
    return list(found.values())


def _save_plot(figure: Any, path: Path) -> None:
    """Save as PNG and SVG; equal values give identical files."""
    import matplotlib

    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "liftcluster", "svg.fonttype": "none"}):
        for target, options in (
            (path, {"dpi": 138, "metadata": {"Software": None}}),
            (path.with_suffix(".svg"), {"metadata": {"Date": None}}),
        ):
            with atomic_write(target) as temporary:
                figure.savefig(temporary, format=target.suffix[1:], **options)


def _write_files(out: Path, new: dict[str, Values]) -> Path:
    """Write paper.json and paper.md with the sections of earlier calls and the new ones."""
    old = _read_sections(out / "paper.json")
    # A section that was computed once stays, also if its data are missing now.
    known = old | {n: record for n, record in new.items() if record["values"] or n not in old}
    sections = {name: known[name] for name in SECTIONS if name in known}
    # One line per section: differences are readable, and arrays do not take a line per number.
    lines = [
        f" {json.dumps(name)}: {json.dumps(record, ensure_ascii=False, allow_nan=False)}"
        for name, record in sections.items()
    ]
    texts = {
        "paper.json": f'{{"format": {json.dumps(FORMAT)}, "sections": {{\n'
        + ",\n".join(lines)
        + "\n}}\n",
        "paper.md": write_page(sections),
    }
    for name, text in texts.items():
        with atomic_write(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return out / "paper.md"


def _read_sections(path: Path) -> dict[str, Values]:
    """The valid sections of paper.json; none if the file is missing or of another format."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sections = dict(content["sections"]) if content["format"] == FORMAT else {}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}
    return {
        name: record
        for name, record in sections.items()
        if isinstance(record, dict) and record.keys() >= _REQUIRED_KEYS
    }
