"""Compiled kernels: the results of NumPy for every instruction set, thread count and shape."""

import os
import subprocess
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster._util.threads import map_in_order, n_threads, runs
from liftcluster.lifts import _native, grid
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.lifts.grid import fit_grid_lift
from liftcluster.lifts.native import DENSE, GIVEN, GRID, STRUCTURED
from liftcluster.lifts.structured import draw_structured_lift
from support.amount import also
from support.kernel_cases import FORMS, SETS, dense, kernels, memberships, needs_kernels, points


def test_extension_is_built_in_ci():
    """CI has a compiler; elsewhere the extension is optional."""
    if os.environ.get("CI") and os.environ.get("LIFTCLUSTER_NATIVE") != "off":
        assert kernels is not None


def lifts(rng, d, rho, dtype):
    centre = rng.standard_normal(d)
    yield draw_fourier_lift(lc.Gaussian(2.0), d, rho, centre=centre, dtype=dtype, rng=rng)
    yield draw_fourier_lift(lc.Laplace(5.0), d, rho, centre=centre, dtype=dtype, rng=rng)
    yield draw_structured_lift(lc.Matern(1.5, 3.0), d, rho, centre=centre, dtype=dtype, rng=rng)
    if d <= 3:
        box = np.full(d, -30.0), np.full(d, 30.0)
        yield fit_grid_lift(lc.Gaussian(15.0), box, eps=1e-3, dtype=dtype)


