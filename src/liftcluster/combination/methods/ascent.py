"""Ascent of the MaxMMD objective by moving single points between clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import add_up
from ..._util.typing import Array, FloatArray, IntArray

# (rows, R) -> (n, k): similarity of all points to weighted clusters of the points at rows
Affinity = Callable[[IntArray, sp.csr_array], FloatArray]


class Ascent(NamedTuple):
    codes: IntArray
    objective: float
    n_iter: int
    converged: bool


def ascend_mmd(
    affinity: Affinity,
    self_similarity: FloatArray,
    weights: FloatArray,
    codes: IntArray,
    k: int,
    *,
    regularisation: float = 0.0,
    max_iter: int = 100,
) -> Ascent:
    """Local search that moves points between k clusters and never lowers the objective.

    Each iteration computes the gain of every single move, makes all moves of positive gain at once,
    and halves their number (largest gain first) until the objective increases. A single move
    increases it by exactly its gain, so the search ends where no single move is an improvement.
    """
    w = weights / weights.sum()
    n = len(codes)
    A = affinity(np.arange(n), indicator(codes, w, k))  # ⟨φ(x), S_i⟩, (n, k)
    everything = float(w @ A.sum(axis=1))  # ‖Σ S_i‖², the same for every partition
    value = _objective(A, codes, w, k, regularisation)
    for iteration in range(1, max_iter + 1):
        gains = _gains(A, codes, w, self_similarity, k, regularisation)
        target = gains.argmax(axis=1)
        best = gains[np.arange(n), target]
        movers = np.flatnonzero(best > 1e-12 * max(abs(value), everything))
        movers = movers[np.argsort(-best[movers], kind="stable")]
        while len(movers):
            trial = codes.copy()
            trial[movers] = target[movers]
            if len(np.unique(trial)) == k:
                step = indicator(trial, w, k)[movers, :] - indicator(codes, w, k)[movers, :]
                A_trial = A + affinity(movers, sp.csr_array(step))
                new_value = _objective(A_trial, trial, w, k, regularisation)
                if new_value > value:
                    break
            movers = movers[: len(movers) // 2]
        if not len(movers):
            return Ascent(codes, value - everything, iteration, True)
        codes, A, value = trial, A_trial, new_value
    return Ascent(codes, value - everything, max_iter, False)


def spread_out_seeds(
    affinity: Affinity,
    self_similarity: FloatArray,
    weights: FloatArray,
    k: int,
    rng: np.random.Generator,
) -> IntArray:
    """(n,) nearest of k seeds, which are drawn as by k-means++."""
    n, p = len(weights), weights
    seeds: list[int] = []
    squared = np.empty((n, k))
    for i in range(k):
        if not p.any():  # all points coincide with a seed: draw any other
            p = np.ones(n)
            p[seeds] = 0
        seeds.append(int(rng.choice(n, p=p / p.sum())))
        similar = affinity(np.array(seeds[-1:]), sp.csr_array(np.ones((1, 1))))[:, 0]
        squared[:, i] = np.maximum(self_similarity + self_similarity[seeds[-1]] - 2 * similar, 0)
        p = squared[:, : i + 1].min(axis=1) * weights
        p[seeds] = 0
    codes = squared.argmin(axis=1)
    codes[seeds] = np.arange(k)  # no empty cluster where points coincide
    return codes


def indicator(codes: IntArray, w: FloatArray, k: int) -> sp.csr_array:
    n = len(codes)
    return sp.csr_array((w, codes, np.arange(n + 1)), shape=(n, k))


def _sizes(A: FloatArray, codes: IntArray, w: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """‖S_i‖² and the mass of each cluster."""
    own = A[np.arange(len(codes)), codes]
    return add_up(w * own, codes, k), add_up(w, codes, k)


def _objective(A: FloatArray, codes: IntArray, w: FloatArray, k: int, lam: float) -> float:
    return float(_term(*_sizes(A, codes, w, k), lam).sum())


def _term(squares: Array, masses: Array, lam: float) -> Array:
    """Terms of the objective, since Σ_{i<j} m_i m_j ‖μ_i − μ_j‖² = Σ ‖S_i‖²/m_i − ‖S‖²."""
    return np.asarray(squares / masses + lam * squares / masses**2)


def _gains(
    A: FloatArray, codes: IntArray, w: FloatArray, kappa: FloatArray, k: int, lam: float
) -> FloatArray:
    """(n, k) change of the objective if one point moved; −∞ where a cluster would become empty."""
    squares, masses = _sizes(A, codes, w, k)
    rows = np.arange(len(codes))
    here = _term(squares, masses, lam)
    step = w[:, None]
    there = _term(squares + 2 * step * A + step**2 * kappa[:, None], masses + step, lam) - here
    own = squares[codes] - 2 * w * A[rows, codes] + w**2 * kappa
    rest = masses[codes] - w
    leaving = rest > 1e-15
    after = np.where(leaving, _term(np.maximum(own, 0), np.where(leaving, rest, 1), lam), 0)
    gains = there + (after - here[codes])[:, None]
    gains[~leaving] = -np.inf  # the only point of a cluster
    gains[rows, codes] = 0
    return np.asarray(gains)
