"""
Combine several clusterings into one
====================================

Several clusterings of the iris data disagree about the boundaries between clusters. A consensus
combines them, with a confidence for every point.
"""

# %%
# Five input clusterings
# ----------------------
# k-means and hierarchical clustering with four linkages, each with three clusters. Single linkage
# produces chains, as is well known.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc

X, species = load_iris(return_X_y=True)
names = ["k-means", "single", "average", "complete", "Ward"]
inputs = dict(zip(names, lc.base_partitions(X, 3, rng=0), strict=True))
D = lc.distance_matrix(inputs, X)

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
image = ax.imshow(D, cmap="cividis")
ax.set_xticks(range(5), names, rotation=30)
ax.set_yticks(range(5), names)
for i, j in np.ndindex(5, 5):
    colour = "black" if D[i, j] > D.max() / 2 else "white"
    ax.text(j, i, f"{D[i, j]:.2f}", ha="center", va="center", color=colour)
fig.colorbar(image, label="LiftEMD")
plt.show()

# %%
# The consensus
# -------------
# The confidence of a point is the share of the inputs whose cluster there lies mostly in its
# consensus cluster. The margin says how far its membership is ahead of the next best.

found = lc.consensus(inputs, 3, X, rng=0)
print(found)
for j, parts in enumerate(found.composition):
    mostly = [f"{name}:{cluster}" for name, cluster, share in parts if share > 0.5]
    print(f"cluster {j}: {', '.join(mostly)}")

fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
axes[0].scatter(X[:, 2], X[:, 3], c=found.labels, cmap="viridis", s=20)
axes[0].set(title="consensus", xlabel="petal length (cm)", ylabel="petal width (cm)")
for ax, name in zip(axes[1:], ("confidence", "margin"), strict=True):
    values = getattr(found, name)
    dots = ax.scatter(X[:, 2], X[:, 3], c=values, cmap="cividis", vmin=0, vmax=1, s=20)
    ax.set(title=name, xlabel="petal length (cm)")
fig.colorbar(dots, ax=axes)
plt.show()

# %%
# Comparison with the species
# ---------------------------
# The adjusted Rand index to the species, which no method has seen, for every input and the
# consensus. The consensus is as good as the better inputs without knowing which those are. Where
# two species overlap all inputs agree on the wrong one: confidence is agreement, not truth, and
# only the margin is lower there.

for name, partition in [*inputs.items(), ("consensus", found.partition)]:
    print(f"{name:10} {adjusted_rand_score(species, partition.labels):.3f}")
wrong = np.zeros(len(X), dtype=bool)
for j in range(found.n_clusters):
    inside = found.labels == j
    wrong[inside] = species[inside] != np.bincount(species[inside]).argmax()
for name in ("confidence", "margin"):
    values = getattr(found, name)
    right, false = values[~wrong].mean(), values[wrong].mean()
    print(f"mean {name} of correct points {right:.2f}, of wrong ones {false:.2f}")
