"""Checks of single values that need no NumPy, so that a wrong argument is reported at once."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from typing import Any, get_args

from .names import BandwidthRule

__all__ = ["check_bandwidth_rule", "check_choice", "check_count", "check_positive"]

_RULE_NAMES = get_args(BandwidthRule)
_RULE = re.compile(r"\s*(?P<rule>[a-z]+)\s*(?:(?P<sign>[*/])\s*(?P<factor>\d+(?:\.\d*)?)\s*)?")


def check_count(value: Any, name: str, *, least: int = 1) -> int:
    """An integer not below `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_choice(value: Any, choices: Iterable[str], name: str) -> str:
    """One of a few words; the error lists them."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    return str(value)


def check_positive(value: Any, name: str) -> float:
    """A finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def check_bandwidth_rule(rule: Any) -> tuple[str, float]:
    """The name and the factor of a bandwidth rule such as "median/4"."""
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if match is None or match["rule"] not in _RULE_NAMES:
        raise ValueError(
            f"bandwidth rule must be one of {', '.join(_RULE_NAMES)}, with a factor if you like "
            f"(median/4); got {rule!r}"
        )
    factor = float(match["factor"]) if match["factor"] else 1.0
    if factor == 0:
        raise ValueError(f"the factor in bandwidth rule {rule!r} is zero")
    return match["rule"], (1 / factor if match["sign"] == "/" else factor)
