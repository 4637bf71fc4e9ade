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
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

rng = np.random.default_rng(0)
groups = np.array([[0, 0], [7, 0], [3, 6]])[rng.integers(3, size=400)] + rng.normal(size=(400, 2))
cloud = rng.uniform([-3, -3], [10, 9], size=(400, 2))
samples = {"three groups": groups, "no groups": cloud}
kmeans = KMeans(4, n_init=5, random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="compressed")
for ax, (name, X) in zip(axes, samples.items(), strict=True):
    lc.plot.points(X, kmeans.fit(X).labels_, label=name, ax=ax)
plt.show()

# %%
# Being found again is not enough
# -------------------------------
# From other random starts, and in halves of the points, the clusters of the data *without* groups
# are found again best: k-means cuts a square into its quarters every time. ``stability`` therefore
# also clusters data of the same extent without clusters, and what these reach counts as 0. Then no
# cluster of the cloud is stable.

found = {}
for name, X in samples.items():
    by_seeds = lc.stability(X, kmeans, resample="seeds", rng=0)
    found[name] = lc.stability(X, kmeans, rng=0)  # halves, and data without clusters
    print(f"{name}:")
    print(f"  found again from other starts {by_seeds.score:.2f}", end=", ")
    print(f"in halves {found[name].outcome.whole.mean():.2f}")
    print(f"  {found[name].summary()[1]}")

# %%
# Cluster by cluster
# ------------------
# One of the three groups was cut in two. These two clusters are unstable, since other samples cut
# the group elsewhere; the other two are stable. The same holds for the points.

print(found["three groups"])

fig, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
found["three groups"].plot(ax=axes[0])
lc.plot.points(groups, found["three groups"].points, label="stability of the points", ax=axes[1])
plt.show()

# %%
# How many clusters?
# ------------------
# ``choose`` compares numbers of clusters. It answers which number is best, *if there are clusters*;
# for the cloud it names the quarters of the square. Whether there are any is what the clusters of
# the best number say: all three are stable, or none is, of which ``doubt`` warns.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
for ax, (name, X) in zip(axes, samples.items(), strict=True):
    choice = lc.choose(X, KMeans(n_init=3), {"n_clusters": range(2, 7)}, rng=0)
    print(f"{name}: best {choice.best}; {choice.stability.summary()[1]}")
    print(f"  doubt: {choice.doubt}")
    choice.plot(ax=ax)
    ax.set_title(name)
plt.show()

# %%
# Real data
# ---------
# Chemical analyses of 178 wines of three cultivars, in 13 dimensions, where no picture helps.

data = load_wine()
wine = StandardScaler().fit_transform(data.data)
choice = lc.choose(wine, KMeans(n_init=3), {"n_clusters": range(2, 7)}, rng=0)
print(choice)
print(choice.stability)
index = adjusted_rand_score(data.target, choice.stability.reference.labels)
print(f"adjusted Rand index to the cultivars: {index:.2f}")

# %%
# Three clusters are best, and they are almost the cultivars. The whole is stable. One cluster is
# only doubtful: some halves of so few wines draw its boundaries elsewhere.
