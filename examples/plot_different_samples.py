"""
Clusterings of different points
===============================

Last year's customers and this year's are different people, so no table of shared labels can compare
the two segmentations. Their clusters still lie in the same space, and that is all that is needed.
"""

# %%
# Two samples
# -----------
# In the second year the group at the lower right has split in two; the others stayed, and nobody is
# in both samples. The second sample is also larger.

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

rng = np.random.default_rng(0)


def draw(centres, sizes):
    """Customers around some centres, and which centre they are from."""
    labels = np.repeat(np.arange(len(centres)), sizes)
    return np.asarray(centres)[labels] + 0.5 * rng.standard_normal((len(labels), 2)), labels


names = {"before": list("ABC"), "after": list("PQRS")}
X, a = draw([[0, 0], [0, 4], [5, 0]], [100, 80, 120])
Y, b = draw([[0, 0], [0, 4], [5, 1.2], [5, -1.2]], [170, 130, 100, 100])
before, after = np.array(names["before"])[a], np.array(names["after"])[b]

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharex=True, sharey=True, layout="constrained")
samples = {"before": (X, before), "after": (Y, after)}
for ax, (when, (points, labels)) in zip(axes, samples.items(), strict=True):
    for name in names[when]:
        ax.scatter(*points[labels == name].T, s=10, label=name)
    ax.set(title=f"{when}: {len(points)} customers", aspect="equal")
    ax.legend(loc="upper right")
plt.show()

# %%
# What became of the segments
# ---------------------------
# The points of the second clustering are given as ``Y``. Measures that need the same points on both
# sides are left out, and say so.

found = lc.compare(before, after, X, Y=Y, names=("before", "after"))
print(found)
print(f"\nleft out: rand, because {found.left_out['rand']}")

# %%
# The transport plan says the same in a picture: which share of the customers goes where, and how
# far that is.

found.plot()
plt.show()

# %%
# A and B stayed as P and Q; C split into R and S. How the clusters are called plays no part, and
# neither does the size of the samples.
