"""Consensus by the graph of places: literal formulas, known shapes, landmarks and edge cases."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods.neighbours import PlaceGraph, _distinct_rows
from liftcluster.combination.methods.places import Places, cut_points, lift_places, lift_walk
from liftcluster.partitions.stack import Stack
from support import oracles_places as oracle
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs
from support.generators import soft_memberships

BOTH = ["lift_places", "lift_walk"]
CASES = ["plain", "weights", "missing", "soft", "duplicates", "everything"]


def small_case(kind, seed=0, n=36):
    """Points near three centres with partitions, and the dense memberships of these."""
    rng = np.random.default_rng(seed)
    X, truth = separated_blobs(rng, n, 2, k=3)
    X = X / 3
    labels = noisy_inputs(rng, truth, m=3, share=0.3)
    weights = np.ones(n)
    if kind in ("duplicates", "everything"):
        X[-6:] = X[:6]
        X[-9:-6] = X[6]
    if kind in ("weights", "everything"):
        weights = rng.uniform(0.3, 3, n)
        weights[4] = 0
    if kind in ("missing", "everything"):
        labels[0][::5] = -1
        labels[1][::4] = -1
        labels[2][::10] = -1  # with the first: points that two of three do not label
        for p in labels:
            p[7] = -1
    dense = [np.eye(3)[p] * (p >= 0)[:, None] for p in labels]
    if kind in ("soft", "everything"):
        dense[1] = soft_memberships(rng, n, 4)
    return X, [lc.Partition.from_memberships(R, weights) for R in dense], dense, weights


def places_of(X, partitions, k, *, seed=0, n_neighbours=10, **options):
    rng = np.random.default_rng(seed)
    stack = Stack(dict(enumerate(partitions)))
    graph = PlaceGraph.of(X, partitions[0].weights, rng, n_neighbours=n_neighbours, **options)
    return Places(graph, stack, k, rng)


def as_partitions(inputs, weights=None):
    return [lc.Partition.from_labels(p, weights) for p in inputs]


# formulas


@pytest.mark.parametrize("n_neighbours", [3, 10])
@pytest.mark.parametrize("kind", CASES)
def test_every_quantity_equals_its_formula(kind, n_neighbours):
    X, partitions, dense, weights = small_case(kind)
    places = places_of(X, partitions, 3, n_neighbours=n_neighbours)
    P = X[places.graph.rows]
    assert {tuple(x) for x in P} == {tuple(x) for x in X[weights > 0]}
    assert len({tuple(x) for x in P}) == len(P)
    K = oracle.kappa(P, n_neighbours)
    B, owner = oracle.weights_at(P, X, dense, weights)
    own = oracle.shares(B, owner)
    edges, A = oracle.weighted_graph(K, B, owner)
    np.testing.assert_allclose(places.graph.edges.toarray(), K, atol=1e-12)
    np.testing.assert_array_equal(places.stack.owner, owner)
    np.testing.assert_allclose(places.around, B, atol=1e-12)
    np.testing.assert_allclose(places.own.toarray(), own, atol=1e-12)
    np.testing.assert_allclose(places.walk_matrix.toarray(), oracle.with_loops(K), atol=1e-11)
    u = oracle.coherence(K, own)
    np.testing.assert_allclose(places.coherence, u, atol=1e-11)
    g = oracle.co_association(oracle.shares(oracle.with_loops(K) @ B, owner), u)
    np.testing.assert_allclose(places.profiles @ places.profiles.T, g, atol=1e-9)
    np.testing.assert_allclose(places.weighted_edges.toarray(), edges, atol=1e-10)
    factor = places.ties.toarray()
    np.testing.assert_allclose(edges + factor @ factor.T, A, atol=1e-10)


@pytest.mark.parametrize("kind", CASES)
def test_embedding_and_labels_equal_the_dense_cut(kind):
    X, partitions, dense, weights = small_case(kind)
    places = places_of(X, partitions, 3)
    P = X[places.graph.rows]
    B, owner = oracle.weights_at(P, X, dense, weights)
    Y = oracle.embedding(oracle.weighted_graph(oracle.kappa(P, 10), B, owner)[1], 3)
    codes, found = places.pieces
    np.testing.assert_allclose(found @ found.T, Y @ Y.T, atol=1e-8)  # whatever basis
    expected = KMeans(3, n_init=50, random_state=0).fit(Y).labels_
    assert adjusted_rand_score(codes, expected) == 1
    nearest = [np.linalg.norm(P - x, axis=1).argmin() for x in X]
    np.testing.assert_array_equal(lift_places(places), codes[nearest])


@pytest.mark.parametrize("kind", CASES)
def test_eigengaps_equal_their_formula(kind):
    X, partitions, dense, weights = small_case(kind)
    places = places_of(X, partitions, 3)
    P = X[places.graph.rows]
    K = oracle.kappa(P, 10)
    A = oracle.weighted_graph(K, *oracle.weights_at(P, X, dense, weights))[1]

    def rates(A):  # 1e-6, so that rounding is not a gap
        values = np.sort(np.linalg.eigvals(A / A.sum(axis=1, keepdims=True)).real)[::-1]
        return np.clip(1 - values, 0, 1) + 1e-6

    expected = 1 - rates(A)[:6] / rates(A)[1:7]
    np.testing.assert_allclose(places.eigengaps(6), expected, atol=1e-8)
    values = rates(K)
    is_apart = values[2] < 1.1e-6  # three pieces that no edge joins
    assert places.eigengap == pytest.approx(
        1.0 if is_apart else 1 - values[2] / values[3], abs=1e-8
    )


@pytest.mark.parametrize("kind", CASES)
def test_walk_is_the_best_grouping_by_its_kernel(kind):
    X, partitions, dense, weights = small_case(kind)
    places = places_of(X, partitions, 2)
    P = X[places.graph.rows]
    B, _ = oracle.weights_at(P, X, dense, weights)
    K = oracle.walk_kernel(oracle.kappa(P, 10))
    _, expected = oracle.best_scores(K, B, lc.represent(X, partitions).masses, 2)
    found = places.walk_scores
    order = [0, 1] if np.allclose(found, expected, rtol=1e-6) else [1, 0]
    np.testing.assert_allclose(found[:, order], expected, rtol=1e-7)
    nearest = [np.linalg.norm(P - x, axis=1).argmin() for x in X]
    np.testing.assert_array_equal(lift_walk(places), found.argmax(axis=1)[nearest])


@pytest.mark.parametrize("kind", CASES)
def test_smoothness_is_the_share_of_labels_that_neighbours_predict(kind):
    X, partitions, dense, weights = small_case(kind)
    places = places_of(X, partitions, 3)
    P = X[places.graph.rows]
    K, (B, owner) = oracle.kappa(P, 10), oracle.weights_at(P, X, dense, weights)
    own, shares = oracle.shares(B, owner), []
    for i in range(3):
        mine = own[:, owner == i]
        right = [mine[x].argmax() == (K[x] @ mine).argmax() for x in range(len(P)) if mine[x].any()]
        shares.append(np.mean(right))
    assert places.smoothness == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_smoothness_of_landmarks_does_not_count_their_own_labels(share):
    """Labels with independent errors: more neighbours predict better, up to the share of errors."""
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 1500, 2, k=3)
    labels = noisy_inputs(rng, truth, m=3, share=share)
    inputs = as_partitions(labels)
    whole = places_of(X, inputs, 3).smoothness
    few = places_of(X, inputs, 3, n_landmarks=500).smoothness
    right = np.mean([np.mean(p == truth) for p in labels])
    error = 3 * np.sqrt(0.25 / (3 * 500))  # of a share among 500 landmarks and three inputs
    assert whole - error < few < right + error


# laws


@pytest.mark.parametrize("kind", CASES)
def test_order_of_points_and_names_of_clusters_do_not_change_the_graph(kind):
    X, partitions, dense, weights = small_case(kind)
    order = np.random.default_rng(1).permutation(len(X))
    moved = [lc.Partition.from_memberships(R[order][:, ::-1], weights[order]) for R in dense[::-1]]
    one, two = places_of(X, partitions, 3), places_of(X[order], moved, 3)
    there = {tuple(x): i for i, x in enumerate(X[order][two.graph.rows])}
    same = [there[tuple(x)] for x in X[one.graph.rows]]
    for name in ("weighted_edges", "walk_matrix"):
        A, B = getattr(one, name).toarray(), getattr(two, name).toarray()
        np.testing.assert_allclose(B[np.ix_(same, same)], A, atol=1e-10)
    np.testing.assert_allclose(two.eigengaps(5), one.eigengaps(5), atol=1e-6)
    for method in (lift_places, lift_walk):
        assert adjusted_rand_score(method(two), method(one)[order]) == 1


@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_repeated_points_are_points_of_greater_weight(method):
    X, partitions, _, _ = small_case("missing")
    labels, times = [p.labels for p in partitions], np.arange(36) % 3 + 1
    options = {"method": method, "bandwidth": 1.0, "rng": 0}
    found = lc.consensus(labels, 3, X, weights=times, **options)
    copies = np.repeat(np.arange(36), times)
    again = lc.consensus([p[copies] for p in labels], 3, X[copies], **options)
    np.testing.assert_array_equal(again.labels, found.labels[copies])


@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_points_of_weight_zero_are_ignored_but_labelled(method):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 120, 2, k=3)
    inputs = noisy_inputs(rng, truth)
    ghosts = np.concatenate([X[:20] + 0.01, rng.normal(size=(30, 2)), [[1e6, 0]]])
    wrong = [np.append(p, rng.integers(3, size=len(ghosts))) for p in inputs]
    weights = np.append(np.ones(120), np.zeros(len(ghosts)))
    options = {"method": method, "bandwidth": 1.0, "rng": 0}
    found = lc.consensus(inputs, 3, X, **options)
    more = lc.consensus(wrong, 3, np.concatenate([X, ghosts]), weights=weights, **options)
    np.testing.assert_array_equal(more.labels[:120], found.labels)
    np.testing.assert_array_equal(more.labels[120:140], found.labels[:20])


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("change", ["moved", "scaled", "rotated"])
@WORSE
def test_similarities_of_the_plane_change_nothing(method, change):
    X, partitions, _, _ = small_case("missing")
    rotation = np.array([[0.6, -0.8], [0.8, 0.6]])
    Z = {"moved": X + 1e3, "scaled": 1e-3 * X, "rotated": X @ rotation}[change]
    one, two = (lc.consensus(partitions, 3, Y, method=method, rng=0) for Y in (X, Z))
    np.testing.assert_array_equal(one.labels, two.labels)


# known by construction


def two_rings(rng, n):
    angle, truth = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    radius = np.array([1.0, 4.0])[truth] + 0.1 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), truth


def moons(rng, n):
    X, truth = make_moons(n, noise=0.05, random_state=int(rng.integers(99)))
    return X, truth


def rows(rng, n):
    truth = np.arange(n) % 3
    return np.column_stack([rng.uniform(0, 12, n), 3 * truth + 0.2 * rng.standard_normal(n)]), truth


SHAPES = {"rings": two_rings, "moons": moons, "rows": rows}


def shape_case(shape, n, seed=0):
    """A shape, its pieces, and inputs by k-means, all of which cut across the pieces."""
    X, truth = SHAPES[shape](np.random.default_rng(seed), n)
    k = truth.max() + 1
    inputs = [KMeans(c, n_init=1, random_state=c).fit(X).labels_ for c in (k, k, k + 1, k + 3)]
    assert max(adjusted_rand_score(truth, p) for p in inputs) < 0.7
    return X, truth, as_partitions(inputs)


@pytest.mark.parametrize("shape", SHAPES)
@WORSE
def test_pieces_are_found_although_all_inputs_cut_across(shape):
    X, truth, inputs = shape_case(shape, 600)
    k = truth.max() + 1
    found = lc.consensus(inputs, k, X, method="lift_places", rng=0)
    assert adjusted_rand_score(truth, found.labels) == 1
    by_vectors = lc.consensus(inputs, k, X, method="lift_km", rng=0)
    assert adjusted_rand_score(truth, by_vectors.labels) < 0.7
    assert adjusted_rand_score(truth, cut_points(X, k, np.random.default_rng(0))) == 1


@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_random_errors_of_annotators_are_corrected(method):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 300, 2, k=4)
    wrong = [rng.random(300) < 0.3 for _ in range(3)]
    inputs = [np.where(w, rng.integers(4, size=300), truth) for w in wrong]
    assert max(adjusted_rand_score(truth, p) for p in inputs) < 0.7
    found = lc.consensus(inputs, 4, X, method=method, rng=0)
    assert adjusted_rand_score(truth, found.labels) == 1


@WORSE
def test_labels_divide_what_the_points_do_not():
    """One blob, in which all inputs agree on a border up to noise of a few points."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    truth = (X[:, 0] > 0.3).astype(int)
    inputs = noisy_inputs(rng, truth, share=0.05)
    found = lc.consensus(inputs, 2, X, method="lift_places", rng=0)
    assert adjusted_rand_score(truth, found.labels) > 0.85
    alone = cut_points(X, 2, np.random.default_rng(0))
    assert adjusted_rand_score(truth, alone) < 0.5


