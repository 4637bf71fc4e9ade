"""Similarities with landmarks by the compiled kernels: those of the literal formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster.lifts import choice, nystroem
from liftcluster.lifts.native import (
    DENSE,
    DIFFERENCES,
    EXPONENTS,
    PRODUCTS,
    VALUES,
    gaussian_map,
    map_features,
)
from liftcluster.lifts.nystroem import nystroem_from_landmarks
from liftcluster.partitions.stack import Stack
from support.kernel_cases import FORMS, SETS, dense, kernels, memberships, needs_kernels, points


def similarities(X, landmarks, bandwidth):
    """exp(−‖x − l‖² / (2 bandwidth²)) by differences."""
    X, landmarks = np.asarray(X, dtype=np.float64), np.asarray(landmarks, dtype=np.float64)
    return np.exp(-cdist(X, landmarks, "sqeuclidean") / (2 * bandwidth**2))


@needs_kernels
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 2, 7, 255, 256, 257, 600]),
    d=st.sampled_from([1, 2, 8, 9, 17, 64, 65, 130]),
    r=st.sampled_from([1, 2, 31, 64, 65, 257, 520]),
    form=st.sampled_from([*FORMS, "read-only"]),
    kind=st.sampled_from(["hard", "weighted", "soft", "matrix"]),
    which=st.sampled_from(SETS or [None]),
)
def test_kernels_compute_the_literal_formula(seed, n, d, r, form, kind, which):
    rng = np.random.default_rng(seed)
    X, R = points(rng, n, d, form), memberships(rng, n, kind)
    landmarks, V = points(rng, r, d, form), rng.standard_normal((3, r))
    bandwidth = np.sqrt(d) * rng.uniform(0.5, 5)
    lift = nystroem._Similarities(lc.Gaussian(bandwidth), landmarks)
    before = kernels.in_use()
    kernels.use(which)
    try:
        sums, scores, labels = lift.sums(X, R), lift.scores(X, V), lift.assign(X, V)
    finally:
        kernels.use(before)
    K, P = similarities(X, landmarks, bandwidth), dense(R)
    # Rounding of squared distances, relative to those from the mean; sums of n or r numbers.
    spread = np.concatenate([X, landmarks]) - landmarks.mean(axis=0)
    unit = 1e-15 * (10 + (spread**2).sum(axis=1).max() / bandwidth**2)
    np.testing.assert_allclose(sums / np.abs(P).sum(), P.T @ K / np.abs(P).sum(), atol=unit)
    error = unit * np.abs(V).sum(axis=1).max()
    np.testing.assert_allclose(scores, K @ V.T, atol=error)
    top = np.sort(K @ V.T, axis=1)[:, -2:]
    clear = top[:, 1] - top[:, 0] > 2 * error
    np.testing.assert_array_equal(labels[clear], (K @ V.T).argmax(axis=1)[clear])


@needs_kernels
def test_exponentials_are_accurate_to_the_last_digits(instruction_set):
    """Distances that are exact in binary, so that all errors are those of the exponential."""
    distances = np.arange(0, 2**15 + 1) / 1024.0  # to exp(−512)
    found = map_features(gaussian_map(np.zeros((3, 1)), 1.0), distances[:, None])
    expected = np.exp(-(distances.astype(np.longdouble) ** 2) / 2)
    relative = (found[:, 0] / expected - 1).astype(np.float64)
    assert np.abs(relative).max() < 1e-15
    np.testing.assert_array_equal(found[0], 1.0)
    # With a factor that is not a power of two the exponent is rounded, too.
    found = map_features(gaussian_map(np.zeros((1, 1)), 1.7), distances[:, None])
    exponents = distances.astype(np.longdouble) ** 2 / (2 * np.longdouble(1.7) ** 2)
    relative = (found[:, 0] / np.exp(-exponents) - 1).astype(np.float64)
    assert (np.abs(relative) < 1e-15 * np.maximum(1, exponents)).all()


@needs_kernels
def test_similarities_below_the_normal_numbers_are_zero(instruction_set):
    found = map_features(gaussian_map(np.zeros((1, 1)), 1.0), np.array([[37.6], [37.7], [1e5]]))
    assert found[0, 0] > 0
    np.testing.assert_array_equal(found[1:], 0.0)


@needs_kernels
@pytest.mark.parametrize("d", [3, 20, 100])
def test_points_at_landmarks_have_similarity_one(d, instruction_set):
    """Rounding of the products would make some of them larger."""
    L = 5 * np.random.default_rng(0).standard_normal((70, d))
    K = map_features(gaussian_map(L, 1.0), L)
    assert K.max() <= 1
    np.testing.assert_allclose(np.diag(K), 1.0, atol=1e-15 * 100 * d)


@needs_kernels
@pytest.mark.parametrize("d", [3, 20, 100])
def test_far_points_and_far_landmarks_are_lifted_by_numpy(d, by_numpy, instruction_set):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, d))
    V, R = rng.standard_normal((2, 10)), np.ones((300, 1))
    for moved in (slice(40, 41), slice(5, 6)):  # a point, a landmark
        Y = X.copy()
        Y[moved] += 1e7
        lift = nystroem._Similarities(lc.Gaussian(2.0), Y[:10])
        np.testing.assert_allclose(lift.sums(Y, R)[0], similarities(Y, Y[:10], 2.0).sum(axis=0))
        expected = by_numpy(lambda lift=lift, Y=Y: lift.scores(Y, V))
        np.testing.assert_allclose(lift.scores(Y, V), expected, atol=1e-12)


@needs_kernels
@pytest.mark.parametrize("d", [2, 30, 90])
def test_nystroem_lift_is_that_of_numpy(d, by_numpy, instruction_set):
    """Up to rounding times the condition of the landmarks, here of a narrow kernel."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, d))
    lift = nystroem_from_landmarks(lc.Gaussian(np.sqrt(2 * d) / 4), X[:100])
    largest = np.linalg.norm(lift.coefficients, 2)
    V, R = rng.standard_normal((4, lift.n_components)), lc.as_partition(rng.integers(7, size=2000))
    fused = lift.sums(X, R), lift.scores(X, V)
    plain = by_numpy(lambda: (lift.sums(X, R), lift.scores(X, V)))
    np.testing.assert_allclose(fused[0], plain[0], atol=1e-13 * 2000 * largest)
    np.testing.assert_allclose(fused[1], plain[1], atol=1e-12 * 100 * largest)


