"""scikit-learn estimators: the verbs of this library as objects with ``fit``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ._typing import IntArray
from ._validation import check_count
from .mmd import max_mmd

__all__ = ["MaxMMDClustering"]


class MaxMMDClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Cluster points so that the lifted clusters are as far apart as they can be.

    Climbs :func:`liftcluster.mmd_objective`,

    .. math:: J = \sum_{i < j} m_i m_j ‖μ_i - μ_j‖^2 + λ \sum_i ‖μ_i‖^2,

    by moving points, from several seedings, and keeps the best. With λ = 0 this is kernel
    k-means; a positive λ favours clusters that are each concentrated, however small.

    Parameters
    ----------
    n_clusters : int
    kernel, bandwidth, lift, n_components
        As for :func:`liftcluster.make_lift`; "exact" uses kernel values alone, in O(n²) time.
    regularisation : float
        λ.
    n_init : int
        How many seedings to climb from.
    max_iter : int
        Most rounds of moves in each climb.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) array
    objective_ : float
        J of ``labels_`` under the lift.
    centres_ : (n_clusters, ρ) array
        Mean embeddings μ.
    lift_ : Lift
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = MaxMMDClustering(n_clusters=2, random_state=0).fit(X)
    >>> len(set(model.labels_[:3])), len(set(model.labels_))
    (1, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "gaussian",
        bandwidth: Any = "median",
        lift: Any = "auto",
        n_components: int | None = None,
        regularisation: float = 0.0,
        n_init: int = 4,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.lift = lift
        self.n_components = n_components
        self.regularisation = regularisation
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MaxMMDClustering:
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        k = check_count(self.n_clusters, "n_clusters")
        if not 0 <= self.regularisation < np.inf:
            raise ValueError(f"regularisation must not be negative, got {self.regularisation}")
        w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        counted = w > 0
        if (n := int(counted.sum())) < k:
            raise ValueError(
                f"n_samples={n} (of positive weight) is fewer than n_clusters={k}; ask for at most "
                "one cluster for each point"
            )
        found = max_mmd(
            X[counted],
            k,
            kernel=self.kernel,
            bandwidth=self.bandwidth,
            lift=self.lift,
            n_components=self.n_components,
            regularisation=self.regularisation,
            weights=w[counted],
            n_init=check_count(self.n_init, "n_init"),
            max_iter=check_count(self.max_iter, "max_iter"),
            rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31)),
        )
        if not found.converged:
            warnings.warn(
                f"points still moved after max_iter={self.max_iter} rounds; raise it",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._found = found
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        self.lift_, self.centres_ = found.lift, found.means
        self.labels_ = np.empty(len(X), dtype=np.int32)
        self.labels_[counted] = found.codes
        if not counted.all():
            self.labels_[~counted] = found.nearest(X[~counted])
        return self

    def predict(self, X: Any) -> IntArray:
        """Cluster whose mean embedding is nearest to each lifted point."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._found.nearest(X)
