"""Clusters, columns and selections of the page in a browser."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import liftcluster as lc
from support.amount import also
from support.browser import CONTRAST, complaints, open_browser, open_page, requested
from support.report_cases import HOSTILE, hostile_report

N = 90
IDS = [f"flower {i}" for i in range(N)]
TOWNS = ["north", "=SUM(A1)", 'say "hi", you']
CLUSTERS = np.repeat([0, 1, 2], N // 3)


@pytest.fixture(scope="module")
def driver():
    with open_browser() as made:
        yield made


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": CLUSTERS * 20 + rng.integers(10, size=N),
            "height": rng.normal(170, 5, size=N),
            "town": np.array(TOWNS)[CLUSTERS],
            "note": [None if i % 2 else f"-{i}" for i in range(N)],
            "income": np.where(np.arange(N) % 10 == 0, np.nan, 1000.0 * (CLUSTERS + 1)),
        },
        index=IDS,
    )


@pytest.fixture(scope="module")
def flowers(frame, tmp_path_factory):
    rng = np.random.default_rng(1)
    X = np.column_stack([10 * CLUSTERS, np.zeros(N)]) + rng.normal(size=(N, 2))
    runs = {"three": CLUSTERS, "two": CLUSTERS > 0, "noisy": np.where(CLUSTERS == 2, -1, CLUSTERS)}
    path = tmp_path_factory.mktemp("page") / "flowers.html"
    lc.make_report(runs, X, columns=frame, consensus=3, rng=0).save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    columns = {name: np.resize(HOSTILE, 60) for name in HOSTILE[:7]}
    frame = pd.DataFrame(columns | {"n": np.arange(60)}, index=np.resize(HOSTILE, 60))
    hostile_report(columns=frame).save(path)
    return path


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def every(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def colours_in(driver, number):
    """How many pixels of a plot have each colour."""
    script = """
    const canvas = page.panels[arguments[0]].canvas, copy = new OffscreenCanvas(canvas.width, canvas.height);
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const data = pen.getImageData(0, 0, canvas.width, canvas.height).data, seen = {};
    for (let i = 0; i < data.length; i += 4) {
      const colour = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
      seen[colour] = (seen[colour] || 0) + 1;
    }
    return seen;
    """
    return {int(c): n for c, n in driver.execute_script(script, number).items()}


def choose(driver, first):
    Select(one(driver, "#first")).select_by_visible_text(first)


def place_of(driver, point):
    """Offset of a point from the middle of the first plot, in pixels."""
    return driver.execute_script(
        "const p = unpackOnce(POINTS.order).indexOf(arguments[0]);"
        "const panel = page.panels[0], s = panel.size(), u = panel.unit(s) / s.ratio;"
        "return [(POSITIONS.x[p] - camera.x) * u, (camera.y - POSITIONS.y[p]) * u]",
        point,
    )


def drag_around(driver, points, room=8):
    """Draw a rectangle with the pointer around some points of the first plot."""
    places = np.array([place_of(driver, p) for p in points])
    (left, top), (right, bottom) = places.min(axis=0) - room, places.max(axis=0) + room
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    canvas = one(driver, ".panel canvas.plot")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    actions = ActionChains(driver, duration=20)
    actions.move_to_element_with_offset(canvas, *map(round, corners[0])).click_and_hold()
    for corner in corners[1:]:
        actions.move_to_element_with_offset(canvas, *map(round, corner))
    actions.release().perform()


SAVED = """
window.saved = [];
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.saved.push(blob); return make.call(URL, blob); };
HTMLAnchorElement.prototype.click = function () { window.names = [...(window.names || []), this.download]; };
"""


def saved_rows(driver):
    """The rows of the CSV file that the page saved last."""
    text = driver.execute_async_script("window.saved.pop().text().then(arguments[0])")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_each_cluster_is_described_in_words_and_numbers(driver, flowers):
    open_page(driver, flowers)
    choose(driver, "three")
    cards = every(driver, "#profiles .profile")
    assert [card.get_attribute("aria-label") for card in cards] == ["0", "1", "2"]
    assert "30 points, 33 %" in cards[0].text
    words = [card.find_element(By.TAG_NAME, "p").text for card in cards]
    assert "low age" in words[0]
    assert "medium age" in words[1]
    assert "high age" in words[2]
    assert "north 100 % (others 0.0 %)" in cards[0].text
    row = next(r for r in cards[0].find_elements(By.TAG_NAME, "tr") if "age" in r.text)
    assert "−1.00" in row.text
    paths = row.find_elements(By.CSS_SELECTOR, "svg.strip path")
    assert len(paths) == 2  # all points, and the cluster
    choose(driver, "noisy")
    assert len(every(driver, "#profiles .profile")) == 2
    assert "The clusters of noisy, the first" in one(driver, "#clusters-hint").text
    assert complaints(driver) == []


def test_names_of_features_colour_the_third_plot(driver, flowers):
    open_page(driver, flowers)
    button = next(b for b in every(driver, "#profiles button.link") if b.text == "age")
    button.send_keys(Keys.ENTER)
    panel = every(driver, ".panel")[2]
    assert Select(panel.find_element(By.TAG_NAME, "select")).first_selected_option.text == "age"
    ages = driver.execute_script(
        "const i = TABLE.items[itemOf(page.panels[2].choice)]; return [i.low, i.high]"
    )
    assert panel.find_element(By.CSS_SELECTOR, ".legend").text.split() == [f"{v:g}" for v in ages]


def test_points_are_coloured_by_features_and_columns(driver, flowers):
    open_page(driver, flowers)
    choice = Select(one(driver, ".panel select"))
    groups = [g.get_attribute("label") for g in every(driver, ".panel:first-child optgroup")]
    assert groups == ["Features", "Columns"]
    options = [option.text for option in choice.options]
    assert options[-4:] == ["age", "height", "town", "income"]  # no text with other values each
    choice.select_by_visible_text("town")
    legend = one(driver, ".panel .legend")
    assert len(legend.find_elements(By.TAG_NAME, "button")) == 3
    palette = driver.execute_script("return DATA.palette.slice(0, 4)")
    seen = colours_in(driver, 0)
    assert [seen.get(int(c[1:], 16), 0) > 0 for c in palette] == [True, True, True, False]
    choice.select_by_visible_text("income")
    assert "grey: missing (10 %)" in legend.text
    seen = colours_in(driver, 0)
    ends = driver.execute_script("return [ramp('value', 0), ramp('value', 1)]")
    for r, g, b in ends:
        assert seen.get((round(r) << 16) + (round(g) << 8) + round(b), 0) > 50
    assert complaints(driver) == []


def test_tooltip_shows_id_and_values(driver, flowers, frame):
    open_page(driver, flowers)
    canvas = one(driver, ".panel canvas.plot")
    ActionChains(driver).move_to_element_with_offset(
        canvas, *map(round, place_of(driver, 34))
    ).perform()
    lines = one(driver, "#tip").text.replace("\u2068", "").replace("\u2069", "").split("\n")
    number = int(lines[0].removeprefix("point "))
    assert f"id: flower {number}" in lines
    assert f"age: {frame['age'].iloc[number]}" in lines
    assert f"town: {frame['town'].iloc[number]}" in lines
    height = next(line for line in lines if line.startswith("height: "))
    assert float(height.split()[1]) == pytest.approx(frame["height"].iloc[number], abs=0.02)


def test_points_inside_a_loop_are_listed_and_saved(driver, flowers, frame):
    open_page(driver, flowers)
    choose(driver, "three")
    driver.execute_script(SAVED)
    one(driver, "#lasso").click()
    assert one(driver, "#lasso").get_attribute("aria-pressed") == "true"
    drag_around(driver, range(60, 90))
    assert one(driver, "#selection-count").text == "30 points inside the loop."
    shown = one(driver, "#selection-clusters").text
    assert "three – 2: 30 (100 %)" in shown
    assert 0xBEC3CC in colours_in(driver, 0)  # the grey of the others
    one(driver, "#selection-save").click()
    (name,) = driver.execute_script("return window.names")
    assert name.endswith("points.csv")
    header, *rows = saved_rows(driver)
    assert header[:6] == ["point", "id", "three", "two", "noisy", "consensus"]
    assert header[-5:] == ["age", "height (rounded)", "town", "note", "income"]
    assert sorted(int(row[0]) for row in rows) == list(range(60, 90))
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        i = int(cells["point"])
        assert cells["id"] == IDS[i]
        assert cells["three"] == "2"
        assert cells["noisy"] == ""  # in no cluster
        assert cells["age"] == str(frame["age"].iloc[i])
        assert cells["town"] == TOWNS[2]
        assert cells["note"] == ("" if i % 2 else f"-{i}")  # a number is no formula
        assert cells["income"] == ("" if i % 10 == 0 else "3000")
        assert float(cells["height (rounded)"]) == pytest.approx(frame["height"].iloc[i], abs=0.02)
    one(driver, "#selection-clear").click()
    assert not one(driver, "#selection").is_displayed()
    assert 0xBEC3CC not in colours_in(driver, 0)
    assert complaints(driver) == []
    assert requested(driver) == [flowers.as_uri()]


def test_the_selection_follows_the_loop_and_not_its_box(driver, flowers):
    open_page(driver, flowers)
    inside = driver.execute_script(
        "const square = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]].map(([x, y]) => ({ x, y }));"
        "return [[1, 1], [2, 3], [3.5, 3], [5, 1], [-1, 1], [2, 0.5]].map(([x, y]) => isInside(x, y, square))"
    )
    assert inside == [True, False, True, False, False, True]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("-2.5e3", "-2.5e3"),
        ("plain", "plain"),
        ('a "b", c\nd', 'a "b", c\nd'),
        ("  =1", "'  =1"),
        ("שלום", "שלום"),
    ],
)
def test_cells_of_the_file_cannot_be_formulas(driver, flowers, value, cell):
    if not driver.current_url.endswith("flowers.html"):
        open_page(driver, flowers)
    written = driver.execute_script("return csvField(arguments[0])", value)
    assert next(csv.reader(io.StringIO(written, newline=""))) == [cell]


def test_selections_need_no_pointer(driver, flowers):
    open_page(driver, flowers)
    choose(driver, "three")
    driver.execute_script(SAVED)
    chip = next(b for b in every(driver, ".panel .legend button") if "1" in b.text)
    chip.send_keys(Keys.ENTER)
    one(driver, "#list-highlighted").send_keys(Keys.ENTER)
    assert driver.switch_to.active_element.get_attribute("id") == "selection"
    assert (
        "30 points in \u20681\u2069 of \u2068three\u2069." in one(driver, "#selection-count").text
    )
    stops = []
    for _ in range(3):
        ActionChains(driver).send_keys(Keys.TAB).perform()
        stops.append(
            driver.execute_script(
                "return document.activeElement.id || document.activeElement.tagName"
            )
        )
    assert stops == ["selection-save", "selection-clear", "SUMMARY"]
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert len(every(driver, "#selection-table tbody tr")) == 30
    assert "flower 30" in one(driver, "#selection-table").text
    one(driver, "#selection-save").send_keys(Keys.ENTER)
    assert sorted(int(row[0]) for row in saved_rows(driver)[1:]) == list(range(30, 60))
    one(driver, ".panel canvas.plot").send_keys(Keys.ESCAPE)
    assert not one(driver, "#selection").is_displayed()
    Select(one(driver, ".panel select")).select_by_visible_text("town")
    next(b for b in every(driver, ".panel .legend button") if "north" in b.text).send_keys(
        Keys.ENTER
    )
    assert "30 points with" in one(driver, "#selection-count").text


def test_profiles_have_buttons_to_highlight_and_to_list(driver, flowers):
    open_page(driver, flowers)
    choose(driver, "three")
    card = every(driver, "#profiles .profile")[2]
    highlight, listing = card.find_elements(By.CSS_SELECTOR, ".tools button")
    highlight.click()
    assert "Showing only \u20682\u2069" in one(driver, "#highlighted").text
    listing.click()
    assert one(driver, "#selection-count").text.startswith("30 points in \u20682\u2069")


@pytest.mark.parametrize("scheme", ["light", also("dark")])
def test_all_text_has_enough_contrast(driver, flowers, scheme):
    open_page(driver, flowers, scheme=scheme)
    one(driver, "#lasso").click()
    driver.execute_script(
        "page.panels[0].choose('column 2'); page.panels[1].choose('column 3'); selectPoints([1, 2, 3], 'chosen');"
        "for (const d of document.querySelectorAll('details')) d.open = true"
    )
    assert driver.execute_script(CONTRAST) == []


@pytest.mark.parametrize("width", [320, also(390)])
def test_narrow_window_needs_no_horizontal_scrolling(driver, flowers, hostile, width):
    for path in (flowers, hostile):
        open_page(driver, path, width=width, height=800, touch=True)
        driver.execute_script(
            "page.panels[0].choose('column 2'); selectPoints([1, 2, 3], 'chosen')"
        )
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_loops_are_drawn_by_touch(driver, flowers):
    open_page(driver, flowers, width=390, height=800, touch=True)
    assert one(driver, ".panel canvas.plot").value_of_css_property("touch-action") == "pan-y"
    one(driver, "#lasso").click()
    assert one(driver, ".panel canvas.plot").value_of_css_property("touch-action") == "none"


def test_hostile_names_values_and_ids_stay_text(driver, hostile):
    open_page(driver, hostile)
    driver.execute_script(
        "TABLE.items.forEach((item, i) => { if (item.kind !== 'text') page.panels[i % 3].choose('column ' + i); });"
        "for (let p = 0; p < 60; p++) byId('tip').textContent = page.describe(p);"
        "selectPoints(rowsWhere(() => true), 'all');"
        "for (const d of document.querySelectorAll('details')) d.open = true;"
    )
    for i in range(3):
        every(driver, ".panel .legend button")[i].click()
        assert driver.switch_to.active_element.tag_name == "button"  # focus is unchanged
    assert every(driver, "main script, main img, main b, main a") == []
    assert complaints(driver) == []
    text = driver.execute_script("return selectionAsCsv(rowsWhere(() => true))")
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == 61
    assert len({len(row) for row in rows}) == 1


@pytest.mark.long
def test_the_file_is_downloaded_under_the_content_security_policy(driver, flowers, tmp_path):
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    open_page(driver, flowers)
    driver.execute_script("selectPoints([0, 1, 2], 'chosen')")
    one(driver, "#selection-save").click()
    for _ in range(50):
        if files := list(tmp_path.glob("*points.csv")):
            break
        driver.execute_async_script("setTimeout(arguments[0], 100)")
    with open(files[0], newline="", encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 4
    assert complaints(driver) == []


def test_page_says_which_features_and_points_it_has(driver, tmp_path, monkeypatch):
    monkeypatch.setattr("liftcluster.viz.report.build.MAX_POINTS", 50)
    rng = np.random.default_rng(2)
    runs = {"a": rng.integers(2, size=80), "b": rng.integers(3, size=80)}
    columns = {"empty": [None] * 80}
    path = tmp_path / "page.html"
    lc.make_report(runs, rng.normal(size=(80, 60)), columns=columns, rng=0).save(path)
    open_page(driver, path)
    note = one(driver, "#columns-note").text
    assert (
        "Of 60 features, points can be coloured by the 20 that separate the clusters most." in note
    )
    assert "every value is missing: empty" in note
    driver.execute_script("selectPoints([0, 1], 'chosen')")
    assert one(driver, "#selection-count").text == "2 points chosen, of the 50 that are drawn."


def test_page_without_features_or_columns_has_no_profiles(driver, tmp_path):
    path = tmp_path / "page.html"
    runs, view = {"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}, [[0, 0], [1, 0], [2, 1], [3, 1]]
    lc.make_report(runs, np.arange(4), kernel=lc.Precomputed(np.eye(4)), view=view).save(path)
    data = json.loads(path.read_text().split('id="data">')[1].split("</script>")[0])
    assert data["table"]["items"] == []
    open_page(driver, path)
    assert not one(driver, "#clusters-card").is_displayed()
    assert complaints(driver) == []