@needs_kernels
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", [9, 20, 100])
def test_rounded_lift_keeps_six_digits(d, form, instruction_set):
    rng = np.random.default_rng(0)
    X, R = points(rng, 2000, d, form), lc.as_partition(rng.integers(7, size=2000))
    lift = nystroem_from_landmarks(lc.Gaussian(np.sqrt(d) * np.std(X)), X[:50])
    rounded = lift.rounded()
    assert not rounded.double
    assert rounded.fingerprint() != lift.fingerprint()
    V = lift.sums(X, R)
    unit = np.abs(V).max()
    np.testing.assert_allclose(rounded.sums(X, R), V, atol=1e-6 * unit)
    assert (rounded.sums(X, R) != V).any()  # so it is in single precision
    expected = lift.scores(X, V)
    size = np.abs(expected).max()
    np.testing.assert_allclose(rounded.scores(X, V), expected, atol=1e-5 * size)
    scores, sums = rounded.at(X, keep=True).score(V, np.ones(2000))
    np.testing.assert_allclose(scores, expected, atol=1e-5 * size)
    np.testing.assert_allclose(sums.sum(axis=0), V.sum(axis=0), atol=1e-5 * unit)
    again = nystroem.NystroemLift.from_state(*rounded.state())
    np.testing.assert_array_equal(again.sums(X, R), rounded.sums(X, R))


@pytest.mark.parametrize(
    ("X", "bandwidth"),
    [
        (np.random.default_rng(0).standard_normal((80, 2)), 2.0),  # small eigenvalues
        (np.random.default_rng(0).standard_normal((80, 20)), 0.4),  # many bandwidths wide
        (np.random.default_rng(0).standard_normal((80, 20)) * 1e12, 1e12),  # squares overflow
    ],
)
def test_lift_that_would_lose_digits_is_not_rounded(X, bandwidth):
    lift = nystroem_from_landmarks(lc.Gaussian(bandwidth), X)
    assert lift.rounded() is lift
    laplace = nystroem_from_landmarks(lc.Laplace(bandwidth), X)
    assert laplace.rounded() is laplace


