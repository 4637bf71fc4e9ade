"""
One clustering out of many
==========================

Several clusterings of the same flowers disagree about where one group ends and the next begins. A
consensus says what they agree on, and how sure that is of every flower.
"""

# %%
# Five opinions
# -------------
# k-means and four ways of hierarchical clustering, each asked for three clusters. Single linkage
# is known to chain, and does.

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
# What they agree on
# ------------------
# Their clusters are lifted to vectors and the vectors grouped; each flower goes to the group it is
# most like. The confidence is how far that is ahead of the next best.

found = lc.consensus(inputs, 3, X, rng=0)
print(found)
for j, made_of in enumerate(found.composition):
    mostly = [f"{name}:{cluster}" for name, cluster, share in made_of if share > 0.5]
    print(f"cluster {j}: {', '.join(mostly)}")

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
axes[0].scatter(X[:, 2], X[:, 3], c=found.labels, cmap="viridis", s=20)
axes[0].set(title="consensus", xlabel="petal length (cm)", ylabel="petal width (cm)")
dots = axes[1].scatter(X[:, 2], X[:, 3], c=found.confidence, cmap="cividis", vmin=0, vmax=1, s=20)
axes[1].set(title="confidence", xlabel="petal length (cm)")
fig.colorbar(dots, ax=axes[1])
plt.show()

# %%
# Is it any good?
# ---------------
# The species, which no clustering has seen, are the judge: the adjusted Rand index of every input
# and of the consensus. It is as good as the better inputs without knowing which those are, and it
# is unsure exactly where two species overlap.

for name, partition in [*inputs.items(), ("consensus", found.partition)]:
    print(f"{name:10} {adjusted_rand_score(species, partition.labels):.3f}")
wrong = np.zeros(len(X), dtype=bool)
for j in range(found.n_clusters):
    inside = found.labels == j
    wrong[inside] = species[inside] != np.bincount(species[inside]).argmax()
print(f"mean confidence where it is right {found.confidence[~wrong].mean():.2f}")
print(f"mean confidence where it is wrong {found.confidence[wrong].mean():.2f}")
