"""How firmly single points belong to clusters, from where they lie alone."""

from __future__ import annotations

from typing import Any

from .._util.checks import check_count, checked_keywords
from .._util.typing import BandwidthLike, Points, RngLike
from .._util.validation import make_rng
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import as_partition
from .cells import Affinities, affinities_of_features
from .features import point_features


@checked_keywords
def affinities(
    X: Points,
    partition: Any,
    *,
    n_samples: int = 5000,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
) -> Affinities:
    r"""How firmly each point belongs to each cluster, from where it lies alone.

    .. math:: α_i(x) = \frac{\mathrm{vol}\bigl(V_{R + x}(x) \cap V_R(r_i)\bigr)}
                            {\mathrm{vol}\bigl(V_{R + x}(x)\bigr)}

    The representatives R are the means of the lifted clusters, and V are Voronoi cells: if the
    point were a representative itself, α is the share of its cell that it takes from the cell of
    each cluster. Affinities sum to one. They are 1 for a point beyond all others on the side of its
    cluster, and change continuously; within the convex hull of the representatives they are their
    natural neighbour coordinates, Σ α_i r_i = x. Between two clusters on a line the affinity is the
    relative distance from the other mean, and ½ half way. A point below ½ for its own cluster is
    doubtful.

    Volumes are taken in the affine span of the means, at most k − 1 dimensions, onto which points
    are projected, and within a ball, since cells may be unbounded: around the mean of the
    representatives, with twice the radius that contains them. Points outside are moved onto the
    ball. They are estimated from samples of the ball that all points share; ten times as many and
    more are drawn for points with few samples in their cells.

    Parameters
    ----------
    X : (n, d) array-like
        The points, in memory.
    partition : labels, memberships or Partition
        Their clustering; noise has affinities, but no part in the means.
    n_samples : int, default 5000
        Samples of the ball. With H of them in the cell of a point, the standard error is at most
        1/(2√H).
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
        transformer. "auto" is ``Nystroem(500)``, which is exact up to 500 points. For the points as
        they are, without a kernel, give ``sklearn.preprocessing.FunctionTransformer()``.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.

    Returns
    -------
    Affinities
        Affinities of the points to the clusters, with standard errors.

    See Also
    --------
    stability : Whether clusters and points are found again in other samples.
    consensus : Its ``confidence`` says how far several clusterings agree on a point.

    References
    ----------
    Raman, Venkatasubramanian, Power to the Points: Validating Data Memberships in Clusterings (ICDM
    2013), arXiv:1305.4757. The ball is ours.

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> import liftcluster as lc
    >>> X = [[0.0], [0.0], [2.0], [8.0], [10.0], [10.0]]
    >>> found = lc.affinities(X, list("aaabbb"), lift=FunctionTransformer(), rng=0)
    >>> found.values[2].round(1).tolist()  # means 2/3 and 28/3: (28/3 − 2) / (26/3) = 0.85
    [0.8, 0.2]
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    count = check_count(n_samples, "n_samples")
    rng = make_rng(rng)
    clustering = as_partition(partition)
    return affinities_of_features(point_features(lifting, X, rng), clustering, count, rng)
