"""The test of drift: exact by theory, by enumeration and by simulation; power by construction."""

from functools import partial
from itertools import combinations

import joblib
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liftcluster as lc


def halves(points):
    """A clusterer whose boundary depends on the sample."""
    return points[:, 0] > points[:, 0].mean()


def rule(points):
    """A classifier that has seen neither sample."""
    return np.floor(points[:, 0]).clip(-1, 1) + 5


def two_samples(rng, n=40, m=30):
    return rng.standard_normal((n, 2)), rng.standard_normal((m, 2))


def two_blobs(rng, n, share=0.5, moved=0.0):
    right = rng.random(n) < share
    points = rng.standard_normal((n, 2))
    points[right, 0] += 8 + moved
    return points


@pytest.mark.parametrize("measure", ["lift_emd", "lift_kd", "lift_hausdorff", "centroid", "adco"])
def test_distances_are_those_of_clusterings_of_both_parts(measure):
    X, Y = two_samples(np.random.default_rng(0))
    parts = []

    def recorded(points):
        parts.append(points)
        return halves(points)

    lift = lc.make_lift(np.concatenate([X, Y]), lift=lc.Fourier(40), rng=0)
    options = {"lift": lift} if measure.startswith("lift") else {}
    found = lc.drift(X, Y, recorded, measures=measure, n_splits=6, rng=1, **options)
    expected = [
        lc.distance(halves(S), halves(T), S, Y=T, measure=measure, **options)
        for S, T in zip(parts[::2], parts[1::2], strict=True)
    ]
    np.testing.assert_allclose(found.values[measure], expected[0], atol=1e-9)
    np.testing.assert_allclose(found.null[measure], expected[1:], atol=1e-9)
    pooled = np.sort(np.concatenate([X, Y]), axis=0)
    for S, T in zip(parts[::2], parts[1::2], strict=True):
        assert (len(S), len(T)) == (40, 30)
        np.testing.assert_array_equal(np.sort(np.concatenate([S, T]), axis=0), pooled)
    np.testing.assert_array_equal(np.sort(parts[0], axis=0), np.sort(X, axis=0))


LABELS = np.array([0, 0, 1, 1, 0, 2, 1])
NOISY = np.array([0, -1, 1, 1, 0, 0, 1])
MEMBERSHIPS = np.random.default_rng(3).dirichlet(np.ones(3), 7)
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.7])


@pytest.mark.parametrize(
    ("labels", "weights"),
    [(LABELS, None), (NOISY, None), (LABELS, WEIGHTS), (MEMBERSHIPS, None), (MEMBERSHIPS, WEIGHTS)],
    ids=["labels", "noise", "weights", "memberships", "weighted memberships"],
)
def test_labels_and_weights_stay_with_their_points(labels, weights):
    points = np.random.default_rng(0).standard_normal((7, 2))
    lift = lc.make_lift(points, lift=lc.Fourier(30), rng=0)
    every = {}
    for rows in combinations(range(7), 3):
        parts = np.array(rows), np.setdiff1d(np.arange(7), rows)
        (S, a, w), (T, b, v) = (
            (points[r], labels[r], None if weights is None else weights[r]) for r in parts
        )
        every[rows] = lc.distance(a, b, S, Y=T, weights=(w, v), lift=lift)
    w, v = (None, None) if weights is None else (weights[:3], weights[3:])
    given = lc.as_partition(labels[:3], w), lc.as_partition(labels[3:], v)
    found = lc.drift(
        points[:3], points[3:], given, measures="lift_emd", n_splits=700, lift=lift, rng=0
    )
    assert found.values["lift_emd"] == pytest.approx(every[0, 1, 2], abs=1e-9)
    exact = np.array(list(every.values()))
    assert np.abs(found.null["lift_emd"][:, None] - exact).min(axis=1).max() < 1e-9
    # All 35 splits are drawn: each is missed with probability exp(-20).
    assert np.abs(found.null["lift_emd"][:, None] - exact).min(axis=0).max() < 1e-9
    share = np.mean(exact >= exact[0] - 1e-6)
    low, high = binom.ppf([1e-4, 1 - 1e-4], 700, share)
    assert (1 + low) / 701 <= found.p_value <= (1 + high) / 701


def test_memberships_are_matched_by_the_names_of_their_columns():
    X, Y = two_samples(np.random.default_rng(0), 20, 15)
    R, S = (np.random.default_rng(i).dirichlet(np.ones(3), n) for i, n in ((1, 20), (2, 15)))
    a = lc.Partition.from_memberships(R, names="pqr")
    b = lc.Partition.from_memberships(S, names="pqr")
    turned = lc.Partition.from_memberships(S[:, [2, 0, 1]], names="rpq")
    hard = lc.Partition.from_labels(["r", "p", "q"] * 5)
    one_hot = lc.Partition.from_memberships(np.eye(3)[[2, 0, 1] * 5] * (1 - 1e-13) + 1e-14 * S,
                                            names="pqr")  # fmt: skip
    for first, second in ((b, turned), (hard, one_hot)):
        found = [lc.drift(X, Y, (a, p), n_splits=9, rng=0) for p in (first, second)]
        assert found[0].values == pytest.approx(found[1].values)
        np.testing.assert_allclose(found[0].null["lift_emd"], found[1].null["lift_emd"], atol=1e-9)


