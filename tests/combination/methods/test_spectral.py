"""Eigenvalues of graphs against dense matrices, and their relative gaps."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from liftcluster.combination.methods import spectral
from liftcluster.combination.methods.spectral import (
    relative_eigengaps,
    spectrum_of_graph,
    unit_kmeans,
    unit_rows,
)

SMALL, LARGE = 120, 420  # below and above the size from which iterations replace a dense matrix


@pytest.fixture
def seen(monkeypatch):
    """Sizes of the graphs that were made dense."""
    sizes, dense = [], spectral._dense_spectrum
    monkeypatch.setattr(
        spectral, "_dense_spectrum", lambda E, F, k: (sizes.append(E.shape[0]), dense(E, F, k))[1]
    )
    return sizes


def graph_of_pieces(rng, p, pieces):
    """(p, p) sparse symmetric edges of points on a line within each piece, none between pieces."""
    piece = np.sort(np.arange(p) % pieces)
    places = 100.0 * piece + np.arange(p) * 3 * pieces / p + rng.uniform(0, 0.05, p)
    D = np.abs(places[:, None] - places)
    return sp.csr_array(np.where(D < 0.4, np.exp(-((D / 0.2) ** 2)), 0)), piece


def normalised(edges, factor=None):
    A = edges.toarray() + (0 if factor is None else (factor @ factor.T).toarray())
    degrees = A.sum(axis=1)
    root = np.divide(1, np.sqrt(degrees), out=np.zeros(len(A)), where=degrees > 0)
    return root[:, None] * A * root


@pytest.mark.parametrize("with_factor", [False, True])
@pytest.mark.parametrize("pieces", [1, 3, 5])
@pytest.mark.parametrize("p", [SMALL, LARGE])
def test_spectrum_equals_that_of_the_dense_matrix(p, pieces, with_factor, seen):
    rng = np.random.default_rng(pieces)
    edges, _ = graph_of_pieces(rng, p, pieces)
    factor = sp.csr_array(np.eye(4)[rng.integers(4, size=p)] * 0.1) if with_factor else None
    found = spectrum_of_graph(edges, 5, np.random.default_rng(0), factor)
    assert seen == ([p] if p == SMALL else [])
    A = normalised(edges, factor)
    expected, U = np.linalg.eigh(A)
    assert found.values.shape == (5,)
    assert (np.diff(found.values) <= 1e-12).all()
    # Iterations stop at residuals of at most 1e-6; eigenvalues are then exact to the square of that.
    np.testing.assert_allclose(found.values, expected[::-1][:5], atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-5)
    if not with_factor:  # an eigenvalue of one for each piece
        np.testing.assert_allclose(found.values[:pieces], 1, atol=1e-9)
        mine, theirs = found.vectors[:, :pieces], U[:, ::-1][:, :pieces]
        np.testing.assert_allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-5)


@pytest.mark.parametrize("p", [SMALL, LARGE])
def test_k_means_of_eigenvectors_finds_separate_pieces(p):
    edges, piece = graph_of_pieces(np.random.default_rng(0), p, 4)
    rng = np.random.default_rng(1)
    found = unit_kmeans(spectrum_of_graph(edges, 4, rng).vectors, np.ones(p), 4, rng)
    assert adjusted_rand_score(piece, found) == 1


@pytest.mark.parametrize("p", [SMALL, LARGE])
def test_spectrum_of_a_graph_with_isolated_vertices_is_finite(p):
    edges, _ = graph_of_pieces(np.random.default_rng(0), p, 2)
    edges = sp.csr_array(sp.block_diag([edges, sp.csr_array((3, 3))]))
    found = spectrum_of_graph(edges, 3, np.random.default_rng(0))
    expected = np.linalg.eigvalsh(normalised(edges))[::-1][:3]
    np.testing.assert_allclose(found.values, expected, atol=1e-8)
    assert np.isfinite(found.vectors).all()


def test_more_eigenvalues_than_vertices_are_all_of_them():
    edges = sp.csr_array(np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]]))
    found = spectrum_of_graph(edges, 7, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, [1, 0, -1], atol=1e-12)
    assert found.vectors.shape == (3, 3)
    single = spectrum_of_graph(sp.csr_array((1, 1)), 2, np.random.default_rng(0))
    assert single.values.tolist() == [0]


@pytest.mark.parametrize("with_factor", [False, True])
def test_more_pieces_than_vectors_of_the_iteration_give_eigenvectors(with_factor, seen):
    """Polynomials cannot tell the wanted eigenvectors from others of nearly the same eigenvalue."""
    edges, _ = graph_of_pieces(np.random.default_rng(0), LARGE, 20)
    factor = sp.csr_array(np.full((LARGE, 1), 1e-3)) if with_factor else None
    found = spectrum_of_graph(edges, 3, np.random.default_rng(0), factor)
    assert seen == []
    A = normalised(edges, factor)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(A)[::-1][:3], atol=1e-6)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-5)


def test_many_eigenvalues_are_computed_from_a_dense_matrix(seen):
    edges, _ = graph_of_pieces(np.random.default_rng(0), LARGE, 3)
    found = spectrum_of_graph(edges, 100, np.random.default_rng(0))
    assert seen == [LARGE]
    expected = np.linalg.eigvalsh(normalised(edges))[::-1][:100]
    np.testing.assert_allclose(found.values, expected, atol=1e-10)


def test_iterations_that_fail_are_replaced_by_a_dense_matrix(seen, monkeypatch):
    import scipy.sparse.linalg

    def fails(A, X, **options):
        return np.full(X.shape[1], np.nan), X

    monkeypatch.setattr(scipy.sparse.linalg, "lobpcg", fails)
    edges, _ = graph_of_pieces(np.random.default_rng(0), LARGE, 20)  # no gap after 3 + 8 of them
    found = spectrum_of_graph(edges, 3, np.random.default_rng(0))
    assert seen == [LARGE]
    np.testing.assert_allclose(found.values, 1, atol=1e-10)


def test_the_same_seed_gives_the_same_eigenvectors():
    edges, _ = graph_of_pieces(np.random.default_rng(0), LARGE, 3)
    one, two = (spectrum_of_graph(edges, 3, np.random.default_rng(5)) for _ in range(2))
    assert one.vectors.tobytes() == two.vectors.tobytes()


def test_relative_eigengaps_equal_their_formula():
    rng = np.random.default_rng(0)
    A = rng.random((8, 8))
    A = A + A.T
    values = np.sort(np.linalg.eigvals(A / A.sum(axis=1, keepdims=True)).real)[::-1]
    rates = [1 - min(max(v, 0), 1) + 1e-6 for v in values]  # so that rounding is not a gap
    expected = [1 - rates[k - 1] / rates[k] for k in range(1, 8)]
    np.testing.assert_allclose(relative_eigengaps(values), expected, atol=1e-12)
    assert relative_eigengaps(values)[0] > 1 - 1e-5  # a graph is one piece


def test_eigengap_is_one_after_as_many_eigenvalues_as_pieces():
    gaps = relative_eigengaps(np.array([1 + 1e-15, 1.0, 1 - 1e-15, 0.6, 0.6, -0.2]))
    np.testing.assert_allclose(gaps, [0, 0, 1, 0, 0.6], atol=1e-5)


def test_rows_of_zeros_stay_when_rows_are_scaled_to_unit_length():
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-100, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [1, 0]])
