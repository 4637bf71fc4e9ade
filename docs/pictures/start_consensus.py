"""A consensus of five clusterings of irises, and the confidence of each point."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import liftcluster as lc

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73"])

X = load_iris().data
inputs = lc.base_partitions(X, 3, rng=0)
found = lc.consensus(inputs, 3, X, rng=0)

fig, axes = plt.subplots(1, 2, figsize=(7, 3), sharey=True, layout="constrained")
axes[0].scatter(*X[:, 2:].T, c=COLOURS[found.labels], s=14)
axes[0].set_title("consensus", fontsize=10)
order = np.argsort(-found.confidence, kind="stable")  # the doubtful points on top
values = found.confidence[order]
dots = axes[1].scatter(*X[order, 2:].T, c=values, cmap="cividis", vmin=0, vmax=1, s=14)
axes[1].set_title("confidence", fontsize=10)
fig.colorbar(dots, ax=axes[1], label="share of inputs that agree")
axes[0].set_ylabel("petal width (cm)")
for ax in axes:
    ax.set_xlabel("petal length (cm)")
plt.show()
