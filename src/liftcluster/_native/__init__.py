"""The fused lift kernels in C, where they could be built; NumPy does the same work elsewhere.

``LIFTCLUSTER_NATIVE`` switches them off ("off"), or names the instruction set to use ("avx512",
"avx2", "portable"); "on" is the fastest that there is, as without it.
"""

from __future__ import annotations

import os
from types import ModuleType

__all__ = ["kernels"]


def _load(wanted: str) -> ModuleType | None:
    if wanted.lower() in ("off", "0", "no"):
        return None
    try:
        from . import _kernels
    except ImportError:  # no compiler when this was installed
        return None
    if wanted.lower() not in ("", "on", "1", "yes"):
        here = _kernels.instruction_sets()
        if wanted.lower() not in here:
            raise ValueError(
                f"LIFTCLUSTER_NATIVE={wanted} must be on, off, or one of {', '.join(here)}"
            )
        _kernels.use(wanted.lower())
    return _kernels


_loaded = _load(os.environ.get("LIFTCLUSTER_NATIVE", ""))


def kernels() -> ModuleType | None:
    """The compiled module, or None."""
    return _loaded
