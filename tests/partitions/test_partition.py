"""Partitions: labels and memberships of every type, weights, names and invalid input."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster import Partition, as_partition, represent
from liftcluster._util.arrays import is_constant
from liftcluster.partitions.blocks import as_block
from liftcluster.partitions.partition import as_partitions

NAN = float("nan")


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        ([3, 1, 3], (1, 3), [1, 0, 1]),
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        ([b"b", b"a"], (b"a", b"b"), [1, 0]),
        ([True, False, True], (False, True), [1, 0, 1]),
        ([1.0, NAN, 2.0], (1, 2), [0, -1, 1]),
        ([0.5, 1.0], (0.5, 1), [0, 1]),
        (["a", None, NAN, "b"], ("a", "b"), [0, -1, -1, 1]),
        ([1, "a", None], (1, "a"), [0, 1, -1]),
        (["b", 1, "a"], ("b", 1, "a"), [0, 1, 2]),
        ([-1, 0, 5], (0, 5), [-1, 0, 1]),
        ([10**12, 5, 10**12], (5, 10**12), [1, 0, 1]),
        ([(0, "a"), (0, "b"), (0, "a")], ((0, "a"), (0, "b")), [0, 1, 0]),
        (np.array([2, 7, 2], dtype=np.uint8), (2, 7), [0, 1, 0]),
        (np.array([2, 7, 2], dtype=">i4"), (2, 7), [0, 1, 0]),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), (1, 3), [0, -1, 1]),
        (np.array(["2024-01-02", "NaT"], dtype="M8[D]"), ("2024-01-02",), [0, -1]),
        ([datetime.date(2024, 1, 2)], (datetime.date(2024, 1, 2),), [0]),
        (pd.Series(["x", None, "y"]), ("x", "y"), [0, -1, 1]),
        (pd.Series([1, None, 2]), (1, 2), [0, -1, 1]),
        (pd.Series([1, None, 2], dtype="Int64"), (1, 2), [0, -1, 1]),
        (
            pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"]),
            ("lo", "hi"),
            [0, 1, -1],
        ),
        (pd.Series(["u", "v"], dtype="category"), ("u", "v"), [0, 1]),
        pytest.param(iter(["a", "b"]), ("a", "b"), [0, 1], id="iterator"),
    ],
    ids=str,
)
def test_labels_of_any_hashable_type_are_encoded(labels, names, codes):
    p = Partition.from_labels(labels)
    assert p.names == names
    assert [type(name) for name in p.names] == [type(name) for name in names]
    assert p.labels.tolist() == codes
    assert p.is_hard


def test_polars_series_are_labels():
    pl = pytest.importorskip("polars")
    assert Partition.from_labels(pl.Series(["b", "a", None])).labels.tolist() == [1, 0, -1]


def test_noise_argument_defines_the_noise_labels():
    p = Partition.from_labels([0, 1, -1, 2], noise=[0, 2])
    assert p.names == (-1, 1)
    assert p.labels.tolist() == [-1, 1, 0, -1]


def test_a_noise_label_of_another_type_is_not_noise():
    assert Partition.from_labels(["-1", "0"]).k == 2
    assert Partition.from_labels([True, False], noise=[1]).k == 2


def test_masses_and_noise_sum_to_one():
    p = Partition.from_labels([0, 0, 1, -1], weights=[1, 2, 3, 4])
    np.testing.assert_allclose(p.masses, [0.3, 0.3])
    assert p.noise_mass == pytest.approx(0.4)
    np.testing.assert_allclose(p.cluster_weights, [3, 3])


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5))
def test_soft_partitions_have_masses_labels_and_noise(seed, n, k):
    rng = np.random.default_rng(seed)
    R = rng.dirichlet(np.ones(k), size=n) * (rng.random((n, 1)) < 0.8)
    R[0] = 1 / k
    w = rng.uniform(0.5, 2, n)
    p = Partition.from_memberships(R, weights=w)
    np.testing.assert_allclose(p.masses, (w[:, None] * R).sum(axis=0) / w.sum())
    assert p.noise_mass == pytest.approx(w[R.sum(axis=1) == 0].sum() / w.sum())
    expected = np.where(R.sum(axis=1) > 0, R.argmax(axis=1), -1)
    np.testing.assert_array_equal(p.labels, expected)
    np.testing.assert_allclose(p.memberships.toarray(), R, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix, pd.DataFrame, list])
def test_memberships_may_be_dense_or_sparse(form):
    R = np.array([[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]])
    p = as_partition(form(R))
    assert not p.is_hard
    np.testing.assert_array_equal(p.memberships.toarray(), R)
    assert p.noise_mass == pytest.approx(1 / 3)


def test_data_frame_columns_name_the_clusters():
    p = Partition.from_memberships(pd.DataFrame({"T cell": [0.5, 0.0], "B cell": [0.5, 1.0]}))
    assert p.names == ("T cell", "B cell")


def test_binary_memberships_are_a_hard_partition():
    explicit_zeros = sp.csr_array(([1.0, 0.0, 1.0], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    for R in ([[1, 0], [0, 1]], explicit_zeros):
        p = Partition.from_memberships(R)
        assert p.is_hard
        assert p.labels.tolist() == [0, 1]


def test_float32_memberships_are_normalised():
    R = np.random.default_rng(0).dirichlet(np.ones(7), size=50).astype(np.float32)
    sums = Partition.from_memberships(R).memberships.sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-15)


def test_empty_clusters_are_dropped_with_a_warning():
    with pytest.warns(UserWarning, match="dropped 1 empty cluster.*'b'"):
        p = Partition.from_memberships([[0.5, 0, 0.5], [1, 0, 0]], names=["a", "b", "c"])
    assert p.names == ("a", "c")
    with pytest.warns(UserWarning, match="'y'"):
        p = Partition.from_labels(["x", "y", "z"], weights=[1, 0, 1])
    assert p.names == ("x", "z")
    assert p.labels.tolist() == [0, -1, 1]


def test_warning_refers_to_the_file_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_partition([[1.0, 0.0]])
    assert caught[0].filename == __file__


def test_a_partition_is_read_only():
    for p in (Partition.from_labels([0, 1]), Partition.from_memberships([[0.5, 0.5]])):
        for array in (p.labels, p.masses, p.weights, p.cluster_weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
        with pytest.raises(AttributeError):
            p.names = ()


def test_partition_copies_its_inputs():
    labels, weights = np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0])
    p = Partition.from_labels(labels, weights)
    labels[:], weights[:] = 9, 9
    assert p.labels.tolist() == [0, 1, 1]
    assert p.weights.tolist() == [1, 2, 3]


def test_hardening_takes_the_largest_membership():
    p = Partition.from_memberships([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]).harden()
    assert p.is_hard
    assert p.labels.tolist() == [1, 0, 0]
    assert p.harden() is p


def test_as_partition_replaces_weights_only_if_given():
    p = Partition.from_labels([0, 1], weights=[1, 3])
    assert as_partition(p) is p
    assert as_partition(p, [1, 1]).masses.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("several", "count"),
    [
        ([0, 0, 1], 1),
        (["a", "b"], 1),
        (np.array([0, 1]), 1),
        ([[0, 0, 1], [0, 1, 1]], 2),
        ((np.array([0, 1]), ["x", "y"]), 2),
        ({"one": [0, 1], "two": [1, 1]}, 2),
        ([Partition.from_labels([0, 1])], 1),
        (Partition.from_labels([0, 1]), 1),
    ],
    ids=str,
)
def test_one_partition_is_distinguished_from_several(several, count):
    assert len(as_partitions(several)) == count


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Partition.from_labels([]), ValueError, "labels are empty"),
        (
            lambda: Partition.from_labels([-1, None, NAN]),
            ValueError,
            "every one of the 3 labels is noise",
        ),
        (lambda: Partition.from_labels([[0, 1], [1, 0]]), ValueError, "from_memberships"),
        (lambda: Partition.from_labels(np.zeros((3, 1))), ValueError, r"use labels.ravel\(\)"),
        (lambda: Partition.from_labels("aab"), TypeError, "sequence with one label"),
        (lambda: Partition.from_labels({0: 1}), TypeError, "got dict"),
        (lambda: Partition.from_labels({0, 1}), TypeError, "got set"),
        (lambda: Partition.from_labels(3), TypeError, "got int"),
        (lambda: Partition.from_labels([[0], {}]), TypeError, "hashable"),
        (lambda: Partition.from_labels([1j, 2j]), TypeError, "complex"),
        (lambda: Partition.from_labels([0, 1], weights=[1]), ValueError, r"shape \(2,\)"),
        (
            lambda: Partition.from_labels([0, 1], weights=[1, -1]),
            ValueError,
            "must not be negative, got -1.0 for point 1",
        ),
        (lambda: Partition.from_labels([0, 1], weights=[0, 0]), ValueError, "sum to zero"),
        (lambda: Partition.from_labels([0, 1], weights=[1, NAN]), ValueError, "finite"),
        (lambda: Partition.from_labels([0, 1], weights=["a", "b"]), TypeError, "numbers"),
        (
            lambda: Partition.from_labels([0, 1], weights=[1e200, 1]),
            ValueError,
            "divide them by their mean",
        ),
        (
            lambda: Partition.from_labels([-1, 1], weights=[1, 0]),
            ValueError,
            "all the weight is on noise",
        ),
        (
            lambda: Partition.from_memberships([[0.5, 0.4]]),
            ValueError,
            "sum to one.*got 0.9 for point 0",
        ),
        (
            lambda: Partition.from_memberships([[1.5, -0.5]]),
            ValueError,
            "negative, got -0.5 for point 0, cluster 1",
        ),
        (lambda: Partition.from_memberships([[NAN, 1]]), ValueError, "finite"),
        (lambda: Partition.from_memberships(sp.csr_array([[np.inf, 1]])), ValueError, "finite"),
        (lambda: Partition.from_memberships([[0, 0]]), ValueError, "all zero"),
        (lambda: Partition.from_memberships(np.zeros((0, 2))), ValueError, "needs points"),
        (lambda: Partition.from_memberships([0.5, 0.5]), ValueError, "two-dimensional"),
        (lambda: Partition.from_memberships([["a", "b"]]), TypeError, "matrix of numbers"),
        (
            lambda: Partition.from_memberships([[1.0]], names=["a", "b"]),
            ValueError,
            "1 different names",
        ),
        (
            lambda: Partition.from_memberships([[0.5, 0.5]], names=["a", "a"]),
            ValueError,
            "different names",
        ),
        (lambda: as_partition([[1], [2]]), ValueError, r"use .ravel\(\)"),
        (lambda: as_partitions([]), ValueError, "no partitions"),
    ],
)
def test_invalid_partitions_raise_helpful_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_repr_describes_the_partition():
    assert repr(Partition.from_labels([0, 1, -1, 1])) == "Partition(hard, n=4, k=2, 25.0% noise)"
    assert repr(Partition.from_memberships([[0.5, 0.5]])) == "Partition(soft, n=1, k=2)"


def test_weights_and_memberships_with_explicit_byte_order_are_accepted():
    little_endian = np.dtype(np.float64).newbyteorder("<")
    R, w = (
        np.array([[0.5, 0.5], [1.0, 0.0]], dtype=little_endian),
        np.array([1.0, 2.0], dtype=little_endian),
    )
    rep = represent([[0.0], [1.0]], Partition.from_memberships(R, w), lift="fourier", rng=0)
    assert rep.masses.round(6).tolist() == [0.833333, 0.166667]


def test_given_names_replace_column_names():
    frame = pd.DataFrame({"a": [1.0, 0.5], "b": [0.0, 0.5]})
    assert Partition.from_memberships(frame, names=["x", "y"]).names == ("x", "y")


def test_names_must_be_unique_and_one_per_cluster():
    for names in (["a"], ["a", "a"], ["a", "b", "b"]):
        with pytest.raises(ValueError, match="2 different names"):
            Partition.from_memberships([[1.0, 0.0], [0.5, 0.5]], names=names)


def test_tolerance_of_membership_sums_is_1e_minus_5():
    assert Partition.from_memberships([[0.5, 0.5 + 0.9e-5]]).k == 2
    for off in (1.5e-5, -1.5e-5):
        with pytest.raises(ValueError, match="sum to one"):
            Partition.from_memberships([[0.5, 0.5 + off]])


def test_error_suggests_labels_only_for_integers():
    with pytest.raises(ValueError, match=r"1; labels belong in one dimension: use \.ravel\(\)$"):
        Partition.from_memberships([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"for labels of several clusterings pass list"):
        Partition.from_memberships([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match=r"divide each row by its sum$"):
        Partition.from_memberships([[1.0, 0.5], [1.0, 1.0]])


def test_clusters_of_tiny_mass_are_kept():
    R = np.array([[1 - 3e-30, 3e-30], [1.0, 0.0]])
    assert Partition.from_memberships(R).k == 2


@pytest.mark.parametrize(("count", "ends"), [(5, "'e'"), (6, r"'e', \.\.\.")])
def test_warning_names_at_most_five_empty_clusters(count, ends):
    R = np.zeros((2, count + 1))
    R[:, -1] = 1
    with pytest.warns(UserWarning, match=f"empty.*: 'a', 'b', 'c', 'd', {ends}$"):
        Partition.from_memberships(R, names=list("abcdefgh"[: count + 1]))


def test_single_partition_is_named_0():
    assert list(as_partitions(["a", "a", "b"])) == [0]


def test_invalid_partition_in_a_list_is_refused():
    with pytest.raises(TypeError, match="one label for each point, got NoneType"):
        as_partitions([[0, 1], None])


@pytest.mark.parametrize("shape", [(3, 0), (0, 3)])
def test_memberships_without_points_or_clusters_are_refused(shape):
    with pytest.raises(ValueError, match="needs points and clusters"):
        Partition.from_memberships(np.zeros(shape))


def test_errors_about_memberships_name_the_point():
    fine, nan, negative = [0.5, 0.5], [np.nan, 1.0], [-0.5, 1.5]
    for rows, message in [
        ([fine, fine, nan], "got nan for point 2"),
        ([fine, negative, fine], "got -0.5 for point 1, cluster 0"),
        ([fine, fine, fine, [1.0, 1.0]], "got 2 for point 3"),
    ]:
        for form in (np.array, sp.csr_array):
            with pytest.raises(ValueError, match=message):
                Partition.from_memberships(form(rows))
    with pytest.raises(TypeError, match=r"^memberships must hold"):
        Partition.from_memberships([["a", "b"]])
    with pytest.raises(ValueError, match="memberships must be two-dimensional"):
        as_partition([[[1.0]], [[0.5]]])


def test_duplicate_sparse_entries_that_sum_to_one_are_hard():
    R = sp.csr_array(([0.5, 0.5, 1.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    p = Partition.from_memberships(R)
    assert p.is_hard
    assert p.labels.tolist() == [1, 0]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_broadcast_weights_equal_repeated_weights(n):
    # As in parts of larger partitions, which may lack some of the clusters.
    codes = np.array([1, 0, -1, 1, 1], dtype=np.int32)[:n]
    hard = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]])[:n]
    soft = np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0], [0.25, 0.75, 0], [0, 1, 0]])[:n]
    for assignment, R in ((codes, hard), (sp.csr_array(soft), soft)):
        for weights in (np.broadcast_to(2.5, (n,)), np.full(n, 2.5)):
            p = Partition(assignment, ("a", "b", "c"), weights)
            np.testing.assert_allclose(p.cluster_weights, 2.5 * R.sum(axis=0))
            np.testing.assert_allclose(p.weighted_rows(slice(0, n)).toarray(), 2.5 * R)


def test_large_integer_labels_stay_distinct():
    for labels in (
        [2**63, 2**63 + 1, -1],
        pd.Series([2**60, 2**60 + 1, None], dtype="Int64"),
        np.array([2**64 - 1, 2**64 - 2], np.uint64),
        np.array([-(2**63), 2**63 - 1]),
    ):
        assert lc.Partition.from_labels(labels).k == 2


def test_single_column_of_labels_is_refused():
    with pytest.raises(ValueError, match=r"use .ravel\(\) for labels"):
        lc.as_partition(np.array([[0], [1], [1]]))
    assert lc.as_partition(np.ones((3, 1))).k == 1
    assert lc.Partition.from_memberships([[0], [1], [1]]).noise_mass == pytest.approx(1 / 3)


def test_noise_may_be_a_single_label():
    assert lc.Partition.from_labels([0, 1, 7], noise=7).k == 2


def test_bytes_are_labels():
    assert lc.represent([[0.0], [1.0]], [b"a", b"b"]).m == 1


def test_membership_rows_that_sum_to_less_than_one_are_refused():
    with pytest.raises(ValueError, match="sum to one"):
        lc.Partition.from_memberships([[0.3, 0], [1, 0]])


def test_dropping_an_empty_soft_cluster_keeps_the_others_in_place():
    R = np.array([[0.25, 0, 0.75], [0.5, 0, 0.5]])
    with pytest.warns(UserWarning, match="dropped"):
        p = lc.Partition.from_memberships(R, names=["a", "b", "c"])
    assert p.names == ("a", "c")
    np.testing.assert_allclose(p.memberships.toarray(), R[:, [0, 2]])
    np.testing.assert_allclose(p.masses, [0.375, 0.625])


def test_duplicate_sparse_entries_are_summed():
    R = sp.coo_array(([0.5, 0.5, 0.3, 0.7], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2)).tocsr()
    duplicated = sp.csr_array(([0.5, 0.5, 0.3, 0.7], [1, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    assert (
        lc.as_partition(duplicated).labels.tolist() == lc.as_partition(R).labels.tolist() == [1, 1]
    )


def test_hardening_drops_clusters_that_are_never_the_largest():
    p = lc.Partition.from_memberships([[0.6, 0.4], [0.9, 0.1]])
    with pytest.warns(UserWarning, match="dropped 1 empty cluster"):
        assert p.harden().k == 1


@pytest.mark.parametrize("mass", [1e-40, 1e-160, 1e-300])
def test_clusters_of_negligible_mass_count_as_empty(mass):
    R = np.array([[1 - mass, mass], [1.0, 0.0]])
    with pytest.warns(UserWarning, match="dropped 1 empty"):
        assert lc.Partition.from_memberships(R).k == 1


def test_data_frame_of_several_columns_is_refused_as_labels():
    with pytest.raises(ValueError, match="data frame with 2 columns"):
        lc.Partition.from_labels(pd.DataFrame({"a": [0, 1], "b": [1, 1]}))


def test_sparse_complex_memberships_are_refused():
    with pytest.raises(TypeError, match="real numbers"):
        lc.Partition.from_memberships(sp.csr_array(np.array([[1 + 1j, 0]])))


@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 1023, 1025, 9000]), st.integers(1, 6))
def test_clusters_of_a_block_are_in_the_order_of_their_first_points(seed, n, k):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, k, n)
    labels[labels == k - 1] = -1
    labels[-1] = k - 1  # in the last point alone
    block = as_block(labels)
    names = tuple(dict.fromkeys(label for label in labels.tolist() if label >= 0))
    assert block.partition.names == names
    np.testing.assert_array_equal(np.array([*names, -1])[block.partition.labels], labels)
    counts = [np.count_nonzero(labels == name) for name in names]
    np.testing.assert_array_equal(block.partition.cluster_weights, counts)
    weighted = as_block(labels, np.full(n, 0.5)).partition
    np.testing.assert_array_equal(weighted.cluster_weights, np.array(counts) / 2)


def test_equal_weights_of_another_partition_stay_one_number():
    first = Partition.from_labels([0, 1, 1])
    again = Partition.from_labels([0, 0, 1], first.weights)
    assert is_constant(first.weights)
    assert is_constant(again.weights)
    np.testing.assert_array_equal(again.weights, [1, 1, 1])
    with pytest.raises(ValueError, match="shape"):
        Partition.from_labels([0, 1], first.weights)
    for bad in (-1.0, np.nan, 0.0):
        with pytest.raises(ValueError, match="weights"):
            Partition.from_labels([0, 1, 1], np.broadcast_to(bad, (3,)))
