"""What "near" means: the Gaussian kernel for several bandwidths."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

COLOURS = ("#0072B2", "#D55E00", "#009E73")

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
chosen = int(np.linalg.norm(X - (4, 0.4), axis=1).argmin())

fig, axes = plt.subplots(2, 2, figsize=(7, 5), layout="constrained")
r = np.linspace(0, 6, 200)[:, None]
widths = (0.5, 1.5, 4.0)
for width, colour in zip(widths, COLOURS, strict=True):
    nearness = lc.Gaussian(width)(np.zeros((1, 1)), r)[0]
    axes[0, 0].plot(r, nearness, color=colour, label=f"bandwidth {width}")
axes[0, 0].set(xlabel="distance between two points", ylabel="kernel value", ylim=(-0.03, 1.6))
axes[0, 0].set_yticks([0, 0.5, 1])
axes[0, 0].legend(frameon=False, loc="upper right")
for ax, width in zip(axes.flat[1:], widths, strict=True):
    nearness = lc.Gaussian(width)(X[chosen : chosen + 1], X)[0]
    dots = ax.scatter(*X.T, c=nearness, cmap="cividis_r", vmin=0, vmax=1, s=16)
    ax.scatter(*X[chosen], s=110, facecolors="none", edgecolors=COLOURS[1], linewidths=2)
    ax.set_title(f"bandwidth {width}", fontsize=10)
    ax.set(xticks=[], yticks=[])
fig.colorbar(dots, ax=axes[:, 1], label="kernel value with the ringed point")
plt.show()
