"""
Spatial transcriptomics: layers of a tissue
===========================================

In spatial transcriptomics every spot has a position and an expression profile, and each method
finds its own spatial domains. This example compares clusterings of the mouse olfactory bulb with
its annotated layers; if the data are not available, it uses a synthetic tissue of the same shape.
"""

# %%
# The tissue
# ----------
# For the real data, set LIFTCLUSTER_DATA to the folder of data sets (Ståhl et al., Science 2016).

import os
from pathlib import Path

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA

import liftcluster as lc

folder = Path(os.environ.get("LIFTCLUSTER_DATA", "missing")) / "single_cell_spatial"
if folder.is_dir():
    spots = pd.read_csv(folder / "mob_spots.csv.gz")
    positions, layers = spots[["x", "y"]].to_numpy(), spots["class"].str[3:].to_numpy()
    with np.load(folder / "mob_counts.npz") as file:
        counts = file["counts"].astype(float)
else:
    rng = np.random.default_rng(0)
    positions = np.array([(x, y) for x in range(17) for y in range(16)], dtype=float)
    depth = np.linalg.norm((positions - positions.mean(axis=0)) / [8, 8], axis=1)
    which = np.digitize(depth, [0.4, 0.65, 0.85, 1.05])
    layers = np.array(["Granular", "Mitral", "Plexiform", "Glomerular", "Nerve"])[which]
    rates = 2 * np.exp(0.2 * rng.standard_normal((5, 300)))
    counts = rng.poisson(rates[which]).astype(float)

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
# The clusterings of gene expression are much closer to the annotated layers than the clustering of
# positions. The confidence is low at spots that the clusterings assign to different layers.
