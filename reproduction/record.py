"""Under what circumstances numbers were found: versions, machine, how busy it was."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from liftcluster.lifts._native import kernels

__all__ = ["circumstances", "load_average"]

_PACKAGES = (
    "liftcluster",
    "numpy",
    "scipy",
    "scikit-learn",
    "POT",
    "pymetis",
    "mtkahypar",
    "matplotlib",
)


def circumstances() -> dict[str, Any]:
    """No names of hosts, users or folders: a record is to be shown around."""
    native = kernels()
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "processor": _processor(),
        "cores": _cores(),
        "memory_gib": _memory(),
        "system": platform.system(),
        "compiled_kernels": None if native is None else native.in_use(),
    }


def load_average() -> float | None:
    """How many processes wanted a core in the last minute, where that is known."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
