"""Plots of clusterings of cells in AnnData objects, ``liftcluster.anndata.plot`` (extra ``plot``).

What scanpy does not draw: ``scanpy.pl.embedding`` colours cells by their clusters. Keys, ``basis``
and ``use_rep`` are those of :mod:`liftcluster.anndata`; clusters have the order of their categories
and the colours in ``.uns[key + "_colors"]``. Every function draws on the axes ``ax``, by default
those of a new figure, and returns them; nothing is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.names import MeasureName
from ..comparison import comparing
from ..comparison import distances as between
from ..comparison.comparison import Comparison
from ..comparison.resampling import resolutions
from .anndata_cells import (
    check_cells,
    colours_of,
    has_pattern,
    partition_of,
    partitions_of,
    points_of,
    view_of,
)
from .table import quoted

__all__ = ["confidence", "difference", "distances", "flow", "resolution_tree"]


def difference(
    adata: Any,
    a: str,
    b: str,
    *,
    basis: str | None = None,
    use_rep: str | None = None,
    ax: Any = None,
    **lifting: Any,
) -> Any:
    """Where two clusterings of the cells differ: the cells at ``basis``, coloured by that.

    The colour is ``point_distances`` of :class:`liftcluster.Comparison`: the distance between the
    two clusters of each cell, 0 where these are in the same place. Cells in no cluster are grey.

    Parameters
    ----------
    adata : AnnData
        The cells.
    a, b : str
        Two clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``.
    basis : str, optional
        Where to draw the cells: a key of ``.obsm`` such as "X_umap" or, as in scanpy, "umap", of
        which the first two columns are taken. By default UMAP or t-SNE.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    **lifting
        Options of :func:`liftcluster.compare`: ``kernel``, ``bandwidth``, ``lift``, ``weights``,
        ``rng`` and ``progress``.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.anndata.compare : The numbers.
    liftcluster.anndata.plot.flow : What becomes of each cluster.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> cells.obs["leiden"], cells.obs["cell_type"] = ["0", "0", "1", "1"], ["B", "B", "T", "NK"]
    >>> cells.obsm["X_umap"] = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    >>> ax = lc.anndata.plot.difference(cells, "leiden", "cell_type", basis="umap")
    >>> ax.get_title(), ax.get_xlabel()
    ('leiden and cell_type', 'UMAP1')
    """
    from ..viz import plot

    view = _drawn_at(adata, basis)
    found = _compared(adata, a, b, use_rep, lifting)
    return _without_ticks(plot.points(view, found, view=view, ax=ax))


def flow(
    adata: Any, a: str, b: str, *, use_rep: str | None = None, ax: Any = None, **lifting: Any
) -> Any:
    """The transport plan as bands from the clusters of one clustering to those of the other.

    As :func:`liftcluster.plot.flow`, in the clusters' own colours. The clusters of ``a`` have their
    own order, those of ``b`` one in which few bands cross.

    Parameters
    ----------
    adata : AnnData
        The cells.
    a, b : str
        Two clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    **lifting
        Options of :func:`liftcluster.compare`: ``kernel``, ``bandwidth``, ``lift``, ``weights``,
        ``rng`` and ``progress``.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.anndata.compare : The numbers.
    liftcluster.plot.flow : The same for a comparison of labels.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> cells.obs["leiden"], cells.obs["cell_type"] = ["0", "0", "1", "1"], ["B", "B", "T", "NK"]
    >>> [text.get_text() for text in lc.anndata.plot.flow(cells, "leiden", "cell_type").texts]
    ['0  50%', '1  50%', 'B  50%', 'NK  25%', 'T  25%']
    """
    from ..viz import plot

    found = _compared(adata, a, b, use_rep, lifting)
    first, second = found.partitions
    colours = colours_of(adata, a, first.names), colours_of(adata, b, second.names)
    return plot.flow(found, colours=colours, ax=ax)


def distances(
    adata: Any,
    keys: Any,
    *,
    use_rep: str | None = None,
    measure: MeasureName = "lift_emd",
    ax: Any = None,
    **lifting: Any,
) -> Any:
    """Distances between clusterings of the cells as a heat map.

    Parameters
    ----------
    adata : AnnData
        The cells.
    keys : str or sequence of str
        Clusterings: columns of ``.obs``, or memberships in ``.obsm``. A pattern such as
        ``"leiden_*"`` takes the columns of ``.obs`` that match, in their order.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    measure : str, default "lift_emd"
        A name in :data:`liftcluster.MEASURES`.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    **lifting
        Options of :func:`liftcluster.distance_matrix`: ``measure_options``, ``kernel``,
        ``bandwidth``, ``lift``, ``weights``, ``rng`` and ``progress``.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.anndata.distance_matrix : The numbers.
    liftcluster.plot.distances : The same for a matrix of distances.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0]]))
    >>> cells.obs["run_u"], cells.obs["run_v"] = ["a", "a", "b"], ["a", "b", "b"]
    >>> ax = lc.anndata.plot.distances(cells, "run_*", measure="rand")
    >>> [text.get_text() for text in ax.texts]
    ['0.00', '0.67', '0.67', '0.00']
    """
    from ..viz import plot

    X, _ = points_of(adata, use_rep)
    named = partitions_of(adata, keys)
    D = between.distance_matrix(named, X, measure=measure, **lifting)
    shown = "LiftEMD" if measure == "lift_emd" else measure
    return plot.distances(D, list(named), measure=shown, ax=ax)


def resolution_tree(
    adata: Any, keys: Any, *, use_rep: str | None = None, ax: Any = None, **options: Any
) -> Any:
    """The clusters of several clusterings of the cells, joined by the transport between them.

    Parameters
    ----------
    adata : AnnData
        The cells.
    keys : str or sequence of str
        Columns of ``.obs`` in the order of their resolution; a pattern such as ``"leiden_*"`` takes
        them from few to many clusters.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    **options
        Options of :func:`liftcluster.resolution_tree`: ``kernel``, ``bandwidth``, ``lift`` and
        ``rng``.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.anndata.resolution_tree : The numbers.
    liftcluster.plot.resolution_tree : The same for a tree.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [20.0], [21.0], [40.0], [41.0]]))
    >>> cells.obs["r_fine"], cells.obs["r_coarse"] = list("ccddbb"), list("aaaabb")
    >>> ax = lc.anndata.plot.resolution_tree(cells, "r_*", rng=0)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['r_coarse', 'r_fine']
    """
    from ..viz import plot

    X, _ = points_of(adata, use_rep)
    named = partitions_of(adata, keys)
    if has_pattern(adata, keys):
        named = resolutions.from_coarse_to_fine(named)
    return plot.resolution_tree(resolutions.resolution_tree(X, named, **options), ax=ax)


def confidence(
    adata: Any, key: str = "consensus", *, basis: str | None = None, ax: Any = None
) -> Any:
    """The cells at ``basis``, coloured by the share of the clusterings that agree with a consensus.

    Parameters
    ----------
    adata : AnnData
        The cells.
    key : str, default "consensus"
        The ``key_added`` of :func:`liftcluster.anndata.consensus`.
    basis : str, optional
        Where to draw the cells: a key of ``.obsm`` such as "X_umap" or, as in scanpy, "umap", of
        which the first two columns are taken. By default UMAP or t-SNE.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
        The axes that were drawn on.

    See Also
    --------
    liftcluster.anndata.consensus : Stores the confidence.

    Examples
    --------
    >>> import anndata, liftcluster as lc
    >>> import numpy as np
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["run_u"], cells.obs["run_v"] = list("aaabbb"), list("aabbbb")
    >>> cells.obsm["spatial"] = np.column_stack([cells.X, cells.X])
    >>> found = lc.anndata.consensus(cells, "run_*", 2, bandwidth=3.0, rng=0)
    >>> lc.anndata.plot.confidence(cells, basis="spatial").get_title()
    'consensus: all agree on 83% of the cells'
    """
    from ..viz.drawing import new_axes, scatter_values, short_name

    view = _drawn_at(adata, basis)
    column = f"{key}_confidence"
    if column not in adata.obs:
        known = [
            name.removesuffix("_confidence")
            for name in adata.obs
            if str(name).endswith("_confidence")
        ]
        hint = f"there are results of {quoted(known)}" if known else "there are no such results"
        raise ValueError(
            f"there is no .obs[{column!r}], which lc.anndata.consensus(..., key_added={key!r}) "
            f"stores; {hint}"
        )
    values = np.asarray(adata.obs[column], dtype=np.float64)
    ax = new_axes() if ax is None else ax
    scatter_values(
        ax,
        view.to_numpy(),
        values,
        "share of the clusterings that agree",
        limits=(0, 1),
        smallest_on_top=True,
    )
    title = f"{short_name(key)}: all agree on {(values == 1).mean():.0%} of the cells"
    ax.set(xlabel=view.columns[0], ylabel=view.columns[1])
    ax.set_title(title, fontsize="medium")
    return _without_ticks(ax)


def _compared(adata: Any, a: str, b: str, use_rep: str | None, lifting: Any) -> Comparison:
    X, _ = points_of(adata, use_rep)
    pair = partition_of(adata, a), partition_of(adata, b)
    return comparing.compare(*pair, X, measures=["lift_emd"], names=(a, b), **lifting)


def _drawn_at(adata: Any, basis: str | None) -> Any:
    """Coordinates (n, 2) of the cells, as a data frame; an error if there are none."""
    check_cells(adata)
    view = view_of(adata, basis)
    if view is None:
        raise ValueError(
            "basis must be a key of .obsm, because there is neither UMAP nor t-SNE; it has "
            f"{quoted(adata.obsm) or 'nothing'}"
        )
    return view


def _without_ticks(ax: Any) -> Any:
    """As in scanpy: coordinates of an embedding have no unit."""
    ax.set(xticks=[], yticks=[])
    return ax
