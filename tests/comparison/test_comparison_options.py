"""Options that cannot apply are errors, misspelled ones get a suggestion, before any work."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.comparison.comparing import compare_all
from liftcluster.lifts.choice import Lifting
from support.generators import blobs

X, A = blobs(np.random.default_rng(0), 60, 2)
B = np.where(np.arange(60) % 10, np.roll(A, 9), -1)
UNLIFTED = [m.name for m in lc.MEASURES.values() if m.needs != "vectors"]
LIFTING = {"kernel": "laplace", "bandwidth": 2.0, "lift": "fourier"}
FUNCTIONS = {
    "distance": lambda **options: lc.distance(A, B, X, **options),
    "distance_matrix": lambda **options: lc.distance_matrix([A, B], X, **options),
    "compare": lambda **options: lc.compare(A, B, X, **options),
    "significance": lambda **options: lc.significance(A, B, X, n_permutations=2, **options),
    "bandwidth_profile": lambda **options: lc.bandwidth_profile(A, B, X, **options),
}
WITH_MEASURE = [name for name in FUNCTIONS if name != "compare"]


class UnreadablePoints:
    """Points that raise an error on any access."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} of the points was asked for")


@pytest.mark.parametrize("measure", UNLIFTED)
@pytest.mark.parametrize("option", LIFTING)
def test_lift_options_are_refused_for_measures_without_lift(measure, option):
    for function in ("distance", "distance_matrix", "significance"):
        with pytest.raises(ValueError, match=f"{measure} lifts nothing, so {option} cannot apply"):
            FUNCTIONS[function](measure=measure, **{option: LIFTING[option]})


@pytest.mark.parametrize("option", LIFTING)
def test_lift_options_are_refused_without_points(option):
    with pytest.raises(ValueError, match=f"nothing is lifted, so {option} cannot apply; give X"):
        lc.compare(A, B, **{option: LIFTING[option]})
    with pytest.raises(ValueError, match=f"nothing is lifted, so {option} cannot apply; give X"):
        compare_all([A, B, A], lifting=Lifting.of(**{option: LIFTING[option]}))


def test_default_lift_options_may_be_given_explicitly():
    expected = lc.distance(A, B, measure="rand")
    options = {"kernel": "gaussian", "bandwidth": "median", "lift": "auto"}
    assert lc.distance(A, B, measure="rand", **options) == expected
    assert lc.compare(A, B, **options)["rand"].value == expected


@pytest.mark.parametrize("function", ["distance", "distance_matrix", "compare", "significance"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": "auto"}, "bandwidth rule must be one of"),
        ({"kernel": "discrete", "bandwidth": "median/4"}, "the discrete kernel has no bandwidth"),
        ({"kernel": "discrete", "bandwidth": 2.0}, "the discrete kernel has no bandwidth"),
        ({"kernel": lc.Gaussian(1.0), "bandwidth": 2.0}, "has a bandwidth of its own"),
        ({"kernel": "laplace", "lift": "grid"}, "needs the Gaussian kernel, not laplace"),
        ({"kernel": "discrete", "lift": lc.Fourier(10)}, "has no Fourier features"),
        ({"lift": lc.make_lift(X, lift=lc.Fourier(8)), "bandwidth": 3.0}, "leave bandwidth out"),
        ({"lift": lc.make_lift(X, lift=lc.Fourier(8)), "kernel": "laplace"}, "leave kernel out"),
    ],
)
def test_incompatible_lift_options_are_refused(function, options, message):
    with pytest.raises(ValueError, match=message):
        FUNCTIONS[function](**options)


def test_options_that_agree_with_the_lift_are_accepted():
    lift = lc.make_lift(X, kernel=lc.Gaussian(2.0), lift=lc.Fourier(8), rng=0)
    expected = lc.distance(A, B, X, lift=lift)
    assert lc.distance(A, B, X, lift=lift, kernel=lc.Gaussian(2.0), bandwidth=2.0) == expected


@pytest.mark.parametrize("function", WITH_MEASURE)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "lift_end"}, "measure must be one of .*; did you mean 'lift_emd'"),
        (
            {"measure": "lift_kd", "measure_options": {"outer_kernal": None}},
            "lift_kd has no option 'outer_kernal'; did you mean 'outer_kernel'.*options are outer",
        ),
        (
            {"measure": "lift_emd", "measure_options": {"bins": 3}},
            "lift_emd has no option 'bins'; it has none",
        ),
    ],
)
def test_unknown_measures_and_options_get_a_suggestion(function, options, message):
    with pytest.raises(ValueError, match=message):
        FUNCTIONS[function](**options)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("keyword", "meant"), [("kernal", "kernel"), ("lfit", "lift"), ("rgn", "rng")]
)
def test_misspelled_keywords_get_a_suggestion(function, keyword, meant):
    message = rf"{function}\(\) has no argument '{keyword}'; did you mean '{meant}'\?"
    with pytest.raises(TypeError, match=message):
        FUNCTIONS[function](**{keyword: 1})


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("keyword", ["n_components", "sampling", "tol", "checkpoint"])
def test_lift_settings_are_not_arguments_of_the_functions(function, keyword):
    with pytest.raises(TypeError, match=f"has no argument '{keyword}'"):
        FUNCTIONS[function](**{keyword: 4})


@pytest.mark.parametrize(
    "options",
    [
        {"measure": "lift_end"},
        {"measure": "lift_kd", "measure_options": {"outer_kernal": None}},
        {"lift": "fuorier"},
        {"bandwidth": "medain"},
        {"kernel": "gausian"},
        {"measure": "rand", "lift": "fourier"},
    ],
)
def test_invalid_options_are_reported_before_points_are_read(options):
    points = UnreadablePoints()
    for call in (
        lambda: lc.distance(A, B, points, **options),
        lambda: lc.distance_matrix([A, B], points, **options),
        lambda: lc.significance(A, B, points, **options),
    ):
        with pytest.raises(ValueError, match=r"must be one of|has no option|lifts nothing"):
            call()


