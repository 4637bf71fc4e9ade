"""Make the pictures of the README: ``python docs/make_pictures.py``.

Needs the extra ``test``, Chromium and its driver. The page in the picture is that of the digits
which come with scikit-learn, so anyone can make it again.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits

import liftcluster as lc

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT, MIDDLE = 1100, 2250, 1010
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


def photograph(page: Path, picture: Path) -> None:
    """The upper part of a page, cut in two halves side by side."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        driver.execute_script("page.choose({ first: 0, second: 4 })")
        driver.save_screenshot(str(picture))
    finally:
        driver.quit()
    whole = Image.open(picture).convert("RGB")
    halves = whole.crop((0, 0, WIDTH, MIDDLE)), whole.crop((0, MIDDLE, WIDTH, HEIGHT))
    wide = Image.new(
        "RGB", (2 * WIDTH, max(half.height for half in halves)), whole.getpixel((2, 2))
    )
    for i, half in enumerate(halves):
        wide.paste(half, (i * WIDTH, 0))
    # Octrees keep rare colours, of which small clusters are made; median cuts lose them.
    few = wide.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "digits.html"
        digits_report().save(page)
        photograph(page, IMAGES / "report.png")
    print(f"{IMAGES / 'report.png'}: {(IMAGES / 'report.png').stat().st_size / 1000:.0f} kB")
