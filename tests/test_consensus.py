"""Consensus: optimal on small cases, faithful to its inputs, of use to new points."""

import itertools
import re
import warnings

import numpy as np
import oracles_consensus as oracle
import pytest
from amount import examples
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import liftcluster as lc
from liftcluster.combination.by_vectors import distances_to_inputs, listed_parts, shares_of_scores
from liftcluster.combination.methods import lifted
from liftcluster.combination.methods.lifted import (
    group_by,
    group_centres,
    lift_evidence,
    lift_graph,
    lift_hac,
    lift_km,
    lift_ssd,
    weighted_ward,
)
from liftcluster.combination.methods.selection import CRITERIA, choose_k
from liftcluster.combination.methods.spectral import relative_eigengaps
from liftcluster.combination.methods.tuples import LabelTuples, Profiles, gather

WORSE = pytest.mark.filterwarnings(
    "ignore:the consensus is farther", r"ignore:\d+ clusters were asked for"
)
LIFTED = [name for name in lc.METHODS if name.startswith("lift")]
TAKES_K = [name for name, method in lc.METHODS.items() if not method.chooses_k]


def blobs(rng, n, d, k=4):
    """Points around centres that are well apart, in clusters of equal size."""
    labels = np.arange(n) % k
    angles = 2 * np.pi * np.arange(k) / k
    centres = np.zeros((k, d))
    centres[:, 0], centres[:, 1] = 8 * np.cos(angles), 8 * np.sin(angles)
    return centres[labels] + rng.standard_normal((n, d)), labels


def noisy_inputs(rng, labels, m=6, share=0.2):
    return [
        np.where(rng.random(len(labels)) < share, rng.permutation(labels), labels) for _ in range(m)
    ]


