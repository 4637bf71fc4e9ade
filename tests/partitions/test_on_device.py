"""Labels on a device are encoded there, as they are in main memory."""

import pickle

import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays
from liftcluster.partitions import on_device
from liftcluster.partitions.contingency import contingency
from liftcluster.partitions.labels import encode_labels
from liftcluster.partitions.on_device import encode_on_device
from liftcluster.partitions.partition import DevicePartition, as_partitions
from support.devices import HAVE_TORCH, need_triton, on_torch, skip_or_fail


@pytest.fixture(autouse=True)
def device(monkeypatch):
    if not HAVE_TORCH:
        skip_or_fail("torch is not installed")
    monkeypatch.setattr(arrays, "_MAIN_MEMORY", ())


@pytest.fixture(params=["steps", "kernel"])
def way(request, monkeypatch):
    if request.param == "kernel":
        need_triton()
        monkeypatch.setattr(on_device, "has_tensor_cores", lambda array: True)
        monkeypatch.setattr(on_device, "_BLOCK", 16)
        monkeypatch.setattr(on_device, "_encode", lambda L: None)
    return request.param


CASES = [
    [0, 1, 2, 0],
    [-1, 0, 0, 1],
    [5, 7, 7, 9],
    [-1, 3, 3, -1],
    [1, 2, 3, 3],
    list(range(60)) * 2,
    [125, 0, 0, -1],
]


@pytest.mark.parametrize("labels", CASES)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_partition_is_that_of_main_memory(way, labels, dtype):
    labels = np.array(labels, dtype=dtype)
    got, expected = (lc.Partition.from_labels(p) for p in (on_torch(labels), labels))
    assert isinstance(got, DevicePartition)
    assert (got.n, got.k, got.names) == (expected.n, expected.k, expected.names)
    for name in ("assignment", "labels", "cluster_weights", "masses", "weights", "is_clustered"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
    assert (got.noise_mass, repr(got)) == (expected.noise_mass, repr(expected))
    np.testing.assert_array_equal(arrays.to_numpy(got.device_codes), expected.assignment)
    assert got.device_codes.dtype.itemsize == 1
    renamed = got.renamed(range(100, 100 + got.k))
    assert isinstance(renamed, DevicePartition)
    assert renamed.names[0] == 100
    assert renamed.device_codes is got.device_codes
    again = pickle.loads(pickle.dumps(got))
    np.testing.assert_array_equal(again.assignment, expected.assignment)


@pytest.mark.parametrize("labels", [[-3, -1, 0, 0], [-3, -3, -2, 9], [200, 300, 300, 4000]])
def test_labels_of_a_wider_range_are_encoded_in_steps(labels):
    got, expected = (lc.Partition.from_labels(p) for p in (on_torch(labels), labels))
    assert isinstance(got, DevicePartition)
    assert got.names == expected.names
    np.testing.assert_array_equal(got.assignment, expected.assignment)


@pytest.mark.parametrize("labels", [[0, 10**6], [0.0, 1.0], [True, False]])
def test_other_labels_are_encoded_in_main_memory(labels):
    got, expected = (lc.Partition.from_labels(p) for p in (on_torch(labels), labels))
    assert got.device_codes is None
    assert got.names == expected.names
    np.testing.assert_array_equal(got.assignment, expected.assignment)


def test_several_partitions_are_encoded_together(way):
    rng = np.random.default_rng(0)
    labels = {name: rng.integers(-1, k, 100) for name, k in (("a", 3), ("b", 40), ("c", 1))}
    got = as_partitions({name: on_torch(p) for name, p in labels.items()})
    expected = as_partitions(labels)
    assert list(got) == list(expected)
    for name, p in expected.items():
        assert got[name].names == p.names
        np.testing.assert_array_equal(got[name].assignment, p.assignment)


def test_labels_of_different_lengths_are_not_encoded_together():
    assert encode_on_device([on_torch([0, 1]), on_torch([0, 1, 1])], encode_labels) is None
    with pytest.raises(ValueError, match="same length"):
        lc.represent(np.zeros((2, 1)), [on_torch([0, 1]), on_torch([0, 1, 1])])


def test_labels_that_are_all_noise_are_refused(way):
    with pytest.raises(ValueError, match="every one of the 3 labels is noise"):
        lc.Partition.from_labels(on_torch([-1, -1, -1]))
    with pytest.raises(ValueError, match="every one of the 3 labels is noise"):
        lc.represent(on_torch([[0.0], [1.0], [2.0]]), [on_torch([0, 1, 1]), on_torch([-1, -1, -1])])


def test_labels_are_read_when_their_clusters_are_needed(way, monkeypatch):
    calls = []
    read = on_device.LabelsOnDevice.read
    monkeypatch.setattr(on_device.LabelsOnDevice, "read", lambda own: calls.append(1) or read(own))
    parts = as_partitions([on_torch([0, 1, 1]), on_torch([2, 0, 2])])
    assert [(p.n, p.is_hard, p.total_weight) for p in parts.values()] == [(3, True, 3.0)] * 2
    assert not calls
    assert parts[1].names == (0, 2)
    assert calls


def test_codes_are_not_copied_to_main_memory_for_sums(monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    lift = lc.make_lift(X, lift=lc.Fourier(20), bandwidth=1.0, rng=0)
    expected = lc.represent(X, [labels], lift=lift)
    given = as_partitions([on_torch(labels)])
    got = lc.represent(on_torch(X), given, lift=lift)
    assert "assignment" not in vars(given[0])
    np.testing.assert_allclose(got.sums, expected.sums, atol=1e-10)
    assert got.cluster_names == expected.cluster_names


def test_partitions_on_a_device_are_compared_and_combined_like_others():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 2)), [rng.integers(0, 3, 60), rng.integers(-1, 2, 60)]
    there = [on_torch(p) for p in labels]
    assert lc.distance(*there, measure="rand") == lc.distance(*labels, measure="rand")
    assert lc.distance(*there, X) == pytest.approx(lc.distance(*labels, X), abs=1e-12)
    got, expected = (lc.consensus(p, 2, X, method="lift_km", rng=0) for p in (there, labels))
    np.testing.assert_array_equal(got.labels, expected.labels)
    weights = np.arange(1.0, 61)
    got, expected = (lc.as_partition(p[0], weights) for p in (there, labels))
    np.testing.assert_array_equal(got.cluster_weights, expected.cluster_weights)


def test_pairs_of_labels_on_a_device_are_counted_there(monkeypatch):
    rng = np.random.default_rng(0)
    labels = [rng.integers(-1, 4, 200), rng.integers(0, 90, 200)]
    given = [lc.as_partition(on_torch(p)) for p in labels]
    got, expected = (contingency(*parts) for parts in (given, map(lc.as_partition, labels)))
    np.testing.assert_array_equal(got.table, expected.table)
    assert got.left_out == expected.left_out > 0
    assert not any("assignment" in vars(p) for p in given)
