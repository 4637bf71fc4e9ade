"""The frame of the page in a browser: many clusterings, downloads, and links that keep a selection."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from urllib.parse import quote

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

import liftcluster as lc
from support.amount import also
from support.browser import CONTRAST, complaints, open_browser, open_page, requested
from support.report_cases import CLUSTERINGS, HOSTILE, NAMES, X, hostile_report

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def driver():
    with open_browser() as made:
        yield made


@pytest.fixture(scope="module")
def report():
    return lc.make_report(CLUSTERINGS, X, consensus=3, title="Iris", rng=0)


@pytest.fixture(scope="module")
def iris(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "iris.html"
    report.save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    hostile_report(consensus=3).save(path)
    return path


def line_of_cuts(m):
    """Clusterings of points on a line by where it is cut, in an order that is not that one."""
    n = 2 * m
    cuts = np.random.default_rng(0).permutation(m) + 15
    runs = {f"customers by threshold {c:03d}": np.arange(n) < c for c in cuts}
    return runs, np.arange(float(n))[:, None]


@pytest.fixture(scope="module", params=[30, also(100)])
def many(request, tmp_path_factory):
    """The file of a page, its clusterings and their points."""
    path = tmp_path_factory.mktemp("page") / "many.html"
    runs, points = line_of_cuts(request.param)
    lc.make_report(runs, points, measures=["lift_emd"], consensus=2, rng=0).save(path)
    return path, runs, points


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def every(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def state(driver):
    return driver.execute_script(
        "const s = page.state; return [nameOf(s.first), nameOf(s.second), s.measure, s.order]"
    )


def rows_shown(driver):
    return driver.execute_script(
        "return [...document.querySelectorAll('#heatmap tbody th')].map(th => th.title)"
    )


def test_rows_are_ordered_by_similarity_or_as_given(driver, many):
    open_page(driver, many[0])
    runs = list(many[1])
    shown = [name for name in rows_shown(driver) if name != "consensus"]
    assert shown in (sorted(runs), sorted(runs, reverse=True))  # along the line
    columns = driver.execute_script(
        "return [...document.querySelectorAll('#heatmap thead th')].map(th => th.title)"
    )
    assert columns == rows_shown(driver)
    Select(one(driver, "#order")).select_by_value("given")
    assert rows_shown(driver) == [*runs, "consensus"]
    assert complaints(driver) == []


HEATMAP = """
const box = (s) => document.querySelector(s).getBoundingClientRect();
const names = [...document.querySelectorAll("#heatmap tbody th > span")];
return { page: document.documentElement.scrollWidth, cell: box("#heatmap button").width, row: box("#heatmap tbody tr").height,
  font: parseFloat(getComputedStyle(names[0]).fontSize), cut: names.filter((n) => n.scrollWidth > n.clientWidth + 1).length,
  frame: box("#heatmap").width - document.querySelector("#heatmap").parentElement.clientWidth };
"""


def test_many_clusterings_fit_a_desktop(driver, many):
    open_page(driver, many[0], width=1250, height=1000)
    found = driver.execute_script(HEATMAP)
    assert found["page"] <= 1250
    assert found["frame"] <= 0  # nothing to scroll
    assert 8 <= found["cell"] <= (12 if len(many[1]) == 100 else 40)
    assert found["font"] >= 9
    assert found["row"] >= found["font"]  # names of neighbouring rows do not overlap
    assert found["cut"] == 0


def test_many_clusterings_on_a_phone_scroll_inside_their_frame(driver, many):
    open_page(driver, many[0], width=390, height=800, touch=True)
    found = driver.execute_script(HEATMAP)
    assert found["page"] <= 390
    assert found["frame"] > 0
    hint = driver.execute_script(
        "return document.querySelector('#heatmap').parentElement.previousElementSibling.textContent"
    )
    assert hint == "Scroll sideways to see all of it."
    left = driver.execute_script(
        "const area = document.querySelector('#heatmap').parentElement; area.scrollLeft = 500;"
        "const name = document.querySelector('#heatmap tbody th').getBoundingClientRect();"
        "return name.left - area.getBoundingClientRect().left"
    )
    assert abs(left) < 3  # names stay in view


SCROLLING = """
return [...document.querySelectorAll(".scroll")].filter((area) => area.checkVisibility()).map((area) =>
  [area.scrollWidth > area.clientWidth + 1 || area.scrollHeight > area.clientHeight + 1, area.previousElementSibling.checkVisibility(), area.tabIndex === 0]);
