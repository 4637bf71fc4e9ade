"""Consensus of lifted cluster vectors: k-means and linkage against brute force and formulas."""

import itertools
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods import lifted
from liftcluster.combination.methods.lifted import (
    group_by,
    group_centres,
    lift_hac,
    lift_km,
    lift_ssd,
)
from liftcluster.combination.methods.linkage import weighted_ward
from liftcluster.combination.methods.tuples import LabelTuples
from support.amount import examples
from support.consensus_cases import noisy_inputs, separated_blobs


def small_representation(seed, s_each=(3, 2, 3)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    parts = [np.concatenate([np.arange(k), rng.integers(k, size=40 - k)]) for k in s_each]
    return lc.represent(X, parts, bandwidth=1.0, weights=rng.uniform(0.5, 2, 40))


OPTIONS = {
    "n_init": 2,
    "linkage": "average",
    "theta": 0.5,
    "limit": 100,
    "partitioner": "spectral",
    "imbalance": 0.1,
    "alpha": 0.25,
    "lam": 0.1,
    "eta": 0.6,
    "steps": 3,
    "max_iter": 3,
}
PACKAGES = {"hgpa": "mtkahypar", "cspa": "pymetis", "mcla": "pymetis", "hbgf": "pymetis"}


@pytest.mark.parametrize(
    "method",
    [m for m in lc.METHODS.values() if m.needs in ("vectors", "labels")],
    ids=attrgetter("name"),
)
def test_a_method_accepts_exactly_the_options_it_declares(method):
    if method.name in PACKAGES:
        pytest.importorskip(PACKAGES[method.name])
    X, labels = separated_blobs(np.random.default_rng(0), 30, 2, 3)
    inputs = [lc.Partition.from_labels(p) for p in noisy_inputs(np.random.default_rng(1), labels)]
    rep = lc.represent(X, inputs)
    first = rep if method.needs == "vectors" else LabelTuples.from_partitions(inputs)
    for name, value in OPTIONS.items():
        call = partial(method.function, first, 3, rng=np.random.default_rng(0))
        if name in method.options:
            assert len(call(**{name: value}))
        else:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                call(**{name: value})
    assert set(method.options) - set(OPTIONS) == set(method.more_options)
    assert method.more_options == (("whole_tuples",) if method.balanced else ())


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("medoid", {"measure", "measure_options"}),
        ("lift_places", {"n_neighbours"}),
        ("lift_walk", {"n_neighbours"}),
        ("auto", set()),
    ],
)
def test_other_methods_declare_their_options(method, options):
    assert set(lc.METHODS[method].options) == options


def test_lift_km_computes_the_inner_products_once(monkeypatch):
    rep = small_representation(0)
    calls = []
    inner_products = lc.Representation.inner_products
    monkeypatch.setattr(
        lc.Representation, "inner_products", lambda self: calls.append(1) or inner_products(self)
    )
    wide = replace(
        rep, sums=np.pad(rep.sums, ((0, 0), (0, rep.s)))
    )  # more components than clusters
    lift_km(wide, 2, n_init=5, rng=np.random.default_rng(0))
    assert len(calls) == 1


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
def test_weighted_ward_equals_naive_ward(seed):
    rng = np.random.default_rng(seed)
    V, w = rng.standard_normal((12, 3)), rng.uniform(0.1, 2, 12)
    for k in range(1, 13):
        found = weighted_ward(V, w, k)
        assert len(set(found)) == k
        assert adjusted_rand_score(found, naive_ward(V, w, k)) == 1


def test_weighted_ward_with_equal_weights_equals_scikit_learn():
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
def test_linkages_of_lifted_clusters_equal_naive_linkage(linkage, apart, seed):
    rep = small_representation(seed, (3, 4, 5))
    D = np.array([[np.linalg.norm(u - v) for v in rep.vectors] for u in rep.vectors])
    for k in range(1, rep.s + 1):
        found = lift_hac(rep, k, linkage=linkage)
        assert sorted(set(found)) == list(range(k))
        assert adjusted_rand_score(found, naive_linkage(D, rep.masses, k, apart)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_default_linkage_is_ward(seed):
    rep = small_representation(seed, (3, 4, 5))
    for k in range(1, rep.s + 1):
        expected = naive_ward(rep.vectors, rep.masses, k)
        for options in ({}, {"linkage": "ward"}):
            assert adjusted_rand_score(lift_hac(rep, k, **options), expected) == 1


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_single_cluster_is_one_group_with_every_linkage(linkage):
    rep = small_representation(0, (1,))
    assert lift_hac(rep, 1, linkage=linkage).tolist() == [0]


@pytest.mark.parametrize("seed", range(4))
def test_k_means_is_never_worse_than_ward(seed):
    rep = small_representation(seed, (6, 7, 8))
    by_k_means = lift_km(rep, 5, n_init=1, rng=np.random.default_rng(0))
    by_ward = weighted_ward(rep.vectors, rep.masses, 5)
    least = lift_ssd(rep, group_centres(rep, by_ward, 5))
    assert lift_ssd(rep, group_centres(rep, by_k_means, 5)) <= least + 1e-12


def test_many_clusters_are_grouped_without_ward(monkeypatch):
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


def test_fewer_distinct_vectors_than_groups_do_not_warn():
    X, labels = separated_blobs(np.random.default_rng(0), 60, 2, k=3)
    rep = lc.represent(X, [labels] * 3, bandwidth=1.0)
    codes = lift_km(rep, 5, rng=np.random.default_rng(0))
    assert lift_ssd(rep, group_centres(rep, codes, codes.max() + 1)) == pytest.approx(0, abs=1e-12)


class Recorder(BaseEstimator):
    """A clusterer that records its input and labels the vectors 5 and 7 in turn."""

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
def test_clusterer_receives_vectors_weights_n_clusters_and_random_state(kind, lift):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 40, 2, k=3)
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


def test_lift_ssd_equals_its_formula():
    rep = small_representation(1)
    centres = np.random.default_rng(0).standard_normal((3, rep.n_components))
    expected = sum(
        m * min(np.sum((v - c) ** 2) for c in centres)
        for m, v in zip(rep.masses, rep.vectors, strict=True)
    )
    assert lift_ssd(rep, centres) == pytest.approx(expected)


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
