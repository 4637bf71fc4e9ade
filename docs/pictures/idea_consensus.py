"""Consensus: the cluster vectors of several clusterings, grouped by k-means."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering, KMeans

import liftcluster as lc

COLOURS, MARKERS = np.array(["#0072B2", "#D55E00", "#009E73"]), "o^sx"

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
inputs = {
    "k-means, 2": KMeans(2, n_init=1, random_state=0).fit(X).labels_,
    "k-means, 5": KMeans(5, n_init=1, random_state=0).fit(X).labels_,
    "complete, 3": AgglomerativeClustering(3, linkage="complete").fit(X).labels_,
    "Ward, 4": AgglomerativeClustering(4).fit(X).labels_,
}
found = lc.consensus(inputs, 3, X, method="lift_km", rng=0)
rep, centres = found.representation, found.centres
group = cdist(rep.vectors, centres).argmin(axis=1)  # the consensus cluster of each input cluster

plane = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2][:2]
flat, flat_centres = ((V - centres.mean(axis=0)) @ plane.T for V in (rep.vectors, centres))

fig = plt.figure(figsize=(7, 4.9), layout="constrained")
top, bottom = fig.subfigures(2, 1, height_ratios=(1, 1.7))
for i, (ax, name) in enumerate(zip(top.subplots(1, 4), inputs, strict=True)):
    rows = np.flatnonzero(rep.owner == i)
    for place, row in enumerate(rows):
        same = np.sum(group[rows[:place]] == group[row])  # clusters of one group differ by marker
        members = X[inputs[name] == rep.cluster_names[row]]
        style = {"color": COLOURS[group[row]], "marker": MARKERS[same]}
        ax.scatter(*members.T, s=7, linewidths=0.8, **style)
    ax.set_title(f"{name} clusters", fontsize=9)
    ax.set(xticks=[], yticks=[])
left, right = bottom.subplots(1, 2)
left.scatter(*flat.T, c=COLOURS[group], s=40 + 500 * rep.masses, alpha=0.5, lw=0)
left.scatter(*flat_centres.T, color="black", marker="x", s=60)
left.set_title(f"vectors of the {rep.s} input clusters, 3 centres (×)", fontsize=9)
right.scatter(*X.T, c=COLOURS[found.labels], s=12)
right.set_title("consensus: points at the most similar centre", fontsize=9)
for ax in (left, right):
    ax.set(xticks=[], yticks=[])
left.margins(0.15)
plt.show()
