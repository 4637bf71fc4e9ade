"""Compare and combine clusterings by where their points are."""

import lazy_loader

from ._util.version import __version__ as __version__

# The names and the modules they are in stand in __init__.pyi; each is imported when first used.
__getattr__, __dir__, _visible = lazy_loader.attach_stub(__name__, __file__)

# Without the modules: "from liftcluster import *" must not hide the package anndata.
__all__ = [name for name in _visible if name not in ("anndata", "datasets", "plot")]
