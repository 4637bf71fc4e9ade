"""Clustering that maximises the distances between lifted clusters (the paper's section 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from .._util.arrays import add_up, from_device
from .._util.typing import FloatArray, IntArray, Points
from ..lifts.base import FeatureLift, Lift
from ..lifts.choice import Lifting, choose_settings, kernel_of_points, lift_for_any_points
from ..lifts.exact import fit_span_lift, kernel_sums
from ..lifts.settings import Exact
from ..representation.representation import Representation
from .methods.ascent import Ascent, ascend_mmd, indicator, spread_out_seeds


def mmd_objective(representation: Representation, *, regularisation: float = 0.0) -> FloatArray:
    r"""Weighted squared distances between the lifted clusters of each partition.

    .. math:: J(P) = \sum_{i < j} m_i m_j ‖μ_i - μ_j‖^2 + λ \sum_i ‖μ_i‖^2,
              \qquad μ_i = Φ(C_i) / w(C_i)

    with masses m, and mean embeddings μ: the objective of Jegelka et al. treats a cluster as a
    probability distribution, so Φ in it is the mean and not the sum. Sizes there are masses here,
    which divides the first term by n². With λ = 0 it is that of kernel k-means.

    Parameters
    ----------
    representation : Representation
        m lifted partitions.
    regularisation : float, default 0.0
        λ, the weight of the second term.

    Returns
    -------
    (m,) array
        J of each partition.

    See Also
    --------
    MaxMMDClustering : Finds clusters with a large objective.
    represent : Makes a representation.

    References
    ----------
    Jegelka, Gretton, Schölkopf, Sriperumbudur, von Luxburg: Generalized clustering via kernel
    embeddings (KI 2009).

    Examples
    --------
    Two points at kernel distance √2, apart or together:

    >>> import liftcluster as lc
    >>> rep = lc.represent(None, [["a", "b"], ["a", "a"]], kernel="discrete")
    >>> lc.mmd_objective(rep).round(12).tolist()  # ¼ · 2, and 0 for one cluster
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
    """A clustering, and the lift and means that assign new points."""

    ascent: Ascent
    lift: Lift
    means: FloatArray  # (k, ρ), mean embeddings

    def nearest(self, X: Points) -> IntArray:
        """Cluster whose mean embedding is nearest to each lifted point."""
        squares = np.einsum("ij,ij->i", self.means, self.means)
        return np.asarray((2 * self.lift.scores(X, self.means) - squares).argmax(axis=1))


def max_mmd(
    X: Points,
    k: int,
    lifting: Lifting,
    *,
    regularisation: float = 0.0,
    weights: FloatArray,
    n_init: int = 4,
    max_iter: int = 100,
    rng: np.random.Generator,
) -> MaxMMD:
    """Cluster points of positive weight by the best of ``n_init`` ascents of ``mmd_objective``."""
    X = from_device(X)
    weights = weights / weights.max()  # only ratios matter; squares must not underflow
    if not lifting.is_fitted:
        X = lifting.kernel.points(X, len(weights))
        resolved = kernel_of_points(lifting, [X])
        lifting = Lifting(resolved, None, choose_settings(lifting, len(X), None))
    is_exact = isinstance(lifting.lift, Exact)
    if is_exact:
        self_similarity = resolved.diagonal(X)

        def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
            return kernel_sums(resolved, X, X[rows], R)
    else:
        features = lift_for_any_points(lifting, X, rng)
        if not isinstance(features, FeatureLift):
            raise TypeError(f"lift must have features, but {features.describe()} has none")
        self_similarity = features.squared_norms(X)

        def affinity(rows: IntArray, R: sp.csr_array) -> FloatArray:
            return features.scores(X, features.sums(X[rows], R))

    ascend = partial(ascend_mmd, affinity, self_similarity, weights, regularisation=regularisation)
    starts = (spread_out_seeds(affinity, self_similarity, weights, k, rng) for _ in range(n_init))
    climbs = [ascend(codes, k, max_iter=max_iter) for codes in starts]
    best = max(climbs, key=lambda climb: climb.objective)
    R = indicator(best.codes, weights, k)
    used, V = fit_span_lift(resolved, X, R) if is_exact else (features, features.sums(X, R))
    means = V / add_up(weights, best.codes, k)[:, None]
    return MaxMMD(best, used, means)
