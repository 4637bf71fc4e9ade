"""Consensus from labels only: planted clusters, literal formulas and invariances."""

import ctypes
import os
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc
from liftcluster.combination.methods import graph, spectral
from liftcluster.combination.methods.enhancement import ec_cms, sdgca
from liftcluster.combination.methods.evidence import cluster_reliability, evidence, lwea, lwgp
from liftcluster.combination.methods.graph import cspa, hbgf, hgpa, mcla
from liftcluster.combination.methods.hyperedges import hyperedge_medoids
from liftcluster.combination.methods.linkage import average_linkage
from liftcluster.combination.methods.propagation import ecpcs_hc, ecpcs_mc
from liftcluster.combination.methods.spectral import normalised_cut
from liftcluster.combination.methods.voting import majority
from support import oracles_consensus as oracle
from support.amount import examples
from support.consensus_cases import WORSE
from support.label_cases import label_arrays, noisy_copies, tuples_of

needs_metis = pytest.mark.skipif(find_spec("pymetis") is None, reason="needs pymetis")


needs_kahypar = pytest.mark.skipif(find_spec("mtkahypar") is None, reason="needs mtkahypar")


ON_METIS = [pytest.param(method, marks=needs_metis) for method in (cspa, mcla, hbgf)]
ON_GRAPHS = [*ON_METIS, pytest.param(hgpa, marks=needs_kahypar)]
SPECTRAL = [partial(method, partitioner="spectral") for method in (cspa, mcla, hbgf)]
PEERS = [ec_cms, sdgca, ecpcs_hc, hyperedge_medoids]  # no random numbers
ALONE = [evidence, lwea, lwgp, ecpcs_mc, *PEERS, *SPECTRAL]
WITH_K = [*ON_GRAPHS, *ALONE]
ALL = [*WITH_K, majority]


def solve(method, labels, k, *, weights=None, seed=0, **options):
    tuples = tuples_of(labels, weights)
    return method(tuples, k, rng=np.random.default_rng(seed), **options)[tuples.inverse]


@given(label_arrays(), st.floats(0.1, 2))
def test_cluster_reliability_equals_its_formula(labels, theta):
    w = np.random.default_rng(1).uniform(0.5, 2, len(labels))
    expected = np.concatenate(oracle.reliability(labels, theta, w))
    u = cluster_reliability(tuples_of(labels, w), theta)
    np.testing.assert_allclose(u, expected, rtol=1e-10)


# average linkage


@pytest.mark.parametrize("seed", range(10))
def test_weighted_average_linkage_equals_scipy_on_repeated_points(seed):
    rng = np.random.default_rng(seed)
    t, k = 12, 4
    S = rng.uniform(0, 0.9, (t, t))  # no ties, so the answer is unique
    S = np.maximum(S, S.T)
    np.fill_diagonal(S, 1)
    counts = rng.integers(1, 5, t)
    copies = np.repeat(np.arange(t), counts)
    expected = oracle.average_linkage(S[np.ix_(copies, copies)], k)
    found = average_linkage(S.copy(), counts.astype(float), k)
    assert oracle.same_clusters(found[copies], expected)
    unweighted = average_linkage(S.copy(), np.ones(t), k)
    assert oracle.same_clusters(unweighted, oracle.average_linkage(S, k))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("method", [evidence, lwea])
def test_evidence_equals_average_linkage_of_the_co_association(method, missing):
    compared = 0
    for seed in range(examples(40)):
        rng = np.random.default_rng(seed)
        labels = noisy_copies(rng, 30, 3, 7, 0.25, missing)[1]
        u = oracle.reliability(labels, 0.4) if method is lwea else None
        expected = oracle.average_linkage_if_unique(oracle.co_association(labels, u), 3, rng)
        if expected is not None:
            compared += 1
            assert oracle.same_clusters(solve(method, labels, 3), expected)
    assert compared >= examples(10)


