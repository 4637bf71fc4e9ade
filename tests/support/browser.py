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