"""


@pytest.mark.parametrize("width", [390, 1250])
def test_areas_that_scroll_say_so_and_are_reached_by_keyboard(driver, many, width):
    open_page(driver, many[0], width=width, height=800)
    driver.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    driver.execute_async_script("setTimeout(arguments[0], 200)")
    areas = driver.execute_script(SCROLLING)
    assert any(scrolls for scrolls, *_ in areas)
    assert [said for _, said, _ in areas] == [scrolls for scrolls, *_ in areas]
    assert all(stop for scrolls, _, stop in areas if scrolls)


def test_the_hint_of_a_tree_that_scrolls_is_above_it(driver, tmp_path):
    line = np.arange(600.0)[:, None]
    runs = {f"run {k}": np.arange(600) * k // 600 for k in (2, 20, 40)}
    lc.make_report(runs, line, measures=["lift_emd"], rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html", width=390, height=800)
    hint, tree, names = driver.execute_script(
        "const box = (e) => { const b = e.getBoundingClientRect(); return [b.top, b.bottom, b.width]; };"
        "return [document.querySelector('.tree-grid').previousElementSibling, ...['#tree', '#tree-names'].map((s) => document.querySelector(s))].map(box)"
    )
    assert hint[1] <= tree[0]
    assert hint[2] > 200
    assert tree[0] == names[0]  # side by side


LABELS = """
return [...document.querySelectorAll("#map .dot text")].filter((t) => t.textContent).map((t) => { const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; });
"""


@pytest.mark.parametrize("width", [390, 1250])
def test_labels_of_a_map_of_many_do_not_overlap(driver, many, width):
    open_page(driver, many[0], width=width, height=800)
    boxes = driver.execute_script(LABELS)
    assert len(boxes) >= 3
    for j, b in enumerate(boxes):
        for a in boxes[:j]:
            across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            assert not (across > 1 and down > 3)


def test_a_hidden_label_is_shown_for_the_dot_under_the_pointer_or_in_focus(driver, many):
    open_page(driver, many[0], width=390, height=800)
    dot = driver.execute_script(
        "return [...document.querySelectorAll('#map .dot')].find((d) => !d.querySelector('text').textContent)"
    )
    name = dot.get_attribute("aria-label").split("\u2068")[1].split("\u2069")[0]
    driver.execute_script("arguments[0].focus()", dot)
    shown = one(driver, "#map .over").get_attribute("textContent")
    assert shown.strip("\u2068\u2069") == "…" + name.removeprefix("customers by threshold ")
    driver.execute_script("arguments[0].blur()", dot)
    assert one(driver, "#map .over").get_attribute("textContent") == ""


def test_the_choosers_find_names_among_many(driver, many):
    open_page(driver, many[0])
    one(driver, "#filter").send_keys("D 02")
    for key in ("first", "second"):
        names = driver.execute_script(
            f"return [...document.querySelectorAll('#{key} option')].map((o) => nameOf(Number(o.value)))"
        )
        found = [name for name in many[1] if "threshold 02" in name]
        assert set(found) <= set(names)
        assert len(found) <= len(names) <= len(found) + 1  # and the one that is selected
    Select(one(driver, "#first")).select_by_visible_text("…" + found[1][-3:])
    assert state(driver)[0] == found[1]
    one(driver, "#filter").clear()
    driver.execute_script("document.querySelector('#filter').dispatchEvent(new Event('input'))")
    assert len(every(driver, "#first option")) == len(many[1]) + 1


def test_few_clusterings_have_no_filter(driver, iris):
    open_page(driver, iris)
    assert not one(driver, "#filter").is_displayed()


def test_lines_on_hover_are_few(driver, many):
    open_page(driver, many[0])
    lines = driver.execute_script("return page.describe(0)").split("\n")
    assert lines[9] == f"and {len(many[1]) - 7} other clusterings"
    assert [line.split(":")[0].strip("\u2068\u2069") for line in lines[10:]] == ["feature 1"]


def test_composition_of_a_consensus_of_many_is_short(driver, many):
    open_page(driver, many[0])
    for row in every(driver, "#consensus-table tbody tr"):
        assert re.search(r"and \d+ more", row.text)
        assert row.text.count("(") <= 3


def test_the_cell_under_the_pointer_is_named(driver, many):
    open_page(driver, many[0], width=1250, height=1000)
    cell = one(driver, '#heatmap button[data-cell="3,7"]')
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)
    ActionChains(driver).move_to_element(cell).perform()
    first, second = list(many[1])[3], list(many[1])[7]
    said = one(driver, "#heatmap-status").text
    assert first in said
    assert second in said


def test_a_tree_that_is_too_large_is_left_out_with_a_reason(driver, tmp_path):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((300, 2))
    runs = {f"k{k}": np.argsort(points[:, 0]).argsort() * k // 300 for k in (100, 150, 200, 250)}
    lc.make_report(runs, points, measures=["lift_emd"], rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    assert "would have 700 clusters, and more than 600" in one(driver, "#tree-left-out").text
    assert not one(driver, "#tree-part").is_displayed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_a_page_about_many_has_enough_contrast(driver, many, scheme):
    open_page(driver, many[0], width=390, height=800, scheme=scheme)
    assert driver.execute_script(CONTRAST) == []


# Downloads

CATCH = """
window.saved = {};
saveFile = (name, blob) => { window.pending = blob.arrayBuffer().then((bytes) => { saved[name] = Array.from(new Uint8Array(bytes)); }); };
"""
GET = """
const done = arguments[0];
setTimeout(() => Promise.resolve(window.pending).then(() => done(window.saved)), 300);
"""


def downloaded(driver, selector):
    """What a button saves: names and bytes."""
    driver.execute_script("window.saved = {}")
    for button in every(driver, selector):
        driver.execute_script("arguments[0].click()", button)
    return {name: bytes(values) for name, values in driver.execute_async_script(GET).items()}


def rows_of(saved, name):
    text = saved[name].decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.fixture
def catching(driver, iris):
    open_page(driver, iris)
    driver.execute_script(CATCH)
    return driver


def test_distances_are_saved_exactly_in_the_order_shown(catching, report):
    saved = downloaded(catching, "#distances-card .downloads button:first-child")
    rows = rows_of(saved, "distances.csv")
    names = rows_shown(catching)
    assert rows[0] == ["lift_emd", *names]
    assert [row[0] for row in rows[1:]] == names
    data = report.to_dict()
    numbers = [[c["name"] for c in data["clusterings"]].index(name) for name in names]
    D = np.array(data["measures"]["lift_emd"]["values"])[np.ix_(numbers, numbers)]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], float), D)


@pytest.mark.parametrize(
    ("table", "name", "n"),
    [
        ("h-flow", "flows.csv", None),
        ("h-points", "differences.csv", None),
        ("h-consensus", "consensus.csv", 3),
        ("h-trust", "stability.csv", None),
        ("h-measures", "measures.csv", None),
        ("h-clusterings", "clusterings.csv", 5),
        ("h-run", "settings.csv", None),
    ],
)
def test_every_table_is_saved_with_all_rows(catching, table, name, n):
    saved = downloaded(catching, f"#{table} + .downloads button:last-child")
    rows = rows_of(saved, name)
    assert len({len(row) for row in rows}) == 1
    assert len(rows) > 1
    if n is not None:
        assert len(rows) == n + 1


def test_flows_are_saved_exactly(catching, report):
    rows = rows_of(downloaded(catching, "#h-flow + .downloads button:last-child"), "flows.csv")
    assert rows[0] == ["from", "to", "share of the mass", "distance", "cost"]
    first, second, *_ = state(catching)
    expected = lc.distance(CLUSTERINGS[first], CLUSTERINGS[second], X)
    assert sum(float(row[4]) for row in rows[1:]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("plain", "plain"),
        ('say "a, b"', '"say ""a, b"""'),
        ("two\nlines", '"two\nlines"'),
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+49 30", "'+49 30"),
        ("-cmd|'/c calc'!A0", "'-cmd|'/c calc'!A0"),
        (" =1+1", "' =1+1"),
        ("\t=1", '"\'\t=1"'),
        ("-1", "-1"),
        ("-1.5e-3", "-1.5e-3"),
        (-0.25, "-0.25"),
        (None, ""),
    ],
)
def test_fields_are_quoted_and_are_no_formulas(catching, value, field):
    assert catching.execute_script("return csvField(arguments[0])", value) == field


