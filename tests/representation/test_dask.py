"""Points that Dask holds: the answers of memory, on any scheduler, whatever happens to workers."""

import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import liftcluster as lc
from liftcluster._util import dask as _dask
from liftcluster._util.threads import n_threads
from liftcluster.lifts._native import kernels
from liftcluster.representation.dask_passes import add_up_chunks
from liftcluster.streaming.streams import as_stream
from support.generators import blobs, soft_memberships

K = 4
ROWS = 700  # of a chunk: not a multiple of what the kernels hold


@pytest.fixture(scope="module")
def cluster():
    """Two processes that talk over TCP."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        protocol="tcp",
        dashboard_address=":0",
        memory_limit=None,
    ) as found:
        yield found


@pytest.fixture
def client(cluster):
    with Client(cluster) as found:
        found.wait_for_workers(2, timeout=120)
        yield found


def points_of(rows, seconds=0.0):
    """Points that depend on their numbers alone, made where they are needed."""
    time.sleep(seconds)
    rng = np.random.default_rng(int(rows[0]))
    centres = 3 * np.random.default_rng(0).standard_normal((K, 16))
    return centres[rng.integers(0, K, len(rows))] + rng.standard_normal((len(rows), 16))


def labels_of(X, seed):
    V = np.random.default_rng(seed).standard_normal((K, 16))
    return (X @ V.T).argmax(axis=1)


def lazy_problem(n_chunks, seconds=0.0, rows=ROWS):
    """Nothing of it is in memory before it is computed."""
    numbers = da.arange(n_chunks * rows, chunks=rows)
    X = numbers.map_blocks(
        points_of,
        seconds,
        dtype=float,
        new_axis=1,
        chunks=(numbers.chunks[0], (16,)),
        meta=np.empty((0, 16)),
    )
    meta = np.empty(0, dtype=np.int64)
    labels = {
        f"p{seed}": X.map_blocks(labels_of, seed, drop_axis=1, dtype=np.int64, meta=meta)
        for seed in (1, 2, 3)
    }
    return X, labels


def in_memory(X, labels):
    return X.compute(scheduler="sync"), {
        name: p.compute(scheduler="sync") for name, p in labels.items()
    }


def single_floats(X, n_components=256):
    """The lift that millions of points have."""
    lift = lc.make_lift(X, lift="fourier", n_components=n_components, bandwidth=5.0, rng=0)
    return replace(lift, dtype=np.float32)


def relative(found, expected):
    gaps = np.linalg.norm(found.sums - expected.sums, axis=1)
    return (gaps / np.linalg.norm(expected.sums, axis=1)).max()


@pytest.mark.parametrize(
    ("rows", "tolerance"),
    # Single floats are added 256 at a time, and 1e-7 of that is rounding. Where no such run is cut
    # none of it differs; else those that are cut do, each by itself.
    [(2560, 1e-13), (10_100, 3 * 1e-7 * 256 / np.sqrt(8 * 10_100**2))],
)
def test_a_cluster_of_processes_gives_the_answer_of_memory(client, rows, tolerance):
    X, labels = lazy_problem(8, rows=rows)
    dense, known = in_memory(X, labels)
    options = {"lift": "fourier", "n_components": 1000, "rng": 3}
    found = lc.represent(X, labels, **options)
    expected = lc.represent(dense, known, **options)
    assert found.lift.fingerprint() == expected.lift.fingerprint()
    assert found.lift.dtype == np.float32
    assert found.cluster_names == expected.cluster_names
    if kernels() is None:  # NumPy adds single floats of whole blocks, and rounds each
        tolerance = np.sqrt(len(dense)) * np.finfo(np.float32).eps
    assert relative(found, expected) < tolerance


def test_every_scheduler_gives_the_same_bits(client):
    X, labels = lazy_problem(11)
    lift = single_floats(X[:ROWS].compute())
    found = [lc.represent(X, labels, lift=lift).sums]
    for scheduler in ("sync", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(lc.represent(X, labels, lift=lift).sums)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.long
def test_a_killed_worker_changes_nothing(client):
    X, labels = lazy_problem(30, seconds=0.1)
    lift = single_floats(points_of(np.arange(ROWS)))
    with dask.config.set(scheduler="sync"):
        expected = lc.represent(*lazy_problem(30), lift=lift).sums
    before = set(client.run(os.getpid).values())
    victim = min(before)
    killer = threading.Timer(0.7, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = lc.represent(X, labels, lift=lift).sums
    killer.join()
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()
    np.testing.assert_array_equal(found, expected)


def sent_by_workers(client):
    totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(totals.values())


async def take_no_work_over(dask_scheduler):
    """Each worker does its own share, however slow it is."""
    await dask_scheduler.extensions["stealing"].stop()


async def take_work_over(dask_scheduler):
    await dask_scheduler.extensions["stealing"].start()


@pytest.mark.long
def test_what_workers_send_each_other_does_not_grow_with_the_points(client):
    lift = single_floats(points_of(np.arange(ROWS)))
    client.run_on_scheduler(take_no_work_over)
    sums_sent = []
    for n_chunks in (32, 256):
        before = sent_by_workers(client)
        rep = lc.represent(*lazy_problem(n_chunks), lift=lift)
        sums_sent.append((sent_by_workers(client) - before) / rep.sums.nbytes)
    client.run_on_scheduler(take_work_over)
    assert 1 <= min(sums_sent) <= max(sums_sent) < 6  # one of them to the client


@pytest.mark.parametrize("n_workers", [2, 3, 20])
def test_the_number_of_sums_that_travel_depends_on_the_workers_alone(n_workers):
    threads = {f"worker {i}": 1 for i in range(n_workers)}
    travelling = {n: sums_between_homes(n, threads) for n in (2_000, 10_000, 20_480)}
    assert max(travelling.values()) < 6 * n_workers


def sums_between_homes(n_chunks, threads):
    graph = {}
    levels = [[("chunk", i) for i in range(n_chunks)]]
    while len(levels[-1]) > 1:
        levels.append(_dask._add_level(graph, levels[-1], None, "", len(levels)))
    homes = _dask._homes(levels, threads)
    shares = np.unique([homes[key] for key in levels[0]], return_counts=True)[1]
    assert shares.max() < 1.2 * n_chunks / len(threads)
    return sum(homes[key] != homes[part] for key in graph for part in graph[key].dependencies)


def graph_bytes(X, labels, lift, monkeypatch):
    """Of all tasks of one pass, each sent by itself."""
    seen = []
    compute = _dask._compute
    monkeypatch.setattr(
        _dask,
        "_compute",
        lambda graph, keys, homes: seen.append(graph) or compute(graph, keys, homes),
    )
    with dask.config.set(scheduler="sync"):
        lc.represent(X, labels, lift=lift)
    monkeypatch.undo()
    (graph,) = seen
    return sum(len(pickle.dumps(task)) for task in graph.values())


def test_the_graph_holds_the_lift_once_and_no_points(monkeypatch):
    lift = single_floats(points_of(np.arange(ROWS)), 2048)
    small, large = (graph_bytes(*lazy_problem(n), lift, monkeypatch) for n in (4, 12))
    assert (large - small) / 8 < 8000 < len(pickle.dumps(lift)) / 10


def test_labels_in_memory_go_with_their_own_chunk(monkeypatch):
    X, labels = lazy_problem(10)
    _, known = in_memory(X, labels)
    lift = single_floats(points_of(np.arange(ROWS)))
    lazy = graph_bytes(X, labels, lift, monkeypatch)
    held = graph_bytes(X, known, lift, monkeypatch)
    assert held - lazy < 1.2 * 4 * sum(map(len, known.values()))
    with dask.config.set(scheduler="threads"):
        found, expected = (lc.represent(X, p, lift=lift) for p in (known, labels))
    np.testing.assert_array_equal(found.sums, expected.sums)


def test_points_that_labels_are_made_of_are_made_once():
    calls = []
    numbers = da.arange(3 * ROWS, chunks=ROWS)
    X = numbers.map_blocks(
        lambda rows: calls.append(len(rows)) or points_of(rows),
        dtype=float,
        new_axis=1,
        chunks=(numbers.chunks[0], (16,)),
        meta=np.empty((0, 16)),
    )
    labels = {
        i: X.map_blocks(labels_of, i, drop_axis=1, dtype=int, meta=np.empty(0, int))
        for i in range(4)
    }
    with dask.config.set(scheduler="sync"):
        lc.represent(X, labels, lift=single_floats(points_of(np.arange(ROWS))))
    assert calls == [ROWS] * 3


def one_if_alone(shared, block):
    return np.array([n_threads(), len(block.X)])


def test_a_task_works_on_one_thread():
    X, labels = lazy_problem(3)
    with dask.config.set(scheduler="threads"):
        most, n = add_up_chunks(
            as_stream(X, labels),
            one_if_alone,
            lambda a, b: np.array([max(a[0], b[0]), a[1] + b[1]]),
        )
    assert (most, n) == (1, 3 * ROWS)


def test_points_that_workers_hold_already_are_lifted_where_they_are(client):
    X, labels = lazy_problem(6)
    lift = single_floats(points_of(np.arange(ROWS)))
    expected = lc.represent(X, labels, lift=lift).sums
    held, *parts = client.persist([X, *labels.values()])
    found = lc.represent(held, dict(zip(labels, parts, strict=True)), lift=lift).sums
    np.testing.assert_array_equal(found, expected)


def test_columns_of_a_data_frame_are_points_and_labels(client):
    rng = np.random.default_rng(4)
    X, labels = blobs(rng, 120, 2)
    kinds = pd.Categorical.from_codes(labels, categories=["z", "b", "a", "c"])
    table = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "kind": kinds, "w": rng.random(120)})
    lazy = dd.from_pandas(table, npartitions=5, sort=False)
    lift = lc.make_lift(X, lift="fourier", n_components=50, rng=0)
    found = lc.represent(lazy[["x", "y"]], {"p": lazy["kind"]}, weights=lazy["w"], lift=lift)
    expected = lc.represent(X, {"p": kinds}, weights=table["w"], lift=lift)
    assert found.cluster_names == expected.cluster_names == ("z", "b", "a", "c")
    np.testing.assert_allclose(found.sums, expected.sums, rtol=0, atol=1e-12)


def test_soft_memberships_and_arrays_mix():
    rng = np.random.default_rng(5)
    X, labels = blobs(rng, 90, 3)
    R = soft_memberships(rng, 90, 5)
    w = rng.random(90)
    lift = lc.make_lift(X, lift="fourier", n_components=40, rng=0)
    expected = lc.represent(X, {"hard": labels, "soft": R}, weights=w, lift=lift)
    lazy = da.from_array(R, chunks=(31, 2))
    for points, weights in ((X, da.from_array(w, chunks=13)), (da.from_array(X, chunks=20), w)):
        found = lc.represent(points, {"hard": labels, "soft": lazy}, weights=weights, lift=lift)
        np.testing.assert_allclose(found.sums, expected.sums, rtol=0, atol=1e-12)


def test_few_points_are_lifted_exactly():
    X, labels = blobs(np.random.default_rng(6), 60, 2)
    found = lc.represent(da.from_array(X, chunks=25), da.from_array(labels, chunks=60))
    assert found.lift.is_exact
    np.testing.assert_allclose(found.distances(), lc.represent(X, labels).distances(), atol=1e-12)


def test_mistakes_are_told_as_in_memory():
    X, labels = blobs(np.random.default_rng(7), 60, 2)
    lift = lc.make_lift(X, lift="fourier", n_components=10, rng=0)
    lazy = da.from_array(X, chunks=20)
    with pytest.raises(ValueError, match="partition 0 has 59 rows but X has 60"):
        lc.represent(lazy, da.from_array(labels[:59], chunks=20), lift=lift)
    broken = X.copy()
    broken[47, 1] = np.nan
    with pytest.raises(ValueError, match="got nan in row 47, column 1"):
        lc.represent(da.from_array(broken, chunks=20), labels, lift=lift)
    with pytest.raises(TypeError, match=r"dask Delayed.*from_delayed"):
        lc.represent(dask.delayed(X), labels, lift=lift)
    with pytest.raises(ValueError, match="read in blocks by this process alone"):
        lc.represent(lazy, lc.Blocks([labels]), lift=lift)
    table = dd.from_pandas(pd.DataFrame(X, columns=["x", "y"]), npartitions=3)
    other = dd.from_map(
        lambda i: pd.Series(labels[[slice(30), slice(30, 50), slice(50, 60)][i]]), range(3)
    )
    with pytest.raises(
        ValueError, match=r"a chunk of partition 0 has .0 rows where that of X has 20"
    ):
        lc.represent(table[["x", "y"]], other, lift=lift)
    with pytest.raises(TypeError, match="a data frame could be labels or memberships"):
        lc.represent(lazy, table, lift=lift)


def test_what_is_longer_than_a_data_frame_is_refused():
    X, labels = blobs(np.random.default_rng(7), 60, 2)
    lift = lc.make_lift(X, lift="fourier", n_components=10, rng=0)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=3)  # which does not say how long it is
    lazy = dd.from_pandas(pd.Series(labels), npartitions=3)
    for rows in (59, 61, 120):
        with pytest.raises(ValueError, match=rf"partition 0.* has {rows} entries but"):
            lc.represent(table, np.resize(labels, rows), lift=lift)
        with pytest.raises(ValueError, match=f"weights has {rows} entries but 60 points came"):
            lc.represent(table, lazy, lift=lift, weights=np.ones(rows))


MEASURES = [
    "lift_emd",
    "lift_kd",
    "lift_hausdorff",
    "rand",
    "adjusted_rand",
    "nmi",
    "vi",
    "accuracy",
]


def test_measures_have_the_values_of_memory(client):
    X, labels = lazy_problem(5)
    dense, known = in_memory(X, labels)
    lift = lc.make_lift(dense, lift="fourier", n_components=64, bandwidth=5.0, rng=0)
    found = lc.compare(labels["p1"], labels["p2"], X, lift=lift, measures=MEASURES)
    expected = lc.compare(known["p1"], known["p2"], dense, lift=lift, measures=MEASURES)
    for name in MEASURES:
        assert found[name].value == pytest.approx(expected[name].value, rel=1e-12)
    assert [str(move) for move in found.moves] == [str(move) for move in expected.moves]
    D = lc.distance_matrix(labels, measure="vi")
    np.testing.assert_allclose(D, lc.distance_matrix(known, measure="vi"), atol=1e-12)
    with pytest.raises(ValueError, match="it wants all in memory"):
        lc.distance(labels["p1"], labels["p2"], X, measure="centroid")


def test_scores_are_lazy_and_those_of_memory(client):
    X, labels = lazy_problem(4)
    dense, known = in_memory(X, labels)
    lift = single_floats(dense)
    V = lc.represent(dense, known["p1"], lift=lift).vectors
    scores, nearest = lift.scores(X, V), lift.assign(X, V)
    assert isinstance(scores, da.Array)
    assert (scores.shape, scores.chunks[0], scores.dtype) == ((4 * ROWS, K), X.chunks[0], float)
    assert (nearest.shape, nearest.chunks, nearest.dtype) == ((4 * ROWS,), X.chunks[:1], np.int64)
    # NumPy's products of single floats round by where in a block a row is; the kernels do not.
    expected = lift.scores(dense, V)
    rounding = 0 if kernels() else 8 * np.finfo(np.float32).eps  # of inner products of unit vectors
    np.testing.assert_allclose(scores.compute(), expected, rtol=0, atol=rounding)
    best, second = np.sort(expected)[:, :-3:-1].T
    clear = best - second > 2 * rounding
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(nearest.compute()[clear], lift.assign(dense, V)[clear])
    assert scores[:3].compute().shape == (3, K)


def test_scores_of_a_data_frame_skip_empty_partitions():
    X, labels = blobs(np.random.default_rng(8), 30, 2)
    lift = lc.make_lift(X, lift="fourier", n_components=20, rng=0)
    V = lc.represent(X, labels, lift=lift).vectors
    pieces = [X[:10], X[:0], X[10:]]
    table = dd.from_map(lambda i: pd.DataFrame(pieces[i], columns=["x", "y"]), range(3))
    np.testing.assert_array_equal(lift.assign(table, V).compute(), lift.assign(X, V))
    np.testing.assert_array_equal(lift.scores(table, V).compute(), lift.scores(X, V))


def test_the_witness_of_lazy_points_is_lazy():
    X, labels = lazy_problem(3)
    dense, known = in_memory(X, labels)
    lift = lc.make_lift(dense, lift="fourier", n_components=64, bandwidth=5.0, rng=0)
    found = lc.compare(labels["p1"], labels["p2"], X, lift=lift, measures="lift_emd")
    expected = lc.compare(known["p1"], known["p2"], dense, lift=lift, measures="lift_emd")
    witness = found.witness(X)
    assert isinstance(witness, da.Array)
    np.testing.assert_allclose(witness.compute(), expected.witness(), atol=1e-12)


def test_a_consensus_has_lazy_labels_and_the_distances_of_memory(client):
    X, labels = lazy_problem(9)
    dense, known = in_memory(X, labels)
    weights = da.from_array(np.random.default_rng(0).uniform(0.5, 2, 9 * ROWS), chunks=1000)
    options = {"method": "lift_hac", "lift": "nystrom", "n_components": 100, "rng": 1}
    found = lc.consensus(labels, 3, X, weights=weights, **options)
    expected = lc.consensus(known, 3, dense, weights=weights.compute(), **options)
    assert isinstance(found.labels, da.Array)
    assert found.labels.chunks == X.chunks[:1]
    np.testing.assert_array_equal(found.labels.compute(), expected.labels)
    assert found.mean_distance == pytest.approx(expected.mean_distance, rel=1e-9)
    assert found.composition[0][0][:2] == expected.composition[0][0][:2]
    lazy = found.predict_proba(X)
    assert (lazy.shape, lazy.chunks[0]) == ((9 * ROWS, 3), X.chunks[0])
    np.testing.assert_allclose(lazy.compute(), expected.memberships, atol=1e-9)
    np.testing.assert_array_equal(found.predict(X).compute(), expected.labels)
    np.testing.assert_array_equal(expected.predict(X[:ROWS]).compute(), expected.labels[:ROWS])


def test_labels_of_lazy_points_may_go_to_an_array_that_only_this_process_sees(client):
    X, labels = lazy_problem(9)
    out = np.full(9 * ROWS, -5)
    options = {"method": "lift_hac", "lift": "nystrom", "n_components": 100, "rng": 1}
    found = lc.consensus(labels, 3, X, out=out, **options)
    assert found.labels is out
    np.testing.assert_array_equal(out, lc.consensus(labels, 3, X, **options).labels.compute())
    with pytest.raises(ValueError, match="out has 10 rows"):
        found.predict(X, out=np.empty(10))


def test_a_chunk_of_one_point_has_the_weight_of_that_point():
    X, labels = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 0, 1])
    partition = lc.as_partition(labels, np.arange(1.0, 7.0))
    lift = lc.make_lift(X, lift="fourier", n_components=32, bandwidth=3.0, rng=0)
    chunked = lc.represent(da.from_array(X, chunks=(1, 2)), {"p": partition}, lift=lift)
    whole = lc.represent(X, {"p": partition}, lift=lift)
    np.testing.assert_allclose(chunked.sums, whole.sums, rtol=1e-12)
    np.testing.assert_allclose(chunked.masses, whole.masses, rtol=1e-12)
