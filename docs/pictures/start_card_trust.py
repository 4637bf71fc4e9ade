"""A small picture of the stability of clusters."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import liftcluster as lc

X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
found = lc.stability(X, KMeans(4, n_init=3, random_state=0), rng=0)
values = np.sort(found.clusters)[::-1]

fig, ax = plt.subplots(figsize=(3, 2.1), layout="constrained")
ax.bar(range(len(values)), values, color=np.where(values >= 0.5, "#0072B2", "#D55E00"), width=0.6)
ax.axhline(0, color="black", lw=0.8)
ax.axhline(0.5, color="#5a6270", lw=0.8, ls="--")
ax.set_title("stability of four clusters", fontsize=11)
ax.set(xticks=[], yticks=[0, 0.5, 1], ylim=(min(-0.05, values.min()), 1.05))
plt.show()
