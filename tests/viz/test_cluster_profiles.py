"""What each cluster is like: effects against literal sums and SciPy, and the words for them."""

import base64

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import mannwhitneyu

import liftcluster as lc
from liftcluster.viz.report import profiles
from liftcluster.viz.report.columns import point_table
from liftcluster.viz.report.profiles import cluster_profiles, column_effects, weighted_median


def effects_of(x, inside, weights=None):
    x = np.asarray(x, dtype=float).reshape(len(inside), -1)
    weights = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    R = sp.csc_array((np.asarray(inside, dtype=float) * weights)[:, None])
    return column_effects(x, R, weights)


def delta(x, inside, weights):
    """Cliff's delta by its definition: a double loop over the points of both sides."""
    total = mass = 0.0
    for a in range(len(x)):
        for b in range(len(x)):
            if not (np.isnan(x[a]) or np.isnan(x[b])):
                pair = weights[a] * inside[a] * weights[b] * (1 - inside[b])
                total += pair * np.sign(x[a] - x[b])
                mass += pair
    return total / mass if mass else 0.0


def ranks_from_the_middle(x, weights):
    """The distance of the rank of each point from the middle, by counting."""
    known = ~np.isnan(x)
    found = np.full(len(x), np.nan)
    for a in np.flatnonzero(known):
        found[a] = round(abs(np.sum(weights[known] * np.sign(x[a] - x[known]))), 9)
    return found


def random_cases():
    rng = np.random.default_rng(0)
    for n in (2, 3, 9, 30):
        yield rng.normal(size=n), rng.integers(2, size=n), np.ones(n)
        yield rng.integers(4, size=n) * 1.0, rng.integers(2, size=n), rng.random(n) + 0.1  # ties
        yield rng.normal(size=n) ** 3, rng.random(n), rng.random(n) + 0.1  # soft
        gaps = np.where(rng.random(n) < 0.3, np.nan, rng.integers(5, size=n))
        yield gaps, rng.integers(2, size=n), rng.integers(1, 4, size=n)


@pytest.mark.parametrize("case", list(random_cases()))
def test_effects_are_those_of_a_loop_over_pairs_of_points(case):
    x, inside, weights = case
    found = effects_of(x, inside, weights)
    assert found.level[0, 0] == pytest.approx(delta(x, inside, weights), abs=1e-9)
    middle = ranks_from_the_middle(x, weights)
    assert found.spread[0, 0] == pytest.approx(delta(middle, inside, weights), abs=1e-9)


def test_level_is_the_mann_whitney_statistic():
    rng = np.random.default_rng(1)
    x, inside = rng.integers(8, size=80), rng.random(80) < 0.3
    u = mannwhitneyu(x[inside], x[~inside]).statistic
    assert effects_of(x, inside).level[0, 0] == pytest.approx(
        2 * u / (inside.sum() * (~inside).sum()) - 1
    )


def test_level_ignores_units_outliers_and_order():
    x, inside = np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 1, 0, 1, 1])
    expected = effects_of(x, inside).level
    changed = np.exp(x) * [1, 1, 1, 1, 1, 1e200]
    np.testing.assert_allclose(effects_of(changed, inside).level, expected)
    np.testing.assert_allclose(effects_of(-x, inside).level, -expected)


def test_a_constant_column_and_a_cluster_of_all_points_have_no_effect():
    for x, inside in (([5.0] * 4, [0, 1, 1, 0]), ([1.0, 2, 3, 4], [1] * 4), ([1.0] * 2, [0, 0])):
        found = effects_of(x, inside)
        assert found.sizes.tolist() == [[0.0]]
        assert found.shift.tolist() == [[0.0]]


def test_shift_is_the_difference_of_means_over_the_standard_deviation_of_all_points():
    rng = np.random.default_rng(2)
    x, inside = rng.normal(size=40) * 1e3 + 7e5, rng.random(40) < 0.4
    expected = (x[inside].mean() - x[~inside].mean()) / x.std()
    assert effects_of(x, inside).shift[0, 0] == pytest.approx(expected)


def test_median_has_half_of_the_weight_on_each_side():
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 30):
        x, w = rng.integers(9, size=n) * 1.0, rng.integers(1, 5, size=n)
        assert weighted_median(x, w * 0.1) == pytest.approx(np.median(np.repeat(x, w)))


def described(partitions, X, columns=None, **options):
    """The profiles of the first clustering: words, and entries with the names of columns."""
    parts = {name: lc.as_partition(labels) for name, labels in partitions.items()}
    table = point_table(np.asarray(X, dtype=float), columns, len(X), **options)
    data = cluster_profiles(parts, table, 0).data
    names = [column["name"] for column in data["columns"]]
    return data, [
        {**p, "entries": {names[e["column"]]: e for e in p["entries"]}}
        for p in data["clusterings"][0]
    ]


THIRDS = np.repeat([0, 1, 2], 20)


def test_clusters_in_a_row_are_low_medium_and_high():
    _, found = described({"a": THIRDS}, np.arange(60.0)[:, None], names=["age"])
    assert [p["in_words"] for p in found] == ["low age", "medium age", "high age"]
    assert [p["entries"]["age"]["effect"] for p in found] == [-1, -1, 1]
    assert [p["entries"]["age"]["median"] for p in found] == [9.5, 29.5, 49.5]
    assert [p["size"] for p in found] == [20, 20, 20]


