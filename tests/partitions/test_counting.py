"""Codes of labels and counts of codes: compiled code, NumPy and plain loops agree."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftcluster import Partition
from liftcluster.partitions import counting
from liftcluster.partitions.contingency import contingency
from liftcluster.partitions.counting import code_type, count_pairs, encode_range, translate

compiled = counting._compiled
needs_compiled = pytest.mark.skipif(compiled is None, reason="the extension was not built")
WAYS = ["numpy"] if compiled is None else ["compiled", "numpy"]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
# Blocks have 1,024 points, and counts take turns by four.
LENGTHS = [1, 3, 4, 5, 1023, 1024, 1025, 2051]


@pytest.fixture(params=WAYS, autouse=True)
def way(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(counting, "_compiled", None)
        monkeypatch.setattr(counting, "_BLOCK", 1024)
    return request.param


def encoded_by_loop(labels, noise=(-1,)):
    """Names in order, codes and counts of labels that can be sorted."""
    counts = Counter(label for label in labels if label not in noise)
    names = tuple(sorted(counts))
    at = {name: i for i, name in enumerate(names)}
    return names, [at.get(label, -1) for label in labels], [counts[name] for name in names]


def forms(labels):
    """The same labels in memory of every kind."""
    yield labels
    yield np.repeat(labels, 3)[::3]
    yield labels[::-1][::-1]
    yield labels.astype(labels.dtype.newbyteorder())
    unaligned = np.frombuffer(b"x" + labels.tobytes(), dtype=np.uint8)[1:].view(labels.dtype)
    yield unaligned
    read_only = labels.copy()
    read_only.setflags(write=False)
    yield read_only


def check(labels, form=None, noise=(-1,)):
    names, codes, counts = encoded_by_loop(labels.tolist(), noise)
    p = Partition.from_labels(labels if form is None else form)
    assert p.names == names
    np.testing.assert_array_equal(p.labels, codes)
    np.testing.assert_array_equal(p.cluster_weights, counts)
    assert p.labels.dtype == np.int32
    assert p.assignment.dtype.kind == "i"


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("n", LENGTHS)
def test_integers_are_encoded_as_by_a_loop(dtype, n):
    rng = np.random.default_rng(n)
    limits = np.iinfo(dtype)
    for low, high in [
        (0, 3),
        (-1, 2),  # noise
        (limits.min, limits.min + 5),
        (limits.max - 5, limits.max),
        (-100, 100),
        (0, 70_000),
        (limits.min, limits.max),
    ]:
        low, high = max(low, limits.min), min(high, limits.max)
        check(rng.integers(low, high, size=n, dtype=dtype, endpoint=True))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_memory_of_any_kind_is_read(dtype):
    rng = np.random.default_rng(0)
    few = rng.integers(0, 9, size=2000).astype(dtype)
    far = few.astype(np.uint64) * np.uint64(np.iinfo(dtype).max // 9)
    for labels in (few, far.astype(dtype)):
        for form in forms(labels):
            before = form.copy()
            check(labels, form)
            np.testing.assert_array_equal(form, before)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(LENGTHS),
    st.sampled_from([1, 2, 127, 128, 129, 300, 2048, 2049]),
    st.sampled_from(INTEGERS),
)
def test_ranges_with_gaps_and_noise_are_encoded(seed, n, size, dtype):
    rng = np.random.default_rng(seed)
    size = min(size, np.iinfo(dtype).max)
    labels = (rng.integers(0, size, n) // 3 * 3).astype(dtype)
    if np.iinfo(dtype).min < 0:
        labels[rng.random(n) < 0.3] = -1
    labels[0] = 0
    check(labels)


@pytest.mark.parametrize("k", [1, 127, 128, 129, 130, 32_767, 32_768, 32_769])
def test_codes_at_the_limits_of_their_types(k):
    labels = np.arange(-1, k)
    p = Partition.from_labels(labels)
    np.testing.assert_array_equal(p.labels, labels)
    np.testing.assert_array_equal(p.cluster_weights, np.ones(k))
    assert p.assignment.dtype == code_type(k)
    weighted = Partition.from_labels(labels, weights=np.arange(1.0, k + 2))
    np.testing.assert_array_equal(weighted.cluster_weights, np.arange(2.0, k + 2))
    np.testing.assert_array_equal(p.memberships.indices, np.arange(k))
    assert contingency(p, p).table.sum() == k


def test_labels_of_other_types_are_encoded_as_by_a_loop():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 30, 3000)
    check(codes.astype("U1"))
    check(codes.astype("U21"))
    check(codes.astype("S3"))
    check(codes.astype(">U4"))
    check(codes > 12)
    check(codes / 8)
    check((codes / 8).astype(np.float32))
    check((codes / 8).astype(np.longdouble))
    check(codes.astype(str).astype(object))
    many = rng.integers(0, 3000, 9000).astype(str)  # so that hashes share places in their table
    check(np.char.add("long names that share their first letters ", many))
    for form in forms(codes.astype("U3")):
        check(codes.astype("U3"), form)


def test_many_different_labels_are_sorted():
    labels = np.random.default_rng(0).permutation(70_000) / 7
    p = Partition.from_labels(labels)
    np.testing.assert_array_equal(np.array(p.names)[p.labels], labels)
    assert p.k == 70_000


def test_zeros_of_both_signs_are_one_label_and_every_nan_is_noise():
    nans = np.array([0x7FF8000000000000, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    p = Partition.from_labels(np.array([0.0, -0.0, 2.5, *nans] * 100))
    assert p.names == (0, 2.5)
    assert p.labels.tolist() == [0, 0, 1, -1, -1] * 100


def test_dates_are_encoded():
    days = np.array(["2024-01-02", "NaT", "2024-01-01"] * 200, dtype="M8[D]")
    p = Partition.from_labels(days)
    assert p.names == ("2024-01-01", "2024-01-02")
    assert p.labels.tolist() == [1, -1, 0] * 200


@pytest.mark.parametrize("k", [3, 200, 40_000])
def test_categories_keep_their_order_and_unused_ones_are_dropped(k):
    names = [f"c{i}" for i in range(k)][::-1]
    codes = np.random.default_rng(0).integers(-1, k, 5000)
    codes[:3] = [k - 1, 0, -1]
    p = Partition.from_labels(pd.Categorical.from_codes(codes, names))
    used = np.unique(codes[codes >= 0])
    assert p.names == tuple(names[i] for i in used)
    np.testing.assert_array_equal(p.labels, np.where(codes < 0, -1, np.searchsorted(used, codes)))
    np.testing.assert_array_equal(p.cluster_weights, np.bincount(codes[codes >= 0])[used])


def test_objects_that_are_equal_are_one_label():
    nan = float("nan")
    labels = np.array([1, 1.0, np.float64(2), True, 2, nan, float("nan"), None, pd.NA], object)
    p = Partition.from_labels(labels)
    assert p.names == (1, 2)
    assert p.labels.tolist() == [0, 0, 1, 0, 1, -1, -1, -1, -1]


def test_labels_that_are_not_hashable_are_named():
    labels = np.empty(3, dtype=object)
    labels[:] = ["a", "b", [1]]
    with pytest.raises(TypeError, match="got list for point 2"):
        Partition.from_labels(labels)


@pytest.mark.parametrize("types", [(a, b) for a in INTEGERS[::2] for b in INTEGERS[::2]], ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_pairs_are_counted_as_by_add_at(types, n):
    rng = np.random.default_rng(n)
    for k, m in [(1, 1), (3, 5), (44, 44), (44, 45), (127, 128), (128, 128)]:
        a = rng.integers(-1, k, n).astype(types[0])
        b = np.where(rng.random(n) < 0.2, rng.integers(-1, m, n), np.minimum(a, m - 1))
        b = b.astype(types[1])
        expected = np.zeros((k + 1, m + 1), dtype=np.int64)
        np.add.at(expected, (a.astype(int) + 1, b.astype(int) + 1), 1)
        np.testing.assert_array_equal(count_pairs(a, b, (k + 1, m + 1)), expected)
        weights = rng.random(n)
        sums = np.zeros((k + 1, m + 1))
        np.add.at(sums, (a.astype(int) + 1, b.astype(int) + 1), weights)
        found = count_pairs(a, b, (k + 1, m + 1), weights)
        np.testing.assert_allclose(found, sums, rtol=1e-12)  # sums of at most 2,051 terms


def test_pairs_of_codes_with_gaps_in_memory_are_counted():
    a = np.random.default_rng(0).integers(-1, 3, 4000).astype(np.int8)
    expected = count_pairs(a[::2].copy(), a[1::2].copy(), (4, 4))
    np.testing.assert_array_equal(count_pairs(a[::2], a[1::2], (4, 4)), expected)


@pytest.mark.parametrize("dtype", INTEGERS[::2])
def test_translation_is_a_lookup(dtype):
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 100, 5000).astype(dtype)
    table = rng.permutation(101).astype(dtype)
    before = codes.copy()
    np.testing.assert_array_equal(translate(codes, table), table[codes])
    np.testing.assert_array_equal(codes, before)


@needs_compiled
@pytest.mark.parametrize(
    "call",
    [
        lambda: encode_range(np.array([0, 5]), 0, 5, 0),
        lambda: encode_range(np.array([-1, 0]), 0, 5, 0),
        lambda: encode_range(np.array([2**32, 0]), 0, 5, 0),
        lambda: encode_range(np.array([200], dtype=np.uint8), 0, 5, 0),
        lambda: encode_range(np.array([3], dtype=np.uint64), 4, 5, 0),
        lambda: translate(np.array([0, 3], dtype=np.int8), np.zeros(3, dtype=np.int8)),
        lambda: translate(np.array([0, -2], dtype=np.int32), np.zeros(3, dtype=np.int32)),
        lambda: count_pairs(np.array([0], np.int8), np.array([2], np.int8), (2, 2)),
        lambda: count_pairs(np.array([-2], np.int8), np.array([0], np.int16), (2, 2)),
        lambda: count_pairs(np.array([0], np.int8), np.array([0, 1], np.int8), (3, 3)),
        lambda: compiled.encode(bytes(8), 8, True, 0, 0, np.zeros(2, int), np.zeros(2, "i4"), 4),
        lambda: compiled.encode(bytes(8), 8, True, 0, 3, np.zeros(2, int), np.zeros(1, "i4"), 4),
        lambda: compiled.encode(bytes(8), 8, True, 0, 0, np.zeros(200, int), np.zeros(1, "i1"), 1),
        lambda: compiled.encode(bytes(9), 3, True, 0, 0, np.zeros(2, int), np.zeros(3, "i1"), 1),
        lambda: compiled.encode(bytes(8), 8, True, 0, 0, np.zeros(0, int), np.zeros(1, "i1"), 1),
        lambda: compiled.group(bytes(8), 3, np.zeros(2, "i4"), np.zeros(2, int)),
        lambda: compiled.group(bytes(8), 0, np.zeros(2, "i4"), np.zeros(2, int)),
        lambda: compiled.group(bytes(8), -4, np.zeros(2, "i4"), np.zeros(2, int)),
        lambda: compiled.translate(bytes(3), bytes(9), bytearray(3), 3),
        lambda: count_pairs(np.array([0], np.int8), np.array([2], np.int8), (2, 2), np.ones(1)),
        lambda: count_pairs(np.array([0], np.int8), np.array([0], np.int8), (2, 2), np.ones(2)),
        lambda: compiled.count_pairs(bytes(3), 1, bytes(3), 1, 2, 2, None, np.zeros(3, int)),
        lambda: compiled.count_pairs(bytes(3), 1, bytes(3), 1, 9**6, 9**6, None, np.zeros(3, int)),
        lambda: compiled.count_pairs(bytes(3), 1, bytes(3), 1, 0, 2, None, np.zeros(3, int)),
        lambda: compiled.count_pairs(bytes(3), 1, bytes(3), 1, 2, 2, bytes(25), np.zeros(4)),
    ],
)
def test_compiled_code_refuses_what_it_cannot_count(call, monkeypatch):
    monkeypatch.setattr(counting, "_compiled", compiled)
    with pytest.raises(ValueError, match=r"outside|below|fit|small|integers|impossible"):
        call()


@needs_compiled
def test_compiled_code_writes_nothing_read_only(monkeypatch):
    monkeypatch.setattr(counting, "_compiled", compiled)
    with pytest.raises(BufferError):
        compiled.translate(bytes(1), bytes(2), bytes(1), 1)


def test_compiled_code_can_be_disabled():
    code = "from liftcluster.partitions import counting; assert counting._compiled is None"
    environment = os.environ | {"LIFTCLUSTER_NATIVE": "off"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
