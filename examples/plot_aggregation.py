"""
Combine clusterings without choosing the number of clusters
===========================================================

Five clusterings of the same points, with four to eight clusters and each wrong in another place.
Aggregation looks for the clustering that disagrees with them on the fewest pairs of points,
whatever its number of clusters, and says how few pairs any clustering could have.
"""

# %%
# The inputs
# ----------
# Six groups, and k-means with one random start each: where there are too few clusters or a bad
# start, groups are joined, and others are cut.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import liftcluster as lc

rng = np.random.default_rng(2)
centres = np.array([[0, 0], [6, 0], [0, 5], [3, 5], [7, 5], [4, -4.5]])
spreads = np.array([[0.6, 0.6], [0.7, 0.7], [0.45, 0.7], [0.45, 0.7], [0.5, 1.1], [1.8, 0.25]])
groups = np.repeat(np.arange(6), 60)
X = centres[groups] + spreads[groups] * rng.normal(size=(360, 2))
inputs = {
    f"k-means, k = {k}": KMeans(k, n_init=1, init="random", random_state=k + 2).fit(X).labels_
    for k in (4, 5, 6, 7, 8)
}


def show(labelled):
    axes = plt.subplots(
        1, len(labelled), figsize=(3 * len(labelled), 3), sharey=True, layout="constrained"
    )[1]
    for ax, (title, labels) in zip(axes, labelled.items(), strict=True):
        ax.scatter(*X.T, c=labels, cmap="tab10", vmax=9, s=8)
        ax.set(title=title, aspect="equal")
        ax.title.set_fontsize(9)
    plt.show()


show(inputs)

# %%
# The fewest disagreements
# ------------------------
# The cost is the number of pairs of points on which the consensus and an input disagree, on average
# over the inputs. No clustering has less than the lower bound, so a ratio near one says that there
# is little left to gain.

results = {}
for method in ["balls", "agglomerative", "furthest", "local_search"]:
    found = lc.consensus(inputs, "auto", method=method)
    cost, bound = found.aggregation.cost, found.aggregation.lower_bound
    print(f"{method}: {found.n_clusters} clusters, {found.aggregation.ratio:.3f} times the bound")
    title = f"{method}: {found.n_clusters} clusters\n{cost:,.0f} pairs, at least {bound:,.0f}"
    results[title] = found.labels
show(results)

# %%
# Centres where the clusters lie
# ------------------------------
# With the points and a number of clusters, ``lift_km`` averages the clusters of the inputs, and
# ``lift_barycentre`` looks for the clusters of the least mean *LiftEMD* to the inputs, which also
# says how much of the points each of them has.

results = {}
for method in ["lift_km", "lift_barycentre"]:
    found = lc.consensus(inputs, 6, X, method=method, rng=0)
    print(found)
    results[f"{method}\nmean LiftEMD to the inputs {found.mean_distance:.4f}"] = found.labels
show(results)