def test_p_value_of_several_measures_is_that_of_the_largest_standardised_distance():
    X, Y = two_samples(np.random.default_rng(0))
    measures = ("lift_emd", "lift_hausdorff", "centroid")
    found = lc.drift(X, Y + 0.3, halves, measures=measures, n_splits=50, rng=0)
    T = np.full(51, -np.inf)
    for name in measures:
        d = [found.values[name], *found.null[name]]
        mean = sum(d) / 51
        deviation = (sum((x - mean) ** 2 for x in d) / 51) ** 0.5
        T = [max(t, (x - mean) / deviation) for t, x in zip(T, d, strict=True)]
        assert found.p_values[name] == pytest.approx(sum(x >= d[0] for x in d) / 51)
    assert found.p_value == pytest.approx(sum(t >= T[0] for t in T) / 51)
    assert 1 / 51 <= found.p_value <= 1


def draw_gaussians(rng):
    return two_samples(rng, 25, 15)


def draw_heavy_tails(rng):
    return rng.standard_t(2, (20, 1)), rng.standard_t(2, (20, 1))


@pytest.mark.parametrize(
    ("draw", "refit"),
    [(draw_gaussians, True), (draw_heavy_tails, False)],
    ids=["clusterer", "labels"],
)
def test_false_positive_rate_is_the_level(draw, refit):
    rng = np.random.default_rng(0)
    p = []
    for _ in range(300):
        X, Y = draw(rng)
        source = halves if refit else (rule(X), rule(Y))
        p.append(lc.drift(X, Y, source, n_splits=19, lift=lc.Fourier(32), rng=rng).p_value)
    for level in (0.05, 0.2, 0.5):
        # Both bounds are crossed once in a thousand runs.
        low, high = binom.ppf([5e-4, 1 - 5e-4], 300, level)
        assert low <= np.sum(np.array(p) <= level + 1e-9) <= high


CHANGES = {"moved": {"moved": 3.0}, "gone": {"share": 0.0}, "shares": {"share": 0.9}}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("refit", [True, False], ids=["clusterer", "labels"])
def test_differences_far_beyond_noise_have_the_smallest_p_value(change, refit):
    rng = np.random.default_rng(0)
    X, Y = two_blobs(rng, 100), two_blobs(rng, 80, **CHANGES[change])
    source = KMeans(2, n_init=2) if refit else (X[:, 0] > 4, Y[:, 0] > 4)
    found = lc.drift(X, Y, source, n_splits=39, rng=0)
    assert found.p_value == 1 / 40
    # Only the masses know that shares have changed.
    assert found.p_values["lift_emd" if change == "shares" else "lift_hausdorff"] == 1 / 40


def test_equal_samples_have_p_value_one():
    X = two_blobs(np.random.default_rng(0), 50)
    for source in (halves, (rule(X), rule(X))):
        found = lc.drift(X, X, source, n_splits=19, rng=0)
        assert found.values == pytest.approx({"lift_emd": 0, "lift_hausdorff": 0}, abs=1e-9)
        assert found.p_value == 1
        assert "p = 1 (small if the samples differ)" in str(found)


def test_distances_that_are_all_equal_have_p_value_one():
    X, Y = np.zeros((10, 1)), np.zeros((8, 1))
    found = lc.drift(X, Y, (np.ones(10), np.ones(8)), n_splits=9, bandwidth=1.0, rng=0)
    assert found.p_value == 1


def test_small_units_change_nothing():
    X, Y = two_samples(np.random.default_rng(0))
    options = {"measures": ["centroid", "lift_emd"], "n_splits": 19, "rng": 0}
    usual, tiny = (lc.drift(s * X, s * Y + s, halves, **options) for s in (1.0, 1e-9))
    assert usual.p_values == tiny.p_values
    assert usual.p_value == tiny.p_value


def test_clusterings_are_returned_in_the_order_of_the_points():
    X, Y = two_samples(np.random.default_rng(0))
    found = lc.drift(X, Y, halves, n_splits=1, rng=0)
    np.testing.assert_array_equal(found.a.labels, halves(X))
    np.testing.assert_array_equal(found.b.labels, halves(Y))
    labels = np.array(list("abc"))[rule(X).astype(int) - 4]
    weighted = lc.Partition.from_labels(labels, np.arange(1.0, 41))
    found = lc.drift(X, Y, (weighted, np.repeat(["a", "d"], 15)), n_splits=1, rng=0)
    np.testing.assert_array_equal(np.array(found.a.names)[found.a.labels], labels)
    np.testing.assert_array_equal(found.a.weights, weighted.weights)
    assert found.b.names == ("a", "d")


