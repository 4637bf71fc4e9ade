"""All measures of all changes of choose_cases, as a table of colours and numbers."""

import matplotlib.pyplot as plt
import numpy as np
from choose_cases import make_cases

import liftcluster as lc

X, cases = make_cases()
names = [name for name in lc.MEASURES if name != "mirkin"]  # that is rand times n (n − 1)
values = np.full((len(names), len(cases)), np.nan)
for column, case in enumerate(cases):
    found = lc.compare(case.a, case.b, X, Y=case.Y)
    for row, name in enumerate(names):
        if name not in found.left_out:
            values[row, column] = found[name].value

share = values / values[:, 6:7]  # of the value of random labels
figure, ax = plt.subplots(figsize=(6, 7.4), layout="constrained")
ax.imshow(np.ma.masked_invalid(share), cmap="Blues", vmin=0, vmax=1.25, aspect="auto")
for (row, column), value in np.ndenumerate(values):
    text = "–" if np.isnan(value) else "0" if value < 1e-9 else f"{value:.3f}"[:5]
    colour = "white" if share[row, column] > 0.7 else "black"
    ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
ax.set_xticks(range(len(cases)), [case.title for case in cases], rotation=50, ha="left")
ax.set_yticks(range(len(names)), names)
ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, labelsize=10)
for row in (2.5, 7.5):  # lifted, other spatial ones, labels alone
    ax.axhline(row, color="black", linewidth=1)
plt.show()