@pytest.mark.parametrize("page", ["iris", "hostile"])
def test_pictures_stand_alone(driver, request, page):
    open_page(driver, request.getfixturevalue(page), scheme="dark")
    driver.execute_script(CATCH)
    marks = {}
    for heading, name in (
        ("h-distances", "distances.svg"),
        ("h-map", "map.svg"),
        ("h-flow", "flow.svg"),
    ):
        saved = downloaded(driver, f"#{heading} + .downloads button")
        text = saved[name].decode()
        root = ET.fromstring(text)  # well-formed
        assert root.tag == SVG + "svg"
        assert "var(" not in text
        assert not re.search(
            r"\b(class|style|href|onload|tabindex)=", re.sub(r">[^<]*<", "><", text)
        )
        assert {child.tag for child in root.iter()} <= {SVG + tag for tag in ("svg", "g", "title", "rect", "path", "circle", "line", "text", "tspan")}  # fmt: skip
        assert all(t.get("fill", "").startswith(("rgb(", "#")) for t in root.iter(SVG + "text"))
        marks[name] = root
    m = len(driver.execute_script("return CLUSTERINGS"))
    assert sum(r.find(SVG + "title") is not None for r in marks["distances.svg"].iter(SVG + "rect")) == m * (m - 1)  # fmt: skip
    assert complaints(driver) == []


