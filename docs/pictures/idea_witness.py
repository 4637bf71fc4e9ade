"""Where two clusterings differ: the witness of two clusters, and of the whole clusterings."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
first = np.where(X[:, 0] < 2, "a", np.where(X[:, 1] > -0.3, "b", "c"))
second = np.where(X[:, 0] < 0.5, "u", np.where(X[:, 0] < 2, "v", "w"))
found = lc.compare(first, second, X, measures=["lift_emd"], bandwidth="median/2")

gx, gy = np.meshgrid(np.linspace(-2.6, 5.8, 120), np.linspace(-3.2, 3, 100))
grid = np.column_stack([gx.ravel(), gy.ravel()])
of_pair = found.witness(grid, cluster="b", other="w").reshape(gx.shape)
of_all = found.witness(grid).reshape(gx.shape)

fig, axes = plt.subplots(1, 2, figsize=(7, 2.9), sharex=True, sharey=True, layout="constrained")
most = np.abs(of_pair).max()
drawn = axes[0].contourf(gx, gy, of_pair, levels=np.linspace(-most, most, 21), cmap="PuOr_r")
fig.colorbar(drawn, ax=axes[0], ticks=[-0.2, 0, 0.2])
axes[0].set_title("clusters b and w: more b (+), more w (−)", fontsize=9)
drawn = axes[1].contourf(gx, gy, of_all, levels=np.linspace(0, of_all.max(), 15), cmap="cividis_r")
fig.colorbar(drawn, ax=axes[1], ticks=[0, 0.05, 0.1, 0.15])
axes[1].set_title("both clusterings: where they differ", fontsize=9)
for ax in axes:
    ax.scatter(*X.T, color="black", s=5)
    ax.set(xticks=[], yticks=[])
plt.show()
