"""Attributes of a consensus: margin, composition, distances to its inputs, predictions."""

import pickle
import re
import warnings
import weakref

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination import combining, evaluation
from liftcluster.combination.assigning import shares_of_scores
from liftcluster.combination.composition import list_parts
from liftcluster.combination.methods.lifted import lift_ssd
from liftcluster.combination.methods.registry import METHODS
from liftcluster.lifts import nystroem
from liftcluster.lifts.choice import Lifting
from support.consensus_cases import TAKES_K, WORSE, noisy_inputs, separated_blobs


@pytest.mark.filterwarnings("ignore:majority chooses")
@pytest.mark.parametrize("method", [*TAKES_K, "majority", "medoid"])
@WORSE
def test_consensus_has_its_documented_attributes(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 150, 2, k=3)
    inputs = {f"p{i}": p for i, p in enumerate(noisy_inputs(rng, labels))}
    found = lc.consensus(inputs, 3, X, method=method, rng=0)
    k = found.n_clusters
    assert found.labels.shape == found.margin.shape == found.confidence.shape == (150,)
    assert found.memberships.shape == (150, k)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1)
    assert (found.memberships >= 0).all()
    assert found.centres.shape[0] == k
    assert found.representation.partition_names == tuple(inputs)
    assert found.score == lift_ssd(found.representation, found.centres) > 0
    np.testing.assert_allclose(found.margin, literal_margin(found), atol=1e-12)
    for cluster, parts in enumerate(found.composition):
        expected = {
            (name, c): np.mean(found.labels[p == c] == cluster)
            for name, p in inputs.items()
            for c in range(3)
            if (found.labels[p == c] == cluster).any()
        }
        assert {part[:2]: part[2] for part in parts} == pytest.approx(expected)
        assert [part[2] for part in parts] == sorted((part[2] for part in parts), reverse=True)
    new = X[:10] + 1e-6
    assert found.predict(new).shape == (10,)
    np.testing.assert_allclose(found.predict_proba(new).sum(axis=1), 1)
    assert found.method == (found.decision.method if method == "auto" else method)
    assert (found.decision is None) == (method != "auto")
    against = len(found.overruled)
    # Where only labels were used, nothing is lifted for it.
    score = "" if METHODS[found.method].needs == "labels" else f", liftSSD = {found.score:.4f}"
    assert repr(found) == (
        f"Consensus({found.method} of 6 partitions: {k} clusters{score}, "
        f"mean confidence {found.confidence.mean():.2f}"
        + (f", {against} point{'s' * (against > 1)} overruled)" if against else ")")
    )


def literal_margin(found):
    """Membership in the own cluster minus the largest other one, at least 0; 0 for noise."""
    margins = []
    for shares, label in zip(found.memberships, found.labels, strict=True):
        others = np.delete(shares, label)
        margins.append(0 if label < 0 else shares[label] - others.max() if len(others) else 1)
    return np.maximum(margins, 0)


@WORSE
def test_margin_is_zero_if_another_membership_is_larger():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 150, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels, share=0.6), 3, X, method="lift_places", rng=0)
    own = found.memberships[np.arange(150), found.labels]
    assert (own < found.memberships.max(axis=1)).any()
    np.testing.assert_allclose(found.margin, literal_margin(found), atol=1e-12)


def test_margin_in_a_single_cluster_is_one():
    found = lc.consensus([[0, 0, 1, 1], [0, 1, 1, 1]], 1, np.eye(4), method="lift_places", rng=0)
    assert found.margin.tolist() == found.confidence.tolist() == [1] * 4


@pytest.mark.parametrize("lift", ["exact", "fourier", "nystroem"])
@pytest.mark.parametrize("method", ["lift_km", "lift_hac"])
@WORSE
def test_labels_and_predictions_are_the_most_similar_centre(method, lift):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 3, k=4)
    found = lc.consensus(noisy_inputs(rng, labels), 4, X, method=method, lift=lift, rng=0)
    scores = found.representation.lift.scores(X, found.centres)
    np.testing.assert_array_equal(found.labels, scores.argmax(axis=1))
    np.testing.assert_array_equal(found.predict(X), found.labels)
    np.testing.assert_allclose(found.predict_proba(X), found.memberships, atol=1e-12)
    assert adjusted_rand_score(labels, found.labels) > 0.8


