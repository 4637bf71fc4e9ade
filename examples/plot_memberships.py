"""
Which points belong firmly to their cluster?
============================================

A clustering gives every point a label, also those between two clusters. The affinity of a point is
the share of space that it would take from each cluster if it were a cluster of its own; below one
half for its own cluster, the label is doubtful.
"""

# %%
# Affinities in the plane
# -----------------------
# Three groups of points, clustered by k-means. Affinities fall from one to one half towards the
# boundaries.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import FunctionTransformer

import liftcluster as lc

rng = np.random.default_rng(0)
X = np.repeat([[0, 0], [3, 0], [1, 3]], 60, axis=0) + rng.normal(size=(180, 2))
labels = KMeans(3, n_init=5, random_state=0).fit(X).labels_
found = lc.affinities(X, labels, lift=FunctionTransformer(), rng=0)  # without a kernel
print(found)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
lc.plot.points(X, labels, label="k-means", ax=axes[0])
lc.plot.points(X, found.own, label="affinity to its own cluster", ax=axes[1])
plt.show()

# %%
# Where labels are wrong
# ----------------------
# Handwritten digits, clustered by k-means. The digit that most images of a cluster show is wrong
# more often for images with a small affinity, though the affinities have seen no digits.

digits = load_digits()
labels = KMeans(10, n_init=5, random_state=0).fit(digits.data).labels_
own = lc.affinities(digits.data, labels, rng=0).own
shown = np.array([np.bincount(digits.target[labels == c]).argmax() for c in range(10)])
wrong = shown[labels] != digits.target
for low, high in [(0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)]:
    inside = (own >= low) & (own < high)
    share = f"{wrong[inside].mean():.0%} wrong"
    print(f"affinity {low:.1f} to {min(high, 1):.1f}: {inside.sum():4} images, {share}")
