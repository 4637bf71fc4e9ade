"""Error of LiftEMD against the number of features, for each approximate lift."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits

import liftcluster as lc

X = load_digits().data
kmeans = KMeans(10, n_init=1, random_state=0).fit(X).labels_
ward = AgglomerativeClustering(10).fit(X).labels_
exact = lc.distance(kmeans, ward, X, lift="exact")
sizes = 2 ** np.arange(6, 12)
lifts = {
    "Fourier, iid": lambda size: lc.Fourier(size, sampling="iid"),
    "Fourier, orthogonal": lambda size: lc.Fourier(size, sampling="orthogonal"),
    "Structured": lc.Structured,
    "Nystroem": lc.Nystroem,
}

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, make), style in zip(lifts.items(), ("-o", "-s", "-^", "-D"), strict=True):
    errors = []
    for size in sizes[: len(sizes) - (name == "Nystroem")].tolist():
        found = [lc.distance(kmeans, ward, X, lift=make(size), rng=seed) for seed in range(6)]
        errors.append(np.sqrt(np.mean((np.array(found) - exact) ** 2)))
    ax.plot(sizes[: len(errors)], errors, style, markersize=4, label=name)
ax.plot(sizes, 0.05 / np.sqrt(sizes), ":", color="grey", label="proportional to 1/√ρ")
ax.set(xscale="log", yscale="log", xlabel="number of features ρ", ylabel="error of LiftEMD")
ax.set_xticks(sizes, [str(size) for size in sizes], minor=False)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
