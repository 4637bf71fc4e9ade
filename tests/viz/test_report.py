"""Reports: numbers equal those of the library, and the page is one safe, self-contained file."""

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import liftcluster as lc
from liftcluster.comparison.moves import Move
from liftcluster.viz.layout import project_points
from liftcluster.viz.report import build, differences
from liftcluster.viz.report.summary import main_move
from support.generators import soft_memberships
from support.report_cases import CLUSTERINGS, HOSTILE, NAMES, X, hostile_report, unpacked


def measured(packed):
    return packed["low"] + unpacked(packed) * (packed["high"] - packed["low"]) / 255


@pytest.fixture(scope="module")
def report():
    return lc.make_report(CLUSTERINGS, X, consensus=3, title="Iris", rng=0)


@pytest.fixture(scope="module")
def data(report):
    return report.to_dict()


def pair_of(data, first, second):
    return next(p for p in data["pairs"] if (p["first"], p["second"]) == (first, second))


def test_distances_equal_those_of_the_library(data):
    assert set(data["measures"]) == set(lc.compare(*list(CLUSTERINGS.values())[:2], X).values)
    for name, measure in data["measures"].items():
        for i, a in enumerate(CLUSTERINGS.values()):
            for j, b in enumerate(CLUSTERINGS.values()):
                expected = lc.distance(a, b, X, measure=name)
                assert measure["values"][i][j] == pytest.approx(expected, abs=1e-7), (name, i, j)


def test_random_distances_and_errors_equal_those_of_compare_with_the_same_seed():
    options = {"lift": lc.Fourier(200)}
    data = lc.make_report(CLUSTERINGS, X, measures=["lift_kd"], rng=7, **options).to_dict()
    assert list(data["measures"]) == ["lift_emd", "lift_kd"]
    found = lc.compare(CLUSTERINGS["k-means"], CLUSTERINGS["Ward"], X, rng=7, **options)
    for name in ("lift_emd", "lift_kd"):
        assert data["measures"][name]["values"][1][2] == pytest.approx(found[name].value, abs=1e-9)
        assert data["measures"][name]["errors"][1][2] == pytest.approx(found[name].error, abs=1e-9)
    assert dict(data["settings"])["seed"] == "7"
    assert "ρ = 200" in dict(data["settings"])["lift"]


def test_flows_are_a_transport_plan_whose_cost_is_lift_emd(data):
    for pair in data["pairs"]:
        i, j, mass, distance = np.array(pair["flows"]).T
        expected = data["measures"]["lift_emd"]["values"][pair["first"]][pair["second"]]
        assert mass @ distance == pytest.approx(expected, abs=1e-9)
        for side, codes in (("first", i), ("second", j)):
            masses = data["clusterings"][pair[side]]["masses"]
            np.testing.assert_allclose(np.bincount(codes.astype(int), mass), masses, atol=1e-9)


def test_moves_are_those_of_the_library(data):
    first, second = (data["clusterings"][i]["clusters"] for i in (1, 2))
    found = lc.compare(CLUSTERINGS["k-means"], CLUSTERINGS["Ward"], X)
    for shown, move in zip(pair_of(data, 1, 2)["moves"], found.moves, strict=True):
        assert [first[i] for i in shown["sources"]] == [str(name) for name in move.sources]
        assert [second[i] for i in shown["targets"]] == [str(name) for name in move.targets]
        assert shown["kind"] == move.kind
        assert (shown["mass"], shown["cost"]) == pytest.approx((move.mass, move.cost))


def test_main_move_has_the_highest_cost():
    stayed = Move("stayed", (0,), (0,), mass=0.1, cost=0.9)
    moved = Move("moved", (1,), (1,), mass=0.6, cost=0.1)
    split = Move("split", (2,), (3, 4), mass=0.2, cost=0.2)
    spilled = Move("spilled", (2,), (1,), mass=0.1, cost=0.8)
    assert main_move([stayed, moved, split, spilled]) is split
    assert main_move([stayed, spilled]) is None


def test_cells_have_the_distances_between_clusters_that_share_points(data):
    for pair in data["pairs"]:
        if pair["second"] >= len(NAMES):
            continue
        a, b = CLUSTERINGS[NAMES[pair["first"]]], CLUSTERINGS[NAMES[pair["second"]]]
        D = lc.compare(a, b, X, measures="lift_emd").cluster_distances
        cells = sorted({*zip(a.tolist(), b.tolist(), strict=True)})
        assert [(i, j) for i, j, _ in pair["cells"]] == cells
        found = [d for *_, d in pair["cells"]]
        # Square roots of rounding errors where clusters are the same.
        np.testing.assert_allclose(found, [D[c] for c in cells], atol=1e-7)


