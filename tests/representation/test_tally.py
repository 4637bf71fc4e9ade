"""Tallies: the sums of blocks of points add up to the representation of all points."""

import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import liftcluster as lc
from liftcluster.lifts._native import kernels
from liftcluster.partitions.blocks import as_block
from liftcluster.representation.tally import Tally
from support.generators import blobs, points_and_partitions, soft_memberships


def fourier(X, rho=30):
    return lc.make_lift(X, lift=lc.Fourier(rho), bandwidth=2.0, rng=0)


def add_blocks(lift, X, partitions, cuts, weights=None):
    """The tally of all points, block by block, in the order of the rows."""
    edges = [0, *sorted(cuts), len(X)]
    total = None
    for start, stop in itertools.pairwise(edges):
        rows = slice(start, stop)
        w = None if weights is None else weights[rows]
        part = Tally.of(lift, X[rows], {name: p[rows] for name, p in partitions.items()}, w)
        total = part if total is None else total + part
    return total


def assert_same(found, expected):
    assert found.partition_names == expected.partition_names
    assert found.cluster_names == expected.cluster_names
    scale = np.abs(expected.sums).max()
    np.testing.assert_allclose(found.sums, expected.sums, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.cluster_weights, expected.cluster_weights, rtol=1e-12)
    np.testing.assert_allclose(found.total_weights, expected.total_weights, rtol=1e-12)
    np.testing.assert_array_equal(found.owner, expected.owner)


@st.composite
def cut_points(draw):
    X, partitions = draw(points_and_partitions())
    cuts = draw(st.lists(st.integers(0, len(X)), max_size=6))
    return X, partitions, cuts


@given(cut_points())
def test_blocks_of_any_size_add_up_to_the_representation(case):
    X, partitions, cuts = case
    raw = {i: p.labels if p.is_hard else p.memberships.toarray() for i, p in enumerate(partitions)}
    weights = partitions[0].weights
    lift = fourier(X)
    expected = lc.represent(X, raw, lift=lift, weights=weights)
    assert_same(add_blocks(lift, X, raw, cuts, weights).finish(lift), expected)