def small_representation(seed, s_each=(3, 2, 3)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    parts = [np.concatenate([np.arange(k), rng.integers(k, size=40 - k)]) for k in s_each]
    return lc.represent(X, parts, bandwidth=1.0, weights=rng.uniform(0.5, 2, 40))


@pytest.mark.parametrize("seed", range(examples(5)))
@pytest.mark.parametrize("k", [2, 3])
def test_k_means_finds_the_best_of_all_groupings(seed, k):
    rep = small_representation(seed)
    best = min(
        lift_ssd(rep, group_centres(rep, np.array(codes), k))
        for codes in itertools.product(range(k), repeat=rep.s)
        if len(set(codes)) == k
    )
    codes = lift_km(rep, k, rng=np.random.default_rng(0))
    assert lift_ssd(rep, group_centres(rep, codes, k)) == pytest.approx(best, rel=1e-9)


def naive_ward(V, w, k):
    """Merge, at each step, the two groups that raise the weighted sum of squares least."""
    groups = [[i] for i in range(len(V))]

    def squares(members):
        centre = np.average(V[members], axis=0, weights=w[members])
        return sum(w[i] * np.sum((V[i] - centre) ** 2) for i in members)

    while len(groups) > k:
        pairs = itertools.combinations(range(len(groups)), 2)
        i, j = min(
            pairs,
            key=lambda p: (
                squares(groups[p[0]] + groups[p[1]]) - squares(groups[p[0]]) - squares(groups[p[1]])
            ),
        )
        groups[i] += groups.pop(j)
    codes = np.empty(len(V), dtype=int)
    for c, members in enumerate(groups):
        codes[members] = c
    return codes


@pytest.mark.parametrize("seed", range(5))
def test_weighted_ward_is_the_naive_one_merge_by_merge(seed):
    rng = np.random.default_rng(seed)
    V, w = rng.standard_normal((12, 3)), rng.uniform(0.1, 2, 12)
    for k in range(1, 13):
        found = weighted_ward(V, w, k)
        assert len(set(found)) == k
        assert adjusted_rand_score(found, naive_ward(V, w, k)) == 1


def test_weighted_ward_with_equal_weights_is_scikit_learns():
    V = np.random.default_rng(0).standard_normal((40, 5))
    theirs = AgglomerativeClustering(6).fit(V).labels_
    assert adjusted_rand_score(weighted_ward(V, np.ones(40), 6), theirs) == 1


def naive_linkage(D, w, k, apart):
    """Merge, at each step, the two groups that are least far apart."""
    groups = [[i] for i in range(len(D))]
    while len(groups) > k:
        pairs = itertools.combinations(range(len(groups)), 2)
        i, j = min(pairs, key=lambda p: apart(D, w, groups[p[0]], groups[p[1]]))
        groups[i] += groups.pop(j)
    return [next(c for c, members in enumerate(groups) if i in members) for i in range(len(D))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("linkage", "apart"),
    [
        ("average", lambda D, w, a, b: w[a] @ D[np.ix_(a, b)] @ w[b] / w[a].sum() / w[b].sum()),
        ("complete", lambda D, w, a, b: D[np.ix_(a, b)].max()),
        ("single", lambda D, w, a, b: D[np.ix_(a, b)].min()),
    ],
)
def test_linkages_of_lifted_clusters_are_the_naive_ones(linkage, apart, seed):
    rep = small_representation(seed, (3, 4, 5))
    D = np.array([[np.linalg.norm(u - v) for v in rep.vectors] for u in rep.vectors])
    for k in range(1, rep.s + 1):
        found = lift_hac(rep, k, linkage=linkage)
        assert sorted(set(found)) == list(range(k))
        assert adjusted_rand_score(found, naive_linkage(D, rep.masses, k, apart)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_linkage_is_wards_unless_another_is_asked_for(seed):
    rep = small_representation(seed, (3, 4, 5))
    for k in range(1, rep.s + 1):
        expected = naive_ward(rep.vectors, rep.masses, k)
        for options in ({}, {"linkage": "ward"}):
            assert adjusted_rand_score(lift_hac(rep, k, **options), expected) == 1


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_a_single_cluster_is_a_group_by_every_linkage(linkage):
    rep = small_representation(0, (1,))
    assert lift_hac(rep, 1, linkage=linkage).tolist() == [0]


@pytest.mark.parametrize("seed", range(4))
def test_k_means_is_never_worse_than_ward(seed):
    rep = small_representation(seed, (6, 7, 8))
    by_k_means = lift_km(rep, 5, n_init=1, rng=np.random.default_rng(0))
    by_ward = weighted_ward(rep.vectors, rep.masses, 5)
    least = lift_ssd(rep, group_centres(rep, by_ward, 5))
    assert lift_ssd(rep, group_centres(rep, by_k_means, 5)) <= least + 1e-12


def test_clusters_too_many_to_merge_are_grouped_by_k_means_alone(monkeypatch):
    rep = small_representation(0)
    expected = lift_km(rep, 3, rng=np.random.default_rng(0))
    calls = []
    monkeypatch.setattr(
        lifted, "weighted_ward", lambda *args: (calls.append(args), weighted_ward(*args))[1]
    )
    for most, times in ((rep.s, 1), (rep.s - 1, 0)):
        monkeypatch.setattr(lifted, "_WARD_UP_TO", most)
        calls.clear()
        found = lift_km(rep, 3, rng=np.random.default_rng(0))
        assert adjusted_rand_score(found, expected) == 1
        assert len(calls) == times


def test_clusters_that_lie_in_fewer_places_than_groups_warn_of_nothing():
    X, labels = blobs(np.random.default_rng(0), 60, 2, k=3)
    rep = lc.represent(X, [labels] * 3, bandwidth=1.0)
    codes = lift_km(rep, 5, rng=np.random.default_rng(0))
    assert lift_ssd(rep, group_centres(rep, codes, codes.max() + 1)) == pytest.approx(0, abs=1e-12)


class Recorder(BaseEstimator):
    """A clusterer that keeps what it is given, and calls the vectors by turns 5 and 7."""

    def __init__(self, n_clusters=1, n_components=1, random_state=None, seen=None):
        self.n_clusters, self.n_components = n_clusters, n_components
        self.random_state, self.seen = random_state, seen

    def fit(self, V, y=None, sample_weight=None):
        self.seen.append((V, sample_weight, self.get_params()))
        return self

    def predict(self, V):
        return np.where(np.arange(len(V)) % 2, 7, 5)

    def __sklearn_clone__(self):
        return type(self)(**self.get_params(deep=False))


class PredictingRecorder(Recorder):
    def fit_predict(self, V, y=None, sample_weight=None):
        return self.fit(V, y, sample_weight).predict(V)


@pytest.mark.parametrize("kind", [Recorder, PredictingRecorder])
@pytest.mark.parametrize("lift", ["exact", "fourier"])
def test_a_clusterer_is_given_vectors_weights_numbers_and_a_seed(kind, lift):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 40, 2, k=3)
    inputs = [labels, labels % 2]
    rep = lc.represent(X, inputs, bandwidth=1.0, lift=lift, rng=0)
    seen = []
    codes = group_by(kind(seen=seen), rep, 4, rng=rng)
    assert codes.tolist() == [0, 1, 0, 1, 0]  # groups by number
    V, weights, settings = seen[0]
    assert V.shape[1] <= rep.s == len(V)
    np.testing.assert_allclose(V @ V.T, rep.inner_products(), atol=1e-9)
    np.testing.assert_allclose(weights / weights.sum(), rep.masses / rep.masses.sum())
    assert weights.mean() == pytest.approx(1)
    assert settings["n_clusters"] == settings["n_components"] == 4
    for _ in range(99):
        group_by(kind(seen=seen), rep, 4, rng=rng)
    assert len({settings["random_state"] for _, _, settings in seen}) == 100


def test_lift_ssd_is_its_formula():
    rep = small_representation(1)
    centres = np.random.default_rng(0).standard_normal((3, rep.n_components))
    expected = sum(
        m * min(np.sum((v - c) ** 2) for c in centres)
        for m, v in zip(rep.masses, rep.vectors, strict=True)
    )
    assert lift_ssd(rep, centres) == pytest.approx(expected)


@pytest.mark.parametrize("method", TAKES_K)
def test_the_consensus_of_equal_inputs_is_that_input(method):
    X, labels = blobs(np.random.default_rng(0), 120, 2, k=3)  # equal sizes: METIS balances
    found = lc.consensus([labels] * 4, 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) == 1
    assert found.mean_distance == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("method", ["lift_km", "lift_hac", "lift_graph", "evidence"])
def test_equal_inputs_are_the_consensus_wherever_their_points_lie(method):
    rng = np.random.default_rng(0)
    labels = (np.arange(60) + 1) % 3  # whose numbers stay, too
    found = lc.consensus([labels, 2 - labels], 3, rng.random((60, 2)), method=method, rng=0)
    np.testing.assert_array_equal(found.labels, labels)


@pytest.mark.parametrize("method", TAKES_K)
@WORSE
def test_planted_clusters_are_found_through_noise(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 300, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) > (0.2 if method == "hgpa" else 0.85)
    assert found.n_clusters == 3


@pytest.mark.filterwarnings("ignore:majority chooses")
@pytest.mark.parametrize("method", [*TAKES_K, "majority", "medoid"])
@WORSE
def test_a_consensus_carries_everything_it_promises(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 150, 2, k=3)
    inputs = {f"p{i}": p for i, p in enumerate(noisy_inputs(rng, labels))}
    found = lc.consensus(inputs, 3, X, method=method, rng=0)
    k = found.n_clusters
    assert found.labels.shape == found.confidence.shape == (150,)
    assert found.memberships.shape == (150, k)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1)
    assert (found.memberships >= 0).all()
    assert found.centres.shape[0] == k
    assert found.representation.partition_names == tuple(inputs)
    assert found.score == lift_ssd(found.representation, found.centres) > 0
    np.testing.assert_allclose(found.confidence, literal_confidence(found), atol=1e-12)
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
    assert repr(found) == (
        f"Consensus({method} of 6 partitions: {k} clusters, liftSSD = {found.score:.4f}, "
        f"mean confidence {found.confidence.mean():.2f})"
    )


def literal_confidence(found):
    """How far each point's membership in its own cluster is ahead of all others; noise is not."""
    ahead = []
    for shares, label in zip(found.memberships, found.labels, strict=True):
        others = np.delete(shares, label)
        ahead.append(0 if label < 0 else shares[label] - others.max() if len(others) else 1)
    return np.maximum(ahead, 0)


@WORSE
def test_points_may_be_in_another_cluster_than_their_labels_suggest_and_are_not_sure_then():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 150, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels, share=0.6), 3, X, method="lift_graph", rng=0)
    own = found.memberships[np.arange(150), found.labels]
    assert (own < found.memberships.max(axis=1)).any()
    np.testing.assert_allclose(found.confidence, literal_confidence(found), atol=1e-12)


def test_a_single_cluster_is_sure():
    found = lc.consensus([[0, 0, 1, 1], [0, 1, 1, 1]], 1, np.eye(4), method="lift_graph", rng=0)
    assert found.confidence.tolist() == [1] * 4


@pytest.mark.parametrize("lift", ["exact", "fourier", "nystrom"])
@pytest.mark.parametrize("method", ["lift_km", "lift_hac"])
@WORSE
def test_points_go_to_the_most_similar_centre_old_and_new(method, lift):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 3, k=4)
    found = lc.consensus(noisy_inputs(rng, labels), 4, X, method=method, lift=lift, rng=0)
    scores = found.representation.lift.scores(X, found.centres)
    np.testing.assert_array_equal(found.labels, scores.argmax(axis=1))
    np.testing.assert_array_equal(found.predict(X), found.labels)
    np.testing.assert_allclose(found.predict_proba(X), found.memberships, atol=1e-12)
    assert adjusted_rand_score(labels, found.labels) > 0.8


