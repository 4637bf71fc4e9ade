"""The fused kernels for GPUs, interpreted by Triton on machines without one.

They are compared with the same lift in double precision in main memory.
"""

from dataclasses import replace

import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays
from liftcluster.lifts._gpu import columns, fused, running
from liftcluster.lifts._gpu.device import memberships_on
from liftcluster.lifts.structured import draw_structured_lift
from liftcluster.partitions.on_device import LabelsOnDevice
from liftcluster.partitions.stack import Stack
from support.devices import need_triton, on_torch


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def kernels(monkeypatch):
    need_triton()
    monkeypatch.setattr(arrays, "_MAIN_MEMORY", ())
    monkeypatch.setattr(running, "has_tensor_cores", lambda X: True)
    monkeypatch.setattr(fused, "_FAST_CHUNK", 512)
    monkeypatch.setattr(fused, "_PRECISE_CHUNK", 256)
    monkeypatch.setattr(running, "_failed", set())


@pytest.fixture
def fast(kernels, monkeypatch):
    """Float16 for few points and small clusters too."""
    monkeypatch.setattr(fused, "_FEW", 0)
    monkeypatch.setattr(fused, "_TOLERATED", np.inf)


@pytest.fixture
def modes(kernels, monkeypatch):
    """The precision of each pass of the kernel over the points."""
    found, sums = [], fused.FusedFeatures._sums

    def record(self, X, members, *, precise, **options):
        found.append("precise" if precise else "fast")
        return sums(self, X, members, precise=precise, **options)

    monkeypatch.setattr(fused.FusedFeatures, "_sums", record)
    return found


def lifts(X, settings, bandwidth):
    """The same map in single precision, for the kernels, and in double precision."""
    lift = lc.make_lift(X, lift=settings, bandwidth=bandwidth, rng=0)
    return replace(lift, dtype=np.float32), replace(lift, dtype=np.float64)


def some_partitions(rng, n, sizes, noise=()):
    """Labels, in the partitions named in ``noise`` not for all points."""
    return Stack(
        {i: lc.as_partition(rng.integers(-(i in noise), k, n)) for i, k in enumerate(sizes)}
    )


# Dimensions, features, clusters of each partition, partitions with noise: phases in registers and
# in memory (there 64 or 128 at a time), columns in one tile of 64, in one of 96 and in several,
# codes of one and two bytes.
CASES = {
    "one axis": (1, lc.Fourier(10), [1], ()),
    "odd": (3, lc.Fourier(129), [5, 3], (1,)),
    "96 columns": (10, lc.Fourier(40), [20, 20, 20, 20, 20], ()),
    "many clusters": (7, lc.Fourier(30), [3, 200], (0,)),
    "structured": (50, lc.Structured(130), [20, 4], ()),
    "many axes": (150, lc.Structured(200), [5, 2], (0, 1)),
    "dense, many axes": (140, lc.Fourier(70), [2], ()),
}


@pytest.mark.parametrize("case", CASES)
def test_precise_sums_agree_with_double_precision(kernels, rng, case):
    d, settings, sizes, noise = CASES[case]
    X = rng.normal(size=(700, d)).astype(np.float32) + np.float32(50)
    single, double = lifts(X, settings, np.sqrt(2 * d))
    stack = some_partitions(rng, 700, sizes, noise)
    got, expected = single.sums(on_torch(X), stack), double.sums(X, stack)
    assert np.linalg.norm(got - expected) < 1e-6 * np.linalg.norm(expected)  # of float32
    assert not running._failed


@pytest.mark.parametrize("case", CASES)
def test_fast_sums_are_as_far_off_as_stated(fast, modes, rng, case):
    d, settings, sizes, noise = CASES[case]
    X = rng.normal(size=(700, d)).astype(np.float32)
    single, double = lifts(X, settings, np.sqrt(2 * d))
    stack = some_partitions(rng, 700, sizes, noise)
    got, expected = single.sums(on_torch(X), stack), double.sums(X, stack)
    assert modes == ["fast"]
    lengths, counts = np.linalg.norm(expected, axis=1), stack.cluster_weights
    radius = np.sqrt(((X - double.centre) ** 2).sum(axis=1).mean()) / double.kernel.scale
    stated = fused._ERROR * (1 + radius) * np.sqrt(counts) / lengths
    error = np.linalg.norm(got - expected, axis=1) / lengths
    assert (error < 2 * stated).all()  # a typical error, and the cluster is small
    assert error.max() > 1e-6  # these are not the precise sums


