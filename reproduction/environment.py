"""The environment in which results were computed: date, versions, machine."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib

from liftcluster.lifts._native import kernels

__all__ = ["describe_environment"]

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


def describe_environment() -> dict[str, Any]:
    """The date, versions and hardware, without names of hosts, users or folders."""
    native = kernels()
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "processor": _processor(),
        "cores": joblib.cpu_count(),
        "memory_gib": _memory(),
        "system": platform.system(),
        "compiled_kernels": None if native is None else native.in_use(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
