"""
Choose a resolution for single-cell data
========================================

A clustering of cells at a low resolution joins cell types, one at a high resolution cuts them into
pieces that no other sample would have. This example clusters cells at seven resolutions, follows
the clusters from one to the next, and chooses the resolution whose clusters are found again.
"""

# %%
# The cells
# ---------
# 600 generated cells: B cells, monocytes, two similar kinds of T cells, and stem cells that become
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
age = rng.uniform(size=200)[:, None]  # of the cells between stem and red blood cells
means = np.vstack(
    [
        np.tile(b_cell, (120, 1)),
        np.tile(monocyte, (120, 1)),
        np.tile(t_cell, (80, 1)),
        np.tile(t_cell + killer, (80, 1)),
        (1 - age) * stem + age * red,
    ]
)
names = ["B", "monocyte", "T helper", "T killer", "stem to red"]
kinds = np.repeat(names, [120, 120, 80, 80, 200])
depth = rng.lognormal(0, 0.25, (len(means), 1))
counts = rng.poisson(depth * np.exp(base + means))
profiles = np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True))

cells = anndata.AnnData(
    obs=pd.DataFrame({"kind": kinds}, index=[f"cell{i}" for i in range(len(kinds))])
)
cells.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(profiles)

# %%
# Seven resolutions
# -----------------
# k-means with two to eight clusters; columns of Leiden clusters at rising resolutions would be used
# in the same way. The tree shows what becomes of each cluster. A circle is a cluster, its area the
# share of the cells, its colour how well it is found again one step up and down.

for k in range(2, 9):
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

choice = lc.anndata.choose(cells, KMeans(n_init=3), {"n_clusters": range(2, 9)}, rng=0)
print(choice)

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
choice.plot(ax=ax)
plt.show()

# %%
# Which of its clusters?
# ----------------------
# The stability of each cluster of the best number, and in words what becomes of it in the halves.

print(choice.stability)

# %%
# Now the kinds of cells, which nothing above has seen. ``.obs["choice"]`` is the best clustering.

print(pd.crosstab(cells.obs["kind"], cells.obs["choice"]))

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
for ax, key in zip(axes, ("kind", "choice"), strict=True):
    lc.plot.points(cells.obsm["X_pca"], cells.obs[key], label=key, view="neighbours", ax=ax)
plt.show()

# %%
# A cluster, or a piece of a continuum?
# -------------------------------------
# A continuum that is cut in the middle is stable as well: every half of the cells is cut at the
# same place. So look at the cells near the cut. The affinity of a cell to its own cluster is near
# 1 inside the cluster and near one half between two; between two types there are few such cells.

own = lc.affinities(cells.obsm["X_pca"], cells.obs["choice"], rng=0).own
for kind in names:
    print(f"{kind:12} {(own[kinds == kind] < 0.65).mean():.0%} of the cells lie between clusters")

# %%
# So there are five types of cells: the two kinds of T cells are separate, and the two clusters of
# stem cells and red blood cells are stages of one continuum. Four clusters, which join the T cells,
# are as stable, and right as well if a coarser answer is enough.
