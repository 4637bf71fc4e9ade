"""Standard errors: coverage of exact values, zero without randomness, below a tolerance."""

import numpy as np
import pytest

import liftcluster as lc
from benchmarks.coverage import coverage
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.lifts.uncertainty import (
    distance_deviations,
    inner_product_deviations,
    standard_error,
)
from support.generators import blobs, real_problem

PROBLEMS = {
    "iris": lambda: real_problem("iris"),
    "wine": lambda: real_problem("wine"),
    "blobs": lambda: (
        (data := blobs(np.random.default_rng(0), 300, 8))[0],
        [data[1], np.random.default_rng(1).integers(3, size=300)],
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("normalise", [True, False])
def test_two_standard_errors_of_independent_features_cover_about_95_percent(name, normalise):
    X, partitions = PROBLEMS[name]()
    result = coverage(X, partitions, "iid", n_components=400, seeds=60, normalise=normalise)
    # 60 draws of correlated distances: within three standard deviations of 95 %.
    assert 0.90 <= result.distances <= 0.99
    assert 0.90 <= result.inner_products <= 0.99


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("sampling", ["orthogonal", "quasi"])
def test_errors_of_dependent_features_are_conservative(name, sampling):
    X, partitions = PROBLEMS[name]()
    result = coverage(X, partitions, sampling, n_components=400, seeds=40)
    assert result.distances >= 0.90
    assert result.inner_products >= 0.90


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "quasi"])
@pytest.mark.parametrize("kernel", [lc.Laplace(4.0), lc.Cauchy(2.0), lc.Matern(1.5, 2.0)], ids=repr)
def test_errors_cover_exact_distances_for_other_kernels_and_odd_numbers_of_features(
    kernel, sampling
):
    if sampling == "orthogonal" and not kernel.isotropic:
        sampling = "iid"
    X, partitions = PROBLEMS["iris"]()
    result = coverage(X, partitions, sampling, n_components=401, seeds=40, kernel=kernel)
    assert result.distances >= 0.90


def test_standard_error_agrees_with_the_jackknife():
    """The jackknife over frequencies estimates the same variance."""
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    M = 60
    lift = draw_fourier_lift(
        lc.Gaussian(2.0), 3, 2 * M, sampling="iid", rng=np.random.default_rng(0)
    )
    V = lift.sums(X, np.eye(4)[labels])
    groups = lift.feature_groups()

    def statistics(V):
        norms = np.linalg.norm(V, axis=1, keepdims=True)
        U = V / norms
        raw = V * np.sqrt(2 * M / V.shape[1])  # fewer features, same scale
        apart = np.linalg.norm(U[:, None] - U[None], axis=2)
        raw_apart = np.linalg.norm(raw[:, None] - raw[None], axis=2)
        return np.array([apart, U @ U.T, raw_apart, raw @ raw.T])

    left_out = np.array([statistics(V[:, groups != g]) for g in range(M)])
    jackknife = np.sqrt((M - 1) / M * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    ours = np.array(
        [
            standard_error(deviations(V, V, groups, normalise=normalise))
            for normalise in (True, False)
            for deviations in (distance_deviations, inner_product_deviations)
        ]
    )
    off_diagonal = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(ours[:, off_diagonal], jackknife[:, off_diagonal], rtol=0.1)
    np.testing.assert_allclose(ours[[0, 1, 2]][:, ~off_diagonal], 0, atol=1e-12)


def test_exact_vectors_and_equal_clusters_have_zero_error():
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    assert lc.represent(X, labels).max_error == 0
    rep = lc.represent(X, [labels, labels], lift="fourier", rng=0)
    equal = np.eye(4, k=4, dtype=bool)[:4]
    np.testing.assert_array_equal(rep.distances()[:4, 4:].diagonal(), 0)
    np.testing.assert_array_equal(rep.distance_errors()[:4][equal.nonzero()[0]].min(axis=1), 0)


@pytest.mark.parametrize("rho", [1, 2])
def test_single_frequency_has_infinite_error(rho):
    rep = lc.represent([[0.0], [1.0]], [0, 1], lift=lc.Fourier(rho), rng=0)
    assert np.isinf(rep.distance_errors()).all()


def test_errors_decrease_with_the_square_root_of_the_number_of_features():
    X, labels = blobs(np.random.default_rng(0), 200, 5)
    few, many = (
        lc.represent(X, labels, lift=lc.Fourier(rho, sampling="iid"), rng=0).max_error
        for rho in (500, 8000)
    )
    assert few / many == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "quasi"])
