"""Nyström features: landmarks, rank, memory."""

import tracemalloc

import numpy as np

import liftcluster as lc
from support.generators import blobs


def test_nystroem_with_every_point_as_landmark_is_exact():
    X, labels = blobs(np.random.default_rng(0), 80, 3)
    rep = lc.represent(X, labels, kernel="cauchy", lift=lc.Nystroem(500), rng=0)
    exact = lc.represent(X, labels, kernel="cauchy", lift="exact")
    np.testing.assert_allclose(rep.distances(), exact.distances(), atol=1e-6)


def test_nystroem_norms_do_not_exceed_exact_norms():
    X, labels = blobs(np.random.default_rng(0), 300, 5)
    rep = lc.represent(X, labels, lift=lc.Nystroem(40), bandwidth=2.0, rng=0)
    exact = lc.represent(X, labels, lift="exact", bandwidth=2.0)
    assert (rep.norms <= exact.norms * (1 + 1e-9)).all()
    assert (rep.norms < exact.norms * 0.99).any()


def test_low_rank_features_are_computed_in_small_blocks():
    X = np.random.default_rng(0).standard_normal((20_000, 2))
    lift = lc.make_lift(X, kernel=lambda P, Q: P @ Q.T, lift=lc.Nystroem(500), rng=0)
    assert lift.n_components == 2
    tracemalloc.start()
    lift.sums(X, np.ones((20_000, 1)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20  # 20,000 × 500 doubles are 76 MiB
