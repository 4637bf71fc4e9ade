"""Tasks and the folder of their results: one JSON file per finished task, complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from liftcluster._util.files import atomic_write
from liftcluster._util.version import __version__

from .data import Located, load
from .environment import describe_environment

__all__ = ["Task", "TaskCache", "TaskResult"]


@dataclass(frozen=True)
class Task:
    """One unit of work: a module-level function and everything that determines its result.

    The function is called with the data set (if any), then the results of the dependencies, then
    the options by name. It returns a value that JSON can represent.
    """

    name: str
    function: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    points: Located | None = None
    dependencies: tuple[Task, ...] = ()
    exclusive: bool = False  # measures time, so no other task may run at the same time

    @property
    def key(self) -> str:
        """Hash of everything that can change the result."""
        determined_by = {
            "name": self.name,
            "version": __version__,
            "options": dict(self.options),
            "points": None if self.points is None else [self.points.name, self.points.digest],
            "dependencies": [task.key for task in self.dependencies],
        }
        text = json.dumps(determined_by, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def with_dependencies(self) -> Iterator[Task]:
        """All direct and indirect dependencies, each before its dependents, then the task."""
        for task in self.dependencies:
            yield from task.with_dependencies()
        yield self


@dataclass(frozen=True)
class TaskResult:
    """The result of a task, how long it took, and the environment it was computed in."""

    result: Any
    seconds: float
    environment: Mapping[str, Any]


class TaskCache:
    """A folder with one file for each finished task.

    Not joblib's Memory: the key includes the version of the library and a digest of the data, each
    result is stored with its run time and environment, and the files are JSON instead of pickles.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, task: Task) -> TaskResult | None:
        """The stored result, or None if there is none for this version, options and data."""
        try:
            record = json.loads(self._path(task).read_text())
            if record["key"] == task.key:
                return TaskResult(record["result"], record["seconds"], record["environment"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass  # no file, or not one of ours
        return None

    def run(self, task: Task) -> TaskResult:
        """Run a task whose dependencies are finished, and store its result."""
        arguments = [] if task.points is None else [load(task.points)]
        arguments += [self._result(dependency) for dependency in task.dependencies]
        start = time.perf_counter()
        result = task.function(*arguments, **task.options)
        seconds = time.perf_counter() - start
        record = {
            "key": task.key,
            "task": task.name,
            "version": __version__,
            "options": dict(task.options),
            "environment": describe_environment(),
            "seconds": seconds,
            "result": result,
        }
        text = json.dumps(record, allow_nan=False) + "\n"
        with atomic_write(self._path(task)) as temporary:
            temporary.write_text(text)
        record = json.loads(text)  # exactly what a later run will load
        return TaskResult(record["result"], record["seconds"], record["environment"])

    def _result(self, task: Task) -> Any:
        finished = self.load(task)
        assert finished is not None, f"{task.name} must run before the tasks that depend on it"
        return finished.result

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Create the folder and remove temporary files that a killed process left behind.

        Nothing is removed while another run uses the same folder: it may be writing them.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with _shared_lock(self.folder) as is_only_user:
            if is_only_user:
                for temporary in self.folder.glob(".*.tmp"):
                    temporary.unlink(missing_ok=True)
            yield

    def _path(self, task: Task) -> Path:
        return self.folder / f"{task.name}.json"


@contextmanager
def _shared_lock(folder: Path) -> Iterator[bool]:
    """Hold a shared lock on a folder; yields whether no other process held one before."""
    try:
        import fcntl
    except ImportError:  # no locks on Windows
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_only_user = True
        except OSError:  # locked by another run, or a file system without locks
            is_only_user = False
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield is_only_user
    finally:
        os.close(handle)
