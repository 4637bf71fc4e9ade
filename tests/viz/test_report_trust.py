"""The section of the page about trust: the library's numbers, in order, and when there is none."""

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.viz.report import trust
from support.report_cases import CLUSTERINGS, HOSTILE, NAMES, X, hostile_report

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
WHICH = np.arange(200) % 4
POINTS = CENTRES[WHICH] + np.random.default_rng(0).standard_normal((200, 2))
FINE = 2 * WHICH + (POINTS[:, 0] > CENTRES[WHICH, 0])  # each blob cut in two
COARSE = WHICH // 2
# In an order that is not that of the numbers of clusters.
RUNS = {"eight": FINE, "four": WHICH, "two": COARSE}


def trust_of(runs, X=POINTS, **options):
    return lc.make_report(runs, X, measures=["lift_emd"], rng=0, **options).to_dict()["trust"]


def test_stability_on_the_page_is_that_of_the_library():
    data = lc.make_report(CLUSTERINGS, X, measures=["lift_emd"], rng=0).to_dict()
    D = np.array(data["measures"]["lift_emd"]["values"])
    reference = int(D.sum(axis=1).argmin())
    found = lc.stability(X, CLUSTERINGS, reference=NAMES[reference], rng=0)
    shown = data["trust"]
    assert shown["reference"] == reference
    assert shown["is_nearest"]
    assert (shown["runs"], shown["n_points"]) == (3, 150)
    assert shown["score"] == pytest.approx(found.score)
    for cluster, row in zip(shown["clusters"], found.rows(), strict=True):
        name = data["clusterings"][reference]["clusters"][cluster["cluster"]]
        assert name == str(row["cluster"])
        for key in ("mass", "stability", "low", "high"):
            assert cluster[key] == pytest.approx(row[key])
        assert (cluster["verdict"], cluster["fate"]) == (row["verdict"], row["fate"])


def test_the_tree_goes_from_coarse_to_fine_with_the_numbers_of_the_library():
    tree = trust_of(RUNS)["tree"]
    assert [row["clustering"] for row in tree["rows"]] == [2, 1, 0]
    expected = lc.resolution_tree(POINTS, dict(reversed(RUNS.items())), rng=0)
    for row, values, p in zip(
        tree["rows"], expected.stabilities, expected.runs.values(), strict=True
    ):
        np.testing.assert_allclose(row["stabilities"], values)
        np.testing.assert_allclose(row["masses"], p.masses)
        assert row["clusters"] == list(range(p.k))
    for y, i, j, mass, distance in tree["edges"]:
        assert mass == pytest.approx(expected.plans[y][i, j])
        assert distance == pytest.approx(expected.distances[y][i, j])
    assert len(tree["edges"]) == 4 + 8  # each cluster has one parent


def test_circles_of_the_tree_do_not_overlap_and_lie_in_the_picture():
    rng = np.random.default_rng(0)
    runs = {f"r{k}": rng.integers(k, size=400) for k in range(2, 32, 4)}
    tree = trust_of(runs, rng.standard_normal((400, 2)))["tree"]
    for row in tree["rows"]:
        x, sizes = np.array(row["x"]), np.array(row["sizes"])
        order = np.argsort(x)
        apart = np.diff(x[order]) - (sizes[order][1:] + sizes[order][:-1]) / 2
        assert (apart > 0).all()
        assert (x - sizes / 2).min() >= 0
        assert (x + sizes / 2).max() <= tree["width"]


@pytest.mark.parametrize(
    ("numbers", "is_tree"),
    [([3, 3, 3], False), ([3, 3, 4, 4], False), ([2, 3], True), ([2, 3, 3, 4], True), ([3], None)],
)
def test_a_tree_is_drawn_where_most_numbers_of_clusters_differ(numbers, is_tree):
    rng = np.random.default_rng(0)
    partitions = {
        str(i): lc.as_partition(np.resize(rng.permutation(k), 20)) for i, k in enumerate(numbers)
    }
    assert trust._is_ordered(partitions) == bool(is_tree)


def test_large_data_are_sampled_and_the_size_is_reported(monkeypatch):
    monkeypatch.setattr(trust, "MAX_POINTS", 60)
    runs = {"rare": np.where(np.arange(200) < 1, 9, WHICH), **RUNS}
    found = trust_of(runs)
    assert found["n_points"] == 60
    assert {c["cluster"] for c in found["clusters"]} <= set(range(5))
    rows = {row["clustering"]: row for row in found["tree"]["rows"]}
    assert sum(rows[1]["masses"]) == pytest.approx(1)
    assert len(rows[1]["clusters"]) == 8  # numbers on the page, also where the sample lacks some
    assert all(len(set(row["clusters"])) == len(row["clusters"]) for row in rows.values())


