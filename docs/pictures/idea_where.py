"""Where two clusterings differ: the distance of each point's clusters, and a witness function."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
first = np.where(X[:, 0] < 2, "a", np.where(X[:, 1] > -0.3, "b", "c"))
second = np.where(X[:, 0] < 0.5, "u", np.where(X[:, 0] < 2, "v", "w"))
found = lc.compare(first, second, X, measures=["lift_emd"])

gx, gy = np.meshgrid(np.linspace(-2.6, 5.8, 120), np.linspace(-3.2, 3, 100))
grid = np.column_stack([gx.ravel(), gy.ravel()])
finer = lc.compare(first, second, X, measures=["lift_emd"], bandwidth="median/2")
witness = finer.witness(grid, cluster="b", other="w").reshape(gx.shape)

fig, axes = plt.subplots(1, 2, figsize=(7, 2.9), sharex=True, sharey=True, layout="constrained")
drawn = axes[0].scatter(*X.T, c=found.point_distances, cmap="cividis_r", vmin=0, s=14)
fig.colorbar(drawn, ax=axes[0])
axes[0].set_title("distance of the two clusters of each point", fontsize=9)
most = np.abs(witness).max()
drawn = axes[1].contourf(gx, gy, witness, levels=np.linspace(-most, most, 21), cmap="PuOr_r")
fig.colorbar(drawn, ax=axes[1], ticks=[-0.2, 0, 0.2])
axes[1].scatter(*X.T, color="black", s=5)
axes[1].set_title("witness of b and w: more b (+), more w (−)", fontsize=9)
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
