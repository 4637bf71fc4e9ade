"""The names of this package, for type checkers and for lazy loading at run time."""

from .commands import app as app
from .commands import main as main
