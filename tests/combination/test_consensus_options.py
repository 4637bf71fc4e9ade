"""Options of a consensus that cannot apply are errors, misspelled ones get a suggestion."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import liftcluster as lc
from liftcluster.combination import combining
from support.consensus_cases import separated_blobs

X, LABELS = separated_blobs(np.random.default_rng(0), 40, 2, k=2)
INPUTS = [LABELS, LABELS, 1 - LABELS]


def medoid(**options):
    return {"method": "medoid", "method_options": options}


class UnreadablePoints:
    """Points that raise an error on any access."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} of the points was asked for")


@pytest.mark.parametrize(
    "options",
    [{"kernel": "laplace"}, {"bandwidth": 2.0}, {"bandwidth": "median"}, {"lift": "exact"}],
    ids=str,
)
def test_lift_options_are_refused_without_points(options):
    (option,) = options
    with pytest.raises(ValueError, match=f"nothing is lifted, so {option} cannot apply; give X"):
        lc.consensus(INPUTS, 2, method="evidence", **options)
    defaults = {"kernel": "gaussian", "bandwidth": "auto", "lift": "auto"}
    assert lc.consensus(INPUTS, 2, method="evidence", **defaults).n_clusters == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lift_kn"}, "method must be one of .*; did you mean 'lift_km'"),
        (
            {"method": "lift_hac", "method_options": {"linkages": "single"}},
            "lift_hac has no option 'linkages'; did you mean 'linkage'",
        ),
        (
            {"method": "evidence", "method_options": {"n_init": 3}},
            "evidence has no option 'n_init'",
        ),
        ({"method": KMeans(2), "method_options": {"n_init": 3}}, "its own settings; got n_init"),
        (medoid(measure="lift_kb"), "measure must be one of .*; did you mean 'lift_kd'"),
        (medoid(measure="rand", measure_options={"alpha": 1}), "rand has no option 'alpha'"),
        (medoid(measure_options={"bins": 1}), "the default measure has no option 'bins'"),
        (medoid(mesure="rand"), "medoid has no option 'mesure'; did you mean 'measure'"),
        ({"kernel": "discrete", "bandwidth": "median/4"}, "the discrete kernel has no bandwidth"),
        ({"kernel": "laplace", "lift": lc.Grid()}, "needs the Gaussian kernel"),
        ({"lift": "nystrom"}, "lift must be one of .*; did you mean 'nystroem'"),
    ],
)
def test_invalid_options_are_reported_before_points_are_read(options, message):
    with pytest.raises(ValueError, match=message):
        lc.consensus(INPUTS, 2, UnreadablePoints(), **options)


@pytest.mark.parametrize(
    ("keyword", "meant"), [("methd", "method"), ("bandwith", "bandwidth"), ("n_cluster", "n_clusters")]
)  # fmt: skip
def test_misspelled_keywords_get_a_suggestion(keyword, meant):
    with pytest.raises(TypeError, match=f"no argument '{keyword}'; did you mean '{meant}'"):
        lc.consensus(INPUTS, 2, X, **{keyword: 1})


@pytest.mark.parametrize("keyword", ["n_components", "sampling", "tol", "checkpoint", "linkage"])
def test_settings_of_lifts_and_methods_are_not_arguments_of_consensus(keyword):
    with pytest.raises(TypeError, match=rf"consensus\(\) has no argument '{keyword}'"):
        lc.consensus(INPUTS, 2, X, **{keyword: 4})


@pytest.mark.parametrize("n_clusters", ["3", "atuo", 2.0, None])
def test_n_clusters_must_be_an_integer_or_auto(n_clusters):
    with pytest.raises(TypeError, match="n_clusters must be a"):
        lc.consensus(INPUTS, n_clusters, X)


def test_medoid_passes_options_to_its_measure(monkeypatch):
    seen = []
    real = combining.distance_matrix
    monkeypatch.setattr(
        combining, "distance_matrix", lambda *a, **k: seen.append(real(*a, **k)) or seen[-1]
    )
    inputs = [np.arange(40) // 20, LABELS, (np.arange(40) + 9) // 20 % 2]
    measure = {"measure": "lift_kd", "measure_options": {"outer_kernel": lc.Gaussian(1.5)}}
    found = lc.consensus(inputs, 2, X, bandwidth=0.5, **medoid(**measure))
    expected = lc.distance_matrix(inputs, X, bandwidth=0.5, **measure)
    assert expected[0, 1] > 0.01
    np.testing.assert_allclose(seen[0], expected, atol=1e-7)
    np.testing.assert_array_equal(found.labels, inputs[expected.sum(axis=1).argmin()])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": 3}, "method must be a name in METHODS or a clusterer, got 3"),
        ({"method_options": ["n_init"]}, "options of the method auto must be a mapping"),
    ],
)
def test_values_of_a_wrong_type_are_reported_before_points_are_read(options, message):
    with pytest.raises(TypeError, match=message):
        lc.consensus(INPUTS, 2, UnreadablePoints(), **options)