def test_tolerance_is_reached_by_adding_features(sampling):
    X, labels = blobs(np.random.default_rng(0), 300, 6)
    rep = lc.represent(X, labels, lift=lc.Fourier(sampling=sampling, tol=0.008), rng=0)
    assert rep.max_error <= 0.008
    assert rep.n_components > 512
    exact = lc.represent(X, labels)
    assert np.abs(rep.distances() - exact.distances()).max() <= 4 * 0.008
    # The joined vectors are those of the joined lift, with the right scale.
    np.testing.assert_allclose(rep.sums, rep.lift.sums(X, np.eye(4)[labels]), atol=1e-10)


def test_reaching_a_tolerance_computes_no_feature_twice(monkeypatch):
    from liftcluster.lifts.fourier import FourierLift

    lifted = []
    original = FourierLift.sums
    monkeypatch.setattr(
        FourierLift,
        "sums",
        lambda self, X, R: lifted.append(self.n_components) or original(self, X, R),
    )
    X, labels = blobs(np.random.default_rng(0), 300, 6)
    rep = lc.represent(X, labels, lift=lc.Fourier(sampling="iid", tol=0.01), rng=0)
    assert len(lifted) > 1
    assert sum(lifted) == rep.n_components


def test_unreachable_tolerance_warns(monkeypatch):
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    monkeypatch.setattr("liftcluster.lifts.trigonometric._MAX_BYTES", 100_000)
    with pytest.warns(UserWarning, match=r"standard error is .* above tol = 0.0001"):
        lc.represent(X, labels, lift=lc.Fourier(tol=1e-4), rng=0)


@pytest.mark.parametrize("settings", [lc.Fourier(tol=0.1), lc.Structured(tol=0.1)], ids=str)
def test_tolerance_is_refused_where_features_cannot_be_added(settings):
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    for call in (
        lambda: lc.make_lift(X, lift=settings),
        lambda: lc.bandwidth_profile(labels, labels, X, lift=settings),
    ):
        with pytest.raises(ValueError, match=r"tol adds features until .* give n_components here"):
            call()


def test_n_components_for_satisfies_the_bound_of_the_theorem():
    """At most a fraction δ of 200 draws has an error above ε for any pair of points."""
    eps, delta, n = 0.25, 0.2, 12
    rho = lc.n_components_for(eps, delta, n)
    assert rho == 2 * int(np.ceil(8 / eps**2 * np.log(n * (n - 1) / delta)))
    rng = np.random.default_rng(0)
    for kernel in (lc.Gaussian(1.0), lc.Matern(0.5, 1.0)):
        X = rng.standard_normal((n, 3)) * np.logspace(-3, 1, n)[:, None]
        exact = np.sqrt(np.maximum(2 - 2 * kernel(X, X), 0))
        failures = 0
        for _ in range(200):
            lift = draw_fourier_lift(kernel, 3, rho, sampling="iid", rng=rng)
            Z = lift.features(X)
            D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
            failures += np.abs(D - exact).max() > eps
        assert failures <= delta * 200


@pytest.mark.parametrize(
    ("eps", "delta", "n"), [(0, 0.1, 5), (3, 0.1, 5), (0.1, 0, 5), (0.1, 1, 5), (0.1, 0.1, 1)]
)
def test_invalid_arguments_of_n_components_for_are_refused(eps, delta, n):
    with pytest.raises(ValueError, match="must"):
        lc.n_components_for(eps, delta, n)
