"""Where Triton kernels can be used, and what happens where one fails."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..._util.arrays import has_tensor_cores
from ..._util.warning import warn

FEATURES, SIMILARITIES = "features", "similarities"  # what kernels compute
_MODULES = {FEATURES: "._triton", SIMILARITIES: "._triton_landmarks"}

_failed: set[str] = set()  # kernels that are not tried again


class Unfit(Exception):
    """The kernels do not apply."""


def can_use_kernels_for(X: Any, name: str = FEATURES) -> bool:
    """Whether the kernels can be used for points on this device."""
    return name not in _failed and has_tensor_cores(X) and triton_kernels(name) is not None


def try_fused(function: Any, name: str = FEATURES) -> Any | None:
    """What the function returns, or None, with a warning, where Triton fails."""
    try:
        return function()
    except Unfit:
        return None
    except Exception as error:  # Triton raises many types
        if "memory" not in str(error).lower():
            _failed.add(name)
        warn(
            f"a Triton kernel failed ({type(error).__name__}: {error}); {name} are computed in "
            "several steps instead",
            RuntimeWarning,
        )
        return None


@cache
def triton_kernels(name: str = FEATURES) -> Any:
    """The module of kernels, or None without Triton."""
    try:
        return import_module(_MODULES[name], __package__)
    except ImportError:
        return None