# the other methods against their literal forms


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_lwgp_equals_the_dense_transfer_cut(seed, missing):
    labels = noisy_copies(np.random.default_rng(seed), 60, 3, 6, 0.2, missing)[1]
    expected = oracle.transfer_cut(labels, oracle.reliability(labels, 0.4), 3)
    assert oracle.same_clusters(solve(lwgp, labels, 3), expected)


def test_edges_among_clusters_change_the_cut():
    tuples = tuples_of(np.repeat(np.arange(4), 5)[:, None])  # four clusters that share no point
    A, H = spectral.cluster_affinity(tuples, np.ones(4), np.ones(4)), tuples.indicator()
    for pairs in ([(0, 1), (2, 3)], [(0, 2), (1, 3)]):
        extra = np.zeros((4, 4))
        for a, b in pairs:
            extra[a, b] = extra[b, a] = 1.0
        Y = H @ spectral.top_eigenvectors(A + extra, 2)
        parts = spectral.unit_kmeans(Y, tuples.weights, 2, np.random.default_rng(0))
        assert {frozenset(np.flatnonzero(parts == c).tolist()) for c in (0, 1)} == {
            frozenset(pair) for pair in pairs
        }


@given(label_arrays())
def test_majority_equals_connected_components_of_the_majority_graph(labels):
    known = (labels >= 0).any(axis=1)
    found = solve(majority, labels, None)
    assert oracle.same_clusters(found[known], oracle.majority(labels)[known])
    assert sorted(set(found)) == list(range(len(set(found))))


def test_majority_is_the_same_in_blocks(monkeypatch):
    labels = noisy_copies(np.random.default_rng(0), 200, 4, 9, 0.1)[1]
    whole = solve(majority, labels, None)
    monkeypatch.setattr(
        "liftcluster.combination.methods.voting.row_blocks",
        lambda n, _: [slice(i, min(i + 7, n)) for i in range(0, n, 7)],
    )
    assert len(set(whole)) > 3
    assert oracle.same_clusters(solve(majority, labels, None), whole)


@needs_metis
def test_cspa_below_the_limit_cuts_the_co_association_graph():
    labels = noisy_copies(np.random.default_rng(0), 90, 3, 5, 0.3, 0.1)[1]
    labels = labels[(labels >= 0).any(axis=1)]
    tuples = tuples_of(labels)
    w = tuples.weights
    edges = oracle.co_association(tuples.codes) * np.outer(w, w)
    expected = graph._metis(edges, w, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(cspa(tuples, 3, rng=0), expected)
    np.testing.assert_array_equal(cspa(tuples, 3, rng=0, limit=tuples.t), expected)


@needs_metis
@pytest.mark.parametrize("seed", range(5))
def test_mcla_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    truth = np.arange(90) % 3
    columns = [
        truth,
        truth > 0,
        rng.integers(5, size=90),
        np.where(truth == 2, rng.integers(3, size=90), 0),
    ]
    labels = np.column_stack(columns)
    labels[rng.random(labels.shape) < 0.2] = -1
    clusters = oracle.clusters_of(labels)
    sizes = np.array([float(len(c)) for c in clusters])
    meta = graph._metis(oracle.jaccard(clusters), sizes, 3, np.random.default_rng(seed))
    expected = oracle.largest_mean_association(clusters, meta, 3)
    known = (labels >= 0).any(axis=1)
    np.testing.assert_array_equal(solve(mcla, labels, 3, seed=seed)[known], expected[known])


def test_mcla_assigns_by_mean_not_total_association(monkeypatch):
    labels = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 0], [0, 0, 1]])
    # Clusters 0 1 2 | 0 1 | 0 1: five in the first meta-cluster, the last two in the second.
    monkeypatch.setattr(graph, "_metis", lambda *_: np.array([0, 0, 0, 0, 0, 1, 1]))
    assert solve(mcla, labels, 2)[1:].tolist() == [1, 1, 1]  # 2/5 against 1/2


