"""Behaviours that an attack on the library found wanting, each by the name of what should hold."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from generators import blobs
from scipy.special import gamma, kv
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import liftcluster as lc
from liftcluster.lifts.fourier import draw_fourier_lift
from liftcluster.representation.lifting import pool_points

TEXTS = ["aa bb", "aa cc", "dd ee", "dd ff ff", "aa bb cc", "dd ee"]
A, B = [0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0]


class TestTransformers:
    def test_counts_are_summed_as_numbers_not_modulo(self):
        ones = FunctionTransformer(lambda X: np.ones((len(X), 1), dtype=np.uint8))
        rep = lc.represent(np.zeros((600, 1)), [0] * 600, lift=ones)
        assert rep.sums[0, 0] == 600

    def test_integer_features_take_fractional_weights_memberships_and_scores(self):
        floats = CountVectorizer(dtype=float)
        for integers, same in ((CountVectorizer(), floats),):
            a = lc.represent(TEXTS, A, lift=integers, weights=[1.7, 1, 1, 1, 1, 1])
            b = lc.represent(TEXTS, A, lift=same, weights=[1.7, 1, 1, 1, 1, 1])
            np.testing.assert_allclose(a.sums, b.sums)
            assert a.sums.max() % 1 != 0
            w, v = (
                lc.compare(A, B, TEXTS, lift=lift, measures="lift_emd").witness()
                for lift in (integers, same)
            )
            np.testing.assert_allclose(w, v)
            assert w.max() > 0.1

    def test_sparse_features_can_be_permuted(self):
        for lift in (CountVectorizer(), HashingVectorizer(n_features=32)):
            assert len(lc.significance(A, B, TEXTS, lift=lift, n_permutations=5, rng=0).null) == 5

    def test_frames_do_not_confuse_a_transformer(self):
        X, labels = blobs(np.random.default_rng(0), 40, 2)
        frame = pd.DataFrame(X, columns=["u", "v"])
        expected = lc.distance(labels, labels % 2, X, lift=StandardScaler())
        assert lc.distance(labels, labels % 2, frame, lift=StandardScaler()) == pytest.approx(
            expected
        )
        fitted = StandardScaler().fit(frame)
        assert lc.distance(labels, labels % 2, frame, lift=fitted) == pytest.approx(expected)

    @pytest.mark.parametrize("bad", [lambda X: X * np.nan, lambda X: X[:, 0]])
    def test_features_that_are_not_finite_rows_are_refused(self, bad):
        with pytest.raises(ValueError, match="must return finite features"):
            lc.represent(np.ones((4, 2)), [0, 0, 1, 1], lift=FunctionTransformer(bad))

    def test_sparse_points_are_refused_with_a_word(self):
        with pytest.raises(TypeError, match=r"use X.toarray\(\)"):
            lc.represent(
                sp.csr_array(np.eye(4)), [0, 0, 1, 1], lift=StandardScaler(with_mean=False)
            )


class TestKernels:
    @pytest.mark.parametrize("nu", [0.1, 0.3, 3.3, 20.0, 100.0])
    def test_matern_is_the_formula_over_its_whole_range(self, nu):
        r = np.array([0.0, 1e-6, 1e-3, 0.1, 0.7, 2.0, 5.0])
        z = np.sqrt(2 * nu) * r
        with np.errstate(all="ignore"):
            expected = 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z)
        ours = lc.Matern(nu, 1.0)(r[:, None], np.zeros((1, 1)))[:, 0]
        known = np.isfinite(expected) & (expected > 0)
        np.testing.assert_allclose(ours[known], expected[known], atol=1e-9)
        assert ours[0] == 1
        assert (np.diff(ours) <= 0).all()

    def test_a_smooth_matern_nears_the_gaussian(self):
        X = np.linspace(0, 3, 20)[:, None]
        np.testing.assert_allclose(lc.Matern(100.0, 1.0)(X, X), lc.Gaussian(1.0)(X, X), atol=0.01)

    @pytest.mark.parametrize("nu", [0.01, 170.0, 500.0])
    def test_orders_that_float64_cannot_do_are_refused(self, nu):
        with pytest.raises(ValueError, match="nu must lie in"):
            lc.Matern(nu)

    def test_mixtures_of_very_different_bandwidths_keep_the_narrow_one(self):
        X = np.random.default_rng(0).standard_normal((40, 20))
        narrow, wide = lc.Gaussian(1e-7), lc.Gaussian(1.0)
        expected = (narrow(X, X) + wide(X, X)) / 2
        np.testing.assert_allclose(lc.Gaussian([1e-7, 1.0])(X, X), expected, atol=1e-12)
        assert np.isfinite(lc.Gaussian([1e-200, 1.0])(X, X)).all()

    def test_points_far_beyond_the_bandwidth_warn_of_nothing_but_are_refused(self):
        X = np.array([[-1e300], [1e300], [0.0]])
        with pytest.raises(ValueError, match="too far apart"):
            lc.distance([0, 0, 1], [0, 1, 1], X, bandwidth=1e-300)

    def test_phases_that_mean_nothing_are_refused(self):
        lift = lc.make_lift(np.zeros((2, 1)), lift="fourier", bandwidth=1.0, rng=0)
        with pytest.raises(ValueError, match="bandwidths away"):
            lift.sums(np.array([[0.0], [1e10]]), np.ones((2, 1)))

    def test_far_from_the_origin_single_precision_still_holds(self):
        X, labels = blobs(np.random.default_rng(0), 200, 3)
        kernel = lc.Gaussian(2.0)
        exact = lc.represent(X, labels, kernel=kernel).distances()
        lift = draw_fourier_lift(
            kernel,
            3,
            4000,
            centre=X.mean(axis=0) + 1e8,
            dtype=np.float32,
            rng=np.random.default_rng(0),
        )
        shifted = lc.represent(X + 1e8, labels, lift=lift).distances()
        np.testing.assert_allclose(shifted, exact, atol=0.05)


class TestTransport:
    @pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200])
    def test_masses_and_costs_of_any_size_are_moved(self, scale):
        plain = lc.emd([1.0, 3.0], [2.0, 2.0], [[0.0, 1.0], [2.0, 0.0]])
        masses = lc.emd(
            np.array([1.0, 3.0]) * scale, np.array([2.0, 2.0]) * scale, [[0.0, 1.0], [2.0, 0.0]]
        )
        assert masses.cost / scale == pytest.approx(plain.cost)
        np.testing.assert_allclose(masses.plan / scale, plain.plan)
        costs = lc.emd([1.0, 3.0], [2.0, 2.0], np.array([[0.0, 1.0], [2.0, 0.0]]) * scale)
        assert costs.cost / scale == pytest.approx(plain.cost)


class TestLabels:
    def test_large_whole_numbers_stay_apart(self):
        for labels in (
            [2**63, 2**63 + 1, -1],
            pd.Series([2**60, 2**60 + 1, None], dtype="Int64"),
            np.array([2**64 - 1, 2**64 - 2], np.uint64),
            np.array([-(2**63), 2**63 - 1]),
        ):
            assert lc.Partition.from_labels(labels).k == 2

    def test_one_column_is_not_guessed_at(self):
        with pytest.raises(ValueError, match=r"use .ravel\(\) for labels"):
            lc.as_partition(np.array([[0], [1], [1]]))
        assert lc.as_partition(np.ones((3, 1))).k == 1
        assert lc.Partition.from_memberships([[0], [1], [1]]).noise_mass == pytest.approx(1 / 3)

    def test_one_noise_label_may_stand_alone(self):
        assert lc.Partition.from_labels([0, 1, 7], noise=7).k == 2

    def test_bytes_are_labels(self):
        assert lc.represent([[0.0], [1.0]], [b"a", b"b"]).m == 1

    def test_names_of_numpy_kind_can_be_saved(self, tmp_path):
        p = lc.Partition.from_memberships([[0.5, 0.5], [1, 0]], names=np.arange(2))
        lc.represent([[0.0], [1.0]], [p]).save(tmp_path / "r.npz")

    def test_rows_that_sum_to_little_are_refused(self):
        with pytest.raises(ValueError, match="sum to one"):
            lc.Partition.from_memberships([[0.3, 0], [1, 0]])

    def test_dropping_an_empty_soft_cluster_keeps_the_others_in_place(self):
        R = np.array([[0.25, 0, 0.75], [0.5, 0, 0.5]])
        with pytest.warns(UserWarning, match="dropped"):
            p = lc.Partition.from_memberships(R, names=["a", "b", "c"])
        assert p.names == ("a", "c")
        np.testing.assert_allclose(p.memberships.toarray(), R[:, [0, 2]])
        np.testing.assert_allclose(p.masses, [0.375, 0.625])

    def test_doubled_entries_of_a_sparse_matrix_add_up(self):
        R = sp.coo_array(([0.5, 0.5, 0.3, 0.7], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2)).tocsr()
        doubled = sp.csr_array(([0.5, 0.5, 0.3, 0.7], [1, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
        assert (
            lc.as_partition(doubled).labels.tolist() == lc.as_partition(R).labels.tolist() == [1, 1]
        )

    def test_hardening_drops_what_never_leads(self):
        p = lc.Partition.from_memberships([[0.6, 0.4], [0.9, 0.1]])
        with pytest.warns(UserWarning, match="dropped 1 empty cluster"):
            assert p.harden().k == 1

    @pytest.mark.parametrize("mass", [1e-40, 1e-160, 1e-300])
    def test_clusters_of_next_to_no_mass_count_as_empty(self, mass):
        R = np.array([[1 - mass, mass], [1.0, 0.0]])
        with pytest.warns(UserWarning, match="dropped 1 empty"):
            assert lc.Partition.from_memberships(R).k == 1

    @pytest.mark.parametrize(
        ("call", "error"),
        [
            (lambda: lc.Partition.from_labels([0, 1], weights=[1j, 1]), TypeError),
            (lambda: lc.Partition.from_memberships([[1j, 1]]), TypeError),
            (lambda: lc.Partition.from_labels([0, 1], weights=np.ma.array([1, 1], mask=[0, 1])), ValueError),
            (lambda: lc.Partition.from_memberships(np.ma.array([[1.0, 0]], mask=[[0, 1]])), ValueError),
            (lambda: lc.represent([[10**400], [1]], [0, 1]), TypeError),
            (lambda: lc.bandwidth([[0.0], [1.0]], metric="manhattan"), ValueError),
            (lambda: lc.represent([[0.0], [1.0]], [0, 1], sampling="bogus"), ValueError),
            (lambda: lc.represent([[0.0], [1.0]], [0, 1], lift="exact", n_components=-5), ValueError),
            (lambda: lc.make_lift([[0.0]], lift="fourier", bandwidth=1.0).sums([[0.0]], [[np.nan]]), ValueError),
            (lambda: lc.datasets.make_rings(301), ValueError),
            (lambda: lc.compare([0, 1], [0, 1], measures=[]), ValueError),
            (lambda: lc.compare([0, 1], [0, 1], names=("a",)), ValueError),
        ],
    )  # fmt: skip
    def test_odd_input_gets_a_plain_error(self, call, error):
        with pytest.raises(error):
            call()


class TestSums:
    @pytest.mark.parametrize("kind", ["hard", "soft"])
    def test_weights_go_with_their_points_in_every_block(self, kind):
        rng = np.random.default_rng(0)
        n = 1500
        X, w = rng.standard_normal((n, 2)), rng.uniform(0.1, 5, n)
        R = np.eye(3)[rng.integers(3, size=n)] if kind == "hard" else rng.dirichlet(np.ones(3), n)
        lift = lc.make_lift(X, lift="fourier", rng=0)
        rep = lc.represent(X, [lc.as_partition(R, w)], lift=lift)
        np.testing.assert_allclose(rep.sums, (w[:, None] * R).T @ lift.features(X), atol=1e-9)

    @pytest.mark.parametrize("scale", [1e-50, 1e50])
    def test_single_precision_takes_weights_of_any_size(self, scale):
        X, labels = blobs(np.random.default_rng(0), 100, 2)
        lift = draw_fourier_lift(
            lc.Gaussian(1.0), 2, 64, dtype=np.float32, rng=np.random.default_rng(0)
        )
        plain = lc.represent(X, labels, lift=lift, weights=np.ones(100))
        scaled = lc.represent(X, labels, lift=lift, weights=np.full(100, scale))
        np.testing.assert_allclose(scaled.vectors, plain.vectors, atol=1e-6)

    def test_a_tiny_cluster_beside_a_huge_one_keeps_its_place(self):
        X = np.array([[0.0], [1.0], [1.5]])
        rep = lc.represent(X, ["huge", "one", "two"], weights=[1e9, 1, 1], bandwidth=1.0)
        K = lc.Gaussian(1.0)(X, X)
        np.testing.assert_allclose(rep.distances(), np.sqrt(np.maximum(2 - 2 * K, 0)), atol=1e-8)

    def test_the_span_of_several_partitions_has_the_rank_it_should(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 3))
        parts = [rng.integers(3, size=60) for _ in range(5)]
        rep = lc.represent(X, parts, kernel=lc.Gaussian(2.0))
        assert rep.n_components == rep.s - 4
        R = np.hstack([np.eye(3)[p] for p in parts])
        np.testing.assert_allclose(
            rep.lift.scores(X, rep.sums), lc.Gaussian(2.0)(X, X) @ R, atol=1e-8
        )

    def test_squared_norms_are_those_of_the_features(self):
        X = np.random.default_rng(0).standard_normal((20, 2))
        for lift in (
            lc.make_lift(X, lift="fourier", n_components=7, rng=0),
            lc.make_lift(X, lift=StandardScaler()),
        ):
            np.testing.assert_allclose(
                lift.squared_norms(X), (np.asarray(lift.features(X)) ** 2).sum(axis=1)
            )

    def test_partitions_keep_their_own_weights_when_taken_out(self):
        p, q = lc.Partition.from_labels([0, 1], [1, 3]), lc.Partition.from_labels([0, 1], [5, 5])
        rep = lc.represent([[0.0], [1.0]], {"p": p, "q": q})
        np.testing.assert_allclose(rep[1].masses, [0.5, 0.5])
        np.testing.assert_allclose(rep["p"].masses, [0.25, 0.75])
        with pytest.raises(KeyError, match="no partition is called 'r'"):
            rep["r"]

    def test_the_same_partition_twice_is_not_added_up(self):
        rep = lc.represent([[0.0], [1.0]], [[0, 1], [0, 0]], lift="fourier", rng=0)
        with pytest.raises(ValueError, match="need different names"):
            rep[[0, 0]] + rep

    def test_another_bandwidth_is_another_map(self):
        X, labels = blobs(np.random.default_rng(0), 30, 2)
        reps = [
            lc.represent(
                X,
                labels,
                lift=draw_fourier_lift(lc.Gaussian(h), 2, 10, rng=np.random.default_rng(0)),
            )
            for h in (1.0, 2.0)
        ]
        with pytest.raises(ValueError, match="different lifts"):
            reps[0] + reps[1]

    def test_the_largest_error_is_the_largest(self):
        X, labels = blobs(np.random.default_rng(0), 100, 3)
        rep = lc.represent(X, labels, lift="fourier", rng=0)
        assert rep.max_error == rep.distance_errors().max() > rep.distance_errors().mean()

    def test_unnamed_partitions_of_samples_are_numbered_through(self):
        X = np.arange(4.0)[:, None]
        p = [[0, 0, 1, 1], [0, 1, 1, 1]]
        assert lc.represent_samples([(X, p), (X, p)]).partition_names == (0, 1, 2, 3)

    def test_the_pool_of_samples_is_fair_and_always_the_same(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((3000, 2)), 5 + rng.standard_normal((1000, 2))
        pool = pool_points([X, Y])
        assert 1500 <= len(pool) <= 2100
        assert (pool[:, 0] > 2.5).mean() == pytest.approx(0.25, abs=0.05)
        np.testing.assert_array_equal(pool, pool_points([X, Y]))

    def test_a_loose_tolerance_takes_few_features(self):
        X, labels = blobs(np.random.default_rng(0), 100, 3)
        assert lc.represent(X, labels, tol=0.5, lift="fourier", rng=0).n_components == 512

    def test_added_frequencies_are_groups_of_their_own(self):
        lift = draw_fourier_lift(
            lc.Gaussian(1.0), 3, 60, sampling="orthogonal", rng=np.random.default_rng(0)
        )
        joined, new = lift.extend(120, np.random.default_rng(1))
        assert len(set(joined.groups)) == len(set(lift.groups)) + len(set(new.groups))

    def test_few_landmark_dimensions_do_not_make_large_blocks(self):
        X = np.random.default_rng(0).standard_normal((20_000, 2))
        lift = lc.make_lift(X, kernel=lambda P, Q: P @ Q.T, lift="nystrom", n_components=500, rng=0)
        assert lift.n_components == 2
        tracemalloc.start()
        lift.sums(X, np.ones((20_000, 1)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * 2**20  # 20,000 × 500 doubles are 76 MiB

    def test_a_vector_without_direction_is_said_not_divided_by(self):
        X = np.array([[0.0], [0.0], [1e6]])
        with pytest.raises(ValueError, match="zero vector"):
            lc.cluster_distance(
                [1, 1, 0],
                [0, 0, 1],
                X,
                lift="nystrom",
                n_components=1,
                bandwidth=1.0,
                normalise=True,
                rng=0,
            )

    def test_maximal_mmd_takes_weights_of_any_size(self):
        X = np.array([[0.0], [0.1], [5.0], [5.1]])
        labels = (
            lc.MaxMMDClustering(2, random_state=0).fit(X, sample_weight=np.full(4, 1e-200)).labels_
        )
        assert labels[0] == labels[1] != labels[2] == labels[3]


class TestComparing:
    def test_objects_without_coordinates_leave_out_what_needs_them(self):
        found = lc.compare(A, B, TEXTS, lift=HashingVectorizer(n_features=16))
        assert "coordinates" in found.left_out["centroid"]
        assert {"lift_emd", "rand"} <= set(found.values)
        gram = lc.compare(A, B, np.arange(6), kernel=lc.Precomputed(np.eye(6)))
        assert "adco" in gram.left_out
        letters = lc.compare(
            A,
            B,
            TEXTS,
            kernel=lambda P, Q: np.array([[len(set(p) & set(q)) for q in Q] for p in P]),
        )
        assert "lift_kd" in letters.values

    def test_partitions_without_a_common_point_are_compared_by_place(self):
        found = lc.compare([0, 0, -1, -1], [-1, -1, 0, 0], np.arange(4.0)[:, None])
        assert "lift_emd" in found.values
        assert "rand" in found.left_out

    def test_partitions_of_different_weights_are_compared_by_place(self):
        p, q = (
            lc.Partition.from_labels([0, 1, 1], [1, 2, 3]),
            lc.Partition.from_labels([0, 0, 1], [3, 2, 1]),
        )
        found = lc.compare(p, q, np.arange(3.0)[:, None])
        assert "lift_emd" in found.values
        assert "spri" in found.left_out

    def test_kernels_without_points_have_witnesses_and_tests(self):
        found = lc.compare(A, B, kernel="discrete")
        expected = lc.compare(A, B, np.arange(6.0)[:, None], kernel="discrete").witness()
        np.testing.assert_allclose(found.witness(), expected)
        assert 0 < lc.significance(A, B, kernel="discrete", n_permutations=9, rng=0).p_value <= 1

    def test_both_sides_weigh_in(self):
        X = np.arange(4.0)[:, None]
        w, v = [1, 1, 2, 1], [3, 1, 1, 1]
        repeated = lc.distance(
            [0, 0, 1, 1, 1],
            [0, 0, 0, 0, 1, 1],
            X[[0, 1, 2, 2, 3]],
            Y=X[[0, 0, 0, 1, 2, 3]],
            bandwidth=1.0,
        )
        assert lc.distance(
            [0, 0, 1, 1], [0, 0, 1, 1], X, Y=X.copy(), weights=(w, v), bandwidth=1.0
        ) == pytest.approx(repeated, abs=1e-7)
        profile = lc.bandwidth_profile(
            [0, 0, 1, 1], [0, 0, 1, 1], X, Y=X.copy(), weights=(w, v), bandwidths=[1.0]
        )
        assert profile.values[0] == pytest.approx(repeated, abs=1e-7)
        fractional = lc.Partition.from_labels([0, 0, 1, 1], [0.5, 1, 1, 1])
        with pytest.raises(ValueError, match="does not apply"):
            lc.distance([0, 0, 1, 1], fractional, measure="rand")

    def test_every_partition_of_a_matrix_is_checked(self):
        soft = [[0.5, 0.5], [1, 0], [0, 1]]
        with pytest.raises(ValueError, match="soft"):
            lc.distance_matrix([[0, 1, 1], [0, 0, 1], soft], measure="ami")

    def test_a_matrix_passes_on_how_to_lift(self):
        X, labels = blobs(np.random.default_rng(0), 80, 2)
        parts = [labels, labels % 2]
        for options in (
            {"tol": 0.02},
            {"sampling": "iid"},
            {"sampling": "orthogonal", "n_components": 40},
        ):
            D = lc.distance_matrix(parts, X, lift="fourier", rng=0, **options)
            assert D[0, 1] == pytest.approx(
                lc.distance(*parts, X, lift="fourier", rng=0, **options), abs=1e-9
            )

    def test_slowness_looks_at_both_samples(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((20, 2)), rng.standard_normal((2500, 2))
        found = lc.compare(X[:, 0] > 0, Y[:, 0] > 0, X, Y=Y)
        assert "slow" in found.left_out["cdistance"]

    def test_a_small_cluster_inside_a_large_one_is_merged_and_the_heaviest_comes_first(self):
        X = np.concatenate([np.zeros((90, 1)), np.full((10, 1), 0.1), np.full((50, 1), 9.0)])
        before = np.repeat(["large", "small", "far"], [90, 10, 50])
        after = np.repeat(["all", "all", "far"], [90, 10, 50])
        moves = lc.compare(before, after, X, bandwidth=1.0).moves
        assert [m.kind for m in moves] == ["merged", "stayed"]
        assert moves[0].sources == ("large", "small")
        assert moves[0].mass > moves[1].mass

    def test_flows_inside_a_group_are_counted_once(self):
        from liftcluster.comparison.comparison import find_moves

        plan = np.array([[0.30, 0.02], [0.20, 0.10], [0.0, 0.38]])
        D = np.array([[0.1, 0.9], [0.2, 0.3], [0.5, 0.1]])
        moves = find_moves(plan, D, ("a", "b", "c"), ("x", "y"))
        assert sum(m.mass for m in moves) == pytest.approx(1)
        assert sum(m.cost for m in moves) == pytest.approx((plan * D).sum())

    def test_json_has_no_infinity(self):
        found = lc.compare(A, B, np.arange(6.0)[:, None], lift="fourier", n_components=2, rng=0)
        assert found["lift_emd"].error == np.inf
        json.dumps(found.to_dict(), allow_nan=False)

    def test_an_array_of_measures_is_a_list_of_them(self):
        assert list(lc.compare(A, B, measures=np.array(["rand", "vi"]))) == ["rand", "vi"]


class TestOtherSamples:
    def test_bandwidths_come_from_both_samples(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((60, 2)), 100 * rng.standard_normal((60, 2))
        a, b = X[:, 0] > 0, Y[:, 0] > 0
        pooled = lc.bandwidth(np.vstack([X, Y]))
        assert lc.bandwidth_profile(a, b, X, Y=Y, bandwidths=2).median == pytest.approx(pooled)
        value = lc.significance(a, b, X, Y=Y, n_permutations=2, n_components=4000, rng=0).value
        assert value == pytest.approx(lc.distance(a, b, X, Y=Y), abs=0.03)


class TestSignificance:
    def test_equal_distances_are_ties_in_single_precision_too(self):
        n = 30_000
        X = np.random.default_rng(0).standard_normal((n, 2))
        labels = (X[:, 0] > 0).astype(int)
        found = lc.significance(labels, np.zeros(n, int), X, n_permutations=5, rng=0)
        assert found.p_value == 1  # one cluster stays one, however it is dealt out

    def test_many_clusters_do_not_make_a_square_matrix(self):
        n = 3000
        X = np.random.default_rng(0).standard_normal((n, 1))
        tracemalloc.start()
        lc.significance(
            np.arange(n) % 2,
            np.arange(n) % 1500,
            X,
            n_permutations=1,
            n_components=2,
            rng=0,
            measure="lift_hausdorff",
        )
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n * 1500 * 8


class TestProfiles:
    def test_narrow_bandwidths_are_as_exact_beside_wide_ones(self):
        rng = np.random.default_rng(0)
        X, a, b = rng.standard_normal((60, 20)), rng.integers(3, size=60), rng.integers(3, size=60)
        found = lc.bandwidth_profile(a, b, X, bandwidths=[1.0, 1e-8])
        np.testing.assert_array_equal(found.bandwidths, [1e-8, 1.0])
        for h, value in zip(found.bandwidths, found.values, strict=True):
            assert value == pytest.approx(lc.distance(a, b, X, bandwidth=h), abs=1e-6)

    def test_the_median_is_in_the_metric_of_the_kernel(self):
        X, labels = blobs(np.random.default_rng(0), 50, 3)
        found = lc.bandwidth_profile(labels, labels % 2, X, kernel="laplace", bandwidths=2)
        assert found.median == pytest.approx(lc.bandwidth(X, metric="cityblock"))

    def test_options_reach_value_and_error(self):
        X, labels = blobs(np.random.default_rng(0), 50, 3)
        outer = lc.Gaussian(0.2)
        found = lc.bandwidth_profile(
            labels,
            labels % 2,
            X,
            measure="lift_kd",
            outer_kernel=outer,
            bandwidths=[1.0],
            lift="fourier",
            n_components=100,
            rng=0,
        )
        plain = lc.bandwidth_profile(
            labels,
            labels % 2,
            X,
            measure="lift_kd",
            bandwidths=[1.0],
            lift="fourier",
            n_components=100,
            rng=0,
        )
        assert found.values[0] > plain.values[0]
        assert found.errors[0] < plain.errors[0] / 2


class TestOddValues:
    """What the table of `adversaries.py` found, by name."""

    def test_a_data_frame_is_no_list_of_its_column_names(self):
        with pytest.raises(ValueError, match="data frame with 2 columns"):
            lc.Partition.from_labels(pd.DataFrame({"a": [0, 1], "b": [1, 1]}))

    def test_digits_in_text_and_dates_are_no_numbers(self):
        with pytest.raises(TypeError, match="memberships must hold real numbers"):
            lc.Partition.from_memberships(np.array([["1.0", "0.0"]]))
        with pytest.raises(TypeError, match="weights must hold real numbers"):
            lc.Partition.from_labels([0, 1], np.array([1, 2], "datetime64[D]"))
        for made in (lc.LiftedConsensus(2), lc.MaxMMDClustering(2), lc.ClusterLifter(2)):
            with pytest.raises(TypeError, match="X must hold real numbers"):
                made.fit(np.array([["1.0"], ["2.0"], ["7.0"]]))

    def test_estimators_do_not_look_behind_a_mask(self):
        X = np.ma.array(np.eye(3), mask=np.eye(3) > 0)
        for made in (lc.LiftedConsensus(2), lc.MaxMMDClustering(2), lc.ClusterLifter(2)):
            with pytest.raises(ValueError, match="masked"):
                made.fit(X)
        weights = np.ma.array(np.ones(3), mask=[0, 0, 1])
        with pytest.raises(ValueError, match="masked"):
            lc.MaxMMDClustering(2).fit(np.eye(3), sample_weight=weights)

    def test_transport_does_not_look_behind_a_mask(self):
        with pytest.raises(ValueError, match="a has masked"):
            lc.emd(np.ma.array([1.0, 1.0], mask=[0, 1]), [1.0, 1.0], np.eye(2))
        with pytest.raises(ValueError, match="C has masked"):
            lc.emd([1.0, 1.0], [1.0, 1.0], np.ma.array(np.eye(2), mask=np.eye(2) > 0))

    def test_complex_memberships_are_refused_also_where_they_are_sparse(self):
        with pytest.raises(TypeError, match="real numbers"):
            lc.Partition.from_memberships(sp.csr_array(np.array([[1 + 1j, 0]])))

    @pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e200, 1e300])
    def test_base_partitions_do_not_depend_on_the_unit_of_length(self, scale):
        X, _ = blobs(np.random.default_rng(0), 30, 2, k=3)
        for kind in ("paper", "kmeans"):
            plain, scaled = (lc.base_partitions(Z, 3, kind, rng=0, n_partitions=3) for Z in (X, X * scale))  # fmt: skip
            for p, q in zip(plain, scaled, strict=True):
                assert lc.distance(p, q, measure="rand") == 0

    def test_base_partitions_say_that_too_few_places_are_different(self):
        with pytest.warns(UserWarning, match="some partitions have only 1"):
            lc.base_partitions(np.ones((6, 2)), 3, rng=0)

    def test_far_from_the_origin_exact_distances_keep_their_digits(self):
        X, labels = blobs(np.random.default_rng(0), 40, 2)
        X = np.round(X, 1) * 10
        for kernel in ("gaussian", "laplace", "matern"):
            near, far = (lc.distance(labels, labels % 2, Z, kernel=kernel) for Z in (X, X + 2.0**45))  # fmt: skip
            assert far == pytest.approx(near, abs=1e-9)

    def test_pairs_of_weights_beyond_exact_integers_do_not_overflow(self):
        a, b = [0, 0, 1, 1], [0, 0, 0, 1]
        for measure in ("fowlkes_mallows", "adjusted_rand", "rand", "jaccard"):
            heavy = lc.distance(a, b, measure=measure, weights=np.full(4, 1e100))
            light = lc.distance(a, b, measure=measure, weights=np.full(4, 2.0**50))
            assert heavy == pytest.approx(light, rel=1e-9)

    def test_seeds_that_are_none_are_refused_by_name(self):
        for seed in (-1, {1}, np.float32(2), object()):
            with pytest.raises((TypeError, ValueError), match="rng must be"):
                lc.represent(np.eye(3), [0, 0, 1], lift="fourier", rng=seed)

    def test_numbers_beyond_all_floats_are_refused_by_name(self):
        with pytest.raises(ValueError, match="bandwidth must be positive and finite"):
            lc.Gaussian(10**400)

    def test_choices_may_be_anything_without_a_crash(self):
        for odd in (np.array(["rand", "vi"]), ["rand"], 3, None):
            with pytest.raises(ValueError, match="measure must be one of"):
                lc.distance([0, 1], [0, 1], measure=odd)
        with pytest.raises(TypeError, match="n_clusters must be a whole number"):
            lc.consensus([[0, 1]], np.array([2, 3]), method="evidence")
        with pytest.raises(TypeError, match="bandwidths must be"):
            lc.bandwidth_profile([0, 1], [0, 1], np.eye(2), bandwidths=3.5)
        with pytest.raises(TypeError, match="measures must be"):
            lc.compare([0, 1], [0, 1], measures=3)

    def test_points_too_close_for_a_profile_are_refused(self):
        with pytest.raises(ValueError, match="bandwidths cannot vary"):
            lc.bandwidth_profile([0, 0, 1], [0, 1, 1], np.array([[0.0], [1.0], [2.0]]) * 5e-324)

    def test_settings_of_graphs_may_be_of_any_size_and_type(self):
        from fractions import Fraction

        X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
        for options in ({"power": 1e300}, {"theta": 1.7e308}, {"theta": Fraction(1, 2)}):
            found = lc.consensus([labels, labels % 2], 2, X, method="lift_graph", rng=0, **options)
            assert np.isfinite(found.memberships).all()

    def test_partitions_that_share_no_point_have_a_consensus(self):
        inputs = [[0, 0, 1, 1, None, None, None, None], [None, None, None, None, 0, 0, 1, 1]]
        found = lc.consensus(inputs, 2, np.eye(8), method="mcla", rng=0)
        assert found.n_clusters == 2

    def test_lift_graph_takes_whatever_can_become_an_array(self):
        class Arrayish:
            def __init__(self, values):
                self.values = values

            def __array__(self, dtype=None, copy=None):
                return np.array(self.values, dtype=dtype)

        X, labels = blobs(np.random.default_rng(0), 20, 2, k=2)
        inputs = [labels, (X[:, 0] > 0) * 1]
        plain, odd = (lc.consensus(inputs, 2, Z, method="lift_graph", rng=0) for Z in (X, Arrayish(X)))  # fmt: skip
        assert plain.labels.tolist() == odd.labels.tolist()


@pytest.mark.filterwarnings("ignore:the consensus is farther:UserWarning")
@pytest.mark.parametrize("factor", [0.01, 0.1, 7.0, 1e6])
@pytest.mark.parametrize("method", ["evidence", "lwea"])
def test_the_unit_of_weights_does_not_choose_between_equal_similarities(method, factor):
    parts = [[0, 0, 0, 1, 1, 0], [0, 0, 1, 0, 2, 2], [0, 0, 0, 0, 0, 0]]
    w = np.array([2.0, 2.0, 3.0, 3.0, 2.0, 2.0])
    one, two = (lc.consensus(parts, 2, method=method, weights=v) for v in (w, factor * w))
    assert one.labels.tolist() == two.labels.tolist()


def test_a_bandwidth_that_no_range_can_be_divided_by_is_too_small_for_a_grid():
    with pytest.raises(ValueError, match="range over inf bandwidths need more than"):
        lc.represent([[0.0], [1.0]], [0, 1], lift="grid", bandwidth=5e-324)
