"""method="auto": every branch of the rule, by problems in which it is known which method is right."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination import by_vectors, combining, deciding
from liftcluster.combination.deciding import _choose
from liftcluster.combination.grouping import group_clusters
from liftcluster.partitions.partition import as_partitions
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs

COMPACT = "k-means of the points"
CANDIDATES = ["lift_places", "lift_walk", "lift_km", "lwgp"]


def blobs(rng, n, share):
    """Annotators of three blobs that are well apart."""
    X, truth = separated_blobs(rng, n, 2, k=3)
    return X, noisy_inputs(rng, truth, share=share), truth


def rings(rng, n):
    """Two rings, which every input by k-means cuts across."""
    angle, truth = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    radius = np.array([1.0, 4.0])[truth] + 0.1 * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, [KMeans(c, n_init=1, random_state=c).fit(X).labels_ for c in (2, 3, 4)], truth


def hidden(rng, n):
    """Annotators of classes that the points do not show: positions are noise."""
    truth = np.arange(n) % 3
    return rng.standard_normal((n, 2)), noisy_inputs(rng, truth, share=0.2), truth


def stripes(rng, n):
    """Two overlapping classes, elongated across the line between them, and random errors."""
    truth = np.arange(n) % 2
    X = np.column_stack([3.0 * truth + rng.standard_normal(n), 4 * rng.standard_normal(n)])
    return X, noisy_inputs(rng, truth, m=3, share=0.6), truth


def compact(rng, n):
    """A square without clusters, and clusterings of it by k-means."""
    X = rng.uniform(size=(n, 2))
    return X, [KMeans(c, n_init=1, random_state=c).fit(X).labels_ for c in (4, 5, 6, 3)], None


# the branches of the rule


@pytest.mark.parametrize("copies", [1, 2, 10])
def test_copies_of_one_partition_come_back_as_they_are(copies):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=60)
    for X in (rng.standard_normal((60, 2)), None):
        found = lc.consensus([labels] * copies, 3, X, rng=0)
        np.testing.assert_array_equal(found.labels, labels)
        assert found.method == found.decision.method == ("lwgp" if X is None else "lift_km")
        assert "the same partition" in found.decision.reason
        assert found.decision.agreements == {}


def test_inputs_that_are_nearly_the_same_decide():
    rng = np.random.default_rng(0)
    X, inputs, truth = blobs(rng, 300, share=0.01)
    found = lc.consensus(inputs, 3, X, rng=0)
    assert found.method in ("lift_km", "lift_walk")
    assert "nearly the same" in found.decision.reason
    assert adjusted_rand_score(truth, found.labels) == 1
    elsewhere = lc.consensus(inputs, 3, rng.standard_normal((300, 2)), rng=0)
    assert elsewhere.method == "lwgp"
    assert "nearly the same" in elsewhere.decision.reason
    assert adjusted_rand_score(truth, elsewhere.labels) == 1


@pytest.mark.parametrize("n", [600, 5000])  # above 2,000 points a sample decides
@pytest.mark.parametrize(
    ("case", "k", "methods", "least"),
    [
        (rings, 2, {"lift_places"}, 1.0),
        (hidden, 3, {"lwgp"}, 0.9),
        (stripes, 2, {"lift_km", "lift_walk"}, 0.55),
        (compact, 4, {"lift_places"}, None),
    ],
)
def test_method_is_chosen_by_what_the_points_show(case, k, methods, least, n):
    X, inputs, truth = case(np.random.default_rng(0), n)
    found = lc.consensus(inputs, k, X, rng=0)
    assert found.method in methods
    assert found.n_clusters == k
    assert found.decision.method == found.method
    assert set(found.decision.agreements) == {*CANDIDATES, COMPACT}
    assert least is None or adjusted_rand_score(truth, found.labels) >= least


def test_points_do_not_overrule_inputs_that_agree():
    """Borders where the points have none, and classes that overlap too much to be seen."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 2))
    found = lc.consensus([X[:, 0] < border for border in (0.10, 0.12, 0.15)], 2, X, rng=0)
    assert found.method != "lift_places"
    assert adjusted_rand_score(found.labels, X[:, 0] < 0.12) > 0.7
    truth = np.arange(800) % 2
    X = rng.standard_normal((800, 3)) + 1.5 * truth[:, None] * [1, 0, 0]
    found = lc.consensus(noisy_inputs(rng, truth, m=8, share=0.2), 2, X, rng=0)
    assert adjusted_rand_score(found.labels, truth) > 0.9


