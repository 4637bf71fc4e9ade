"""Points in the plane such that neighbours stay neighbours: t-SNE of the graph of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy.fft
import scipy.sparse as sp

from .._util.arrays import row_blocks
from .._util.threads import n_threads, one_blas_thread
from .._util.typing import Array, FloatArray, IntArray, Sparse

NEIGHBOURS = 15
LEAST_PLACES = 10  # fewer points in different places have no neighbourhoods to show
MAX_EMBEDDED = 20_000  # points; of more a sample is embedded
_DIMENSIONS = 50  # principal components in which neighbours are searched
_EARLY, _LATE = 60, 200  # steps
_EARLY_EXAGGERATION, _EXAGGERATION = 12.0, 1.5
_MOMENTUM = 0.5, 0.8
_LONGEST_STEP = 5.0
_PLACING = 20  # steps of the points that are not in the sample
_SPACING = 0.5  # of the grid; the forces are smooth on the scale of 1
_MAX_GRID = 384  # nodes in a row; larger pictures have wider spacing


def embed_neighbours(X: Array) -> FloatArray | None:
    r"""Coordinates (n, 2) in which the nearest neighbours of each point are near it.

    t-SNE of a graph. Let :math:`p_{ij}` be one for pairs of which one is among the 15 nearest
    neighbours of the other, one half unless both are, divided by the sum over all pairs; and
    :math:`q_{ij} = 1/(1 + ‖y_i - y_j‖^2)`. Gradient descent on

    .. math:: -ρ \sum_{i≠j} p_{ij} \log q_{ij} + \log \sum_{i≠j} q_{ij}, \quad ρ = 1.5,

    starts from two principal components, with ρ = 12 in the first steps, and uses momentum and
    the step sizes of Jacobs. Equal weights for all neighbours, and ρ slightly above the 1 of t-SNE,
    which leaves more space between groups, are a point between t-SNE and UMAP (Böhm et al.). The
    repulsion is a convolution, which is computed on a grid by the fast Fourier transform, so that
    a step takes linear time and nothing is random (Linderman et al.).

    Of more than 20,000 points a sample is embedded; the others start at their nearest neighbour in
    the sample and go where the attraction of the 15 nearest takes them, a weighted mean that
    neighbours in other groups have little part in. Neighbours are searched in 50 principal
    components of the sample if there are more dimensions. Points in the same place stay there.

    Parameters
    ----------
    X : (n, d) array
        Finite points.

    Returns
    -------
    (n, 2) array, or None for fewer than ten places
        The same for the same points on the same machine. Sizes of groups and distances between
        them mean nothing.

    References
    ----------
    van der Maaten, Hinton, Visualizing data using t-SNE, JMLR 9 (2008), 2579-2605.
    Linderman, Rachh, Hoskins, Steinerberger, Kluger, Fast interpolation-based t-SNE for improved
    visualization of single-cell RNA-seq data, Nature Methods 16 (2019), 243-245,
    https://doi.org/10.1038/s41592-018-0308-4
    Böhm, Berens, Kobak, Attraction-repulsion spectrum in neighbor embeddings, JMLR 23 (2022), 95.

    Examples
    --------
    >>> X = np.vstack([np.eye(9), np.eye(9) + 100])  # two groups
    >>> Z = embed_neighbours(X)
    >>> side = Z @ (Z[0] - Z[9]) > 0
    >>> bool(side[:9].all() and not side[9:].any())
    True
    """
    with one_blas_thread():  # the same bits from call to call
        rows = np.arange(len(X))
        if len(X) > MAX_EMBEDDED:
            rows = np.sort(np.random.default_rng(0).choice(len(X), MAX_EMBEDDED, replace=False))
        places, place = np.unique(X[rows], axis=0, return_inverse=True)
        if len(places) < LEAST_PLACES:
            return None
        project = _projection(places)
        points = project(places)
        Z = _descend(_graph(points), _start(points))
        if len(rows) == len(X):
            return Z[place.ravel()].astype(np.float64)
        found = _place_others(points, Z, X, project)
        found[rows] = Z[place.ravel()]
        return found


def _projection(places: Array) -> Callable[[Array], Array]:
    """The function that takes points to at most 50 principal components, in single precision."""
    from sklearn.decomposition import PCA

    size = np.float64(np.abs(places).max())  # sums of large numbers overflow
    centre = (places / size).mean(axis=0)
    unit = np.abs(places / size - centre).max()

    def scaled(X: Array) -> Array:
        return ((X / size - centre) / unit).astype(np.float32)

    if places.shape[1] <= _DIMENSIONS:
        return scaled
    pca = PCA(min(_DIMENSIONS, len(places)), random_state=0).fit(scaled(places))
    return lambda X: pca.transform(scaled(X))


def _start(points: Array) -> Array:
    """Two principal components, small, and not exactly on a line."""
    from sklearn.decomposition import PCA

    Z = np.zeros((len(points), 2))
    q = min(2, points.shape[1])
    Z[:, :q] = PCA(q, random_state=0).fit_transform(points.astype(np.float64))
    Z /= Z[:, 0].std()
    Z += 1e-2 * np.random.default_rng(0).standard_normal(Z.shape)
    return (0.01 * Z).astype(np.float32)


def _graph(points: Array) -> Sparse:
    """Pairs of neighbours above the diagonal, with weights that sum to one half."""
    from sklearn.neighbors import NearestNeighbors

    n = len(points)
    k = min(NEIGHBOURS, (n - 1) // 3)
    near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    one_way = sp.csr_array(
        (np.ones(n * k, dtype=np.float32), near.ravel(), np.arange(n + 1) * k), shape=(n, n)
    )
    pairs = sp.csr_array(sp.triu(one_way + one_way.T, 1))
    return pairs / (2 * pairs.sum())


def _descend(graph: Sparse, start: Array) -> Array:
    """Gradient descent from the coordinates ``start``."""
    n = len(start)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    Z, velocity, gains = start, np.zeros_like(start), np.ones_like(start)
    for step in range(_EARLY + _LATE):
        late = step >= _EARLY
        exaggeration = _EXAGGERATION if late else _EARLY_EXAGGERATION
        gradient = exaggeration * _attraction(graph, rows, Z) - _repulsion(Z)
        faster = (gradient > 0) != (velocity > 0)
        gains = np.maximum(np.where(faster, gains + 0.2, gains * 0.8), 0.01)
        velocity = _MOMENTUM[late] * velocity - n / exaggeration * gains * gradient
        lengths = np.sqrt((velocity**2).sum(axis=1, keepdims=True))
        velocity /= np.maximum(lengths / _LONGEST_STEP, 1)
        Z = Z + velocity
        Z -= Z.mean(axis=0)
    return Z


def _attraction(graph: Sparse, rows: IntArray, Z: Array) -> Array:
    r"""The sums :math:`\sum_j p_{ij} q_{ij} (y_i - y_j)`."""
    differences = Z.take(rows, axis=0) - Z.take(graph.indices, axis=0)
    q = 1 / (1 + np.einsum("ij,ij->i", differences, differences))
    W = sp.csr_array((graph.data * q, graph.indices, graph.indptr), shape=graph.shape)
    charges = _charges(Z)
    sums = W @ charges + W.T @ charges
    return np.asarray(sums[:, :1] * Z - sums[:, 1:])


def _repulsion(Z: Array) -> Array:
    r"""The sums :math:`\sum_j q_{ij}^2 (y_i - y_j) / \sum_{i≠j} q_{ij}`."""
    low = Z.min(axis=0)
    extent = float((Z.max(axis=0) - low).max())
    spacing = max(_SPACING, extent / (_MAX_GRID - 8))
    size = -(-int(extent / spacing + 4) // 32) * 32  # few sizes: the kernels are kept
    S = _interpolation((Z - low) / np.float32(spacing) + 1, size)
    grid = (S.T @ _charges(Z)).reshape(size, size, 3)
    q, q_squared = _kernels(size, spacing)
    shape, threads = (2 * size, 2 * size), n_threads()
    waves = scipy.fft.rfft2(grid, shape, axes=(0, 1), workers=threads)
    products = np.concatenate([waves[:, :, :1] * q, waves * q_squared], axis=2)
    fields = scipy.fft.irfft2(products, shape, axes=(0, 1), workers=threads)[:size, :size]
    sums = S @ fields.reshape(size * size, 4)  # of q, q², q² y
    total = float(sums[:, 0].sum(dtype=np.float64)) - _own_share(S, spacing)
    return np.asarray((sums[:, 1:2] * Z - sums[:, 2:]) / max(total, 1e-12))


def _interpolation(Z: Array, size: int) -> Sparse:
    """Weights (n, size²) of the nodes of a grid, by which fields are interpolated at points."""
    n = len(Z)
    cells = np.floor(Z).astype(np.int32)
    u = Z - cells
    polynomials = (
        -u * (u - 1) * (u - 2) / 6,
        (u + 1) * (u - 1) * (u - 2) / 2,
        -(u + 1) * u * (u - 2) / 2,
        (u + 1) * u * (u - 1) / 6,
    )  # cubic, of Lagrange, for the nodes −1, 0, 1, 2
    x, y = np.stack(polynomials, axis=1).transpose(2, 0, 1)  # (n, 4) each
    columns, rows = (cells[:, axis, None] + np.arange(-1, 3, dtype=np.int32) for axis in (1, 0))
    weights = x[:, :, None] * y[:, None, :]
    nodes = rows[:, :, None] * np.int32(size) + columns[:, None, :]
    ends = np.arange(n + 1, dtype=np.int32) * 16
    return sp.csr_array((weights.ravel(), nodes.ravel(), ends), shape=(n, size * size))


def _own_share(S: Sparse, spacing: float) -> float:
    """The sum of q over the pairs i = j, which is n but for the error of the interpolation."""
    x, y = spacing * np.array(np.divmod(np.arange(16), 4))
    q = 1 / (1 + np.subtract.outer(x, x) ** 2 + np.subtract.outer(y, y) ** 2)
    weights = S.data.reshape(-1, 16)
    return float(np.vdot(weights @ q.astype(np.float32), weights))


@lru_cache(maxsize=4)
def _kernels(size: int, spacing: float) -> tuple[Array, Array]:
    """Transforms of q and q² between the nodes of a grid, which is padded to twice its size."""
    steps = np.minimum(np.arange(2 * size), 2 * size - np.arange(2 * size)) * spacing
    q = 1 / (1 + steps[:, None] ** 2 + steps**2)
    first, second = (scipy.fft.rfft2(k.astype(np.float32))[:, :, None] for k in (q, q**2))
    return first, second


def _charges(Z: Array) -> Array:
    return np.column_stack([np.ones(len(Z), dtype=Z.dtype), Z])


def _place_others(
    points: Array, Z: Array, X: Array, project: Callable[[Array], Array]
) -> FloatArray:
    """Coordinates of all points among their neighbours that are embedded."""
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(points)
    found = np.empty((len(X), 2))
    for rows in row_blocks(len(X), 8 * X.shape[1]):
        distances, near = index.kneighbors(project(X[rows]))
        squares = (distances / np.maximum(distances[:, :1], 1e-30)) ** 2
        found[rows] = _attracted(Z[near].astype(np.float64), np.exp(1 - squares))
    return found


def _attracted(Z: FloatArray, weights: FloatArray) -> FloatArray:
    """Where attraction alone takes points from the first of their neighbours Z (n, K, 2)."""
    found = Z[:, 0]
    for _ in range(_PLACING):
        pull = weights / (1 + ((Z - found[:, None]) ** 2).sum(axis=2))  # p q
        found = np.einsum("ij,ijk->ik", pull, Z) / pull.sum(axis=1)[:, None]
    return found
