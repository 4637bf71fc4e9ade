"""Lifts: sums and their adjoint, additivity, dtypes, choice of the lift, invalid input."""

import tracemalloc

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift
from support.generators import SAMPLINGS, blobs, points_and_partitions, soft_memberships


def named_lifts(X, partitions):
    """One lift of each kind for the same points."""
    n = len(X)
    K = lc.Cauchy(2.0)(X, X)
    yield "exact", lc.make_lift(X, partitions, lift="exact", bandwidth=1.0), X
    for sampling in SAMPLINGS:
        for rho in (1, 2, 7, 40):
            yield (
                f"fourier {sampling} {rho}",
                lc.make_lift(X, lift=lc.Fourier(rho, sampling=sampling), bandwidth=1.0, rng=0),
                X,
            )
    for rho in (1, 2, 7, 300):
        options = {"lift": lc.Structured(rho), "bandwidth": 1.0}
        yield f"structured {rho}", lc.make_lift(X, rng=0, **options), X
    if X.shape[1] <= 3:
        yield "grid", lc.make_lift(X, lift="grid", bandwidth=np.ptp(X) / 2 + 0.1), X
    yield "nystroem", lc.make_lift(X, lift=lc.Nystroem(5), bandwidth=1.0, rng=0), X
    yield "precomputed", lc.make_lift(None, partitions, kernel=lc.Precomputed(K)), np.arange(n)
    yield "discrete", lc.make_lift(X, partitions, kernel="discrete"), X
    yield "callable", lc.make_lift(X, partitions, kernel=lambda A, B: A @ B.T + 1), X
    sampler = RBFSampler(n_components=9, random_state=0)
    yield "transformer", lc.make_lift(X, lift=sampler), X
    yield "pipeline", lc.make_lift(X, lift=make_pipeline(StandardScaler(), sampler)), X


@settings(max_examples=15)
@given(points_and_partitions(max_points=20))
def test_scores_are_the_adjoint_of_sums(case):
    X, partitions = case
    R = np.hstack([p.memberships.toarray() for p in partitions])
    rng = np.random.default_rng(0)
    for name, lift, points in named_lifts(X, partitions):
        V = rng.standard_normal((3, lift.n_components))
        left = lift.sums(points, R) @ V.T  # (s, 3)
        right = R.T @ lift.scores(points, V)
        scale = max(np.abs(left).max(), 1)
        np.testing.assert_allclose(left, right, atol=1e-9 * scale, err_msg=name)


@settings(max_examples=15)
@given(points_and_partitions(max_points=20))
def test_cluster_vectors_of_any_partition_sum_to_the_same_vector(case):
    X, partitions = case
    for name, lift, points in named_lifts(X, partitions):
        totals = [
            lift.sums(points, p.memberships.multiply(p.weights[:, None])).sum(axis=0)
            for p in partitions
        ]
        for total in totals[1:]:
            np.testing.assert_allclose(total, totals[0], atol=1e-9 * len(X), err_msg=name)


def test_block_size_changes_nothing(monkeypatch):
    X, labels = blobs(np.random.default_rng(0), 500, 6)
    soft = soft_memberships(np.random.default_rng(1), 500, 3)
    lift = lc.make_lift(X, lift=lc.Fourier(100), rng=0)
    whole = (
        lift.sums(X, labels[:, None] == np.arange(4)),
        lift.sums(X, soft),
        lift.scores(X, lift.sums(X, soft)),
    )
    monkeypatch.setattr(
        "liftcluster._util.arrays.row_blocks.__kwdefaults__", {"block_bytes": 8 * 100 * 17}
    )
    from liftcluster._util.arrays import row_blocks

    assert len(list(row_blocks(500, 100))) == 30
    pieces = (
        lift.sums(X, labels[:, None] == np.arange(4)),
        lift.sums(X, soft),
        lift.scores(X, lift.sums(X, soft)),
    )
    for a, b in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def test_peak_memory_is_below_all_features_and_all_pairs():
    n, rho = 30_000, 1000
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, n, 5)
    lift = lc.make_lift(X, lift=lc.Fourier(rho), rng=0)
    tracemalloc.start()
    V = lift.sums(X, lc.Partition.from_labels(labels))
    lift.scores(X, V)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    lc.represent(X[:6000], labels[:6000], lift="exact")
    used_by_exact_lift = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < n * rho * 8 / 4
    assert used_by_exact_lift < 6000 * 6000 * 8 / 4


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float16, ">f8", bool])
def test_numeric_dtypes_of_points_give_the_same_vectors(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype is bool else 100, (200, 12))
    labels = rng.integers(3, size=200)
    lift = lc.make_lift(X.astype(float), lift=lc.Fourier(64), bandwidth=50.0, rng=0)
    expected = lift.sums(X.astype(float), np.eye(3)[labels])
    np.testing.assert_allclose(
        lift.sums(X.astype(dtype), np.eye(3)[labels]), expected, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "arrange",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
        np.ndarray.tolist,
        lambda X: __import__("pandas").DataFrame(X),
    ],
    ids=["fortran", "strided", "read-only", "list", "frame"],
)
def test_memory_layout_of_points_changes_nothing(arrange):
    X, labels = blobs(np.random.default_rng(0), 100, 4)
    expected = lc.represent(X, labels, lift="fourier", rng=0).vectors
    np.testing.assert_allclose(
        lc.represent(arrange(X), labels, lift="fourier", rng=0).vectors, expected, atol=1e-12
    )


