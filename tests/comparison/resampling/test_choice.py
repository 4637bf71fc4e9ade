"""The choice of a setting by stability."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

import liftcluster as lc
from liftcluster.comparison.resampling.choosing import Choice
from liftcluster.comparison.resampling.outcomes import Outcome
from liftcluster.comparison.resampling.result import Stability

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [7.0, 7.0]])


def blobs(n=240):
    rng = np.random.default_rng(0)
    which = np.arange(n) % 4
    return CENTRES[which] + 0.7 * rng.standard_normal((n, 2)), which


@pytest.mark.parametrize(
    "source",
    [KMeans(n_init=3), lambda X, n_clusters: AgglomerativeClustering(n_clusters).fit(X).labels_],
    ids=["estimator", "function"],
)
def test_the_number_of_blobs_is_chosen(source):
    X, _ = blobs()
    found = lc.choose(X, source, {"n_clusters": range(2, 7)}, n_replicates=8, rng=0)
    assert found.best == {"n_clusters": 4}
    assert found.stability.reference.k == 4
    assert found.curve[2] > 0.95
    assert found.doubt is None
    assert found.curve.shape == (5,)
    low, high = found.intervals.T
    assert (low <= found.curve).all()
    assert (found.curve <= high).all()


@pytest.mark.parametrize("shape", [(200, 2), (400, 2), (200, 8)])
def test_data_without_clusters_are_doubted(shape):
    X = np.random.default_rng(0).uniform(size=shape)
    found = lc.choose(X, KMeans(n_init=3), {"n_clusters": [3, 4]}, rng=0)
    assert "no cluster is more stable than in data without clusters" in found.doubt
    assert str(found).splitlines()[-1] == found.doubt
    assert "there may be none" in found._repr_html_()


def test_all_settings_see_the_same_resamples_and_structureless_data():
    X, _ = blobs(60)
    seen = {2: [], 3: [], 4: []}

    def cluster(Z, n_clusters):
        seen[n_clusters].append(Z.tobytes())
        if n_clusters == 3 and len(seen[3]) > 8:
            return np.zeros(len(Z), dtype=int)  # no clusters in some of the structureless data
        return np.arange(len(Z)) % n_clusters

    lc.choose(X, cluster, {"n_clusters": list(seen)}, n_replicates=4, rng=0)
    assert len(set(seen[2])) == len(seen[2])
    assert seen[2] == seen[4]
    assert set(seen[3]) < set(seen[2])


def test_several_runs_for_each_setting_are_compared_with_each_other():
    X, which = blobs()
    rng = np.random.default_rng(0)

    def runs(k):
        return [KMeans(k, n_init=1, random_state=s).fit(X).labels_ for s in range(6)]

    exact = [rng.permutation(4)[which] for _ in range(6)]
    found = lc.choose(X, {3: runs(3), 4: exact, 6: runs(6)}, rng=0)
    assert found.best == 4
    assert found.curve[1] == pytest.approx(1)


def test_one_run_for_each_setting_is_compared_with_its_neighbours():
    X, which = blobs()
    same = {"a": which, "b": which, "c": np.arange(240) // 20}
    found = lc.choose(X, same, rng=0)
    assert found.best == "a"
    assert [each.n_replicates for each in found.stabilities] == [1, 2, 1]


def fake(value, k=2):
    """A stability whose whole is this, of k clusters, without a null."""
    reference = lc.Partition.from_labels(range(k))
    nothing = np.zeros((1, 2))
    outcome = Outcome(
        nothing, np.array([value]), np.zeros(1), None, np.eye(2), np.ones(2), np.ones(2)
    )
    return Stability(reference, outcome, np.empty(0), 0.0, "")


def test_flat_stretches_are_settings_in_a_row_with_almost_equal_values():
    values = [0.1, 0.5, 0.52, 0.54, 0.9, 0.2, 0.22]
    found = Choice(tuple("abcdefg"), tuple(map(fake, values)))
    assert found.stretches == [["b", "c", "d"], ["f", "g"]]
    assert found.best == "e"


def test_the_finest_of_almost_equal_settings_is_the_best():
    values = [0.9, 0.87, 0.86, 0.84]
    found = Choice(tuple("abcd"), tuple(map(fake, values, [2, 5, 3, 9])))
    assert found.best == "b"


def test_the_choice_shows_itself():
    X, which = blobs()
    found = lc.choose(X, {"a": which, "b": which, "c": np.minimum(which, 2)}, rng=0)
    assert str(found).splitlines()[0].startswith("> a: ")
    assert "<table" in found._repr_html_()
    np.testing.assert_array_equal(found.to_frame()["stability"], found.curve)
    np.testing.assert_allclose(found.plot().lines[0].get_ydata(), found.curve)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: lc.choose(X, KMeans()), "settings must say what to try"),
        (lambda X: lc.choose(X, KMeans(), {"n_clusters": 3}), "must be a sequence"),
        (lambda X: lc.choose(X, KMeans(), {"n_clusters": []}), "no values"),
        (lambda X: lc.choose(X, {"a": [0, 1] * 10}), "at least two runs"),
        (lambda X: lc.choose(X, {"a": [0, 1] * 10}, {"k": [2]}), "cannot apply"),
        (lambda X: lc.choose(X, 3, {"k": [2]}), "clusterer"),
        (lambda X: lc.choose(X, KMeans(), {"k": [2]}), "Invalid parameter"),
    ],
)
def test_invalid_input_gets_one_clear_error(call, message):
    X, _ = blobs(20)
    with pytest.raises((TypeError, ValueError), match=message):
        call(X)
