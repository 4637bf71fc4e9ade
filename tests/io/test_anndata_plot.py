"""Plots of clusterings in AnnData objects: places, values, order and colours of the categories."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import KMeans

import liftcluster as lc

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

COLOURS = {"T": "#aa0000", "gone": "#000000", "B": "#00aa00", "NK": "#0000aa"}


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cells():
    """Three groups of cells, with cell types in an order and colours of their own."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    X = 4 * np.eye(3, 6)[truth] + rng.normal(size=(60, 6))
    made = anndata.AnnData(obs=pd.DataFrame(index=[f"cell {i}" for i in range(60)]))
    made.obsm["X_pca"], made.obsm["X_umap"] = X, rng.normal(size=(60, 2))
    made.obsm["spatial"] = rng.uniform(size=(60, 2))
    made.obs["cell_type"] = pd.Categorical(np.array(["B", "T", "NK"])[truth], list(COLOURS))
    made.uns["cell_type_colors"] = list(COLOURS.values())
    for k in (4, 2, 3):
        labels = KMeans(k, n_init=1, random_state=0).fit(X).labels_
        made.obs[f"leiden_0.{k}"] = pd.Categorical(labels.astype(str))
    lc.anndata.consensus(made, "leiden_*", 3, rng=0)
    return made


def every_plot(cells):
    plot = lc.anndata.plot
    return {
        "confidence": lambda **ax: plot.confidence(cells, **ax),
        "difference": lambda **ax: plot.difference(cells, "cell_type", "leiden_0.3", **ax),
        "distances": lambda **ax: plot.distances(cells, "leiden_*", **ax),
        "flow": lambda **ax: plot.flow(cells, "cell_type", "leiden_0.3", **ax),
        "resolution_tree": lambda **ax: plot.resolution_tree(cells, "leiden_*", rng=0, **ax),
    }


@pytest.mark.parametrize("name", lc.anndata.plot.__all__)
def test_every_plot_accepts_and_returns_axes_and_stores_nothing(cells, name):
    before = list(cells.obs), list(cells.obsm), list(cells.uns)
    draw = every_plot(cells)[name]
    _, ax = plt.subplots()
    assert draw(ax=ax) is ax
    made = draw()
    assert made is not ax
    made.figure.canvas.draw()
    assert (list(cells.obs), list(cells.obsm), list(cells.uns)) == before


@pytest.mark.parametrize(
    ("basis", "key"), [(None, "X_umap"), ("umap", "X_umap"), ("spatial", "spatial")]
)
def test_difference_is_the_distance_of_each_cell_at_the_basis(cells, basis, key):
    ax = lc.anndata.plot.difference(cells, "cell_type", "leiden_0.3", basis=basis)
    expected = lc.compare(cells.obs["cell_type"], cells.obs["leiden_0.3"], cells.obsm["X_pca"])
    order = np.argsort(expected.point_distances, kind="stable")
    (drawn,) = ax.collections
    np.testing.assert_array_equal(drawn.get_offsets(), cells.obsm[key][order])
    np.testing.assert_allclose(drawn.get_array(), expected.point_distances[order])
    assert ax.get_title() == "cell_type and leiden_0.3"
    name = {"X_umap": "UMAP", "spatial": "spatial"}[key]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"{name}1", f"{name}2")
    assert len(ax.get_xticks()) == len(ax.get_yticks()) == 0


def test_clusterings_are_compared_by_use_rep_not_by_basis(cells):
    ax = lc.anndata.plot.difference(cells, "cell_type", "leiden_0.3", use_rep="spatial")
    expected = lc.compare(cells.obs["cell_type"], cells.obs["leiden_0.3"], cells.obsm["spatial"])
    np.testing.assert_allclose(ax.collections[0].get_array(), np.sort(expected.point_distances))


def test_flow_has_the_order_and_the_colours_of_the_categories(cells):
    ax = lc.anndata.plot.flow(cells, "cell_type", "leiden_0.3")
    left, right = ax.containers
    assert [to_hex(bar.get_facecolor()) for bar in left] == ["#aa0000", "#00aa00", "#0000aa"]
    assert [text.get_text().split()[0] for text in ax.texts[:3]] == ["T", "B", "NK"]
    tops = [bar.get_y() for bar in left]
    assert tops == sorted(tops)
    assert len({to_hex(bar.get_facecolor()) for bar in right}) == 3  # ours: it has none of its own
    swapped = lc.anndata.plot.flow(cells, "leiden_0.3", "cell_type")
    assert [to_hex(bar.get_facecolor()) for bar in swapped.containers[1]] == [
        "#aa0000",
        "#00aa00",
        "#0000aa",
    ]