@WORSE
def test_errors_of_annotators_are_averaged_over_places():
    X, inputs, truth = stripes(np.random.default_rng(0), 600)
    by_auto = lc.consensus(inputs, 2, X, rng=0)
    assert by_auto.method in ("lift_km", "lift_walk")
    others = [
        lc.consensus(inputs, 2, X, method=method, rng=0).labels
        for method in ("lift_places", "lwgp")
    ]
    mine = adjusted_rand_score(truth, by_auto.labels)
    assert mine > 0.1 + max(adjusted_rand_score(truth, p) for p in others)
    assert mine > 0.2 + max(adjusted_rand_score(truth, p) for p in inputs)


def agreements(**values):
    names = dict.fromkeys(["lift_places", "lift_walk", "lift_km", "lwgp"], 0.0)
    return names | values


@pytest.mark.parametrize(
    ("values", "gap", "by_k_means", "expected"),
    [
        # the inputs say the same
        ({"lift_km": 0.95, "lwgp": 0.9, "lift_places": 0.95}, 1.0, 0.95, "lift_km"),
        ({"lift_walk": 0.96, "lift_km": 0.95}, 0.0, 0.0, "lift_walk"),
        ({"lift_km": 0.2, "lwgp": 0.96, "lift_places": 0.2}, 1.0, 0.2, "lwgp"),
        # the graph, which a clear eigengap needs to agree less
        ({"lift_km": 0.5, "lift_places": 0.5}, 0.0, 0.0, "lift_places"),
        ({"lift_km": 0.5, "lift_places": 0.49}, 0.0, 0.0, "lift_km"),
        ({"lift_km": 0.5, "lift_places": 0.31}, 0.5, 0.0, "lift_places"),
        ({"lift_km": 0.5, "lift_places": 0.29}, 0.5, 0.0, "lift_km"),
        ({"lift_walk": 0.5, "lift_places": 0.11}, 1.0, 0.0, "lift_places"),
        ({"lift_walk": 0.5, "lift_places": 0.09}, 1.0, 0.0, "lift_walk"),
        # k-means of the points
        ({"lift_km": 0.5}, 0.0, 0.41, "lift_places"),
        ({"lift_km": 0.5}, 0.0, 0.39, "lift_km"),
        ({"lift_km": 0.5}, 0.0, None, "lift_km"),
        # neighbours that predict nearly all labels
        ({"lift_km": 0.5, "lwgp": 0.6, "smoothness": 0.971}, 0.0, 0.0, "lift_places"),
        ({"lift_km": 0.5, "lwgp": 0.6, "smoothness": 0.969}, 0.0, 0.0, "lift_km"),
        ({"lift_km": 0.7, "lwgp": 0.81, "smoothness": 0.99}, 0.0, 0.0, "lift_km"),
        # labels, which places lose
        ({"lift_km": 0.29, "lift_walk": 0.1, "lwgp": 0.5}, 0.0, 0.0, "lwgp"),
        ({"lift_km": 0.31, "lift_walk": 0.1, "lwgp": 0.5}, 0.0, 0.0, "lift_km"),
        ({"lift_km": 0.1, "lift_places": 0.29, "lwgp": 0.5}, 1.0, 0.29, "lwgp"),
        ({"lift_km": 0.1, "lift_places": 0.31, "lwgp": 0.5}, 1.0, 0.0, "lift_places"),
        ({"lift_km": -0.1, "lift_walk": -0.2, "lift_places": -0.1, "lwgp": 0.3}, 0.5, -0.1, "lwgp"),
    ],
)
def test_rule_is_the_documented_one(values, gap, by_k_means, expected):
    smoothness = values.get("smoothness", 0.5)
    values = {name: a for name, a in values.items() if name != "smoothness"}
    found = agreements(**values) | ({} if by_k_means is None else {COMPACT: by_k_means})
    method, reason = _choose(found, gap, smoothness)
    assert method == expected
    numbers = {f"{abs(a):.2f}" for a in (*found.values(), gap, 0.0, 1e-3)}
    assert set(re.findall(r"\d\.\d\d", reason)) <= numbers
    assert set(re.findall(r"\d+%", reason)) <= {f"{smoothness:.0%}"}


def test_without_points_labels_decide():
    rng = np.random.default_rng(0)
    _, inputs, truth = blobs(rng, 200, share=0.2)
    found = lc.consensus(inputs, 3, rng=0)
    assert found.method == "lwgp"
    assert "no points" in found.decision.reason
    assert adjusted_rand_score(truth, found.labels) > 0.9
    named = lc.consensus(inputs, 3, method="lwgp", rng=0)
    np.testing.assert_array_equal(found.labels, named.labels)


