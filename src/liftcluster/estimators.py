"""scikit-learn estimators: consensus, lift and clusterers as objects with ``fit``."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ._util.arrays import check_is_array_like, to_numpy
from ._util.checks import check_choice, check_count
from ._util.memory import check_memory
from ._util.names import SamplingName
from ._util.typing import FloatArray, IntArray
from ._util.validation import as_numbers, as_points
from ._util.warning import warn
from .combination.combining import consensus
from .combination.ensembles import base_partitions
from .combination.max_mmd import max_mmd
from .combination.methods.neighbours import NEIGHBOURS
from .combination.methods.places import cut_points
from .combination.result import Consensus
from .lifts.base import FeatureLift
from .lifts.choice import Lifting, make_lift
from .lifts.settings import Fourier, Nystroem
from .partitions.partition import Partition, as_partitions
from .streaming.sources import as_source, is_streamed
from .streaming.streams import n_features_of, needs_stream

_CLUSTERERS = {"auto": "auto", "kmeans": "lift_km", "hac": "lift_hac"}


class LiftedConsensus(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Consensus of several clusterings in the lifted space, as an estimator.

    ``fit(X, partitions=...)`` combines given clusterings; ``fit(X)`` makes its own. New points
    are assigned by ``predict``, new blocks of points taken in by ``partial_fit``. What is not in
    memory is read in blocks (see :func:`liftcluster.consensus`); memberships are then not kept.

    Parameters
    ----------
    n_clusters : int
    clusterer : "auto", "kmeans", "hac" or a scikit-learn clusterer
        "auto" chooses the method from the data (see :func:`liftcluster.consensus`); blocks that
        ``partial_fit`` adds are combined by LiftKm. The others group the lifted clusters: LiftKm,
        LiftHAC, or any clusterer of vectors.
    kernel, bandwidth, lift
        As for :func:`liftcluster.consensus`.
    base : "kmeans" or "paper"
        The clusterings that ``fit(X)`` makes; see :func:`liftcluster.base_partitions`.
    random_state : int (0 by default), RandomState, or None for another seed each time

    Attributes
    ----------
    labels_ : (n,) array
    memberships_ : (n, n_clusters) array
    confidence_ : (n,) array, the share of the clusterings that agree with each label
    centres_ : (n_clusters, ρ) array
    consensus_ : Consensus

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = LiftedConsensus(2, random_state=0).fit(X)
    >>> len(set(model.labels_[:3])), bool(model.predict([[4.9]])[0] == model.labels_[3])
    (1, True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        clusterer: Any = "auto",
        kernel: Any = "gaussian",
        bandwidth: Any = "auto",
        lift: Any = "auto",
        base: str = "kmeans",
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.lift = lift
        self.base = base
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, partitions: Any = None) -> LiftedConsensus:
        if partitions is not None and needs_stream(X, partitions):
            self.n_features_in_ = 1 if X is None else n_features_of(as_source(X))
        else:
            X = _points(self, X)
        return self._combine(X, partitions)

    def partial_fit(self, X: Any, y: Any = None, *, partitions: Any = None) -> LiftedConsensus:
        """Take in another block of points; attributes are then those of the new block.

        Partitions of different blocks are matched by name, their clusters by theirs. Without
        ``partitions`` each block is clustered by itself, and its clusters are new ones.
        """
        first = not hasattr(self, "consensus_")
        X = _points(self, X, reset=first)
        if first:
            return self._combine(X, partitions)
        if not self.consensus_.is_in_memory:
            raise ValueError(
                "partial_fit is not possible after a fit on points that were read in blocks; fit "
                "all of them together: Blocks joins any number of arrays"
            )
        self._n_blocks += 1
        inputs = self._inputs(X, partitions, _rng(self))
        return self._keep(self.consensus_.partial_fit(X, inputs))

    def predict(self, X: Any) -> IntArray:
        """Consensus cluster of each point: that of the largest ⟨φ(x), v⟩."""
        check_is_fitted(self)
        return self.consensus_.predict(X if is_streamed(X) else _points(self, X, reset=False))

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, n_clusters) memberships in proportion to ⟨φ(x), v⟩."""
        check_is_fitted(self)
        return self.consensus_.predict_proba(X if is_streamed(X) else _points(self, X, reset=False))

    def _combine(self, X: Any, partitions: Any) -> LiftedConsensus:
        k = check_count(self.n_clusters, "n_clusters")
        if partitions is None and len(X) < k:
            raise ValueError(f"n_samples={len(X)} is fewer than n_clusters={k}")
        method = self.clusterer
        if isinstance(method, str):
            method = _CLUSTERERS[check_choice(method, _CLUSTERERS, "clusterer")]
        # Checked before any work.
        Lifting.of(self.kernel, self.bandwidth, self.lift, rule_for_auto="median")
        rng = _rng(self)
        self._n_blocks: int = 0
        inputs = self._inputs(X, partitions, rng)
        lifting = {"kernel": self.kernel, "bandwidth": self.bandwidth, "lift": self.lift}
        return self._keep(consensus(inputs, k, X, method=method, **lifting, rng=rng))

    def _inputs(self, X: Any, partitions: Any, rng: np.random.Generator) -> Any:
        if partitions is not None:
            return partitions if needs_stream(X, partitions) else as_partitions(partitions)
        made = base_partitions(X, min(self.n_clusters, len(X)), self.base, rng)
        return {
            i: Partition(p.assignment, tuple((self._n_blocks, name) for name in p.names), p.weights)
            for i, p in enumerate(made)
        }

    def _keep(self, found: Consensus) -> LiftedConsensus:
        self.consensus_ = found
        self.labels_, self.centres_ = found.labels, found.centres
        if found.is_in_memory:
            self.memberships_, self.confidence_ = found.memberships, found.confidence
        return self


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
        X = _points(self, X)
        k = check_count(self.n_clusters, "n_clusters")
        if len(X) < k:
            raise ValueError(f"n_samples={len(X)} is fewer than n_clusters={k}")
        K = check_count(self.n_neighbours, "n_neighbours")
        self.labels_ = cut_points(X, k, _rng(self), n_neighbours=K)
        return self


