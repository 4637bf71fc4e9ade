"""Grid features: deterministic features in few dimensions with a stated error."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster.lifts import grid
from liftcluster.lifts.grid import GridTooLarge, finest_grid_lift, fit_grid_lift
from support.generators import blobs


def box_of(X):
    return X.min(axis=0), X.max(axis=0)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.floats(-12, -1),
    st.sampled_from([[1.0], [0.5, 2.0], [0.7, 1.0, 4.0]]),
    st.sampled_from([1e-3, 1.0, 1e6]),
)
def test_kernel_values_are_within_the_stated_error(seed, d, exponent, bandwidths, unit):
    rng = np.random.default_rng(seed)
    X = unit * rng.uniform(-1, 1, (25, d)) * rng.uniform(0, 2 / d, d) + unit * 10
    kernel = lc.Gaussian(
        [unit * h for h in bandwidths], weights=rng.uniform(0.1, 1, len(bandwidths))
    )
    try:
        lift = fit_grid_lift(kernel, box_of(X), eps=10**exponent, most=30_000)
    except GridTooLarge:
        assume(False)
    assert lift.error <= 10**exponent
    Z = lift.features(X)
    assert np.abs(Z @ Z.T - kernel(X, X)).max() <= lift.error + 1e-13
    np.testing.assert_allclose((Z**2).sum(axis=1), 1, rtol=1e-12)  # κ(x, x) = 1


@pytest.mark.parametrize(
    ("d", "range_"),
    [(1, 1.0), (1, 10.0), (1, 400.0), (2, 1.0), (2, 10.0), (2, 20.0), (3, 1.0), (3, 10.0)],
)
def test_single_precision_is_within_the_stated_error(d, range_):
    rng = np.random.default_rng(d)
    X = rng.uniform(0, range_, (60, d))
    X[30:] = np.clip(X[:30] + 0.5 * rng.standard_normal((30, d)), 0, range_)
    lift = fit_grid_lift(lc.Gaussian(1.0), box_of(X), eps=1e-6, dtype=np.float32)
    Z = lift.features(X).astype(np.float64)
    assert 1e-8 < np.abs(Z @ Z.T - lc.Gaussian(1.0)(X, X)).max() < lift.error < 1e-6 * (3 + range_)


def test_a_wide_range_of_many_points_is_lifted_in_double_precision():
    x = np.random.default_rng(0).uniform(0, 400, (60_000, 1))
    lift = lc.represent(x, np.arange(60_000) % 3, bandwidth=1.0).lift
    assert lift.kind == "grid"
    assert lift.error <= 5e-6


def test_many_points_are_lifted_in_single_precision():
    X, labels = blobs(np.random.default_rng(0), 30_000, 2)
    rep = lc.represent(X, labels, bandwidth=lc.bandwidth(X) / 2)
    assert rep.lift.dtype == np.float32
    few = slice(0, 3000)
    exact = lc.represent(X[few], labels[few], kernel=rep.lift.kernel, lift="exact").distances()
    found = lc.represent(X[few], labels[few], lift=rep.lift)
    errors = np.abs(found.distances() - exact)
    assert errors.max() < 1e-5
    assert (errors <= found.distance_errors()).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_error_bound_is_tight_to_a_factor_of_20(d):
    """Between opposite faces of the box the error is close to the bound."""
    corners = np.stack([np.zeros(d), np.full(d, 4.0)])
    lift = fit_grid_lift(lc.Gaussian(1.0), box_of(corners), eps=1e-2)
    low, high = lift.centre - lift.half_range, lift.centre + lift.half_range
    line = np.tile(lift.centre, (200, 1))
    line[:, 0] = np.linspace(low[0], high[0], 200)
    Z = lift.features(line)
    error = np.abs(Z @ Z.T - lc.Gaussian(1.0)(line, line)).max()
    assert lift.error / 20 < error <= lift.error


def test_cluster_distances_are_accurate_to_many_digits():
    X, labels = blobs(np.random.default_rng(0), 3000, 2)
    kernel = lc.Gaussian(lc.bandwidth(X) / 2)
    exact = lc.represent(X, labels, lift="exact", kernel=kernel).distances()
    for n_components, digits in ((500, 1e-3), (2000, 1e-6), (5000, 1e-9)):
        rep = lc.represent(X, labels, lift=lc.Grid(n_components=n_components), kernel=kernel)
        assert rep.n_components <= n_components
        errors = np.abs(rep.distances() - exact)
        assert errors.max() < digits
        assert (errors <= rep.distance_errors() + 1e-9).all()  # rounding error of equal vectors


def test_errors_of_distances_are_bounded_on_a_coarse_grid():
    X, labels = blobs(np.random.default_rng(3), 2000, 3)
    exact = lc.represent(X, labels, lift="exact")
    rep = lc.represent(X, labels, lift=lc.Grid(n_components=400))
    errors = np.abs(rep.distances() - exact.distances())
    assert errors.max() > 1e-9  # it is coarse
    assert (errors <= rep.distance_errors()).all()
    found = lc.compare(labels, labels % 2, X, lift=lc.Grid(n_components=400))
    truth = lc.distance(labels, labels % 2, X, lift="exact")
    assert abs(found["lift_emd"].value - truth) <= found["lift_emd"].error


def test_several_samples_share_one_bounding_box():
    """The box contains all points, not only a subsample."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6000, 2)), rng.standard_normal((6000, 2)) + 3
    X[4321] = -9.0
    labels = rng.integers(3, size=6000)
    found = lc.distance(labels, labels, X, Y=Y, lift="grid")
    exact = lc.distance(labels, labels, X, Y=Y, lift="exact")
    assert found == pytest.approx(exact, abs=1e-5)


