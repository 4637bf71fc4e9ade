"""Structured features: orthogonal frequencies applied by a fast Hadamard transform."""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard
from sklearn.datasets import load_digits

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.lifts.structured import draw_structured_lift
from support.generators import KERNELS, blobs

ISOTROPIC = [kernel for kernel in KERNELS if kernel.isotropic]


def literal_frequencies(lift):
    """Each block as the product of Hadamard and sign matrices, scaled by the lengths."""
    p, d = lift.padded, lift.d
    H = hadamard(p) / np.sqrt(p)
    blocks = []
    for signs in 1.0 - 2.0 * lift.signs:
        D1, D2, D3 = (np.diag(row) for row in signs)
        blocks.append((H @ D3 @ H @ D2 @ H @ D1)[:, :d])
    rows = np.concatenate(blocks)[: len(lift.lengths)]
    return rows * lift.lengths[:, None]


@pytest.mark.parametrize("d", [1, 3, 64, 70, 200])
def test_fast_transform_equals_the_matrix_product(d):
    lift = draw_structured_lift(lc.Gaussian(2.0), d, 700, rng=np.random.default_rng(d))
    np.testing.assert_allclose(lift.frequencies, literal_frequencies(lift), atol=1e-12)


def test_complete_blocks_have_orthogonal_directions():
    lift = draw_structured_lift(lc.Gaussian(1.0), 128, 4 * 128, rng=np.random.default_rng(0))
    for block in np.split(lift.frequencies, 2):
        directions = block / np.linalg.norm(block, axis=1, keepdims=True)
        np.testing.assert_allclose(directions @ directions.T, np.eye(128), atol=1e-12)


@pytest.mark.parametrize("kernel", ISOTROPIC, ids=str)
@pytest.mark.parametrize("d", [33, 100])
def test_structured_features_converge_to_the_kernel(kernel, d):
    """The error of M pairs over N entries is below sqrt(2 log(2N/1e-9)/M)."""
    rng = np.random.default_rng(5)
    X = 1.5 * rng.standard_normal((20, d)) / np.sqrt(d)
    M = 20_000
    Z = draw_structured_lift(kernel, d, 2 * M, rng=rng).features(X)
    bound = np.sqrt(2 * np.log(2 * 400 / 1e-9) / M)
    assert np.abs(Z @ Z.T - kernel(X, X)).max() < bound


@pytest.mark.parametrize("kernel", ISOTROPIC, ids=str)
@pytest.mark.parametrize("d", [1, 7, 64])
def test_sampled_lengths_are_distributed_as_norms_of_sampled_frequencies(kernel, d):
    rng = np.random.default_rng(0)
    short = kernel.sample_lengths(4000, d, rng)
    long = np.linalg.norm(kernel.sample_spectrum(4000, d, rng), axis=1)
    assert stats.ks_2samp(np.abs(short), long).pvalue > 1e-4


def test_structured_features_are_more_accurate_than_independent_ones_on_digits():
    X, y = load_digits(return_X_y=True)
    kernel = lc.Gaussian(lc.bandwidth(X))
    exact = lc.represent(X, y, kernel=kernel, lift="exact").distances()

    def error(draw, **options):
        squares = []
        for seed in range(6):
            lift = draw(
                kernel, 64, 2000, centre=X.mean(0), rng=np.random.default_rng(seed), **options
            )
            squares.append((lc.represent(X, y, lift=lift).distances() - exact) ** 2)
        return np.sqrt(np.mean(squares))

    structured = error(draw_structured_lift)
    assert structured < 0.5 * error(draw_fourier_lift, sampling="iid")
    assert structured < 5e-3


def test_reported_errors_cover_the_true_errors():
    X, y = load_digits(return_X_y=True)
    exact = lc.represent(X, y, lift="exact").distances()
    above = np.triu_indices(10, 1)
    inside = []
    for seed in range(10):
        rep = lc.represent(X, y, lift=lc.Structured(1024), rng=seed)
        inside.append(np.abs(rep.distances() - exact)[above] <= 2 * rep.distance_errors()[above])
    assert np.mean(inside) > 0.93


def test_tolerance_is_reached_by_adding_blocks():
    X, labels = blobs(np.random.default_rng(0), 6000, 50)
    rep = lc.represent(X, labels, lift=lc.Structured(tol=0.01), rng=0)
    assert rep.lift.kind == "structured"
    assert rep.max_error <= 0.01
    again = lc.represent(X, labels, lift=rep.lift)
    np.testing.assert_allclose(rep.sums, again.sums, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("rho", [100, 128, 301])
def test_joined_sums_equal_those_of_the_extended_lift(rho):
    X, labels = blobs(np.random.default_rng(0), 200, 40)
    rng = np.random.default_rng(1)
    lift = draw_structured_lift(lc.Gaussian(5.0), 40, rho, rng=rng)
    joined, new = lift.extend(1000, rng)
    assert joined.n_components >= 1000
    R = lc.as_partition(labels)
    sums = lift.join_sums(lift.sums(X, R), new, new.sums(X, R))
    np.testing.assert_allclose(sums, joined.sums(X, R), atol=1e-9)


def test_saved_and_loaded_structured_lift_is_identical(tmp_path):
    X, labels = blobs(np.random.default_rng(0), 300, 40)
    rep = lc.represent(X, labels, lift=lc.Structured(201), rng=0)
    rep.save(tmp_path / "clusters.npz")
    again = lc.load_representation(tmp_path / "clusters.npz")
    np.testing.assert_array_equal(again.lift.features(X), rep.lift.features(X))
    assert again.lift.fingerprint() == rep.lift.fingerprint()


def test_non_euclidean_and_non_shift_invariant_kernels_are_refused():
    X = np.ones((3, 40))
    with pytest.raises(ValueError, match="Euclidean distance, and laplace is not one"):
        lc.make_lift(X, kernel=lc.Laplace(1.0), lift="structured")
    with pytest.raises(ValueError, match="not shift-invariant"):
        lc.make_lift(X, kernel=lambda A, B: A @ B.T, lift="structured")
