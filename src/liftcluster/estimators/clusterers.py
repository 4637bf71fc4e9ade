"""Clusterers of points: cuts of the neighbour graph, and clusters that are far apart."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .._util.checks import check_count
from .._util.typing import IntArray
from .._util.validation import as_numbers
from .._util.warning import warn
from ..combination.max_mmd import max_mmd
from ..combination.methods.neighbours import NEIGHBOURS
from ..combination.methods.places import cut_points
from ..lifts.choice import Lifting
from .checks import make_rng_of, points_of


class NeighbourCut(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Clusters of points, of any shape, by a normalised cut of their neighbour graph.

    Spectral clustering (Ng, Jordan, Weiss, NIPS 2001) on the graph of ``lift_places`` without any
    labels. Neighbours are joined by :math:`\exp(-‖x - y‖^2 / (σ_x σ_y))`, in which σ is the local
    distance between neighbours (Zelnik-Manor, Perona, NIPS 2004), and all places by a tie of 0.001,
    which orders pieces that no edge joins. Linear in the number of points: above 2,000 places so
    many are drawn as landmarks, and the other points join them.

    Parameters
    ----------
    n_clusters : int
    n_neighbours : int
        Of each place.
    random_state : int (0 by default), RandomState, or None for another seed each time

    Attributes
    ----------
    labels_ : (n,) array

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> labels = NeighbourCut(2, random_state=0).fit(np.vstack([ring, 3 * ring])).labels_
    >>> len(set(labels[:60])), len(set(labels[60:])), len(set(labels))
    (1, 1, 2)
    """

    def __init__(
        self, n_clusters: int = 8, *, n_neighbours: int = NEIGHBOURS, random_state: Any = 0
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbours = n_neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NeighbourCut:
        X = points_of(self, X)
        k = check_count(self.n_clusters, "n_clusters")
        if len(X) < k:
            raise ValueError(f"n_samples={len(X)} is fewer than n_clusters={k}")
        K = check_count(self.n_neighbours, "n_neighbours")
        self.labels_ = cut_points(X, k, make_rng_of(self), n_neighbours=K)
        return self


class MaxMMDClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Cluster points so that the lifted clusters are as far apart as they can be.

    Climbs :func:`liftcluster.mmd_objective`,

    .. math:: J = \sum_{i < j} m_i m_j ‖μ_i - μ_j‖^2 + λ \sum_i ‖μ_i‖^2,

    by moving points, from several seedings, and keeps the best. With λ = 0 this is kernel
    k-means; a positive λ favours clusters that are each concentrated, however small.

    Parameters
    ----------
    n_clusters : int
    kernel, bandwidth, lift
        As for :func:`liftcluster.make_lift`; "exact" uses kernel values alone, in O(n²) time.
    regularisation : float
        λ.
    n_init : int
        How many seedings to climb from.
    max_iter : int
        Most rounds of moves in each climb.
    random_state : int (0 by default), RandomState, or None for another seed each time

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
        regularisation: float = 0.0,
        n_init: int = 4,
        max_iter: int = 100,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.lift = lift
        self.regularisation = regularisation
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MaxMMDClustering:
        X = points_of(self, X)
        k = check_count(self.n_clusters, "n_clusters")
        if not 0 <= self.regularisation < np.inf:
            raise ValueError(f"regularisation must not be negative, got {self.regularisation}")
        if not isinstance(sample_weight, Number | None):  # scikit-learn takes masked ones and dates
            sample_weight = as_numbers(sample_weight, "sample_weight")
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
            Lifting.of(self.kernel, self.bandwidth, self.lift),
            regularisation=self.regularisation,
            weights=w[counted],
            n_init=check_count(self.n_init, "n_init"),
            max_iter=check_count(self.max_iter, "max_iter"),
            rng=make_rng_of(self),
        )
        if not found.ascent.converged:
            message = f"points still moved after max_iter={self.max_iter} rounds; increase it"
            warn(message, ConvergenceWarning)
        self._found = found
        self.objective_, self.n_iter_ = found.ascent.objective, found.ascent.n_iter
        self.lift_, self.centres_ = found.lift, found.means
        self.labels_ = np.empty(len(X), dtype=np.int32)
        self.labels_[counted] = found.ascent.codes
        if not counted.all():
            self.labels_[~counted] = found.nearest(X[~counted])
        return self

    def predict(self, X: Any) -> IntArray:
        """Cluster whose mean embedding is nearest to each lifted point."""
        check_is_fitted(self)
        return self._found.nearest(points_of(self, X, reset=False))
