"""Features, columns and ids on the page: what is packed, bounded and refused; finished consensus."""

import base64

import numpy as np
import pandas as pd
import pytest

import liftcluster as lc
from liftcluster.viz.report import columns as module
from support.report_cases import CLUSTERINGS, X

A, B = [0, 0, 1, 1], [0, 1, 1, 1]
LINE = [[0.0], [1.0], [2.0], [3.0]]


def table_of(columns=None, points=LINE, partitions=None, **options):
    report = lc.make_report(partitions or {"a": A, "b": B}, points, columns=columns, **options)
    return report.to_dict()["table"], unpack(report.to_dict()["points"]["order"])


def unpack(packed):
    kind = np.dtype(packed["dtype"]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(packed["base64"]), dtype=kind)


def values_of(item, order):
    """The values of all points as the page has them; NaN or None where missing."""
    levels = unpack(item)
    missing = levels == np.iinfo(levels.dtype).max
    if item["kind"] == "number":
        share = levels / item["top"]
        between = item["low"] * (1 - share) + item["high"] * share
        shown = np.where(missing, np.nan, item["low"] + levels if item["exact"] else between)
    else:
        shown = np.array(
            [None if m else item["names"][c] for c, m in zip(levels, missing, strict=True)]
        )
    back = np.empty_like(shown)
    back[order] = shown
    return back


def item(table, name):
    return next(item for item in table["items"] if item["name"] == name)


def test_features_have_the_names_of_a_data_frame_or_numbers():
    table, order = table_of(points=pd.DataFrame({"age": [1.0, 4, 2, 8], "height": [0.5, 1, 1, 2]}))
    assert [(i["name"], i["group"]) for i in table["items"]] == [
        ("age", "feature"),
        ("height", "feature"),
    ]
    np.testing.assert_allclose(values_of(item(table, "age"), order), [1, 4, 2, 8])
    assert [i["name"] for i in table_of()[0]["items"]] == ["feature 1"]


def test_columns_of_every_kind_are_shown():
    frame = pd.DataFrame(
        {
            "income": [1.5, np.nan, 2.25, np.inf],
            "visits": pd.array([3, None, 70_000, 4], dtype="Int64"),
            "town": ["x", None, "y", "x"],
            "grade": pd.Categorical(["low", "high", None, "low"], ["low", "high"]),
            "member": [True, False, True, True],
            "mixed": [1, "a", None, 2.5],
            "day": pd.to_datetime(["2024-01-02", "2024-01-03", None, "2024-01-02"]),
        }
    )
    table, order = table_of(frame)
    shown = {i["name"]: values_of(i, order) for i in table["items"]}
    np.testing.assert_allclose(shown["income"], [1.5, np.nan, 2.25, np.nan], atol=1e-4)
    np.testing.assert_array_equal(shown["visits"], [3, np.nan, 70_000, 4])
    assert shown["town"].tolist() == ["x", None, "y", "x"]
    assert shown["grade"].tolist() == ["low", "high", None, "low"]
    assert item(table, "grade")["names"] == ["low", "high"]
    assert shown["member"].tolist() == ["True", "False", "True", "True"]
    assert shown["mixed"].tolist() == ["1", "a", None, "2.5"]
    assert shown["day"][0].startswith("2024-01-02")
    assert shown["day"][2] is None


def test_numbers_are_as_precise_as_their_packing():
    rng = np.random.default_rng(0)
    n = 300
    labels = {"a": rng.integers(2, size=n), "b": rng.integers(2, size=n)}
    columns = {
        "normal": rng.normal(size=n) * 1e5,
        "huge": rng.choice([-1.7e308, 1.7e308], size=n),
        "account": rng.integers(2**31, 2**32 - 1, size=n),
        "text": [f"customer {i}" for i in range(n)],
    }
    table, order = table_of(columns, rng.normal(size=(n, 2)), labels)
    shown = {i["name"]: values_of(i, order) for i in table["items"]}
    span = np.ptp(columns["normal"])
    np.testing.assert_allclose(shown["normal"], columns["normal"], atol=0.51 * span / 65534)
    np.testing.assert_array_equal(shown["account"], columns["account"])
    assert item(table, "text")["kind"] == "text"
    assert shown["text"].tolist() == columns["text"]
    np.testing.assert_allclose(shown["huge"], columns["huge"])


