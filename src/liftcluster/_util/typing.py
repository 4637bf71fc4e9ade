"""Names for the few kinds of thing that flow between modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "FloatArray", "IntArray", "Points", "RngLike", "Sparse"]

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer[Any]]
RngLike: TypeAlias = int | np.random.Generator | None
Sparse: TypeAlias = Any  # scipy.sparse.csr_array; scipy ships no types
Points: TypeAlias = Any  # an (n, d) array, or any sliceable sequence that the kernel understands