class ClusterLifter(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Points to features whose inner products are kernel values: the lift as a transformer.

    Parameters
    ----------
    n_components : int
        ρ.
    kernel, bandwidth
        As for :func:`liftcluster.make_lift`.
    lift : "fourier" or "nystroem"
    sampling : {"auto", "iid", "orthogonal", "quasi"}
        How Fourier frequencies are drawn; see :class:`liftcluster.Fourier`.
    random_state : int (0 by default), RandomState, or None for another seed each time

    Attributes
    ----------
    lift_ : Lift

    Examples
    --------
    >>> Z = ClusterLifter(500, bandwidth=1.0, random_state=0).fit_transform([[0.0], [1.0]])
    >>> Z.shape
    (2, 500)
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "gaussian",
        bandwidth: Any = "median",
        lift: str = "fourier",
        sampling: SamplingName = "auto",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.lift = lift
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ClusterLifter:
        X = _points(self, X)
        settings: Fourier | Nystroem = Fourier(self.n_components, self.sampling)
        if check_choice(self.lift, ("fourier", "nystroem"), "lift") == "nystroem":
            if self.sampling != "auto":
                raise ValueError('sampling is how lift="fourier" draws frequencies; leave it out')
            settings = Nystroem(self.n_components)
        self.lift_ = make_lift(
            X, kernel=self.kernel, bandwidth=self.bandwidth, lift=settings, rng=_rng(self)
        )
        self._n_features_out = self.lift_.n_components
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        X = _points(self, X, reset=False)
        assert isinstance(self.lift_, FeatureLift)
        check_memory(
            2 * 8 * len(X) * self.lift_.n_components,
            f"{self.lift_.n_components:,} features of {len(X):,} points",
            "take a smaller n_components, or transform the points block by block",
        )
        return self.lift_.features(X).astype(X.dtype, copy=False)


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
        X = _points(self, X)
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
            rng=_rng(self),
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
        return self._found.nearest(_points(self, X, reset=False))


def _rng(estimator: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(estimator.random_state).randint(2**31))


def _points(estimator: BaseEstimator, X: Any, *, reset: bool = True) -> Any:
    """X as scikit-learn checks it, once what it would misread has been refused."""
    check_is_array_like(X)
    if hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray):
        X = to_numpy(X, "X")
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if hasattr(X, "columns") or isinstance(X, np.ma.MaskedArray) or kind in "USMmV":
        as_points(X, finite=False)  # scikit-learn takes masked numbers, dates and "1.0" as they are
    try:
        return validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset)
    except OverflowError:
        raise ValueError("X holds integers that are too large for float64") from None
