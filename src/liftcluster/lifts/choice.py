"""Which lift, with which kernel and bandwidth, for which points."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from .._util.arrays import from_device, on_device
from .._util.memory import check_memory
from .._util.names import LiftName
from .._util.typing import Array, Points, RngLike
from .._util.validation import check_choice, check_count, column_ranges, make_rng
from ..kernels.bandwidths import bandwidth as bandwidth_rule
from ..kernels.kernel import Discrete, Gaussian, Kernel, Precomputed, ShiftInvariant, as_kernel
from ..partitions.partition import as_partitions
from ..partitions.stack import Stack
from .base import Lift
from .exact import fit_span_lift
from .fourier import draw_fourier_lift
from .grid import MOST_AXES, GridLift, GridTooLarge, finest_grid_lift, fit_grid_lift
from .nystroem import fit_nystrom_lift
from .structured import draw_structured_lift
from .transformer import fit_transformer_lift, is_transformer

__all__ = [
    "DEFAULT_COMPONENTS",
    "LIFTS",
    "check_left_out",
    "choose_lift",
    "dimension",
    "grid_where_it_fits",
    "is_made",
    "make_feature_lift",
    "make_lift",
    "n_points",
    "resolve_bandwidth",
]

LIFTS: tuple[str, ...] = get_args(LiftName)
DEFAULT_COMPONENTS = 2048
_EXACT_UP_TO = 5000  # points for which the kernel trick costs less than random features
_EXACT_WITHOUT_SPECTRUM_UP_TO = 20_000  # the same where the alternative is Nystroem
_DOUBLE_UP_TO = 10_000_000  # features for which float64 cosines cost less than a second
_STRUCTURED_FROM = 48  # dimensions from which a fast transform beats a matrix product
_GRID_ERROR = 1e-6  # of a kernel value, which a grid of frequencies is made for
_SINGLE_GRID_ERROR = 5e-6  # the same with the rounding of single precision
_COARSEST_GRID = 1e-4  # the largest error for which "auto" still prefers a grid
_GRID_UP_TO = 8192  # components up to which it does
_USUAL_RULES = ("median", "auto")  # for the bandwidth, where nobody asks for another


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
        "exact"; "fourier"; "structured" for many dimensions; "grid" for one to three; "nystrom";
        or "auto" to choose by size, dimension and kernel. A lift that is made already has a
        kernel, a bandwidth and features of its own: to ask for others beside it is an error.
    n_components : int, optional
        ρ; 2048 where it is not given. Asking for it with lift="auto" asks for random features. A
        grid takes it as the most it may use, and is as precise as that allows.
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
    check_left_out(
        lift, kernel=kernel, bandwidth=bandwidth, n_components=n_components, sampling=sampling
    )
    if isinstance(lift, Lift):
        return lift
    if is_transformer(lift):
        return fit_transformer_lift(lift, X)
    rng = make_rng(rng)
    stack = None if partitions is None else Stack(as_partitions(partitions))
    resolved = as_kernel(kernel)
    points = resolved.points(X, None if stack is None else stack.shape[0])
    resolved = resolve_bandwidth(resolved, points, bandwidth)
    n = n_points(points)
    name = choose_lift(
        lift,
        n,
        resolved,
        n_components,
        spans=stack is not None,
        d=dimension(points),
        sampling=sampling,
    )
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
        n=n,
        n_components=n_components,
        sampling=sampling,
        rng=rng,
    )


def is_made(lift: Any) -> bool:
    """Whether a lift has a kernel, a bandwidth and features of its own already."""
    return isinstance(lift, Lift) or is_transformer(lift)


def check_left_out(
    lift: Any, *, kernel: Any, bandwidth: Any, n_components: int | None, sampling: str
) -> None:
    """Refuse options that ask for something else than a lift has which was made before."""
    if not is_made(lift):
        return
    own = getattr(lift, "kernel", None)
    usual_kernel = isinstance(kernel, str) and kernel == "gaussian"
    usual_bandwidth = isinstance(bandwidth, str) and bandwidth in _USUAL_RULES
    asked = {
        "kernel": not usual_kernel and as_kernel(kernel) != own,
        "bandwidth": not usual_bandwidth and not _is_own_bandwidth(own, bandwidth),
        "n_components": n_components not in (None, getattr(lift, "n_components", None)),
        "sampling": sampling not in ("auto", getattr(lift, "sampling", None)),
    }
    for option, wanted in asked.items():
        if wanted:
            article = "" if option in ("n_components", "sampling") else "a "
            raise ValueError(
                f"the lift was made before, with {article}{option} of its own; leave {option} out, "
                "or make another lift"
            )


def _is_own_bandwidth(kernel: Any, bandwidth: Any) -> bool:
    own: Any = getattr(kernel, "bandwidth", None)
    if bandwidth is None or own is None or isinstance(bandwidth, str):
        return bandwidth is None
    return np.array_equal(own, bandwidth)


def resolve_bandwidth(
    kernel: Kernel, points: Points, bandwidth: Any, n_total: int | None = None
) -> Kernel:
    """The kernel with a bandwidth, if it wants one and has none: a number, several, or a rule.

    ``n_total``: how many points there are, where these are only a sample of them.
    """
    if not isinstance(kernel, ShiftInvariant) or kernel.bandwidth is not None:
        if not (isinstance(bandwidth, str) or _is_own_bandwidth(kernel, bandwidth)):
            has = "a bandwidth of its own" if isinstance(kernel, ShiftInvariant) else "no bandwidth"
            raise ValueError(f"the {kernel.name} kernel has {has}; leave bandwidth out")
        return kernel
    if isinstance(bandwidth, str):
        bandwidth = bandwidth_rule(points, bandwidth, metric=kernel.metric, n_total=n_total)
    if bandwidth is None:
        raise ValueError('bandwidth must be a number, several, or a rule such as "median"')
    return kernel.with_bandwidth(bandwidth)


def choose_lift(
    lift: Any,
    n: int,
    kernel: Kernel,
    n_components: int | None,
    *,
    spans: bool,
    d: int | None = None,
    sampling: str = "auto",
) -> str:
    """What "auto" stands for: exact while that is cheap and no ρ was asked for, then features.

    ``spans``: whether the clusters, so all points that matter, are known. ``d``: the dimension,
    where points have one; the features of a fast transform are for many of them.
    """
    if not isinstance(lift, str):
        raise TypeError(
            f"lift must be one of {', '.join(LIFTS)}, a Lift or a scikit-learn transformer, "
            f"got {type(lift).__name__}"
        )
    if n_components is not None:
        check_count(n_components, "n_components")
    if check_choice(lift, LIFTS, "lift") != "auto":
        if lift == "exact" and (n_components is not None or sampling != "auto"):
            option = "sampling" if n_components is None else "n_components"
            raise ValueError(
                f"an exact lift has no use for {option}; leave that out, or take random features: "
                'lift="fourier"'
            )
        return lift
    if isinstance(kernel, Discrete | Precomputed):
        return "exact" if spans else "nystrom"
    if not isinstance(kernel, ShiftInvariant):
        few = spans and n <= _EXACT_WITHOUT_SPECTRUM_UP_TO and n_components is None
        return "exact" if few else "nystrom"
    if spans and n <= _EXACT_UP_TO and n_components is None:
        return "exact"
    by_transform = d is not None and d >= _STRUCTURED_FROM and kernel.isotropic
    return "structured" if by_transform and sampling == "auto" else "fourier"


def grid_where_it_fits(
    kernel: Kernel,
    box: tuple[Array, Array],
    n: int,
    eps: float = _GRID_ERROR,
    coarsest: float = _COARSEST_GRID,
) -> GridLift | None:
    """The grid that serves better than random frequencies would, where there is one."""
    if not isinstance(kernel, Gaussian) or len(box[0]) > MOST_AXES:
        return None
    while eps <= coarsest:
        try:
            lift = fit_grid_lift(kernel, box, eps=eps, most=_GRID_UP_TO)
        except GridTooLarge:
            eps *= 10
            continue
        single = fit_grid_lift(kernel, box, eps=eps, dtype=np.float32)
        precise = eps >= _GRID_ERROR and single.error <= _SINGLE_GRID_ERROR
        return single if precise and n * lift.n_components > _DOUBLE_UP_TO else lift
    return None


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
    if sampling != "auto" and name != "fourier":
        raise ValueError(
            f'sampling="{sampling}" is how lift="fourier" draws frequencies; lift="{name}" has its '
            "own way"
        )
    _check_room(name, rho, n_points(points), dimension(points) or 1)
    if name == "nystrom":
        return fit_nystrom_lift(kernel, points, rho, rng=rng)
    if not isinstance(kernel, ShiftInvariant):
        raise ValueError(
            f"the {kernel.name} kernel is not shift-invariant, so it has no Fourier features; "
            'use lift="exact" or "nystrom"'
        )
    if name == "grid":
        box = column_ranges(points)
        if n_components is not None:
            return finest_grid_lift(kernel, box, rho)
        return fit_grid_lift(kernel, box, eps=_GRID_ERROR)
    draw = draw_structured_lift if name == "structured" else draw_fourier_lift
    how = {} if name == "structured" else {"sampling": sampling}
    return draw(
        kernel,
        points.shape[1],
        rho,
        centre=_middle(points),
        dtype=np.float64 if n * rho <= _DOUBLE_UP_TO else np.float32,
        rng=rng,
        **how,
    )


def _check_room(name: str, rho: int, n: int, d: int) -> None:
    """Whether the lift itself fits into memory; a structured one is a few numbers a feature."""
    width = {"fourier": 3 * d, "nystrom": 4 * min(rho, n) + d}.get(name, 8)
    check_memory(
        8 * (min(rho, n) if name == "nystrom" else rho) * width,
        f"{rho:,} features in {d:,} dimensions",
        "take a smaller n_components"
        + (', or lift="structured"' if name == "fourier" and d >= _STRUCTURED_FROM else ""),
    )


def dimension(points: Points) -> int | None:
    """Number of coordinates, where the points have any."""
    return points.shape[1] if getattr(points, "ndim", 0) == 2 else None


def n_points(points: Points) -> int:
    return int(points.shape[0]) if on_device(points) else len(points)


def _middle(points: Points) -> Any:
    """A point amid the others: phases near zero are more precise than phases far from it."""
    some = from_device(points[:: max(1, n_points(points) // 1000), ...])
    return (some / len(some)).sum(axis=0, dtype=np.float64)  # a mean that cannot overflow
