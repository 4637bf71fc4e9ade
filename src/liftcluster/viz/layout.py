"""Things laid out in the plane to be looked at: points, and clusterings by their distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from .._util.memory import check_memory
from .._util.typing import FloatArray
from .._util.validation import as_points

__all__ = ["View", "lay_out", "look_at"]

_STEPS = 300
_NOTHING = 1e-9  # equal clusterings may miss distance zero by rounding
_SETTLED = 1e-9  # relative gain of a step below which the layout has settled


@dataclass(frozen=True, eq=False)
class View:
    """Points as seen in two dimensions.

    Attributes
    ----------
    coordinates : (n, 2) array
    axes : pair of str
        What the two axes are.
    explained : pair of float or None
        Shares of the variance that the axes show, where they are principal components.
    """

    coordinates: FloatArray
    axes: tuple[str, str]
    explained: tuple[float, float] | None = None

    @property
    def description(self) -> str:
        if self.explained is None:
            return f"{self.axes[0]} and {self.axes[1]}"
        return f"two principal components, {sum(self.explained):.0%} of the variance"


def look_at(X: Any, view: Any = None) -> View:
    """Points in the plane: as given by ``view``, as they are if they are flat, else by PCA.

    Examples
    --------
    >>> look_at([[0.0, 1.0], [2.0, 3.0]]).axes
    ('feature 1', 'feature 2')
    >>> look_at([[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]).explained
    (1.0, 0.0)
    """
    if view is not None:
        flat = as_points(view, "view")
        if flat.shape[1] != 2:
            raise ValueError(f"view must have two columns, got shape {flat.shape}")
        return View(flat.astype(np.float64), _columns(view, ("view 1", "view 2")))
    points = as_points(X)
    if points.shape[1] == 2:
        return View(points.astype(np.float64), _columns(X, ("feature 1", "feature 2")))
    if points.shape[1] == 1:
        line = points.astype(np.float64)
        return View(np.hstack([line, np.zeros_like(line)]), ("feature 1", "nothing"))
    return _principal_components(points)


def lay_out(D: FloatArray) -> tuple[FloatArray, float]:
    r"""Coordinates in the plane whose distances are near those of a matrix, and how near.

    Classical scaling, then steps of SMACOF, each of which can only lower the squared misses. The
    stress is :math:`\sqrt{\sum (\hat d - d)^2 / \sum d^2}` over all pairs: 0.05 is a map whose
    distances are off by about five per cent.

    Examples
    --------
    A triangle lies in the plane without strain:

    >>> Z, stress = lay_out(np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]))
    >>> round(float(np.linalg.norm(Z[0] - Z[1])), 6), round(stress, 6)
    (3.0, 0.0)
    """
    D = (D + D.T) / 2
    if D.max() <= _NOTHING:
        return np.zeros((len(D), 2)), 0.0
    Z = _classical_scaling(D)
    previous = np.inf
    for _ in range(_STEPS):
        near = squareform(pdist(Z))
        misses = float(((near - D) ** 2).sum())
        if misses >= previous * (1 - _SETTLED):
            break
        previous = misses
        ratios = np.divide(D, near, out=np.zeros_like(D), where=near > 0)
        Z = (np.diag(ratios.sum(axis=1)) - ratios) @ Z / len(D)  # the Guttman transform
    misses = float(((squareform(pdist(Z)) - D) ** 2).sum())
    return Z, float(np.sqrt(misses / (D**2).sum()))


def _classical_scaling(D: FloatArray) -> FloatArray:
    """The two leading coordinates of a doubly centred matrix, each with its sign fixed."""
    squares = D**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    Z = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    signs = np.sign(Z[np.abs(Z).argmax(axis=0), range(Z.shape[1])])
    Z = Z * np.where(signs == 0, 1, signs)
    return np.hstack([Z, np.zeros((len(Z), 2 - Z.shape[1]))])


def _principal_components(points: Any) -> View:
    from sklearn.decomposition import PCA

    check_memory(
        4 * 8 * points.size, "the plane of most variance", "say with view where points lie"
    )
    points = points.astype(np.float64)
    size = float(np.abs(points).max())
    scaled = points / size if size > 0 else points  # squares of large numbers overflow
    variance = float(scaled.var(axis=0).sum())
    if len(points) < 2 or variance == 0:  # all in one place: nothing to turn
        return View(points[:, :2], ("feature 1", "feature 2"))
    pca = PCA(2, random_state=0).fit(scaled)
    shares = tuple(round(float(v), 12) for v in pca.explained_variance_ratio_)
    first, second = shares
    axes = (f"PC 1 ({first:.0%} of variance)", f"PC 2 ({second:.0%} of variance)")
    return View(pca.transform(scaled) * size, axes, (first, second))


def _columns(frame: Any, otherwise: tuple[str, str]) -> tuple[str, str]:
    names = getattr(frame, "columns", None)
    return otherwise if names is None else (str(names[0]), str(names[1]))
