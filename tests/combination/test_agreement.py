"""The share of the inputs that agree with a consensus at each point."""

import pickle

import numpy as np
import pytest

import liftcluster as lc
from liftcluster.combination import agreement as module
from liftcluster.combination.agreement import Agreement, agreement
from liftcluster.streaming import streams
from support.consensus_cases import TAKES_K, WORSE, noisy_inputs, separated_blobs
from support.generators import soft_memberships
from support.stored import FORMS, as_hdf5


def literal_agreement(labels, inputs, weights=None):
    """Confidence and overruled points by loops over points, inputs and clusters."""
    n, k = len(labels), max(labels) + 1
    w = np.ones(n) if weights is None else weights
    parts = [lc.as_partition(p, weights).memberships.toarray() for p in inputs]
    confidence, overruled = np.zeros(n), []
    for x in range(n):
        votes, voters = np.zeros(k), 0
        for R in parts:
            if not R[x].any():
                continue
            voters += 1
            for C in np.flatnonzero(R[x]):
                shares = [sum(w[labels == c] * R[labels == c, C]) for c in range(k)]
                for c in range(k):
                    if shares[c] >= max(shares) * (1 - 1e-9):
                        votes[c] += R[x, C]
        if labels[x] >= 0 and voters:
            confidence[x] = votes[labels[x]] / voters
            if votes[labels[x]] == 0 and votes.max() > voters * (1 - 1e-9):
                overruled.append(x)
    return confidence, overruled


def assert_agrees(found, expected):
    np.testing.assert_allclose(found.confidence, expected[0], atol=1e-12)
    assert found.overruled.tolist() == list(expected[1])


def random_case(seed, n=60, k=4):
    """Hard and soft inputs with missing labels, and a consensus with noise."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    inputs = [np.where(rng.random(n) < 0.3, rng.integers(-1, 5, n), truth) for _ in range(3)]
    soft = soft_memberships(rng, n, k)
    soft[rng.random(n) < 0.2] = 0
    inputs.append(0.0 + soft)
    for p in inputs[:3]:
        p[rng.random(n) < 0.2] = -1
    labels = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), truth)
    labels[rng.random(n) < 0.1] = -1
    return labels, inputs, rng.integers(0, 4, n).astype(float)


@pytest.mark.filterwarnings("ignore:dropped")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("small", [0, 2**20])
def test_agreement_equals_that_by_loops(weighted, small, monkeypatch):
    monkeypatch.setattr(module, "_SMALL_TABLE", small)
    overruled = 0
    for seed in range(10):
        labels, inputs, w = random_case(seed)
        w = w if weighted else None
        for parts in (inputs, inputs[:1], inputs[:2]):
            named = [lc.as_partition(p, w) for p in parts]
            found = agreement(lc.as_partition(labels, w), named)
            expected = literal_agreement(labels, parts, w)
            assert_agrees(found, expected)
            overruled += len(expected[1])
    assert overruled


@pytest.mark.parametrize("method", [*TAKES_K, "majority", "medoid", "balls"])
@pytest.mark.filterwarnings("ignore:(majority|balls) chooses")
@WORSE
def test_confidence_means_the_same_for_every_method(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 60, 2, k=3)
    inputs = noisy_inputs(rng, labels, m=4)
    found = lc.consensus(inputs, 3, X, method=method, rng=0)
    assert_agrees(found, literal_agreement(found.labels, inputs))


@pytest.mark.parametrize("method", ["lift_km", "lift_places", "cspa", "medoid"])
@WORSE
def test_confidence_is_one_where_all_inputs_agree(method):
    """Points between the clusters have a small margin by place, whatever the inputs agree on."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 20)), np.repeat([0, 1], 100)
    X[:, 0] += 3 * labels
    other = labels.copy()
    other[[0, 150]] ^= 1
    found = lc.consensus([labels, labels, labels, labels, other], 2, X, method=method, rng=0)
    same = np.flatnonzero(found.labels == (labels ^ labels[0] ^ found.labels[1]))
    agreed = np.setdiff1d(same, [0, 150])
    np.testing.assert_array_equal(found.confidence[agreed], 1)
    if method == "lift_km":
        assert found.margin[agreed].mean() < 0.9


def test_equal_shares_count_for_each_cluster():
    labels = lc.as_partition([0, 0, 1, 1])
    found = agreement(labels, [lc.as_partition(["a", "a", "a", "a"])])
    assert found.confidence.tolist() == [1, 1, 1, 1]
    found = agreement(lc.as_partition([0, 0, 1]), [lc.as_partition(["a", "a", "a"])])
    assert found.confidence.tolist() == [1, 1, 0]
    assert found.overruled.tolist() == [2]


def test_a_point_that_no_input_labels_has_no_confidence():
    found = agreement(lc.as_partition([0, 0, 1]), [lc.as_partition([5, 5, -1])])
    assert found.confidence.tolist() == [1, 1, 0]
    assert not len(found.overruled)


