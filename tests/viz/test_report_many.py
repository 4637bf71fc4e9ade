"""Reports on many clusterings: order and groups by similarity, few bytes, a summary in words."""

import itertools
import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.viz.layout import order_by_similarity
from liftcluster.viz.report import differences
from liftcluster.viz.report.packing import KINDS, pack_page
from liftcluster.viz.report.similarity import similar_groups
from support.report_cases import CLUSTERINGS, X, hostile_report, unpacked


def apart(*places):
    """Distances between places on a line."""
    return np.abs(np.subtract.outer(np.array(places, float), np.array(places, float)))


def length(D, order):
    return sum(D[i, j] for i, j in itertools.pairwise(order))


@pytest.mark.parametrize("m", [2, 3, 7, 40])
def test_the_order_by_similarity_is_not_longer_than_the_given_one(m):
    rng = np.random.default_rng(m)
    for _ in range(20):
        D = rng.random((m, m))
        D += D.T
        np.fill_diagonal(D, 0)
        order = order_by_similarity(D)
        assert sorted(order) == list(range(m))
        assert length(D, order) <= length(D, range(m)) + 1e-12


def test_clusterings_on_a_line_are_ordered_along_it():
    places = np.random.default_rng(0).permutation(30)
    order = places[order_by_similarity(apart(*places))]
    assert order.tolist() in (list(range(30)), list(range(30))[::-1])


def test_no_order_that_the_tree_allows_is_shorter():
    # Two groups of three: the tree allows the orders that keep both together.
    D = apart(0.0, 10.0, 0.3, 11.0, 0.1, 10.4)
    groups = [(0, 2, 4), (1, 3, 5)]
    allowed = [
        (*a, *b)
        for one, two in (groups, groups[::-1])
        for a in itertools.permutations(one)
        for b in itertools.permutations(two)
    ]
    assert length(D, order_by_similarity(D)) == pytest.approx(min(length(D, o) for o in allowed))


def test_equal_clusterings_keep_their_order():
    assert order_by_similarity(np.zeros((5, 5))).tolist() == [0, 1, 2, 3, 4]


def test_groups_are_known_by_construction():
    groups = similar_groups(apart(0.0, 9.0, 0.5, 20.0, 0.2, 9.3))
    assert [g.tolist() for g in groups] == [[0, 2, 4], [1, 5], [3]]


def restored(packed, m):
    """The matrix that a page holds as a constant, a triangle or in full."""
    if "constant" in packed:
        return np.full((m, m), np.nan if packed["constant"] is None else packed["constant"])
    if "full" in packed:
        return unpacked(packed["full"]).reshape(m, m)
    A = np.zeros((m, m))
    A[np.triu_indices(m)] = unpacked(packed["triangle"])
    return A + np.triu(A, 1).T


@pytest.mark.parametrize("lift", ["exact", "fourier"])
def test_packed_measures_are_exact(lift):
    data = lc.make_report(CLUSTERINGS, X, consensus=3, lift=lift, rng=0).to_dict()
    packed = pack_page(data)
    for name, measure in data["measures"].items():
        for key in ("values", "errors"):
            expected = np.array(measure[key], dtype=float)
            found = restored(packed["measures"][name][key], len(expected))
            np.testing.assert_array_equal(found, expected, err_msg=name)


def test_packed_flows_and_moves_are_those_of_the_pairs():
    data = hostile_report(consensus=3).to_dict()
    packed = pack_page(data)["pairs"]
    columns = [unpacked(packed[key]) for key in ("sources", "targets", "masses", "distances")]
    flows, moves = list(zip(*columns, strict=True)), unpacked(packed["moves"])
    ends = np.cumsum(unpacked(packed["counts"]))
    for number, (pair, end) in enumerate(zip(data["pairs"], ends, strict=True)):
        mine = slice(end - len(pair["flows"]), end)
        np.testing.assert_allclose(flows[mine], pair["flows"], rtol=1e-6)
        kinds = packed["kinds"][number]
        for i, move in enumerate(pair["moves"]):
            assert KINDS[int(kinds[i])] == move["kind"]
            of_move = [f for f, m in zip(pair["flows"], moves[mine], strict=True) if m == i]
            assert sorted({f[0] for f in of_move}) == move["sources"]
            assert sorted({f[1] for f in of_move}) == move["targets"]
            assert sum(f[2] for f in of_move) == pytest.approx(move["mass"])
            assert sum(f[2] * f[3] for f in of_move) == pytest.approx(move["cost"])
        assert packed["left_out"][unpacked(packed["left_out_of"])[number]] == pair["left_out"]


def many(m, n=90, k=3):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((n, 2)) + 6 * rng.integers(2, size=(n, 1))
    return {f"run {i}": rng.integers(k, size=n) for i in range(m)}, points


def test_distances_of_points_are_limited_in_number(monkeypatch):
    monkeypatch.setattr(differences, "MAX_CELLS", 36 * 5)  # less than nine cells of each pair
    runs, points = many(9)
    data = lc.make_report(runs, points, measures=["lift_emd"], rng=0).to_dict()
    assert data["points"]["compared"] == 5
    assert max(len(pair["cells"]) for pair in data["pairs"]) <= 5


