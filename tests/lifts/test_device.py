"""Points on a device: the same results as in main memory, computed on the device.

A strict array namespace simulates a GPU (its arrays cannot be mixed with NumPy's), and torch in
main memory is treated as a device. If there is a GPU, the tests of torch run on it.
"""

import pickle
from dataclasses import replace

import array_api_strict as strict
import numpy as np
import pytest

import liftcluster as lc
from liftcluster._util import arrays as _arrays
from liftcluster.lifts._gpu import device as device_sums_module
from liftcluster.lifts._native import kernels
from liftcluster.partitions.stack import Stack
from support.devices import HAVE_TORCH, on_torch, skip_or_fail

DEVICE = strict.Device("device1")


def on_strict(array):
    return strict.asarray(np.asarray(array), device=DEVICE)


@pytest.fixture(params=["strict", "torch"])
def to_device(request, monkeypatch):
    if request.param == "strict":
        return on_strict
    if not HAVE_TORCH:
        skip_or_fail("torch is not installed")
    monkeypatch.setattr(_arrays, "_MAIN_MEMORY", ())
    return on_torch


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    return rng.normal(size=(900, 5)) + 3.0


@pytest.fixture
def labels(rng):
    return [rng.integers(0, 4, 900), rng.integers(-1, 3, 900)]


LIFTINGS = {
    "auto": {},
    "exact": {"lift": "exact"},
    "exact, several bandwidths": {"lift": "exact", "kernel": lc.Gaussian([0.5, 40.0])},
    "exact, cauchy": {"lift": "exact", "kernel": "cauchy"},
    "exact, laplace": {"lift": "exact", "kernel": "laplace"},
    "exact, matern": {"lift": "exact", "kernel": lc.Matern(1.5)},
    "exact, rough matern": {"lift": "exact", "kernel": lc.Matern(0.5)},
    "exact, smooth matern": {"lift": "exact", "kernel": lc.Matern(2.5)},
    "exact, a kernel evaluated by SciPy": {"lift": "exact", "kernel": lc.Matern(0.7)},
    "exact, discrete": {"lift": "exact", "kernel": "discrete"},
    "fourier": {"lift": lc.Fourier(200)},
    "fourier, odd": {"lift": lc.Fourier(201)},
    "fourier, laplace": {"lift": lc.Fourier(200), "kernel": "laplace"},
    "structured": {"lift": lc.Structured(200)},
    "nystroem": {"lift": lc.Nystroem(60)},
    "tolerance": {"lift": lc.Fourier(tol=0.03)},
}