@pytest.mark.parametrize(
    "method", [pytest.param(cspa, marks=needs_metis), evidence, lwea, ecpcs_hc, ec_cms, sdgca]
)
def test_grouping_beyond_the_limit_keeps_the_planted_clusters(method):
    truth, labels = noisy_copies(np.random.default_rng(0), 600, 3, 9, 0.25)
    assert tuples_of(labels).t > 200
    assert adjusted_rand_score(solve(method, labels, 3, limit=60), truth) > 0.95


# eigenvectors in place of METIS


def projector(S, k):
    """Literal projection onto the first k eigenvectors of the normalised similarities."""
    d = S.sum(axis=1)
    values, vectors = np.linalg.eigh(S / np.sqrt(np.outer(d, d)))
    Y = vectors[:, np.argsort(values)[::-1][:k]]
    return Y @ Y.T


def directions(P):
    """Cosines between points from their inner products."""
    return P / np.sqrt(np.outer(np.diag(P), np.diag(P)))


@pytest.fixture
def kmeans_inputs(monkeypatch):
    seen = []
    kmeans = spectral.unit_kmeans
    monkeypatch.setattr(
        spectral, "unit_kmeans", lambda Y, *rest: (seen.append(Y), kmeans(Y, *rest))[1]
    )
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_cspa_by_eigenvectors_cuts_the_normalised_co_association(seed, kmeans_inputs):
    labels = noisy_copies(np.random.default_rng(seed), 80, 3, 5, 0.35)[1]
    labels[:50, 0] = 0  # so that degrees differ
    solve(cspa, labels, 3, partitioner="spectral")
    Y = kmeans_inputs[0][tuples_of(labels).inverse]
    np.testing.assert_allclose(Y @ Y.T, projector(oracle.co_association(labels), 3), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_normalised_cut_uses_the_normalised_eigenvectors(seed, kmeans_inputs):
    labels = noisy_copies(np.random.default_rng(seed), 60, 3, 5, 0.35)[1]
    labels[:40, 0] = 0
    A = oracle.co_association(labels)
    normalised_cut(A, np.ones(60), 3, rng=0)
    Y = kmeans_inputs[0]
    np.testing.assert_allclose(directions(Y @ Y.T), directions(projector(A, 3)), atol=1e-9)


def test_mcla_by_eigenvectors_counts_votes():
    labels = np.array([[0, 0, 0]] * 6 + [[1, 1, 1]] * 6 + [[0, 1, 1]])
    found = solve(mcla, labels, 2, partitioner="spectral")
    assert found[12] == found[6] != found[0]


@pytest.mark.parametrize("method", SPECTRAL, ids=lambda m: m.func.__name__)
def test_eigenvectors_do_not_force_clusters_to_be_of_similar_size(method):
    truth = np.repeat([0, 1, 2], [160, 30, 10])
    labels = np.repeat(truth[:, None], 5, axis=1)
    rng = np.random.default_rng(0)
    redrawn = rng.random(labels.shape) < 0.03
    labels[redrawn] = rng.integers(3, size=redrawn.sum())
    assert adjusted_rand_score(solve(method, labels, 3), truth) > 0.9


# answers known by construction


@pytest.mark.parametrize("method", ALL)
def test_consensus_of_identical_partitions_is_that_partition(method):
    truth = np.arange(60) % 3
    labels = np.repeat(truth[:, None], 4, axis=1)
    assert oracle.same_clusters(solve(method, labels, 3), truth)


@pytest.mark.parametrize(("m", "noise"), [(3, 0.02), (9, 0.15)])
@pytest.mark.parametrize("method", [*ON_METIS, *ALONE])
def test_planted_clusters_are_recovered_from_noisy_copies(method, m, noise):
    truth, labels = noisy_copies(np.random.default_rng(0), 300, 3, m, noise)
    assert adjusted_rand_score(solve(method, labels, 3), truth) > 0.95


def test_majority_recovers_planted_clusters_unless_a_chain_joins_them():
    truth, labels = noisy_copies(np.random.default_rng(0), 300, 3, 9, 0.05)
    assert oracle.same_clusters(solve(majority, labels, None), truth)
    chain = np.array([[0] * 9, [0] * 5 + [1] * 4, [0] * 4 + [1] * 5, [1] * 9])
    assert solve(majority, chain, None).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("method", WITH_K)
def test_planted_clusters_are_recovered_from_finer_partitions(method):
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 3
    labels = np.column_stack([4 * truth + rng.integers(4, size=600) for _ in range(3)])
    assert tuples_of(labels).t > 150  # no cluster joins the three groups, each partition cuts them
    assert oracle.same_clusters(solve(method, labels, 3), truth)


# invariances


@pytest.mark.parametrize(
    "method", [pytest.param(cspa, marks=needs_metis), evidence, lwea, *PEERS, majority]
)
def test_relabelling_and_order_of_partitions_change_nothing(method):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = noisy_copies(rng, 80, 4, 6, 0.3, 0.1)[1]
        renamed = np.column_stack([np.append(rng.permutation(4), -1)[p] for p in labels.T])
        shuffled = renamed[:, rng.permutation(6)]
        np.testing.assert_array_equal(solve(method, labels, 4), solve(method, shuffled, 4))


@pytest.mark.parametrize("method", [*ON_METIS, *ALONE, majority])
def test_order_of_points_changes_nothing(method):
    rng = np.random.default_rng(0)
    labels = noisy_copies(rng, 120, 4, 5, 0.06)[1]
    order = rng.permutation(120)
    expected = solve(method, labels, 4)
    assert oracle.same_clusters(solve(method, labels[order], 4), expected[order])


@pytest.mark.parametrize("method", ALL)
def test_the_same_seed_gives_the_same_answer(method):
    labels = noisy_copies(np.random.default_rng(0), 150, 3, 5, 0.4, 0.1)[1]
    first, again = (solve(method, labels, 3, seed=7) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("method", ALL)
def test_integer_weights_equal_repeated_points(method):
    rng = np.random.default_rng(0)
    labels = noisy_copies(rng, 60, 3, 5, 0.3)[1]
    counts = rng.integers(1, 4, 60)
    copies = np.repeat(np.arange(60), counts)
    weighted = solve(method, labels, 3, weights=counts)
    np.testing.assert_array_equal(weighted[copies], solve(method, labels[copies], 3))


def test_weights_change_average_linkage():
    # 1 and 2 merge first; the pair is nearer to 0 if 1 is heavy, and 3 is then on its own.
    S = np.array([[1, 0.6, 0, 0], [0.6, 1, 0.9, 0], [0, 0.9, 1, 0.5], [0, 0, 0.5, 1]])
    assert average_linkage(S.copy(), np.array([1.0, 9, 1, 1]), 2).tolist() == [0, 0, 0, 1]
    assert average_linkage(S.copy(), np.array([1.0, 1, 9, 1]), 2).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("method", WITH_K)
@pytest.mark.parametrize("seed", range(6))
def test_requested_number_of_clusters_is_returned(method, seed):
    rng = np.random.default_rng(seed)
    labels = noisy_copies(rng, 40, 3, 4, 0.4, 0.2)[1]
    w = rng.pareto(0.5, 40) + 1e-3  # a few points outweigh all others
    known = (tuples_of(labels, w).codes >= 0).any(axis=1).sum()
    for k in (1, 2, 5, known - 1, known):
        assert sorted(set(solve(method, labels, int(k), weights=w))) == list(range(k))


@needs_metis
@pytest.mark.skipif(os.name != "posix", reason="flushes what C has printed")
def test_metis_prints_nothing_and_heavy_vertices_are_parts_by_themselves(capfd):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 14))
        k = int(rng.integers(2, n + 1))
        w = rng.dirichlet(np.full(n, (0.1, 0.5, 5.0)[seed % 3])) + 1e-3
        edges = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
        codes = graph._metis(edges + edges.T, w, k, rng)
        assert np.unique(codes).tolist() == list(range(k))
        if w.max() * k >= w.sum():
            assert (codes == codes[w.argmax()]).sum() == 1
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == ""