def test_discrete_kernels_and_few_places_leave_the_decision_to_labels():
    X, inputs = [[0], [1], [2], [3]], [[0, 0, 1, 1], [0, 1, 1, 1]]
    found = lc.consensus(inputs, 2, X, kernel="discrete", rng=0)
    assert found.method == "lwgp"
    assert "discrete" in found.decision.reason
    same = [[0.0], [0.0], [1.0], [1.0]]
    for k in (2, 3):
        inputs = [[0, 0, 1, 2], [0, 1, 1, 2]]
        found = lc.consensus(inputs, k, same, bandwidth=1.0, rng=0)
        assert found.method == "lwgp"
        assert "only 2 different places" in found.decision.reason
        assert found.n_clusters == k


def test_one_cluster_needs_no_choice():
    X, inputs, _ = blobs(np.random.default_rng(0), 60, share=0.2)
    found = lc.consensus(inputs, 1, X, rng=0)
    assert found.decision.reason == "one cluster was asked for"
    assert found.labels.tolist() == [0] * 60


def test_sums_of_clusters_are_combined_by_lift_km():
    X, inputs, truth = blobs(np.random.default_rng(0), 200, share=0.2)
    rep = lc.represent(X, inputs, bandwidth=2.0, lift="nystroem", rng=0)
    for found, why in (
        (lc.consensus(rep, 3, X, rng=0), "lifted already"),
        (lc.consensus(rep, 3, rng=0), "lifted already"),
        (
            lc.consensus(inputs, 3, lc.Blocks([X[:90], X[90:]]), lift="fourier", rng=0),
            "read in blocks",
        ),
    ):
        assert found.method == found.decision.method == "lift_km"
        assert why in found.decision.reason
        if found.labels is not None:
            assert adjusted_rand_score(truth, found.labels) == 1


def test_few_points_in_blocks_are_decided_like_points_in_memory():
    X, inputs, _ = rings(np.random.default_rng(0), 300)
    one, two = (lc.consensus(inputs, 2, Y, rng=0) for Y in (X, lc.Blocks([X[:100], X[100:]])))
    assert one.decision == two.decision
    assert one.method == "lift_places"
    np.testing.assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize("kind", ["matrix", "function"])
def test_objects_without_coordinates_are_not_clustered_by_k_means(kind):
    X, inputs, truth = blobs(np.random.default_rng(0), 90, share=0.3)
    if kind == "matrix":
        given = {"X": np.arange(90), "kernel": lc.Precomputed(lc.Gaussian(3.0)(X, X))}
    else:
        given = {"X": X.tolist(), "kernel": lambda U, V: lc.Gaussian(3.0)(np.array(U), np.array(V))}
    found = lc.consensus(inputs, 3, rng=0, **given)
    assert set(found.decision.agreements) == set(CANDIDATES)
    assert adjusted_rand_score(truth, found.labels) == 1


# what a decision says


@pytest.mark.parametrize("n", [300, 2500])
@pytest.mark.parametrize("missing", [False, True])
@WORSE
def test_agreements_are_mean_adjusted_rand_indices(n, missing):
    rng = np.random.default_rng(1)
    X, inputs, _ = stripes(rng, n)
    if missing:
        inputs[0][::4] = -1
    decision = lc.consensus(inputs, 2, X, rng=0).decision
    labels = {m: lc.consensus(inputs, 2, X, method=m, rng=0).labels for m in CANDIDATES[:3]}
    labels[COMPACT] = KMeans(2, n_init=10, random_state=0).fit(X).labels_
    for name, found in labels.items():
        mean = np.mean([adjusted_rand_score(p[p >= 0], found[p >= 0]) for p in inputs])
        # A sample of 2,000 points has other candidates, and indices with errors of 1/√2000.
        assert decision.agreements[name] == pytest.approx(mean, abs=1e-3 if n == 300 else 0.05)
    left_out = []
    for i, p in enumerate(inputs):
        found = lc.consensus(inputs[:i] + inputs[i + 1 :], 2, method="lwgp", rng=0).labels
        left_out.append(adjusted_rand_score(p[p >= 0], found[p >= 0]))
    mean = np.mean(left_out)
    assert decision.agreements["lwgp"] == pytest.approx(mean, abs=1e-3 if n == 300 else 0.05)


def test_weights_count_in_agreements():
    """Points that are counted twice are points of weight two."""
    X, inputs, _ = stripes(np.random.default_rng(2), 200)
    times = np.arange(200) % 2 + 1
    copies = np.repeat(np.arange(200), times)
    weighted = lc.consensus(inputs, 2, X, weights=times, bandwidth=1.0, rng=0).decision
    copied = lc.consensus([p[copies] for p in inputs], 2, X[copies], bandwidth=1.0, rng=0).decision
    assert weighted.method == copied.method
    for name in CANDIDATES:
        assert weighted.agreements[name] == pytest.approx(copied.agreements[name], abs=1e-9)
    assert weighted.eigengap == pytest.approx(copied.eigengap, abs=1e-9)


