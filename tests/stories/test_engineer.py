"""An engineer's story: consensus in a pipeline, of a table that need not fit in memory.

All from Python. Every step is checked against the plain call on arrays in memory.
"""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, Birch, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

CENTRES = [[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]]
X, TRUTH = make_blobs(1200, centers=CENTRES, random_state=0)
MODELS = {
    "kmeans": KMeans(4, n_init=1, random_state=0),
    "ward": AgglomerativeClustering(6),
    "birch": Birch(n_clusters=3),
}


@pytest.fixture(scope="module")
def labels():
    """A data frame with a clustering in each column."""
    return pd.DataFrame({name: model.fit_predict(X) for name, model in MODELS.items()})


@pytest.fixture
def stored(tmp_path):
    """The points in a file, read through a memory map."""
    np.save(tmp_path / "points.npy", X)
    return np.load(tmp_path / "points.npy", mmap_mode="r")


def test_the_columns_of_a_data_frame_are_compared_by_name(labels):
    D = lc.distance_matrix(labels, X)
    assert D[0, 1] == pytest.approx(lc.distance(labels["kmeans"], labels["ward"], X), abs=1e-9)
    found = lc.compare(labels["kmeans"], labels["ward"], X)
    answer = json.loads(json.dumps(found.to_dict()))
    assert answer["measures"]["lift_emd"]["value"] == pytest.approx(D[0, 1], abs=1e-9)


def test_clusters_are_lifted_once_stored_and_loaded(labels, stored, tmp_path):
    lift = lc.make_lift(X, lift=lc.Fourier(512), rng=0)
    blocks = (range(start, start + 400) for start in range(0, len(X), 400))
    parts = [lc.represent(stored[rows], labels.iloc[rows], lift=lift) for rows in blocks]
    (parts[0] + parts[1] + parts[2]).save(tmp_path / "clusters.npz")
    loaded = lc.load_representation(tmp_path / "clusters.npz")
    whole = lc.represent(X, labels, lift=lift)
    np.testing.assert_allclose(loaded.distances(), whole.distances(), atol=1e-6)
    np.testing.assert_allclose(
        lc.distance_matrix(loaded), lc.distance_matrix(labels, X, lift=lift), atol=1e-6
    )


def test_a_streamed_consensus_is_that_in_memory(labels, stored, tmp_path):
    options = {"method": "lift_km", "lift": lc.Fourier(512), "rng": 0}
    out = np.lib.format.open_memmap(tmp_path / "labels.npy", "w+", np.int32, (len(X),))
    streamed = lc.consensus(labels, 4, lc.Blocks([stored]), out=out, **options)
    plain = lc.consensus(labels, 4, X, **options)
    assert not streamed.is_in_memory
    assert adjusted_rand_score(plain.labels, out) == 1
    assert adjusted_rand_score(TRUTH, out) > 0.99
    np.testing.assert_allclose(streamed.masses, np.bincount(out) / len(X), atol=1e-9)
    np.testing.assert_allclose(np.sort(streamed.masses), np.sort(plain.masses), atol=1e-6)
    np.testing.assert_allclose(streamed.confidence, plain.confidence, atol=1e-9)
    new = np.array(CENTRES) + 0.5
    assert sorted(streamed.predict(new)) == sorted(plain.predict(new)) == [0, 1, 2, 3]


def test_settings_are_chosen_by_grid_search():
    some, others = X[::5], X[1::5]
    pipe = make_pipeline(StandardScaler(), lc.LiftedConsensus())
    settings = {
        "liftedconsensus__n_clusters": [3, 4, 5],
        "liftedconsensus__method": ["lift_km", "lwgp"],
    }
    search = GridSearchCV(pipe, settings, cv=2).fit(some)
    assert search.best_params_["liftedconsensus__n_clusters"] == 4
    assert adjusted_rand_score(TRUTH[1::5], search.predict(others)) > 0.99
    model = search.best_estimator_[-1]
    scaled = search.best_estimator_[0].transform(others)
    assert search.score(others) == model.score(scaled)
    np.testing.assert_array_equal(search.predict(others), model.consensus_.predict(scaled))
