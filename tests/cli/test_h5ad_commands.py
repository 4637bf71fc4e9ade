"""Commands on h5ad files: barcodes, the order of categories, patterns of keys, and --append."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from liftcluster.io import InputError, open_table, read_clusterings
from support.amount import also

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")

N = 60
PLACE = np.repeat([0, 1, 2], N // 3)
BARCODES = [f"ACGT{i:04}-1" for i in range(N)]
COARSE = ["NK", "T", "B"]
FINE = ["9", "10", "0", "2"]  # not sorted, and the first cells have the last of them


def made():
    """Three groups of cells with clusterings of two resolutions, and much else in the file."""
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(sp.csr_matrix(rng.poisson(1.0, (N, 5)).astype(np.float32)))
    cells.obs_names = BARCODES
    cells.obsm["X_pca"] = np.column_stack([PLACE * 10, np.zeros(N)]) + rng.normal(size=(N, 2))
    half = np.arange(N) % 20 < 10
    codes = np.where(PLACE == 2, half, 3 - PLACE)
    names = np.array(COARSE)[2 - PLACE]
    cells.obs["leiden_0.5"] = pd.Categorical(names, ["NK", "gone", "T", "B"])
    cells.obs["leiden_1.0"] = pd.Categorical(np.array(FINE)[codes], FINE)
    cells.obs["leiden_score"] = rng.random(N)
    cells.obs["leiden_flag"] = half
    cells.obs["found"] = pd.Categorical(np.where(half, "-1", "0"))
    cells.obsm["leiden_soft"] = rng.dirichlet([1, 1], N)
    cells.uns["leiden_0.5_colors"] = np.array(["#aa0000", "#000000", "#00aa00", "#0000aa"])
    cells.uns["deep"] = {"er": {"still": np.arange(3)}, "word": "kept"}
    cells.layers["twice"] = 2 * cells.X
    cells.obsp["near"] = sp.eye(N, format="csr")
    cells.varm["PCs"] = rng.random((5, 2))
    return cells


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made().write_h5ad("cells.h5ad")
    return "cells.h5ad"


@pytest.mark.parametrize(
    ("command", "out"),
    [("consensus", "found.csv"), also("stability", "-"), ("choose", "-"), also("consensus", "-")],
)
def test_tables_begin_with_the_barcodes(file, run, command, out):
    code, shown, err = run(command, file, "-l", "leiden_*", "--out", out, "-q")
    assert code == 0, err
    found = pd.read_csv("found.csv" if out != "-" else io.StringIO(shown))
    assert next(iter(found)) == "obs_names"
    assert found["obs_names"].tolist() == BARCODES


@pytest.mark.long
def test_drift_has_barcodes_if_both_samples_have_them(file, run):
    made()[::2].copy().write_h5ad("first.h5ad")
    made()[1::2].copy().write_h5ad("second.h5ad")
    arguments = ["-c", "X_pca", "-l", "leiden_0.5", "--n-splits", 3, "--out", "both.csv", "-q"]
    assert run("drift", "first.h5ad", "second.h5ad", *arguments)[0] == 0
    found = pd.read_csv("both.csv")
    assert list(found) == ["sample", "obs_names", "cluster"]
    assert found["obs_names"].tolist() == BARCODES[::2] + BARCODES[1::2]
    names = np.array(COARSE)[2 - PLACE]
    assert found["cluster"].tolist() == [*names[::2], *names[1::2]]
    rest = pd.DataFrame({"X_pca": made().obsm["X_pca"][:, 0], "leiden_0.5": names})
    rest.to_csv("plain.csv", index=False)
    made_1d = made()[::2].copy()
    made_1d.obsm["X_pca"] = made_1d.obsm["X_pca"][:, :1]
    made_1d.write_h5ad("first.h5ad")
    assert run("drift", "first.h5ad", "plain.csv", *arguments)[0] == 0
    assert list(pd.read_csv("both.csv")) == ["sample", "cluster"]


def test_clusters_have_the_order_of_the_categories(file, run):
    code, shown, err = run("tree", file, "-l", "leiden_0.5,leiden_1.0", "--json", "-q")
    assert code == 0, err
    nodes = json.loads(shown)["nodes"]
    assert [node["cluster"] for node in nodes] == [*COARSE, *FINE]


def test_patterns_stand_for_clusterings_only(file):
    table = open_table(file)
    assert table.choose(["leiden_*"], table.label_names) == ["leiden_0.5", "leiden_1.0"]
    with pytest.raises(InputError, match=r"has no column 'leidn_1.0'; did you mean 'leiden_1.0'"):
        table.choose(["leidn_1.0"], table.label_names)
    with pytest.raises(InputError, match=r"has no column 'louvain\*'; its columns"):
        table.choose(["louvain*"], table.label_names)
    every = read_clusterings(file, labels=["*"]).partitions
    assert list(every) == ["leiden_0.5", "leiden_1.0", "found"]
    assert every["leiden_1.0"].names == tuple(FINE)
    assert every["found"].names == ("0",)  # the text -1 is noise, as in lc.anndata
    assert every["found"].noise_mass == 0.5
    named = read_clusterings(file, labels=["leiden_flag"]).partitions
    assert named["leiden_flag"].k == 2  # by its name a column is what one says it is


def test_labels_of_another_file_are_matched_by_barcodes(file):
    order = np.random.default_rng(1).permutation(N)
    labels = pd.DataFrame({"obs_names": BARCODES, "mine": PLACE}).iloc[order]
    labels.to_csv("mine.csv", index=False)
    found = read_clusterings(file, labels_files=["mine.csv"])
    assert list(found.partitions) == ["mine"]
    assert found.partitions["mine"].labels.tolist() == PLACE.tolist()
    assert "rows of the files are matched by obs_names" in found.notes
    labels[["mine"]].to_csv("mine.csv", index=False)  # without barcodes by their order
    found = read_clusterings(file, labels_files=["mine.csv"])
    assert found.partitions["mine"].labels.tolist() == PLACE[order].tolist()
    assert found.ids.tolist() == BARCODES


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_barcodes_must_differ_only_where_rows_are_matched(file, run):
    cells = made()
    cells.obs_names = ["same"] * N
    cells.write_h5ad("same.h5ad")
    code, _, err = run("consensus", "same.h5ad", "-l", "leiden_*", "-k", 3, "-o", "new.csv", "-q")
    assert code == 0, err
    assert pd.read_csv("new.csv")["obs_names"].unique().tolist() == ["same"]
    pd.DataFrame({"obs_names": BARCODES, "mine": PLACE}).to_csv("mine.csv", index=False)
    with pytest.raises(InputError, match="ids must be unique"):
        read_clusterings("same.h5ad", labels_files=["mine.csv"])


def contents(path):
    """Everything in an HDF5 file: data as bytes, and attributes."""
    found = {}

    def visit(name, item):
        data = np.asarray(item).tolist() if isinstance(item, h5py.Dataset) else None
        found[name] = (data, {key: np.asarray(v).tolist() for key, v in item.attrs.items()})

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def test_append_adds_to_obs_and_obsm_and_changes_nothing_else(file, run):
    before = contents(file)
    code, _, err = run(
        "consensus", file, "-l", "leiden_*", "-k", 3, "--append", "--out", "out.h5ad", "-q"
    )
    assert code == 0, err
    assert contents(file) == before
    after = contents("out.h5ad")
    new = {name for name in after if name not in before}
    assert {name.split("/")[1] for name in new} == {
        "consensus",
        "consensus_confidence",
        "consensus_margin",
        "consensus_memberships",
    }
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"obs"}  # the order of its columns
    found = anndata.read_h5ad("out.h5ad")
    assert list(found.obs)[-3:] == ["consensus", "consensus_confidence", "consensus_margin"]
    assert found.obs_names.tolist() == BARCODES
    assert found.obs["consensus"].cat.categories.tolist() == ["0", "1", "2"]
    pd.testing.assert_frame_equal(found.obs.iloc[:, :-3], made().obs)