@pytest.mark.parametrize("factor", [0.01, 1 / 3, 7.0, 1e6, 1e50])
@pytest.mark.parametrize("values", [(1,), (1, 2, 3), (2, 3)])
@pytest.mark.parametrize("n", [30, 2500])
@WORSE
def test_unit_of_weights_changes_neither_agreements_nor_the_decision(factor, values, n):
    """A weight is a number of points in pair counts, and 30 points are not 210 points."""
    X, inputs, _ = stripes(np.random.default_rng(2), n)
    weights = np.resize(values, n).astype(float)
    one = lc.consensus(inputs, 2, X, weights=weights, rng=0)
    two = lc.consensus(inputs, 2, X, weights=factor * weights, rng=0)
    assert two.decision.agreements == pytest.approx(one.decision.agreements, abs=1e-9)
    assert two.method == one.method
    np.testing.assert_array_equal(two.labels, one.labels)


@WORSE
def test_a_weight_that_is_next_to_nothing_changes_no_decision():
    X, inputs, _ = stripes(np.random.default_rng(2), 60)
    weights = np.ones(60)
    one = lc.consensus(inputs, 2, X, weights=weights, rng=0).decision
    weights[0] = 5e-324  # all others are multiples of it, more than float64 can hold
    two = lc.consensus(inputs, 2, X, weights=weights, rng=0).decision
    assert two.method == one.method
    assert two.agreements == pytest.approx(one.agreements, abs=0.1)


@pytest.mark.parametrize("case", [rings, hidden, stripes, compact])
def test_sentence_names_the_numbers_that_decided(case):
    X, inputs, _ = case(np.random.default_rng(0), 300)
    found = lc.consensus(inputs, 3, X, rng=0)
    decision = found.decision
    numbers = {f"{abs(a):.2f}" for a in (*decision.agreements.values(), decision.eigengap)}
    numbers.add(f"{decision.smoothness:.0%}")
    named = set(re.findall(r"\d\.\d\d|\d+%", decision.reason))
    assert named
    assert named <= numbers
    assert str(decision) == f"{decision.method}: {decision.reason}"
    assert str(decision).replace("<", "&lt;") in found._repr_html_()
    assert 0 <= decision.eigengap <= 1
    assert 0 <= decision.smoothness <= 1


@WORSE
def test_clusters_are_grouped_once_for_the_decision_and_the_result(monkeypatch):
    calls = []

    def count(*args):
        calls.append(args)
        return group_clusters(*args)

    for module in (deciding, by_vectors):
        monkeypatch.setattr(module, "group_clusters", count)
    monkeypatch.setattr(deciding, "_choose", lambda *_: ("lift_km", "as always here"))
    X, inputs, truth = blobs(np.random.default_rng(0), 300, 0.2)
    found = lc.consensus(inputs, 3, X, rng=0)
    assert found.method == "lift_km"
    assert len(calls) == 1
    assert adjusted_rand_score(truth, found.labels) == 1
    np.testing.assert_array_equal(found.labels, found.predict(X))
    expected = lc.consensus(inputs, 3, X, method="lift_km", rng=0)
    assert found.score == pytest.approx(expected.score)


@WORSE
def test_naming_the_method_overrules():
    X, inputs, _ = rings(np.random.default_rng(0), 300)
    assert lc.consensus(inputs, 2, X, rng=0).method == "lift_places"
    for method in ("lift_km", "lift_walk", "lwgp", "evidence"):
        found = lc.consensus(inputs, 2, X, method=method, rng=0)
        assert found.method == method
        assert found.decision is None


def test_chosen_method_does_not_warn_but_the_same_method_by_name_does():
    X, inputs, _ = rings(np.random.default_rng(0), 300)
    by_auto = lc.consensus(inputs, 2, X, rng=0)
    with pytest.warns(UserWarning, match="the consensus is farther from the other inputs"):
        expected = lc.consensus(inputs, 2, X, method=by_auto.method, rng=0)
    np.testing.assert_array_equal(by_auto.labels, expected.labels)


def test_consensus_that_is_nearer_by_labels_does_not_warn():
    X, inputs, _ = stripes(np.random.default_rng(0), 300)
    found = lc.consensus(inputs, 2, X, rng=0)
    again = lc.consensus(inputs, 2, X, method=found.method, rng=0)
    assert again._distances.leads().max() > 0 > again._label_distances.leads().max()


