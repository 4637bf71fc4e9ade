"""Affinities of points: intervals, clipped polygons, natural neighbours, invariance, bad input."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

import liftcluster as lc
from liftcluster.combination.cells import shares_of_cells

PLAIN = FunctionTransformer()  # the points as they are


def clip(polygon, normal, offset):
    """The part of a convex polygon with ⟨normal, y⟩ ≤ offset."""
    kept = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        fa, fb = a @ normal - offset, b @ normal - offset
        if fa <= 0:
            kept.append(a)
        if fa * fb < 0:
            kept.append(a + (b - a) * fa / (fa - fb))
    return np.array(kept).reshape(-1, 2)


def area(polygon):
    if len(polygon) < 3:
        return 0.0
    x, y = polygon.T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def cell(polygon, site, others):
    """The part of a polygon that is nearer to a site than to the others."""
    for other in others:
        polygon = clip(polygon, other - site, (other @ other - site @ site) / 2)
        if not len(polygon):
            break
    return polygon


def affinities_by_polygons(x, R):
    """Stolen areas within the disc of the definition; the mean of R is the origin."""
    angles = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    radius = 2 * np.linalg.norm(R, axis=1).max()
    disc = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    own = cell(disc, x, R)
    shares = [area(cell(own, r, np.delete(R, i, axis=0))) for i, r in enumerate(R)]
    return np.array(shares) / sum(shares)


def representatives(k, rng):
    R = rng.normal(size=(k, 2))
    return R - R.mean(axis=0)


def test_between_two_means_on_a_line_affinity_is_linear():
    X = np.array([-3.0, 0.0, 0.3, 1.0, 1.7, 2.0, 4.0])[:, None]
    R = np.array([[-1.0], [1.0]])  # where X is 0 and 2
    values, hits = shares_of_cells(X - 1, R, 40_000, np.random.default_rng(0))
    expected = np.clip(X[:, 0] / 2, 0, 1)
    np.testing.assert_allclose(values[:, 1], expected, atol=4 * 0.5 / np.sqrt(hits.min()))
    np.testing.assert_allclose(values[[0, 1, 5, 6], 1], [0, 0, 1, 1], atol=1e-12)


def test_three_means_on_a_line_by_interval_lengths():
    R = np.array([[-2.0], [0.0], [2.0]])  # the ball is [-4, 4], cells end at -1 and 1
    x = np.array([[0.5], [1.0], [-3.0]])
    values, hits = shares_of_cells(x, R, 40_000, np.random.default_rng(1))
    # Cells: (0.25, 1.25), (0.5, 1.5) and (-4, -2.5).
    expected = [[0, 0.75, 0.25], [0, 0.5, 0.5], [1, 0, 0]]
    np.testing.assert_allclose(values, expected, atol=4 * 0.5 / np.sqrt(hits.min()))


@pytest.mark.parametrize("k", [3, 4, 7])
def test_in_the_plane_within_four_standard_errors_of_clipped_polygons(k):
    rng = np.random.default_rng(k)
    R = representatives(k, rng)
    Y = rng.normal(size=(25, 2))
    values, hits = shares_of_cells(Y, R, 5000, rng)
    for x, found, count in zip(Y, values, hits, strict=True):
        exact = affinities_by_polygons(x, R)
        # With the variance of the exact value; 1/count for the sides of the polygon and few hits.
        error = np.sqrt(exact * (1 - exact) / count) + 1 / count
        assert (np.abs(found - exact) <= 4 * error).all()


def test_reported_errors_are_those_of_repetitions():
    rng = np.random.default_rng(0)
    codes = np.arange(30) % 3
    X = 3 * np.array([[0, 0], [1, 0], [0, 1]])[codes] + rng.normal(size=(30, 2))
    runs = [lc.affinities(X, codes, lift=PLAIN, n_samples=400, rng=i) for i in range(60)]
    spread = np.std([run.values for run in runs], axis=0)
    reported = np.mean([run.errors for run in runs], axis=0)
    assert 0.8 < np.sqrt((spread**2).mean() / (reported**2).mean()) < 1.1  # 60 runs: ± 9 %


def test_means_weighted_by_affinities_give_the_point_back():
    """Sibson's identity, for points whose cells do not reach the ball."""
    rng = np.random.default_rng(0)
    angles = np.arange(6) * np.pi / 3
    R = np.column_stack([np.cos(angles), np.sin(angles)])
    Y = rng.uniform(-0.4, 0.4, size=(20, 2))
    values, hits = shares_of_cells(Y, R, 20_000, rng)
    np.testing.assert_allclose(values @ R, Y, atol=4 / np.sqrt(hits.min()))


