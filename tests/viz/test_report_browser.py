"""The report page in a browser: loading, interaction, accessibility, and names shown as text."""

import re
from itertools import pairwise

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

import liftcluster as lc
from liftcluster.viz.report import build, differences
from support.amount import also
from support.browser import CONTRAST, complaints, open_browser, open_page, requested
from support.report_cases import CLUSTERINGS, HOSTILE, NAMES, X, hostile_report

PIXELS = """
const [canvas] = arguments, copy = new OffscreenCanvas(canvas.width, canvas.height);
const pen = copy.getContext("2d", { willReadFrequently: true });
pen.drawImage(canvas, 0, 0);
const data = pen.getImageData(0, 0, canvas.width, canvas.height).data, seen = new Map();
for (let i = 0; i < data.length; i += 4) {
  const colour = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
  seen.set(colour, (seen.get(colour) || 0) + 1);
}
return [...seen.entries()];
"""


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


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def every(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def colours_in(driver, canvas):
    return dict(driver.execute_script(PIXELS, canvas))


def point_plots(driver):
    return every(driver, ".panel canvas.plot")


def chosen(driver):
    return [
        Select(one(driver, f"#{key}")).first_selected_option.text for key in ("first", "second")
    ]


def test_page_loads_without_external_requests_or_console_errors(driver, iris):
    open_page(driver, iris)
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert requested(driver) == [iris.as_uri()]
    assert complaints(driver) == []


def test_content_security_policy_blocks_other_scripts_and_requests(driver, iris):
    open_page(driver, iris)
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.ran = true';"
        "document.body.append(s); new Image().src = 'https://example.org/x.png';"
    )
    assert driver.execute_script("return window.ran === undefined")
    refused = complaints(driver)
    assert len(refused) == 2
    assert all("Content Security Policy" in complaint for complaint in refused)


def test_all_plots_have_marks(driver, iris, report):
    open_page(driver, iris)
    data = report.to_dict()
    m = len(data["clusterings"])
    assert len(every(driver, "#heatmap button")) == m * (m - 1)
    assert len(every(driver, "#map .dot")) == m
    first, second = (NAMES.index(name) for name in chosen(driver))
    pair = next(p for p in data["pairs"] if {p["first"], p["second"]} == {first, second})
    assert len(every(driver, "#flow path.band")) == len(pair["flows"])
    for canvas in point_plots(driver):
        assert canvas.get_attribute("data-drawn") == "150"
        marked = sum(count for _, count in sorted(colours_in(driver, canvas).items())[:-1])
        assert marked > 1000  # pixels that are not the white of the background


def test_points_have_the_colours_of_their_clusters_and_no_others(driver, iris, report):
    open_page(driver, iris)
    data = report.to_dict()
    for canvas, name in zip(point_plots(driver)[:2], chosen(driver), strict=True):
        seen = colours_in(driver, canvas)
        used = {n % len(data["palette"]) for n in data["clusterings"][NAMES.index(name)]["colours"]}
        for i, colour in enumerate(data["palette"]):
            assert (seen.get(int(colour[1:], 16), 0) > 0) == (i in used), colour


@pytest.mark.long
def test_farthest_pair_is_selected_by_default(driver, iris, report):
    open_page(driver, iris)
    D = np.array(report.to_dict()["measures"]["lift_emd"]["values"])[:4, :4]
    i, j = np.unravel_index(D.argmax(), D.shape)
    assert set(chosen(driver)) == {NAMES[i], NAMES[j]}


def test_selecting_two_clusterings_updates_the_page(driver, iris, report):
    open_page(driver, iris)
    before = [colours_in(driver, canvas) for canvas in point_plots(driver)]
    Select(one(driver, "#first")).select_by_visible_text("species")
    Select(one(driver, "#second")).select_by_visible_text("Ward")
    found = lc.compare(CLUSTERINGS["species"], CLUSTERINGS["Ward"], X)
    assert f"{found['lift_emd'].value:.3f}" in one(driver, "#pair-summary").text
    assert [item.text for item in every(driver, "#moves li")] == found.summary()
    assert one(driver, "#heatmap button[aria-pressed=true]").get_attribute("data-cell") == "0,2"
    assert [d.get_attribute("data-dot") for d in every(driver, "#map [aria-pressed=true]")] == [
        "0",
        "2",
    ]
    assert len(every(driver, "#flow path.band")) == int((found.plan > 1e-12).sum())
    shown = {
        row.text.split()[0]: row.text.split()[1]
        for row in every(driver, "#measures-table tbody tr")
    }
    assert shown["LiftEMD"] == f"{found['lift_emd'].value:.3f}"
    assert shown["rand"] == f"{found['rand'].value:.3f}"
    assert shown["nmi"] == f"{found['nmi'].value:.3f}"
    after = [colours_in(driver, canvas) for canvas in point_plots(driver)]
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert complaints(driver) == []


