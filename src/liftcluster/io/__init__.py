"""Tables in files: readers for points and clusterings, writers for results, and AnnData."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
