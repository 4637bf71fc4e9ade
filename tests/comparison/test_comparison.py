"""distance, distance_matrix and compare."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

import liftcluster as lc
from liftcluster.comparison import distances
from liftcluster.comparison.comparing import compare_all, distance_matrices
from liftcluster.comparison.measures.registry import MEASURES
from liftcluster.comparison.moves import find_moves
from liftcluster.lifts.choice import Lifting
from support.generators import blobs
from support.report_cases import CLUSTERINGS, NAMES, X
from support.texts import TEXTS, A, B


@pytest.fixture
def data():
    return lc.datasets.make_2d3c()


def test_distance_matrix_equals_single_distances(data):
    partitions = {"r": data.reference, "f": data.first, "s": data.second}
    for measure in ("lift_emd", "lift_kd", "centroid", "rand", "spri"):
        options = {"measure": measure} | ({"bandwidth": 2.0} if "lift" in measure else {})
        D = lc.distance_matrix(partitions, data.X, **options)
        for i, p in enumerate(partitions.values()):
            for j, q in enumerate(partitions.values()):
                expected = lc.distance(p, q, data.X, **options)
                assert D[i, j] == pytest.approx(expected, abs=1e-7)
    assert abs(D[0, 1] - D[1, 0]) > 1e-3  # spri is not symmetric


def test_a_distance_matrix_lifts_once(data, monkeypatch):
    calls = []
    original = distances.represent_in_memory
    monkeypatch.setattr(
        distances, "represent_in_memory", lambda *a, **k: calls.append(1) or original(*a, **k)
    )
    lc.distance_matrix([data.reference, data.first, data.second] * 4, data.X)
    assert len(calls) == 1


def test_label_measures_need_no_points(data):
    assert lc.distance(data.reference, data.first, measure="vi") > 0
    with pytest.raises(
        ValueError, match=r"lift_emd does not apply: it needs the points X. These would: rand"
    ):
        lc.distance(data.reference, data.first)
    assert lc.distance(data.reference, data.first, kernel="discrete") > 0


def test_every_measure_that_applies_is_compared(data):
    found = lc.compare(data.reference, data.first, data.X)
    assert list(found.values) == list(lc.MEASURES)
    assert found.left_out == {}
    for name, estimate in found.values.items():
        assert estimate.value == pytest.approx(
            lc.distance(data.reference, data.first, data.X, measure=name)
        )
    assert found["lift_emd"].error == 0
    assert found["rand"].error is None


def test_measures_with_a_random_lift_have_a_standard_error(data):
    found = lc.compare(data.reference, data.first, data.X, lift=lc.Fourier(tol=0.01), rng=0)
    exact = lc.compare(data.reference, data.first, data.X)
    for name in ("lift_emd", "lift_kd", "lift_hausdorff"):
        assert 0 < found[name].error < 0.05
        assert abs(found[name].value - exact[name].value) < 4 * found[name].error + 1e-3
    assert "±" in str(found["lift_emd"])


def test_inapplicable_measures_are_left_out_with_a_reason(data):
    soft = np.eye(3)[data.first] * 0.9 + 0.1 / 3
    found = lc.compare(data.reference, soft, data.X)
    assert set(found.left_out) == {"spri", "spari", "ami", "element_centric"}
    with pytest.raises(KeyError, match="soft"):
        found["ami"]
    without_points = lc.compare(data.reference, data.first)
    assert "lift_emd" in without_points.left_out
    assert without_points.plan is None
    assert without_points.moves == []
    other = lc.compare(data.reference, data.first[:20], data.X, Y=data.X[:20])
    assert set(other.values) == {
        "lift_emd",
        "lift_kd",
        "lift_hausdorff",
        "centroid",
        "adco",
        "cdistance",
    }
    X, labels = blobs(np.random.default_rng(0), 2500, 2)
    many = lc.compare(labels, labels, X, rng=0)
    assert "slow for 2,500 points" in many.left_out["cdistance"]


def test_requested_measures_are_computed_or_refused(data):
    found = lc.compare(data.reference, data.first, data.X, measures=["vi", "lift_kd"])
    assert list(found) == ["vi", "lift_kd"]
    assert list(lc.compare(data.reference, data.first, measures="rand")) == ["rand"]
    with pytest.raises(ValueError, match="spri does not apply: it needs the points"):
        lc.compare(data.reference, data.first, measures=["spri"])
    with pytest.raises(ValueError, match="measures must be one of lift_emd"):
        lc.compare(data.reference, data.first, measures=["best"])


def test_moves_describe_stayed_split_merged_and_moved_clusters():
    X = np.repeat([[0.0], [10.0], [20.0], [30.0], [40.0], [50.0], [90.0]], 10, axis=0)
    X = X + np.tile(np.arange(10) / 100, 7)[:, None]
    before = np.repeat(["stay", "split", "split", "merge1", "merge2", "go", "-"], 10)
    after = np.repeat(["stay'", "part1", "part2", "merged", "merged", "-", "gone"], 10)
    before, after = (np.where(p == "-", None, p) for p in (before, after))
    found = lc.compare(before, after, X, bandwidth=2.0)
    kinds = {move.kind: move for move in found.moves}
    assert set(kinds) == {"stayed", "split", "merged", "moved"}
    assert (kinds["stayed"].sources, kinds["stayed"].targets) == (("stay",), ("stay'",))
    assert kinds["stayed"].cost == pytest.approx(0, abs=1e-7)
    assert kinds["split"].targets == ("part1", "part2")
    assert kinds["merged"].sources == ("merge1", "merge2")
    assert (kinds["moved"].sources, kinds["moved"].targets) == (("go",), ("gone",))
    assert kinds["moved"].distance == pytest.approx(np.sqrt(2), abs=1e-6)
    assert "split into part1, part2 (33.3 % of the mass" in str(found)


def test_moves_account_for_all_mass_and_all_cost():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, labels = blobs(rng, 100, 2, k=6)
        other = np.where(rng.random(100) < 0.3, rng.integers(5, size=100), labels)
        found = lc.compare(labels, other, X, measures=["lift_emd"])
        assert sum(move.mass for move in found.moves) == pytest.approx(1)
        assert sum(move.cost for move in found.moves) == pytest.approx(
            found["lift_emd"].value, abs=1e-9
        )


def test_small_flows_are_called_spilled_and_listed_last():
    plan = np.array([[0.48, 0.02], [0.0, 0.5]])
    D = np.array([[0.0, 1.0], [1.0, 0.0]])
    kinds = [move.kind for move in find_moves(plan, D, ("a", "b"), ("x", "y"))]
    assert kinds == ["stayed", "stayed", "spilled"]


def test_mixed_clusters_are_called_rearranged():
    plan = np.full((2, 2), 0.25)
    (move,) = find_moves(plan, np.ones((2, 2)), ("a", "b"), ("x", "y"))
    assert move.kind == "rearranged"
    assert move.distance == pytest.approx(1)


def test_the_witness_is_the_difference_of_mean_similarities():
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    other = labels % 2
    kernel = lc.Gaussian(1.5)
    found = lc.compare(labels, other, X, kernel=kernel)
    new = np.random.default_rng(1).standard_normal((7, 2))
    K, inner = kernel(new, X), kernel(X, X)

    def direction(members):
        return K @ members / np.sqrt(members @ inner @ members)

    expected = direction((labels == 2).astype(float)) - direction((other == 1).astype(float))
    np.testing.assert_allclose(found.witness(new, cluster=2, other=1), expected, atol=1e-8)
    whole = sum(
        found.plan[i, j]
        * np.abs(direction((labels == i).astype(float)) - direction((other == j).astype(float)))
        for i in range(4)
        for j in range(2)
    )
    np.testing.assert_allclose(found.witness(new), whole, atol=1e-8)
    assert found.witness().shape == (40,)


@pytest.mark.parametrize("lift", ["exact", "fourier"])
def test_the_witness_is_large_where_labels_changed(lift):
    X, labels = blobs(np.random.default_rng(0), 300, 2, k=5)
    changed = labels.copy()
    changed[labels == 3] = 4
    witness = lc.compare(labels, changed, X, lift=lift, rng=0, bandwidth=1.0).witness()
    touched = np.isin(labels, [3, 4])
    assert witness[touched].mean() > 5 * witness[~touched].mean()


def test_slow_measures_show_progress(data, capsys, monkeypatch):
    monkeypatch.setattr("liftcluster._util.progress._DELAY", 0.0)
    quiet = lc.compare(data.reference, data.first, data.X, measures=["cdistance"])
    assert capsys.readouterr().err == ""  # not a terminal
    shown = lc.compare(data.reference, data.first, data.X, measures=["cdistance"], progress=True)
    assert "cdistance" in capsys.readouterr().err
    assert shown["cdistance"] == quiet["cdistance"]
    lc.distance_matrix([data.reference, data.first], data.X, progress=True)
    assert "lift_emd distances" in capsys.readouterr().err


def test_exact_distance_is_reproducible():
    X, labels = blobs(np.random.default_rng(0), 3000, 3)
    values = {lc.distance(labels, labels % 2, X, lift="exact") for _ in range(3)}
    assert len(values) == 1


def test_small_flows_are_summarised():
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, 300, 2, k=6)
    other = np.where(rng.random(300) < 0.1, rng.integers(6, size=300), labels)
    found = lc.compare(labels, other, X, measures=["lift_emd", "mirkin"])
    spilled = [move for move in found.moves if move.kind == "spilled"]
    assert spilled
    assert found.summary()[-1].startswith(f"{len(spilled)} small flows between others")
    assert str(found["mirkin"]) == f"{found['mirkin'].value:,.0f}"


def test_comparison_converts_to_html_data_frame_and_json(data):
    names = ("<script>alert(1)</script>", 'b"&')
    found = lc.compare(data.reference, data.first, data.X, names=names)
    page = found._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "lift_emd" in page
    assert repr(found).startswith("Comparison(<script>")
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["rand", "value"] == found["rand"].value
    again = json.loads(json.dumps(found.to_dict()))
    assert again["measures"]["lift_emd"]["value"] == found["lift_emd"].value
    assert sum(map(sum, again["plan"])) == pytest.approx(1)
    assert again["moves"][0]["kind"] in str(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: lc.distance([0, 1, 1], [0, 1], X), "give the points of the second as Y"),
        (lambda X: lc.distance([0, 1, 1], [0, 1], Y=X[:2]), "Y was given without X"),
        (lambda X: lc.distance([0, 1, 1], [0, 1, 1], X, Y=X, weights=[1, 1, 1]), "must be a pair"),
        (lambda X: lc.distance([0, 1, 1], [0, 1, 1], X, measure="best"), "measure must be one of lift_emd"),
        (lambda X: lc.distance([0, 1, 1], [0, 1, 1], X[:2]), "3 entries but X has 2"),
        (lambda X: lc.distance_matrix([[0, 1, 1]], measure="centroid"), "needs the points"),
        (lambda X: lc.compare([0, 1, 1], [0, 1, 1]).witness(), "a witness needs a comparison that was made with X"),
        (lambda X: lc.compare([0, 1, 1], [0, 1, 1], X).witness(cluster=0), "give both"),
        (lambda X: lc.compare([0, 1, 1], [0, 1, 1], X).witness(cluster=0, other=7), "no cluster 7; the clusters are 0, 1"),
    ],
)  # fmt: skip
def test_invalid_comparisons_raise_a_helpful_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]))


def test_weights_of_two_samples_are_a_pair():
    X, Y = np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [1.0], [5.0], [5.0]])
    weighted = lc.distance(
        [0, 0, 1], [0, 1, 1, 1], X, Y=Y, weights=([1, 1, 2], None), bandwidth=1.0
    )
    repeated = lc.distance([0, 0, 1, 1], [0, 1, 1, 1], X[[0, 1, 2, 2]], Y=Y, bandwidth=1.0)
    assert weighted == pytest.approx(repeated, abs=1e-9)


def test_compare_all_equals_single_comparisons():
    found, rep = compare_all(CLUSTERINGS, X)
    assert rep.partition_names == tuple(NAMES)
    assert list(found) == [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]
    for (a, b), comparison in found.items():
        alone = lc.compare(CLUSTERINGS[a], CLUSTERINGS[b], X, names=(a, b))
        assert comparison.names == (a, b)
        assert set(comparison.values) == set(alone.values)
        for name in alone:
            assert comparison[name].value == pytest.approx(alone[name].value, abs=1e-7), name
        np.testing.assert_allclose(comparison.plan, alone.plan, atol=1e-7)


def test_compare_all_of_labels_needs_no_points():
    found, rep = compare_all([[0, 0, 1], [0, 1, 1]])
    assert rep is None
    assert found[0, 1].plan is None
    assert found[0, 1]["rand"].value == pytest.approx(2 / 3)


@pytest.mark.parametrize("measure", ["lift_emd", "lift_kd", "rand", "vi", "spri"])
def test_matrices_of_comparisons_are_distance_matrices(measure):
    lifting = Lifting.of(lift=lc.Fourier(16)) if "lift" in measure else None
    found, _ = compare_all(CLUSTERINGS, X, measures=measure, lifting=lifting, rng=0)
    named = {name: lc.as_partition(labels) for name, labels in CLUSTERINGS.items()}
    matrix = distance_matrices(found, named, X)[measure]
    given = {} if lifting is None else {"lift": lc.Fourier(16), "rng": 0}
    expected = lc.distance_matrix(named, X, measure=measure, **given)
    np.testing.assert_allclose(matrix.values, expected, atol=1e-7)
    known = matrix.errors == matrix.errors
    assert (known == (lifting is not None)).all()
    assert not matrix.errors[np.eye(4, dtype=bool) & known].any()


def test_rand_distance_of_a_soft_partition_to_itself_is_positive():
    soft = lc.Partition.from_memberships([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    named = {"soft": soft, "hard": lc.Partition.from_labels([0, 0, 1, 1])}
    found, _ = compare_all(named, measures="rand")
    values = distance_matrices(found, named, None)["rand"].values
    np.testing.assert_allclose(values, lc.distance_matrix(named, measure="rand"))
    assert values[0, 0] > 0.1


def test_measures_slow_in_many_dimensions_are_left_out_for_many_points():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 2500))
    deep = lc.compare(a, b, rng.standard_normal((2500, 4)), lift=lc.Fourier(10))
    assert all("slow for 2,500 points" in deep.left_out[name] for name in ("spri", "spari"))
    flat = lc.compare(a, b, rng.standard_normal((2500, 3)), lift=lc.Fourier(10))
    assert {"spri", "spari"} <= set(flat.values)
    assert {name for name, m in MEASURES.items() if m.slow_above_d} == {"spri", "spari"}


def test_slow_measures_are_left_out_for_many_pairs():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((700, 2)), rng.integers(2, size=(9, 700))
    found, _ = compare_all(list(labels), points, lifting=Lifting.of(lift=lc.Fourier(10)))
    assert "36 pairs" in found[0, 1].left_out["cdistance"]
    assert "cdistance" in compare_all(list(labels[:2]), points)[0][0, 1].values


def test_measures_that_need_coordinates_are_left_out_for_other_objects():
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


def test_partitions_without_common_points_are_compared_by_spatial_measures():
    found = lc.compare([0, 0, -1, -1], [-1, -1, 0, 0], np.arange(4.0)[:, None])
    assert "lift_emd" in found.values
    assert "rand" in found.left_out


def test_partitions_of_different_weights_are_compared_by_spatial_measures():
    p, q = (
        lc.Partition.from_labels([0, 1, 1], [1, 2, 3]),
        lc.Partition.from_labels([0, 0, 1], [3, 2, 1]),
    )
    found = lc.compare(p, q, np.arange(3.0)[:, None])
    assert "lift_emd" in found.values
    assert "spri" in found.left_out


def test_discrete_kernel_without_points_has_witness_and_significance():
    found = lc.compare(A, B, kernel="discrete")
    expected = lc.compare(A, B, np.arange(6.0)[:, None], kernel="discrete").witness()
    np.testing.assert_allclose(found.witness(), expected)
    assert 0 < lc.significance(A, B, kernel="discrete", n_permutations=9, rng=0).p_value <= 1


def test_weights_of_both_samples_are_used():
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


def test_every_partition_of_a_matrix_is_checked():
    soft = [[0.5, 0.5], [1, 0], [0, 1]]
    with pytest.raises(ValueError, match="soft"):
        lc.distance_matrix([[0, 1, 1], [0, 0, 1], soft], measure="ami")


def test_distance_matrix_passes_on_the_lift_settings():
    X, labels = blobs(np.random.default_rng(0), 80, 2)
    parts = [labels, labels % 2]
    for lift in (
        lc.Fourier(tol=0.02),
        lc.Fourier(sampling="iid"),
        lc.Fourier(40, sampling="orthogonal"),
    ):
        D = lc.distance_matrix(parts, X, lift=lift, rng=0)
        assert D[0, 1] == pytest.approx(lc.distance(*parts, X, lift=lift, rng=0), abs=1e-9)


def test_slow_measures_are_left_out_if_either_sample_is_large():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), rng.standard_normal((2500, 2))
    found = lc.compare(X[:, 0] > 0, Y[:, 0] > 0, X, Y=Y)
    assert "slow" in found.left_out["cdistance"]


def test_small_cluster_inside_a_large_one_is_merged_and_the_heaviest_move_comes_first():
    X = np.concatenate([np.zeros((90, 1)), np.full((10, 1), 0.1), np.full((50, 1), 9.0)])
    before = np.repeat(["large", "small", "far"], [90, 10, 50])
    after = np.repeat(["all", "all", "far"], [90, 10, 50])
    moves = lc.compare(before, after, X, bandwidth=1.0).moves
    assert [m.kind for m in moves] == ["merged", "stayed"]
    assert moves[0].sources == ("large", "small")
    assert moves[0].mass > moves[1].mass


def test_flows_inside_a_group_are_counted_once():
    from liftcluster.comparison.moves import find_moves

    plan = np.array([[0.30, 0.02], [0.20, 0.10], [0.0, 0.38]])
    D = np.array([[0.1, 0.9], [0.2, 0.3], [0.5, 0.1]])
    moves = find_moves(plan, D, ("a", "b", "c"), ("x", "y"))
    assert sum(m.mass for m in moves) == pytest.approx(1)
    assert sum(m.cost for m in moves) == pytest.approx((plan * D).sum())


def test_json_has_no_infinity():
    found = lc.compare(A, B, np.arange(6.0)[:, None], lift=lc.Fourier(2), rng=0)
    assert found["lift_emd"].error == np.inf
    json.dumps(found.to_dict(), allow_nan=False)


def test_measures_may_be_an_array():
    assert list(lc.compare(A, B, measures=np.array(["rand", "vi"]))) == ["rand", "vi"]


def test_bandwidth_is_computed_from_both_samples():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 2)), 100 * rng.standard_normal((60, 2))
    a, b = X[:, 0] > 0, Y[:, 0] > 0
    pooled = lc.bandwidth(np.vstack([X, Y]))
    assert lc.bandwidth_profile(a, b, X, Y=Y, bandwidths=2).median == pytest.approx(pooled)
    value = lc.significance(a, b, X, Y=Y, n_permutations=2, lift=lc.Fourier(4000), rng=0).value
    assert value == pytest.approx(lc.distance(a, b, X, Y=Y), abs=0.03)
