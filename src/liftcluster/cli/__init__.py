"""The command line: reads, calls, prints; no mathematics of its own."""

from . import commands as commands
from . import tour as tour
from .application import app as app
from .running import main as main
