"""Plots of sets of clusterings and of alternatives, part of :mod:`liftcluster.plot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..combination.alternatives import Alternative
from ..comparison.diversity import DiverseSubset
from .drawing import BLUE, MARKERS, ORANGE, cluster_colour, new_axes, short_name
from .labels import write_names
from .layout import embed_distances


def diverse_subset(found: DiverseSubset, *, ax: Any = None) -> Any:
    """All clusterings in the plane, in the colours of the chosen ones that stand for them.

    Multidimensional scaling of their distances, as in :func:`clusterings_map`. The chosen are
    larger, and have names where there is room.

    Parameters
    ----------
    found : DiverseSubset
        From :func:`liftcluster.diverse_subset`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.diverse_subset : Chooses the clusterings.
    liftcluster.plot.clusterings_map : A map of all clusterings alike.

    Examples
    --------
    >>> import liftcluster as lc
    >>> runs = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [1, 1, 0, 0]}
    >>> ax = lc.plot.diverse_subset(lc.diverse_subset(runs, 2, measure="vi"))
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b']
    """
    Z, stress = embed_distances(found.matrix)
    ax = new_axes() if ax is None else ax
    size = float(np.clip(4000 / len(Z), 6, 40))
    for number, centre in enumerate(found.positions):
        own = Z[found.nearest == number]
        style = {
            "color": cluster_colour(number),
            "marker": MARKERS[number // 8 % len(MARKERS)],
            "lw": 0,
        }
        ax.scatter(*own.T, s=size, alpha=0.5, zorder=2, **style)
        ax.scatter(*Z[centre], s=110, zorder=3, **style | {"edgecolor": "white", "lw": 1})
    ax.margins(0.2)
    ax.set_aspect("equal", adjustable="datalim")
    title = f"{len(found.positions)} of {len(Z)} clusterings, stress {stress:.3f}"
    ax.set(xlabel="distance", ylabel="distance", title=title)
    chosen = list(found.positions)
    names = [short_name(found.names[centre]) for centre in chosen]
    write_names(ax, Z[chosen], names, range(len(chosen)), zorder=4)
    return ax


def alternative(found: Alternative, *, ax: Any = None) -> Any:
    """Quality against distance of the clusterings on the curve of an alternative.

    Each has the trade-offs for which it is the best; the recommended one is highlighted.

    Parameters
    ----------
    found : Alternative
        From :func:`liftcluster.alternative`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.alternative : Finds the clusterings.

    Examples
    --------
    >>> import liftcluster as lc
    >>> X = [[0.0, 0.0], [0.0, 5.0], [6.0, 0.0], [6.0, 5.0]]
    >>> found = lc.alternative(X, [0, 0, 1, 1], 2, rng=0)
    >>> lc.plot.alternative(found).get_xlabel()
    'mean distance to the given clustering'
    """
    ax = new_axes() if ax is None else ax
    distances = [each.distance for each in found.curve]
    qualities = [each.quality for each in found.curve]
    ax.plot(distances, qualities, "o-", color=BLUE, zorder=2)
    chosen = found.recommended
    label = f"for λ = {found.trade_off:g}"
    ax.scatter(chosen.distance, chosen.quality, s=140, color=ORANGE, zorder=3, label=label)
    middle = (min(distances) + max(distances)) / 2
    for each in found.curve:
        offset, align = (9, "left") if each.distance <= middle else (-9, "right")
        ax.annotate(
            f"λ ≥ {each.least:.2f}",
            (each.distance, each.quality),
            xytext=(offset, 6),
            textcoords="offset points",
            ha=align,
            fontsize=8,
        )
    ax.margins(0.15)
    several = "s" if len(found.given) > 1 else ""
    ax.set(
        xlabel=f"mean distance to the given clustering{several}",
        ylabel="quality (1: the best known)",
    )
    ax.legend(loc="lower left")
    return ax
