"""The plot of a tree of resolutions, part of :mod:`liftcluster.plot`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._util.typing import FloatArray
from ..comparison.resampling.resolutions import ResolutionTree
from ..partitions.partition import Partition
from .drawing import new_axes, short_name
from .labels import fit_ticks, outline
from .tree_layout import drawn_flows, order_rows, place_rows

_LEAST_SIZE = 0.3  # diameter relative to the largest: smaller ones would have no visible colour
_MAX_DISTANCE = 1.2  # at which an edge is darkest
_FONTS = (9.0, 7.5, 6.0)  # in points: the largest is for names inside large nodes only
_LETTER = 0.62  # width of a letter relative to the font size
_INK = "#3d4450"
_UNKNOWN = "#d5d9df"


def resolution_tree(found: ResolutionTree, *, ax: Any = None) -> Any:
    """The clusters of several runs, a row for each run, joined by the transport between them.

    The area of a node is the mass of its cluster (small ones are drawn larger than that), and its
    colour the stability, grey if there is none. The width of an edge is its mass; its opacity
    grows with the distance. Edges with less than 5 % of both their clusters are not drawn. Nodes
    are ordered so that few edges cross, and named in the rows that have room for names.

    Parameters
    ----------
    found : ResolutionTree
        From :func:`liftcluster.resolution_tree`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure. It grows with the tree.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.resolution_tree : Makes the tree.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> tree = lc.resolution_tree(X, {"coarse": [0, 0, 1, 1], "fine": [0, 1, 2, 3]}, rng=0)
    >>> [label.get_text() for label in lc.plot.resolution_tree(tree).get_yticklabels()]
    ['coarse', 'fine']
    """
    partitions = list(found.runs.values())
    ax = _new_axes(partitions) if ax is None else ax
    width, height = _size_in_points(ax)
    row = height / len(partitions)
    masses = [p.masses for p in partitions]
    sizes = _diameters(masses, width, row)
    gap = _gap(sizes, width)
    shown = [drawn_flows(P, *pair) for P, pair in zip(found.plans, pairwise(masses), strict=True)]
    places = place_rows(shown, order_rows(shown), [d + gap for d in sizes])
    _limit(ax, places, sizes, width, len(partitions))
    _draw_edges(ax, found, shown, places, max(float(d.max()) for d in sizes))
    _draw_nodes(ax, places, sizes, found.stabilities)
    for y, (p, x, d) in enumerate(zip(partitions, places, sizes, strict=True)):
        _write_names(ax, _names(p), x, y, d, found.stabilities[y], row)
    ax.tick_params(axis="y", length=0)
    ax.set_xticks([])
    ax.set_xlabel("area, width: mass;  darkness of edges: distance", fontsize=8, color=_INK)
    ax.set_title(f"clusters of {len(partitions)} runs, and what becomes of them", fontsize="medium")
    ax.spines[:].set_visible(False)
    fit_ticks(ax.yaxis, [short_name(name) for name in found.runs])
    return ax


def _new_axes(partitions: list[Partition]) -> Any:
    """Axes with room for the names of the clusters of the widest row, within limits."""
    ax, m = new_axes(), len(partitions)
    letter = _LETTER * _FONTS[-1]
    widest = max(p.k * max(24.0, 6 + letter * max(map(len, _names(p)))) for p in partitions)
    width, height = 1.5 * widest / 72, 0.5 + 0.75 * m
    ax.figure.set_size_inches(
        np.clip(width, 6.4, 16), np.clip(height, 3.6, max(12, min(0.2 * m, 24)))
    )
    return ax


def _names(partition: Partition) -> list[str]:
    return [short_name(name, 12) for name in partition.names]


def _size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of the axes, less what the colour bar and names are going to take."""
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    return 0.85 * box.width * scale, box.height * scale


def _diameters(masses: list[FloatArray], width: float, row: float) -> list[FloatArray]:
    """Diameters of the nodes in points: at most 0.65 of a row, and all fit side by side."""
    largest = max(float(m.max()) for m in masses)
    relative = [np.maximum(np.sqrt(m / largest), _LEAST_SIZE) for m in masses]
    widest = max(float(d.sum()) for d in relative)
    unit = min(0.65 * row, 0.8 * width / widest)
    return [unit * d for d in relative]


def _gap(sizes: list[FloatArray], width: float) -> float:
    """Room between nodes in points, such that the widest row fills the width."""
    spare = min((width - float(d.sum())) / len(d) for d in sizes)
    return min(spare, 2 * max(float(d.max()) for d in sizes))


