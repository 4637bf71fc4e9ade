"""
Find several good clusterings of the same points
================================================

Four groups at the corners of a square can be divided in two by a vertical or by a horizontal line,
and both are equally good. Partitions are drawn in proportion to their quality, and a few of them
stand for all. Shown one clustering, ``alternative`` finds another that is as good.
"""

# %%
# Partitions drawn at random
# --------------------------
# ``sample_partitions`` draws partitions with Gibbs sampling, good ones more often than others. A
# chain rarely crosses from one way of dividing the square to the other, so there are several.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc

rng = np.random.default_rng(4)
corners = np.array([[0, 0], [4, 0], [0, 4], [4, 4]])
X = np.repeat(corners, 25, axis=0) + 0.7 * rng.normal(size=(100, 2))
draws = [p for seed in range(8) for p in lc.sample_partitions(X, 2, 10, rng=seed)]
quality = lc.mmd_objective(lc.represent(X, draws))
print(f"{len(draws)} partitions, quality {quality.min():.3f} to {quality.max():.3f}")

# %%
# A few that stand for all
# ------------------------
# Each partition that is chosen is the farthest from those before it. The radius is the largest
# distance of any partition to the nearest one chosen; no other choice could make it half as large.

found = lc.diverse_subset(draws, 2, X)
print(found)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
found.plot(ax=axes[0])
for ax, i in zip(axes[1:], found.positions, strict=True):
    ax.scatter(*X.T, c=draws[i].labels, cmap="viridis", s=15)
    ax.set(title=f"partition {i}", aspect="equal")
plt.show()

# %%
# The other clustering
# --------------------
# Images of bars and crosses in three colours can be grouped by shape or by colour. k-means finds
# one of the two. Shown this one, ``alternative`` looks for a clustering that is good as well, and
# far away; its curve says how much quality each step away costs.

y, x = np.mgrid[:9, :9] - 4
shapes = np.array([abs(x) <= 1, abs(y) <= 1, abs(abs(x) - abs(y)) <= 0], dtype=float)
colours = np.array([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]])
shape, colour = rng.integers(3, size=(2, 200))
images = np.einsum("nij,nc->nijc", shapes[shape], colours[colour])
images = np.clip(images + rng.normal(0, 0.15, images.shape), 0, 1)
Y = images.reshape(200, -1)

other = lc.alternative(Y, shape, 3, rng=0)
print(other)
print(f"adjusted Rand index to the colours: {adjusted_rand_score(colour, other.labels):.2f}")

fig = plt.figure(figsize=(9, 3.2), layout="constrained")
left, right = fig.subfigures(1, 2)
other.plot(ax=left.subplots())
for row, axes in enumerate(right.subplots(3, 6)):
    for ax, image in zip(axes, images[other.labels == row], strict=False):
        ax.imshow(image)
        ax.axis("off")
plt.show()