def test_single_precision_is_near_double_precision():
    X, labels = blobs(np.random.default_rng(0), 400, 10)
    kernel = lc.Gaussian(3.0)
    lifts = [
        draw_fourier_lift(kernel, 10, 500, rng=np.random.default_rng(0), dtype=dtype)
        for dtype in (np.float32, np.float64)
    ]
    V, W = (lc.represent(X, labels, lift=lift).vectors for lift in lifts)
    np.testing.assert_allclose(V, W, atol=1e-6)
    assert np.abs(V - W).max() > 0


def test_features_are_arrays_of_the_library_of_the_points():
    lift = lc.make_lift(np.zeros((1, 3)), lift=lc.Fourier(21), bandwidth=2.0, rng=0)
    X = np.random.default_rng(0).standard_normal((5, 3))
    Z = lift.features(array_api_strict.asarray(X))
    assert isinstance(Z, type(array_api_strict.asarray(X)))
    np.testing.assert_allclose(np.from_dlpack(Z), lift.features(X), atol=1e-13)


def test_auto_lift_is_exact_for_few_points_and_approximate_for_many():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 2))
    labels = rng.integers(3, size=6000)
    assert lc.represent(X[:100], labels[:100]).lift.kind == "exact"
    assert lc.represent(X, labels).lift.kind == "grid"
    assert lc.represent(X, labels, kernel="cauchy", rng=0).lift.kind == "fourier"
    # The grid would be too large.
    assert lc.represent(X, labels, bandwidth=1e-3, rng=0).lift.kind == "fourier"
    assert lc.represent(X, labels, lift=lc.Fourier(sampling="iid"), rng=0).lift.kind == "fourier"
    assert lc.make_lift(X, rng=0).kind == "fourier"  # other points may lie outside the grid
    for d, kind in ((10, "fourier"), (64, "structured")):
        Y = rng.standard_normal((6000, d))
        assert lc.represent(Y, labels, rng=0).lift.kind == kind
        assert lc.represent(Y, labels, kernel="laplace", rng=0).lift.kind == "fourier"
        assert lc.make_lift(Y, rng=0).kind == kind
    assert lc.represent(X[:100], labels[:100], lift=lc.Fourier(10)).lift.kind == "fourier"
    assert lc.represent(X, labels, kernel="discrete").lift.kind == "exact"
    assert lc.make_lift(X, kernel=lambda A, B: A @ B.T).kind == "nystroem"


def test_the_same_seed_gives_the_same_bits():
    X, labels = blobs(np.random.default_rng(0), 6000, 3)
    for options in (
        {"lift": "fourier"},
        {"lift": "structured"},
        {"lift": lc.Nystroem(30)},
        {"lift": lc.Fourier(tol=0.02)},
    ):
        a, b, c = (lc.represent(X, labels, rng=seed, **options) for seed in (1, 1, 2))
        np.testing.assert_array_equal(a.sums, b.sums)
        if a.sums.shape == c.sums.shape:  # another seed draws other features
            assert np.abs(a.sums - c.sums).max() > 1e-3 * np.abs(a.sums).max()


