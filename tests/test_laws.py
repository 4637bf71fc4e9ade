"""Laws that every registered measure, kernel, lift and method must satisfy.

Traits of single measures are tested in `test_measures.py`.
``LIFTCLUSTER_LONG=50`` tries fifty times as many problems.
"""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import liftcluster as lc
from liftcluster.lifts.grid import GridTooLarge
from liftcluster.lifts.settings import LIFTS
from support.generators import KERNELS, soft_memberships

# Every kernel with every lift that supports it: a grid needs the Gaussian kernel, and structured
# features need kernels of the Euclidean distance.
FEATURES = [
    pytest.param(name, kernel, id=f"{name}-{kernel!r}")
    for name in LIFTS
    for kernel in KERNELS
    if name not in ("auto", "exact")
    and (name != "grid" or isinstance(kernel, lc.Gaussian))
    and (name != "structured" or kernel.isotropic)
]
EXACT = [pytest.param("exact", kernel, id=f"exact-{kernel!r}") for kernel in KERNELS]
# Distances near zero are roots of rounding errors.
ROUNDING = 1e-6
WORSE = pytest.mark.filterwarnings("ignore:the consensus is farther", "ignore:.*chooses the number")
FEWER = pytest.mark.filterwarnings("ignore:.*clusters were asked for", "ignore:dropped")

ANY_FACTOR = st.sampled_from([0.01, 7.0, 1e6])
EXACT_FACTOR = st.sampled_from([2.0**-7, 8.0, 2.0**20])