def test_auto_lift_is_a_grid_with_deterministic_error_bounds():
    X, labels = blobs(np.random.default_rng(0), 6000, 2)
    rep = lc.represent(X, labels)
    assert rep.lift.kind == "grid"
    assert rep.max_error <= 0.01
    exact = lc.represent(X, labels, lift="exact")
    assert (np.abs(rep.distances() - exact.distances()) <= rep.distance_errors()).all()


def test_error_of_a_grid_bounds_the_error_of_kernel_values():
    X, _ = blobs(np.random.default_rng(0), 500, 2)
    sizes = []
    for error in (1e-2, 1e-5, 1e-8):
        lift = lc.make_lift(X, lift=lc.Grid(error))
        assert lift.error <= error
        Z = lift.features(X)
        assert np.abs(Z @ Z.T - lift.kernel(X, X)).max() <= error
        sizes.append(lift.n_components)
    assert sizes == sorted(set(sizes))


def test_points_outside_the_bounding_box_are_refused():
    X = blobs(np.random.default_rng(0), 500, 2)[0]
    lift = lc.make_lift(X, lift="grid")
    within_margin = X.mean(0) + 1.05 * (X - X.mean(0))
    lift.scores(within_margin, np.ones((1, lift.n_components)))
    for outside in (X + 100, X * [1, 3], np.concatenate([X, [[1e6, 0]]])):
        with pytest.raises(ValueError, match="outside the box"):
            lift.sums(outside, np.ones((len(outside), 1)))
        with pytest.raises(ValueError, match="outside the box"):
            lift.assign(outside, np.ones((1, lift.n_components)))


def test_too_large_or_unsupported_grid_raises_a_helpful_error():
    X = np.random.default_rng(0).uniform(0, 1, (50, 3))
    with pytest.raises(GridTooLarge, match="larger bandwidth"):
        lc.make_lift(X, lift="grid", bandwidth=1e-3)
    with pytest.raises(GridTooLarge, match="larger bandwidth"):  # without an overflow warning
        lc.make_lift([[-1.7e308], [1.7e308]], lift="grid", bandwidth=1e308)
    with pytest.raises(GridTooLarge, match="more than 3 frequencies"):
        lc.make_lift(X, lift=lc.Grid(n_components=3), bandwidth=0.1)
    with pytest.raises(ValueError, match="at most 3 axes, got 4"):
        lc.make_lift(np.ones((5, 4)), lift="grid", bandwidth=1.0)
    with pytest.raises(ValueError, match="needs the Gaussian kernel, not cauchy"):
        lc.make_lift(X, lift="grid", kernel=lc.Cauchy(1.0))


def test_more_components_make_a_finer_grid():
    box = np.zeros(2), np.ones(2)
    errors = [finest_grid_lift(lc.Gaussian(0.3), box, most).error for most in (100, 200, 800, 3200)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-12 < 1e-3 < errors[0]


def test_identical_points_are_lifted():
    rep = lc.represent(np.ones((20, 2)), np.arange(20) % 2, lift="grid", bandwidth=1.0)
    np.testing.assert_allclose(rep.distances(), 0, atol=1e-7)


def test_saved_and_loaded_grid_lift_is_identical(tmp_path):
    X, labels = blobs(np.random.default_rng(0), 300, 3)
    rep = lc.represent(X, labels, lift="grid", kernel=lc.Gaussian([3.0, 6.0]))
    rep.save(tmp_path / "clusters.npz")
    again = lc.load_representation(tmp_path / "clusters.npz")
    np.testing.assert_array_equal(again.lift.features(X), rep.lift.features(X))
    assert again.lift.fingerprint() == rep.lift.fingerprint()
    assert again.max_error == rep.max_error


@pytest.mark.skipif(grid.nufft() is None, reason="finufft is not installed")
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-10)])
def test_nufft_gives_the_same_sums(monkeypatch, d, dtype, tolerance):
    rng = np.random.default_rng(d)
    X = rng.uniform(-2, 2, (700, d))
    lift = fit_grid_lift(lc.Gaussian(1.0), box_of(X), eps=1e-9, dtype=dtype)
    labels = lc.as_partition(rng.integers(-1, 4, 700), rng.uniform(0, 1e50, 700))
    soft = lc.as_partition(rng.dirichlet(np.ones(3), 700))
    empty = np.zeros((700, 2))
    for R in (labels, soft, empty):
        with monkeypatch.context() as patch:
            patch.setattr(grid, "_NUFFT_FROM", dict.fromkeys((1, 2, 3), 10**9))
            plain = lift.sums(X, R)
            patch.setattr(grid, "_NUFFT_FROM", dict.fromkeys((1, 2, 3), 0))
            patch.setattr(grid, "map_sums", None)  # would fail if it were called
            fast = lift.sums(X, R)
        unit = np.abs(plain).max() or 1.0
        np.testing.assert_allclose(fast / unit, plain / unit, atol=tolerance)


def test_subnormal_bandwidth_is_refused():
    with pytest.raises(ValueError, match="range over inf bandwidths need more than"):
        lc.represent([[0.0], [1.0]], [0, 1], lift="grid", bandwidth=5e-324)
