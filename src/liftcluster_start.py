"""The command `liftcluster`, outside the package so that it can be stopped while that is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Load the package and run the command; an interrupt is one line and exit code 130."""
    try:
        from liftcluster.cli import main as run

        run()
    except KeyboardInterrupt:
        print("liftcluster: stopped", file=sys.stderr)
        sys.exit(130)
