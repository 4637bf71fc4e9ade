"""Consensus of points that come in blocks: partial_fit."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs


@WORSE
def test_partial_fit_of_blocks_equals_one_fit():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 400, 3, k=4)
    inputs = {f"p{i}": p for i, p in enumerate(noisy_inputs(rng, labels))}
    lift = lc.make_lift(X, lift="fourier", bandwidth="median/4", rng=0)
    whole = lc.consensus(inputs, 4, X, lift=lift, rng=0)
    first = lc.consensus({i: p[:250] for i, p in inputs.items()}, 4, X[:250], lift=lift, rng=0)
    both = first.partial_fit(X[250:], {i: p[250:] for i, p in inputs.items()})
    np.testing.assert_allclose(both.representation.sums, whole.representation.sums, atol=1e-9)
    assert adjusted_rand_score(both.labels, whole.labels[250:]) == 1
    with pytest.raises(ValueError, match="lift_km and lift_hac can"):
        lc.consensus(inputs, 4, X, method="lwgp", rng=0).partial_fit(X, inputs)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("lift_hac", {"method_options": {"linkage": "single"}}),
        (AgglomerativeClustering(linkage="complete"), {}),
    ],
)
@WORSE
def test_later_blocks_use_the_method_of_the_first(method, options, monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 2, k=3)
    inputs = noisy_inputs(rng, labels, share=0.4)
    first = lc.consensus(
        [p[:100] for p in inputs], 3, X[:100], method=method, lift="fourier", rng=0, **options
    )
    both = first.partial_fit(X[100:], [p[100:] for p in inputs])
    again = lc.consensus(
        inputs, 3, X, method=method, lift=first.representation.lift, rng=0, **options
    )
    assert adjusted_rand_score(both.labels, again.labels[100:]) == 1
    task, task_after = first._update.args[0], both._update.args[0]
    assert (task.method, task.options) == (task_after.method, task_after.options)


def test_small_block_keeps_the_number_of_clusters():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 400, 5)
    X = X * 2  # well apart
    first = lc.consensus([labels] * 3, 4, X, rng=0)
    assert adjusted_rand_score(labels, first.predict(X)) == 1
    for block in (slice(0, 3), labels == 0):
        some = first.partial_fit(X[block] + 0.01, [labels[block]] * 3)
        assert some.n_clusters == 4
        assert some.predict_proba(X).shape == (400, 4)
        assert adjusted_rand_score(labels, some.predict(X)) == 1
        np.testing.assert_array_equal(some.labels, some.predict(X[block] + 0.01))
        assert some.memberships.shape == (len(some.labels), 4)
        assert len(some.confidence) == len(some.labels)
        made = [cluster for cluster, parts in enumerate(some.composition) if parts]
        assert made == sorted(set(some.labels))
        again = some.partial_fit(X, [labels] * 3)
        assert adjusted_rand_score(labels, again.labels) == 1


def test_new_points_are_assigned_by_position_even_if_inputs_agree():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 2, k=4)
    inputs = noisy_inputs(rng, labels, m=3, share=0.05)
    first = lc.consensus(inputs, 4, X, lift="nystroem", rng=0)
    misplaced = labels.copy()
    misplaced[:4] = misplaced[3::-1]
    both = first.partial_fit(X, [misplaced] * 3)
    np.testing.assert_array_equal(both.labels, both.predict(X))
    assert adjusted_rand_score(both.labels, labels) == 1


def test_partial_fit_needs_the_same_partitions():
    X, labels = separated_blobs(np.random.default_rng(0), 60, 2)
    found = lc.consensus({"a": labels, "b": labels}, 4, X, rng=0)
    with pytest.raises(ValueError, match=r"same partitions as the old: \['a', 'b'\], got \['a'\]"):
        found.partial_fit(X, {"a": labels})