def test_noise_points_do_not_contribute():
    X, labels = blobs(np.random.default_rng(0), 200, 3)
    noisy = np.where(np.arange(200) < 150, labels, -1)
    lift = lc.make_lift(X, lift="fourier", rng=0)
    np.testing.assert_allclose(
        lc.represent(X, noisy, lift=lift).sums,
        lc.represent(X[:150], labels[:150], lift=lift).sums,
        atol=1e-11,
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda X, p: lc.make_lift(X, lift="fast"),
            ValueError,
            "one of auto, exact, fourier, structured, grid, nystroem",
        ),
        (lambda X, p: lc.make_lift(X, lift=3), TypeError, "lift must be one of"),
        (lambda X, p: lc.make_lift(X, lift="exact"), ValueError, "give make_lift their partitions"),
        (
            lambda X, p: lc.make_lift(X, lift=lc.Fourier(sampling="orthogonal"), kernel="laplace"),
            ValueError,
            "Euclidean",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier", kernel="discrete"),
            ValueError,
            "not shift-invariant",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier", bandwidth=None),
            ValueError,
            "bandwidth must be",
        ),
        (lambda X, p: lc.make_lift(X, lift="fourier", rng="seed"), TypeError, "rng must be"),
        (
            lambda X, p: lc.make_lift(X, p, kernel=lambda A, B: -A @ B.T),
            ValueError,
            "not positive definite",
        ),
        (lambda X, p: lc.make_lift(X, p, kernel=lc.Precomputed(np.eye(5))), TypeError, "indices"),
        (
            lambda X, p: lc.make_lift(None, p, kernel=lc.Precomputed(np.eye(7))),
            ValueError,
            "5 entries but the precomputed kernel has 7",
        ),
        (
            lambda X, p: lc.make_lift([9], [0], kernel=lc.Precomputed(np.eye(5))),
            ValueError,
            "0 … 4",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier").sums(X[:, :1], p),
            ValueError,
            "was made for 2",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier").sums(X[:3], p),
            ValueError,
            "5 entries but X has 3",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier").scores(X, np.ones((1, 3))),
            ValueError,
            r"shape \(k, 2048\)",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier").sums(X, np.ones(5)),
            ValueError,
            r"\(n, s\) matrix",
        ),
        (
            lambda X, p: lc.represent(X, p, lift=lc.make_lift(X, p, lift="exact")),
            ValueError,
            "spans only the clusters",
        ),
    ],
)
def test_invalid_lift_arguments_raise_helpful_errors(make, error, message):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(error, match=message):
        make(X, lc.Partition.from_labels([0, 0, 1, 1, 1]))


def test_an_indefinite_kernel_is_refused():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        lc.represent(None, [0, 1, 2], kernel=lc.Precomputed(K))


def test_memberships_of_a_lift_may_be_sparse_dense_or_a_partition():
    X, labels = blobs(np.random.default_rng(0), 50, 3)
    lift = lc.make_lift(X, lift=lc.Fourier(20), rng=0)
    R = np.eye(4)[labels]
    expected = R.T @ lift.features(X)
    for form in (R, sp.csc_array(R), R.tolist(), lc.Partition.from_labels(labels)):
        np.testing.assert_allclose(lift.sums(X, form), expected, atol=1e-12)


@pytest.mark.parametrize("order", ["<", ">"])
def test_points_of_either_byte_order_are_accepted(order):
    X = np.random.default_rng(0).standard_normal((30, 2))
    lift = lc.make_lift(X, lift=lc.Fourier(20), rng=0)
    reordered = X.astype(X.dtype.newbyteorder(order))
    np.testing.assert_array_equal(
        lift.sums(reordered, np.ones((30, 1))), lift.sums(X, np.ones((30, 1)))
    )


def test_squared_norms_are_those_of_the_features():
    X = np.random.default_rng(0).standard_normal((20, 2))
    for lift in (
        lc.make_lift(X, lift=lc.Fourier(7), rng=0),
        lc.make_lift(X, lift=StandardScaler()),
    ):
        np.testing.assert_allclose(
            lift.squared_norms(X), (np.asarray(lift.features(X)) ** 2).sum(axis=1)
        )
