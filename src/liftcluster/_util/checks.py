"""Validation of single values without NumPy, which the command line loads only when needed."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar, get_args

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_NEAR = 0.75  # share of the letters of both names that match, in order: one in four may differ

BandwidthRule = Literal["median", "mean", "scale", "scott", "silverman"]
_RULE_NAMES = get_args(BandwidthRule)
_RULE = re.compile(r"\s*(?P<rule>[a-z]+)\s*(?:(?P<sign>[*/])\s*(?P<factor>\d+(?:\.\d*)?)\s*)?")


def check_count(value: Any, name: str, *, least: int = 1) -> int:
    """Return an integer that is at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def check_choice(value: Any, choices: Iterable[str], name: str) -> str:
    """Return one of several names; the error lists them and suggests the one that is meant."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        listed, hint = ", ".join(choices), _suggestion(value, choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}{hint}")
    return str(value)


def check_options(options: Mapping[str, Any] | None, accepted: Iterable[str], of: str) -> None:
    """Whether something has the options that it is given."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options of {of} must be a mapping, got {type(options).__name__}")
    accepted = list(accepted)
    for name in options or {}:
        if name not in accepted:
            has = f"its options are {', '.join(accepted)}" if accepted else "it has none"
            raise ValueError(f"{of} has no option {name!r}{_suggestion(name, accepted)}; {has}")


def checked_keywords(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Suggest the right name for a misspelled keyword argument."""
    names = list(signature(function).parameters)

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        for name in kwargs:
            if name not in names:
                hint = _suggestion(name, names)
                raise TypeError(f"{function.__name__}() has no argument {name!r}{hint}")
        return function(*args, **kwargs)

    return checked


def _suggestion(given: Any, names: list[str]) -> str:
    close = nearest(given, names) if isinstance(given, str) else None
    return f"; did you mean {close!r}?" if close is not None else ""


def nearest(given: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: the most similar one, unless it is quite another.

    >>> nearest("bandwith", ["kernel", "bandwidth"]), nearest("data", ["date", "d", "metadata"])
    ('bandwidth', 'date')
    >>> nearest("rgn", ["kernel", "rng"])  # the same letters
    'rng'
    >>> nearest("income", ["outcome_code", "name"])
    """
    found = near_names(given, names, 1)
    return found[0] if found else None


def near_names(given: str, names: Iterable[str], most: int) -> list[str]:
    """The names that may have been meant, the most similar first, at most so many."""
    by_case, word = {name.casefold(): name for name in names}, given.casefold()
    close = get_close_matches(word, by_case, n=most, cutoff=_NEAR)
    close += [name for name in by_case if sorted(name) == sorted(word) and name not in close]
    return [by_case[name] for name in close[:most]]


def check_positive(value: Any, name: str) -> float:
    """Return a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # an integer too large for a float
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def check_bandwidth_rule(rule: Any) -> tuple[str, float]:
    """Return the name and the factor of a bandwidth rule such as "median/4"."""
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    factor = float(match["factor"] or 1) if match else 0.0
    if match is None or match["rule"] not in _RULE_NAMES or factor == 0:
        raise ValueError(
            f"bandwidth rule must be one of {', '.join(_RULE_NAMES)}, optionally with a factor "
            f"above zero (median/4); got {rule!r}"
        )
    return match["rule"], (1 / factor if match["sign"] == "/" else factor)
