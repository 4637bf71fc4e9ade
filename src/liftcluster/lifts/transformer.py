"""Any scikit-learn transformer as a lift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._typing import Points
from .base import FeatureLift

__all__ = ["TransformerLift", "fit_transformer_lift", "is_transformer"]


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
        if X is None:
            raise ValueError("X is needed: the objects that the transformer transforms")
        return X if isinstance(X, list | tuple) else np.asarray(X)

    def features(self, X: Points) -> Any:
        Z = self.transformer.transform(X)
        return sp.csr_array(Z) if sp.issparse(Z) else np.asarray(Z)

    def describe(self) -> str:
        return f"{type(self.transformer).__name__}, ρ = {self.n_components}"


def is_transformer(obj: Any) -> bool:
    return hasattr(obj, "transform") and hasattr(obj, "fit") and not isinstance(obj, type)


def fit_transformer_lift(transformer: Any, X: Points) -> TransformerLift:
    """Use a fitted transformer as it is; fit a copy of one that is not."""
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        transformer = clone(transformer).fit(X)
    return TransformerLift(transformer, int(transformer.transform(X[:1]).shape[1]))
