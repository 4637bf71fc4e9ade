"""LiftEMD of three changes over the bandwidth."""

import matplotlib.pyplot as plt
from choose_cases import make_cases

import liftcluster as lc

X, cases = make_cases()
chosen = {"boundary moves": 0, "far exchange": 1, "split by place": 2}

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for (name, number), style in zip(chosen.items(), ("-o", "-s", "-^"), strict=True):
    found = lc.bandwidth_profile(cases[number].a, cases[number].b, X, bandwidths=17)
    ax.plot(found.bandwidths, found.values, style, markersize=4, label=name)
for rule in ("median/16", "median/4", "median"):
    ax.axvline(lc.bandwidth(X, rule), color="grey", linestyle=":", zorder=0)
    ax.annotate(
        rule,
        (lc.bandwidth(X, rule), 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3, -3),
        textcoords="offset points",
        rotation=90,
        ha="right",
        va="top",
        color="dimgrey",
    )
ax.set(xscale="log", xlabel="bandwidth", ylabel="LiftEMD", ylim=(0, 0.25))
ax.legend(frameon=False, loc="upper right")
plt.show()
