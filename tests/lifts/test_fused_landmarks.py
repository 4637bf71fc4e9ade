"""The fused kernels for landmarks on GPUs, interpreted by Triton on machines without one.

They compute in double precision, and are compared with the same lift in main memory.
"""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays
from liftcluster.lifts._gpu import device, landmarks, running
from liftcluster.partitions.stack import Stack
from support.devices import need_triton, on_torch


@pytest.fixture
def calls(monkeypatch):
    """The names of the methods that were called; in the interpreter, with few points in a chunk."""
    need_triton()
    monkeypatch.setattr(arrays, "_MAIN_MEMORY", ())
    monkeypatch.setattr(running, "has_tensor_cores", lambda X: True)
    monkeypatch.setattr(running, "_failed", set())
    monkeypatch.setattr(landmarks, "_CHUNK", (64, 128))
    found = []
    for name in ("sums", "scores"):
        call = getattr(landmarks.FusedSimilarities, name)
        monkeypatch.setattr(landmarks.FusedSimilarities, name, recorded(call, name, found))
    return found


def recorded(call, name, found):
    def record(self, *arguments):
        found.append(name)
        return call(self, *arguments)

    return record


def points(n, d, dtype=np.float32):
    return np.random.default_rng(3).normal(size=(n, d)).astype(dtype)


def partitions(n, *sizes, noise=()):
    rng = np.random.default_rng(4)
    return Stack(
        {i: lc.as_partition(rng.integers(-(i in noise), k, n)) for i, k in enumerate(sizes)}
    )


# Weights of landmarks of size 1e6 cancel: the similarities are right to the last digits, the sums
# of features to about 1e-16 · 1e6.
TOLERANCE = 1e-9


@pytest.mark.parametrize(
    ("d", "r", "sizes", "noise"),
    [(1, 5, [1], ()), (3, 40, [5, 3], (1,)), (10, 33, [20, 20, 30], (0, 2)), (20, 64, [140], ())],
)
def test_sums_agree_with_those_in_main_memory(calls, d, r, sizes, noise):
    X = points(300, d) + np.float32(20)
    lift = lc.make_lift(X, lift=lc.Nystroem(r), rng=0)
    R = partitions(300, *sizes, noise=noise)
    got, expected = lift.sums(on_torch(X), R), lift.sums(X, R)
    np.testing.assert_allclose(got, expected, atol=TOLERANCE * np.abs(expected).max())
    assert calls == ["sums"]


@pytest.mark.parametrize(("d", "r", "k"), [(1, 5, 1), (3, 40, 7), (10, 33, 70)])
def test_scores_and_assignments_agree_with_those_in_main_memory(calls, monkeypatch, d, r, k):
    X = points(700, d, np.float64)
    lift = lc.make_lift(X, lift=lc.Nystroem(r), rng=0)
    V = lift.sums(X, lc.as_partition(np.arange(700) % k))
    expected = lift.scores(X, V)
    got = arrays.to_numpy(lift.scores(on_torch(X), V))
    np.testing.assert_allclose(got, expected, atol=TOLERANCE * np.abs(expected).max())
    monkeypatch.setattr(device, "_BLOCK_BYTES", 8 * 300 * max(k, 16))  # 300 points
    found = arrays.to_numpy(lift.assign(on_torch(X), V))
    lost = expected.max(axis=1) - expected[np.arange(700), found]
    assert lost.max() <= TOLERANCE * np.abs(expected).max()
    assert set(calls) == {"scores"}


def test_batches_change_nothing(calls, monkeypatch):
    X = points(700, 2)
    lift = lc.make_lift(X, lift=lc.Nystroem(8), rng=0)
    R = partitions(700, 4, 3, noise=(1,))
    expected = lift.sums(on_torch(X), R)
    monkeypatch.setattr(landmarks, "_PARTS_BYTES", 2 * 8 * 64 * 8)  # two chunks
    np.testing.assert_allclose(lift.sums(on_torch(X), R), expected, rtol=1e-12, atol=1e-9)