@WORSE
def test_many_points_in_many_dimensions_are_told_apart_by_landmarks():
    """At a quarter of the median distance, similarities in many dimensions are next to nothing."""
    rng = np.random.default_rng(0)
    n = 5400
    labels = np.arange(n) % 6
    X = 0.75 * rng.standard_normal((6, 100))[labels] + rng.standard_normal((n, 100))
    found = lc.consensus(noisy_inputs(rng, labels, m=4), 6, X, rng=0)
    assert found.representation.lift.kind == "nystrom"
    assert found.representation.n_components == 500  # as the documentation says
    assert adjusted_rand_score(labels, found.labels) > 0.98
    fourier = lc.consensus(noisy_inputs(rng, labels, m=4), 6, X, lift="fourier", rng=0)
    assert fourier.representation.lift.kind == "fourier"
    assert adjusted_rand_score(labels, fourier.labels) < 0.95


@WORSE
def test_few_points_have_landmarks_if_components_are_asked_for():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 90, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, n_components=40, rng=0)
    assert found.representation.lift.kind == "nystrom"
    assert found.representation.n_components == 40
    assert lc.consensus(noisy_inputs(rng, labels), 3, X, rng=0).representation.lift.kind == "exact"


def test_negative_scores_count_for_nothing():
    scores = np.array([[1.0, 3.0], [1e-9, 3e-9], [-1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    expected = [[0.25, 0.75], [0.25, 0.75], [0, 1], [0.5, 0.5], [0.5, 0.5]]
    np.testing.assert_allclose(shares_of_scores(scores), expected)


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(linkage="average"),
        GaussianMixture(covariance_type="spherical"),
        SpectralClustering(n_init=2),
    ],
    ids=lambda c: type(c).__name__,
)
@WORSE
def test_any_clusterer_of_vectors_can_stand_in(clusterer):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 150, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, method=clusterer, rng=0)
    assert found.method == "lift_km"  # for which it stands in
    assert adjusted_rand_score(labels, found.labels) > 0.8


@pytest.mark.parametrize("method", [*LIFTED, "lwea", "lwgp", "evidence"])
@WORSE
def test_missing_labels_soft_memberships_and_different_k_are_welcome(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 2, k=3)
    hole = labels.astype(float)
    hole[::3] = np.nan
    finer = labels * 2 + (X[:, 0] > np.median(X[:, 0]))
    soft = 0.8 * np.eye(3)[labels] + 0.2 / 3
    words = np.array(["red", "green", "blue"])[labels]
    found = lc.consensus([hole, finer, soft, words], 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) > 0.8
    assert (found.labels >= 0).all()


@pytest.mark.parametrize("method", LIFTED)
@WORSE
def test_order_of_partitions_and_points_and_names_do_not_matter(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 150, 2, k=3)
    inputs = noisy_inputs(rng, labels, share=0.1)
    order = rng.permutation(150)
    found = lc.consensus(inputs, 3, X, method=method, rng=0)
    moved = lc.consensus(
        [np.array(["c", "a", "b"])[p][order] for p in inputs[::-1]],
        3,
        X[order],
        method=method,
        rng=0,
    )
    assert adjusted_rand_score(found.labels[order], moved.labels) > 0.97


@WORSE
def test_label_only_methods_need_no_points():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=100)
    inputs = noisy_inputs(rng, labels)
    found = lc.consensus(inputs, 3, method="lwgp", rng=0)
    assert adjusted_rand_score(labels, found.labels) > 0.9
    assert found.score is None
    assert repr(found) == (
        "Consensus(lwgp of 6 partitions: 3 clusters, mean confidence "
        f"{found.confidence.mean():.2f})"
    )
    with pytest.raises(ValueError, match="give consensus the argument X"):
        found.predict(np.zeros((1, 2)))
    medoid = lc.consensus(inputs, 3, method="medoid", measure="nmi", rng=0)
    D = lc.distance_matrix(inputs, measure="nmi")
    np.testing.assert_array_equal(medoid.labels, inputs[D.sum(axis=1).argmin()])


def test_a_soft_medoid_with_noise_is_a_hard_consensus_that_is_unsure_of_noise():
    X = np.arange(6.0)[:, None]
    soft = np.array([[0.8, 0.1, 0.1]] * 3 + [[0.1, 0.1, 0.8]] * 2 + [[0, 0, 0]])
    found = lc.consensus([soft, soft, [0, 0, 0, 1, 1, -1]], 2, X, method="medoid", rng=0)
    assert found.partition.is_hard
    assert found.memberships.shape == (6, found.n_clusters) == (6, 2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, -1]
    assert found.confidence[-1] == 0
    assert (found.confidence[:-1] > 0.5).all()


@pytest.mark.parametrize(
    ("method", "rule"),
    [
        ("lift_km", "median/4"),
        ("lift_evidence", "median/8"),
        (AgglomerativeClustering(), "median/4"),
    ],
)
@WORSE
def test_the_bandwidth_is_that_of_the_method_unless_given(method, rule):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2, k=3)
    inputs = noisy_inputs(rng, labels)
    lift = lc.consensus(inputs, 3, X, method=method, rng=0).representation.lift
    assert lift.kernel.bandwidth == pytest.approx(lc.bandwidth(X, rule))
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth="median", rng=0).representation.lift
    assert lift.kernel.bandwidth == pytest.approx(lc.bandwidth(X, "median"))
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth=2.0, rng=0).representation.lift
    assert lift.kernel.bandwidth == 2.0
    several = np.array([1.0, 2.0])
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth=several, rng=0).representation.lift
    assert lift.kernel.bandwidths == (1.0, 2.0)


def test_a_clusterer_has_its_own_settings():
    with pytest.raises(TypeError, match="its own settings; got linkage"):
        lc.consensus(
            [[0, 0, 1], [0, 1, 1]], 2, np.eye(3), method=AgglomerativeClustering(), linkage="single"
        )


