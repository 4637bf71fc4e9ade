"""Plots: marks and their positions, labels, and names that are not interpreted as markup."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.spatial.distance import pdist

import liftcluster as lc
from support.report_cases import CLUSTERINGS, HOSTILE, X

PAIR = CLUSTERINGS["k-means"], CLUSTERINGS["Ward"]
SPECIAL = [r"$\frac{bad$", "_hidden", "two\nlines", "very long " + "name" * 50]


# These tests do not check the quality of the consensus.
pytestmark = pytest.mark.filterwarnings(
    "ignore:the consensus is farther", "ignore:medoid chooses the number"
)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def found():
    return lc.compare(*PAIR, X, names=("k-means", "Ward"))


@pytest.fixture(scope="module")
def combined():
    return lc.consensus(CLUSTERINGS, 3, X, rng=0)


@pytest.fixture(scope="module")
def D():
    return lc.distance_matrix(CLUSTERINGS, X)


def drawn(ax):
    """Draw the figure: matplotlib raises some errors only then."""
    ax.figure.canvas.draw()
    return ax


def texts(ax):
    return [text.get_text() for text in ax.texts]


def all_plots(found, combined, D):
    return {
        "distances": lambda **ax: lc.plot.distances(D, CLUSTERINGS, **ax),
        "clusterings_map": lambda **ax: lc.plot.clusterings_map(D, CLUSTERINGS, **ax),
        "flow": lambda **ax: lc.plot.flow(found, **ax),
        "plan": lambda **ax: lc.plot.plan(found, **ax),
        "points": lambda **ax: lc.plot.points(X, PAIR[0], **ax),
        "composition": lambda **ax: lc.plot.composition(combined, **ax),
        "profile": lambda **ax: lc.plot.profile(lc.bandwidth_profile(*PAIR, X, bandwidths=5), **ax),
        "stability": lambda **ax: lc.plot.stability(
            lc.stability(X, CLUSTERINGS, reference=PAIR[0], rng=0), **ax
        ),
        "choice": lambda **ax: lc.plot.choice(
            lc.choose(X, dict(enumerate(CLUSTERINGS.values())), rng=0), **ax
        ),
        "resolution_tree": lambda **ax: lc.plot.resolution_tree(
            lc.resolution_tree(X, CLUSTERINGS, rng=0), **ax
        ),
        "alternative": lambda **ax: lc.plot.alternative(lc.alternative(X, PAIR[0], 3, rng=0), **ax),
        "diverse_subset": lambda **ax: lc.plot.diverse_subset(
            lc.diverse_subset(CLUSTERINGS, 2, X), **ax
        ),
        "curve": lambda **ax: lc.plot.curve(
            lc.consensus(CLUSTERINGS, "auto", X, rng=0).curve, **ax
        ),
    }


@pytest.mark.parametrize("name", lc.plot.__all__)
def test_every_plot_accepts_and_returns_axes(name, found, combined, D):
    draw = all_plots(found, combined, D)[name]
    _, ax = plt.subplots()
    assert draw(ax=ax) is ax
    assert drawn(draw()) is not ax


@pytest.mark.parametrize("name", lc.plot.__all__)
def test_every_plot_fits_a_narrow_figure(name, found, combined, D):
    figure, ax = plt.subplots(figsize=(4, 3.2), dpi=100, layout="constrained")
    drawn(all_plots(found, combined, D)[name](ax=ax))
    box = ax.get_position()
    assert box.width > 0.3, "room for the plot itself"
    assert box.height > 0.3
    extent = ax.get_tightbbox()
    assert extent.x0 >= -1
    assert extent.x1 <= figure.bbox.width + 1


def test_the_heat_map_has_the_distances_in_its_cells(D):
    ax = drawn(lc.plot.distances(D, CLUSTERINGS, order="given"))
    np.testing.assert_array_equal(ax.images[0].get_array(), D)
    assert texts(ax) == [f"{value:.2f}" for value in D.ravel()]
    assert [t.get_text() for t in ax.get_yticklabels()] == list(CLUSTERINGS)


def test_clusterings_map_preserves_distances_of_three_clusterings(D):
    ax = drawn(lc.plot.clusterings_map(D[:3, :3], list(CLUSTERINGS)[:3]))
    Z = ax.collections[0].get_offsets()
    for i in range(3):
        for j in range(i):
            assert np.linalg.norm(Z[i] - Z[j]) == pytest.approx(D[i, j], abs=1e-6)
    assert ax.get_title() == "map of 3 clusterings: near is similar\nstress 0.000"
    assert sorted(texts(ax)) == sorted(list(CLUSTERINGS)[:3])


def test_the_map_of_a_subset_has_the_colours_of_those_chosen(D):
    found = lc.diverse_subset(CLUSTERINGS, 2, X)
    ax = drawn(found.plot())
    assert texts(ax) == list(found.chosen)
    groups, centres = ax.collections[::2], ax.collections[1::2]
    assert [len(group.get_offsets()) for group in groups] == found.sizes.tolist()
    for group, centre in zip(groups, centres, strict=True):
        np.testing.assert_array_equal(group.get_facecolor()[0, :3], centre.get_facecolor()[0, :3])
    assert ax.get_title().startswith(f"2 of {len(CLUSTERINGS)} clusterings, stress")


def test_the_curve_of_an_alternative_has_a_point_for_each_clustering():
    found = lc.alternative(X, PAIR[0], 3, rng=0)
    ax = drawn(found.plot())
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [each.distance for each in found.curve])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [each.quality for each in found.curve])
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [(found.distance, found.quality)])
    assert len(ax.texts) == len(found.curve)


def test_the_flow_has_a_band_for_every_flow_as_wide_as_its_mass(found):
    ax = drawn(lc.plot.flow(found))
    flows = np.argwhere(found.plan > 1e-12)
    assert len(ax.collections) == len(flows)
    widths = sorted(
        np.ptp(band.get_paths()[0].vertices[band.get_paths()[0].vertices[:, 0] == 0, 1])
        for band in ax.collections
    )
    np.testing.assert_allclose(widths, sorted(found.plan[found.plan > 1e-12]), atol=1e-9)
    assert len(ax.patches) == found.plan.shape[0] + found.plan.shape[1]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["k-means", "Ward"]


def test_bands_fill_their_clusters_side_by_side(found):
    ax = lc.plot.flow(found)
    k = found.plan.shape[0]
    for x, bars in ((0, ax.patches[:k]), (1, ax.patches[k:])):
        edges = []
        for band in ax.collections:
            vertices = band.get_paths()[0].vertices
            edges.append(vertices[vertices[:, 0] == x, 1])
        for bar in bars:
            low, high = bar.get_y(), bar.get_y() + bar.get_height()
            own = sorted((e.min(), e.max()) for e in edges if low - 1e-9 <= e.mean() <= high + 1e-9)
            np.testing.assert_allclose([own[0][0], own[-1][1]], [low, high], atol=1e-9)
            np.testing.assert_allclose([e[1] for e in own[:-1]], [e[0] for e in own[1:]], atol=1e-9)


def test_points_are_coloured_by_cluster_with_noise_in_grey():
    labels = np.where(np.arange(150) < 10, -1, PAIR[0])
    ax = drawn(lc.plot.points(X, labels, label="mine"))
    names = [t.get_text() for t in ax.get_legend().get_texts()]
    assert names == ["in no cluster", "0", "1", "2"]
    assert [len(c.get_offsets()) for c in ax.collections] == [10, *np.bincount(labels[10:])]
    assert ax.get_legend().get_title().get_text() == "mine"
    assert "of variance" in ax.get_xlabel()


def test_an_embedding_has_no_numbers_on_its_axes():
    rng = np.random.default_rng(0)
    for view, has_numbers in (("neighbours", False), ("pca", True), (X[:, :2], True)):
        ax = drawn(lc.plot.points(X + rng.normal(size=X.shape), PAIR[0], view=view))
        assert bool(len(ax.get_xticks())) == has_numbers
        assert (ax.get_xlabel() == "embedding 1") != has_numbers


def test_more_clusters_than_colours_get_other_markers():
    labels = np.arange(150) % 20
    ax = drawn(lc.plot.points(X, labels))
    styles = {
        (tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in ax.collections
    }
    assert len(styles) == 20
    assert "and 5 more" in ax.get_legend().get_title().get_text()


def test_points_in_no_cluster_of_one_clustering_are_grey():
    noisy = np.where(np.arange(len(X)) % 5 == 0, -1, np.arange(len(X)) % 3)
    found = lc.compare(noisy, np.arange(len(X)) % 2, X, measures="lift_emd")
    ax = drawn(lc.plot.points(X, found, view=X[:, :2]))
    grey, coloured = ax.collections
    np.testing.assert_array_equal(grey.get_offsets(), X[noisy < 0, :2])
    assert len(coloured.get_offsets()) == (noisy >= 0).sum()
    assert coloured.get_clim() == (0, np.nanmax(found.point_distances))


def test_points_are_coloured_by_consensus_confidence_and_differences(found, combined):
    ax = drawn(lc.plot.points(X, combined))
    assert len(ax.collections) == 3
    ax = drawn(lc.plot.points(X, combined.confidence, label="confidence"))
    np.testing.assert_allclose(ax.collections[0].get_array(), np.sort(combined.confidence))
    ax = drawn(lc.plot.points(X, found))
    np.testing.assert_allclose(ax.collections[0].get_array(), np.sort(found.point_distances))
    assert ax.figure.axes[1].get_ylabel() == "distance between a point's clusters"
    assert ax.get_title() == "k-means and Ward"


def test_composition_shares_sum_to_one(combined):
    ax = drawn(lc.plot.composition(combined))
    shares = ax.images[0].get_array()
    np.testing.assert_allclose(shares.sum(axis=1), 1)  # every input cluster is somewhere
    rows = [tuple(t.get_text().split(": ")) for t in ax.get_yticklabels()]
    for name, cluster, share in combined.composition[0]:
        assert shares[rows.index((name, str(cluster))), 0] == share


def test_the_tree_has_a_circle_for_every_cluster_and_a_line_for_every_larger_flow():
    labels = np.arange(150) // 50
    moved = np.where(np.arange(150) == 0, 1, labels)  # 2 % of two clusters
    tree = lc.resolution_tree(X, {"all": np.zeros(150), "a": labels, "b": moved}, rng=0)
    ax = drawn(lc.plot.resolution_tree(tree))
    *lines, nodes = ax.collections
    assert [len(each.get_paths()) for each in lines] == [3, 3]
    assert len(tree.edges) > 6
    stability = np.concatenate(tree.stabilities)
    np.testing.assert_allclose(np.ma.filled(nodes.get_array(), np.nan), stability)
    np.testing.assert_allclose(nodes.get_offsets()[:, 1], [0, 1, 1, 1, 2, 2, 2])
    areas = np.square(nodes.get_transforms()[:, 0, 0])
    np.testing.assert_allclose(areas / areas[0], [node.mass for node in tree.nodes])
    assert texts(ax) == ["0", "0", "1", "2", "0", "1", "2"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["all", "a", "b"]
    assert ax.yaxis_inverted()


@pytest.mark.parametrize("shape", [None, (6.4, 4.8)])
def test_a_tree_of_15_runs_of_30_clusters_is_readable(shape):
    rng = np.random.default_rng(0)
    Z = rng.random((600, 2))
    runs = {
        f"run {i}": ((Z - rng.random((2 + 2 * i, 1, 2))) ** 2).sum(axis=2).argmin(axis=0)
        for i in range(15)
    }
    tree = lc.resolution_tree(Z, runs, lift=lc.Fourier(64), rng=0)
    given = None if shape is None else plt.subplots(figsize=shape, layout="constrained")[1]
    ax = drawn(lc.plot.resolution_tree(tree, ax=given))
    nodes = ax.collections[-1]
    centres = ax.transData.transform(nodes.get_offsets())  # pixels
    radii = nodes.get_transforms()[:, 0, 0]
    apart = pdist(centres) - pdist(radii[:, None], lambda a, b: a[0] + b[0])
    assert apart.min() > 0
    assert radii.min() > 1
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert len(boxes) > 100 if shape is None else len(boxes) < 60


def test_markup_in_names_is_not_interpreted():
    labels = np.array(SPECIAL)[np.arange(150) % 4]
    drawn(lc.plot.points(X, labels, label=SPECIAL[0]))
    assert len(plt.gca().get_legend().get_texts()) == 4
    found = lc.compare(labels, np.roll(labels, 1), X, names=(SPECIAL[0], SPECIAL[3]))
    drawn(lc.plot.flow(found))
    drawn(lc.plot.plan(found))
    D = lc.distance_matrix(dict(zip(SPECIAL, [labels] * 4, strict=True)), X)
    drawn(lc.plot.distances(D, SPECIAL, measure="$"))
    drawn(lc.plot.clusterings_map(D, SPECIAL))
    drawn(lc.plot.diverse_subset(lc.diverse_subset(dict.fromkeys(SPECIAL, labels), 3, X)))
    drawn(lc.plot.resolution_tree(lc.resolution_tree(X, dict.fromkeys(SPECIAL, labels))))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: lc.plot.distances([[0, 1]]), "square matrix"),
        (
            lambda: lc.plot.distances([[0, 1], [1, 0]], ["a"]),
            "names must have 2 entries, one per clustering, got 1",
        ),
        (lambda: lc.plot.points(X, [0, 1]), "150 points, but by has 2 labels"),
        (lambda: lc.plot.points(X, [0.5, 1.5]), "must have 150 values"),
        (lambda: lc.plot.flow(lc.compare([0, 1], [0, 0])), "without points has no plan"),
    ],
)
def test_bad_input_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_html_representations_escape_names():
    labels = {
        name: np.array(HOSTILE)[np.arange(150) % 8 // (i + 1)] for i, name in enumerate(HOSTILE[:3])
    }
    a, b, _ = labels.values()
    results = {
        "comparison": lc.compare(a, b, X, names=tuple(HOSTILE[:2])),
        "consensus": lc.consensus(labels, 2, X, method="medoid", rng=0),
        "representation": lc.represent(X, labels),
    }
    for kind, result in results.items():
        shown = result._repr_html_()
        assert "<script" not in shown, kind
        assert "<img" not in shown, kind
        assert "&lt;script&gt;" in shown, kind
        assert "color" not in shown, kind  # the notebook's own theme is used


def test_html_representations_contain_the_numbers(found, combined):
    assert str(found["lift_emd"]) in found._repr_html_()
    assert found.summary()[0] in found._repr_html_()
    assert f"{combined.mean_distance:.4f}" in combined._repr_html_()
    assert combined._repr_html_().count("<tr>") == 4
    for i in range(3):
        confidence = combined.confidence[combined.labels == i].mean()
        assert f"{confidence:.2f}</bdi>" in combined._repr_html_()
    rep = lc.represent(X, CLUSTERINGS)
    assert rep._repr_html_().count("<tr>") == 5
    many = lc.represent(X, [PAIR[0]] * 40)
    assert "… and 10 more" in many._repr_html_()