def _limit(
    ax: Any, places: list[FloatArray], sizes: list[FloatArray], width: float, m: int
) -> None:
    low = min(float((x - d / 2).min()) for x, d in zip(places, sizes, strict=True))
    high = max(float((x + d / 2).max()) for x, d in zip(places, sizes, strict=True))
    margin = max(0.0, width - (high - low)) / 2 + 0.01 * width
    ax.set(xlim=(low - margin, high + margin), ylim=(m - 0.5, -0.5))


def _draw_edges(
    ax: Any,
    found: ResolutionTree,
    shown: list[FloatArray],
    places: list[FloatArray],
    largest: float,
) -> None:
    from matplotlib.collections import LineCollection

    t = np.linspace(0, 1, 25)
    smooth = t**2 * (3 - 2 * t)
    most = max(float(p.masses.max()) for p in found.runs.values())
    for y, (plan, D) in enumerate(zip(shown, found.distances, strict=True)):
        pairs = np.argwhere(plan > 0)
        lines = [
            np.column_stack([a + (b - a) * smooth, y + t])
            for a, b in zip(places[y][pairs[:, 0]], places[y + 1][pairs[:, 1]], strict=True)
        ]
        flows, far = plan[plan > 0], np.minimum(D[plan > 0] / _MAX_DISTANCE, 1)
        ax.add_collection(
            LineCollection(
                lines,
                linewidths=0.6 + 0.5 * largest * flows / most,
                colors=_INK,
                alpha=0.2 + 0.6 * far,
                capstyle="butt",
                zorder=1,
            )
        )


def _draw_nodes(
    ax: Any, places: list[FloatArray], sizes: list[FloatArray], values: tuple[FloatArray, ...]
) -> None:
    import matplotlib
    from matplotlib.collections import EllipseCollection

    diameters = np.concatenate(sizes)
    y = np.repeat(np.arange(len(places)), [len(x) for x in places])
    nodes = EllipseCollection(
        diameters,
        diameters,
        np.zeros(len(y)),
        units="x",  # round, and as wide as the layout assumes, in axes of any shape
        offsets=np.column_stack([np.concatenate(places), y]),
        offset_transform=ax.transData,
        array=np.ma.masked_invalid(np.concatenate(values)),
        cmap=matplotlib.colormaps["cividis"].with_extremes(bad=_UNKNOWN),
        clim=(0, 1),
        edgecolors="white",
        linewidths=0.8,
        zorder=2,
    )
    ax.add_collection(nodes)
    ax.figure.colorbar(nodes, ax=ax, label="stability", extend="min", shrink=0.7, aspect=25)


def _write_names(
    ax: Any,
    names: list[str],
    x: FloatArray,
    y: int,
    sizes: FloatArray,
    values: FloatArray,
    row: float,
) -> None:
    """Write names into the nodes of a row, beside or below them, if all have room."""
    letters = _LETTER * np.array([len(name) for name in names])
    fonts = np.clip(0.45 * sizes, _FONTS[-1], _FONTS[0])
    inside = (letters * fonts <= 0.85 * sizes) & (fonts <= 0.8 * sizes)
    place = _place_outside(x, sizes, letters * ~inside, row)
    if place is None:
        return
    beside, font = place
    fonts[~inside] = font
    for i, name in enumerate(names):
        offset, align = (0.0, 0.0), ("center", "center")
        if not inside[i] and beside:
            offset, align = (sizes[i] / 2 + 2, 0.0), ("left", "center")
        elif not inside[i]:
            offset, align = (0.0, -sizes[i] / 2 - 1), ("center", "top")
        text = ax.annotate(
            name,
            (x[i], y),
            offset,
            textcoords="offset points",
            fontsize=fonts[i],
            color="white" if inside[i] and values[i] < 0.5 else "black",
            ha=align[0],
            va=align[1],
        )
        if not inside[i]:
            outline(text)


def _place_outside(
    x: FloatArray, sizes: FloatArray, letters: FloatArray, row: float
) -> tuple[bool, float] | None:
    """Whether names go beside the nodes (or below), and in which font; None if nowhere.

    ``letters`` is the length of each name relative to the font, zero for names inside.
    """
    for font in _FONTS[1:]:
        if _fit_in_row(x, sizes / 2, sizes / 2 + np.where(letters > 0, letters * font + 4, 0)):
            return True, font
    for font in _FONTS[1:]:
        half, room = letters * font / 2, row - sizes[letters > 0]
        if _fit_in_row(x, half, half + 3) and (room >= 3 * font).all():
            return False, font
    return None


def _fit_in_row(x: FloatArray, left: FloatArray, right: FloatArray) -> bool:
    """Whether the intervals from x − left to x + right are disjoint."""
    order = np.argsort(x)
    return bool(((x + right)[order][:-1] <= (x - left)[order][1:]).all())