@WORSE
def test_labels_join_pieces_that_have_no_edges():
    """Four separate pieces, two clusters: the labels say which pieces belong together."""
    rng = np.random.default_rng(0)
    X, piece = separated_blobs(rng, 200, 2, k=4)
    for pairs in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]):
        truth = np.array(pairs)[piece]
        inputs = noisy_inputs(rng, truth, share=0.1)
        found = lc.consensus(inputs, 2, 10 * X, method="lift_places", rng=0)
        assert adjusted_rand_score(truth, found.labels) == 1


# landmarks


@pytest.mark.parametrize("shape", SHAPES)
def test_landmarks_find_the_pieces_of_the_whole_graph(shape):
    X, truth, inputs = shape_case(shape, 1500)
    k = truth.max() + 1
    few = places_of(X, inputs, k, n_landmarks=400)
    assert not few.graph.is_whole
    assert few.graph.p == 400
    assert few.graph.near.shape == few.graph.steps.shape == (1500, 10)
    whole = places_of(X, inputs, k)
    assert whole.graph.is_whole
    assert adjusted_rand_score(truth, lift_places(whole)) == 1
    assert adjusted_rand_score(truth, lift_places(few)) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 40])
def test_distinct_rows_are_those_of_numpy(d, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, d)).astype(dtype) * rng.choice([1e-40, 0.1, 1e30])
    X[rng.random(X.shape) < 0.1] = -0.0
    X[100:150] = X[:50]
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    found = _distinct_rows(X)
    np.testing.assert_array_equal(found[0], first)
    np.testing.assert_array_equal(found[1], place.ravel())


