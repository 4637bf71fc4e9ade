"""Points with the same labels in every partition, as one weighted tuple of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import scipy.sparse as sp

from ..._util.arrays import add_up, row_blocks
from ..._util.checks import check_count
from ..._util.memory import check_memory, check_pairs
from ..._util.typing import FloatArray, IntArray, RngLike, Sparse
from ..._util.validation import make_rng
from ..._util.warning import warn
from ...partitions.counting import code_type, count_pairs, encode_range, group_equal, translate
from ...partitions.partition import Partition

# Tuples in average linkage: the matrix of similarities takes half a gigabyte, linkage seconds.
LIMIT = 8000
_MOST_KEYS = 2**62  # of tuples as one integer
_DENSE = 20  # clusters of each partition up to which dense products are faster
# Tuples of weight zero get this share of the largest weight, so that no mean is 0/0.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class LabelTuples:
    """The t distinct rows of labels that n points have in m partitions.

    A method that uses only labels cannot distinguish points with the same tuple. Tuples are
    numbered in the order of the first point that has them.

    Attributes
    ----------
    codes : (t, m) int array
        Cluster of each tuple in each partition, -1 where it has none.
    inverse : (n,) int array
        Tuple of each point: ``codes[inverse]`` turns codes of tuples into codes of points.
    weights : (t,) array
        Total weight of the points of each tuple.
    sizes : (m,) int array
        Number of clusters of each partition, k_i; s is their sum.

    Examples
    --------
    >>> partitions = [Partition.from_labels(p) for p in ([0, 0, 1, 1], [0, 0, 0, -1])]
    >>> tuples = LabelTuples.from_partitions(partitions)
    >>> tuples.codes.tolist(), tuples.inverse.tolist(), tuples.weights.tolist()
    ([[0, 0], [1, 0], [1, -1]], [0, 0, 1, 2], [2.0, 1.0, 1.0])
    >>> tuples.indicator().toarray().astype(int).tolist()
    [[1, 0, 1], [0, 1, 1], [0, 1, 0]]
    """

    codes: IntArray
    inverse: IntArray
    weights: FloatArray
    sizes: IntArray

    def __post_init__(self) -> None:
        for array in (self.codes, self.inverse, self.weights, self.sizes):
            array.setflags(write=False)

    @classmethod
    def from_partitions(cls, partitions: Iterable[Partition]) -> LabelTuples:
        """The tuples of partitions of the same weighted points.

        A soft partition is hardened: each point is assigned to its cluster of largest membership,
        and clusters without points are dropped. Noise is a missing label.
        """
        partitions = list(partitions)
        _check_same_points(partitions)
        columns, sizes = zip(*map(_used_codes, partitions), strict=True)
        keys: IntArray = np.zeros(partitions[0].n, dtype=np.int64)
        n_keys = 1
        for column, size in zip(columns, sizes, strict=True):
            if n_keys > _MOST_KEYS // (size + 1):
                first, keys = by_first_appearance(keys)
                n_keys = len(first)
            keys *= size + 1
            keys += column
            n_keys *= size + 1
        first, inverse = by_first_appearance(keys)
        return cls(
            codes=np.column_stack([column[first].astype(np.int64) - 1 for column in columns]),
            inverse=inverse,
            weights=add_up(partitions[0].weights, inverse, len(first)),
            sizes=np.array(sizes),
        )

    def split(self, most: float, weights: FloatArray, rng: RngLike = None) -> LabelTuples:
        """The same points, with every tuple heavier than ``most`` split at random into copies.

        For methods that balance cluster sizes, which then may separate points with equal labels.
        ``weights`` are those of the n points; ``most=0`` gives every point a tuple of its own.

        >>> tuples = LabelTuples.from_partitions([Partition.from_labels([0, 0, 0, 0, 1])])
        >>> tuples.split(2, np.ones(5), rng=0).codes.ravel().tolist()
        [0, 0, 1]
        """
        counts = np.bincount(self.inverse, minlength=self.t)
        with np.errstate(over="ignore"):  # clipped to the number of points
            wanted = np.ceil(self.weights / most) if most > 0 else counts
        pieces = np.clip(wanted, 1, np.maximum(counts, 1)).astype(np.int64)
        # Shuffled first: points are often sorted by class.
        order = make_rng(rng).permutation(len(self.inverse))
        order = order[np.argsort(self.inverse[order], kind="stable")]
        owner = self.inverse[order]
        rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[owner]
        inverse = np.empty_like(self.inverse)
        inverse[order] = (np.cumsum(pieces) - pieces)[owner] + rank * pieces[owner] // counts[owner]
        return LabelTuples(
            codes=np.repeat(self.codes, pieces, axis=0),
            inverse=inverse,
            weights=add_up(weights, inverse, int(pieces.sum())),
            sizes=self.sizes,
        )

    @property
    def t(self) -> int:
        return len(self.codes)

    @property
    def m(self) -> int:
        return len(self.sizes)

    @property
    def s(self) -> int:
        return int(self.sizes.sum())

    def indicator(self) -> Sparse:
        """(t, s) sparse H: one where a tuple is in a cluster, numbered consecutively."""
        inside = self.codes >= 0
        columns = self.codes + np.cumsum(self.sizes) - self.sizes
        indptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        return sp.csr_array(
            (np.ones(int(indptr[-1])), columns[inside], indptr), shape=(self.t, self.s)
        )

    def overlaps(self, weights: FloatArray | None = None) -> FloatArray:
        """(s, s) weight of the intersection of every two clusters, Hᵀ W H.

        ``weights`` are others of the tuples. Partition by partition, in O(t m²) time: a sparse
        product takes ten times as long.
        """
        check_pairs(self.s, self.s)
        weights = self.weights if weights is None else weights
        columns = [
            np.ascontiguousarray(codes, code_type(k))
            for codes, k in zip(self.codes.T, self.sizes, strict=True)
        ]
        ends = np.cumsum(self.sizes)
        clusters = [slice(end - k, end) for end, k in zip(ends, self.sizes, strict=True)]
        shared = np.empty((self.s, self.s))
        for i, j in combinations_with_replacement(range(self.m), 2):
            shape = int(self.sizes[i]) + 1, int(self.sizes[j]) + 1
            table = count_pairs(columns[i], columns[j], shape, weights)[1:, 1:]
            shared[clusters[i], clusters[j]] = table
            shared[clusters[j], clusters[i]] = table.T
        return shared


@dataclass(frozen=True, eq=False)
class Profiles:
    r"""Groups of points, described by the share of their weight in each cluster.

    The mean co-association of two groups is a product of their profiles, so no pairs of points are
    needed:

    .. math:: S_{gh} = \frac{\sum_{x ∈ g, y ∈ h} w_x w_y \sum_i u(C_i(x)) [C_i(x) = C_i(y)]}
                            {\sum_{x ∈ g, y ∈ h} w_x w_y \,\#\{i : i \text{ labels both}\}}

    For single tuples that is the share of partitions that agree among those that label both.
    """

    shares: Sparse  # (g, s)
    labelled: FloatArray  # (g, m), share of the weight labelled by each partition
    weights: FloatArray  # (g,)

    @classmethod
    def of(cls, tuples: LabelTuples) -> Profiles:
        """One group for each tuple."""
        labelled = (tuples.codes >= 0).astype(np.float64)
        return cls(tuples.indicator(), labelled, tuples.weights)

    @cached_property
    def is_complete(self) -> bool:
        return bool((self.labelled > 1 - 1e-9).all())  # up to rounding

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, rows: slice | IntArray) -> Profiles:
        return Profiles(self.shares[rows], self.labelled[rows], self.weights[rows])

    def co_association(
        self, other: Profiles, reliability: FloatArray | Sparse | None = None
    ) -> FloatArray:
        """(g, g') S between the groups of two profiles; zero where no partition labels both.

        ``reliability`` are the weights u of the clusters, one each by default, or an (s, s) matrix:
        similarities of the clusters of a partition, in place of [C_i(x) = C_i(y)].
        """
        check_memory(
            3 * 8 * len(self) * len(other),
            f"all pairs of {len(self):,} and {len(other):,} groups of points",
            "take a smaller limit",
        )
        shares = self.shares
        if reliability is not None:
            shares = shares @ (
                reliability if reliability.ndim == 2 else sp.diags_array(reliability)
            )
        S = _products(shares, other.shares)
        if self.is_complete and other.is_complete:
            S /= self.labelled.shape[1]
        else:
            both = self.labelled @ other.labelled.T
            np.divide(S, both, out=S, where=both > 0)
        return S

    def merged(self, groups: IntArray) -> Profiles:
        """The profiles of groups of these groups, numbered from zero."""
        totals = add_up(self.weights, groups, int(groups.max()) + 1)
        means = sp.csr_array(
            (self.weights / totals[groups], (groups, np.arange(len(self)))),
            shape=(len(totals), len(self)),
        )
        return Profiles(sp.csr_array(means @ self.shares), means @ self.labelled, totals)


def _products(A: Sparse, B: Sparse) -> FloatArray:
    """A Bᵀ; counts of few clusters by a dense product in float32, which is exact and faster."""
    few = A.shape[1] * A.shape[0] <= _DENSE * A.nnz
    if few and (A.data == 1).all() and (B.data == 1).all():
        one, other = A.astype(np.float32).toarray(), B.astype(np.float32).toarray()
        return (one @ other.T).astype(np.float64)
    return np.asarray(A @ B.T.toarray())


def gather(
    profiles: Profiles, limit: int, reliability: FloatArray | Sparse | None = None
) -> tuple[Profiles, IntArray]:
    """At most ``limit`` groups, and the group of each profile, in O(g · limit · m) time.

    The heaviest ``limit`` profiles start a group each, and every other one joins the group whose
    first profile has the largest co-association with it (the heaviest of ties).
    """
    if len(profiles) <= limit:
        return profiles, np.arange(len(profiles))
    by_weight = np.argsort(-profiles.weights, kind="stable")
    leaders, others = profiles[by_weight[:limit]], by_weight[limit:]
    groups = np.empty(len(profiles), dtype=np.int64)
    groups[by_weight[:limit]] = np.arange(limit)
    for block in row_blocks(len(others), limit):
        rows = others[block]
        groups[rows] = profiles[rows].co_association(leaders, reliability).argmax(axis=1)
    return profiles.merged(groups), groups


def cluster_labelled(
    tuples: LabelTuples, k: int, cluster: Callable[[LabelTuples, int], IntArray]
) -> IntArray:
    """(t,) consensus by ``cluster(tuples, k)``, with the cases that all methods have in common.

    ``cluster`` is called with 1 < k < t tuples, none without labels or weight. The result has k
    clusters if there are k distinct tuples with labels, otherwise fewer, with a warning. Points
    that no partition labels are assigned to the heaviest cluster.
    """
    check_count(k, "k")

    def cluster_into_k(known: LabelTuples) -> IntArray:
        if known.t < k:
            warn(
                f"{k} clusters were asked for, but the {tuples.m} partition(s) distinguish only "
                f"{known.t} groups of points; the consensus has {known.t} clusters"
            )
        if known.t <= k:
            return np.arange(known.t)
        if k == 1:
            return np.zeros(known.t, dtype=np.int64)
        return fill_empty(cluster(known, k), known.weights, k)

    return cluster_known(tuples, cluster_into_k)


def cluster_known(tuples: LabelTuples, cluster: Callable[[LabelTuples], IntArray]) -> IntArray:
    """(t,) consensus by ``cluster`` of the tuples with labels, none of them without weight.

    Points that no partition labels are assigned to the heaviest cluster.
    """
    known = np.flatnonzero((tuples.codes >= 0).any(axis=1))
    weights = np.maximum(tuples.weights, tuples.weights.max() * _NEGLIGIBLE)[known]
    part = LabelTuples(tuples.codes[known], np.arange(len(known)), weights, tuples.sizes)
    found = cluster(part)
    consensus = np.full(tuples.t, add_up(weights, found, int(found.max()) + 1).argmax())
    consensus[known] = found
    return consensus


def fill_empty(codes: IntArray, weights: FloatArray, k: int) -> IntArray:
    """Codes of k ≤ n non-empty clusters.

    Each empty one gets the heaviest point of the heaviest cluster that has more than one.
    """
    codes = np.array(codes, dtype=np.int64)
    for empty in np.flatnonzero(np.bincount(codes, minlength=k) == 0):
        can_spare = np.bincount(codes, minlength=k) > 1
        donor = np.where(can_spare, add_up(weights, codes, k), -1.0).argmax()
        inside = np.flatnonzero(codes == donor)
        codes[inside[weights[inside].argmax()]] = empty
    return codes


def _check_same_points(partitions: list[Partition]) -> None:
    if not partitions:
        raise ValueError("no partitions were given; pass at least one")
    sizes = sorted({p.n for p in partitions})
    if len(sizes) > 1:
        raise ValueError(f"partitions of one point set must have the same length, got {sizes}")
    for i, p in enumerate(partitions[1:], start=1):
        if not np.array_equal(p.weights, partitions[0].weights):
            raise ValueError(
                f"partitions 0 and {i} have different weights; give all of them the same weights "
                "with Partition.with_weights"
            )


def _used_codes(partition: Partition) -> tuple[IntArray, int]:
    """Clusters renumbered from one so that each has points, with 0 for noise; how many they are."""
    labels = partition.assignment if partition.is_hard else partition.labels
    codes, counts = encode_range(labels, -1, partition.k + 1, 0)
    used = counts > 0
    used[0] = True
    numbers = np.cumsum(used) - 1
    if not used.all():
        codes = translate(codes, np.append(numbers, -1).astype(codes.dtype))
    return codes, int(numbers[-1])


def by_first_appearance(items: IntArray) -> tuple[IntArray, IntArray]:
    """Index of the first item with each value, ascending, and the number of each item's value.

    >>> [x.tolist() for x in by_first_appearance(np.array([7, 3, 7, 5]))]
    [[0, 1, 3], [0, 1, 0, 2]]
    """
    grouped = group_equal(items)
    if grouped is not None:
        return grouped[1], grouped[0].astype(np.int64)
    _, first, inverse = np.unique(items, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return first[order], rank[inverse]
