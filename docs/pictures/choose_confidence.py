"""Labels, confidence, margin and overruled points of one consensus."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import liftcluster as lc
from liftcluster.viz.drawing import COLOURS

X, _ = make_moons(400, noise=0.07, random_state=0)
inputs = [KMeans(2 + i % 3, n_init=1, random_state=i).fit(X).labels_ for i in range(9)]
found = lc.consensus(inputs, 2, X, rng=0)

figure, axes = plt.subplots(2, 2, figsize=(6, 5), sharex=True, sharey=True, layout="constrained")
axes[0, 0].scatter(*X.T, s=8, color=np.array(COLOURS)[inputs[0]], linewidths=0)
axes[0, 0].set_title("one of nine inputs")
axes[0, 1].scatter(*X.T, s=8, color=np.array(COLOURS)[found.labels], linewidths=0)
axes[0, 1].scatter(
    *X[found.overruled].T, s=18, facecolors="none", edgecolors="black", linewidths=0.7
)
axes[0, 1].set_title(f"consensus, {len(found.overruled)} overruled")
for ax, values, title in (
    (axes[1, 0], found.confidence, "confidence"),
    (axes[1, 1], found.margin, "margin"),
):
    drawn = ax.scatter(*X.T, s=8, c=values, cmap="cividis", vmin=0, vmax=1, linewidths=0)
    ax.set_title(f"{title}, mean {values.mean():.2f}")
figure.colorbar(drawn, ax=axes[1, :], location="bottom", shrink=0.6, aspect=30)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
plt.show()
