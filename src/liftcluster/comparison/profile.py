"""At which scale two clusterings differ: a lifted distance over a range of bandwidths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.typing import FloatArray, Points, RngLike
from .._util.validation import as_points, check_choice, check_count, check_positive, make_rng
from ..kernels.bandwidths import bandwidth as bandwidth_rule
from ..kernels.kernel import ShiftInvariant, as_kernel
from ..representation.lifting import pool_points
from ..representation.samples import represent_scales
from .comparison import Estimate
from .inputs import make_sides, refuse
from .measures.registry import MEASURES

__all__ = ["Profile", "bandwidth_profile"]


@dataclass(frozen=True, eq=False)
class Profile:
    """A distance as a function of the bandwidth.

    Attributes
    ----------
    measure : str
    bandwidths : (b,) array
    values : (b,) array
    errors : (b,) array or None
        Standard errors; None if not known.
    median : float
        The median distance between points, for orientation.
    """

    measure: str
    bandwidths: FloatArray
    values: FloatArray
    errors: FloatArray | None
    median: float

    @property
    def scale(self) -> float:
        """How far the difference reaches: the widest bandwidth that still shows half of the most.

        Wider kernels blur it away; that they differ at finer scales goes without saying.
        """
        return float(self.bandwidths[self.values >= self.values.max() / 2].max())

    def plot(self, ax: Any = None) -> Any:
        """Draw it: see :func:`liftcluster.plot.profile`."""
        from ..viz.plot import profile as draw

        return draw(self, ax=ax)


def bandwidth_profile(
    a: Any,
    b: Any,
    X: Points,
    *,
    Y: Points = None,
    bandwidths: int | Sequence[float] = 13,
    measure: str = "lift_emd",
    kernel: Any = "gaussian",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    weights: Any = None,
    rng: RngLike = None,
    **options: Any,
) -> Profile:
    """A lifted distance between two partitions over a range of bandwidths.

    A small bandwidth sees only which points are shared, a large one little more than centroids;
    between them the profile rises where the partitions differ in space. All bandwidths are lifted
    in one pass: the exact lift computes distances between points once, Fourier features use the
    same frequencies, scaled, so that the curve is smooth.

    Parameters
    ----------
    a, b, X, Y, weights, rng, **options
        As for :func:`liftcluster.distance`.
    bandwidths : int or sequence
        How many, spaced by equal ratios from a thirtieth of the median distance between points
        to ten times it; or which (they are put in order).
    measure : str
        A lifted measure: "lift_emd", "lift_kd" or "lift_hausdorff".
    kernel : str or kernel
        A shift-invariant one, without a bandwidth of its own.
    lift : "auto", "exact" or "fourier"

    Returns
    -------
    Profile

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> found = bandwidth_profile([0, 0, 1, 1], [0, 1, 1, 0], X, bandwidths=[0.01, 1.0, 100.0])
    >>> found.values.round(2).tolist()
    [1.0, 0.77, 0.02]
    """
    chosen = MEASURES[check_choice(measure, MEASURES, "measure")]
    if chosen.needs != "vectors":
        lifted = [m.name for m in MEASURES.values() if m.needs == "vectors"]
        raise ValueError(f"{measure} has no bandwidth; choose one of {', '.join(lifted)}")
    shape = as_kernel(kernel)
    if not isinstance(shape, ShiftInvariant):
        raise ValueError(f"the {shape.name} kernel has no bandwidth to vary")
    if shape.bandwidth is not None:
        raise ValueError("give the kernel without a bandwidth; the profile varies it")
    check_choice(lift, ("auto", "exact", "fourier"), "lift")
    sides = make_sides(a, b, X, Y, weights, kernel=shape)
    refuse(sides, chosen)
    rng = make_rng(rng)
    pool = X if Y is None else pool_points([as_points(X), as_points(Y, "Y")])
    median = bandwidth_rule(pool, "median", metric=shape.metric)
    widths = _widths(bandwidths, median)
    samples = [(X, {"a": sides.a, "b": sides.b})]
    if Y is not None:
        samples = [(X, {"a": sides.a}), (Y, {"b": sides.b})]
    estimates = [
        Estimate(
            chosen.function(rep[0], rep[1], **options),
            chosen.error(rep[0], rep[1], **options) if chosen.error else None,
        )
        for rep in represent_scales(
            samples,
            [shape.with_bandwidth(h) for h in widths],
            lift=lift,
            n_components=n_components,
            sampling=sampling,
            rng=rng,
        )
    ]
    errors = [e.error for e in estimates if e.error is not None]
    return Profile(
        measure,
        widths,
        np.array([e.value for e in estimates]),
        np.array(errors) if len(errors) == len(estimates) else None,
        median,
    )


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
            "bandwidths must be a whole number, how many, or a sequence of them, got "
            f"{bandwidths!r}"
        )
    widths = np.array([check_positive(h, "bandwidths") for h in bandwidths])
    if not len(widths):
        raise ValueError("bandwidths is empty; give at least one")
    return np.sort(widths)
