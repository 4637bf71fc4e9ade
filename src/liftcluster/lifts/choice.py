"""Which lift, with which kernel and bandwidth, for which points: the one place that decides."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from .._util.arrays import from_device
from .._util.checks import check_bandwidth_rule, checked_keywords
from .._util.memory import check_memory
from .._util.names import LiftName
from .._util.typing import BandwidthLike, IntArray, Points, RngLike, Transformer
from .._util.validation import make_rng
from ..kernels.bandwidths import bandwidth as bandwidth_by_rule
from ..kernels.kernel import Discrete, KernelLike, Precomputed, as_kernel
from ..kernels.shift_invariant import Gaussian, Kernel, ShiftInvariant
from ..kernels.summary import (
    Box,
    PointSummary,
    Summarize,
    bandwidth_rows,
    centre_rows,
    concatenate_points,
    dimension,
    n_points,
    pool_rows,
    summarize_points,
    take_rows,
)
from ..partitions.partition import as_partitions
from ..partitions.stack import Stack
from .base import Lift
from .exact import fit_span_lift
from .fourier import draw_fourier_lift
from .grid import MAX_AXES, GridLift, GridTooLarge, finest_grid_lift, fit_grid_lift
from .nystroem import choose_landmarks, nystroem_from_landmarks
from .settings import Exact, Fourier, Grid, LiftSettings, Nystroem, Structured, as_lift_settings
from .structured import draw_structured_lift
from .transformer import fit_transformer_lift, is_transformer

LiftLike: TypeAlias = LiftName | LiftSettings | Lift | Transformer

DEFAULT_COMPONENTS = 2048
FIRST_COMPONENTS = 512  # where the search for a tolerance starts
_EXACT_UP_TO = 5000  # points for which the kernel trick costs less than random features
_EXACT_WITHOUT_SPECTRUM_UP_TO = 20_000  # the same where the alternative is Nystroem
_DOUBLE_UP_TO = 10_000_000  # features for which float64 cosines cost less than a second
_STRUCTURED_FROM = 48  # dimensions from which a fast transform beats a matrix product
_GRID_ERRORS = 1e-6, 1e-5, 1e-4  # of a kernel value; "auto" prefers a grid to random frequencies
_SINGLE_GRID_ERROR = 5e-6  # up to which a grid is in single precision
_GRID_UP_TO = 8192  # components up to which "auto" takes a grid


@dataclass(frozen=True, eq=False)
class Lifting:
    """Kernel, bandwidth and lift: all that decides how points are lifted, checked when made."""

    kernel: Kernel  # with its bandwidth, unless rule is to find one
    rule: str | None  # for a kernel without a bandwidth
    lift: Any  # settings, "auto", Lift or scikit-learn transformer
    given: tuple[str, ...] = ()  # options that are not the defaults: an error if nothing is lifted

    @classmethod
    def of(
        cls,
        kernel: KernelLike = "gaussian",
        bandwidth: BandwidthLike = "median",
        lift: LiftLike = "auto",
        *,
        rule_for_auto: str | None = None,
    ) -> Lifting:
        """From the arguments of a public function; some have a rule for bandwidth="auto"."""
        default_rule = "median" if rule_for_auto is None else "auto"
        defaults = {
            "kernel": isinstance(kernel, str) and kernel == "gaussian",
            "bandwidth": isinstance(bandwidth, str) and bandwidth == default_rule,
            "lift": isinstance(lift, str) and lift == "auto",
        }
        given = tuple(name for name, is_default in defaults.items() if not is_default)
        resolved = as_kernel(kernel)
        if isinstance(lift, Lift) or is_transformer(lift):
            _check_no_other_kernel(lift, resolved, bandwidth, given)
            return cls(resolved, None, lift, given)
        settings = as_lift_settings(lift)
        _check_kernel_suits(settings, resolved)
        if isinstance(bandwidth, str):
            bandwidth = rule_for_auto if bandwidth == "auto" and rule_for_auto else bandwidth
            check_bandwidth_rule(bandwidth)
        if not isinstance(resolved, ShiftInvariant) or resolved.bandwidth is not None:
            if "bandwidth" in given and not _is_own_bandwidth(resolved, bandwidth):
                own = isinstance(resolved, ShiftInvariant)
                has = "a bandwidth of its own" if own else "no bandwidth"
                raise ValueError(f"the {resolved.name} kernel has {has}; leave bandwidth out")
            return cls(resolved, None, settings, given)
        if isinstance(bandwidth, str):
            return cls(resolved, bandwidth, settings, given)
        if bandwidth is None:
            raise ValueError('bandwidth must be a number, several, or a rule such as "median"')
        return cls(resolved.with_bandwidth(bandwidth), None, settings, given)

    @property
    def is_fitted(self) -> bool:
        """Whether the lift is a map already (or a transformer that will be one)."""
        return self.lift != "auto" and not isinstance(self.lift, LiftSettings)

    @property
    def needs_points(self) -> bool:
        """Whether X must be given; some kernels know all points by their numbers."""
        return self.is_fitted or not isinstance(self.kernel, Discrete | Precomputed)

    def fitted_lift(self, point_sets: Sequence[Points]) -> Lift:
        """The given lift, or the given transformer fitted to the points."""
        if isinstance(self.lift, Lift):
            return self.lift
        return fit_transformer_lift(self.lift, concatenate_points(point_sets))

    def kernel_for(self, summary: PointSummary) -> Kernel:
        """The kernel with its bandwidth."""
        if self.rule is None:
            return self.kernel
        assert isinstance(self.kernel, ShiftInvariant)
        pool = summary.samples.get("pool")
        sample, n = (summary.samples["bandwidth"], summary.n) if pool is None else (pool, None)
        width = bandwidth_by_rule(sample, self.rule, metric=self.kernel.metric, n_total=n)
        return self.kernel.with_bandwidth(width)

    def describe(self) -> dict[str, Any]:
        """What tells this from other liftings, in values that JSON can hold."""
        try:
            kernel: Any = self.kernel.state()
        except ValueError:
            kernel = repr(type(self.kernel))
        lift = self.lift.fingerprint() if isinstance(self.lift, Lift) else repr(self.lift)
        return {"kernel": kernel, "bandwidth": self.rule, "lift": lift}


@checked_keywords
def make_lift(
    X: Points,
    partitions: Any = None,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
) -> Lift:
    """A lifting map for the points X, to be applied to them or to others.

    Parameters
    ----------
    X : (n, d) array-like
        Determines the dimension, the bandwidth and the centre; or objects that the kernel compares.
    partitions : labels, memberships, Partition, or several of them, optional
        The clusters that the exact lift spans; without them "auto" uses features.
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
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Returns
    -------
    Lift
        The map; a Lift that was given is returned as it is.

    See Also
    --------
    represent : Applies it to the clusters of partitions.
    ClusterLifter : The same as a scikit-learn transformer.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]]
    >>> lift = lc.make_lift(X, lift=lc.Fourier(100), bandwidth=2.0, rng=0)
    >>> lift.sums(X, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).shape
    (2, 100)
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    if lifting.is_fitted:
        return lifting.fitted_lift([X])
    if partitions is None:
        return lift_for_any_points(lifting, X, make_rng(rng))
    stack = Stack(as_partitions(partitions))
    points = lifting.kernel.points(X, stack.shape[0])
    if isinstance(choose_settings(lifting, n_points(points), dimension(points)), Exact):
        return fit_span_lift(kernel_of_points(lifting, [points]), points, stack)[0]
    return lift_for_any_points(lifting, points, make_rng(rng))