@needs_metis
def test_parts_that_metis_leaves_empty_are_filled():
    import pymetis

    edges, w = np.ones((6, 6)), np.array([1000.0, 1, 1, 1, 1, 1])
    adjacency = [[j for j in range(6) if j != i] for i in range(6)]
    raw = pymetis.part_graph(4, adjacency, vweights=w.astype(int).tolist(), recursive=False)[1]
    assert len(set(raw)) < 4
    codes = graph._metis(edges, w, 4, np.random.default_rng(0))
    assert sorted(set(codes)) == [0, 1, 2, 3]


@pytest.mark.parametrize("method", WITH_K)
def test_fewer_tuples_than_clusters_warn(method):
    labels = np.array([[0, 0], [0, 0], [1, 0], [-1, -1]])
    with pytest.warns(UserWarning, match="5 clusters .* only 2 groups"):
        found = solve(method, labels, 5)
    assert found.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("method", ALL)
def test_unlabelled_points_join_the_heaviest_cluster_and_partly_labelled_ones_theirs(method):
    truth = np.array([0] * 12 + [1] * 12 + [2] * 12)
    labels = np.repeat(truth[:, None], 3, axis=1)
    labels[0, 1:] = labels[13, :2] = labels[26, 1] = -1
    labels = np.concatenate([labels, [[1, 1, 1], [-1, -1, -1], [-1, -1, -1]]])
    found = solve(method, labels, 3)
    assert adjusted_rand_score(found[:36], truth) == 1.0
    assert (found[36:] == found[12]).all()  # the second cluster has one point more


