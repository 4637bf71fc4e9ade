"""Checks that work fits into memory, before it starts.

Available is what the system grants a new program (``MemAvailable`` on Linux), within the limits of
control groups (containers, jobs of a scheduler) and ``ulimit -v``, or LIFTCLUSTER_MEMORY_GIB.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

_LITTLE = 2**28  # bytes: less work is not checked
_UNLIMITED = 2**63
_GROUPS = Path("/sys/fs/cgroup")
_PROC = Path("/proc")


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Raise MemoryError for work that does not fit into the available memory.

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
    """Raise MemoryError if tables of all pairs of k and k2 clusters do not fit."""
    n_bytes = 8 * k * k2 * copies
    if n_bytes <= _LITTLE:  # called often: no words are needed
        return
    check_memory(
        n_bytes,
        f"all pairs of {k:,} and {k2:,} clusters",
        "so many are rarely a clustering (is the column an id, or a measurement?); use other "
        "labels, or a measure that only needs labels, such as adjusted_rand",
    )


def available_memory() -> int:
    """Bytes that this process may still allocate, as far as the system tells."""
    return gibibytes("LIFTCLUSTER_MEMORY_GIB", min(_of_system(), _of_groups(), _of_process()))


def max_file_bytes() -> int:
    """Largest size of a file once decompressed: a small file may expand to a huge one."""
    return gibibytes("LIFTCLUSTER_FILE_GIB", 2**34)


def gibibytes(variable: str, otherwise: int) -> int:
    """A size in bytes, which an environment variable may set in GiB."""
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
    try:  # all memory, so that nothing is rejected that would fit
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _UNLIMITED


def _of_groups() -> int:
    """What the control groups of this process still allow, in either version."""
    free = _UNLIMITED
    for line in _lines(_PROC / "self" / "cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers in ("", "memory"):
            group = _GROUPS / controllers / path.strip("/")
            free = min([free, *(_left(folder) for folder in (group, *group.parents))])
    return max(free, 0)


def _left(folder: Path) -> int:
    """What one group allows minus what it uses; its cache of files can be freed."""
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, current = _lines(folder / most), _lines(folder / used)
        if limit and current and limit[0].isdecimal():
            cached = [x.split()[1] for x in _lines(folder / "memory.stat") if "inactive_file " in x]
            return int(limit[0]) - int(current[0]) + int(cached[-1] if cached else 0)
    return _UNLIMITED


def _of_process() -> int:
    """What ``ulimit -v`` still allows."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # Windows
        return _UNLIMITED
    used = _lines(_PROC / "self" / "statm")
    if limit == resource.RLIM_INFINITY or not used:
        return _UNLIMITED
    return max(limit - int(used[0].split()[0]) * resource.getpagesize(), 0)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