@pytest.mark.long
def test_clicking_a_heat_map_cell_selects_its_pair(driver, iris):
    open_page(driver, iris)
    one(driver, '#heatmap button[data-cell="2,1"]').click()
    assert chosen(driver) == ["Ward", "k-means"]
    assert "Ward and k-means" in one(driver, "#pair-summary").text


@pytest.mark.long
def test_clicking_two_map_dots_selects_their_pair(driver, iris):
    open_page(driver, iris)
    for dot in (0, 2):
        one(driver, f'#map [data-dot="{dot}"] circle:not(.halo)').click()
    assert chosen(driver) == ["species", "Ward"]


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """Clusterings in a row, each near the next, so that the map is long and thin."""
    path = tmp_path_factory.mktemp("page") / "twelve.html"
    line = np.arange(60.0)[:, None]
    cuts = {f"k-means, the first {k} of 60": np.arange(60) < k for k in range(24, 36)}
    lc.make_report(cuts, line, consensus=2, rng=0).save(path)
    return path


LABELS = """
const frame = document.querySelector("#map svg").getBoundingClientRect();
const box = (e) => { const b = e.getBoundingClientRect(); return [b.left - frame.left, b.top - frame.top, b.right - frame.left, b.bottom - frame.top]; };
const dots = [...document.querySelectorAll("#map .dot")];
return { width: frame.width, height: frame.height, names: dots.map((d) => d.querySelector("text").textContent),
  labels: dots.map((d) => box(d.querySelector("text"))), dots: dots.map((d) => box(d.querySelector(".halo + *"))),
  chosen: dots.map((d) => d.getAttribute("aria-pressed") === "true") };
"""


def overlapping(a, b):
    across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return across > 1 and down > 3  # letters do not fill their lines


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 390])
def test_labels_of_a_narrow_map_do_not_overlap(driver, twelve, width):
    open_page(driver, twelve, width=width, height=800)
    for first, second in ((0, 11), (4, 5), (11, 6)):
        Select(one(driver, "#first")).select_by_index(first)
        Select(one(driver, "#second")).select_by_index(second)
        found = driver.execute_script(LABELS)
        shown = [i for i, name in enumerate(found["names"]) if name]
        assert {i for i, is_chosen in enumerate(found["chosen"]) if is_chosen} <= set(shown)
        assert 12 in shown  # the consensus
        assert len(shown) >= 5
        boxes = [found["labels"][i] for i in shown]
        assert not [
            (i, j)
            for j, b in enumerate(boxes)
            for i, a in enumerate(boxes[:j])
            if overlapping(a, b)
        ]
        assert all(box[0] >= 0 and box[2] <= found["width"] for box in boxes)


@pytest.mark.long
def test_narrow_map_uses_its_height(driver, twelve):
    def extent(found, axis):
        return max(b[axis + 2] for b in found["dots"]) - min(b[axis] for b in found["dots"])

    open_page(driver, twelve, width=390, height=800)
    found = driver.execute_script(LABELS)
    assert extent(found, 1) > 0.7 * found["height"]
    assert found["height"] > found["width"]
    open_page(driver, twelve)
    found = driver.execute_script(LABELS)
    assert extent(found, 0) > extent(found, 1)
    assert sum(map(bool, found["names"])) >= 11  # of 13; the others have no room


@pytest.mark.long
def test_selecting_the_same_clustering_twice_swaps_the_pair(driver, iris):
    open_page(driver, iris)
    first, second = chosen(driver)
    Select(one(driver, "#first")).select_by_visible_text(second)
    assert chosen(driver) == [second, first]
    one(driver, "#swap").click()
    assert chosen(driver) == [first, second]


