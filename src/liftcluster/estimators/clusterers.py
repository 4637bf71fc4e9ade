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
    n_clusters : int, default 8
        Number of clusters.
    n_neighbours : int, default 10
        Number of neighbours of each place.
    random_state : int, RandomState or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each point.

    See Also
    --------
    LiftedConsensus : A consensus of several clusterings.
    MaxMMDClustering : Clusters that are far apart.

    Examples
    --------
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> labels = lc.NeighbourCut(2, random_state=0).fit(np.vstack([ring, 3 * ring])).labels_
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
        """Cluster the points.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        y : None
            Ignored; scikit-learn's interface has it.
        """
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
    n_clusters : int, default 8
        Number of clusters.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and uses features beyond.
    regularisation : float, default 0.0
        λ, the weight of the second term.
    n_init : int, default 4
        Number of seedings to climb from.
    max_iter : int, default 100
        Largest number of rounds of moves in each climb.
    random_state : int, RandomState or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each point.
    objective_ : float
        J of ``labels_`` under the lift.
    centres_ : (n_clusters, ρ) array
        Mean embeddings μ.
    lift_ : Lift
        The map of the points.
    n_iter_ : int
        Number of rounds of the best climb.

    See Also
    --------
    mmd_objective : The objective of given partitions.
    NeighbourCut : Clusters of any shape.

    Examples
    --------
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = lc.MaxMMDClustering(n_clusters=2, random_state=0).fit(X)
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
        """Cluster the points.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        y : None
            Ignored; scikit-learn's interface has it.
        sample_weight : (n,) array-like, optional
            Weights of the points, one each by default. Points of weight zero are assigned to the
            nearest cluster, and have no part in it.
        """
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
        """Cluster whose mean embedding is nearest to each lifted point.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        """
        check_is_fitted(self)
        return self._found.nearest(points_of(self, X, reset=False))