def test_bytes_leave_out_long_tails_and_say_so(monkeypatch):
    monkeypatch.setattr(module, "MAX_PRECISE", 0)
    rng = np.random.default_rng(1)
    n = 1000
    labels = {"a": rng.integers(2, size=n), "b": rng.integers(2, size=n)}
    values = rng.random(n)
    values[:3] = 1e6
    table, order = table_of({"v": values, "even": rng.random(n)}, rng.normal(size=(n, 1)), labels)
    found = item(table, "v")
    assert found["dtype"] == "uint8"
    assert found["clipped"] == [True, True]
    np.testing.assert_allclose(values_of(found, order)[3:], values[3:], atol=0.01)
    assert item(table, "even")["clipped"] == [False, False]
    assert found["to"] < 1.1  # so is the scale of the colours


def test_a_column_with_the_name_of_a_feature_takes_its_place():
    table, order = table_of({"feature 1": [10, 20, 30, 40], "other": [1, 2, 3, 4]})
    assert [(i["name"], i["group"]) for i in table["items"]] == [
        ("feature 1", "feature"),
        ("other", "column"),
    ]
    np.testing.assert_array_equal(values_of(table["items"][0], order), [10, 20, 30, 40])


def test_ids_are_the_index_of_a_data_frame():
    frame = pd.DataFrame({"x": [0.0, 1, 2, 3]}, index=["p", "q", "r", "s"])
    for points, columns in (
        (frame, None),
        (LINE, frame.rename(columns={"x": "y"})),
        (frame, frame),
    ):
        table, order = table_of(columns, points)
        assert [table["ids"][i] for i in np.argsort(order)] == ["p", "q", "r", "s"]
    assert table_of(points=frame.reset_index(drop=True))[0]["ids"] is None
    filtered = pd.DataFrame({"x": np.arange(8.0)})[::2]
    assert set(table_of(points=filtered)[0]["ids"]) == {"0", "2", "4", "6"}
    with pytest.raises(ValueError, match=r"different indexes.*columns\.loc\[X\.index\]"):
        table_of(frame[::-1], frame)


def test_many_features_and_columns_are_bounded():
    rng = np.random.default_rng(2)
    n, d = 200, 60
    labels = rng.integers(3, size=n)
    points = rng.normal(size=(n, d))
    points[:, 40:] += 3 * labels[:, None]
    columns = {f"c{i}": rng.normal(size=n) for i in range(40)}
    table, _ = table_of(columns, points, {"a": labels, "b": labels % 2})
    assert table["n_features"] == 60
    assert table["features"] == list(range(40, 60))  # those that separate the clusters
    assert len(table["items"]) == 20 + 30
    assert table["notes"] == ["The first 30 of 40 columns are shown."]


def test_many_points_have_fewer_features_and_columns(monkeypatch):
    monkeypatch.setattr(module, "MAX_PACKED", 1400)
    rng = np.random.default_rng(5)
    labels = {"a": rng.integers(2, size=200), "b": rng.integers(2, size=200)}
    columns = {f"c{i}": rng.normal(size=200) for i in range(9)}
    table, _ = table_of(columns, rng.normal(size=(200, 9)), labels)
    assert [i["group"] for i in table["items"]] == ["feature"] * 7 + ["column"] * 7
    assert table["notes"] == ["The first 7 of 9 columns are shown."]


def test_rare_categories_share_a_colour_and_long_texts_are_left_out(monkeypatch):
    monkeypatch.setattr(module, "MAX_TEXT", 5000)
    rng = np.random.default_rng(3)
    n = 500
    labels = {"a": rng.integers(2, size=n), "b": rng.integers(2, size=n)}
    many = np.minimum(rng.geometric(0.05, size=n), 60)
    columns = {"many": [f"v{i}" for i in many], "long": [f"{i} " + "x" * 50 for i in range(n)]}
    table, order = table_of(columns, rng.normal(size=(n, 1)), labels)
    found = item(table, "many")
    counts = [int((many == int(name[1:])).sum()) for name in found["names"]]
    assert counts == sorted(counts, reverse=True)
    assert values_of(found, order).tolist() == columns["many"]
    assert table["notes"] == ["Left out, because the texts are too long: long."]


def test_columns_without_values_are_left_out_with_a_note():
    table, _ = table_of({"empty": [None] * 4, "nan": [np.nan, np.inf, np.nan, -np.inf], "x": A})
    assert [i["name"] for i in table["items"]] == ["feature 1", "x"]
    assert table["notes"] == ["Left out, because every value is missing: empty, nan."]


