"""Voronoi cells of the means of clusters, and the shares that single points take from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import row_blocks
from .._util.html import paragraph, table
from .._util.memory import check_memory
from .._util.typing import Array, FloatArray
from .._util.validation import check_same_length
from ..partitions.partition import Partition

_RADIUS = 2.0  # of the region, in distances of the farthest mean from their centre
_ROUNDING = 1e-9  # relative to squared distances
_FEW_HITS = 30  # samples in the cell of a point, below which more are drawn
_MORE_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Affinities:
    """How firmly single points belong to clusters; made by :func:`affinities`.

    Attributes
    ----------
    values : (n, k) array
        Affinity of each point to each cluster; rows sum to one.
    errors : (n, k) array
        Standard errors of the values, which are estimated by sampling.
    partition : Partition
        The clustering.

    See Also
    --------
    affinities : The function that returns it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.affinities([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1], rng=0)
    >>> found.values.shape, found.doubtful.tolist()
    ((4, 2), [False, False, False, False])
    """

    values: FloatArray
    errors: FloatArray
    partition: Partition

    @property
    def own(self) -> FloatArray:
        """(n,) affinity of each point to its own cluster; 0 for noise."""
        labels = self.partition.labels
        own = self.values[np.arange(len(labels)), np.maximum(labels, 0)]
        return np.where(labels >= 0, own, 0.0)

    @property
    def doubtful(self) -> Array:
        """(n,) whether the affinity of a point to its own cluster is below ½."""
        return self.own < 0.5

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = []
        for i, name in enumerate(self.partition.names):
            inside = self.partition.labels == i
            if inside.any():
                shown = f"{self.own[inside].mean():.2f}", f"{self.doubtful[inside].mean():.1%}"
                rows.append((str(name), f"{inside.sum():,}", *shown))
        return rows

    def _summary(self) -> str:
        inside = self.partition.labels >= 0
        return (
            f"affinities of {len(self.values):,} points to {self.partition.k} clusters: mean to "
            f"their own {self.own[inside].mean():.2f}, below ½ for "
            f"{self.doubtful[inside].mean():.1%} (standard errors up to {self.errors.max():.2f})"
        )

    def __str__(self) -> str:
        lines = [
            f"  {name}: {count} points, mean affinity {mean}, doubtful {doubtful}"
            for name, count, mean, doubtful in self._rows()
        ]
        return "\n".join([self._summary(), *lines])

    def _repr_html_(self) -> str:
        headings = ("cluster", "points", "mean affinity", "doubtful")
        return paragraph(self._summary()) + table(headings, self._rows())


def affinities_of_features(
    Z: FloatArray, clustering: Partition, n_samples: int, rng: np.random.Generator
) -> Affinities:
    """The affinities of points with features Z; see :func:`liftcluster.affinities`."""
    check_same_length(clustering.n, len(Z), "the partition", "X")
    check_memory(
        8 * 10 * n_samples * 3 * clustering.k,
        f"{n_samples:,} samples and more of a ball in up to {clustering.k - 1:,} dimensions",
        "take a smaller n_samples",
    )
    sums = np.asarray(clustering.weighted_rows(slice(0, clustering.n)).T @ Z)
    means = sums / clustering.cluster_weights[:, None]
    centre = means.mean(axis=0)
    _, lengths, basis = np.linalg.svd(means - centre, full_matrices=False)
    basis = basis[lengths > _ROUNDING * max(float(np.abs(means).max()), 1e-300)]
    values, hits = shares_of_cells(
        (Z - centre) @ basis.T, (means - centre) @ basis.T, n_samples, rng
    )
    # By the rule of succession, so that an estimate of 0 or 1 has an error as well.
    p = (values * hits[:, None] + 1) / (hits[:, None] + 2)
    errors = np.sqrt(p * (1 - p) / np.maximum(hits, 1)[:, None])
    if clustering.k == 1:
        errors = np.zeros_like(errors)
    return Affinities(values, errors, clustering)


def shares_of_cells(
    Y: FloatArray, R: FloatArray, n_samples: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(n, k) shares of the cells of points Y that they take from those of R, and (n,) samples.

    The mean of R must be the origin.
    """
    radius = _RADIUS * float(np.linalg.norm(R, axis=1).max(initial=0.0))
    lengths = np.linalg.norm(Y, axis=1)
    Y = Y * np.where(lengths > radius, radius / np.where(lengths > 0, lengths, 1.0), 1.0)[:, None]
    counts, hits = np.zeros((len(Y), len(R))), np.zeros(len(Y))
    lacking = np.arange(len(Y))
    for number in range(1 + _MORE_ROUNDS):
        size = n_samples if number == 0 else 10 * n_samples
        U = _sample_ball(size, R.shape[1], rng) * radius
        _count(U, Y, R, lacking, counts, hits)
        lacking = lacking[hits[lacking] < _FEW_HITS]
        if not len(lacking):
            break
    missed = hits == 0  # none in the cell: the cluster of the nearest mean, with a large error
    counts[missed] = _nearest(cdist(Y[missed], R, "sqeuclidean"), radius**2)
    return counts / np.maximum(hits, 1)[:, None], hits


def _count(
    U: FloatArray,
    Y: FloatArray,
    R: FloatArray,
    rows: Array,
    counts: FloatArray,
    hits: FloatArray,
) -> None:
    """Add the samples U in the cells of some points, by the cell of R that they are taken from."""
    D = cdist(U, R, "sqeuclidean")
    scale = float(D.max())
    taken_from, nearest = _nearest(D, scale), D.min(axis=1) + _ROUNDING * scale
    for block in row_blocks(len(rows), 2 * len(U)):
        here = rows[block]
        inside = (cdist(Y[here], U, "sqeuclidean") <= nearest).astype(np.float64)
        counts[here] += inside @ taken_from
        hits[here] += inside.sum(axis=1)


def _nearest(D: FloatArray, scale: float) -> FloatArray:
    """(n, k) one for the smallest entry of each row; equal ones share it."""
    least = (D.min(axis=1, keepdims=True) + _ROUNDING * scale >= D).astype(np.float64)
    return least / least.sum(axis=1, keepdims=True)


def _sample_ball(count: int, p: int, rng: np.random.Generator) -> FloatArray:
    """Uniform samples of the unit ball in p dimensions."""
    directions = rng.normal(size=(count, p))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return (
        directions / np.where(lengths > 0, lengths, 1.0) * rng.random((count, 1)) ** (1 / max(p, 1))
    )