@pytest.mark.parametrize("method", ALL)
def test_points_of_weight_zero_are_assigned_but_do_not_count(method):
    labels = noisy_copies(np.random.default_rng(0), 90, 3, 5, 0.05)[1]
    w = np.where(np.arange(90) < 60, 1.0, 0.0)
    found = solve(method, labels, 3, weights=w)
    assert found.shape == (90,)
    assert np.bincount(found[:60], minlength=found.max() + 1).min() > 0


def test_majority_ignores_the_number_of_clusters():
    labels = noisy_copies(np.random.default_rng(0), 60, 4, 5, 0.05)[1]
    np.testing.assert_array_equal(solve(majority, labels, 2), solve(majority, labels, None))


# errors


@pytest.mark.parametrize(
    ("method", "module", "options"),
    [
        (cspa, "pymetis", {"partitioner": "metis"}),
        (mcla, "pymetis", {"partitioner": "metis"}),
        (hbgf, "pymetis", {"partitioner": "metis"}),
        (hgpa, "mtkahypar", {}),
    ],
)
def test_a_missing_partitioner_is_an_error_with_the_command_that_installs_it(
    method, module, options, monkeypatch
):
    monkeypatch.setitem(sys.modules, module, None)
    labels = noisy_copies(np.random.default_rng(0), 30, 3, 3, 0.3)[1]
    with pytest.raises(ImportError, match=rf'needs {module}: pip install "{module}>='):
        solve(method, labels, 2, **options)