def test_walk_from_landmarks_corrects_errors_like_the_whole_graph():
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 1500, 2, k=4)
    inputs = as_partitions(noisy_inputs(rng, truth, m=4, share=0.4))
    for options in ({"n_landmarks": 300}, {}):
        found = lift_walk(places_of(X, inputs, 4, **options))
        assert adjusted_rand_score(truth, found) == 1


def test_steps_to_landmarks_equal_their_formula():
    """κ to the nearest landmarks, relative to the nearest one; rows sum to one."""
    X, partitions, dense, weights = small_case("weights", n=60)
    places = places_of(X, partitions, 3, n_landmarks=25)
    graph = places.graph
    P = X[graph.rows]
    assert len(P) == 25
    D = np.linalg.norm(X[:, None] - P, axis=2)
    within = np.sort(np.linalg.norm(P[:, None] - P, axis=2), axis=1)[:, 7]  # itself is first
    scales = within**0.8 * np.median(within) ** 0.2
    expected = np.zeros((60, 25))
    for x, near in enumerate(np.argsort(D, axis=1)[:, :10]):
        own = D[x, near[6]] ** 0.8 * np.median(scales) ** 0.2
        squares = D[x, near] ** 2 - D[x, near[0]] ** 2
        expected[x, near] = np.exp(-squares / (own * scales[near]))
    expected /= expected.sum(axis=1, keepdims=True)
    found = sp.vstack(list(graph.map_blocks(lambda _, steps: steps))).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)  # single precision
    around = found.T @ np.hstack([R * weights[:, None] for R in dense])
    np.testing.assert_allclose(places.around, around, atol=1e-10)
    assert adjusted_rand_score(lift_places(places), lift_places(places_of(X, partitions, 3))) > 0.8


