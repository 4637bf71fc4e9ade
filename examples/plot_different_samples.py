"""
Two years of customers: what changed, and is it more than chance?
=================================================================

The customers of two years are different people, so measures of labels cannot compare the two
segmentations. Lifted measures only need clusters in the same space. They say which segments
changed, and ``drift`` tests whether two samples of one population would differ as much.
"""

# %%
# Two samples
# -----------
# In the second year the group at the lower right has split into two; the others are unchanged. No
# customer is in both samples, and the second sample is larger.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import liftcluster as lc

rng = np.random.default_rng(0)


def draw(n, centres, shares):
    """Points around some centres, and the index of their centre."""
    labels = rng.choice(len(centres), n, p=shares)
    return np.asarray(centres)[labels] + 0.5 * rng.standard_normal((n, 2)), labels


names = {"before": list("ABC"), "after": list("PQRS")}
X, a = draw(300, [[0, 0], [0, 4], [5, 0]], [0.33, 0.27, 0.4])
Y, b = draw(500, [[0, 0], [0, 4], [5, 1.2], [5, -1.2]], [0.33, 0.27, 0.2, 0.2])
before, after = np.array(names["before"])[a], np.array(names["after"])[b]

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharex=True, sharey=True, layout="constrained")
samples = {"before": (X, before), "after": (Y, after)}
for ax, (when, (points, labels)) in zip(axes, samples.items(), strict=True):
    for name in names[when]:
        ax.scatter(*points[labels == name].T, s=10, label=name)
    ax.set(title=f"{when}: {len(points)} customers", aspect="equal")
    ax.legend(loc="upper right", ncols=2)
plt.show()

# %%
# Comparison of the segments
# --------------------------
# The points of the second clustering are passed as ``Y``. Measures that need the same points in
# both clusterings are left out, with the reason.

found = lc.compare(before, after, X, Y=Y, names=("before", "after"))
print(found)
print(f"\nleft out: rand, because {found.left_out['rand']}")

# %%
# A plot of the transport plan shows which share of the customers moves between which clusters, and
# how far.

found.plot()
plt.show()

# %%
# A and B correspond to P and Q; C was split into R and S. The names of the clusters and the sizes
# of the samples do not matter.

# %%
# Is it more than chance?
# -----------------------
# Any two samples differ a little. ``drift`` clusters both samples, and both parts of random splits
# of all customers together: if the two years were alike, they would differ as such parts do. It
# needs the clusterer, because nobody can say from labels alone how far the boundaries of two
# separate clusterings differ by chance. A quarter of the default bandwidth makes the test sensitive
# to the shape of clusters. As a check, a third sample is drawn like the first one.

again, _ = draw(400, [[0, 0], [0, 4], [5, 0]], [0.33, 0.27, 0.4])
options = {"bandwidth": "median/4", "n_splits": 99, "rng": 0}
kmeans = KMeans(3, n_init=3)
tests = {
    "the next year": lc.drift(X, Y, kmeans, **options),
    "the same year": lc.drift(X, again, kmeans, **options),
}

fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharex=True, layout="constrained")
for ax, (name, test) in zip(axes, tests.items(), strict=True):
    print(f"{name}: {test}")
    ax.hist(test.null["lift_emd"], bins=20, color="#9aa2ae", label="random splits")
    ax.axvline(test.values["lift_emd"], color="#D55E00", label="the two samples")
    ax.set(title=f"{name}: p = {test.p_value:.2f}", xlabel="LiftEMD", ylabel="splits")
    ax.title.set_fontsize(10)
axes[1].legend(loc="upper right")
plt.show()

# %%
# Which segments changed
# ----------------------
# The clusterings that were tested, by k-means into three. Two clusters stayed where they were. The
# third one, which has the customers of C, and then those of R and S, is the one that changed.

test = tests["the next year"]
moves = lc.compare(test.a, test.b, X, Y=Y, bandwidth="median/4", names=("before", "after"))
for line in moves.summary():
    print(line)
