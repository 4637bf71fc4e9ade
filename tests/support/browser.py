"""A headless browser for the tests of the page, where the machine has one."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager

import pytest

FLAGS = [
    "--headless=new",
    "--no-sandbox",  # CI runs as root in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)

# Texts with too little contrast: tag, text and ratio.
CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
const poor = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || ["SCRIPT", "STYLE", "OPTION", "NOSCRIPT"].includes(e.tagName) || e.classList.contains("skip")) continue;
  const colour = e.namespaceURI.includes("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color;
  const [a, b] = [light(parse(colour)), light(ground(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) poor.push([e.tagName, e.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)]);
}
return poor;
"""


@contextmanager
def open_browser():
    """A driver that records all requests and console messages."""
    browser, driver = (next(filter(None, map(shutil.which, names)), None) for names in PROGRAMS)
    if browser is None or driver is None:
        reason = "the page is not tested: there is no Chromium with its ChromeDriver here"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield made
    finally:
        made.quit()


def open_page(driver, path, *, width=1280, height=900, scheme="light", touch=False):
    """Open a file in a window of the given size and clear the logs."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch},
    )
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {
                    "name": "prefers-reduced-motion",
                    "value": "reduce",
                },  # clicks do not wait for scrolling
            ]
        },
    )
    driver.get("about:blank")
    for log in ("browser", "performance"):
        driver.get_log(log)
    driver.get(path.absolute().as_uri())


def requested(driver):
    """URLs requested since the page was opened."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def complaints(driver):
    """Console messages: errors, warnings, violations of the content security policy."""
    return [entry["message"] for entry in driver.get_log("browser")]
