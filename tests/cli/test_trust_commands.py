"""The commands choose, tree and drift, and the page of stability: the library's results."""

import csv
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn.cluster import KMeans

import liftcluster as lc
from support.report_cases import HOSTILE, unpacked

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [7.0, 7.0]])
ORDER = ["leiden_0.2", "leiden_0.3", "leiden_0.4", "leiden_0.5"]  # from few to many clusters
COLUMNS = ["--columns", "x,y"]


def sample(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    which = rng.integers(4, size=n)
    X = CENTRES[which] + rng.standard_normal((n, 2))
    X[which == 3] += shift
    return X, np.array(list("abcd"))[which]


X, KIND = sample(120, 0)
Y, OTHER_KIND = sample(90, 1, shift=2.0)
RUNS = {f"leiden_0.{k}": KMeans(k, n_init=3, random_state=0).fit(X).labels_ for k in (5, 2, 4, 3)}


def write(path, points, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "x", "y", *columns])
        names = [f"{path.stem}{i}" for i in range(len(points))]
        writer.writerows(zip(names, *points.T.tolist(), *columns.values(), strict=True))


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    write(path, X, RUNS | {"kind": KIND})
    return path


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    write(path, Y, {"kind": OTHER_KIND})
    return path


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def in_order():
    return {name: RUNS[name] for name in ORDER}


def test_choose_equals_the_library_result(run, mine, tmp_path):
    expected = lc.choose(X, in_order(), rng=0)
    options = ("choose", mine, *COLUMNS, "--labels", "leiden_*")
    code, out, _ = run(*options, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["best"] == expected.best
    assert [row["setting"] for row in found["settings"]] == ORDER
    np.testing.assert_allclose([row["stability"] for row in found["settings"]], expected.curve)
    assert found["settings"][0]["low"] is None  # of one neighbour there is no interval
    written = tmp_path / "best.csv"
    code, out, err = run(*options, "--id", "name", "--out", written)
    assert code == 0
    assert f"best: {expected.best}" in out
    assert f"written to {written}" in err
    rows = rows_of(written.read_text())
    assert [row["name"] for row in rows[:2]] == ["mine0", "mine1"]
    assert [row["cluster"] for row in rows] == [str(label) for label in RUNS[expected.best]]
    np.testing.assert_allclose([float(row["stability"]) for row in rows], expected.stability.points)
    assert run(*options, "--id", "name", "--out", "-")[1] == written.read_text()


def test_named_labels_keep_their_order(run, mine):
    labels = "leiden_0.5,leiden_0.2,leiden_0.3"
    for command, key in (("choose", "settings"), ("tree", "runs")):
        out = run(command, mine, *COLUMNS, "--labels", labels, "--json")[1]
        found = [row["setting" if key == "settings" else "run"] for row in json.loads(out)[key]]
        assert found == labels.split(",")


def test_tree_equals_the_library_result(run, mine, tmp_path):
    expected = lc.resolution_tree(X, in_order(), rng=0)
    options = ("tree", mine, *COLUMNS, "--labels", "leiden_*")
    code, out, err = run(*options)
    assert code == 0
    assert "tree.svg" in err
    for row in expected.rows()[:-1]:
        assert f"{row['distance']:.4f}" in out
    found = json.loads(run(*options, "--json")[1])
    assert [row["run"] for row in found["runs"]] == ORDER
    shown = [node["stability"] for node in found["nodes"]]
    np.testing.assert_allclose(shown, [node.stability for node in expected.nodes])
    np.testing.assert_allclose(
        [e["mass"] for e in found["edges"]], [e.mass for e in expected.edges]
    )
    written = tmp_path / "tree.json"
    assert run(*options, "--out", written)[0] == 0
    assert json.loads(written.read_text())["nodes"] == found["nodes"]


def test_tree_of_a_single_cluster_has_no_stability_in_json(run, tmp_path):
    write(tmp_path / "mine.csv", X, {"all": np.zeros(120), "kind": KIND})
    out = run("tree", tmp_path / "mine.csv", *COLUMNS, "-l", "all,kind", "--json")[1]
    assert json.loads(out)["nodes"][0]["stability"] is None


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_tree_is_drawn_the_same_way_every_time(run, mine, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    files = [tmp_path / f"{name}{suffix}" for name in ("first", "second")]
    for file in files:
        code, _, err = run("tree", mine, *COLUMNS, "-l", "leiden_*", "--out", file, "-q")
        assert (code, err) == (0, "")
    assert files[0].read_bytes().startswith(starts[suffix])
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.filterwarnings("default")
def test_names_in_a_picture_are_text(run, tmp_path):
    pytest.importorskip("matplotlib")
    labels = np.array(HOSTILE[:4], dtype=object)
    write(tmp_path / "mine.csv", X, {"a": labels[RUNS["leiden_0.4"]], "b": RUNS["leiden_0.2"]})
    code, _, _ = run("tree", tmp_path / "mine.csv", *COLUMNS, "-l", "b,a", "-o", tmp_path / "t.svg")
    assert code == 0
    elements = list(ET.parse(tmp_path / "t.svg").iter())
    tags = {element.tag.rpartition("}")[2] for element in elements}
    assert not tags & {"script", "a", "foreignObject"}
    links = [v for e in elements for k, v in e.attrib.items() if k.endswith("}href")]
    assert all(link.startswith(("#", "data:")) for link in links)


def test_drift_of_a_clusterer_equals_the_library_result(run, mine, new):
    options = ("drift", mine, new, *COLUMNS, "-k", "4", "--n-splits", "9")
    expected = lc.drift(X, Y, KMeans(4, n_init=10), n_splits=9, rng=0)
    found = json.loads(run(*options, "--json")[1])
    assert found["p_value"] == expected.p_value
    assert found["values"] == pytest.approx(expected.values)
    np.testing.assert_allclose(found["null"]["lift_emd"], expected.null["lift_emd"])
    assert found["names"] == ["mine", "new"]
    code, out, _ = run(*options)
    assert code == 0
    assert f"p = {expected.p_value:.3g}" in out
    moves = lc.compare(expected.a, expected.b, X, Y=Y, measures="lift_emd", rng=0).summary()
    assert found["moves"] == moves
    assert all(line in out for line in moves)


def test_drift_of_labels_writes_the_clusters_of_both_samples(run, mine, new, tmp_path):
    options = ("drift", mine, new, *COLUMNS, "--labels", "kind", "--n-splits", "9", "--id", "name")
    expected = lc.drift(X, Y, (KIND, OTHER_KIND), n_splits=9, rng=0)
    found = json.loads(run(*options, "--json")[1])
    assert found["values"] == pytest.approx(expected.values)
    written = tmp_path / "clusters.csv"
    assert run(*options, "--out", written)[0] == 0
    rows = rows_of(written.read_text())
    assert [row["sample"] for row in rows] == ["mine"] * 120 + ["new"] * 90
    assert [row["cluster"] for row in rows] == [*KIND, *OTHER_KIND]
    assert [rows[0]["name"], rows[-1]["name"]] == ["mine0", "new89"]
    assert run(*options, "--out", "-")[1] == written.read_text()


def page_data(page):
    return json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])


