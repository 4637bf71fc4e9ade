"""Layout in the plane: embedded distances, projected points and colours."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from liftcluster.viz.drawing import COLOURS, match_colours
from liftcluster.viz.layout import embed_distances, order_by_similarity, project_points


def stress_of(Z, D):
    """Stress by its definition, pair by pair."""
    misses = total = 0.0
    for i in range(len(D)):
        for j in range(i):
            misses += (np.linalg.norm(Z[i] - Z[j]) - D[i, j]) ** 2
            total += D[i, j] ** 2
    return np.sqrt(misses / total)


def test_planar_points_are_recovered_from_their_distances():
    truth = np.random.default_rng(0).standard_normal((8, 2))
    D = squareform(pdist(truth))
    Z, stress = embed_distances(D)
    np.testing.assert_allclose(squareform(pdist(Z)), D, atol=1e-6)
    assert stress < 1e-6


def test_stress_equals_its_definition_and_is_below_classical_scaling():
    D = squareform(pdist(np.random.default_rng(1).standard_normal((9, 6))))
    Z, stress = embed_distances(D)
    assert stress == pytest.approx(stress_of(Z, D))
    values, vectors = np.linalg.eigh(-0.5 * (np.eye(9) - 1 / 9) @ D**2 @ (np.eye(9) - 1 / 9))
    classical = vectors[:, -2:] * np.sqrt(values[-2:])
    assert stress < stress_of(classical, D)


@pytest.mark.parametrize("m", [2, 3, 7])
def test_equal_clusterings_are_embedded_at_one_point(m):
    Z, stress = embed_distances(np.zeros((m, m)))
    np.testing.assert_array_equal(Z, np.zeros((m, 2)))
    assert stress == 0


def test_two_clusterings_are_embedded_at_their_distance():
    Z, stress = embed_distances(np.array([[0.0, 0.7], [0.7, 0.0]]))
    assert np.linalg.norm(Z[0] - Z[1]) == pytest.approx(0.7)
    assert stress == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("m", [3, 7, 30, 100])
def test_clusterings_on_a_line_are_ordered_along_it(m):
    places = np.random.default_rng(m).permutation(m) ** 1.2  # ties and gaps of any size
    D = np.abs(places[:, None] - places)
    order = order_by_similarity(D)
    along = np.diff(places[order])
    assert (along > 0).all() or (along < 0).all()
    assert np.argmin(order) <= (m - 1) / 2  # the first clustering is in the first half


@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_the_best_that_the_tree_allows(seed):
    """Of all 2^(m-1) orders, in which the two sides of every merge are exchanged or not."""
    D = squareform(pdist(np.random.default_rng(seed).random((8, 3))))
    orders = [[[i]] for i in range(8)]
    for a, b in linkage(squareform(D), "average")[:, :2].astype(int):
        both = [(u, v) for u in orders[a] for v in orders[b]]
        orders.append([u + v for u, v in both] + [v + u for u, v in both])
    lengths = [D[order[:-1], order[1:]].sum() for order in orders[-1]]
    found = order_by_similarity(D)
    assert len(lengths) == 2**7
    assert D[found[:-1], found[1:]].sum() == pytest.approx(min(lengths))


@pytest.mark.parametrize(
    "D", [np.zeros((5, 5)), np.full((4, 4), np.nan), np.zeros((1, 1)), np.zeros((0, 0))]
)
def test_every_clustering_is_in_the_order_once(D):
    np.testing.assert_array_equal(np.sort(order_by_similarity(D)), np.arange(len(D)))


def test_many_features_are_projected_by_pca():
    X = np.random.default_rng(2).standard_normal((50, 5)) * [5, 3, 1, 1, 1]
    found = project_points(X)
    expected = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(expected.transform(X)), atol=1e-8)
    assert found.explained == pytest.approx(tuple(expected.explained_variance_ratio_))
    assert f"{sum(found.explained):.0%}" in found.description


def test_two_dimensional_points_and_given_views_are_not_projected():
    X = np.random.default_rng(3).standard_normal((10, 2))
    np.testing.assert_array_equal(project_points(X).coordinates, X)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    assert project_points(frame).axes == ("height", "weight")
    np.testing.assert_array_equal(project_points(np.zeros((10, 7)), frame).coordinates, X)
    assert project_points(np.zeros((10, 7)), frame).axes == ("height", "weight")


@pytest.mark.parametrize(
    "X",
    [np.ones((4, 5)), np.ones((1, 3)), [[1.0], [2.0]], np.full((3, 3), 1e300) * [[1], [2], [-1]]],
)
def test_degenerate_points_have_finite_coordinates(X):
    assert np.isfinite(project_points(X).coordinates).all()


def test_a_view_of_three_columns_is_refused():
    with pytest.raises(ValueError, match="view must have two columns"):
        project_points(np.zeros((4, 3)), np.zeros((4, 3)))


def test_colours_follow_the_largest_flows_and_never_repeat_within_a_partition():
    plan = np.array([[0.0, 0.3], [0.4, 0.1], [0.0, 0.2]])
    assert match_colours([2, 3], [None, plan]) == [[0, 1], [1, 0, 2]]
    rng = np.random.default_rng(0)
    for numbers in match_colours([4, 9, 4], [None, rng.random((9, 4)), rng.random((4, 4))]):
        assert len(set(numbers)) == len(numbers)


def test_colours_contrast_with_light_and_dark_backgrounds():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colour in COLOURS:
        assert 1.05 / (luminance(colour) + 0.05) > 2.2, colour
        assert (luminance(colour) + 0.05) / (luminance("#191e28") + 0.05) > 2.2, colour
