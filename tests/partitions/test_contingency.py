"""Contingency tables and pair counts: loops over points, huge tables, bad input."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from liftcluster.partitions.blocks import as_block
from liftcluster.partitions.contingency import Contingency, PartialTable, contingency
from liftcluster.partitions.partition import Partition, as_partition
from support.generators import points_and_partitions
from support.oracles_pairs import exact_pair_counts, expected_pair_counts, pair_counts


def hard(labels, weights=None):
    return Partition.from_labels(labels, weights)


def dense(c):
    return c.table.toarray() if sp.issparse(c.table) else c.table


def table_by_loops(a, b):
    R, S = a.memberships.toarray(), b.memberships.toarray()
    table = np.zeros((a.k, b.k))
    for x in range(a.n):
        for i in range(a.k):
            for j in range(b.k):
                table[i, j] += a.weights[x] * R[x, i] * S[x, j]
    return table[table.any(axis=1)][:, table.any(axis=0)]


@st.composite
def two_partitions(draw, integer_weights=True):
    """Hard or soft partitions of the same few points, with noise; the first point is never noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 12))
    weights = rng.integers(1, 4, n) if integer_weights else rng.uniform(0.1, 3, n)
    weights = weights if draw(st.booleans()) else None
    partitions = []
    for kind in draw(st.tuples(*[st.sampled_from(["hard", "soft"])] * 2)):
        k = draw(st.integers(1, 4))
        noise = rng.random(n) < 0.2
        noise[0] = False
        if kind == "hard":
            partitions.append(hard(np.where(noise, -1, rng.integers(k, size=n)), weights))
        else:
            R = rng.dirichlet(np.ones(k), n) * ~noise[:, None]
            partitions.append(Partition.from_memberships(R, weights))
    return partitions


@given(two_partitions())
def test_the_table_is_the_sum_over_points(partitions):
    a, b = partitions
    c = contingency(a, b)
    expected = table_by_loops(a, b)
    np.testing.assert_allclose(c.table, expected, atol=1e-12)
    np.testing.assert_allclose(c.rows, expected.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(c.columns, expected.sum(axis=0), atol=1e-12)
    assert c.total == pytest.approx(expected.sum())
    assert c.left_out == pytest.approx(1 - expected.sum() / a.total_weight, abs=1e-12)
    assert c.is_counts == (a.is_hard and b.is_hard)
    assert c.table.dtype == (np.int64 if c.is_counts else np.float64)


@given(two_partitions(integer_weights=False))
def test_table_of_real_weights_is_the_sum_over_points(partitions):
    a, b = partitions
    np.testing.assert_allclose(contingency(a, b).table, table_by_loops(a, b), atol=1e-12)


@given(two_partitions())
def test_pair_counts_agree_with_a_loop_over_pairs(partitions):
    a, b = partitions
    R, S = (np.repeat(p.memberships.toarray(), p.weights.astype(int), axis=0) for p in (a, b))
    common = R.any(axis=1) & S.any(axis=1)
    pairs = contingency(a, b).pairs
    np.testing.assert_allclose(pairs, expected_pair_counts(R[common], S[common]), atol=1e-11)
    assert pairs.disagreements == pytest.approx(pairs.in_a + pairs.in_b - 2 * pairs.both, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15))
def test_hard_pair_counts_are_exact_integers(labels):
    a, b = zip(*labels, strict=True)
    pairs = contingency(hard(a), hard(b)).pairs
    assert pairs == pair_counts(a, b)
    assert [type(count) for count in pairs] == [int] * 4


def test_points_that_are_noise_in_either_partition_are_left_out():
    a, b = hard([0, 0, 1, -1, 2], [1, 1, 1, 4, 3]), hard([0, 1, 1, 0, -1], [1, 1, 1, 4, 3])
    c = contingency(a, b)
    assert c.table.tolist() == [[1, 1], [0, 1]]  # the third cluster of a is dropped
    assert c.left_out == 0.7
    soft = Partition.from_memberships([[0.5, 0.5], [0.5, 0.5], [0, 0], [0.2, 0.8], [1, 0]])
    assert contingency(hard([0, 0, 0, -1, -1]), soft).left_out == 0.6
    assert contingency(hard([0, 1, 0]), hard([0, 1, 1])).left_out == 0


def test_left_out_is_exactly_zero_without_noise():
    w = np.random.default_rng(0).random(1000)
    labels = np.arange(1000) % 7
    assert contingency(hard(labels, w), hard(labels % 3, w)).left_out == 0