def test_too_few_colours_are_not_used(cells):
    some = cells.copy()
    some.uns["cell_type_colors"] = ["#aa0000"]
    bars = lc.anndata.plot.flow(some, "cell_type", "leiden_0.3").containers[0]
    assert "#aa0000" not in {to_hex(bar.get_facecolor()) for bar in bars}
    found = lc.compare(cells.obs["cell_type"], cells.obs["leiden_0.3"], cells.obsm["X_pca"])
    with pytest.raises(ValueError, match="colours must be 3, one per cluster, got 1"):
        lc.plot.flow(found, colours=(["red"], None))


def test_distances_have_keys_and_the_name_of_the_measure(cells):
    ax = lc.anndata.plot.distances(cells, ["cell_type", "leiden_*"], measure="vi")
    keys = [text.get_text() for text in ax.get_yticklabels()]  # by similarity
    assert sorted(keys) == ["cell_type", "leiden_0.2", "leiden_0.3", "leiden_0.4"]
    expected = lc.distance_matrix([cells.obs[key] for key in keys], measure="vi")
    np.testing.assert_allclose(ax.images[0].get_array(), expected)
    assert ax.images[0].colorbar.ax.get_ylabel() == "vi distance"


def test_tree_goes_from_coarse_to_fine_by_a_pattern_and_keeps_the_order_of_keys(cells):
    rows = lc.anndata.plot.resolution_tree(cells, "leiden_*", rng=0).get_yticklabels()
    assert [row.get_text() for row in rows] == ["leiden_0.2", "leiden_0.3", "leiden_0.4"]
    keys = ["leiden_0.3", "leiden_0.2"]
    rows = lc.anndata.plot.resolution_tree(cells, keys, rng=0).get_yticklabels()
    assert [row.get_text() for row in rows] == keys


def test_confidence_is_drawn_from_0_to_1_with_doubtful_cells_on_top(cells):
    some = cells.copy()
    values = np.tile([1.0, 0.25, 0.5], 20)
    some.obs["mine_confidence"] = values
    ax = lc.anndata.plot.confidence(some, "mine", basis="spatial")
    (drawn,) = ax.collections
    assert drawn.get_array().tolist() == sorted(values, reverse=True)
    last = drawn.get_offsets()[-20:]
    np.testing.assert_array_equal(last, cells.obsm["spatial"][values == 0.25])
    assert drawn.get_clim() == (0, 1)
    assert ax.get_title() == "mine: all agree on 33% of the cells"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda c, p: p.difference(c, "cell_tpe", "leiden_0.3"),
            ValueError,
            "did you mean 'cell_type'",
        ),
        (
            lambda c, p: p.difference(c, "cell_type", "leiden_*"),
            ValueError,
            "is a pattern, but one key",
        ),
        (
            lambda c, p: p.difference(c, "cell_type", "leiden_0.3", basis="tsne"),
            ValueError,
            "basis='tsne' is not in .obsm",
        ),
        (
            lambda c, p: p.difference(c, "cell_type", "leiden_0.3", basis="umpa"),
            ValueError,
            "it has 'X_pca', 'X_umap'",
        ),
        (
            lambda c, p: p.difference(c.obsm, "cell_type", "leiden_0.3"),
            TypeError,
            "must be an AnnData",
        ),
        (
            lambda c, p: p.flow(c, "cell_type", "leiden_0.3", use_rep="X_scvi"),
            ValueError,
            "use_rep='X_scvi' is not",
        ),
        (
            lambda c, p: p.distances(c, "louvain*"),
            ValueError,
            "no column of .obs matches 'louvain.'",
        ),
        (lambda c, p: p.resolution_tree(c, "leiden_0.2"), TypeError, "got one key"),
        (lambda c, p: p.confidence(c, "agreed"), ValueError, "there are results of 'consensus'"),
    ],
)
def test_invalid_input_is_refused(cells, call, error, message):
    with pytest.raises(error, match=message):
        call(cells, lc.anndata.plot)


def test_cells_without_a_basis_or_a_consensus_are_refused():
    plain = anndata.AnnData(np.zeros((4, 2)))
    plain.obs["a"] = plain.obs["b"] = list("uuvv")
    with pytest.raises(ValueError, match="neither UMAP nor t-SNE; it has nothing"):
        lc.anndata.plot.difference(plain, "a", "b")
    plain.obsm["spatial"] = np.zeros((4, 2))
    with pytest.raises(ValueError, match="there are no such results"):
        lc.anndata.plot.confidence(plain, basis="spatial")