def test_evidence_between_clusters_that_share_no_place_is_none():
    """With the discrete kernel lifted evidence sees only labels, as evidence accumulation does."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=60)
    partitions = [lc.Partition.from_labels(p) for p in noisy_inputs(rng, labels, share=0.1)]
    rep = lc.represent(None, partitions, kernel="discrete")
    tuples = LabelTuples.from_partitions(partitions)
    codes = lift_evidence(tuples, 3, rep=rep, theta=None)
    assert adjusted_rand_score(labels, codes) > 0.9


@pytest.mark.parametrize("limit", [100, 6, 3, 2])
@pytest.mark.parametrize("theta", [None, 0.4, 0.9])
def test_lifted_evidence_is_its_formula(theta, limit):
    """Of points with equal labels, or of the groups that they are gathered to beyond the limit."""
    rng = np.random.default_rng(4)
    X, labels = blobs(rng, 40, 2, k=3)
    X = X / 4  # so close that every theta, and the limit, gives other clusters
    inputs = noisy_inputs(rng, labels, m=3, share=0.4)
    inputs[1][::7] = -1
    partitions = [lc.Partition.from_labels(p) for p in inputs]
    rep, tuples = (
        lc.represent(X, partitions, bandwidth=1.0),
        LabelTuples.from_partitions(partitions),
    )
    groups = gather(Profiles.of(tuples), max(limit, 3))[1][tuples.inverse]
    ones = [[1.0] * 3] * 3
    u = ones if theta is None else oracle.reliability(np.column_stack(inputs), theta)
    Z = np.zeros((groups.max() + 1, rep.n_components))
    for x, i in itertools.product(range(40), range(3)):
        if inputs[i][x] >= 0:
            Z[groups[x]] += u[i][inputs[i][x]] * rep.vectors[3 * i + inputs[i][x]]
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    S = np.minimum(Z @ Z.T, 1)  # rounding
    expected = oracle.average_linkage(S[np.ix_(groups, groups)], 3)
    options = {} if theta == 0.4 else {"theta": theta}  # its default
    found = lift_evidence(tuples, 3, rep=rep, limit=limit, **options)
    assert oracle.same_clusters(expected, found)
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"theta": 0.0}, ValueError, "theta must be positive"),
        ({"theta": "small"}, TypeError, "theta must be a number"),
        ({"limit": 1}, ValueError, "limit must be at least 2"),
        ({"limit": 2.5}, TypeError, "limit must be a whole number"),
    ],
)
def test_bad_settings_of_lift_evidence_are_refused(options, error, says):
    X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
    with pytest.raises(error, match=f"^{says}"):
        lc.consensus([labels, labels], 2, X, method="lift_evidence", **options)


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
def given_to_k_means(monkeypatch):
    """What lift_graph has unit_kmeans cluster: vectors, and their weights."""
    seen = []
    kmeans = lifted.unit_kmeans
    monkeypatch.setattr(
        lifted, "unit_kmeans", lambda Y, *rest: (seen.append((Y, rest[0])), kmeans(Y, *rest))[1]
    )
    return seen


def doubtful_problem(rng):
    """Points of three clusters that are not well apart, four inputs with noise, weights."""
    X, labels = blobs(rng, 90, 2, k=3)
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
def test_lift_graph_is_its_formula(options, weighted, m, given_to_k_means):
    rng = np.random.default_rng(0)
    X, inputs = doubtful_problem(rng)
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
        **options,
    )
    assert found.n_clusters == 3
    Y, weights = given_to_k_means[0]
    # Eigenvectors have a sign each, inner products of points have not.
    np.testing.assert_allclose(Y @ Y.T, expected @ expected.T, atol=1e-9)
    np.testing.assert_array_equal(weights, w)


@pytest.mark.parametrize("options", [{}, {"strength": 2.0, "power": 3.0, "theta": 0.7}])
def test_the_graph_of_clusters_is_its_formula(options):
    rng = np.random.default_rng(0)
    X, inputs = doubtful_problem(rng)
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


def test_inner_products_above_one_by_rounding_are_not_raised_to_a_power(monkeypatch):
    X, inputs = doubtful_problem(np.random.default_rng(0))
    partitions = [lc.Partition.from_labels(p) for p in inputs]
    rep, tuples = lc.represent(X, partitions), LabelTuples.from_partitions(partitions)
    above = np.full((rep.s, rep.s), np.nextafter(1, 2))
    monkeypatch.setattr(lc.Representation, "inner_products", lambda self: above)
    assert np.isfinite(lifted.cluster_graph(tuples, rep, power=1e300)[0]).all()


@WORSE
def test_a_point_of_weight_two_is_two_points_to_lift_graph(given_to_k_means):
    rng = np.random.default_rng(0)
    X, inputs = doubtful_problem(rng)
    counts = rng.integers(0, 4, 90)
    copies = np.repeat(np.arange(90), counts)
    options = {"method": "lift_graph", "bandwidth": 0.7, "rng": 0}
    lc.consensus(inputs, 3, X, weights=counts, **options)
    lc.consensus([p[copies] for p in inputs], 3, X[copies], **options)
    (weighted, _), (repeated, _) = given_to_k_means
    np.testing.assert_allclose(
        (weighted @ weighted.T)[np.ix_(copies, copies)], repeated @ repeated.T, atol=1e-9
    )


def test_points_weigh_one_each_for_lift_graph_unless_given(given_to_k_means):
    X, inputs = doubtful_problem(np.random.default_rng(0))
    partitions = [lc.Partition.from_labels(p) for p in inputs]
    rep, tuples = lc.represent(X, partitions), LabelTuples.from_partitions(partitions)
    lift_graph(tuples, 3, rep=rep, X=X, rng=np.random.default_rng(0))
    lift_graph(tuples, 3, rep=rep, X=X, weights=np.ones(90), rng=np.random.default_rng(0))
    (Y, w), (Y1, w1) = given_to_k_means
    np.testing.assert_array_equal(Y, Y1)
    np.testing.assert_array_equal(w, w1)


def test_lift_graph_goes_by_labels_where_places_say_nothing_of_them():
    """Clusters that are scattered all over X, as domains of genes may be in space."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 3
    X = rng.standard_normal((600, 2))
    found = lc.consensus(
        noisy_inputs(rng, labels, m=5, share=0.1), 3, X, method="lift_graph", rng=0
    )
    assert adjusted_rand_score(labels, found.labels) > 0.95


@pytest.mark.parametrize("k", [1, 2, 3])
@WORSE
def test_lift_graph_has_nothing_to_cut_in_one_cluster_or_a_tuple_each(k):
    """Whoever shares all labels stays together, however far apart."""
    X = np.array([[0.0], [9], [0], [9], [1], [8], [5]])
    inputs = [[0, 0, 1, 1, 1, 1, -1], [0, 0, 0, 0, -1, -1, -1]]
    found = lc.consensus(inputs, k, X, method="lift_graph", rng=0)
    assert found.n_clusters == k
    if k != 2:
        expected = [0] * 7 if k == 1 else [0, 0, 1, 1, 2, 2, 0]  # heaviest, the first of several
        assert oracle.same_clusters(found.labels, expected)


