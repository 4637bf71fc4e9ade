"""Distances between clusterings: one number, or a matrix of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from .._util.checks import checked_keywords
from .._util.names import MeasureName
from .._util.progress import progress_bar
from .._util.typing import BandwidthLike, FloatArray, Points, RngLike
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition, as_partitions
from ..representation.counts import count_clusters
from ..representation.representation import Representation
from ..representation.samples import represent_in_memory, represent_streams
from ..streaming.streams import Stream, as_stream, needs_stream
from .inputs import (
    PairInMemory,
    check_applicable,
    check_measure,
    check_pairs_fit,
    compute,
    inputs_for,
    make_pair,
)
from .measures.registry import Measure


@checked_keywords
def distance(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measure: MeasureName = "lift_emd",
    measure_options: Mapping[str, Any] | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    progress: bool | None = None,
) -> float:
    """Distance between two partitions, by any measure of ``MEASURES``.

    Parameters
    ----------
    a, b : labels, memberships, Partition or Representation
        (n,) labels, (n, k) memberships or a :class:`~liftcluster.Partition`; or, in place of
        partitions and points, ``rep[0]`` and ``rep[1]`` of a :class:`~liftcluster.Representation`.
    X : (n, d) array-like or source of blocks, optional
        The points, for measures that need more than labels. Memory maps, HDF5 and zarr arrays,
        :class:`~liftcluster.Blocks` and tables are read in blocks, except by measures of pairs of
        points.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, of any size.
    measure : str, default "lift_emd"
        A name in :data:`~liftcluster.MEASURES`. With measures that lift nothing, ``kernel``,
        ``bandwidth`` and ``lift`` are an error.
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
        Weights of the points, in place of any that partitions carry; one each by default. With Y, a
        pair: those of X and those of Y.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    float
        Without its standard error, which is not zero where random features are used (many points):
        ``compare(a, b, X, measures="lift_emd")["lift_emd"]`` has the same ``value`` and its
        ``error``.

    See Also
    --------
    compare : All measures at once, with standard errors, and what became of each cluster.
    distance_matrix : Distances between every two of several partitions.
    significance : Whether two partitions are nearer to each other than random labels.

    References
    ----------
    Raman, Phillips, Venkatasubramanian, Spatially-Aware Comparison and Consensus for Clusterings
    (SDM 2011), section 4.

    Examples
    --------
    Moving the boundary is cheap, swapping the ends is not; the Rand distance sees no difference:

    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> truth, near, far = [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0]
    >>> [round(lc.distance(truth, p, X), 3) for p in (near, far)]
    [0.164, 0.514]
    >>> [round(lc.distance(truth, p, measure="rand"), 3) for p in (near, far)]
    [0.533, 0.533]
    """
    chosen, lifting = check_measure(measure, measure_options, kernel, bandwidth, lift)
    pair = make_pair(a, b, X, Y, weights, lifting, rng, progress)
    check_applicable(pair, chosen)
    return compute(chosen, pair, measure_options or {}, progress)


@checked_keywords
def distance_matrix(
    partitions: Any,
    X: Points = None,
    *,
    measure: MeasureName = "lift_emd",
    measure_options: Mapping[str, Any] | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    weights: Any = None,
    rng: RngLike = 0,
    progress: bool | None = None,
) -> FloatArray:
    """Distances between every two of m partitions of the same points, lifted once.

    Parameters
    ----------
    partitions : sequence, mapping or data frame of labels, memberships or Partition
        A data frame (pandas, polars) holds a clustering in each column. Or a
        :class:`~liftcluster.Representation` of them, in place of partitions and points.
    X : (n, d) array-like or source of blocks, optional
        The points, for measures that need more than labels. Memory maps, HDF5 and zarr arrays,
        :class:`~liftcluster.Blocks` and tables are read in blocks, except by measures of pairs of
        points.
    measure : str, default "lift_emd"
        A name in :data:`~liftcluster.MEASURES`. With measures that lift nothing, ``kernel``,
        ``bandwidth`` and ``lift`` are an error.
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
    (m, m) array
        Row: the first argument of the measure; column: the second.

    See Also
    --------
    distance : The distance between two partitions.
    diverse_subset : A few of many partitions that stand for all of them.
    plot.distances : A picture of the matrix.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [5.0]]
    >>> lc.distance_matrix([[0, 0, 1], [0, 1, 1], [1, 1, 0]], X, measure="rand").round(3)
    array([[0.   , 0.667, 0.   ],
           [0.667, 0.   , 0.667],
           [0.   , 0.667, 0.   ]])
    """
    chosen, lifting = check_measure(measure, measure_options, kernel, bandwidth, lift)
    if isinstance(partitions, Representation):
        rep = partitions
        for i in range(rep.m):
            check_applicable(make_pair(rep[0], rep[i], X, None, weights, lifting), chosen)
        m, arguments = rep.m, _lifted_arguments(rep)
    elif needs_stream(X, partitions, weights):
        stream = as_stream(X, partitions, weights)
        m = len(stream.partitions)
        arguments = _streamed_arguments(stream, chosen, lifting, rng, progress)
    else:
        named = as_partitions(partitions, weights)
        m, arguments = len(named), _arguments(named, X, chosen, lifting, rng)
    D = np.zeros((m, m))
    pairs = [(i, j) for i in range(m) for j in range(m) if i <= j or not chosen.is_symmetric]
    with progress_bar(f"{measure} distances", len(pairs), show=progress) as advance:
        for i, j in pairs:
            D[i, j] = chosen.function(*arguments(i, j), **(measure_options or {}))
            if chosen.is_symmetric:
                D[j, i] = D[i, j]
            advance(1)
    return D


Arguments = Callable[[int, int], tuple[Any, ...]]  # of a measure, for two partitions by position


def _lifted_arguments(rep: Representation) -> Arguments:
    parts = [rep[i] for i in range(rep.m)]
    return lambda i, j: (parts[i], parts[j])


def _arguments(
    named: dict[Hashable, Partition], X: Points, measure: Measure, lifting: Lifting, rng: RngLike
) -> Arguments:
    parts = list(named.values())
    first = [PairInMemory(parts[0], part, X, None, lifting) for part in parts]
    for pair in first:
        check_applicable(pair, measure)
    if measure.needs == "vectors":
        check_pairs_fit(parts)
        return _lifted_arguments(represent_in_memory(lifting, [(X, named)], rng=rng))
    return lambda i, j: inputs_for(
        measure, PairInMemory(parts[i], parts[j], X, None, lifting) if i else first[j]
    )


def _streamed_arguments(
    stream: Stream, measure: Measure, lifting: Lifting, rng: RngLike, progress: bool | None
) -> Arguments:
    """The same for partitions that are read in blocks: all of them in one pass."""
    names = list(stream.partitions)
    if measure.needs == "points":
        raise ValueError(f"{measure.name} does not apply: it needs all points in memory")
    if measure.needs == "vectors":
        if stream.X is None and lifting.needs_points:
            raise ValueError(f"{measure.name} does not apply: it needs the points X")
        return _lifted_arguments(represent_streams([stream], lifting, rng=rng, progress=progress))
    counts = count_clusters(stream, ((a, b) for a in names for b in names), progress)
    if not measure.soft and not all(summary.is_hard for summary in counts.summaries.values()):
        raise ValueError(f"{measure.name} does not apply: it is not defined for soft partitions")
    return lambda i, j: (counts.tables[names[i], names[j]].finish(),)
