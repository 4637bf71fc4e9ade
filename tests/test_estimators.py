"""The scikit-learn estimators: fit, predict, partial_fit, and scikit-learn's own checks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import liftcluster as lc
from support.consensus_cases import WORSE, noisy_inputs, separated_blobs


@WORSE
def test_fit_computes_base_partitions_unless_given():
    X = load_iris().data
    own = lc.LiftedConsensus(3, random_state=0).fit(X)
    inputs = lc.base_partitions(X, 3, "kmeans", rng=0)
    given = lc.LiftedConsensus(3, random_state=0).fit(X, partitions=inputs)
    assert adjusted_rand_score(own.labels_, given.labels_) > 0.7
    assert own.consensus_.method == own.consensus_.decision.method
    km = lc.LiftedConsensus(3, method="lift_km", base="paper", random_state=0).fit(X)
    assert km.consensus_.method == "lift_km"
    np.testing.assert_array_equal(km.predict(X), km.labels_)
    np.testing.assert_allclose(km.predict_proba(X), km.memberships_, atol=1e-12)
    hac = lc.LiftedConsensus(3, method="lift_hac", random_state=0).fit(X)
    assert hac.consensus_.method == "lift_hac"


@WORSE
def test_estimators_work_in_pipelines_clones_and_grid_search():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), lc.LiftedConsensus(3, random_state=0))
    assert adjusted_rand_score(y, pipe.fit_predict(X)) > 0.4
    assert clone(pipe)[-1].get_params()["n_clusters"] == 3
    search = GridSearchCV(
        lc.LiftedConsensus(3, random_state=0),
        {"method": ["auto", "lift_km", "lift_hac"]},
        scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
        cv=2,
    ).fit(X[::2], y[::2])
    assert search.best_score_ > 0.3


PACKAGES = dict.fromkeys(["mcla", "cspa", "hgpa", "hbgf"], ("pymetis", "mtkahypar"))


@WORSE
@pytest.mark.filterwarnings("ignore:.* chooses the number of clusters itself")
@pytest.mark.parametrize("method", lc.METHODS)
def test_every_method_fits_predicts_and_scores(method):
    for package in PACKAGES.get(method, ()):
        pytest.importorskip(package)
    X, which = separated_blobs(np.random.default_rng(0), 90, 2, k=3)
    inputs = [p[:60] for p in noisy_inputs(np.random.default_rng(1), which, share=0.1)]
    model = clone(lc.LiftedConsensus(3, method=method)).fit(X[:60], partitions=inputs)
    expected = lc.consensus(inputs, 3, X[:60], method=method)
    assert model.consensus_.method == expected.method
    assert adjusted_rand_score(expected.labels, model.labels_) == 1
    assert model.n_clusters_ == len(set(model.labels_)) == len(model.centres_)
    assert adjusted_rand_score(which[60:], model.predict(X[60:])) == 1
    assert model.predict_proba(X[60:]).shape == (30, model.n_clusters_)
    assert 0.3 < model.score(X[60:]) < 1


def test_methods_that_choose_the_number_of_clusters_are_left_to_it():
    X, which = separated_blobs(np.random.default_rng(0), 90, 2, k=3)
    for method in ("majority", "local_search", "lift_km"):
        found = lc.LiftedConsensus("auto", method=method).fit(X, partitions=[which] * 3)
        assert found.n_clusters_ == 3
    assert lc.LiftedConsensus("auto").fit(X).n_clusters_ == 3
    with pytest.raises(ValueError, match="give a number"):
        lc.LiftedConsensus("auto", base="paper").fit(X)


def test_method_options_are_those_of_the_method():
    X, which = separated_blobs(np.random.default_rng(0), 60, 2, k=3)
    model = lc.LiftedConsensus(3, method="medoid", method_options={"measure": "vi"})
    assert model.fit(X, partitions=[which, which, which % 2]).labels_.max() == 2
    with pytest.raises(ValueError, match="measure"):
        lc.LiftedConsensus(3, method="lift_km", method_options={"measure": "vi"}).fit(X)


def silhouettes(kernel, X, labels, Y):
    """Simplified silhouettes of points Y by the definition: clusters of X as sums of kernels."""
    found = []
    for y in Y:
        distances, scores = [], []
        for c in np.unique(labels):
            own = X[labels == c]
            score = kernel(y[None], own).sum() / np.sqrt(kernel(own, own).sum())
            scores.append(score)
            distances.append(np.sqrt(2 - 2 * score))
        a, b = distances.pop(int(np.argmax(scores))), min(distances)
        found.append((b - a) / max(a, b))
    return np.array(found)


def test_score_is_the_mean_silhouette_of_held_out_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = lc.LiftedConsensus(4, method="lwgp", bandwidth=0.7, lift="exact").fit(X[:40])
    expected = silhouettes(lc.Gaussian(0.7), X[:40], model.labels_, X[40:])
    assert model.score(X[40:]) == pytest.approx(expected.mean(), abs=1e-6)
    assert model.score(X[40:], y=np.zeros(20)) == model.score(X[40:])
    blocks = lc.Blocks([X[40:50], X[50:]])
    assert model.score(blocks) == pytest.approx(expected.mean(), abs=1e-6)
    assert lc.LiftedConsensus(1).fit(X).score(X) == 0


def test_score_finds_the_number_of_clusters_by_cross_validation():
    X, _ = separated_blobs(np.random.default_rng(0), 120, 2, k=3)
    grid = {"n_clusters": [2, 3, 4], "method": ["lift_km", "lwgp"]}
    search = GridSearchCV(lc.LiftedConsensus(), grid, cv=2, error_score="raise").fit(X)
    assert search.best_params_["n_clusters"] == 3
    piped = make_pipeline(StandardScaler(), lc.LiftedConsensus(method="lift_hac"))
    scores = {
        k: cross_val_score(piped.set_params(liftedconsensus__n_clusters=k), X, cv=2).mean()
        for k in (2, 3, 4)
    }
    assert max(scores, key=scores.get) == 3


@WORSE
def test_grid_search_passes_each_fold_its_rows_of_given_labels():
    rng = np.random.default_rng(0)
    X, which = separated_blobs(rng, 90, 2, k=3)
    given = pd.DataFrame(dict(zip("abcde", noisy_inputs(rng, which), strict=False)))
    search = GridSearchCV(lc.LiftedConsensus(), {"n_clusters": [2, 3, 4]}, cv=2)
    search.fit(X, partitions=given)
    assert search.best_params_ == {"n_clusters": 3}
    assert list(search.best_estimator_.consensus_.inputs) == list("abcde")
    by_class = cross_val_score(lc.LiftedConsensus(3), X, which, scoring="adjusted_rand_score", cv=2)
    assert by_class.min() == 1


@WORSE
def test_partial_fit_accepts_blocks_with_and_without_partitions():
    rng = np.random.default_rng(0)
    X, labels = separated_blobs(rng, 300, 2, k=3)
    inputs = noisy_inputs(rng, labels)
    model = lc.LiftedConsensus(3, random_state=0)
    for rows in (slice(0, 100), slice(100, 200), slice(200, 300)):
        model.partial_fit(X[rows], partitions=[p[rows] for p in inputs])
    assert adjusted_rand_score(labels, model.predict(X)) > 0.8
    own = lc.LiftedConsensus(3, base="paper", random_state=0)
    for rows in (slice(0, 150), slice(150, 300)):
        own.partial_fit(X[rows])
    assert adjusted_rand_score(labels, own.predict(X)) > 0.8
    assert own.consensus_.representation.s == 30  # two blocks of five partitions of three


def test_methods_that_need_all_labels_have_no_partial_fit():
    assert hasattr(lc.LiftedConsensus(method=KMeans()), "partial_fit")
    assert hasattr(lc.LiftedConsensus(method="lift_barycentre"), "partial_fit")
    for method in ("lwgp", "lift_places", "medoid"):
        with pytest.raises(AttributeError, match="partial_fit") as refused:
            lc.LiftedConsensus(method=method).partial_fit(np.eye(3))
        assert "labels of all points at once" in str(refused.value.__cause__)


@WORSE
def test_cluster_lifter_approximates_the_kernel():
    X, _ = separated_blobs(np.random.default_rng(0), 50, 3)
    lifter = lc.ClusterLifter(4000, bandwidth=2.0, random_state=0).fit(X)
    Z = lifter.transform(X)
    np.testing.assert_allclose(Z @ Z.T, lc.Gaussian(2.0)(X, X), atol=0.1)
    lifter.set_output(transform="pandas")
    assert list(lifter.transform(X).columns[:2]) == ["clusterlifter0", "clusterlifter1"]


def test_neighbour_cut_follows_shapes_that_k_means_cuts_across():
    X, which = make_moons(300, noise=0.05, random_state=0)
    found = lc.NeighbourCut(2, random_state=0).fit_predict(X)
    assert adjusted_rand_score(which, found) == 1
    assert adjusted_rand_score(which, KMeans(2, random_state=0, n_init=3).fit_predict(X)) < 0.5


def test_neighbour_cut_gives_more_points_than_landmarks_to_their_clusters():
    X, which = make_circles(6000, noise=0.03, factor=0.5, random_state=0)
    found = lc.NeighbourCut(2, random_state=0).fit_predict(X)
    assert adjusted_rand_score(which, found) > 0.99


@WORSE
@parametrize_with_checks(
    [
        lc.LiftedConsensus(n_clusters=3),
        lc.LiftedConsensus(n_clusters=2, method="lift_hac"),
        lc.LiftedConsensus(n_clusters=3, method="lwgp"),
        lc.NeighbourCut(n_clusters=3),
        lc.ClusterLifter(),
        lc.ClusterLifter(1),
        lc.ClusterLifter(lift="nystroem"),
    ]
)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@WORSE
def test_settings_of_a_lift_are_a_parameter_like_others():
    X, _ = separated_blobs(np.random.default_rng(0), 60, 2)
    model = clone(lc.LiftedConsensus(3, lift=lc.Nystroem(20), random_state=0))
    assert model.get_params()["lift"] == lc.Nystroem(20)
    assert model.fit(X).consensus_.representation.n_components == 20
    precise = lc.LiftedConsensus(3, lift=lc.Fourier(tol=0.05), random_state=0).fit(X)
    assert precise.consensus_.representation.max_error <= 0.05
    mmd = clone(lc.MaxMMDClustering(3, lift=lc.Fourier(64, sampling="iid"), random_state=0)).fit(X)
    assert (mmd.lift_.n_components, mmd.lift_.sampling) == (64, "iid")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lc.ClusterLifter(lift="nystrom"), "did you mean 'nystroem'"),
        (lc.ClusterLifter(lift="nystroem", sampling="iid"), "sampling is how .* leave it out"),
        (lc.MaxMMDClustering(2, lift=lc.Fourier(tol=0.1)), "give n_components here"),
        (lc.MaxMMDClustering(2, lift="fuorier"), "did you mean 'fourier'"),
        (lc.MaxMMDClustering(2, kernel="laplace", lift="grid"), "needs the Gaussian kernel"),
        (lc.LiftedConsensus(2, kernel="discrete", bandwidth=2.0), "has no bandwidth"),
        (lc.LiftedConsensus(2, lift="nystrom"), "did you mean 'nystroem'"),
    ],
)
def test_settings_that_cannot_apply_are_refused_by_fit(model, says):
    with pytest.raises(ValueError, match=says):
        model.fit(np.eye(4))


def test_estimators_refuse_masked_arrays():
    X = np.ma.array(np.eye(3), mask=np.eye(3) > 0)
    for made in (lc.LiftedConsensus(2), lc.MaxMMDClustering(2), lc.ClusterLifter(2)):
        with pytest.raises(ValueError, match="masked"):
            made.fit(X)
    weights = np.ma.array(np.ones(3), mask=[0, 0, 1])
    with pytest.raises(ValueError, match="masked"):
        lc.MaxMMDClustering(2).fit(np.eye(3), sample_weight=weights)
