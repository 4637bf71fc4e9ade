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
right = np.array([1.0, 0.0])
cosine, sine = np.cos(np.pi * 42 / 180), np.sin(np.pi * 42 / 180)
turn = np.array([[cosine, -sine], [sine, cosine]])  # by 42 degrees
reference = nearest(a, b, c, d)
panels = {
    "reference": reference,
    "boundary moves a little": nearest(a + 0.35 * right, b + 0.35 * right, c, d),
    "one cluster splits": nearest(a, b, c, d - 0.4 * right, d + 1.2 * right),
    "a boundary moves far": nearest(a + 2.1 * right, b + 2.1 * right, c, d),
    "all boundaries turn": nearest(*((centres - 2.5) @ turn + 2.5)),
    "labels at random": rng.permutation(reference),
}

figure, axes = plt.subplots(3, 2, figsize=(6, 8.6), sharex=True, sharey=True, layout="constrained")
for ax, (title, labels) in zip(axes.flat, panels.items(), strict=True):
    ax.scatter(*X.T, s=8, color=np.array(COLOURS)[labels], linewidths=0)
    if "boundar" in title:
        changed = X[labels != reference]
        ax.scatter(*changed.T, s=14, facecolors="none", edgecolors="black", linewidths=0.6)
    if title != "reference":
        lifted = lc.distance(reference, labels, X)
        rand = 1 - lc.distance(reference, labels, measure="adjusted_rand")
        title += f"\nLiftEMD {lifted:.3f}, adjusted Rand {rand:.2f}"
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
plt.show()
