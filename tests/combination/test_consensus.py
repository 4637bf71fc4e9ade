"""consensus: equal inputs, planted clusters with noise, and errors."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import liftcluster as lc
from support.consensus_cases import LIFTED, TAKES_K, WORSE, noisy_inputs, separated_blobs


@pytest.mark.parametrize("method", TAKES_K)
def test_the_consensus_of_equal_inputs_is_that_input(method):
    X, labels = separated_blobs(
        np.random.default_rng(0), 120, 2, k=3
    )  # equal sizes: METIS balances
    found = lc.consensus([labels] * 4, 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) == 1
    assert found.mean_distance == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(
    "method", ["lift_km", "lift_hac", "lift_places", "lift_walk", "auto", "evidence"]
)
def test_consensus_of_equal_inputs_does_not_depend_on_positions(method):
    rng = np.random.default_rng(0)
    labels = (np.arange(60) + 1) % 3  # label numbers are kept, too
    found = lc.consensus([labels, 2 - labels], 3, rng.random((60, 2)), method=method, rng=0)
    np.testing.assert_array_equal(found.labels, labels)


# Not ec_cms: it spreads the wrong pairs that five of the six inputs join.
@pytest.mark.parametrize("method", [method for method in TAKES_K if method != "ec_cms"])
@WORSE
def test_planted_clusters_are_recovered_from_noisy_inputs(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 300, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) > (0.2 if method == "hgpa" else 0.85)
    assert found.n_clusters == 3


@WORSE
def test_many_points_in_many_dimensions_use_nystroem_landmarks():
    """At a quarter of the median distance, similarities in many dimensions are close to zero."""
    rng = np.random.default_rng(0)
    n = 5400
    labels = np.arange(n) % 6
    X = 0.75 * rng.standard_normal((6, 100))[labels] + rng.standard_normal((n, 100))
    inputs = noisy_inputs(rng, labels, m=4)
    found = lc.consensus(inputs, 6, X, method="lift_km", rng=0)
    assert found.representation.lift.kind == "nystroem"
    assert found.representation.n_components == 500  # as documented
    assert adjusted_rand_score(labels, found.labels) > 0.98
    inputs = noisy_inputs(rng, labels, m=4)
    fourier = lc.consensus(inputs, 6, X, method="lift_km", lift="fourier", rng=0)
    assert fourier.representation.lift.kind == "fourier"
    assert adjusted_rand_score(labels, fourier.labels) < 0.95


@WORSE
def test_few_points_use_nystroem_landmarks_if_requested():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 90, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, lift=lc.Nystroem(40), rng=0)
    assert found.representation.lift.kind == "nystroem"
    assert found.representation.n_components == 40
    assert lc.consensus(noisy_inputs(rng, labels), 3, X, rng=0).representation.lift.kind == "exact"


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(linkage="average"),
        GaussianMixture(covariance_type="spherical"),
        SpectralClustering(n_init=2),
    ],
    ids=lambda c: type(c).__name__,
)
@WORSE
def test_scikit_learn_clusterers_can_be_the_method(clusterer):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 150, 2, k=3)
    found = lc.consensus(noisy_inputs(rng, labels), 3, X, method=clusterer, rng=0)
    assert found.method == "lift_km"  # which it replaces
    assert adjusted_rand_score(labels, found.labels) > 0.8


@pytest.mark.parametrize("method", [*LIFTED, "lwea", "lwgp", "evidence"])
@WORSE
def test_missing_labels_soft_memberships_and_different_k_are_accepted(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 2, k=3)
    hole = labels.astype(float)
    hole[::3] = np.nan
    finer = labels * 2 + (X[:, 0] > np.median(X[:, 0]))
    soft = 0.8 * np.eye(3)[labels] + 0.2 / 3
    words = np.array(["red", "green", "blue"])[labels]
    found = lc.consensus([hole, finer, soft, words], 3, X, method=method, rng=0)
    assert adjusted_rand_score(labels, found.labels) > 0.8
    assert (found.labels >= 0).all()


@pytest.mark.parametrize("method", LIFTED)
@WORSE
def test_relabelling_and_reordering_hardly_change_the_consensus(method):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 150, 2, k=3)
    inputs = noisy_inputs(rng, labels, share=0.1)
    order = rng.permutation(150)
    found = lc.consensus(inputs, 3, X, method=method, rng=0)
    moved = lc.consensus(
        [np.array(["c", "a", "b"])[p][order] for p in inputs[::-1]],
        3,
        X[order],
        method=method,
        rng=0,
    )
    assert adjusted_rand_score(found.labels[order], moved.labels) > 0.97


@WORSE
def test_label_only_methods_need_no_points():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=100)
    inputs = noisy_inputs(rng, labels)
    found = lc.consensus(inputs, 3, method="lwgp", rng=0)
    assert adjusted_rand_score(labels, found.labels) > 0.9
    assert found.score is None
    assert repr(found) == (
        "Consensus(lwgp of 6 partitions: 3 clusters, mean confidence "
        f"{found.confidence.mean():.2f})"
    )
    with pytest.raises(ValueError, match="predict needs a consensus that was fitted with X"):
        found.predict(np.zeros((1, 2)))
    medoid = lc.consensus(inputs, 3, method="medoid", rng=0, method_options={"measure": "nmi"})
    D = lc.distance_matrix(inputs, measure="nmi")
    np.testing.assert_array_equal(medoid.labels, inputs[D.sum(axis=1).argmin()])


@pytest.mark.parametrize(
    ("method", "rule"),
    [
        ("lift_km", "median/4"),
        ("lift_places", "median/4"),
        ("auto", "median/4"),
        (AgglomerativeClustering(), "median/4"),
    ],
)
@WORSE
def test_default_bandwidth_is_a_quarter_of_the_median_distance(method, rule):
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 60, 2, k=3)
    inputs = noisy_inputs(rng, labels)
    lift = lc.consensus(inputs, 3, X, method=method, rng=0).representation.lift
    assert lift.kernel.bandwidth == pytest.approx(lc.bandwidth(X, rule))
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth="median", rng=0).representation.lift
    assert lift.kernel.bandwidth == pytest.approx(lc.bandwidth(X, "median"))
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth=2.0, rng=0).representation.lift
    assert lift.kernel.bandwidth == 2.0
    several = np.array([1.0, 2.0])
    lift = lc.consensus(inputs, 3, X, method=method, bandwidth=several, rng=0).representation.lift
    assert lift.kernel.bandwidths == (1.0, 2.0)


def test_method_options_are_refused_for_a_clusterer():
    with pytest.raises(ValueError, match="its own settings; got linkage"):
        lc.consensus(
            [[0, 0, 1], [0, 1, 1]],
            2,
            np.eye(3),
            method=AgglomerativeClustering(),
            method_options={"linkage": "single"},
        )


@WORSE
def test_unlabelled_points_are_assigned_by_position():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 200, 2, k=4)
    inputs = np.array(noisy_inputs(rng, labels))
    inputs[:, 190:] = -1
    for method in ("lift_km", "lift_places", "lift_walk"):
        found = lc.consensus(list(inputs), 4, X, method=method, rng=0)
        assert adjusted_rand_score(labels[190:], found.labels[190:]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, X: lc.consensus(p, 2, method="lift_km"), "this needs the points X; .* methods cspa, hgpa, .*medoid$"),
        (lambda p, X: lc.consensus(p, 2, method="lift_places"), "this needs the points X"),
        (lambda p, X: lc.consensus(p, 2, method=AgglomerativeClustering()), "this needs the points X"),
        (lambda p, X: lc.consensus(p, "auto", method="lwgp"), "this needs the points X"),
        (lambda p, X: lc.consensus(p, 0, X), "n_clusters must be at least 1"),
        (lambda p, X: lc.consensus(p, np.array([2, 3]), X), "n_clusters must be an integer"),
        (lambda p, X: lc.consensus(p, "many", X), "n_clusters must be an integer"),
        (lambda p, X: lc.consensus(p, 2, X, method="best"), "method must be one of auto, lift_km"),
        (lambda p, X: lc.consensus(p, 2, X, method="lift_km", method_options={"n_init": 0}), "n_init must be at least 1"),
        (lambda p, X: lc.consensus(p, 2, X, lift=np.array(["auto", "auto"])), "lift must be one of"),
        (lambda p, X: lc.consensus([], 2, X), "no partitions"),
        (lambda p, X: lc.consensus(p, 2, X, method="lift_hac", method_options={"linkage": "centroid"}), "linkage must be"),
        (lambda p, X: lc.base_partitions(X, 100), "n_clusters=100 is more than the 6 points"),
        (lambda p, X: lc.base_partitions(X, 2, "all"), "kind must be one of"),
    ],
)  # fmt: skip
def test_bad_calls_are_refused(call, message):
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], X)


LABEL_METHODS = [m.name for m in lc.METHODS.values() if m.needs in ("labels", "distances")]


@pytest.mark.parametrize("method", LABEL_METHODS)
def test_inputs_without_common_labelled_points_are_refused(method):
    left, right = [0, 0, 1, 1, -1, -1, -1, -1], [-1, -1, -1, -1, 0, 0, 1, 1]
    message = "'left' and 'right' share no labelled point.*give the points X"
    with pytest.raises(ValueError, match=message):
        lc.consensus({"left": left, "right": right}, 2, method=method, rng=0)
    with pytest.raises(ValueError, match=message):  # a point of weight zero is not a common point
        lc.consensus(
            {"left": [0, 0, 1, 1, 1, -1, -1, -1], "right": right},
            2,
            method=method,
            weights=[1, 1, 1, 1, 0, 1, 1, 1],
            rng=0,
        )


@pytest.mark.filterwarnings("ignore:(majority|medoid) chooses")
@pytest.mark.parametrize(
    "method",
    ["cspa", "mcla", "hbgf", "lwea", "lwgp", "evidence", "majority", "ec_cms", "sdgca", "ecpcs_hc",
     "ecpcs_mc", "hyperedge_medoids"],
)  # fmt: skip
def test_disjoint_inputs_are_combined_through_other_inputs(method):
    """Two restrictions of a clustering and the clustering itself determine the consensus."""
    truth = np.repeat([0, 1, 2], [20, 40, 20])
    left, right = np.where(np.arange(80) < 40, truth, -1), np.where(np.arange(80) < 40, -1, truth)
    options = {"partitioner": "spectral"} if method in ("cspa", "mcla", "hbgf") else {}
    options |= {"whole_tuples": True} if lc.METHODS[method].balanced else {}
    found = lc.consensus([left, right, truth], 3, method=method, rng=0, method_options=options)
    assert adjusted_rand_score(found.labels, truth) == 1
    assert found.mean_distance == found.best_input_distance == 0


def test_medoid_of_disjoint_inputs_is_refused():
    inputs = {"a": [0, 0, 1, -1], "b": [-1, -1, -1, 0], "c": [0, 0, 1, 1]}
    with pytest.raises(ValueError, match="medoid compares every two inputs, and 'a' and 'b'"):
        lc.consensus(inputs, 2, method="medoid")


def test_disjoint_inputs_have_a_consensus_with_points():
    inputs = [[0, 0, 1, 1, None, None, None, None], [None, None, None, None, 0, 0, 1, 1]]
    found = lc.consensus(inputs, 2, np.eye(8), method="mcla", rng=0)
    assert found.n_clusters == 2
