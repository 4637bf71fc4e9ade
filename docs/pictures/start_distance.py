"""What became of the clusters, and at which points two clusterings of the wines differ."""

import matplotlib.pyplot as plt
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

X = StandardScaler().fit_transform(load_wine().data)
kmeans = KMeans(3, n_init=1, random_state=0).fit(X).labels_
ward = AgglomerativeClustering(4).fit(X).labels_
found = lc.compare(kmeans, ward, X, measures=["lift_emd"], names=("k-means", "Ward"))

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
lc.plot.flow(found, ax=left)
left.set_title("flow: what became of the clusters", fontsize=10)
lc.plot.points(X, found, view="pca", label="distance of the clusters", ax=right)
right.set_title("points: where they differ", fontsize=10)
right.set(xticks=[], yticks=[], xlabel="component 1", ylabel="component 2")
plt.show()
