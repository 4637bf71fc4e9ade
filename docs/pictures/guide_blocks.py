"""How points that do not fit into memory become a few vectors: blocks, sums, one representation."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, Rectangle

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9aa2ae"

fig, ax = plt.subplots(figsize=(7.5, 2.9), layout="constrained")
ax.set(xlim=(0, 10), ylim=(0, 4), aspect="equal")
ax.axis("off")


def arrow(start, end):
    style = {"arrowstyle": "-|>", "mutation_scale": 11, "color": "#444444", "shrinkA": 2}
    ax.add_patch(FancyArrowPatch(start, end, **style))


def vectors(x, y, width=0.9):
    """One thin bar for each of three clusters."""
    for i, colour in enumerate((BLUE, ORANGE, GREEN)):
        ax.add_patch(Rectangle((x, y - 0.14 * i), width, 0.1, color=colour))


for i, y in enumerate((2.75, 1.75, 0.75)):
    ax.add_patch(Rectangle((0.2, y - 0.4), 1.9, 0.8, facecolor="#e8edf3", edgecolor=GREY))
    ax.text(1.15, y, f"block {i + 1}", ha="center", va="center")
    arrow((2.15, y), (3.35, y))
    vectors(3.5, y + 0.1)
    arrow((4.5, y), (5.55, 1.75 + 0.22 * (1 - i)))
vectors(5.7, 1.85, 1.1)
arrow((6.95, 1.75), (7.6, 1.75))
ax.text(1.15, 3.55, "points and labels\non disk", ha="center", va="center")
ax.text(3.95, 3.55, "sums of each block,\none for each cluster", ha="center", va="center")
ax.text(6.25, 2.55, "their total: a\nrepresentation", ha="center", va="center")
questions = ["distances", "consensus", "transport plans", "standard errors"]
for i, name in enumerate(questions):
    ax.text(7.75, 2.5 - 0.5 * i, name, va="center")
plt.show()
