"""Which lift, with which kernel and bandwidth, for which points."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Points, RngLike
from .._validation import check_choice, check_count, make_rng
from ..kernels import Discrete, Kernel, Precomputed, ShiftInvariant, as_kernel
from ..partition import as_partitions
from ..scales import bandwidth as bandwidth_rule
from ..stack import Stack
from .base import Lift
from .fourier import draw_fourier_lift
from .nystrom import fit_nystrom_lift
from .span import fit_span_lift
from .transformer import fit_transformer_lift, is_transformer

__all__ = ["LIFTS", "choose_lift", "make_feature_lift", "make_lift", "resolve_bandwidth"]

LIFTS = ("auto", "exact", "fourier", "nystrom")
DEFAULT_COMPONENTS = 2048
_EXACT_UP_TO = 5000  # points for which the kernel trick costs less than random features
_EXACT_WITHOUT_SPECTRUM_UP_TO = 20_000  # the same where the alternative is Nystroem
_DOUBLE_UP_TO = 10_000_000  # features for which float64 cosines cost less than a second
_SINGLE_UP_TO = 1e3  # bandwidths across for which float32 phases keep four digits


def make_lift(
    X: Points,
    partitions: Any = None,
    *,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    rng: RngLike = None,
) -> Lift:
    """A lifting map for the points X, to be applied to them or to others.

    Parameters
    ----------
    X : (n, d) array-like
        Sets the dimension, the bandwidth and the centre; or objects that the kernel compares.
    partitions : labels, memberships, Partition, or several of them, optional
        The clusters that the exact lift is to span; other lifts do not need them.
    kernel : str, kernel or callable
        "gaussian", "laplace", "cauchy", "matern", "discrete"; an instance; or a function K(X, Y).
    bandwidth : float, sequence, or rule
        For kernels that do not have one of their own; see :func:`liftcluster.bandwidth`.
    lift : str, Lift or scikit-learn transformer
        "exact", "fourier", "nystrom", or "auto" to choose by size and kernel.
    n_components : int, optional
        ρ; 2048 where it is not given. Asking for it with lift="auto" asks for features.
    sampling : str
        How Fourier frequencies are drawn: "iid", "orthogonal", "quasi" or "auto".
    rng : int, Generator or None

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]]
    >>> lift = make_lift(X, lift="fourier", bandwidth=2.0, n_components=100, rng=0)
    >>> lift.sums(X, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).shape
    (2, 100)
    """
    if isinstance(lift, Lift):
        return lift
    if is_transformer(lift):
        return fit_transformer_lift(lift, X)
    rng = make_rng(rng)
    stack = None if partitions is None else Stack(as_partitions(partitions))
    resolved = as_kernel(kernel)
    points = resolved.points(X, None if stack is None else stack.shape[0])
    resolved = resolve_bandwidth(resolved, points, bandwidth)
    name = choose_lift(lift, len(points), resolved, n_components, spans=stack is not None)
    if name == "exact":
        if stack is None:
            raise ValueError(
                "the exact lift is the span of some clusters: give make_lift their partitions, or "
                'use lift="fourier"'
            )
        return fit_span_lift(resolved, points, stack)[0]
    return make_feature_lift(
        name,
        points,
        resolved,
        n=len(points),
        n_components=n_components,
        sampling=sampling,
        rng=rng,
    )


def resolve_bandwidth(kernel: Kernel, points: Points, bandwidth: Any) -> Kernel:
    """The kernel with a bandwidth, if it wants one and has none: a number, several, or a rule."""
    if not isinstance(kernel, ShiftInvariant) or kernel.bandwidth is not None:
        return kernel
    if isinstance(bandwidth, str):
        bandwidth = bandwidth_rule(points, bandwidth, metric=kernel.metric)
    if bandwidth is None:
        raise ValueError('bandwidth must be a number, several, or a rule such as "median"')
    return kernel.with_bandwidth(bandwidth)


def choose_lift(lift: Any, n: int, kernel: Kernel, n_components: int | None, *, spans: bool) -> str:
    """What "auto" stands for: exact while that is cheap and no ρ was asked for, then features."""
    if not isinstance(lift, str):
        raise TypeError(
            f"lift must be one of {', '.join(LIFTS)}, a Lift or a scikit-learn transformer, "
            f"got {type(lift).__name__}"
        )
    if n_components is not None:
        check_count(n_components, "n_components")
    if check_choice(lift, LIFTS, "lift") != "auto":
        return lift
    if isinstance(kernel, Discrete | Precomputed):
        return "exact" if spans else "nystrom"
    shift_invariant = isinstance(kernel, ShiftInvariant)
    limit = _EXACT_UP_TO if shift_invariant else _EXACT_WITHOUT_SPECTRUM_UP_TO
    if spans and n <= limit and n_components is None:
        return "exact"
    return "fourier" if shift_invariant else "nystrom"


def make_feature_lift(
    name: str,
    points: Points,
    kernel: Kernel,
    *,
    n: int,
    n_components: int | None,
    sampling: str,
    rng: np.random.Generator,
) -> Lift:
    """Fourier or Nystroem features that fit some points, for n points in all."""
    rho = DEFAULT_COMPONENTS if n_components is None else check_count(n_components, "n_components")
    if name == "nystrom":
        return fit_nystrom_lift(kernel, points, rho, rng=rng)
    if not isinstance(kernel, ShiftInvariant):
        raise ValueError(
            f"the {kernel.name} kernel is not shift-invariant, so it has no Fourier features; "
            'use lift="exact" or "nystrom"'
        )
    middle = _middle(points)
    with np.errstate(over="ignore"):
        spread = np.linalg.norm(np.ptp(points, axis=0) / kernel.scale)
    return draw_fourier_lift(
        kernel,
        points.shape[1],
        rho,
        sampling=sampling,
        centre=middle,
        dtype=np.float64 if n * rho <= _DOUBLE_UP_TO or spread > _SINGLE_UP_TO else np.float32,
        rng=rng,
    )


def _middle(points: Points) -> Any:
    """A point amid the others: phases near zero are more precise than phases far from it."""
    some = points[:: max(1, len(points) // 1000)]
    return (some / len(some)).sum(axis=0, dtype=np.float64)  # a mean that cannot overflow