def test_consensus_equals_that_of_the_library_and_is_listed_with_the_clusterings(data):
    found = lc.consensus(CLUSTERINGS, 3, X, rng=0)
    shown = unpacked(data["points"]["order"])
    assert [c["name"] for c in data["clusterings"]] == [*NAMES, "consensus"]
    assert [c["is_consensus"] for c in data["clusterings"]] == [False] * 4 + [True]
    np.testing.assert_array_equal(unpacked(data["points"]["labels"][-1]), found.labels[shown])
    np.testing.assert_allclose(
        measured(data["points"]["confidence"]), found.confidence[shown], atol=0.51 / 255
    )
    for name in ("score", "mean_distance", "label_distance", "best_input_label_distance"):
        assert data["consensus"][name] == pytest.approx(getattr(found, name))
    assert data["consensus"]["overruled"] == len(found.overruled)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
def test_summary_counts_points_that_are_undecided_or_overruled():
    labels = np.repeat([0, 1], 50)
    Z = 9.0 * labels[:, None] + np.random.default_rng(0).normal(size=(100, 2))
    inputs = {name: labels.copy() for name in "abc"}
    for p in inputs.values():
        p[:3] = 1  # by all inputs
    inputs["a"][3:10] = inputs["b"][10:20] = 1  # by one
    page = lc.make_report(inputs, Z, consensus=lc.consensus(inputs, 2, Z, method="lift_km"), rng=0)
    text = " ".join(page.summary)
    assert "at least half of the clusterings agree with it on 97% of the points" in text
    assert "all of them put 3 of the points into another of its clusters." in text
    assert page.to_dict()["consensus"]["overruled"] == 3
    agreed = lc.make_report({"a": labels, "b": labels}, Z, consensus=2, rng=0)
    assert "agree with it on 100% of the points." in " ".join(agreed.summary)
    assert "all of them put" not in " ".join(agreed.summary)


def test_a_clustering_called_consensus_keeps_its_name():
    data = lc.make_report({"consensus": [0, 1], "b": [0, 0]}, [[0.0], [1.0]], consensus=2).to_dict()
    assert [c["name"] for c in data["clusterings"]] == ["consensus", "b", "consensus 2"]


@pytest.mark.filterwarnings("ignore:the consensus is farther")  # for any k
def test_auto_chooses_the_number_of_clusters():
    data = lc.make_report(CLUSTERINGS, X, consensus="auto", rng=0).to_dict()
    curve = data["consensus"]["curve"]
    assert curve["chosen"] == data["consensus"]["n_clusters"]
    assert curve["chosen"] in curve["candidates"]


def test_page_data_contain_all_points_at_their_coordinates(data):
    points = data["points"]
    shown = unpacked(points["order"])
    assert sorted(shown) == list(range(150))
    coordinates = project_points(X).coordinates[shown]
    for axis, name in enumerate("xy"):
        low, high = points["low"][axis], points["high"][axis]
        placed = low + unpacked(points[name]) / 65535 * (high - low)
        np.testing.assert_allclose(placed, coordinates[:, axis], atol=(high - low) / 65535)
    for i, labels in enumerate(CLUSTERINGS.values()):
        np.testing.assert_array_equal(unpacked(points["labels"][i]), labels[shown])


def test_many_points_are_sampled_and_the_sample_size_is_reported(monkeypatch):
    monkeypatch.setattr(build, "MAX_POINTS", 40)
    monkeypatch.setattr(differences, "MAX_CELLS", 60)
    points = lc.make_report(CLUSTERINGS, X, rng=0).to_dict()["points"]
    assert (points["n"], points["shown"], points["compared"]) == (150, 40, 10)
    assert len(set(unpacked(points["order"]).tolist())) == 40


def test_many_clusters_and_noise_survive_packing():
    labels = np.arange(600) % 300 - 1
    data = lc.make_report({"many": labels, "few": labels % 5}, np.arange(600.0)[:, None]).to_dict()
    many = unpacked(data["points"]["labels"][0])
    assert many.dtype == np.uint16
    shown = unpacked(data["points"]["order"])
    np.testing.assert_array_equal(np.where(many == 65535, -1, many.astype(int)), labels[shown])
    assert data["clusterings"][0]["noise_mass"] == pytest.approx(2 / 600)


