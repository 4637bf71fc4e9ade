"""Write flowers.csv: the iris data with four clusterings, for the commands of the README.

    python examples/make_flowers.py [FILE]

The default is flowers.csv in the folder of this script.
An empty cell of the column dbscan is noise; p_0, p_1 and p_2 are the memberships
of a Gaussian mixture.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from liftcluster.io import write_columns

X = load_iris().data
names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
kmeans = KMeans(3, n_init=10, random_state=0).fit_predict(X)
ward = np.array(["A", "B", "C", "D"], dtype=object)[AgglomerativeClustering(4).fit_predict(X)]
dbscan = DBSCAN(0.5).fit_predict(X).astype(object)
dbscan[dbscan == -1] = None
memberships = GaussianMixture(3, random_state=0).fit(X).predict_proba(X).round(4)
memberships[:, 0] = (1 - memberships[:, 1:].sum(axis=1)).round(4)

write_columns(
    sys.argv[1] if sys.argv[1:] else Path(__file__).with_name("flowers.csv"),
    {"flower": np.array([f"f{i:03}" for i in range(1, len(X) + 1)])}
    | {name: X[:, j] for j, name in enumerate(names)}
    | {"kmeans": kmeans, "ward": ward, "dbscan": dbscan, "p": memberships},
)