@pytest.mark.long
def test_selecting_a_measure_changes_the_heat_map(driver, iris):
    open_page(driver, iris)
    Select(one(driver, "#measure")).select_by_value("rand")
    expected = lc.distance(CLUSTERINGS["species"], CLUSTERINGS["Ward"], measure="rand")
    assert one(driver, '#heatmap button[data-cell="0,2"]').text == f"{expected:.3f}"
    assert "rand" in one(driver, "#pair-summary").text


@pytest.mark.long
def test_ranks_of_asymmetric_measures_are_marked_as_ordered(driver, iris):
    open_page(driver, iris)
    ranks = {row.text.split()[0]: row.text for row in every(driver, "#measures-table tbody tr")}
    assert " of 10 " in ranks["rand"]
    assert "ordered" not in ranks["rand"]
    for measure in ("spri", "spari"):
        assert " of 20 (ordered) " in ranks[measure]
    Select(one(driver, "#measure")).select_by_value("spri")
    assert re.search(r"of 20 ordered pairs\b", one(driver, "#pair-summary").text)
    Select(one(driver, "#measure")).select_by_value("rand")
    assert re.search(r"of 10 pairs\b", one(driver, "#pair-summary").text)


@pytest.mark.long
def test_points_are_coloured_by_confidence_and_by_any_clustering(driver, iris):
    open_page(driver, iris)
    choice = Select(one(driver, ".panel select"))
    seen = []
    for value in ("confidence", "differences", "3", "4"):
        choice.select_by_value(value)
        seen.append(colours_in(driver, point_plots(driver)[0]))
    assert all(a != b for a, b in pairwise(seen))
    assert choice.first_selected_option.text == "always consensus"


@pytest.mark.long
def test_clicking_a_legend_entry_highlights_its_cluster_in_all_plots(driver, iris):
    open_page(driver, iris)
    every(driver, ".panel .legend button")[0].click()
    assert "Showing only" in one(driver, "#highlighted").text
    assert (
        len(
            [
                b
                for b in every(driver, ".legend button")
                if b.get_attribute("aria-pressed") == "true"
            ]
        )
        == 1
    )
    assert 0xBEC3CC in colours_in(driver, point_plots(driver)[2])  # the grey of other clusters
    driver.switch_to.active_element.send_keys(Keys.ENTER)  # focus is unchanged
    assert one(driver, "#highlighted").text == ""


def test_tooltip_describes_the_point_under_the_pointer(driver, iris):
    open_page(driver, iris)
    canvas = point_plots(driver)[0]
    place = driver.execute_script(
        "const p = page.panels[0], s = p.size(), u = p.unit(s) / s.ratio;"
        "return [(POSITIONS.x[0] - camera.x) * u, (camera.y - POSITIONS.y[0]) * u]"
    )
    ActionChains(driver).move_to_element_with_offset(canvas, *map(round, place)).perform()
    text = one(driver, "#tip").text
    assert text.startswith("point ")
    number = int(text.split("\n")[0].removeprefix("point "))
    assert f"species\u2069: \u2068{CLUSTERINGS['species'][number]}" in text


@pytest.mark.long
def test_zooming_in_draws_fewer_points(driver, iris):
    open_page(driver, iris)
    for _ in range(6):
        one(driver, "#zoom-in").click()
    driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert 0 < int(point_plots(driver)[0].get_attribute("data-drawn")) < 150
    one(driver, "#zoom-reset").click()
    driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert point_plots(driver)[1].get_attribute("data-drawn") == "150"


def test_page_can_be_operated_by_keyboard(driver, iris):
    open_page(driver, iris)
    keys = ActionChains(driver)

    def focused(script="return document.activeElement.id"):
        return driver.execute_script(script)

    keys.send_keys(Keys.TAB).perform()
    assert driver.switch_to.active_element.get_attribute("class") == "skip"
    stops = []
    for _ in range(60):
        keys.send_keys(Keys.TAB).perform()
        stops.append(
            focused(
                "const e = document.activeElement; return e.id || e.dataset.cell || e.className.baseVal || e.className || e.tagName"
            )
        )
    for stop in ("theme", "first", "swap", "second", "measure", "dot", "zoom-in", "plot"):
        assert stop in stops
    assert len({stop for stop in stops if "," in stop}) == 1  # the heat map is one stop
    cell = one(driver, "#heatmap button[aria-pressed=true]")
    row, column = map(int, cell.get_attribute("data-cell").split(","))
    at_top = driver.execute_script("return arguments[0].closest('tr').sectionRowIndex === 0", cell)
    cell.send_keys(Keys.ARROW_DOWN if at_top else Keys.ARROW_UP)
    moved = focused("return document.activeElement.dataset.cell")
    assert moved != f"{row},{column}"
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert one(driver, "#heatmap button[aria-pressed=true]").get_attribute("data-cell") == moved
    assert focused("return document.activeElement.dataset.cell") == moved


