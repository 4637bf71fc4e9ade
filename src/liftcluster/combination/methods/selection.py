"""How many clusters a consensus has: criteria on the lifted clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..._util.arrays import add_up
from ..._util.typing import FloatArray, IntArray
from ..._util.validation import check_choice
from ...representation.representation import Representation
from .lifted import cluster_graph, group_centres, lift_ssd, ward_groupings
from .spectral import relative_eigengaps
from .tuples import LabelTuples

__all__ = ["CRITERIA", "Curve", "choose_k"]

CRITERIA = ("eigengap", "silhouette", "variance_ratio")


@dataclass(frozen=True, eq=False)
class Curve:
    """A criterion for every number of clusters that was tried; the largest value wins.

    Attributes
    ----------
    criterion : str
    candidates : (c,) int array
    values : (c,) array
    scores : (c,) array
        liftSSD with that many clusters.
    """

    criterion: str
    candidates: IntArray
    values: FloatArray
    scores: FloatArray

    @property
    def k(self) -> int:
        return int(self.candidates[self.values.argmax()])

    def plot(self, ax: Any = None) -> Any:
        """Draw it: see :func:`liftcluster.plot.curve`."""
        from ...viz.plot import curve as draw

        return draw(self, ax=ax)


def choose_k(
    rep: Representation,
    tuples: LabelTuples | None = None,
    *,
    criterion: str = "eigengap",
    largest: int | None = None,
) -> Curve:
    r"""Try every number of clusters from 2 up, by weighted Ward on the lifted clusters.

    ``eigengap``: the relative gap after the k-th eigenvalue of lift_graph's graph of clusters,

    .. math:: \Bigl(1 - \frac{1 - λ_k}{1 - λ_{k+1}}\Bigr) · \text{silhouette}(k),

    how much better the clusters of all inputs fall into k parts than into k + 1, times how well
    they are grouped. ``silhouette``: the mean over clusters, by mass, of (b − a)/max(a, b), with a
    the mean distance to its own group and b that to the nearest other. ``variance_ratio``:
    between-group over within-group squares, each by its degrees of freedom (Caliński and
    Harabasz), by mass. The first finds the number of classes far more often than the others
    (``python -m benchmarks consensus --auto``).

    Parameters
    ----------
    rep : Representation
        The inputs, lifted.
    tuples : LabelTuples, optional
        The same clusters as labels; ``eigengap`` needs it.
    criterion : str
        One of ``CRITERIA``.
    largest : int, optional
        Most clusters to try; by default two more than the finest input has.
    """
    check_choice(criterion, CRITERIA, "criterion")
    if criterion == "eigengap" and (tuples is None or tuples.s != rep.s):
        raise ValueError(
            "criterion 'eigengap' needs the labels of the same clusters that were lifted: give "
            "tuples=LabelTuples.from_partitions(...) of hard partitions"
        )
    sizes = np.bincount(rep.owner, minlength=rep.m)
    top = int(min(largest or sizes.max() + 2, rep.s - 1))
    candidates = np.arange(2, max(top, 2) + 1)
    candidates = candidates[candidates <= rep.s]
    if not len(candidates):  # a single cluster in all
        return Curve(criterion, np.array([1]), np.zeros(1), np.zeros(1))
    D = cdist(rep.vectors, rep.vectors)
    groupings = list(ward_groupings(rep.vectors, rep.masses, int(candidates[-1])))[-2::-1]
    centres = [
        group_centres(rep, codes, int(k)) for k, codes in zip(candidates, groupings, strict=True)
    ]
    if criterion == "variance_ratio":
        values = np.array([_variance_ratio(rep, v) for v in centres])
    else:
        values = np.array([_silhouette(D, codes, rep.masses) for codes in groupings])
    if criterion == "eigengap":
        assert tuples is not None
        values = relative_eigengaps(cluster_graph(tuples, rep)[0])[candidates - 1] * values
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