def test_small_distances_far_from_the_origin_are_kept(calls):
    X = points(80, 2, np.float64) + 1e9
    lift = lc.make_lift(X, lift=lc.Nystroem(20), bandwidth=1.0, rng=0)
    R = lc.as_partition(np.arange(80) % 3)
    near = lc.make_lift(X - 1e9, lift=lc.Nystroem(20), bandwidth=1.0, rng=0).sums(X - 1e9, R)
    got = lift.sums(on_torch(X), R)
    # Signs of features are arbitrary; coordinates of size 1e9 have seven digits behind the point.
    np.testing.assert_allclose(got @ got.T, near @ near.T, rtol=1e-5)


@pytest.mark.parametrize(
    "kernel", [lc.Laplace(1.0), lc.Gaussian((1.0, 3.0)), lc.Gaussian(1e-120)], ids=str
)
def test_other_kernels_are_computed_in_steps(calls, kernel):
    X = points(50, 2, np.float64)
    lift = lc.make_lift(X, kernel=kernel, lift=lc.Nystroem(10), rng=0)
    R = lc.as_partition(np.arange(50) % 2)
    np.testing.assert_allclose(lift.sums(on_torch(X), R), lift.sums(X, R), atol=1e-9)
    assert not calls


def test_weights_soft_memberships_and_many_axes_are_computed_in_steps(calls):
    X = points(60, 3, np.float64)
    lift = lc.make_lift(X, lift=lc.Nystroem(10), rng=0)
    weighted = lc.as_partition(np.arange(60) % 7).with_weights(np.arange(1.0, 61))
    for R in (weighted, np.full((60, 2), 0.5)):
        np.testing.assert_allclose(lift.sums(on_torch(X), R), lift.sums(X, R), atol=1e-8)
    many = points(40, 140, np.float64)
    lift = lc.make_lift(many, lift=lc.Nystroem(10), rng=0)
    R = lc.as_partition(np.arange(40) % 2)
    calls.clear()
    np.testing.assert_allclose(lift.sums(on_torch(many), R), lift.sums(many, R), atol=1e-9)
    assert not calls


def test_equal_weights_are_a_unit(calls):
    X = points(60, 3, np.float64)
    lift = lc.make_lift(X, lift=lc.Nystroem(10), rng=0)
    R = lc.as_partition(np.arange(60) % 7).with_weights(np.full(60, 2.5))
    np.testing.assert_allclose(lift.sums(on_torch(X), R), lift.sums(X, R), atol=1e-8)
    assert calls == ["sums"]


def test_failing_kernel_leaves_those_of_features_in_use(calls, monkeypatch):
    def fail(*_):
        raise OSError("no C compiler")

    monkeypatch.setattr(landmarks.FusedSimilarities, "sums", fail)
    X = points(60, 2, np.float64)
    lift, R = lc.make_lift(X, lift=lc.Nystroem(10), rng=0), lc.as_partition(np.arange(60) % 2)
    with pytest.warns(RuntimeWarning, match="no C compiler"):
        sums = lift.sums(on_torch(X), R)
    np.testing.assert_allclose(sums, lift.sums(X, R), atol=1e-9)
    lift.sums(on_torch(X), R)  # and no second warning
    assert running.can_use_kernels_for(on_torch(X))


def test_consensus_by_landmarks_is_the_same_on_a_device(calls):
    X = np.concatenate([points(120, 2), points(120, 2) + 5])
    rng = np.random.default_rng(0)
    inputs = [np.where(rng.random(240) < 0.1, 0, np.arange(240) // 120) for _ in range(3)]
    expected = lc.consensus(inputs, 2, X, method="lift_km", lift=lc.Nystroem(30), rng=0)
    found = lc.consensus(inputs, 2, on_torch(X), method="lift_km", lift=lc.Nystroem(30), rng=0)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert {"sums", "scores"} <= set(calls)