def test_integer_weights_equal_repeated_points():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 20))
    w = rng.integers(0, 4, 20)
    R = rng.dirichlet(np.ones(3), 20)
    weighted, repeated = (
        contingency(hard(a, w), hard(b, w)),
        contingency(hard(np.repeat(a, w)), hard(np.repeat(b, w))),
    )
    np.testing.assert_array_equal(weighted.table, repeated.table)
    assert weighted.pairs == repeated.pairs
    soft = contingency(hard(a, w), Partition.from_memberships(R, w))
    soft_repeated = contingency(
        hard(np.repeat(a, w)), Partition.from_memberships(np.repeat(R, w, axis=0))
    )
    np.testing.assert_allclose(soft.pairs, soft_repeated.pairs, rtol=1e-13)


def test_pair_counts_of_a_nearly_hard_partition_are_close_to_the_hard_ones():
    a, b = np.random.default_rng(0).integers(3, size=(2, 30))
    R = 0.999999 * np.eye(3)[a] + 0.000001 / 3
    exact = contingency(hard(a), hard(b)).pairs
    np.testing.assert_allclose(
        contingency(Partition.from_memberships(R), hard(b)).pairs, exact, rtol=1e-5
    )


def test_binary_memberships_are_counted_exactly():
    a, b = np.random.default_rng(0).integers(3, size=(2, 30))
    c = contingency(Partition.from_memberships(np.eye(3)[a]), hard(b))
    assert c.is_counts
    assert c.pairs == contingency(hard(a), hard(b)).pairs


def test_singletons_and_a_soft_partition_share_no_pair():
    R = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    pairs = contingency(hard(np.arange(50)), Partition.from_memberships(R)).pairs
    assert pairs[:2] == (0, 0)


def test_counting_in_blocks_gives_the_table_of_one_pass():
    rng = np.random.default_rng(0)
    n = 150_001  # not a multiple of the block
    a, b, w = rng.integers(-1, 5, n), rng.integers(-1, 7, n), rng.integers(1, 4, n)
    for weights in (None, w):
        expected = np.zeros((6, 8), dtype=np.int64)
        np.add.at(expected, (a + 1, b + 1), 1 if weights is None else weights)
        c = contingency(hard(a, weights), hard(b, weights))
        np.testing.assert_array_equal(c.table, expected[1:, 1:])


@pytest.mark.parametrize("weights", [None, 2.0, 0.5])
def test_many_clusters_get_a_sparse_table_with_the_same_entries(weights):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-1, 600, size=(2, 2000))
    w = None if weights is None else np.full(2000, weights)
    c = contingency(hard(a, w), hard(b, w))
    assert sp.issparse(c.table)
    assert c.is_counts == (weights != 0.5)
    expected = np.zeros((600, 600))
    np.add.at(expected, (a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]), weights or 1)
    expected = expected[expected.any(axis=1)][:, expected.any(axis=0)]
    np.testing.assert_array_equal(dense(c), expected)
    np.testing.assert_array_equal(c.rows, expected.sum(axis=1))
    if c.is_counts:
        assert c.pairs == Contingency(expected.astype(np.int64)).pairs


def test_table_of_100000_singletons_fits_in_memory():
    labels = np.random.default_rng(0).permutation(100_000)
    c = contingency(hard(labels), hard(np.arange(100_000)))
    assert c.table.shape == (100_000, 100_000)
    assert c.pairs == (0, 0, 0, 99_999 * 50_000)


def test_soft_partitions_with_many_clusters_get_a_sparse_table():
    rng = np.random.default_rng(0)
    n, k = 1000, 400
    first = np.arange(n) % k
    second = (first + rng.integers(1, k, n)) % k
    R = np.zeros((n, k))
    R[np.arange(n), first], R[np.arange(n), second] = 0.25, 0.75
    a, b = Partition.from_memberships(R), hard(rng.permutation(first))
    c = contingency(a, b)
    assert sp.issparse(c.table)
    np.testing.assert_allclose(dense(c), R.T @ b.memberships.toarray())


@pytest.mark.parametrize(
    "table",
    [
        [[60_000_000, 1], [7, 39_999_992]],  # n = 10^8
        [[2**31 + 11, 3], [5, 2**32]],  # squares overflow int64
        [[2**52, 1], [1, 2**51]],
    ],
)
def test_pair_counts_of_huge_tables_are_exact(table):
    assert Contingency(np.array(table)).pairs == exact_pair_counts(table)
    assert Contingency(sp.csr_array(np.array(table))).pairs == exact_pair_counts(table)


