"""Edge cases of points, weights and sizes: correct results or helpful errors."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import liftcluster as lc

NAN, INF = float("nan"), float("inf")
ROOT2 = np.sqrt(2)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[0.0, NAN], [1, 1], [2, 2]], ValueError, "finite, got nan in row 0, column 1"),
        ([[0.0, 1], [INF, 1], [2, 2]], ValueError, "finite, got inf in row 1, column 0"),
        ([0.0, 1.0, 2.0], ValueError, r"use X.reshape\(-1, 1\)"),
        (np.zeros((3, 2, 2)), ValueError, "two-dimensional"),
        (np.zeros((0, 2)), ValueError, "at least one point"),
        (np.zeros((3, 0)), ValueError, "at least one point and one feature"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], TypeError, "real numbers"),
        (np.array([[1, "x"], [2, 3], [4, 5]], dtype=object), TypeError, r"got 'x' at \[0, 1\]"),
        (pd.DataFrame({"a": [1, 2, 3], "b": pd.date_range("2024", periods=3)}), TypeError, "not numbers: 'b'"),
        (pd.DataFrame({"a": [1, 2, 3], "b": ["u", "v", "w"]}), TypeError, "'u'"),
        ([[1j, 0], [0, 1], [1, 1]], TypeError, "real numbers"),
        (np.zeros((3, 2), dtype="M8[D]"), TypeError, "real numbers"),
        ([[1.0], [1.0, 2.0], [3.0]], ValueError, "ragged"),
        (sp.csr_array(np.eye(3)), TypeError, r"use X.toarray\(\)"),
        (np.ma.array(np.zeros((3, 2)), mask=np.eye(3, 2)), ValueError, "masked"),
        ("points", TypeError, "real numbers"),
        (None, ValueError, "X is needed"),
        ([[-1e308], [1e308], [0.0]], ValueError, "rescale"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("lift", ["exact", "fourier", "nystroem"])
def test_invalid_points_are_refused(X, error, message, lift):
    with pytest.raises(error, match=message):
        lc.represent(X, [0, 0, 1], lift=lift, rng=0)


@pytest.mark.parametrize("lift", ["exact", "fourier", "nystroem"])
class TestEdgeCases:
    def test_one_point(self, lift):
        rep = lc.represent([[3.0, 4.0]], ["only"], lift=lift, rng=0)
        assert rep.masses.tolist() == [1.0]
        np.testing.assert_allclose(rep.norms, 1)
        np.testing.assert_allclose(rep.distances(), 0)

    def test_one_cluster(self, lift):
        X = np.random.default_rng(0).standard_normal((20, 3))
        rep = lc.represent(X, [[0] * 20, ["a"] * 20], lift=lift, rng=0)
        np.testing.assert_allclose(rep.distances(), 0, atol=1e-12)

    def test_every_point_its_own_cluster(self, lift):
        X = np.random.default_rng(0).standard_normal((20, 3))
        rep = lc.represent(X, np.arange(20), bandwidth=2.0, lift=lift, rng=0)
        expected = np.sqrt(np.maximum(2 - 2 * lc.Gaussian(2.0)(X, X), 0))
        errors = rep.distance_errors()
        slack = 1e-6 if errors is None else 5 * errors + 1e-7
        assert (np.abs(rep.distances() - expected) <= slack).all()

    def test_constant_points(self, lift):
        rep = lc.represent(np.full((10, 2), 7.5), [[0, 1] * 5, [0] * 10], lift=lift, rng=0)
        np.testing.assert_allclose(rep.distances(), 0, atol=1e-7)
        np.testing.assert_allclose(rep.norms, [5, 5, 10])

    def test_duplicated_points(self, lift):
        X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
        rep = lc.represent(X, np.arange(20) // 5, bandwidth=1.0, lift=lift, rng=0)
        D = rep.distances()
        np.testing.assert_allclose(D[0, 1], 0, atol=1e-7)
        exact = np.sqrt(2 - 2 * np.exp(-1))
        assert D[0, 2] == pytest.approx(exact, abs=0.1 if lift == "fourier" else 1e-9)

    @pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
    def test_points_of_any_magnitude(self, lift, scale):
        X = np.random.default_rng(0).uniform(-1, 1, (30, 3))
        labels = np.arange(30) % 3
        expected = lc.represent(X, labels, lift=lift, rng=0).distances()
        np.testing.assert_allclose(
            lc.represent(X * scale, labels, lift=lift, rng=0).distances(), expected, atol=1e-7
        )

    @pytest.mark.parametrize("scale", [1e-90, 1e90])
    def test_weights_of_any_magnitude(self, lift, scale):
        X = np.random.default_rng(0).uniform(-1, 1, (30, 3))
        labels = np.arange(30) % 3
        w = np.random.default_rng(1).uniform(1, 2, 30)
        plain, scaled = (
            lc.represent(X, labels, weights=v, lift=lift, rng=0) for v in (w, w * scale)
        )
        np.testing.assert_allclose(scaled.distances(), plain.distances(), atol=1e-9)
        np.testing.assert_allclose(scaled.masses, plain.masses)

    def test_all_noise_is_refused(self, lift):
        with pytest.raises(ValueError, match="noise"):
            lc.represent([[0.0], [1.0]], [[-1, -1]], lift=lift)

    def test_far_clusters_have_distance_sqrt_2(self, lift):
        X = np.array([[0.0], [0.1], [1e6], [1e6 + 0.1]])
        D = lc.represent(X, [0, 0, 1, 1], bandwidth=1.0, lift=lift, rng=0).distances()
        assert D[0, 1] == pytest.approx(ROOT2, abs=0.1 if lift == "fourier" else 1e-9)


def test_high_dimensional_points_are_supported():
    X = np.random.default_rng(0).standard_normal((10, 5000))
    labels = np.arange(10) % 2
    exact = lc.represent(X, labels)
    fourier = lc.represent(X, labels, lift="fourier", rng=0)
    assert abs(exact.distances() - fourier.distances())[0, 1] <= 4 * fourier.max_error


def test_input_arrays_are_not_written_to():
    X = np.random.default_rng(0).standard_normal((50, 3))
    labels = np.arange(50) % 4
    copies = X.copy(), labels.copy()
    for lift in ("exact", "fourier", "nystroem"):
        lc.represent(X, labels, lift=lift, rng=0)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(labels, copies[1])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lc.Partition.from_labels([0, 1], weights=[1j, 1]), TypeError),
        (lambda: lc.Partition.from_memberships([[1j, 1]]), TypeError),
        (lambda: lc.Partition.from_labels([0, 1], weights=np.ma.array([1, 1], mask=[0, 1])), ValueError),
        (lambda: lc.Partition.from_memberships(np.ma.array([[1.0, 0]], mask=[[0, 1]])), ValueError),
        (lambda: lc.represent([[10**400], [1]], [0, 1]), TypeError),
        (lambda: lc.bandwidth([[0.0], [1.0]], metric="manhattan"), ValueError),
        (lambda: lc.represent([[0.0], [1.0]], [0, 1], lift=lc.Fourier(sampling="bogus")), ValueError),
        (lambda: lc.represent([[0.0], [1.0]], [0, 1], lift=lc.Fourier(-5)), ValueError),
        (lambda: lc.make_lift([[0.0]], lift="fourier", bandwidth=1.0).sums([[0.0]], [[np.nan]]), ValueError),
        (lambda: lc.datasets.make_rings(301), ValueError),
        (lambda: lc.compare([0, 1], [0, 1], measures=[]), ValueError),
        (lambda: lc.compare([0, 1], [0, 1], names=("a",)), ValueError),
    ],
)  # fmt: skip
def test_invalid_arguments_raise_value_or_type_errors(call, error):
    with pytest.raises(error):
        call()


def test_numeric_strings_and_dates_are_refused():
    with pytest.raises(TypeError, match="memberships must hold real numbers"):
        lc.Partition.from_memberships(np.array([["1.0", "0.0"]]))
    with pytest.raises(TypeError, match="weights must hold real numbers"):
        lc.Partition.from_labels([0, 1], np.array([1, 2], "datetime64[D]"))
    for made in (lc.LiftedConsensus(2), lc.MaxMMDClustering(2), lc.ClusterLifter(2)):
        with pytest.raises(TypeError, match="X must hold real numbers"):
            made.fit(np.array([["1.0"], ["2.0"], ["7.0"]]))


def test_invalid_seeds_are_refused():
    fitted = lc.make_lift(np.eye(3), lift="fourier")
    for seed in (-1, {1}, np.float32(2), object()):
        for lift in ("fourier", "exact", fitted):  # the last two draw no numbers
            with pytest.raises((TypeError, ValueError), match="rng must be"):
                lc.represent(np.eye(3), [0, 0, 1], lift=lift, rng=seed)


def test_choices_of_an_invalid_type_are_refused():
    for invalid in (np.array(["rand", "vi"]), ["rand"], 3, None):
        with pytest.raises(ValueError, match="measure must be one of"):
            lc.distance([0, 1], [0, 1], measure=invalid)
    with pytest.raises(TypeError, match="n_clusters must be an integer"):
        lc.consensus([[0, 1]], np.array([2, 3]), method="evidence")
    with pytest.raises(TypeError, match="bandwidths must be"):
        lc.bandwidth_profile([0, 1], [0, 1], np.eye(2), bandwidths=3.5)
    with pytest.raises(TypeError, match="measures must be"):
        lc.compare([0, 1], [0, 1], measures=3)