def rounded_case(d):
    """A rounded lift, points of which some are far from all landmarks, and some between centres."""
    rng = np.random.default_rng(0)
    bandwidth = np.sqrt(2 * d) / 4
    X = rng.standard_normal((3000, d))
    X[::7] *= rng.uniform(1, 12 / 4, (len(X[::7]), 1))  # similarities down to zero in float32
    lift = nystroem_from_landmarks(lc.Gaussian(bandwidth), rng.standard_normal((60, d)))
    V = rng.standard_normal((3, lift.n_components))
    V = np.concatenate([V, V[:1] + 1e-8 * rng.standard_normal(V[:1].shape)])  # as good as equal
    assert not lift.rounded().double
    return X, lift, V


@needs_kernels
@pytest.mark.parametrize("d", [9, 20, 100])
def test_rounded_lift_gives_the_labels_of_double_precision(d, instruction_set):
    X, lift, V = rounded_case(d)
    rounded, expected = lift.rounded(), lift.scores(X, V)
    labels = expected.argmax(axis=1)
    np.testing.assert_array_equal(rounded.assign(X, V), labels)
    np.testing.assert_array_equal(rounded.scores(X, V).argmax(axis=1), labels)
    single = rounded._similarities.scores(X, lift.weights_of(V)).argmax(axis=1)
    assert (single != labels).any()  # those of single precision alone are others


@needs_kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("d", [9, 20, 100])
def test_sums_of_a_rounded_lift_are_those_of_its_corrected_labels(d, keep, weighted):
    X, lift, V = rounded_case(d)
    w = np.random.default_rng(1).uniform(0, 3, len(X)) if weighted else np.full(len(X), 0.3)
    points = lift.rounded().at(X, keep=keep)
    for _ in range(2):  # the second time from what is kept
        scores, sums = points.score(V, w)
        labels = lift.scores(X, V).argmax(axis=1)
        np.testing.assert_array_equal(scores.argmax(axis=1), labels)
        own = np.eye(len(V))[labels] * w[:, None]
        # Far less than one point would change; features are at most one long.
        np.testing.assert_allclose(sums, lift.sums(X, own), atol=1e-6 * len(X))


@needs_kernels
def test_similarities_of_a_rounded_lift_are_kept_in_half_the_memory():
    X = np.random.default_rng(0).standard_normal((500, 20))
    lift = nystroem_from_landmarks(lc.Gaussian(4.0), X[:40]).rounded()
    assert lift.at(X, keep=True).blocks._kept.nbytes == 4 * 500 * 40


def test_many_features_of_landmarks_are_in_single_precision(monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 20))
    assert lc.make_lift(X, lift=lc.Nystroem(20)).double
    monkeypatch.setattr(choice, "_DOUBLE_UP_TO", 300 * 20 - 1)
    assert not lc.make_lift(X, lift=lc.Nystroem(20)).double
    assert lc.make_lift(X[:, :2], lift=lc.Nystroem(20)).double  # differences, as exact as before


@needs_kernels
@pytest.mark.parametrize("d", [3, 20, 100])
def test_neither_threads_nor_stacking_change_a_bit(d, instruction_set):
    rng = np.random.default_rng(0)
    n = 6000
    X = rng.standard_normal((n, d))
    labels = [rng.integers(-1, k, n) for k in (2, 9)] + [rng.dirichlet(np.ones(3), n)]
    stack = Stack({i: lc.as_partition(p) for i, p in enumerate(labels)})
    lift = nystroem._Similarities(lc.Gaussian(np.sqrt(d)), X[:120])
    V = rng.standard_normal((4, 120))
    results = []
    for threads in (1, 2, 5):
        with threadpool_limits(threads):
            results.append((lift.sums(X, stack), lift.scores(X, V), lift.assign(X, V)))
    for result in results[1:]:
        for found, first in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(found, first)
    for i, partition in stack.partitions.items():
        np.testing.assert_array_equal(results[0][0][stack.owner == i], lift.sums(X, partition))


