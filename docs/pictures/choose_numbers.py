"""Clusterings at LiftEMD of about 0.01, 0.05, 0.15 and 0.4 from one reference."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

import liftcluster as lc
from liftcluster.viz.drawing import COLOURS

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])
X = np.repeat(centres, 150, axis=0) + 1.2 * rng.standard_normal((600, 2))


def nearest(*means):
    return cdist(X, np.array(means)).argmin(axis=1)


a, b, c, d = centres
reference = nearest(a, b, c, d)
panels = {
    "reference": reference,
    "boundary moves a little": nearest(a + [0.6, 0], b + [0.6, 0], c, d),
    "boundaries move": nearest(a + [1.8, 0], b + [1.8, 0], c, d),
    "two clusters split": nearest(a, b, c - [1, 0], c + [1, 0], d - [1, 0], d + [1, 0]),
    "clusters merge": nearest((a + b) / 2, (c + d) / 2),
    "labels at random": rng.permutation(reference),
}

figure, axes = plt.subplots(3, 2, figsize=(6, 8.6), sharex=True, sharey=True, layout="constrained")
for ax, (title, labels) in zip(axes.flat, panels.items(), strict=True):
    ax.scatter(*X.T, s=8, color=np.array(COLOURS)[labels], linewidths=0)
    if title != "reference":
        lifted = lc.distance(reference, labels, X)
        rand = 1 - lc.distance(reference, labels, measure="adjusted_rand")
        title += f"\nLiftEMD {lifted:.3f}, adjusted Rand {rand:.2f}"
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
plt.show()