def test_the_tree_is_saved_with_the_names_of_its_rows(driver, tmp_path):
    line = np.arange(120.0)[:, None]
    runs = {f"run {k}": np.arange(120) * k // 120 for k in (2, 4, 8)}
    lc.make_report(runs, line, measures=["lift_emd"], rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    driver.execute_script(CATCH)
    saved = downloaded(driver, "#h-tree + .downloads button")
    root = ET.fromstring(saved["tree.svg"].decode())
    texts = ["".join(t.itertext()).strip("\u2068\u2069") for t in root.iter(SVG + "text")]
    assert {"run 2", "run 4", "run 8"} <= set(texts)
    assert len(list(root.iter(SVG + "circle"))) == 14
    assert len(rows_of(saved, "tree.csv")) == 15


def test_the_plots_are_saved_as_a_picture(catching):
    saved = downloaded(catching, "#h-points + .downloads button:first-child")
    assert saved["points.png"].startswith(b"\x89PNG")
    assert len(saved["points.png"]) > 5000


def test_plots_coloured_by_a_column_are_saved_as_a_picture(driver, tmp_path):
    columns = {"kind": np.repeat(["a", "b", "c"], 50), "number": np.arange(150.0)}
    two = {name: CLUSTERINGS[name] for name in ("k-means", "Ward")}
    made = lc.make_report(two, X, measures=["lift_emd"], columns=columns, rng=0)
    made.save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    driver.execute_script(CATCH)
    choice = Select(one(driver, ".panel select"))
    for name in columns:
        choice.select_by_visible_text(name)
        saved = downloaded(driver, "#h-points + .downloads button:first-child")
        assert saved["points.png"].startswith(b"\x89PNG")
    assert complaints(driver) == []


def test_a_download_is_a_file_named_after_the_page(driver, iris, tmp_path):
    open_page(driver, iris)
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})  # fmt: skip
    one(driver, "#h-run + .downloads button").click()
    for _ in range(50):
        if (tmp_path / "iris-settings.csv").exists():
            break
        driver.execute_async_script("setTimeout(arguments[0], 100)")
    text = (tmp_path / "iris-settings.csv").read_text(encoding="utf-8-sig")
    assert text.startswith("setting,value")
    assert complaints(driver) == []
    assert requested(driver)[0] == iris.as_uri()
    assert all(url.startswith(("file:", "blob:")) for url in requested(driver))


