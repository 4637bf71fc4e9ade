"""From points and partitions to cluster vectors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.checks import checked_keywords
from .._util.typing import BandwidthLike, FloatArray, Points, RngLike
from .._util.validation import as_numbers, as_weights, check_rng, make_rng
from ..kernels.kernel import KernelLike
from ..kernels.shift_invariant import ShiftInvariant
from ..lifts.base import LiftedPoints
from ..lifts.choice import Lifting, LiftLike
from ..lifts.uncertainty import unit_rows
from ..partitions.frames import columns_as_partitions
from ..partitions.partition import as_partitions
from ..partitions.stack import MatrixRows, Stack
from ..streaming.streams import Stream, as_stream, needs_stream
from .assembling import assemble
from .lifting import Sample, lift_points, lift_samples, lift_samples_at_scales
from .passes import lift_streams, open_checkpoint
from .representation import Representation

StackedSample = tuple[Points, Stack]


@checked_keywords
def represent(
    X: Points,
    partitions: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Representation:
    r"""Lift every cluster of every partition of the points X to one vector.

    .. math:: Φ(C) = \sum_x w(x)\, p(C|x)\, φ(x), \qquad \barΦ(C) = Φ(C) / ‖Φ(C)‖

    All partitions are lifted in one pass over blocks of points; no n × ρ or n × n array is held.

    Parameters
    ----------
    X : (n, d) array-like, source of blocks, or None
        The points; None for a precomputed or the discrete kernel. Memory maps, HDF5 and zarr
        arrays, :class:`Blocks` and columns of :func:`scan_table` are read in blocks.
    partitions : Partition, labels, memberships, or a sequence or mapping of them
        In memory, or read in blocks like X. A data frame holds a clustering in each column.
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
    checkpoint : path, optional
        A file to which the sums are written every few seconds. Interrupted work that is called
        again continues from there, to the same bits; the file is removed at the end.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Representation
        The cluster vectors, with their masses and names.

    See Also
    --------
    represent_samples : The same for partitions of different points.
    make_lift : The map alone.

    Examples
    --------
    Two points a bandwidth apart, each its own cluster: ‖Φ̄(C) − Φ̄(C′)‖² = 2 − 2 exp(−1/2).

    >>> import liftcluster as lc
    >>> rep = lc.represent([[0.0], [1.0]], ["a", "b"], bandwidth=1.0)
    >>> rep
    Representation(2 clusters of 1 partition(s), exact)
    >>> round(float(rep.distances()[0, 1]) ** 2, 6)
    0.786939
    """
    return represent_samples(
        [(X, partitions)],
        kernel=kernel,
        bandwidth=bandwidth,
        lift=lift,
        weights=None if weights is None else [weights],
        rng=rng,
        checkpoint=checkpoint,
        progress=progress,
    )


@checked_keywords
def represent_samples(
    samples: Iterable[tuple[Points, Any]],
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Iterable[Any] | None = None,
    rng: RngLike = 0,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Representation:
    """Lift partitions of *different* point sets by one map, so that they can be compared.

    Parameters
    ----------
    samples : iterable of (X, partitions)
        Point sets of one space, each with its partitions; those without names are numbered.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. A rule sees all samples together.
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" is exact up to 5,000 points, and uses features beyond.
    weights : iterable, optional
        Weights of the points of each sample (None for one each).
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    checkpoint : path, optional
        A file for partial sums: interrupted work that is called again continues from there.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Representation
        The cluster vectors of all samples, with their masses and names.

    See Also
    --------
    represent : The same for partitions of the same points.

    Examples
    --------
    >>> import liftcluster as lc
    >>> rep = lc.represent_samples([([[0.0], [1.0]], [0, 1]), ([[0.0], [1.0], [1.0]], [0, 1, 1])])
    >>> rep.distances()[:2, 2:].round(12).diagonal().tolist()  # equal shapes, whatever the sizes
    [0.0, 0.0]
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    samples, weights = _with_weights(samples, weights)
    if checkpoint is not None or any(map(needs_stream, *zip(*samples, strict=True), weights)):
        streams = _as_streams(samples, weights)
        return represent_streams(
            streams, lifting, rng=rng, checkpoint=checkpoint, progress=progress
        )
    return represent_in_memory(lifting, samples, weights=weights, rng=rng)


def represent_in_memory(
    lifting: Lifting,
    samples: list[tuple[Points, Any]],
    *,
    weights: list[Any] | None = None,
    rng: RngLike = None,
) -> Representation:
    """The same for points and partitions that are known to be in memory."""
    stacked = _stack_samples(samples, [None] * len(samples) if weights is None else weights)
    lift, sums = lift_samples([*stacked], lifting, check_rng(rng))
    return assemble([stack for _, stack in stacked], lift, sums)


def represent_points(
    lifting: Lifting, X: Points, partitions: Any, rng: RngLike
) -> tuple[Representation, LiftedPoints]:
    """The same for one set of points, with these for more passes; features may be kept."""
    stacked = _stack_samples([(X, partitions)], [None])
    points, sums = lift_points([*stacked], lifting, make_rng(rng), keep=True)
    return assemble([stack for _, stack in stacked], points[0].lift, sums), points[0]


