"""The compiled lift kernels, if they were built; without them NumPy does the same work.

The environment variable ``LIFTCLUSTER_NATIVE`` disables them ("off") or selects the instruction set
("avx512", "avx2", "portable"); "on", the default, is the fastest available.
"""

from __future__ import annotations

import threading
from importlib.util import find_spec
from types import ModuleType

from ..._util.native import is_off, wanted_native
from ..._util.warning import warn

# Features for which NumPy takes about half a second more than the kernels: 0.2 to 1 s on two cores.
_MOST_WITHOUT_WARNING = 2 * 10**8


def _load(wanted: str) -> tuple[ModuleType | None, str | None]:
    """The compiled module, or None and, unless it is disabled, why it is missing."""
    if is_off(wanted):
        return None, None
    try:
        from . import _kernels
    except ImportError as error:
        built = find_spec(f"{__name__}._kernels") is not None
        return None, f"cannot be loaded: {error}" if built else "were not built on installation"
    if wanted.lower() not in ("", "on", "1", "yes"):
        here = _kernels.instruction_sets()
        if wanted.lower() not in here:
            raise ValueError(
                f"LIFTCLUSTER_NATIVE={wanted} must be on, off, or one of {', '.join(here)}"
            )
        _kernels.use(wanted.lower())
    return _kernels, None


_loaded, _why_missing = _load(wanted_native())
_computed = 0  # features computed without the kernels in this process
_counting = threading.Lock()


def kernels() -> ModuleType | None:
    """The compiled module, or None."""
    return _loaded


def warn_if_missing(n_features: int) -> None:
    """Count features computed without the kernels, and warn once when they are many."""
    global _computed
    if _why_missing is None:
        return
    with _counting:
        before = _computed
        _computed += n_features
    if before < _MOST_WITHOUT_WARNING <= before + n_features:
        warn(
            f"the compiled kernels of liftcluster {_why_missing}; without them lifting points is "
            "2 to 18 times slower. Install a wheel built for this platform, or install GCC or "
            "clang and run: pip install --force-reinstall --no-deps --no-cache-dir --no-binary "
            "liftcluster liftcluster (from a checkout, a dot in place of the last word). To "
            "use NumPy without this warning, set LIFTCLUSTER_NATIVE=off"
        )
