"""The nine changes of choose_cases, drawn."""

import matplotlib.pyplot as plt
import numpy as np
from choose_cases import make_cases

from liftcluster.viz.drawing import COLOURS

X, cases = make_cases()
colours = np.array([*COLOURS[:5], "#c8ccd2"])  # the last one is for noise, label −1

figure, axes = plt.subplots(3, 3, figsize=(6, 6.6), sharex=True, sharey=True, layout="constrained")
for ax, case in zip(axes.flat, cases, strict=True):
    points = X if case.Y is None else case.Y
    ax.scatter(*points.T, s=7, color=colours[case.b], linewidths=0)
    if case.Y is None and "random labels" not in case.title and "both" not in case.title:
        changed = points[case.a != case.b]
        ax.scatter(*changed.T, s=16, facecolors="none", edgecolors="black", linewidths=0.7)
    ax.set(title=case.title, xticks=[], yticks=[])
plt.show()
