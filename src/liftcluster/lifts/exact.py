"""The exact lift: coordinates on the span of the cluster vectors, by the kernel trick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from .._util.arrays import from_device, namespace, on_device, row_blocks, send
from .._util.memory import check_pairs
from .._util.threads import map_in_order, one_blas_thread
from .._util.typing import Array, FloatArray, Points, Sparse
from ..kernels.kernel import Discrete, kernel_from_state
from ..kernels.shift_invariant import Kernel, ShiftInvariant
from ..kernels.summary import n_points, take_rows
from ..partitions.stack import MatrixRows, Rows, Stack, as_rows
from ._gpu.device import device_sums, row_blocks_on
from .base import FeatureLift

_BLOCK = 512  # rows and columns of the kernel matrix held at a time
_BLOCK_BYTES = 8 * _BLOCK**2
_DEVICE_BLOCK = 4096  # the same on a device
_FEW_FEATURES = 8  # dimensions up to which differences are as fast as a matrix product
_FEW_CLUSTERS = 32  # for which products of dense matrices are faster than those of sparse ones
_MAX_NEGATIVE = 1e-7  # relative size up to which negative eigenvalues are rounding errors
_MAX_SQUARED_RADIUS = 8.0  # largest squared distance from the mean, in bandwidths, for float32

_LARGE_GRAM = 2500  # clusters beyond which eigenvectors take longer than all else
_USE_VALID = "use a valid kernel, or add a constant to its diagonal"

_EPS = float(np.finfo(np.float64).eps)
_CSR_PARTS = ("data", "indices", "indptr")

Item = TypeVar("Item")
Answer = TypeVar("Answer")
KernelBlocks = Callable[[slice, slice], list[Array]]


@dataclass(frozen=True, eq=False)
class SpanLift(FeatureLift):
    r"""Orthonormal coordinates on the span of s cluster vectors Φ(C) = Σ w p(C|y) κ(·, y).

    The Gram matrix of the clusters, :math:`G = R^\top κ(Y, Y) R`, is factored as VVᵀ with
    V = GA. Row C of V represents Φ(C), a point is lifted to

    .. math:: φ(x) = A^\top R^\top κ(Y, x),

    and inner products of vectors in their span with each other and with any lifted point are those
    of the kernel up to rounding. ``sums`` projects other clusters onto the span.
    """

    kernel: Kernel
    anchors: Points  # Y
    clusters: Rows  # R, weighted, (n, s)
    coefficients: FloatArray  # A, (s, ρ)

    kind: ClassVar[str] = "exact"

    @cached_property
    def memberships(self) -> Sparse:
        """R as a matrix, which comparisons of the clusters themselves do without."""
        return self.clusters.rows(slice(0, self.clusters.shape[0]))

    @property
    def n_components(self) -> int:
        return int(self.coefficients.shape[1])

    @property
    def is_exact(self) -> bool:
        return True

    def points(self, X: Points) -> Points:
        return self.kernel.points(X)

    def features(self, X: Points) -> Array:
        sums = kernel_sums(self.kernel, X, self.anchors, self.clusters)
        return sums @ (send(self.coefficients, X) if on_device(X) else self.coefficients)

    def describe(self) -> str:
        return "exact"

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        arrays = {name: getattr(self.memberships, name) for name in _CSR_PARTS}
        arrays |= {"anchors": self.anchors, "coefficients": self.coefficients}
        return {"kernel": self.kernel.state()}, arrays

    @classmethod
    def from_state(cls, values: dict[str, Any], arrays: dict[str, Array]) -> SpanLift:
        A, Y = arrays["coefficients"], arrays["anchors"]
        parts = tuple(arrays[name] for name in _CSR_PARTS)
        R = sp.csr_array(parts, shape=(len(Y), len(A)))
        R.check_format(full_check=True)
        return cls(kernel_from_state(values["kernel"]), Y, MatrixRows(R), A)


def fit_span_lift(kernel: Kernel, X: Points, R: Any) -> tuple[SpanLift, FloatArray]:
    """The exact lift of the clusters R of the points X, and the vectors of these clusters."""
    X, clusters = _without_noise(X, R)
    # Set once for both; a function of the user may need threads for its matrix products.
    with one_blas_thread() if isinstance(kernel, ShiftInvariant) else nullcontext():
        V, A = gram_factor(_cluster_gram(kernel, X, clusters))
    return SpanLift(kernel, from_device(X), clusters, A), V


def fit_span_lifts(
    kernels: Sequence[ShiftInvariant], X: Points, R: Any
) -> list[tuple[SpanLift, FloatArray]]:
    """Exact lifts by one kernel with several bandwidths; point distances are computed once."""
    X, clusters = _without_noise(from_device(X), R)
    unit, shape = max(kernel.scale for kernel in kernels), kernels[0]

    def blocks(rows: slice, columns: slice) -> list[Array]:
        D = shape.distances(X[rows], X[columns], kernels)
        return [kernel.of_distances(D, unit) for kernel in kernels]

    grams = _grams(blocks, X, clusters, kernels)
    with one_blas_thread():
        factors = [gram_factor(G) for G in grams]
    return [
        (SpanLift(kernel, X, clusters, A), V)
        for kernel, (V, A) in zip(kernels, factors, strict=True)
    ]


def gram_factor(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """V and A with G = VVᵀ, V = GA and AᵀGA = I, from the positive eigenvalues of G.

    eigh, not Cholesky: m partitions of the same points leave their Gram rank-deficient by m - 1.
    The matrix is scaled to unit diagonal first, so that small clusters count as much as large ones
    when eigenvalues are taken to be zero.
    """
    diagonal = G.diagonal()
    if not (np.isfinite(G).all() and diagonal.min() > 0):
        raise ValueError(
            "the kernel is not positive definite on these points: a cluster or landmark has "
            "similarity zero or less with itself"
        )
    root = np.sqrt(diagonal)
    scaled = G / (root[:, None] * root)
    if len(G) > _LARGE_GRAM:
        V, A = _pivoted_factor(scaled)
        return root[:, None] * V, A / root[:, None]
    with one_blas_thread():  # the number of threads changes the last bits of eigenvectors
        eigenvalues, U = np.linalg.eigh(scaled)
    largest = eigenvalues[-1]
    if eigenvalues[0] < -_MAX_NEGATIVE * largest:
        raise ValueError(
            "the kernel is not positive semi-definite: an eigenvalue of its Gram matrix is "
            f"{eigenvalues[0] / largest:.2g} times the largest; {_USE_VALID}"
        )
    keep = eigenvalues > 10 * len(G) * _EPS * largest
    lengths, U = np.sqrt(eigenvalues[keep]), U[:, keep]
    return root[:, None] * U * lengths, U / lengths / root[:, None]


def _pivoted_factor(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same for a large matrix of unit diagonal, by Cholesky's factorisation with pivots.

    A tenth of the time of eigenvectors. The factor ends where all that is left is rounding.
    """
    from scipy.linalg.lapack import dpstrf, dtrtri  # slow to import

    s = len(G)
    with one_blas_thread():
        L, pivots, rank, _ = dpstrf(G, tol=10 * s * _EPS, lower=1)
        order, L = pivots - 1, np.tril(L)[:, :rank]
        inverse, _ = dtrtri(L[:rank], lower=1)
    V, A = np.empty((s, rank)), np.zeros((s, rank))
    V[order], A[order[:rank]] = L, inverse.T
    probe = np.random.default_rng(0).standard_normal((s, 8))
    missing, whole = G @ probe - V @ (V.T @ probe), G @ probe
    if not np.linalg.norm(missing) <= _MAX_NEGATIVE * np.linalg.norm(whole):
        raise ValueError(f"the kernel is not positive semi-definite; {_USE_VALID}")
    return V, A


