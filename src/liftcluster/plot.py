"""Pictures of results with matplotlib (extra ``plot``); each takes an ``ax`` and returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .explanation import Comparison
    from .methods.selection import Curve
    from .profiles import Profile

__all__ = ["curve", "plan", "profile"]

# Okabe and Ito's colours, which colour-blind readers can tell apart.
BLUE, ORANGE = "#0072B2", "#D55E00"


def profile(found: Profile, *, ax: Any = None) -> Any:
    """A distance over bandwidths, with a band of two standard errors."""
    ax = _axes(ax)
    ax.plot(found.bandwidths, found.values, "o-", color=BLUE, label=found.measure)
    if found.errors is not None and found.errors.any():
        low, high = found.values - 2 * found.errors, found.values + 2 * found.errors
        ax.fill_between(
            found.bandwidths, low, high, color=BLUE, alpha=0.2, label="± 2 standard errors"
        )
    ax.axvline(found.median, color=ORANGE, linestyle="--", label="median distance of points")
    ax.set(xscale="log", xlabel="bandwidth", ylabel=f"{found.measure} distance")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def plan(found: Comparison, *, ax: Any = None) -> Any:
    """The transport plan between two partitions: shares of mass, coloured by how far it goes."""
    if found.plan is None or found.cluster_distances is None or found.representation is None:
        raise ValueError("there is no plan without points: give compare the argument X")
    ax = _axes(ax)
    a, b = (part.cluster_names for part in (found.representation[0], found.representation[1]))
    shown = np.ma.masked_where(found.plan <= 0.0005, found.cluster_distances)
    image = ax.imshow(shown, cmap="cividis", vmin=0, vmax=np.sqrt(2), aspect="auto")
    for i, j in np.argwhere(~np.ma.getmaskarray(shown)):
        light = found.cluster_distances[i, j] > np.sqrt(2) / 2
        ax.text(
            j,
            i,
            f"{found.plan[i, j]:.1%}",
            ha="center",
            va="center",
            color="black" if light else "white",
        )
    ax.set_xticks(range(len(b)), [str(name) for name in b])
    ax.set_yticks(range(len(a)), [str(name) for name in a])
    ax.set(xlabel=f"clusters of {found.names[1]}", ylabel=f"clusters of {found.names[0]}")
    ax.set_title("share of the mass that goes from row to column")
    ax.figure.colorbar(image, ax=ax, label="distance it travels")
    return ax


def curve(found: Curve, *, ax: Any = None) -> Any:
    """A criterion for the number of clusters, and the number it chose."""
    ax = _axes(ax)
    ax.plot(found.candidates, found.values, "o-", color=BLUE, label=found.criterion)
    ax.axvline(found.k, color=ORANGE, linestyle="--", label=f"chosen: {found.k}")
    ax.set(xlabel="number of clusters", ylabel=found.criterion)
    ax.legend()
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('pictures need matplotlib: pip install "liftcluster[plot]"') from None
    return plt.subplots()[1]
