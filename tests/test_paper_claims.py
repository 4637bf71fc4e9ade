"""Claims of the paper, each with a test that confirms it or a counter-example."""

import itertools
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liftcluster as lc


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_section_2_2_the_discrete_kernel_counts_the_symmetric_difference(seed, n):
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n)) < 0.5
    a[0] = b[-1] = True
    d = lc.cluster_distance(a, b, None, kernel="discrete")
    assert d == pytest.approx(np.sqrt((a ^ b).sum()), abs=1e-6)


def test_section_2_2_with_unit_vectors_the_discrete_kernel_gives_the_cosine_of_sets():
    a, b = np.array([1, 1, 1, 0, 0]), np.array([0, 1, 1, 1, 1])
    d = lc.cluster_distance(a, b, None, kernel="discrete", normalise=True)
    assert d**2 == pytest.approx(2 - 2 * 2 / np.sqrt(3 * 4))


def test_section_2_2_1_the_representation_is_lossless_for_a_characteristic_kernel():
    """Different subsets of six points have different vectors."""
    X = np.random.default_rng(0).standard_normal((6, 2))
    subsets = [
        np.isin(np.arange(6), c) for r in (1, 2, 3) for c in itertools.combinations(range(6), r)
    ]
    labellings = [np.where(s, 0, -1) for s in subsets]
    D = lc.represent(X, labellings, bandwidth=1.0).distances(normalise=False)
    assert D[np.triu_indices(len(D), 1)].min() > 1e-3


def small_clusters():
    """Figure 4: B splits into B₂ and a small C₂, far from A."""
    rng = np.random.default_rng(0)
    A = rng.normal([0, 0], 0.3, (40, 2))
    B = rng.normal([4, 0], 0.3, (36, 2))
    C = rng.normal([4, 0.8], 0.2, (4, 2))
    X = np.vstack([A, B, C])
    first = np.repeat(["A1", "B1"], [40, 40])
    second = np.repeat(["A2", "B2", "C2"], [40, 36, 4])
    rep = lc.represent(X, [first, second], bandwidth=1.5)
    index = {name: i for i, name in enumerate(rep.cluster_names)}
    return rep, lambda D, a, b: D[index[a], index[b]]


def test_section_3_2_unnormalised_vectors_do_not_separate_small_clusters():
    rep, between = small_clusters()
    raw = rep.distances(normalise=False)
    # C₂ is a part of B₁ and far from A₁, yet its raw vector is about as far from both.
    assert between(raw, "C2", "B1") > 0.8 * between(raw, "C2", "A1")


def test_section_3_2_unit_vectors_separate_clusters_by_location():
    rep, between = small_clusters()
    unit = rep.distances()
    assert between(unit, "C2", "B1") < 0.5 * between(unit, "C2", "A1")
    assert between(unit, "B2", "B1") < 0.1 * between(unit, "B2", "A1")


