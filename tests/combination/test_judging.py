"""Whether a consensus is judged against its inputs by the same numbers, by place and by labels."""

import csv
import inspect
import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination import evaluation, judging
from liftcluster.combination.judging import (
    COMBINED_AT,
    JUDGED_AT,
    Distances,
    distances_by_labels,
    warn_if_worse,
)
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs

FLOWERS = Path(__file__).parents[2] / "examples" / "flowers.csv"
FARTHER = "the consensus is farther from the other inputs than the input"


def annotators(n, m, share, *, k=10, d=20, seed=0):
    """Points in k blobs, their blobs, and m annotators with a share of random labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    X = (5 * rng.normal(size=(k, d)))[truth] + rng.normal(size=(n, d))
    return X, truth, [np.where(rng.random(n) < share, rng.integers(0, k, n), truth)
                      for _ in range(m)]  # fmt: skip


def flowers():
    with FLOWERS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = [[float(row[c]) for c in row if c.startswith(("sepal", "petal"))] for row in rows]
    names = ("kmeans", "ward", "dbscan")
    return np.array(X), {name: [row[name] or None for row in rows] for name in names}


def means(inputs, found, **options):
    """Of the consensus and of each input to all inputs, by comparing every two as a user does."""
    inputs = list(inputs)
    to = [[float(lc.distance(a, b, **options)) for b in inputs] for a in [*inputs, found.labels]]
    *rest, own = np.mean(to, axis=1)
    return own, rest


def test_consensus_that_is_the_truth_behind_noisy_annotators_does_not_warn():
    """The errors blur all inputs alike, so by place it is far away."""
    X, truth, inputs = annotators(20_000, 5, 0.2)
    found = lc.consensus(inputs, 10, X, method="lift_km", rng=0)  # a warning would be an error
    assert adjusted_rand_score(truth, found.labels) == 1
    assert max(adjusted_rand_score(truth, p) for p in inputs) < 0.7
    assert found.mean_distance > 2 * found.best_input_distance
    assert found.label_distance < 0.9 * found.best_input_label_distance
    assert found.confidence.mean() == pytest.approx(0.82, abs=0.01)
    right = np.mean([np.asarray(p) == truth for p in inputs], axis=0)
    np.testing.assert_allclose(found.confidence, right, atol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 5, 10])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
def test_the_truth_behind_annotators_is_nearer_to_each_by_labels_than_the_others_are(m, share):
    """Whatever the share of errors: two annotators differ by the errors of both."""
    _, truth, inputs = annotators(4000, m, share)
    found = distances_by_labels([lc.as_partition(p) for p in inputs], lc.as_partition(truth))
    assert found.leads().max() < 0


def test_consensus_of_the_example_in_the_readme_is_judged_by_the_same_inputs():
    X, inputs = flowers()
    found = lc.consensus(inputs, 3, X, method="lift_km", bandwidth="median/4", rng=0)
    own, rest = means(inputs.values(), found, X=X, bandwidth="median/4")
    assert found.mean_distance == pytest.approx(own, abs=1e-7)
    assert found.best_input_distance == pytest.approx(min(rest), abs=1e-7)
    assert 3 * found.mean_distance == pytest.approx(0.7352, abs=5e-5)
    assert 3 * found.best_input_distance == pytest.approx(0.7185, abs=5e-5)


@pytest.mark.parametrize("method", ["lift_km", "lift_places", "cspa"])
@WORSE
def test_figures_are_those_of_a_user_who_compares_every_two(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 80, 2, k=3)
    inputs = noisy_inputs(rng, labels, m=4)
    cases = [(X, {}, {"X": X}), (X, {"bandwidth": 2.0}, {"X": X, "bandwidth": 2.0})]
    if method == "cspa":
        cases.append((None, {}, {"measure": "vi"}))
    for points, options, compared in cases:
        found = lc.consensus(inputs, 3, points, method=method, rng=0, **options)
        own, rest = means(inputs, found, **compared)
        assert found.mean_distance == pytest.approx(own, abs=1e-7)
        assert found.best_input_distance == pytest.approx(min(rest), abs=1e-7)
        own, rest = means(inputs, found, measure="vi")
        assert found.label_distance == pytest.approx(own, abs=1e-12)
        assert found.best_input_label_distance == pytest.approx(min(rest), abs=1e-12)


RANDOM = lc.Fourier(8192), lc.Structured(8192)


@pytest.mark.parametrize("lift", ["auto", "grid", lc.Nystroem(200), *RANDOM], ids=str)
@WORSE
def test_every_lift_judges_at_the_bandwidth_of_comparisons(lift):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 300, 2, k=3)
    inputs = noisy_inputs(rng, labels, m=3)
    found = lc.consensus(inputs, 3, X, method="lift_km", lift=lift, rng=0)
    own, rest = means(inputs, found, X=X)
    atol = 1 / np.sqrt(4096) if lift in RANDOM else 1e-4  # of 4096 random pairs
    assert found.mean_distance == pytest.approx(own, abs=atol)
    assert found.best_input_distance == pytest.approx(min(rest), abs=atol)


def test_the_bandwidth_of_judging_is_that_of_comparisons():
    for function in (lc.distance, lc.distance_matrix, lc.compare, lc.make_report, lc.represent):
        assert inspect.signature(function).parameters["bandwidth"].default == JUDGED_AT
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert lc.bandwidth(X, JUDGED_AT) == judging._FINER * lc.bandwidth(X, COMBINED_AT)


@WORSE
def test_page_and_consensus_have_the_same_figures():
    X, inputs = flowers()
    found = lc.consensus(inputs, 3, X, rng=0)
    page = lc.make_report(inputs, X, consensus=3, rng=0).to_dict()
    D = np.array(page["measures"]["lift_emd"]["values"])[-1, :-1]
    assert page["consensus"]["mean_distance"] == pytest.approx(found.mean_distance, abs=1e-9)
    assert D.mean() == pytest.approx(found.mean_distance, abs=1e-7)


def test_consensus_that_loses_by_place_and_by_labels_warns():
    X, labels = separated_blobs(np.random.default_rng(0), 100, 2, k=4)
    inputs = {"a": labels, "b": labels, "c": labels, "one": np.zeros(100)}
    with pytest.warns(UserWarning, match=FARTHER) as caught:
        found = lc.consensus(inputs, 2, X, method="cspa", rng=0)
    assert found.mean_distance > found.best_input_distance
    assert found.label_distance > found.best_input_label_distance
    place, by_labels = [
        [np.mean([lc.distance(p, inputs[q], **options) for q in ("b", "c", "one")])
         for p in (found.labels, labels)]
        for options in ({"X": X}, {"measure": "vi"})
    ]  # fmt: skip
    assert str(caught[0].message).startswith(
        f"{FARTHER} 'a' is: {place[0]:.4f} against {place[1]:.4f} by place (LiftEMD) and "
        f"{by_labels[0]:.4f} against {by_labels[1]:.4f} by labels (variation of information)"
    )


def test_consensus_that_loses_by_labels_alone_warns_where_there_are_no_points():
    labels = np.arange(100) % 4
    with pytest.warns(UserWarning, match=FARTHER) as caught:
        lc.consensus([labels, labels, labels, np.zeros(100)], 2, method="cspa", rng=0)
    assert "by place" not in str(caught[0].message)


def test_two_inputs_that_agree_warn_about_another_consensus():
    X, labels = separated_blobs(np.random.default_rng(0), 100, 2, k=4)
    with pytest.warns(UserWarning, match=FARTHER):
        lc.consensus([labels, labels], 2, X, method="lift_places", rng=0)


def test_both_of_two_inputs_must_be_nearer_to_each_other():
    """A consensus beyond one input is farther from the other, but near to the first."""
    found = lc.consensus([[0, 0, 1, 1], [0, 1, 1, 1]], 2, method="evidence")
    near, far = (Distances.of(np.array([[0, 1, d], [1, 0, 1.1], [d, 1.1, 0]])) for d in (0.2, 1.2))
    warn_if_worse(replace(found, _judge=near))
    with pytest.warns(UserWarning, match=FARTHER):
        warn_if_worse(replace(found, _judge=far))


def test_leads_of_a_per_cent_or_less_do_not_warn():
    """Nearly the same distances are no reason to prefer one input to all of them."""

    def judged(by_place, by_labels):
        """The first input is nearer to the others, at distance one, by these shares."""
        place, labels = (
            Distances.of(np.array([[0, 1, 1, d], [1, 0, 2, d], [1, 2, 0, d], [d, d, d, 0]]))
            for d in (1 / (1 - by_place), 1 / (1 - by_labels))
        )
        return SimpleNamespace(
            method="evidence",
            inputs=dict.fromkeys("abc"),
            has_points=True,
            _distances=place,
            _label_distances=labels,
        )

    for shares in ((0.009, 0.5), (0.5, 0.009), (0.009, 0.009)):
        warn_if_worse(judged(*shares))
    with pytest.warns(UserWarning, match=f"{FARTHER} 'a' is: 1.0111 against 1.0000 by place"):
        warn_if_worse(judged(0.011, 0.011))


def test_consensus_between_two_inputs_does_not_warn():
    """No clustering has a smaller mean distance to both than one of them has."""
    X = np.linspace(0, 1, 200)[:, None]
    cuts = [(X[:, 0] > c).astype(int) for c in (0.4, 0.6)]
    found = lc.consensus(cuts, 2, X, method="lift_km", rng=0)
    assert 0.42 < X[found.labels == found.labels[0], 0].max() < 0.58
    assert found.mean_distance >= found.best_input_distance - 1e-9


def test_single_input_does_not_warn():
    X, labels = separated_blobs(np.random.default_rng(0), 100, 2, k=4)
    found = lc.consensus([labels], 2, X, method="lift_places", rng=0)
    assert found.mean_distance > found.best_input_distance == 0


def test_medoid_has_the_smallest_mean_and_does_not_warn():
    X, labels = separated_blobs(np.random.default_rng(0), 100, 2, k=4)
    found = lc.consensus([labels, labels, np.zeros(100)], 4, X, method="medoid", rng=0)
    assert found.mean_distance == pytest.approx(found.best_input_distance, abs=1e-7)
    inputs = [
        [1, 0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 1],
        [1, 1, 0, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 0, 1, 0, 1],
        [2, 2, 2, 1, 3, 3, 1, 0],
    ]
    found = lc.consensus(inputs, 4, method="medoid", method_options={"measure": "rand"})
    assert found.mean_distance > found.best_input_distance  # it was chosen by another measure


@pytest.mark.parametrize("m", [1, 2, 5])
def test_means_and_leads_are_over_the_same_inputs(m):
    D = np.random.default_rng(0).random((m + 1, m + 1))
    D += D.T
    np.fill_diagonal(D, 0)
    found = Distances.of(D)
    assert found.mean == pytest.approx(sum(D[m, j] for j in range(m)) / m)
    assert found.best == pytest.approx(min(sum(D[i, j] for j in range(m)) / m for i in range(m)))
    for i in range(m):
        others = [j for j in range(m) if j != i]
        lead = np.mean([D[m, j] - D[i, j] for j in others]) if others else 0
        assert found.leads()[i] == pytest.approx(lead)


def test_distances_are_averaged_over_inputs_that_share_points():
    a, b, c = [0, 0, 1, 1, -1, -1], [-1, -1, -1, -1, 0, 1], [0, 0, 0, 1, 1, 1]
    found = lc.consensus([a, b, c], 2, method="evidence", rng=0)

    def between(p, q):
        return lc.distance(p, q, measure="vi")

    ac, bc = between(a, c), between(b, c)
    to_inputs = [between(found.labels, p) for p in (a, b, c)]
    assert found.mean_distance == pytest.approx(np.mean(to_inputs))
    assert found.best_input_distance == pytest.approx(min(ac / 2, bc / 2, (ac + bc) / 3))


def test_many_inputs_are_judged_by_labels_of_a_sample(monkeypatch):
    X, truth, inputs = annotators(2000, 6, 0.2, d=2)
    parts, found = [lc.as_partition(p) for p in inputs], lc.as_partition(truth)
    whole = distances_by_labels(parts, found)
    monkeypatch.setattr(judging, "_MOST_COUNTED", 36 * 1000)
    tables, count = [], judging.contingency
    monkeypatch.setattr(
        judging, "contingency", lambda a, b: tables.append(count(a, b)) or tables[-1]
    )
    sample = distances_by_labels(parts, found)
    assert {table.total for table in tables} == {1000}
    assert sample.mean == pytest.approx(whole.mean, rel=0.05)
    monkeypatch.setattr(judging, "_MOST_RIVALS", 2)
    combined = lc.consensus(inputs, 10, X, method="lift_km", rng=0)
    assert combined._label_distances.inputs.shape == (2, 6)
    by_place = np.argsort(combined._distances.inputs.mean(axis=1))[:2]
    assert combined._label_distances.rows.tolist() == sorted(by_place)


def test_distances_by_place_are_computed_on_request_and_points_are_not_stored(monkeypatch):
    passes, represent = [], evaluation.represent_in_memory

    def record(*arguments, **options):
        passes.append(1)
        return represent(*arguments, **options)

    monkeypatch.setattr(evaluation, "represent_in_memory", record)
    X, _, inputs = annotators(3000, 3, 0.1, k=3, d=40)  # larger than the rest of the result
    found = lc.consensus(inputs, 3, X, method="lift_km", lift=lc.Nystroem(20), rng=0)
    assert not passes
    again = pickle.loads(pickle.dumps(found))
    assert len(pickle.dumps(found)) < X.nbytes
    assert passes == [1]
    assert again.mean_distance == found.mean_distance > 0
    assert passes == [1]