@needs_kernels
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_invalid_coordinates_are_refused(bad, d):
    X = np.random.default_rng(0).standard_normal((400, d))
    lift = nystroem_from_landmarks(lc.Gaussian(1.0), X[:20])
    X[317, 1] = bad
    message = "row 317, column 1"
    with pytest.raises(ValueError, match=message):
        lift.sums(X, np.ones((400, 1)))
    with pytest.raises(ValueError, match=message):
        lift.scores(X, np.ones((1, lift.n_components)))
    with pytest.raises(ValueError, match="features"):
        lift.scores(X[:300, 1:], np.ones((1, lift.n_components)))


@needs_kernels
@pytest.mark.parametrize("unit", [1e-60, 1e-20, 1e20, 1e60])
def test_any_unit_of_length_gives_the_same_sums(unit):
    X = np.random.default_rng(0).standard_normal((300, 12))
    expected = nystroem_from_landmarks(lc.Gaussian(2.0), X[:30]).sums(X, np.ones((300, 1)))
    lift = nystroem_from_landmarks(lc.Gaussian(2.0 * unit), X[:30] * unit)
    # Signs of eigenvectors are not determined.
    found = np.abs(lift.sums(X * unit, np.ones((300, 1))))
    np.testing.assert_allclose(found, np.abs(expected), rtol=1e-8, atol=1e-8)


@needs_kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("d", [3, 20, 100])
def test_several_passes_at_fixed_points_are_those_of_the_formula(d, keep, weighted):
    rng = np.random.default_rng(0)
    n, bandwidth = 3000, np.sqrt(2 * d) / 4
    X, w = rng.standard_normal((n, d)), rng.uniform(0, 3, n) if weighted else np.full(n, 0.3)
    lift = nystroem_from_landmarks(lc.Gaussian(bandwidth), X[:60])
    points = lift.at(X, keep=keep)
    Z = similarities(X, X[:60], bandwidth) @ lift.coefficients
    tolerance = 1e-12 * np.linalg.norm(lift.coefficients, 2)  # rounding of sums of n numbers
    for k in (1, 7):  # the second time from what is kept
        p = lc.as_partition(rng.integers(-1, 5, n), w)
        np.testing.assert_allclose(points.sums(p) / n, dense(p).T @ Z / n, atol=tolerance)
        V = rng.standard_normal((k, lift.n_components))
        scores, sums = points.score(V, w)
        np.testing.assert_allclose(scores, Z @ V.T, atol=100 * tolerance)
        own = np.eye(k)[scores.argmax(axis=1)] * w[:, None]
        np.testing.assert_allclose(sums / n, own.T @ Z / n, atol=tolerance)


@needs_kernels
def test_similarities_are_kept_up_to_a_limit(monkeypatch):
    X = np.random.default_rng(0).standard_normal((500, 3))
    lift = nystroem_from_landmarks(lc.Gaussian(1.0), X[:40])
    kept = lift.at(X, keep=True).blocks._kept
    assert kept is not None
    assert kept.nbytes == 8 * 500 * 40
    assert lift.at(X).blocks._kept is None
    monkeypatch.setattr(nystroem, "_MOST_KEPT", 8 * 500 * 40 - 1)
    assert lift.at(X, keep=True).blocks._kept is None
    monkeypatch.undo()
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", f"{500 * 40 * 8 * 3 / 2**30}")
    assert lift.at(X, keep=True).blocks._kept is None


@pytest.mark.parametrize("compute", ["by_kernels", "by_numpy"])
@pytest.mark.parametrize("d", [3, 20])
def test_passes_at_far_points_are_those_of_numpy(d, compute, request):
    by = request.getfixturevalue(compute) if compute == "by_numpy" else lambda function: function()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, d))
    X[1200] += 1e8
    lift = nystroem_from_landmarks(lc.Gaussian(np.sqrt(2 * d) / 4), X[:20])
    V, R = rng.standard_normal((3, lift.n_components)), np.ones((1500, 1))
    K = similarities(X, X[:20], np.sqrt(2 * d) / 4) @ lift.coefficients
    points = by(lambda: lift.at(X, keep=True))
    for _ in range(2):
        np.testing.assert_allclose(by(lambda: points.sums(R)), R.T @ K, rtol=1e-9)
        scores, sums = by(lambda: points.score(V, np.ones(1500)))
        np.testing.assert_allclose(scores, K @ V.T, atol=1e-9)
        assert sums is None


