"""The modules of this package, for type checkers and for lazy loading at run time."""

from . import plot as plot