@WORSE
def test_lift_graph_without_links_and_placement_is_lwgp():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 2, k=4)
    inputs = noisy_inputs(rng, labels, share=0.4)
    ours = lc.consensus(inputs, 4, X, method="lift_graph", strength=0, placement=0, rng=0)
    theirs = lc.consensus(inputs, 4, X, method="lwgp", rng=0)
    assert adjusted_rand_score(ours.labels, theirs.labels) > 0.99


@WORSE
def test_points_that_no_input_labels_go_where_they_lie():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 2, k=4)
    inputs = np.array(noisy_inputs(rng, labels))
    inputs[:, 190:] = -1
    for method in ("lift_km", "lift_graph"):
        found = lc.consensus(list(inputs), 4, X, method=method, rng=0)
        assert adjusted_rand_score(labels[190:], found.labels[190:]) == 1


@pytest.mark.parametrize(
    ("options", "says"),
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
def test_bad_settings_of_lift_graph_are_refused(options, says):
    X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
    with pytest.raises(ValueError, match=f"^{says}"):
        lc.consensus([labels, labels], 2, X, method="lift_graph", **options)


@pytest.mark.parametrize("method", ["cspa", "hgpa"])
@WORSE
def test_methods_that_balance_do_so_as_their_authors_have_it(method, monkeypatch):
    """Whole tuples cannot be balanced; points can, and pieces of tuples nearly as well."""
    pytest.importorskip("mtkahypar" if method == "hgpa" else "pymetis")
    labels = np.repeat([0, 1, 2], [900, 60, 40])
    other = np.where(np.arange(1000) < 450, 0, labels + 1)
    inputs = [labels, labels, other]
    whole = lc.consensus(inputs, 3, method=method, whole_tuples=True, rng=0)
    assert np.bincount(whole.labels).max() >= 450
    for most in (3000, 0):
        monkeypatch.setattr("liftcluster.combination.by_labels._POINTS_AS_VERTICES", most)
        found = lc.consensus(inputs, 3, method=method, rng=0)
        assert np.bincount(found.labels).max() <= 1.1 * 1000 / 3
    with pytest.raises(TypeError, match="whole_tuples"):
        lc.consensus(inputs, 3, method="lwgp", whole_tuples=True)


@WORSE
def test_hbgf_has_a_vertex_for_every_point_and_every_cluster(monkeypatch):
    seen = []

    def record(graph, vertices, k, rng):
        seen.append(len(vertices))
        return np.arange(len(vertices)) % k

    monkeypatch.setattr("liftcluster.combination.methods.graph._metis", record)
    labels = np.arange(60) % 3
    inputs = [labels, labels, np.arange(60) % 4]
    lc.consensus(inputs, 3, method="hbgf", partitioner="metis", rng=0)
    lc.consensus(inputs, 3, method="hbgf", partitioner="metis", whole_tuples=True, rng=0)
    assert seen == [60 + 10, 12 + 10]


def test_a_consensus_worse_than_its_inputs_is_said():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 100, 2, k=4)
    with pytest.warns(UserWarning, match=r"farther from its inputs .* method=.medoid"):
        found = lc.consensus([labels, labels, labels, np.zeros(100)], 2, X, method="cspa", rng=0)
    assert found.mean_distance > found.best_input_distance
    medoid = lc.consensus([labels, labels, labels, np.zeros(100)], 4, X, method="medoid", rng=0)
    assert medoid.mean_distance < medoid.best_input_distance


def test_a_single_input_has_no_other_that_would_have_served_better():
    X, labels = blobs(np.random.default_rng(0), 100, 2, k=4)
    found = lc.consensus([labels], 2, X, method="lift_graph", rng=0)
    assert found.mean_distance > found.best_input_distance == 0


def test_either_of_two_inputs_may_have_served_better():
    X, labels = blobs(np.random.default_rng(0), 100, 2, k=4)
    with pytest.warns(UserWarning, match="farther from its inputs"):
        lc.consensus([labels, labels], 2, X, method="lift_graph", rng=0)


def test_a_medoid_is_not_said_to_be_worse_than_an_input():
    """By the variation of information it is, and it was asked for by another measure."""
    inputs = [
        [1, 0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 1],
        [1, 1, 0, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 0, 1, 0, 1],
        [2, 2, 2, 1, 3, 3, 1, 0],
    ]
    found = lc.consensus(inputs, 4, method="medoid", measure="rand")
    assert found.mean_distance > found.best_input_distance


@pytest.mark.parametrize("m", [1, 2, 5])
def test_an_input_is_not_compared_with_itself(m):
    D = np.random.default_rng(0).random((m + 1, m + 1))
    D += D.T
    mean, least = distances_to_inputs(D)
    assert mean == pytest.approx(sum(D[m, i] for i in range(m)) / m)
    to_others = [[D[i, j] for j in range(m) if j != i] for i in range(m)]
    assert least == pytest.approx(min(np.mean(row) if row else 0 for row in to_others))


def test_parts_of_a_cluster_are_listed_from_a_tenth_on_and_eight_at_most():
    parts = [("a", "x", 1.0), ("b", 0, 0.1)]
    assert listed_parts(parts) == "a: x (100%), b: 0 (10%)"
    assert listed_parts([*parts, ("b", 1, 0.09)]) == "a: x (100%), b: 0 (10%) …"
    eight = [("c", i, 0.5) for i in range(8)]
    expected = ", ".join(f"c: {i} (50%)" for i in range(8))
    assert listed_parts(eight) == expected
    assert listed_parts([*eight, ("c", 8, 0.5)]) == expected + " …"


@pytest.mark.parametrize("method", ["lift_km", "lift_graph", "cspa"])
@WORSE
def test_the_distances_a_consensus_carries_are_those_to_its_inputs(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 80, 2, k=3)
    inputs = noisy_inputs(rng, labels, m=4)
    for points, measure in ((X, {"X": X, "bandwidth": "median/4"}), (None, {"measure": "vi"})):
        if points is None and method != "cspa":
            continue
        found = lc.consensus(inputs, 3, points, method=method, rng=0)
        to_inputs = [float(lc.distance(found.labels, p, **measure)) for p in inputs]
        assert found.mean_distance == pytest.approx(np.mean(to_inputs), abs=1e-7)
        between = [[float(lc.distance(p, q, **measure)) for q in inputs] for p in inputs]
        assert found.best_input_distance == pytest.approx(min(map(sum, between)) / 3, abs=1e-7)


