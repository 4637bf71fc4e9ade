"""Partitions drawn at random, in proportion to the exponential of their quality."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._util.checks import check_count, check_positive, checked_keywords
from .._util.progress import progress_bar
from .._util.typing import BandwidthLike, FloatArray, IntArray, Points, RngLike
from .._util.validation import make_rng
from ..kernels.kernel import KernelLike
from ..lifts.choice import Lifting, LiftLike
from ..partitions.partition import Partition
from .features import cluster_sums, point_features
from .methods.kmeans import kmeans

_SAMPLE = 2000  # points from which the unit of beta is estimated


@checked_keywords
def sample_partitions(
    X: Points,
    n_clusters: int,
    n_partitions: int,
    *,
    beta: float = 6.0,
    burn_in: int = 20,
    thin: int = 5,
    kernel: KernelLike = "gaussian",
    bandwidth: BandwidthLike = "median",
    lift: LiftLike = "auto",
    rng: RngLike = 0,
    progress: bool | None = None,
) -> list[Partition]:
    r"""Partitions of the points drawn at random: the better a partition, the more likely it is.

    .. math:: p(P) \propto \exp\bigl(β\, q(P) / g\bigr), \qquad
              q(P) = \sum_{C \in P} \frac{‖Φ(C)‖^2}{|C|}, \quad Φ(C) = \sum_{x \in C} φ(x)

    over all partitions into at most ``n_clusters`` clusters. The quality q is the compactness of
    the lifted clusters, n − Σ ‖φ(x) − mean‖² for a kernel with κ(x, x) = 1; for exact lifts,
    ``n * lc.mmd_objective(lc.represent(X, partitions))`` is q minus a constant. Its unit g is the
    median over the points of how much quality a point loses in its second best cluster, at the
    optimum of kernel k-means. So β does not depend on the scale of the points, the kernel or n: a
    typical point is exp(β) times as often in its best cluster as in the next.

    One Markov chain begins at a local optimum of kernel k-means. A sweep visits the points in
    random order, and moves each to one of the clusters of the others, or to a new one, with
    probabilities in proportion to p (Gibbs sampling). Draws are dependent; with a larger ``thin``
    they are less so. For large β the chain rarely leaves the optimum at which it began; call the
    function with several seeds then.

    Parameters
    ----------
    X : (n, d) array-like
        The points, in memory.
    n_clusters : int
        Largest number of clusters.
    n_partitions : int
        How many partitions are drawn.
    beta : float, default 6.0
        Positive. On six data sets with 3 to 10 clusters (``python -m benchmarks alternatives``),
        the worst of 20 draws with β = 6 had 92 to 97 % of the quality of k-means (0 is that of one
        cluster), and draws had adjusted Rand indices of 0.7 to 0.9 with each other; with β = 4 83
        to 93 %, and 0.5 to 0.7; with β = 12 at least 95 %, and 0.8 to 0.95. Below about 2 they are
        almost random.
    burn_in : int, default 20
        Sweeps before the first draw.
    thin : int, default 5
        Sweeps between draws.
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
        transformer. "auto" is ``Nystroem(500)``, which is exact up to 500 points. Features of all
        points are held in memory, 8nρ bytes, 4 kB a point. A sweep takes O(nkρ) operations.
    rng : int, Generator or None, default 0
        Seed of random numbers: the same answer from call to call. None draws others each time.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal, after two seconds.

    Returns
    -------
    list of Partition
        The draws, in order.

    See Also
    --------
    diverse_subset : A few of them that stand for all.
    distance_matrix, consensus
    base_partitions : An ensemble by k-means and linkages.

    References
    ----------
    Phillips, Raman, Venkatasubramanian, Generating a Diverse Set of High-Quality Clusterings
    (MultiClust 2011), arXiv:1108.0017; there p is in proportion to the quality itself.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [20.0], [21.0]]
    >>> draws = lc.sample_partitions(X, 2, 50, beta=9.0, rng=0)
    >>> joined = [p.labels[0] == p.labels[1] != p.labels[2] == p.labels[3] for p in draws]
    >>> sum(map(int, joined)) > 40
    True
    """
    lifting = Lifting.of(kernel, bandwidth, lift)
    k, count = check_count(n_clusters, "n_clusters"), check_count(n_partitions, "n_partitions")
    beta = check_positive(beta, "beta")
    burn_in, thin = check_count(burn_in, "burn_in", least=0), check_count(thin, "thin")
    rng = make_rng(rng)
    Z = point_features(lifting, X, rng)
    if k > len(Z):
        raise ValueError(f"n_clusters={k} is more than the {len(Z)} points")
    codes, unit = start(Z, k, rng)
    total = burn_in + thin * (count - 1) + 1
    drawn = []
    with progress_bar("sampling partitions", total, show=progress) as advance:
        for number, state in enumerate(sweeps(Z, codes, k, beta / unit, rng)):
            if number >= burn_in and (number - burn_in) % thin == 0:
                drawn.append(Partition.from_labels(state))
            advance(1)
            if len(drawn) == count:
                break
    return drawn


def start(Z: FloatArray, k: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """A partition by kernel k-means, and the typical loss of a point in its second best cluster.

    Both from a sample of the points where they are many.
    """
    rows = np.arange(len(Z))
    if len(Z) > _SAMPLE:
        rows = np.sort(rng.choice(len(Z), _SAMPLE, replace=False))
    found = kmeans(Z[rows], k, 1, rng)
    means = cluster_sums(Z[rows], found, found.max() + 1) / np.bincount(found)[:, None]
    squares = np.einsum("ij,ij->i", means, means)
    losses = squares - 2 * Z @ means.T  # ‖φ(x) − mean‖², but for ‖φ(x)‖²
    codes = losses.argmin(axis=1)
    if len(means) < 2:
        return codes, 1.0
    two = np.partition(losses[rows], 1, axis=1)
    gaps = two[:, 1] - two[:, 0]
    unit = float(np.median(gaps)) or float(gaps.mean())  # most points may be half way between two
    return codes, unit or 1.0


def sweeps(
    Z: FloatArray, codes: IntArray, k: int, beta: float, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Codes of the partition after each sweep over all points, without end."""
    codes = codes.astype(np.int64)
    squares = np.einsum("ij,ij->i", Z, Z)
    while True:
        _sweep(Z, squares, codes, k, beta, rng)
        yield codes.copy()


