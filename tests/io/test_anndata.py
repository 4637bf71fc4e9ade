"""Clusterings in AnnData objects: the library's results, stored by scverse conventions."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans

import liftcluster as lc

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

DATA = Path(os.environ.get("LIFTCLUSTER_DATA", "missing")) / "single_cell_spatial"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs LIFTCLUSTER_DATA")


@pytest.fixture
def cells():
    """Three groups of cells in ten components, with cell types, two clusterings and soft topics."""
    rng = np.random.default_rng(0)
    centres = 4 * np.eye(3, 10)
    truth = np.repeat([0, 1, 2], 20)
    X = centres[truth] + rng.normal(size=(60, 10))
    made = anndata.AnnData(rng.poisson(1.0, size=(60, 200)).astype(np.float32))
    made.obsm["X_pca"] = X
    made.obsm["spatial"] = rng.uniform(size=(60, 2))
    made.obsm["topics"] = rng.dirichlet([1, 1, 1, 1], 60)
    made.obs["cell_type"] = pd.Categorical(np.array(["B", "T", "NK"])[truth], ["T", "B", "NK"])
    made.obs["leiden"] = pd.Categorical(
        KMeans(4, n_init=1, random_state=0).fit(X).labels_.astype(str)
    )
    made.obs["ward"] = AgglomerativeClustering(3).fit(X).labels_
    return made


@pytest.mark.parametrize("use_rep", ["X_pca", "spatial", "X", None])
def test_comparison_equals_that_of_the_library(cells, use_rep):
    found = lc.anndata.compare(cells, "leiden", "cell_type", use_rep=use_rep)
    X = cells.X if use_rep == "X" else cells.obsm[use_rep or "X_pca"]
    expected = lc.compare(cells.obs["leiden"], cells.obs["cell_type"], X)
    assert found.values == expected.values
    assert found.names == ("leiden", "cell_type")


def test_soft_clusterings_are_read_from_obsm(cells):
    found = lc.anndata.compare(cells, "cell_type", "topics")
    expected = lc.distance(cells.obs["cell_type"], cells.obsm["topics"], cells.obsm["X_pca"])
    assert found["lift_emd"].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("missing", ["nan", "-1", "minus one"])
def test_cells_without_a_category_are_noise(cells, missing):
    labels = cells.obs["cell_type"].astype(object).to_numpy().copy()
    labels[:5] = {"nan": np.nan, "-1": "-1", "minus one": -1}[missing]
    cells.obs["gaps"] = pd.Categorical(labels)
    found = lc.anndata.compare(cells, "gaps", "cell_type")
    assert found.partitions[0].noise_mass == pytest.approx(5 / 60)
    assert set(found.partitions[0].names) == {"B", "T", "NK"}


def test_sparse_counts_are_accepted(cells):
    dense = lc.anndata.compare(cells, "leiden", "ward", use_rep="X")["lift_emd"]
    cells.X = sp.csr_matrix(cells.X)
    assert lc.anndata.compare(cells, "leiden", "ward", use_rep="X")["lift_emd"] == dense


def test_distance_matrix_is_a_data_frame_with_the_keys(cells):
    keys = ["leiden", "cell_type", "topics"]
    found = lc.anndata.distance_matrix(cells, keys, key_added="distances")
    named = {
        "leiden": cells.obs["leiden"],
        "cell_type": cells.obs["cell_type"],
        "topics": cells.obsm["topics"],
    }
    np.testing.assert_allclose(found, lc.distance_matrix(named, cells.obsm["X_pca"]))
    assert list(found.index) == list(found.columns) == keys
    pd.testing.assert_frame_equal(cells.uns["distances"]["distances"], found)


def test_consensus_is_stored_by_scverse_conventions(cells):
    keys = ["leiden", "cell_type", "ward"]
    by = {"method": "lift_km", "rng": 0}  # whose margins are not those of the labels alone
    found = lc.anndata.consensus(cells, keys, 3, key_added="agreed", **by)
    expected = lc.consensus({k: cells.obs[k] for k in keys}, 3, cells.obsm["X_pca"], **by)
    assert np.abs(expected.margin - expected.confidence).max() > 0.1
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert isinstance(cells.obs["agreed"].dtype, pd.CategoricalDtype)
    assert list(cells.obs["agreed"].cat.categories) == ["0", "1", "2"]
    assert cells.obs["agreed"].tolist() == [str(label) for label in expected.labels]
    np.testing.assert_allclose(cells.obs["agreed_confidence"], expected.confidence)
    np.testing.assert_allclose(cells.obs["agreed_margin"], expected.margin)
    np.testing.assert_allclose(cells.obsm["agreed_memberships"], expected.memberships)
    assert cells.uns["agreed"]["params"]["use_rep"] == "X_pca"
    assert list(cells.uns["agreed"]["params"]["keys"]) == keys
    assert cells.uns["agreed"]["mean_distance"] == pytest.approx(expected.mean_distance)
    assert cells.uns["agreed"]["label_distance"] == pytest.approx(expected.label_distance)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
def test_overruled_cells_are_a_column_and_a_number():
    """The last cell lies in the second group, but both clusterings put it into the first."""
    X = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10), 9.5][:, None]
    cells = anndata.AnnData(X)
    cells.obs["u"] = ["a"] * 10 + ["b"] * 10 + ["a"]
    cells.obs["v"] = ["a"] * 10 + ["b"] * 9 + ["c", "a"]
    lc.anndata.consensus(cells, ["u", "v"], 2, method="lift_km", bandwidth=2.0, rng=0)
    assert cells.obs["consensus_overruled"].tolist() == [False] * 20 + [True]
    assert cells.uns["consensus"]["overruled"] == 1


EVERY_RESULT = {
    "compare": lambda c, **key: lc.anndata.compare(c, "leiden", "ward", **key),
    "distance_matrix": lambda c, **key: lc.anndata.distance_matrix(c, ["leiden", "ward"], **key),
    "consensus": lambda c, **key: lc.anndata.consensus(c, ["leiden", "ward"], 3, rng=0, **key),
    "stability": lambda c, **key: lc.anndata.stability(c, ["leiden", "ward"], rng=0, **key),
    "choose": lambda c, **key: lc.anndata.choose(c, ["ward", "leiden"], rng=0, **key),
    "resolution_tree": lambda c, **key: lc.anndata.resolution_tree(c, ["ward", "leiden"], **key),
    "drift": lambda c, **key: lc.anndata.drift(c, "day", "ward", n_splits=3, **key),
}


@pytest.mark.parametrize("name", sorted({*lc.anndata.__all__} - {"report"}))
def test_every_result_is_returned_and_stored_unless_there_is_no_key(cells, name):
    cells.obs["day"] = ["one", "two"] * 30
    columns, blocks = list(cells.obs), list(cells.obsm)
    assert EVERY_RESULT[name](cells, key_added=None) is not None
    assert (list(cells.obs), list(cells.obsm), dict(cells.uns)) == (columns, blocks, {})
    assert EVERY_RESULT[name](cells) is not None
    assert len(cells.uns) == 1
    assert EVERY_RESULT[name](cells, key_added="mine") is not None
    assert "params" in cells.uns["mine"]


def test_results_survive_an_h5ad_round_trip(cells, tmp_path):
    lc.anndata.consensus(cells, ["leiden", "ward", "topics"], 3, rng=0, lift=lc.Fourier(50))
    lc.anndata.compare(
        cells, "leiden", "cell_type", key_added="difference", lift=lc.Fourier(tol=0.05), rng=1
    )
    lc.anndata.distance_matrix(cells, ["leiden", "ward"], key_added="distances", measure="vi")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(read.obs, cells.obs)
    np.testing.assert_array_equal(
        read.obsm["consensus_memberships"], cells.obsm["consensus_memberships"]
    )
    assert read.uns["difference"]["values"] == pytest.approx(cells.uns["difference"]["values"])
    assert list(read.uns["difference"]["moves"]) == list(cells.uns["difference"]["moves"])
    assert read.uns["difference"]["params"] == cells.uns["difference"]["params"]
    flows = read.uns["difference"]["flows"]
    pd.testing.assert_frame_equal(flows, cells.uns["difference"]["flows"])
    pd.testing.assert_frame_equal(
        read.uns["distances"]["distances"], cells.uns["distances"]["distances"]
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda c: lc.anndata.compare(c, "leidn", "ward"),
            ValueError,
            "no clustering 'leidn'; did you mean 'leiden'. .obs has 'cell_type'",
        ),
        (
            lambda c: lc.anndata.compare(c, "leiden", "ward", use_rep="X_umap"),
            ValueError,
            "use_rep='X_umap' is not in .obsm; it must be one of 'X_pca'",
        ),
        (
            lambda c: lc.anndata.compare(c.obs, "leiden", "ward"),
            TypeError,
            "must be an AnnData, got DataFrame",
        ),
        (
            lambda c: lc.anndata.compare(c, "leiden", "spatial"),
            ValueError,
            "'spatial': memberships",
        ),
        (lambda c: lc.anndata.compare(c, "leiden", "wa*"), ValueError, "'wa.' is a pattern, but"),
        (lambda c: lc.anndata.consensus(c, "leiden", 3), TypeError, "keys must be a list"),
        (lambda c: lc.anndata.consensus(c, 3, 3), TypeError, "keys must be a list of keys, which"),
        (lambda c: lc.anndata.consensus(c, ["ward", 3], 3), TypeError, "keys must be a list"),
        (lambda c: lc.anndata.choose(c, (k for k in c.obs)), TypeError, "keys must be a list"),
        (lambda c: lc.anndata.consensus(c, [], 3), ValueError, "keys is empty"),
        (
            lambda c: lc.anndata.consensus(c, ["ward", "w*"], 3),
            ValueError,
            "'ward' is selected twi",
        ),
        (
            lambda c: lc.anndata.consensus(c, "liden_*", 3),
            ValueError,
            "matches 'liden_.'; did you mean 'leiden'. .obs has",
        ),
        (lambda c: lc.anndata.consensus(c.obs, "w*", 3), TypeError, "must be an AnnData"),
        (lambda c: lc.anndata.stability(c, "w*d", use_rep="pca"), ValueError, "mean 'X_pca'"),
        (lambda c: lc.anndata.report(c, "*e*", basis="umap"), ValueError, "basis='umap' is not in"),
        (lambda c: lc.anndata.consensus(c, ["ward", "ward"], 3), ValueError, "keys must differ"),
    ],
)
def test_invalid_key_is_refused(cells, call, error, message):
    with pytest.raises(error, match=message):
        call(cells)
    assert "consensus" not in cells.obs


def test_many_genes_without_x_pca_need_use_rep(cells):
    del cells.obsm["X_pca"]
    with pytest.raises(ValueError, match="use_rep must be one of"):
        lc.anndata.compare(cells, "leiden", "ward")


@needs_data
def test_clusterings_of_blood_cells_agree_more_than_chance(tmp_path):
    components = pd.read_csv(DATA / "pbmc68k_reduced_pca.csv.gz").filter(regex="^pc")
    labels = pd.read_csv(DATA / "pbmc68k_reduced_labels.csv.gz")
    blood = anndata.AnnData(
        components.to_numpy(),
        obs=labels[["louvain", "bulk_labels"]].astype(str).set_index(labels.index.astype(str)),
    )
    blood.obsm["X_umap"] = labels[["umap1", "umap2"]].to_numpy()
    found = lc.anndata.compare(blood, "louvain", "bulk_labels", use_rep="X")
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(blood.obs["bulk_labels"].to_numpy())
    assert found["lift_emd"].value < lc.distance(blood.obs["louvain"], shuffled, blood.X)
    blood.obs["ward"] = AgglomerativeClustering(10).fit(blood.X).labels_
    lc.anndata.consensus(blood, ["louvain", "bulk_labels", "ward"], 8, use_rep="X", rng=0)
    assert blood.obs["consensus"].nunique() == 8
    blood.write_h5ad(tmp_path / "blood.h5ad")


@needs_data
def test_moving_spots_to_the_nearest_layer_gives_a_smaller_distance_than_to_the_farthest():
    spots = pd.read_csv(DATA / "mob_spots.csv.gz", index_col="barcode")
    tissue = anndata.AnnData(obs=spots[["class"]], obsm={"spatial": spots[["x", "y"]].to_numpy()})
    D = cdist(tissue.obsm["spatial"], tissue.obsm["spatial"])
    layers = tissue.obs["class"].to_numpy()
    D[layers[:, None] == layers] = np.nan
    moved = np.random.default_rng(0).choice(len(layers), 40, replace=False)
    for name, choose in {"near": np.nanargmin, "far": np.nanargmax}.items():
        changed = layers.copy()
        changed[moved] = layers[choose(D[moved], axis=1)]
        tissue.obs[name] = changed
    found = lc.anndata.distance_matrix(
        tissue, ["class", "near", "far"], use_rep="spatial", bandwidth="median/4"
    )
    assert found.loc["class", "near"] < found.loc["class", "far"]


def test_stability_of_runs_equals_that_of_the_library_and_is_stored(cells, tmp_path):
    cells.obs["leiden_1"], cells.obs["leiden_2"] = cells.obs["leiden"], cells.obs["ward"]
    found = lc.anndata.stability(cells, "leiden_*", reference="cell_type", rng=0)
    runs = [cells.obs["leiden_1"], cells.obs["leiden_2"]]
    expected = lc.stability(cells.obsm["X_pca"], runs, reference=cells.obs["cell_type"], rng=0)
    np.testing.assert_allclose(found.clusters, expected.clusters)
    np.testing.assert_allclose(cells.obs["stability"], expected.points)
    assert (cells.obs["stability_reference"].astype(str) == cells.obs["cell_type"]).all()
    table = cells.uns["stability"]["clusters"]
    assert list(table.index) == ["T", "B", "NK"]
    np.testing.assert_allclose(table["stability"], expected.clusters)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.uns["stability"]["score"] == found.score
    named = lc.anndata.stability(cells, ["leiden", "ward"], reference="ward", rng=0)
    assert named.n_replicates == 1


def test_stability_of_a_clusterer_stores_its_clusters(cells):
    source = KMeans(3, n_init=3)
    found = lc.anndata.stability(
        cells, source, key_added="trust", n_replicates=4, null=False, rng=0
    )
    assert list(cells.obs["trust_reference"].cat.categories) == ["0", "1", "2"]
    np.testing.assert_array_equal(cells.obs["trust"], found.points)
    with pytest.raises(ValueError, match="matches 'louvain"):
        lc.anndata.stability(cells, "louvain_*")


@pytest.fixture
def resolutions(cells):
    """Cells with clusterings of four resolutions, whose columns are in another order."""
    X = cells.obsm["X_pca"]
    for k in (4, 2, 3, 5):
        labels = KMeans(k, n_init=3, random_state=0).fit(X).labels_
        cells.obs[f"leiden_{k / 10}"] = pd.Categorical(labels.astype(str))
    return cells


def runs_of(cells, keys):
    return {key: cells.obs[key] for key in keys}


def test_choice_among_runs_equals_that_of_the_library_and_is_stored(resolutions, tmp_path):
    found = lc.anndata.choose(resolutions, "leiden_*", rng=0)
    order = [f"leiden_0.{k}" for k in (2, 3, 4, 5)]  # from few to many clusters
    expected = lc.choose(resolutions.obsm["X_pca"], runs_of(resolutions, order), rng=0)
    assert list(found.settings) == order
    np.testing.assert_allclose(found.curve, expected.curve)
    assert (resolutions.obs["choice"] == resolutions.obs[found.best]).all()
    np.testing.assert_allclose(resolutions.obs["choice_stability"], expected.stability.points)
    resolutions.write_h5ad(tmp_path / "cells.h5ad")
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["choice"]
    assert stored["best"] == found.best
    assert list(stored["settings"].index) == order
    np.testing.assert_allclose(stored["settings"]["stability"], expected.curve)


def test_choice_of_a_setting_is_stored_in_words(cells, tmp_path):
    tried = {"n_clusters": [2, 3]}
    found = lc.anndata.choose(
        cells, KMeans(n_init=2), tried, key_added="k", n_replicates=3, lift=lc.Fourier(64), rng=0
    )
    assert found.best == {"n_clusters": 3}
    assert cells.uns["k"]["best"] == "n_clusters = 3"
    assert cells.obs["k"].nunique() == 3
    cells.write_h5ad(tmp_path / "cells.h5ad")


def test_keys_keep_their_order_and_patterns_go_from_coarse_to_fine(resolutions, tmp_path):
    keys = ["leiden_0.5", "leiden_0.2", "leiden_0.3"]
    assert list(lc.anndata.resolution_tree(resolutions, keys, rng=0).runs) == keys
    found = lc.anndata.resolution_tree(resolutions, "leiden_*", rng=0)
    order = [f"leiden_0.{k}" for k in (2, 3, 4, 5)]
    runs = runs_of(resolutions, order)
    expected = lc.resolution_tree(resolutions.obsm["X_pca"], runs, rng=0)
    assert list(found.runs) == order
    resolutions.write_h5ad(tmp_path / "cells.h5ad")
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["resolution_tree"]
    assert len(stored["nodes"]) == 2 + 3 + 4 + 5
    np.testing.assert_allclose(stored["nodes"]["stability"], [n.stability for n in expected.nodes])
    np.testing.assert_allclose(stored["edges"]["mass"], [e.mass for e in expected.edges])
    assert list(stored["edges"]["next_cluster"]) == [str(e.next_cluster) for e in expected.edges]


def test_drift_between_two_objects_equals_that_between_two_groups_of_one(cells, tmp_path):
    cells.obs["day"] = ["one", "two", "three"] * 20
    X, day = cells.obsm["X_pca"], cells.obs["day"]
    options = {"n_splits": 9, "rng": 0}
    expected = lc.drift(X[day == "two"], X[day == "one"], KMeans(3, n_init=1), **options)
    found = lc.anndata.drift(
        cells, "day", KMeans(3, n_init=1), groups=("two", "one"), key_added="moved", **options
    )
    assert found.values == pytest.approx(expected.values)
    assert found.p_value == expected.p_value == cells.uns["moved"]["p_value"]
    two, one = (cells[day == name].copy() for name in ("two", "one"))
    again = lc.anndata.drift(two, one, KMeans(3, n_init=1), **options)
    assert again.values == pytest.approx(expected.values)
    np.testing.assert_allclose(two.uns["drift"]["null"]["lift_emd"], expected.null["lift_emd"])
    assert "drift" not in one.uns
    two.write_h5ad(tmp_path / "two.h5ad")


def test_drift_of_labels_takes_them_from_both_samples(cells):
    cells.obs["day"] = np.random.default_rng(1).permutation(["one", "two"] * 30)
    first = (cells.obs["day"] == "one").to_numpy()
    X, labels = cells.obsm["X_pca"], cells.obs["cell_type"].to_numpy()
    expected = lc.drift(X[first], X[~first], (labels[first], labels[~first]), n_splits=9, rng=0)
    groups = ("one", "two")
    found = lc.anndata.drift(cells, "day", "cell_type", groups=groups, n_splits=9, rng=0)
    assert found.values == pytest.approx(expected.values)
    parts = cells[first].copy(), cells[~first].copy()
    again = lc.anndata.drift(*parts, "cell_type", n_splits=9, rng=0)
    assert again.values == pytest.approx(expected.values)
    cells.obs["own"] = np.where(first, "a", "b")  # no name is in both groups
    with pytest.raises(ValueError, match="no cluster name in common"):
        lc.anndata.drift(cells, "day", "own", n_splits=9)


def test_components_that_were_computed_separately_are_refused(cells):
    first, second = cells[:30].copy(), cells[30:].copy()
    first.varm["PCs"] = np.ones((200, 10))
    second.varm["PCs"] = np.ones((200, 10))
    lc.anndata.drift(first, second, "ward", n_splits=3, measures="lift_hausdorff", rng=0)
    second.varm["PCs"][0, 0] = 2
    with pytest.raises(ValueError, match="computed separately"):
        lc.anndata.drift(first, second, "ward", n_splits=3)
    second.var_names = [f"gene{i}" for i in range(200)]
    with pytest.raises(ValueError, match="the variables of the two AnnData differ"):
        lc.anndata.drift(first, second, "ward", use_rep="X", n_splits=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: lc.anndata.drift(c, "day", "ward"), "'day' has 'one', 'two', 'three'; say"),
        (lambda c: lc.anndata.drift(c, "dya", "ward"), "there is no column 'dya'"),
        (lambda c: lc.anndata.drift(c, "day", "ward", groups="one"), "say which with groups"),
        (
            lambda c: lc.anndata.drift(c, "day", "ward", groups=("one", "four")),
            "no cells of 'four'",
        ),
        (lambda c: lc.anndata.drift(c, c, "ward", groups=("one", "two")), "groups cannot apply"),
        (lambda c: lc.anndata.drift(c, "day", "wrad", groups=("one", "two")), "no clustering"),
        (lambda c: lc.anndata.choose(c, "louvain*"), "no column of .obs matches"),
        (lambda c: lc.anndata.choose(c, ["ward", "leiden"], {"k": [2]}), "settings cannot apply"),
        (lambda c: lc.anndata.resolution_tree(c, ["ward"]), "at least two partitions"),
    ],
)
def test_invalid_question_about_trust_is_refused(cells, call, message):
    cells.obs["day"] = ["one", "two", "three"] * 20
    with pytest.raises(ValueError, match=message):
        call(cells)
    assert not {"choice", "drift", "resolution_tree"} & {*cells.uns, *cells.obs}


def test_patterns_stand_for_columns_that_match_in_their_order(resolutions):
    resolutions.obs["leiden_score"] = np.linspace(0, 1, 60)
    resolutions.obs["leiden_flag"] = True
    runs = ["leiden_0.4", "leiden_0.2", "leiden_0.3", "leiden_0.5"]
    assert list(lc.anndata.distance_matrix(resolutions, "leiden_*", measure="vi")) == runs
    mixed = ["cell_type", "leiden_0.[23]", "topics"]
    found = lc.anndata.distance_matrix(resolutions, mixed, measure="lift_emd")
    assert list(found) == ["cell_type", "leiden_0.2", "leiden_0.3", "topics"]
    exact = lc.anndata.distance_matrix(resolutions, list(found), measure="lift_emd")
    np.testing.assert_array_equal(found, exact)
    combined = lc.anndata.consensus(resolutions, "leiden_*", 3, rng=0, key_added=None)
    assert list(combined.inputs) == runs
    tree = lc.anndata.resolution_tree(resolutions, ["leiden_0.[45]", "leiden_0.2"], rng=0)
    assert list(tree.runs) == ["leiden_0.2", "leiden_0.4", "leiden_0.5"]


def test_results_are_no_input_of_the_next_call(resolutions):
    for _ in range(2):
        found = lc.anndata.consensus(resolutions, "leiden_*", 3, rng=0, key_added="leiden_all")
        assert list(found.inputs) == ["leiden_0.4", "leiden_0.2", "leiden_0.3", "leiden_0.5"]
    for _ in range(2):
        chosen = lc.anndata.choose(resolutions, "leiden_0*", rng=0, key_added="leiden_0")
        assert len(chosen.settings) == 4
    with pytest.raises(ValueError, match="leaves out real numbers"):
        lc.anndata.consensus(resolutions, "leiden_all_*", 3)


def test_a_column_named_like_a_pattern_is_a_key(cells):
    cells.obs["w*"] = cells.obs["cell_type"]
    assert list(lc.anndata.distance_matrix(cells, ["w*", "ward"], measure="vi")) == ["w*", "ward"]
    with pytest.raises(TypeError, match="got one key"):
        lc.anndata.distance_matrix(cells, "w*")


def test_copies_of_a_clustering_keep_the_order_and_the_colours_of_its_categories(cells, tmp_path):
    """T is before B; no cell has the category "gone", whose colour is not copied."""
    categories = ["gone", "T", "B", "NK"]
    for key in ("type_1", "type_2"):
        cells.obs[key] = pd.Categorical(cells.obs["cell_type"], categories)
        cells.uns[f"{key}_colors"] = ["#000000", "#aa0000", "#00aa00", "#0000aa"]
    lc.anndata.choose(cells, "type_*", rng=0)
    lc.anndata.stability(cells, "type_*", reference="type_1", key_added="trust", rng=0)
    lc.anndata.stability(cells, "ward*", reference="type_1", key_added="trust2", rng=0)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for key in ("choice", "trust_reference", "trust2_reference"):
        assert list(read.obs[key].cat.categories) == ["T", "B", "NK"]
        assert (read.obs[key].astype(str) == read.obs["cell_type"].astype(str)).all()
        assert list(read.uns[f"{key}_colors"]) == ["#aa0000", "#00aa00", "#0000aa"]
    assert list(read.uns["type_1_colors"]) == cells.uns["type_1_colors"]


def test_colours_of_a_consensus_are_kept_while_they_suffice(cells):
    cells.uns["consensus_colors"] = ["#aa0000", "#00aa00", "#0000aa"]
    lc.anndata.consensus(cells, ["leiden", "ward"], 3, rng=0)
    assert cells.uns["consensus_colors"] == ["#aa0000", "#00aa00", "#0000aa"]
    lc.anndata.consensus(cells, ["leiden", "ward"], 4, rng=0)
    assert "consensus_colors" not in cells.uns  # scanpy makes new ones


def test_names_of_clusters_may_have_slashes(cells, tmp_path):
    """anndata does not write them as keys."""
    cells.obs["kind"] = cells.obs["cell_type"].cat.rename_categories({"T": "CD4+/CD25 T"})
    found = lc.anndata.compare(cells, "kind", "leiden")
    lc.anndata.stability(cells, ["kind", "ward"], reference="kind", rng=0)
    lc.anndata.consensus(cells, ["kind", "ward"], 3, rng=0)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    flows = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["comparison"]["flows"]
    assert set(flows["a"]) == {"CD4+/CD25 T", "B", "NK"}
    assert flows["mass"].sum() == pytest.approx(1)
    cost = (flows["mass"] * flows["distance"]).sum()
    assert cost == pytest.approx(found["lift_emd"].value)


def test_results_of_a_view_are_stored_in_a_copy_of_its_cells(cells):
    some = cells[10:50]
    with pytest.warns(anndata.ImplicitModificationWarning) as caught:
        lc.anndata.consensus(some, ["leiden", "ward"], 3, rng=0)
    assert len(caught) == 1
    assert len(some.obs["consensus"]) == 40
    assert "consensus" not in cells.obs
    expected = lc.consensus(
        [cells.obs[k][10:50] for k in ("leiden", "ward")], 3, cells.obsm["X_pca"][10:50], rng=0
    )
    assert some.obs["consensus"].astype(int).tolist() == expected.labels.tolist()
    other = cells[10:50]  # without results it stays a view
    lc.anndata.compare(other, "leiden", "ward", key_added=None)
    assert other.is_view


@pytest.mark.parametrize("use_rep", ["X", "X_pca"])
@pytest.mark.parametrize("sparse", [False, True])
def test_cells_may_be_backed_by_a_file(cells, tmp_path, use_rep, sparse):
    expected = lc.anndata.compare(cells, "leiden", "ward", use_rep=use_rep)
    cells.X = sp.csr_matrix(cells.X) if sparse else cells.X
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    try:
        found = lc.anndata.compare(backed, "leiden", "ward", use_rep=use_rep)
        assert found["lift_emd"].value == pytest.approx(expected["lift_emd"].value, abs=1e-12)
        lc.anndata.consensus(backed, ["leiden", "ward"], 3, rng=0)
        backed.copy(tmp_path / "new.h5ad").file.close()
    finally:
        backed.file.close()
    assert anndata.read_h5ad(tmp_path / "new.h5ad").obs["consensus"].nunique() == 3


def test_names_of_cells_need_not_differ(cells):
    expected = lc.anndata.consensus(cells, ["leiden", "ward"], 3, rng=0)
    cells.obs_names = ["same"] * 60
    with pytest.warns(UserWarning, match="not unique"):
        cells = anndata.AnnData(obs=cells.obs, obsm=dict(cells.obsm))
    lc.anndata.consensus(cells, ["leiden", "ward"], 3, rng=0, key_added="again")
    assert cells.obs["again"].tolist() == [str(label) for label in expected.labels]
    assert lc.anndata.report(cells, ["leiden", "ward"]).title == "2 clusterings of 60 cells"


def test_report_is_that_of_the_library_drawn_at_the_basis(cells):
    cells.obsm["X_umap"] = np.random.default_rng(2).normal(size=(60, 3))
    found = lc.anndata.report(cells, ["cell_type", "ward"], consensus=3, rng=0)
    named = {"cell_type": cells.obs["cell_type"], "ward": cells.obs["ward"]}
    X = cells.obsm["X_pca"]
    axes = [f"pca {j}" for j in range(1, X.shape[1] + 1)]
    expected = lc.make_report(
        named,
        pd.DataFrame(X, cells.obs_names, axes),
        consensus=3,
        columns=cells.obs.drop(columns=["cell_type", "ward"]),
        rng=0,
        view=pd.DataFrame(cells.obsm["X_umap"][:, :2], columns=["UMAP1", "UMAP2"]),
        title="2 clusterings of 60 cells",
    )
    assert found.html() == expected.html()
    assert found.to_dict()["clusterings"][0]["clusters"] == ["T", "B", "NK"]


@pytest.mark.parametrize(
    ("basis", "axes"),
    [
        ("umap", ["UMAP1", "UMAP2"]),
        ("X_umap", ["UMAP1", "UMAP2"]),
        ("tsne", ["tSNE1", "tSNE2"]),
        ("pca", ["PC1", "PC2"]),
        ("draw_graph_fa", ["FA1", "FA2"]),
        ("spatial", ["spatial1", "spatial2"]),
        (None, ["UMAP1", "UMAP2"]),
    ],
)
def test_basis_is_found_and_named_as_in_scanpy(cells, basis, axes):
    Z = np.random.default_rng(2).normal(size=(60, 2))
    names = cells.obs_names
    cells.obsm["X_umap"], cells.obsm["X_tsne"] = pd.DataFrame(Z, names), sp.csr_matrix(Z)
    cells.obsm["X_draw_graph_fa"] = Z
    points = lc.anndata.report(cells, ["cell_type", "ward"], basis=basis).to_dict()["points"]
    assert points["axes"] == axes
    key = {"spatial": "spatial", "pca": "X_pca"}.get(basis)
    expected = Z if key is None else cells.obsm[key][:, :2]
    np.testing.assert_allclose(points["low"], expected.min(axis=0))
    np.testing.assert_allclose(points["high"], expected.max(axis=0))


def test_report_without_basis_or_with_a_view_of_its_own(cells):
    plain = lc.anndata.report(cells, ["cell_type", "ward"]).to_dict()["points"]
    named = {"cell_type": cells.obs["cell_type"], "ward": cells.obs["ward"]}
    assert plain["axes"] == lc.make_report(named, cells.obsm["X_pca"]).to_dict()["points"]["axes"]
    Z = np.arange(120.0).reshape(60, 2)
    own = lc.anndata.report(cells, ["cell_type", "ward"], view=Z).to_dict()["points"]
    assert own["high"] == [118, 119]
    with pytest.raises(ValueError, match="basis and view cannot apply together"):
        lc.anndata.report(cells, ["cell_type", "ward"], view=Z, basis="spatial")
    cells.obsm["line"] = np.zeros((60, 1))
    with pytest.raises(ValueError, match="basis='line' must have two columns"):
        lc.anndata.report(cells, ["cell_type", "ward"], basis="line")
