"""lift_graph: the graph of clusters and its cut against dense formulas on points."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods import lifted
from liftcluster.combination.methods.lifted import (
    lift_graph,
)
from liftcluster.combination.methods.tuples import LabelTuples
from support import oracles_consensus as oracle
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs
from support.generators import blobs


def literal_cluster_graph(labels, w, X, h, *, strength, power, theta):
    """Edges between all clusters, reliable memberships of the points, and their similarities."""
    m = labels.shape[1]
    clusters = [(i, c) for i in range(m) for c in range(labels[:, i].max() + 1)]
    u = np.concatenate(oracle.reliability(labels, theta, w))
    H = np.column_stack([labels[:, i] == c for i, c in clusters])
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * h * h))
    S = K @ (w[:, None] * H)  # ⟨φ(x), Φ(C)⟩
    norms = np.sqrt(np.diag(H.T * w @ S))
    G = (H.T * w @ S) / np.outer(norms, norms)
    B = H * u
    walk = B / np.where(H.any(axis=1), B.sum(axis=1), 1)[:, None]
    sizes = np.sqrt(w @ H)
    A = (B.T * w) @ walk + strength * G**power * np.outer(sizes, sizes) / m
    return A, walk, S / norms


def literal_lift_graph(labels, w, X, k, h, *, placement, **graph):
    """The formula of lift_graph on points, with dense matrices."""
    A, walk, similar = literal_cluster_graph(labels, w, X, h, **graph)
    d = A.sum(axis=1)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(d, d)))
    U = vectors[:, np.argsort(values)[::-1][:k]] / np.sqrt(d)[:, None]
    P = similar ** graph["power"]
    P /= P.sum(axis=1, keepdims=True)
    m = labels.shape[1]
    owner = np.repeat(np.arange(m), labels.max(axis=0) + 1)
    hits = labelled = 0.0
    for x, i in itertools.product(range(len(X)), range(m)):
        if labels[x, i] >= 0:
            hits += w[x] * (labels[x, i] == P[x, owner == i].argmax())
            labelled += w[x]
    chance = m / len(owner)
    placement = placement * max((hits / labelled - chance) / (1 - chance), 0) ** 8
    return ((1 - placement) * walk + placement * P) @ U


@pytest.fixture
def kmeans_inputs(monkeypatch):
    """Vectors and weights that lift_graph passes to unit_kmeans."""
    seen = []
    kmeans = lifted.unit_kmeans
    monkeypatch.setattr(
        lifted, "unit_kmeans", lambda Y, *rest: (seen.append((Y, rest[0])), kmeans(Y, *rest))[1]
    )
    return seen


def noisy_problem(rng):
    """Points of three overlapping clusters, and four noisy inputs."""
    X, labels = separated_blobs(rng, 90, 2, k=3)
    inputs = noisy_inputs(rng, labels, m=4, share=0.25)
    inputs[1][rng.random(90) < 0.2] = -1
    inputs[3] = np.where(inputs[3] == 2, 3 - labels % 2, inputs[3])
    return X / 4, [np.unique(p, return_inverse=True)[1] + p.min().clip(max=0) for p in inputs]


DEFAULTS = {"strength": 0.5, "power": 4.0, "placement": 0.9, "theta": 0.4}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"placement": 0.0},
        {"placement": 1.0, "strength": 2.0, "power": 3.0, "theta": 0.7},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [1, 4])
@WORSE
def test_lift_graph_equals_its_formula(options, weighted, m, kmeans_inputs):
    rng = np.random.default_rng(0)
    X, inputs = noisy_problem(rng)
    inputs = inputs[-m:]
    w = rng.uniform(0.2, 3, 90) if weighted else np.ones(90)
    labels = np.column_stack(inputs)
    expected = literal_lift_graph(labels, w, X, 3, 0.7, **{**DEFAULTS, **options})
    found = lc.consensus(
        inputs,
        3,
        X,
        method="lift_graph",
        bandwidth=0.7,
        weights=w if weighted else None,
        rng=0,
        method_options=options,
    )
    assert found.n_clusters == 3
    Y, weights = kmeans_inputs[0]
    # Inner products do not depend on the signs of eigenvectors.
    np.testing.assert_allclose(Y @ Y.T, expected @ expected.T, atol=1e-9)
    np.testing.assert_array_equal(weights, w)


@pytest.mark.parametrize("options", [{}, {"strength": 2.0, "power": 3.0, "theta": 0.7}])
def test_cluster_graph_equals_its_formula(options):
    rng = np.random.default_rng(0)
    X, inputs = noisy_problem(rng)
    w = rng.uniform(0.2, 3, 90)
    partitions = [lc.Partition.from_labels(p, w) for p in inputs]
    rep, tuples = (
        lc.represent(X, partitions, bandwidth=0.7),
        LabelTuples.from_partitions(partitions),
    )
    A, walk = lifted.cluster_graph(tuples, rep, **options)
    settings = {"strength": 0.5, "power": 4.0, "theta": 0.4} | options
    expected = literal_cluster_graph(np.column_stack(inputs), w, X, 0.7, **settings)
    np.testing.assert_allclose(A, expected[0], atol=1e-9)
    np.testing.assert_allclose(walk.toarray()[tuples.inverse], expected[1], atol=1e-12)


def test_inner_products_above_one_by_rounding_do_not_overflow(monkeypatch):
    X, inputs = noisy_problem(np.random.default_rng(0))
    partitions = [lc.Partition.from_labels(p) for p in inputs]
    rep, tuples = lc.represent(X, partitions), LabelTuples.from_partitions(partitions)
    above = np.full((rep.s, rep.s), np.nextafter(1, 2))
    monkeypatch.setattr(lc.Representation, "inner_products", lambda self: above)
    assert np.isfinite(lifted.cluster_graph(tuples, rep, power=1e300)[0]).all()


@WORSE
def test_lift_graph_with_integer_weights_equals_repeated_points(kmeans_inputs):
    rng = np.random.default_rng(0)
    X, inputs = noisy_problem(rng)
    counts = rng.integers(0, 4, 90)
    copies = np.repeat(np.arange(90), counts)
    options = {"method": "lift_graph", "bandwidth": 0.7, "rng": 0}
    lc.consensus(inputs, 3, X, weights=counts, **options)
    lc.consensus([p[copies] for p in inputs], 3, X[copies], **options)
    (weighted, _), (repeated, _) = kmeans_inputs
    np.testing.assert_allclose(
        (weighted @ weighted.T)[np.ix_(copies, copies)], repeated @ repeated.T, atol=1e-9
    )


def test_default_weights_of_lift_graph_are_one(kmeans_inputs):
    X, inputs = noisy_problem(np.random.default_rng(0))
    partitions = [lc.Partition.from_labels(p) for p in inputs]
    rep, tuples = lc.represent(X, partitions), LabelTuples.from_partitions(partitions)
    lift_graph(tuples, 3, rep=rep, X=X, rng=np.random.default_rng(0))
    lift_graph(tuples, 3, rep=rep, X=X, weights=np.ones(90), rng=np.random.default_rng(0))
    (Y, w), (Y1, w1) = kmeans_inputs
    np.testing.assert_array_equal(Y, Y1)
    np.testing.assert_array_equal(w, w1)


def test_lift_graph_relies_on_labels_if_positions_are_uninformative():
    """Labels are independent of X."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 3
    X = rng.standard_normal((600, 2))
    found = lc.consensus(
        noisy_inputs(rng, labels, m=5, share=0.1), 3, X, method="lift_graph", rng=0
    )
    assert adjusted_rand_score(labels, found.labels) > 0.95


