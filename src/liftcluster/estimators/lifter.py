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
        check_is_fitted(self)
        X = points_of(self, X, reset=False)
        assert isinstance(self.lift_, FeatureLift)
        check_memory(
            2 * 8 * len(X) * self.lift_.n_components,
            f"{self.lift_.n_components:,} features of {len(X):,} points",
            "take a smaller n_components, or transform the points block by block",
        )
        return self.lift_.features(X).astype(X.dtype, copy=False)