class TestRepresentations:
    """Functions accept a Representation in place of partitions and points."""

    rep = lc.represent(X, {"a": A, "b": B, "c": A // 2})

    @pytest.mark.parametrize("measure", ["lift_emd", "lift_kd", "lift_hausdorff"])
    def test_distances_equal_those_of_partitions_and_points(self, measure):
        expected = lc.distance(A, B, X, measure=measure)
        found = lc.distance(self.rep["a"], self.rep["b"], measure=measure)
        assert found == pytest.approx(expected, abs=1e-7)
        D = lc.distance_matrix(self.rep, measure=measure)
        expected = lc.distance_matrix([A, B, A // 2], X, measure=measure)
        np.testing.assert_allclose(D, expected, atol=1e-7)

    def test_measure_options_are_passed_on(self):
        options = {"measure": "lift_kd", "measure_options": {"outer_kernel": lc.Gaussian(0.1)}}
        expected = lc.distance(A, B, X, **options)
        assert lc.distance(self.rep[0], self.rep[1], **options) == pytest.approx(expected, abs=1e-7)
        assert lc.distance_matrix(self.rep, **options)[0, 1] == pytest.approx(expected, abs=1e-7)

    def test_comparison_leaves_out_measures_that_need_labels_or_points(self):
        found, expected = lc.compare(self.rep[0], self.rep[1]), lc.compare(A, B, X)
        assert list(found) == ["lift_emd", "lift_kd", "lift_hausdorff"]
        assert set(found.left_out) == set(lc.MEASURES) - set(found)
        assert "labels, which a Representation does not have" in found.left_out["rand"]
        for name in found:
            assert found[name].value == pytest.approx(expected[name].value, abs=1e-7)
        np.testing.assert_allclose(found.plan, expected.plan, atol=1e-7)
        assert [str(m) for m in found.moves] == [str(m) for m in expected.moves]
        np.testing.assert_allclose(found.witness(X), expected.witness(), atol=1e-6)
        with pytest.raises(ValueError, match="give witness the argument points"):
            found.witness()
        mine, theirs = found.to_dict()["partitions"], expected.to_dict()["partitions"]
        for p, q in zip(mine, theirs, strict=True):
            assert (p["n"], p["hard"], p["clusters"]) == (None, None, q["clusters"])
            assert p["masses"] == pytest.approx(q["masses"])
            assert p["noise_mass"] == pytest.approx(q["noise_mass"])
        assert str(found).startswith("a: PartitionSummary(k=4)")
        assert "lift_emd" in found._repr_html_()

    def test_loaded_representation_gives_the_same_distance(self, tmp_path):
        self.rep.save(tmp_path / "rep.npz")
        loaded = lc.load_representation(tmp_path / "rep.npz")
        assert lc.distance(loaded[0], loaded[1]) == lc.distance(self.rep[0], self.rep[1])

    @pytest.mark.parametrize("measure", UNLIFTED)
    def test_measures_without_lift_are_refused(self, measure):
        for call in (
            lambda: lc.distance(self.rep[0], self.rep[1], measure=measure),
            lambda: lc.distance_matrix(self.rep, measure=measure),
        ):
            with pytest.raises(ValueError, match=rf"{measure} does not apply: .*would: lift_emd"):
                call()

    @pytest.mark.parametrize(
        ("options", "useless"),
        [
            ({"X": X}, "X"),
            ({"weights": np.ones(60)}, "weights"),
            ({"bandwidth": 2.0, "lift": "fourier"}, "bandwidth, lift"),
            ({"kernel": "laplace"}, "kernel"),
        ],
    )
    def test_options_fixed_by_the_representation_are_refused(self, options, useless):
        message = f"lifted already, so {useless} cannot apply"
        for call in (
            lambda: lc.distance(self.rep[0], self.rep[1], **options),
            lambda: lc.compare(self.rep[0], self.rep[1], **options),
            lambda: lc.distance_matrix(self.rep, **options),
        ):
            with pytest.raises(ValueError, match=message):
                call()
        with pytest.raises(ValueError, match="so X, Y cannot apply"):
            lc.distance(self.rep[0], self.rep[1], X, Y=X)

    def test_representations_of_single_partitions_are_required(self):
        for a, b in ((self.rep, self.rep[0]), (self.rep[0], B)):
            with pytest.raises(TypeError, match=r"such as rep\[0\] and rep\[1\]"):
                lc.distance(a, b)
        for function in (lc.significance, lc.bandwidth_profile):
            with pytest.raises(TypeError, match="the partitions themselves, not a Representation"):
                function(self.rep[0], self.rep[1], X)

    def test_representations_of_different_lifts_are_refused(self):
        other = lc.represent(X, [B], lift="fourier")
        with pytest.raises(ValueError, match="made by different lifts"):
            lc.distance(self.rep[0], other[0])


def test_comparison_of_representations_has_their_names():
    rep = lc.represent(X, {"first": A, "second": B})
    assert lc.compare(rep["first"], rep["second"]).names == ("first", "second")
    assert lc.compare(rep[0], rep[1], names=("u", "v")).names == ("u", "v")
    assert lc.compare(A, B, X).names == ("a", "b")


@pytest.mark.parametrize("function", WITH_MEASURE)
def test_measure_options_must_be_a_mapping(function):
    with pytest.raises(TypeError, match="options of the measure lift_kd must be a mapping"):
        FUNCTIONS[function](measure="lift_kd", measure_options=["outer_kernel"])
