"""Consensus as an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._util.checks import check_choice, check_count
from .._util.typing import FloatArray, IntArray
from ..combination.assigning import mean_silhouette
from ..combination.combining import consensus
from ..combination.ensembles import base_partitions
from ..combination.methods.registry import METHODS
from ..combination.result import Consensus
from ..lifts.choice import Lifting
from ..partitions.partition import Partition, as_partitions
from ..streaming.sources import as_source, is_streamed
from ..streaming.streams import n_features_of, needs_stream
from .checks import make_rng_of, points_of

_ALL_LABELS = ("labels", "labels and points", "distances")  # what methods without blocks need


def _takes_blocks(estimator: LiftedConsensus) -> bool:
    method = estimator.method
    if isinstance(method, str) and method in METHODS and METHODS[method].needs in _ALL_LABELS:
        raise AttributeError(
            f"{method} needs the labels of all points at once: fit them together, or take lift_km"
        )
    return True


class LiftedConsensus(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Consensus of several clusterings in the lifted space, as an estimator.

    ``fit(X, partitions=...)`` combines given clusterings; ``fit(X)`` makes its own. New points
    are assigned by ``predict``, new blocks of points taken in by ``partial_fit``. What is not in
    memory is read in blocks (see :func:`liftcluster.consensus`); memberships are then not kept.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        Number of clusters. "auto" leaves it to the method, or chooses it by where the neighbour
        graph of the points falls apart.
    method : str or scikit-learn clusterer, default "auto"
        A name in :data:`~liftcluster.METHODS`, or a clusterer of vectors to replace the k-means of
        lift_km. "auto" chooses the method from the data; blocks that ``partial_fit`` adds are then
        combined by lift_km.
    method_options : mapping, optional
        Options of the method, such as ``{"n_init": 10}`` of lift_km: see
        :func:`~liftcluster.consensus`.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "auto"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. "auto" is "median/4", and "median" for the distances to the inputs.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and ``Nystroem(500)`` beyond.
    base : "kmeans" or "paper", default "kmeans"
        The clusterings that ``fit(X)`` makes: 20 runs of k-means with several numbers of clusters,
        or k-means and four linkages; see :func:`~liftcluster.base_partitions`.
    random_state : int, RandomState or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Attributes
    ----------
    labels_ : (n,) array
        Consensus cluster of each point.
    n_clusters_ : int
        The number of clusters found.
    memberships_ : (n, k) array
        Soft consensus; rows sum to one.
    confidence_ : (n,) array
        The share of the clusterings that agree with each label.
    centres_ : (k, ρ) array
        The vectors that points are scored by. Computed when first used, by methods that need
        labels only.
    consensus_ : Consensus
        The whole result.

    See Also
    --------
    consensus : The same as a function.
    base_partitions : Clusterings to combine.
    choose : Chooses settings by stability.

    Examples
    --------
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = lc.LiftedConsensus(2, random_state=0).fit(X)
    >>> len(set(model.labels_[:3])), bool(model.predict([[4.9]])[0] == model.labels_[3])
    (1, True)

    Settings are chosen by :meth:`score` on points that were held out:

    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> settings = {"n_clusters": [2, 3, 4], "method": ["lift_km", "lwgp"]}
    >>> GridSearchCV(lc.LiftedConsensus(), settings, cv=2).fit(X).best_params_["n_clusters"]
    3
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        method: Any = "auto",
        method_options: Mapping[str, Any] | None = None,
        kernel: Any = "gaussian",
        bandwidth: Any = "auto",
        lift: Any = "auto",
        base: str = "kmeans",
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.method_options = method_options
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.lift = lift
        self.base = base
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, partitions: Any = None) -> LiftedConsensus:
        """Combine clusterings of X: those given, or some that are made here.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
            The points.
        y : None
            Ignored; scikit-learn's interface has it.
        partitions : sequence, mapping or data frame of labels, memberships or Partition, optional
            The clusterings; by default those that ``base`` says.
        """
        if partitions is not None and needs_stream(X, partitions):
            self.n_features_in_ = 1 if X is None else n_features_of(as_source(X))
        else:
            X = points_of(self, X)
        return self._combine(X, partitions)

    @available_if(_takes_blocks)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, *, partitions: Any = None) -> LiftedConsensus:
        """Take in another block of points; attributes are then those of the new block.

        Partitions of different blocks are matched by name, their clusters by theirs. Without
        ``partitions`` each block is clustered by itself, and its clusters are new ones. For the
        methods "auto", lift_km, lift_hac and lift_barycentre; others need all labels at once.

        Parameters
        ----------
        X : (n, d) array-like
            The points of the block.
        y : None
            Ignored; scikit-learn's interface has it.
        partitions : mapping, sequence or data frame of labels, memberships or Partition, optional
            Clusterings of these points; by default those that ``base`` says.
        """
        first = not hasattr(self, "consensus_")
        X = points_of(self, X, reset=first)
        if first:
            return self._combine(X, partitions)
        if not self.consensus_.is_in_memory:
            raise ValueError(
                "partial_fit is not possible after a fit on points that were read in blocks; fit "
                "all of them together: Blocks joins any number of arrays"
            )
        self._n_blocks += 1
        inputs = self._inputs(X, partitions, make_rng_of(self))
        return self._keep(self.consensus_.partial_fit(X, inputs))

    def predict(self, X: Any) -> IntArray:
        """Consensus cluster of each point: that of the largest ⟨φ(x), v⟩.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
            The points.
        """
        check_is_fitted(self)
        return self.consensus_.predict(self._new_points(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, k) memberships of points, in proportion to ⟨φ(x), v⟩.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
            The points.
        """
        check_is_fitted(self)
        return self.consensus_.predict_proba(self._new_points(X))

    def score(self, X: Any, y: Any = None) -> float:
        r"""How clearly the points lie in the clusters that ``predict`` assigns them to.

        The mean simplified silhouette in the lifted space,

        .. math:: \frac{1}{n} \sum_x \frac{b(x) - a(x)}{\max(a(x), b(x))},

        where a(x) is the distance of the lifted point, scaled to unit length, to the unit vector of
        its cluster, and b(x) that to the nearest other one. Higher is better; 0 for a
        single cluster. It is comparable across numbers of clusters, methods and bases of one
        kernel, bandwidth and lift, but not across these, since a wider bandwidth brings all points
        nearer to their centres. Like every silhouette it prefers compact clusters to long ones;
        :func:`liftcluster.choose` judges by stability.

        Parameters
        ----------
        X : (n, d) array-like or source of blocks
            The points.
        y : None
            Ignored, as in scikit-learn's clusterers: where classes are known,
            ``scoring="adjusted_rand_score"`` of ``GridSearchCV`` judges by them.

        Returns
        -------
        float
            From −1 to 1.

        References
        ----------
        Rousseeuw (1987), doi:10.1016/0377-0427(87)90125-7; Vendramin, Campello, Hruschka (2010),
        doi:10.1002/sam.10080.
        """
        check_is_fitted(self)
        found = self.consensus_
        return mean_silhouette(found.representation, found.centres, self._new_points(X))

    @property
    def memberships_(self) -> FloatArray:
        return self.consensus_.memberships

    @property
    def confidence_(self) -> FloatArray:
        return self.consensus_.confidence

    @property
    def centres_(self) -> FloatArray | None:
        return self.consensus_.centres

    def _new_points(self, X: Any) -> Any:
        return X if is_streamed(X) else points_of(self, X, reset=False)

    def _combine(self, X: Any, partitions: Any) -> LiftedConsensus:
        k = self.n_clusters
        if not (isinstance(k, str) and k == "auto"):
            k = check_count(k, "n_clusters")
            if partitions is None and len(X) < k:
                raise ValueError(f"n_samples={len(X)} is fewer than n_clusters={k}")
        elif partitions is None and self.base == "paper":
            raise ValueError('base="paper" makes n_clusters clusters; give a number of them')
        # Checked before any work.
        if isinstance(self.method, str):
            check_choice(self.method, METHODS, "method")
        lifting = {"kernel": self.kernel, "bandwidth": self.bandwidth, "lift": self.lift}
        Lifting.of(**lifting, rule_for_auto="median")
        rng = make_rng_of(self)
        self._n_blocks: int = 0
        inputs = self._inputs(X, partitions, rng)
        options = {"method": self.method, "method_options": self.method_options}
        with warnings.catch_warnings():
            if partitions is None:  # nobody can take an input that was made here
                warnings.filterwarnings("ignore", "the consensus is farther")
            return self._keep(consensus(inputs, k, X, **options, **lifting, rng=rng))

    def _inputs(self, X: Any, partitions: Any, rng: np.random.Generator) -> Any:
        if partitions is not None:
            return partitions if needs_stream(X, partitions) else as_partitions(partitions)
        k = 2 if self.n_clusters == "auto" else self.n_clusters
        made = base_partitions(X, min(k, len(X)), self.base, rng)
        return {
            i: Partition(p.assignment, tuple((self._n_blocks, name) for name in p.names), p.weights)
            for i, p in enumerate(made)
        }

    def _keep(self, found: Consensus) -> LiftedConsensus:
        self.consensus_ = found
        self.labels_, self.n_clusters_ = found.labels, found.n_clusters
        return self
