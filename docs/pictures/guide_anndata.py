"""Three pictures of liftcluster.anndata.plot: the tree, the difference, and the confidence."""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import liftcluster as lc

rng = np.random.default_rng(1)
centres = np.array([[0, 0], [6, 0], [1, 5.5], [7, 5], [3.5, 9.5]])
kinds = rng.integers(5, size=500)
X = centres[kinds] + rng.normal(scale=1.1, size=(500, 2))
cells = anndata.AnnData(obs=pd.DataFrame(index=[f"cell{i}" for i in range(500)]))
cells.obsm["X_pca"], cells.obsm["X_umap"] = X, X
cells.obs["cell_type"] = pd.Categorical.from_codes(kinds, ["B", "NK", "T", "mono", "stem"])
for k in (3, 5, 7, 9):
    labels = KMeans(k, n_init=5, random_state=0).fit(X).labels_
    cells.obs[f"leiden_{k}"] = pd.Categorical(labels.astype(str))
lc.anndata.consensus(cells, "leiden_*", 5, rng=0)

fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
draw = lc.anndata.plot
draw.resolution_tree(cells, "leiden_*", ax=axes[0])
draw.difference(cells, "cell_type", "leiden_3", basis="umap", bandwidth="median/4", ax=axes[1])
draw.confidence(cells, "consensus", basis="umap", ax=axes[2])
plt.show()
