"""Error messages about optional libraries that are not installed."""

from __future__ import annotations

import re


def needs(package: str, what: str) -> str:
    """Message of an error: ``what`` needs a package that is not installed.

    >>> needs("matplotlib", "plotting")
    'plotting needs matplotlib: pip install "matplotlib>=3.9"'
    """
    return f"{what} needs {package}: {how_to_install(package)}"


def how_to_install(package: str) -> str:
    """A command that installs an optional dependency, with the version in pyproject.toml.

    Not an extra of liftcluster: pip would look for that in an index, also from a checkout.
    """
    from importlib.metadata import requires  # not loaded before there is something to report

    found = [
        line.partition(";")[0].strip()
        for line in requires("liftcluster") or []
        if re.match(rf"{re.escape(package)}\b(?!-)", line)
    ]
    return f'pip install "{found[0] if found else package}"'
