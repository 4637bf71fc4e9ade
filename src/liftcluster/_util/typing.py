"""Type aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.integer[Any]]
RngLike: TypeAlias = int | np.random.Generator | None
BandwidthLike: TypeAlias = float | Sequence[float] | str | None
Sparse: TypeAlias = Any  # scipy.sparse.csr_array; scipy ships no types
Points: TypeAlias = Any  # an (n, d) array, or any sliceable sequence that the kernel understands


class Clusterer(Protocol):
    """A scikit-learn clusterer: KMeans, AgglomerativeClustering, ..."""

    def fit(self, X: Any, y: Any = None) -> Any: ...


class Transformer(Protocol):
    """A scikit-learn transformer: RBFSampler, HashingVectorizer, a pipeline, ..."""

    def fit(self, X: Any, y: Any = None) -> Any: ...

    def transform(self, X: Any) -> Any: ...
