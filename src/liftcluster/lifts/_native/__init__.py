"""The fused lift kernels in C, where they could be built; NumPy does the same work elsewhere.

``LIFTCLUSTER_NATIVE`` switches them off ("off"), or names the instruction set to use ("avx512",
"avx2", "portable"); "on" is the fastest that there is, as without it.
"""

from __future__ import annotations

import os
import threading
import warnings
from importlib.util import find_spec
from types import ModuleType

__all__ = ["kernels", "warn_if_missing"]

# Features for which NumPy takes about half a second more than the kernels: 0.2 to 1 s on two cores.
_MOST_WITHOUT_WARNING = 2 * 10**8
_REINSTALL = (
    "pip install --force-reinstall --no-deps --no-cache-dir --no-binary liftcluster liftcluster"
)


def _load(wanted: str) -> tuple[ModuleType | None, str | None]:
    """The compiled module, or None and, unless it was switched off, why it is missing."""
    if wanted.lower() in ("off", "0", "no"):
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


_loaded, _why_missing = _load(os.environ.get("LIFTCLUSTER_NATIVE", ""))
_computed = 0  # features without the kernels, in this process
_counting = threading.Lock()


def kernels() -> ModuleType | None:
    """The compiled module, or None."""
    return _loaded


def warn_if_missing(n_features: int) -> None:
    """Count features that NumPy computes for lack of the kernels; warn once when they are many."""
    global _computed
    if _why_missing is None:
        return
    with _counting:
        before = _computed
        _computed += n_features
    if before < _MOST_WITHOUT_WARNING <= before + n_features:
        warnings.warn(
            f"the compiled kernels of liftcluster {_why_missing}; without them lifting points is "
            "2 to 18 times slower. Install a wheel made for this platform, or install GCC or "
            f"clang and run: {_REINSTALL} (from a checkout, a dot in place of the last word). To "
            "use NumPy without this warning, set LIFTCLUSTER_NATIVE=off",
            UserWarning,
            stacklevel=2,
        )
