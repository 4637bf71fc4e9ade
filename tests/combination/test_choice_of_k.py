"""The number of clusters of a consensus, chosen by every criterion."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import liftcluster as lc
from liftcluster.combination.choice_of_k import CRITERIA, choose_k
from liftcluster.combination.methods.lifted import (
    group_centres,
    lift_hac,
    lift_ssd,
)
from liftcluster.combination.methods.places import Places
from liftcluster.partitions.stack import Stack
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs


def places_of(X, inputs):
    stack = Stack(dict(enumerate(inputs)))
    return Places.of(stack, X, 1, rng=np.random.default_rng(0))


def test_fewer_clusters_than_requested_warn():
    X, labels = separated_blobs(np.random.default_rng(0), 50, 2, k=3)
    with pytest.warns(UserWarning, match="10 clusters were asked for, but the inputs' 3 clusters"):
        found = lc.consensus([labels], 10, X, method="lift_km", rng=0)
    assert found.n_clusters == 3


def clear_clusters(rng, k, n_each=60):
    labels = np.arange(n_each * k) % k
    return 10 * np.eye(k)[labels] + rng.standard_normal((n_each * k, k)) / 3, labels


@pytest.mark.parametrize("criterion", ["eigengap", "silhouette"])
def test_number_of_well_separated_clusters_is_found(criterion):
    rng = np.random.default_rng(0)
    for k in (2, 3, 5):
        X, labels = clear_clusters(rng, k)
        inputs = [lc.Partition.from_labels(p) for p in noisy_inputs(rng, labels, share=0.05)]
        rep = lc.represent(X, inputs, bandwidth="median/2")
        curve = choose_k(rep, places_of(X, inputs), criterion=criterion)
        assert curve.k == k
        assert len(curve.values) == len(curve.candidates) == len(curve.scores)
        assert (np.diff(curve.scores) <= 1e-12).all()


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_number_of_clusters_is_found_from_finer_inputs(k):
    """Inputs have too many clusters, for which the variance ratio grows with every split."""
    rng = np.random.default_rng(k)
    X, labels = clear_clusters(rng, k)
    inputs = []
    for pieces in (2, 3, 4, 2, 3):
        within = KMeans(k * pieces, n_init=1, random_state=pieces).fit(X).labels_
        inputs.append(lc.Partition.from_labels(labels * 100 + within))
    rep = lc.represent(X, inputs, bandwidth="median/4")
    assert choose_k(rep, places_of(X, inputs)).k == k


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_has_a_curve(criterion):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    parts = [lc.Partition.from_labels(rng.integers(k, size=40)) for k in (3, 2, 3)]
    rep = lc.represent(X, parts, bandwidth=1.0)
    curve = choose_k(rep, places_of(X, parts), criterion=criterion)
    assert np.isfinite(curve.values).all()
    assert curve.candidates.tolist() == [2, 3, 4, 5]
    for k, score in zip(curve.candidates, curve.scores, strict=True):
        assert score == lift_ssd(rep, group_centres(rep, lift_hac(rep, int(k)), int(k)))
    with pytest.raises(ValueError, match="criterion must be one of"):
        choose_k(rep, criterion="best")
    with pytest.raises(ValueError, match="needs the places of the points"):
        choose_k(rep)


def test_eigengap_criterion_is_weighted_by_the_silhouette():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    parts = [lc.Partition.from_labels(rng.integers(k, size=40)) for k in (3, 2, 3)]
    rep = lc.represent(X, parts, bandwidth=1.0)
    places = places_of(X, parts)
    gaps = places.eigengaps(5)
    widths = choose_k(rep, criterion="silhouette").values
    expected = gaps[1:5] * np.maximum(widths, 0)
    np.testing.assert_allclose(choose_k(rep, places).values, expected, rtol=1e-12)


@WORSE
def test_number_of_clusters_is_chosen_from_soft_inputs():
    rng = np.random.default_rng(0)
    X, labels = clear_clusters(rng, 3)
    soft = [0.8 * np.eye(4)[p] + 0.05 for p in noisy_inputs(rng, labels, share=0.05)]
    for lift in ("exact", "nystroem"):
        found = lc.consensus([*soft, labels], "auto", X, lift=lift, rng=0)
        assert found.n_clusters == 3
        assert found.curve.criterion == "eigengap"
        inputs = [lc.Partition.from_memberships(p) for p in soft]
        inputs.append(lc.Partition.from_labels(labels))
        used = found.representation.lift
        how = {"kernel": used.kernel} if lift == "exact" else {"lift": used}
        rep = lc.represent(X, inputs, **how)
        expected = choose_k(rep, places_of(X, inputs))
        np.testing.assert_allclose(found.curve.values, expected.values, rtol=1e-6)


@WORSE
def test_auto_chooses_k_and_plots_its_curve():
    rng = np.random.default_rng(0)
    labels = np.arange(150) % 3
    X = 10 * np.eye(3)[labels] + rng.standard_normal((150, 3)) / 3
    found = lc.consensus(noisy_inputs(rng, labels, share=0.05), "auto", X, rng=0)
    assert found.n_clusters == 3
    import matplotlib

    matplotlib.use("Agg")
    ax = found.curve.plot()
    assert ax.get_xlabel() == "number of clusters"
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("method", ["majority", "medoid"])
def test_method_that_chooses_k_itself_warns_if_k_differs(method):
    X, labels = separated_blobs(np.random.default_rng(0), 60, 2)
    with pytest.warns(
        UserWarning, match=f"{method} chooses the number of clusters itself: 4, not 2"
    ):
        lc.consensus([labels] * 3, 2, X, method=method, rng=0)
    assert lc.consensus([labels] * 3, 4, X, method=method, rng=0).n_clusters == 4


def test_method_that_takes_k_does_not_warn_that_it_chooses_k():
    inputs = [[0, 0, 1, 1], [0, 0, 1, 1]]
    with pytest.warns(UserWarning, match="clusters") as record:
        found = lc.consensus(inputs, 3, method="evidence")
    assert found.n_clusters == 2
    assert ["only 2 groups" in str(warning.message) for warning in record] == [True]
