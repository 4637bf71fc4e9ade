"""Size and speed of the report: `python -m benchmarks page`.

Seven clusterings (one a consensus) of Gaussian blobs in a headless Chromium without a GPU: file
size, time until everything is drawn, time to select another pair, time to draw one plot of all
points, and frames per second while the three plots are moved together.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from selenium import webdriver
from sklearn.cluster import MiniBatchKMeans

import liftcluster as lc

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900")
MEDIAN_OF_FIVE = """
const times = [];
for (let i = 0; i < 5; i++) {
  const begun = performance.now();
  (() => { %s })();
  times.push(performance.now() - begun);
}
return times.sort((a, b) => a - b)[2];
"""
FRAMES = """
const done = arguments[0], begun = performance.now();
let frames = 0;
requestAnimationFrame(function step() {
  page.move(0.001, 0);
  frames++;
  const passed = performance.now() - begun;
  if (passed < 2000) requestAnimationFrame(step);
  else done((1000 * frames) / passed);
});
"""


def blobs(n: int):
    """Points and six clusterings."""
    rng = np.random.default_rng(0)
    truth = rng.integers(12, size=n)
    X = 3 * rng.standard_normal((12, 10))[truth] + rng.standard_normal((n, 10))
    clusterings = {"truth": truth}
    for k in (6, 10, 12, 15, 20):
        found = MiniBatchKMeans(k, random_state=0, n_init=1).fit(X)
        clusterings[f"k-means, k = {k}"] = found.labels_
    return X, clusterings


def timed_report(X, clusterings) -> tuple[lc.Report, float]:
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the consensus may be worse than its inputs
        report = lc.make_report(clusterings, X, consensus=12, lift=lc.Fourier(256), rng=0)
    return report, time.perf_counter() - begun


def measure(page: Path) -> dict[str, float]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    try:
        driver.get(page.as_uri())
        drawn = "return performance.getEntriesByType('navigation')[0].domComplete"
        turn = "page.choose({ first: page.state.second, second: (page.state.second + 2) % 7 })"
        return {
            "all drawn after (ms)": driver.execute_script(drawn),
            "another pair (ms)": driver.execute_script(MEDIAN_OF_FIVE % turn),
            "one plot (ms)": driver.execute_script(MEDIAN_OF_FIVE % "page.panels[0].draw()"),
            "frames per second": driver.execute_async_script(FRAMES),
        }
    finally:
        driver.quit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    for n in parser.parse_args().points:
        report, made = timed_report(*blobs(n))
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            report.save(page)
            size = page.stat().st_size / 1e6
            print(f"{n:,} points: created in {made:.1f} s, {size:.1f} MB", end="")
            for what, value in measure(page).items():
                print(f", {what} {value:.0f}", end="")
            print()