def test_negative_scores_are_clipped_to_zero():
    scores = np.array([[1.0, 3.0], [1e-9, 3e-9], [-1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    expected = [[0.25, 0.75], [0.25, 0.75], [0, 1], [0.5, 0.5], [0.5, 0.5]]
    np.testing.assert_allclose(shares_of_scores(scores), expected)


def test_soft_medoid_is_a_hard_consensus_with_zero_confidence_in_noise():
    X = np.arange(6.0)[:, None]
    soft = np.array([[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.1, 0.8]] * 2 + [[0, 0, 0]])
    found = lc.consensus([soft, soft, [0, 0, 0, 1, 1, -1]], 2, X, method="medoid", rng=0)
    assert found.partition.is_hard
    assert found.memberships.shape == (6, found.n_clusters) == (6, 2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, -1]
    assert found.confidence[-1] == found.margin[-1] == 0
    assert (found.confidence[:-1] > 0.5).all()
    assert (found.margin[:-1] > 0.5).all()
    assert not len(found.overruled)


def test_at_most_eight_parts_of_at_least_ten_percent_are_listed():
    parts = [("a", "x", 1.0), ("b", 0, 0.1)]
    assert list_parts(parts) == "a: x (100%), b: 0 (10%)"
    assert list_parts([*parts, ("b", 1, 0.09)]) == "a: x (100%), b: 0 (10%) …"
    eight = [("c", i, 0.5) for i in range(8)]
    expected = ", ".join(f"c: {i} (50%)" for i in range(8))
    assert list_parts(eight) == expected
    assert list_parts([*eight, ("c", 8, 0.5)]) == expected + " …"


@pytest.mark.parametrize("kept", [0, 2**28])
@pytest.mark.parametrize("method", ["lift_km", "lift_hac", "lift_places", "evidence"])
@WORSE
def test_distances_by_landmarks_are_those_of_the_labels(method, kept, monkeypatch):
    """Where scores and sums come from one pass, or from similarities that are kept."""
    monkeypatch.setattr(nystroem, "_MOST_KEPT", kept)
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 900, 10, k=4)
    w = rng.uniform(0, 2, 900)
    inputs = noisy_inputs(rng, labels, m=3)
    if METHODS[method].soft:
        inputs.append(rng.dirichlet(np.ones(4), 900))
    found = lc.consensus(inputs, 4, X, method=method, weights=w, lift=lc.Nystroem(70), rng=0)
    lift = found.representation.lift
    np.testing.assert_allclose(found.partition.masses.sum(), 1)
    widths = {"bandwidth": 4 * lift.kernel.bandwidth, "lift": "exact", "weights": w}
    D = lc.distance_matrix([*inputs, found.labels], X, **widths)
    assert found.mean_distance == pytest.approx(D[-1, :-1].mean(), abs=0.01)  # by 70 landmarks
    fixed = lc.consensus(inputs, 4, X, method=method, weights=w, lift=lift, rng=0)
    D = lc.distance_matrix(lc.represent(X, [*inputs, fixed.labels], lift=lift, weights=w))
    assert fixed.mean_distance == pytest.approx(D[-1, :-1].mean(), abs=1e-9)
    if method.startswith("lift_") and method != "lift_places":
        np.testing.assert_array_equal(found.labels, found.predict(X))
        expected = shares_of_scores(lift.scores(X, found.centres))
        np.testing.assert_allclose(found.memberships, expected, atol=1e-9)


@WORSE
def test_groups_without_points_have_no_sums():
    """The cluster of all points is less similar to each of them than one of both halves."""
    rng = np.random.default_rng(1)
    halves = np.repeat([0, 1], 50)
    X = 6 * halves[:, None] + 0.3 * rng.normal(size=(100, 9))
    inputs, options = [np.zeros(100, dtype=int), halves], {"method": "lift_km", "bandwidth": 4.0}
    with pytest.warns(UserWarning, match="of which 2 are the best for some point"):
        found = lc.consensus(inputs, 3, X, lift=lc.Nystroem(40), rng=0, **options)
    np.testing.assert_array_equal(found.labels, halves)
    rep = lc.represent(X, [*inputs, found.labels], lift=found.representation.lift)
    D = lc.distance_matrix(rep)
    assert found.mean_distance == pytest.approx(D[-1, :-1].mean(), abs=1e-6)


@WORSE
def test_points_that_change_between_calls_are_lifted_again():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 600, 10, k=3)
    inputs = noisy_inputs(rng, labels, m=3)
    options = {"method": "lift_km", "lift": lc.Nystroem(50), "rng": 0}
    lc.consensus(inputs, 3, X, **options)
    X *= rng.uniform(0.5, 2, X.shape[1])
    again = lc.consensus(inputs, 3, X, **options)
    expected = lc.consensus(inputs, 3, X.copy(), **options)
    np.testing.assert_array_equal(again.memberships, expected.memberships)
    assert again.mean_distance == expected.mean_distance


@pytest.mark.parametrize("method", ["lift_km", "lift_places", "evidence"])
@WORSE
def test_consensus_has_the_weights_of_its_inputs(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 60, 2, k=3)
    w = rng.uniform(0.5, 2, 60)
    for inputs in (noisy_inputs(rng, labels), [labels] * 2):
        found = lc.consensus(inputs, 3, X, method=method, weights=w, rng=0)
        np.testing.assert_array_equal(found.partition.weights, w)
        expected = [w[found.labels == c].sum() / w.sum() for c in range(3)]
        np.testing.assert_allclose(found.partition.masses, expected)
        name, cluster, share = found.composition[0][0]
        inside = np.asarray(inputs[name]) == cluster
        assert share == pytest.approx(w[inside & (found.labels == 0)].sum() / w[inside].sum())


@pytest.mark.parametrize("k", [30, 31])
def test_html_table_has_at_most_thirty_clusters(k):
    labels = np.arange(4 * k) // 4
    other = np.where(np.arange(4 * k) % 8 == 7, 0, labels)  # differs in every other cluster
    found = lc.consensus([labels, labels, other], k, method="evidence")
    html = found._repr_html_()
    table = html[html.index("<table") : html.index("</table>")]
    cells = [re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row) for row in table.split("<tr>")[1:]]
    cells = [[re.sub("<.*?>", "", cell) for cell in row] for row in cells]
    assert cells[0] == ["cluster", "share", "confidence", "made of (share of that cluster)"]
    assert len(cells) == 1 + 30
    for i, row in enumerate(cells[1:]):
        mean = found.confidence[found.labels == i].mean()
        assert row == [str(i), f"{1 / k:.1%}", f"{mean:.2f}", list_parts(found.composition[i])]
    assert len({row[2] for row in cells[1:]}) > 1
    paragraphs = [re.sub("<.*?>", "", part) for part in re.findall("<p>(.*?)</p>", html)]
    assert paragraphs == [
        repr(found),
        *["… and 1 more"] * (k - 30),
        f"mean distance to all inputs by labels {found.mean_distance:.4f} (least of an input, its "
        f"own 0 included: {found.best_input_distance:.4f})",
    ]
    assert re.sub("<p>.*?</p>|<table>.*?</table>", "", html) == ""


