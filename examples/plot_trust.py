"""
Can I trust these clusters?
===========================

k-means returns as many clusters as it is asked for, also for data that have none. Whether they are
real is a question of its own: would another sample of the same population have them too?
"""

# %%
# The same picture twice
# ----------------------
# Two data sets, each cut into four by k-means: one with three groups, and one without any.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

rng = np.random.default_rng(0)
groups = np.array([[0, 0], [7, 0], [3, 6]])[rng.integers(3, size=400)] + rng.normal(size=(400, 2))
cloud = rng.uniform([-3, -3], [10, 9], size=(400, 2))
samples = {"three groups": groups, "no groups": cloud}
kmeans = KMeans(4, n_init=5, random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (name, X) in zip(axes, samples.items(), strict=True):
    lc.plot.points(X, kmeans.fit(X).labels_, label=name, ax=ax)
    ax.set_aspect("equal")
plt.show()

# %%
# Other seeds say nothing
# -----------------------
# A good algorithm finds the same clusters from every start, on any data. So do halves of the points
# alone: the quarters of a square are found again. ``stability`` therefore also clusters data of the
# same extent without clusters, and what these reach counts as 0.

for name, X in samples.items():
    by_seeds = lc.stability(X, kmeans, resample="seeds", rng=0)
    by_halves = lc.stability(X, kmeans, rng=0)
    print(f"{name}: by seeds {by_seeds.score:.2f}, by halves", end=" ")
    print(f"{by_halves.outcome.whole.mean():.2f}, above data without clusters {by_halves.score:.2f}")

# %%
# Cluster by cluster
# ------------------
# One of the three groups was cut in two. The two halves are unstable, since another sample cuts
# the group elsewhere; the other two clusters are stable. The points that change sides lie along
# the cut.

found = lc.stability(groups, kmeans, rng=0)
print(found)

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
found.plot(ax=axes[0])
lc.plot.points(groups, found.points, label="stability of the points", ax=axes[1])
axes[1].set_aspect("equal")
plt.show()

# %%
# How many clusters?
# ------------------
# ``choose`` does this for several numbers of clusters. The curve of the data with three groups has
# its peak there; that of the cloud stays near 0, which is the answer: no number is right.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
for ax, (name, X) in zip(axes, samples.items(), strict=True):
    choice = lc.choose(X, KMeans(n_init=3), {"n_clusters": range(2, 8)}, rng=0)
    print(f"{name}: best {choice.best}, {choice.curve.max():.2f}")
    choice.plot(ax=ax)
    ax.set_title(name)
plt.show()

# %%
# Real data
# ---------
# Chemical analyses of 178 wines of three cultivars, in 13 dimensions, where no picture helps.

wine = StandardScaler().fit_transform(load_wine().data)
choice = lc.choose(wine, KMeans(n_init=3), {"n_clusters": range(2, 8)}, rng=0)
print(choice)
print(choice.stability)

# %%
# TODO