def test_rows_sum_to_one_and_clear_clusters_have_affinity_one():
    codes = np.arange(60) % 4
    X = 50 * np.eye(4)[codes] + np.random.default_rng(0).normal(size=(60, 4))
    found = lc.affinities(X, codes, rng=0)
    np.testing.assert_allclose(found.values.sum(axis=1), 1, atol=1e-12)
    assert found.own.min() > 0.9
    assert not found.doubtful.any()


def test_moving_turning_and_scaling_change_nothing_but_noise():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(50, 3)), np.arange(50) % 3
    X[:, 0] += 2.0 * codes
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for lift in (PLAIN, "auto"):
        a, b = (
            lc.affinities(Z, codes, lift=lift, n_samples=5000, rng=0)
            for Z in (X, 100 * X @ turn + 7)
        )
        assert (np.abs(a.values - b.values) <= 4.5 * np.hypot(a.errors, b.errors)).all()


def test_names_of_clusters_change_only_the_order():
    X, codes = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 3
    a = lc.affinities(X, codes, rng=0)
    b = lc.affinities(X, 2 - codes, rng=0)
    assert (np.abs(a.values - b.values[:, ::-1]) <= 4.5 * np.hypot(a.errors, b.errors)).all()


def test_a_point_half_way_is_doubtful_and_noise_has_no_own_cluster():
    X = np.array([[0.0], [0.2], [4.9], [5.3], [10.0], [10.2]])
    found = lc.affinities(X, ["a", "a", "a", None, "b", "b"], lift=PLAIN, rng=0)
    assert found.own[3] == 0
    assert found.doubtful.tolist() == [False, False, False, True, False, False]
    swapped = lc.affinities(X, ["a", "a", "b", "b", "b", "a"], lift=PLAIN, rng=0)
    assert swapped.doubtful[5]


def test_few_samples_are_made_more_where_cells_are_small():
    R = np.eye(8) - 1 / 8
    values, hits = shares_of_cells(np.zeros((1, 8)), R, 20, np.random.default_rng(0))
    assert hits[0] >= 30
    np.testing.assert_allclose(values.sum(), 1)


def test_one_cluster_and_equal_means():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    one = lc.affinities(X, [0, 0, 0, 0], rng=0)
    assert (one.values == 1).all()
    assert (one.errors == 0).all()
    equal = lc.affinities(X, [0, 1, 1, 0], lift=PLAIN, rng=0)
    np.testing.assert_allclose(equal.values, 0.5)


def test_a_consensus_gives_the_affinities_of_its_partition():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    X = 4 * np.array([[0, 0], [1, 0], [0, 1]])[codes] + rng.normal(size=(60, 2))
    inputs = [np.where(rng.random(60) < 0.1, rng.integers(3, size=60), codes) for _ in range(5)]
    found = lc.consensus(inputs, 3, X, rng=0)
    kernel = lc.Gaussian(lc.bandwidth(X, "median/4"))
    expected = lc.affinities(X, found.partition, kernel=kernel, rng=1)
    np.testing.assert_allclose(found.affinities(X, rng=1).values, expected.values, atol=0.02)
    features = lc.consensus(inputs, 3, X, lift=lc.Nystroem(40), rng=0)
    assert features.affinities(X, rng=0).values.shape == (60, 3)
    with pytest.raises(ValueError, match="fitted with X"):
        lc.consensus(inputs, 3, method="majority").affinities(X)


def test_what_is_shown_has_the_numbers():
    X, codes = (
        np.random.default_rng(0).normal(size=(40, 2)),
        np.array(["<b>", "c"])[np.arange(40) % 2],
    )
    found = lc.affinities(X, codes, rng=0)
    assert f"{found.own.mean():.2f}" in str(found)
    assert "<b>" not in found._repr_html_()
    assert found._repr_html_().count("<tr>") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be at least 1"),
        ({"partition": [0, 1]}, "the partition has 2 entries but X has 3 points"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        lc.affinities(**{"X": [[0.0], [1.0], [5.0]], "partition": [0, 0, 1]} | arguments)
