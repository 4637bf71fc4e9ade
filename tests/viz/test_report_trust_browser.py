"""The section about trust in a browser: as drawn, as text, at any width, with hostile names."""

import numpy as np
import pytest
from selenium.webdriver.common.by import By

import liftcluster as lc
from liftcluster.cli import main
from support.browser import CONTRAST, complaints, open_browser, open_page, requested
from support.report_cases import HOSTILE

BIG = 15, 30  # runs, clusters of the finest


@pytest.fixture(scope="module")
def driver():
    with open_browser() as made:
        yield made


def blocks(k, n=1800):
    """Labels of n points on a line, cut into k equal parts."""
    return np.arange(n) * k // n


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = np.arange(1800.0)[:, None] / 100 + rng.normal(scale=0.2, size=(1800, 2))
    runs = {f"leiden_{k / 10}": blocks(k) for k in range(2, 32, 2)}
    return lc.make_report(runs, X, measures=["lift_emd"], rng=0)


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "trust.html"
    report.save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Runs of two to seven clusters, whose names and whose clusters' names are hostile."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((90, 2))
    names = np.array(HOSTILE, dtype=object)
    runs = {HOSTILE[k]: names[np.argsort(points[:, 0]).argsort() * k // 90] for k in range(2, 8)}
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    lc.make_report(runs, points, measures=["lift_emd"], rng=0).save(path)
    return path


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def every(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def test_every_cluster_is_drawn_and_listed(driver, page, report):
    open_page(driver, page)
    tree = report.to_dict()["trust"]["tree"]
    nodes = sum(len(row["clusters"]) for row in tree["rows"])
    assert nodes == sum(range(2, 32, 2))
    assert len(every(driver, "#tree circle")) == nodes
    assert len(every(driver, "#tree .edge")) == len(tree["edges"])
    assert len(every(driver, "#tree-table tbody tr")) == nodes
    assert len(every(driver, "#tree-names g")) == BIG[0]
    clusters = report.to_dict()["trust"]["clusters"]
    rows = [row.text for row in every(driver, "#trust-table tbody tr")]
    assert len(rows) == len(clusters)
    assert f"{min(c['stability'] for c in clusters):.2f}" in rows[0]
    assert complaints(driver) == []
    assert requested(driver) == [page.as_uri()]


OVERLAPS = """
const boxes = [...document.querySelectorAll("#tree text, #tree circle")].map((e) => [e, e.getBoundingClientRect()]);
let found = 0;
for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
  const [[e, a], [f, b]] = [boxes[i], boxes[j]];
  if (e.parentNode === f.parentNode) continue;  // a name touches its own circle
  if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found++;
}
return found;
"""


@pytest.mark.parametrize("width", [320, 1280])
def test_thirty_clusters_in_fifteen_rows_are_readable(driver, page, width):
    open_page(driver, page, width=width, height=900, touch=width < 500)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.execute_script(OVERLAPS) == 0
    assert len(every(driver, "#tree text")) == sum(range(2, 32, 2))  # all have their names
    smallest = driver.execute_script(
        "return Math.min(...[...document.querySelectorAll('#tree circle')].map(c => c.getBoundingClientRect().width))"
    )
    assert smallest >= 10
    # The first row is in view, and names of rows stay where they are.
    first, view = driver.execute_script(
        "const box = (s) => document.querySelector(s).getBoundingClientRect();"
        "return [box('#tree circle'), box('#tree')].map(b => [b.left, b.right])"
    )
    assert view[0] <= first[0] <= first[1] <= view[1]


def test_a_selected_circle_is_described_and_its_lines_are_marked(driver, page):
    open_page(driver, page)
    node = one(driver, '#tree [data-node="1,0"] circle')  # of four clusters
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    node.click()
    said = one(driver, "#tree-status").text
    assert "leiden_0.4" in said
    assert "made of" in said
    assert "becomes" in said
    marked = {e.get_attribute("data-ends") for e in every(driver, "#tree .edge.on")}
    assert marked
    assert all("1,0" in ends.split() for ends in marked)
    node.click()
    assert one(driver, "#tree-status").text == ""
    assert every(driver, "#tree .on") == []


def test_colours_follow_the_theme_and_the_stability(driver, page, report):
    def fills():
        return driver.execute_script(
            "return [...document.querySelectorAll('#tree circle')].map(c => c.getAttribute('fill'))"
        )

    open_page(driver, page, scheme="light")
    light = fills()
    for _ in range(2):  # automatic, light, dark
        one(driver, "#theme").click()
    assert fills() != light
    tree = report.to_dict()["trust"]["tree"]
    values = [v for row in tree["rows"] for v in row["stabilities"]]
    by_value = dict(zip(values, light, strict=True))
    assert all(by_value[v] == fill for v, fill in zip(values, light, strict=True))
    assert len(set(light)) > 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(driver, page, scheme):
    open_page(driver, page, scheme=scheme)
    one(driver, "#tree-part details summary").click()
    assert driver.execute_script(CONTRAST) == []


def test_the_tree_has_a_description_and_can_be_scrolled_by_keyboard(driver, page):
    open_page(driver, page, width=390, height=800)
    assert "15 clusterings from 2 to 30 clusters" in one(driver, "#tree svg").get_attribute(
        "aria-label"
    )
    assert one(driver, "#tree").get_attribute("tabindex") == "0"


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_in_the_tree_are_text(driver, hostile, width):
    open_page(driver, hostile, width=width, height=800)
    for node in every(driver, "#tree circle"):
        driver.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", node
        )
    one(driver, "#tree-part details summary").click()
    assert complaints(driver) == []
    assert requested(driver) == [hostile.as_uri()]
    assert every(driver, "main script, main img, main b, main a") == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert "<script>alert(1)</script>" in one(driver, "#tree-table").text


def test_a_page_without_the_section_shows_none(driver, tmp_path):
    X = np.zeros((4, 2))
    report = lc.make_report({"a": [0] * 4, "b": [0] * 4}, X, rng=0)
    report.save(tmp_path / "page.html")
    open_page(driver, tmp_path / "page.html")
    assert complaints(driver) == []
    assert not one(driver, "#trust-card").is_displayed()


@pytest.fixture(scope="module")
def drifted(tmp_path_factory):
    """The page of two samples, of which one of two clusters has moved in the second."""
    folder = tmp_path_factory.mktemp("drift")
    rng = np.random.default_rng(0)
    for name, shift in {"before": 0, "after": 3}.items():
        X = rng.standard_normal((80, 2)) + np.repeat([[0, 0], [9 + shift, 0]], 40, axis=0)
        np.savetxt(folder / f"{name}.csv", X, delimiter=",", header="x,y", comments="")
    page = folder / "drift.html"
    files = [str(folder / f"{name}.csv") for name in ("before", "after")]
    with pytest.raises(SystemExit, match="0"):
        main(["drift", *files, "-k", "2", "--n-splits", "19", "--page", str(page), "-q"])
    return page


@pytest.mark.parametrize("width", [390, 1280])
def test_two_samples_are_side_by_side_with_their_test(driver, drifted, width):
    open_page(driver, drifted, width=width, touch=width < 500)
    assert one(driver, "#drift-card").is_displayed()
    assert not one(driver, "#trust-card").is_displayed()
    rows = every(driver, "#drift-table tbody tr")
    assert [row.text.split()[0] for row in rows] == ["LiftEMD", "LiftHausdorff"]
    assert "p = 0.050" in one(driver, "#drift-hint").text
    legends = [legend.text for legend in every(driver, ".legend")]
    assert "grey: the other sample" in legends[0]
    assert "grey: the other sample" in legends[1]
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert complaints(driver) == []


def test_points_of_the_cluster_that_moved_are_coloured(driver, drifted):
    open_page(driver, drifted)
    keys, x = driver.execute_script(
        "const c = colouring('differences', { first: 0, second: 1 });"
        "return [Array.from(c.keys), Array.from(POSITIONS.x)]"
    )
    keys, right = np.array(keys), np.array(x) > np.median(x)
    assert len(keys) == 160
    assert keys[right].min() > 2 * keys[~right].max() > 0
