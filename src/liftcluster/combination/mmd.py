"""One clustering that drives lifted clusters apart (Jegelka et al.; the paper's section 2.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import add_up, from_device
from .._util.typing import Array, FloatArray, IntArray, Points
from ..kernels.kernel import as_kernel
from ..lifts.base import FeatureLift, Lift
from ..lifts.choice import choose_lift, make_lift, resolve_bandwidth
from ..lifts.exact import fit_span_lift, kernel_sums
from ..representation.representation import Representation

__all__ = ["Climb", "MaxMMD", "climb_mmd", "max_mmd", "mmd_objective", "spread_out_seeds"]

# (rows, R) -> (n, k): how similar all points are to weighted clusters of the points at rows
Affinity = Callable[[IntArray, sp.csr_array], FloatArray]


def mmd_objective(representation: Representation, *, regularisation: float = 0.0) -> FloatArray:
    r"""How far apart the lifted clusters of each partition are.

    .. math:: J(P) = \sum_{i < j} m_i m_j ‖μ_i - μ_j‖^2 + λ \sum_i ‖μ_i‖^2,
              \qquad μ_i = Φ(C_i) / w(C_i)

    with masses m, and mean embeddings μ: the objective of Jegelka et al. treats a cluster as a
    probability distribution, so Φ in it is the mean and not the sum. Sizes |C| there are masses
    |C|/n here, which divides the first term by n². With λ = 0 it is that of kernel k-means.

    Returns
    -------
    (m,) array, one value for each partition

    References
    ----------
    Jegelka, Gretton, Schölkopf, Sriperumbudur, von Luxburg: Generalized clustering via kernel
    embeddings (KI 2009).

    Examples
    --------
    Two points at kernel distance √2, apart or together:

    >>> import liftcluster as lc
    >>> rep = lc.represent(None, [["a", "b"], ["a", "a"]], kernel="discrete")
    >>> mmd_objective(rep).round(12).tolist()  # ¼ · 2, and nothing to be apart from
    [0.5, 0.0]
    """
    values = []
    for i in range(representation.m):
        part = representation[i]
        means = part.sums / part.cluster_weights[:, None]
        G = means @ means.T
        squares = np.diag(G)
        apart = np.add.outer(squares, squares) - 2 * G
        values.append(part.masses @ apart @ part.masses / 2 + regularisation * squares.sum())
    return np.array(values)


@dataclass(frozen=True, eq=False)
class MaxMMD:
    """A clustering, its objective, and what it takes to assign new points."""

    codes: IntArray  # (n,)
    objective: float
    lift: Lift
    means: FloatArray  # (k, ρ), mean embeddings
    n_iter: int
    converged: bool

    def nearest(self, X: Points) -> IntArray:
        """Cluster whose mean embedding is nearest to each lifted point."""
        squares = np.einsum("ij,ij->i", self.means, self.means)
        return np.asarray((2 * self.lift.scores(X, self.means) - squares).argmax(axis=1))


def max_mmd(
    X: Points,
    k: int,
    *,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    regularisation: float = 0.0,
    weights: FloatArray,
    n_init: int = 4,
    max_iter: int = 100,
    rng: np.random.Generator,
) -> MaxMMD:
    """Cluster points of positive weight by the best of several climbs of ``mmd_objective``."""
    X = from_device(X)
    weights = weights / weights.max()  # only ratios matter, and 1e-200 has no square
    resolved = as_kernel(kernel)
    if isinstance(lift, str):
        X = resolved.points(X, len(weights))
        kernel = resolved = resolve_bandwidth(resolved, X, bandwidth)
        lift = choose_lift(lift, len(X), resolved, n_components, spans=True)
    if lift == "exact":
        self_similarity = resolved.diagonal(X)

        def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
            return kernel_sums(resolved, X, X[rows], R)
    else:
        features = make_lift(
            X,
            kernel=kernel,
            bandwidth=bandwidth,
            lift=lift,
            n_components=n_components,
            rng=rng,
        )
        if not isinstance(features, FeatureLift):
            raise TypeError(f"lift must have features, and {features.describe()} has none")
        self_similarity = features.squared_norms(X)

        def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
            return features.scores(X, features.sums(X[rows], R))

    climbs = []
    for _ in range(n_init):
        codes = spread_out_seeds(affinity, self_similarity, weights, k, rng)
        climbs.append(
            climb_mmd(
                affinity,
                self_similarity,
                weights,
                codes,
                k,
                regularisation=regularisation,
                max_iter=max_iter,
            )
        )
    best = max(climbs, key=lambda climb: climb.objective)
    R = _indicator(best.codes, weights, k)
    used, V = fit_span_lift(resolved, X, R) if lift == "exact" else (features, features.sums(X, R))
    means = V / add_up(weights, best.codes, k)[:, None]
    return MaxMMD(best.codes, best.objective, used, means, best.n_iter, best.converged)


@dataclass(frozen=True, eq=False)
class Climb:
    """Where the climb ended."""

    codes: IntArray
    objective: float
    n_iter: int
    converged: bool


def climb_mmd(
    affinity: Affinity,
    self_similarity: FloatArray,
    weights: FloatArray,
    codes: IntArray,
    k: int,
    *,
    regularisation: float = 0.0,
    max_iter: int = 100,
) -> Climb:
    """Climb the objective by moving points between clusters, never down, keeping k clusters.

    Each round computes what every single move would gain, makes all gainful moves at once, and
    halves their number (best first) until the objective rises. A single best move always raises
    it by exactly its gain, so that the rounds end at a partition no single move improves.
    """
    w = weights / weights.sum()
    codes = codes.copy()
    n = len(codes)
    A = affinity(np.arange(n), _indicator(codes, w, k))  # ⟨φ(x), S_i⟩, (n, k)
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
                step = _indicator(trial, w, k)[movers, :] - _indicator(codes, w, k)[movers, :]
                A_trial = A + affinity(movers, sp.csr_array(step))
                new_value = _objective(A_trial, trial, w, k, regularisation)
                if new_value > value:
                    break
            movers = movers[: len(movers) // 2]
        if not len(movers):
            return Climb(codes, value - everything, iteration, True)
        codes, A, value = trial, A_trial, new_value
    return Climb(codes, value - everything, max_iter, False)


def spread_out_seeds(
    affinity: Affinity,
    self_similarity: FloatArray,
    weights: FloatArray,
    k: int,
    rng: np.random.Generator,
) -> IntArray:
    """Codes of the nearest of k seeds, drawn by their squared distances (k-means++)."""
    n = len(weights)
    seeds = [int(rng.choice(n, p=weights / weights.sum()))]
    squared = np.empty((n, k))
    for i in range(k):
        similar = affinity(np.array(seeds[-1:]), sp.csr_array(np.ones((1, 1))))[:, 0]
        squared[:, i] = np.maximum(self_similarity + self_similarity[seeds[-1]] - 2 * similar, 0)
        nearest = squared[:, : i + 1].min(axis=1) * weights
        nearest[seeds] = 0
        if i + 1 < k:
            seeds.append(_draw(nearest, seeds, rng))
    codes = squared.argmin(axis=1)
    codes[seeds] = np.arange(k)  # coinciding points must not leave a cluster empty
    return codes


def _draw(odds: Array, taken: list[int], rng: np.random.Generator) -> int:
    if not odds.any():  # all points coincide with a seed: any other will do
        odds = np.ones_like(odds)
        odds[taken] = 0
    return int(rng.choice(len(odds), p=odds / odds.sum()))


def _indicator(codes: IntArray, w: FloatArray, k: int) -> sp.csr_array:
    n = len(codes)
    return sp.csr_array((w, codes, np.arange(n + 1)), shape=(n, k))


def _sizes(A: FloatArray, codes: IntArray, w: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """‖S_i‖² and the mass of each cluster."""
    own = A[np.arange(len(codes)), codes]
    return add_up(w * own, codes, k), add_up(w, codes, k)


def _objective(A: FloatArray, codes: IntArray, w: FloatArray, k: int, lam: float) -> float:
    return float(_term(*_sizes(A, codes, w, k), lam).sum())


def _term(squares: Array, masses: Array, lam: float) -> Array:
    """A cluster's part of the objective: Σ_{i<j} m_i m_j ‖μ_i − μ_j‖² = Σ ‖S_i‖²/m_i − ‖S‖²."""
    return np.asarray(squares / masses + lam * squares / masses**2)


def _gains(
    A: FloatArray, codes: IntArray, w: FloatArray, kappa: FloatArray, k: int, lam: float
) -> FloatArray:
    """(n, k) change of the objective if one point moved; −∞ where it must not."""
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
    gains[~leaving] = -np.inf  # the last of its cluster stays: k clusters are k clusters
    gains[rows, codes] = 0
    return np.asarray(gains)
