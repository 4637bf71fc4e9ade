"""Plots of 3, 30 and 100 clusterings: ordered, named, and without texts that overlap."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import liftcluster as lc
from liftcluster.viz.layout import order_by_similarity
from support.amount import also

CASES = [
    (3, None),
    (30, None),
    (30, (4, 3.2)),
    also(100, None),
    also(100, (4, 3.2)),
]

pytestmark = pytest.mark.filterwarnings("ignore:the consensus is farther")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def distances_of(m):
    """Distances between m clusterings with names, of which half are alike."""
    Z = np.random.default_rng(m).normal(size=(m, 3))
    Z[::2] *= 0.05
    names = [f"clustering {i} with k={i % 12}" for i in range(m)]
    return pd.DataFrame(squareform(pdist(Z)), names, names)


def axes_of(shape):
    return None if shape is None else plt.subplots(figsize=shape, layout="constrained")[1]


def labels_of(axis):
    return [label for label in axis.get_ticklabels() if label.get_text()]


def check_apart(texts):
    """No two texts overlap when they are drawn; slanted ones are compared along their normal."""
    if texts and texts[0].get_rotation() == 45:
        places = [text.get_transform().transform(text.get_position())[0] for text in texts]
        height = texts[0].get_fontsize() * texts[0].figure.dpi / 72
        assert np.diff(places).min() * np.sqrt(0.5) > height
        return
    boxes = [text.get_window_extent() for text in texts]
    for (a, first), (b, second) in combinations(zip(boxes, texts, strict=True), 2):
        assert not a.overlaps(b), (first.get_text(), second.get_text())


@pytest.mark.parametrize(("m", "shape"), CASES)
def test_a_heat_map_of_distances_is_ordered_and_readable(m, shape):
    D = distances_of(m)
    ax = lc.plot.distances(D, ax=axes_of(shape))
    ax.figure.canvas.draw()
    order = order_by_similarity(D.to_numpy())
    np.testing.assert_array_equal(ax.images[0].get_array(), D.to_numpy()[np.ix_(order, order)])
    rows, columns = labels_of(ax.yaxis), labels_of(ax.xaxis)
    assert len(rows) > 2
    check_apart(rows)
    check_apart(columns)
    for label, y in zip(rows, ax.get_yticks(), strict=True):  # short, but the right ones
        assert D.index[order[int(y)]].startswith(label.get_text()[:12])
    assert min(label.get_fontsize() for label in rows + columns) >= 5
    check_apart(ax.texts)
    assert len(ax.texts) == (9 if m == 3 else 0)
    assert ax.get_title() == f"distances between {m} clusterings,\nsimilar ones side by side"


def test_similar_clusterings_are_neighbours_in_the_heat_map():
    D = distances_of(30).to_numpy()
    shown, given = (np.asarray(lc.plot.distances(D, order=order).images[0].get_array())
                    for order in ("similarity", "given"))  # fmt: skip
    np.testing.assert_array_equal(given, D)
    assert np.diag(shown, 1).sum() < 0.5 * np.diag(given, 1).sum()
    with pytest.raises(ValueError, match="order must be one of similarity, given"):
        lc.plot.distances(D, order="alphabet")


def test_names_are_those_of_the_data_frame_unless_given():
    frame = pd.DataFrame([[0.0, 0.4], [0.4, 0.0]], ["mine", "yours"], ["mine", "yours"])
    for names, expected in ((None, ["mine", "yours"]), (["a", "b"], ["a", "b"])):
        ax = lc.plot.distances(frame, names)
        assert [label.get_text() for label in labels_of(ax.yaxis)] == expected
        assert [text.get_text() for text in lc.plot.clusterings_map(frame, names).texts] == expected
    ax = lc.plot.distances(frame.to_numpy())
    assert [label.get_text() for label in labels_of(ax.yaxis)] == ["0", "1"]


@pytest.mark.parametrize(("m", "shape"), CASES)
def test_names_on_the_map_overlap_neither_each_other_nor_points(m, shape):
    D = distances_of(m)
    ax = lc.plot.clusterings_map(D, ax=axes_of(shape))
    ax.figure.canvas.draw()
    check_apart(ax.texts)
    points = ax.transData.transform(ax.collections[0].get_offsets())
    frame = ax.get_window_extent()
    for text in ax.texts:
        box = text.get_window_extent()
        assert not any(box.contains(*point) for point in points)
        assert frame.x0 <= box.x0 + 1 and box.x1 <= frame.x1 + 1  # noqa: PT018
    hidden = m - len(ax.texts)
    assert (f"{hidden} names without room" in ax.get_title()) == (hidden > 0)
    assert m != 3 or hidden == 0 or shape is not None
    assert len(ax.texts) >= min(m, 3) - (shape is not None)


def test_distances_have_the_same_colours_in_all_pictures():
    rng = np.random.default_rng(0)
    X, a, b = rng.normal(size=(60, 2)), np.arange(60) % 4, np.arange(60) // 12
    found = lc.compare(a, b, X, measures="lift_emd")
    D = lc.distance_matrix([a, b, a // 2], X)
    for image, values in (
        (lc.plot.distances(D).images[0], D),
        (lc.plot.plan(found).images[0], found.cluster_distances[found.plan > 0.0005]),
    ):
        assert image.get_cmap().name == "cividis"
        assert image.get_clim() == (0, pytest.approx(np.max(values)))


@pytest.mark.parametrize(("k", "shape"), CASES)
def test_names_of_many_clusters_do_not_overlap_in_the_flow_and_the_plan(k, shape):
    rng = np.random.default_rng(0)
    X, a, b = rng.normal(size=(400, 2)), np.arange(400) % k, rng.integers(k, size=400)
    b = np.where(rng.random(400) < 0.7, a, b)
    found = lc.compare(a, b, X, measures="lift_emd", names=("mine", "yours"))
    ax = lc.plot.flow(found, ax=axes_of(shape))
    ax.figure.canvas.draw()
    check_apart(ax.texts)
    assert len(ax.texts) >= min(2 * k, 6)
    assert "clusters of mine in yours" in ax.get_title()
    ax = lc.plot.plan(found, ax=axes_of(shape))
    ax.figure.canvas.draw()
    check_apart(labels_of(ax.yaxis))
    check_apart(labels_of(ax.xaxis))
    check_apart(ax.texts)


@pytest.mark.parametrize(("m", "shape"), CASES)
def test_a_composition_names_clusters_or_inputs(m, shape):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 2)), np.arange(60) % 4
    runs = {f"a rather long name {i}": (labels + i) % 4 for i in range(m)}
    found = lc.consensus(runs, 4, X, method="majority", rng=0)
    ax = lc.plot.composition(found, ax=axes_of(shape))
    ax.figure.canvas.draw()
    rows = labels_of(ax.yaxis)
    check_apart(rows)
    check_apart(labels_of(ax.xaxis))
    shares = np.asarray(ax.images[0].get_array())
    assert shares.shape == (4 * m, 4)
    for each in shares.reshape(m, 4, 4):  # in the order of the clusters of the consensus
        assert (np.diff(each.argmax(axis=1)) >= 0).all()
    if m > 10:
        assert ax.get_ylabel() == "inputs"
        assert ax.get_yticks()[0] == 1.5  # the middle of four clusters
        return
    for label, y in zip(rows, ax.get_yticks(), strict=True):
        name, cluster = list(runs)[int(y) // 4], int(label.get_text().split(": ")[1])
        own = found.inputs[name].labels == cluster
        share = np.bincount(found.labels[own], minlength=4) / own.sum()
        np.testing.assert_allclose(shares[int(y)], share, atol=1e-9)


@pytest.mark.long
def test_a_tree_of_100_runs_has_names_that_do_not_overlap():
    X = np.arange(24.0)[:, None]
    runs = {f"run {i}": np.arange(24) // (12 - i % 6) for i in range(100)}
    ax = lc.plot.resolution_tree(lc.resolution_tree(X, runs, rng=0))
    ax.figure.canvas.draw()
    check_apart(labels_of(ax.yaxis))
    assert "100 runs" in ax.get_title()


def test_names_of_a_hundred_clusters_do_not_overlap_in_the_plot_of_stability():
    labels = np.arange(200) // 2
    found = lc.stability(np.arange(200.0)[:, None], [labels, labels, labels], rng=0)
    for shape in (None, (4, 3.2)):
        ax = lc.plot.stability(found, ax=axes_of(shape))
        ax.figure.canvas.draw()
        check_apart(labels_of(ax.xaxis))
        assert len(labels_of(ax.xaxis)) > 10
