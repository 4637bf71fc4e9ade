"""The story of a single-cell analyst: from an h5ad file to clusters that can be defended, and back.

Blood cells of 10x Genomics as scanpy ships them, where the data are here, else cells made like
them. Clusterings of other resolutions are k-means: leidenalg is no dependency of the tests.
"""

import json
import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import KMeans

import liftcluster as lc
from support.browser import CONTRAST, complaints, open_browser, open_page, requested

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

DATA = Path(os.environ.get("LIFTCLUSTER_DATA", "missing")) / "single_cell_spatial"
TYPES = ["Dendritic", "CD14+ Monocyte", "CD19+ B", "CD4+/CD25 T Reg", "CD56+ NK"]
RESOLUTIONS = {"leiden_1.0": 8, "leiden_0.25": 3, "leiden_0.5": 5}
KEYS = ["cell_type", "louvain", "leiden_*"]


def raw_cells():
    """Components, a view, types with colours of their own, and one clustering with 11 clusters."""
    if DATA.is_dir():
        X = pd.read_csv(DATA / "pbmc68k_reduced_pca.csv.gz").filter(regex="^pc").to_numpy()
        table = pd.read_csv(DATA / "pbmc68k_reduced_labels.csv.gz")
        types, louvain = table["bulk_labels"].to_numpy(), table["louvain"].to_numpy()
        Z = table[["umap1", "umap2"]].to_numpy()
    else:
        rng = np.random.default_rng(0)
        louvain = rng.integers(0, 11, 400)
        types = np.array(TYPES)[louvain % 5]
        Z = rng.uniform(-10, 10, (11, 2))[louvain] + rng.normal(size=(400, 2))
        X = np.column_stack([Z, rng.normal(size=(400, 8))])
    names = [f"AAAC{i:05}-1" for i in range(len(X))]
    cells = anndata.AnnData(obs=pd.DataFrame(index=names), obsm={"X_pca": X, "X_umap": Z})
    order = sorted(set(types), key=lambda name: list(types).count(name))  # rare types first
    cells.obs["cell_type"] = pd.Categorical(types, order)
    cells.uns["cell_type_colors"] = [
        f"#{40 + 20 * i:02x}80{240 - 20 * i:02x}" for i in range(len(order))
    ]
    cells.obs["louvain"] = pd.Categorical(louvain.astype(str), [str(i) for i in range(11)])
    for key, k in RESOLUTIONS.items():
        labels = KMeans(k, n_init=3, random_state=0).fit(X).labels_
        cells.obs[key] = pd.Categorical(labels.astype(str))
    return cells


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("cells")
    raw_cells().write_h5ad(made / "raw.h5ad")
    return made


@pytest.fixture(scope="module")
def story(folder):
    """Everything that the analyst does in Python, from one file to another and a page."""
    cells = anndata.read_h5ad(folder / "raw.h5ad")
    found = {
        "comparison": lc.anndata.compare(cells, "cell_type", "louvain"),
        "stability": lc.anndata.stability(cells, KEYS[1:], reference="louvain"),
        "choice": lc.anndata.choose(cells, "leiden_*"),
        "consensus": lc.anndata.consensus(cells, KEYS, 8),
    }
    draw = lc.anndata.plot
    for name, ax in {
        "difference": draw.difference(cells, "cell_type", "louvain", basis="umap"),
        "flow": draw.flow(cells, "cell_type", "louvain"),
        "distances": draw.distances(cells, KEYS),
        "tree": draw.resolution_tree(cells, "leiden_*"),
        "confidence": draw.confidence(cells, basis="umap"),
    }.items():
        ax.figure.savefig(folder / f"{name}.png")
        plt.close(ax.figure)
    page = lc.anndata.report(cells, KEYS, basis="umap", consensus=8, title="Blood cells")
    page.save(folder / "page.html")
    cells.write_h5ad(folder / "done.h5ad")
    return found | {"page": page, "cells": cells}


