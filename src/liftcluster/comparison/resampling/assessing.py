"""Stability of a clustering: would another sample, seed or setting give it again?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.checks import check_choice, check_count, checked_keywords
from ..._util.progress import Advance, progress_bar
from ..._util.typing import BandwidthLike, FloatArray, Points, RngLike
from ..._util.validation import make_rng
from ...kernels.kernel import KernelLike
from ...kernels.shift_invariant import ShiftInvariant
from ...kernels.summary import dimension, n_points
from ...lifts.base import Lift
from ...lifts.choice import Lifting, LiftLike, lift_for_any_points
from ...partitions.frames import columns_as_partitions
from ...partitions.partition import Partition, as_partition, as_partitions
from ...partitions.stack import Stack
from ..fitting import seeds_of
from .outcomes import Outcome, assess
from .replicates import RESAMPLES, Fit, Replicate, as_fit, reference_labels, replicates
from .result import Stability
from .runs import assess_samples, is_samples, medoid, null_of_runs
from .structureless import Shape

BANDWIDTH = "median/4"
COMPONENTS = 1024  # features: stability is not a matter of the third digit
_REPLICATES = 50
_NULL_SETS = 10  # of each kind
_NULL_REPLICATES = 12  # of each set: with fewer, some clusters are found every time by luck
_OUTLIER = 2.0  # above the median of −log(1 − s): a cluster found every time by luck
_TAIL = 3.0  # standard deviations above the mean that a structureless data set hardly reaches
_WORDS = {
    "halves": "disjoint halves of the points",
    "bootstrap": "bootstrap samples",
    "subsample": "samples of 80 % of the points",
    "seeds": "other seeds",
    "noise": "points with added noise of a tenth of their standard deviations",
}


@checked_keywords
def stability(
    X: Points,
    source: Any,
    *,
    reference: Any = None,
    n_replicates: int | None = None,
    resample: str | None = None,
    null: bool | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "auto",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
    progress: bool | None = None,
) -> Stability:
    r"""How far each cluster, each point and the whole of a clustering can be trusted.

    A clusterer is run again on resamples, or runs that exist already are compared. For a cluster C
    of the reference and a replicate with clusters C′, the transport plan π of LiftEMD says where
    the mass of C goes, and C becomes :math:`T(C) = \sum_j π_{Cj} / m'_j\, Φ(C'_j)`. Its stability
    in units of chance is

    .. math:: s(C) = 1 - \frac{‖\barΦ(C) - \bar T(C)‖}{‖\barΦ(C) - \barΦ(X)‖} ,

    one where C is found again in its place, whole or divided further, and zero where its points
    went anywhere. Because clusterings of structureless data are found again as well (few large or
    very many small clusters most of all), the same is computed for data of the same shape without
    clusters, and the result is (s − s₀)/(1 − s₀). Ten such data sets are uniform in the box of the
    principal axes of X, ten normally distributed with its covariance. For the whole s₀ is the mean
    of the kind that is more stable; for single clusters, of which one looks at the best, it is what
    their most stable clusters hardly exceed: the mean of −log(1 − s) plus three deviations.

    Parameters
    ----------
    X : (n, d) array-like
        The points; None if ``source`` holds pairs (X, labels).
    source : clusterer, function, or runs
        A scikit-learn clusterer or a function from points to labels, which is run on resamples;
        a ``random_state`` that it has is that of the reference, replicates have others. Or
        a sequence, mapping or data frame of labels of the same points: other seeds, resolutions or
        algorithms.
        Or a sequence of pairs (X, labels) of other samples, which are compared by where their
        clusters are and need no point in common.
    reference : labels, Partition or name, optional
        The clustering in question. By default that of all points by the clusterer; the run that is
        nearest to the others; or, without X, the first pair.
    n_replicates : int, optional
        Number of replicates, 50 by default; only for a clusterer.
    resample : "halves", "bootstrap", "subsample", "seeds" or "noise", optional
        Only for a clusterer. "halves", the default: disjoint halves of the points. "seeds": all
        points with other random states. "noise": a tenth of each feature's standard deviation.
    null : bool, optional
        Whether to subtract the stability of structureless data; for given runs that of random
        regions, each with as many clusters as the run. By default yes, but not for "seeds", with
        which a good algorithm is perfectly stable on any data.
    kernel : str, kernel or callable, default "gaussian"
        How similar two points are: "gaussian", "laplace", "cauchy", "matern" or "discrete"; an
        instance such as ``Matern(2.5)``; or a function K(X, Y) that returns a matrix.
    bandwidth : float, sequence of floats or str, default "auto"
        The distance at which two points count as near, or a rule that computes it from the points,
        such as "median/4": see :func:`~liftcluster.bandwidth`. Several numbers give a mixture of
        kernels. "auto" is "median/4".
    lift : str, settings, Lift or transformer, default "auto"
        How clusters become vectors: "exact", "fourier", "structured", "grid" or "nystroem";
        settings such as ``Fourier(4000)``; a fitted :class:`~liftcluster.Lift`; or a scikit-learn
        transformer. "auto" uses 1024 features; "exact" is not possible here.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    Stability
        Stability of the clusters, the points and the whole, and what becomes of each cluster.

    See Also
    --------
    choose : The number of clusters, or another setting, that is most stable.
    resolution_tree : What becomes of clusters from one resolution to the next.
    affinities : How firmly points belong to clusters, from where they lie alone.

    Notes
    -----
    Other seeds tell whether the algorithm converges, not whether the clusters are real: use halves.
    ``jaccard`` of the result is Hennig's clusterwise stability (2007,
    doi:10.1016/j.csda.2006.11.025), which has no null.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> import liftcluster as lc
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 40, axis=0) + rng.normal(size=(120, 2))
    >>> found = lc.stability(X, KMeans(3, n_init=3), n_replicates=10, rng=0)
    >>> bool(found.clusters.min() > 0.95)
    True
    """
    lifting = Lifting.of(kernel, bandwidth, lift, rule_for_auto=BANDWIDTH)
    rng = make_rng(rng)
    source = columns_as_partitions(source)
    if callable(source) or hasattr(source, "fit"):
        count = check_count(_REPLICATES if n_replicates is None else n_replicates, "n_replicates")
        how = check_choice("halves" if resample is None else resample, RESAMPLES, "resample")
        null = how != "seeds" if null is None else null
        return _by_clusterer(X, source, reference, count, how, null, lifting, rng, progress)
    for name, value in (("n_replicates", n_replicates), ("resample", resample)):
        if value is not None:
            raise ValueError(f"{name} cannot apply: the runs are given; leave it out")
    if not isinstance(source, Iterable):
        as_fit(source)  # an error that says what it may be
    null = True if null is None else null
    if is_samples(source):
        return _by_samples(X, source, reference, null, lifting, rng)
    return _by_runs(X, source, reference, null, lifting, rng, progress)


def _by_clusterer(
    X: Points,
    source: Any,
    reference: Any,
    count: int,
    resample: str,
    null: bool,
    lifting: Lifting,
    rng: np.random.Generator,
    progress: bool | None,
) -> Stability:
    sets = _NULL_SETS if null else 0
    trial = Trial.of(X, source, resample, lifting, rng, sets, _NULL_REPLICATES)
    with progress_bar("stability", trial.n_fits(count), show=progress) as advance:
        return trial.run(as_fit(source), count, reference, advance)


@dataclass(frozen=True, eq=False)
class Trial:
    """Points, how they are resampled and lifted, and data like them without structure."""

    points: Points
    lift: Lift
    resample: str
    null_sets: int  # of each of two kinds
    null_replicates: int  # of each set
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        X: Points,
        source: Any,
        resample: str,
        lifting: Lifting,
        rng: np.random.Generator,
        null_sets: int,
        null_replicates: int,
    ) -> Trial:
        points = lifting.kernel.points(X)
        if n_points(points) < 4:
            raise ValueError(
                f"stability needs at least four points to resample, got {n_points(points)}"
            )
        _check_resample(resample, source, points)
        lift = lift_for_any_points(lifting, points, rng, default_components=COMPONENTS)
        sets = null_sets if dimension(points) else 0
        return cls(points, lift, resample, sets, null_replicates, rng)

    def n_fits(self, count: int) -> int:
        return count + 2 * self.null_sets * self.null_replicates

    def run(self, fit: Fit, count: int, reference: Any, advance: Advance) -> Stability:
        """The stability of the clustering of all points, or of a given one."""
        X = self.points
        given = reference_labels(fit, X, self.rng) if reference is None else reference
        partition = check_reference(as_partition(given), n_points(X))
        found = replicates(fit, X, self.resample, count, self.rng)
        codes, k = partition.labels, partition.k
        outcome = assess(self.lift, X, codes, k, found, partition.weights, advance)
        words = f"{count} replicates on {_WORDS[self.resample]}, "
        if not self.null_sets:
            return Stability(partition, outcome, np.empty(0), 0.0, words + "without a null")
        whole, level = self._null(fit, advance)
        words += f"against {2 * self.null_sets} data sets without structure"
        return Stability(partition, outcome, whole, level, words)

    def _null(self, fit: Fit, advance: Advance) -> tuple[FloatArray, float]:
        """Stability of the whole of structureless data sets, and of their most stable clusters."""
        shape = Shape.of(np.asarray(self.points, dtype=np.float64))
        whole, level = [], 0.0
        for draw in (shape.uniform, shape.normal):
            kind, largest = [], []
            for rng in self.rng.spawn(self.null_sets):
                outcome = self._assess_null(fit, draw(n_points(self.points), rng), rng)
                advance(self.null_replicates)
                # No clusters at all are no stable clusters.
                kind.append(0.0 if outcome is None else float(outcome.whole.mean()))
                largest.append(0.0 if outcome is None else float(np.nanmax(outcome.means)))
            whole.append(np.array(kind))
            level = max(level, _upper_tail(np.array(largest)))
        return max(whole, key=np.mean), level

    def _assess_null(self, fit: Fit, Z: FloatArray, rng: np.random.Generator) -> Outcome | None:
        labels = reference_labels(fit, Z, rng)
        try:
            partition = as_partition(labels)
        except ValueError:  # all of it is noise
            return None
        if partition.k < 2:
            return None
        found = replicates(fit, Z, self.resample, self.null_replicates, rng)
        return assess(self.lift, Z, partition.labels, partition.k, found)


def _upper_tail(values: FloatArray) -> float:
    """What such values hardly exceed: three deviations above the mean of −log(1 − s)."""
    depth = -np.log(np.maximum(1 - values, 1e-3))
    depth = np.minimum(depth, np.median(depth) + _OUTLIER)
    return float(1 - np.exp(-depth.mean() - _TAIL * depth.std(ddof=1)))


def _by_runs(
    X: Points,
    runs: Any,
    reference: Any,
    null: bool,
    lifting: Lifting,
    rng: np.random.Generator,
    progress: bool | None,
) -> Stability:
    named = as_partitions(runs)
    Stack(named)  # checks that they are of the same points
    points = lifting.kernel.points(X) if lifting.needs_points else X
    lift = lift_for_any_points(lifting, points, rng, default_components=COMPONENTS)
    n = next(iter(named.values())).n
    partition, others, name = _choose_reference(lift, points, named, reference)
    partition = check_reference(partition, n)
    if not others:
        raise ValueError("one run alone has no stability; give at least two, or a reference")
    found = [Replicate.of_all_points(p.labels, p.k) for p in others.values()]
    with progress_bar("stability", len(found), show=progress) as advance:
        outcome = assess(
            lift, points, partition.labels, partition.k, found, partition.weights, advance
        )
    whole, level = np.empty(0), np.zeros(partition.k)
    if null and has_coordinates(lifting):
        whole, level = null_of_runs(lift, points, partition, [r.k for r in found], rng)
    words = "1 given run" if len(found) == 1 else f"{len(found)} given runs"
    return Stability(partition, outcome, whole, level, words + _runs_words(len(whole)), name)


def _by_samples(
    X: Points,
    samples: Sequence[tuple[Points, Any]],
    reference: Any,
    null: bool,
    lifting: Lifting,
    rng: np.random.Generator,
) -> Stability:
    pairs = [(lifting.kernel.points(Y), as_partition(labels)) for Y, labels in samples]
    if (X is None) != (reference is None):
        raise ValueError(
            "pairs (X, labels) of other samples are compared with a reference: give both X and "
            "reference=labels, or neither to take the first pair"
        )
    if X is None:
        (points, partition), pairs = pairs[0], pairs[1:]
    else:
        points, partition = lifting.kernel.points(X), as_partition(reference)
    partition = check_reference(partition, n_points(points))
    if not pairs:
        raise ValueError("one sample alone has no stability; give at least two")
    lift = lift_for_any_points(lifting, points, rng, default_components=COMPONENTS)
    outcome, whole, level = assess_samples(
        lift, points, partition, pairs, rng, with_null=null and has_coordinates(lifting)
    )
    words = "1 other sample" if len(pairs) == 1 else f"{len(pairs)} other samples"
    return Stability(partition, outcome, whole, level, words + _runs_words(len(whole)))


def _choose_reference(
    lift: Lift, X: Points, named: dict[Hashable, Partition], reference: Any
) -> tuple[Partition, dict[Hashable, Partition], Hashable]:
    """The reference, the runs that it is compared with (all others), and its name among them."""
    if reference is None:
        reference = medoid(lift, X, named)
    elif not (isinstance(reference, Hashable) and reference in named):
        if isinstance(reference, str):
            raise ValueError(f"there is no run {reference!r}; the runs are {list(named)}")
        return as_partition(reference), named, None
    others = {name: p for name, p in named.items() if name != reference}
    return named[reference], others, reference


def check_reference(partition: Partition, n: int) -> Partition:
    if partition.n != n:
        raise ValueError(f"the reference has {partition.n} labels for {n} points")
    if partition.k < 2:
        raise ValueError(
            "the reference has one cluster, which every replicate has as well; stability needs at "
            "least two"
        )
    return partition.harden()


def _check_resample(resample: str, source: Any, points: Points) -> None:
    if resample == "seeds" and hasattr(source, "get_params") and not seeds_of(source):
        raise ValueError(
            f"{type(source).__name__} has no random_state, so other seeds change nothing; use "
            'resample="halves"'
        )
    if resample == "noise" and dimension(points) is None:
        raise ValueError('resample="noise" needs points with coordinates; use "halves"')


def has_coordinates(lifting: Lifting) -> bool:
    """Whether the points have coordinates, which random regions need."""
    return lifting.is_fitted or isinstance(lifting.kernel, ShiftInvariant)


def _runs_words(count: int) -> str:
    return f", against {count} partitions into random regions" if count else ", without a null"
