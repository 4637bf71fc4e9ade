"""
How different are two clusterings, and where?
=============================================

Two clusterings can be equally far from a third by every measure of labels, although one moves a
boundary slightly and the other moves points between opposite ends. A spatial distance distinguishes
them, and shows where they differ.
"""

# %%
# Three clusterings of the same points
# ------------------------------------
# In the second clustering, the five points of each cluster that are closest to the other cluster
# are exchanged; in the third, the five points that are farthest away from it.

import matplotlib.pyplot as plt

import liftcluster as lc

data = lc.datasets.make_2d2c()
clusterings = {"reference": data.reference, "near": data.first, "far": data.second}

fig, axes = plt.subplots(1, 3, figsize=(10, 2.2), sharex=True, sharey=True, layout="constrained")
for ax, (name, labels) in zip(axes, clusterings.items(), strict=True):
    ax.scatter(*data.X.T, c=labels, cmap="cividis", s=25)
    ax.set(title=name, aspect="equal")
plt.show()

# %%
# Values of the measures
# ----------------------
# By Rand, NMI and all other measures of labels both changes are equally large. LiftEMD, the cost of
# transporting mass between clusters, distinguishes them.

near = lc.compare(data.reference, data.first, data.X)
far = lc.compare(data.reference, data.second, data.X)
print(f"{'':18}{'near':>10}{'far':>10}")
for name in near:
    print(f"{name:18}{near[name].value:10.3f}{far[name].value:10.3f}")

# %%
# Where they differ
# -----------------
# Each point has a cluster in both clusterings. ``point_distances`` is the distance between these
# two: small where they are in the same place, large where the clusterings differ.

top = max(near.point_distances.max(), far.point_distances.max())
fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, found) in zip(axes, {"near": near, "far": far}.items(), strict=True):
    values = found.point_distances
    dots = ax.scatter(*data.X.T, c=values, cmap="cividis", vmin=0, vmax=top, s=25)
    ax.set(title=f"reference and {name}", aspect="equal")
fig.colorbar(dots, ax=axes, label="distance of the clusters")
plt.show()

# %%
# The near clustering differs at the boundary in the middle, the far one at the two ends. LiftEMD is
# more than twice as large for the far one, which no measure of labels can detect.