def test_many_points_take_no_matrix_of_points_and_landmarks():
    n, p = 30_000, 1500
    X, truth, inputs = shape_case("rows", n)
    tracemalloc.start()
    places = places_of(X, inputs, 3, n_landmarks=p)
    labels = lift_places(places)
    lift_walk(places)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert adjusted_rand_score(truth, labels) > 0.999
    assert peak < 8 * n * p / 4  # and n × n is 20 times larger than n × p


# edge cases


@pytest.mark.parametrize("method", BOTH)
def test_points_in_one_place_are_one_cluster(method):
    inputs = [[0, 0, 1, 1], [0, 1, 1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = lc.consensus(inputs, 1, np.ones((4, 2)), method=method, bandwidth=1.0, rng=0)
    assert found.labels.tolist() == [0] * 4


def test_fewer_places_than_clusters_warn_and_are_the_clusters():
    X = np.array([[0.0], [0], [5], [5], [9]])
    inputs = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]]
    with pytest.warns(UserWarning, match="4 clusters were asked for, but the points are in 3 diff"):
        found = lc.consensus(inputs, 4, X, method="lift_places", bandwidth=1.0, rng=0)
    assert found.labels.tolist() == [0, 0, 1, 1, 2]
    found = lc.consensus(inputs, 3, X, method="lift_places", bandwidth=1.0, rng=0)
    assert found.labels.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("method", [*BOTH, "auto"])