@pytest.mark.parametrize("case", CASES)
def test_kernels_compute_the_squared_norms_of_the_sums(fast, rng, case, monkeypatch):
    """The error is estimated from them; padding is not among them."""
    found, original = [], fused.FusedFeatures._sums
    monkeypatch.setattr(
        fused.FusedFeatures,
        "_sums",
        lambda *args, **options: found.append(original(*args, **options)) or found[-1],
    )
    d, settings, sizes, noise = CASES[case]
    X = rng.normal(size=(700, d)).astype(np.float32)
    single, _ = lifts(X, settings, np.sqrt(2 * d))
    single.sums(on_torch(X), some_partitions(rng, 700, sizes, noise))
    (sums, _, _, lengths) = found[0]
    np.testing.assert_allclose(lengths, np.vecdot(sums, sums), rtol=1e-12)  # order of addition


def test_copies_of_one_point_are_off_by_what_float16_rounds(fast, rng):
    X = np.repeat(rng.normal(size=(2, 5)), 600, axis=0).astype(np.float32)
    single, double = lifts(X, lc.Fourier(200), 2.0)
    stack = Stack({0: lc.as_partition(np.repeat([0, 1], 600))})
    got, expected = single.sums(on_torch(X), stack), double.sums(X, stack)
    error = np.linalg.norm(got - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert error.max() < 4e-4


@pytest.mark.parametrize(
    ("n", "bandwidth", "smallest", "expected"),
    [
        (900, 2.0, 400, ["fast"]),
        (500, 2.0, 200, ["precise"]),  # few points
        (900, 2.0, 3, ["precise"]),  # a small cluster
        (900, 0.05, 400, ["fast", "precise"]),  # features cancel in the sums
    ],
)
def test_precision_is_chosen_by_the_error(
    modes, monkeypatch, rng, n, bandwidth, smallest, expected
):
    monkeypatch.setattr(fused, "_FEW", 600)
    X = rng.normal(size=(n, 2)).astype(np.float32)
    single, double = lifts(X, lc.Fourier(64), bandwidth)
    labels = np.zeros(n, dtype=int)
    labels[:smallest] = 1
    got = single.sums(on_torch(X), lc.as_partition(labels))
    assert modes == expected
    exact = double.sums(X, lc.as_partition(labels))
    error = np.linalg.norm(got - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert error.max() < 2 * fused._TOLERATED


@pytest.mark.parametrize("case", CASES)
def test_scores_and_assignments_agree_with_double_precision(kernels, rng, case):
    d, settings, _, _ = CASES[case]
    k = 70 if case == "odd" else 6
    X = rng.normal(size=(300, d)).astype(np.float32)
    single, double = lifts(X, settings, np.sqrt(2 * d))
    V = double.sums(X, lc.as_partition(np.arange(300) % k)) * np.logspace(-9, 40, k)[:, None]
    scores = double.scores(X, V)
    got = arrays.to_numpy(single.scores(on_torch(X), V))
    lengths = np.linalg.norm(V, axis=1)
    # The error of one feature is that of float32; the vectors are of all sizes.
    assert (np.abs(got - scores) / lengths).max() < 2e-6
    V /= lengths[:, None]
    scores = double.scores(X, V)
    found = arrays.to_numpy(single.assign(on_torch(X), V))
    assert (scores.max(axis=1) - scores[np.arange(300), found]).max() < 1e-4  # of float16
    assert not running._failed


@pytest.mark.parametrize(
    ("d", "steps"),
    [(3, "_halve begin read"), (150, "_halve _multiply begin _multiply read")],
)
def test_labels_are_counted_amid_the_work_on_points(fast, rng, monkeypatch, d, steps):
    X = rng.normal(size=(700, d)).astype(np.float32)
    labels = rng.integers(0, 3, 700)
    single, double = lifts(X, lc.Fourier(20), 2.0 * np.sqrt(d))
    order = []

    def record(owner, name):
        function = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given: order.append(name) or function(*given))

    record(fused.FusedFeatures, "_halve")
    record(fused.FusedFeatures, "_multiply")
    record(LabelsOnDevice, "begin")
    record(LabelsOnDevice, "read")
    got = lc.represent(on_torch(X), [on_torch(labels)], lift=single)
    expected = lc.represent(X, [labels], lift=double)
    np.testing.assert_allclose(got.sums, expected.sums, atol=0.1)
    assert " ".join(order).startswith(steps)
    assert order.count("_halve") == 1


@pytest.mark.parametrize("n_clusters", [3, 70, 150])
def test_sums_of_many_chunks_are_added_by_another_kernel(kernels, rng, monkeypatch, n_clusters):
    X = rng.normal(size=(1500, 4)).astype(np.float32)
    stack = some_partitions(rng, 1500, [n_clusters, 4])
    single, double = lifts(X, lc.Fourier(21), 2.0)
    at_once = single.sums(on_torch(X), stack)
    monkeypatch.setattr(fused, "_ADDED_AT_ONCE", 1)
    in_two_steps = single.sums(on_torch(X), stack)
    np.testing.assert_allclose(in_two_steps, at_once, atol=1e-10)  # float32 sums of 1500 in float64
    np.testing.assert_allclose(at_once, double.sums(X, stack), atol=1e-4)


def test_batches_fit_the_memory_and_change_nothing(kernels, rng, monkeypatch):
    X = rng.normal(size=(1500, 4)).astype(np.float32)
    stack = some_partitions(rng, 1500, [3, 4], noise=(1,))
    single, double = lifts(X, lc.Fourier(20), 2.0)
    V = double.sums(X, stack)[:3]
    expected = [f(on_torch(X), R) for f, R in ((single.scores, V), (single.assign, V))]
    monkeypatch.setattr(fused, "_BATCH_BYTES", 2**15)
    source, sizes = fused.FusedFeatures._source, []

    def record(self, X, *rest):
        sizes.append(len(X))
        return source(self, X, *rest)

    monkeypatch.setattr(fused.FusedFeatures, "_source", record)
    np.testing.assert_allclose(single.sums(on_torch(X), stack), double.sums(X, stack), atol=1e-4)
    assert max(sizes) < 600
    for f, wanted in zip((single.scores, single.assign), expected, strict=True):
        np.testing.assert_array_equal(arrays.to_numpy(f(on_torch(X), V)), arrays.to_numpy(wanted))


def test_points_of_double_precision_and_other_strides_are_accepted(kernels, rng):
    X = rng.normal(size=(5, 400)).T + 1e6  # float32 would round to 1/16
    single, double = lifts(X, lc.Fourier(40), 2.0)
    R = lc.as_partition(np.arange(400) % 3)
    error = np.linalg.norm(single.sums(on_torch(X), R) - double.sums(X, R))
    assert error < 1e-6 * np.linalg.norm(double.sums(X, R))


@pytest.mark.parametrize("far", [1e6, np.nan, np.inf])
def test_far_points_are_computed_in_double_precision_and_others_refused(kernels, rng, far):
    X = rng.normal(size=(300, 2))
    single, _ = lifts(X, lc.Fourier(20), 1.0)
    X[17, 1] = far
    R, V, D = lc.as_partition(np.zeros(300, dtype=int)), np.ones((2, 20)), on_torch(X)
    if np.isfinite(far):
        # Float32 phases of the far point would have one digit.
        np.testing.assert_allclose(single.sums(D, R), single.sums(X, R), atol=1e-8)
        return
    for call in (lambda: single.sums(D, R), lambda: single.assign(D, V)):
        with pytest.raises(ValueError, match="row 17, column 1"):
            call()


def test_weights_soft_memberships_and_many_clusters_are_summed_in_steps(
    kernels, rng, modes, monkeypatch
):
    X = rng.normal(size=(60, 3)).astype(np.float32)
    single, double = lifts(X, lc.Fourier(20), 2.0)
    hard = lc.as_partition(np.arange(60) % 7)
    weighted = hard.with_weights(np.arange(1.0, 61))
    for R in (weighted, np.full((60, 2), 0.5)):
        np.testing.assert_allclose(single.sums(on_torch(X), R), double.sums(X, R), rtol=1e-4)
    monkeypatch.setattr(fused, "_CLUSTERS", 6)
    np.testing.assert_allclose(single.sums(on_torch(X), hard), double.sums(X, hard), atol=1e-4)
    assert not modes


def test_failing_kernel_warns_once_and_the_sums_are_computed_in_steps(kernels, rng, monkeypatch):
    def fail(*_, **__):
        raise OSError("no C compiler")

    monkeypatch.setattr(fused.FusedFeatures, "_sums", fail)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    single, double = lifts(X, lc.Fourier(40), 2.0)
    R = lc.as_partition(np.arange(300) % 2)
    with pytest.warns(RuntimeWarning, match="no C compiler"):
        sums = single.sums(on_torch(X), R)
    np.testing.assert_allclose(sums, double.sums(X, R), atol=1e-3)
    again, _ = lifts(X, lc.Fourier(40), 2.0)
    again.sums(on_torch(X), R)  # and no second warning


def test_kernels_are_not_used_in_double_precision(kernels, rng, modes):
    X = rng.normal(size=(50, 2))
    _, double = lifts(X, lc.Fourier(20), 1.0)
    R = lc.as_partition(np.arange(50) % 2)
    np.testing.assert_allclose(double.sums(on_torch(X), R), double.sums(X, R), atol=1e-10)
    assert not modes


def test_columns_are_laid_out_and_sent_once(kernels, rng, monkeypatch):
    sizes, lay_out = [], columns.lay_out
    monkeypatch.setattr(
        columns, "lay_out", lambda *given: sizes.append(given[0]) or lay_out(*given)
    )
    X = rng.normal(size=(300, 2)).astype(np.float32)
    single, _ = lifts(X, lc.Fourier(20), 2.0)
    for k in (3, 3, 4):
        single.sums(on_torch(X), lc.as_partition(np.arange(300) % k))
    assert sizes == [(3,), (4,)]


@pytest.mark.parametrize("settings", [lc.Fourier(2000), lc.Structured(600)])
def test_points_are_multiplied_once_by_frequencies_that_float16_holds(kernels, rng, settings):
    X = rng.normal(size=(100, 10)).astype(np.float32)
    single, _ = lifts(X, settings, 2.0)
    features = single._features_on(on_torch(X), np.float32)._fused
    assert features._weights_for(False).parts == 1
    assert features._weights_for(True).parts == 2


@pytest.mark.parametrize(("d", "exact"), [(20, True), (784, True), (1500, False)])
def test_float16_holds_the_directions_of_structured_frequencies(d, exact):
    lift = draw_structured_lift(lc.Gaussian(1.0), d, 300, rng=np.random.default_rng(0))
    directions, lengths = lift.factored()
    np.testing.assert_allclose(directions * lengths[:, None], lift.frequencies, rtol=1e-14)
    half = directions.astype(np.float16)
    assert (half == directions).all() == exact
    # Where it does not, two numbers do.
    rest = (directions - half).astype(np.float16)
    np.testing.assert_array_equal(half.astype(float) + rest, directions)


@pytest.mark.parametrize(
    ("sizes", "largest"), [((3,), (-1,)), ((3, 2, 4), (2, -1, 0)), ((90, 90, 90), (1, 2, 3))]
)
def test_every_cluster_has_its_own_bit_or_is_what_is_left(sizes, largest):
    found = columns.lay_out(sizes, largest)
    has_column = found.bits >= 0
    used = found.bits[has_column]
    assert len(set(used.tolist())) == len(used)
    assert used.max() < 32 * found.words
    # Random sums with the same total in every partition that leaves nothing out.
    rng, first = np.random.default_rng(0), found.first
    V = rng.normal(size=sum(sizes))
    parts = [slice(a, a + k) for a, k in zip(first, sizes, strict=True)]
    complete = [part for part, cluster in zip(parts, largest, strict=True) if cluster >= 0]
    for part in complete:
        V[part.start] += V[complete[0]].sum() - V[part].sum()
    by_column = np.linalg.lstsq(found.expand[has_column], V[has_column], rcond=None)[0]
    np.testing.assert_allclose(found.expand @ by_column, V, atol=1e-12)


def test_members_know_the_largest_clusters(rng):
    X = np.zeros((6, 1))
    stack = Stack({0: lc.as_partition([0, 1, 1, 1, 0, 2]), 1: lc.as_partition([0, 0, -1, 1, 1, 1])})
    strict = pytest.importorskip("array_api_strict")
    D = strict.asarray(X, device=strict.Device("device1"))
    assert memberships_on(D, stack).largest == (1, -1)