def test_cluster_numbers_do_not_depend_on_the_seed():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 100)
    X = (9 * rng.normal(size=(5, 2)))[truth] + rng.normal(size=(100, 2))
    inputs = [truth, np.where(rng.random(100) < 0.05, 0, truth)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = [lc.consensus(inputs, 5, X, rng=seed).labels.tolist() for seed in range(8)]
    assert found == found[:1] * 8


def test_methods_by_labels_lift_the_points_on_request(monkeypatch):
    passes, represent = [], evaluation.represent_in_memory

    def record(*arguments, **options):
        passes.append(1)
        return represent(*arguments, **options)

    monkeypatch.setattr(evaluation, "represent_in_memory", record)
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 300, 2)
    inputs = noisy_inputs(rng, truth)
    for method in ("lwgp", "evidence", "mcla"):
        passes.clear()
        found = lc.consensus(inputs, 4, X, method=method, rng=0)
        repr(found)
        assert not passes
        alone = lc.consensus(inputs, 4, method=method, rng=0)
        np.testing.assert_array_equal(found.labels, alone.labels)
        assert found.has_points
        assert not alone.has_points
        assert len(found.centres) == found.n_clusters
        assert passes == [1]  # inputs and consensus together
        together = lc.represent(X, [*inputs, found.labels], bandwidth="median/4")
        np.testing.assert_allclose(
            found.representation.sums @ found.centres.T,
            together[:-1].sums @ together[len(inputs)].vectors.T,
            atol=1e-9,
        )
        np.testing.assert_array_equal(found.predict(X)[:5], found.labels[:5])
        again = pickle.loads(pickle.dumps(found))
        assert again.mean_distance == found.mean_distance