def test_soft_weighted_partitions_are_reported():
    rng = np.random.default_rng(0)
    soft, weights = soft_memberships(rng, 150, 3), rng.uniform(1, 2, 150)
    data = lc.make_report({"soft": soft, **CLUSTERINGS}, X, weights=weights, rng=0).to_dict()
    assert not data["clusterings"][0]["hard"]
    assert dict(data["settings"])["weights"] == "given"
    expected = lc.distance(soft, CLUSTERINGS["Ward"], X, weights=weights)
    assert data["measures"]["lift_emd"]["values"][0][3] == pytest.approx(expected, abs=1e-7)
    assert data["measures"]["accuracy"]["values"][0][1] is not None
    assert "rand" not in data["measures"]
    assert "integers" in data["pairs"][0]["left_out"]["rand"]


def test_objects_without_coordinates_need_a_view():
    words = ["ant", "bee", "cat", "dog"]

    def kernel(A, B):
        return np.array([[float(a[0] == b[0]) + float(a[1] == b[1]) for b in B] for a in A])

    partitions = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}
    view = np.arange(8.0).reshape(4, 2)
    data = lc.make_report(partitions, words, kernel=kernel, view=view).to_dict()
    assert "centroid" not in data["measures"]
    with pytest.raises((TypeError, ValueError), match="X must"):
        lc.make_report(partitions, words, kernel=kernel)


def test_axes_are_labelled_with_data_frame_columns():
    frame = pd.DataFrame(X[:, :2], columns=["sepal length", "sepal width"])
    data = lc.make_report(CLUSTERINGS, frame, rng=0).to_dict()
    assert data["points"]["axes"] == ["sepal length", "sepal width"]


def test_summary_names_like_clusterings_the_farthest_pair_and_the_one_apart():
    line = np.arange(40.0)[:, None]
    halves = np.repeat([0, 1], 20)
    nearly = np.roll(halves, 1)
    other = np.roll(halves, 2)
    mixed = np.tile([0, 1], 20)
    page = lc.make_report(
        {"halves": halves, "nearly": nearly, "other": other, "mixed": mixed},
        line,
        consensus=2,
        rng=0,
    )
    text = " ".join(page.summary)
    assert re.search(
        r"Alike are halves, nearly and other \(at most 0\.\d+ apart\); mixed stands ", text
    )
    assert re.search(r"Farthest apart are \w+ and mixed", text)
    assert "Their consensus has 2 clusters" in text
    assert str(page).startswith(
        "4 clusterings compared\n4 clusterings of 40 points with 1 feature agree in part: on "
    )
    assert 3 <= len(page.summary) <= 5


def test_summary_of_equal_clusterings_reports_distance_zero():
    page = lc.make_report({"a": [0, 1, 1], "b": [1, 0, 0], "c": ["x", "y", "y"]}, [[0.0], [1], [2]])
    assert page.summary[0].endswith("are all the same: every distance is 0.")
    assert page.to_dict()["map"]["stress"] == 0


def test_summary_uses_the_singular_for_one_point():
    page = lc.make_report({"a": [0], "b": [1]}, [[0.0, 1.0]], consensus=1)
    assert page.summary[0].startswith("2 clusterings of 1 point with 2 features are all the same")


def test_summary_reports_a_consensus_equal_to_all_inputs():
    labels = [0, 0, 1, 1]
    page = lc.make_report({"a": labels, "b": labels}, [[0.0], [1], [8], [9]], consensus=2, rng=0)
    text = " ".join(page.summary)
    assert "and is the same as all of them:" in text
    assert "nearest" not in text
    assert "farthest" not in text


@pytest.mark.filterwarnings("ignore:the consensus is farther")
def test_summary_of_an_equidistant_consensus_names_no_nearest_input():
    line = np.arange(4.0)[:, None]
    page = lc.make_report({"a": [0, 0, 0, 1], "b": [0, 1, 1, 1]}, line, consensus=1, rng=0)
    assert re.search(r"and is equally far from all of them \(0\.\d{3}\)", " ".join(page.summary))


def test_summary_reports_that_no_cluster_moved():
    same_place = np.zeros((4, 2))
    for labels, points in (([0, 0, 1, 1], np.eye(4)), ([0, 1, 1, 2], same_place)):
        page = lc.make_report({"a": [0, 0, 1, 1], "b": labels}, points, rng=0)
        assert "From a to b no cluster moved." in page.summary
        assert "largest change" not in " ".join(page.summary)
        costs = [move["cost"] for move in page.to_dict()["pairs"][0]["moves"]]
        assert costs == pytest.approx([0] * len(costs), abs=1e-9)