def _sweep(
    Z: FloatArray,
    squares: FloatArray,
    codes: IntArray,
    k: int,
    beta: float,
    rng: np.random.Generator,
) -> None:
    """Draw the cluster of each point given those of the others, one after another."""
    S = cluster_sums(Z, codes, k)  # anew each time, so that rounding errors do not add up
    lengths = np.einsum("ij,ij->i", S, S)
    sizes = np.bincount(codes, minlength=k).astype(np.float64)
    noise = rng.gumbel(size=(len(Z), k))  # argmax(log p + noise) is a draw from p
    for i in rng.permutation(len(Z)):
        z, square, a = Z[i], squares[i], codes[i]
        sizes[a] -= 1
        if sizes[a]:
            lengths[a] += square - 2 * (S[a] @ z)
            S[a] -= z
        else:
            lengths[a], S[a] = 0.0, 0.0
        products = S @ z
        # What quality gains by the point in each cluster; with a new one at the first empty place.
        gains = (lengths + 2 * products + square) / (sizes + 1) - lengths / np.maximum(sizes, 1)
        scores = beta * gains + noise[i]
        if not sizes.all():  # a new cluster is one choice, however many places are empty
            scores[np.flatnonzero(sizes == 0)[1:]] = -np.inf
        b = codes[i] = scores.argmax()
        lengths[b] += square + 2 * products[b]
        S[b] += z
        sizes[b] += 1
