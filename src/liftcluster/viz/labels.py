"""Text in plots that fits: ticks in a font that suits their number, names that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._util.typing import FloatArray

_FONTS = (5.0, 9.0)  # smallest and largest, in points
_LINE = 1.25  # height of a line relative to the font size
_LETTER = 0.65  # width of a letter relative to the font size
_SLANTED = 1.5  # distance of lines at 45 degrees, measured along the axis, relative to their height
_AROUND = (  # where a name is put beside its point: direction and alignment
    (1, 1, "left", "bottom"),
    (-1, 1, "right", "bottom"),
    (1, -1, "left", "top"),
    (-1, -1, "right", "top"),
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
)


def settle(ax: Any) -> None:
    """Let the layout of the figure take place, so that sizes can be measured."""
    ax.figure.canvas.figure.draw_without_rendering()  # also for axes of a subfigure


def fit_ticks(axis: Any, names: Sequence[str], places: FloatArray | None = None) -> None:
    """A tick for each name, in a font that suits the room; of too many names every second or third.

    ``places`` are the coordinates of the ticks, 0, 1, 2, … by default. Names along the horizontal
    axis are slanted or vertical if they are too long.
    """
    at = np.arange(float(len(names))) if places is None else places
    is_x = axis.axis_name == "x"
    rotation = 90 if is_x and len(names) > 1 else 0
    axis.set_ticks(at, names, fontsize=_FONTS[0], rotation=rotation)
    settle(axis.axes)
    room = _room(axis.axes, is_x) * (np.diff(at).min() if len(at) > 1 else 1.0)
    if not is_x:
        font, style = _font(room, _LINE), dict[str, Any]()
    elif _LETTER * _FONTS[1] * max(map(len, names), default=0) <= 0.9 * room:
        font, style = _FONTS[1], {"rotation": 0}
    elif room >= _SLANTED * _LINE * 7:
        font = _font(room, _SLANTED * _LINE)
        style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    else:
        font, style = _font(room, _LINE), {"rotation": 90}
    every = max(1, math.ceil(_LINE * font / max(room, 1e-9)))
    axis.set_ticks(at[::every], list(names)[::every], fontsize=font, **style)


def write_numbers(ax: Any, cells: dict[tuple[int, int], str], light: Any) -> None:
    """Write texts into cells (row, column) of a heat map if they fit, in black if it is light."""
    settle(ax)
    width, height = _room(ax, True), _room(ax, False)
    letters = max((len(text) for text in cells.values()), default=0)
    font = min(8.0, height / _LINE, 0.95 * width / max(_LETTER * letters, 1e-9))
    if font < _FONTS[0]:
        return
    for (i, j), text in cells.items():
        colour = "black" if light[i, j] else "white"
        ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=font)


def write_names(
    ax: Any, Z: FloatArray, names: Sequence[str], first: Sequence[int], **style: Any
) -> int:
    """Names beside points Z (n, 2) where they overlap no other name or point; how many have none.

    ``first`` is the order in which points get their names, those far from all others first if the
    caller wants every group to be named.
    """
    settle(ax)
    points = ax.transData.transform(Z)
    unit = ax.figure.dpi / 72
    box = ax.get_window_extent()
    markers = np.hstack([points - 4 * unit, points + 4 * unit])
    taken = np.empty((0, 4))
    hidden = 0
    for i in first:
        text = ax.annotate(names[i], Z[i], (0, 0), textcoords="offset points", fontsize=9, **style)
        size = text.get_window_extent()
        others = np.vstack([taken, np.delete(markers, i, axis=0)])
        for dx, dy, horizontal, vertical in _AROUND:
            low = points[i] + unit * 6 * np.array([dx, dy]) - _shift(size, horizontal, vertical)
            place = np.array([*low, low[0] + size.width, low[1] + size.height])
            inside = (place[:2] >= box.min).all() and (place[2:] <= box.max).all()
            if inside and not _overlaps(place, others):
                text.set(ha=horizontal, va=vertical)
                text.xyann = (6 * dx, 6 * dy)
                outline(text)
                taken = np.vstack([taken, place])
                break
        else:
            text.remove()
            hidden += 1
    return hidden


def outline(text: Any) -> None:
    """White around text that may lie on lines or points."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def names_that_fit(ax: Any, heights: FloatArray, sizes: FloatArray, font: float) -> list[int]:
    """Of lines of text at some heights those that do not overlap, for the largest sizes first."""
    settle(ax)
    line = _LINE * font / _room(ax, False)
    kept: list[int] = []
    for i in np.argsort(-sizes, kind="stable"):
        if all(abs(heights[i] - heights[j]) >= line for j in kept):
            kept.append(int(i))
    return kept


def _room(ax: Any, horizontal: bool) -> float:
    """Points (1/72 inch) for each unit of the data."""
    (x0, y0), (x1, y1) = ax.transData.transform([(0, 0), (1, 1)])
    return float(abs(x1 - x0) if horizontal else abs(y1 - y0)) * 72 / float(ax.figure.dpi)


def _font(room: float, line: float) -> float:
    return float(np.clip(0.95 * room / line, *_FONTS))


def _shift(size: Any, horizontal: str, vertical: str) -> FloatArray:
    """From the lower left corner of a text to its anchor."""
    x = {"left": 0.0, "center": size.width / 2, "right": size.width}[horizontal]
    y = {"bottom": 0.0, "center": size.height / 2, "top": size.height}[vertical]
    return np.array([x, y])


def _overlaps(box: FloatArray, others: FloatArray) -> bool:
    """Whether a box (left, bottom, right, top) overlaps one of several."""
    return bool(((box[:2] < others[:, 2:]) & (box[2:] > others[:, :2])).all(axis=1).any())