@pytest.mark.parametrize("s_each", [(2, 2), (4, 5), (3, 3, 4)])
@pytest.mark.parametrize("k", [2, 4])
def test_k_means_finds_the_best_grouping_of_up_to_ten_clusters(s_each, k):
    rep = small_representation(11, s_each)
    G, w = rep.inner_products(), rep.masses

    def squares(members):
        """Σ w ‖v − mean‖² from inner products alone."""
        inside = np.flatnonzero(members)
        return w[inside].sum() - w[inside] @ G[np.ix_(inside, inside)] @ w[inside] / w[inside].sum()

    cost = {bits: squares([bits >> i & 1 for i in range(rep.s)]) for bits in range(1, 2**rep.s)}

    def best(rest, k):
        """Least squares of `rest`, a set of clusters as bits, in k groups."""
        if k == 1:
            return cost[rest]
        lowest = rest & -rest  # is in some group: try all of them
        return min(
            (
                cost[part] + best(rest ^ part, k - 1)
                for part in range(1, rest)
                if part & rest == part and part & lowest
            ),
            default=np.inf,
        )

    codes = lift_km(rep, k, rng=np.random.default_rng(0))
    found = lift_ssd(rep, group_centres(rep, codes, k))
    assert found == pytest.approx(best(2**rep.s - 1, k), rel=1e-9)


def test_fewer_clusters_than_asked_for_are_said():
    X, labels = blobs(np.random.default_rng(0), 50, 2, k=3)
    with pytest.warns(UserWarning, match="10 clusters were asked for, but the inputs' 3 clusters"):
        found = lc.consensus([labels], 10, X, rng=0)
    assert found.n_clusters == 3


@WORSE
def test_blocks_of_points_are_taken_in_one_after_another():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 400, 3, k=4)
    inputs = {f"p{i}": p for i, p in enumerate(noisy_inputs(rng, labels))}
    lift = lc.make_lift(X, lift="fourier", bandwidth="median/4", rng=0)
    whole = lc.consensus(inputs, 4, X, lift=lift, rng=0)
    first = lc.consensus({i: p[:250] for i, p in inputs.items()}, 4, X[:250], lift=lift, rng=0)
    both = first.partial_fit(X[250:], {i: p[250:] for i, p in inputs.items()})
    np.testing.assert_allclose(both.representation.sums, whole.representation.sums, atol=1e-9)
    assert adjusted_rand_score(both.labels, whole.labels[250:]) == 1
    with pytest.raises(ValueError, match="lift_km and lift_hac can"):
        lc.consensus(inputs, 4, X, method="lwgp", rng=0).partial_fit(X, inputs)


def clear_clusters(rng, k, n_each=60):
    labels = np.arange(n_each * k) % k
    return 10 * np.eye(k)[labels] + rng.standard_normal((n_each * k, k)) / 3, labels


@pytest.mark.parametrize("criterion", ["eigengap", "silhouette"])
def test_the_number_of_clusters_is_found_where_it_is_clear(criterion):
    rng = np.random.default_rng(0)
    for k in (2, 3, 5):
        X, labels = clear_clusters(rng, k)
        inputs = [lc.Partition.from_labels(p) for p in noisy_inputs(rng, labels, share=0.05)]
        rep = lc.represent(X, inputs, bandwidth="median/2")
        curve = choose_k(rep, LabelTuples.from_partitions(inputs), criterion=criterion)
        assert curve.k == k
        assert len(curve.values) == len(curve.candidates) == len(curve.scores)
        assert (np.diff(curve.scores) <= 1e-12).all()


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_number_is_found_from_inputs_that_only_split_the_clusters(k):
    """As inputs of too many clusters do, on which the variance ratio grows with every split."""
    rng = np.random.default_rng(k)
    X, labels = clear_clusters(rng, k)
    inputs = []
    for pieces in (2, 3, 4, 2, 3):
        within = KMeans(k * pieces, n_init=1, random_state=pieces).fit(X).labels_
        inputs.append(lc.Partition.from_labels(labels * 100 + within))
    rep = lc.represent(X, inputs, bandwidth="median/4")
    assert choose_k(rep, LabelTuples.from_partitions(inputs)).k == k


def test_eigengaps_are_their_formula():
    rng = np.random.default_rng(0)
    A = rng.random((8, 8))
    A = A + A.T
    values = np.sort(np.linalg.eigvals(A / A.sum(axis=1, keepdims=True)).real)[::-1]
    expected = [1 - (1 - values[k - 1]) / (1 - values[k]) for k in range(1, 8)]
    keep = values[1:] >= 0  # below zero a walk alternates, which is no slower than forgetting
    np.testing.assert_allclose(
        relative_eigengaps(A)[:-1][keep], np.array(expected)[keep], atol=1e-7
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_has_a_curve(criterion):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    parts = [lc.Partition.from_labels(rng.integers(k, size=40)) for k in (3, 2, 3)]
    rep = lc.represent(X, parts, bandwidth=1.0)
    curve = choose_k(rep, LabelTuples.from_partitions(parts), criterion=criterion)
    assert np.isfinite(curve.values).all()
    assert curve.candidates.tolist() == [2, 3, 4, 5]
    for k, score in zip(curve.candidates, curve.scores, strict=True):
        assert score == lift_ssd(rep, group_centres(rep, lift_hac(rep, int(k)), int(k)))
    with pytest.raises(ValueError, match="criterion must be one of"):
        choose_k(rep, criterion="best")
    with pytest.raises(ValueError, match="needs the labels of the same clusters"):
        choose_k(rep)


def test_the_eigengap_counts_as_far_as_clusters_are_well_grouped():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    parts = [lc.Partition.from_labels(rng.integers(k, size=40)) for k in (3, 2, 3)]
    rep, tuples = lc.represent(X, parts, bandwidth=1.0), LabelTuples.from_partitions(parts)
    gaps = relative_eigengaps(lifted.cluster_graph(tuples, rep)[0])
    widths = choose_k(rep, criterion="silhouette").values
    np.testing.assert_allclose(choose_k(rep, tuples).values, gaps[1:5] * widths, rtol=1e-12)


@WORSE
def test_auto_hardens_soft_inputs_to_count_their_clusters():
    rng = np.random.default_rng(0)
    X, labels = clear_clusters(rng, 3)
    soft = [0.8 * np.eye(4)[p] + 0.05 for p in noisy_inputs(rng, labels, share=0.05)]
    for lift in ("exact", "nystrom"):
        found = lc.consensus([*soft, labels], "auto", X, lift=lift, rng=0)
        assert found.n_clusters == 3
        assert found.curve.criterion == "eigengap"
        hard = [lc.Partition.from_labels(p.argmax(axis=1)) for p in soft]
        hard.append(lc.Partition.from_labels(labels))
        used = found.representation.lift
        how = {"kernel": used.kernel} if lift == "exact" else {"lift": used}
        expected = choose_k(lc.represent(X, hard, **how), LabelTuples.from_partitions(hard))
        np.testing.assert_allclose(found.curve.values, expected.values, rtol=1e-6)


@pytest.mark.parametrize(
    ("method", "options"),
    [("lift_hac", {"linkage": "single"}), (AgglomerativeClustering(linkage="complete"), {})],
)
@WORSE
def test_later_blocks_are_grouped_as_the_first_was(method, options, monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 2, k=3)
    inputs = noisy_inputs(rng, labels, share=0.4)
    first = lc.consensus(
        [p[:100] for p in inputs], 3, X[:100], method=method, lift="fourier", rng=0, **options
    )
    both = first.partial_fit(X[100:], [p[100:] for p in inputs])
    again = lc.consensus(
        inputs, 3, X, method=method, lift=first.representation.lift, rng=0, **options
    )
    assert adjusted_rand_score(both.labels, again.labels[100:]) == 1
    assert both.grouping == first.grouping


@WORSE
def test_auto_chooses_and_shows_its_curve():
    rng = np.random.default_rng(0)
    labels = np.arange(150) % 3
    X = 10 * np.eye(3)[labels] + rng.standard_normal((150, 3)) / 3
    found = lc.consensus(noisy_inputs(rng, labels, share=0.05), "auto", X, rng=0)
    assert found.n_clusters == 3
    import matplotlib

    matplotlib.use("Agg")
    ax = found.curve.plot()
    assert ax.get_xlabel() == "number of clusters"
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p, X: lc.consensus(p, 2), "this needs the points X; .* methods cspa, hgpa, .*medoid$"),
        (lambda p, X: lc.consensus(p, 2, method="lift_graph"), "this needs the points X"),
        (lambda p, X: lc.consensus(p, 2, method=AgglomerativeClustering()), "this needs the points X"),
        (lambda p, X: lc.consensus(p, "auto", method="lwgp"), "this needs the points X"),
        (lambda p, X: lc.consensus(p, 0, X), "n_clusters must be at least 1"),
        (lambda p, X: lc.consensus(p, np.array([2, 3]), X), "n_clusters must be a whole number"),
        (lambda p, X: lc.consensus(p, "many", X), "n_clusters must be a whole number"),
        (lambda p, X: lc.consensus(p, 2, X, method="best"), "method must be one of lift_km"),
        (lambda p, X: lc.consensus(p, 2, X, n_init=0), "n_init must be at least 1"),
        (lambda p, X: lc.consensus(p, 2, X, lift=np.array(["auto", "auto"])), "lift must be one of"),
        (lambda p, X: lc.consensus([], 2, X), "no partitions"),
        (lambda p, X: lc.consensus(p, 2, X, method="lift_hac", linkage="centroid"), "linkage must be"),
        (lambda p, X: lc.base_partitions(X, 100), "n_clusters=100 is more than the 6 points"),
        (lambda p, X: lc.base_partitions(X, 2, "all"), "kind must be one of"),
    ],
)  # fmt: skip
def test_bad_calls_are_refused(call, says):
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises((TypeError, ValueError), match=f"^{says}"):
        call([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], X)


