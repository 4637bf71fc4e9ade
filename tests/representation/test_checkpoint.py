"""Checkpoints: interrupted work resumes with identical results, and only the same work."""

import datetime
import os
import re
import signal
import subprocess
import sys
import time

import dask
import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util.files import atomic_write
from liftcluster.representation import checkpoint, tally
from liftcluster.representation.storage import read_npz
from liftcluster.streaming import dask_chunks, sources
from support.generators import blobs
from support.stored import as_dask_array, as_hdf5, as_memmap, as_zarr


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 50 two-dimensional points, with a checkpoint after each."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 50 * 2 * 8)
    monkeypatch.setattr(sources, "_MULTIPLE", 1)
    monkeypatch.setattr(checkpoint, "EVERY", 0)


class Stop(Exception):
    """Simulated interruption."""


def stop_after(monkeypatch, blocks):
    """Raise Stop once the given number of blocks has been lifted."""
    real, left = tally.Tally.of.__func__, [blocks]

    def of(cls, *args):
        if left[0] == 0:
            raise Stop
        left[0] -= 1
        return real(cls, *args)

    monkeypatch.setattr(tally.Tally, "of", classmethod(of))


def problem(n=420):
    X, labels = blobs(np.random.default_rng(0), n, 2)
    late = np.where(np.arange(n) > 300, labels + 10, labels)
    return X, {"truth": labels, "late": late.astype(str)}