LABELS = {
    "integers": np.array([5, 3, 3, -1, 9, 5, 3, 9]),
    "integers far apart": np.array([5, 10**9, 10**9, -1, 9, 5, 10**9, 9]),
    "texts": np.array(["b", "a", "a", "c", "b", "b", "c", "a"]),
    "objects": np.array(["b", None, "a", "c", "b", "b", "c", "a"], dtype=object),
    "floats and gaps": np.array([2.0, np.nan, 1.0, 1.0, 2.5, 2.0, 1.0, 2.5]),
    "mixed kinds": np.array([3, "b", 3, None, "a", 1, "b", 1], dtype=object),
    "booleans": np.array([True, False, True, True, False, True, True, False]),
    "tuples": [(1, "a"), (0, "b"), (1, "a"), (1, "b"), (0, "b"), (0, "a"), (1, "a"), (1, "b")],
    "categories": pd.Categorical(list("zyxxyzzz"), categories=["z", "unused", "x", "y"]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("cuts", [[1, 2, 3, 4, 5, 6, 7], [4], [0, 0, 3, 8]], ids=str)
def test_clusters_have_the_same_order_as_in_memory(kind, cuts):
    X = np.random.default_rng(0).standard_normal((8, 2))
    lift = fourier(X)
    labels = {"p": LABELS[kind]}
    expected = lc.represent(X, labels, lift=lift)
    assert_same(add_blocks(lift, X, labels, cuts).finish(lift), expected)


def test_block_of_only_noise_counts_as_noise():
    X = np.arange(6.0)[:, None]
    labels = {"p": np.array([-1, -1, 0, 1, -1, -1])}
    lift = fourier(X)
    found = add_blocks(lift, X, labels, [2, 4]).finish(lift)
    assert_same(found, lc.represent(X, labels, lift=lift))
    assert found.noise_masses[0] == pytest.approx(4 / 6)


@pytest.mark.parametrize("sparse", [False, True])
def test_membership_columns_keep_their_order(sparse):
    rng = np.random.default_rng(1)
    X, R = rng.standard_normal((40, 3)), soft_memberships(rng, 40, 12)
    R[5:20] = np.eye(12)[11]
    R[20:25] = 0
    memberships = {"p": sp.csr_array(R) if sparse else R}
    lift = fourier(X)
    expected = lc.represent(X, memberships, lift=lift)
    found = add_blocks(lift, X, memberships, [5, 20, 25])
    assert_same(found.finish(lift), expected)
    assert not found.hard[0]


def test_block_may_have_zero_weight():
    X, labels = blobs(np.random.default_rng(2), 30, 2)
    weights = np.where(np.arange(30) < 10, 0.0, 2.0)
    lift = fourier(X)
    found = add_blocks(lift, X, {"p": labels}, [5, 10], weights).finish(lift)
    assert_same(found, lc.represent(X, {"p": labels}, lift=lift, weights=weights))


def test_clusters_without_weight_are_dropped_with_a_warning():
    X = np.arange(4.0)[:, None]
    R = np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
    lift = fourier(X)
    tally = add_blocks(lift, X, {"p": R}, [2])
    with pytest.warns(UserWarning, match=r"dropped 1 empty cluster\(s\): 1"):
        found = tally.finish(lift)
    assert found.cluster_names == (0, 2)


def test_partitions_of_different_points_are_concatenated():
    X, labels = blobs(np.random.default_rng(3), 40, 2)
    lift = fourier(X)
    found = Tally.of(lift, X[:30], {"a": labels[:30]}) + Tally.of(lift, X[30:], {"b": labels[30:]})
    samples = [(X[:30], {"a": labels[:30]}), (X[30:], {"b": labels[30:]})]
    assert_same(found.finish(lift), lc.represent_samples(samples, lift=lift))
    assert found.sizes.tolist() == [30, 10]


@settings(max_examples=20)
@given(cut_points())
def test_addition_is_associative_and_commutative_up_to_rounding(case):
    X, partitions, cuts = case
    raw = {i: p.labels for i, p in enumerate(partitions)}
    lift = fourier(X)
    edges = [0, *sorted(([*cuts, 1, 1])[:2]), len(X)]
    a, b, c = (
        Tally.of(lift, X[i:j], {name: labels[i:j] for name, labels in raw.items()})
        for i, j in itertools.pairwise(edges)
    )
    whole = (a + b + c).finish(lift)
    assert_same((a + (b + c)).finish(lift), whole)
    assert_same((c + b + a).finish(lift), whole)


def test_tally_is_small_and_restored_from_pickle_and_state():
    X, labels = blobs(np.random.default_rng(4), 5000, 3)
    lift = fourier(X)
    tally = Tally.of(lift, X, {"p": labels, ("q", 1): labels[::-1].astype(str)})
    stored = pickle.dumps(tally)
    assert len(stored) < 2 * tally.sums.nbytes + 2000
    for again in (pickle.loads(stored), Tally.from_state(*tally.state())):
        np.testing.assert_array_equal(again.finish(lift).sums, tally.finish(lift).sums)
        assert again.cluster_names == tally.cluster_names
        assert again.partition_names == tally.partition_names
        np.testing.assert_array_equal(again.owner, tally.owner)
    assert repr(tally) == "Tally(8 clusters of 2 partition(s), 5000 points)"


def test_invalid_totals_are_refused_by_finish():
    X = np.arange(4.0)[:, None]
    lift = fourier(X)
    with pytest.raises(ValueError, match="every one of the 4 labels of partition 'p' is noise"):
        Tally.of(lift, X, {"p": [-1] * 4}).finish(lift)
    with pytest.raises(ValueError, match="weights sum to zero"):
        Tally.of(lift, X, {"p": [0] * 4}, np.zeros(4)).finish(lift)
    with pytest.raises(ValueError, match="all the weight is on noise points"):
        Tally.of(lift, X, {"p": [0, 0, -1, -1]}, [0, 0, 1, 1]).finish(lift)


def test_incompatible_tallies_are_refused():
    X = np.arange(4.0)[:, None]
    lift = fourier(X)
    tally = Tally.of(lift, X, {"p": [0, 0, 1, 1]})
    other = fourier(X, 10)
    with pytest.raises(ValueError, match="different lifts"):
        tally + Tally.of(other, X, {"p": [0, 0, 1, 1]})
    with pytest.raises(ValueError, match="give the lift that made it"):
        tally.finish(other)
    with pytest.raises(ValueError, match="do not add up"):
        Tally.of(lc.make_lift(X, [0, 0, 1, 1], lift="exact"), X, {"p": [0, 0, 1, 1]})
    with pytest.raises(ValueError, match="partition 'p' has 3 entries but X has 4"):
        Tally.of(lift, X, {"p": [0, 0, 1]})
    with pytest.raises(ValueError, match="no partitions"):
        Tally.of(lift, X, {})


def test_given_weights_replace_those_of_a_block():
    block = as_block([0, 1, 1], [1.0, 2.0, 3.0])
    assert as_block(block).partition.cluster_weights.tolist() == [1.0, 5.0]
    assert as_block(block, [0.0, 0.0, 1.0]).partition.cluster_weights.tolist() == [0.0, 1.0]
    whole = lc.as_partition(["b", "a"])
    assert as_block(whole, [1.0, 0.0]).partition.names == ("a", "b")


@pytest.mark.parametrize("kind", ["weighted", "soft"])
def test_blocks_of_complete_runs_give_the_float32_sums_of_one_pass(kind):
    rng = np.random.default_rng(5)
    X, labels = blobs(rng, 2560, 3)
    lift = dataclasses.replace(fourier(X), dtype=np.float32)
    given = labels if kind == "weighted" else soft_memberships(rng, 2560, 4)
    weights = rng.uniform(0.1, 9, 2560) if kind == "weighted" else None
    expected = lc.represent(X, {"p": given}, lift=lift, weights=weights).sums
    found = add_blocks(lift, X, {"p": given}, [256, 1024], weights).finish(lift).sums
    # The kernels sum runs of 256 float32 features; NumPy sums whole blocks in float32.
    tolerance = 1e-13 if kernels() else np.sqrt(len(X)) * np.finfo(np.float32).eps
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())