@pytest.mark.parametrize("n", [300, 2500])
def test_the_same_seed_gives_the_same_decision(n):
    X, inputs, _ = stripes(np.random.default_rng(0), n)
    one, two = (lc.consensus(inputs, 2, X, rng=3) for _ in range(2))
    assert one.decision == two.decision
    assert one.labels.tobytes() == two.labels.tobytes()


@pytest.mark.parametrize("case", [rings, hidden, stripes])
def test_every_automatic_consensus_can_be_updated(case):
    X, inputs, _ = case(np.random.default_rng(0), 300)
    found = lc.consensus(inputs, 2, X, rng=0)
    more = found.partial_fit(X[:50] + 0.01, [p[:50] for p in inputs])
    assert more.method == "lift_km"
    assert more.decision is None
    assert len(more.labels) == 50
    again = more.partial_fit(X[50:80], [p[50:80] for p in inputs])
    assert again.method == "lift_km"


def test_number_of_clusters_and_method_are_both_chosen():
    X, inputs, truth = blobs(np.random.default_rng(0), 200, share=0.1)
    found = lc.consensus(inputs, "auto", X, rng=0)
    assert found.n_clusters == 3
    assert found.curve.criterion == "eigengap"
    assert found.decision is not None
    assert adjusted_rand_score(truth, found.labels) == 1


def test_a_sample_without_any_label_decides():
    """Where none of the 2,000 sampled points is labelled."""
    X = np.random.default_rng(0).standard_normal((5000, 2))
    one, two = np.full((2, 5000), -1)
    one[:4], two[:4] = [0, 0, 1, 1], [0, 1, 1, 1]
    for seed in range(3):  # at seed 1 the sample has none of them
        assert lc.consensus([one, two], 2, X, rng=seed).n_clusters == 2


@pytest.mark.parametrize("method", CANDIDATES)
@WORSE
def test_many_points_are_decided_by_the_clusters_of_a_sample(method, monkeypatch):
    """Points that are lifted only if lift_km is chosen, and then the answer is the same."""
    rng = np.random.default_rng(3)
    n = 6000  # above 5,000 the lift has landmarks
    X, inputs, _ = stripes(rng, n)
    monkeypatch.setattr(deciding, "_choose", lambda *_: (method, "the test says so"))
    whole = lc.consensus(inputs, 2, X, rng=0)
    represent, passes = combining.represent_points, []
    monkeypatch.setattr(combining, "represent_points", lambda *a: passes.append(1) or represent(*a))
    for module in (deciding, combining):
        monkeypatch.setattr(module, "SAMPLED", 2500)
    found = lc.consensus(inputs, 2, X, rng=0)
    assert found.method == whole.method == method
    np.testing.assert_array_equal(found.labels, whole.labels)
    assert len(passes) == (method == "lift_km")
    for name, value in whole.decision.agreements.items():
        assert found.decision.agreements[name] == pytest.approx(value, abs=0.03)
    assert found.partial_fit(X[:9], [p[:9] for p in inputs]).n_clusters == 2
    np.testing.assert_allclose(found.centres, whole.centres, atol=1e-9)


def test_a_sample_lifts_the_clusters_that_it_has(monkeypatch):
    monkeypatch.setattr(deciding, "SAMPLED", 300)
    X = np.random.default_rng(0).standard_normal((1000, 2))
    lift = lc.make_lift(X, lift=lc.Nystroem(50), rng=0)
    sampled = np.sort(np.random.default_rng(0).choice(1000, 300, replace=False))
    labels = np.where(np.isin(np.arange(1000), sampled), np.arange(1000) % 2, 2)
    missing = np.where(labels == 2, 0, -1)
    named = as_partitions({"a": labels, "b": missing})
    found = deciding.lift_sample(lift, X, named)
    assert (found.partition_names, found.cluster_names) == (("a",), (0, 1))
    expected = lift.sums(X[sampled], np.eye(2)[labels[sampled]])
    np.testing.assert_allclose(found.sums, expected)
    assert deciding.lift_sample(lift, X, {"b": named["b"]}) is None


@pytest.mark.parametrize("method", ["lift_walk", "auto"])
def test_fewer_clusters_than_requested_warn(method):
    """Groups that are best for no point are dropped."""
    X = np.array([[0.0], [1], [2.1], [10], [11], [12.2]])
    inputs = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
    with pytest.warns(UserWarning, match="5 clusters were asked for"):
        found = lc.consensus(inputs, 5, X, method=method, bandwidth=1.0, rng=0)
    assert found.method == "lift_walk"
    assert found.n_clusters == 3
