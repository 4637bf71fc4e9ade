"""Cluster vectors of many partitions of the same points, against sums point by point."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.kernel_approximation import RBFSampler

import liftcluster as lc
from liftcluster.comparison import relabelled
from liftcluster.comparison.relabelled import lift_relabelled

N = 90
X = np.random.default_rng(0).standard_normal((N, 2))


def different_partitions(rng):
    """Hard and soft, with noise and large weights, of one to seven clusters."""
    w = rng.uniform(0.5, 2, N) * 1e45
    soft = rng.dirichlet(np.ones(4), N)
    soft[:9] = 0
    hard = [lc.Partition.from_labels(rng.integers(-1, k, N), w) for k in range(1, 8)]
    return [*hard, lc.Partition.from_memberships(soft, w)]


def sums_by_loops(lift, partition):
    V = np.zeros((partition.k, lift.n_components))
    Z, R = np.asarray(lift.features(X), dtype=float), partition.memberships.toarray()
    for i in range(N):
        for c in range(partition.k):
            V[c] += partition.weights[i] * R[i, c] * Z[i]
    return V


@pytest.mark.parametrize("batch_size", [1, 3, 50])
@pytest.mark.parametrize("width", [5, 64])
@pytest.mark.parametrize("setting", [lc.Fourier, lc.Nystroem, RBFSampler], ids=lambda s: s.__name__)
def test_vectors_equal_sums_over_points(setting, width, batch_size, monkeypatch):
    monkeypatch.setattr(relabelled, "_BATCH_SIZE", batch_size)
    lift = lc.make_lift(X, lift=setting(n_components=width), rng=0)
    partitions = different_partitions(np.random.default_rng(1))
    found = list(lift_relabelled(lift, X, partitions))
    assert len(found) == len(partitions)
    for rep, partition in zip(found, partitions, strict=True):
        np.testing.assert_allclose(rep.sums * 1e-45, sums_by_loops(lift, partition) * 1e-45,
                                   atol=1e-10)  # fmt: skip
        np.testing.assert_allclose(rep.masses, partition.masses)
        assert rep.cluster_names == partition.names


def test_sparse_features_are_summed():
    texts = ["one two", "two three", "three one", "four"] * 5
    lift = lc.make_lift(texts, lift=HashingVectorizer(n_features=16))
    (rep,) = lift_relabelled(lift, texts, [lc.as_partition([0, 1, 0, 1] * 5)])
    Z = lift.features(texts).toarray()
    np.testing.assert_allclose(rep.sums, [Z[0::2].sum(axis=0), Z[1::2].sum(axis=0)], atol=1e-12)


class CountingSampler(RBFSampler):
    """Records how many points it transforms at a time."""

    def transform(self, X):
        self.blocks_ = [*getattr(self, "blocks_", []), len(X)]
        return super().transform(X)


def test_blocks_of_points_do_not_depend_on_the_number_of_partitions():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((5000, 2))
    blocks = []
    for count in (1, 50):
        sampler = CountingSampler(n_components=512).fit(points)
        lift = lc.make_lift(points, lift=sampler)
        sampler.blocks_ = []
        partitions = (lc.as_partition(rng.integers(30, size=5000)) for _ in range(count))
        assert sum(1 for _ in lift_relabelled(lift, points, partitions)) == count
        blocks.append(sampler.blocks_)
    assert blocks[0] == blocks[1]


def test_partitions_are_drawn_one_batch_at_a_time(monkeypatch):
    monkeypatch.setattr(relabelled, "_BATCH_BYTES", 3 * (8 * N + 8 * 2 * 16))
    drawn = []

    def partitions():
        for i in range(10):
            drawn.append(i)
            yield lc.Partition(np.arange(N) % 2, (0, 1), np.ones(N))

    lift = lc.make_lift(X, lift=lc.Fourier(16), rng=0)
    next(lift_relabelled(lift, X, partitions()))
    assert len(drawn) == 4  # three, and one that did not fit
