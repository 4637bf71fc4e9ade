"""Consensus of partitions that are not in memory: the clusters they have in memory."""

from dataclasses import replace

import numpy as np
import pytest
import zarr
from sklearn.cluster import KMeans

import liftcluster as lc
from liftcluster.combination import by_vectors as grouping
from liftcluster.lifts import choice
from liftcluster.representation import checkpoint, tally
from liftcluster.streaming import sources, streams
from support.generators import soft_memberships
from support.stored import FORMS, as_csv, as_dask_array, as_hdf5, as_memmap, as_parquet, as_zarr


@pytest.fixture(autouse=True)
def short_memory_maps_come_in_blocks_too(monkeypatch):
    monkeypatch.setattr(streams, "MAPPED_ROWS_IN_MEMORY", 0)


@pytest.fixture(autouse=True)
def small(monkeypatch):
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
def test_the_consensus_is_that_of_memory(tmp_path, method, form):
    X, _, parts = problem()
    stored = {name: FORMS[form](tmp_path, name, p) for name, p in parts.items()}
    found = lc.consensus(stored, 4, FORMS[form](tmp_path, "X", X), method=method, rng=0)
    assert isinstance(found, lc.StreamedConsensus)
    assert_same(found, lc.consensus(parts, 4, X, method=method, rng=0))
    np.testing.assert_allclose(found.masses, np.bincount(found.labels) / len(X))
    assert list(found.inputs) == list(parts)


@pytest.mark.parametrize(
    "options", [{}, {"lift": "fourier"}, {"lift": "nystrom", "n_components": 50}]
)
def test_soft_inputs_and_weights_count_as_in_memory(tmp_path, options):
    X, truth, parts = problem()
    rng = np.random.default_rng(1)
    parts["soft"] = 0.3 * soft_memberships(rng, len(X), 4) + 0.7 * np.eye(4)[truth]
    w = rng.integers(0, 3, len(X)).astype(float)
    stored = {name: as_zarr(tmp_path, name, p) for name, p in parts.items()}
    found = lc.consensus(stored, 4, X, weights=as_hdf5(tmp_path, "w", w), rng=0, **WARD, **options)
    expected = lc.consensus(parts, 4, X, weights=w, rng=0, **WARD, **options)
    assert_same(found, expected)
    np.testing.assert_allclose(found.masses, expected.partition.masses)


def test_labels_go_where_they_are_wanted(tmp_path):
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


def test_labels_that_would_not_be_what_they_are_in_out_are_refused(tmp_path):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, as_zarr(tmp_path, "Z", X), rng=0, **WARD)
    many = replace(found, centres=np.tile(found.centres, (40, 1)))  # 160, and the first ones win
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
def test_out_has_a_row_for_each_point_though_nobody_knows_how_many_there_are(tmp_path, rows):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, X, rng=0, **WARD)
    with pytest.raises(ValueError, match=f"out has {rows} rows but X has 400"):
        found.predict(lc.Blocks(lambda: iter([X])), out=np.zeros(rows))
    lift = lc.make_lift(X, lift="fourier", n_components=64, rng=0)
    for options in ({}, {"lift": lift}):  # who is given a lift need not count
        labels = lc.Blocks([parts])
        streamed = {name: labels[name] for name in parts}
        told = "X has 400" if options else "there are 400 points"
        out = np.zeros(rows, dtype=int)
        with pytest.raises(ValueError, match=f"out has {rows} rows but {told}"):
            lc.consensus(streamed, 4, as_csv(tmp_path, "X", X), rng=0, out=out, **WARD, **options)
    few = {name: p[:90] for name, p in parts.items()}
    with pytest.raises(ValueError, match="out has 1 rows but X has 90"):
        lc.consensus(few, 4, X[:90], rng=0, out=np.zeros(1, dtype=int), **WARD)


@pytest.mark.parametrize("with_out", [False, True])
def test_groups_that_no_point_is_most_like_are_left_out(tmp_path, with_out):
    # Two clusters in the same place make two groups, of which points are most like only one.
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
def test_predictions_stream(tmp_path, form):
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


def test_what_is_not_held_is_explained(tmp_path):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, as_hdf5(tmp_path, "X", X), rng=0, **WARD)
    for name in ("memberships", "confidence"):
        with pytest.raises(AttributeError, match="predict_proba"):
            getattr(found, name)
    assert repr(found).startswith(
        "StreamedConsensus(lift_hac of 4 partitions: 4 clusters of 400 points"
    )
    assert "p1: 0" in found._repr_html_()


