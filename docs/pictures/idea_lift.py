"""A point becomes a bump, a cluster the sum of the bumps of its points."""

import matplotlib.pyplot as plt
import numpy as np

import liftcluster as lc

BLUE, ORANGE = "#0072B2", "#D55E00"

fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")

line = np.array([[0.0], [0.5], [1.4], [1.9], [4.0], [4.4], [5.6]])
labels = np.array([0, 0, 0, 0, 1, 1, 1])
x = np.linspace(-2, 8, 300)[:, None]
kernel = lc.Gaussian(0.6)
rep = lc.represent(line, labels, kernel=kernel)
sums = rep.lift.scores(x, rep.sums)  # the lifted clusters as functions
for cluster, colour in enumerate((BLUE, ORANGE)):
    members = line[labels == cluster]
    left.plot(x, kernel(x, members), color=colour, lw=0.8, alpha=0.7)
    left.plot(x, sums[:, cluster], color=colour, lw=2.5)
    left.scatter(members, np.zeros(len(members)) - 0.07, color=colour, s=22, clip_on=False)
left.set(xlabel="points on a line", yticks=[], ylim=(-0.15, None))
left.set_title("thin: a point; thick: a cluster", fontsize=10)

rng = np.random.default_rng(1)
groups = ((0, 0, 0.8, 60), (4, 0.9, 0.5, 35), (4.2, -1.4, 0.4, 15))
X = np.vstack([rng.normal((x, y), spread, (n, 2)) for x, y, spread, n in groups])
first = np.where(X[:, 0] < 2, 0, 1)
rep = lc.represent(X, first, bandwidth=0.7)
gx, gy = np.meshgrid(np.linspace(-3, 6.5, 120), np.linspace(-3.5, 3.5, 100))
values = rep.lift.scores(np.column_stack([gx.ravel(), gy.ravel()]), rep.vectors)
for cluster, colour in enumerate((BLUE, ORANGE)):
    height = values[:, cluster].reshape(gx.shape)
    right.contour(gx, gy, height, levels=np.linspace(0.15, 0.95, 7), colors=colour, linewidths=1)
    right.scatter(*X[first == cluster].T, color=colour, s=6)
right.set(xticks=[], yticks=[])
right.set_title("two clusters in the plane", fontsize=10)
plt.show()