# Links


def test_the_address_keeps_the_selection(driver, iris):
    open_page(driver, iris)
    assert driver.execute_script("return location.hash") == ""
    Select(one(driver, "#first")).select_by_visible_text("species")
    Select(one(driver, "#second")).select_by_visible_text("Ward")
    Select(one(driver, "#measure")).select_by_value("rand")
    Select(one(driver, "#order")).select_by_value("given")
    one(driver, "#zoom-in").click()
    driver.execute_async_script("setTimeout(arguments[0], 400)")
    link, view = driver.execute_script("return [location.href, [camera.x, camera.y, camera.zoom]]")
    driver.get("about:blank")
    driver.get(link)
    assert state(driver) == ["species", "Ward", "rand", "given"]
    np.testing.assert_allclose(driver.execute_script("return [camera.x, camera.y, camera.zoom]"), view, atol=1e-4)  # fmt: skip
    assert Select(one(driver, "#order")).first_selected_option.text == "as given"
    assert complaints(driver) == []


def test_back_and_forward_follow_the_selection(driver, iris):
    open_page(driver, iris)
    start = state(driver)
    one(driver, '#heatmap button[data-cell="2,1"]').click()
    one(driver, '#heatmap button[data-cell="0,2"]').click()
    driver.back()
    assert state(driver)[:2] == ["Ward", "k-means"]
    assert "Ward and k-means" in one(driver, "#pair-summary").text
    driver.back()
    assert state(driver) == start
    driver.forward()
    assert state(driver)[:2] == ["Ward", "k-means"]
    driver.execute_script("location.hash = '#first=species&second=single'")
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert state(driver)[:2] == ["species", "single"]


@pytest.mark.parametrize(
    "link",
    [
        "first=nobody&second=nothing&measure=toString&order=random&view=1,2",
        "first=&second=%ZZ&measure=__proto__&view=NaN,1,2&order=",
        "first=species&second=species",
        "first=nobody&measure=lift_emd",
        "view=0,0,1e9",
        "chooser",
        "%",
        "first[]=1&=&&&",
    ],
)
def test_invalid_links_are_ignored(driver, iris, link):
    open_page(driver, iris)
    start = state(driver)
    driver.get("about:blank")
    driver.get(iris.as_uri() + "#" + link)
    assert state(driver) == start
    assert driver.execute_script("return camera.zoom") == 1
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert complaints(driver) == []


def test_valid_parts_of_a_link_are_used(driver, iris):
    open_page(driver, iris)
    driver.get("about:blank")
    driver.get(iris.as_uri() + "#measure=rand&order=nonsense&first=nobody")
    assert state(driver)[2:] == ["rand", "similarity"]