def test_clusters_that_the_sample_lacks_keep_the_numbers_of_the_others(monkeypatch):
    monkeypatch.setattr(trust, "MAX_POINTS", 40)
    rows = np.sort(np.random.default_rng(0).permutation(200)[:40])
    rare = np.setdiff1d(np.arange(200), rows)[0]
    labels = np.array(["b", "c", "d", "e"])[WHICH].astype(object)
    labels[rare] = "a"  # is left out
    names = [str(name) for name in lc.as_partition(labels).names]
    found = trust_of({"rare": labels, "two": COARSE, "eight": FINE})
    row = next(row for row in found["tree"]["rows"] if row["clustering"] == 0)
    assert sorted(names[i] for i in row["clusters"]) == ["b", "c", "d", "e"]


def test_the_summary_counts_the_stable_clusters():
    report = lc.make_report({"a": WHICH, "b": WHICH[::1], "c": WHICH}, POINTS, rng=0)
    assert any("4 are stable, 0 doubtful and 0 unstable" in line for line in report.summary)
    shuffled = np.random.default_rng(0).permutation(WHICH)
    report = lc.make_report({"a": WHICH, "b": shuffled}, POINTS, rng=0)
    assert any(
        "4 unstable, by whether the other clustering finds them again." in line
        for line in report.summary
    )
    assert all("nearest to the others" not in line for line in report.summary)  # of one other


def test_a_bandwidth_that_is_asked_for_is_used():
    wide = trust_of(RUNS, bandwidth=50.0)
    reference = list(RUNS)[wide["reference"]]
    expected = lc.stability(POINTS, RUNS, reference=reference, bandwidth=50.0, rng=0)
    assert wide["score"] == pytest.approx(expected.score)


@pytest.mark.parametrize("lift", ["exact", "grid", "nystroem", "fourier"])
def test_the_section_does_not_depend_on_the_lift_of_the_distances(lift):
    assert trust_of(RUNS, lift=lift)["clusters"] == trust_of(RUNS)["clusters"]


def test_objects_without_coordinates_have_no_section():
    options = {"view": POINTS}
    assert trust_of(RUNS, X=POINTS, kernel="discrete", **options) is None
    words = [str(i) for i in WHICH]

    def kernel(A, B):
        return np.equal.outer(np.array(A), np.array(B)).astype(float)

    assert trust_of(RUNS, X=words, kernel=kernel, **options) is None
    assert trust_of({"a": np.zeros(200), "b": np.zeros(200)}) is None  # one cluster


def test_very_many_clusters_are_left_out(monkeypatch):
    monkeypatch.setattr(trust, "MAX_CLUSTERS", 4)
    found = trust_of(RUNS)
    assert [row["clustering"] for row in found["tree"]["rows"]] == [2, 1]
    assert found["runs"] == 1
    monkeypatch.setattr(trust, "MAX_NODES", 5)
    assert trust_of(RUNS)["tree"] is None
    monkeypatch.setattr(trust, "MAX_CLUSTERS", 2)
    assert trust_of(RUNS) is None  # one run is left


def test_a_run_of_one_cluster_has_unknown_stability_in_the_tree():
    tree = trust_of({"all": np.zeros(200), **RUNS})["tree"]
    assert tree["rows"][0]["stabilities"] == [None]


def test_soft_weighted_clusterings_and_noise_are_assessed():
    rng = np.random.default_rng(0)
    soft = rng.dirichlet(np.ones(3), 200)
    labels = np.where(rng.random(200) < 0.3, -1, WHICH)
    found = trust_of({"soft": soft, "noise": labels, "two": COARSE}, weights=rng.uniform(1, 2, 200))
    assert found["tree"] is not None
    assert all(np.isfinite(c["stability"]) for c in found["clusters"])


def test_names_in_sentences_about_clusters_are_short_and_isolated():
    data = hostile_report().to_dict()["trust"]
    fates = [cluster["fate"] for cluster in data["clusters"]]
    assert max(map(len, fates)) < 250
    assert all("\u202e" not in fate and "\n" not in fate for fate in fates)
    assert HOSTILE[-1] not in "".join(fates)
