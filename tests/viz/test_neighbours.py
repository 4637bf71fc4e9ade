"""The neighbour embedding: forces by double sums, neighbours kept, degenerate points."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from liftcluster.viz import layout, neighbours
from liftcluster.viz.layout import project_points
from liftcluster.viz.neighbours import embed_neighbours


def forces_of(P, Z):
    """Attraction and repulsion by their definitions, all pairs of points."""
    differences = Z[:, None] - Z
    q = 1 / (1 + (differences**2).sum(axis=2))
    total = q.sum() - len(Z)
    attraction = ((P * q)[:, :, None] * differences).sum(axis=1)
    return attraction, (q[:, :, None] ** 2 * differences).sum(axis=1) / total


def own_share(Z, labels):
    """Share of the points that the five nearest in the plane put into their own group."""
    return KNeighborsClassifier(6).fit(Z, labels).score(Z, labels)


def random_graph(rng, n):
    return np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.1), 1)


@pytest.mark.parametrize("extent", [1e-3, 1.0, 10.0, 30.0])
def test_forces_equal_the_sums_over_all_pairs(extent):
    rng = np.random.default_rng(0)
    Z = (extent * rng.standard_normal((300, 2))).astype(np.float32)
    P = random_graph(rng, 300)
    P /= 2 * P.sum()
    graph = sp.csr_array(P.astype(np.float32))
    rows = np.repeat(np.arange(300), np.diff(graph.indptr))
    attraction, repulsion = forces_of(P + P.T, Z.astype(np.float64))
    found = neighbours._attraction(graph, rows, Z)
    # In single precision the sums of p q y cancel, each of which is at most max p q max y.
    rounding = 1.2e-7 * P.sum(axis=0).max() * np.abs(Z).max() * 20  # terms
    np.testing.assert_allclose(found, attraction, rtol=1e-5, atol=rounding)
    # Cubic interpolation of q² at both ends, with two nodes per unit: a few per cent.
    found = neighbours._repulsion(Z)
    assert np.linalg.norm(found - repulsion) < 0.1 * np.linalg.norm(repulsion)


def test_forces_are_the_gradient_of_the_objective():
    rng = np.random.default_rng(1)
    P = random_graph(rng, 12) + 0.01 * np.triu(np.ones((12, 12)), 1)
    P = (P + P.T) / (P + P.T).sum()
    Z = rng.standard_normal((12, 2))

    def objective(Z):
        q = 1 / (1 + ((Z[:, None] - Z) ** 2).sum(axis=2))
        return -1.5 * (P * np.log(q)).sum() + np.log(q.sum() - 12)

    attraction, repulsion = forces_of(P, Z)
    for i, axis in [(0, 0), (5, 1), (11, 0)]:
        step = np.zeros_like(Z)
        step[i, axis] = 1e-5
        slope = (objective(Z + step) - objective(Z - step)) / 2e-5
        assert 4 * (1.5 * attraction - repulsion)[i, axis] == pytest.approx(slope, rel=1e-5)


def test_neighbours_are_kept_as_well_as_by_t_sne_and_better_than_by_pca():
    X = load_digits().data[:300]
    Z = embed_neighbours(X)
    found = trustworthiness(X, Z)
    assert found > trustworthiness(X, PCA(2).fit_transform(X)) + 0.1
    assert found > trustworthiness(X, TSNE(max_iter=400, random_state=0).fit_transform(X)) - 0.01


def test_separated_groups_stay_separated_and_are_not_mixed_as_by_pca():
    X, labels = make_blobs(800, 20, centers=10, random_state=0)
    Z = embed_neighbours(X)
    assert own_share(Z, labels) == 1
    assert own_share(PCA(2).fit_transform(X), labels) < 0.99


def test_equal_points_are_in_one_place_and_the_answer_does_not_change():
    X, _ = make_blobs(60, 5, random_state=0)
    X = np.vstack([X, X[:20], np.repeat(X[:1], 100, axis=0)])
    Z = embed_neighbours(X)
    np.testing.assert_array_equal(Z[60:80], Z[:20])
    np.testing.assert_array_equal(Z[80:], Z[:1].repeat(100, axis=0))
    assert len(np.unique(Z, axis=0)) == 60
    np.testing.assert_array_equal(embed_neighbours(X), Z)


@pytest.mark.parametrize("case", ["line", "plane", "constants", "far", "huge", "tiny", "integers"])
def test_groups_are_found_in_degenerate_points(case):
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    base = 20.0 * labels[:, None] + rng.standard_normal((90, 3))
    X = {
        "line": base[:, :1],
        "plane": base[:, :2],
        "constants": np.hstack([base, np.ones((90, 60))]),
        "far": np.vstack([base[:-1] + 1e6, [[1e9, 0, 0]]]),  # and an outlier
        "huge": 1e305 * base,
        "tiny": 1e-300 * base,
        "integers": np.rint(base).astype(np.int32),
    }[case]
    Z = embed_neighbours(X)
    assert np.isfinite(Z).all()
    few = 0.98 if case == "far" else 1
    assert own_share(Z, labels) >= few


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 40])
def test_few_places_have_no_neighbourhoods(n):
    X = np.random.default_rng(0).random((n, 4))
    assert (embed_neighbours(X) is None) == (n < 10)
    found = project_points(np.vstack([X, X]), "neighbours")
    assert np.isfinite(found.coordinates).all()
    assert ("neighbour embedding" in found.description) == (n >= 10)


def test_of_many_points_a_sample_is_embedded(monkeypatch):
    monkeypatch.setattr(neighbours, "MAX_EMBEDDED", 150)
    monkeypatch.setattr(layout, "MAX_EMBEDDED", 150)
    X, labels = make_blobs(600, 60, centers=6, random_state=1)
    found = project_points(X, "neighbours")
    assert own_share(found.coordinates, labels) == 1
    assert "150 of 600 points embedded, the others placed among them" in found.description
    assert "150" not in project_points(X[:150], "neighbours").description
    rows = np.sort(np.random.default_rng(0).choice(600, 150, replace=False))
    embedded = embed_neighbours(X[rows])
    np.testing.assert_array_equal(found.coordinates[rows], embedded)
    others = np.delete(found.coordinates, rows, axis=0)  # means: within the hull of the others
    assert (others.min(axis=0) >= embedded.min(axis=0)).all()
    assert (others.max(axis=0) <= embedded.max(axis=0)).all()


def test_a_point_between_two_groups_is_placed_in_the_nearer_one():
    rng = np.random.default_rng(0)
    near = np.vstack([rng.random((8, 2)), rng.uniform((30, 0), (31, 1), (7, 2))])
    weights = np.linspace(1, 0.5, 15)
    found = neighbours._attracted(near[None], weights[None])[0]
    assert (found > 0).all()
    assert (found < [2, 1]).all()  # the mean is at 13
    pull = weights / (1 + ((near - found) ** 2).sum(axis=1))
    np.testing.assert_allclose(pull @ (near - found), 0, atol=1e-6)  # no force is left


def test_the_default_depends_on_the_variance_of_two_components_and_on_n():
    digits, iris = load_digits().data[:120], load_iris().data
    for X, is_embedded in [(digits, True), (digits[:90], False), (iris, False)]:
        default = project_points(X)
        word = "neighbours" if is_embedded else "pca"
        np.testing.assert_array_equal(default.coordinates, project_points(X, word).coordinates)
        assert (default.explained is None) == is_embedded
    assert "mean nothing" in project_points(digits).description
    assert "mean nothing" not in project_points(digits, "pca").description


def test_views_that_are_not_known_are_refused():
    with pytest.raises(ValueError, match="view must be one of pca, neighbours; got 'umap'"):
        project_points(np.ones((4, 3)), "umap")
    with pytest.raises(ValueError, match="did you mean 'neighbours'"):
        project_points(np.ones((4, 3)), "neighbors")
    with pytest.raises(ValueError, match="X must be finite"):
        project_points([[0.0, np.nan, 1.0]], "neighbours")