@pytest.mark.parametrize("method", [cspa, mcla, hbgf])
def test_without_metis_the_spectral_partitioner_is_used_with_a_warning(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    truth, labels = noisy_copies(np.random.default_rng(0), 90, 3, 5, 0.2)
    with pytest.warns(UserWarning, match=r'partitioner="spectral".*pip install "pymetis>='):
        found = solve(method, labels, 3)
    np.testing.assert_array_equal(found, solve(method, labels, 3, partitioner="spectral"))
    assert adjusted_rand_score(found, truth) > 0.9


@pytest.mark.parametrize(
    ("method", "k", "options", "error", "message"),
    [
        (evidence, 0, {}, ValueError, "k must be at least 1"),
        (lwgp, 2.0, {}, TypeError, "k must be an integer"),
        (lwea, 2, {"theta": 0}, ValueError, "theta must be positive"),
        (lwgp, 2, {"theta": -1}, ValueError, "theta must be positive"),
        (evidence, 2, {"limit": 1}, ValueError, "limit must be at least 2"),
        (hgpa, 2, {"imbalance": 0}, ValueError, "imbalance must be positive"),
        (
            cspa,
            2,
            {"partitioner": "scotch"},
            ValueError,
            "partitioner must be one of metis, spectral",
        ),
    ],
)
def test_bad_settings_are_refused(method, k, options, error, message):
    labels = noisy_copies(np.random.default_rng(0), 30, 3, 3, 0.3)[1]
    with pytest.raises(error, match=message):
        solve(method, labels, k, **options)


@pytest.mark.parametrize("method", ["cspa", "hgpa"])
@WORSE
def test_balanced_methods_balance_points_unless_tuples_are_kept_whole(method, monkeypatch):
    """Whole tuples cannot be balanced; points can, and pieces of tuples nearly as well."""
    pytest.importorskip("mtkahypar" if method == "hgpa" else "pymetis")
    labels = np.repeat([0, 1, 2], [900, 60, 40])
    other = np.where(np.arange(1000) < 450, 0, labels + 1)
    inputs = [labels, labels, other]
    whole = lc.consensus(inputs, 3, method=method, rng=0, method_options={"whole_tuples": True})
    assert np.bincount(whole.labels).max() >= 450
    for most in (3000, 0):
        monkeypatch.setattr("liftcluster.combination.by_labels._POINTS_AS_VERTICES", most)
        found = lc.consensus(inputs, 3, method=method, rng=0)
        assert np.bincount(found.labels).max() <= 1.1 * 1000 / 3
    with pytest.raises(ValueError, match="the method lwgp has no option 'whole_tuples'"):
        lc.consensus(inputs, 3, method="lwgp", method_options={"whole_tuples": True})


@WORSE
def test_hbgf_has_a_vertex_for_every_point_and_every_cluster(monkeypatch):
    seen = []

    def record(graph, vertices, k, rng):
        seen.append(len(vertices))
        return np.arange(len(vertices)) % k

    monkeypatch.setattr("liftcluster.combination.methods.graph._metis", record)
    labels = np.arange(60) % 3
    inputs = [labels, labels, np.arange(60) % 4]
    lc.consensus(inputs, 3, method="hbgf", rng=0, method_options={"partitioner": "metis"})
    lc.consensus(
        inputs,
        3,
        method="hbgf",
        rng=0,
        method_options={"partitioner": "metis", "whole_tuples": True},
    )
    assert seen == [60 + 10, 12 + 10]


@pytest.mark.filterwarnings("ignore:the consensus is farther:UserWarning")
@pytest.mark.parametrize("factor", [0.01, 0.1, 7.0, 1e6])
@pytest.mark.parametrize("method", ["evidence", "lwea"])
def test_scaling_weights_does_not_change_how_ties_are_broken(method, factor):
    parts = [[0, 0, 0, 1, 1, 0], [0, 0, 1, 0, 2, 2], [0, 0, 0, 0, 0, 0]]
    w = np.array([2.0, 2.0, 3.0, 3.0, 2.0, 2.0])
    one, two = (lc.consensus(parts, 2, method=method, weights=v) for v in (w, factor * w))
    assert one.labels.tolist() == two.labels.tolist()
