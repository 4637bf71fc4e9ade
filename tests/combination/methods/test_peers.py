"""EC-CMS, SDGCA, ECPCS and k-HyperEdge Medoids against their formulas on all pairs of points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from liftcluster.combination.methods import enhancement, evidence, hyperedges, propagation
from liftcluster.combination.methods.enhancement import ec_cms, sdgca
from liftcluster.combination.methods.hyperedges import hyperedge_medoids
from liftcluster.combination.methods.linkage import average_linkage
from liftcluster.combination.methods.propagation import ecpcs_hc, ecpcs_mc, walked_similarity
from support import oracles_consensus, oracles_peers
from support.label_cases import noisy_copies, tuples_of

# Elimination and sums of n terms in another order, for matrices of condition n / penalty.
ROUNDING = 1e-11


@pytest.fixture(autouse=True)
def one_thread():
    """Threads of BLAS would take turns at the small matrices of the literal versions."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def linked(monkeypatch):
    """The similarities that average linkage gets."""
    seen = []

    def link(S, weights, k):
        seen.append(S.copy())
        return average_linkage(S, weights, k)

    for module in (enhancement, evidence):
        monkeypatch.setattr(module, "average_linkage", link)
    return seen


def cases(noise, missing, n=40, k=3, m=6, seeds=3):
    for seed in range(seeds):
        labels = noisy_copies(np.random.default_rng(seed), n, k, m, noise, missing)[1]
        yield labels[(labels >= 0).any(axis=1)]


def between_points(S, tuples):
    """(n, n) entries of all points, without those of a point with itself."""
    return S[np.ix_(tuples.inverse, tuples.inverse)] * (1 - np.eye(len(tuples.inverse)))


# co-association that is improved: tuples give what n points give


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("noise", [0.05, 0.25, 0.5])
def test_ec_cms_on_tuples_equals_its_steps_on_points(noise, missing, linked):
    for labels in cases(noise, missing):
        tuples = tuples_of(labels)
        ec_cms(tuples, 3)
        C = oracles_peers.ec_cms(labels)
        expected = (C + C.T) / 2 * (1 - np.eye(len(C)))
        np.testing.assert_allclose(between_points(linked.pop(), tuples), expected, atol=ROUNDING)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("noise", [0.05, 0.25, 0.5])