every_measure = pytest.mark.parametrize("measure", lc.MEASURES.values(), ids=attrgetter("name"))
every_method = pytest.mark.parametrize("method", lc.METHODS)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
few = settings(max_examples=settings().max_examples // 8)
some = settings(max_examples=settings().max_examples // 4)


@st.composite
def problems(draw, count=2, min_points=4, max_points=12, noise=True, integer_weights=True):
    """Points, weights and hard labellings of them, with ties, duplicates and noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(min_points, max_points)), draw(st.integers(1, 3))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from([0.1, 1.0, 50.0]))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicated points
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    if not integer_weights:
        weights = weights * rng.uniform(0.2, 2, n)
    labels = []
    for _ in range(count):
        a = rng.integers(draw(st.integers(1, 4)), size=n)
        if noise and draw(st.booleans()):
            a[rng.random(n) < 0.2] = -1
        a[:2] = 0, draw(st.integers(0, 1))  # any two partitions have a common point
        labels.append(a)
    return X, weights, labels


def value(measure, a, b, X, weights=None, **options):
    kernel = {"kernel": lc.Gaussian(1.0)} if measure.needs == "vectors" else {}
    return lc.distance(a, b, X, measure=measure.name, weights=weights, **kernel, **options)


def kernel_lift(X, kernel, name, n_components=64, rng=0):
    """A feature lift of a kernel."""
    lift = {
        "fourier": lc.Fourier(n_components),
        "structured": lc.Structured(n_components),
        "grid": lc.Grid(),
        "nystroem": lc.Nystroem(n_components),
    }[name]
    try:
        return lc.make_lift(X, kernel=kernel, lift=lift, rng=rng)
    except GridTooLarge:
        assume(False)


class TestMeasures:
    @every_measure
    @some
    @given(case=problems(), seed=st.integers(0, 99))
    def test_order_of_points_does_not_matter(self, measure, case, seed):
        X, w, (a, b) = case
        order = np.random.default_rng(seed).permutation(len(X))
        moved = value(measure, a[order], b[order], X[order], w[order])
        assert moved == pytest.approx(value(measure, a, b, X, w), abs=ROUNDING, rel=1e-9)

    @every_measure
    @some
    @given(case=problems(), seed=st.integers(0, 99))
    def test_names_of_clusters_do_not_matter(self, measure, case, seed):
        X, w, (a, b) = case
        names = np.random.default_rng(seed).permutation(["x", "y", "z", "u"])
        renamed = [None if label < 0 else names[label] for label in a]
        same = value(measure, renamed, b, X, w)
        assert same == pytest.approx(value(measure, a, b, X, w), abs=ROUNDING, rel=1e-9)

    @every_measure
    @some
    @given(case=problems(noise=False))
    def test_zero_weight_points_and_noise_points_are_ignored(self, measure, case):
        X, w, (a, b) = case
        inside = np.arange(len(X)) != 2
        if len(set(a[inside])) < len(set(a)) or len(set(b[inside])) < len(set(b)):
            return  # the only point of a cluster
        without = value(measure, a[inside], b[inside], X[inside], w[inside])
        as_noise = [np.where(inside, labels, -1) for labels in (a, b)]
        if measure.name != "adco":  # its bins depend on the range of all points
            assert value(measure, a, b, X, w * inside) == pytest.approx(without, abs=ROUNDING)
        assert value(measure, *as_noise, X, w) == pytest.approx(without, abs=ROUNDING)

    @every_measure
    @few
    @given(case=problems(count=3))
    def test_distance_matrix_contains_the_pairwise_distances(self, measure, case):
        X, w, parts = case
        kernel = {"kernel": lc.Gaussian(1.0)} if measure.needs == "vectors" else {}
        D = lc.distance_matrix(parts, X, measure=measure.name, weights=w, **kernel)
        for i, a in enumerate(parts):
            for j, b in enumerate(parts):
                assert D[i, j] == pytest.approx(value(measure, a, b, X, w), abs=ROUNDING, rel=1e-9)

    @few
    @given(case=problems())
    def test_comparison_contains_the_distances(self, case):
        X, w, (a, b) = case
        found = lc.compare(a, b, X, weights=w, kernel=lc.Gaussian(1.0))
        for name, estimate in found.values.items():
            single = value(lc.MEASURES[name], a, b, X, w)
            assert estimate.value == pytest.approx(single, abs=ROUNDING, rel=1e-9)

    @given(case=problems(noise=False), seed=st.integers(0, 99))
    def test_measures_are_additive_or_monotone_under_refinement(self, case, seed):
        X, w, (a, more) = case
        b = a * 10 + more
        c = b * 10 + np.random.default_rng(seed).integers(3, size=len(a))
        for name in ("vi", "mirkin", "rand"):
            measure = lc.MEASURES[name]
            ab, bc, ac = (value(measure, *pair, X, w) for pair in ((a, b), (b, c), (a, c)))
            assert ac == pytest.approx(ab + bc, abs=1e-9, rel=1e-9)
        for name in ("jaccard", "accuracy", "nmi", "nvi", "fowlkes_mallows"):
            measure = lc.MEASURES[name]
            assert value(measure, a, b, X, w) <= value(measure, a, c, X, w) + 1e-9

    @every_measure
    @some
    @given(case=problems(count=3, noise=False))
    def test_metrics_satisfy_the_triangle_inequality_with_weights(self, measure, case):
        if not measure.is_metric:
            return
        X, w, (a, b, c) = case
        ab, bc, ac = (value(measure, *pair, X, w) for pair in ((a, b), (b, c), (a, c)))
        assert ac <= ab + bc + ROUNDING


class TestKernels:
    @every_kernel
    @some
    @given(case=problems(count=1))
    def test_kernels_are_positive_definite_and_shift_invariant(self, kernel, case):
        X = case[0]
        K = kernel(X, X)
        np.testing.assert_allclose(K, K.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(K), 1, atol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(X), 1, atol=1e-12)
        assert (K >= 0).all()
        assert (K <= 1 + 1e-12).all()
        assert np.linalg.eigvalsh(K).min() > -1e-9
        np.testing.assert_allclose(kernel(X + 5, X + 5), K, atol=1e-9)

    @every_kernel
    @some
    @given(seed=st.integers(0, 99))
    def test_kernels_decrease_with_distance(self, kernel, seed):
        x = np.random.default_rng(seed).standard_normal((1, 3))
        steps = np.sort(np.random.default_rng(seed).exponential(5, 20))
        assert (np.diff(kernel(x * 0, steps[:, None] * x)[0]) <= 1e-12).all()


class TestLifts:
    @pytest.mark.parametrize(("name", "kernel"), FEATURES)
    @few
    @given(case=problems(count=1, integer_weights=False), seed=st.integers(0, 99))
    def test_scores_are_the_adjoint_of_sums_and_sums_are_additive(self, name, kernel, case, seed):
        X, w, _ = case
        rng = np.random.default_rng(seed)
        lift = kernel_lift(X, kernel, name)
        R = soft_memberships(rng, len(X), 3) * w[:, None]
        V = rng.standard_normal((3, lift.n_components))
        together = np.vdot(lift.sums(X, R), V)
        assert np.vdot(R, lift.scores(X, V)) == pytest.approx(
            together, abs=1e-5 if name == "nystroem" else 1e-8
        )
        half = len(X) // 2
        parts = lift.sums(X[:half], R[:half]) + lift.sums(X[half:], R[half:])
        # Nystroem features divide by roots of eigenvalues, and so multiply rounding.
        np.testing.assert_allclose(
            parts, lift.sums(X, R), atol=1e-6 if name == "nystroem" else 1e-9
        )

    @pytest.mark.parametrize(("name", "kernel"), EXACT + FEATURES)
    def test_saved_and_loaded_representation_is_identical(self, name, kernel, tmp_path):
        rng = np.random.default_rng(0)
        X, parts = rng.standard_normal((30, 2)), list(rng.integers(3, size=(2, 30)))
        if name == "exact":
            rep = lc.represent(X, parts, kernel=kernel, lift="exact")
        else:
            rep = lc.represent(X, parts, lift=kernel_lift(X, kernel, name))
        rep.save(tmp_path / "rep.npz")
        again = lc.load_representation(tmp_path / "rep.npz")
        for field in ("sums", "cluster_weights", "total_weights", "owner", "vectors"):
            assert getattr(again, field).tobytes() == getattr(rep, field).tobytes(), field
        assert again.lift.scores(X, rep.vectors).tobytes() == rep.lift.scores(X, rep.vectors).tobytes()  # fmt: skip
        assert again.lift.fingerprint() == rep.lift.fingerprint()
        assert (again.cluster_names, again.partition_names) == (rep.cluster_names, rep.partition_names)  # fmt: skip

    @pytest.mark.parametrize(("name", "kernel"), EXACT + FEATURES)
    @few
    @given(case=problems(count=3, noise=False), seed=st.integers(0, 99))
    def test_order_of_partitions_and_points_does_not_matter(self, name, kernel, case, seed):
        X, w, parts = case
        lift = "exact" if name == "exact" else kernel_lift(X, kernel, name)
        rep = lc.represent(X, parts, kernel=kernel, lift=lift, weights=w)
        order = np.random.default_rng(seed).permutation(len(X))
        moved = lc.represent(
            X[order], [p[order] for p in parts[::-1]], kernel=kernel, lift=lift, weights=w[order]
        )
        back = np.concatenate([np.flatnonzero(moved.owner == i) for i in (2, 1, 0)])
        np.testing.assert_allclose(
            moved.distances()[np.ix_(back, back)], rep.distances(), atol=ROUNDING
        )
        np.testing.assert_allclose(moved.masses[back], rep.masses, atol=1e-12)

    @every_kernel
    @few
    @given(case=problems(count=2, noise=False, integer_weights=False))
    def test_exact_lift_agrees_with_the_kernel_trick(self, kernel, case):
        X, w, parts = case
        rep = lc.represent(X, parts, kernel=kernel, lift="exact", weights=w)
        R = np.hstack([np.eye(5)[p][:, : p.max() + 1] for p in parts]) * w[:, None]
        R = R[:, R.any(axis=0)]
        np.testing.assert_allclose(
            rep.inner_products(normalise=False), R.T @ kernel(X, X) @ R, rtol=1e-9, atol=1e-9
        )


class TestMethods:
    @every_method
    @FEWER
    @few
    @given(case=problems(count=1, noise=False), copies=st.integers(1, 4), seed=st.integers(0, 99))
    def test_consensus_of_equal_partitions_is_that_partition(self, method, case, copies, seed):
        X, w, (a,) = case
        names = np.random.default_rng(seed).permutation(["x", "y", "z", "u"])
        k = len(set(a))
        inputs = [a, *(names[a] for _ in range(copies - 1))]
        found = lc.consensus(inputs, k, X, method=method, weights=w, rng=0)
        assert found.n_clusters == k
        pairs = set(zip(a.tolist(), found.labels.tolist(), strict=True))
        assert len(pairs) == k
        assert found.mean_distance == pytest.approx(0, abs=ROUNDING)
        assert (found.confidence == 1).all()
        assert set(found.predict(X)) <= set(range(k))

    @every_method
    @WORSE
    @FEWER
    @few
    @given(case=problems(count=3, min_points=6), k=st.integers(1, 4))
    def test_labels_and_memberships_of_a_consensus_are_consistent(self, method, case, k):
        X, w, parts = case
        found = lc.consensus(parts, k, X, method=method, weights=w, rng=0)
        R = found.memberships
        assert R.shape == (len(X), found.n_clusters)
        # The medoid is one of the inputs, with its noise, and has no memberships of points that no
        # input labels; all other methods assign them.
        labelled = np.any([lc.as_partition(p).labels >= 0 for p in parts], axis=0)
        assert method == "medoid" or (found.labels >= 0).all()
        whole = labelled if method == "medoid" else np.ones(len(X))
        np.testing.assert_allclose(R.sum(axis=1), whole, atol=1e-9)
        assert (R >= 0).all()
        assert ((found.confidence >= 0) & (found.confidence <= 1 + 1e-12)).all()
        assert set(found.labels) - {-1} == set(range(found.n_clusters))
        assert found.n_clusters <= k or lc.METHODS[method].chooses_k
        assert found.mean_distance >= 0

    @every_method
    @WORSE
    @FEWER
    def test_the_same_seed_gives_the_same_bits(self, method):
        rng = np.random.default_rng(3)
        X, parts = rng.standard_normal((40, 2)), list(rng.integers(4, size=(4, 40)))
        one, two = (lc.consensus(parts, 3, X, method=method, rng=5) for _ in range(2))
        assert one.labels.tobytes() == two.labels.tobytes()
        assert one.memberships.tobytes() == two.memberships.tobytes()
        assert one.mean_distance == two.mean_distance

    @pytest.mark.parametrize(
        ("method", "factors"),
        [
            *((m, ANY_FACTOR) for m in ("lift_hac", "lift_places", "lift_walk", "lwea")),
            *((m, ANY_FACTOR) for m in ("evidence", "majority")),
            *((m, EXACT_FACTOR) for m in ("auto", "lift_km", "lwgp")),
        ],
    )
    @WORSE
    @FEWER
    @few
    @given(case=problems(count=3, min_points=6, noise=False), data=st.data())
    def test_scaling_all_weights_changes_nothing(self, method, factors, case, data):
        """Random labels of few points have ties, which rounding decides for k-means.

        lwgp needs k-means, and auto may choose lwgp. Multiplication by a power of two rounds
        nothing, so it changes nothing even there.
        """
        (X, w, parts), factor = case, data.draw(factors)
        one, two = (
            lc.consensus(parts, 2, X, method=method, weights=v, rng=0) for v in (w, w * factor)
        )
        np.testing.assert_allclose(two.memberships, one.memberships, atol=ROUNDING)


class TestTransport:
    @given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5), m=st.integers(1, 5))
    def test_emd_solves_the_linear_program(self, seed, k, m):
        rng = np.random.default_rng(seed)
        a, b, C = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(m)), rng.random((k, m))
        moved = lc.emd(a, b, C)
        np.testing.assert_allclose(moved.plan.sum(axis=1), a, atol=1e-12)
        np.testing.assert_allclose(moved.plan.sum(axis=0), b, atol=1e-12)
        assert moved.cost == pytest.approx((moved.plan * C).sum(), abs=1e-12)
        rows = np.kron(np.eye(k), np.ones(m))
        columns = np.kron(np.ones(k), np.eye(m))
        best = linprog(C.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[a, b])
        assert moved.cost == pytest.approx(best.fun, abs=1e-8)
        assert lc.emd(b, a, C.T).cost == pytest.approx(moved.cost, abs=1e-12)
        assert lc.emd(a * 3, b * 3, C * 5).cost == pytest.approx(15 * moved.cost, rel=1e-9)
        assert moved.cost <= a @ C @ b + 1e-12

    @given(seed=st.integers(0, 2**32 - 1))
    def test_emd_with_a_metric_cost_is_a_metric(self, seed):
        rng = np.random.default_rng(seed)
        places = rng.standard_normal((5, 2))
        C = np.linalg.norm(places[:, None] - places[None], axis=2)
        a, b, c = rng.dirichlet(np.full(5, 0.5), 3)
        assert lc.emd(a, a, C).cost == pytest.approx(0, abs=1e-12)
        assert lc.emd(a, c, C).cost <= lc.emd(a, b, C).cost + lc.emd(b, c, C).cost + 1e-12


class TestPartitions:
    @given(case=problems(count=1, integer_weights=False))
    def test_hard_partition_is_restored_from_its_memberships(self, case):
        _, w, (a,) = case
        p = lc.Partition.from_labels(a, w)
        q = lc.Partition.from_memberships(p.memberships, w, names=p.names)
        assert q.is_hard
        assert q.names == p.names
        assert q.labels.tolist() == p.labels.tolist()
        assert p.masses.sum() + p.noise_mass == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(p.with_weights(w * 9).masses, p.masses, rtol=1e-12)
        np.testing.assert_allclose(
            p.weighted_rows(slice(0, p.n)).toarray(), p.memberships.toarray() * w[:, None]
        )

    @FEWER
    @given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9), k=st.integers(1, 4))
    def test_hardening_is_idempotent(self, seed, n, k):
        R = soft_memberships(np.random.default_rng(seed), n, k)
        once = lc.Partition.from_memberships(R).harden()
        assert once.harden() is once
        assert len(set(once.labels)) == once.k
