"""Label tuples: the distinct rows of labels, hardened, split and completed."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftcluster import Partition
from liftcluster.combination.methods.tuples import (
    LabelTuples,
    Profiles,
    by_first_appearance,
    fill_empty,
    gather,
)
from support import oracles_consensus as oracle
from support.label_cases import label_arrays, tuples_of

# tuples


@given(label_arrays())
def test_tuples_are_the_distinct_rows_in_order_of_appearance(labels):
    w = np.random.default_rng(0).uniform(0.5, 2, len(labels))
    tuples = tuples_of(labels, w)
    np.testing.assert_array_equal(tuples.codes[tuples.inverse], labels)
    rows = list(dict.fromkeys(map(tuple, labels.tolist())))
    assert list(map(tuple, tuples.codes.tolist())) == rows
    expected = [w[(labels == row).all(axis=1)].sum() for row in rows]
    np.testing.assert_allclose(tuples.weights, expected, rtol=1e-12)


def test_many_partitions_have_tuples_that_no_integer_can_number():
    # Keys in base 16 of 20 labels: 64 bits would forget the first four, which alone differ.
    labels = np.tile(np.arange(15)[:, None], (2, 20))
    labels[15:, 0] = (labels[15:, 0] + 1) % 15
    tuples = tuples_of(labels)
    assert tuples.t == 30
    np.testing.assert_array_equal(tuples.codes[tuples.inverse], labels)


@pytest.mark.parametrize("different", [0, 1, 50, 2**16, 2**16 + 1])
def test_items_are_numbered_by_first_appearance(different):
    """By hashing, and by sorting where there are very many."""
    values = np.random.default_rng(0).permutation(different) * 2**40 - 5
    items = np.concatenate([values, values[::-1], values])[::2]  # not contiguous
    first, codes = by_first_appearance(items)
    index = {value: i for i, value in enumerate(dict.fromkeys(items.tolist()))}
    assert codes.tolist() == [index[value] for value in items.tolist()]
    assert (np.diff(first) > 0).all()
    assert codes[first].tolist() == list(range(len(index)))


def test_dense_and_sparse_products_of_tuples_are_equal(monkeypatch):
    labels = np.random.default_rng(0).integers(-1, 4, size=(200, 6))
    profiles = Profiles.of(tuples_of(labels))
    dense = profiles.co_association(profiles)
    monkeypatch.setattr("liftcluster.combination.methods.tuples._DENSE", 0)
    np.testing.assert_array_equal(profiles.co_association(profiles), dense)


@given(label_arrays())
def test_the_indicator_has_a_one_for_every_label(labels):
    tuples = tuples_of(labels)
    H = tuples.indicator().toarray()
    assert H.shape == (tuples.t, tuples.s)
    for i, (start, stop) in enumerate(itertools.pairwise([0, *np.cumsum(tuples.sizes)])):
        expected = tuples.codes[:, [i]] == np.arange(stop - start)
        np.testing.assert_array_equal(H[:, start:stop], expected)
    overlaps = H.T @ (tuples.weights[:, None] * H)
    np.testing.assert_allclose(tuples.overlaps(), overlaps, rtol=1e-12)


def test_soft_partitions_are_hardened_and_empty_clusters_dropped():
    soft = Partition.from_memberships([[0.6, 0.4, 0.0], [0.0, 0.4, 0.6], [0.0, 0.0, 0.0]])
    tuples = LabelTuples.from_partitions([soft, Partition.from_labels(["a", "a", "b"])])
    assert tuples.codes.tolist() == [[0, 0], [1, 0], [-1, 1]]
    assert tuples.sizes.tolist() == [2, 2]


def test_tuples_are_read_only():
    tuples = tuples_of(np.array([[0, 1], [1, 1]]))
    with pytest.raises(ValueError, match="read-only"):
        tuples.codes[0, 0] = 5


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([], "no partitions"),
        ([Partition.from_labels([0, 1]), Partition.from_labels([0, 1, 1])], r"\[2, 3\]"),
        (
            [Partition.from_labels([0, 1]), Partition.from_labels([0, 1], weights=[1, 2])],
            "0 and 1 have different weights",
        ),
    ],
)
def test_partitions_of_different_points_are_refused(partitions, message):
    with pytest.raises(ValueError, match=message):
        LabelTuples.from_partitions(partitions)


@given(label_arrays(), st.floats(0, 6), st.integers(0, 2**32 - 1))
def test_split_tuples_of_equal_points_are_within_the_weight_limit(labels, most, seed):
    ones = np.ones(len(labels))
    split = tuples_of(labels, ones).split(most, ones, rng=seed)
    several = np.bincount(split.inverse) > 1
    assert (split.weights[several] <= most + 1).all()  # parts differ by a point


@given(label_arrays(), st.floats(0, 6), st.integers(0, 2**32 - 1))
def test_split_tuples_have_equal_parts_of_points_and_keep_their_labels(labels, most, seed):
    w = np.random.default_rng(seed).uniform(0.5, 2, len(labels))
    whole = tuples_of(labels, w)
    split = whole.split(most, w, rng=seed)
    np.testing.assert_array_equal(split.codes[split.inverse], labels)
    np.testing.assert_allclose(split.weights, np.bincount(split.inverse, w), rtol=1e-12)
    counts = np.bincount(split.inverse)
    assert counts.min() >= 1
    for codes in whole.codes:
        sizes = counts[(split.codes == codes).all(axis=1)]
        assert sizes.max() - sizes.min() <= 1
    if most == 0:
        assert split.t == len(labels)
    if most > whole.weights.max():
        assert split.t == whole.t


# co-association and reliability


@given(label_arrays())
def test_co_association_of_tuples_equals_that_of_points(labels):
    tuples = tuples_of(labels)
    profiles = Profiles.of(tuples)
    u = oracle.reliability(labels, 0.4)
    for flat, nested in ((None, None), (np.concatenate(u), u)):
        S = profiles.co_association(profiles, flat)[np.ix_(tuples.inverse, tuples.inverse)]
        expected = oracle.co_association(labels, nested)
        different = tuples.inverse[:, None] != tuples.inverse
        np.testing.assert_allclose(S[different], expected[different], atol=1e-11)


@given(label_arrays(missing=False), st.integers(0, 2**32 - 1))
def test_groups_have_the_average_co_association_of_their_points(labels, seed):
    rng = np.random.default_rng(seed)
    profiles = Profiles.of(tuples_of(labels, rng.uniform(0.5, 2, len(labels))))
    groups = np.unique(rng.integers(3, size=len(profiles)), return_inverse=True)[1]
    merged = profiles.merged(groups)
    S, w = profiles.co_association(profiles), profiles.weights
    for a, b in itertools.product(range(len(merged)), repeat=2):
        pairs = np.outer(w * (groups == a), w * (groups == b))
        mean = (pairs * S).sum() / pairs.sum()
        assert merged.co_association(merged)[a, b] == pytest.approx(mean, abs=1e-10)


def test_tuples_are_grouped_with_the_most_similar_of_the_heaviest():
    labels = np.array([[0, 0, 0]] * 5 + [[1, 1, 1]] * 4 + [[0, 0, 1], [1, 1, 0]])
    merged, groups = gather(Profiles.of(tuples_of(labels)), 2)
    assert groups.tolist() == [0, 1, 0, 1]
    assert merged.weights.tolist() == [6, 5]
    np.testing.assert_allclose(merged.shares.toarray()[0], [1, 0, 1, 0, 5 / 6, 1 / 6])


def test_empty_cluster_gets_the_heaviest_point_of_the_heaviest_cluster_with_several_points():
    codes, w = np.array([0, 1, 1, 1, 3]), np.array([50.0, 1, 3, 2, 1])
    assert fill_empty(codes, w, 4).tolist() == [0, 1, 2, 1, 3]
    assert fill_empty(np.array([0, 0, 0]), np.ones(3), 3).tolist() == [1, 2, 0]