@pytest.mark.parametrize(
    "source",
    [KMeans(3, n_init=1), make_pipeline(StandardScaler(), KMeans(3, n_init=1))],
    ids=["k-means", "pipeline"],
)
def test_the_seed_decides_whatever_the_number_of_threads(source):
    X, Y = two_samples(np.random.default_rng(0))
    first = lc.drift(X, Y, source, n_splits=8, rng=5)
    with joblib.parallel_config(n_jobs=2):
        again = lc.drift(X, Y, source, n_splits=8, rng=5)
    np.testing.assert_array_equal(first.null["lift_emd"], again.null["lift_emd"])
    assert first.values == again.values
    assert "random_state" not in source.get_params() or source.random_state is None


def test_clusterers_without_fit_predict_are_fitted():
    class Fitted(AgglomerativeClustering):
        fit_predict = property()

    X, Y = two_samples(np.random.default_rng(0))
    one, other = (
        lc.drift(X, Y, kind(2), n_splits=3, rng=0) for kind in (Fitted, AgglomerativeClustering)
    )
    assert one.values == other.values


def test_labels_with_unrelated_names_are_warned_of():
    rng = np.random.default_rng(0)
    X, Y = two_blobs(rng, 50), two_blobs(rng, 50)
    a, b = X[:, 0] > 4, Y[:, 0] > 4
    lc.drift(X, Y, (a, b), n_splits=1, rng=0)  # warnings are errors
    with pytest.warns(UserWarning, match="give the clusterer"):
        lc.drift(X, Y, (a, ~b), n_splits=1, rng=0)


def test_rare_clusters_may_be_absent_from_a_part():
    rng = np.random.default_rng(0)
    X, Y = two_samples(rng, 60, 60)
    a = np.where(np.arange(60) == 7, "rare", "common")
    found = lc.drift(X, Y, (a, np.repeat("common", 60)), n_splits=30, rng=0)
    assert np.isfinite(found.null["lift_emd"]).all()
    assert found.a.names == ("common", "rare")
    assert found.b.names == ("common",)


GIVEN = {"X": np.zeros((6, 2)), "Y": np.ones((4, 2)), "source": halves}
BAD = [
    ({"n_splits": 0}, ValueError, "at least 1"),
    ({"measures": "rand"}, ValueError, "lift_hausdorff.*got rand"),
    ({"measures": []}, ValueError, "empty"),
    ({"measures": None}, ValueError, "got None"),
    ({"measures": "best"}, ValueError, "must be one of"),
    ({"measures": "centroid", "bandwidth": 2.0}, ValueError, "lift nothing"),
    ({"kernel": "discrete"}, ValueError, "cannot compare points of two samples"),
    ({"lift": "exact"}, ValueError, 'use lift="fourier"'),
    ({"Y": np.zeros((4, 3))}, ValueError, "2 and 3 features"),
    ({"Y": None}, ValueError, "Y is needed"),
    ({"Y": np.full((4, 2), np.nan)}, ValueError, "Y must be finite"),
    ({"source": "kmeans"}, TypeError, "source must be a clusterer"),
    ({"source": None}, TypeError, "source must be a clusterer"),
    ({"source": KMeans}, TypeError, r"instance of a clusterer, such as KMeans\(\)"),
    ({"source": lambda points: [0, 1]}, ValueError, "the result of the clusterer has 2 entries"),
    ({"source": lambda points: -np.ones(len(points))}, ValueError, "noise"),
    ({"source": ([0] * 5, [0] * 4)}, ValueError, "a has 5 entries but X has 6"),
    ({"source": ([0] * 6, [0] * 5)}, ValueError, "b has 5 entries but Y has 4"),
    ({"source": ([0] * 6, [1] * 4)}, ValueError, "no cluster name in common"),
    ({"source": (lc.as_partition([0] * 6, range(6)), [0] * 4)}, ValueError, "weight zero"),
    ({"source": ([0] + [-1] * 5, [0] + [-1] * 3), "n_splits": 99}, ValueError, "noise points only"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "message"), BAD, ids=[each[2] for each in BAD])
def test_invalid_input_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        partial(lc.drift, rng=0)(**(GIVEN | given))


def test_a_given_seed_is_kept_for_the_samples_and_every_split():
    seen = []

    class Seeded(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            seen.append(self.random_state)
            return super().fit_predict(X)

    X, Y = np.random.default_rng(0).uniform(size=(2, 40, 2))
    lc.drift(X, Y, Seeded(2, n_init=1, random_state=5), n_splits=3, rng=0)
    assert seen == [5] * 8
    seen.clear()
    lc.drift(X, Y, Seeded(2, n_init=1), n_splits=3, rng=0)
    assert len(set(seen) - {None}) == 8
