"""
Choose a resolution for single-cell data
========================================

A clustering of cells at a low resolution joins cell types, one at a high resolution cuts them into
pieces that no other sample would have. This example clusters cells at eight resolutions, follows
the clusters from one to the next, and chooses the resolution whose clusters are found again.
"""

# %%
# The cells
# ---------
# 900 generated cells: B cells, monocytes, two similar kinds of T cells, and stem cells that become
# red blood cells without a gap between. Counts of 300 genes are normalised, transformed by a
# logarithm and reduced to ten principal components, as is usual; scanpy does the same with
# ``pp.normalize_total``, ``pp.log1p`` and ``pp.pca``.

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import liftcluster as lc

rng = np.random.default_rng(0)
n_genes = 300
base = rng.normal(size=n_genes)


def programme(n_marker_genes, change):
    """Changes of log expression: some genes of a type of cells are higher than elsewhere."""
    changes = np.zeros(n_genes)
    changes[rng.choice(n_genes, n_marker_genes, replace=False)] = change
    return changes


b_cell, monocyte, t_cell, stem, red = (programme(30, 1.6) for _ in range(5))
killer = programme(15, 1.3)  # what distinguishes the second kind of T cells
age = rng.uniform(size=300)[:, None]  # of the cells between stem and red blood cells
means = np.vstack(
    [
        np.tile(b_cell, (180, 1)),
        np.tile(monocyte, (180, 1)),
        np.tile(t_cell, (120, 1)),
        np.tile(t_cell + killer, (120, 1)),
        (1 - age) * stem + age * red,
    ]
)
kinds = np.repeat(["B", "monocyte", "T helper", "T killer", "stem to red"], [180, 180, 120, 120, 300])
depth = rng.lognormal(0, 0.25, (len(means), 1))
counts = rng.poisson(depth * np.exp(base + means))
profiles = np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True))

cells = anndata.AnnData(obs=pd.DataFrame({"kind": pd.Categorical(kinds)}))
cells.obs_names = [f"cell{i}" for i in range(len(kinds))]
cells.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(profiles)

# %%
# Eight resolutions
# -----------------
# k-means with two to nine clusters; columns of Leiden clusters at rising resolutions would be used
# in the same way. The tree shows what becomes of each cluster. A circle is a cluster, its area the
# share of the cells, its colour how well it is found again one step up and down.

for k in range(2, 10):
    labels = KMeans(k, n_init=10, random_state=0).fit(cells.obsm["X_pca"]).labels_
    cells.obs[f"kmeans_{k}"] = pd.Categorical(labels.astype(str))

lc.anndata.plot.resolution_tree(cells, "kmeans_*")
plt.show()

# %%
# Which resolution?
# -----------------
# For each number of clusters, disjoint halves of the cells are clustered anew, and so are data of
# the same extent without any clusters. The curve is the stability above that of such data: 1 if
# all clusters are found again in their places, 0 if they are found again no better than pieces of
# a cloud. Of numbers that are almost equally stable the largest is the best.

choice = lc.anndata.choose(cells, KMeans(n_init=3), {"n_clusters": range(2, 10)}, rng=0)
print(choice)

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
choice.plot(ax=ax)
plt.show()

# %%
# Which of its clusters?
# ----------------------
# The stability of the clusters of the chosen number, one by one, and in words what becomes of
# them. ``.obs["stability"]`` has a value for each cell.

found = lc.anndata.stability(cells, KMeans(**choice.best, n_init=3), rng=0)
print(found)

# %%
# With the kinds of cells, which nothing above has seen: ``choice`` is the best clustering.

print(pd.crosstab(cells.obs["kind"], cells.obs["choice"]))

fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
view = cells.obsm["X_pca"][:, :2]
lc.plot.points(view, cells.obs["kind"], label="kinds of cells", ax=axes[0])
lc.plot.points(view, cells.obs["choice"], label="chosen clusters", ax=axes[1])
lc.plot.points(view, cells.obs["stability"].to_numpy(), label="stability", ax=axes[2])
plt.show()

# %%
# TODO
