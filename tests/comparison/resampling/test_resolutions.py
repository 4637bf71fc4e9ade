"""The tree of resolutions: known by construction, compared with stability, its laws, bad input."""

from itertools import pairwise

import numpy as np
import pytest

import liftcluster as lc

LETTERS = np.array(list("abcdefgh"))


def nested(n=160):
    """Eight tight groups in two quarters of pairs, and the runs of two, four and eight clusters."""
    rng = np.random.default_rng(0)
    eight = np.arange(n) % 8
    corner = np.array([[eight[i] >> 2, eight[i] >> 1 & 1, eight[i] & 1] for i in range(n)])
    X = corner * [40.0, 20.0, 8.0] + 0.5 * rng.standard_normal((n, 3))
    return X, {"two": eight // 4, "four": LETTERS[eight // 2], "eight": eight}


def random_runs(n=90, sizes=(3, 5, 4, 7)):
    rng = np.random.default_rng(1)
    return rng.random((n, 2)), {k * 10 + i: rng.integers(k, size=n) for i, k in enumerate(sizes)}


def test_edges_of_nested_runs_are_the_nesting():
    X, runs = nested()
    tree = lc.resolution_tree(X, runs, rng=0)
    found = {(e.run, e.cluster, e.next_run, e.next_cluster) for e in tree.edges}
    expected = {("two", i // 2, "four", LETTERS[i]) for i in range(4)}
    expected |= {("four", LETTERS[i // 2], "eight", i) for i in range(8)}
    assert found == expected
    for edge in tree.edges:
        assert edge.mass == pytest.approx(1 / 4 if edge.run == "two" else 1 / 8)
        assert edge.share == pytest.approx(1 / 2)
        assert edge.next_share == pytest.approx(1)
    # The clusters of the first run are only divided further; others are merged in the run before.
    np.testing.assert_allclose(tree.stabilities[0], 1, atol=1e-6)
    assert max(tree.stabilities[1].max(), tree.stabilities[2].max()) < 0.9
    masses = {node.run: node.mass for node in tree.nodes}
    assert masses == pytest.approx({"two": 1 / 2, "four": 1 / 4, "eight": 1 / 8})
    assert len(tree.nodes) == 14


def test_identical_runs_have_one_edge_for_each_cluster():
    X, runs = nested()
    tree = lc.resolution_tree(X, [runs["four"]] * 3, rng=0)
    assert [(e.run, e.cluster, e.next_run, e.next_cluster) for e in tree.edges] == [
        (run, name, run + 1, name) for run in (0, 1) for name in "abcd"
    ]
    for edge in tree.edges:
        assert (edge.share, edge.next_share) == (pytest.approx(1), pytest.approx(1))
        assert edge.distance < 1e-6  # the square root of rounding
    np.testing.assert_allclose([node.stability for node in tree.nodes], 1, atol=1e-6)


def test_every_plan_moves_all_mass():
    X, runs = random_runs()
    tree = lc.resolution_tree(X, runs, rng=0)
    parts = list(tree.runs.values())
    for plan, (p, q) in zip(tree.plans, pairwise(parts), strict=True):
        np.testing.assert_allclose(plan.sum(axis=1), p.masses, atol=1e-12)
        np.testing.assert_allclose(plan.sum(axis=0), q.masses, atol=1e-12)
    for run in list(runs)[:-1]:
        assert sum(e.mass for e in tree.edges if e.run == run) == pytest.approx(1)
    for node in tree.nodes:
        shares = [e.share for e in tree.edges if (e.run, e.cluster) == (node.run, node.cluster)]
        assert not shares or sum(shares) == pytest.approx(1)
        into = [e for e in tree.edges if (e.next_run, e.next_cluster) == (node.run, node.cluster)]
        assert not into or sum(e.next_share for e in into) == pytest.approx(1)


def test_noise_belongs_to_no_node_and_no_edge():
    X, runs = nested()
    some = {name: labels.astype(object) for name, labels in runs.items()}
    some["four"][:16] = None  # two of each of the eight groups
    tree = lc.resolution_tree(X, some, rng=0)
    assert sum(node.mass for node in tree.nodes if node.run == "four") == pytest.approx(0.9)
    assert [plan.sum() for plan in tree.plans] == pytest.approx([0.9, 0.9])
    assert len(tree.edges) == 12


def test_stabilities_are_those_of_given_runs():
    """Without a null, and with all points as landmarks, so that no random choice remains."""
    X, runs = random_runs(60)
    K = lc.Laplace(0.3)(X, X)
    options = {"kernel": lc.Precomputed(K), "lift": lc.Nystroem(60)}
    tree = lc.resolution_tree(np.arange(60), runs, rng=0, **options)
    labels = list(runs.values())
    for i, found in enumerate(tree.stabilities):
        near = [labels[j] for j in (i - 1, i + 1) if 0 <= j < len(labels)]
        one = lc.stability(np.arange(60), near, reference=labels[i], rng=0, **options)
        np.testing.assert_allclose(found, one.clusters, atol=1e-6)


def test_the_null_is_that_of_given_runs():
    X, _ = random_runs()
    a, b = (3 * X[:, 0]).astype(int), (4 * X[:, 0]).astype(int)  # strips
    lift = lc.make_lift(X, lift=lc.Fourier(200), rng=0)
    tree = lc.resolution_tree(X, [a, b], lift=lift, rng=5)
    one = lc.stability(X, [b], reference=a, lift=lift, rng=5)
    np.testing.assert_allclose(tree.stabilities[0], one.clusters, atol=1e-9)
    assert np.max(one.level) > 0.1


def test_distances_are_those_of_the_representation():
    X, runs = random_runs()
    lift = lc.make_lift(X, lift=lc.Fourier(200), rng=0)
    tree = lc.resolution_tree(X, runs, lift=lift)
    rep = lc.represent(X, runs, lift=lift)
    for i, D in enumerate(tree.distances):
        rows, columns = rep.owner == i, rep.owner == i + 1
        np.testing.assert_allclose(D, rep.distances()[rows][:, columns], atol=1e-7)


def test_a_single_cluster_is_a_root_without_stability():
    X, runs = nested()
    lift = lc.make_lift(X, lift=lc.Fourier(200), rng=0)
    plain = lc.resolution_tree(X, runs, lift=lift, rng=0)
    rooted = lc.resolution_tree(X, {"all": np.zeros(160), **runs}, lift=lift, rng=0)
    assert np.isnan(rooted.stabilities[0]).all()
    for a, b in zip(plain.stabilities, rooted.stabilities[1:], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(rooted.plans[0], [[0.5, 0.5]])
    alone = lc.resolution_tree(X, {"all": np.zeros(160), "two": runs["two"]}, rng=0)
    assert np.isnan(alone.stabilities[1]).all()


def test_memberships_count_by_the_largest():
    X, runs = nested()
    two = runs["two"]
    soft = lc.Partition.from_memberships(np.where(two[:, None] == [0, 1], 0.7, 0.3))
    a = lc.resolution_tree(X, [soft, runs["eight"]], rng=0)
    b = lc.resolution_tree(X, [two, runs["eight"]], rng=0)
    np.testing.assert_allclose(a.plans[0], b.plans[0], atol=1e-12)
    np.testing.assert_allclose(a.stabilities[1], b.stabilities[1], atol=1e-9)


def test_the_tree_shows_itself():
    X, runs = nested()
    tree = lc.resolution_tree(X, {"<b>": runs["two"], "four": runs["four"]}, rng=0)
    assert repr(tree) == "ResolutionTree(2 runs of 2, 4 clusters)"
    assert str(tree).splitlines()[0].startswith("<b>: 2 clusters, 2 stable, ")
    assert "&lt;b&gt;" in tree._repr_html_()
    assert "<b><bdi>2 runs" in tree._repr_html_()
    frame = tree.to_frame()
    assert list(frame["next_cluster"]) == ["a", "b", "c", "d"]
    np.testing.assert_allclose(frame["share"], 0.5)
    assert [label.get_text() for label in tree.plot().get_yticklabels()] == ["<b>", "four"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: lc.resolution_tree(X, [[0, 1] * 10]), "at least two"),
        (lambda X: lc.resolution_tree(X, [0, 1] * 10), "at least two"),
        (lambda X: lc.resolution_tree(X, [[0, 1] * 10, [0, 1, 1]]), "the same length"),
        (lambda X: lc.resolution_tree(X, [[0, 1] * 9, [0, 1] * 9]), "18"),
        (lambda X: lc.resolution_tree(X, {}), "no partitions"),
        (lambda X: lc.resolution_tree(X, 3), "labels"),
        (lambda X: lc.resolution_tree(X, [[-1] * 20, [0, 1] * 10]), "noise"),
        (lambda X: lc.resolution_tree(X, [[0, 1] * 10] * 2, bandwith=1), "bandwidth"),
    ],
)
def test_invalid_input_gets_one_clear_error(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(np.random.default_rng(0).random((20, 2)))