@needs_kernels
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 2, 7, 127, 128, 129, 400]),
    d=st.sampled_from([1, 2, 3, 5, 17, 63, 64, 65, 130]),
    rho=st.sampled_from([1, 2, 3, 31, 64, 65, 200, 513]),
    form=st.sampled_from([*FORMS, "read-only"]),
    kind=st.sampled_from(["hard", "weighted", "soft", "matrix"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    which=st.sampled_from(SETS or [None]),
)
def test_extension_agrees_with_numpy(seed, n, d, rho, form, kind, dtype, which):
    rng = np.random.default_rng(seed)
    X, R = points(rng, n, d, form), memberships(rng, n, kind)
    tolerance = 1e-6 if dtype == np.float32 else 1e-13
    before = kernels.in_use()
    for lift in lifts(rng, d, rho, dtype):
        V = rng.standard_normal((int(rng.integers(1, 5)), lift.n_components))
        kernels.use(which)
        try:
            fused = lift.sums(X, R), lift.scores(X, V), lift.features(X), lift.assign(X, V)
        finally:
            kernels.use(before)
        _native._loaded, transform, grid.nufft = None, grid.nufft, lambda: None
        try:
            plain = lift.sums(X, R), lift.scores(X, V), lift.features(X), lift.assign(X, V)
        finally:
            _native._loaded, grid.nufft = kernels, transform
        totals = np.abs(dense(R)).sum()
        unit = tolerance * (1 + largest_phase(lift, X))  # to which rounding errors are relative
        np.testing.assert_allclose(fused[0] / totals, plain[0] / totals, atol=unit)
        np.testing.assert_allclose(fused[1], plain[1], atol=unit * np.abs(V).sum(axis=1).max())
        np.testing.assert_allclose(fused[2], plain[2], atol=unit)
        assert fused[2].dtype == plain[2].dtype == dtype
        gap = np.sort(plain[1], axis=1)[:, -2:]
        close = 2 * unit * np.abs(V).sum(axis=1).max()  # bound on the error of score differences
        clear = gap[:, -1] - gap[:, 0] > close if gap.shape[1] > 1 else np.ones(n, dtype=bool)
        np.testing.assert_array_equal(fused[3][clear], plain[3][clear])


def largest_phase(lift, X):
    U = (np.asarray(X, dtype=np.float64) - lift.centre) / lift.kernel.scale
    if lift.kind == "grid":
        return np.abs(U * lift.steps * lift.counts).max()
    return (np.abs(U) @ np.abs(lift.frequencies.T)).max()


@needs_kernels
@pytest.mark.parametrize("m", [1, also(12)])
@pytest.mark.parametrize("lift", [lc.Fourier(301), lc.Structured(301), lc.Grid()], ids=str)
def test_number_of_threads_changes_no_bit(lift, m):
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.standard_normal((n, 3)).astype(np.float32)
    partitions = [rng.integers(-1, 7, n) for _ in range(m)]
    made = lc.make_lift(X, lift=lift, rng=0)
    V = rng.standard_normal((4, made.n_components))
    results = []
    for threads in (1, 2, 5):
        with threadpool_limits(threads):
            rep = lc.represent(X, partitions, lift=made)
            results.append((rep.sums, made.scores(X, V), made.assign(X, V)))
    for sums, scores, labels in results[1:]:
        np.testing.assert_array_equal(sums, results[0][0])
        np.testing.assert_array_equal(scores, results[0][1])
        np.testing.assert_array_equal(labels, results[0][2])


def test_number_of_threads_changes_no_bit_without_the_extension(by_numpy):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((9000, 40)), rng.integers(5, size=9000)
    lift = draw_structured_lift(lc.Gaussian(5.0), 40, 300, dtype=np.float32, rng=rng)
    sums = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            sums.append(by_numpy(lambda: lift.sums(X, lc.as_partition(labels))))
    np.testing.assert_array_equal(sums[0], sums[1])


@needs_kernels
def test_stacking_partitions_changes_no_bit(instruction_set):
    rng = np.random.default_rng(0)
    n = 5000
    X = rng.standard_normal((n, 20)).astype(np.float32)
    partitions = [rng.integers(-1, k, n) for k in (2, 9, 40)] + [rng.dirichlet(np.ones(3), n)]
    lift = draw_fourier_lift(lc.Gaussian(4.0), 20, 200, dtype=np.float32, rng=rng)
    together = lc.represent(X, partitions, lift=lift)
    for i, partition in enumerate(partitions):
        alone = lc.represent(X, partition, lift=lift)
        np.testing.assert_array_equal(together.sums[together.owner == i], alone.sums)


@needs_kernels
def test_many_small_clusters_are_summed(instruction_set):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 2))
    labels = rng.integers(2500, size=3000)
    lift = draw_fourier_lift(lc.Gaussian(1.0), 2, 100, rng=rng)
    p = lc.as_partition(labels)
    expected = p.memberships.T @ lift.features(X)
    np.testing.assert_allclose(lift.sums(X, p), expected, atol=1e-12)


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_many_points_are_accurate(instruction_set, dtype):
    """Single precision is used for short partial sums only; totals are in double precision."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300_000, 1)).astype(dtype)
    lift = draw_fourier_lift(lc.Gaussian(1.0), 1, 8, dtype=dtype, rng=rng)
    W = lift.frequencies[:, 0]
    phases = np.outer(X.astype(np.float64)[:, 0], W)
    expected = np.concatenate([np.cos(phases), np.sin(phases)], axis=1).sum(axis=0) / 2
    found = lift.sums(X, np.ones((len(X), 1)))[0]
    np.testing.assert_allclose(found / len(X), expected / len(X), atol=1e-8)


@needs_kernels
def test_far_points_are_lifted_in_double_precision(instruction_set):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((50, 2)), [[3e6, 1.0]]])
    single = draw_fourier_lift(
        lc.Gaussian(1.0), 2, 50, dtype=np.float32, rng=np.random.default_rng(1)
    )
    double = draw_fourier_lift(lc.Gaussian(1.0), 2, 50, rng=np.random.default_rng(1))
    R = np.ones((51, 1))
    np.testing.assert_allclose(single.sums(X, R), double.sums(X, R), atol=1e-5)
    np.testing.assert_allclose(single.features(X), double.features(X), atol=1e-6)


@needs_kernels
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_invalid_coordinates_are_refused(bad, instruction_set):
    X = np.zeros((400, 3))
    X[317, 1] = bad
    lift = draw_fourier_lift(lc.Gaussian(1.0), 3, 20, rng=np.random.default_rng(0))
    with pytest.raises(
        ValueError, match="row 317, column 1" if abs(bad) != 1e300 else "bandwidths"
    ):
        lift.sums(X, np.ones((400, 1)))
    with pytest.raises(
        ValueError, match="row 317, column 1" if abs(bad) != 1e300 else "bandwidths"
    ):
        lift.scores(X, np.ones((1, 20)))


def test_scales_beyond_the_float32_range_are_lifted():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((200, 3)), np.arange(200) % 3
    expected = lc.represent(X, labels, lift="fourier", bandwidth=1.0, rng=0).distances()
    for unit in (1e-60, 1e-30, 1e30, 1e60):
        found = lc.represent(X * unit, labels, lift="fourier", bandwidth=unit, rng=0).distances()
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_runs_depend_only_on_the_number_of_points():
    for n in (0, 1, 1023, 1024, 60_000, 10**7):
        found = runs(n)
        assert [r.start for r in found[1:]] == [r.stop for r in found[:-1]]
        assert sum(r.stop - r.start for r in found) == n
    assert len(runs(60_000)) == 16
    assert max(r.stop - r.start for r in runs(10**7)) == 32768


def test_results_are_ordered_and_an_error_stops_the_remaining_tasks():
    with threadpool_limits(2):
        assert list(map_in_order(lambda i: i * i, range(50))) == [i * i for i in range(50)]
        started = []

        def fail(i):
            started.append(i)
            if i == 3:
                raise RuntimeError("three")
            return i

        with pytest.raises(RuntimeError, match="three"):
            list(map_in_order(fail, range(1000)))
        assert len(started) < 20


def test_matrix_products_in_worker_threads_use_one_blas_thread():
    from threadpoolctl import threadpool_info

    def blas_threads(_):
        found = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
        return threading.get_ident(), max(found, default=1)

    with threadpool_limits(2):
        before = n_threads()
        results = list(map_in_order(blas_threads, range(40), uses_blas=True))
        assert n_threads() == before
    assert {limit for _, limit in results} == {1}
    if before > 1:
        assert len({thread for thread, _ in results}) > 1


def test_number_of_threads_respects_limits():
    with threadpool_limits(1):
        assert n_threads() == 1
    code = (
        "import sklearn, numpy; from liftcluster._util.threads import n_threads; print(n_threads())"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "1"


@pytest.mark.parametrize(("value", "expected"), [("off", "None"), ("portable", "portable")])
def test_environment_variable_selects_the_instruction_set(value, expected):
    if find_spec("liftcluster.lifts._native._kernels") is None:
        expected = "None"
    code = "from liftcluster.lifts import _native as n; k = n.kernels(); print(None if k is None else k.in_use())"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LIFTCLUSTER_NATIVE": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == expected


# Invalid arguments, which the Python code never passes, must raise errors in the extension.
CENTRE, W = np.zeros(2), np.ones((2, 3), dtype=np.float32)
SIGNS, LENGTHS = np.zeros((1, 3, 64), dtype=np.uint8), np.ones(3, dtype=np.float32)
STEPS = np.ones(2, dtype=np.float32)
MAP = (DENSE, 3, 0, CENTRE, W, None, None, None, 1e6)
X2 = np.zeros((4, 2))
CODES = np.zeros(4, dtype=np.int32)


@needs_kernels
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"map": (8, *MAP[1:])}, ValueError),
        ({"map": MAP[:5]}, TypeError),
        ({"map": list(MAP)}, TypeError),
        ({"map": (DENSE, 4, *MAP[2:])}, ValueError),
        ({"map": (DENSE, -1, *MAP[2:])}, ValueError),
        ({"map": (DENSE, 2**62, *MAP[2:])}, ValueError),
        ({"map": (DENSE, 3, 0, CENTRE[:1], W, None, None, None, 1e6)}, ValueError),
        ({"map": (DENSE, 3, 0, CENTRE, W.astype(float), None, None, None, 1e6)}, TypeError),
        ({"map": (DENSE, 3, 0, CENTRE, None, None, None, None, 1e6)}, TypeError),
        ({"map": (STRUCTURED, 3, 63, CENTRE, None, SIGNS, LENGTHS, None, 1e6)}, ValueError),
        ({"map": (STRUCTURED, 3, 32, CENTRE, None, SIGNS, LENGTHS, None, 1e6)}, ValueError),
        ({"map": (STRUCTURED, 3, 64, CENTRE, None, SIGNS[:, :2], LENGTHS, None, 1e6)}, ValueError),
        ({"map": (STRUCTURED, 3, 64, CENTRE, None, SIGNS, LENGTHS[:2], None, 1e6)}, ValueError),
        ({"map": (STRUCTURED, 100, 64, CENTRE, None, SIGNS, LENGTHS, None, 1e6)}, ValueError),
        ({"map": (GIVEN, 3, 0, CENTRE, None, None, None, None, 1e6)}, ValueError),
        ({"map": (GRID, 0, 0, CENTRE, STEPS, None, None, (3,), 1e6)}, ValueError),
        ({"map": (GRID, 0, 0, CENTRE, STEPS, None, None, (3, 513), 1e6)}, ValueError),
        ({"map": (GRID, 0, 0, CENTRE, STEPS, None, None, (3, -1), 1e6)}, ValueError),
        ({"map": (GRID, 0, 0, CENTRE, STEPS, None, None, (3, "x"), 1e6)}, TypeError),
        ({"X": X2[:, :1]}, None),
        ({"map": (DENSE, 0, *MAP[2:])}, ValueError),
        ({"X": X2[0]}, ValueError),
        ({"X": X2.astype(np.int16)}, TypeError),
        ({"X": X2.astype(">f8")}, TypeError),
        ({"X": None}, TypeError),
        ({"rows": (0, 5)}, ValueError),
        ({"rows": (-1, 2)}, ValueError),
        ({"rows": (3, 2)}, ValueError),
        ({"members": ((2, None, CODES + 2),)}, ValueError),
        ({"members": ((2, None, CODES[:3]),)}, ValueError),
        ({"members": ((2, None, CODES.astype(np.int64)),)}, TypeError),
        ({"members": ((2, np.ones(3), CODES),)}, ValueError),
        ({"members": ((-2, None, CODES),)}, ValueError),
        ({"members": ((2, None),)}, TypeError),
        ({"members": [(2, None, CODES)]}, TypeError),
        ({"members": ((2, None, np.arange(5), CODES, np.ones(3)),)}, ValueError),
        ({"members": ((2, None, np.arange(5)[::-1].copy(), CODES, np.ones(4)),)}, ValueError),
        ({"members": ((2, None, np.arange(5), CODES - 1, np.ones(4)),)}, ValueError),
        ({"members": ((2, None, np.arange(5), CODES),)}, TypeError),
        ({"out": np.zeros((1, 6))}, ValueError),
        ({"out": np.zeros((2, 5))}, ValueError),
        ({"out": np.zeros(12)}, ValueError),
        ({"out": np.zeros((2, 6), dtype=np.float32)}, TypeError),
        ({"out": np.zeros((2, 6)).T}, (ValueError, BufferError)),
        ({"out": b"x" * 96}, (TypeError, BufferError)),
    ],
)
def test_sums_refuse_inconsistent_arguments(change, error):
    given = {
        "map": MAP,
        "X": X2,
        "rows": (0, 4),
        "members": ((2, None, CODES),),
        "out": np.zeros((2, 6)),
        **change,
    }

    def call():
        return kernels.sums(
            False, given["map"], given["X"], *given["rows"], given["members"], given["out"]
        )

    if error is None:  # fewer columns than the centre has are accepted
        assert call() == -1
        return
    with pytest.raises(error):
        call()


@needs_kernels
def test_scores_and_features_refuse_inconsistent_arguments():
    V, scores, features = (
        np.ones((2, 6), np.float32),
        np.zeros((4, 2)),
        np.zeros((4, 6), np.float32),
    )
    assert kernels.scores(False, MAP, X2, 0, 4, V, 2, scores) == -1
    assert kernels.features(False, MAP, X2, 0, 4, features) == -1
    for bad in (
        lambda: kernels.scores(False, MAP, X2, 0, 4, V, 3, np.zeros((4, 3))),
        lambda: kernels.scores(False, MAP, X2, 0, 4, V, -1, scores),
        lambda: kernels.scores(False, MAP, X2, 0, 4, V, 2**61, scores),
        lambda: kernels.scores(False, MAP, X2, 0, 4, V, 2**40, scores),
        lambda: kernels.scores(False, MAP, X2, 0, 4, V, 2, scores[:3]),
        lambda: kernels.features(False, MAP, X2, 0, 4, features[:3]),
    ):
        with pytest.raises(ValueError, match="numbers"):
            bad()
    with pytest.raises(ValueError, match="no instruction set"):
        kernels.use("mmx")


@needs_kernels
def test_empty_rows_and_clusters_are_accepted():
    out = np.full((2, 6), 5.0)
    assert kernels.sums(False, MAP, X2, 2, 2, ((2, None, CODES),), out) == -1
    assert kernels.sums(False, MAP, X2, 0, 4, ((2, None, CODES - 1),), out) == -1
    assert (out == 5).all()
    assert kernels.sums(False, MAP, X2, 0, 4, (), np.zeros((0, 6))) == -1
    empty = np.zeros((0, 2))
    assert kernels.sums(False, MAP, empty, 0, 0, ((2, None, CODES[:0]),), out) == -1
    assert (
        kernels.scores(False, MAP, X2, 0, 4, np.zeros((0, 6), np.float32), 0, np.zeros((4, 0)))
        == -1
    )


def test_points_of_different_dtypes_share_the_centre():
    """Far from the origin, a rounded centre would separate equal samples."""
    rng = np.random.default_rng(0)
    A = (np.round(3 * rng.standard_normal((8000, 5))) + 4_000_000).astype(np.float32)
    labels = np.arange(8000) % 2
    both = [(A, labels), (A.astype(np.float64), labels)]
    found = lc.represent_samples(both, bandwidth=2.0, lift="fourier", rng=0)
    np.testing.assert_allclose(found.distances()[:2, 2:].diagonal(), 0, atol=1e-6)


@pytest.mark.parametrize("d", [40, 100])
def test_features_of_far_points_are_accurate_in_any_dimension(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, d))
    X[:, 0] += 2e4
    lifts = [
        draw_fourier_lift(lc.Gaussian(1.0), d, 64, dtype=dtype, rng=np.random.default_rng(1))
        for dtype in (np.float32, np.float64)
    ]
    single, double = (lift.features(X) for lift in lifts)
    np.testing.assert_allclose(single, double, atol=1e-6)


@pytest.mark.parametrize("compute", ["by_kernels", "by_numpy"])
def test_vectors_of_very_different_norms_are_scored(compute, request):
    compute = request.getfixturevalue("by_numpy") if compute == "by_numpy" else lambda f: f()
    X = np.random.default_rng(0).standard_normal((50, 3))
    lift = draw_fourier_lift(
        lc.Gaussian(1.0), 3, 64, dtype=np.float32, rng=np.random.default_rng(0)
    )
    ones = lift.scores(X, np.ones((1, 64)))
    both = compute(lambda: lift.scores(X, np.stack([np.ones(64), np.full(64, 1e-46)])))
    # 64 features of at most √(2/64) in float32: the rounding error is below 64 · 11.3 · 6e-8.
    np.testing.assert_allclose(both / [1, 1e-46], ones * [1, 1], rtol=0, atol=1e-4)


def test_concurrent_lifts_restore_thread_limits():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((9000, 80)), rng.integers(5, size=9000)

    def work(n):
        for _ in range(3):
            lc.represent(X[:n], labels[:n], lift=lc.Fourier(64, sampling="iid"), bandwidth=9.0)

    with threadpool_limits(2):
        before = n_threads()
        threads = [threading.Thread(target=work, args=(5000 + 1500 * i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert n_threads() == before


def test_invalid_environment_setting_is_refused():
    code = "import liftcluster.lifts._native"
    environment = {**os.environ, "LIFTCLUSTER_NATIVE": "fast"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    if kernels is not None:
        assert "LIFTCLUSTER_NATIVE=fast must be on, off, or one of" in result.stderr
