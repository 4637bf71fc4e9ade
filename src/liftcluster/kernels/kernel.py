"""Kernels on indices, objects and equal points, and kernels from their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .._util.arrays import to_numpy
from .._util.checks import check_choice
from .._util.names import KernelName
from .._util.typing import FloatArray, IntArray, Points
from .._util.validation import as_points, check_same_length
from .shift_invariant import Cauchy, Gaussian, Kernel, Laplace, Matern


@dataclass(frozen=True)
class Discrete(Kernel):
    """Discrete kernel: κ(x, y) = 1 where x = y, else 0.

    Clusters are compared by the points they share. Without points (X=None) all points are
    different; otherwise points with equal coordinates are the same point.

    See Also
    --------
    Precomputed : A kernel as a matrix.

    Examples
    --------
    >>> import liftcluster as lc
    >>> lc.Discrete()([[0.0], [1.0]], [[1.0]]).tolist()
    [[0.0], [1.0]]
    """

    name: ClassVar[str] = "discrete"

    def __call__(self, X: Points, Y: Points) -> FloatArray:
        both = self.ids(np.concatenate([X, Y]))
        return np.equal.outer(both[: len(X)], both[len(X) :]).astype(np.float64)

    def points(self, X: Points, n: int | None = None) -> Points:
        if X is None and n is not None:
            return np.arange(n)[:, None]
        return super().points(X, n)

    def state(self) -> dict[str, Any]:
        return {"kernel": self.name}

    @staticmethod
    def ids(X: Points) -> IntArray:
        """One integer for each distinct row."""
        rows = np.ascontiguousarray(X)
        if rows.dtype.kind == "f":
            rows = rows + 0.0  # so that -0.0 and 0.0 have the same bytes
        as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
        return np.unique(as_bytes, return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """Kernel given as its (n, n) matrix; points are then indices into it.

    All of them if X is None.

    Parameters
    ----------
    matrix : (n, n) array-like
        Similarities of every two points: symmetric, and positive semidefinite.

    See Also
    --------
    Discrete : Points that are equal or not.

    Examples
    --------
    >>> import liftcluster as lc
    >>> K = lc.Precomputed([[1.0, 0.2], [0.2, 1.0]])
    >>> K([0], [1])
    array([[0.2]])
    """

    matrix: Any
    name: ClassVar[str] = "precomputed"

    def __post_init__(self) -> None:
        K = np.asarray(as_points(self.matrix, "the precomputed kernel"), dtype=np.float64)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"the precomputed kernel must be square, got shape {K.shape}")
        if not np.allclose(K, K.T, rtol=1e-8, atol=1e-8 * np.abs(K).max()):
            raise ValueError("the precomputed kernel must be symmetric: K[i, j] = K[j, i]")
        object.__setattr__(self, "matrix", K)

    def __call__(self, X: Points, Y: Points) -> FloatArray:
        return self.matrix[np.ix_(np.asarray(X), np.asarray(Y))]

    def points(self, X: Points, n: int | None = None) -> IntArray:
        size = len(self.matrix)
        indices = np.arange(size) if X is None else to_numpy(X, "X")
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise TypeError(
                "with a precomputed kernel X must be None or indices into it (one-dimensional "
                f"integers), got {indices.dtype} of shape {indices.shape}"
            )
        if len(indices) and not (indices.min() >= 0 and indices.max() < size):
            raise ValueError(f"indices must lie in 0 … {size - 1}, the precomputed kernel's size")
        check_same_length(n, len(indices), "the partition", "the precomputed kernel")
        return indices


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """Any function K(X, Y) that returns the (n, m) similarities of objects of any kind."""

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "callable"

    def __call__(self, X: Points, Y: Points) -> FloatArray:
        values = np.asarray(self.function(X, Y))
        if values.shape != (len(X), len(Y)) or values.dtype.kind not in "fiub":
            raise ValueError(
                f"the kernel function must return a real matrix of shape ({len(X)}, {len(Y)}) for "
                f"that many objects, got {values.dtype} of shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError("the kernel function returned NaN or infinity")
        return values.astype(np.float64)

    def points(self, X: Points, n: int | None = None) -> Points:
        if X is None:
            raise ValueError("X is needed: the objects that the kernel function compares")
        if not isinstance(X, list | tuple | str):
            X = to_numpy(X, "X")
        check_same_length(n, len(X), "the partition", "X")
        return X


KernelLike: TypeAlias = KernelName | Kernel | Callable[[Any, Any], Any]

_BY_NAME: dict[str, type[Kernel]] = {
    kernel.name: kernel for kernel in (Gaussian, Laplace, Cauchy, Matern, Discrete)
}


def as_kernel(kernel: KernelLike) -> Kernel:
    """A kernel from its name, an instance, or a function K(X, Y)."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _BY_NAME[check_choice(kernel, _BY_NAME, "kernel")]()
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel must be an instance: write {kernel.__name__}(...)")
    if callable(kernel):
        return CallableKernel(kernel)
    raise TypeError(
        f"kernel must be a name ({', '.join(_BY_NAME)}), a kernel or a function K(X, Y), "
        f"got {type(kernel).__name__}"
    )


def kernel_from_state(state: dict[str, Any]) -> Kernel:
    """The inverse of ``Kernel.state``."""
    options = {key: value for key, value in state.items() if key != "kernel"}
    return _BY_NAME[check_choice(state.get("kernel"), _BY_NAME, "kernel")](**options)