def lift_for_any_points(
    lifting: Lifting,
    X: Points,
    rng: np.random.Generator,
    *,
    default_components: int = DEFAULT_COMPONENTS,
) -> Lift:
    """A lift with features that fits the points X and serves others like them."""
    if lifting.is_fitted:
        return lifting.fitted_lift([X])
    points = lifting.kernel.points(X)
    n, d = n_points(points), dimension(points)
    settings = without_tol(choose_settings(lifting, n, d, clusters_known=False))
    if isinstance(settings, Exact):
        raise ValueError(
            "the exact lift is the span of given clusters: give make_lift their partitions, or "
            'use lift="fourier"'
        )
    return fit_lift(
        lifting,
        settings,
        [n],
        d,
        partial(summarize_points, [points]),
        rng,
        default_components=default_components,
        any_points=True,
    )


def choose_settings(
    lifting: Lifting, n: int, d: int | None, *, clusters_known: bool = True
) -> LiftSettings:
    """The settings that "auto" stands for: exact while that is cheap, then features."""
    if lifting.lift != "auto":
        return lifting.lift
    kernel = lifting.kernel
    if not isinstance(kernel, ShiftInvariant):
        cheap = n <= _EXACT_WITHOUT_SPECTRUM_UP_TO or isinstance(kernel, Discrete | Precomputed)
        return Exact() if clusters_known and cheap else Nystroem()
    if clusters_known and n <= _EXACT_UP_TO:
        return Exact()
    many_dimensions = d is not None and d >= _STRUCTURED_FROM
    return Structured() if many_dimensions and kernel.isotropic else Fourier()


