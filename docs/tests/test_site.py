"""The built site: its main pages in a browser at two widths, and all links, anchors and formulas.

``python -m pytest -c /dev/null docs/tests --site docs/_build/html`` (or the variable
LIFTCLUSTER_SITE), after ``make -C docs html``. Needs selenium and Chromium with its ChromeDriver.
"""

from __future__ import annotations

import re
import threading
import time
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.browser import open_browser

PAGES = [
    "index",
    "start",
    "how_it_works",
    "choosing/index",
    "gallery/index",
    "gallery/plot_*",
    "api/index",
    "api/generated/liftcluster.compare",
    "evidence/index",
    "evidence/consensus",
    "about/contributing",
]
WIDTHS = [1250, 390]
ROBOTS = ("genindex", "py-modindex", "search")  # pages without text of ours
IMAGES = """
const images = [...document.querySelectorAll("article img, main img")];
images.forEach((image) => { image.loading = "eager"; });
return images.filter((image) => !(image.complete && image.naturalWidth > 0)).map((i) => i.src);
"""
OVERFLOW = """
const boxes = document.querySelectorAll("html, .bd-main, .bd-content, .bd-article-container");
return [...boxes].filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => `${e.tagName}.${e.className}: ${e.scrollWidth} > ${e.clientWidth}`);
"""
DARK = """
const item = document.querySelector('.theme-change-button[data-mode="dark"]');  // of a menu
const button = document.querySelector(".theme-switch-button");  // of older versions of the theme
const page = document.documentElement;
for (let i = 0; i < 3 && page.dataset.theme !== "dark"; i++) (item || button).click();
"""
LIGHTNESS = """
const c = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
return (c[0] + c[1] + c[2]) / 3;
"""


# In a browser


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def driver():
    with open_browser() as made:
        yield made


def visit(driver, url, width, scheme="light"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(url)


def wait_for(find, seconds=20):
    """The first true answer of a function, or the last one when time is over."""
    end = time.monotonic() + seconds
    while not (found := find()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def errors(driver):
    return [
        entry["message"]
        for entry in driver.get_log("browser")
        if entry["level"] == "SEVERE" and "favicon.ico" not in entry["message"]
    ]


@pytest.fixture(params=PAGES)
def page(request, site):
    found = sorted(path.relative_to(site) for path in site.glob(f"{request.param}.html"))
    assert found, f"there is no page {request.param}"
    return found[0].as_posix()


@pytest.mark.parametrize("width", WIDTHS)
def test_page_loads_without_errors_and_fits_into_the_window(driver, address, page, width):
    visit(driver, f"{address}/{page}", width)
    assert wait_for(lambda: driver.execute_script(IMAGES) == []), driver.execute_script(IMAGES)
    assert driver.execute_script(OVERFLOW) == []
    assert errors(driver) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_theme_can_be_switched_to_dark(driver, address, width):
    visit(driver, f"{address}/index.html", width)
    driver.execute_script("localStorage.clear()")
    visit(driver, f"{address}/index.html", width)
    assert driver.execute_script(LIGHTNESS) > 200
    driver.execute_script(DARK)
    assert wait_for(lambda: driver.execute_script(LIGHTNESS) < 60)
    visit(driver, f"{address}/start.html", width)  # the choice is kept
    assert wait_for(lambda: driver.execute_script(LIGHTNESS) < 60)
    driver.execute_script("localStorage.clear()")
    assert errors(driver) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_search_finds_hausdorff(driver, address, width):
    visit(driver, f"{address}/search.html?q=Hausdorff", width)
    links = "return [...document.querySelectorAll('#search-results li a')].map((a) => a.href)"
    found = wait_for(lambda: driver.execute_script(links))
    assert any("liftcluster" in link or "choosing" in link for link in found), found
    assert errors(driver) == []


# Without a browser


class Reader(HTMLParser):
    """Identifiers, links and formulas of a page, and its text outside of code."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.formulas, self.text = set(), [], [], []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[key] for key in ("id", "name") if values.get(key)}
        self.links += [values[key] for key in ("href", "src") if values.get(key)]
        if tag in ("math", "annotation", "pre", "code", "script", "style"):
            self.open.append(tag)
        if tag == "math":
            self.formulas.append("")

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            self.text.append(data)
        elif self.open[-1] == "math":
            self.formulas[-1] += data


@cache
def read(path: Path) -> Reader:
    return Reader(path.read_text(encoding="utf-8"))


def all_pages(site):
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_internal_links_and_anchors_exist(site):
    broken = []
    for path in all_pages(site):
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment) if target.suffix == ".html" else ""
            if not target.exists() or (anchor and anchor not in read(target).ids):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_formulas_contain_no_latex(site):
    rest = re.compile(r"\\[A-Za-z]+|\$")
    found = [
        f"{path.relative_to(site)}: {formula.strip()[:80]}"
        for path in all_pages(site)
        for formula in read(path).formulas
        if rest.search(formula)
    ]
    assert found == []


def test_text_contains_no_formulas_that_were_not_converted(site):
    words = "frac|sum|bar|lVert|rVert|langle|operatorname|Phi|phi|in|le"
    rest = re.compile(rf"\\(?:{words})\b|\$[^$ ][^$]*\\")
    found = [
        f"{path.relative_to(site)}: {text.strip()[:80]}"
        for path in all_pages(site)
        for text in read(path).text
        if rest.search(text)
    ]
    assert found == []


def test_text_for_language_models_names_all_pages(site):
    short = (site / "llms.txt").read_text(encoding="utf-8")
    full = (site / "llms-full.txt").read_text(encoding="utf-8")
    listed = re.findall(r"\]\((.+?\.html)\)", short)
    assert len(listed) == len(set(listed))
    for name in listed:
        assert (site / name).exists(), name
        assert f"<!-- {name} -->" in full
    pages = {path.relative_to(site).as_posix() for path in all_pages(site)}
    for path in ("start.html", "choosing/measure.html", "evidence/speed.html"):
        assert path in listed
    missing = {name for name in pages - set(listed) if Path(name).stem not in ROBOTS}
    assert missing == set()