def test_histograms_are_shares_of_the_points_of_a_cluster():
    x = np.concatenate([np.zeros(15), np.ones(5), np.full(20, 3.0)])
    data, found = described({"a": np.repeat([0, 1], 20)}, x[:, None])

    def shares(part):
        levels = np.frombuffer(base64.b64decode(part["bins"]), dtype=np.uint8)
        return levels / 255 * part["peak"]

    entry = found[0]["entries"]["feature 1"]
    np.testing.assert_allclose(shares(entry), [0.75, 0.25, 0, 0], atol=2e-3)
    np.testing.assert_allclose(shares(data["columns"][0]), [0.375, 0.125, 0, 0.5], atol=2e-3)


def test_categories_are_described_by_their_shares():
    town = np.repeat(["north", "south", "south", "east"], 15)
    _, found = described({"a": THIRDS}, np.zeros((60, 1)), {"town": town})
    entry = found[0]["entries"]["town"]
    assert entry["values"] == [["north", 0.75, 0.0]]
    assert entry["effect"] == 0.75
    assert found[0]["in_words"] == "mostly north (town)"
    assert found[2]["entries"]["town"]["values"] == [["east", 0.75, 0.0]]
    assert found[1]["entries"]["town"]["values"] == [["south", 1.0, 0.25]]


def test_the_strongest_of_tied_effects_comes_first():
    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1], 50)
    X = rng.random((100, 9)) + labels[:, None] * np.arange(2, 11)  # all separate completely
    _, found = described({"a": labels}, X)
    expected = [f"feature {j}" for j in (9, 8, 7, 6, 5, 4)]
    assert list(found[0]["entries"]) == expected
    assert all(entry["effect"] == -1 for entry in found[0]["entries"].values())


def test_columns_without_an_effect_are_not_mentioned():
    rng = np.random.default_rng(5)
    columns = {"noise": rng.normal(size=600), "town": rng.integers(3, size=600).astype(str)}
    _, found = described({"a": rng.integers(3, size=600)}, rng.normal(size=(600, 2)), columns)
    assert [(p["in_words"], p["entries"]) for p in found] == [("", {})] * 3


def test_weights_count_as_copies_of_points():
    rng = np.random.default_rng(6)
    x, labels, w = rng.normal(size=(40, 2)), rng.integers(2, size=40), rng.integers(1, 4, size=40)
    town = rng.integers(2, size=40).astype(str)
    x[labels == 1] += 1
    town[labels == 0] = "0"
    parts = {"a": lc.as_partition(labels, w)}
    found = cluster_profiles(parts, point_table(x, {"t": town}, 40), 0).data
    again = np.repeat(np.arange(40), w)
    parts = {"a": lc.as_partition(labels[again])}
    copies = cluster_profiles(parts, point_table(x[again], {"t": town[again]}, len(again)), 0).data
    for a, b in zip(found["clusterings"][0], copies["clusterings"][0], strict=True):
        assert a["in_words"] == b["in_words"]
        for one, other in zip(a["entries"], b["entries"], strict=True):
            assert one["effect"] == pytest.approx(other["effect"], abs=2e-3)  # rounded
            assert one.get("median") == pytest.approx(other.get("median"))


def test_soft_and_noisy_clusterings_are_described():
    x = np.arange(30.0)[:, None]
    soft = np.column_stack([x / 29, 1 - x / 29])
    _, found = described({"a": soft}, x)
    assert [p["in_words"] for p in found] == ["high feature 1", "low feature 1"]
    expected = delta(x[:, 0], soft[:, 0], np.ones(30))
    assert found[0]["entries"]["feature 1"]["effect"] == pytest.approx(expected, abs=1e-3)
    noisy = np.where(x[:, 0] < 10, -1, x[:, 0] >= 20)
    _, found = described({"a": noisy}, x)
    assert [p["in_words"] for p in found] == ["medium feature 1", "high feature 1"]


def test_many_points_clusters_and_features_are_bounded(monkeypatch):
    monkeypatch.setattr(profiles, "MAX_CELLS", 600 * 40)
    monkeypatch.setattr(profiles, "MAX_CLUSTERS", 20)
    monkeypatch.setattr(profiles, "MAX_ENTRIES", 60)
    rng = np.random.default_rng(7)
    labels = np.minimum(rng.geometric(0.1, size=2000), 30)
    X = labels[:, None] + rng.normal(size=(2000, 40))
    data, found = described({"a": labels, "b": labels % 2}, X)
    assert data["n_points"] == 600
    assert len(found) == 10  # the largest
    assert {p["cluster"] for p in found} == set(
        np.argsort(-lc.as_partition(labels).masses, kind="stable")[:10].tolist()
    )
    assert max(len(p["entries"]) for p in found) == 60 // 12


def test_the_features_that_separate_clusters_are_ranked():
    rng = np.random.default_rng(8)
    labels = rng.integers(3, size=300)
    X = rng.normal(size=(300, 5))
    X[:, 3] += 5 * labels
    X[:, 1] += labels
    table = point_table(X, None, 300)
    found = cluster_profiles({"a": lc.as_partition(labels)}, table, 0).separation
    assert np.argsort(-found)[:2].tolist() == [3, 1]
