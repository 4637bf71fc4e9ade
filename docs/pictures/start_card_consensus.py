"""A small picture of the confidence of a consensus."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import liftcluster as lc

X = load_iris().data
found = lc.consensus(lc.base_partitions(X, 3, rng=0), 3, X, rng=0)

fig, ax = plt.subplots(figsize=(3, 2.1), layout="constrained")
order = np.argsort(-found.confidence, kind="stable")  # the doubtful points on top
dots = ax.scatter(*X[order, 2:].T, c=found.confidence[order], cmap="cividis", vmin=0, vmax=1, s=14)
fig.colorbar(dots, ax=ax, ticks=[0, 0.5, 1])
ax.set_title("confidence of each point", fontsize=11)
ax.set(xticks=[], yticks=[])
plt.show()
