"""Permutation test: whether two clusterings are nearer to each other than unrelated labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from .._util.arrays import from_device, is_constant
from .._util.checks import check_count, checked_keywords
from .._util.names import MeasureName
from .._util.progress import Advance, progress_bar
from .._util.typing import BandwidthLike, FloatArray, IntArray, Points, RngLike
from .._util.validation import check_same_length, make_rng
from ..kernels.kernel import KernelLike
from ..lifts.base import FeatureLift
from ..lifts.choice import Lifting, LiftLike, lift_for_any_points
from ..lifts.settings import Exact
from ..partitions.partition import Partition
from .inputs import PairInMemory, check_applicable, check_measure, inputs_for, make_pair_in_memory
from .measures.registry import Measure
from .relabelled import lift_relabelled

_NULL_COMPONENTS = 512  # features for the test: chance is not a matter of the third digit


@dataclass(frozen=True, eq=False)
class Significance:
    """Where a distance stands among those to labels assigned at random.

    A small p-value means that the two clusterings are *related*. It does not say that they differ:
    for that, see :func:`liftcluster.drift`.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        The distance between the two partitions.
    null : (n_permutations,) array
        Distances after permuting the labels of the second, sizes kept.
    rounding : float
        By how much distances that are equal may differ.

    See Also
    --------
    significance : The function that returns it.
    Drift : The result of a test whether two samples differ.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.significance([0, 0, 1, 1], [0, 0, 1, 1], measure="rand", n_permutations=99)
    >>> found.value, found.adjusted
    (0.0, 1.0)
    """

    measure: str
    value: float
    null: FloatArray
    rounding: float = 1e-12

    @property
    def p_value(self) -> float:
        """Of the hypothesis that labels are random: (1 + #{null ≤ value}) / (1 + #null).

        Small where the clusterings are nearer to each other than unrelated labels would be.
        """
        slack = self.rounding * max(1.0, abs(self.value))
        return float((1 + (self.null <= self.value + slack).sum()) / (1 + len(self.null)))

    @property
    def z(self) -> float:
        """How many deviations of the null below (negative) or above its mean; 0 if it has none."""
        spread = self.null.std(ddof=1) if len(self.null) > 1 else 0.0
        return float((self.value - self.null.mean()) / spread) if spread > 0 else 0.0

    @property
    def adjusted(self) -> float:
        """1 − value / mean of the null: one if equal, about zero at chance, like adjusted Rand."""
        expected = self.null.mean()
        return float(1 - self.value / expected) if expected > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        return {
            "measure": self.measure,
            "value": self.value,
            "p_value": self.p_value,
            "z": self.z,
            "adjusted": self.adjusted,
            "null": self.null.tolist(),
        }

    def __str__(self) -> str:
        return (
            f"{self.measure} = {self.value:.4f}, for labels at random {self.null.mean():.4f} ± "
            f"{self.null.std(ddof=1) if len(self.null) > 1 else 0:.4f}: "
            f"p = {self.p_value:.3g} (small if related), z = {self.z:.1f}, "
            f"adjusted = {self.adjusted:.3f}"
        )


@checked_keywords
def significance(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measure: MeasureName = "lift_emd",
    measure_options: Mapping[str, Any] | None = None,
    n_permutations: int = 999,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
    progress: bool | None = None,
) -> Significance:
    """Test by permutations whether two clusterings are nearer to each other than random labels.

    The null hypothesis is that the labels of b were assigned at random. A small p-value means that
    the clusterings are related: nearer to each other than chance explains. It is no sign of a
    difference. Clusterings of two samples of one population are related, and get the smallest
    p-value there is; whether two samples differ more than sampling noise explains is what
    :func:`liftcluster.drift` tests.

    The labels (or rows of memberships, and noise) of b are permuted among its points, which keeps
    the sizes of its clusters. Lifted measures use one map of random features for the distance and
    all permutations, 50 of which are added up in each pass over the points; so ``value`` is that
    of these features, not the exact one. The discrete and precomputed kernels are exact throughout.
    Measures that are not lifted run on several threads within
    ``joblib.parallel_config(n_jobs=4)``.

    Parameters
    ----------
    a, b : labels, memberships or Partition
        (n,) labels, (n, k) memberships or a :class:`~liftcluster.Partition`, in memory. Points with
        other weights than one are given as ``Partition.from_labels(labels, weights)``; each point
        keeps its own.
    X : (n, d) array-like, optional
        The points, in memory, for measures that need more than labels.
    Y : (n', d) array-like, optional
        The points of b, where they are not those of a: another sample, of any size.
    measure : str, default "lift_emd"
        A name in :data:`~liftcluster.MEASURES`. With measures that lift nothing, ``kernel``,
        ``bandwidth`` and ``lift`` are an error.
    measure_options : mapping, optional
        Options of the measure: ``outer_kernel`` of lift_kd, ``bins`` of adco, ``alpha`` and
        ``tol`` of spri and spari.
    n_permutations : int, default 999
        How often the labels of b are permuted; the smallest possible p-value is
        1 / (1 + n_permutations).
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
        transformer. "auto" uses 512 features; "exact" is not possible here.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Significance
        The distance, its null distribution, p-value, z and adjusted value.

    See Also
    --------
    drift : Whether two samples differ more than sampling noise explains.
    compare : How two partitions differ.

    Examples
    --------
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> X = np.arange(20.0)[:, None]
    >>> halves, nearly = np.arange(20) // 10, (np.arange(20) + 1) // 10 % 2
    >>> found = lc.significance(halves, nearly, X, n_permutations=99, rng=0)
    >>> found.p_value
    0.01
    """
    chosen, lifting = check_measure(measure, measure_options, kernel, bandwidth, lift)
    count = check_count(n_permutations, "n_permutations")
    rng = make_rng(rng)
    pair = make_pair_in_memory(a, b, X, Y, None, lifting, rng)
    check_applicable(pair, chosen)
    if not pair.b.weights.all():
        raise ValueError(
            "points of weight zero cannot take part in a permutation test: a cluster may receive "
            "no others; leave them out"
        )
    function = partial(chosen.function, **(measure_options or {}))
    # One child generator for each permutation, so that the order of computation does not matter.
    children = rng.spawn(count)
    with progress_bar(f"{measure}, permuted", count, show=progress) as advance:
        # Kernels that need no points have no useful features, and their exact sums cost little.
        exact = lifting.lift == "auto" and not lifting.needs_points
        if chosen.needs == "vectors" and not exact:
            value, null = _lifted_null(pair, function, children, rng, advance)
        else:
            value = float(function(*inputs_for(chosen, pair)))
            null = _plain_null(pair, chosen, function, children, advance)
    # Lifted distances are roots of differences of sums that may be in single precision.
    return Significance(measure, value, null, 1e-5 if chosen.needs == "vectors" else 1e-12)


def _plain_null(
    pair: PairInMemory,
    measure: Measure,
    function: Callable[..., float],
    children: list[np.random.Generator],
    advance: Advance,
) -> FloatArray:
    from joblib import Parallel, delayed  # slow to import, and lifted measures do without

    def one(child: np.random.Generator) -> float:
        permuted = replace(pair, b=_permuted(pair.b, child.permutation(pair.b.n)))
        return float(function(*inputs_for(measure, permuted)))

    values = []
    pool = Parallel(prefer="threads", return_as="generator")
    for value in pool(delayed(one)(child) for child in children):
        values.append(value)
        advance(1)
    return np.array(values)


def _lifted_null(
    pair: PairInMemory,
    function: Callable[..., float],
    children: list[np.random.Generator],
    rng: np.random.Generator,
    advance: Advance,
) -> tuple[float, FloatArray]:
    lift = feature_lift(pair.lifting, pair.pool, rng)
    X, Y = (from_device(lift.points(pair.X if Z is None else Z)) for Z in (pair.X, pair.Y))
    check_same_length(pair.a.n, len(X), "a", "X")
    check_same_length(pair.b.n, len(Y), "b", "X" if pair.Y is None else "Y")
    (P,) = lift_relabelled(lift, X, [pair.a])
    permuted = (_permuted(pair.b, child.permutation(pair.b.n)) for child in children)
    # b itself is added up as the permuted ones are, so that what is equal comes out equal.
    representations = lift_relabelled(lift, Y, chain([pair.b], permuted))
    value = float(function(P, next(representations)))
    null: list[float] = []
    for Q in representations:
        null.append(float(function(P, Q)))
        advance(1)
    return value, np.array(null)


def feature_lift(lifting: Lifting, points: Points, rng: np.random.Generator) -> FeatureLift:
    """One map for all relabellings of some points."""
    if isinstance(lifting.lift, Exact):
        raise ValueError(
            'an exact lift spans only given clusters, not permuted ones; use lift="fourier"'
        )
    lift = lift_for_any_points(lifting, points, rng, default_components=_NULL_COMPONENTS)
    if not isinstance(lift, FeatureLift) or lift.is_exact:
        raise ValueError(f"a permutation test needs a lift with features, not {lift.describe()}")
    return lift


def _permuted(partition: Partition, order: IntArray) -> Partition:
    permuted = Partition(partition.assignment[order], partition.names, partition.weights)
    if partition.is_hard and is_constant(partition.weights):
        vars(permuted)["cluster_weights"] = partition.cluster_weights
    return permuted