@pytest.mark.parametrize("method", ["lift_places", "lift_walk"])
def test_methods_by_places_lift_the_points_on_request(method, monkeypatch):
    passes, represent = [], evaluation.represent_in_memory

    def record(*arguments, **options):
        passes.append(1)
        return represent(*arguments, **options)

    monkeypatch.setattr(evaluation, "represent_in_memory", record)
    monkeypatch.setattr(combining, "represent_points", lambda *_: pytest.fail("lifted"))
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 2500, 2)  # more than 2,000, so that places are drawn
    inputs = noisy_inputs(rng, truth)
    found = lc.consensus(inputs, 4, X, method=method, lift=lc.Nystroem(30), rng=0)
    assert "liftSSD" not in repr(found)
    assert found.has_points
    assert not passes
    assert found.mean_distance > 0
    assert passes == [1]
    together = found.representation
    assert passes == [1, 1]
    monkeypatch.undo()
    generator = np.random.default_rng(0)
    lift = lc.make_lift(X, lift=lc.Nystroem(30), bandwidth="median/4", rng=generator)
    lifted = lc.consensus(inputs, 4, X, method=method, lift=lift, rng=generator)  # at once
    np.testing.assert_array_equal(found.labels, lifted.labels)
    assert together.lift.fingerprint() == lift.fingerprint()
    np.testing.assert_allclose(together.sums, lifted.representation.sums, atol=1e-9)
    np.testing.assert_allclose(found.centres, lifted.centres, atol=1e-9)


@pytest.mark.parametrize("lift", [lc.Exact(), lc.Fourier(tol=0.1), lc.Structured(tol=0.1)])
def test_a_lift_that_depends_on_the_clusters_takes_no_random_numbers_before(lift):
    rng = np.random.default_rng(0)
    assert evaluation.fit_before_sums(Lifting.of(lift=lift), np.zeros((5, 2)), rng) is None
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_are_checked_before_a_method_that_lifts_them_later(bad):
    rng = np.random.default_rng(0)
    X, truth = separated_blobs(rng, 100, 2)
    X[17, 1] = bad
    with pytest.raises(ValueError, match="row 17, column 1"):
        lc.consensus(noisy_inputs(rng, truth), 4, X, method="lwgp")
    with pytest.raises(ValueError, match="17"):
        lc.consensus(noisy_inputs(rng, truth), 4, X[:17], method="lwgp")


@pytest.mark.parametrize("method", ["lift_km", "lwgp"])
def test_memberships_are_computed_once_and_what_they_came_from_is_dropped(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 60, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, method=method, rng=0)
    source = weakref.ref(found._memberships)
    shares = found.memberships
    assert source() is None
    assert found.memberships is shares
    np.testing.assert_allclose(shares.sum(axis=1), 1)
