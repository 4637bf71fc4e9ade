"""A small picture of a transport plan."""

import matplotlib.pyplot as plt
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

X = StandardScaler().fit_transform(load_wine().data)
kmeans = KMeans(3, n_init=1, random_state=0).fit(X).labels_
ward = AgglomerativeClustering(4).fit(X).labels_
found = lc.compare(kmeans, ward, X, measures=["lift_emd"], names=("k-means", "Ward"))

fig, ax = plt.subplots(figsize=(3, 2.1), layout="constrained")
lc.plot.flow(found, ax=ax)
for text in list(ax.texts):
    text.remove()
ax.set_title(f"LiftEMD {found['lift_emd'].value:.3f}", fontsize=11)
ax.set_xlim(-0.15, 1.15)
plt.show()