@pytest.mark.parametrize(
    ("lift", "setting"),
    [
        ("exact", "none: exact"),
        ("fourier", "(standard error)"),
        ("grid", "(deterministic bound)"),
        ("nystroem", "unknown for this lift"),
    ],
)
def test_error_is_described_according_to_the_lift(lift, setting):
    points = X[:, :2]
    page = lc.make_report(CLUSTERINGS, points, lift=lift, measures="lift_emd", rng=0)
    assert setting in dict(page.to_dict()["settings"])["largest error of LiftEMD"]
    found = lc.compare(CLUSTERINGS["k-means"], CLUSTERINGS["Ward"], points, lift=lift, rng=0)
    error = page.to_dict()["measures"]["lift_emd"]["errors"][1][2]
    assert error == (
        None if found["lift_emd"].error is None else pytest.approx(found["lift_emd"].error)
    )


def test_warnings_are_raised_and_shown_on_the_page():
    with pytest.warns(UserWarning, match="clusters were asked for"):
        page = lc.make_report({"a": [0, 1, 1], "b": [0, 0, 1]}, [[0.0], [1.0], [2.0]], consensus=9)
    assert any("9 clusters were asked for" in note for note in page.to_dict()["notes"])


def test_the_same_seed_gives_the_same_page(report):
    again = lc.make_report(CLUSTERINGS, X, consensus=3, title="Iris", rng=0)
    assert again.html() == report.html()
    other = lc.make_report(CLUSTERINGS, X, consensus=3, title="Iris", rng=1)
    assert other.html() != report.html()


def test_seed_drawn_from_a_generator_reproduces_the_page():
    first = lc.make_report(CLUSTERINGS, X, rng=np.random.default_rng(5))
    seed = int(dict(first.to_dict()["settings"])["seed"])
    assert lc.make_report(CLUSTERINGS, X, rng=seed).html() == first.html()
    other = lc.make_report(CLUSTERINGS, X, rng=np.random.default_rng(6)).to_dict()
    assert int(dict(other["settings"])["seed"]) != seed


class Outline(HTMLParser):
    """Tags that open and close in order, texts of the scripts and styles, attributes seen."""

    VOID = frozenset({"meta", "br", "img", "input", "link", "hr"})

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.raw = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("script", "style"):
            self.raw.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] in ("script", "style"):
            attrs, before = self.raw[-1]
            self.raw[-1] = (attrs, before + text)


@pytest.mark.parametrize(
    "make", [lambda r: r, lambda r: hostile_report(consensus=3)], ids=["iris", "hostile"]
)
def test_the_page_is_well_formed_and_contains_the_data(report, make):
    page = make(report)
    outline = Outline(page.html())
    assert outline.open == []
    style, embedded, script = outline.raw
    shown = json.loads(embedded[1])
    expected = page.to_dict()
    for key in ("measures", "pairs"):  # packed, and tested with the packing
        assert shown.pop(key)
        del expected[key]
    assert {**shown, "summary": expected["summary"]} == expected
    policy = next(v for k, v in outline.attributes if k == "content" and "default-src" in v)
    assert "default-src 'none'" in policy
    for _, text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_page_has_no_external_references(report):
    outline = Outline(report.html())
    assert [
        v for k, v in outline.attributes if k in ("src", "href") and not v.startswith("#")
    ] == []
    assert {"img", "link", "iframe", "object", "base"}.isdisjoint(outline.tags)
    assert not [k for k, _ in outline.attributes if k.startswith("on") or k == "style"]


def test_hostile_names_add_no_markup(report):
    plain, hostile = Outline(report.html()), Outline(hostile_report(consensus=3).html())
    common = {"p", "bdi"}  # the summary may be longer
    assert [t for t in hostile.tags if t not in common] == [
        t for t in plain.tags if t not in common
    ]


def test_hostile_names_are_text_in_the_summary():
    names = HOSTILE[:2]
    page = lc.make_report(dict(zip(names, ([0, 0, 1], [0, 1, 1]), strict=True)), LINE)
    assert all(name[:39] in page.summary[1] for name in names)
    summary = page.html().split('aria-label="Summary">')[1].split("</section>")[0]
    assert set(Outline(summary).tags) == {"p", "bdi"}


