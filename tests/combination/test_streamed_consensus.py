"""Consensus of partitions that are not in memory equals the consensus in memory."""

from dataclasses import replace

import numpy as np
import pytest
import zarr
from sklearn.cluster import KMeans

import liftcluster as lc
from liftcluster.combination import grouping
from liftcluster.lifts import choice
from liftcluster.representation import checkpoint, tally
from liftcluster.streaming import sources, streams
from support.generators import soft_memberships
from support.stored import FORMS, as_csv, as_dask_array, as_hdf5, as_memmap, as_parquet, as_zarr


@pytest.fixture(autouse=True)
def read_memory_maps_in_blocks(monkeypatch):
    monkeypatch.setattr(streams, "MAPPED_ROWS_IN_MEMORY", 0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 70 points in the plane; more than 100 points are many, and have few landmarks."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 70 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)
    monkeypatch.setattr(choice, "_EXACT_UP_TO", 100)
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    monkeypatch.setattr(grouping, "_LANDMARKS", 60)


def problem(n=400):
    """Points of a square, and its quarters by five pairs of lines, the first in the middle."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    lines = [(0.5, 0.5), (0.4, 0.5), (0.6, 0.5), (0.5, 0.4), (0.5, 0.6)]
    parts = {f"p{i}": 2 * (X[:, 0] > a) + (X[:, 1] > b) for i, (a, b) in enumerate(lines)}
    truth = parts.pop("p0")
    parts["p4"][rng.random(n) < 0.1] = -1
    return X, truth, parts


def assert_same(found, expected, n_clusters=4):
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.n_clusters == expected.n_clusters == n_clusters
    np.testing.assert_allclose(found.centres, expected.centres, atol=1e-9)
    assert found.score == pytest.approx(expected.score)
    assert found.mean_distance == pytest.approx(expected.mean_distance, abs=1e-8)
    assert found.best_input_distance == pytest.approx(expected.best_input_distance, abs=1e-8)
    for mine, theirs in zip(found.composition, expected.composition, strict=True):
        by_cluster = {part[:2]: part[2] for part in theirs}
        assert {part[:2]: part[2] for part in mine} == pytest.approx(by_cluster)
        assert [part[2] for part in mine] == sorted((part[2] for part in mine), reverse=True)


WARD = {"method": "lift_hac"}  # the quickest
CASES = [("lift_km", "HDF5"), ("lift_hac", "blocks"), (KMeans(n_init=3), "Parquet")]


@pytest.mark.parametrize(("method", "form"), CASES, ids=str)
def test_consensus_equals_that_in_memory(tmp_path, method, form):
    X, _, parts = problem()
    stored = {name: FORMS[form](tmp_path, name, p) for name, p in parts.items()}
    found = lc.consensus(stored, 4, FORMS[form](tmp_path, "X", X), method=method, rng=0)
    assert not found.is_in_memory
    assert_same(found, lc.consensus(parts, 4, X, method=method, rng=0))
    np.testing.assert_allclose(found.masses, np.bincount(found.labels) / len(X))
    assert list(found.inputs) == list(parts)


@pytest.mark.parametrize("lift", ["auto", "fourier", lc.Nystroem(50)])
def test_consensus_of_soft_inputs_and_weights_equals_that_in_memory(tmp_path, lift):
    X, truth, parts = problem()
    rng = np.random.default_rng(1)
    parts["soft"] = 0.3 * soft_memberships(rng, len(X), 4) + 0.7 * np.eye(4)[truth]
    w = rng.integers(0, 3, len(X)).astype(float)
    stored = {name: as_zarr(tmp_path, name, p) for name, p in parts.items()}
    found = lc.consensus(stored, 4, X, weights=as_hdf5(tmp_path, "w", w), rng=0, lift=lift, **WARD)
    expected = lc.consensus(parts, 4, X, weights=w, rng=0, lift=lift, **WARD)
    assert_same(found, expected)
    np.testing.assert_allclose(found.masses, expected.partition.masses)


def test_labels_are_written_to_out(tmp_path):
    X, _, parts = problem()
    expected = lc.consensus(parts, 4, X, rng=0, **WARD).labels
    stored = as_parquet(tmp_path, "X", X)
    outs = [
        np.memmap(tmp_path / "out.bin", dtype=np.int32, mode="w+", shape=(400,)),
        as_hdf5(tmp_path, "out", np.zeros(400, dtype=np.int32)),
        zarr.create_array(store=tmp_path / "out.zarr", shape=(400,), chunks=(30,), dtype=np.int32),
    ]
    for out in outs:
        found = lc.consensus(parts, 4, stored, rng=0, out=out, **WARD)
        assert found.labels is out
        np.testing.assert_array_equal(out[:], expected)
    in_memory = np.empty(400, dtype=np.int32)
    lc.consensus(parts, 4, X, rng=0, out=in_memory, **WARD)
    np.testing.assert_array_equal(in_memory, expected)
    few = np.empty(90, dtype=np.int32)
    found = lc.consensus([p[:90] for p in parts.values()], 4, X[:90], rng=0, out=few, **WARD)
    np.testing.assert_array_equal(few, found.labels)
    with pytest.raises(ValueError, match="out has 90 rows but there are 400 points"):
        lc.consensus(parts, 4, stored, out=few)


def test_out_of_wrong_dtype_or_shape_is_refused(tmp_path):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, as_zarr(tmp_path, "Z", X), rng=0, **WARD)
    vectors = found._vectors._replace(centres=np.tile(found.centres, (40, 1)))
    many = replace(found, _lifted=vectors)  # 160, and the first ones win
    stored = [X, as_hdf5(tmp_path, "X", X), as_dask_array(tmp_path, "X", X)]
    for points in stored:
        with pytest.raises(ValueError, match="int8, which has no room for labels from 0 to 159"):
            many.predict(points, out=np.zeros(400, dtype=np.int8))
        with pytest.raises(ValueError, match="out holds int64, expected floats"):
            found.predict_proba(points, out=np.zeros((400, 4), dtype=np.int64))
        with pytest.raises(ValueError, match=r"out has shape \(400, 3\), expected \(n, 4\)"):
            found.predict_proba(points, out=np.zeros((400, 3)))
        with pytest.raises(ValueError, match=r"out has shape \(400, 1\), expected \(n\)"):
            found.predict(points, out=np.zeros((400, 1)))
    for points in (X[:90], X, stored[1]):
        inputs = [p[: len(points)] for p in parts.values()]
        with pytest.raises(ValueError, match="bool, which has no room for labels from 0 to 3"):
            lc.consensus(inputs, 4, points, rng=0, out=np.zeros(len(points), dtype=bool), **WARD)


@pytest.mark.parametrize("rows", [395, 405])
def test_out_with_wrong_number_of_rows_is_refused_for_points_of_unknown_number(tmp_path, rows):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, X, rng=0, **WARD)
    with pytest.raises(ValueError, match=f"out has {rows} rows but X has 400"):
        found.predict(lc.Blocks(lambda: iter([X])), out=np.zeros(rows))
    lift = lc.make_lift(X, lift=lc.Fourier(64), rng=0)
    for options in ({}, {"lift": lift}):  # with a given lift, points are not counted first
        labels = lc.Blocks([parts])
        streamed = {name: labels[name] for name in parts}
        expected = "X has 400" if options else "there are 400 points"
        out = np.zeros(rows, dtype=int)
        with pytest.raises(ValueError, match=f"out has {rows} rows but {expected}"):
            lc.consensus(streamed, 4, as_csv(tmp_path, "X", X), rng=0, out=out, **WARD, **options)
    few = {name: p[:90] for name, p in parts.items()}
    with pytest.raises(ValueError, match="out has 1 rows but X has 90"):
        lc.consensus(few, 4, X[:90], rng=0, out=np.zeros(1, dtype=int), **WARD)


@pytest.mark.parametrize("with_out", [False, True])
def test_groups_without_points_are_dropped(tmp_path, with_out):
    # Two clusters in the same place make two groups, but points are assigned to only one.
    X, truth, _ = problem()
    rng = np.random.default_rng(0)
    parts = {"a": truth, "b": rng.integers(0, 9, 400)}
    out = np.empty(400, dtype=np.int32) if with_out else None
    with pytest.warns(UserWarning, match="clusters were asked for"):
        expected = lc.consensus(parts, 12, X, rng=0, method="lift_hac")
    with pytest.warns(UserWarning, match="clusters were asked for"):
        found = lc.consensus(
            parts, 12, as_hdf5(tmp_path, "X", X), rng=0, method="lift_hac", out=out
        )
    assert expected.n_clusters < 12
    assert_same(found, expected, expected.n_clusters)


@pytest.mark.parametrize("form", FORMS)
def test_predictions_of_stored_points_equal_those_in_memory(tmp_path, form):
    X, _, parts = problem()
    streamed = lc.consensus(parts, 4, as_zarr(tmp_path, "Z", X), rng=0, **WARD)
    in_memory = lc.consensus(parts, 4, X, rng=0, **WARD)
    stored = FORMS[form](tmp_path, "X", X)
    for found in (streamed, in_memory):
        np.testing.assert_array_equal(found.predict(stored), streamed.labels)
        assert form == "memmap" or found.predict(stored).dtype == streamed.labels.dtype == np.int32
        np.testing.assert_array_equal(found.predict(X), streamed.labels)
        shares = found.predict_proba(stored)
        np.testing.assert_allclose(shares, in_memory.predict_proba(X), atol=1e-9)
        out = np.empty(400, dtype=np.int16)
        assert found.predict(stored, out=out) is out
        np.testing.assert_array_equal(out, streamed.labels)
        out = np.empty((400, 4))
        found.predict_proba(X, out=out)
        np.testing.assert_allclose(out, shares, atol=1e-9)
    with pytest.raises(ValueError, match="out has 3 rows but X has 400"):
        streamed.predict(X, out=np.empty(3))


def test_attributes_not_available_out_of_core_are_explained(tmp_path):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, as_hdf5(tmp_path, "X", X), rng=0, **WARD)
    for name in ("memberships", "margin"):
        with pytest.raises(AttributeError, match="predict_proba"):
            getattr(found, name)
    with pytest.raises(AttributeError, match="see labels and masses"):
        found.partition  # noqa: B018
    assert repr(found) == (
        "Consensus(lift_hac of 4 partitions: 4 clusters of 400 points, "
        f"liftSSD = {found.score:.4f})"
    )
    assert "p1: 0" in found._repr_html_()
    assert "confidence" not in found._repr_html_()
    with pytest.raises(ValueError, match="lift_km and lift_hac can, in memory"):
        found.partial_fit(X, parts)


def test_few_points_and_labels_only_are_read_into_memory(tmp_path):
    X, _, parts = problem()
    few = {name: as_memmap(tmp_path, name, p[:90]) for name, p in parts.items()}
    found = lc.consensus(few, 4, X[:90], rng=0, **WARD)
    assert found.is_in_memory
    np.testing.assert_array_equal(
        found.labels,
        lc.consensus({name: p[:90] for name, p in parts.items()}, 4, X[:90], rng=0, **WARD).labels,
    )
    stored = {name: as_hdf5(tmp_path, f"all {name}", p) for name, p in parts.items()}
    np.testing.assert_array_equal(
        lc.consensus(stored, 4, method="evidence").labels,
        lc.consensus(parts, 4, method="evidence").labels,
    )


def test_exact_lift_refuses_more_points_than_its_limit(tmp_path, monkeypatch):
    X, _, parts = problem()
    monkeypatch.setattr("liftcluster.representation.passes._IN_MEMORY_UP_TO", 399)
    for points in (as_hdf5(tmp_path, "X", X), lc.Blocks([X])):
        with pytest.raises(ValueError, match="the exact lift needs all points in memory"):
            lc.consensus(parts, 4, points, lift="exact", rng=0)
    expected = lc.consensus(parts, 4, X, lift="exact", rng=0).labels
    out = np.empty(400, dtype=int)
    for points in (X, iter([X])):  # in memory, and an iterator of unknown length
        lc.consensus(parts, 4, points, lift="exact", rng=0, out=out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.filterwarnings("ignore:dropped 1 empty", "ignore:the consensus is farther")
@pytest.mark.parametrize("form", ["blocks", "dask array"])
def test_masses_are_group_weights_also_if_a_group_has_weight_zero(tmp_path, form):
    X = np.linspace(-2, 2, 160)[:, None] ** 3
    stored = FORMS[form](tmp_path, "X", X)
    lift = lc.make_lift(X, lift=lc.Fourier(32), bandwidth=0.3, rng=0)
    empty = 0
    for seed in (7, 33, 45, 50):
        rng = np.random.default_rng(seed)
        w = np.where(rng.random(160) < 0.9, 0.0, 1.0)
        parts = rng.integers(0, 4, (2, 160))
        found = lc.consensus([*parts], 6, stored, lift=lift, rng=0, weights=w)
        labels = np.asarray(found.labels)
        expected = [w[labels == group].sum() / w.sum() for group in range(found.n_clusters)]
        np.testing.assert_allclose(found.masses, expected)
        assert f"{expected[-1]:.1%}" in found._repr_html_()
        empty += 0 in expected
    assert empty  # the case of an empty group has occurred


def test_points_in_memory_are_read_in_blocks_if_out_is_given():
    X, _, parts = problem()
    found = lc.consensus(parts, 4, X, rng=0, out=np.empty(400, dtype=np.int32), **WARD)
    assert not found.is_in_memory
    assert_same(found, lc.consensus(parts, 4, X, rng=0, **WARD))


def test_options_that_need_memory_are_refused_with_alternatives(tmp_path):
    X, _, parts = problem()
    stored = as_hdf5(tmp_path, "X", X)
    with pytest.raises(ValueError, match="in blocks; use lift_km, lift_hac, lift_barycentre or"):
        lc.consensus(parts, 4, stored, method="evidence")
    with pytest.raises(ValueError, match="read in blocks; give a number"):
        lc.consensus(parts, "auto", stored)
    with pytest.raises(ValueError, match="makes two passes over points and labels"):
        lc.consensus(parts, 4, iter([X]))


@pytest.mark.parametrize("blocks", [3, 5])
def test_resumed_consensus_is_bitwise_equal(tmp_path, monkeypatch, blocks):
    X, _, parts = problem()
    stored, file = as_hdf5(tmp_path, "X", X), tmp_path / "sums.npz"
    whole = consensus_of_lifted(stored, parts, 5)
    real, left = tally.Tally.of.__func__, [blocks]  # of six

    def of(cls, *args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(cls, *args)

    with monkeypatch.context() as patch:
        patch.setattr(tally.Tally, "of", classmethod(of))
        with pytest.raises(KeyboardInterrupt):
            consensus_of_lifted(stored, parts, 5, checkpoint=file)
    assert file.exists()
    again = consensus_of_lifted(stored, parts, 99, checkpoint=file)
    np.testing.assert_array_equal(again.labels, whole.labels)
    np.testing.assert_array_equal(again.centres, whole.centres)
    assert again.mean_distance == whole.mean_distance
    assert not file.exists()


def consensus_of_lifted(X, parts, seed, **options):
    """Consensus of a representation, with the lift that consensus makes by default."""
    lift = {"lift": lc.Nystroem(60), "bandwidth": "median/4"}
    rep = lc.represent(X, parts, rng=np.random.default_rng(seed), **lift, **options)
    return lc.consensus(rep, 4, X, rng=0, **WARD)


def test_representation_can_replace_partitions(tmp_path):
    X, _, parts = problem()
    expected = lc.consensus(parts, 4, X, rng=0, bandwidth="median/4", **WARD)
    for points in (X, as_hdf5(tmp_path, "X", X)):
        found = consensus_of_lifted(points, parts, 0)
        assert not found.is_in_memory
        assert found.composition == [[]] * 4  # labels of the inputs are not known
        assert list(found.inputs) == list(parts)
        assert_same(replace(found, _composition=expected.composition), expected)
        np.testing.assert_allclose(found.masses, expected.masses)
        np.testing.assert_array_equal(found.predict(points), expected.labels)


def test_a_representation_is_combined_without_points():
    X, _, parts = problem()
    expected = lc.consensus(parts, 4, X, rng=0, **WARD)
    found = lc.consensus(expected.representation, 4, rng=0, **WARD)
    assert found.n_clusters == 4
    np.testing.assert_allclose(found.centres, expected.centres)
    assert found.score == pytest.approx(expected.score)
    for name in ("labels", "masses", "mean_distance", "best_input_distance", "curve"):
        assert getattr(found, name) is None
    np.testing.assert_array_equal(found.predict(X), expected.labels)
    np.testing.assert_allclose(found.predict_proba(X), expected.memberships)
    assert repr(found) == (
        f"Consensus(lift_hac of 4 partitions: 4 clusters, liftSSD = {found.score:.4f})"
    )
    assert found._repr_html_().count("<tr>") == 5


def test_consensus_of_a_representation_accepts_weights_and_out():
    X, _, parts = problem()
    rep = lc.represent(X, parts, lift=lc.Nystroem(60), bandwidth="median/4", rng=0)
    w, out = np.arange(400.0), np.empty(400, dtype=np.int32)
    found = lc.consensus(rep, 4, X, weights=w, out=out, rng=0, **WARD)
    assert found.labels is out
    np.testing.assert_allclose(found.masses, np.bincount(out, w) / w.sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": 2.0}, "lifted already, so bandwidth cannot apply"),
        ({"kernel": "laplace", "lift": "exact"}, "lifted already, so kernel, lift cannot apply"),
        ({"weights": np.ones(400)}, "weights cannot apply without the points X"),
        ({"out": np.zeros(400, dtype=int)}, "out cannot apply without the points X"),
        ({"method": "evidence"}, "labels of all points, which a Representation does not have"),
        ({"n_clusters": "auto"}, "labels of all points, which a Representation does not have"),
    ],
)
def test_options_that_a_representation_does_not_support_are_refused(options, message):
    X, _, parts = problem()
    rep = lc.represent(X, parts, lift=lc.Fourier(16), rng=0)
    with pytest.raises(ValueError, match=message):
        lc.consensus(rep, **{"n_clusters": 4} | options)


def test_points_cannot_be_assigned_with_an_exact_lift_or_without_lift():
    X, _, parts = problem()
    exact = lc.represent(X, parts, lift="exact")
    for rep, has in ((exact, "an exact lift"), (replace(exact, lift=None), "no lift")):
        with pytest.raises(ValueError, match=f"the representation has {has}"):
            lc.consensus(rep, 4, X)
        assert lc.consensus(rep, 4, **WARD).n_clusters == 4
    with pytest.raises(ValueError, match="saved with its lift"):
        lc.consensus(replace(exact, lift=None), 4, **WARD).predict(X)


def test_estimator_accepts_out_of_core_points(tmp_path):
    X, _, parts = problem()
    stored = as_hdf5(tmp_path, "X", X)
    model = lc.LiftedConsensus(4, method="lift_hac", random_state=0).fit(stored, partitions=parts)
    expected = lc.LiftedConsensus(4, method="lift_hac", random_state=0).fit(X, partitions=parts)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(stored), model.labels_)
    np.testing.assert_array_equal(expected.predict(stored), model.labels_)
    assert model.predict_proba(X[:5]).shape == (5, 4)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "memberships_")
    with pytest.raises(
        ValueError, match="partial_fit is not possible after a fit on points that were read in"
    ):
        model.partial_fit(X, partitions=parts)
