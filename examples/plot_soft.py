"""
Soft clusterings, compared as they are
======================================

A Gaussian mixture says how much each point belongs to each cluster. Rounding that to labels before
comparing throws away what it knows; liftcluster takes the memberships as they are.
"""

# %%
# A mixture and its rounding
# --------------------------
# Two overlapping groups: between them nobody can be sure.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import liftcluster as lc

X, _ = make_blobs(400, centers=[[-1.2, 0], [1.2, 0]], cluster_std=1.0, random_state=0)
soft = GaussianMixture(2, random_state=0).fit(X).predict_proba(X)
hard = soft.argmax(axis=1)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, (title, colour) in zip(axes, {"soft": soft[:, 1], "rounded": hard}.items(), strict=True):
    dots = ax.scatter(*X.T, c=colour, cmap="cividis", s=12)
    ax.set(title=title, aspect="equal")
fig.colorbar(dots, ax=axes, label="membership in the second cluster")
plt.show()

# %%
# Small changes stay small
# ------------------------
# Shift the boundary a little at a time. The distance between soft clusterings grows smoothly from
# zero; that between rounded ones stands still until a point happens to cross the line, and jumps.

shifts = np.linspace(0, 0.5, 26)
logit = np.log(soft[:, 1] / soft[:, 0])


def shifted(shift):
    """The same mixture with its boundary elsewhere."""
    p = 1 / (1 + np.exp(-(logit + shift)))
    return np.column_stack([1 - p, p])


bandwidth = lc.bandwidth(X)
as_soft = [lc.distance(soft, shifted(s), X, bandwidth=bandwidth) for s in shifts]
as_hard = [lc.distance(hard, shifted(s).argmax(axis=1), X, bandwidth=bandwidth) for s in shifts]

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(shifts, as_soft, "o-", ms=3, color="#0072B2", label="memberships")
ax.plot(shifts, as_hard, "s-", ms=3, color="#D55E00", label="rounded to labels")
ax.set(xlabel="shift of the boundary (log odds)", ylabel="LiftEMD to the start")
ax.legend()
plt.show()

# %%
# The largest of the steps, all of which move the boundary equally far:

for name, values in {"memberships": as_soft, "rounded to labels": as_hard}.items():
    steps = np.abs(np.diff(values))
    print(f"{name:18} smallest step {steps.min():.4f}, largest {steps.max():.4f}")

# %%
# Memberships answer an even shift with even steps. Labels answer with nothing or with a jump, and
# so say more about single points near the line than about the change.