def test_names_cannot_reverse_the_text_direction_or_fill_the_page():
    labels = ["\u202eevil", "very long " * 20, "עולם", "\u2069loose\u2067"]
    page = lc.make_report({"a": labels, "b": labels[::-1]}, np.arange(4.0)[:, None] ** 2)
    data = page.to_dict()
    for line in page.summary:
        assert "\u202e" not in line
        assert "\u2067" not in line
        assert line.count("\u2068") == line.count("\u2069")
        assert len(line) < 200
    assert set(data["clusterings"][0]["clusters"]) == set(labels)  # the data keep the full names


def test_notebook_shows_the_page_in_a_sandboxed_frame(report, monkeypatch):
    shown = report._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert Outline(shown).tags == ["iframe"]
    monkeypatch.setattr("liftcluster.viz.report.page._MAX_INLINE", 10)
    assert "use .save(path)" in report._repr_html_()
    assert "iframe" not in report._repr_html_()


def test_saving_writes_the_page(report, tmp_path):
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html()
    report.save(str(tmp_path / "page.html"))
    assert os.listdir(tmp_path) == ["page.html"]


def test_failed_save_keeps_the_old_file_and_leaves_no_other(report, tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        report.save(target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_invalid_paths_are_reported(report, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give a file in it"):
        report.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing; create it"):
        report.save(tmp_path / "missing" / "page.html")


A, B = [0, 0, 1], [0, 1, 1]
LINE = [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize(
    ("partitions", "points", "options", "error", "message"),
    [
        ({"a": A}, LINE, {}, ValueError, "at least two clusterings, got 1"),
        ({}, LINE, {}, ValueError, "at least two clusterings, got 0"),
        ([A, B], LINE, {}, TypeError, "mapping from names to clusterings"),
        ({"a": A, "b": [0, 1]}, LINE, {}, ValueError, "'a' has 3, 'b' has 2"),
        ({"a": A, "b": B}, LINE[:2], {}, ValueError, "'a' has 3 entries but X has 2 points"),
        ({"a": A, "b": B}, None, {}, ValueError, "X is needed"),
        ({"a": A, "b": B}, ["x", "y", "z"], {}, (TypeError, ValueError), "X must"),
        ({"a": A, 1: B}, LINE, {}, TypeError, "names of clusterings must be strings, got 1"),
        ({"a": A, " a\n": B}, LINE, {}, ValueError, "look alike"),
        ({"a": A, " ": B}, LINE, {}, ValueError, "empty name"),
        ({"a": A, "b": B}, LINE, {"measures": []}, ValueError, "measures is empty"),
        ({"a": A, "b": B}, LINE, {"measures": ["nope"]}, ValueError, "measures must be one of"),
        ({"a": A, "b": B}, LINE, {"consensus": 0}, ValueError, "consensus must be at least 1"),
        (
            {"a": A, "b": B},
            LINE,
            {"consensus": "many"},
            TypeError,
            "consensus must be an integer",
        ),
        (
            {"a": A, "b": B},
            LINE,
            {"view": [[0, 0]]},
            ValueError,
            "'a' has 3 entries but view has 1",
        ),
        ({"a": A, "b": B}, LINE, {"view": LINE}, ValueError, "view must have two columns"),
        ({"a": A, "b": B}, LINE, {"title": 7}, TypeError, "title must be a string"),
        ({"a": A, "b": B}, LINE, {"rng": "x"}, TypeError, "rng must be an int"),
        (
            {"a": A, "b": B},
            LINE,
            {"rng": -1},
            ValueError,
            "rng must be a non-negative integer",
        ),
    ],
)
def test_invalid_input_is_refused(partitions, points, options, error, message):
    with pytest.raises(error, match=message):
        lc.make_report(partitions, points, **options)


def test_the_page_says_which_plane_it_shows():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((120, 6)), np.arange(120) % 3
    pages = {
        view: lc.make_report({"a": labels, "b": labels // 2}, points, measures="rand", view=view)
        for view in (None, "neighbours", "pca")
    }
    shown = {view: page.to_dict()["points"] for view, page in pages.items()}
    assert shown[None] == shown["neighbours"]
    assert shown[None]["axes"] == ["embedding 1", "embedding 2"]
    assert "distances between groups mean nothing" in shown[None]["description"]
    assert dict(pages[None].to_dict()["settings"])["plots of points"] == shown[None]["description"]
    assert shown["pca"]["description"].startswith("two principal components")
