"""Lifts by scikit-learn transformers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._util.typing import Points
from .base import FeatureLift


@dataclass(frozen=True, eq=False)
class TransformerLift(FeatureLift):
    """φ = ``transformer.transform``: Nystroem, RBFSampler, HashingVectorizer, a pipeline, ..."""

    transformer: Any
    n_features_out: int

    kind: ClassVar[str] = "transformer"

    @property
    def n_components(self) -> int:
        return self.n_features_out

    def points(self, X: Points) -> Points:
        return _as_objects(X)

    def features(self, X: Points) -> Any:
        with warnings.catch_warnings():
            # Points are arrays here, even if the transformer was fitted to a data frame.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            Z = self.transformer.transform(X)
        Z = sp.csr_array(Z) if sp.issparse(Z) else np.asarray(Z)
        if Z.dtype not in (np.float32, np.float64):  # sums of small integer types overflow
            Z = Z.astype(np.float64)
        if Z.ndim != 2 or not np.isfinite(Z.data if sp.issparse(Z) else Z).all():
            raise ValueError(
                f"{type(self.transformer).__name__} must return finite features, one row for each "
                f"point; got shape {Z.shape}"
            )
        return Z

    def describe(self) -> str:
        return f"{type(self.transformer).__name__}, ρ = {self.n_components}"


def is_transformer(obj: Any) -> bool:
    return hasattr(obj, "transform") and hasattr(obj, "fit") and not isinstance(obj, type)


def is_fitted(transformer: Any) -> bool:
    from sklearn.exceptions import NotFittedError  # slow to import
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True


def fit_transformer_lift(transformer: Any, X: Points) -> TransformerLift:
    """The lift by a transformer; a copy of it is fitted to X if it is not fitted."""
    X = _as_objects(X)
    if not is_fitted(transformer):
        from sklearn.base import clone

        transformer = clone(transformer).fit(X)
    n_features_out = TransformerLift(transformer, 0).features(X[:1]).shape[1]
    return TransformerLift(transformer, int(n_features_out))


def _as_objects(X: Points) -> Points:
    """A list of objects, or an array."""
    if X is None:
        raise ValueError("X is needed: the objects that the transformer transforms")
    if sp.issparse(X):
        raise TypeError("X is sparse, expected an array or a list of objects; use X.toarray()")
    return X if isinstance(X, list | tuple) else np.asarray(X)