def test_the_page_of_drift_has_the_numbers_that_are_printed(run, mine, new, tmp_path):
    page = tmp_path / "drift.html"
    options = ("drift", mine, new, *COLUMNS, "-k", "4", "--n-splits", "19", "--id", "name")
    code, out, err = run(*options, "--page", page, "--json")
    assert code == 0, err
    printed, data = json.loads(out), page_data(page)
    assert printed["page"] == str(page)
    shown = data["drift"]
    assert (shown["sizes"], shown["n_splits"]) == ([120, 90], 19)
    assert shown["p_value"] == printed["p_value"]
    assert {row["measure"]: row["value"] for row in shown["measures"]} == printed["values"]
    assert {row["measure"]: row["p_value"] for row in shown["measures"]} == printed["p_values"]
    null = printed["null"]["lift_emd"]
    assert shown["measures"][0]["mean"] == pytest.approx(np.mean(null))
    # The distance of two clusterings of all points, each in no cluster of the other sample: exact
    # here, while the test uses one map with features for all splits, in error by less than 1e-3.
    value = unpacked(data["measures"]["lift_emd"]["values"]["triangle"])[1]
    assert value == pytest.approx(printed["values"]["lift_emd"], abs=1e-3)
    assert [c["name"] for c in data["clusterings"]] == ["mine", "new"]
    assert [sum(c["masses"]) for c in data["clusterings"]] == pytest.approx([1, 1])
    sentence = "mine (120 points) and new (90 points) differ more than sampling noise explains"
    assert sentence in lines_of_summary(page)[0]
    assert data["trust"] is None
    assert ["file, new", "new.csv"] in data["settings"]