def test_focus_is_visible(driver, iris):
    open_page(driver, iris)
    ActionChains(driver).send_keys(Keys.TAB, Keys.TAB).perform()
    focused = driver.switch_to.active_element
    assert focused.value_of_css_property("outline-style") == "solid"
    assert focused.value_of_css_property("outline-width") == "3px"


@pytest.mark.long
def test_keys_pan_and_zoom_the_plots(driver, iris):
    open_page(driver, iris)
    zoom, x, y = driver.execute_script("return [camera.zoom, camera.x, camera.y]")
    point_plots(driver)[0].send_keys("+++++")
    assert driver.execute_script("return camera.zoom") > 5 * zoom
    point_plots(driver)[0].send_keys("-")
    assert driver.execute_script("return camera.zoom") < 6 * zoom
    point_plots(driver)[0].send_keys(Keys.ARROW_LEFT, Keys.ARROW_UP)
    assert driver.execute_script("return camera.x") < x
    assert driver.execute_script("return camera.y") > y
    driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert int(point_plots(driver)[2].get_attribute("data-drawn")) < 150
    point_plots(driver)[0].send_keys("0")
    driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert point_plots(driver)[2].get_attribute("data-drawn") == "150"


def test_elements_are_labelled_for_screen_readers(driver, iris):
    open_page(driver, iris)
    assert one(driver, "#pair-summary").get_attribute("aria-live") == "polite"
    assert one(driver, "#flow svg").get_attribute("aria-label").startswith("Flow of mass from")
    for canvas in point_plots(driver):
        assert canvas.get_attribute("aria-label").startswith("Points coloured by ")
    unnamed = driver.execute_script(
        "return [...document.querySelectorAll('button, select, [role=button]')].filter(e =>"
        "!e.textContent.trim() && !e.getAttribute('aria-label') && !e.labels?.length).length"
    )
    assert unnamed == 0
    assert driver.execute_script("return document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(driver, iris, scheme):
    open_page(driver, iris, scheme=scheme)
    assert driver.execute_script(CONTRAST) == []


def test_the_theme_follows_the_system_and_the_button(driver, iris):
    def ground():
        return driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    open_page(driver, iris, scheme="dark")
    dark = ground()
    colours = colours_in(driver, point_plots(driver)[0])
    open_page(driver, iris, scheme="light")
    assert ground() != dark
    for _ in range(2):  # automatic, light, dark
        one(driver, "#theme").click()
    assert one(driver, "#theme").text == "Theme: dark"
    assert ground() == dark
    assert colours_in(driver, point_plots(driver)[0]) == colours


@pytest.mark.parametrize("which", ["iris", also("hostile")])
@pytest.mark.parametrize("width", [320, also(390), also(768)])
def test_narrow_window_needs_no_horizontal_scrolling(driver, request, which, width):
    open_page(driver, request.getfixturevalue(which), width=width, height=800, touch=True)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.execute_script("return window.innerWidth") == width


def test_hostile_names_are_shown_as_text(driver, hostile):
    open_page(driver, hostile)  # an open dialog would raise UnexpectedAlertPresentException
    assert complaints(driver) == []
    assert requested(driver) == [hostile.as_uri()]
    assert one(driver, "h1").text == HOSTILE[0] + HOSTILE[1]
    shown = [" ".join(name.replace("\u202e", "").split()) for name in HOSTILE]
    assert [option.text for option in Select(one(driver, "#first")).options] == [
        *shown,
        "consensus",
    ]
    text = one(driver, "body").get_attribute("textContent")
    for name in shown:
        assert (name if len(name) <= 40 else name[:39] + "…") in text
    assert every(driver, "main script, main img, main b, main a, header img") == []
    assert len(every(driver, "script")) == 2


HEADINGS = """
const picture = document.querySelector("#flow svg"), frame = picture.getBoundingClientRect();
return [...picture.querySelectorAll("text[font-weight]")].map((text) => {
  const box = text.getBoundingClientRect();
  return [box.left - frame.left, box.right - frame.left, frame.width];
});
"""


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_long_names_above_the_flow_plot_fit_and_do_not_overlap(driver, hostile, width):
    open_page(driver, hostile, width=width, height=800)
    for first, second in ((0, 7), (7, 0), (1, 3), (4, 5)):
        Select(one(driver, "#first")).select_by_index(first)
        Select(one(driver, "#second")).select_by_index(second)
        (left, left_end, _), (right, right_end, room) = driver.execute_script(HEADINGS)
        assert left >= 0
        assert right - left_end >= 4
        assert right_end <= room


@pytest.mark.long
def test_hostile_names_stay_text_after_interaction(driver, hostile):
    open_page(driver, hostile)
    for i in range(len(HOSTILE)):
        Select(one(driver, "#second")).select_by_index(i)
        Select(one(driver, "#first")).select_by_index((i + 3) % len(HOSTILE))
    for choice in every(driver, ".panel select"):
        for value in ("0", "second", "first"):
            Select(choice).select_by_value(value)
    for details in every(driver, "details summary"):
        if details.is_displayed():  # there is no tree of these clusterings
            details.click()
    for i in range(8):
        button = every(driver, ".panel .legend button")[i]
        # A button below the chooser, which stays at the top, counts as in view but is covered.
        driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", button)
        button.click()
    driver.execute_script(
        "for (let p = 0; p < 60; p++) document.getElementById('tip').textContent = page.describe(p)"
    )
    assert every(driver, "main script, main img, main b, main a") == []
    assert complaints(driver) == []


@pytest.mark.long
def test_page_works_in_a_notebook_frame(driver, report, tmp_path):
    frame = tmp_path / "notebook.html"
    frame.write_text(f"<!DOCTYPE html><title>notebook</title>{report._repr_html_()}")
    open_page(driver, frame)
    driver.switch_to.frame(one(driver, "iframe"))
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    one(driver, '#heatmap button[data-cell="2,1"]').click()
    assert chosen(driver) == ["Ward", "k-means"]
    driver.switch_to.default_content()
    assert complaints(driver) == []


@pytest.mark.long
def test_page_reports_that_points_are_a_sample(driver, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MAX_POINTS", 100)
    monkeypatch.setattr(differences, "MAX_CELLS", 30)
    lc.make_report(CLUSTERINGS, X, rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    hint = one(driver, "#points-hint").text
    assert "Showing 100 of 150 points, drawn at random" in hint
    assert "shown for 5 of them" in hint
    assert [c.get_attribute("data-drawn") for c in point_plots(driver)] == ["100", "100", "5"]


@pytest.mark.parametrize(
    ("lift", "meaning"),
    [
        ("exact", ""),
        ("fourier", "± is one standard error."),
        ("grid", "± is a deterministic bound"),
    ],
)
def test_page_explains_the_kind_of_error(driver, tmp_path, lift, meaning):
    lc.make_report(CLUSTERINGS, X[:, :2], lift=lift, rng=0).save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    assert meaning in one(driver, "#measures-hint").text
    shown = one(driver, "#measures-table tbody tr").text
    assert ("±" in shown) == bool(meaning)


@pytest.mark.long
def test_page_shows_noise_and_many_clusters(driver, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(500) % 121 - 1
    made = lc.make_report({"many": labels, "one": np.zeros(500)}, rng.standard_normal((500, 2)))
    made.save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    assert complaints(driver) == []
    assert "grey: in no cluster" in one(driver, ".legend").text
    assert "colours repeat with other markers" in one(driver, ".legend").text
    assert "and 60 more" in one(driver, ".legend").text


@pytest.mark.long
def test_printing_shows_everything_in_light_colours(driver, iris):
    open_page(driver, iris, scheme="dark")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    position = one(driver, "#chooser").value_of_css_property("position")
    cut = driver.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter((area) => getComputedStyle(area).maxHeight !== 'none').length"
    )
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert ground == "rgb(255, 255, 255)"
    assert position == "static"
    assert cut == 0
    open_page(driver, iris, scheme="dark")
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert 0xFFFFFF in colours_in(driver, point_plots(driver)[0])
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    assert 0xFFFFFF not in colours_in(driver, point_plots(driver)[0])
