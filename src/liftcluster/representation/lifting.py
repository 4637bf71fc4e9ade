"""One pass over the points: the lift that the options ask for, and the vectors of all clusters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import to_numpy
from .._util.memory import check_memory
from .._util.typing import Array, FloatArray, IntArray, Points, RngLike
from .._util.validation import check_choice, check_positive, column_ranges, make_rng
from ..kernels.kernel import Kernel, ShiftInvariant, as_kernel
from ..lifts.base import Lift, sums_of_many, take_rows
from ..lifts.choice import (
    check_left_out,
    choose_lift,
    dimension,
    grid_where_it_fits,
    make_feature_lift,
    n_points,
    resolve_bandwidth,
)
from ..lifts.exact import fit_span_lift, fit_span_lifts
from ..lifts.fourier import SAMPLINGS
from ..lifts.grid import GridLift
from ..lifts.transformer import fit_transformer_lift, is_transformer
from ..lifts.trigonometric import TrigonometricLift
from ..lifts.uncertainty import distance_deviations, standard_error
from ..partitions.stack import MatrixRows, Rows

__all__ = [
    "FIRST_COMPONENTS",
    "Box",
    "Sample",
    "check_sums_add_up",
    "grid_for",
    "lift_rows",
    "lift_scales",
    "lift_to_tolerance",
    "pool_points",
    "pool_rows",
]

Sample = tuple[Points, Rows]
Box = tuple[Array, Array]  # the least and the greatest corner

FIRST_COMPONENTS = 512  # where the search for a tolerance begins
_MOST_BYTES = 2**30  # of frequencies and cluster vectors, where it ends
_POOL = 2000  # points from which a lift for several samples takes its bandwidth and centre


def lift_rows(
    samples: list[Sample],
    *,
    kernel: Any,
    bandwidth: Any,
    lift: Any,
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    rng: RngLike = None,
) -> tuple[Lift, FloatArray]:
    """The lift that the options ask for, and the vectors of the columns of all samples."""
    rng = make_rng(rng)
    check_choice(sampling, ("auto", *SAMPLINGS), "sampling")
    if tol is not None:
        tol = check_positive(tol, "tol")
    check_left_out(
        lift, kernel=kernel, bandwidth=bandwidth, n_components=n_components, sampling=sampling
    )
    if is_transformer(lift):
        lift = fit_transformer_lift(lift, _concatenate([X for X, _ in samples]))

    def sums_of(lift: Lift) -> FloatArray:
        s, rho = sum(R.shape[1] for _, R in samples), lift.n_components
        check_memory(
            2 * 8 * s * rho,
            f"vectors of {s:,} clusters with {rho:,} numbers each",
            "take a smaller n_components, or clusterings with fewer clusters",
        )
        return np.concatenate([lift.sums(X, R) for X, R in samples])

    if isinstance(lift, Lift):
        check_sums_add_up(lift)
        return lift_to_tolerance(sums_of, lift, tol, rng, may_extend=False)
    resolved = as_kernel(kernel)
    samples = _checked(samples, resolved)
    pool = pool_points([X for X, _ in samples])
    resolved = resolve_bandwidth(resolved, pool, bandwidth)
    n = sum(n_points(X) for X, _ in samples)
    name = choose_lift(
        lift, n, resolved, n_components, spans=True, d=dimension(pool), sampling=sampling
    )
    if name == "exact":
        return fit_span_lift(resolved, *_one_sample(samples))
    if lift == "auto" and name == "fourier" and n_components is None and sampling == "auto":
        grid = grid_for(_box(samples), n, resolved, tol)
        if grid is not None:
            return lift_to_tolerance(sums_of, grid, tol, rng, may_extend=False)
    if name == "grid":
        pool = np.stack(_box(samples))  # a grid is for all points, not for some of each sample
    if tol is not None and n_components is None and name != "grid":
        n_components = FIRST_COMPONENTS
    made = make_feature_lift(
        name, pool, resolved, n=n, n_components=n_components, sampling=sampling, rng=rng
    )
    return lift_to_tolerance(sums_of, made, tol, rng, may_extend=True)


def check_sums_add_up(lift: Lift) -> None:
    if lift.is_exact:
        raise ValueError(
            "an exact lift spans only the clusters it was made from; let represent make it "
            '(lift="exact"), or use a feature lift for several calls'
        )


def grid_for(box: Box, n: int, kernel: Kernel, tol: float | None) -> GridLift | None:
    """A grid of frequencies for n points in a box, if one is precise enough and not too large."""
    if tol is None:
        return grid_where_it_fits(kernel, box, n)
    # A distance errs by no more than √(4ε) over the length of a mean embedding, rarely below 0.2.
    eps = min(9e-7, max(tol**2 / 100, 1e-13))
    return grid_where_it_fits(kernel, box, n, eps=eps, coarsest=eps)


def _box(samples: list[Sample]) -> Box:
    """The corners of the box of all points."""
    lows, highs = zip(*(column_ranges(X) for X, _ in samples), strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def lift_scales(
    samples: list[Sample],
    kernels: list[ShiftInvariant],
    *,
    lift: str,
    n_components: int | None = None,
    sampling: str = "auto",
    rng: RngLike = None,
) -> list[tuple[Lift, FloatArray]]:
    """The same by kernels of one shape and several bandwidths, in one pass.

    Fourier lifts share their frequencies, each in units of its own bandwidth.
    """
    rng = make_rng(rng)
    samples = _checked(samples, kernels[0])
    n = sum(n_points(X) for X, _ in samples)
    name = choose_lift(lift, n, kernels[0], n_components, spans=True, sampling=sampling)
    if name == "exact":
        return [(made, V) for made, V in fit_span_lifts(kernels, *_one_sample(samples))]
    narrowest = min(kernels, key=lambda kernel: kernel.scale)  # decides on the precision
    first = make_feature_lift(
        name,
        pool_points([X for X, _ in samples]),
        narrowest,
        n=n,
        n_components=n_components,
        sampling=sampling,
        rng=rng,
    )
    if not isinstance(first, TrigonometricLift):
        raise ValueError(
            f"several bandwidths in one pass need the same frequencies, which {first.describe()} "
            'does not have; use lift="exact", "fourier" or "structured"'
        )
    lifts = [replace(first, kernel=kernel) for kernel in kernels]  # type: ignore[type-var]
    parts = [sums_of_many(lifts, X, R) for X, R in samples]
    return [(made, np.concatenate([V[i] for V in parts])) for i, made in enumerate(lifts)]


def _checked(samples: list[Sample], kernel: Kernel) -> list[Sample]:
    """Points in the form of the kernel, all of one space."""
    samples = [(kernel.points(X, R.shape[0]), R) for X, R in samples]
    features = {np.shape(X)[1] for X, _ in samples if hasattr(X, "ndim") and X.ndim == 2}
    if len(features) > 1:
        raise ValueError(
            f"the samples have {sorted(features)} features; they must be points of one space"
        )
    return samples


def lift_to_tolerance(
    sums_of: Callable[[Lift], FloatArray],
    lift: Lift,
    tol: float | None,
    rng: np.random.Generator,
    *,
    may_extend: bool,
) -> tuple[Lift, FloatArray]:
    """Cluster vectors; under a tolerance, with as many features as it takes."""
    V = sums_of(lift)
    if tol is None:
        return lift, V
    bound = lift.distance_bound(V, V)
    if bound is not None:
        if bound.max() > tol:
            warnings.warn(
                f"distances err by at most {bound.max():.3g}, which is above tol = {tol:g}; a grid "
                "of frequencies cannot promise more",
                UserWarning,
                stacklevel=4,
            )
        return lift, V
    if not isinstance(lift, TrigonometricLift):
        raise ValueError(
            f"tol needs a lift that knows its error, and {lift.describe()} does not; use "
            'lift="exact" or "fourier"'
        )
    most = max(_MOST_BYTES // (8 * (2 * len(V) + lift.d)), lift.n_components)
    while (error := _largest_error(lift, V)) > tol:
        if not may_extend or lift.n_components >= most:
            why = "the lift was given" if not may_extend else "more would not fit in memory"
            warnings.warn(
                f"the standard error is {error:.3g}, above tol = {tol:g}, with n_components = "
                f"{lift.n_components} ({why})",
                UserWarning,
                stacklevel=4,
            )
            break
        # The error falls as 1/√ρ; a tenth more, since it is itself an estimate.
        wanted = lift.n_components * min(1.1 * (error / tol) ** 2, 16.0)
        joined, new = lift.extend(min(max(math.ceil(wanted), lift.n_components + 2), most), rng)
        V = lift.join_sums(V, new, sums_of(new))
        lift = joined
    return lift, V


def _largest_error(lift: TrigonometricLift, V: FloatArray) -> float:
    return float(
        standard_error(distance_deviations(V, V, lift.feature_groups(), normalise=True)).max()
    )


def _one_sample(samples: list[Sample]) -> Sample:
    """Several samples as one: points one after another, memberships block by block."""
    if len(samples) == 1:
        return samples[0]
    blocks = [R.rows(slice(0, R.shape[0])) for _, R in samples]
    matrix = sp.csr_array(sp.block_diag(blocks, format="csr"))
    return _concatenate([X for X, _ in samples]), MatrixRows(matrix)


def pool_points(point_sets: list[Points]) -> Points:
    """Points that stand for all samples alike: all of one, some of each of several."""
    if len(point_sets) == 1:
        return point_sets[0]
    rows = pool_rows(list(map(n_points, point_sets)))
    return _concatenate([take_rows(X, own) for X, own in zip(point_sets, rows, strict=True)])


def pool_rows(sizes: list[int]) -> list[IntArray]:
    """Which points of each of several samples stand for all."""
    n = sum(sizes)
    rng = np.random.default_rng(0)  # always the same points: a bandwidth is no experiment
    return [
        np.sort(rng.choice(size, min(size, max(1, _POOL * size // n)), replace=False))
        for size in sizes
    ]


def _concatenate(point_sets: list[Points]) -> Points:
    if len(point_sets) == 1:
        return point_sets[0]
    if all(isinstance(X, list | tuple) for X in point_sets):
        return [x for X in point_sets for x in X]
    return np.concatenate([to_numpy(X) for X in point_sets])
