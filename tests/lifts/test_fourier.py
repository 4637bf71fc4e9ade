"""Random Fourier features: convergence to the kernel, frequencies, precision."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift
from support.amount import examples
from support.generators import KERNELS, SAMPLINGS, blobs
from support.oracles import gram


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
def test_features_are_unbiased_for_any_number_of_components(rho, sampling):
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
def test_feature_vectors_of_cosine_sine_pairs_have_unit_norm(sampling):
    X = np.random.default_rng(0).standard_normal((20, 4)) * 10
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 4, 64, sampling=sampling, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(lift.squared_norms(X), 1, rtol=1e-12)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_float16_holds_the_frequencies_in_a_unit_of_their_own(sampling):
    for kernel in (lc.Gaussian(1.0), lc.Matern(1.5, bandwidth=1.0)):
        lift = draw_fourier_lift(kernel, 12, 1000, sampling=sampling, rng=np.random.default_rng(0))
        directions, lengths = lift.factored()
        np.testing.assert_array_equal(directions * lengths[:, None], lift.frequencies)
        # Below 2⁻¹⁴ float16 has fewer bits.
        apart = np.abs(directions.astype(np.float16) - directions)
        assert apart.max() <= 2**-25
        assert apart[np.abs(directions) >= 2**-14].max() == 0


def test_orthogonal_frequencies_are_orthogonal_in_blocks():
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 5, 22, sampling="orthogonal", rng=np.random.default_rng(0)
    )
    W = lift.frequencies
    products = W @ W.T
    same_block = np.equal.outer(lift.groups, lift.groups) & ~np.eye(11, dtype=bool)
    lengths = np.linalg.norm(W, axis=1)
    # Rounding to 11 bits moves each of two frequencies by 2⁻¹² of its length at most.
    np.testing.assert_array_less(
        np.abs(products / np.outer(lengths, lengths))[same_block], 2.01 * 2**-12
    )
    assert np.abs(products[np.not_equal.outer(lift.groups, lift.groups)]).min() > 1e-6


@pytest.mark.parametrize("sampling", ["orthogonal", "quasi"])
def test_dependent_frequencies_are_more_accurate_than_independent_ones(sampling):
    X, labels = blobs(np.random.default_rng(0), 300, 8)
    exact = lc.represent(X, labels).distances()

    def error(sampling):
        return np.mean(
            [
                (
                    lc.represent(
                        X, labels, lift=lc.Fourier(1024, sampling=sampling), rng=seed
                    ).distances()
                    - exact
                )
                ** 2
                for seed in range(20)
            ]
        )

    assert error(sampling) < 0.6 * error("iid")


def test_inaccurate_phases_of_far_points_are_refused():
    lift = lc.make_lift(np.zeros((2, 1)), lift="fourier", bandwidth=1.0, rng=0)
    with pytest.raises(ValueError, match="bandwidths away"):
        lift.sums(np.array([[0.0], [1e10]]), np.ones((2, 1)))


def test_single_precision_is_accurate_far_from_the_origin():
    X, labels = blobs(np.random.default_rng(0), 200, 3)
    kernel = lc.Gaussian(2.0)
    exact = lc.represent(X, labels, kernel=kernel).distances()
    lift = draw_fourier_lift(
        kernel,
        3,
        4000,
        centre=X.mean(axis=0) + 1e8,
        dtype=np.float32,
        rng=np.random.default_rng(0),
    )
    shifted = lc.represent(X + 1e8, labels, lift=lift).distances()
    np.testing.assert_allclose(shifted, exact, atol=0.05)


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_single_precision_accepts_weights_of_any_magnitude(scale):
    X, labels = blobs(np.random.default_rng(0), 100, 2)
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 2, 64, dtype=np.float32, rng=np.random.default_rng(0)
    )
    plain = lc.represent(X, labels, lift=lift, weights=np.ones(100))
    scaled = lc.represent(X, labels, lift=lift, weights=np.full(100, scale))
    np.testing.assert_allclose(scaled.vectors, plain.vectors, atol=1e-6)


def test_loose_tolerance_uses_few_features():
    X, labels = blobs(np.random.default_rng(0), 100, 3)
    assert lc.represent(X, labels, lift=lc.Fourier(tol=0.5), rng=0).n_components == 512


def test_added_frequencies_form_new_groups():
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 3, 60, sampling="orthogonal", rng=np.random.default_rng(0)
    )
    joined, new = lift.extend(120, np.random.default_rng(1))
    assert len(set(joined.groups)) == len(set(lift.groups)) + len(set(new.groups))