def _cluster_gram(kernel: Kernel, X: Points, R: Any) -> FloatArray:
    """G = Rᵀ κ(X, X) R, (s, s), by blocks of κ."""
    if on_device(X):
        G = device_sums(lambda S: S, _device_kernel_sums(kernel, X, X, R), R, R.shape[1])
        return (G + G.T) / 2
    R = as_rows(R, len(X))
    if isinstance(kernel, Discrete):
        shared = _sum_equal_points(kernel.ids(X), R)
        return np.asarray((shared.T @ shared).toarray())

    def kernel_block(rows: slice, columns: slice) -> list[Array]:
        Y = X[columns]
        return [kernel(Y if rows == columns else X[rows], Y)]

    blocks = _single_precision_blocks(kernel, X) or kernel_block
    return _grams(blocks, X, R, [kernel])[0]


def _single_precision_blocks(kernel: Kernel, X: Points) -> KernelBlocks | None:
    """Blocks of κ(X, X) by float32 matrix products, or None where these lose too many digits.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2x·y has an error of about 10⁻⁷‖x‖‖y‖, and κ half of that at most, so
    points must be within a few bandwidths of their mean. Sums of κ are float64: the error of the
    squared distance of two clusters is 10⁻⁶ times the square of the mass in which they differ.
    """
    if not (isinstance(kernel, ShiftInvariant) and kernel.power == 2):  # smooth in ‖x − y‖²
        return None
    if len(kernel.bandwidths) > 1 or X.shape[1] <= _FEW_FEATURES or len(X) < 2 * _BLOCK:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        U = (X - X.mean(axis=0, dtype=np.float64)) / kernel.scale
        squares = np.einsum("ij,ij->i", U, U)
    if not squares.max() <= _MAX_SQUARED_RADIUS:
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
    blocks_of: KernelBlocks, X: Points, R: Rows, kernels: Sequence[Kernel]
) -> list[FloatArray]:
    """Rᵀ κ(X, X) R of several kernels, from the blocks on and above the diagonal."""
    s = R.shape[1]
    check_pairs(s, s, 3 + len(kernels))
    grams = [np.zeros((s, s)) for _ in kernels]
    blocks = list(row_blocks(len(X), _BLOCK, block_bytes=_BLOCK_BYTES))
    memberships = _memberships(R, blocks)
    # Of many clusters a block of points has few, and only their rows and columns change.
    many = s > _BLOCK
    own = [np.unique(M.indices) for M in memberships] if many else []
    if many:
        memberships = [sp.csr_array(M[:, c]) for M, c in zip(memberships, own, strict=True)]
    sums = [M.T for M in memberships]

    def parts(pair: tuple[int, int]) -> list[FloatArray]:
        i, j = pair
        # In float64, so that errors of κ count only where two clusters differ.
        each = (K.astype(np.float64, copy=False) for K in blocks_of(blocks[i], blocks[j]))
        # Kernel matrices are symmetric, and a transposed one would be copied.
        return [sums[i] @ (sums[j] @ (K if i == j else K.T)).T for K in each]

    pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
    for (i, j), products in zip(pairs, _map(parts, pairs, kernels[0]), strict=True):
        for G, P in zip(grams, products, strict=True):
            if many:
                G[np.ix_(own[i], own[j])] += P if i == j else 2 * P  # G is made symmetric below
            else:
                G += P if i == j else P + P.T
    return [(G + G.T) / 2 for G in grams]


