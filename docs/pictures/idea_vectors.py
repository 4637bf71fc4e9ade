"""Cluster vectors as arrows, before and after they are scaled to unit length."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

COLOURS = {"A": "#0072B2", "B": "#D55E00", "b": "#B8A000", "c": "#009E73"}
MIDDLE = {"ha": "center", "va": "center"}

rng = np.random.default_rng(0)
groups = ((0, 0, 0.35, 40), (3, 0, 0.35, 34), (3, 2.2, 0.25, 6))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
coarse = np.repeat(["A", "B"], [40, 40])
fine = np.repeat(["A", "b", "c"], [40, 34, 6])
rep = lc.represent(X, {"coarse": coarse, "fine": fine}, bandwidth=1.5)

fig, axes = plt.subplots(1, 3, figsize=(7, 2.7), layout="constrained")
axes[0].scatter(*X.T, c=[COLOURS[name] for name in fine], s=14)
for name, place in {"A": (0, 1.1), "b": (3, -1.25), "c": (3, 3)}.items():
    axes[0].text(*place, name, color=COLOURS[name], fontsize=12, **MIDDLE)
axes[0].set_title("B = b and c together", fontsize=10)
axes[0].set(xticks=[], yticks=[], xlim=(-1.3, 4.3), ylim=(-2, 3.6))
titles = "sums of the points", "unit length"
for ax, V, title in zip(axes[1:], (rep.sums, rep.vectors), titles, strict=True):
    plane = np.linalg.svd(V, full_matrices=False)[2][:2]  # the plane that shows them best
    flat = V @ plane.T
    flat *= np.sign(flat[0])  # cluster A up and to the right
    flat /= np.abs(flat).max()
    shown = set()
    for name, (x, y) in zip(rep.cluster_names, flat, strict=True):
        if name in shown:  # A is in both clusterings
            continue
        shown.add(name)
        arrow = {"arrowstyle": "-|>", "color": COLOURS[name], "lw": 2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
        along, across = np.array([x, y]) / np.hypot(x, y), np.array([-y, x]) / np.hypot(x, y)
        far, beside = {"b": (0, 0.15), "c": (0, -0.15)}.get(name, (0.14, 0))
        shift = far * along + beside * across
        ax.text(x + shift[0], y + shift[1], name, color=COLOURS[name], fontsize=12, **MIDDLE)
    ax.set_title(title, fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-0.15, 1.3), ylim=(-1.1, 1.1))
plt.show()
