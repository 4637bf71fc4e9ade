"""The lift as a transformer."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._util.checks import check_choice
from .._util.memory import check_memory
from .._util.names import SamplingName
from ..lifts.base import FeatureLift
from ..lifts.choice import make_lift
from ..lifts.settings import Fourier, Nystroem
from .checks import make_rng_of, points_of


class ClusterLifter(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Points to features whose inner products are kernel values: the lift as a transformer.

    Parameters
    ----------
    n_components : int, default 100
        Number of features ρ.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels.
    lift : "fourier" or "nystroem", default "fourier"
        Random Fourier features, or similarities to landmark points.
    sampling : "auto", "iid", "orthogonal" or "quasi", default "auto"
        How Fourier frequencies are drawn: independently, in orthogonal blocks, or by a Sobol'
        sequence. "auto" is quasi-random below 16 dimensions, and orthogonal from there on.
    random_state : int, RandomState or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Attributes
    ----------
    lift_ : Lift
        The map of the points.

    See Also
    --------
    make_lift : The map itself.
    represent : Vectors of clusters.

    Examples
    --------
    >>> import liftcluster as lc
    >>> Z = lc.ClusterLifter(500, bandwidth=1.0, random_state=0).fit_transform([[0.0], [1.0]])
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
        """Make the map for the points.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        y : None
            Ignored; scikit-learn's interface has it.
        """
        X = points_of(self, X)
        settings: Fourier | Nystroem = Fourier(self.n_components, self.sampling)
        if check_choice(self.lift, ("fourier", "nystroem"), "lift") == "nystroem":
            if self.sampling != "auto":
                raise ValueError('sampling is how lift="fourier" draws frequencies; leave it out')
            settings = Nystroem(self.n_components)
        self.lift_ = make_lift(
            X, kernel=self.kernel, bandwidth=self.bandwidth, lift=settings, rng=make_rng_of(self)
        )
        self._n_features_out = self.lift_.n_components
        return self

    def transform(self, X: Any) -> Any:
        """(n, ρ) features of points.

        Parameters
        ----------
        X : (n, d) array-like
            The points.
        """
        check_is_fitted(self)
        X = points_of(self, X, reset=False)
        assert isinstance(self.lift_, FeatureLift)
        check_memory(
            2 * 8 * len(X) * self.lift_.n_components,
            f"{self.lift_.n_components:,} features of {len(X):,} points",
            "take a smaller n_components, or transform the points block by block",
        )
        return self.lift_.features(X).astype(X.dtype, copy=False)