def test_the_file_that_is_written_has_all_results_and_what_was_there(story, folder):
    before, after = (anndata.read_h5ad(folder / name) for name in ("raw.h5ad", "done.h5ad"))
    assert after.obs_names.tolist() == before.obs_names.tolist()
    pd.testing.assert_frame_equal(after.obs[[*before.obs]], before.obs)
    np.testing.assert_array_equal(after.obsm["X_umap"], before.obsm["X_umap"])
    assert list(after.uns["cell_type_colors"]) == list(before.uns["cell_type_colors"])
    assert list(after.obs["cell_type"].cat.categories) == list(
        before.obs["cell_type"].cat.categories
    )
    assert [*after.uns["choice"]["settings"].index] == ["leiden_0.25", "leiden_0.5", "leiden_1.0"]
    assert (after.obs["choice"] == after.obs[story["choice"].best]).all()
    assert list(after.obs["stability_reference"].cat.categories) == [str(i) for i in range(11)]
    np.testing.assert_allclose(after.obs["stability"], story["stability"].points)
    labels = story["consensus"].labels
    assert after.obs["consensus"].tolist() == [str(label) for label in labels]
    assert list(after.obs["consensus"].cat.categories) == [str(i) for i in range(8)]
    for name in ("confidence", "margin"):
        np.testing.assert_allclose(
            after.obs[f"consensus_{name}"], getattr(story["consensus"], name)
        )
    assert after.obs["consensus_overruled"].sum() == len(story["consensus"].overruled)
    flows = after.uns["comparison"]["flows"]
    cost = story["comparison"]["lift_emd"].value
    assert (flows["mass"] * flows["distance"]).sum() == pytest.approx(cost)


def test_results_are_those_of_the_plain_functions(story, folder):
    cells = anndata.read_h5ad(folder / "raw.h5ad")
    X = cells.obsm["X_pca"]
    runs = {key: cells.obs[key] for key in ["cell_type", "louvain", *RESOLUTIONS]}
    expected = lc.consensus(runs, 8, X)
    np.testing.assert_array_equal(story["consensus"].labels, expected.labels)
    order = ["leiden_0.25", "leiden_0.5", "leiden_1.0"]
    np.testing.assert_allclose(
        story["choice"].curve, lc.choose(X, {key: runs[key] for key in order}).curve
    )
    distance = lc.distance(runs["cell_type"], runs["louvain"], X)
    assert story["comparison"]["lift_emd"].value == pytest.approx(distance)


def test_consensus_of_the_analyst_is_nearer_to_the_inputs_than_chance(story):
    labels = np.random.default_rng(0).permutation(story["consensus"].labels)
    cells = story["cells"]
    runs = [cells.obs[key] for key in ("cell_type", "louvain", *RESOLUTIONS)]
    shuffled = np.mean([lc.distance(labels, run, cells.obsm["X_pca"]) for run in runs])
    assert story["consensus"].mean_distance < shuffled


@pytest.mark.parametrize(
    ("width", "touch", "scheme"), [(1280, False, "light"), (390, True, "dark")]
)
def test_the_page_opens_on_a_desk_and_on_a_phone(story, folder, driver, width, touch, scheme):
    page = folder / "page.html"
    open_page(driver, page, width=width, touch=touch, scheme=scheme)
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert requested(driver) == [page.as_uri()]
    assert complaints(driver) == []
    assert driver.find_element("tag name", "h1").text == "Blood cells"
    shown = driver.find_element("tag name", "body").text
    assert "UMAP1" in driver.page_source
    for name in ("cell_type", "louvain", *RESOLUTIONS, "consensus"):
        assert name in shown
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert driver.execute_script(wide) <= 0
    assert driver.execute_script(CONTRAST) == []
    driver.save_screenshot(str(folder / f"page-{width}.png"))


def test_clusters_on_the_page_have_the_order_of_their_categories(story):
    data = story["page"].to_dict()
    shown = {each["name"]: each["clusters"] for each in data["clusterings"]}
    categories = story["cells"].obs["cell_type"].cat.categories
    assert shown["cell_type"] == list(categories)
    assert shown["louvain"] == [str(i) for i in range(11)]


def test_the_command_line_gives_the_same_consensus_and_keeps_the_file(story, folder, run):
    out = folder / "appended.h5ad"
    labels = ",".join(KEYS)
    code, shown, err = run(
        "consensus", folder / "raw.h5ad", "-l", labels, "-k", 8, "--append", "--out", out, "--json"
    )
    assert code == 0, err
    assert json.loads(shown)["n_clusters"] == 8
    before, after = anndata.read_h5ad(folder / "raw.h5ad"), anndata.read_h5ad(out)
    assert after.obs["consensus"].tolist() == story["cells"].obs["consensus"].tolist()
    assert after.obs_names.tolist() == before.obs_names.tolist()
    pd.testing.assert_frame_equal(after.obs[[*before.obs]], before.obs)
    assert list(after.uns["cell_type_colors"]) == list(before.uns["cell_type_colors"])
    np.testing.assert_allclose(
        after.obs["consensus_confidence"], story["cells"].obs["consensus_confidence"]
    )


@pytest.fixture(scope="module")
def driver():
    with open_browser() as made:
        yield made