@WORSE
def test_one_point_one_partition_and_one_cluster(method):
    assert lc.consensus([[0]], 1, [[3.0]], method=method, bandwidth=1.0).labels.tolist() == [0]
    X = np.array([[0.0], [1], [10], [11]])
    for inputs in ([[0, 0, 1, 1]], [[0, 1, 2, 3]], [[0, 0, 0, -1]]):
        for k in (1, 2):
            found = lc.consensus(inputs, k, X, method=method, rng=0)
            assert found.n_clusters <= k
            assert (found.labels >= 0).all()
    assert lc.consensus([[0, 1, 2, 3]] * 2, 2, X, method=method, rng=0).labels.tolist() == [0, 0, 1, 1]  # fmt: skip


@pytest.mark.parametrize("n_neighbours", [1, 2, 5, 6, 100])
@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_any_number_of_neighbours_is_accepted(method, n_neighbours):
    X = np.array([[0.0], [1], [2.1], [10], [11], [12.2]])
    inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0]]
    options = {"n_neighbours": n_neighbours}
    found = lc.consensus(inputs, 2, X, method=method, method_options=options, rng=0)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "n_neighbours must be at least 1"),
        (-3, ValueError, "n_neighbours must be at least 1"),
        (2.5, TypeError, "n_neighbours must be an integer"),
        ("few", TypeError, "n_neighbours must be an integer"),
    ],
)
@pytest.mark.parametrize("method", BOTH)
def test_bad_numbers_of_neighbours_are_refused(method, value, error, message):
    X, labels = separated_blobs(np.random.default_rng(0), 20, 2, k=2)
    options = {"n_neighbours": value}
    with pytest.raises(error, match=f"^{message}"):
        lc.consensus([labels, labels % 1], 2, X, method=method, method_options=options)


