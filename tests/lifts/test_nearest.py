"""Nearest places by the compiled kernels, against sorted distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from liftcluster.lifts.nearest import NearestPlaces
from support.kernel_cases import SETS, kernels, needs_kernels


@needs_kernels
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 3, 40]),
    p=st.sampled_from([1, 2, 9, 16, 17, 63, 255, 256, 257, 900]),
    d=st.sampled_from([1, 2, 3, 4, 5, 30]),
    k=st.sampled_from([1, 2, 10, 26, 27, 64]),
    copies=st.booleans(),
    which=st.sampled_from(SETS or [None]),
)
def test_nearest_places_are_those_of_sorted_distances(seed, n, p, d, k, copies, which):
    rng = np.random.default_rng(seed)
    X, places = rng.standard_normal((n, d)) + 1000, rng.standard_normal((p, d)) + 1000
    if copies:  # several places at the same distance, and points in places
        places[p // 2 :] = places[: p - p // 2]
        X[0] = places[-1]
    before = kernels.in_use()
    kernels.use(which)
    try:
        distances, near = NearestPlaces(places, min(k, p))(X)
    finally:
        kernels.use(before)
    expected = cdist(X, places)
    np.testing.assert_allclose(
        distances, np.sort(expected, axis=1)[:, :k], atol=1e-9
    )  # coordinates of size 1000 in float64, squared
    np.testing.assert_allclose(np.take_along_axis(expected, near, axis=1), distances, atol=1e-9)
    assert all(len(set(row)) == min(k, p) for row in near.tolist())


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1.0, 1e-15, 1e-30])
def test_points_far_away_leave_the_nearest_places(dtype, length):
    """Beyond the numbers of single precision, in units of places that are close to each other."""
    rng = np.random.default_rng(0)
    places = length * rng.standard_normal((300, 4))
    X = length * rng.standard_normal((40, 4))
    X[:5, 0] = [1e8, -1e10, 1e12, 1e15, -1e18]
    X[5:10, 1] = length * X[:5, 0]
    X, places = X.astype(dtype), places.astype(dtype)
    distances, near = NearestPlaces(places, 7)(X)
    expected = cdist(X.astype(np.float64), places.astype(np.float64))
    sorted_ = np.sort(expected, axis=1)[:, :7]
    np.testing.assert_allclose(distances, sorted_, rtol=1e-6)  # of squares in double precision
    np.testing.assert_allclose(np.take_along_axis(expected, near, axis=1), sorted_, rtol=1e-6)


@needs_kernels
def test_nearest_places_check_their_arguments():
    X, places = np.zeros((4, 2)), np.zeros((3, 2))
    values, at, squares = np.zeros((4, 3), np.float32), np.zeros((4, 2), np.int32), np.zeros((4, 2))
    limits = np.full(4, np.inf, np.float32)
    good = [True, 4, 3, 2, 2, values, limits, 0.5, X, places, at, squares]
    assert kernels.nearest(*good) is None
    for position, wrong in [
        (1, 5),
        (2, 4),
        (3, 3),
        (4, 3),
        (4, 0),
        (4, 65),
        (1, -1),
        (0, False),
        (5, X),
        (6, X),
        (10, X),
    ]:
        bad = [*good]
        bad[position] = wrong
        with pytest.raises((TypeError, ValueError), match="numbers"):
            kernels.nearest(*bad)
    values[:] = np.nan  # any places, but no memory of others
    for limit in (np.inf, 0, np.nan):
        limits[:] = limit
        kernels.nearest(*good)
        assert ((at >= 0) & (at < 3)).all()


@needs_kernels
@pytest.mark.parametrize("which", SETS)
def test_many_equal_or_missing_products_leave_the_nearest_places(which):
    """More candidates than are listed, and products of points too far for single precision."""
    rng = np.random.default_rng(0)
    places = np.repeat(rng.standard_normal((3, 5)), 200, axis=0)
    X = rng.standard_normal((40, 5))
    expected = cdist(X, places)
    before = kernels.in_use()
    kernels.use(which)
    try:
        distances, near = NearestPlaces(places, 10)(X)
        values = np.where(rng.random(expected.shape) < 0.1, np.nan, -(expected**2) / 2)
        values[0] = np.nan
        at, squares = np.zeros((40, 10), np.int32), np.zeros((40, 10))
        limits = np.full(40, np.inf, np.float32)
        given = [values.astype(np.float32), limits, 0.5, X, places, at, squares]
        kernels.nearest(True, 40, *places.shape, 10, *given)
    finally:
        kernels.use(before)
    order = np.argsort(expected, axis=1, kind="stable")[:, :10]
    np.testing.assert_allclose(distances, np.take_along_axis(expected, order, axis=1), rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(expected, near, axis=1), distances, rtol=1e-12)
    assert ((at >= 0) & (at < 600)).all()
    np.testing.assert_allclose(squares[1:], distances[1:] ** 2, rtol=1e-12)


def in_few_directions(rng, n, d, noise):
    """Points that vary in 40 of d directions, and by a length of noise in the others."""
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    scales = np.r_[np.linspace(3, 1, 40), np.full(d - 40, noise)]
    return 7 + (rng.standard_normal((n, d)) * scales) @ axes.T


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("which", SETS)
def test_nearest_places_by_projections_are_exact(dtype, noise, which):
    rng = np.random.default_rng(1)
    X = in_few_directions(rng, 1100, 300, noise).astype(dtype)
    places = in_few_directions(rng, 700, 300, noise).astype(dtype)
    places[600:] = places[:100]  # several places at the same distance
    X[:3], X[3] = places[:3], 40 * X[3]  # points in places, and one far from all
    find = NearestPlaces(places, 10)
    assert find._products._axes.shape == (300, 64)
    before = kernels.in_use()
    kernels.use(which)
    try:
        distances, near = find(X)
        fewer = find(X, 3)
    finally:
        kernels.use(before)
    np.testing.assert_array_equal(fewer[0], distances[:, :3])
    np.testing.assert_array_equal(fewer[1], near[:, :3])
    expected = cdist(X.astype(np.float64), places.astype(np.float64))
    order = np.argsort(expected, axis=1, kind="stable")[:, :10]
    np.testing.assert_allclose(distances, np.take_along_axis(expected, order, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(near, order)


@needs_kernels
def test_places_in_all_directions_are_compared_by_all_coordinates():
    places = np.random.default_rng(0).standard_normal((700, 300))
    assert NearestPlaces(places, 10)._products._axes is None


@needs_kernels
def test_places_in_groups_far_apart_are_compared_by_all_coordinates():
    """Rounding of projections is larger than the groups, so that they exclude nothing."""
    places = in_few_directions(np.random.default_rng(0), 700, 300, 0.05)
    places[::2] += 1e5
    assert NearestPlaces(places, 10)._products._axes is None