OPTIONS = [
    {"lift": lc.Fourier(30)},
    {"lift": lc.Nystroem(20)},
    {"lift": "grid"},
    {"lift": lc.Structured(32), "bandwidth": 1.0},
    {"lift": lc.Fourier(tol=0.015)},  # which takes two passes
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("blocks", [0, 1, 5, 8, 9, 12])
def test_resumed_work_gives_identical_results(tmp_path, monkeypatch, options, blocks):
    X, labels = problem()
    file = tmp_path / "sums.npz"
    stored = as_hdf5(tmp_path, "X", X)
    whole = lc.represent(stored, labels, rng=np.random.default_rng(3), checkpoint=file, **options)
    assert not file.exists()
    with monkeypatch.context() as patch:
        stop_after(patch, blocks)
        try:
            lc.represent(stored, labels, rng=np.random.default_rng(3), checkpoint=file, **options)
        except Stop:
            assert file.exists() == (blocks > 0)
        else:
            assert blocks >= 9  # the number of blocks in one pass
            return
    # A generator in another state: the lift of the checkpoint is not drawn again.
    rng = np.random.default_rng(3 if blocks == 0 else 4)
    again = lc.represent(stored, labels, rng=rng, checkpoint=file, **options)
    np.testing.assert_array_equal(again.sums, whole.sums)
    assert again.cluster_names == whole.cluster_names
    assert again.lift.fingerprint() == whole.lift.fingerprint()
    assert not file.exists()


def test_stale_temporary_files_are_removed_on_completion(tmp_path):
    X, labels = problem()
    for name in ("sums.npz", "s" * 250):
        left, fresh, other = (
            leftover_file(tmp_path / other) for other in (name, name, "other.npz")
        )
        for path in (left, other):
            os.utime(path, (0, 0))
        lc.represent(X, labels, lift="fourier", checkpoint=tmp_path / name)
        # Other processes may still be writing these.
        assert sorted(tmp_path.iterdir()) == sorted([fresh, other])
        fresh.unlink()
        other.unlink()


def leftover_file(target):
    """A temporary file as left by a process that is killed while writing."""
    with atomic_write(target) as temporary:
        temporary.write_text("half of")
        copy = temporary.with_name(temporary.name[:-12] + "0" * 8 + ".tmp")
        copy.write_text("half of")
    target.unlink()
    return copy


def test_completed_blocks_are_not_lifted_again(tmp_path, monkeypatch):
    X, labels = problem()
    file = tmp_path / "sums.npz"
    stored = as_zarr(tmp_path, "X", X)
    options = {"lift": "fourier", "checkpoint": file, "rng": 0}
    with monkeypatch.context() as patch:
        stop_after(patch, 6)
        with pytest.raises(Stop):
            lc.represent(stored, labels, **options)
    stop_after(monkeypatch, 3)  # of nine
    lc.represent(stored, labels, **options)


def test_several_samples_resume_in_the_interrupted_one(tmp_path, monkeypatch):
    X, labels = problem()
    file = tmp_path / "sums.npz"
    samples = [(as_hdf5(tmp_path, "X", X), labels), (X[:130] + 1, {"other": labels["late"][:130]})]
    whole = lc.represent_samples(samples, lift="fourier", rng=0)
    with monkeypatch.context() as patch:
        stop_after(patch, 10)
        with pytest.raises(Stop):
            lc.represent_samples(samples, lift="fourier", rng=0, checkpoint=file)
    again = lc.represent_samples(samples, lift="fourier", rng=0, checkpoint=file)
    np.testing.assert_array_equal(again.sums, whole.sums)


@pytest.mark.parametrize("chunks", [2, 3, 4, 6])  # each of the three samples has three
def test_interrupted_dask_samples_are_added_once(tmp_path, monkeypatch, chunks):
    X, labels = problem()
    file = tmp_path / "sums.npz"
    samples = [
        (as_dask_array(tmp_path, "X", X + i), {i: as_dask_array(tmp_path, "p", labels["late"])})
        for i in range(3)
    ]
    lift = lc.make_lift(X, lift=lc.Fourier(30), rng=0)
    monkeypatch.setattr(dask_chunks, "_MULTIPLE", 1)  # a block is a chunk
    with dask.config.set(scheduler="sync"):
        whole = lc.represent_samples(samples, lift=lift)
        with monkeypatch.context() as patch:
            stop_after(patch, chunks)
            with pytest.raises(Stop):
                lc.represent_samples(samples, lift=lift, checkpoint=file)
        again = lc.represent_samples(samples, lift=lift, checkpoint=file)
    np.testing.assert_array_equal(again.sums, whole.sums)
    assert again.total_weights.tolist() == [420.0] * 3


def test_points_in_memory_can_have_a_checkpoint(tmp_path):
    X, labels = problem()
    found = lc.represent(X, labels, lift="fourier", rng=0, checkpoint=tmp_path / "c.npz")
    expected = lc.represent(X, labels, lift="fourier", rng=0)
    np.testing.assert_allclose(found.sums, expected.sums, atol=1e-10)
    few = lc.represent(X[:60], labels["truth"][:60], checkpoint=tmp_path / "c.npz")
    assert few.lift.is_exact


def test_checkpoint_is_small_and_contains_no_pickle(tmp_path, monkeypatch):
    X, labels = problem(n=4000)
    file = tmp_path / "sums.npz"
    stop_after(monkeypatch, 70)
    with pytest.raises(Stop):
        lc.represent(X, labels, lift=lc.Fourier(100), rng=0, checkpoint=file)
    values, arrays = read_npz(file)  # which reads no pickle
    assert values["row"] == 3500
    assert file.stat().st_size < 3 * arrays["tally_sums"].nbytes + 20_000
    assert [path.name for path in tmp_path.iterdir()] == ["sums.npz"]


CHANGES = {
    "options": {"bandwidth": 3.0},
    "options, the seed": {"rng": 1},
    "points": {"X": "moved"},
    "points, the labels": {"labels": "moved"},
    "points, a name": {"labels": "renamed"},
    "points, the length": {"X": "shorter"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_checkpoint_of_other_work_is_refused(tmp_path, monkeypatch, change):
    X, labels = problem()
    file = tmp_path / "sums.npz"
    options = {"lift": "fourier", "bandwidth": 2.0, "rng": 0, "checkpoint": file}
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            lc.represent(X, labels, **options)
    changed = dict(CHANGES[change])
    points, parts = changed.pop("X", None), changed.pop("labels", None)
    if points is not None:
        X, labels = (
            (X + 1, labels) if points == "moved" else (X[1:], {k: v[1:] for k, v in labels.items()})
        )
    if parts is not None:
        labels = {
            ("renamed" if parts == "renamed" else name): p[::-1] for name, p in labels.items()
        }
    before = file.read_bytes()
    with pytest.raises(
        ValueError, match=f"checkpoint of other work: its {change.split(',')[0]} was"
    ) as error:
        lc.represent(X, labels, **options | changed)
    was, now = re.search("was (.*), and is (.*) now; remove", str(error.value)).groups()
    assert was != now
    assert file.read_bytes() == before


def assert_checkpoint_is_refused(tmp_path, monkeypatch, first, second, n=2300):
    """Interrupt work on the first partition; its checkpoint must be refused for the second."""
    X, _ = problem(n)
    options = {"lift": "fourier", "bandwidth": 2.0, "rng": 0, "checkpoint": tmp_path / "c.npz"}
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            lc.represent(X, **first, **options)
    with pytest.raises(ValueError, match="checkpoint of other work: its points was"):
        lc.represent(X, **second, **options)


@pytest.mark.parametrize("form", [np.asarray, lambda R: lc.Blocks([R])], ids=["memory", "blocks"])
def test_checkpoint_of_other_memberships_with_the_same_labels_is_refused(
    tmp_path, monkeypatch, form
):
    parts = [{"partitions": form(np.tile(row, (2300, 1)))} for row in ([0.6, 0.4], [0.9, 0.1])]
    assert_checkpoint_is_refused(tmp_path, monkeypatch, *parts)


LAST = np.arange(2300) == 2299
MEMBERSHIPS = np.tile([0.6, 0.4], (2300, 1))
LATE_CHANGES = {
    "labels": (
        {"partitions": np.arange(2300) % 3},
        {"partitions": np.where(LAST, 0, np.arange(2300) % 3)},
    ),
    "shares": (
        {"partitions": MEMBERSHIPS},
        {"partitions": np.where(LAST[:, None], 0.5, MEMBERSHIPS)},
    ),
    "weights": (
        {"partitions": np.arange(2300) % 3, "weights": np.ones(2300)},
        {"partitions": np.arange(2300) % 3, "weights": np.where(LAST, 2.0, 1.0)},
    ),
}


@pytest.mark.parametrize("what", LATE_CHANGES)
def test_checkpoint_is_refused_if_the_last_label_or_weight_differs(tmp_path, monkeypatch, what):
    assert_checkpoint_is_refused(tmp_path, monkeypatch, *LATE_CHANGES[what])


def test_checkpoint_stays_valid_after_blocks_are_counted(tmp_path, monkeypatch):
    X, labels = problem()
    blocks = lc.Blocks(lambda: iter([{"X": X, "label": labels["late"]}]))
    options = {"lift": "fourier", "rng": 0}
    whole = lc.represent(blocks["X"], blocks["label"], **options)
    for stored in (blocks, lc.Blocks(lambda: iter([{"X": X, "label": labels["late"]}]))):
        with monkeypatch.context() as patch:
            stop_after(patch, 2)
            with pytest.raises(Stop):
                lc.represent(stored["X"], stored["label"], checkpoint=tmp_path / "c.npz", **options)
        again = lc.represent(stored["X"], stored["label"], checkpoint=tmp_path / "c.npz", **options)
        np.testing.assert_array_equal(again.sums, whole.sums)


@pytest.mark.parametrize("kind", [np.random.SeedSequence, np.random.PCG64, np.int64, np.atleast_1d])
def test_every_type_of_seed_works_with_a_checkpoint(tmp_path, kind):
    X, labels = problem()
    seed, again = kind(3), kind(3)
    found = lc.represent(X, labels, lift="fourier", rng=seed, checkpoint=tmp_path / "c.npz")
    np.testing.assert_array_equal(
        found.sums, lc.represent(lc.Blocks([X]), labels, lift="fourier", rng=again).sums
    )


def test_names_that_cannot_be_stored_are_refused_after_the_first_block(tmp_path, monkeypatch):
    X, labels = problem()
    stop_after(monkeypatch, 1)
    monkeypatch.setattr(checkpoint, "EVERY", 1000)
    days = [datetime.date(2020, 1, 1 + label) for label in labels["truth"]]
    with pytest.raises(ValueError, match=r"the name datetime.* cannot be stored"):
        lc.represent(X, {"days": days}, lift="fourier", checkpoint=tmp_path / "c.npz")


def test_names_may_be_numpy_numbers(tmp_path, monkeypatch):
    X, labels = problem()
    parts = {np.int64(3): labels["truth"], (np.float32(0.5), "a"): labels["late"]}
    options = {"lift": "fourier", "rng": 0, "checkpoint": tmp_path / "c.npz"}
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            lc.represent(X, parts, **options)
    again = lc.represent(X, parts, **options)
    assert again.partition_names == (3, (0.5, "a"))
    np.testing.assert_array_equal(
        again.sums, lc.represent(lc.Blocks([X]), parts, lift="fourier", rng=0).sums
    )


def test_files_that_are_not_checkpoints_are_refused_and_kept(tmp_path):
    X, labels = problem()
    rep = lc.represent(X, labels, lift="fourier", rng=0)
    rep.save(tmp_path / "rep.npz")
    (tmp_path / "text.npz").write_text("important")
    for name, message in (("rep.npz", "is not a checkpoint"), ("text.npz", "not a file that")):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match=message):
            lc.represent(X, labels, lift="fourier", rng=0, checkpoint=tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_lift_that_cannot_be_stored_is_refused_before_the_work(tmp_path):
    X, labels = problem()
    with pytest.raises(ValueError, match="cannot be stored, so the work cannot be resumed"):
        lc.represent(
            X, labels, kernel=lambda a, b: a @ b.T, lift="nystroem", checkpoint=tmp_path / "c.npz"
        )
    assert not list(tmp_path.iterdir())


def test_other_bit_generators_are_stored(tmp_path, monkeypatch):
    X, labels = problem()
    file = tmp_path / "sums.npz"

    def represent(seed):
        rng = np.random.Generator(np.random.MT19937(seed))
        return lc.represent(X, labels, lift=lc.Fourier(tol=0.015), rng=rng, checkpoint=file)

    whole = represent(0)
    with monkeypatch.context() as patch:
        stop_after(patch, 4)
        with pytest.raises(Stop):
            represent(0)
    with pytest.raises(ValueError, match="checkpoint of other work"):
        lc.represent(
            X, labels, lift=lc.Fourier(tol=0.015), rng=np.random.default_rng(0), checkpoint=file
        )
    np.testing.assert_array_equal(represent(1).sums, whole.sums)


def test_missing_folder_is_reported_before_the_work(tmp_path):
    X, labels = problem()
    with pytest.raises(FileNotFoundError, match="no such folder for the checkpoint"):
        lc.represent(X, labels, lift="fourier", checkpoint=tmp_path / "none" / "sums.npz")


KILLED = """
import sys, time
import numpy as np
import liftcluster as lc
from liftcluster.representation import checkpoint, tally
from liftcluster.streaming import sources
sources.BLOCK_BYTES, sources._MULTIPLE, checkpoint.EVERY = 50 * 2 * 8, 1, 0
real = tally.Tally.of.__func__
def slowly(cls, *args):
    time.sleep(float(sys.argv[2]))
    return real(cls, *args)
tally.Tally.of = classmethod(slowly)
folder = sys.argv[1]
X = np.memmap(folder + "/X.bin", dtype=np.float64, mode="r").reshape(-1, 2)
labels = np.memmap(folder + "/l.bin", dtype=np.int64, mode="r")
rep = lc.represent(X, labels, lift="fourier", checkpoint=folder + "/sums.npz")
np.save(folder + "/sums.npy", rep.sums)
rep.save(folder + "/rep.npz")
"""


@pytest.mark.long
def test_repeatedly_killed_work_gives_identical_results(tmp_path):
    X, labels = problem()
    as_memmap(tmp_path, "X", X).flush()
    as_memmap(tmp_path, "l", labels["truth"]).flush()
    script = [sys.executable, "-c", KILLED, str(tmp_path)]
    reached = []
    for _ in range(2):
        work = subprocess.Popen([*script, "0.05"])
        before = reached[-1] if reached else -1
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            if (tmp_path / "sums.npz").exists() and _row(tmp_path / "sums.npz") > before:
                break
            time.sleep(0.005)
        os.kill(work.pid, signal.SIGKILL)
        work.wait()
        reached.append(_row(tmp_path / "sums.npz"))
    assert 0 < reached[0] < reached[1] < 420
    subprocess.run([*script, "0"], check=True)
    found = lc.load_representation(tmp_path / "rep.npz")
    uninterrupted = lc.represent(lc.Blocks([X]), labels["truth"], lift=found.lift)
    np.testing.assert_array_equal(np.load(tmp_path / "sums.npy"), uninterrupted.sums)
    assert not list(tmp_path.glob("*sums.npz*"))


def _row(path):
    return read_npz(path)[0]["row"]