def represent_streams(
    streams: list[Stream],
    lifting: Lifting,
    *,
    rng: RngLike = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Representation:
    """The same for points that are read in blocks; few of them are read into memory."""
    generator = make_rng(rng)
    if all(stream.X is not None for stream in streams):
        file = open_checkpoint(checkpoint, streams, lifting, rng)
        made = lift_streams(streams, lifting, generator, checkpoint=file, progress=progress)
        if made is not None:
            lift, tally, _ = made
            if file is not None:
                file.remove()
            return tally.finish(lift)
    return represent_in_memory(lifting, [stream.gather() for stream in streams], rng=generator)


def _as_streams(samples: list[tuple[Points, Any]], weights: list[Any]) -> list[Stream]:
    """Samples that are read in blocks; partitions without names are numbered consecutively."""
    streams: list[Stream] = []
    names: list[Hashable] = []
    for (X, partitions), w in zip(samples, weights, strict=True):
        partitions = columns_as_partitions(partitions)
        stream = as_stream(X, partitions, w)
        if not isinstance(partitions, Mapping):
            numbered: dict[Hashable, Any] = {
                len(names) + i: p for i, p in enumerate(stream.partitions.values())
            }
            stream = replace(stream, partitions=numbered)
        streams.append(stream)
        names += stream.partitions
    _check_different(names)
    return streams


def represent_at_scales(
    samples: Iterable[tuple[Points, Any]],
    kernels: list[ShiftInvariant],
    lifting: Lifting,
    rng: RngLike = None,
) -> Iterator[Representation]:
    """The same clusters by kernels of one shape and several bandwidths, lifted in one pass."""
    stacked = _stack_samples(*_with_weights(samples, None))
    lifted = lift_samples_at_scales([*stacked], kernels, lifting, make_rng(rng))
    stacks = [stack for _, stack in stacked]
    return (assemble(stacks, lift, V) for lift, V in lifted)


@checked_keywords
def cluster_distance(
    a: Any,
    b: Any,
    X: Points,
    *,
    Y: Points = None,
    normalise: bool = False,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "exact",
    weights: Any = None,
    rng: RngLike = 0,
) -> float:
    r"""Distance d(C, C′) between two clusters, which may overlap (the paper's section 2.2).

    .. math:: d(C, C')^2 = κ(C, C) + κ(C', C') - 2κ(C, C'), \quad
              κ(C, C') = \sum_{x, y} w(x) p(C|x)\, w(y) p(C'|y)\, κ(x, y)

    Exact by :math:`O(|C| |C'|)` kernel values; by :math:`O((|C| + |C'|) ρ)` with Fourier features.

    Parameters
    ----------
    a, b : (n,) array-like
        Which points are in each cluster: true or false, or p(C|x) between 0 and 1.
    X : (n, d) array-like, or None
        The points; None for a precomputed or the discrete kernel.
    Y : (n', d) array-like, optional
        The points of b, where they are others than those of a.
    normalise : bool, default False
        Scale both vectors to unit length, so that only shape and place count, not size.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "median"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels.
    lift : str, settings, Lift or transformer, default "exact"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer.
    weights : (n,) array-like, optional
        Weights of the points, one each by default. Only without Y.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Returns
    -------
    float
        The distance.

    See Also
    --------
    distance : Between partitions.

    Examples
    --------
    >>> import liftcluster as lc
    >>> d = lc.cluster_distance([1, 1, 1, 0], [0, 1, 1, 1], None, kernel="discrete")
    >>> round(d**2, 12)  # the number of points that are in one cluster but not in both
    2.0
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
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
    _, V = lift_samples(samples, lifting, make_rng(rng))
    if normalise:
        V = unit_rows(V, ("a", "b"))
    return float(np.linalg.norm(V[0] - V[1]))


def _with_weights(
    samples: Iterable[tuple[Points, Any]], weights: Iterable[Any] | None
) -> tuple[list[tuple[Points, Any]], list[Any]]:
    """Samples and the weights of each."""
    samples = [(X, partitions) for X, partitions in samples]
    if not samples:
        raise ValueError("no samples were given; pass at least one pair (X, partitions)")
    sample_weights = [None] * len(samples) if weights is None else list(weights)
    if len(sample_weights) != len(samples):
        raise ValueError(f"{len(samples)} samples need as many weights, got {len(sample_weights)}")
    return samples, sample_weights


def _stack_samples(samples: list[tuple[Points, Any]], weights: list[Any]) -> list[StackedSample]:
    stacked: list[StackedSample] = []
    names: list[Hashable] = []
    for (X, partitions), w in zip(samples, weights, strict=True):
        partitions = columns_as_partitions(partitions)
        named = as_partitions(partitions, w)
        if not isinstance(partitions, Mapping):
            named = {len(names) + i: p for i, p in enumerate(named.values())}
        stacked.append((X, Stack(named)))
        names += named
    _check_different(names)
    return stacked


def _check_different(names: list[Hashable]) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"partitions of different samples need different names: {names}")


def _one_cluster(cluster: Any, name: str, weights: Any) -> FloatArray:
    try:
        p = as_numbers(cluster, f"cluster {name}")
    except TypeError:
        raise TypeError(f"{name} must be Boolean, or p(C|x), for each point") from None
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
