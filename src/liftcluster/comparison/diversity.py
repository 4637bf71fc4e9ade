"""A few clusterings that stand for many."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .._util.checks import check_choice, check_count, checked_keywords
from .._util.html import paragraph, table
from .._util.names import MeasureName
from .._util.typing import BandwidthLike, FloatArray, IntArray, Points, RngLike
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.frames import columns_as_partitions
from ..representation.representation import Representation
from .distances import distance_matrix
from .selection import farthest_first, medoids

_ROUNDING = 1e-9  # relative to the largest distance
_MOST_ROWS = 30  # of a table


@dataclass(frozen=True, eq=False)
class DiverseSubset:
    """Some of m clusterings, and which of them stands for each; by :func:`diverse_subset`.

    Attributes
    ----------
    names : tuple
        All clusterings.
    positions : (r,) int array
        Those chosen, as positions in ``names``, in the order in which they were chosen.
    nearest : (m,) int array
        Which of the chosen stands for each clustering, as a position in ``positions``.
    matrix : (m, m) array
        Distances between all clusterings.
    method : "farthest" or "medoids"
        How they were chosen.
    measure : str or None
        Name of the measure; None for given distances.
    least_radius : float or None
        No r of the clusterings have a smaller radius than this, which is at least half of that of
        "farthest". None where distances violate the triangle inequality, so that nothing is proven.

    See Also
    --------
    diverse_subset : The function that returns it.
    plot.diverse_subset : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> runs = {"a": [0, 0, 1, 1], "b": [1, 1, 0, 0], "c": [0, 1, 0, 1]}
    >>> found = lc.diverse_subset(runs, 2, measure="rand")
    >>> found.chosen, found.sizes.tolist(), found.radius
    (('a', 'c'), [2, 1], 0.0)
    """

    names: tuple[Hashable, ...]
    positions: IntArray
    nearest: IntArray
    matrix: FloatArray
    method: str
    measure: str | None
    least_radius: float | None

    @property
    def chosen(self) -> tuple[Hashable, ...]:
        """Names of the chosen clusterings."""
        return tuple(self.names[i] for i in self.positions)

    @property
    def sizes(self) -> IntArray:
        """(r,) how many clusterings each of the chosen stands for, itself included."""
        return np.bincount(self.nearest, minlength=len(self.positions))

    @cached_property
    def distances(self) -> FloatArray:
        """(m,) distance of each clustering to the one that stands for it."""
        return self.matrix[np.arange(len(self.names)), self.positions[self.nearest]]

    @property
    def radius(self) -> float:
        """The largest of the distances."""
        return float(self.distances.max())

    @property
    def mean_distance(self) -> float:
        """The mean of the distances."""
        return float(self.distances.mean())

    def rows(self) -> list[dict[str, Any]]:
        """For each of the chosen: its name, for how many it stands, and how far these are."""
        found = []
        for number, (name, size) in enumerate(zip(self.chosen, self.sizes, strict=True)):
            own = self.distances[self.nearest == number]
            found.append(
                {
                    "clustering": name,
                    "stands_for": int(size),
                    "share": float(size / len(self.names)),
                    "mean_distance": float(own.mean()),
                    "radius": float(own.max()),
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        represented = [self.chosen[i] for i in self.nearest]
        return {
            "method": self.method,
            "measure": self.measure,
            "radius": self.radius,
            "least_radius": self.least_radius,
            "mean_distance": self.mean_distance,
            "chosen": self.rows(),
            "names": list(self.names),
            "nearest": represented,
            "distances": self.distances.tolist(),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the map of all clusterings, by :func:`liftcluster.plot.diverse_subset`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ..viz.plot import diverse_subset as draw

        return draw(self, ax=ax)

    def summary(self) -> str:
        """The main numbers in a sentence."""
        by = "" if self.measure is None else f" by {self.measure}"
        text = (
            f"{len(self.positions)} of {len(self.names)} clusterings{by} ({self.method}): radius "
            f"{self.radius:.4f}, mean distance {self.mean_distance:.4f}"
        )
        if self.least_radius is not None:
            text += f"; no {len(self.positions)} have a radius below {self.least_radius:.4f}"
        return text

    def __str__(self) -> str:
        width = max(len(str(name)) for name in self.chosen)
        shown = [
            f"  {row['clustering']!s:{width}}  stands for {row['stands_for']}, mean distance "
            f"{row['mean_distance']:.4f}, radius {row['radius']:.4f}"
            for row in self.rows()
        ]
        return "\n".join([self.summary(), *shown])

    def _repr_html_(self) -> str:
        headings = ("clustering", "stands for", "mean distance", "radius")
        rows = [
            (r["clustering"], r["stands_for"], f"{r['mean_distance']:.4f}", f"{r['radius']:.4f}")
            for r in self.rows()
        ]
        html = paragraph(self.summary()) + table(headings, rows[:_MOST_ROWS])
        more = len(rows) - _MOST_ROWS
        return html + (paragraph(f"… and {more} more") if more > 0 else "")


@checked_keywords
def diverse_subset(
    partitions: Any,
    n_representatives: int,
    X: Points = None,
    *,
    method: Literal["farthest", "medoids"] = "farthest",
    measure: MeasureName = "lift_emd",
    measure_options: Mapping[str, Any] | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    progress: bool | None = None,
) -> DiverseSubset:
    r"""A few of many clusterings that stand for all of them.

    "farthest" makes the radius small, "medoids" the mean distance,

    .. math:: \max_P \min_{Q \in S} d(P, Q), \qquad
              \frac{1}{m} \sum_P \min_{Q \in S} d(P, Q),

    of a set S of r clusterings. "farthest" starts at the clustering with the least sum of
    distances, and then always adds the one that is farthest from those chosen: the first few are as
    different as can be, and where the triangle inequality holds, the radius is at most twice the
    least possible. "medoids" prefers clusterings that many others are like: it tries all sets if
    they are at most 10,000, else it exchanges one of the chosen for another as long as the mean
    falls, from two starts.

    Parameters
    ----------
    partitions : sequence, mapping or data frame of labels, memberships or Partition
        Or a :class:`~liftcluster.Representation` of them, in place of partitions and points; or an
        (m, m) NumPy array of their distances, in place of all but ``method``.
    n_representatives : int
        r, how many to choose: at most m.
    X : (n, d) array-like or source of blocks, optional
        The points, for measures that need more than labels.
    method : "farthest" or "medoids", default "farthest"
        Whether to make the radius small, or the mean distance.
    measure : str, default "lift_emd"
        A name in :data:`~liftcluster.MEASURES`. All m (m − 1) / 2 distances are computed. One that
        is not symmetric is replaced by the mean of both directions.
    measure_options : mapping, optional
        Options of the measure: ``outer_kernel`` of lift_kd, ``bins`` of adco, ``alpha`` and
        ``tol`` of spri and spari.
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
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    DiverseSubset
        The chosen clusterings, and which of them stands for each of the others.

    See Also
    --------
    distance_matrix : The distances alone.
    sample_partitions : Many partitions to choose from.
    consensus : One clustering in place of many.

    References
    ----------
    Gonzalez, Clustering to minimize the maximum intercluster distance (Theoretical Computer Science
    38, 1985), doi:10.1016/0304-3975(85)90224-5, for the factor 2. Kaufman, Rousseeuw, Finding
    Groups in Data (1990), doi:10.1002/9780470316801, for the exchange of medoids. Phillips, Raman,
    Venkatasubramanian, Generating a Diverse Set of High-Quality Clusterings (MultiClust 2011),
    arXiv:1108.0017.

    Examples
    --------
    >>> import liftcluster as lc
    >>> runs = {"a": [0, 0, 1, 1], "b": [1, 1, 0, 0], "c": list("xxyy"), "d": [0, 1, 0, 1]}
    >>> found = lc.diverse_subset(runs, 2, measure="rand")
    >>> found.chosen, [found.chosen[i] for i in found.nearest]
    (('a', 'd'), ['a', 'a', 'a', 'd'])
    """
    check_choice(method, ("farthest", "medoids"), "method")
    r = check_count(n_representatives, "n_representatives")
    if isinstance(partitions, np.ndarray) and partitions.ndim == 2:
        D, name = _checked(partitions), None
        lifting = Lifting.of(kernel, bandwidth, lift)
        others = {"X": X, "weights": weights, "measure_options": measure_options}
        useless = [name for name, value in others.items() if value is not None] + [*lifting.given]
        useless += ["measure"] if measure != "lift_emd" else []
        if useless:
            raise ValueError(
                f"the distances are given, so {', '.join(useless)} cannot apply; leave that out, "
                "or give the partitions as a list"
            )
    else:
        D = distance_matrix(
            partitions,
            X,
            measure=measure,
            measure_options=measure_options,
            kernel=kernel,
            bandwidth=bandwidth,
            lift=lift,
            weights=weights,
            rng=rng,
            progress=progress,
        )
        D, name = np.maximum(D + D.T, 0.0) / 2, measure
        np.fill_diagonal(D, 0.0)  # by pairs of points a soft partition differs from itself
    if r > len(D):
        raise ValueError(f"n_representatives={r} is more than the {len(D)} clusterings")
    D.setflags(write=False)
    first = farthest_first(D, r)
    positions = first if method == "farthest" else medoids(D, r)
    nearest = D[:, positions].argmin(axis=1)
    nearest[positions] = np.arange(r)  # also where two of the chosen are equal
    least = None
    if _is_metric(D):
        least = 0.0 if r == len(D) else float(D[:, first].min(axis=1).max()) / 2
    return DiverseSubset(_names(partitions, len(D)), positions, nearest, D, method, name, least)


def _checked(D: Any) -> FloatArray:
    if D.shape[0] != D.shape[1] or not len(D):
        raise ValueError(
            "partitions as an array must be the (m, m) distances between them, got shape "
            f"{D.shape}; give several labellings as a list"
        )
    if D.dtype.kind not in "fiu":
        raise TypeError(f"distances between partitions must be real numbers, got {D.dtype}")
    D = D.astype(np.float64)
    if not np.isfinite(D).all() or (D < 0).any():
        raise ValueError("distances between partitions must be finite and not negative")
    slack = _ROUNDING * D.max()
    if (np.abs(D - D.T) > slack).any() or (np.diag(D) > slack).any():
        raise ValueError(
            "distances between partitions must be symmetric, with zeros on the diagonal; give "
            "(D + D.T) / 2 if both directions count the same"
        )
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def _is_metric(D: FloatArray) -> bool:
    """Whether the triangle inequality holds for these clusterings."""
    slack = _ROUNDING * D.max()
    return all((row[:, None] + row[None, :] + slack >= D).all() for row in D)


def _names(partitions: Any, m: int) -> tuple[Hashable, ...]:
    if isinstance(partitions, Representation):
        return partitions.partition_names
    partitions = columns_as_partitions(partitions)
    return tuple(partitions) if isinstance(partitions, Mapping) else tuple(range(m))
