"""Lifts: an operator and its adjoint, the kernel in the limit, sums that add up."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from amount import examples
from generators import KERNELS, blobs, points_and_partitions, soft_memberships
from hypothesis import given, settings
from oracles import cluster_products, gram
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift

SAMPLINGS = ["iid", "orthogonal", "quasi"]


def named_lifts(X, partitions):
    """One lift of each kind for the same points."""
    n = len(X)
    K = lc.Cauchy(2.0)(X, X)
    yield "exact", lc.make_lift(X, partitions, lift="exact", bandwidth=1.0), X
    for sampling in SAMPLINGS:
        for rho in (1, 2, 7, 40):
            yield (
                f"fourier {sampling} {rho}",
                lc.make_lift(
                    X, lift="fourier", bandwidth=1.0, n_components=rho, sampling=sampling, rng=0
                ),
                X,
            )
    for rho in (1, 2, 7, 300):
        options = {"lift": "structured", "bandwidth": 1.0, "n_components": rho}
        yield f"structured {rho}", lc.make_lift(X, rng=0, **options), X
    if X.shape[1] <= 3:
        yield "grid", lc.make_lift(X, lift="grid", bandwidth=np.ptp(X) / 2 + 0.1), X
    yield "nystrom", lc.make_lift(X, lift="nystrom", bandwidth=1.0, n_components=5, rng=0), X
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


@pytest.mark.parametrize("d", [1, 2, 5, 50])
@pytest.mark.parametrize(
    ("kernel", "sampling"),
    [
        (kernel, sampling)
        for kernel in KERNELS
        for sampling in SAMPLINGS
        if sampling != "orthogonal" or kernel.isotropic
    ],
    ids=str,
)
def test_fourier_features_converge_to_the_kernel(kernel, d, sampling):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((10, d)) / np.sqrt(d) * 2
    M = 4096
    lift = draw_fourier_lift(kernel, d, 2 * M, sampling=sampling, rng=rng)
    Z = lift.features(X)
    assert Z.shape == (10, 2 * M)
    # Hoeffding over the 100 entries for M independent pairs; the others are no worse.
    bound = np.sqrt(2 * np.log(2 * 100 / 1e-9) / M)
    np.testing.assert_allclose(Z @ Z.T, gram(kernel, X), atol=bound)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("rho", [1, 2, 3, 5, 8])
def test_any_number_of_features_has_the_right_mean(rho, sampling):
    X = np.array([[0.0, 0.0], [1.0, 0.5], [-0.3, 2.0]])
    kernel = lc.Gaussian(1.0)
    repeats = examples(4000)
    rng = np.random.default_rng(rho)
    mean = np.zeros((3, 3))
    for _ in range(repeats):
        lift = draw_fourier_lift(kernel, 2, rho, sampling=sampling, rng=rng)
        Z = lift.features(X)
        assert Z.shape == (3, rho)
        mean += Z @ Z.T / repeats
    # Entries lie in [-2, 2]: Hoeffding over 9 of them.
    np.testing.assert_allclose(mean, kernel(X, X), atol=np.sqrt(8 * np.log(18 / 1e-9) / repeats))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_pairs_of_features_have_length_one(sampling):
    X = np.random.default_rng(0).standard_normal((20, 4)) * 10
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 4, 64, sampling=sampling, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(lift.squared_norms(X), 1, rtol=1e-12)


def test_orthogonal_frequencies_are_orthogonal_in_blocks():
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 5, 22, sampling="orthogonal", rng=np.random.default_rng(0)
    )
    W = lift.frequencies
    products = W @ W.T
    same_block = np.equal.outer(lift.groups, lift.groups) & ~np.eye(11, dtype=bool)
    np.testing.assert_allclose(products[same_block], 0, atol=1e-12)
    assert np.abs(products[np.not_equal.outer(lift.groups, lift.groups)]).min() > 1e-6


@pytest.mark.parametrize("sampling", ["orthogonal", "quasi"])
def test_dependent_frequencies_beat_independent_ones(sampling):
    X, labels = blobs(np.random.default_rng(0), 300, 8)
    exact = lc.represent(X, labels).distances()

    def error(sampling):
        return np.mean(
            [
                (
                    lc.represent(
                        X, labels, lift="fourier", sampling=sampling, n_components=1024, rng=seed
                    ).distances()
                    - exact
                )
                ** 2
                for seed in range(20)
            ]
        )

    assert error(sampling) < 0.6 * error("iid")


@given(points_and_partitions(max_points=12))
@settings(max_examples=15)
def test_the_exact_lift_gives_the_products_of_the_kernel(case):
    X, partitions = case
    kernel = lc.Matern(1.5, 2.0)
    rep = lc.represent(X, partitions, kernel=kernel, lift="exact")
    R = np.hstack([p.memberships.toarray() * p.weights[:, None] for p in partitions])
    expected = cluster_products(gram(kernel, X), R)
    np.testing.assert_allclose(
        rep.inner_products(normalise=False), expected, rtol=1e-9, atol=1e-9 * expected.max()
    )


def test_the_exact_lift_scores_new_points_by_the_kernel():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 3)
    new = rng.standard_normal((7, 3))
    rep = lc.represent(X, labels, kernel=lc.Gaussian(1.5))
    R = np.eye(4)[labels]
    expected = lc.Gaussian(1.5)(new, X) @ R
    np.testing.assert_allclose(rep.lift.scores(new, rep.sums), expected, atol=1e-10)


def test_exact_lifts_work_over_several_blocks():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 2500, 3)
    other = rng.integers(3, size=2500)
    rep = lc.represent(X, [labels, other], kernel=lc.Gaussian(1.5), lift="exact")
    R = np.hstack([np.eye(4)[labels], np.eye(3)[other]])
    expected = R.T @ lc.Gaussian(1.5)(X, X) @ R
    np.testing.assert_allclose(rep.inner_products(normalise=False), expected, rtol=1e-10)
    np.testing.assert_allclose(
        rep.lift.scores(X[:1300], rep.sums), lc.Gaussian(1.5)(X[:1300], X) @ R, atol=1e-7
    )


def test_blocks_change_nothing(monkeypatch):
    X, labels = blobs(np.random.default_rng(0), 500, 6)
    soft = soft_memberships(np.random.default_rng(1), 500, 3)
    lift = lc.make_lift(X, lift="fourier", n_components=100, rng=0)
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


def test_no_lift_holds_all_features_or_all_pairs():
    import tracemalloc

    n, rho = 30_000, 1000
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, n, 5)
    lift = lc.make_lift(X, lift="fourier", n_components=rho, rng=0)
    tracemalloc.start()
    V = lift.sums(X, lc.Partition.from_labels(labels))
    lift.scores(X, V)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    lc.represent(X[:6000], labels[:6000], lift="exact")
    used_exactly = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < n * rho * 8 / 4
    assert used_exactly < 6000 * 6000 * 8 / 4


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float16, ">f8", bool])
def test_points_of_any_numeric_kind_give_the_same_vectors(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype is bool else 100, (200, 12))
    labels = rng.integers(3, size=200)
    lift = lc.make_lift(X.astype(float), lift="fourier", bandwidth=50.0, n_components=64, rng=0)
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
def test_the_layout_of_points_changes_nothing(arrange):
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


def test_features_live_in_the_array_library_of_the_points():
    lift = lc.make_lift(np.zeros((1, 3)), lift="fourier", bandwidth=2.0, n_components=21, rng=0)
    X = np.random.default_rng(0).standard_normal((5, 3))
    Z = lift.features(array_api_strict.asarray(X))
    assert isinstance(Z, type(array_api_strict.asarray(X)))
    np.testing.assert_allclose(np.from_dlpack(Z), lift.features(X), atol=1e-13)


def test_a_transformer_is_a_lift_and_is_not_fitted_again():
    X, labels = blobs(np.random.default_rng(0), 200, 4)
    nystroem = Nystroem(gamma=0.1, n_components=50, random_state=0).fit(X[:100])
    rep = lc.represent(X, labels, lift=nystroem)
    Z = nystroem.transform(X)
    np.testing.assert_allclose(rep.sums, np.eye(4)[labels].T @ Z, atol=1e-10)
    assert rep.distance_errors() is None


def test_text_is_lifted_by_a_vectoriser():
    texts = ["the cat sat", "the cat ran", "stocks fell", "stocks rose"]
    rep = lc.represent(
        texts, ["pet", "pet", "money", "money"], lift=HashingVectorizer(n_features=64)
    )
    assert rep.n_components == 64
    assert rep.distances()[0, 1] > 1


def test_text_is_lifted_by_a_function():
    def shared_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    words = ["tea", "eat", "ate", "zoo", "ooz"]
    labels = [0, 0, 1, 2, 2]
    for lift in ("exact", "nystrom"):
        rep = lc.represent(words, labels, kernel=shared_letters, lift=lift, rng=0)
        np.testing.assert_allclose(rep.distances()[0], [0, 0, np.sqrt(2)], atol=1e-7)


def test_nystroem_with_every_point_as_landmark_is_exact():
    X, labels = blobs(np.random.default_rng(0), 80, 3)
    rep = lc.represent(X, labels, kernel="cauchy", lift="nystrom", n_components=500, rng=0)
    exact = lc.represent(X, labels, kernel="cauchy", lift="exact")
    np.testing.assert_allclose(rep.distances(), exact.distances(), atol=1e-6)


def test_nystroem_vectors_are_never_too_long():
    X, labels = blobs(np.random.default_rng(0), 300, 5)
    rep = lc.represent(X, labels, lift="nystrom", bandwidth=2.0, n_components=40, rng=0)
    exact = lc.represent(X, labels, lift="exact", bandwidth=2.0)
    assert (rep.norms <= exact.norms * (1 + 1e-9)).all()
    assert (rep.norms < exact.norms * 0.99).any()


def test_auto_is_exact_for_few_points_and_features_for_many():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 2))
    labels = rng.integers(3, size=6000)
    assert lc.represent(X[:100], labels[:100]).lift.kind == "exact"
    assert lc.represent(X, labels).lift.kind == "grid"
    assert lc.represent(X, labels, kernel="cauchy", rng=0).lift.kind == "fourier"
    assert lc.represent(X, labels, bandwidth=1e-3, rng=0).lift.kind == "fourier"  # too many cells
    assert lc.represent(X, labels, sampling="iid", rng=0).lift.kind == "fourier"
    assert lc.make_lift(X, rng=0).kind == "fourier"  # other points may lie elsewhere
    for d, kind in ((10, "fourier"), (64, "structured")):
        Y = rng.standard_normal((6000, d))
        assert lc.represent(Y, labels, rng=0).lift.kind == kind
        assert lc.represent(Y, labels, kernel="laplace", rng=0).lift.kind == "fourier"
        assert lc.make_lift(Y, rng=0).kind == kind
    assert lc.represent(X[:100], labels[:100], n_components=10).lift.kind == "fourier"
    assert lc.represent(X, labels, kernel="discrete").lift.kind == "exact"
    assert lc.make_lift(X, kernel=lambda A, B: A @ B.T, n_components=5).kind == "nystrom"


def test_the_same_seed_gives_the_same_bits():
    X, labels = blobs(np.random.default_rng(0), 6000, 3)
    for options in (
        {"lift": "fourier"},
        {"lift": "structured"},
        {"lift": "nystrom", "n_components": 30},
        {"lift": "fourier", "tol": 0.02},
    ):
        a, b, c = (lc.represent(X, labels, rng=seed, **options) for seed in (1, 1, 2))
        np.testing.assert_array_equal(a.sums, b.sums)
        if a.sums.shape == c.sums.shape:  # another seed draws other features
            assert np.abs(a.sums - c.sums).max() > 1e-3 * np.abs(a.sums).max()


def test_noise_points_cost_nothing_and_count_nothing():
    X, labels = blobs(np.random.default_rng(0), 200, 3)
    noisy = np.where(np.arange(200) < 150, labels, -1)
    lift = lc.make_lift(X, lift="fourier", rng=0)
    np.testing.assert_allclose(
        lc.represent(X, noisy, lift=lift).sums,
        lc.represent(X[:150], labels[:150], lift=lift).sums,
        atol=1e-11,
    )


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (
            lambda X, p: lc.make_lift(X, lift="fast"),
            ValueError,
            "one of auto, exact, fourier, structured, grid, nystrom",
        ),
        (lambda X, p: lc.make_lift(X, lift=3), TypeError, "lift must be one of"),
        (lambda X, p: lc.make_lift(X, lift="exact"), ValueError, "give make_lift their partitions"),
        (lambda X, p: lc.make_lift(X, lift="fourier", n_components=0), ValueError, "at least 1"),
        (lambda X, p: lc.make_lift(X, lift="fourier", n_components=2.5), TypeError, "whole number"),
        (
            lambda X, p: lc.make_lift(X, lift="fourier", sampling="best"),
            ValueError,
            "sampling must be one of",
        ),
        (
            lambda X, p: lc.make_lift(X, lift="fourier", kernel="laplace", sampling="orthogonal"),
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
        (
            lambda X, p: lc.represent(X, p, lift="nystrom", tol=0.1),
            ValueError,
            "tol needs a lift that knows",
        ),
        (lambda X, p: lc.represent(X, p, tol=-1), ValueError, "tol must be positive"),
    ],
)
def test_bad_lifts_get_an_error_that_says_what_to_do(make, error, says):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(error, match=says):
        make(X, lc.Partition.from_labels([0, 0, 1, 1, 1]))


def test_an_indefinite_kernel_is_refused():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        lc.represent(None, [0, 1, 2], kernel=lc.Precomputed(K))


def test_memberships_of_a_lift_may_be_sparse_dense_or_a_partition():
    X, labels = blobs(np.random.default_rng(0), 50, 3)
    lift = lc.make_lift(X, lift="fourier", n_components=20, rng=0)
    R = np.eye(4)[labels]
    expected = R.T @ lift.features(X)
    for form in (R, sp.csc_array(R), R.tolist(), lc.Partition.from_labels(labels)):
        np.testing.assert_allclose(lift.sums(X, form), expected, atol=1e-12)


def test_exact_sums_in_single_precision_keep_small_distances(monkeypatch):
    """Clusters that share all but a point: their distance is small, and still right."""
    from liftcluster.lifts import exact as span

    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 1500, 30)
    moved = labels.copy()
    moved[0] = (moved[0] + 1) % 4
    assert span._single_precision_blocks(lc.Gaussian(lc.bandwidth(X)), X) is not None
    single = lc.represent(X, [labels, moved, labels[::-1]], lift="exact").distances()
    monkeypatch.setattr(span, "_single_precision_blocks", lambda kernel, X: None)
    double = lc.represent(X, [labels, moved, labels[::-1]], lift="exact").distances()
    np.testing.assert_allclose(single, double, atol=1e-6)
    nearest = double[:4, 4:8].diagonal()
    assert 0 < nearest.max() < 0.01
    np.testing.assert_allclose(single[:4, 4:8].diagonal(), nearest, atol=1e-9)


def test_exact_sums_are_double_where_single_precision_would_not_do():
    from liftcluster.lifts import exact as span

    X = blobs(np.random.default_rng(0), 1500, 30)[0]
    not_smooth_at_zero = lc.Matern(0.5, 20.0)  # √ of a rounding error is no rounding error
    for kernel in (lc.Gaussian(0.5), lc.Laplace(5.0), lc.Gaussian([5.0, 10.0]), not_smooth_at_zero):
        assert span._single_precision_blocks(kernel, X) is None
    assert span._single_precision_blocks(lc.Gaussian(30.0), X[:, :5]) is None
    assert span._single_precision_blocks(lc.Gaussian(30.0), X * 1e300) is None
    for kernel in (lc.Gaussian(20.0), lc.Cauchy(20.0)):
        (K,) = span._single_precision_blocks(kernel, X)(slice(0, 9), slice(5, 40))
        np.testing.assert_allclose(K, kernel(X[:9], X[5:40]), atol=1e-6)


@pytest.mark.parametrize("order", ["<", ">"])
def test_points_may_say_in_which_order_their_bytes_are(order):
    X = np.random.default_rng(0).standard_normal((30, 2))
    lift = lc.make_lift(X, lift="fourier", n_components=20, rng=0)
    told = X.astype(X.dtype.newbyteorder(order))
    np.testing.assert_array_equal(lift.sums(told, np.ones((30, 1))), lift.sums(X, np.ones((30, 1))))


OWN = {
    "kernel": "laplace",
    "bandwidth": 3.0,
    "n_components": 32,
    "sampling": "iid",
}


def _uses_of_a_lift(X, a, b):
    """Every way in for a lift that is made already."""
    blocks = lc.Blocks([X[:20], X[20:]])
    return {
        "make_lift": lambda **how: lc.make_lift(X, **how),
        "represent": lambda **how: lc.represent(X, [a, b], **how),
        "represent, blocks": lambda **how: lc.represent(blocks, [a, b], **how),
        "samples": lambda **how: lc.represent_samples([(X, a), (X + 1, b)], **how),
        "distance": lambda **how: lc.distance(a, b, X, **how),
        "matrix": lambda **how: lc.distance_matrix([a, b], X, **how),
        "compare": lambda **how: lc.compare(a, b, X, **how),
        "consensus": lambda **how: lc.consensus([a, b], 2, X, **how),
        "significance": lambda **how: lc.significance(a, b, X, n_permutations=3, **how),
    }


@pytest.fixture
def two_partitions():
    X, truth = blobs(np.random.default_rng(0), 40, 2, k=2)
    return X, truth, np.roll(truth, 5)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
@pytest.mark.parametrize("made", ["lift", "transformer"])
@pytest.mark.parametrize("use", _uses_of_a_lift(*[np.zeros((40, 2))] * 3))
def test_a_lift_that_is_made_leaves_nothing_to_ask_for(use, made, two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, rng=0)
    if made == "transformer":
        lift = RBFSampler(gamma=0.125, n_components=64, random_state=0).fit(X)
    call = _uses_of_a_lift(X, a, b)[use]
    call(lift=lift)  # the usual options are no wish
    for option, value in OWN.items():
        with pytest.raises(ValueError, match=f"{option} of its own; leave {option} out"):
            call(lift=lift, **{option: value})
    with pytest.raises(ValueError, match="leave bandwidth out"):
        call(lift=lift, bandwidth="scott")


def test_what_a_lift_has_may_be_said_again(two_partitions):
    X, a, b = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, sampling="iid", rng=0)
    alike = {"kernel": lc.Gaussian(2.0), "bandwidth": 2.0, "n_components": 64, "sampling": "iid"}
    assert lc.distance(a, b, X, lift=lift, **alike) == lc.distance(a, b, X, lift=lift)


def test_an_estimator_with_a_lift_of_its_own_wants_no_other_options(two_partitions):
    X, _, _ = two_partitions
    lift = lc.make_lift(X, lift="fourier", bandwidth=2.0, n_components=64, rng=0)
    for kind in (lc.LiftedConsensus, lc.MaxMMDClustering):
        model = clone(kind(2, lift=lift, random_state=0))
        assert len(set(model.fit(X).labels_)) == 2
        for option, value in {**OWN, "bandwidth": "scott"}.items():
            if option in model.get_params():
                other = clone(model).set_params(**{option: value})
                with pytest.raises(ValueError, match=f"leave {option} out"):
                    other.fit(X)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kernel": lc.Gaussian(1.0), "bandwidth": 5.0}, "gaussian kernel has a bandwidth of its"),
        ({"kernel": lc.Matern(1.5, 1.0), "bandwidth": [1.0, 5.0]}, "matern kernel has a bandwidth"),
        ({"kernel": "discrete", "bandwidth": 5.0}, "discrete kernel has no bandwidth; leave"),
        ({"kernel": lambda X, Y: X @ Y.T, "bandwidth": 5.0}, "callable kernel has no bandwidth"),
        ({"lift": "exact", "n_components": 64}, "no use for n_components; leave that out"),
        ({"lift": "exact", "sampling": "iid"}, "no use for sampling; leave that out"),
        ({"lift": "nystrom", "sampling": "iid"}, 'how lift="fourier" draws frequencies'),
    ],
)
def test_an_option_that_could_do_nothing_is_refused(options, says, two_partitions):
    X, a, b = two_partitions
    with pytest.raises(ValueError, match=says):
        lc.distance(a, b, X, **options)
    lc.distance(a, b, X, kernel=lc.Gaussian(5.0), bandwidth=5.0)  # says the same twice
