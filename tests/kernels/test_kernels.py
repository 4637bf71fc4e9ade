"""Kernels: values against the formulas, spectra against the values, bandwidths against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.special import gamma, kv
from sklearn.gaussian_process.kernels import Matern as GaussianProcessMatern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import liftcluster as lc
from liftcluster.kernels import bandwidths
from liftcluster.kernels.distances import pairwise_distances
from liftcluster.kernels.kernel import as_kernel, kernel_from_state
from support.generators import KERNELS
from support.oracles import gram


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [1, 3, 20])
def test_kernel_values_match_the_formula(kernel, d):
    X = np.random.default_rng(d).standard_normal((12, d))
    X[1] = X[0]
    np.testing.assert_allclose(kernel(X, X), gram(kernel, X), atol=1e-9)


def test_kernel_values_agree_with_scikit_learn():
    X = np.random.default_rng(0).standard_normal((30, 15))
    np.testing.assert_allclose(lc.Gaussian(2.0)(X, X), rbf_kernel(X, gamma=1 / 8), atol=1e-12)
    np.testing.assert_allclose(lc.Laplace(2.0)(X, X), laplacian_kernel(X, gamma=1 / 2), atol=1e-12)
    for nu in (0.5, 1.5, 2.5, 3.3):
        theirs = GaussianProcessMatern(length_scale=2.0, nu=nu)(X)
        np.testing.assert_allclose(lc.Matern(nu, 2.0)(X, X), theirs, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 5, 50])
def test_frequencies_follow_the_multivariate_spectral_distribution(kernel, d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((8, d)) / np.sqrt(d) * 2
    M = 20_000
    W = kernel.sample_spectrum(M, d, rng) / kernel.scale
    phases = X @ W.T
    estimate = (np.cos(phases) @ np.cos(phases).T + np.sin(phases) @ np.sin(phases).T) / M
    # Hoeffding for 64 means of M cosines, failing once in 10^9.
    bound = np.sqrt(2 * np.log(2 * 64 / 1e-9) / M)
    np.testing.assert_allclose(estimate, kernel(X, X), atol=bound)


def test_multivariate_matern_kernel_is_isotropic():
    x, y = np.zeros((1, 3)), np.ones((1, 3)) / np.sqrt(3)
    kernel = lc.Matern(nu=0.5, bandwidth=1.0)
    assert kernel(x, y)[0, 0] == pytest.approx(np.exp(-1))
    M = 200_000
    W = kernel.sample_spectrum(M, 3, np.random.default_rng(0))
    estimate = np.cos(W @ (x - y)[0]).mean()
    # Drawing the coordinates one by one gives 0.179 (PAPER-NOTES), far outside.
    assert abs(estimate - np.exp(-1)) < np.sqrt(2 * np.log(2 / 1e-9) / M)


def test_a_mixture_is_the_weighted_mean_of_its_kernels():
    X = np.random.default_rng(0).standard_normal((10, 4))
    mixture = lc.Gaussian([1.0, 3.0], weights=[3, 1])
    expected = 0.75 * lc.Gaussian(1.0)(X, X) + 0.25 * lc.Gaussian(3.0)(X, X)
    np.testing.assert_allclose(mixture(X, X), expected, rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("d", [2, 30])
def test_distances_are_accurate_far_from_the_origin(shift, d):
    X = np.round(np.random.default_rng(0).standard_normal((20, d)), 3)
    expected = pairwise_distances(X, X, power=2)
    # Adding 1e9 itself rounds coordinates to 1e-7.
    np.testing.assert_allclose(
        pairwise_distances(X + shift, X + shift, power=2), expected, atol=1e-9 + abs(shift) * 1e-14
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("kernel", [lc.Gaussian, lc.Laplace, lc.Cauchy, lc.Matern], ids=str)
def test_scaling_points_and_bandwidth_together_changes_nothing(kernel, scale):
    X = np.random.default_rng(0).standard_normal((20, 3))
    expected = kernel(bandwidth=1.0)(X, X)
    np.testing.assert_allclose(kernel(bandwidth=scale)(X * scale, X * scale), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [lc.Gaussian, lc.Laplace, lc.Cauchy, lc.Matern], ids=str)
def test_far_points_have_similarity_zero_without_a_warning(kernel):
    K = kernel(bandwidth=1.0)(np.array([[0.0], [1e150], [1e200]]), np.array([[0.0], [1e150]]))
    np.testing.assert_allclose(K, [[1, 0], [0, 1], [0, 0]], atol=1e-200)


def test_distances_that_overflow_relative_to_the_bandwidth_are_refused():
    with pytest.raises(ValueError, match="too far apart for a bandwidth"):
        lc.Gaussian(1e-200)(np.array([[0.0], [1e200]]), np.array([[0.0]]))


def test_the_discrete_kernel_compares_coordinates():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]])
    expected = [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(lc.Discrete()(X, X), expected)


def test_diagonal_is_that_of_the_kernel_matrix():
    X = np.random.default_rng(0).standard_normal((130, 3))
    K = X @ X.T
    for kernel, points in [
        (lc.Gaussian(1.0), X),
        (lc.Discrete(), X),
        (lc.Precomputed(K), np.arange(130)),
        (as_kernel(lambda A, B: A @ B.T), X),
    ]:
        np.testing.assert_allclose(
            kernel.diagonal(points), np.diag(kernel(points, points)), atol=1e-12
        )


@pytest.mark.parametrize("kernel", [*KERNELS, lc.Discrete()], ids=repr)
def test_kernel_is_restored_from_its_state(kernel):
    assert kernel_from_state(kernel.state()) == kernel


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lc.Gaussian(0.0), ValueError, "bandwidth must be positive"),
        (lambda: lc.Gaussian(-1), ValueError, "bandwidth must be positive"),
        (lambda: lc.Gaussian(float("nan")), ValueError, "bandwidth must be positive"),
        (lambda: lc.Gaussian("wide"), TypeError, "bandwidth must be a number"),
        (lambda: lc.Gaussian([]), ValueError, "empty"),
        (lambda: lc.Gaussian([1, 2], weights=[1]), ValueError, "as many weights"),
        (lambda: lc.Gaussian(weights=[1]), ValueError, "give those too"),
        (lambda: lc.Matern(nu=0), ValueError, "nu must be positive"),
        (lambda: lc.Gaussian()([[0.0]], [[1.0]]), ValueError, "has no bandwidth yet"),
        (lambda: lc.Gaussian(1.0)(np.zeros((2, 3)), np.zeros((2, 4))), ValueError, "one space"),
        (lambda: lc.Precomputed([[1, 2, 3]]), ValueError, "square"),
        (lambda: lc.Precomputed([[1, 0.5], [0.1, 1]]), ValueError, "must be symmetric"),
        (lambda: lc.Precomputed([[1, np.nan], [np.nan, 1]]), ValueError, "finite"),
        (lambda: as_kernel("gausian"), ValueError, "one of gaussian, laplace"),
        (lambda: as_kernel(lc.Gaussian), TypeError, r"write Gaussian\(...\)"),
        (lambda: as_kernel(3), TypeError, "must be a name"),
        (lambda: as_kernel(lambda X, Y: 1.0)([0], [1]), ValueError, r"shape \(1, 1\)"),
        (lambda: as_kernel(lambda X, Y: np.full((1, 1), np.nan))([0], [1]), ValueError, "NaN"),
    ],
)
def test_invalid_kernels_raise_helpful_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_bandwidth_rules_match_their_definitions():
    X = np.random.default_rng(0).standard_normal((200, 3)) * [1, 2, 3]
    assert lc.bandwidth(X) == pytest.approx(np.median(pdist(X)))
    assert lc.bandwidth(X, "mean*2") == pytest.approx(2 * np.mean(pdist(X)))
    assert lc.bandwidth(X, "median / 4") == pytest.approx(np.median(pdist(X)) / 4)
    assert lc.bandwidth(X, metric="cityblock") == pytest.approx(np.median(pdist(X, "cityblock")))
    assert lc.bandwidth(X, "scale") == pytest.approx(np.sqrt(X.var(axis=0).sum() / 2))
    deviation = np.sqrt(X.var(axis=0).mean())
    assert lc.bandwidth(X, "scott") == pytest.approx(deviation * 200 ** (-1 / 7))
    assert lc.bandwidth(X, "silverman") == pytest.approx(deviation * (200 * 5 / 4) ** (-1 / 7))


@pytest.mark.parametrize("d", [1, 13, 65])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])  # odd and even numbers of pairs
def test_default_bandwidth_is_the_median_of_all_pairs(n, d):
    X = np.random.default_rng(n).standard_normal((n, d))
    for metric in ("euclidean", "cityblock"):
        assert lc.bandwidth(X, metric=metric) == pytest.approx(np.median(pdist(X, metric)))


def test_bandwidth_of_a_sample_is_close_to_that_of_all_points():
    X = np.random.default_rng(0).standard_normal((3000, 5))
    assert lc.bandwidth(X, rng=0) == pytest.approx(np.median(pdist(X)), rel=0.05)
    assert lc.bandwidth(X, rng=0) == lc.bandwidth(X, rng=0)
    assert abs(lc.bandwidth(X, rng=0) - lc.bandwidth(X, rng=1)) > 1e-3  # other samples
    assert lc.bandwidth(X) == lc.bandwidth(X)  # deterministic without a seed


def test_bandwidth_of_points_seen_before_is_not_computed_again(monkeypatch):
    computed = []

    def count(Z, *rest):
        computed.append(Z.shape)
        return pdist(Z, *rest)

    monkeypatch.setattr(bandwidths, "pdist", count)
    X = np.random.default_rng(0).standard_normal((50, 3))
    first = lc.bandwidth(X)
    assert lc.bandwidth(X.copy()) == lc.bandwidth(X.astype(np.float64, order="F")) == first
    assert len(computed) == 1
    X[0] += 100.0
    X[7] -= 100.0
    different = {lc.bandwidth(X), lc.bandwidth(X, metric="cityblock"), lc.bandwidth(X, "mean")}
    different |= {lc.bandwidth(X.reshape(75, 2)), lc.bandwidth(X, "median/2")}
    assert len(different | {first}) == 6
    assert lc.bandwidth(X, "scott") > lc.bandwidth(X, "scott", n_total=10**6)
    large = np.random.default_rng(0).standard_normal((1000, 9))
    computed.clear()
    assert lc.bandwidth(large) == lc.bandwidth(large)
    assert len(computed) == 2  # not kept in memory


@pytest.mark.parametrize("d", [3, 13, 100])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("power", [1, 2])
def test_distances_of_points_to_themselves_have_the_bits_of_those_to_a_copy(d, metric, power):
    if metric == "cityblock" and power == 2:
        return
    X = 5.0 * np.random.default_rng(d).standard_normal((57, d)) + 3.0
    X[1] = X[0]
    found = pairwise_distances(X, X, metric, scale=2.0, power=power)
    copied = pairwise_distances(X, X.copy(), metric, scale=2.0, power=power)
    np.testing.assert_array_equal(found, copied)
    assert (found >= 0).all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_bandwidths_scale_with_the_points_at_any_magnitude(scale):
    X = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    for rule in ("median", "mean", "scale", "scott", "silverman"):
        assert lc.bandwidth(X * scale, rule) == pytest.approx(lc.bandwidth(X, rule) * scale)


def test_identical_points_have_a_positive_bandwidth():
    assert lc.bandwidth(np.ones((10, 2))) == 1.0
    assert lc.bandwidth([[3.0, 4.0]]) == 1.0
    assert lc.bandwidth([[0.0]] * 10 + [[2.0]]) == 2.0


@pytest.mark.parametrize("rule", ["median/0", "mode", "median**2", "", 3, "median/x"])
def test_unknown_bandwidth_rules_are_refused(rule):
    with pytest.raises(ValueError, match="rule"):
        lc.bandwidth([[0.0], [1.0]], rule)


@pytest.mark.parametrize("nu", [0.1, 0.3, 3.3, 20.0, 100.0])
def test_matern_matches_the_formula_for_small_and_large_nu(nu):
    r = np.array([0.0, 1e-6, 1e-3, 0.1, 0.7, 2.0, 5.0])
    z = np.sqrt(2 * nu) * r
    with np.errstate(all="ignore"):
        expected = 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)
    ours = lc.Matern(nu, 1.0)(r[:, None], np.zeros((1, 1)))[:, 0]
    known = np.isfinite(expected) & (expected > 0)
    np.testing.assert_allclose(ours[known], expected[known], atol=1e-9)
    assert ours[0] == 1
    assert (np.diff(ours) <= 0).all()


def test_matern_with_large_nu_is_close_to_the_gaussian():
    X = np.linspace(0, 3, 20)[:, None]
    np.testing.assert_allclose(lc.Matern(100.0, 1.0)(X, X), lc.Gaussian(1.0)(X, X), atol=0.01)


@pytest.mark.parametrize("nu", [0.01, 170.0, 500.0])
def test_nu_outside_the_supported_range_is_refused(nu):
    with pytest.raises(ValueError, match="nu must lie in"):
        lc.Matern(nu)


def test_mixtures_of_very_different_bandwidths_keep_the_narrow_one():
    X = np.random.default_rng(0).standard_normal((40, 20))
    narrow, wide = lc.Gaussian(1e-7), lc.Gaussian(1.0)
    expected = (narrow(X, X) + wide(X, X)) / 2
    np.testing.assert_allclose(lc.Gaussian([1e-7, 1.0])(X, X), expected, atol=1e-12)
    assert np.isfinite(lc.Gaussian([1e-200, 1.0])(X, X)).all()


def test_points_too_far_apart_are_refused_without_a_warning():
    X = np.array([[-1e300], [1e300], [0.0]])
    with pytest.raises(ValueError, match="too far apart"):
        lc.distance([0, 0, 1], [0, 1, 1], X, bandwidth=1e-300)


def test_integers_beyond_the_float_range_are_refused():
    with pytest.raises(ValueError, match="bandwidth must be positive and finite"):
        lc.Gaussian(10**400)
