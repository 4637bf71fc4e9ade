"""
Compare spatial domains of a tissue with its layers
===================================================

In spatial transcriptomics every spot of a tissue has a position and an expression profile, and each
method finds its own spatial domains. This example compares such domains with annotated layers by
where they are in the tissue, shows where they differ, and combines them.
"""

# %%
# The tissue
# ----------
# A generated tissue with five concentric layers, like those of the olfactory bulb. Neighbouring
# layers share some of their marker genes, so that their spots are easily confused.

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA

import liftcluster as lc

rng = np.random.default_rng(0)
positions = np.array([(x, y) for x in range(24) for y in range(22)], dtype=float)
from_middle = (positions - positions.mean(axis=0)) / [12, 11]
positions = positions[np.linalg.norm(from_middle, axis=1) < 1.05]
depth = np.linalg.norm((positions - positions.mean(axis=0)) / [12, 11], axis=1)
which = np.digitize(depth, [0.35, 0.55, 0.7, 0.85])
layers = np.array(["Granular", "Mitral", "Plexiform", "Glomerular", "Nerve"])[which]
markers = 0.13 * rng.standard_normal((6, 300))
rates = 2 * np.exp(markers[which] + markers[which + 1])  # neighbours share a set of markers
counts = rng.poisson(rates).astype(float)

profiles = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
tissue = anndata.AnnData(
    obs=pd.DataFrame({"layers": layers}, index=[f"spot{i}" for i in range(len(positions))])
)
tissue.obsm["spatial"] = positions
tissue.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(profiles)

# %%
# Three clusterings
# -----------------
# k-means and Ward on gene expression, and Ward on the positions alone, which is unrelated to
# layers.

k = len(set(layers))
tissue.obs["genes, k-means"] = KMeans(k, n_init=4, random_state=0).fit(tissue.obsm["X_pca"]).labels_
tissue.obs["genes, Ward"] = AgglomerativeClustering(k).fit(tissue.obsm["X_pca"]).labels_
tissue.obs["positions, Ward"] = AgglomerativeClustering(k).fit(positions).labels_
maps = ["layers", "genes, k-means", "genes, Ward", "positions, Ward"]

fig, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
for ax, key in zip(axes, maps, strict=True):
    ax.scatter(*positions.T, c=pd.factorize(tissue.obs[key])[0], cmap="viridis", s=22)
    ax.set(title=key, aspect="equal", xticks=[], yticks=[])
plt.show()

# %%
# Distances
# ---------
# In space, with a quarter of the median distance between spots as bandwidth, so that concentric
# layers are distinguished.

options = {"use_rep": "spatial", "bandwidth": "median/4"}
print(lc.anndata.distance_matrix(tissue, maps, **options).round(3))
found = lc.anndata.compare(tissue, "layers", "genes, k-means", **options)
for line in found.summary():
    print(line)

# %%
# Where the layers and k-means differ, and a consensus of the first three clusterings.

lc.anndata.consensus(tissue, maps[:3], k, use_rep="spatial", rng=0)

fig, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
lc.anndata.plot.difference(
    tissue, "layers", "genes, k-means", basis="spatial", ax=axes[0], **options
)
axes[1].scatter(*positions.T, c=tissue.obs["consensus"].cat.codes, cmap="viridis", s=26)
axes[1].set(title="consensus", xticks=[], yticks=[])
lc.anndata.plot.confidence(tissue, basis="spatial", ax=axes[2])
for ax in axes:
    ax.set_aspect("equal")
plt.show()

# %%
# The clusterings of gene expression are much closer to the layers than that of positions. k-means
# joins the two inner layers and cuts the outermost one in two. The confidence is low at spots that
# the clusterings assign to different layers.