@pytest.mark.parametrize("k", [1, 2, 3])
@WORSE
def test_lift_graph_keeps_points_with_equal_labels_together(k):
    """One cluster, or one per tuple, leaves nothing to cut, however far apart the points are."""
    X = np.array([[0.0], [9], [0], [9], [1], [8], [5]])
    inputs = [[0, 0, 1, 1, 1, 1, -1], [0, 0, 0, 0, -1, -1, -1]]
    found = lc.consensus(inputs, k, X, method="lift_graph", rng=0)
    assert found.n_clusters == k
    if k != 2:
        expected = [0] * 7 if k == 1 else [0, 0, 1, 1, 2, 2, 0]  # heaviest, the first of several
        assert oracle.same_clusters(found.labels, expected)


@WORSE
def test_lift_graph_without_strength_and_placement_agrees_with_lwgp():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 2, k=4)
    inputs = noisy_inputs(rng, labels, share=0.4)
    ours = lc.consensus(
        inputs, 4, X, method="lift_graph", rng=0, method_options={"strength": 0, "placement": 0}
    )
    theirs = lc.consensus(inputs, 4, X, method="lwgp", rng=0)
    assert adjusted_rand_score(ours.labels, theirs.labels) > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placement": 1.5}, "placement must be between 0 and 1"),
        ({"placement": -0.1}, "placement must be between 0 and 1"),
        ({"strength": -1.0}, "strength must be finite and not negative"),
        ({"strength": float("nan")}, "strength must be finite and not negative"),
        ({"strength": float("inf")}, "strength must be finite and not negative"),
        ({"power": 0.0}, "power must be positive"),
        ({"theta": 0.0}, "theta must be positive"),
    ],
)
def test_bad_settings_of_lift_graph_are_refused(options, message):
    X, labels = separated_blobs(np.random.default_rng(0), 20, 2, k=2)
    with pytest.raises(ValueError, match=f"^{message}"):
        lc.consensus([labels, labels], 2, X, method="lift_graph", method_options=options)


def test_lift_graph_options_may_be_very_large_or_fractions():
    from fractions import Fraction

    X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
    for options in ({"power": 1e300}, {"theta": 1.7e308}, {"theta": Fraction(1, 2)}):
        found = lc.consensus(
            [labels, labels % 2], 2, X, method="lift_graph", rng=0, method_options=options
        )
        assert np.isfinite(found.memberships).all()


def test_lift_graph_accepts_objects_with_an_array_method():
    class Arrayish:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype=dtype)

    X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
    inputs = [labels, (X[:, 0] > 0) * 1]
    plain, odd = (lc.consensus(inputs, 2, Z, method="lift_graph", rng=0) for Z in (X, Arrayish(X)))  # fmt: skip
    assert plain.labels.tolist() == odd.labels.tolist()
