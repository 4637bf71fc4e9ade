"""Alternative clusterings: the second of two true ones, the objective by its formula, the curve."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import liftcluster as lc
from liftcluster.combination.alternatives import _directions, _views, upper_envelope
from liftcluster.combination.features import at_most_n_features, compactness


def two_mixtures(seed, separations=(6, 6), n=300):
    """Points in six dimensions with a clustering in the first three and one in the others."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(3, size=(2, n))
    parts = [s * np.eye(3)[c] for s, c in zip(separations, (a, b), strict=True)]
    return np.hstack(parts) + rng.normal(size=(n, 6)), a, b


def images(seed, n=200, size=9):
    """Images of bars and crosses in red, green and blue, of varying brightness, with noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] - size // 2
    shapes = np.array([abs(x) <= 1, abs(y) <= 1, abs(abs(x) - abs(y)) <= 0], dtype=float)
    colours = np.array([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]])
    shape, colour = rng.integers(3, size=(2, n))
    drawn = np.einsum("nij,nc->nijc", shapes[shape], colours[colour]).reshape(n, -1)
    bright = drawn * rng.uniform(0.8, 1, size=(n, 1))
    return bright + rng.normal(0, 0.15, bright.shape), shape, colour


TRUTHS = [
    *(pytest.param(two_mixtures, (s,), id=f"mixtures {s}") for s in [(6, 6), (6, 9), (9, 6)]),
    pytest.param(images, (), id="images"),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("make", "options"), TRUTHS)
def test_shown_one_of_two_true_clusterings_gives_the_other(make, options, seed):
    X, a, b = make(seed, *options)
    for shown, other in ((a, b), (b, a)):
        found = lc.alternative(X, shown, 3, rng=0)
        assert adjusted_rand_score(other, found.labels) >= 0.95
        assert adjusted_rand_score(shown, found.labels) < 0.05


def test_a_third_clustering_is_found_from_two():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(3, 300))
    X = 6.0 * codes.T + rng.normal(size=(300, 3))
    found = lc.alternative(X, {"first": codes[0], "second": codes[1]}, 2, rng=0)
    assert adjusted_rand_score(codes[2], found.labels) >= 0.95


def test_views_are_the_points_without_the_given_clustering():
    """Inner products of the rows of each view, against the subtraction written out."""
    rng = np.random.default_rng(0)
    Z, codes = rng.normal(size=(30, 6)), rng.integers(3, size=30)
    Z -= Z.mean(axis=0)
    means = np.stack([Z[codes == c].mean(axis=0) for c in range(3)])
    onto = means.T @ np.linalg.pinv(means.T)  # projection onto their span
    literal = [Z]
    for strength in (0.5, 1.0):
        literal += [Z - strength * means[codes], Z - strength * Z @ onto]
    found = list(_views(Z + 7.0, [lc.as_partition(codes)]))
    for view, residual in zip(found, literal, strict=True):
        np.testing.assert_allclose(view @ view.T, residual @ residual.T, atol=1e-10)
        spread = np.linalg.eigvalsh(residual.T @ residual)[::-1]  # main directions first
        np.testing.assert_allclose((view**2).sum(axis=0), spread, atol=1e-10)


def test_more_features_than_points_are_replaced_by_as_many_with_the_same_inner_products():
    Z = np.random.default_rng(0).normal(size=(7, 30))
    found = at_most_n_features(Z)
    assert found.shape == (7, 7)
    np.testing.assert_allclose(found @ found.T, Z @ Z.T, atol=1e-12)
    np.testing.assert_array_equal(at_most_n_features(Z.T), Z.T)


def test_quality_and_distance_are_those_of_the_formula():
    X, a, b = two_mixtures(0, n=60)
    given = {"a": a, "b": np.where(b == 2, -1, b)}
    found = lc.alternative(X, given, 3, rng=0)
    K = lc.Gaussian(lc.bandwidth(X))(X, X)

    def quality(codes):
        return sum(K[np.ix_(codes == c, codes == c)].sum() / (codes == c).sum() for c in set(codes))

    one = np.zeros(60)
    best = max(quality(each.labels) for each in found.curve)
    for each in found.curve:
        share = (quality(each.labels) - quality(one)) / (best - quality(one))
        assert each.quality == pytest.approx(share, abs=1e-7)
        mean = np.mean([lc.distance(each.labels, g, X) for g in given.values()])
        assert each.distance == pytest.approx(mean, abs=1e-6)
    assert found.unit == pytest.approx(np.mean([lc.distance(one, g, X) for g in given.values()]))


def test_the_curve_has_the_maximum_for_every_trade_off():
    rng = np.random.default_rng(0)
    for _ in range(100):
        a, b = rng.random((2, rng.integers(1, 12)))
        found = upper_envelope(a, b)
        positions, starts = np.array(found).T
        assert starts[0] == 0
        assert (np.diff(starts) >= 0).all()
        for trade_off in rng.exponential(2.0, 20):
            chosen = int(positions[starts <= trade_off][-1])
            assert a[chosen] + trade_off * b[chosen] >= (a + trade_off * b).max() - 1e-7


def test_quality_falls_and_distance_rises_along_the_curve():
    X, a, _ = two_mixtures(1)
    found = lc.alternative(X, a, 4, rng=0)
    assert len(found.curve) > 1
    assert found.curve[0].quality == 1
    assert (np.diff([each.quality for each in found.curve]) <= 1e-9).all()
    assert (np.diff([each.distance for each in found.curve]) > 0).all()
    assert found.at(0) is found.curve[0]
    assert found.at(1e9) is found.curve[-1]
    assert found.at(found.trade_off).labels is found.labels


def test_names_of_clusters_and_the_scale_of_points_change_nothing():
    X, a, _ = two_mixtures(2, n=120)
    first = lc.alternative(X, a, 3, rng=0)
    for other in (
        lc.alternative(X, np.array(["u", "v", "w"])[a], 3, rng=0),
        lc.alternative(1000 * X - 5, a, 3, rng=0),
        lc.alternative(X, np.eye(3)[a], 3, rng=0),
    ):
        assert adjusted_rand_score(first.labels, other.labels) == 1
        assert other.quality == pytest.approx(first.quality, abs=1e-6)


def test_many_points_take_landmarks():
    X, a, b = two_mixtures(3, n=3000)
    found = lc.alternative(X, a, 3, lift=lc.Nystroem(100), rng=0)
    assert adjusted_rand_score(b, found.labels) >= 0.95


def test_a_given_clustering_of_one_cluster_leaves_the_best():
    X, _, b = two_mixtures(4, (4, 9))
    found = lc.alternative(X, np.zeros(300), 3, rng=0)
    assert found.unit == 1
    assert adjusted_rand_score(b, found.labels) >= 0.95


def test_equal_points_have_no_quality():
    found = lc.alternative(np.ones((6, 2)), [0, 0, 0, 1, 1, 1], 2, bandwidth=1.0, rng=0)
    assert found.quality == 0
    assert found.partition.k == 1


def test_what_is_shown_has_the_numbers():
    X, a, _ = two_mixtures(0)
    found = lc.alternative(X, a, 3, rng=0)
    assert f"{found.distance:.4f}" in str(found)
    assert str(found).count("λ") == len(found.curve)
    assert str(found).count("recommended") == 1
    assert found._repr_html_().count("<tr>") == 1 + len(found.curve)


def test_quality_counts_only_clusters_with_points():
    Z = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert compactness(Z, np.array([0, 2]), 4) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 1}, "n_clusters must be at least 2"),
        ({"n_clusters": 9}, "n_clusters=9 is more than the 4 points"),
        ({"given": [0, 1]}, "given has 2 entries but X has 4 points"),
        ({"given": [[0, 0, 1, 1], [0, 1]]}, "must have the same length"),
        ({"given": []}, "no partitions were given"),
        ({"trade_off": -1.0}, "trade_off must be positive"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    X = [[0.0], [1.0], [5.0], [6.0]]
    with pytest.raises(ValueError, match=message):
        lc.alternative(**{"X": X, "given": [0, 0, 1, 1], "n_clusters": 2} | arguments)


def test_negative_trade_off_has_no_clustering():
    found = lc.alternative([[0.0], [1.0], [5.0]], [0, 0, 1], 2, rng=0)
    with pytest.raises(ValueError, match="must not be negative"):
        found.at(-1)


def test_threads_change_no_bit_of_the_directions():
    A = np.random.default_rng(0).normal(size=(400, 200))
    G, found = A.T @ A, []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(_directions(G))
    np.testing.assert_array_equal(*found)