def test_theorem_3_2_cluster_distances_are_within_epsilon_with_few_features():
    """Mean embeddings of s clusters need ρ for s vectors, independently of the number of points."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    labels = rng.integers(5, size=400)
    eps, delta = 0.3, 0.1
    rho = lc.n_components_for(eps, delta, 5)
    kernel = lc.Gaussian(1.0)

    def means(**options):
        rep = lc.represent(X, labels, kernel=kernel, **options)
        M = rep.sums / rep.cluster_weights[:, None]
        return np.linalg.norm(M[:, None] - M[None], axis=2)

    exact = means(lift="exact")
    failures = sum(
        np.abs(means(lift=lc.Fourier(rho, sampling="iid"), rng=seed) - exact).max() > eps
        for seed in range(50)
    )
    assert failures <= delta * 50


def test_section_2_2_2_two_clusters_far_apart_have_a_larger_objective():
    X = np.concatenate([np.zeros((10, 1)), np.ones((10, 1)) * 3])
    apart, mixed = np.repeat([0, 1], 10), np.tile([0, 1], 10)
    values = lc.mmd_objective(lc.represent(X, [apart, mixed], bandwidth=1.0))
    assert values[0] > 0.2
    assert values[1] == pytest.approx(0, abs=1e-9)


SPATIAL = [m for m in lc.MEASURES.values() if m.needs != "table"]
LABELS = [m for m in lc.MEASURES.values() if m.needs == "table"]


@pytest.mark.parametrize("make", [lc.datasets.make_2d2c, lc.datasets.make_2d3c])
@pytest.mark.parametrize("measure", SPATIAL, ids=attrgetter("name"))
def test_table_1_every_spatial_measure_ranks_the_first_partition_closer(make, measure):
    data = make()
    first, second = (
        lc.distance(data.reference, p, data.X, measure=measure.name)
        for p in (data.first, data.second)
    )
    assert first < 0.97 * second


@pytest.mark.parametrize("make", [lc.datasets.make_2d2c, lc.datasets.make_2d3c])
@pytest.mark.parametrize("measure", LABELS, ids=attrgetter("name"))
def test_table_1_every_label_measure_gives_equal_distances(make, measure):
    data = make()
    first, second = (
        lc.distance(data.reference, p, measure=measure.name) for p in (data.first, data.second)
    )
    assert first == second > 0


def test_data_sets_have_the_sizes_of_the_paper():
    for make, n, k in ((lc.datasets.make_2d2c, 45, 2), (lc.datasets.make_2d3c, 24, 3)):
        data = make()
        assert data.X.shape == (n, 2)
        assert [len(set(p)) for p in (data.reference, data.first, data.second)] == [k, k, k]


def test_figure_2_centroids_cannot_distinguish_concentric_rings():
    X, rings = lc.datasets.make_rings()
    merged = np.minimum(rings, 1)
    assert lc.distance(rings, merged, X, measure="centroid") == pytest.approx(0, abs=1e-9)
    assert lc.distance(rings, merged, X) > 0.1


def test_figure_3_adco_cannot_distinguish_near_cells_from_far_ones():
    X, cells = lc.datasets.make_far_cells()
    adco, lifted = (
        [
            lc.distance(
                np.where(cells == i, 0, -1)[cells == i], np.zeros((cells == j).sum(), dtype=int),
                X[cells == i], Y=X[cells == j], measure=measure,
                **({"bandwidth": 5.0} if measure == "lift_emd" else {}),
            )
            for i, j in ((0, 1), (2, 3))
        ]
        for measure in ("adco", "lift_emd")
    )  # fmt: skip
    assert adco[0] == adco[1] == 2
    assert lifted[0] < 0.5 * lifted[1]


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_section_4_correct_identity_with_the_rand_distance(seed, n):
    """Discrete kernel, raw vectors, squared cost: the plan n_ij/n costs (n − 1) Rand, at least."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(4, size=(2, n))
    rep = lc.represent(None, [a, b], kernel="discrete")
    k = len(set(a))
    cost = rep.distances(normalise=False)[:k, k:] ** 2
    table = np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)])
    rand = lc.distance(a, b, measure="rand")
    assert (table / n * cost).sum() == pytest.approx((n - 1) * rand, abs=1e-6)
    assert lc.emd(rep[0].masses, rep[1].masses, cost).cost <= (n - 1) * rand + 1e-6
    assert lc.distance(a, b, measure="mirkin") == pytest.approx(n * (n - 1) * rand)


def test_section_4_is_wrong_that_discrete_lift_emd_is_at_most_the_rand_distance():
    a, b = [1, 1, 2, 2], [1, 2, 1, 2]
    assert lc.distance(a, b, kernel="discrete") == pytest.approx(1)
    assert lc.distance(a, b, measure="rand") == pytest.approx(2 / 3)
    n = 9
    one, single = np.zeros(n), np.arange(n)
    expected = np.sqrt(2 - 2 / np.sqrt(n))
    assert lc.distance(one, single, kernel="discrete") == pytest.approx(expected)
