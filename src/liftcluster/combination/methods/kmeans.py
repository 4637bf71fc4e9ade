"""k-means of vectors that are known by their coordinates, or by their inner products."""

from __future__ import annotations

import math
import warnings

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import add_up
from ..._util.threads import threads_for
from ..._util.typing import Array, FloatArray, IntArray

_MOST_STEPS = 300
_ROUNDING = 1e-14  # relative to the largest squared length


def kmeans(
    Y: Array, k: int, n_init: int, rng: np.random.Generator, weights: FloatArray | None = None
) -> IntArray:
    """Codes of the clusters of the rows of Y: fewer than k where fewer rows are different."""
    from sklearn.cluster import KMeans  # slow to import
    from sklearn.exceptions import ConvergenceWarning

    model = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings(), threads_for(Y.size):
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(Y, sample_weight=weights).labels_
    used = np.bincount(labels, minlength=k) > 0
    return (np.cumsum(used) - 1)[labels]


def gram_kmeans(
    G: FloatArray, w: FloatArray, k: int, n_init: int, rng: np.random.Generator
) -> list[IntArray]:
    r"""Groups by Lloyd's algorithm, each from other greedy k-means++ seeds.

    .. math:: ‖v - c‖^2 = ⟨v, v⟩ - 2 ⟨v, c⟩ + ⟨c, c⟩, \quad c = \sum_{u \in C} w_u u / w(C)

    so that s vectors of any length take O(s²) per step. A group that loses its vectors gets the
    one that is farthest from its centre.

    Parameters
    ----------
    G : (s, s) array
        Inner products of the vectors.
    w : (s,) array
        Positive weights.
    k : int
        Number of groups, at most s.
    n_init : int
        Number of results.
    rng : Generator

    Returns
    -------
    list of (s,) int arrays
        Fewer than k groups where fewer vectors are different.
    """
    squares = np.diag(G)
    D = np.maximum(squares[:, None] + squares[None, :] - 2 * G, 0.0)
    D[_ROUNDING * squares.max() >= D] = 0.0
    starts = (_seeds(D, w, k, rng) for _ in range(n_init))
    return [_lloyd(G, w, D[seeds].argmin(axis=0)) for seeds in starts]


def _lloyd(G: FloatArray, w: FloatArray, codes: IntArray) -> IntArray:
    k = int(codes.max()) + 1
    for _ in range(_MOST_STEPS):
        new = _step(G, w, codes, k)
        if np.array_equal(new, codes):
            break
        codes = new
    return codes


def _seeds(D: FloatArray, w: FloatArray, k: int, rng: np.random.Generator) -> list[int]:
    """Positions of at most k different vectors, each the best of some draws."""
    trials = 2 + int(math.log(k))
    nearest = np.ones(len(w))
    seeds: list[int] = []
    for _ in range(k):
        upto = np.cumsum(w * nearest)
        if not upto[-1] > 0:  # all vectors coincide with a seed
            break
        draws = rng.random(trials if seeds else 1) * upto[-1]
        drawn = np.minimum(np.searchsorted(upto, draws, side="right"), len(w) - 1)
        left = np.minimum(nearest, D[drawn]) if seeds else D[drawn]
        best = int((left @ w).argmin())
        seeds.append(int(drawn[best]))
        nearest = left[best]
    return seeds


def _step(G: FloatArray, w: FloatArray, codes: IntArray, k: int) -> IntArray:
    """The nearest centre of each vector; none is without a vector."""
    s, masses = len(w), add_up(w, codes, k)
    R = sp.csc_array((w / masses[codes], codes, np.arange(s + 1)), shape=(k, s))
    products = np.asarray(R @ G)  # ⟨c, v⟩, (k, s)
    lengths = add_up(w * products[codes, np.arange(s)], codes, k) / masses
    distances = lengths[:, None] - 2 * products  # but for ⟨v, v⟩
    new = distances.argmin(axis=0)
    sizes = np.bincount(new, minlength=k)
    if (sizes > 0).all():
        return new
    own = distances[new, np.arange(s)] + np.diag(G)
    for empty in np.flatnonzero(sizes == 0):
        farthest = int(np.where(sizes[new] > 1, own, -np.inf).argmax())
        sizes[new[farthest]] -= 1
        sizes[empty], new[farthest], own[farthest] = 1, empty, 0.0
    return new
