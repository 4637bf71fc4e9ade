"""Plots of the distances between clusterings, part of :mod:`liftcluster.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._util.checks import check_choice
from .._util.typing import FloatArray
from .drawing import BLUE, clustering_names, distance_scale, farthest_first, new_axes, short_name
from .labels import fit_ticks, write_names, write_numbers
from .layout import embed_distances, order_by_similarity


def distances(
    D: Any,
    names: Sequence[Any] | None = None,
    *,
    measure: str = "LiftEMD",
    order: Literal["similarity", "given"] = "similarity",
    ax: Any = None,
) -> Any:
    """Distances between clusterings as a heat map.

    Numbers are in the cells if they fit; of too many names, every second or third is shown.

    Parameters
    ----------
    D : (m, m) array-like
        Distances between m clusterings, from :func:`liftcluster.distance_matrix`.
    names : sequence of length m, optional
        Names of the clusterings; by default those of a data frame, else numbers.
    measure : str, default "LiftEMD"
        Name of the measure, for the title and the colour bar.
    order : "similarity" or "given", default "similarity"
        Similar clusterings side by side (average linkage, optimal leaf ordering), or as in D.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure. It grows with the number of
        clusterings.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.plot.clusterings_map : The same distances as a map.
    liftcluster.distance_matrix : Computes the distances.

    Examples
    --------
    >>> import liftcluster as lc
    >>> partitions = {"mine": [0, 0, 1, 1], "yours": [0, 1, 1, 1]}
    >>> D = lc.distance_matrix(partitions, measure="rand")
    >>> ax = lc.plot.distances(D, partitions, measure="rand")
    >>> [text.get_text() for text in ax.texts]
    ['0.00', '0.50', '0.50', '0.00']
    """
    check_choice(order, ("similarity", "given"), "order")
    D, names = _square_matrix(D, names)
    labels = clustering_names(names, len(D))
    if order == "similarity":
        places = order_by_similarity(D)
        D, labels = D[np.ix_(places, places)], [labels[i] for i in places]
    ax = new_axes(len(D), len(D)) if ax is None else ax
    image = ax.imshow(D, **distance_scale(D))
    ax.figure.colorbar(image, ax=ax, label=f"{short_name(measure)} distance", shrink=0.8)
    sorted_by = ",\nsimilar ones side by side" if order == "similarity" and len(D) > 2 else ""
    ax.set_title(f"distances between {len(D)} clusterings{sorted_by}", fontsize="medium")
    fit_ticks(ax.yaxis, labels)
    fit_ticks(ax.xaxis, labels)
    cells = {(i, j): f"{D[i, j]:.2f}" for i, j in np.ndindex(D.shape)}
    write_numbers(ax, cells, image.norm.vmax / 2 < D)
    return ax


def clusterings_map(D: Any, names: Sequence[Any] | None = None, *, ax: Any = None) -> Any:
    """Clusterings as points in the plane, by multidimensional scaling of their distances.

    The title shows the stress, which is zero if the distances in the plane are exact. Names that
    would overlap are left out; the title says how many.

    Parameters
    ----------
    D : (m, m) array-like
        Distances between m clusterings, from :func:`liftcluster.distance_matrix`.
    names : sequence of length m, optional
        Names of the clusterings; by default those of a data frame, else numbers.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.plot.distances : The same distances as a heat map.
    liftcluster.distance_matrix : Computes the distances.

    Examples
    --------
    >>> import liftcluster as lc
    >>> ax = lc.plot.clusterings_map([[0.0, 0.5], [0.5, 0.0]], ["mine", "yours"])
    >>> ax.get_title()
    'map of 2 clusterings: near is similar\\nstress 0.000'
    """
    D, names = _square_matrix(D, names)
    labels = clustering_names(names, len(D))
    Z, stress = embed_distances(D)
    ax = new_axes() if ax is None else ax
    size = float(np.clip(1200 / len(Z), 15, 60))
    ax.scatter(Z[:, 0], Z[:, 1], s=size, color=BLUE, alpha=0.8, lw=0, zorder=2)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    title = f"map of {len(Z)} clusterings: near is similar\nstress {stress:.3f}"
    ax.set(xlabel="distance", ylabel="distance")
    ax.set_title(title, fontsize="medium")
    if hidden := write_names(ax, Z, labels, farthest_first(Z)):
        ax.set_title(f"{title}, {hidden} names without room", fontsize="medium")
    return ax


def _square_matrix(D: Any, names: Any) -> tuple[FloatArray, Any]:
    """Distances as an array, and names: those of a data frame if there are no others."""
    if names is None and hasattr(D, "index") and hasattr(D, "columns"):
        names = list(D.index)
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"D must be a square matrix of distances, got shape {D.shape}")
    return D, names
