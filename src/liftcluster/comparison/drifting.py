"""Test of drift: whether clusterings of two samples differ more than sampling noise explains."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .._util.arrays import add_up, from_device
from .._util.checks import check_count, checked_keywords
from .._util.names import MeasureName
from .._util.progress import progress_bar
from .._util.typing import BandwidthLike, Clusterer, FloatArray, Points, RngLike
from .._util.validation import as_points, make_rng
from .._util.warning import warn
from ..kernels.kernel import KernelLike
from ..lifts.base import FeatureLift
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition
from ..representation.representation import Representation
from .comparing import check_measures
from .measures.registry import MEASURES, Measure
from .permutation import feature_lift
from .relabelled import lift_relabelled
from .splits import FixedLabels, Pool, Split, draw_splits, make_labeller


@dataclass(frozen=True, eq=False)
class Drift:
    """Where the distances between two samples' clusterings stand among those of random splits.

    A small p-value means that the samples differ more than two samples of one population do.

    Attributes
    ----------
    values : dict
        For each measure, the distance between the clusterings of the two samples.
    null : dict
        For each measure, the (n_splits,) distances between the clusterings of random splits.
    a, b : Partition
        The clusterings of X and of Y. ``lc.compare(found.a, found.b, X, Y=Y)`` says which clusters
        stayed, moved, split or merged.
    rounding : dict
        For each measure, by how much distances that are equal may differ.

    See Also
    --------
    drift : The function that returns it.
    Significance : The result of a test whether two clusterings are related.

    Examples
    --------
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> X = np.arange(20.0)[:, None]
    >>> found = lc.drift(X, X + 40, lambda points: points[:, 0] > points.mean(), n_splits=19)
    >>> found.p_value, sorted(found.p_values)
    (0.05, ['lift_emd', 'lift_hausdorff'])
    """

    values: Mapping[str, float]
    null: Mapping[str, FloatArray]
    a: Partition
    b: Partition
    rounding: Mapping[str, float]

    @property
    def p_value(self) -> float:
        """Of the hypothesis of one population, by all measures together; see :func:`drift`."""
        return self._p_value([*self.values])

    @property
    def p_values(self) -> dict[str, float]:
        """By each measure alone: (1 + #{null ≥ value}) / (1 + #null).

        They say which kind of difference was found; they are not corrected for their number.
        """
        return {name: self._p_value([name]) for name in self.values}

    def _p_value(self, names: list[str]) -> float:
        largest, slack = np.full(1 + len(self.null[names[0]]), -np.inf), 0.0
        for name in names:
            distances = np.append(self.null[name], self.values[name])  # exchangeable
            spread = distances.std()
            if spread > self.rounding[name]:
                largest = np.maximum(largest, (distances - distances.mean()) / spread)
                slack = max(slack, self.rounding[name] / spread)
            else:  # all are equal
                largest = np.maximum(largest, 0.0)
        return float(np.mean(largest >= largest[-1] - slack))

    def to_dict(self) -> dict[str, Any]:
        """p-values and distances as values that JSON can hold."""
        return {
            "p_value": self.p_value,
            "p_values": self.p_values,
            "values": dict(self.values),
            "null": {name: values.tolist() for name, values in self.null.items()},
        }

    def __str__(self) -> str:
        lines = [f"p = {self.p_value:.3g} (small if the samples differ)"]
        for name, p in self.p_values.items():
            null = self.null[name]
            lines.append(
                f"  {name} = {self.values[name]:.4f}, for splits of the pooled sample "
                f"{null.mean():.4f} ± {null.std():.4f}: p = {p:.3g} alone"
            )
        return "\n".join(lines)


@checked_keywords
def drift(
    X: Points,
    Y: Points,
    source: Clusterer | Callable[[Any], Any] | tuple[Any, Any],
    *,
    measures: MeasureName | Iterable[MeasureName] = ("lift_emd", "lift_hausdorff"),
    n_splits: int = 199,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
    progress: bool | None = None,
) -> Drift:
    r"""Test whether clusterings of two samples differ more than sampling noise explains.

    The null hypothesis is that X and Y are independent draws from one population. Then the two
    samples are like any random split of the pooled points into parts S and S′ of the same sizes.
    With a clusterer A, the samples themselves as split 0, and N random splits,

    .. math:: p = \frac{\#\{i : T_i \ge T_0\}}{1 + N}, \quad
              T_i = \max_d \frac{d(A(S_i), A(S'_i)) - \mathrm{mean}_d}{\mathrm{deviation}_d}

    where i runs from 0 to N and d over the measures, each with its mean and standard deviation over
    all i. So p is at most α with probability at most α, whatever the population, the sizes of the
    samples, the measures and the clusterer: the test is exact. ``lift_emd`` is sensitive to the
    shares of clusters, ``lift_hausdorff`` to their places.

    The test has to repeat all that was done to each sample, so it needs the clusterer. From labels
    alone it cannot be known how far clusterings of two samples differ by chance: boundaries that
    happen to lie elsewhere look like drift (``python -m benchmarks drift`` shows that matching the
    clusters by place and exchanging their points finds most pairs of samples of one population to
    differ). Labels are enough where one rule gave them to both samples: then only the points differ
    by chance, and each is exchanged with its label.

    Points must be independent. Where they come in groups (cells of a donor, days of a week), two
    samples of different groups differ, and the test says so.

    Parameters
    ----------
    X, Y : (n, d) and (n', d) array-like
        The samples, in memory.
    source : clusterer, function or pair of labels
        A scikit-learn clusterer, which is fitted anew to both samples and to both parts of every
        split (on several threads within ``joblib.parallel_config(n_jobs=4)``); or a function from
        points to labels or memberships. Unstable clusterers hide drift: prefer ``n_init=10``.

        Or a pair (a, b): labels, memberships or Partition of X and of Y by *one rule that favours
        neither sample*, with the same names for the same clusters: a classifier that was trained
        on other data, an annotation by experts, or a clustering of the pooled sample. Weights of a
        Partition stay with their points.
    measures : str or sequence of str, default ("lift_emd", "lift_hausdorff")
        Those that compare partitions of different points: "lift_emd", "lift_kd", "lift_hausdorff",
        "centroid", "adco" and "cdistance". Noise plays no part in them.
    n_splits : int, default 199
        Number of random splits. The smallest p-value there can be is 1 / (1 + n_splits).
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
        transformer. "auto" uses 512 features; "exact" is not possible here.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
        It draws the splits, and seeds clusterers whose ``random_state`` is None.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Drift
        p-values, distances between the samples and between random splits, and both clusterings.

    See Also
    --------
    significance : Whether two clusterings are nearer to each other than random labels.
    compare : Which clusters stayed, moved, split or merged.
    stability : Whether one clustering is found again in other samples.

    Examples
    --------
    Two samples of one population, and one that has moved by half a unit:

    >>> import numpy as np
    >>> import liftcluster as lc
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((2, 300, 1))
    >>> def halves(points):
    ...     return points[:, 0] > points.mean()
    >>> lc.drift(X, Y, halves, n_splits=99, rng=0).p_value > 0.05
    True
    >>> lc.drift(X, Y + 0.5, halves, n_splits=99, rng=0).p_value
    0.01
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    chosen = _measures_of_samples(measures, lifting)
    count = check_count(n_splits, "n_splits")
    rng = make_rng(rng)
    pool = Pool.of(as_points(X), as_points(Y, "Y"), rng)
    cluster = make_labeller(source, pool)
    # One map and one bandwidth for all splits, and from the pool: they favour none of them.
    needs = {measure.needs for measure in chosen}
    is_lifted = "vectors" in needs
    fitted = feature_lift(lifting, pool.points, rng) if is_lifted else None
    splits = draw_splits(pool, cluster, rng.spawn(count + 1))
    distances: list[list[float]] = []
    with progress_bar("splits", count + 1, show=progress) as advance:
        samples = next(splits)
        for inputs in _inputs(pool, chain([samples], splits), fitted, "points" in needs):
            if not distances and isinstance(cluster, FixedLabels) and is_lifted:
                _warn_if_names_do_not_match(*inputs["vectors"])
            distances.append([float(m.function(*inputs[m.needs])) for m in chosen])
            advance(1)
    by_measure = dict(zip((m.name for m in chosen), np.array(distances).T, strict=True))
    return Drift(
        {name: float(found[0]) for name, found in by_measure.items()},
        {name: found[1:] for name, found in by_measure.items()},
        *pool.in_order(samples),
        {m.name: _rounding(m, by_measure[m.name]) for m in chosen},
    )


def _rounding(measure: Measure, distances: FloatArray) -> float:
    # Lifted distances are roots of differences of sums that may be in single precision.
    return 1e-5 if measure.needs == "vectors" else 1e-12 * float(np.abs(distances).max())


def _measures_of_samples(measures: Any, lifting: Lifting) -> list[Measure]:
    chosen = [MEASURES[name] for name in check_measures(measures) or ()]
    unsuited = [measure.name for measure in chosen if measure.same_points]
    if unsuited or not chosen:
        suited = [measure.name for measure in MEASURES.values() if not measure.same_points]
        raise ValueError(
            f"measures must be some of {', '.join(suited)}, got {', '.join(unsuited) or measures}; "
            "others compare partitions of the same points"
        )
    if lifting.given and all(measure.needs != "vectors" for measure in chosen):
        raise ValueError(
            f"the measures lift nothing, so {', '.join(lifting.given)} cannot apply; leave that "
            "out, or choose a lifted measure such as lift_emd"
        )
    if not lifting.needs_points:
        raise ValueError(
            f"the {lifting.kernel.name} kernel cannot compare points of two samples; choose one of "
            'their coordinates, such as kernel="gaussian"'
        )
    return chosen


def _inputs(
    pool: Pool, splits: Iterable[Split], lift: FeatureLift | None, with_points: bool
) -> Iterator[dict[str, tuple[Any, ...]]]:
    """What measures are called with for each split, by what they need."""
    waiting: deque[Split] = deque()

    def joined() -> Iterator[Partition]:
        for split in splits:
            waiting.append(split)
            yield split.joined()

    if lift is None:
        lifted: Iterable[Any] = (None for _ in joined())
    else:
        lifted = lift_relabelled(lift, from_device(lift.points(pool.points)), joined())
    for rep in lifted:
        split = waiting.popleft()
        inputs: dict[str, tuple[Any, ...]] = {}
        if rep is not None:
            inputs["vectors"] = _halves(rep)
        if with_points:
            inputs["points"] = (
                pool.points[split.first], split.a, pool.points[~split.first], split.b
            )  # fmt: skip
        yield inputs


def _halves(rep: Representation) -> tuple[Representation, Representation]:
    """The clusters of each part of a split as a representation; masses are shares of its own."""
    part, names = zip(*rep.cluster_names, strict=True)
    owner = np.array(part)
    totals = add_up(rep.cluster_weights, owner, 2)
    both = replace(
        rep, owner=owner, total_weights=totals, cluster_names=names, partition_names=(0, 1)
    )
    return both[0], both[1]


def _warn_if_names_do_not_match(P: Representation, Q: Representation) -> None:
    """Warn where clusters are far from those of their own name, and near to those of others."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    shared = [name for name in P.cluster_names if name in Q.cluster_names]
    rows, columns = ([R.cluster_names.index(name) for name in shared] for R in (P, Q))
    D = cdist(P.vectors[rows], Q.vectors[columns])
    own, best = D.trace(), D[linear_sum_assignment(D)].sum()
    if best < own / 2:
        warn(
            f"clusters of the same name lie {own / len(D):.3g} apart on average, but "
            f"{best / len(D):.3g} if matched by place: a and b must be labels that one rule gave "
            "to both samples; for clusterings made separately, give the clusterer"
        )
