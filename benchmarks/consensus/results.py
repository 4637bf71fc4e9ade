"""Scores in a JSON file: what is missing is measured in parallel, the rest is not run again."""

from __future__ import annotations

import json
import subprocess
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from reproduction.environment import describe_environment

from .sets import DataSet

__all__ = ["Results", "Task", "describe_run", "measure_missing", "score_array"]

Measured = dict[str, dict[str, list[list[float]]]]  # row, condition, seed, [ARI, NMI]
Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Something to measure on every data set.

    Attributes
    ----------
    name : str
        Its key in the file.
    measure : callable
        (data, rows, number of seeds) to scores.
    conditions : tuple of str
        The kinds of inputs, or another list of what a row has one score for.
    """

    name: str
    measure: Callable[[DataSet, list[str], int], Measured]
    conditions: tuple[str, ...]


class Results:
    """Scores of rows on data sets, kept in a JSON file if there is a path.

    ``runs`` lists the environments in which scores were measured, with the commit; the record of a
    row on a data set has the number of its run.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.content: dict[str, Any] = {"runs": []}
        if path is not None and path.exists():
            self.content = json.loads(path.read_text(encoding="utf-8"))

    def missing(self, task: Task, data: DataSet, rows: list[str], settings: dict) -> list[str]:
        """The rows that have no scores on a data set with these settings."""
        record = self._records(task).get(data.name)
        if record is None or not _agree(record, _describe(data, settings)):
            return list(rows)
        return [row for row in rows if row not in record["rows"]]

    def add(self, task: Task, data: DataSet, settings: dict, measured: Measured, run: dict) -> None:
        """Add scores of a data set, and write the file; those of other settings are dropped."""
        description = _describe(data, settings)
        record = self._records(task).get(data.name)
        if record is None or not _agree(record, description):
            record = self._records(task)[data.name] = description | {"rows": {}}
        number = self._number_of(run)
        for row, scores in measured.items():
            record["rows"][row] = {"run": number, "scores": scores}
        self._write()

    def records(self, task: Task, sets: list[DataSet]) -> dict[str, Record]:
        """The records of these data sets, in their order."""
        records = self._records(task)
        return {data.name: records[data.name] for data in sets if data.name in records}

    def _records(self, task: Task) -> dict[str, Record]:
        return self.content.setdefault(task.name, {})

    def _number_of(self, run: dict) -> int:
        if run not in self.content["runs"]:
            self.content["runs"].append(run)
        return self.content["runs"].index(run)

    def _write(self) -> None:
        if self.path is None:
            return
        draft = self.path.with_name(f"{self.path.name}.part")  # an interrupted write loses nothing
        draft.write_text(json.dumps(self.content), encoding="utf-8")
        draft.replace(self.path)


def measure_missing(
    task: Task,
    sets: list[DataSet],
    rows: list[str],
    settings: dict[str, int],
    results: Results,
    *,
    jobs: int = 1,
    again: bool = False,
) -> None:
    """Measure what the results lack, in parallel over data sets; prints a line for each."""
    wanted = {
        data.name: rows if again else results.missing(task, data, rows, settings) for data in sets
    }
    todo = {data.name: data for data in sets if wanted[data.name]}
    if len(todo) < len(sets):
        print(f"{len(sets) - len(todo)} of {len(sets)} sets are in the file", flush=True)
    run = describe_run()
    # Without max_nbytes, large arrays become read-only memory maps where there are several jobs.
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", max_nbytes=None)
    calls = (
        delayed(_measure)(task, data, wanted[name], settings["seeds"])
        for name, data in todo.items()
    )
    for number, (name, measured, seconds) in enumerate(parallel(calls), 1):
        data = todo[name]
        results.add(task, data, settings, measured, run)
        n, d = data.X.shape
        print(
            f"{number}/{len(todo)} {name}: n = {n}, d = {d}, k = {data.k}, {seconds:.0f} s",
            flush=True,
        )


def _measure(task: Task, data: DataSet, rows: list[str], seeds: int) -> tuple[str, Measured, float]:
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured = task.measure(data, rows, seeds)
    return data.name, measured, time.perf_counter() - start


def score_array(
    records: dict[str, Record], rows: Sequence[str], conditions: tuple[str, ...], index: int = 0
) -> np.ndarray:
    """(rows, sets, conditions) means over seeds of the adjusted Rand index, or of NMI (index 1)."""
    values = [
        [
            [np.mean(record["rows"][row]["scores"][c], axis=0)[index] for c in conditions]
            for record in records.values()
        ]
        for row in rows
    ]
    return np.array(values)


def describe_run() -> dict[str, Any]:
    """Date, versions and machine, and the commit of the checkout, if git knows it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        commit = done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return describe_environment() | {"commit": commit}


def _describe(data: DataSet, settings: dict[str, int]) -> Record:
    n, d = data.X.shape
    about = {"n": n, "d": d, "k": data.k, "family": data.family, "half": data.half}
    return about | {"settings": dict(settings)}


def _agree(record: Record, description: Record) -> bool:
    return all(record[key] == value for key, value in description.items())