def test_sdgca_on_tuples_equals_its_steps_on_points(noise, missing, linked):
    for labels in cases(noise, missing):
        tuples = tuples_of(labels)
        sdgca(tuples, 3)
        expected = oracles_peers.sdgca(labels) * (1 - np.eye(len(labels)))
        np.testing.assert_allclose(between_points(linked.pop(), tuples), expected, atol=ROUNDING)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_sdgca_equals_its_steps_where_pairs_are_dissimilar(missing, linked):
    """No cluster joins the three groups; few points are in the cluster of another group."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels = np.column_stack([3 * (np.arange(36) % 3) + rng.integers(3, size=36)] * 4)
        labels[:, :2] = rng.permuted(labels[:, :2].reshape(12, 3, 2), axis=0).reshape(36, 2)
        labels[:2, 3] = labels[1::-1, 3]
        labels[rng.random(labels.shape) < missing] = -1
        labels = labels[(labels >= 0).any(axis=1)]
        tuples = tuples_of(labels)
        known = oracles_peers.enhanced_co_association(tuples.codes)
        assert (known[0] < 0.2).sum() > 100
        assert known[1].all() == (missing == 0)
        sdgca(tuples, 3)
        expected = oracles_peers.sdgca(tuples.codes[tuples.inverse]) * (1 - np.eye(len(labels)))
        np.testing.assert_allclose(between_points(linked.pop(), tuples), expected, atol=ROUNDING)


def test_sdgca_raises_similar_and_lowers_dissimilar_pairs():
    W = np.array([[1.0, 0.5], [0.5, 1.0]])
    own = [1.0, 1.0]
    S, D = np.array([[1, 0.6], [0.6, 1], own]), np.array([[0, 0.4], [0.4, 0], own])
    assert enhancement.corrected(S, D, W)[0, 1] == pytest.approx(1 - 0.8 * 0.5)
    assert enhancement.corrected(D, S, W)[0, 1] == pytest.approx(0.8 * 0.5)


def test_a_dissimilar_pair_is_not_known_to_be_similar():
    W = np.array([[0.9, 0.4, 0.2], [0.4, 1, 0.5], [0.2, 0.5, 1]])
    apart = np.array([[0, 0.9, 0.7], [0.9, 0, 0.7], [0.7, 0.7, 0]])
    similar, dissimilar = enhancement._known_guides(W > 0.3, W, apart)
    expected = [[0.98, 0, 0], [0, 1, 0.9], [0, 0.9, 1], [1, 1, 1]]
    np.testing.assert_allclose(similar, expected, atol=1e-12)
    assert dissimilar.tolist() == [[0, 0.9, 0], [0.9, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_options_of_ec_cms_and_sdgca_are_used(linked):
    (labels,) = cases(0.3, 0.0, seeds=1)
    tuples = tuples_of(labels)
    ec_cms(tuples, 3, alpha=0.6, lam=0.5)
    C = oracles_peers.ec_cms(labels, 0.6, 0.5)
    off = 1 - np.eye(len(labels))
    found = between_points(linked.pop(), tuples)
    np.testing.assert_allclose(found, (C + C.T) / 2 * off, atol=ROUNDING)
    sdgca(tuples, 3, lam=0.5, eta=0.6, theta=0.4)
    expected = oracles_peers.sdgca(labels, 0.5, 0.6, 0.4) * off
    np.testing.assert_allclose(between_points(linked.pop(), tuples), expected, atol=ROUNDING)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 50.0]))
def test_the_inverse_on_tuples_is_that_on_points(seed, penalty):
    rng = np.random.default_rng(seed)
    t = int(rng.integers(1, 6))
    counts = rng.integers(1, 4, t)
    H = np.triu(rng.random((t, t)) * (rng.random((t, t)) < 0.4), 1)
    H = H + H.T + np.diag(rng.integers(0, 2, t))
    X = rng.standard_normal((t + 1, t))
    graph = enhancement._Graph(H, counts.astype(float))
    of_point = np.repeat(np.arange(t), counts)

    def spread(Y):
        full = Y[:-1][np.ix_(of_point, of_point)]
        np.fill_diagonal(full, Y[-1, of_point])
        return full

    edges = spread(np.vstack([H, np.zeros(t)]))
    A = 2 * (np.diag(edges.sum(axis=1)) - edges) + 2 * penalty * np.eye(len(edges))
    expected = np.linalg.solve(A, spread(X))
    np.testing.assert_allclose(spread(graph.inverse(penalty)(X)), expected, atol=1e-9 / penalty)
    assert graph.norm(X) == pytest.approx(np.linalg.norm(spread(X)), rel=1e-12)


@pytest.mark.parametrize("method", [ec_cms, sdgca])
def test_steps_end_where_no_pair_is_reliable(method):
    # Any two points agree in at most one of four inputs.
    labels = np.array([[0, 0, 0, 0], [0, 1, 1, 1], [1, 0, 1, 2], [1, 1, 0, 3]])
    found = method(tuples_of(labels), 2)
    assert sorted(set(found)) == [0, 1]


@pytest.mark.parametrize("method", [ec_cms, sdgca])
def test_inputs_of_one_cluster_and_equal_ones_are_no_division_by_zero(method):
    labels = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 1], [0, 1, 1], [0, 2, 2], [0, 2, -1]])
    assert method(tuples_of(labels), 3).tolist() == [0, 1, 2, 2]


def test_ec_cms_joins_points_through_reliable_pairs():
    """A chain a - b - c: a and c agree in half of the inputs, as do c and d."""
    a, b = [0] * 8, [0] * 6 + [1] * 2
    c, d = [0] * 4 + [1] * 4, [2] * 4 + [1] * 4
    tuples = tuples_of(np.array([a, b, c, d]))
    found = ec_cms(tuples, 2)
    assert found[0] == found[1] == found[2] != found[3]


@pytest.mark.parametrize("method", [ec_cms, sdgca])
@pytest.mark.parametrize("unit", [1e-90, 0.1, 1e12, 1e90])
def test_any_unit_of_the_weights_recovers_planted_clusters(method, unit):
    truth, labels = noisy_copies(np.random.default_rng(0), 300, 3, 9, 0.1)
    tuples = tuples_of(labels, np.full(300, unit))
    found = method(tuples, 3)[tuples.inverse]
    assert oracles_consensus.same_clusters(found, truth)
    if unit < 1:  # as many points as there are
        plain = tuples_of(labels)
        np.testing.assert_array_equal(found, method(plain, 3)[plain.inverse])


# random walks between clusters


@given(st.integers(0, 2**32 - 1), st.integers(1, 21))
def test_walked_similarity_equals_cosines_of_trajectories(seed, steps):
    rng = np.random.default_rng(seed)
    s = int(rng.integers(1, 8))
    J = np.triu(rng.random((s, s)) * (rng.random((s, s)) < 0.5), 1)
    J = J + J.T + np.eye(s)
    np.testing.assert_allclose(
        walked_similarity(J, steps), oracles_peers.walks(J, steps), atol=1e-9
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("steps", [1, 20])
def test_ecpcs_hc_links_the_mean_similarity_of_clusters(missing, steps, linked):
    for labels in cases(0.4, missing):
        tuples = tuples_of(labels)
        ecpcs_hc(tuples, 3, steps=steps)
        expected = oracles_peers.enhanced_co_association(labels, steps)[0]
        expected *= 1 - np.eye(len(labels))
        np.testing.assert_allclose(between_points(linked.pop(), tuples), expected, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_ecpcs_mc_votes_for_meta_clusters_by_their_mean(missing, monkeypatch):
    for labels in cases(0.4, missing):
        clusters = oracles_consensus.clusters_of(labels)
        Z = oracles_peers.walks(oracles_consensus.jaccard(clusters), 20)
        meta = []

        def cut(A, weights, k, rng, meta=meta, Z=Z):
            np.testing.assert_allclose(A, Z, atol=1e-9)
            meta.append(np.arange(len(A)) * 7 % 5 % k)
            return meta[0]

        monkeypatch.setattr(propagation, "normalised_cut", cut)
        tuples = tuples_of(labels)
        found = ecpcs_mc(tuples, 3)[tuples.inverse]
        expected = oracles_consensus.largest_mean_association(clusters, meta[0], 3)
        assert oracles_consensus.same_clusters(found, expected)


def test_similar_clusters_join_points_that_share_none():
    """x and y share no cluster, but their clusters have the same neighbours."""
    labels = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 2], [3, 2], [2, 3], [3, 3]])
    assert ecpcs_hc(tuples_of(labels), 2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


# clusters that stand for others


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("k", "noise"), [(2, 0.2), (3, 0.4), (5, 0.4)])
def test_hyperedge_medoids_grow_as_they_do_point_by_point(k, noise, missing, monkeypatch):
    medoids = []

    def choose(D, r):
        medoids.append(np.random.default_rng(len(D)).choice(len(D), r, replace=False))
        return medoids[-1]

    monkeypatch.setattr(hyperedges, "exchanged_medoids", choose)
    for labels in cases(noise, missing, n=60, k=k, m=7, seeds=5):
        different = np.sort(np.unique(labels, axis=0, return_index=True)[1])
        labels = labels[different]
        tuples = tuples_of(labels)
        found = hyperedges._grow(tuples, k)
        expected = oracles_peers.hyperedge_medoids(tuples.codes, medoids[-1])
        assert oracles_consensus.same_clusters(found, expected)


def test_moving_points_never_lowers_the_hyperedge_objective(monkeypatch):
    (labels,) = cases(0.4, 0.1, n=120, k=4, seeds=1)
    tuples = tuples_of(labels)
    H, seen = tuples.indicator().toarray(), []
    belonging = hyperedges._belonging

    def watch(H_, shares, found, k):
        if (found >= 0).all():
            parts = H.T @ (np.eye(k)[found] * tuples.weights[:, None])
            seen.append((parts**2 / (H.T @ tuples.weights)[:, None]).sum())
        return belonging(H_, shares, found, k)

    monkeypatch.setattr(hyperedges, "_belonging", watch)
    hyperedge_medoids(tuples, 4)
    assert len(seen) > 1
    assert (np.diff(seen) >= -1e-9 * seen[0]).all()


# options and memory


@pytest.mark.parametrize("method", [ec_cms, sdgca, ecpcs_hc, ecpcs_mc, hyperedge_medoids])
def test_options_that_make_no_sense_are_refused(method):
    labels = noisy_copies(np.random.default_rng(0), 60, 3, 5, 0.1)[1]
    tuples = tuples_of(labels)
    for name, value in [("limit", 1), ("steps", 0), ("lam", 0), ("alpha", -1), ("eta", 0)]:
        if name in method.__kwdefaults__:
            with pytest.raises(ValueError, match=f"{name} must be"):
                method(tuples, 3, **{name: value})


def test_memory_is_checked_before_the_first_step(monkeypatch):
    monkeypatch.setenv("LIFTCLUSTER_MEMORY_GIB", "0.2")
    rng = np.random.default_rng(0)
    tuples = tuples_of(rng.integers(30, size=(1300, 6)))
    with pytest.raises(MemoryError, match=r"all pairs of 1,300 tuples.*take a smaller limit"):
        ec_cms(tuples, 3, limit=1300)
