"""One comparison at three bandwidths: the witness of where two clusterings differ."""

import matplotlib.pyplot as plt
from choose_cases import make_cases

import liftcluster as lc

X, cases = make_cases()
case = cases[0]  # the boundary between the two lower clusters moves

figure, axes = plt.subplots(
    2, 2, figsize=(5.4, 7.4), sharex=True, sharey=True, layout="constrained"
)
first, *others = axes.flat
changed = case.a != case.b
first.scatter(*X.T, s=9, color="#c8ccd2", linewidths=0)
first.scatter(*X[changed].T, s=16, color="#D55E00", linewidths=0)
first.set(title="20 points change sides")
largest = None  # the colours are the same in all panels
for ax, rule in zip(others, ("median/16", "median/4", "median"), strict=True):
    found = lc.compare(case.a, case.b, X, measures="lift_emd", bandwidth=rule)
    witness = found.witness()
    largest = witness.max() if largest is None else largest
    ax.scatter(*X.T, s=9, c=witness, cmap="cividis_r", vmin=0, vmax=largest, linewidths=0)
    ax.add_patch(plt.Circle((1.75, 0), lc.bandwidth(X, rule), fill=False, color="black"))
    ax.set(title=f"{rule}: LiftEMD {found['lift_emd'].value:.3f}")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-6, 9.5), ylim=(-7.5, 13.5))
plt.show()