CENTRE, W = np.zeros(2), np.zeros((4, 3))
FACTOR, X2 = np.ones(1), np.zeros((4, 2))


@needs_kernels
@pytest.mark.parametrize(
    ("map", "error"),
    [
        ((PRODUCTS, 3, 0, CENTRE, W, None, FACTOR, None, 1.0), None),
        ((DIFFERENCES, 3, 0, CENTRE, W[:2], None, FACTOR, None, 1.0), None),
        ((EXPONENTS, 2, 0, CENTRE, None, None, None, None, np.inf), None),
        ((VALUES, 2, 0, CENTRE, None, None, None, None, np.inf), None),
        ((PRODUCTS, 3, 0, CENTRE, W[:3], None, FACTOR, None, 1.0), ValueError),
        ((PRODUCTS, 3, 0, CENTRE, W, None, FACTOR[:0], None, 1.0), ValueError),
        ((PRODUCTS, 3, 0, CENTRE, W, None, None, None, 1.0), TypeError),
        ((PRODUCTS, 3, 0, CENTRE, W.astype(np.float32), None, FACTOR, None, 1.0), TypeError),
        ((DIFFERENCES, 3, 0, CENTRE, W[:1], None, FACTOR, None, 1.0), ValueError),
        ((EXPONENTS, 3, 0, CENTRE, None, None, None, None, np.inf), ValueError),
        ((VALUES, 3, 0, CENTRE, None, None, None, None, np.inf), ValueError),
    ],
)
def test_maps_of_landmarks_are_checked(map, error):
    out = np.zeros((4, map[1]))
    if error is None:
        assert kernels.features(True, map, X2, 0, 4, out) == -1
        np.testing.assert_array_equal(out, 0.0 if map[0] == VALUES else 1.0)
        return
    with pytest.raises(error):
        kernels.features(True, map, X2, 0, 4, out)


@needs_kernels
def test_assignments_check_their_arguments():
    map = (DIFFERENCES, 3, 0, CENTRE, W[:2], None, FACTOR, None, 1.0)
    trigonometric = (DENSE, 3, 0, CENTRE, W[:2], None, None, None, 1.0)
    V, units, scores, sums = np.ones((2, 3)), np.ones(2), np.zeros((4, 2)), np.zeros((2, 3))

    def call(map=map, rows=(0, 4), V=V, k=2, units=units, w=None, scores=scores, sums=sums):
        return kernels.assign(True, map, X2, *rows, V, k, units, w, scores, sums)

    assert call() == -1
    np.testing.assert_array_equal(scores, 3.0)
    np.testing.assert_array_equal(sums, [[4.0] * 3, [0.0] * 3])  # the first of equal scores
    assert call(units=np.array([1.0, 2.0]), w=np.arange(4.0)) == -1
    np.testing.assert_array_equal(scores, [[3.0, 6.0]] * 4)
    np.testing.assert_array_equal(sums, [[4.0] * 3, [6.0] * 3])
    assert call(rows=(2, 2)) == -1
    for bad in (
        {"map": trigonometric},
        {"map": map[:4]},
        {"rows": (0, 5)},
        {"V": V[:, :2]},
        {"V": V.astype(np.float32)},
        {"k": 0},
        {"k": 2**31},
        {"k": 3},
        {"units": units[:1]},
        {"w": np.ones(3)},
        {"scores": scores[:3].copy()},
        {"sums": sums[:1].copy()},
        {"sums": sums[:, :2].copy()},
        {"sums": None},
    ):
        with pytest.raises((ValueError, TypeError)):
            call(**bad)
    far = (DIFFERENCES, 3, 0, np.full(2, 5.0), W[:2], None, FACTOR, None, 1.0)
    assert call(map=far) == 0  # the first point is out of reach