@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_kernels_of_objects_replace_coordinates(method):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 90, 2, k=3)
    inputs = noisy_inputs(rng, truth, share=0.3)
    K = lc.Gaussian(3.0)(X, X)
    options = {"method": method, "rng": 0}
    by_matrix = lc.consensus(inputs, 3, np.arange(90), kernel=lc.Precomputed(K), **options)
    objects = [tuple(x) for x in X]

    def similarity(U, V):
        return lc.Gaussian(3.0)(np.array(U), np.array(V))

    by_function = lc.consensus(inputs, 3, objects, kernel=similarity, **options)
    assert adjusted_rand_score(truth, by_matrix.labels) == 1
    np.testing.assert_array_equal(by_function.labels, by_matrix.labels)


def test_distances_of_a_kernel_are_those_of_its_feature_space():
    """A linear kernel has Euclidean distances, and so the same graph."""
    X, _, _, weights = small_case("plain")
    rng = np.random.default_rng(0)
    graph = PlaceGraph.of(X, weights, rng)
    kernel = lc.Precomputed(X @ X.T)
    found = PlaceGraph.of(np.arange(len(X)), weights, rng, kernel=kernel)
    expected = np.zeros((len(X), len(X)))
    expected[np.ix_(graph.rows, graph.rows)] = graph.edges.toarray()
    np.testing.assert_allclose(found.edges.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("method", BOTH)
def test_discrete_kernels_are_refused(method):
    with pytest.raises(ValueError, match="a discrete kernel knows only equal and different points"):
        lc.consensus([[0, 0, 1], [0, 1, 1]], 2, [[0], [1], [2]], method=method, kernel="discrete")


@pytest.mark.parametrize("method", [*BOTH, "auto"])
@pytest.mark.parametrize(
    ("scale", "dtype"),
    [
        *[(scale, np.float64) for scale in (1e-200, 1e-30, 1e30, 1e200)],
        *[(scale, np.float32) for scale in (1e-30, 1e-10, 1.0, 1e10, 1e25)],
    ],
)
@pytest.mark.parametrize("shift", [0.0, 1e4])
@WORSE
def test_unit_of_length_does_not_matter(method, scale, dtype, shift):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 60, 2, k=3)
    inputs = noisy_inputs(rng, truth, share=0.3)
    Z = (scale * (X + shift)).astype(dtype)
    found = lc.consensus(inputs, 3, Z, method=method, rng=0)
    assert adjusted_rand_score(truth, found.labels) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1.0, 1e-20])
@pytest.mark.parametrize("place", [1e30, -1e38])
def test_a_constant_column_far_away_does_not_matter(place, length, dtype):
    """Squares of such a column overflow, and its size says nothing of that of the others."""
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 60, 2, k=3)
    constant = np.full(len(X), place if dtype == np.float32 else place**8)
    Z = np.column_stack([length * X, constant]).astype(dtype)
    found = lc.NeighbourCut(3, random_state=0).fit_predict(Z)
    assert adjusted_rand_score(truth, found) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8, np.longdouble])
@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_types_of_numbers_do_not_matter(method, dtype):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 60, 2, k=3)
    X = np.round(10 * X) + 120  # exact in all types
    inputs = noisy_inputs(rng, truth, share=0.3)
    one, two = (lc.consensus(inputs, 3, Y, method=method, rng=0) for Y in (X, X.astype(dtype)))
    np.testing.assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize("method", BOTH)
@WORSE
def test_the_same_seed_gives_the_same_labels_with_landmarks(method):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 2500, 2, k=3)
    inputs = noisy_inputs(rng, truth, share=0.5)
    one, two = (lc.consensus(inputs, 3, X, method=method, rng=7).labels for _ in range(2))
    assert one.tobytes() == two.tobytes()
    assert adjusted_rand_score(truth, one) > 0.99
