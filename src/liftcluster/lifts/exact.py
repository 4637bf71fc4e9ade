"""The exact lift: the span of the clusters themselves, by the kernel trick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._util.arrays import from_device, namespace, on_device, row_blocks, send
from .._util.memory import check_pairs
from .._util.threads import in_order
from .._util.typing import Array, FloatArray, Points, Sparse
from ..kernels.kernel import Discrete, Kernel, ShiftInvariant, kernel_from_state
from ..partitions.stack import Rows, as_rows
from ._gpu.device import members_on, rows_of
from .base import FeatureLift, take_rows
from .spectral import gram_factor

__all__ = ["SpanLift", "cluster_gram", "fit_span_lift", "fit_span_lifts", "kernel_sums"]

_BLOCK = 512  # rows and columns of the kernel matrix held at a time
_DEVICE_BLOCK = 4096  # the same on a device
_FEW_FEATURES = 8  # in which differences are as quick as a matrix product
_LARGEST_SQUARE = 8.0  # squared distance from the middle, in bandwidths, that float32 can do with

KernelBlocks = Callable[[slice, slice], list[Array]]


@dataclass(frozen=True, eq=False)
class SpanLift(FeatureLift):
    r"""Orthonormal coordinates on the span of s cluster vectors Φ(C) = Σ w p(C|y) κ(·, y).

    The Gram matrix of the clusters, :math:`G = R^\top κ(Y, Y) R`, is factored as VVᵀ with
    V = GA. Row C of V stands for Φ(C), and all inner products among the clusters, and of any
    vector in their span with any lifted point,

    .. math:: φ(x) = A^\top R^\top κ(Y, x),

    are those of the kernel up to rounding. A cluster that is *not* among those the lift was made
    from is projected onto their span by ``sums``.
    """

    kernel: Kernel
    anchors: Points  # Y
    memberships: Sparse  # R, weighted, (n, s)
    coefficients: FloatArray  # A, (s, ρ)

    kind: ClassVar[str] = "exact"

    @property
    def n_components(self) -> int:
        return int(self.coefficients.shape[1])

    @property
    def is_exact(self) -> bool:
        return True

    def points(self, X: Points) -> Points:
        return self.kernel.points(X)

    def features(self, X: Points) -> Array:
        sums = kernel_sums(self.kernel, X, self.anchors, self.memberships)
        return sums @ (send(self.coefficients, X) if on_device(X) else self.coefficients)

    def describe(self) -> str:
        return "exact"

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        R = self.memberships
        arrays = {
            "anchors": self.anchors,
            "data": R.data,
            "indices": R.indices,
            "indptr": R.indptr,
            "coefficients": self.coefficients,
        }
        return {"kernel": self.kernel.state()}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> SpanLift:
        A, Y = arrays["coefficients"], arrays["anchors"]
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        R = sp.csr_array(parts, shape=(len(Y), len(A)))
        R.check_format(full_check=True)
        return cls(kernel_from_state(values["kernel"]), Y, R, A)


def fit_span_lift(kernel: Kernel, X: Points, R: Any) -> tuple[SpanLift, FloatArray]:
    """The exact lift of the clusters R of the points X, and the vectors of those clusters."""
    X, matrix = _without_noise(X, R)
    V, A = gram_factor(cluster_gram(kernel, X, matrix))
    # Kept in main memory, where it can be saved from.
    return SpanLift(kernel, from_device(X), matrix, A), V


def fit_span_lifts(
    kernels: Sequence[ShiftInvariant], X: Points, R: Any
) -> list[tuple[SpanLift, FloatArray]]:
    """Exact lifts by kernels of one shape and several bandwidths; distances are computed once."""
    X, matrix = _without_noise(from_device(X), R)
    unit, shape = max(kernel.scale for kernel in kernels), kernels[0]

    def blocks(rows: slice, columns: slice) -> list[Array]:
        D = shape.distances(X[rows], X[columns], kernels)
        return [kernel.of_distances(D, unit) for kernel in kernels]

    factors = [gram_factor(G) for G in _grams(blocks, X, as_rows(matrix, len(X)), len(kernels))]
    return [
        (SpanLift(kernel, X, matrix, A), V) for kernel, (V, A) in zip(kernels, factors, strict=True)
    ]


def cluster_gram(kernel: Kernel, X: Points, R: Any) -> FloatArray:
    r"""G = Rᵀ κ(X, X) R, (s, s), without holding more than a block of κ."""
    if on_device(X):
        return _device_gram(kernel, X, R)
    R = as_rows(R, len(X))
    if isinstance(kernel, Discrete):
        shared = _add_up_equal_points(kernel.ids(X), R)
        return np.asarray((shared.T @ shared).toarray())
    single = _single_precision_blocks(kernel, X)
    blocks = single or (lambda rows, columns: [kernel(X[rows], X[columns])])
    return _grams(blocks, X, R, 1, threads=isinstance(kernel, ShiftInvariant))[0]


def _single_precision_blocks(kernel: Kernel, X: Points) -> KernelBlocks | None:
    """Blocks of κ(X, X) by float32 matrix products, where those keep six digits.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2x·y errs by about 10⁻⁷‖x‖‖y‖, and κ by half of that at most, so points
    must not lie many bandwidths from their middle. Sums of κ are float64: the squared distance of
    two clusters then errs by 10⁻⁶ times the square of the mass in which they differ.
    """
    if not (isinstance(kernel, ShiftInvariant) and kernel.power == 2):  # smooth in ‖x − y‖²
        return None
    if len(kernel.bandwidths) > 1 or X.shape[1] <= _FEW_FEATURES or len(X) < 2 * _BLOCK:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        U = (X - X.mean(axis=0, dtype=np.float64)) / kernel.scale
        squares = np.einsum("ij,ij->i", U, U)
    if not squares.max() <= _LARGEST_SQUARE:
        return None
    V = U.astype(np.float32)

    def blocks(rows: slice, columns: slice) -> list[Array]:
        D = V[rows] @ V[columns].T
        D *= -2
        D += squares[rows, None].astype(np.float32)
        D += squares[None, columns].astype(np.float32)
        np.maximum(D, 0, out=D)
        return [kernel.profile(D)]

    return blocks


def _grams(
    blocks_of: KernelBlocks, X: Points, R: Rows, count: int, threads: bool = False
) -> list[FloatArray]:
    """Rᵀ κ(X, X) R of several kernels at once; blocks above the diagonal stand for those below."""
    s = R.shape[1]
    check_pairs(s, s, 3 + count)
    grams = [np.zeros((s, s)) for _ in range(count)]
    blocks = list(row_blocks(len(X), _BLOCK, block_bytes=8 * _BLOCK**2))
    memberships = [R.rows(rows) for rows in blocks]

    def parts(pair: tuple[int, int]) -> list[FloatArray]:
        i, j = pair
        found = []
        for K in blocks_of(blocks[i], blocks[j]):
            # In float64: only then does an error of κ weigh as much as what two clusters differ in.
            part = memberships[i].T @ (memberships[j].T @ K.T.astype(np.float64, copy=False)).T
            found.append(part if i == j else part + part.T)
        return found

    pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
    for found in in_order(parts, pairs, uses_blas=True) if threads else map(parts, pairs):
        for G, part in zip(grams, found, strict=True):
            G += part
    return [(G + G.T) / 2 for G in grams]


def _without_noise(X: Points, R: Any) -> tuple[Points, Sparse]:
    """The points that are in some cluster, and their memberships."""
    n = X.shape[0] if on_device(X) else len(X)
    R = as_rows(R, n)
    matrix = R.rows(slice(0, n))
    inside = np.flatnonzero(np.diff(matrix.indptr) > 0)
    if len(inside) == n:
        return X, matrix
    return take_rows(X, inside), matrix[inside, :]


def _device_gram(kernel: Kernel, X: Any, R: Any) -> FloatArray:
    """Rᵀ κ(X, X) R where the points are."""
    S, members = _device_kernel_sums(kernel, X, X, R), members_on(X, R)
    every = slice(0, X.shape[0])
    G = members.scale(members.transposed(every, S) @ S)
    return (G + G.T) / 2


def _device_kernel_sums(kernel: Kernel, X: Any, Y: Any, R: Any) -> Any:
    xp, R = namespace(X), as_rows(R, Y.shape[0])
    found = []
    for rows in rows_of(X, _DEVICE_BLOCK):
        block, total = X[rows, ...], 0.0
        for columns in row_blocks(Y.shape[0], _DEVICE_BLOCK, block_bytes=8 * _DEVICE_BLOCK**2):
            K = kernel(block, Y[columns, ...])
            total = K @ send(R.rows(columns).toarray(), X) + total
        found.append(total)
    return xp.concat(found, axis=0)


def kernel_sums(kernel: Kernel, X: Points, Y: Points, R: Any) -> FloatArray:
    """κ(X, Y) R, (n, s): how similar each point of X is to each cluster of Y."""
    if on_device(X):
        return _device_kernel_sums(kernel, X, Y, R)
    R = as_rows(R, len(Y))
    if isinstance(kernel, Discrete):
        ids = kernel.ids(np.concatenate([Y, X]))
        shared = _add_up_equal_points(ids[: len(Y)], R, size=int(ids.max()) + 1)
        return np.asarray(shared[ids[len(Y) :], :].toarray())
    sums = np.zeros((len(X), R.shape[1]))
    for columns in row_blocks(len(Y), _BLOCK, block_bytes=8 * _BLOCK**2):
        block = R.rows(columns).T
        for rows in row_blocks(len(X), _BLOCK, block_bytes=8 * _BLOCK**2):
            sums[rows] += (block @ kernel(X[rows], Y[columns]).T).T
    return sums


def _add_up_equal_points(ids: Array, R: Rows, size: int | None = None) -> Sparse:
    """Rows of R added up over points with the same id."""
    n = len(ids)
    shape = (size or int(ids.max()) + 1, n)
    collect = sp.csr_array((np.ones(n), (ids, np.arange(n))), shape=shape)
    return sp.csr_array(collect @ R.rows(slice(0, n)))
