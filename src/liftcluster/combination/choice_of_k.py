"""Selection of the number of clusters of a consensus, by criteria on the lifted clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import add_up
from .._util.checks import check_choice
from .._util.typing import FloatArray, IntArray
from ..representation.representation import Representation
from .methods.lifted import group_centres, lift_ssd
from .methods.linkage import ward_groupings
from .methods.places import Places

Criterion = Literal["eigengap", "silhouette", "variance_ratio"]
CRITERIA = get_args(Criterion)


@dataclass(frozen=True, eq=False)
class Curve:
    """A criterion for every number of clusters that was tried; the largest value is chosen.

    ``candidates``, ``values`` of the criterion and ``scores`` (liftSSD) are arrays of shape (c,).
    """

    criterion: str
    candidates: IntArray
    values: FloatArray
    scores: FloatArray

    @property
    def k(self) -> int:
        return int(self.candidates[self.values.argmax()])

    def plot(self, ax: Any = None) -> Any:
        """Plot the curve: see :func:`liftcluster.plot.curve`."""
        from ..viz.plot import curve as draw

        return draw(self, ax=ax)


def choose_k(
    rep: Representation, places: Places | None = None, *, criterion: Criterion = "eigengap"
) -> Curve:
    r"""Evaluate a criterion for 2, 3, … clusters, by weighted Ward on the lifted clusters.

    The largest number is two more than any input has.

    ``eigengap``: the relative gap after the k-th eigenvalue of the graph of ``lift_places``,

    .. math:: \Bigl(1 - \frac{1 - λ_k}{1 - λ_{k+1}}\Bigr) · \text{silhouette}(k),

    times the silhouette. ``silhouette``: the mean over clusters, weighted by mass, of
    (b − a)/max(a, b), with a the mean distance to its own group and b that to the nearest other.
    ``variance_ratio``: the Caliński–Harabasz index (1974, doi:10.1080/03610927408827101), weighted
    by mass. The first finds the number of classes more often than the others
    (``python -m benchmarks consensus --auto``).

    Parameters
    ----------
    rep : Representation
        The lifted clusters of the inputs.
    places : Places, optional
        The points with the same partitions; needed by ``eigengap``.
    criterion : str
        One of ``CRITERIA``.
    """
    check_choice(criterion, CRITERIA, "criterion")
    if criterion == "eigengap" and places is None:
        raise ValueError("criterion 'eigengap' needs the places of the points: pass places=")
    if rep.s == 1:
        return Curve(criterion, np.array([1]), np.zeros(1), np.zeros(1))
    most = max(min(int(np.bincount(rep.owner).max()) + 2, rep.s - 1), 2)
    candidates = np.arange(2, most + 1)
    groupings = list(ward_groupings(rep.vectors, rep.masses, most))[-2::-1]
    centres = [group_centres(rep, codes, k) for k, codes in enumerate(groupings, start=2)]
    if criterion == "variance_ratio":
        values = np.array([_variance_ratio(rep, v) for v in centres])
    else:
        D = cdist(rep.vectors, rep.vectors)
        values = np.array([_silhouette(D, codes, rep.masses) for codes in groupings])
    if criterion == "eigengap":
        assert places is not None
        values = places.eigengaps(most)[candidates - 1] * np.maximum(values, 0)
    scores = [lift_ssd(rep, v) for v in centres]
    return Curve(criterion, candidates, values, np.array(scores))


def _silhouette(D: FloatArray, codes: IntArray, masses: FloatArray) -> float:
    k = int(codes.max()) + 1
    sums = np.column_stack([D[:, codes == c] @ masses[codes == c] for c in range(k)])
    weights = add_up(masses, codes, k)
    rows = np.arange(len(codes))
    rest = weights[codes] - masses
    own = np.divide(sums[rows, codes], rest, out=np.zeros_like(rest), where=rest > 1e-12)
    means = sums / weights
    means[rows, codes] = np.inf
    other = means.min(axis=1)
    width = np.where(rest > 1e-12, (other - own) / np.maximum(np.maximum(own, other), 1e-12), 0.0)
    return float(masses @ width / masses.sum())


def _variance_ratio(rep: Representation, centres: FloatArray) -> float:
    k, s = len(centres), rep.s
    within = lift_ssd(rep, centres)
    mean = rep.masses @ rep.vectors / rep.masses.sum()
    total = float(rep.masses @ ((rep.vectors - mean) ** 2).sum(axis=1))
    if within <= 1e-12 * total:
        return np.inf
    return (total - within) / (k - 1) / (within / max(s - k, 1))
