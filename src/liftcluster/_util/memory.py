"""How much memory there is, asked before the work rather than after it.

The rule: what would take more than is available is refused, with a word on what takes less.
Available is what the system says a new program may have (``MemAvailable`` on Linux), within what a
control group (a container, a job of a scheduler) or ``ulimit -v`` still leaves this process. Work
of less than 256 MiB is never asked about. ``LIFTCLUSTER_MEMORY_GIB`` names another amount, for who
knows better.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

__all__ = [
    "MOST_FILE_BYTES",
    "available_memory",
    "check_memory",
    "check_pairs",
    "gibibytes",
    "most_file_bytes",
]

MOST_FILE_BYTES = 2**34  # of one file once decompressed: 16 GiB, or LIFTCLUSTER_FILE_GIB

_LITTLE = 2**28
_GROUPS = Path("/sys/fs/cgroup")
_PROC = Path("/proc")


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Refuse work that will not fit, before it has begun.

    >>> check_memory(8 * 10**18, "10⁹ points", "take some")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    MemoryError: 10⁹ points would take 7,450,580,597 GiB of memory, and ... available; take some
    """
    if n_bytes <= _LITTLE:
        return
    free = available_memory()
    if n_bytes > free:
        raise MemoryError(
            f"{what} would take {n_bytes / 2**30:,.{1 if n_bytes < 2**40 else 0}f} GiB of memory, "
            f"and {free / 2**30:,.1f} GiB are available; {instead}"
        )


def check_pairs(k: int, k2: int, copies: int = 3) -> None:
    """Refuse a table of all pairs of clusters that will not fit."""
    check_memory(
        8 * k * k2 * copies,
        f"all pairs of {k:,} and {k2:,} clusters",
        "so many are rarely a clustering (an id, a measurement?); take the labels that are one, or "
        "a measure that looks at labels alone, such as adjusted_rand",
    )


def available_memory() -> int:
    """Bytes that this process may still take, as far as anybody says."""
    return gibibytes("LIFTCLUSTER_MEMORY_GIB", min(_of_system(), _of_groups(), _of_process()))


def most_file_bytes() -> int:
    """How much of one file is read, once decompressed: a bomb is small on disk."""
    return gibibytes("LIFTCLUSTER_FILE_GIB", MOST_FILE_BYTES)


def gibibytes(variable: str, otherwise: int) -> int:
    """A size that the environment may set, in bytes."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return otherwise
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 < size < math.inf:
        raise ValueError(f"{variable} must be a positive number of GiB, got {text!r}")
    return int(size * 2**30)


def _of_system() -> int:
    for line in _lines(_PROC / "meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:  # all there is: better than to refuse what would fit
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**63


def _of_groups() -> int:
    """What the control groups that this process is in still leave, of either version."""
    free = 2**63
    for line in _lines(_PROC / "self" / "cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers in ("", "memory"):
            group = _GROUPS / controllers / path.strip("/")
            free = min([free, *(_left(folder) for folder in (group, *group.parents))])
    return max(free, 0)


def _left(folder: Path) -> int:
    """What one group allows, less what it uses; what it keeps of files, it gives back."""
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, current = _lines(folder / most), _lines(folder / used)
        if limit and current and limit[0].isdecimal():
            cached = [x.split()[1] for x in _lines(folder / "memory.stat") if "inactive_file " in x]
            return int(limit[0]) - int(current[0]) + int(cached[-1] if cached else 0)
    return 2**63


def _of_process() -> int:
    """What ulimit -v leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # Windows
        return 2**63
    used = _lines(_PROC / "self" / "statm")
    if limit == resource.RLIM_INFINITY or not used:
        return 2**63
    return max(limit - int(used[0].split()[0]) * resource.getpagesize(), 0)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