@WORSE
def test_points_whose_place_decides_against_all_inputs_are_named():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 90, 2, k=3)
    wrong = labels.copy()
    wrong[[3, 7, 50]] = (labels[[3, 7, 50]] + 1) % 3
    found = lc.consensus([wrong] * 3 + [np.where(np.arange(90) == 11, 0, wrong)], 3, X,
                         method="lift_km", rng=0)  # fmt: skip
    assert found.overruled.tolist() == [3, 7, 50]
    assert (found.confidence[[3, 7, 50]] == 0).all()
    assert "3 points overruled" in repr(found)


@WORSE
def test_inputs_may_have_weights_of_their_own(in_blocks, tmp_path):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 150, 2, k=3)
    parts = noisy_inputs(rng, labels, m=3)
    weights = rng.uniform(0, 2, (3, 150))
    inputs = [lc.as_partition(p, w) for p, w in zip(parts, weights, strict=True)]
    found = lc.consensus(inputs, 2, X, method="lift_km", rng=0)
    confidence = [
        literal_agreement(found.labels, [p], w)[0] for p, w in zip(parts, weights, strict=True)
    ]
    np.testing.assert_allclose(found.confidence, np.mean(confidence, axis=0), atol=1e-12)
    same = [lc.as_partition(p, weights[0]) for p in parts]
    D = [lc.distance(lc.as_partition(found.labels, weights[0]), p, measure="vi") for p in same]
    assert found.label_distance == pytest.approx(np.mean(D))
    streamed = lc.consensus(inputs, 2, as_hdf5(tmp_path, "X", X), method="lift_km", rng=0)
    assert not streamed.is_in_memory
    np.testing.assert_allclose(streamed.confidence, found.confidence, atol=1e-12)
    assert streamed.best_input_label_distance == pytest.approx(found.best_input_label_distance)


@pytest.fixture
def in_blocks(monkeypatch):
    from liftcluster.combination import grouping
    from liftcluster.lifts import choice
    from liftcluster.streaming import sources

    monkeypatch.setattr(streams, "MAPPED_ROWS_IN_MEMORY", 0)
    monkeypatch.setattr(sources, "BLOCK_BYTES", 70 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)
    monkeypatch.setattr(choice, "_EXACT_UP_TO", 100)
    monkeypatch.setattr(grouping, "_LANDMARKS", 60)


def stored_case(n=300):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, n, 2, k=4)
    elsewhere = [5, 200]  # two points that all inputs put into another cluster
    other = (truth[elsewhere] + 1) % 4
    inputs = dict(enumerate(noisy_inputs(rng, truth, m=3)))
    for p in inputs.values():
        p[elsewhere] = other
    inputs[1] = np.array(list("zyxw"))[inputs[1]]
    inputs[2] = np.where(rng.random(n) < 0.3, -1, inputs[2])
    inputs["soft"] = 0.4 * soft_memberships(rng, n, 4) + 0.6 * np.eye(4)[truth]
    inputs["soft"][elsewhere] = np.eye(4)[other]
    return X, inputs, rng.uniform(0, 2, n)


@pytest.mark.parametrize("form", ["HDF5", "blocks", "dask array"])
@pytest.mark.parametrize("weighted", [False, True])
def test_confidence_of_blocks_equals_that_in_memory(in_blocks, tmp_path, form, weighted):
    X, inputs, w = stored_case()
    w = w if weighted else None
    stored = FORMS[form](tmp_path, "X", X)
    parts = {name: p if name == 1 else FORMS[form](tmp_path, str(name), p)
             for name, p in inputs.items()}  # fmt: skip
    found = lc.consensus(parts, 4, stored, method="lift_km", weights=w, rng=0)
    assert not found.is_in_memory
    labels = np.asarray(found.labels)
    expected = literal_agreement(labels, inputs.values(), w)
    assert_agrees(found, expected)
    assert {5, 200} <= set(expected[1])
    expected = lc.consensus(inputs, 4, X, method="lift_km", weights=w, rng=0)
    assert_agrees(found, (expected.confidence, expected.overruled))
    for name in ("mean_distance", "best_input_distance"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-8)
    for name in ("label_distance", "best_input_label_distance"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-9)


def test_a_stored_consensus_of_blocks_explains_that_labels_are_gone(in_blocks, tmp_path):
    X, inputs, _ = stored_case()
    found = lc.consensus(inputs, 4, as_hdf5(tmp_path, "X", X), method="lift_km", rng=0)
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(AttributeError, match="confidence needs the labels of the inputs"):
        again.confidence  # noqa: B018
    assert again.mean_distance == found.mean_distance
    assert isinstance(found._agreement, Agreement)
    again = pickle.loads(pickle.dumps(found))  # with what was computed before
    np.testing.assert_array_equal(again.confidence, found.confidence)


def test_a_representation_has_no_labels_to_agree_with():
    X, inputs, _ = stored_case()
    rep = lc.represent(X, inputs, lift=lc.Nystroem(50), rng=0)
    for points in (None, X):
        found = lc.consensus(rep, 4, points, method="lift_km", rng=0)
        with pytest.raises(AttributeError, match="give consensus the partitions"):
            found.confidence  # noqa: B018
        assert found.label_distance is found.best_input_label_distance is None
