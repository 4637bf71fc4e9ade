"""Two clusterings that are equally far from a third by labels, but not by where the points are."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

COLOURS = np.array(["#0072B2", "#D55E00"])

data = lc.datasets.make_2d2c()
panels = {
    "A": data.reference,
    "B: points at the boundary": data.first,
    "C: points far from it": data.second,
}
fig, axes = plt.subplots(1, 3, figsize=(6.2, 2.75), sharex=True, sharey=True, layout="constrained")
for ax, (title, labels) in zip(axes, panels.items(), strict=True):
    ax.scatter(*data.X.T, c=COLOURS[labels], s=20)
    moved = labels != data.reference
    ax.scatter(*data.X[moved].T, s=75, facecolors="none", edgecolors="black", linewidths=0.8)
    below = "the reference\n"
    if moved.any():
        rand = lc.distance(data.reference, labels, measure="rand")
        emd = lc.distance(data.reference, labels, data.X)
        below = f"Rand distance to A: {rand:.3f}\nLiftEMD to A: {emd:.3f}"
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(below, fontsize=10)
    ax.set(xticks=[], yticks=[])
    ax.margins(0.09)
plt.show()
