"""Plots of stability, part of :mod:`liftcluster.plot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparison.resampling.choosing import Choice, show
from ..comparison.resampling.result import STABLE, UNSTABLE, Stability
from .drawing import BLUE, ORANGE, new_axes, short_name
from .labels import fit_ticks

_LOW = -0.25  # values below are drawn there


def stability(found: Stability, *, ax: Any = None) -> Any:
    """The stability of each cluster, with every replicate as a point.

    Parameters
    ----------
    found : Stability
        From :func:`liftcluster.stability`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.stability : The function that computes it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> runs = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]
    >>> lc.plot.stability(lc.stability(X, runs, rng=0)).get_ylabel()
    'stability'
    """
    order = np.argsort(-found.clusters, kind="stable")
    ax = new_axes(columns=len(order)) if ax is None else ax
    wide = min(300.0, 300 * (20 / len(order)) ** 2)  # area of the marks of the means
    rng = np.random.default_rng(0)  # spreads the points of a cluster
    for place, i in enumerate(order):
        values = np.maximum(found.replicates[:, i], _LOW)
        ax.scatter(
            place + rng.uniform(-0.2, 0.2, len(values)), values, s=12, color=BLUE, alpha=0.4, lw=0
        )
    means = np.maximum(found.clusters[order], _LOW)
    ax.scatter(np.arange(len(order)), means, marker="_", s=wide, color=ORANGE, lw=2.5, zorder=3)
    for level, word in ((STABLE, "stable"), (UNSTABLE, "unstable below")):
        ax.axhline(level, color="#9aa2ae", lw=0.8, ls="--", zorder=0)
        ax.text(len(order) - 0.45, level, f" {word}", va="center", fontsize=8, color="#5a6270")
    ax.axhline(0, color="#5a6270", lw=0.8, zorder=0)
    ax.text(len(order) - 0.45, 0, " no structure", va="center", fontsize=8, color="#5a6270")
    ax.set(
        xlim=(-0.6, len(order) - 0.4),
        ylim=(_LOW - 0.05, 1.05),
        ylabel="stability",
        title=f"stability of the clusters, whole: {found.score:.2f}",
    )
    fit_ticks(ax.xaxis, [short_name(found.reference.names[i]) for i in order])
    return ax


def choice(found: Choice, *, ax: Any = None) -> Any:
    """The stability for each setting that was tried, with intervals, and the best one.

    Parameters
    ----------
    found : Choice
        From :func:`liftcluster.choose`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.choose : The function that computes it.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> runs = {"coarse": [0, 0, 1, 1], "other": [0, 0, 1, 1], "fine": [0, 1, 2, 3]}
    >>> lc.plot.choice(lc.choose(X, runs, rng=0)).get_ylabel()
    'stability above structureless data'
    """
    ax = new_axes() if ax is None else ax
    places = np.arange(len(found.settings))
    low, high = found.intervals.T
    ax.fill_between(places, low, high, color=BLUE, alpha=0.2, lw=0)
    ax.plot(places, found.curve, "o-", color=BLUE)
    ax.axvline(found.position, color=ORANGE, ls="--", label=f"best: {show(found.best)}")
    values = [
        next(iter(s.values())) if isinstance(s, dict) and len(s) == 1 else show(s)
        for s in found.settings
    ]
    first = found.settings[0]
    ax.set(ylabel="stability above structureless data")
    if isinstance(first, dict) and len(first) == 1:
        ax.set_xlabel(short_name(next(iter(first)), 40))
    ax.legend()
    fit_ticks(ax.xaxis, [short_name(v) for v in values])
    return ax
