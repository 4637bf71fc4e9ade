"""Plots of the figures with matplotlib, in colours and markers safe for colour blindness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liftcluster._util.extras import needs
from liftcluster.viz.drawing import BLUE, COLOURS, ORANGE

from . import published
from .section import Values

__all__ = [
    "load_matplotlib",
    "plot_cells",
    "plot_digits",
    "plot_errors",
    "plot_rings",
    "plot_triple",
    "plot_views",
]

_MARKERS = ("o", "^", "s")
_WIDTH = 5.8  # inches; text of ten points is readable at a width of 400 pixels
_GREY = "#666666"


def load_matplotlib() -> Any:
    """The class Figure of matplotlib, or an ImportError that says how to install it."""
    try:
        from matplotlib.figure import Figure  # opens no window, unlike pyplot
    except ImportError:
        raise ImportError(needs("matplotlib", "drawing figures")) from None
    return Figure


def _figure(height: float) -> Any:
    return load_matplotlib()(figsize=(_WIDTH, height), layout="constrained")


def plot_triple(values: Values, results: Mapping[str, Any]) -> Any:
    figure = _figure(2.9)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    X = np.array(values["X"])
    reference = np.array(values["partitions"]["RP"])
    for ax, (name, labels) in zip(axes, values["partitions"].items(), strict=True):
        labels = np.array(labels)
        _scatter(ax, X, labels)
        moved = labels != reference
        ax.scatter(*X[moved].T, s=110, facecolors="none", edgecolors="black", linewidths=1)
        title = f"{name}: reference"
        if name in values["distances"]:
            found = values["distances"][name]
            title = f"{name}: to RP\nRand {found['rand']:.3f}\nLiftEMD {found['lift_emd']:.3f}"
        ax.set_title(title, fontsize=10.5)
        ax.set_xlabel("x")
    axes[0].set_ylabel("y")
    handles, names = axes[0].get_legend_handles_labels()
    ring = axes[1].scatter([], [], s=110, facecolors="none", edgecolors="black")
    figure.legend([*handles, ring], [*names, "moved"], loc="outside lower center", ncols=4)
    return figure


def plot_rings(values: Values, results: Mapping[str, Any]) -> Any:
    figure = _figure(5.2)
    ax = figure.subplots()
    X, labels = np.array(values["X"]), np.array(values["labels"])
    _scatter(ax, X, labels)
    ax.scatter(*X.mean(axis=0), marker="X", s=150, color="black", label="centroid of each cluster")
    ax.set(aspect="equal", xlabel="x", ylabel="y")
    ax.set_title(
        "circles 1 and 2 merged:\n"
        f"CC changes by {values['centroid']:.2f}, LiftEMD by {values['lift_emd']:.2f}",
        fontsize=11.5,
    )
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def plot_cells(values: Values, results: Mapping[str, Any]) -> Any:
    figure = _figure(3.8)
    ax = figure.subplots()
    X, labels = np.array(values["X"]), np.array(values["labels"])
    for pair, colour, marker, name in (
        ((0, 1), BLUE, "o", "near"),
        ((2, 3), ORANGE, "^", "far"),
    ):
        own = np.isin(labels, pair)
        found = values["distances"][name]
        ax.scatter(
            *X[own].T,
            s=45,
            facecolors="none" if marker == "o" else colour,
            edgecolors=colour,
            marker=marker,
            label=f"{name} clusters:\nADCO {found['adco']:.2f}\nLiftEMD {found['lift_emd']:.2f}",
        )
    ax.set(xlim=(0, 10), ylim=(0, 10), aspect="equal", xlabel="x", ylabel="y")
    ax.set(xticks=range(11), yticks=range(11))
    ax.grid(color="#cccccc", linewidth=0.8)
    figure.legend(loc="outside right upper", fontsize=11, labelspacing=1.2)
    return figure


def plot_views(values: Values, results: Mapping[str, Any]) -> Any:
    """The points of each partition above, the cluster vectors below."""
    m = len(values["partitions"])
    figure = _figure(5.6)
    above, below = figure.subfigures(2, 1, height_ratios=[0.8, 1])
    X = np.array(values["X"])
    for ax, (name, labels) in zip(
        above.subplots(1, m, sharey=True), values["partitions"].items(), strict=True
    ):
        _scatter(ax, X, np.array(labels))
        ax.set_title(name, fontsize=11)
        ax.set(xlabel="x", ylabel="y" if name == "P1" else "")
        ax.legend(
            loc="upper center",
            ncols=3,
            fontsize=9,
            handletextpad=0,
            columnspacing=0.4,
            borderaxespad=0.2,
        )
        ax.set_ylim(top=X[:, 1].max() + 1.1)
    kinds = {"raw": "raw vectors Φ(C)", "unit": "unit vectors Φ̄(C)"}
    if m == 3:
        kinds.pop("raw")
    axes = np.atleast_1d(below.subplots(1, len(kinds)))
    for ax, (kind, title) in zip(axes, kinds.items(), strict=True):
        _plot_vectors(ax, values, kind)
        ax.set_title(title, fontsize=11)
    below.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _plot_vectors(ax: Any, values: Values, kind: str) -> None:
    Z = np.array(values["views"][kind])
    groups = np.array(values["groups"])
    for group in np.unique(groups):
        own = groups == group
        ax.scatter(
            *Z[own].T,
            s=55,
            color=COLOURS[group],
            marker=_MARKERS[group],
            label=f"consensus cluster {group + 1}",
        )
    for names, position in _merged_labels(values["clusters"], Z):
        left = position[0] < Z[:, 0].mean()
        ax.annotate(
            names,
            position,
            xytext=(9 if left else -9, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            fontsize=11,
        )
    ax.set_aspect("equal", adjustable="datalim")  # distances are comparable in both directions
    first, second = values["axes"][kind]
    ax.set_xlabel(first)
    ax.set_ylabel(second)
    ax.margins(0.2)


def _merged_labels(names: list[str], Z: Any) -> list[tuple[str, Any]]:
    """Labels and their positions; vectors whose labels would overlap share one."""
    close = 0.15 * np.ptp(Z, axis=0).max()
    groups: list[list[int]] = []
    for i, z in enumerate(Z):
        group = next((g for g in groups if np.linalg.norm(Z[g[0]] - z) < close), None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    return [(", ".join(names[i] for i in group), Z[group].mean(axis=0)) for group in groups]


def plot_digits(values: Values, results: Mapping[str, Any]) -> Any:
    """One row of mean images per partition, sorted by the digits they match."""
    figure = _figure(3.9)
    first = next(iter(results.values()))
    axes = figure.subplots(len(first), 10)
    for row, found in zip(axes, first.values(), strict=True):
        clusters, centroids = found["clusters"], found["centroids"]
        order = sorted(range(len(clusters)), key=lambda c: clusters[c]["digit"] or "~")
        for ax, c in zip(row, order, strict=False):
            ax.imshow(np.array(centroids[c]).reshape(28, 28), cmap="gray_r", vmin=0)
            _frame(ax, clusters[c])
        recovered = sum(c["recovered"] for c in clusters)
        row[0].set_ylabel(
            f"{found['title']}\n{recovered} recovered",
            rotation=0, ha="right", va="center", fontsize=10,
        )  # fmt: skip
        for ax in row:
            ax.set(xticks=[], yticks=[])
    for digit, ax in enumerate(axes[0]):
        ax.set_title(str(digit), fontsize=11)
    figure.supxlabel(
        "mean image of the cluster matched to each digit; solid blue frame: recovered,\n"
        "dashed orange: only seen, no frame: neither", fontsize=9.5,
    )  # fmt: skip
    return figure


def _frame(ax: Any, cluster: Values) -> None:
    shown = cluster["recovered"] or cluster["seen"]
    for spine in ax.spines.values():
        spine.set_visible(bool(shown))
        spine.set_linewidth(2.5)
        spine.set_color(BLUE if cluster["recovered"] else ORANGE)
        spine.set_capstyle("butt")  # other caps would fill the gaps between dashes
        spine.set_linestyle("-" if cluster["recovered"] else (0, (2, 1.5)))


def plot_errors(values: Values, results: Mapping[str, Any]) -> Any:
    figure = _figure(4.2)
    ax = figure.subplots()
    rho = values["components"]
    independent, ours = values["errors"]["independent"], values["errors"]["ours"]
    ax.plot(rho, independent["mean"], "o-", color=BLUE, label="independent frequencies (paper)")
    ax.plot(rho, independent["q90"], ":", color=BLUE, linewidth=2, label="90 % quantile")
    ax.plot(rho, ours["mean"], "s-", color=ORANGE, label="our frequencies")
    ax.plot(rho, values["bound"], "--", color="black", label="bound of theorem 3.1")
    law = independent["mean"][-1] * np.sqrt(rho[-1] / np.asarray(rho))
    ax.plot(rho, law, "-.", color=_GREY, linewidth=1.2, label="1/√ρ")
    paper = published.SUFFICIENT_COMPONENTS[values["name"]]
    ax.axvline(paper, color=COLOURS[2], linewidth=1.5, label=f"the paper's ρ = {paper:,}")
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel("number of features ρ", fontsize=11)
    ax.set_ylabel("|error| of LiftEMD", fontsize=11)
    figure.legend(loc="outside upper center", ncols=2, fontsize=9.5)
    return figure


def _scatter(ax: Any, X: Any, labels: Any) -> None:
    for i, name in enumerate(np.unique(labels)):
        own = labels == name
        title = f"cluster {name}" if np.issubdtype(labels.dtype, np.integer) else str(name)
        ax.scatter(*X[own].T, s=28, color=COLOURS[i], marker=_MARKERS[i], label=title)
