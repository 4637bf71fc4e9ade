"""
Which points do two clusterings treat differently?
==================================================

A distance between clusterings is one number. Element-centric similarity has one for each point:
how much the clusters around it are the same, from 1 where both clusterings surround it with the
same points.
"""

# %%
# Two clusterings that differ on one side
# ---------------------------------------
# Both have four clusters. They agree on the left, and on the right one of them cuts a group in two
# and joins another to its neighbour.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import liftcluster as lc

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [0, 4], [6, 0], [6, 4]])
groups = np.repeat(np.arange(4), 60)
X = centres[groups] + 0.9 * rng.normal(size=(240, 2))
a = groups
b = np.where(groups == 3, 2, groups)  # the two groups on the right are joined ...
b[(groups == 2) & (X[:, 0] > 6)] = 3  # ... but for half of the lower one
own = lc.compare(a, b, X).element_similarity
distance = lc.distance(a, b, measure="element_centric")
print(f"mean of the points {own.mean():.3f}, distance {distance:.3f}")

fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
lc.plot.points(X, a, label="one clustering", ax=axes[0])
lc.plot.points(X, b, label="another", ax=axes[1])
lc.plot.points(X, own, label="element-centric similarity", ax=axes[2])
plt.show()

# %%
# Which images move between two runs
# ----------------------------------
# k-means of handwritten digits from two random starts. The mean similarity of the images of each
# digit says which digits a second run would group with others.

digits = load_digits()
first, second = (
    KMeans(10, n_init=1, random_state=seed).fit(digits.data).labels_ for seed in (0, 3)
)
own = lc.compare(first, second, digits.data).element_similarity
means = np.array([own[digits.target == digit].mean() for digit in range(10)])
for digit in np.argsort(means):
    print(f"digit {digit}: {means[digit]:.2f}")

fig, axes = plt.subplots(2, 8, figsize=(8, 2.4), layout="constrained")
for row, order in zip(axes, (np.argsort(own), np.argsort(-own)), strict=True):
    for ax, i in zip(row, order, strict=False):
        ax.imshow(digits.images[i], cmap="gray_r")
        ax.set_title(f"{own[i]:.2f}", fontsize=8)
        ax.axis("off")
plt.show()
