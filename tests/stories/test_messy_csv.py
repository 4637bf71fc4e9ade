"""A data scientist's story: from a messy table of customers to a page for the colleagues.

All by the command line. The table has ids, semicolons, decimal commas, gaps, names in Latin-1, and
three clusterings: of k-means, of the sales team (who left some customers out), and of an old model.
"""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

import liftcluster as lc
from support.browser import complaints, open_browser, open_page, requested

pytestmark = pytest.mark.long  # six commands and a browser

FEATURES = ["spend", "visits", "age"]
LABELS = ["kmeans", "sales_team", "old_model"]
READ = ["--labels", ",".join(LABELS), "--encoding", "latin-1", "--missing", "drop", "--standardize"]
GAPS = [7, 30, 31, 100]  # rows that lack a feature


def customers():
    """The table, and the segment that each customer is in."""
    rng = np.random.default_rng(0)
    n = 240
    segment = rng.integers(3, size=n)
    middle = np.array([[40, 2, 25], [90, 12, 40], [300, 5, 60]])[segment]
    table = pd.DataFrame({"customer_id": 10_000 + rng.permutation(n)})
    table["name"] = [("Müller", "Søren", "José; the elder")[i % 3] for i in range(n)]
    table[FEATURES] = (middle + rng.normal(size=(n, 3)) * [15, 1, 4]).round(2)
    table["visits"] = table["visits"].round().clip(0)
    table["kmeans"] = np.where(rng.random(n) < 0.05, (segment + 1) % 3, segment)
    team = np.array(["students", "families", "gourmets"], dtype=object)[segment]
    table["sales_team"] = np.where(rng.random(n) < 0.1, None, team)
    table["old_model"] = np.where((segment == 0) & (table["age"] > 25), 3, segment)
    for i, row in enumerate(GAPS):
        table.loc[row, FEATURES[i % 3]] = np.nan
    return table, segment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("customers")
    table, _ = customers()
    text = table.to_csv(index=False, sep=";", decimal=",", na_rep="")
    (folder / "customers.csv").write_text(text, encoding="latin-1", newline="\r\n")
    return folder


@pytest.fixture(scope="module")
def liftcluster(folder):
    """Function that runs a command and returns its exit code, stdout and stderr."""

    def run(*args):
        command = [sys.executable, "-m", "liftcluster", *map(str, args)]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    return run


@pytest.fixture(scope="module")
def appended(liftcluster, folder):
    """The table with the consensus of three clusterings as new columns."""
    command = ["consensus", "customers.csv", *READ, "-k", 3, "--append", "--out", "segments.csv"]
    code, out, err = liftcluster(*command)
    assert code == 0, err
    assert "made of" in out
    return folder / "segments.csv"


def test_errors_say_which_option_helps(liftcluster):
    code, _, err = liftcluster("compare", "customers.csv", "--labels", "kmeans,sales_team")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "--encoding" in err
    options = ["--labels", "kmeans,sales_team", "--encoding", "latin-1"]
    code, _, err = liftcluster("compare", "customers.csv", *options)
    assert code == 2
    assert f"{len(GAPS)} of 240 rows lack a coordinate: --missing drop" in err


def test_the_clusterings_are_compared_by_features_and_not_by_ids(liftcluster):
    code, out, err = liftcluster("compare", "customers.csv", *READ, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["columns"] == FEATURES
    assert "customer_id" in err  # which is left out, as a note says
    table = customers()[0].drop(index=GAPS)
    X = table[FEATURES].to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = lc.distance_matrix({name: table[name].to_numpy() for name in LABELS}, X)
    np.testing.assert_allclose(found["measures"]["lift_emd"]["value"], expected, atol=1e-6)


def test_the_consensus_finds_the_segments_and_keeps_the_table(appended, folder):
    before, after = (
        file.read_bytes().splitlines() for file in (folder / "customers.csv", appended)
    )
    assert all(new.startswith(old + b";") for old, new in zip(before, after, strict=True))
    table = pd.read_csv(appended, sep=";", decimal=",", encoding="latin-1")
    assert table.index[table["consensus"].isna()].tolist() == GAPS
    known = table.drop(index=GAPS)
    assert known["consensus_confidence"].between(0.5, 1).mean() > 0.95
    segment = np.delete(customers()[1], GAPS)
    assert lc.distance(segment, known["consensus"].to_numpy(), measure="adjusted_rand") < 0.03
    wrong = customers()[0]["kmeans"].drop(index=GAPS).to_numpy()
    assert lc.distance(segment, wrong, measure="adjusted_rand") > 0.1


def test_the_segments_are_stable(liftcluster, appended):
    runs = ["--labels", ",".join([*LABELS, "consensus"]), *READ[2:], "--reference", "consensus"]
    code, out, err = liftcluster("stability", appended.name, *runs, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["reference"] == "consensus"
    assert found["columns"] == FEATURES  # what was appended is no coordinate
    assert [row["verdict"] for row in found["clusters"]] == ["stable"] * 3


def test_the_page_is_read_on_a_desk_and_on_a_phone(liftcluster, appended, folder):
    options = ["--labels", ",".join([*LABELS, "consensus"]), *READ[2:], "--title", "Segments"]
    code, _, err = liftcluster("report", appended.name, *options, "--out", "page.html")
    assert code == 0, err
    page = folder / "page.html"
    with open_browser() as driver:
        for width in (1250, 390):
            open_page(driver, page, width=width, touch=width < 500)
            assert driver.title == "Segments"
            for number, name in (("first", "sales_team"), ("second", "consensus")):
                Select(driver.find_element(By.ID, number)).select_by_visible_text(name)
            shown = driver.find_element(By.TAG_NAME, "main").text
            assert all(name in shown for name in (*LABELS, "consensus", "gourmets"))
            assert driver.execute_script("return document.documentElement.scrollWidth") <= width
            assert complaints(driver) == []
            assert requested(driver) == [page.as_uri()]
