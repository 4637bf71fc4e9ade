"""The oldest versions that pyproject.toml allows, as requirements for pip.

Core dependencies and those of the extras that the tests use; a dependency without a least version
is an error, because then nobody knows what is supported.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRAS = ("graph", "nufft", "plot", "dask", "anndata", "parquet", "test")
_LEAST = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+(?:\[[a-z,]+\])?)>=(?P<version>[0-9.]+)(?P<where>;.*)?"
)


def oldest() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    return [_pinned(line) for line in wanted if not line.startswith("liftcluster[")]


def _pinned(line: str) -> str:
    """``numpy>=2.1`` as ``numpy==2.1``, which is 2.1.0."""
    found = _LEAST.fullmatch(line)
    if found is None:
        sys.exit(f"pyproject.toml: {line!r} names no least version; write it as name>=version")

    return f"{found['name']}=={found['version']}{found['where'] or ''}"


if __name__ == "__main__":
    print("\n".join(oldest()))