def test_few_points_and_labels_alone_are_read_whole(tmp_path):
    X, _, parts = problem()
    few = {name: as_memmap(tmp_path, name, p[:90]) for name, p in parts.items()}
    found = lc.consensus(few, 4, X[:90], rng=0, **WARD)
    assert isinstance(found, lc.Consensus)
    np.testing.assert_array_equal(
        found.labels,
        lc.consensus({name: p[:90] for name, p in parts.items()}, 4, X[:90], rng=0, **WARD).labels,
    )
    stored = {name: as_hdf5(tmp_path, f"all {name}", p) for name, p in parts.items()}
    np.testing.assert_array_equal(
        lc.consensus(stored, 4, method="evidence").labels,
        lc.consensus(parts, 4, method="evidence").labels,
    )


def test_the_exact_lift_reads_no_more_than_it_says(tmp_path, monkeypatch):
    X, _, parts = problem()
    monkeypatch.setattr("liftcluster.representation.surveying._WHOLE_UP_TO", 399)
    for points in (as_hdf5(tmp_path, "X", X), lc.Blocks([X])):
        with pytest.raises(ValueError, match="the exact lift needs all points in memory"):
            lc.consensus(parts, 4, points, lift="exact", rng=0)
    expected = lc.consensus(parts, 4, X, lift="exact", rng=0).labels
    out = np.empty(400, dtype=int)
    for points in (X, iter([X])):  # what is in memory, and what nobody can count
        lc.consensus(parts, 4, points, lift="exact", rng=0, out=out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.filterwarnings("ignore:dropped 1 empty", "ignore:the consensus is farther")
@pytest.mark.parametrize("form", ["blocks", "dask array"])
def test_masses_are_the_weights_of_the_groups_also_where_all_points_of_one_weigh_nothing(
    tmp_path, form
):
    X = np.linspace(-2, 2, 160)[:, None] ** 3
    stored = FORMS[form](tmp_path, "X", X)
    lift = lc.make_lift(X, lift="fourier", n_components=32, bandwidth=0.3, rng=0)
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
    assert empty  # else the case has not come up


def test_points_in_memory_are_taken_in_blocks_where_work_is_to_be_taken_up_again(tmp_path):
    X, _, parts = problem()
    found = lc.consensus(parts, 4, X, rng=0, checkpoint=tmp_path / "sums.npz", **WARD)
    assert isinstance(found, lc.StreamedConsensus)
    assert_same(found, lc.consensus(parts, 4, X, rng=0, **WARD))


def test_what_cannot_stream_is_refused_and_says_what_can(tmp_path):
    X, _, parts = problem()
    stored = as_hdf5(tmp_path, "X", X)
    with pytest.raises(ValueError, match="combined by lift_km, lift_hac or a clusterer"):
        lc.consensus(parts, 4, stored, method="evidence")
    with pytest.raises(ValueError, match="give a number for points that come in blocks"):
        lc.consensus(parts, "auto", stored)
    with pytest.raises(ValueError, match="looks at points and labels twice"):
        lc.consensus(parts, 4, iter([X]))


@pytest.mark.parametrize("blocks", [3, 6, 8])
def test_interrupted_work_ends_with_the_same_bits(tmp_path, monkeypatch, blocks):
    X, _, parts = problem()
    stored, file = as_hdf5(tmp_path, "X", X), tmp_path / "sums.npz"
    whole = lc.consensus(parts, 4, stored, rng=np.random.default_rng(5), n_init=2)
    real, left = tally.Tally.of.__func__, [blocks]  # of six to lift and six to assign

    def of(cls, *args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(cls, *args)

    with monkeypatch.context() as patch:
        patch.setattr(tally.Tally, "of", classmethod(of))
        with pytest.raises(KeyboardInterrupt):
            lc.consensus(parts, 4, stored, rng=np.random.default_rng(5), n_init=2, checkpoint=file)
    assert file.exists()
    again = lc.consensus(parts, 4, stored, rng=np.random.default_rng(99), n_init=2, checkpoint=file)
    np.testing.assert_array_equal(again.labels, whole.labels)
    np.testing.assert_array_equal(again.centres, whole.centres)
    assert again.mean_distance == whole.mean_distance
    assert not file.exists()


def test_the_estimator_takes_blocks(tmp_path):
    X, _, parts = problem()
    stored = as_hdf5(tmp_path, "X", X)
    model = lc.LiftedConsensus(4, clusterer="hac", random_state=0).fit(stored, partitions=parts)
    expected = lc.LiftedConsensus(4, clusterer="hac", random_state=0).fit(X, partitions=parts)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(stored), model.labels_)
    np.testing.assert_array_equal(expected.predict(stored), model.labels_)
    assert model.predict_proba(X[:5]).shape == (5, 4)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "memberships_")
    with pytest.raises(ValueError, match="takes in no more"):
        model.partial_fit(X, partitions=parts)
