"""Diverse subsets: factor 2, medoids by brute force, forms of input, and bad input."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import liftcluster as lc
from liftcluster.comparison.selection import exchanged_medoids, farthest_first

X = np.random.default_rng(0).normal(size=(40, 2))
RUNS = {f"run {i}": lc.base_partitions(X, 3, "kmeans", i, n_partitions=1)[0] for i in range(7)}


def random_metrics(count, rng):
    """Distances of points in the plane, and shortest paths in random graphs."""
    for _ in range(count):
        m = int(rng.integers(4, 11))
        if rng.random() < 0.5:
            Z = rng.normal(size=(m, 2))
            yield cdist(Z, Z)
        else:
            D = rng.random((m, m)) ** 3
            D = np.minimum(D, D.T)
            np.fill_diagonal(D, 0)
            for j in range(m):
                D = np.minimum(D, D[:, j, None] + D[None, j])
            yield D


def best(D, r, value):
    """The least value of any r clusterings, by trying all."""
    return min(value(D[:, list(chosen)].min(axis=1)) for chosen in combinations(range(len(D)), r))


def test_radius_is_at_most_twice_the_least_possible():
    rng = np.random.default_rng(1)
    for D in random_metrics(300, rng):
        r = int(rng.integers(1, len(D)))
        found = lc.diverse_subset(D, r)
        optimum = best(D, r, np.max)
        assert optimum - 1e-12 <= found.radius <= 2 * optimum + 1e-12
        assert found.least_radius <= optimum + 1e-12
        assert found.radius <= 2 * found.least_radius + 1e-12


def test_factor_two_is_reached():
    D = np.abs(np.subtract.outer([0.0, 1.0, 2.0, 3.5, 4.5, 5.5], [0.0, 1.0, 2.0, 3.5, 4.5, 5.5]))
    found = lc.diverse_subset(D, 2)  # starts at 2, then takes 5.5
    assert found.chosen == (2, 5)
    assert found.radius == 2 * best(D, 2, np.max) == 2


def test_medoids_of_few_clusterings_have_the_least_mean_distance():
    rng = np.random.default_rng(2)
    for D in random_metrics(100, rng):
        r = int(rng.integers(1, len(D)))
        found = lc.diverse_subset(D, r, method="medoids")
        assert found.mean_distance == pytest.approx(best(D, r, np.mean), abs=1e-12)


def test_medoids_by_exchange_are_at_most_five_times_as_far_and_mostly_the_best():
    """The factor is proven for any local optimum (Arya et al. 2004)."""
    rng = np.random.default_rng(2)
    excess = []
    for D in random_metrics(300, rng):
        r = int(rng.integers(1, len(D)))
        mean = D[:, exchanged_medoids(D, r)].min(axis=1).mean()
        optimum = best(D, r, np.mean)
        assert optimum - 1e-12 <= mean <= 5 * optimum + 1e-12
        excess.append(mean - optimum > 1e-9 * D.max())
    assert np.mean(excess) < 0.1


def test_no_exchange_improves_many_medoids():
    Z = np.random.default_rng(3).normal(size=(50, 2))
    D = cdist(Z, Z)
    chosen = lc.diverse_subset(D, 4, method="medoids").positions  # of 230,300 sets
    cost = D[:, chosen].min(axis=1).sum()
    for i in range(4):
        for other in range(len(D)):
            changed = [*np.delete(chosen, i), other]
            assert D[:, changed].min(axis=1).sum() >= cost - 1e-9


def test_one_medoid_has_the_least_sum_of_distances():
    D = lc.distance_matrix(RUNS, X)
    found = lc.diverse_subset(RUNS, 1, X, method="medoids")
    assert found.positions.tolist() == [D.sum(axis=1).argmin()]
    assert found.mean_distance == pytest.approx(D.sum(axis=1).min() / len(D))


def test_every_clustering_stands_for_itself_if_all_are_chosen():
    same = {name: [0, 0, 1, 1] for name in "abc"}
    for method in ("farthest", "medoids"):
        found = lc.diverse_subset(same, 3, method=method, measure="vi")
        assert sorted(found.chosen) == ["a", "b", "c"]
        assert found.sizes.tolist() == [1, 1, 1]
        assert found.radius == 0


def test_partitions_representation_and_distances_give_the_same():
    rep = lc.represent(X, RUNS)
    D = lc.distance_matrix(rep)
    a, b, c = lc.diverse_subset(RUNS, 3, X), lc.diverse_subset(rep, 3), lc.diverse_subset(D, 3)
    assert a.chosen == b.chosen == tuple(list(RUNS)[i] for i in c.positions)
    assert a.nearest.tolist() == b.nearest.tolist() == c.nearest.tolist()
    assert a.radius == pytest.approx(b.radius) == pytest.approx(c.radius)
    assert (a.measure, c.measure, c.names) == ("lift_emd", None, tuple(range(7)))


@pytest.mark.parametrize("measure", [name for name in lc.MEASURES if name != "cdistance"])
def test_any_measure_serves(measure):
    found = lc.diverse_subset(RUNS, 2, X, measure=measure)
    D = lc.distance_matrix(RUNS, X, measure=measure)
    np.testing.assert_allclose(found.matrix, (D + D.T) / 2, atol=1e-7)  # zeros are rounded
    if lc.MEASURES[measure].is_metric:
        assert found.least_radius == pytest.approx(found.radius / 2)


def test_nothing_is_proven_without_the_triangle_inequality():
    D = np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0.0]])
    assert lc.diverse_subset(D, 1).least_radius is None
    assert lc.diverse_subset(np.minimum(D, 2), 1).least_radius == 0.5


def test_farthest_first_spreads_over_groups():
    rng = np.random.default_rng(4)
    Z = np.repeat([[0, 0], [9, 0], [0, 9], [9, 9]], 6, axis=0) + rng.normal(0, 0.3, (24, 2))
    assert sorted(farthest_first(cdist(Z, Z), 4) // 6) == [0, 1, 2, 3]


def test_what_is_shown_has_the_numbers():
    names = {f"<b>{i}": p for i, p in enumerate(RUNS.values())}
    found = lc.diverse_subset(names, 2, X)
    assert f"{found.radius:.4f}" in str(found)
    assert str(found).count("stands for") == 2
    html = found._repr_html_()
    assert "<b>0" not in html
    assert html.count("<tr>") == 3
    assert found.to_dict()["nearest"] == [found.chosen[i] for i in found.nearest]
    assert sum(row["stands_for"] for row in found.rows()) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_representatives": 8}, "n_representatives=8 is more than the 7 clusterings"),
        ({"method": "nearest"}, "method must be one of farthest, medoids"),
        ({"partitions": np.zeros((2, 3))}, r"the \(m, m\) distances between them"),
        ({"partitions": np.array([[0.0, 1], [2, 0]])}, "symmetric"),
        ({"partitions": np.array([[0.0, -1], [-1, 0]])}, "not negative"),
        ({"partitions": np.zeros((9, 9))}, "so X cannot apply"),
        ({"partitions": np.zeros((9, 9)), "X": None, "measure": "vi"}, "so measure cannot apply"),
        ({"partitions": np.zeros((9, 9)), "X": None, "bandwidth": 2.0}, "bandwidth cannot apply"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        lc.diverse_subset(**{"partitions": RUNS, "n_representatives": 2, "X": X} | arguments)
