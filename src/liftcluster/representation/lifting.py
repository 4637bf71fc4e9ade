"""Cluster vectors of points in memory: the lift that was asked for, and one pass by it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from .._util.memory import check_memory
from .._util.typing import FloatArray, Points, RngLike
from .._util.validation import check_rng, make_rng
from ..kernels.shift_invariant import Kernel, ShiftInvariant
from ..kernels.summary import concatenate_points, dimension, n_points, summarize_points
from ..lifts.base import Lift, LiftedPoints, check_sums_add_up, sums_of_many
from ..lifts.choice import Lifting, choose_settings, fit_lift, kernel_of_points, without_tol
from ..lifts.exact import fit_span_lift, fit_span_lifts
from ..lifts.settings import Exact, Fourier, Structured
from ..lifts.trigonometric import TrigonometricLift, reach_tolerance
from ..partitions.stack import MatrixRows, Rows

Sample = tuple[Points, Rows]


def lift_samples(samples: list[Sample], lifting: Lifting, rng: RngLike) -> tuple[Lift, FloatArray]:
    """The lift, and the vectors of all clusters of all samples, one sample after another."""
    points, sums = lift_points(samples, lifting, rng)
    return points[0].lift, sums


def lift_points(
    samples: list[Sample], lifting: Lifting, rng: RngLike, *, keep: bool = False
) -> tuple[list[LiftedPoints], FloatArray]:
    """The same, with the points of each sample for more passes, for which features may be kept."""
    points: list[LiftedPoints] = []

    def begin(lift: Lift) -> None:
        points[:] = [lift.at(X, keep=keep) for X, _ in samples]
        # Before the number of clusters is read, for which labels must be encoded. Only one sample,
        # since each holds up to a gibibyte on the device.
        points[0].begin(samples[0][1])

    def sums_of_points() -> FloatArray:
        s, rho = sum(R.shape[1] for _, R in samples), points[0].lift.n_components
        check_memory(
            2 * 8 * s * rho,
            f"vectors of {s:,} clusters with {rho:,} numbers each",
            "take a smaller n_components, or clusterings with fewer clusters",
        )
        sums = [at.sums(R) for at, (_, R) in zip(points, samples, strict=True)]
        return sums[0] if len(sums) == 1 else np.concatenate(sums)

    def sums_by(lift: Lift) -> FloatArray:
        begin(lift)
        return sums_of_points()

    if lifting.is_fitted:
        lift = lifting.fitted_lift([X for X, _ in samples])
        check_sums_add_up(lift)
        begin(lift)
        check_rng(rng)  # while a device works
        return points, sums_of_points()
    rng = check_rng(rng)
    samples = _check_samples(samples, lifting.kernel)
    point_sets = [X for X, _ in samples]
    sizes, d = [n_points(X) for X in point_sets], dimension(point_sets[0])
    settings = choose_settings(lifting, sum(sizes), d)
    if isinstance(settings, Exact):
        kernel = kernel_of_points(lifting, point_sets)
        lift, sums = fit_span_lift(kernel, *_as_one_sample(samples))
    else:
        summarize, generator = partial(summarize_points, point_sets), make_rng(rng)
        lift = fit_lift(lifting, settings, sizes, d, summarize, generator)
        lift, sums = reach_tolerance(sums_by, lift, settings, generator)
    if not points or points[0].lift is not lift:  # exact, or extended
        points = [lift.at(X) for X in point_sets]
    return points, sums


def lift_samples_at_scales(
    samples: list[Sample],
    kernels: list[ShiftInvariant],
    lifting: Lifting,
    rng: np.random.Generator,
) -> list[tuple[Lift, FloatArray]]:
    """The same for kernels of one shape and several bandwidths, in one pass.

    Fourier lifts share their frequencies, each in units of its own bandwidth.
    """
    samples = _check_samples(samples, kernels[0])
    point_sets = [X for X, _ in samples]
    sizes = [n_points(X) for X in point_sets]
    settings = without_tol(choose_settings(lifting, sum(sizes), None))
    if isinstance(settings, Exact):
        return [(lift, V) for lift, V in fit_span_lifts(kernels, *_as_one_sample(samples))]
    if not isinstance(settings, Fourier | Structured):
        raise ValueError(
            "several bandwidths in one pass need the same frequencies, which "
            f'{type(settings).__name__} does not have; use lift="exact", "fourier" or "structured"'
        )
    narrowest = min(kernels, key=lambda kernel: kernel.scale)  # decides on the precision
    first = fit_lift(
        replace(lifting, kernel=narrowest, rule=None),
        settings,
        sizes,
        dimension(point_sets[0]),
        partial(summarize_points, point_sets),
        rng,
        any_points=True,
    )
    assert isinstance(first, TrigonometricLift)
    lifts = [replace(first, kernel=kernel) for kernel in kernels]  # type: ignore[type-var]
    parts = [sums_of_many(lifts, X, R) for X, R in samples]
    return [(lift, np.concatenate([V[i] for V in parts])) for i, lift in enumerate(lifts)]


def _check_samples(samples: list[Sample], kernel: Kernel) -> list[Sample]:
    """Points in the form of the kernel, all of one space."""
    samples = [(kernel.points(X, R.shape[0]), R) for X, R in samples]
    features = {np.shape(X)[1] for X, _ in samples if hasattr(X, "ndim") and X.ndim == 2}
    if len(features) > 1:
        raise ValueError(
            f"the samples have {sorted(features)} features; they must be points of one space"
        )
    return samples


def _as_one_sample(samples: list[Sample]) -> Sample:
    """Points one after another, memberships block by block."""
    if len(samples) == 1:
        return samples[0]
    blocks = [R.rows(slice(0, R.shape[0])) for _, R in samples]
    matrix = sp.csr_array(sp.block_diag(blocks, format="csr"))
    return concatenate_points([X for X, _ in samples]), MatrixRows(matrix)
