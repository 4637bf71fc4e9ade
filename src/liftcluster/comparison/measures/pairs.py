"""Distances between partitions from counts of point pairs and from matched clusters.

Points that are noise in either partition are left out. For soft memberships the contingency table
and the pair counts are expected values when every point draws its clusters independently, so the
distance of a soft partition to itself is not 0. Pair counts need integer weights.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from ..._util.typing import Sparse
from ...partitions.contingency import Contingency

# Counts are Python integers, so sums and products of them are exact and only the last division
# rounds. Each distance is computed from its disagreements, not as one minus a similarity: nearly
# equal partitions keep all their digits and equal ones get exactly zero.


def rand(overlap: Contingency) -> float:
    r"""Rand distance: the share of point pairs on which two partitions disagree.

    .. math:: \frac{N_{10} + N_{01}}{\binom n2}

    with N₁₀ (N₀₁) the number of pairs that are together only in the first (second) partition. One
    minus the Rand index. In [0, 1], and a metric on hard partitions; 0 for a single point.

    References
    ----------
    Rand (1971), Objective criteria for the evaluation of clustering methods. JASA 66.
    doi:10.1080/01621459.1971.10482356

    Examples
    --------
    Of the six pairs of four points, {0, 1} and {2, 3} against {0, 1, 2} and {3} disagree on
    (0, 2), (1, 2) and (2, 3).

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1], [0, 0, 0, 1], measure="rand")
    0.5
    """
    pairs = overlap.pairs
    return pairs.disagreements / pairs.all if pairs.all else 0.0


def jaccard(overlap: Contingency) -> float:
    r"""Jaccard distance between the sets of pairs that two partitions put together.

    .. math:: \frac{N_{10} + N_{01}}{N_{11} + N_{10} + N_{01}}

    with N₁₁ the number of pairs that are together in both partitions, N₁₀ (N₀₁) only in the first
    (second). In [0, 1], and a metric on hard partitions; 0 where no pair is together in either.

    References
    ----------
    Jaccard (1912), The distribution of the flora in the alpine zone. New Phytologist 11.
    doi:10.1111/j.1469-8137.1912.tb05611.x

    Examples
    --------
    One pair, (0, 1), of the four that are together in either partition is together in both.

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1], [0, 0, 0, 1], measure="jaccard")
    0.75
    """
    pairs = overlap.pairs
    in_either = pairs.both + pairs.disagreements
    return pairs.disagreements / in_either if in_either else 0.0


def mirkin(overlap: Contingency) -> float:
    r"""Mirkin distance: the number of ordered pairs on which two partitions disagree.

    .. math:: \sum_i n_i^2 + \sum_j n_j^2 - 2 \sum_{ij} n_{ij}^2 = 2 (N_{10} + N_{01})

    The Rand distance times n (n − 1), where n does not count noise. In [0, n (n − 1)], and a
    metric on hard partitions.

    References
    ----------
    Mirkin (1996), Mathematical Classification and Clustering. Kluwer.
    doi:10.1007/978-1-4613-0457-9

    Examples
    --------
    Three pairs, each in two orders; (4 + 4) + (9 + 1) − 2 (4 + 1 + 1).

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1], [0, 0, 0, 1], measure="mirkin")
    6.0
    """
    return float(2 * overlap.pairs.disagreements)


def fowlkes_mallows(overlap: Contingency) -> float:
    r"""Fowlkes–Mallows distance: one minus the cosine between two sets of pairs.

    .. math:: 1 - \frac{N_{11}}{\sqrt{(N_{11} + N_{10}) (N_{11} + N_{01})}}

    In [0, 1]. Not a metric: the triangle inequality fails from three points on. Where neither
    partition joins any pair they are equal and the distance is 0, while scikit-learn's index is 0.

    References
    ----------
    Fowlkes, Mallows (1983), A method for comparing two hierarchical clusterings. JASA 78.
    doi:10.1080/01621459.1983.10478008

    Examples
    --------
    The first partition joins four pairs, the second only one of them: 1 − 1/√4.

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 2, 3, 4, 5, 6], measure="fowlkes_mallows")
    0.5
    """
    pairs = overlap.pairs
    if not pairs.both:
        return 1.0 if pairs.in_a or pairs.in_b else 0.0
    product = pairs.in_a * pairs.in_b
    missing = (product - pairs.both**2) / product  # one minus the squared cosine
    return max(missing, 0.0) / (1 + sqrt(pairs.both**2 / product))


def adjusted_rand(overlap: Contingency) -> float:
    r"""Adjusted Rand distance: disagreements over their expected number, 1 − ARI.

    .. math:: 1 - \mathrm{ARI} = \frac{N_{10} + N_{01}}{A + B - 2 A B / \binom n2}, \quad
              A = N_{11} + N_{10}, \ B = N_{11} + N_{01}

    where the expectation is over random permutations of the points, cluster sizes fixed.

    In [0, 1.5]: 0 for equal hard partitions, 1 on average for random ones, more for those that
    agree less than random ones. Not a metric: the triangle inequality fails from four points on.

    References
    ----------
    Hubert, Arabie (1985), Comparing partitions. Journal of Classification 2.
    doi:10.1007/BF01908075
    Chacón, Rastrojo (2023), Minimum adjusted Rand index for two clusterings of a given size.
    Advances in Data Analysis and Classification 17. doi:10.1007/s11634-022-00491-w (The bound of
    1.5. It holds for soft partitions too: a ratio of linear functions of a point's memberships.)

    Examples
    --------
    Four disagreements; with A = B = 2 of 6 pairs, 2 + 2 − 8/6 = 8/3 are expected.

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1], [0, 1, 0, 1], measure="adjusted_rand")
    1.5
    """
    pairs = overlap.pairs
    _, in_a, in_b, all_pairs = pairs
    if not pairs.disagreements:
        return 0.0
    expected = in_a * (all_pairs - in_b) + in_b * (all_pairs - in_a)  # times all_pairs
    return all_pairs * pairs.disagreements / expected


def accuracy(overlap: Contingency) -> float:
    r"""Error of the best one-to-one matching of clusters: the share of points left unmatched.

    .. math:: 1 - \frac1n \max_π \sum_i n_{i π(i)}

    over all matchings π of the clusters of one partition to those of the other; where their
    numbers differ, some stay unmatched. It is the share of the points that must change cluster
    to turn one partition into the other. In [0, 1), and a metric on hard partitions. Any weights.

    References
    ----------
    Ding, Li (2007), Adaptive dimension reduction using discriminant analysis and K-means
    clustering. ICML. doi:10.1145/1273496.1273562

    Examples
    --------
    Point 2 must move.

    >>> import liftcluster as lc
    >>> lc.distance([0, 0, 1, 1], [0, 0, 0, 1], measure="accuracy")
    0.25
    """
    table = overlap.table
    if sp.issparse(table):
        matched = _max_weight_sparse_matching(table)
    else:
        from scipy.optimize import linear_sum_assignment  # slow to import

        matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return max(float((overlap.total - matched) / overlap.total), 0.0)


def _max_weight_sparse_matching(table: Sparse) -> float:
    """Weight of the best matching, without a dense table.

    Most connected components of a large table are stars, one row or one column, whose best matching
    is their largest cell. SciPy, quadratic in the number of clusters, matches the others.
    """
    k = table.shape[0]
    cells = table.tocoo()
    n_components, component = connected_components(sp.block_array([[None, table], [table.T, None]]))
    of_row, of_column = component[:k], component[k:]
    is_star = (np.bincount(of_row, minlength=n_components) == 1) | (
        np.bincount(of_column, minlength=n_components) == 1
    )
    largest = np.zeros(n_components, dtype=table.dtype)
    np.maximum.at(largest, of_row[cells.row], cells.data)
    rest = table[~is_star[of_row]][:, ~is_star[of_column]]
    return largest[is_star].sum() + (_match(rest) if rest.nnz else 0)


def _match(table: Sparse) -> float:
    """Weight of the best matching by SciPy, which drops zero costs and must match every row."""
    # All costs are shifted, and every row gets a column of its own that stands for no partner.
    k, columns = table.shape
    unmatched = float(table.data.max()) + 1
    costs = table.astype(np.float64)
    costs.data = unmatched - costs.data
    extra = sp.diags_array(np.full(k, unmatched))
    i, j = min_weight_full_bipartite_matching(sp.hstack([costs, extra], format="csr"))
    return np.asarray(table[i[j < columns], j[j < columns]]).sum()