def test_base_partitions_are_seeded_and_as_described():
    X, _ = blobs(np.random.default_rng(0), 100, 2)
    paper = lc.base_partitions(X, 4, rng=0)
    assert [p.k for p in paper] == [4] * 5
    for a, b in zip(paper, lc.base_partitions(X, 4, rng=0), strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
    for how, p in zip(("single", "average", "complete", "ward"), paper[1:], strict=True):
        theirs = AgglomerativeClustering(4, linkage=how).fit(X).labels_
        assert adjusted_rand_score(theirs, p.labels) == 1
    kmeans = lc.base_partitions(X, 4, "kmeans", rng=0)
    assert len(kmeans) == 20
    assert {p.k for p in kmeans} <= set(range(4, 11))
    assert len({p.k for p in kmeans}) > 3


@WORSE
class TestEstimators:
    def test_fit_makes_its_own_partitions_or_takes_given_ones(self):
        X = load_iris().data
        own = lc.LiftedConsensus(3, random_state=0).fit(X)
        given = lc.LiftedConsensus(3, random_state=0).fit(
            X, partitions=lc.base_partitions(X, 3, rng=0)
        )
        assert adjusted_rand_score(own.labels_, given.labels_) > 0.7
        np.testing.assert_array_equal(own.predict(X), own.labels_)
        np.testing.assert_allclose(own.predict_proba(X), own.memberships_, atol=1e-12)
        hac = lc.LiftedConsensus(3, clusterer="hac", random_state=0).fit(X)
        assert hac.consensus_.method == "lift_hac"

    def test_pipelines_clones_and_searches_work(self):
        X, y = load_iris(return_X_y=True)
        pipe = make_pipeline(StandardScaler(), lc.LiftedConsensus(3, random_state=0))
        assert adjusted_rand_score(y, pipe.fit_predict(X)) > 0.4
        assert clone(pipe)[-1].get_params()["n_clusters"] == 3
        search = GridSearchCV(
            lc.LiftedConsensus(3, random_state=0),
            {"clusterer": ["kmeans", "hac"]},
            scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
            cv=2,
        ).fit(X[::2], y[::2])
        assert search.best_score_ > 0.3

    def test_partial_fit_takes_blocks_with_and_without_partitions(self):
        rng = np.random.default_rng(0)
        X, labels = blobs(rng, 300, 2, k=3)
        inputs = noisy_inputs(rng, labels)
        model = lc.LiftedConsensus(3, random_state=0)
        for rows in (slice(0, 100), slice(100, 200), slice(200, 300)):
            model.partial_fit(X[rows], partitions=[p[rows] for p in inputs])
        assert adjusted_rand_score(labels, model.predict(X)) > 0.8
        own = lc.LiftedConsensus(3, random_state=0)
        for rows in (slice(0, 150), slice(150, 300)):
            own.partial_fit(X[rows])
        assert adjusted_rand_score(labels, own.predict(X)) > 0.8
        assert own.consensus_.representation.s == 30  # two blocks of five partitions of three

    def test_the_lifter_gives_the_kernel(self):
        X, _ = blobs(np.random.default_rng(0), 50, 3)
        lifter = lc.ClusterLifter(4000, bandwidth=2.0, random_state=0).fit(X)
        Z = lifter.transform(X)
        np.testing.assert_allclose(Z @ Z.T, lc.Gaussian(2.0)(X, X), atol=0.1)
        lifter.set_output(transform="pandas")
        assert list(lifter.transform(X).columns[:2]) == ["clusterlifter0", "clusterlifter1"]

    @parametrize_with_checks(
        [
            lc.LiftedConsensus(n_clusters=3),
            lc.LiftedConsensus(n_clusters=2, clusterer="hac"),
            lc.ClusterLifter(),
            lc.ClusterLifter(1),
            lc.ClusterLifter(lift="nystrom"),
        ]
    )
    def test_scikit_learn_accepts_the_estimators(self, estimator, check):
        check(estimator)


def test_a_small_block_of_points_costs_no_clusters():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 400, 5)
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


