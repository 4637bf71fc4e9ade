"""Pictures of the data sets: the classes beside the consensus, twelve sets in a file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from .sets import DataSet

__all__ = ["PER_PICTURE", "draw_sets"]

PER_PICTURE = 12
_PER_LINE = 4
_COLOURS = 96  # of the palette, which keeps files small


def draw_sets(sets: list[DataSet], labels: list[np.ndarray], path: Path) -> None:
    """A PNG of up to 12 sets: each coloured by its classes, and beside it by these labels."""
    lines = -(-len(sets) // _PER_LINE)
    figure = Figure(figsize=(8.4, 1.3 * lines + 0.1), dpi=130)
    panels = figure.subplots(lines, 2 * _PER_LINE).ravel()
    top = 1 - 0.16 / (1.3 * lines + 0.1)
    figure.subplots_adjust(0.005, 0.005, 0.995, top, wspace=0.06, hspace=0.16)
    for panel in panels:
        panel.axis("off")
    for number, (data, found) in enumerate(zip(sets, labels, strict=True)):
        left, right = panels[2 * number : 2 * number + 2]
        Z, classes = plane(data.X), np.unique(data.classes, return_inverse=True)[1]
        _scatter(left, Z, classes)
        _scatter(right, Z, match_labels(found, classes))
        left.set_title(data.name, loc="left", fontsize=6, pad=2)
    _save(figure, path)


def plane(X: np.ndarray) -> np.ndarray:
    """(n, 2) the points if they are in the plane, else their first two principal components."""
    if X.shape[1] == 2:
        return X
    centred = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    return np.column_stack([U * s, np.zeros(len(X))])[:, :2]  # a second coordinate, if d is one


def match_labels(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes of the labels; those of the largest common overlap are the codes of the classes."""
    overlap = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(-overlap)
    code = np.full(overlap.shape[1], -1)
    code[columns] = rows
    rest = np.flatnonzero(code < 0)
    code[rest] = overlap.shape[0] + np.arange(len(rest))
    return code[np.unique(labels, return_inverse=True)[1]]


def _scatter(panel: Axes, Z: np.ndarray, codes: np.ndarray) -> None:
    colours = colormaps["tab20"].colors
    order = [*range(0, 20, 2), *range(1, 20, 2)]  # strong colours first
    panel.axis("on")
    panel.set(xticks=[], yticks=[])
    panel.scatter(*Z.T, s=1.5, lw=0, c=[colours[order[code % 20]] for code in codes])
    for side in panel.spines.values():
        side.set(color="0.8", lw=0.5)


def _save(figure: Figure, path: Path) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(drawn).convert("RGB").quantize(_COLOURS).save(path, optimize=True)
