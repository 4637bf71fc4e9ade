"""Plots of results with matplotlib (extra ``plot``).

Every function draws on the axes ``ax``, by default those of a new figure, and returns them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.typing import FloatArray, Points
from ..combination.choice_of_k import Curve
from ..combination.result import Consensus
from ..comparison.comparison import Comparison
from ..comparison.profile import Profile
from ..partitions.partition import as_partition
from .diversity_plots import alternative, diverse_subset
from .drawing import (
    BLUE,
    ORANGE,
    cluster_colour,
    difference_limits,
    distance_scale,
    match_colours,
    new_axes,
    scatter_clusters,
    scatter_values,
    short_name,
)
from .labels import fit_ticks, names_that_fit, write_numbers
from .layout import project_points
from .map_plots import clusterings_map, distances
from .stability_plots import choice, stability
from .tree_plot import resolution_tree

__all__ = [
    "alternative",
    "choice",
    "clusterings_map",
    "composition",
    "curve",
    "distances",
    "diverse_subset",
    "flow",
    "plan",
    "points",
    "profile",
    "resolution_tree",
    "stability",
]

_MOST_ROWS = 40  # clusters of the inputs that are named one by one in a composition


def flow(found: Comparison, *, colours: Any = None, ax: Any = None) -> Any:
    """The transport plan as bands from the clusters of one partition to those of the other.

    The width of a band is its share of the mass; its opacity grows with the distance. Clusters
    are named where there is room, the largest first.

    Parameters
    ----------
    found : Comparison
        From :func:`liftcluster.compare` with points.
    colours : two sequences of colours, or None for either, optional
        Those of the clusters of both partitions; by default clusters that match have the same.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.plot.plan : The same as a heat map.
    liftcluster.compare : Makes the comparison.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.compare([0, 0, 1, 1], [0, 0, 1, 2], [[0.0], [1.0], [5.0], [6.0]])
    >>> len(lc.plot.flow(found).collections)  # one band for each flow
    3
    """
    masses, D, names = _transport_plan(found)
    most = max(masses.shape)
    ax = new_axes(rows=most) if ax is None else ax
    sizes = masses.sum(axis=1), masses.sum(axis=0)
    gap = min(0.01, 0.3 / most)
    left = _stacked(sizes[0], np.arange(len(sizes[0])), gap)
    mean_source = (left + sizes[0] / 2) @ masses / np.maximum(sizes[1], 1e-12)
    right = _stacked(sizes[1], np.argsort(mean_source, kind="stable"), gap)  # few bands cross
    palettes = _palettes(masses, colours)
    start, end = left.copy(), right.copy()
    x = np.linspace(0, 1, 40)
    smooth = x**2 * (3 - 2 * x)
    for i, j in sorted(np.argwhere(masses > 1e-12), key=lambda flow: (flow[0], right[flow[1]])):
        low = start[i] + (end[j] - start[i]) * smooth
        opacity = 0.25 + 0.6 * min(D[i, j] / 1.2, 1)
        colour = palettes[0][i]
        ax.fill_between(x, low, low + masses[i, j], color=colour, alpha=opacity, lw=0)
        start[i] += masses[i, j]
        end[j] += masses[i, j]
    for side, bottoms in enumerate((left, right)):
        ax.bar(side, sizes[side], width=0.05, bottom=bottoms, color=palettes[side])
    a, b = (short_name(name) for name in found.names)
    ax.set_xticks([0, 1], [a, b])
    ax.invert_yaxis()
    ax.set(xlim=(-0.45, 1.45), yticks=[])
    ax.set_title(f"what became of the clusters of {a} in {b}\n(shares of the mass)", fontsize=10)
    ax.spines[:].set_visible(False)
    font = 9 if most <= 20 else 7
    for side, bottoms in enumerate((left, right)):
        text_x, align = ((-0.05, "right"), (1.05, "left"))[side]
        heights = bottoms + sizes[side] / 2
        for i in names_that_fit(ax, heights, sizes[side], font):
            text = f"{names[side][i]}  {sizes[side][i]:.0%}"
            ax.text(text_x, heights[i], text, ha=align, va="center", fontsize=font)
    return ax


def points(
    X: Points, by: Any, *, view: Any = None, label: str | None = None, ax: Any = None
) -> Any:
    """A scatter plot of points, coloured by cluster or by value.

    Parameters
    ----------
    X : (n, d) array-like
        The points.
    by : labels, memberships, Partition, Consensus, Comparison, or (n,) floats
        A clustering or a consensus colours by cluster, with noise in grey; a comparison by where
        its two clusterings differ (``point_distances`` of it); real numbers, such as
        the ``confidence`` of a consensus, by value (integers are labels).
    view : "pca", "neighbours" or (n, 2) array-like, optional
        The plane: two principal components, an embedding that keeps neighbours together (in which
        sizes of groups and distances between them mean nothing), or coordinates. By default X if
        d ≤ 2; the neighbour embedding if two components explain less than 80 % of the variance of
        100 to 20,000 points; else two principal components.
    label : str, optional
        Title of the legend or label of the colour bar.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.Comparison : Its ``witness`` says where two clusterings differ.
    liftcluster.Consensus : Has a ``confidence`` of each point.

    Examples
    --------
    >>> import liftcluster as lc
    >>> ax = lc.plot.points([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], ["a", "a", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    projected = project_points(X, view)
    Z = projected.coordinates
    ax = new_axes() if ax is None else ax
    if isinstance(by, Consensus):
        by, label = by.partition, label or "consensus"
    if isinstance(by, Comparison):
        values, label = by.point_distances, label or "distance between a point's clusters"
        scatter_values(ax, Z, values, label, limits=difference_limits(values))
        ax.set_title(" and ".join(short_name(name) for name in by.names), fontsize="medium")
    elif _is_real(by):
        scatter_values(ax, Z, np.asarray(by, dtype=np.float64), label or "value")
    else:
        partition = as_partition(by)
        if partition.n != len(Z):
            raise ValueError(f"X has {len(Z)} points, but by has {partition.n} labels")
        scatter_clusters(ax, Z, partition, label)
    ax.set(xlabel=short_name(projected.axes[0], 40), ylabel=short_name(projected.axes[1], 40))
    if projected.note:  # an embedding, whose coordinates mean nothing
        ax.set(xticks=[], yticks=[])
    return ax


def composition(found: Consensus, *, ax: Any = None) -> Any:
    """The clusters of a consensus as a heat map of their shares of the input clusters.

    The clusters of each input are in the order of the clusters of the consensus that they are
    mostly in. Of more than 40, the inputs are named, and not each of their clusters.

    Parameters
    ----------
    found : Consensus
        From :func:`liftcluster.consensus`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.consensus : Makes the consensus.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.consensus([[0, 0, 1, 1], [0, 0, 0, 1]], 2, [[0.0], [1.0], [5.0], [6.0]], rng=0)
    >>> lc.plot.composition(found).get_xlabel()
    'clusters of the consensus'
    """
    rows = [(name, cluster) for name, p in found.inputs.items() for cluster in p.names]
    share_of = [{part[:2]: part[2] for part in parts} for parts in found.composition]
    shares = np.array([[column.get(row, 0.0) for column in share_of] for row in rows])
    number = np.repeat(np.arange(len(found.inputs)), [p.k for p in found.inputs.values()])
    places = np.lexsort((-shares.max(axis=1), shares.argmax(axis=1), number))
    many = len(rows) > _MOST_ROWS
    ax = new_axes(rows=min(len(rows), 2 * len(found.inputs))) if ax is None else ax
    style = {"cmap": "cividis", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    image = ax.imshow(shares[places], aspect="auto", **style)
    edges = np.searchsorted(number, np.arange(len(found.inputs) + 1))
    for edge in edges[1:-1]:
        ax.axhline(edge - 0.5, color="white", lw=0.5 if many else 2)
    ax.set(
        xlabel="clusters of the consensus", ylabel="inputs" if many else "clusters of the inputs"
    )
    ax.set_title("where the clusters of the inputs are in the consensus", fontsize="medium")
    ax.figure.colorbar(image, ax=ax, label="share of the input's cluster")
    if many:
        middles = (edges[1:] + edges[:-1] - 1) / 2
        fit_ticks(ax.yaxis, [short_name(name, 24) for name in found.inputs], middles)
    else:
        pairs = [(short_name(name, 16), short_name(cluster, 10)) for name, cluster in rows]
        fit_ticks(ax.yaxis, [": ".join(pairs[i]) for i in places])
    fit_ticks(ax.xaxis, [short_name(name) for name in found.partition.names])
    return ax


def profile(found: Profile, *, ax: Any = None) -> Any:
    """A distance as a function of the bandwidth, with a band of two standard errors.

    Parameters
    ----------
    found : Profile
        From :func:`liftcluster.bandwidth_profile`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.bandwidth_profile : Makes the profile.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.bandwidth_profile([0, 0, 1], [0, 1, 1], [[0.0], [1.0], [5.0]])
    >>> lc.plot.profile(found).get_xlabel()
    'bandwidth'
    """
    ax = new_axes() if ax is None else ax
    x, y, errors = found.bandwidths, found.values, found.errors
    ax.plot(x, y, "o-", color=BLUE, label=found.measure)
    if errors is not None and errors.any():
        low, high = y - 2 * errors, y + 2 * errors
        ax.fill_between(x, low, high, color=BLUE, alpha=0.2, label="± 2 standard errors")
    ax.axvline(found.median, color=ORANGE, linestyle="--", label="median distance of points")
    ax.set(xscale="log", xlabel="bandwidth", ylabel=f"{found.measure} distance")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def plan(found: Comparison, *, ax: Any = None) -> Any:
    """The transport plan as a heat map: shares of the mass, coloured by the distance they move.

    Parameters
    ----------
    found : Comparison
        From :func:`liftcluster.compare` with points.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.plot.flow : The same as bands between clusters.
    liftcluster.compare : Makes the comparison.

    Examples
    --------
    >>> import liftcluster as lc
    >>> found = lc.compare([0, 0, 1, 1], [0, 0, 1, 2], [[0.0], [1.0], [5.0], [6.0]])
    >>> sorted(text.get_text() for text in lc.plot.plan(found).texts)
    ['25.0%', '25.0%', '50.0%']
    """
    masses, D, names = _transport_plan(found)
    ax = new_axes(*masses.shape) if ax is None else ax
    shown = np.ma.masked_where(masses <= 0.0005, D)
    image = ax.imshow(shown, aspect="auto", **distance_scale(shown))
    a, b = (short_name(name) for name in found.names)
    ax.set(xlabel=f"clusters of {b}", ylabel=f"clusters of {a}")
    ax.set_title("share of the mass\nfrom row to column", fontsize="medium")
    ax.figure.colorbar(image, ax=ax, label="distance between the clusters")
    fit_ticks(ax.yaxis, names[0])
    fit_ticks(ax.xaxis, names[1])
    flows = np.argwhere(~np.ma.getmaskarray(shown))
    write_numbers(ax, {(i, j): f"{masses[i, j]:.1%}" for i, j in flows}, image.norm.vmax / 2 < D)
    return ax


def curve(found: Curve, *, ax: Any = None) -> Any:
    """The criterion by which the number of clusters was chosen, and the chosen number.

    Parameters
    ----------
    found : Curve
        The ``curve`` of a consensus with ``n_clusters="auto"``.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.consensus : Makes the curve, with ``n_clusters="auto"``.

    Examples
    --------
    >>> import liftcluster as lc
    >>> inputs = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1]]
    >>> X = [[0.0], [1.0], [5.0], [6.0], [10.0], [11.0]]
    >>> found = lc.consensus(inputs, "auto", X, rng=0)
    >>> lc.plot.curve(found.curve).get_xlabel()
    'number of clusters'
    """
    ax = new_axes() if ax is None else ax
    ax.plot(found.candidates, found.values, "o-", color=BLUE, label=found.criterion)
    ax.axvline(found.k, color=ORANGE, linestyle="--", label=f"chosen: {found.k}")
    ax.set(xlabel="number of clusters", ylabel=found.criterion)
    ax.legend()
    return ax


def _is_real(by: Any) -> bool:
    """Whether ``by`` is a vector of floats that are not all integers, which would be labels."""
    values = np.asarray(None if hasattr(by, "memberships") else by)
    if values.ndim != 1 or values.dtype.kind != "f":
        return False
    return bool((values != np.rint(values))[~np.isnan(values)].any())


def _transport_plan(found: Comparison) -> tuple[FloatArray, FloatArray, list[list[str]]]:
    """The plan (k, k'), the distances between clusters (k, k'), and the names of the clusters."""
    if found.plan is None or found.cluster_distances is None:
        raise ValueError("a comparison without points has no plan; call compare with X")
    names = [[short_name(name) for name in p.names] for p in found.partitions]
    return found.plan, found.cluster_distances, names


def _palettes(masses: FloatArray, given: Any) -> list[list[Any]]:
    """Colours of the clusters on both sides of a plan (k, k'): as given, or matched."""
    numbers = match_colours(masses.shape, [None, masses.T])
    found = []
    for own, matched in zip(given or (None, None), numbers, strict=True):
        if own is not None and len(own) != len(matched):
            raise ValueError(f"colours must be {len(matched)}, one per cluster, got {len(own)}")
        found.append([cluster_colour(i) for i in matched] if own is None else list(own))
    return found


def _stacked(sizes: FloatArray, order: Any, gap: float) -> FloatArray:
    """Lower ends of bars that are stacked in the given order."""
    ends = np.empty(len(sizes))
    ends[order] = np.concatenate([[0.0], np.cumsum(sizes[order] + gap)[:-1]])
    return ends