def test_small_integer_types_do_not_overflow():
    table = np.array([[100_000, 0], [1, 100_000]], dtype=np.int32)
    assert Contingency(table).pairs == exact_pair_counts(table.tolist())


def test_weights_too_large_to_count_exactly_still_give_pairs():
    w = [1e20, 2e20, 1e20]
    c = contingency(hard([0, 0, 1], w), hard([0, 1, 1], w))
    assert not c.is_counts
    np.testing.assert_allclose([float(m) for m in c.pairs], [3e40, 5e40, 5e40, 8e40])


def test_a_contingency_is_read_only():
    for c in (Contingency(np.eye(2, dtype=int)), Contingency(sp.csr_array(np.eye(2, dtype=int)))):
        with pytest.raises(ValueError, match="read-only"):
            (c.table.data if sp.issparse(c.table) else c.table)[0] = 7
        with pytest.raises(AttributeError):
            c.table = None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contingency(hard([0, 1]), hard([0, 1, 1])), "have 2 and 3 points"),
        (
            lambda: contingency(hard([0, 1], [1, 2]), hard([0, 1], [1, 3])),
            "same weights, got 2 and 3 for point 1; use with_weights",
        ),
        (lambda: contingency(hard([0, 1]), hard([0, 1], [2, 2])), "got 1 and 2 for point 0"),
        (lambda: contingency(hard([0, -1]), hard([-1, 0])), "no point in common"),
        (
            lambda: contingency(hard([0, -1]), Partition.from_memberships([[0, 0], [0.5, 0.5]])),
            "no point in common",
        ),
        (
            lambda: contingency(hard([*range(300), *[-1] * 300]), hard([*[-1] * 300, *range(300)])),
            "no point in common",
        ),
    ],
)
def test_partitions_that_cannot_be_compared_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_pair_counts_refuse_non_integer_weights():
    w = [0.5, 1, 2]
    for b in (hard([0, 0, 1], w), Partition.from_memberships([[0.5, 0.5]] * 3, w)):
        c = contingency(hard([0, 1, 1], w), b)
        assert c.total == 3.5
        with pytest.raises(ValueError, match="integers; for other weights use nmi, vi or"):
            _ = c.pairs


@given(
    points_and_partitions(max_points=30),
    st.lists(st.integers(0, 30), max_size=4),
    st.sets(st.integers(1, 29)),
)
def test_block_tables_add_up_to_the_table_of_all_points(case, cuts, noise):
    _, partitions = case
    raw = [
        p.labels.copy() if p.is_hard else p.memberships.toarray()
        for p in (partitions[0], partitions[-1])
    ]
    for rows, every in zip(raw, (1, 2), strict=True):
        lost = [i for i in noise if i < len(rows)][::every]
        rows[lost] = -1 if rows.ndim == 1 else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # noise may leave a column empty
        a, b = (as_partition(rows, partitions[0].weights) for rows in raw)
    whole = contingency(a, b)
    edges = [0, *sorted(min(cut, a.n) for cut in cuts), a.n]
    total = None
    for i, j in itertools.pairwise(edges):
        parts = [as_block(rows[i:j], a.weights[i:j]).partition for rows in raw]
        part = PartialTable.of(*parts)
        total = part if total is None else total + part
    found = total.finish()
    assert found.is_counts == whole.is_counts
    assert found.left_out == pytest.approx(whole.left_out, abs=1e-12)
    rows, columns = (np.argsort(names) for names in total.names)  # which are codes
    table = total.table.toarray()[rows][:, columns]
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    np.testing.assert_allclose(table, whole.table, rtol=1e-12)
    np.testing.assert_allclose(np.sort(found.table, axis=None), np.sort(table, axis=None))
    if whole.is_counts or whole.self_pairs is not None:
        np.testing.assert_allclose(found.pairs, whole.pairs, rtol=1e-9, atol=1e-9)


def test_block_tables_without_common_points_are_refused():
    part = PartialTable.of(as_block([0, -1]).partition, as_block([-1, 0]).partition)
    with pytest.raises(ValueError, match="no point in common"):
        (part + part).finish()


def test_large_block_tables_stay_sparse():
    labels = np.arange(2000)
    halves = [
        PartialTable.of(as_block(labels[i::2]).partition, as_block(labels[i::2]).partition)
        for i in (0, 1)
    ]
    found = (halves[0] + halves[1]).finish()
    assert sp.issparse(found.table)
    assert found.pairs.both == 0
    assert found.total == 2000
