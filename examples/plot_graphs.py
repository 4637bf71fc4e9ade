"""
Compare clusterings of graphs by a kernel
=========================================

Clusterings of graphs can be compared with any kernel between graphs. Here it is the
Weisfeiler-Lehman kernel of GraKeL, and the graphs are small: rings, chains and stars with a few
extra edges.
"""

# %%
# Sixty graphs of three kinds
# ---------------------------
# Rings, chains and stars of six to fourteen nodes. Nodes are labelled by their degree, so the
# kernel depends on the structure of the graph only.

import matplotlib.pyplot as plt
import numpy as np
from grakel import Graph
from grakel.kernels import VertexHistogram, WeisfeilerLehman
from sklearn.cluster import SpectralClustering

import liftcluster as lc

rng = np.random.default_rng(0)


def make_edges(kind, size):
    if kind == "ring":
        edges = {(i, (i + 1) % size) for i in range(size)}
    elif kind == "chain":
        edges = {(i, i + 1) for i in range(size - 1)}
    else:
        edges = {(0, i) for i in range(1, size)}
    for _ in range(rng.integers(0, 3)):  # some extra edges
        a, b = sorted(int(i) for i in rng.choice(size, 2, replace=False))
        edges.add((a, b))
    return edges


def make_graph(edges, size):
    both_ways = edges | {(b, a) for a, b in edges}
    degrees = np.bincount([a for a, _ in both_ways], minlength=size)
    return Graph(dict.fromkeys(both_ways, 1.0), node_labels=dict(enumerate(degrees.tolist())))


kinds = np.repeat(["ring", "chain", "star"], 20)
sizes = rng.integers(6, 15, len(kinds))
edges = [make_edges(kind, int(size)) for kind, size in zip(kinds, sizes, strict=True)]
graphs = [make_graph(pairs, int(size)) for pairs, size in zip(edges, sizes, strict=True)]
kernel = WeisfeilerLehman(n_iter=3, base_graph_kernel=VertexHistogram, normalize=True)
K = kernel.fit_transform(graphs)

fig, axes = plt.subplots(1, 6, figsize=(10, 1.9), layout="constrained")
for ax, i in zip(axes, (0, 1, 20, 21, 40, 41), strict=True):
    angles = np.linspace(0, 2 * np.pi, sizes[i], endpoint=False)
    x, y = np.cos(angles), np.sin(angles)
    if kinds[i] == "star":
        x[0] = y[0] = 0  # the first node in the middle
    for a, b in edges[i]:
        ax.plot(x[[a, b]], y[[a, b]], color="#9aa2ae")
    ax.scatter(x, y, s=25, color="#0072B2", zorder=2)
    ax.set(title=kinds[i], aspect="equal")
    ax.axis("off")
plt.show()

# %%
# Three clusterings
# -----------------
# By the kernel, by size alone, and by size with a separate cluster of stars. The last one mixes
# rings and chains, which the kernel considers similar (most of their nodes have two neighbours);
# clustering by size alone also mixes in stars, which are different. The Rand distance counts pairs
# of graphs, LiftEMD also takes their similarity into account.

by_kernel = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(K)
by_size = np.digitize(sizes, [9, 12])
by_size_without_stars = np.where(kinds == "star", "star", np.where(sizes < 10, "small", "large"))
clusterings = {"kernel": by_kernel, "size": by_size, "size and stars": by_size_without_stars}

similar = lc.Precomputed(K)
for name, labels in clusterings.items():
    lifted = lc.distance(kinds, labels, kernel=similar)
    rand = lc.distance(kinds, labels, measure="rand")
    print(f"{name:18}  LiftEMD to the kinds {lifted:.3f}   Rand {rand:.3f}")

# %%
# Where they differ
# -----------------

comparison = lc.compare(kinds, by_kernel, kernel=similar)
for sentence in comparison.summary():
    print(sentence)

# %%
# All distances
# -------------

together = lc.distance_matrix({"kinds": kinds, **clusterings}, kernel=similar)
lc.plot.distances(together, names=["kinds", *clusterings])
plt.show()