def test_objects_without_coordinates_have_columns_only():
    def kernel(U, V):
        return np.array([[float(u == v) for v in V] for u in U])

    words = ["a", "b", "a", "c"]
    report = lc.make_report(
        {"a": A, "b": B},
        words,
        kernel=kernel,
        view=[[0, 0], [1, 1], [2, 2], [3, 3]],
        columns={"w": words},
    )
    assert [i["name"] for i in report.to_dict()["table"]["items"]] == ["w"]
    assert report.to_dict()["table"]["n_features"] == 0


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"a": [1, 2, 3]}, ValueError, r"columns\['a'\] has 3 values for 4 points"),
        ({"a": 3}, TypeError, r"columns\['a'\] must be a sequence of 4 values"),
        ({"a": dict.fromkeys(range(4))}, TypeError, "must be a sequence of 4 values"),
        ({"a": "text"}, TypeError, r"columns\['a'\] must be a sequence"),
        ({"a": np.zeros((4, 2))}, ValueError, r"columns\['a'\] must be one-dimensional"),
        ({"a": [[], {}, [1], 2]}, TypeError, "must hold numbers, text or categories"),
        ({"a": np.ones(4) * 1j}, TypeError, "must hold numbers, text or categories"),
        ({"a": A, " a ": B}, ValueError, "two columns are called 'a'; rename one"),
        ({1: A, "1": B}, ValueError, "two columns are called '1'"),
        (pd.DataFrame([[1, 2]] * 4, columns=["u", "u"]), ValueError, "called 'u'"),
        ([A, B], TypeError, "columns must be a data frame or a mapping"),
        (np.zeros((4, 2)), TypeError, "columns must be a data frame or a mapping"),
    ],
)
def test_invalid_columns_are_refused(columns, error, message):
    with pytest.raises(error, match=message):
        lc.make_report({"a": A, "b": B}, LINE, columns=columns)


def test_columns_do_not_change_the_distances():
    columns = {"x": np.arange(150), "t": ["a", "b"] * 75}
    plain = lc.make_report(CLUSTERINGS, X, rng=0).to_dict()
    found = lc.make_report(CLUSTERINGS, X, columns=columns, rng=0).to_dict()
    same = set(plain) - {"table", "profiles"}
    assert {key: plain[key] for key in same} == {key: found[key] for key in same}


def test_a_finished_consensus_is_shown():
    found = lc.consensus(CLUSTERINGS, 3, X, method="lift_hac")
    data = lc.make_report(CLUSTERINGS, X, consensus=found, rng=0).to_dict()
    assert data["consensus"]["method"] == "lift_hac"
    assert data["consensus"]["mean_distance"] == pytest.approx(found.mean_distance)
    assert data["clusterings"][-1]["is_consensus"]
    order = unpack(data["points"]["order"])
    np.testing.assert_array_equal(unpack(data["points"]["labels"][-1]), found.labels[order])
    assert ["consensus", "lift_hac, n_clusters=3"] in data["settings"]


def test_a_consensus_of_other_points_is_refused():
    found = lc.consensus(CLUSTERINGS, 3, X)
    fewer = {name: labels[:100] for name, labels in CLUSTERINGS.items()}
    with pytest.raises(ValueError, match=r"consensus has 150 points but .* has 100"):
        lc.make_report(fewer, X[:100], consensus=found)
    other = CLUSTERINGS | {"Ward": CLUSTERINGS["Ward"][::-1]}
    with pytest.raises(ValueError, match="made from another clustering called 'Ward'"):
        lc.make_report(other, X, consensus=found)
    stored = lc.consensus(lc.represent(X, CLUSTERINGS), 3)
    with pytest.raises(ValueError, match="consensus has no clusters of the points"):
        lc.make_report(CLUSTERINGS, X, consensus=stored)
    with pytest.raises(TypeError, match="consensus must be an integer"):
        lc.make_report(CLUSTERINGS, X, consensus=lc.as_partition(A))


def test_consensus_has_the_weights_of_the_report():
    weights = np.arange(1.0, 151)
    found = lc.consensus(CLUSTERINGS, 3, X)
    data = lc.make_report(CLUSTERINGS, X, consensus=found, weights=weights, rng=0).to_dict()
    expected = found.partition.with_weights(weights).masses
    np.testing.assert_allclose(data["clusterings"][-1]["masses"], expected)


def test_page_of_ten_thousand_points_is_small():
    rng = np.random.default_rng(4)
    n = 10_000
    X = rng.normal(size=(n, 50))
    runs = {f"run {i}": rng.integers(8, size=n) for i in range(5)}
    frame = pd.DataFrame(
        {f"c{i}": rng.normal(size=n) for i in range(10)}, index=[f"cell {i:05d}" for i in range(n)]
    )
    frame["town"] = rng.integers(20, size=n).astype(str)
    report = lc.make_report(
        runs, X, columns=frame, measures=["lift_emd"], lift=lc.Fourier(64), rng=0
    )
    assert len(report.html()) < 2_000_000
