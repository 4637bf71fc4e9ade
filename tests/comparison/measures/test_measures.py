"""Every measure has exactly the properties it claims in the registry."""

import re
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

import liftcluster as lc
from liftcluster.partitions.contingency import contingency
from support import oracles_pairs as oracle
from support.amount import examples

KERNEL = lc.Gaussian(1.0)


def each(condition=lambda measure: True):
    chosen = [measure for measure in lc.MEASURES.values() if condition(measure)]
    return pytest.mark.parametrize("measure", chosen, ids=attrgetter("name"))


def value(measure, a, b, X, **options):
    options = {"kernel": KERNEL, **options} if measure.needs == "vectors" else options
    return lc.distance(a, b, X, measure=measure.name, **options)


@st.composite
def labelled_points(draw, count, max_points=9, max_clusters=4):
    """Points in the plane and some hard labellings of them, small enough to have ties."""
    n = draw(st.integers(3, max_points))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, 2)) * draw(st.sampled_from([0.3, 1.0, 4.0]))
    labels = [
        np.array(draw(st.lists(st.integers(0, max_clusters - 1), min_size=n, max_size=n)))
        for _ in range(count)
    ]
    return X, labels


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def test_registry_lists_all_measures():
    assert list(lc.MEASURES) == [
        "lift_emd",
        "lift_kd",
        "lift_hausdorff",
        "centroid",
        "adco",
        "cdistance",
        "spri",
        "spari",
        "rand",
        "jaccard",
        "mirkin",
        "fowlkes_mallows",
        "adjusted_rand",
        "accuracy",
        "element_centric",
        "nmi",
        "ami",
        "vi",
        "nvi",
    ]
    with pytest.raises(TypeError):
        lc.MEASURES["mine"] = None


@each()
def test_every_measure_is_documented(measure):
    assert measure.reference
    assert measure.title
    assert "noise" in measure.noise or "left out" in measure.noise
    doc = measure.function.__doc__
    assert ".. math::" in doc
    assert "References" in doc
    assert measure.is_symmetric or not measure.is_metric


@each()
def test_the_reference_is_among_those_of_the_docstring(measure):
    authors, year = re.fullmatch(r"(.+) \(\D*(\d{4})\)", measure.reference).groups()
    cited = measure.function.__doc__.partition("References")[2]
    assert re.search(rf"{authors}\b.*\b{year}\b", cited, flags=re.DOTALL)


OPTIONS = {"outer_kernel": lc.Gaussian(1.0), "bins": 3, "alpha": 0.5, "tol": 1e-6}


@each()
def test_a_measure_accepts_exactly_the_options_it_declares(measure):
    X, a, b = problem()
    a, b = lc.Partition.from_labels(a), lc.Partition.from_labels(b)
    rep = lc.represent(X, [a, b], bandwidth=1.0)
    arguments = {
        "vectors": (rep[0], rep[1]),
        "points": (X, a, X, b),
        "table": (contingency(a, b),),
    }[measure.needs]
    assert set(measure.options) <= set(OPTIONS)
    for name, value_of in OPTIONS.items():
        if name in measure.options:
            assert np.isfinite(measure.function(*arguments, **{name: value_of}))
        else:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                measure.function(*arguments, **{name: value_of})


@each()
@settings(max_examples=examples(30))
@given(labelled_points(1))
def test_equal_partitions_are_at_distance_zero(measure, case):
    X, (a,) = case
    renamed = np.array(["d", "c", "b", "a"])[a]
    assert value(measure, a, renamed, X) == pytest.approx(0, abs=1e-6)


@each()
@settings(max_examples=examples(30))
@given(labelled_points(2))
def test_values_lie_within_the_bounds(measure, case):
    X, (a, b) = case
    low, high = measure.bounds
    assert low - 1e-9 <= value(measure, a, b, X) <= high + 1e-9


ONE, SINGLES = [0, 0, 0], [0, 1, 2]
ONE_PLACE = np.zeros((3, 1))


def on_opposite_sides(name):
    """The distance of a point from another one whose vector is minus its own."""
    X, Y = np.array([[1.0]]), np.array([[-1.0]])
    return lc.distance([0], [0], X, Y=Y, measure=name, kernel=lambda A, B: A @ B.T)


