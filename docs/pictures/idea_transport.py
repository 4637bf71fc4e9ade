"""LiftEMD as a transport problem: masses, distances between clusters, and the plan."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

COLOURS = {"a": "#0072B2", "b": "#D55E00", "c": "#009E73"}
COLOURS |= {"u": "#0072B2", "v": "#CC79A7", "w": "#D55E00"}

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
first = np.where(X[:, 0] < 2, "a", np.where(X[:, 1] > -0.3, "b", "c"))
second = np.where(X[:, 0] < 0.5, "u", np.where(X[:, 0] < 2, "v", "w"))
found = lc.compare(first, second, X, measures=["lift_emd"], names=("first", "second"))

fig, axes = plt.subplots(2, 2, figsize=(7, 5.4), layout="constrained")
for ax, labels, name in zip(axes[0], (first, second), found.names, strict=True):
    for cluster in np.unique(labels):
        members, colour = X[labels == cluster], COLOURS[cluster]
        ax.scatter(*members.T, color=colour, s=12)
        y = members[:, 1].min() - 0.5 if cluster == "c" else members[:, 1].max() + 0.5
        text = f"{cluster}: {np.mean(labels == cluster):.0%}"
        ax.text(members[:, 0].mean(), y, text, color=colour, ha="center", va="center")
    ax.set_title(f"{name} clustering, with masses", fontsize=10)
    ax.set(xticks=[], yticks=[], ylim=(-3.6, 3.4))

parts = ("distances between the clusters", found.cluster_distances), ("plan: mass", found.plan)
for ax, (title, values) in zip(axes[1], parts, strict=True):
    image = ax.imshow(values, cmap="cividis_r", vmin=0, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        dark = value > values.max() / 2
        text = f"{value:.2f}" if ax is axes[1, 0] else f"{value:.1%}"
        colour = "white" if dark else "black"
        ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=11)
    ax.set_xticks(range(3), found.partitions[1].names)
    ax.set_yticks(range(3), found.partitions[0].names)
    ax.set_title(title, fontsize=10)
    ax.set(xlabel="clusters of second", ylabel="clusters of first")
fig.suptitle(f"LiftEMD = sum of mass × distance = {found['lift_emd'].value:.3f}", fontsize=11)
plt.show()
