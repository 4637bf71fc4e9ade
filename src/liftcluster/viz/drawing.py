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
_LARGEST = 16.0  # inches, of a figure
_LEAST_RANGE = 1e-3  # of colours of distances: smaller ones are all dark
_RASTERIZE_FROM = 20_000  # points; vector files would become too large


def new_axes(rows: int = 0, columns: int = 0) -> Any:
    """Axes of a new figure, which is larger than usual for many rows or columns."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(needs("matplotlib", "plotting")) from None
    figure, ax = plt.subplots(layout="constrained")
    width, height = figure.get_size_inches()
    width, height = max(width, 2.5 + 0.125 * columns), max(height, 1.8 + 0.125 * rows)
    figure.set_size_inches(min(width, _LARGEST), min(height, _LARGEST))
    return ax


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


def distance_scale(D: Any) -> dict[str, Any]:
    """Colours of distances, the same in all pictures: from 0 to the largest one."""
    largest = float(np.ma.masked_invalid(D).max()) if np.ma.count(np.ma.masked_invalid(D)) else 0.0
    return {
        "cmap": "cividis",
        "vmin": 0.0,
        "vmax": max(largest, _LEAST_RANGE),
        "interpolation": "nearest",
    }


def farthest_first(Z: FloatArray) -> list[int]:
    """Points such that each is as far as possible from those before it; starts with the first."""
    order = [0]
    nearest = ((Z - Z[0]) ** 2).sum(axis=1)
    for _ in range(len(Z) - 1):
        nearest[order[-1]] = -1
        order.append(int(nearest.argmax()))
        nearest = np.where(
            nearest < 0, -1, np.minimum(nearest, ((Z - Z[order[-1]]) ** 2).sum(axis=1))
        )
    return order


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
    ax: Any,
    Z: FloatArray,
    values: FloatArray,
    label: str,
    *,
    limits: tuple[float, float] | None = None,
    smallest_on_top: bool = False,
) -> None:
    """Draw points Z (n, 2) coloured by n values, with a colour bar; those without value in grey."""
    if values.shape != (len(Z),):
        raise ValueError(f"by must have {len(Z)} values, one per point, got shape {values.shape}")
    style, known = _point_style(len(Z)), ~np.isnan(values)
    if not known.all():
        ax.scatter(*Z[~known].T, color=_GREY, marker=".", **style)
    Z, values = Z[known], values[known]
    order = np.argsort(-values if smallest_on_top else values, kind="stable")
    low, high = limits or (None, None)
    drawn = ax.scatter(*Z[order].T, c=values[order], cmap="cividis", vmin=low, vmax=high, **style)
    ax.figure.colorbar(drawn, ax=ax, label=short_name(label, 40))


def difference_limits(values: FloatArray) -> tuple[float, float]:
    """Colours of distances between clusters: from 0, and tiny ones alike."""
    return 0.0, max(float(np.nanmax(values, initial=0.0)), _LEAST_RANGE)


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