def test_a_page_about_a_hundred_clusterings_has_at_most_six_megabytes():
    """By what a pair of ten clusters weighs; 100 clusterings would take minutes."""
    runs, points = many(16, n=400, k=10)
    packed = pack_page(lc.make_report(runs, points, lift=lc.Fourier(64), rng=0).to_dict())
    values = [[m["values"], m["errors"]] for m in packed["measures"].values()]
    of_pairs, of_values = len(json.dumps(packed["pairs"])) / 120, len(json.dumps(values)) / 136
    of_points = 100 * 6000 * 4 / 3  # labels
    assert 100 * 99 / 2 * of_pairs + 100 * 101 / 2 * of_values + of_points + 200_000 < 6e6


LINE = np.arange(40.0)[:, None]
HALVES = np.repeat([0, 1], 20)


@pytest.mark.parametrize(
    ("other", "least", "words"),
    [
        (HALVES, 1.0, "are all the same: every distance is 0."),
        (np.arange(40) < 19.5, 1.0, "are all the same: every distance is 0."),
        (np.roll(HALVES, 1), 0.65, "agree largely: they put 95% of the points into matching clu"),
        (np.repeat([0, 1, 2, 3], 10), 0.3, "agree in part: they put 50% of the points into matc"),
        (np.tile([0, 1], 20), -1.0, "hardly agree: they put 50% of the points into matching clu"),
    ],
)
def test_the_summary_says_in_words_whether_two_clusterings_agree(other, least, words):
    above = {1.0: 1.1, 0.65: 0.9, 0.3: 0.65, -1.0: 0.3}[least]
    assert least <= adjusted_rand_score(HALVES, other) < above
    page = lc.make_report({"a": HALVES, "b": other}, LINE, rng=0)
    assert page.summary[0].startswith("2 clusterings of 40 points with 1 feature " + words)


def test_labels_that_were_not_compared_leave_the_word_to_the_places():
    for other, word in ((np.roll(HALVES, 1), "agree largely ("), (LINE[:, 0] < 5, "hardly agree")):
        page = lc.make_report({"a": HALVES, "b": other}, LINE, measures=["lift_emd"], rng=0)
        assert word in page.summary[0]
        assert "matching" not in page.summary[0]


def test_the_summary_names_the_groups_of_like_clusterings():
    runs = {
        "halves": HALVES,
        "halves 2": np.roll(HALVES, 1),
        "quarters": np.repeat([0, 1, 2, 3], 10),
        "quarters 2": np.repeat([0, 1, 2, 3], [9, 11, 10, 10]),
        "mixed": np.tile([0, 1], 20),
    }
    sentence = lc.make_report(runs, LINE, bandwidth=2.0, rng=0).summary[1]
    assert sentence.startswith("They fall into 2 groups of like clusterings: halves and halves 2 (")
    assert "; quarters and quarters 2 (at most 0." in sentence
    assert sentence.endswith("; mixed stands apart.")


def test_clusterings_without_groups_leave_the_two_that_are_most_alike():
    rng = np.random.default_rng(0)
    runs = {name: rng.integers(4, size=40) for name in "abcd"}
    page = lc.make_report(runs, LINE, bandwidth=2.0, rng=0)
    D = np.array(page.to_dict()["measures"]["lift_emd"]["values"])
    assert all(len(group) == 1 for group in similar_groups(D))
    i, j = min(itertools.combinations(range(4), 2), key=lambda pair: D[pair])
    assert page.summary[1] == f"Most alike are {'abcd'[i]} and {'abcd'[j]} ({D[i, j]:.3f})."


def test_long_lists_of_names_are_short_in_the_summary():
    halves = {f"run {i}": np.roll(HALVES, i % 2) for i in range(30)}
    sentence = lc.make_report({**halves, "odd": np.tile([0, 1], 20)}, LINE, rng=0).summary[1]
    assert sentence.startswith("Alike are run 0, run 1, run 2 and 27 others (at most 0.")


def test_the_summary_says_what_changes_between_the_farthest_pair():
    thirds = np.repeat([0, 1, 2], [20, 10, 10])
    page = lc.make_report({"a": HALVES, "b": HALVES, "c": thirds}, LINE, rng=0)
    assert page.summary[2].startswith("Farthest apart are a and c (0.")
    assert page.summary[2].endswith("; from the first to the second, cluster 1 is split into 1 and 2 (50% of the points).")  # fmt: skip
    weights = np.where(HALVES, 3.0, 1.0)
    page = lc.make_report({"a": HALVES, "c": thirds}, LINE, weights=weights, rng=0)
    assert page.summary[1].endswith("split into 1 and 2 (75% of the weight of the points).")


def test_what_was_run_is_on_top_of_the_settings():
    from liftcluster.viz.report.build import report_about

    run = [("file", "<b>mine.csv"), ("command", "liftcluster report")]
    lifting = {"kernel": "gaussian", "bandwidth": "median", "lift": "auto"}
    page = report_about(None, {"a": HALVES, "b": HALVES}, LINE, lifting=lifting, rng=0, run=run)
    assert page.to_dict()["settings"][:2] == [list(row) for row in run]
    assert "<b>mine" not in page.html()
