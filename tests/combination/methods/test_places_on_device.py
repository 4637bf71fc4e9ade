"""Points on a device: the same graph of places and the same consensus as in main memory."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays
from liftcluster._util.arrays import to_numpy
from liftcluster.combination.methods.neighbours import PlaceGraph
from liftcluster.combination.methods.places import Places
from liftcluster.combination.methods.places_on_device import by_first_appearance_on_device
from liftcluster.combination.methods.tuples import by_first_appearance
from liftcluster.lifts._gpu import device as blocks_on_device
from liftcluster.partitions.stack import Stack
from support.devices import HAVE_TORCH, on_torch, skip_or_fail

MANY = 2300  # points, of which 2,000 are landmarks


@pytest.fixture(autouse=True)
def device(monkeypatch):
    if not HAVE_TORCH:
        skip_or_fail("torch is not installed")
    monkeypatch.setattr(arrays, "_MAIN_MEMORY", ())
    monkeypatch.setattr(blocks_on_device, "_BLOCK_BYTES", 2**21)  # so there are several


def some_points(n, d=3, k=4):
    """Points around k centres, their centres, and labels that are mostly these."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, k, n)
    X = rng.normal(size=(n, d)) + 6 * rng.normal(size=(k, d))[truth]
    labels = [np.where(rng.random(n) < 0.8, truth, rng.integers(0, k, n)) for _ in range(3)]
    labels[1][: n // 20] = -1
    return X, labels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_nearest_places_and_steps_are_those_of_main_memory(dtype, shift):
    X = (some_points(700)[0] + shift).astype(dtype)
    options = {"weights": np.ones(700), "n_landmarks": 90}
    expected = PlaceGraph.of(X, rng=np.random.default_rng(0), **options)
    got = PlaceGraph.of(on_torch(X), rng=np.random.default_rng(0), **options)
    np.testing.assert_array_equal(got.rows, expected.rows)
    np.testing.assert_allclose(got.edges.toarray(), expected.edges.toarray())
    # Points of single precision are often as far from two places, which may come in any order.
    tied = (dtype == np.float32) and shift > 0
    same = (to_numpy(got.near) == expected.near).mean()
    assert same > 0.8 if tied else same == 1
    # Steps are float32. Ties at the edge change which places are near, not how near they are.
    np.testing.assert_allclose(to_numpy(got.steps), expected.steps, rtol=2e-6, atol=1e-12)


def test_labels_around_places_count_by_weight_and_membership():
    X, labels = some_points(700)
    soft = np.random.default_rng(1).dirichlet(np.ones(3), 700)
    w = np.random.default_rng(2).uniform(0.5, 9.0, 700)
    stacks = [
        Stack(dict(enumerate(map(lc.Partition.from_labels, labels)))),
        Stack({i: lc.Partition.from_labels(p, w) for i, p in enumerate(labels)}),
        Stack({0: lc.Partition.from_memberships(soft, w)}),
    ]
    for stack in stacks:
        expected, got = (
            Places(
                PlaceGraph.of(points, w, np.random.default_rng(0), n_landmarks=90),
                stack,
                4,
                np.random.default_rng(0),
            )
            for points in (X, on_torch(X))
        )
        np.testing.assert_allclose(got.around, expected.around, rtol=1e-6)  # steps are float32
        assert got.smoothness == expected.smoothness


@pytest.mark.parametrize("method", ["lift_places", "lift_walk", "auto"])
def test_consensus_is_that_of_main_memory_and_points_stay(method, monkeypatch):
    import torch

    X, labels = some_points(MANY)
    options = {"method": method, "lift": lc.Nystroem(100), "rng": 0}
    expected = lc.consensus(labels, 4, X, **options)
    copied, cpu = [], torch.Tensor.cpu
    monkeypatch.setattr(torch.Tensor, "cpu", lambda own: copied.append(own) or cpu(own))
    got = lc.consensus([*map(on_torch, labels)], 4, on_torch(X), **options)
    np.testing.assert_array_equal(got.labels, expected.labels)
    assert str(got.decision) == str(expected.decision)
    assert max(len(a) for a in copied if a.is_floating_point() and a.ndim == 2) < MANY


def test_soft_and_weighted_inputs_have_the_consensus_of_main_memory():
    X, labels = some_points(MANY)
    w = np.random.default_rng(2).integers(1, 5, MANY)
    soft = 0.9 * np.eye(4)[labels[0]] + 0.025
    inputs = [lc.Partition.from_memberships(soft), *labels]
    found = [
        lc.consensus(inputs, 4, points, method="lift_places", weights=w, rng=0).labels
        for points in (X, on_torch(X))
    ]
    np.testing.assert_array_equal(*found)


def test_number_of_clusters_is_that_of_main_memory():
    X, labels = some_points(MANY)
    found = [lc.consensus(labels, "auto", points, rng=0) for points in (X, on_torch(X))]
    assert [r.n_clusters for r in found] == [4, 4]
    np.testing.assert_array_equal(found[0].labels, found[1].labels)


@pytest.mark.parametrize("labels", [[0], [2, 2, 0, 5, 0], [3, 1, 1, 0, 2], [300, 0, 7]])
def test_labels_are_numbered_by_first_appearance(labels):
    expected = by_first_appearance(np.array(labels))[1]
    np.testing.assert_array_equal(by_first_appearance_on_device(on_torch(labels)), expected)