def without_tol(settings: LiftSettings) -> LiftSettings:
    """Refuse a tolerance where no cluster vectors are at hand whose errors could be estimated."""
    if getattr(settings, "tol", None) is not None:
        raise ValueError(
            "tol adds features until the distances between given clusters are precise enough, "
            "which only represent and the functions that call it do; give n_components here"
        )
    return settings


def kernel_of_points(lifting: Lifting, point_sets: Sequence[Points]) -> Kernel:
    """The kernel with its bandwidth for points in memory."""
    if lifting.rule is None:
        return lifting.kernel
    rows = _rows_needed(lifting, Exact(), [n_points(X) for X in point_sets])
    return lifting.kernel_for(summarize_points(point_sets, rows, False))


def fit_lift(
    lifting: Lifting,
    settings: LiftSettings,
    sizes: Sequence[int],
    d: int | None,
    summarize: Summarize,
    rng: np.random.Generator,
    *,
    default_components: int = DEFAULT_COMPONENTS,
    any_points: bool = False,
) -> Lift:
    """A lift with features for point sets of some sizes, from one summary of them.

    ``any_points``: the lift must also serve points outside the bounding box of these, so "auto"
    does not stand for a grid.
    """
    has_tol = getattr(settings, "tol", None) is not None
    given = FIRST_COMPONENTS if has_tol else getattr(settings, "n_components", None)
    n, rho = sum(sizes), given or default_components
    _check_room(settings, rho, n, d or 1)
    tries_grid = (
        lifting.lift == "auto"
        and not any_points
        and isinstance(settings, Fourier)
        and isinstance(lifting.kernel, Gaussian)
        and d is not None
        and d <= MAX_AXES
    )
    rows = _rows_needed(lifting, settings, sizes)
    if isinstance(settings, Nystroem) and len(sizes) == 1:
        rows["landmarks"] = [choose_landmarks(n, rho, rng)]
    summary = summarize(rows, tries_grid or isinstance(settings, Grid))
    kernel, samples = lifting.kernel_for(summary), summary.samples
    if tries_grid and (grid := _grid_where_it_fits(kernel, summary.box, n)) is not None:
        return grid
    if isinstance(settings, Nystroem):
        if "landmarks" not in samples:
            pool = kernel.points(samples["pool"])
            samples = {"landmarks": take_rows(pool, choose_landmarks(n_points(pool), rho, rng))}
        nystroem = nystroem_from_landmarks(kernel, samples["landmarks"])
        return nystroem.rounded() if n * rho > _DOUBLE_UP_TO else nystroem
    if isinstance(settings, Grid):
        if settings.n_components is not None:
            return finest_grid_lift(kernel, summary.box, settings.n_components)
        return fit_grid_lift(kernel, summary.box, eps=settings.error or _GRID_ERRORS[0])
    assert isinstance(kernel, ShiftInvariant)
    assert isinstance(settings, Fourier | Structured)
    sample = from_device(samples["centre"] if "centre" in samples else samples["pool"])
    centre = np.asarray((sample / len(sample)).sum(axis=0, dtype=np.float64))  # without overflow
    dtype = np.float64 if n * rho <= _DOUBLE_UP_TO else np.float32
    options: dict[str, Any] = {"centre": centre, "dtype": dtype, "rng": rng}
    if isinstance(settings, Structured):
        return draw_structured_lift(kernel, len(centre), rho, **options)
    return draw_fourier_lift(kernel, len(centre), rho, sampling=settings.sampling, **options)


