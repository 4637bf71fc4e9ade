"""Create the images of the README and the start page: ``python docs/make_pictures.py``.

Needs the extra ``test``, Chromium and its driver. All data come with scikit-learn or liftcluster.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image
from selenium import webdriver
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits

import liftcluster as lc

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT = 1100, 2600
# Where the first cards end, and the plots of the points.
EDGES = """
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
return [box('.card:has(#h-flow)').top - 10, box('#panels').bottom + 16].map(Math.round);
"""
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def digits_report() -> lc.Report:
    X, digits = load_digits(return_X_y=True)
    clusterings = {
        "digits": [f"digit {digit}" for digit in digits],
        "k-means": KMeans(10, n_init=4, random_state=0).fit(X).labels_,
        "k-means, k = 7": KMeans(7, n_init=4, random_state=0).fit(X).labels_,
        "Ward": AgglomerativeClustering(10).fit(X).labels_,
        "average linkage": AgglomerativeClustering(10, linkage="average").fit(X).labels_,
    }
    return lc.make_report(
        clusterings, X, consensus=10, title="Five clusterings of handwritten digits", rng=0
    )


@contextmanager
def browser(width: int, height: int) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield driver
    finally:
        driver.quit()


def side_by_side(pictures: list[Image.Image]) -> Image.Image:
    height = max(picture.height for picture in pictures)
    background = pictures[0].getpixel((2, 2))
    wide = Image.new("RGB", (sum(picture.width for picture in pictures), height), background)
    left = 0
    for picture in pictures:
        wide.paste(picture, (left, 0))
        left += picture.width
    return wide


def save(picture: Image.Image, name: str) -> None:
    # Octrees keep rare colours, such as those of small clusters; median cut loses them.
    few = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(IMAGES / name, optimize=True)
    print(f"{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB")


def make_report_image(folder: Path) -> None:
    """The upper part of a report, as two halves side by side."""
    page, shot = folder / "digits.html", folder / "digits.png"
    digits_report().save(page)
    with browser(WIDTH, HEIGHT) as driver:
        driver.get(page.as_uri())
        driver.execute_script("page.choose({ first: 0, second: 4 })")
        middle, end = driver.execute_script(EDGES)
        driver.save_screenshot(str(shot))
    whole = Image.open(shot).convert("RGB")
    save(
        side_by_side([whole.crop((0, 0, WIDTH, middle)), whole.crop((0, middle, WIDTH, end))]),
        "report.png",
    )


def make_motivation_image() -> None:
    """Two clusterings equally far from a third by every measure of labels, but not in space."""
    data = lc.datasets.make_2d2c()
    X, true, near, far = data.X, data.reference, data.first, data.second
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.3), layout="constrained")
    titles = {"A": true, "B: the boundary moves": near, "C: far points change sides": far}
    for ax, (title, labels) in zip(axes, titles.items(), strict=True):
        lc.plot.points(X, labels, ax=ax)
        rand, lifted = (lc.distance(true, labels, X, measure=m) for m in ("rand", "lift_emd"))
        to_a = f"to A: Rand {rand:.3f}, LiftEMD {lifted:.3f}"
        ax.set(title=title, xlabel="" if labels is true else to_a, ylabel="", xticks=[], yticks=[])
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    fig.savefig(IMAGES / "why.png", dpi=110)
    plt.close(fig)
    print(f"why.png: {(IMAGES / 'why.png').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    make_motivation_image()
    with tempfile.TemporaryDirectory() as temporary:
        make_report_image(Path(temporary))
