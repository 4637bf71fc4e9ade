"""Profiles over bandwidths: each value is the distance at that bandwidth; and their plots."""

import numpy as np
import pytest

import liftcluster as lc
from support.generators import blobs

DATA = lc.datasets.make_2d2c()


@pytest.mark.parametrize("measure", ["lift_emd", "lift_kd", "lift_hausdorff"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", lc.Matern(2.5)], ids=str)
def test_exact_profile_equals_exact_distances(measure, kernel):
    found = lc.bandwidth_profile(
        DATA.reference, DATA.first, DATA.X, measure=measure, kernel=kernel, bandwidths=5
    )
    expected = [
        lc.distance(DATA.reference, DATA.first, DATA.X, measure=measure, kernel=kernel, bandwidth=h)
        for h in found.bandwidths
    ]
    np.testing.assert_allclose(found.values, expected, atol=1e-6)
    np.testing.assert_array_equal(found.errors, 0)


def test_a_profile_of_features_lies_within_its_errors():
    exact, fourier = (
        lc.bandwidth_profile(DATA.reference, DATA.second, DATA.X, lift=lift, rng=0)
        for lift in ("exact", "fourier")
    )
    assert (np.abs(exact.values - fourier.values) <= 4 * fourier.errors + 1e-9).all()
    assert fourier.errors.max() > 0


def test_a_profile_reads_the_points_once(monkeypatch):
    from liftcluster.lifts.fourier import FourierLift

    calls = []
    original = FourierLift.points
    monkeypatch.setattr(FourierLift, "points", lambda self, X: calls.append(1) or original(self, X))
    lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, lift="fourier", bandwidths=7, rng=0)
    assert len(calls) == 1


def test_bandwidths_are_spread_around_the_median():
    found = lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, bandwidths=7)
    assert found.median == pytest.approx(lc.bandwidth(DATA.X))
    assert found.bandwidths[0] == pytest.approx(found.median / 30)
    assert found.bandwidths[-1] == pytest.approx(found.median * 10)
    np.testing.assert_allclose(np.diff(np.log(found.bandwidths)).std(), 0, atol=1e-9)


def test_profile_tends_to_the_discrete_and_centroid_distances():
    found = lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, bandwidths=[1e-4, 1e4])
    discrete = lc.distance(DATA.reference, DATA.first, DATA.X, kernel="discrete")
    assert found.values[0] == pytest.approx(discrete, abs=1e-6)
    centroid = lc.distance(DATA.reference, DATA.first, DATA.X, measure="centroid")
    assert found.values[1] * 1e4 == pytest.approx(centroid, rel=1e-3)


def test_profiles_compare_different_samples():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2)
    found = lc.bandwidth_profile(labels, labels[:40], X, Y=X[:40], bandwidths=[1.0, 2.0])
    expected = [lc.distance(labels, labels[:40], X, Y=X[:40], bandwidth=h) for h in (1.0, 2.0)]
    np.testing.assert_allclose(found.values, expected, atol=1e-7)


def test_scale_follows_the_width_of_the_differences():
    X = np.arange(200.0)[:, None]
    stripes = {width: np.arange(200) // width % 2 for width in (2, 10, 50)}
    scales = [
        lc.bandwidth_profile(
            s, np.roll(s, width // 2), X, bandwidths=np.geomspace(0.1, 500, 40)
        ).scale
        for width, s in stripes.items()
    ]
    assert scales[0] < 4 < scales[1] < 20 < scales[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "rand"}, "rand has no bandwidth; choose one of lift_emd"),
        ({"kernel": "discrete"}, "no bandwidth to vary"),
        ({"kernel": lc.Gaussian(1.0)}, "without a bandwidth"),
        ({"bandwidths": 1}, "at least 2"),
        ({"bandwidths": []}, "empty"),
        ({"bandwidths": [-1.0]}, "positive"),
        ({"lift": "nystrom"}, "lift must be one of .*; did you mean 'nystroem'"),
        ({"lift": "nystroem"}, "need the same frequencies, which Nystroem does not have"),
        ({"lift": lc.Grid()}, "need the same frequencies, which Grid does not have"),
        ({"lift": lc.Fourier(tol=0.1)}, "give n_components here"),
        ({"lift": lc.make_lift(DATA.X, lift="fourier")}, "give settings such as Fourier"),
    ],
)
def test_bad_profiles_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, **options)


