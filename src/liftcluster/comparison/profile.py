"""At which scale two clusterings differ: a lifted distance over a range of bandwidths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.checks import check_count, check_positive, checked_keywords
from .._util.names import MeasureName
from .._util.typing import FloatArray, Points, RngLike
from .._util.validation import make_rng
from ..kernels.bandwidths import bandwidth as bandwidth_rule
from ..kernels.kernel import KernelLike
from ..kernels.shift_invariant import ShiftInvariant
from ..lifts.choice import LiftLike
from ..representation.samples import represent_at_scales
from .inputs import check_applicable, check_measure, make_pair_in_memory
from .measures.lifted import Between
from .measures.registry import MEASURES


@dataclass(frozen=True, eq=False)
class Profile:
    """A distance as a function of the bandwidth.

    Attributes
    ----------
    measure : str
        Name of the measure.
    bandwidths : (b,) array
        The bandwidths, ascending.
    values : (b,) array
        The distance at each bandwidth.
    errors : (b,) array or None
        Standard errors; None if not known.
    median : float
        The median distance between points, for orientation.

    See Also
    --------
    bandwidth_profile : The function that returns it.
    plot.profile : A picture of it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> lc.bandwidth_profile([0, 0, 1, 1], [0, 1, 1, 0], X, bandwidths=[0.01, 1.0, 100.0]).scale
    1.0
    """

    measure: str
    bandwidths: FloatArray
    values: FloatArray
    errors: FloatArray | None
    median: float

    @property
    def scale(self) -> float:
        """How far the difference reaches: the widest bandwidth with half of the largest value."""
        return float(self.bandwidths[self.values >= self.values.max() / 2].max())

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        return {
            "measure": self.measure,
            "median": self.median,
            "scale": self.scale,
            "bandwidths": self.bandwidths.tolist(),
            "values": self.values.tolist(),
            "errors": None if self.errors is None else self.errors.tolist(),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw it, by :func:`liftcluster.plot.profile`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        """
        from ..viz.plot import profile as draw

        return draw(self, ax=ax)


@checked_keywords
def bandwidth_profile(
    a: Any,
    b: Any,
    X: Points,
    *,
    Y: Points = None,
    bandwidths: int | Sequence[float] = 13,
    measure: MeasureName = "lift_emd",
    measure_options: Mapping[str, Any] | None = None,
    kernel: KernelLike = "gaussian",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
) -> Profile:
    """A lifted distance between two partitions over a range of bandwidths.

    A small bandwidth sees only which points are shared, a large one little more than centroids;
    between them the profile rises where the partitions differ in space. All bandwidths are lifted
    in one pass, Fourier features with the same frequencies, scaled, so that the curve is smooth.

    Parameters
    ----------
    a, b : labels, memberships or Partition
        (n,) labels, (n, k) memberships or a :class:`~liftcluster.Partition`, in memory.
    X : (n, d) array-like
        The points, in memory.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, of any size.
    bandwidths : int or sequence of floats, default 13
        How many, spaced by equal ratios from a thirtieth of the median distance between points
        to ten times it; or which (they are put in order).
    measure : str, default "lift_emd"
        A lifted measure: "lift_emd", "lift_kd" or "lift_hausdorff".
    measure_options : mapping, optional
        Options of the measure: ``outer_kernel`` of lift_kd.
    kernel : str or kernel, default "gaussian"
        "gaussian", "laplace", "cauchy" or "matern", or such a kernel without a bandwidth of its
        own, as ``Matern(2.5)``.
    lift : str or settings, default "auto"
        How clusters become vectors: "exact", "fourier" or "structured", or settings such as
        ``Fourier(4000)``. "auto" is exact up to 5,000 points, and uses features beyond.
    weights : (n,) array-like, optional
        Weights of the points, in place of any that partitions carry; one each by default. With Y, a
        pair: those of X and those of Y.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Returns
    -------
    Profile
        The distance at each bandwidth, with standard errors.

    See Also
    --------
    distance : The distance at one bandwidth.
    bandwidth : Rules to choose one.
    plot.profile : A picture of the profile.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> found = lc.bandwidth_profile([0, 0, 1, 1], [0, 1, 1, 0], X, bandwidths=[0.01, 1.0, 100.0])
    >>> found.values.round(2).tolist()
    [1.0, 0.77, 0.02]
    """
    chosen, lifting = check_measure(measure, measure_options, kernel, "median", lift)
    if chosen.needs != "vectors":
        lifted = [m.name for m in MEASURES.values() if m.needs == "vectors"]
        raise ValueError(f"{measure} has no bandwidth; choose one of {', '.join(lifted)}")
    shape = lifting.kernel
    if not isinstance(shape, ShiftInvariant):
        raise ValueError(f"the {shape.name} kernel has no bandwidth to vary")
    if shape.bandwidth is not None:
        raise ValueError("give the kernel without a bandwidth; the profile varies it")
    if lifting.is_fitted:
        raise ValueError("a profile makes a lift for each bandwidth; give settings such as Fourier")
    pair = make_pair_in_memory(a, b, X, Y, weights, lifting)
    check_applicable(pair, chosen)
    median = bandwidth_rule(pair.pool, "median", metric=shape.metric)
    widths = _widths(bandwidths, median)
    kernels = [shape.with_bandwidth(h) for h in widths]
    options = measure_options or {}
    assert chosen.shared is not None
    assert chosen.shared_error is not None
    values, errors = [], []
    for rep in represent_at_scales(pair.samples, kernels, lifting, make_rng(rng)):
        both = Between(rep[0], rep[1])
        values.append(chosen.shared(both, **options))
        errors.append(chosen.shared_error(both, **options))
    known = None if None in errors else np.array(errors)
    return Profile(measure, widths, np.array(values), known, median)


def _widths(bandwidths: int | Sequence[float], median: float) -> FloatArray:
    if isinstance(bandwidths, int | np.integer):
        count = check_count(bandwidths, "bandwidths", least=2)
        if not (median / 30 > 0 and np.isfinite(median * 10)):
            raise ValueError(
                f"the median distance between points is {median:g}, around which bandwidths cannot "
                "vary in floating point; rescale the points"
            )
        return np.geomspace(median / 30, median * 10, count)
    if not isinstance(bandwidths, Iterable):
        raise TypeError(
            f"bandwidths must be an integer (how many) or a sequence of numbers, got {bandwidths!r}"
        )
    widths = np.array([check_positive(h, "bandwidths") for h in bandwidths])
    if not len(widths):
        raise ValueError("bandwidths is empty; give at least one")
    return np.sort(widths)
