"""Helpers of :mod:`liftcluster.plot`: colours, axes, names, ticks and scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._util.extras import needs
from .._util.typing import FloatArray
from ..partitions.partition import Partition

# The palette of Okabe and Ito without black, and with a darker yellow for white backgrounds.
# Grey is for noise. With more clusters the colours repeat with another marker.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#B8A000", "#8C4A2F", "#7A5FC7")
BLUE, ORANGE = COLOURS[:2]
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_GREY = "#9aa2ae"
_MAX_IN_LEGEND = 15
_RASTERIZE_FROM = 20_000  # points; vector files would become too large


def new_axes() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(needs("matplotlib", "plotting")) from None
    return plt.subplots(layout="constrained")[1]


def short_name(name: Any, max_length: int = 18) -> str:
    """A name on one line, without matplotlib's special characters.

    A dollar sign would start a formula, and a leading underscore would hide it in a legend.
    """
    line = " ".join(str(name).split())
    short = line if len(line) <= max_length else line[: max_length - 1] + "…"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def clustering_names(names: Sequence[Any] | None, m: int) -> list[str]:
    """Short names of m clusterings; numbers by default."""
    labels = [short_name(name) for name in (range(m) if names is None else names)]
    if len(labels) != m:
        raise ValueError(f"names must have {m} entries, one per clustering, got {len(labels)}")
    return labels


def cluster_colour(number: int) -> str:
    """The colour of a cluster; colours repeat."""
    return COLOURS[number % len(COLOURS)]


def set_ticks(axis: Any, labels: list[str], *, slanted: bool = False) -> None:
    """One tick per label, in a font that shrinks with their number."""
    rotated = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    size = 9 if len(labels) <= 20 else max(3, 180 / len(labels))
    axis.set_ticks(range(len(labels)), labels, fontsize=size, **rotated)


def write_in_cell(ax: Any, i: int, j: int, text: str, *, light: bool) -> None:
    """Write text into cell (i, j) of a heat map, in black if the cell is light."""
    ax.text(j, i, text, ha="center", va="center", color="black" if light else "white", fontsize=8)


def scatter_clusters(ax: Any, Z: FloatArray, partition: Partition, title: str | None) -> None:
    """Draw points Z (n, 2) coloured by cluster, with a legend."""
    style = _point_style(len(Z))
    noise = partition.labels < 0
    if noise.any():
        ax.scatter(*Z[noise].T, color=_GREY, marker=".", label="in no cluster", **style)
    for i, name in enumerate(partition.names):
        members = Z[partition.labels == i]
        marker = MARKERS[i // len(COLOURS) % len(MARKERS)]
        colour, label = cluster_colour(i), short_name(name)
        ax.scatter(*members.T, color=colour, marker=marker, label=label, **style)
    handles, labels = ax.get_legend_handles_labels()
    hidden = len(labels) - _MAX_IN_LEGEND
    if hidden > 0:
        title = f"{title or 'clusters'} (and {hidden} more)"
    ax.legend(
        handles[:_MAX_IN_LEGEND],
        labels[:_MAX_IN_LEGEND],
        title=None if title is None else short_name(title, 40),
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        markerscale=max(1.0, np.sqrt(30 / style["s"])),
        fontsize="small",
        frameon=False,
    )


def scatter_values(
    ax: Any, Z: FloatArray, values: FloatArray, label: str, *, as_share: bool = False
) -> None:
    """Draw points Z (n, 2) coloured by n values, with a colour bar.

    The largest are on top; of shares the smallest, with colours from 0 to 1.
    """
    if values.shape != (len(Z),):
        raise ValueError(f"by must have {len(Z)} values, one per point, got shape {values.shape}")
    order = np.argsort(-values if as_share else values, kind="stable")
    limits: dict[str, Any] = {"vmin": 0, "vmax": 1} if as_share else {}
    style = _point_style(len(Z)) | limits
    drawn = ax.scatter(*Z[order].T, c=values[order], cmap="cividis", **style)
    ax.figure.colorbar(drawn, ax=ax, label=short_name(label, 40))


def _point_style(n: int) -> dict[str, Any]:
    size = float(np.clip(20_000 / n, 1, 30))
    return {"s": size, "linewidths": 0, "rasterized": n > _RASTERIZE_FROM}


def match_colours(sizes: Sequence[int], plans: Sequence[FloatArray | None]) -> list[list[int]]:
    """Colour numbers of all clusters of all partitions; matched clusters have the same number.

    The first partition without a plan is the reference. The plan (k, k_ref) of another partition
    holds the mass that its clusters share with those of the reference; clusters are matched
    greedily, largest mass first. Clusters without a match have numbers of their own.

    Examples
    --------
    >>> match_colours([2, 2], [None, np.array([[0.1, 0.4], [0.5, 0.0]])])
    [[0, 1], [1, 0]]
    """
    reference = next(i for i, plan in enumerate(plans) if plan is None)
    found = []
    for k, plan in zip(sizes, plans, strict=True):
        if plan is None:
            found.append(list(range(k)))
            continue
        numbers: dict[int, int] = {}
        for flow in np.argsort(-plan, axis=None, kind="stable"):
            i, j = divmod(int(flow), plan.shape[1])
            if plan[i, j] > 0 and i not in numbers and j not in numbers.values():
                numbers[i] = j
        spare = iter(range(sizes[reference], sizes[reference] + k))
        found.append([numbers[i] if i in numbers else next(spare) for i in range(k)])
    return found