def lines_of_summary(page):
    summary = page.read_text(encoding="utf-8").split("<main>")[0]
    return [" ".join(re.sub(r"<[^>]*>", "", line).split()) for line in summary.split("<p>")[1:]]


def test_the_page_of_like_samples_says_that_they_do_not_differ(run, mine, tmp_path):
    write(tmp_path / "again.csv", sample(120, 2)[0], {"kind": sample(120, 2)[1]})
    page = tmp_path / "drift.html"
    options = (*COLUMNS, "-l", "kind", "--n-splits", "19", "--page", page)
    assert run("drift", mine, tmp_path / "again.csv", *options)[0] == 0
    assert "do not differ more than sampling noise explains" in lines_of_summary(page)[0]


def test_drift_by_some_measures(run, mine, new):
    out = run("drift", mine, new, *COLUMNS, "-l", "kind", "--n-splits", "3", "--measures", "adco",
              "--json")[1]  # fmt: skip
    assert list(json.loads(out)["p_values"]) == ["adco"]


def test_both_samples_are_standardized_by_what_they_have_together(run, mine, new):
    both = np.concatenate([X, Y])
    Z = (both - both.mean(axis=0)) / both.std(axis=0)
    expected = lc.drift(Z[:120], Z[120:], (KIND, OTHER_KIND), n_splits=3, rng=0)
    options = ("-l", "kind", "--n-splits", "3", "--standardize", "--json")
    found = json.loads(run("drift", mine, new, *COLUMNS, *options)[1])
    assert found["values"] == pytest.approx(expected.values)


def test_the_second_sample_has_the_coordinates_of_the_first(run, mine, tmp_path):
    write(tmp_path / "more.csv", Y, {"kind": OTHER_KIND, "z": np.arange(90.0)})
    write(tmp_path / "mine.csv", X, {"kind": KIND})
    code, out, err = run(
        "drift",
        tmp_path / "mine.csv",
        tmp_path / "more.csv",
        "-l",
        "kind",
        "--n-splits",
        3,
        "--json",
    )
    assert code == 0
    assert json.loads(out)["columns"] == ["x", "y"]
    assert err.count("points: x, y") == 1


def test_samples_of_the_same_file_name_are_told_apart(run, mine, tmp_path):
    (tmp_path / "old").mkdir()
    other = tmp_path / "old" / "mine.csv"
    write(other, Y, {"kind": OTHER_KIND})
    out = run("drift", other, mine, *COLUMNS, "-l", "kind", "--n-splits", "3", "--json")[1]
    assert json.loads(out)["names"] == [str(other), str(mine)]


def test_the_page_of_stability_has_the_numbers_that_are_printed(run, mine, tmp_path):
    page = tmp_path / "page.html"
    options = ("stability", mine, *COLUMNS, "-l", "leiden_*", "--reference", "leiden_0.5")
    code, out, _ = run(*options, "--page", page, "--json")
    assert code == 0
    printed = json.loads(out)
    assert (printed["reference"], printed["page"]) == ("leiden_0.5", str(page))
    text = page.read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    shown = data["trust"]
    assert data["clusterings"][shown["reference"]]["name"] == "leiden_0.5"
    for key in ("stability", "low", "high", "verdict", "fate"):
        assert [c[key] for c in shown["clusters"]] == [c[key] for c in printed["clusters"]]
    names = [data["clusterings"][row["clustering"]]["name"] for row in shown["tree"]["rows"]]
    assert names == ORDER
    assert data["title"] == "Stability of leiden_0.5"
    assert set(data["measures"]) == {"lift_emd", "adjusted_rand"}
    code, out, err = run(*options, "--page", page)
    assert "Stability of the clusters" in out
    assert f"written to {page}" in err


def test_a_page_of_stability_without_random_regions_has_its_section(run, mine, tmp_path):
    page = tmp_path / "page.html"
    options = ("stability", mine, *COLUMNS, "-l", "leiden_*", "--kernel", "discrete")
    code, _, err = run(*options, "--page", page)
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    found = json.loads(text.split('id="data">')[1].split("</script>")[0])["trust"]
    assert "without a null" in found["how"]
    assert found["tree"] is None
