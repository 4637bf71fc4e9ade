"""Are two clusterings nearer than chance? A permutation test for any measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._util.arrays import from_device, row_blocks
from .._util.progress import Advance, progress_bar
from .._util.typing import FloatArray, IntArray, Points, RngLike
from .._util.validation import as_points, check_choice, check_count, make_rng
from ..kernels.kernel import Discrete, Precomputed, as_kernel
from ..lifts.base import FeatureLift
from ..lifts.choice import make_lift
from ..partitions.partition import Partition
from ..representation.lifting import pool_points
from ..representation.representation import Representation
from .inputs import Sides, make_sides, refuse
from .measures.registry import MEASURES, Measure

__all__ = ["Significance", "significance"]

_CHUNK_BYTES = 100 * 2**20  # cluster vectors of permuted labels held at a time
_NULL_COMPONENTS = 512  # features for the test: chance is not a matter of the third digit


@dataclass(frozen=True, eq=False)
class Significance:
    """Where a distance stands among those to relabelled points.

    Attributes
    ----------
    measure : str
    value : float
        The distance between the two partitions.
    null : (n_permutations,) array
        Distances after permuting the labels of the second, sizes kept.
    rounding : float
        By how much distances that are equal may differ.
    """

    measure: str
    value: float
    null: FloatArray
    rounding: float = 1e-12

    @property
    def p_value(self) -> float:
        """Chance of a distance this small or smaller: (1 + #{null ≤ value}) / (1 + #null).

        Values that differ by rounding alone count as equal.
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

    def __str__(self) -> str:
        return (
            f"{self.measure} = {self.value:.4f}, by chance {self.null.mean():.4f} ± "
            f"{self.null.std(ddof=1) if len(self.null) > 1 else 0:.4f}: "
            f"p = {self.p_value:.3g}, z = {self.z:.1f}, adjusted = {self.adjusted:.3f}"
        )


def significance(
    a: Any,
    b: Any,
    X: Points = None,
    *,
    Y: Points = None,
    measure: str = "lift_emd",
    n_permutations: int = 999,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    lift: Any = "auto",
    n_components: int | None = None,
    sampling: str = "auto",
    weights: Any = None,
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Significance:
    """Permutation test: is b nearer to a than if its labels were dealt out at random?

    The labels (or rows of memberships, and noise) of b are permuted among its points, which keeps
    the sizes of its clusters. Lifted measures use one map of random features for the distance and
    all permutations, which are added up together in one pass over the features; so
    ``value`` is that of these features, not the exact one. The discrete and precomputed kernels are
    exact throughout.

    Parameters
    ----------
    a, b, X, Y, measure, kernel, bandwidth, sampling, weights, **options
        As for :func:`liftcluster.distance`. Points must weigh the same for labels to be dealt
        out fairly; with other weights each point keeps its own.
    n_permutations : int
    lift : "auto", "fourier", "nystrom", a feature lift or a scikit-learn transformer
    n_components : int, optional
        ρ; 512 where it is not given.
    rng : int, Generator or None
        The same seed gives the same answer, whatever ``n_jobs``.
    n_jobs : int, optional
        Threads for measures that are not lifted.
    progress : bool, optional

    Returns
    -------
    Significance

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> halves, nearly = np.arange(20) // 10, (np.arange(20) + 1) // 10 % 2
    >>> found = significance(halves, nearly, X, n_permutations=99, rng=0)
    >>> found.p_value
    0.01
    """
    chosen = MEASURES[check_choice(measure, MEASURES, "measure")]
    count = check_count(n_permutations, "n_permutations")
    rng = make_rng(rng)
    lifting = {
        "kernel": kernel,
        "bandwidth": bandwidth,
        "lift": lift,
        "n_components": n_components,
        "sampling": sampling,
    }
    sides = make_sides(a, b, X, Y, weights, **lifting)
    refuse(sides, chosen)
    if not sides.b.weights.all():
        raise ValueError(
            "points of weight zero cannot take part in a permutation test: a cluster may be dealt "
            "nothing else; leave them out"
        )
    # One child generator for each permutation: who computes it cannot matter.
    children = rng.spawn(count)
    with progress_bar(f"{measure}, permuted", count, show=progress) as advance:
        if chosen.needs == "vectors" and not _exact_each_time(kernel, lift):
            value, null = _lifted_null(sides, chosen, children, rng, options, advance)
        else:
            value = float(chosen.function(*sides.arguments(chosen), **options))
            null = _plain_null(sides, chosen, children, options, n_jobs, advance)
    # Lifted distances are roots of differences of sums that may be in single precision.
    return Significance(measure, value, null, 1e-5 if chosen.needs == "vectors" else 1e-12)


def _exact_each_time(kernel: Any, lift: Any) -> bool:
    """Kernels that have no features worth the name, and exact sums at little cost."""
    return lift == "auto" and isinstance(as_kernel(kernel), Discrete | Precomputed)


def _plain_null(
    sides: Sides,
    measure: Measure,
    children: list[np.random.Generator],
    options: dict[str, Any],
    n_jobs: int | None,
    advance: Advance,
) -> FloatArray:
    from joblib import Parallel, delayed  # slow to import, and lifted measures do without

    def one(child: np.random.Generator) -> float:
        permuted = sides.with_second(_permuted(sides.b, child.permutation(sides.b.n)))
        return float(measure.function(*permuted.arguments(measure), **options))

    values = []
    pool = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    for value in pool(delayed(one)(child) for child in children):
        values.append(value)
        advance(1)
    return np.array(values)


def _lifted_null(
    sides: Sides,
    measure: Measure,
    children: list[np.random.Generator],
    rng: np.random.Generator,
    options: dict[str, Any],
    advance: Advance,
) -> tuple[float, FloatArray]:
    lift, X, Y = _feature_lift(sides, rng)
    P = _alone("a", sides.a, lift.sums(X, sides.a), lift)
    # Added up as the permuted ones are, so that what is equal comes out equal.
    V = _permuted_sums(lift, Y, sides.b, [np.arange(sides.b.n)])[0]
    value = float(measure.function(P, _alone("b", sides.b, V, lift), **options))
    per_chunk = max(1, _CHUNK_BYTES // (8 * sides.b.k * lift.n_components))
    null: list[float] = []
    for start in range(0, len(children), per_chunk):
        chunk = children[start : start + per_chunk]
        orders: list[IntArray] = [child.permutation(sides.b.n) for child in chunk]
        for order, V in zip(orders, _permuted_sums(lift, Y, sides.b, orders), strict=True):
            Q = _alone("b", _permuted(sides.b, order), V, lift)
            null.append(float(measure.function(P, Q, **options)))
            advance(1)
    return value, np.array(null)


def _feature_lift(sides: Sides, rng: np.random.Generator) -> tuple[FeatureLift, Points, Points]:
    options = dict(sides.lifting)
    X, Y = sides.X, sides.X if sides.Y is None else sides.Y
    if options["lift"] == "exact":
        raise ValueError(
            'an exact lift spans only given clusters, not permuted ones; use lift="fourier"'
        )
    if options["n_components"] is None and isinstance(options["lift"], str):
        options["n_components"] = _NULL_COMPONENTS
    pool = X if sides.Y is None else pool_points([as_points(X), as_points(Y, "Y")])
    lift = make_lift(pool, rng=rng, **options)
    if not isinstance(lift, FeatureLift) or lift.is_exact:
        raise ValueError(f"a permutation test needs a lift with features, not {lift.describe()}")
    return lift, from_device(lift.points(X)), from_device(lift.points(Y))


def _permuted_sums(
    lift: FeatureLift, Y: Points, partition: Partition, orders: list[IntArray]
) -> FloatArray:
    """(permutations, k, ρ) cluster vectors, all added up in one pass over the features.

    A dense product: with hundreds of permutations side by side it is far quicker than a sparse
    one, and the null needs no bits to spare.
    """
    memberships, k = partition.memberships, partition.k
    total = np.zeros((len(orders) * k, lift.n_components))
    width = max(lift.block_width, len(orders) * k)
    for rows in row_blocks(len(Y), width):
        Z = lift.features(Y[rows])
        Z = np.asarray(Z.toarray() if sp.issparse(Z) else Z)
        R = np.concatenate([memberships[order[rows], :].toarray() for order in orders], axis=1)
        R *= (partition.weights[rows] / partition.weights.max())[:, None]
        total += R.T.astype(Z.dtype, copy=False) @ Z
    total *= partition.weights.max()  # kept out of single precision
    return total.reshape(len(orders), k, lift.n_components)


def _permuted(partition: Partition, order: IntArray) -> Partition:
    return Partition(partition.assignment[order], partition.names, partition.weights)


def _alone(name: str, partition: Partition, sums: FloatArray, lift: FeatureLift) -> Representation:
    """One partition's vectors as a representation."""
    return Representation(
        sums=sums,
        cluster_weights=partition.cluster_weights,
        total_weights=np.array([partition.total_weight]),
        owner=np.zeros(partition.k, dtype=int),
        cluster_names=partition.names,
        partition_names=(name,),
        lift=lift,
    )