def test_new_points_on_which_inputs_agree_still_go_where_they_lie():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 200, 2, k=4)
    inputs = noisy_inputs(rng, labels, m=3, share=0.05)
    first = lc.consensus(inputs, 4, X, lift="nystrom", rng=0)
    misplaced = labels.copy()
    misplaced[:4] = misplaced[3::-1]
    both = first.partial_fit(X, [misplaced] * 3)
    np.testing.assert_array_equal(both.labels, both.predict(X))
    assert adjusted_rand_score(both.labels, labels) == 1


@pytest.mark.parametrize("method", ["lift_km", "lift_graph", "evidence"])
@WORSE
def test_a_consensus_weighs_points_as_its_inputs_do(method):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 60, 2, k=3)
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
def test_a_notebook_shows_a_row_for_each_of_thirty_clusters(k):
    labels = np.arange(4 * k) // 4
    other = np.where(np.arange(4 * k) % 8 == 7, 0, labels)  # doubt about every other cluster
    found = lc.consensus([labels, labels, other], k, method="evidence")
    html = found._repr_html_()
    table = html[html.index("<table") : html.index("</table>")]
    cells = [re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row) for row in table.split("<tr>")[1:]]
    cells = [[re.sub("<.*?>", "", cell) for cell in row] for row in cells]
    assert cells[0] == ["cluster", "share", "confidence", "made of (share of that cluster)"]
    assert len(cells) == 1 + 30
    for i, row in enumerate(cells[1:]):
        sure = literal_confidence(found)[found.labels == i].mean()
        assert row == [str(i), f"{1 / k:.1%}", f"{sure:.2f}", listed_parts(found.composition[i])]
    assert len({row[2] for row in cells[1:]}) > 1
    paragraphs = [re.sub("<.*?>", "", part) for part in re.findall("<p>(.*?)</p>", html)]
    assert paragraphs == [
        repr(found),
        *["… and 1 more"] * (k - 30),
        f"mean distance to the inputs {found.mean_distance:.4f}; the most central input has "
        f"{found.best_input_distance:.4f} to the others",
    ]
    assert re.sub("<p>.*?</p>|<table>.*?</table>", "", html) == ""


def test_new_points_need_the_partitions_of_the_old():
    X, labels = blobs(np.random.default_rng(0), 60, 2)
    found = lc.consensus({"a": labels, "b": labels}, 4, X, rng=0)
    with pytest.raises(ValueError, match=r"same partitions as the old: \['a', 'b'\], got \['a'\]"):
        found.partial_fit(X, {"a": labels})


@pytest.mark.parametrize("method", ["majority", "medoid"])
def test_a_method_that_chooses_k_itself_says_so(method):
    X, labels = blobs(np.random.default_rng(0), 60, 2)
    with pytest.warns(
        UserWarning, match=f"{method} chooses the number of clusters itself: 4, not 2"
    ):
        lc.consensus([labels] * 3, 2, X, method=method, rng=0)
    assert lc.consensus([labels] * 3, 4, X, method=method, rng=0).n_clusters == 4


def test_a_method_that_is_asked_for_k_does_not_say_that_it_chooses():
    inputs = [[0, 0, 1, 1], [0, 0, 1, 1]]
    with pytest.warns(UserWarning, match="clusters") as said:
        found = lc.consensus(inputs, 3, method="evidence")
    assert found.n_clusters == 2
    assert ["only 2 groups" in str(warning.message) for warning in said] == [True]


def test_groups_are_called_by_the_inputs_whatever_the_seed():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 100)
    X = (9 * rng.normal(size=(5, 2)))[truth] + rng.normal(size=(100, 2))
    inputs = [truth, np.where(rng.random(100) < 0.05, 0, truth)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = [lc.consensus(inputs, 5, X, rng=seed).labels.tolist() for seed in range(8)]
    assert found == found[:1] * 8


LABEL_METHODS = [m.name for m in lc.METHODS.values() if m.needs in ("labels", "distances")]


@pytest.mark.parametrize("method", LABEL_METHODS)
def test_inputs_that_nothing_links_are_refused_in_plain_words(method):
    left, right = [0, 0, 1, 1, -1, -1, -1, -1], [-1, -1, -1, -1, 0, 0, 1, 1]
    says = "'left' and 'right' share no labelled point.*give the points X"
    with pytest.raises(ValueError, match=says):
        lc.consensus({"left": left, "right": right}, 2, method=method, rng=0)
    with pytest.raises(ValueError, match=says):  # nor does a point that weighs nothing
        lc.consensus(
            {"left": [0, 0, 1, 1, 1, -1, -1, -1], "right": right},
            2,
            method=method,
            weights=[1, 1, 1, 1, 0, 1, 1, 1],
            rng=0,
        )


@pytest.mark.filterwarnings("ignore:(majority|medoid) chooses")
@pytest.mark.parametrize("method", ["cspa", "mcla", "hbgf", "lwea", "lwgp", "evidence", "majority"])
def test_inputs_that_share_no_point_are_combined_through_others(method):
    """Two restrictions of a clustering, and the whole of it: nothing is in doubt."""
    truth = np.repeat([0, 1, 2], [20, 40, 20])
    left, right = np.where(np.arange(80) < 40, truth, -1), np.where(np.arange(80) < 40, -1, truth)
    options = {"partitioner": "spectral"} if method in ("cspa", "mcla", "hbgf") else {}
    options |= {"whole_tuples": True} if lc.METHODS[method].balanced else {}
    found = lc.consensus([left, right, truth], 3, method=method, rng=0, **options)
    assert adjusted_rand_score(found.labels, truth) == 1
    assert found.mean_distance == found.best_input_distance == 0


def test_distances_are_averaged_over_inputs_that_share_points():
    a, b, c = [0, 0, 1, 1, -1, -1], [-1, -1, -1, -1, 0, 1], [0, 0, 0, 1, 1, 1]
    found = lc.consensus([a, b, c], 2, method="evidence", rng=0)

    def between(p, q):
        return lc.distance(p, q, measure="vi")

    to_inputs = [between(found.labels, p) for p in (a, b, c)]
    means = [between(a, c), between(b, c), (between(a, c) + between(b, c)) / 2]
    assert found.mean_distance == pytest.approx(np.mean(to_inputs))
    assert found.best_input_distance == pytest.approx(min(means))


def test_the_medoid_of_inputs_that_share_no_point_is_refused():
    inputs = {"a": [0, 0, 1, -1], "b": [-1, -1, -1, 0], "c": [0, 0, 1, 1]}
    with pytest.raises(ValueError, match="medoid compares every two inputs, and 'a' and 'b'"):
        lc.consensus(inputs, 2, method="medoid")
