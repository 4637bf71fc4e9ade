"""Distances between partitions from pairs of points and from matched clusters."""

from __future__ import annotations

from math import sqrt

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from ..._util.typing import Sparse
from ...partitions.contingency import Contingency

__all__ = ["accuracy", "adjusted_rand", "fowlkes_mallows", "jaccard", "mirkin", "rand"]

# Counts are Python integers, so sums and products of them are exact and the only rounding is that
# of the last division. Each distance is written over its disagreements, not as one minus a
# similarity: nearly equal partitions keep all their digits and equal ones get exactly zero.


def rand(overlap: Contingency) -> float:
    r"""Rand distance: the share of pairs of points on which two partitions disagree.

    .. math:: \frac{N_{10} + N_{01}}{\binom n2}

    with N₁₀ (N₀₁) the pairs that are together only in the first (second) partition. One minus
    the Rand index.

    In [0, 1], and a metric on hard partitions. A single point has no pairs, and nothing to
    disagree on: 0. Noise: points that are noise in either partition are left out. Soft
    memberships: expected numbers of pairs when each point draws its cluster by itself, so a
    soft partition is not at distance 0 from itself. Weights must be whole numbers.

    References
    ----------
    Rand (1971), Objective criteria for the evaluation of clustering methods. JASA 66.

    Examples
    --------
    Of the six pairs of four points, {0, 1} and {2, 3} against {0, 1, 2} and {3} disagree on
    (0, 2), (1, 2) and (2, 3).

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 0, 1])
    >>> rand(contingency(a, b))
    0.5
    """
    pairs = overlap.pairs
    return pairs.disagreements / pairs.all if pairs.all else 0.0


def jaccard(overlap: Contingency) -> float:
    r"""Jaccard distance between the sets of pairs that two partitions put together.

    .. math:: \frac{N_{10} + N_{01}}{N_{11} + N_{10} + N_{01}}

    with N₁₁ the pairs that are together in both partitions, N₁₀ (N₀₁) those together only in
    the first (second).

    In [0, 1], and a metric on hard partitions. Two partitions into single points have the same,
    empty, set of pairs: 0. Noise: points that are noise in either partition are left out. Soft
    memberships: expected numbers of pairs when each point draws its cluster by itself, so a
    soft partition is not at distance 0 from itself. Weights must be whole numbers.

    References
    ----------
    Jaccard (1912), The distribution of the flora in the alpine zone. New Phytologist 11.

    Examples
    --------
    One pair, (0, 1), of the four that are together in either partition.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 0, 1])
    >>> jaccard(contingency(a, b))
    0.75
    """
    pairs = overlap.pairs
    in_either = pairs.both + pairs.disagreements
    return pairs.disagreements / in_either if in_either else 0.0


def mirkin(overlap: Contingency) -> float:
    r"""Mirkin distance: ordered pairs of points on which two partitions disagree.

    .. math:: \sum_i n_i^2 + \sum_j n_j^2 - 2 \sum_{ij} n_{ij}^2 = 2 (N_{10} + N_{01})

    The Rand distance times n (n − 1).

    In [0, n (n − 1)], and a metric on hard partitions. Noise: points that are noise in either
    partition are left out, and do not count in n. Soft memberships: expected numbers of pairs
    when each point draws its cluster by itself, so a soft partition is not at distance 0 from
    itself. Weights must be whole numbers.

    References
    ----------
    Mirkin (1996), Mathematical Classification and Clustering. Kluwer.

    Examples
    --------
    Three pairs, each in two orders; (4 + 4) + (9 + 1) − 2 (4 + 1 + 1).

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 0, 1])
    >>> mirkin(contingency(a, b))
    6.0
    """
    return float(2 * overlap.pairs.disagreements)


def fowlkes_mallows(overlap: Contingency) -> float:
    r"""Fowlkes–Mallows distance: one minus the cosine between two sets of pairs.

    .. math:: 1 - \frac{N_{11}}{\sqrt{(N_{11} + N_{10}) (N_{11} + N_{01})}}

    In [0, 1]. Not a metric: the triangle inequality fails from three points on. Where neither
    partition joins any pair it is 0, since they are equal; scikit-learn's index is 0 there, which
    would put them at distance 1. Noise: points that are noise in either partition are left out.
    Soft memberships: expected numbers of pairs when each point draws its cluster by itself, so a
    soft partition is not at distance 0 from itself. Weights must be whole numbers.

    References
    ----------
    Fowlkes, Mallows (1983), A method for comparing two hierarchical clusterings. JASA 78.

    Examples
    --------
    One pair of the four that {0, 1} {2, 3} {4, 5} {6, 7} has and of the one that the other has.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a = Partition.from_labels([0, 0, 1, 1, 2, 2, 3, 3])
    >>> b = Partition.from_labels([0, 0, 1, 2, 3, 4, 5, 6])
    >>> fowlkes_mallows(contingency(a, b))
    0.5
    """
    pairs = overlap.pairs
    if not pairs.both:
        return 1.0 if pairs.in_a or pairs.in_b else 0.0
    product = pairs.in_a * pairs.in_b
    missing = (product - pairs.both**2) / product  # one minus the squared cosine
    return max(missing, 0.0) / (1 + sqrt(pairs.both**2 / product))