def test_hostile_names_are_kept_in_links(driver, hostile):
    open_page(driver, hostile)
    for i in range(len(HOSTILE)):
        driver.execute_script(f"page.choose({{ first: {i}, second: {(i + 1) % len(HOSTILE)} }})")
        link = driver.execute_script("return location.href")
        driver.get("about:blank")
        driver.get(link)
        assert state(driver)[:2] == [HOSTILE[i], HOSTILE[(i + 1) % len(HOSTILE)]]
    driver.get("about:blank")
    driver.get(hostile.as_uri() + "#first=" + quote(HOSTILE[0]) + "&second=" + quote(HOSTILE[2]))
    assert state(driver)[:2] == [HOSTILE[0], HOSTILE[2]]
    assert complaints(driver) == []


def test_the_skip_link_changes_no_selection(driver, iris):
    open_page(driver, iris)
    one(driver, '#heatmap button[data-cell="2,1"]').click()
    driver.execute_script("document.querySelector('.skip').click()")
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert state(driver)[:2] == ["Ward", "k-means"]


def test_links_and_downloads_throw_nothing_in_a_notebook(driver, report, tmp_path):
    frame = tmp_path / "notebook.html"
    frame.write_text(f"<!DOCTYPE html><title>notebook</title>{report._repr_html_()}")
    open_page(driver, frame)
    driver.switch_to.frame(one(driver, "iframe"))
    try:
        for selector in ('#heatmap button[data-cell="2,1"]', "#zoom-in"):
            driver.execute_script("arguments[0].click()", one(driver, selector))
        assert state(driver)[:2] == [NAMES[2], NAMES[1]]
        driver.execute_async_script("setTimeout(arguments[0], 400)")
        driver.execute_script("document.querySelector('#h-run + .downloads button').click()")
    finally:
        driver.switch_to.default_content()
    assert complaints(driver) == []


# What Python computed and what the page says


def test_moves_in_words_are_those_of_python_in_both_directions(driver, iris):
    open_page(driver, iris)
    for a in NAMES:
        for b in NAMES:
            if a != b:
                i, j = NAMES.index(a), NAMES.index(b)
                lines = driver.execute_script(f"return moveLines(pairOf({i}, {j}).moves)")
                assert sorted(lines) == sorted(
                    lc.compare(CLUSTERINGS[a], CLUSTERINGS[b], X).summary()
                )


def test_differences_that_the_page_computes_are_those_of_python(driver, many):
    open_page(driver, many[0])
    _, runs, points = many
    names = list(runs)
    for i, j in ((0, 1), (5, 20), (20, 5)):
        values, order = driver.execute_script(
            f"return [Array.from(differencesOf({i}, {j})), Array.from(unpackOnce(POINTS.order))]"
        )
        a, b = runs[names[i]], runs[names[j]]
        expected = lc.compare(a, b, points, measures="lift_emd").point_distances[order]
        # Bytes between 0 and the largest distance, at most 1.42.
        np.testing.assert_allclose(values, expected, atol=0.51 * 1.42 / 255)


def test_points_in_no_cluster_have_no_difference(driver, tmp_path):
    noisy = np.where(np.arange(150) % 5 == 0, -1, CLUSTERINGS["k-means"])
    runs = {"noisy": noisy, "Ward": CLUSTERINGS["Ward"]}
    lc.make_report(runs, X, measures=["lift_emd"], rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    keys, order = driver.execute_script(
        "return [Array.from(colouring('differences', { first: 0, second: 1 }).keys), Array.from(unpackOnce(POINTS.order))]"
    )
    np.testing.assert_array_equal(np.array(keys) == 0, noisy[order] < 0)
    assert "grey: in no cluster of one of them (20" in every(driver, ".legend")[2].text


def test_measures_on_the_page_are_those_of_python(driver, iris, report):
    open_page(driver, iris)
    shown = json.loads(driver.execute_script("return JSON.stringify(DATA.measures)"))
    expected = report.to_dict()["measures"]
    for name, measure in expected.items():
        assert shown[name]["values"] == measure["values"]
        assert shown[name]["errors"] == measure["errors"]
