"""How many clusters: stability of k-means, and the eigengap of a consensus."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import liftcluster as lc

rng = np.random.default_rng(0)
large = 14 * np.array([[0, 0], [1, 0], [0.5, 0.9]])
small = 3.5 * np.array([[0, 0], [1, 0], [0.5, 0.9]])
centres = (large[:, None] + small).reshape(-1, 2)
X = np.repeat(centres, 30, axis=0) + 0.6 * rng.standard_normal((270, 2))
tried = range(2, 13)
choice = lc.choose(X, KMeans(n_init=3), {"n_clusters": tried}, rng=0)
inputs = [KMeans(int(k), n_init=1, random_state=i).fit(X).labels_ for i, k in enumerate(tried)]
curve = lc.consensus(inputs, "auto", X, rng=0).curve

figure, axes = plt.subplots(3, 1, figsize=(5.4, 7.4), layout="constrained", height_ratios=(2, 1, 1))
axes[0].scatter(*X.T, s=8, linewidths=0)
axes[0].set(title="three groups of three", aspect="equal", xticks=[], yticks=[])
axes[1].errorbar(tried, choice.curve, np.abs(choice.intervals.T - choice.curve), fmt="o-", ms=4)
axes[1].set(title="choose: stability of k-means", ylabel="stability")
axes[2].plot(curve.candidates, curve.values, "o-", ms=4)
axes[2].set(title='consensus, n_clusters="auto"', ylabel="eigengap", xlabel="number of clusters")
for ax in axes[1:]:
    ax.set(xlim=(1.5, 14.5), xticks=range(2, 15))
plt.show()
