"""The command line: reads files, calls the library, prints; no mathematics of its own."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
