"""Error of approximate lifts against the number of features."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import liftcluster as lc

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 600), (4, 0.9, 0.5, 350), (4.2, -1.4, 0.4, 150))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
labels = [KMeans(k, n_init=1, random_state=0).fit(X).labels_ for k in (3, 5)]
exact = lc.represent(X, labels, lift="exact").distances()
SEEDS = range(8)


def error(D):
    return np.abs(D - exact).max()


def mean_error(settings):
    reps = [lc.represent(X, labels, lift=settings, rng=seed) for seed in SEEDS]
    return np.mean([error(rep.distances()) for rep in reps])


sizes = 2 ** np.arange(4, 12)
curves = {
    "random features (iid)": [mean_error(lc.Fourier(int(n), "iid")) for n in sizes],
    "random features (quasi)": [mean_error(lc.Fourier(int(n), "quasi")) for n in sizes],
    "landmarks": [mean_error(lc.Nystroem(int(n))) for n in sizes if n <= 512],
}
iid = [lc.represent(X, labels, lift=lc.Fourier(int(n), "iid"), rng=0) for n in sizes]

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
styles = (("#D55E00", "s"), ("#0072B2", "o"), ("#009E73", "^"))
for (name, values), (colour, marker) in zip(curves.items(), styles, strict=True):
    shown = np.maximum(values, 1e-9)
    ax.loglog(sizes[: len(shown)], shown, color=colour, marker=marker, ms=4, label=name)
reported = [rep.max_error for rep in iid]
ax.loglog(sizes, reported, color="#D55E00", ls=":", label="standard error reported by iid")
grids = [lc.represent(X, labels, lift=lc.Grid(n_components=int(n))) for n in sizes[2:]]
shown = [(rep.n_components, max(error(rep.distances()), 1e-9)) for rep in grids]
ax.loglog(*np.transpose(shown), color="#7A5FC7", marker="D", ms=4, label="grid of frequencies")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set(xlabel="number of features ρ", ylabel="largest error of a distance")
fig.legend(loc="outside right upper", frameon=False, fontsize=8)
plt.show()