def _rows_needed(
    lifting: Lifting, settings: LiftSettings, sizes: Sequence[int]
) -> dict[str, Sequence[IntArray | range]]:
    """Which rows of each point set the bandwidth and the lift are fitted to, by purpose."""
    if len(sizes) > 1:
        return {"pool": pool_rows(sizes)}
    rows: dict[str, Sequence[IntArray | range]] = {}
    if lifting.rule is not None:
        rows["bandwidth"] = [bandwidth_rows(sizes[0])]
    if isinstance(settings, Fourier | Structured):
        rows["centre"] = [centre_rows(sizes[0])]
    return rows


def _grid_where_it_fits(kernel: Kernel, box: Box | None, n: int) -> GridLift | None:
    """The grid that is more precise than random frequencies would be, if there is one."""
    for eps in _GRID_ERRORS:
        with suppress(GridTooLarge):
            lift = fit_grid_lift(kernel, box, eps=eps, most=_GRID_UP_TO)
            single = fit_grid_lift(kernel, box, eps=eps, dtype=np.float32)
            precise = single.error <= _SINGLE_GRID_ERROR
            return single if precise and n * lift.n_components > _DOUBLE_UP_TO else lift
    return None


def _check_no_other_kernel(
    lift: Any, kernel: Kernel, bandwidth: Any, given: tuple[str, ...]
) -> None:
    """Refuse a kernel or a bandwidth other than those that a fitted lift has."""
    own = getattr(lift, "kernel", None)
    conflicts = [
        option
        for option in given
        if (option == "kernel" and kernel != own)
        or (option == "bandwidth" and not _is_own_bandwidth(own, bandwidth))
    ]
    if conflicts:
        raise ValueError(
            f"the lift was made before, with a {conflicts[0]} of its own; leave {conflicts[0]} "
            "out, or make another lift"
        )


def _is_own_bandwidth(kernel: Any, bandwidth: Any) -> bool:
    own: Any = getattr(kernel, "bandwidth", None)
    if bandwidth is None or own is None or isinstance(bandwidth, str):
        return bandwidth is None
    return np.array_equal(own, bandwidth)


def _check_kernel_suits(settings: LiftSettings | Literal["auto"], kernel: Kernel) -> None:
    if isinstance(settings, Grid) and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"a grid of frequencies needs the Gaussian kernel, not {kernel.name}; "
            'use lift="fourier"'
        )
    if isinstance(settings, Fourier | Structured) and not isinstance(kernel, ShiftInvariant):
        raise ValueError(
            f"the {kernel.name} kernel is not shift-invariant, so it has no Fourier features; "
            'use lift="exact" or "nystroem"'
        )


def _check_room(settings: LiftSettings, rho: int, n: int, d: int) -> None:
    """Whether the lift itself fits into memory; a structured one is a few numbers a feature."""
    dense = isinstance(settings, Fourier)
    numbers = rho * (3 * d if dense else 8)
    if isinstance(settings, Nystroem):
        numbers = min(rho, n) * (4 * min(rho, n) + d)
    structured = ', or lift="structured"' if dense and d >= _STRUCTURED_FROM else ""
    advice = f"take a smaller n_components{structured}"
    check_memory(8 * numbers, f"{rho:,} features in {d:,} dimensions", advice)
