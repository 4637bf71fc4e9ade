"""The eight changes of choose_cases, drawn."""

import matplotlib.pyplot as plt
import numpy as np
from choose_cases import make_cases

from liftcluster.viz.drawing import COLOURS

X, cases = make_cases()
colours = np.array([*COLOURS[:5], "#c8ccd2"])  # the last one is for noise, label −1

figure, axes = plt.subplots(3, 3, figsize=(6, 6.6), sharex=True, sharey=True, layout="constrained")
panels = [("reference", X, cases[0].a, None)]
for case in cases:
    points = X if case.Y is None else case.Y
    changed = None if case.Y is not None or case.title[0] == "7" else case.a != case.b
    panels.append((case.title, points, case.b, changed))
for ax, (title, points, labels, changed) in zip(axes.flat, panels, strict=True):
    ax.scatter(*points.T, s=7, color=colours[labels], linewidths=0)
    if changed is not None:
        ax.scatter(*points[changed].T, s=16, facecolors="none", edgecolors="black", linewidths=0.7)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
