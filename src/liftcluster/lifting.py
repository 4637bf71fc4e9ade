"""From points and partitions to cluster vectors, in one pass over the points."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import FloatArray, Points, RngLike
from ._validation import as_weights, check_positive, make_rng
from .kernels import as_kernel
from .lifts.base import Lift
from .lifts.choice import choose_lift, make_feature_lift, resolve_bandwidth
from .lifts.fourier import FourierLift
from .lifts.span import fit_span_lift
from .lifts.transformer import fit_transformer_lift, is_transformer
from .partition import as_partitions
from .representation import Representation
from .stack import MatrixRows, Rows, Stack
from .uncertainty import distance_deviations, standard_error

__all__ = ["cluster_distance", "represent", "represent_samples"]

Sample = tuple[Points, Rows]

_FIRST_COMPONENTS = 512  # where the search for a tolerance begins
_MOST_BYTES = 2**30  # of frequencies and cluster vectors, where it ends
_POOL = 2000  # points from which a lift for several samples takes its bandwidth and centre


def represent(
    X: Points,
    partitions: Any,
    *,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Any = None,
    rng: RngLike = None,
) -> Representation:
    r"""Lift every cluster of every partition of the points X to one vector.

    .. math:: Φ(C) = \sum_x w(x)\, p(C|x)\, φ(x), \qquad \barΦ(C) = Φ(C) / ‖Φ(C)‖

    All partitions are lifted in one pass over blocks of points; nothing of size n × ρ or n × n
    is held.

    Parameters
    ----------
    X : (n, d) array-like, or None
        The points; None for a precomputed or the discrete kernel.
    partitions : Partition, labels, memberships, or a sequence or mapping of them
    kernel, bandwidth, lift, n_components, sampling, rng
        As for :func:`liftcluster.make_lift`.
    tol : float, optional
        Add features until no distance between two unit cluster vectors has a standard error
        above this. What was computed is kept, only new features are added.
    weights : (n,) array-like, optional
        Weights of the points for all partitions, in place of any they carry.

    Returns
    -------
    Representation

    Examples
    --------
    Two points a bandwidth apart, each its own cluster: ‖Φ̄(C) − Φ̄(C′)‖² = 2 − 2 exp(−1/2).

    >>> import numpy as np
    >>> rep = represent([[0.0], [1.0]], ["a", "b"], bandwidth=1.0)
    >>> rep
    Representation(2 clusters of 1 partition(s), exact)
    >>> np.round(rep.distances()[0, 1] ** 2, 6), np.round(2 - 2 * np.exp(-1 / 2), 6)
    (np.float64(0.786939), np.float64(0.786939))
    """
    return represent_samples(
        [(X, partitions)],
        kernel=kernel,
        bandwidth=bandwidth,
        lift=lift,
        n_components=n_components,
        sampling=sampling,
        tol=tol,
        weights=None if weights is None else [weights],
        rng=rng,
    )


def represent_samples(
    samples: Iterable[tuple[Points, Any]],
    *,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    tol: float | None = None,
    weights: Iterable[Any] | None = None,
    rng: RngLike = None,
) -> Representation:
    """Lift partitions of *different* point sets by one map, so that they can be compared.

    Parameters
    ----------
    samples : iterable of (X, partitions)
        Point sets of one space, of any sizes, each with its own partitions. Partitions that are
        not named are numbered through.
    weights : iterable, optional
        Weights of the points of each sample (None for one each).
    kernel, bandwidth, lift, n_components, sampling, tol, rng
        As for :func:`represent`; the bandwidth rule sees all samples together.

    Examples
    --------
    >>> rep = represent_samples([([[0.0], [1.0]], [0, 1]), ([[0.0], [1.0], [1.0]], [0, 1, 1])])
    >>> rep.distances()[:2, 2:].round(12).diagonal().tolist()  # equal shapes, whatever the sizes
    [0.0, 0.0]
    """
    samples = [(X, partitions) for X, partitions in samples]
    if not samples:
        raise ValueError("no samples were given; pass at least one pair (X, partitions)")
    sample_weights = [None] * len(samples) if weights is None else list(weights)
    if len(sample_weights) != len(samples):
        raise ValueError(f"{len(samples)} samples need as many weights, got {len(sample_weights)}")
    stacks: list[Stack] = []
    partition_names: list[Hashable] = []
    for (_, partitions), w in zip(samples, sample_weights, strict=True):
        named = as_partitions(partitions, w)
        if not isinstance(partitions, Mapping):
            named = {len(partition_names) + i: p for i, p in enumerate(named.values())}
        stacks.append(Stack(named))
        partition_names += named
    if len(set(partition_names)) < len(partition_names):
        raise ValueError(f"partitions of different samples need different names: {partition_names}")
    used, V = lift_rows(
        [(X, stack) for (X, _), stack in zip(samples, stacks, strict=True)],
        kernel=kernel,
        bandwidth=bandwidth,
        lift=lift,
        n_components=n_components,
        sampling=sampling,
        tol=tol,
        rng=rng,
    )
    firsts = np.cumsum([0] + [len(stack.partitions) for stack in stacks])
    return Representation(
        sums=V,
        cluster_weights=np.concatenate([stack.cluster_weights for stack in stacks]),
        total_weights=np.concatenate([stack.total_weights for stack in stacks]),
        owner=np.concatenate([stack.owner + i for stack, i in zip(stacks, firsts, strict=False)]),
        cluster_names=tuple(name for stack in stacks for name in stack.cluster_names),
        partition_names=tuple(partition_names),
        lift=used,
    )


def cluster_distance(
    a: Any,
    b: Any,
    X: Points,
    *,
    Y: Points = None,
    normalise: bool = False,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "exact",
    n_components: int | None = None,
    weights: Any = None,
    rng: RngLike = None,
) -> float:
    r"""Distance d(C, C′) between two clusters, which may overlap (the paper's section 2.2).

    .. math:: d(C, C')^2 = κ(C, C) + κ(C', C') - 2κ(C, C'), \quad
              κ(C, C') = \sum_{x, y} w(x) p(C|x)\, w(y) p(C'|y)\, κ(x, y)

    Exactly by O(|C||C′|) kernel values, or with ``lift="fourier"`` in O((|C| + |C′|) ρ).

    Parameters
    ----------
    a, b : (n,) array-like
        Which points are in each cluster: true or false, or p(C|x) between 0 and 1.
    X : (n, d) array-like, or None
        The points; None for a precomputed or the discrete kernel.
    Y : (n', d) array-like, optional
        The points of b, where they are others than those of a.
    normalise : bool
        Scale both vectors to unit length, so that only shape and place count, not size.
    weights : (n,) array-like, optional
        Only for one point set.

    Examples
    --------
    With the discrete kernel, the square root of how many points are in one cluster but not both:

    >>> round(cluster_distance([1, 1, 1, 0], [0, 1, 1, 1], None, kernel="discrete") ** 2, 12)
    2.0
    """
    if Y is not None and weights is not None:
        raise ValueError("weights with Y are ambiguous; scale the memberships a and b instead")
    R = [_one_cluster(c, name, weights) for c, name in ((a, "a"), (b, "b"))]
    if Y is None:
        if len(R[0]) != len(R[1]):
            raise ValueError(
                f"clusters a and b have {len(R[0])} and {len(R[1])} points; give the points of b "
                "as Y if they are others"
            )
        samples: list[Sample] = [(X, MatrixRows(sp.csr_array(np.column_stack(R))))]
    else:
        samples = [
            (points, MatrixRows(sp.csr_array(r[:, None])))
            for points, r in zip((X, Y), R, strict=True)
        ]
    _, V = lift_rows(
        samples, kernel=kernel, bandwidth=bandwidth, lift=lift, n_components=n_components, rng=rng
    )
    if normalise:
        V = V / np.linalg.norm(V, axis=1, keepdims=True)
    return float(np.linalg.norm(V[0] - V[1]))


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
    if tol is not None:
        tol = check_positive(tol, "tol")
    if is_transformer(lift):
        lift = fit_transformer_lift(lift, _concatenate([X for X, _ in samples]))
    if isinstance(lift, Lift):
        if lift.is_exact:
            raise ValueError(
                "an exact lift spans only the clusters it was made from; let represent make it "
                '(lift="exact"), or use a feature lift for several calls'
            )
        return _lift_to_tolerance(samples, lift, tol, rng, may_extend=False)
    resolved = as_kernel(kernel)
    samples = [(resolved.points(X, R.shape[0]), R) for X, R in samples]
    _check_one_space([X for X, _ in samples])
    pool = _pool([X for X, _ in samples], rng)
    resolved = resolve_bandwidth(resolved, pool, bandwidth, rng)
    n = sum(len(X) for X, _ in samples)
    name = choose_lift(lift, n, resolved, n_components, spans=True)
    if name == "exact":
        return fit_span_lift(resolved, *_one_sample(samples))
    if tol is not None and n_components is None:
        n_components = _FIRST_COMPONENTS
    made = make_feature_lift(
        name, pool, resolved, n=n, n_components=n_components, sampling=sampling, rng=rng
    )
    return _lift_to_tolerance(samples, made, tol, rng, may_extend=True)


def _lift_to_tolerance(
    samples: list[Sample],
    lift: Lift,
    tol: float | None,
    rng: np.random.Generator,
    *,
    may_extend: bool,
) -> tuple[Lift, FloatArray]:
    """Cluster vectors; under a tolerance, with as many features as it takes."""
    V = _sums(lift, samples)
    if tol is None:
        return lift, V
    if not isinstance(lift, FourierLift):
        raise ValueError(
            f"tol needs a lift that knows its error, and {lift.describe()} does not; use "
            'lift="exact" or "fourier"'
        )
    s, d = len(V), lift.frequencies.shape[1]
    most = max(_MOST_BYTES // (8 * (2 * s + d)), lift.n_components)
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
        V = lift.join_sums(V, new, _sums(new, samples))
        lift = joined
    return lift, V


def _largest_error(lift: FourierLift, V: FloatArray) -> float:
    return float(
        standard_error(distance_deviations(V, V, lift.feature_groups(), normalise=True)).max()
    )


def _sums(lift: Lift, samples: list[Sample]) -> FloatArray:
    return np.concatenate([lift.sums(X, R) for X, R in samples])


def _one_sample(samples: list[Sample]) -> Sample:
    """Several samples as one: points one after another, memberships block by block."""
    if len(samples) == 1:
        return samples[0]
    blocks = [R.rows(slice(0, len(X))) for X, R in samples]
    matrix = sp.csr_array(sp.block_diag(blocks, format="csr"))
    return _concatenate([X for X, _ in samples]), MatrixRows(matrix)


def _pool(point_sets: list[Points], rng: np.random.Generator) -> Points:
    """Points that stand for all samples alike: all of one, some of each of several."""
    if len(point_sets) == 1:
        return point_sets[0]
    n = sum(map(len, point_sets))
    chosen = []
    for X in point_sets:
        size = min(len(X), max(1, _POOL * len(X) // n))
        rows = np.sort(rng.choice(len(X), size, replace=False))
        chosen.append(X[rows] if hasattr(X, "shape") else [X[i] for i in rows])
    return _concatenate(chosen)


def _concatenate(point_sets: list[Points]) -> Points:
    if len(point_sets) == 1:
        return point_sets[0]
    if all(isinstance(X, list | tuple) for X in point_sets):
        return [x for X in point_sets for x in X]
    return np.concatenate([np.asarray(X) for X in point_sets])


def _check_one_space(point_sets: list[Points]) -> None:
    features = {np.shape(X)[1] for X in point_sets if hasattr(X, "ndim") and X.ndim == 2}
    if len(features) > 1:
        raise ValueError(
            f"the samples have {sorted(features)} features; they must be points of one space"
        )


def _one_cluster(cluster: Any, name: str, weights: Any) -> FloatArray:
    try:
        p = np.asarray(cluster, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be true or false, or p(C|x), for each point") from None
    if p.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {p.shape}")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(
            f"{name} must be true or false, or lie in [0, 1], for each point; for the cluster "
            "called c in labels write labels == c"
        )
    if not p.any():
        raise ValueError(f"cluster {name} is empty; it needs at least one point")
    if weights is None:
        return p
    weighted = p * as_weights(weights, len(p))
    if not weighted.any():
        raise ValueError(f"cluster {name} has no weight; it needs at least one point that has some")
    return np.asarray(weighted)