@pytest.mark.parametrize("lifting", LIFTINGS.values(), ids=LIFTINGS)
def test_clusters_have_the_same_vectors_on_a_device(to_device, X, labels, lifting):
    expected = lc.represent(X, labels, rng=0, **lifting)
    got = lc.represent(to_device(X), labels, rng=0, **lifting)
    assert isinstance(got.sums, np.ndarray)
    assert got.sums.shape == expected.sums.shape
    np.testing.assert_allclose(
        got.inner_products(normalise=False),
        expected.inner_products(normalise=False),
        rtol=1e-10,
        atol=1e-8,
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_grid_gives_the_same_vectors_on_a_device(to_device, rng, labels, d):
    X = rng.normal(size=(900, d))
    options = {"lift": "grid", "bandwidth": 2.0}
    expected, got = (lc.represent(Y, labels, **options) for Y in (X, to_device(X)))
    # With finufft, the error of each point is a hundredth of the grid's error.
    atol = 1e-9 if kernels() else expected.lift.error / 100 * len(X)
    np.testing.assert_allclose(got.sums, expected.sums, rtol=1e-10, atol=atol)


@pytest.mark.parametrize(
    "lifting",
    [LIFTINGS[name] for name in ("exact", "fourier, odd", "structured", "nystroem")],
    ids=["exact", "fourier", "structured", "nystroem"],
)
def test_scores_on_a_device_equal_those_in_main_memory(to_device, X, labels, lifting):
    rep = lc.represent(X, labels, rng=0, **lifting)
    D = to_device(X)
    scores, nearest = rep.lift.scores(D, rep.vectors), rep.lift.assign(D, rep.vectors)
    assert type(scores) is type(nearest) is type(D)
    assert scores.device == nearest.device == D.device
    np.testing.assert_allclose(
        _arrays.to_numpy(scores), rep.lift.scores(X, rep.vectors), rtol=1e-9, atol=1e-11
    )
    np.testing.assert_array_equal(_arrays.to_numpy(nearest), rep.lift.assign(X, rep.vectors))


def test_sums_and_scores_on_a_device_are_adjoint(to_device, X, rng):
    lift = lc.make_lift(X, lift=lc.Fourier(51), rng=0)
    R, V = rng.random((900, 3)), rng.normal(size=(3, 51))
    left = np.vdot(lift.sums(to_device(X), R), V)
    right = np.vdot(R, _arrays.to_numpy(lift.scores(to_device(X), V)))
    assert left == pytest.approx(right, rel=1e-10)


def test_features_on_a_device_are_computed_in_blocks(to_device, X, labels, monkeypatch):
    lift = lc.make_lift(X, lift=lc.Fourier(64), rng=0)
    stack = Stack({0: lc.as_partition(labels[0]), 1: lc.as_partition(labels[1])})
    expected, scores = lift.sums(X, stack), lift.scores(X, np.eye(2, 64))
    monkeypatch.setattr(device_sums_module, "_BLOCK_BYTES", 8 * 64 * 10)  # clipped at 256 rows
    blocks = [rows.stop - rows.start for rows in device_sums_module.row_blocks_on(to_device(X), 64)]
    assert blocks == [256, 256, 256, 132]
    np.testing.assert_allclose(lift.sums(to_device(X), stack), expected, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(
        _arrays.to_numpy(lift.scores(to_device(X), np.eye(2, 64))), scores, rtol=1e-9, atol=1e-12
    )


def test_soft_and_weighted_memberships_are_lifted_on_a_device(to_device, X, rng):
    soft = rng.dirichlet([1, 1, 1], 900)
    weights = rng.random(900) * 1e60
    given = [lc.Partition.from_memberships(soft, weights), lc.as_partition(soft.argmax(1), weights)]
    for partitions in (given, given[1:]):
        options = {"lift": lc.Fourier(100), "rng": 0}
        expected, got = (lc.represent(Y, partitions, **options) for Y in (X, to_device(X)))
        np.testing.assert_allclose(got.vectors, expected.vectors, atol=1e-10)
        np.testing.assert_allclose(got.norms, expected.norms, rtol=1e-10)


def test_single_precision_on_a_device_is_accurate_to_1e_minus_5(to_device, rng):
    X = rng.normal(size=(3000, 6)).astype(np.float32) + np.float32(1000.0)  # far from the origin
    labels = rng.integers(0, 5, 3000)
    lift = lc.make_lift(X, lift=lc.Fourier(4000), rng=0)
    assert lift.dtype == np.float32
    expected, got = (lc.represent(Y, labels, lift=lift).vectors for Y in (X, to_device(X)))
    assert np.linalg.norm(expected - got, axis=1).max() < 1e-5


def test_bandwidth_is_the_same_on_a_device(to_device, rng):
    X = rng.normal(size=(2500, 3))
    for rule in ("median", "mean", "scale", "scott/2", "silverman"):
        assert lc.bandwidth(to_device(X), rule) == lc.bandwidth(X, rule)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float32", "float64"])
def test_points_of_every_dtype_are_lifted_on_a_device(to_device, rng, dtype):
    X = rng.integers(0, 3, (50, 2)).astype(dtype)
    labels = rng.integers(0, 3, 50)
    options = {"lift": lc.Fourier(50), "bandwidth": 1.0, "rng": 0}
    expected, got = (lc.represent(Y, labels, **options) for Y in (X, to_device(X)))
    np.testing.assert_allclose(got.vectors, expected.vectors, atol=1e-6)


def test_labels_memberships_and_weights_may_be_on_the_device(to_device, X, labels):
    soft = np.eye(4)[labels[0]] * 0.9 + 0.025
    weights = np.linspace(1, 2, 900)
    expected = lc.represent(X, {"a": labels[1], "b": soft}, weights=weights)
    got = lc.represent(
        to_device(X), {"a": to_device(labels[1]), "b": to_device(soft)}, weights=to_device(weights)
    )
    assert got.cluster_names == expected.cluster_names
    np.testing.assert_allclose(got.distances(), expected.distances(), atol=1e-7)


def test_compare_on_a_device_gives_the_same_distances(to_device, X, labels):
    D = to_device(X)
    assert lc.distance(*labels, D) == pytest.approx(lc.distance(*labels, X), abs=1e-9)
    expected, got = lc.compare(*labels, X), lc.compare(*labels, D)
    assert set(got) == set(expected)
    for name in expected:
        assert got[name].value == pytest.approx(expected[name].value, abs=1e-8), name
    np.testing.assert_allclose(got.witness(), expected.witness(), atol=1e-8)


@pytest.mark.filterwarnings("ignore:the consensus is farther")
def test_consensus_on_a_device_equals_that_in_main_memory(to_device, labels, rng):
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    truth = rng.integers(0, 3, 900)
    X = centres[truth] + rng.normal(size=(900, 2))
    inputs = [np.where(rng.random(900) < 0.9, truth, rng.integers(0, 3, 900)) for _ in range(4)]
    for method in ("auto", "lift_km", "lift_hac", "lift_places", "lift_walk"):
        expected, got = (
            lc.consensus(inputs, 3, Y, method=method, rng=0) for Y in (X, to_device(X))
        )
        np.testing.assert_array_equal(got.labels, expected.labels)
        np.testing.assert_allclose(got.memberships, expected.memberships, atol=1e-8)
        there = got.predict(to_device(X))
        assert type(there) is type(to_device(X))
        np.testing.assert_array_equal(_arrays.to_numpy(there), expected.predict(X))
        proba = _arrays.to_numpy(got.predict_proba(to_device(X)))
        np.testing.assert_allclose(proba, expected.predict_proba(X), atol=1e-8)


def test_different_samples_may_lie_on_different_devices(to_device, X, labels):
    expected = lc.represent_samples([(X, labels[:1]), (X[:300] + 1, [labels[1][:300]])])
    got = lc.represent_samples([(to_device(X), labels[:1]), (X[:300] + 1, [labels[1][:300]])])
    np.testing.assert_allclose(got.distances(), expected.distances(), atol=1e-8)


def test_blocks_may_come_from_a_device(to_device, X, labels):
    def halves(array):
        return lc.Blocks([to_device(array)[:400, ...], to_device(array)[400:, ...]])

    weights = np.linspace(1, 2, 900)
    for lift in ("fourier", "nystroem", "exact"):
        options = {"lift": lift, "rng": 0}
        expected = lc.represent(X, labels, weights=weights, **options)
        got = lc.represent(
            halves(X), [halves(labels[0]), labels[1]], weights=halves(weights), **options
        )
        np.testing.assert_allclose(got.distances(), expected.distances(), atol=1e-8)
    found = lc.consensus(labels[:1], 4, X, rng=0)
    np.testing.assert_array_equal(np.asarray(found.predict(halves(X))), found.predict(X))


def test_representation_from_a_device_can_be_saved_and_used_in_main_memory(
    to_device, X, labels, tmp_path
):
    rep = lc.represent(to_device(X), labels, lift="exact")
    rep.save(tmp_path / "clusters.npz")
    again = lc.load_representation(tmp_path / "clusters.npz")
    np.testing.assert_array_equal(again.sums, rep.sums)
    np.testing.assert_allclose(
        again.lift.scores(X, rep.vectors), _arrays.to_numpy(rep.lift.scores(to_device(X), rep.vectors)),
        atol=1e-9,
    )  # fmt: skip


def test_pickled_lift_contains_no_device_arrays(to_device, X):
    lift = lc.make_lift(X, lift=lc.Fourier(64), rng=0)
    expected = lift.sums(to_device(X), np.ones((900, 1)))
    pickled = pickle.dumps(lift)
    assert len(pickled) < 2 * lift.frequencies.nbytes
    again = pickle.loads(pickled)
    np.testing.assert_array_equal(again.sums(to_device(X), np.ones((900, 1))), expected)
    assert again.fingerprint() == lift.fingerprint()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_coordinate_is_located_on_a_device(to_device, X, labels, bad):
    X[17, 2] = bad
    for lift in ("exact", "fourier"):
        with pytest.raises(ValueError, match="row 17, column 2"):
            lc.represent(to_device(X), labels, lift=lift, bandwidth=1.0)
    lift = lc.make_lift(X[20:], lift=lc.Fourier(64), rng=0)
    with pytest.raises(ValueError, match="row 17, column 2"):
        lift.sums(to_device(X), np.ones((900, 1)))


def test_points_too_far_away_are_refused_on_a_device(to_device, X, labels):
    lift = lc.make_lift(X, lift=lc.Fourier(64), bandwidth=1.0, rng=0)
    X[3, 0] = 1e11
    with pytest.raises(ValueError, match="phases are inaccurate"):
        lift.sums(to_device(X), np.ones((900, 1)))


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [64, 4000])
def test_far_points_get_double_precision_on_a_device(to_device, rng, given, n_components):
    X = rng.normal(size=(3000, 2)).astype(given)
    lift = lc.make_lift(X, lift=lc.Fourier(n_components), bandwidth=1.0, rng=0)
    assert lift.dtype == (np.float32 if n_components == 4000 else np.float64)
    X[0] = 1e6
    R = np.zeros((3000, 1))
    R[0] = 1.0
    T = (X[:1] - lift.centre) @ lift.frequencies.T
    exact = np.concatenate([np.cos(T), np.sin(T)], axis=1) * np.sqrt(2 / n_components)
    np.testing.assert_allclose(lift.sums(to_device(X), R), exact, atol=1e-8)


def test_points_near_the_float64_limits_are_compared_on_a_device(to_device):
    X = np.array([[1.7e308, 0.0], [-1.7e308, 1.0], [1.6e308, 0.0], [-1.5e308, 2.0]])
    labels = [[0, 1, 0, 1], [0, 0, 1, 1]]
    for lift in ("exact", "nystroem"):
        options = {"lift": lift, "bandwidth": 1e308, "rng": 0}
        expected, got = (lc.represent(Y, labels, **options).distances() for Y in (X, to_device(X)))
        np.testing.assert_allclose(got, expected, atol=1e-9)
    with pytest.raises(ValueError, match="too far apart"):
        lc.represent(to_device(X), labels, lift="exact", bandwidth=1e-10)


def test_centre_beyond_the_float32_range_is_refused_for_float32_points(to_device, rng):
    X = rng.normal(size=(3000, 2))
    lift = lc.make_lift(X, lift=lc.Fourier(4000), bandwidth=1.0, rng=0)
    lift = replace(lift, centre=np.full(2, 1e300))
    with pytest.raises(ValueError, match="phases are inaccurate"):
        lift.sums(to_device(X.astype(np.float32)), np.ones((3000, 1)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "two-dimensional"),
        (np.zeros((0, 2)), "at least one"),
        (1j * np.eye(2), "real"),
    ],
)
def test_invalid_points_are_refused_on_a_device(to_device, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lc.represent(to_device(X), [0] * len(X) or [0])


def test_main_memory_arrays_of_other_libraries_use_the_cpu_kernels(labels, X):
    here = strict.asarray(X)
    assert not _arrays.on_device(here)
    options = {"lift": lc.Fourier(64), "rng": 0}
    np.testing.assert_array_equal(
        lc.represent(here, labels, **options).sums, lc.represent(X, labels, **options).sums
    )


def test_points_on_devices_without_float64_are_lifted_in_main_memory():
    array = strict.asarray([[0.0], [1.0]], dtype=strict.float32, device=strict.Device("no_float64"))
    assert not _arrays.on_device(array)


@pytest.mark.skipif(not HAVE_TORCH, reason="torch is not installed")
def test_tf32_matrix_products_are_disabled_by_default(monkeypatch):
    import torch

    products, array = torch.backends.cuda.matmul, torch.ones(2)
    torch.set_float32_matmul_precision("high")
    try:
        with _arrays.full_precision(array):
            assert products.fp32_precision == "ieee"
        assert products.allow_tf32
        with pytest.raises(RuntimeError), _arrays.full_precision(array):
            raise RuntimeError
        assert products.allow_tf32
        monkeypatch.setenv("LIFTCLUSTER_TF32", "on")
        with _arrays.full_precision(array):
            assert products.fp32_precision == "tf32"
    finally:
        torch.set_float32_matmul_precision("highest")


class TestTorch:
    """Autocast, gradients and read-only arrays of torch, on a GPU if there is one."""

    @pytest.fixture(autouse=True)
    def torch(self, monkeypatch):
        if not HAVE_TORCH:
            skip_or_fail("torch is not installed")
        monkeypatch.setattr(_arrays, "_MAIN_MEMORY", ())
        import torch

        return torch

    def test_autocast_does_not_reduce_precision(self, rng, torch):
        X = (10 * rng.normal(size=(3000, 3))).astype(np.float32)
        lift = lc.make_lift(X, lift=lc.Fourier(4000), bandwidth=5.0, rng=0)
        R, D = np.eye(4)[rng.integers(0, 4, 3000)], on_torch(X)
        expected, V = lift.sums(X, R), lift.sums(X, R / 3000)
        assert lift.dtype == np.float32
        with torch.autocast(D.device.type, dtype=torch.bfloat16):
            sums, scores, Z = lift.sums(D, R), lift.scores(D, V), lift.features(D)
        assert np.linalg.norm(sums - expected) < 1e-4 * np.linalg.norm(expected)
        np.testing.assert_allclose(_arrays.to_numpy(scores), lift.scores(X, V), atol=1e-5)
        np.testing.assert_allclose(_arrays.to_numpy(Z), lift.features(X), atol=1e-5)

    @pytest.mark.parametrize("lift", ["exact", "fourier", "structured", "grid", "nystroem"])
    def test_no_autograd_graph_is_kept(self, rng, lift):
        X, labels = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
        D = on_torch(X).requires_grad_()
        rep = lc.represent(D, labels, lift=lift, bandwidth=2.0, rng=0)
        np.testing.assert_allclose(
            rep.vectors,
            lc.represent(D.detach(), labels, lift=lift, bandwidth=2.0, rng=0).vectors,
            atol=1e-12,
        )
        assert not rep.lift.scores(D, rep.vectors).requires_grad
        assert not rep.lift.assign(D, rep.vectors).requires_grad

    def test_blocks_of_tensors_that_require_gradients_are_accepted(self, rng, monkeypatch):
        monkeypatch.undo()  # in main memory, where NumPy refuses them
        X, labels = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
        blocks = lc.Blocks([on_torch(X[:10]).requires_grad_(), on_torch(X[10:]).requires_grad_()])
        options = {"lift": lc.Fourier(16), "bandwidth": 2.0, "rng": 0}
        got, expected = (lc.represent(Y, labels, **options).sums for Y in (blocks, X))
        np.testing.assert_allclose(got, expected, atol=1e-9)

    def test_features_are_differentiable(self, rng, torch):
        X = rng.normal(size=(5, 2))
        lift = lc.make_lift(X, lift=lc.Fourier(8), bandwidth=1.0, rng=0)
        D = on_torch(X).requires_grad_()
        lift.features(D)[:, 0].sum().backward()
        step = 1e-6 * np.eye(2)
        slope = [(lift.features(X + h) - lift.features(X - h))[:, 0] / 2e-6 for h in step]
        np.testing.assert_allclose(_arrays.to_numpy(D.grad), np.transpose(slope), atol=1e-8)

    def test_lift_of_read_only_points_scores_without_a_warning(self, rng):
        X, labels = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
        X.setflags(write=False)
        rep = lc.represent(X, labels, lift="exact", bandwidth=2.0)
        scores = rep.lift.scores(on_torch(X), rep.vectors)
        np.testing.assert_allclose(
            _arrays.to_numpy(scores), rep.lift.scores(X, rep.vectors), atol=1e-10
        )


@pytest.mark.skipif(not HAVE_TORCH, reason="torch is not installed")
def test_tensor_that_requires_gradients_is_accepted_as_points():
    import torch

    X = torch.arange(6.0).reshape(3, 2).requires_grad_()
    assert lc.bandwidth(X) == lc.bandwidth(X.detach().numpy())