class TestPlots:
    @pytest.fixture(autouse=True)
    def no_window(self):
        import matplotlib

        matplotlib.use("Agg")
        yield
        import matplotlib.pyplot as plt

        plt.close("all")

    def test_a_profile_is_drawn_with_its_errors(self):
        found = lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, lift="fourier", rng=0)
        ax = found.plot()
        np.testing.assert_allclose(ax.lines[0].get_ydata(), found.values)
        assert ax.get_xlabel() == "bandwidth"
        assert ax.get_xscale() == "log"
        assert len(ax.collections) == 1

    def test_a_plan_is_drawn_on_the_axes_given(self):
        import matplotlib.pyplot as plt

        found = lc.compare(DATA.reference, DATA.first, DATA.X, names=("truth", "guess"))
        ax = plt.subplots()[1]
        assert found.plot(ax) is ax
        assert ax.get_ylabel() == "clusters of truth"
        assert sum(float(t.get_text().rstrip("%")) for t in ax.texts) == pytest.approx(100, abs=0.2)

    def test_comparison_without_plan_cannot_be_plotted(self):
        with pytest.raises(ValueError, match="without points has no plan"):
            lc.compare(DATA.reference, DATA.first).plot()

    def test_missing_matplotlib_is_an_error_with_the_install_command(self, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(
            ImportError, match=r'plotting needs matplotlib: pip install "matplotlib'
        ):
            lc.bandwidth_profile(DATA.reference, DATA.first, DATA.X, bandwidths=2).plot()


def test_narrow_bandwidths_lose_no_precision_beside_wide_ones():
    rng = np.random.default_rng(0)
    X, a, b = rng.standard_normal((60, 20)), rng.integers(3, size=60), rng.integers(3, size=60)
    found = lc.bandwidth_profile(a, b, X, bandwidths=[1.0, 1e-8])
    np.testing.assert_array_equal(found.bandwidths, [1e-8, 1.0])
    for h, value in zip(found.bandwidths, found.values, strict=True):
        assert value == pytest.approx(lc.distance(a, b, X, bandwidth=h), abs=1e-6)


def test_the_median_is_in_the_metric_of_the_kernel():
    X, labels = blobs(np.random.default_rng(0), 50, 3)
    found = lc.bandwidth_profile(labels, labels % 2, X, kernel="laplace", bandwidths=2)
    assert found.median == pytest.approx(lc.bandwidth(X, metric="cityblock"))


def test_measure_options_are_used_for_value_and_error():
    X, labels = blobs(np.random.default_rng(0), 50, 3)
    outer = lc.Gaussian(0.2)
    found = lc.bandwidth_profile(
        labels,
        labels % 2,
        X,
        measure="lift_kd",
        bandwidths=[1.0],
        lift=lc.Fourier(100),
        rng=0,
        measure_options={"outer_kernel": outer},
    )
    plain = lc.bandwidth_profile(
        labels, labels % 2, X, measure="lift_kd", bandwidths=[1.0], lift=lc.Fourier(100), rng=0
    )
    assert found.values[0] > plain.values[0]
    assert found.errors[0] < plain.errors[0] / 2


def test_points_too_close_for_a_profile_are_refused():
    with pytest.raises(ValueError, match="bandwidths cannot vary"):
        lc.bandwidth_profile([0, 0, 1], [0, 1, 1], np.array([[0.0], [1.0], [2.0]]) * 5e-324)