FARTHEST = {
    "lift_emd": lambda: on_opposite_sides("lift_emd"),
    "lift_kd": lambda: on_opposite_sides("lift_kd"),  # up to e⁻⁴ of the outer kernel
    "lift_hausdorff": lambda: on_opposite_sides("lift_hausdorff"),
    "adco": lambda: lc.distance([0], [0], [[0.0]], Y=[[1.0]], measure="adco"),  # no common bin
    "cdistance": lambda: lc.distance(ONE, SINGLES, np.eye(3), measure="cdistance"),  # one plan
    "spri": lambda: lc.distance(ONE, SINGLES, ONE_PLACE, measure="spri"),  # all of full weight
    "adjusted_rand": lambda: lc.distance([0, 0, 1, 1], [0, 1, 0, 1], measure="adjusted_rand"),
    "accuracy": lambda: lc.distance(np.zeros(200), np.arange(200), measure="accuracy"),
    "element_centric": lambda: lc.distance(
        np.zeros(200), np.arange(200), measure="element_centric"
    ),
}


@each(lambda measure: np.isfinite(measure.bounds[1]))
def test_the_upper_bound_is_reached_or_approached(measure):
    farthest = FARTHEST.get(measure.name, lambda: lc.distance(ONE, SINGLES, measure=measure.name))
    assert farthest() == pytest.approx(measure.bounds[1], abs=0.02)


@each()
def test_the_lower_bound_is_the_distance_of_equal_partitions(measure):
    assert measure.bounds[0] == pytest.approx(value(measure, ONE, ONE, np.eye(3)), abs=1e-7)


@each(lambda measure: measure.is_symmetric)
@settings(max_examples=examples(30))
@given(labelled_points(2))
def test_symmetric_measures_are_symmetric(measure, case):
    X, (a, b) = case
    assert value(measure, a, b, X) == pytest.approx(value(measure, b, a, X), abs=1e-7)


@each(lambda measure: not measure.is_symmetric)
def test_asymmetric_measures_are_asymmetric(measure):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.2, 0.9], [0.9, 1.0]])
    a, b = [0, 0, 1, 1], [0, 1, 2, 2]
    assert value(measure, a, b, X) != pytest.approx(value(measure, b, a, X), abs=1e-3)


@each(lambda measure: measure.is_metric)
@settings(max_examples=examples(80))
@given(labelled_points(3))
def test_metrics_obey_the_triangle_inequality(measure, case):
    X, (a, b, c) = case
    ab, bc, ac = (value(measure, p, q, X) for p, q in ((a, b), (b, c), (a, c)))
    # A kernel distance is the root of a difference that is rounded to 1e-16.
    slack = 1e-6 if measure.needs == "vectors" else 1e-9
    assert ac <= ab + bc + slack


@each(lambda measure: measure.is_metric)
@settings(max_examples=examples(60))
@given(labelled_points(2))
def test_metrics_are_positive_for_different_partitions(measure, case):
    X, (a, b) = case
    if not same_partition(a, b):
        assert value(measure, a, b, X) > 1e-6


@each()
def test_is_metric_matches_the_metric_axioms_on_a_square(measure):
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    partitions = list(oracle.all_partitions(4))
    D = np.array([[value(measure, a, b, square) for b in partitions] for a in partitions])
    apart = D[~np.eye(len(D), dtype=bool)].min() > 1e-6
    symmetric = np.abs(D - D.T).max() < 1e-6
    assert measure.is_metric == (apart and symmetric and oracle.worst_triangle(D)[0] < 1e-6)


def turned(X, angle):
    return X @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


CHANGES = {
    "translation": lambda X: (X + np.array([100.0, -3.0]), 1.0),
    "rotation": lambda X: (turned(X, 0.7), 1.0),
    "scaling": lambda X: (X * 7.0, 7.0),
}


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) * [3, 1], rng.integers(3, size=n), rng.integers(4, size=n)


@each()
@pytest.mark.parametrize("change", CHANGES)
def test_invariances_to_transformations_are_as_claimed(measure, change):
    differences = []
    for seed in range(5):
        X, a, b = problem(seed)
        moved, factor = CHANGES[change](X)
        before = value(measure, a, b, X)
        after = value(
            measure,
            a,
            b,
            moved,
            **({"kernel": lc.Gaussian(factor)} if measure.needs == "vectors" else {}),
        )
        differences.append(abs(before - after))
    if change in measure.invariances:
        assert max(differences) < 1e-6
    else:
        assert max(differences) > 1e-4  # otherwise the invariance should be claimed


@each()
def test_relabelling_and_reordering_change_nothing(measure):
    assert "relabelling" in measure.invariances
    X, a, b = problem()
    order = np.random.default_rng(1).permutation(len(X))
    names = np.array(["w", "z", "x", "y"])
    expected = value(measure, a, b, X)
    assert value(measure, names[a], names[b], X) == pytest.approx(expected, abs=1e-9)
    assert value(measure, a[order], b[order], X[order]) == pytest.approx(expected, abs=1e-9)