def adjusted_rand(overlap: Contingency) -> float:
    r"""Adjusted Rand distance: disagreements over those that chance leads to expect.

    .. math:: 1 - \mathrm{ARI} = \frac{N_{10} + N_{01}}{A + B - 2 A B / \binom n2}, \quad
              A = N_{11} + N_{10}, \ B = N_{11} + N_{01}

    where chance deals the points out at random and keeps the cluster sizes.

    In [0, 1.5]: 0 for equal hard partitions, 1 on average for random ones, more for those that
    agree less than random ones. Not a metric: the triangle inequality fails from four
    points on. Nothing is to be expected where both partitions are one cluster, or both single
    points; these are equal: 0. Noise: points that are noise in either partition are left out. Soft
    memberships: expected numbers of pairs when each point draws its cluster by itself, so a soft
    partition is not at distance 0 from itself. Weights must be whole numbers.

    References
    ----------
    Hubert, Arabie (1985), Comparing partitions. Journal of Classification 2.
    Chacón, Rastrojo (2023), Minimum adjusted Rand index for two clusterings of a given size.
    Advances in Data Analysis and Classification 17. (The bound of 1.5, for hard partitions; soft
    ones go no farther, since it is a ratio of two linear functions of each point's memberships.)

    Examples
    --------
    Four disagreements; with A = B = 2 of 6 pairs, chance would make 2 + 2 − 8/6 = 8/3.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 0, 1])
    >>> adjusted_rand(contingency(a, b))
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
    to turn one partition into the other.

    In [0, 1), and a metric on hard partitions. Noise: points that are noise in either partition
    are left out. Soft memberships: the table holds expected weights when each point draws its
    cluster by itself, so a soft partition is not at distance 0 from itself. Any weights.

    References
    ----------
    Ding, Li (2007), Adaptive dimension reduction using discriminant analysis and K-means
    clustering. ICML.

    Examples
    --------
    Point 2 must move.

    >>> from liftcluster.partitions.contingency import contingency
    >>> from liftcluster.partitions.partition import Partition
    >>> a, b = Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 0, 0, 1])
    >>> accuracy(contingency(a, b))
    0.25
    """
    table = overlap.table
    if sp.issparse(table):
        matched = _heaviest_sparse_matching(table)
    else:
        from scipy.optimize import linear_sum_assignment  # slow to import

        matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return max(float((overlap.total - matched) / overlap.total), 0.0)


def _heaviest_sparse_matching(table: Sparse) -> float:
    """The weight of the best matching, without a dense table.

    Most of a large table falls apart into clusters that have to do only with each other. Where
    one side of such a group is a single cluster its heaviest cell is the answer; what is left
    goes to SciPy, whose time grows with the square of the number of clusters.
    """
    k = table.shape[0]
    cells = table.tocoo()
    groups, group_of = connected_components(sp.block_array([[None, table], [table.T, None]]))
    row_groups, column_groups = group_of[:k], group_of[k:]
    is_star = (np.bincount(row_groups, minlength=groups) == 1) | (
        np.bincount(column_groups, minlength=groups) == 1
    )
    heaviest = np.zeros(groups, dtype=table.dtype)
    np.maximum.at(heaviest, row_groups[cells.row], cells.data)
    tangled = table[~is_star[row_groups]][:, ~is_star[column_groups]]
    return heaviest[is_star].sum() + (_match(tangled) if tangled.nnz else 0)


def _match(table: Sparse) -> float:
    """The same by SciPy, which takes a cost of zero for no edge and wants every row matched.

    So all costs are raised by the same amount, and each row gets a column of its own that stands
    for no partner.
    """
    k, columns = table.shape
    alone = float(table.data.max()) + 1
    costs = table.astype(np.float64)
    costs.data = alone - costs.data
    own = sp.diags_array(np.full(k, alone))
    i, j = min_weight_full_bipartite_matching(sp.hstack([costs, own], format="csr"))
    return np.asarray(table[i[j < columns], j[j < columns]]).sum()
