"""The option --view: words, two columns, a block of an h5ad file, and what cannot be drawn by."""

import json

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.io import read_clusterings

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((120, 4))
PLANE = RNG.standard_normal((120, 2))
A, B = np.arange(120) % 3, np.arange(120) % 4


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "mine.csv"
    columns = np.column_stack([POINTS, PLANE, A, B])
    np.savetxt(path, columns, "%.17g", ",", header="p,q,r,s,umap1,umap2,a,b", comments="")
    return path


def shown(run, command, table, *view):
    page = "--page" if command == "stability" else "--out"
    out = table.with_suffix(".html")
    quick = () if command == "stability" else ("--measures", "rand")
    code, text, err = run(command, table, "-l", "a,b", page, out, *view, *quick, "--json")
    assert code == 0, err
    return json.loads(text)


@pytest.mark.parametrize("view", ["neighbours", "pca", None])
def test_words_are_those_of_the_library(run, table, view):
    found = shown(
        run, "report", table, *(() if view is None else ("--view", view)), "-c", "p,q,r,s"
    )
    expected = lc.make_report({"a": A, "b": B}, POINTS, measures="rand", view=view).to_dict()
    assert found["points"] == expected["points"]


def test_columns_to_draw_by_are_no_coordinates(run, table):
    found = shown(run, "report", table, "--view", "umap1,umap2")
    assert found["points"]["axes"] == ["umap1", "umap2"]
    assert found["points"]["low"] == PLANE.min(axis=0).tolist()
    assert dict(found["settings"])["points"] == "120 × 4"
    assert read_clusterings(table, labels=["a", "b"], view=["umap*"]).columns == list("pqrs")


def test_a_page_about_stability_has_a_plane(run, table):
    shown(run, "stability", table, "--view", "umap1,umap2", "-c", "p,q")
    assert '"umap1","umap2"' in table.with_suffix(".html").read_text().replace(" ", "")


def test_blocks_of_an_h5ad_file_are_planes(run, tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(POINTS, obsm={"X_umap": PLANE, "X_three": POINTS[:, :3]})
    cells.obs["a"], cells.obs["b"] = A.astype(str), B.astype(str)
    path = tmp_path / "cells.h5ad"
    cells.write_h5ad(path)
    found = shown(run, "report", path, "--view", "X_umap")
    assert found["points"]["axes"] == ["X_umap 1", "X_umap 2"]
    assert found["points"]["high"] == PLANE.max(axis=0).tolist()
    code, _, err = run("report", path, "-l", "a,b", "--view", "X_three")
    assert (code, "'X_three' has 3" in err) == (2, True)
    code, _, err = run("report", path, "-l", "a,b", "--view", "X_tsne")
    assert (code, "'X_three', 'X_umap'" in err) == (2, True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("report", "--view", "umap1"), "'umap1' has 1"),
        (("report", "--view", "p,q,r"), "must be two columns of"),
        (("report", "--view", "first,second"), "its columns: 'p', 'q', 'r', 's', 'umap1', 'umap2'"),
        (("report", "--view", "neighbors"), "or pca or neighbours, which are computed"),
        (("stability", "--view", "pca"), "give --page as well"),
    ],
)
def test_what_cannot_be_drawn_by_is_one_error(run, table, args, message):
    command, *options = args
    code, _, err = run(command, table, "-l", "a,b", *options)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