@each(lambda measure: not measure.same_points)
def test_spatial_measures_compare_different_samples(measure):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 2)), rng.standard_normal((20, 2))
    a, b = (np.where(Z[:, 0] > 0, "right", "left") for Z in (X, Y))
    c = np.where(Y[:, 1] > 0, "up", "down")
    assert value(measure, a, b, X, Y=Y) < value(measure, a, c, X, Y=Y)
    assert value(measure, a, a, X, Y=X.copy()) == pytest.approx(0, abs=1e-6)


@each(lambda measure: measure.same_points)
def test_label_measures_refuse_different_points_and_suggest_others(measure):
    X, Y = np.zeros((4, 2)), np.zeros((3, 2))
    with pytest.raises(
        ValueError, match=r"same points.*These would: lift_emd, lift_kd, lift_hausdorff, centroid"
    ):
        value(measure, [0, 0, 1, 1], [0, 1, 1], X, Y=Y)


@each(lambda measure: measure.soft)
def test_soft_measures_accept_soft_partitions(measure):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2))
    R, S = rng.dirichlet(np.ones(3), 20), rng.dirichlet(np.ones(2), 20)
    low, high = measure.bounds
    assert low <= value(measure, R, S, X) <= high
    hard = rng.integers(3, size=20)
    as_matrix = np.eye(3)[hard]
    assert value(measure, as_matrix, S, X) == pytest.approx(value(measure, hard, S, X), abs=1e-12)


@each(lambda measure: not measure.soft)
def test_hard_measures_refuse_soft_partitions(measure):
    with pytest.raises(ValueError, match="not defined for soft partitions"):
        value(measure, [[0.5, 0.5], [1, 0]], [0, 1], np.eye(2))


@each(lambda measure: measure.any_weights)
def test_scaling_weights_changes_nothing_where_claimed(measure):
    X, a, b = problem()
    w = np.random.default_rng(0).uniform(0.1, 1, len(X))
    scaled = value(measure, a, b, X, weights=w * 13)
    assert value(measure, a, b, X, weights=w) == pytest.approx(scaled, rel=1e-9)


@each(lambda measure: not measure.any_weights)
def test_counting_measures_refuse_fractional_weights(measure):
    X, a, b = problem()
    with pytest.raises(ValueError, match="must be integers"):
        value(measure, a, b, X, weights=np.full(len(X), 0.5))


@each(lambda measure: not measure.any_weights)
def test_functions_of_counting_measures_refuse_fractional_weights(measure):
    X, a, b = problem()
    a, b = (lc.Partition.from_labels(p, np.full(len(X), 0.5)) for p in (a, b))
    arguments = (contingency(a, b),) if measure.needs == "table" else (X, a, X, b)
    with pytest.raises(ValueError, match=r"whole|integer"):
        measure.function(*arguments)


def without_noise_of_either(measure, a, b, X):
    kept = (a >= 0) & (b >= 0)
    return value(measure, a[kept], b[kept], X[kept])


def without_noise_of_each(measure, a, b, X):
    return value(measure, a[a >= 0], b[b >= 0], X[a >= 0], Y=X[b >= 0])


WITHOUT_NOISE = {
    "points that are noise in either partition are left out": without_noise_of_either,
    "left out; masses are shares of the weight in clusters": without_noise_of_each,
}


@each()
def test_noise_is_treated_as_documented(measure):
    X, a, b = problem()
    a[:5], b[3:9] = -1, -1
    expected = WITHOUT_NOISE[measure.noise](measure, a, b, X)
    assert value(measure, a, b, X) == pytest.approx(expected, abs=1e-7)


@each()
def test_weight_two_equals_a_repeated_point(measure):
    X, a, b = problem(n=20)
    twice = np.arange(20) % 3 == 0
    again = np.concatenate([np.arange(20), np.flatnonzero(twice)])
    weighted = value(measure, a, b, X, weights=1.0 + twice)
    assert value(measure, a[again], b[again], X[again]) == pytest.approx(weighted, abs=1e-9)


@each(lambda measure: measure.needs != "table")
def test_spatial_measures_work_in_any_dimension(measure):
    for d in (1, 5):
        rng = np.random.default_rng(d)
        X = rng.standard_normal((30, d))
        if d > 1:
            X = X @ ortho_group.rvs(d, random_state=0)
        a, b = rng.integers(3, size=(2, 30))
        assert value(measure, a, b, X) > 0