def _without_noise(X: Points, R: Any) -> tuple[Points, Rows]:
    """The points in some cluster, and their memberships."""
    n = n_points(X)
    clusters = as_rows(R, n)
    if isinstance(clusters, Stack) and clusters.has_no_noise and not on_device(X):
        return X, clusters
    matrix = clusters.rows(slice(0, n))
    filled = np.diff(matrix.indptr) > 0
    if filled.all():
        return X, MatrixRows(matrix)
    inside = np.flatnonzero(filled)
    return take_rows(X, inside), MatrixRows(matrix[inside, :])


def _device_kernel_sums(kernel: Kernel, X: Any, Y: Any, R: Any) -> Any:
    R, found = as_rows(R, Y.shape[0]), []
    for rows in row_blocks_on(X, _DEVICE_BLOCK):
        block, total = X[rows, ...], 0.0
        for columns in row_blocks(Y.shape[0], _DEVICE_BLOCK, block_bytes=8 * _DEVICE_BLOCK**2):
            K = kernel(block, Y[columns, ...])
            total = K @ send(R.rows(columns).toarray(), X) + total
        found.append(total)
    return namespace(X).concat(found, axis=0)


def kernel_sums(kernel: Kernel, X: Points, Y: Points, R: Any) -> FloatArray:
    """κ(X, Y) R, (n, s): similarity of each point of X to each cluster of Y."""
    if on_device(X):
        return _device_kernel_sums(kernel, X, Y, R)
    R = as_rows(R, len(Y))
    if isinstance(kernel, Discrete):
        ids = kernel.ids(np.concatenate([Y, X]))
        shared = _sum_equal_points(ids[: len(Y)], R, size=int(ids.max()) + 1)
        return np.asarray(shared[ids[len(Y) :], :].toarray())
    columns, rows = (list(row_blocks(len(Z), _BLOCK, block_bytes=_BLOCK_BYTES)) for Z in (Y, X))
    members = [M.T for M in _memberships(R, columns)]

    def of_block(block: slice) -> FloatArray:
        U = X[block]
        products = (M @ kernel(U, Y[c]).T for M, c in zip(members, columns, strict=True))
        return np.asarray(sum(products)).T

    sums = np.zeros((len(X), R.shape[1]))
    for block, part in zip(rows, _map(of_block, rows, kernel), strict=True):
        sums[block] = part
    return sums


def _memberships(R: Rows, blocks: list[slice]) -> list[Any]:
    """Blocks of rows, dense for few clusters."""
    read = R.dense_rows if R.shape[1] <= _FEW_CLUSTERS else R.rows
    return [read(rows) for rows in blocks]


def _map(function: Callable[[Item], Answer], items: list[Item], kernel: Kernel) -> Iterable[Answer]:
    """On all threads, but for a function of the user, who may not expect that."""
    if isinstance(kernel, ShiftInvariant):
        return map_in_order(function, items, uses_blas=True)
    return map(function, items)


def _sum_equal_points(ids: Array, R: Rows, size: int | None = None) -> Sparse:
    """Sums of the rows of R over points with the same id."""
    n, size = len(ids), size or int(ids.max()) + 1
    collect = sp.csr_array((np.ones(n), (ids, np.arange(n))), shape=(size, n))
    return sp.csr_array(collect @ R.rows(slice(0, n)))
