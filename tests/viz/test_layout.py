"""Things laid out in the plane: distances kept as well as two dimensions allow, points as seen."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from liftcluster.viz.colours import COLOURS, match_colours
from liftcluster.viz.layout import lay_out, look_at


def stress_of(Z, D):
    """The definition, pair by pair."""
    misses = total = 0.0
    for i in range(len(D)):
        for j in range(i):
            misses += (np.linalg.norm(Z[i] - Z[j]) - D[i, j]) ** 2
            total += D[i, j] ** 2
    return np.sqrt(misses / total)


def test_points_of_the_plane_are_found_again():
    truth = np.random.default_rng(0).standard_normal((8, 2))
    D = squareform(pdist(truth))
    Z, stress = lay_out(D)
    np.testing.assert_allclose(squareform(pdist(Z)), D, atol=1e-6)
    assert stress < 1e-6


def test_stress_is_what_it_says_and_no_worse_than_classical_scaling():
    D = squareform(pdist(np.random.default_rng(1).standard_normal((9, 6))))
    Z, stress = lay_out(D)
    assert stress == pytest.approx(stress_of(Z, D))
    values, vectors = np.linalg.eigh(-0.5 * (np.eye(9) - 1 / 9) @ D**2 @ (np.eye(9) - 1 / 9))
    classical = vectors[:, -2:] * np.sqrt(values[-2:])
    assert stress < stress_of(classical, D)


@pytest.mark.parametrize("m", [2, 3, 7])
def test_equal_clusterings_lie_in_one_place(m):
    Z, stress = lay_out(np.zeros((m, m)))
    np.testing.assert_array_equal(Z, np.zeros((m, 2)))
    assert stress == 0


def test_two_clusterings_are_as_far_apart_as_they_are():
    Z, stress = lay_out(np.array([[0.0, 0.7], [0.7, 0.0]]))
    assert np.linalg.norm(Z[0] - Z[1]) == pytest.approx(0.7)
    assert stress == pytest.approx(0, abs=1e-9)


def test_many_features_are_seen_by_principal_components():
    X = np.random.default_rng(2).standard_normal((50, 5)) * [5, 3, 1, 1, 1]
    found = look_at(X)
    expected = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(expected.transform(X)), atol=1e-8)
    assert found.explained == pytest.approx(tuple(expected.explained_variance_ratio_))
    assert f"{sum(found.explained):.0%}" in found.description


def test_flat_points_and_given_views_are_left_as_they_are():
    X = np.random.default_rng(3).standard_normal((10, 2))
    np.testing.assert_array_equal(look_at(X).coordinates, X)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    assert look_at(frame).axes == ("height", "weight")
    np.testing.assert_array_equal(look_at(np.zeros((10, 7)), frame).coordinates, X)
    assert look_at(np.zeros((10, 7)), frame).axes == ("height", "weight")


@pytest.mark.parametrize(
    "X",
    [np.ones((4, 5)), np.ones((1, 3)), [[1.0], [2.0]], np.full((3, 3), 1e300) * [[1], [2], [-1]]],
)
def test_degenerate_points_are_still_seen(X):
    assert np.isfinite(look_at(X).coordinates).all()


def test_a_view_of_three_columns_is_refused():
    with pytest.raises(ValueError, match="view must have two columns"):
        look_at(np.zeros((4, 3)), np.zeros((4, 3)))


def test_colours_follow_the_largest_flows_and_never_repeat_within_a_partition():
    plan = np.array([[0.0, 0.3], [0.4, 0.1], [0.0, 0.2]])
    assert match_colours([2, 3], [None, plan]) == [[0, 1], [1, 0, 2]]
    rng = np.random.default_rng(0)
    for numbers in match_colours([4, 9, 4], [None, rng.random((9, 4)), rng.random((4, 4))]):
        assert len(set(numbers)) == len(numbers)


def test_colours_stand_out_from_white_and_from_the_dark_page():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colour in COLOURS:
        assert 1.05 / (luminance(colour) + 0.05) > 2.2, colour
        assert (luminance(colour) + 0.05) / (luminance("#191e28") + 0.05) > 2.2, colour
