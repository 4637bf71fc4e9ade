"""Four clusters where there are three groups, and the stability of each."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import liftcluster as lc

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7"])

X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
found = lc.stability(X, KMeans(4, n_init=3, random_state=0), rng=0)

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
labels = found.reference.labels
left.scatter(*X.T, c=COLOURS[labels], s=8)
for cluster in range(4):
    x, y = X[labels == cluster].mean(axis=0)
    box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85}
    left.text(x, y, cluster, fontsize=12, weight="bold", ha="center", va="center", bbox=box)
left.set_title("k-means with one cluster too many", fontsize=10)
left.set(xticks=[], yticks=[])
lc.plot.stability(found, ax=right)
right.set_title("stability of the clusters", fontsize=10)
right.set_xlabel("cluster")
plt.show()
