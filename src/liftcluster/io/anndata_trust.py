"""How far to trust clusterings of cells in AnnData objects; part of :mod:`liftcluster.anndata`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..comparison import drifting
from ..comparison.drifting import Drift
from ..comparison.resampling import assessing, choosing, resolutions
from ..comparison.resampling.choosing import Choice
from ..comparison.resampling.resolutions import ResolutionTree, from_coarse_to_fine
from ..comparison.resampling.result import Stability
from ..comparison.splits import take, without_absent
from ..partitions.partition import Partition
from .anndata_cells import (
    colours_of,
    has_pattern,
    partition_of,
    partitions_of,
    points_of,
    storable,
    store_clusters,
)
from .table import quoted


def stability(
    adata: Any,
    source: Any,
    *,
    reference: str | None = None,
    use_rep: str | None = None,
    key_added: str | None = "stability",
    **options: Any,
) -> Stability:
    """How far the clusters of the cells, and each cell, are found again in other runs.

    Parameters
    ----------
    adata : AnnData
        The cells.
    source : sequence of str, pattern, clusterer or function
        Runs: columns of ``.obs`` such as ``["leiden_0.5", "leiden_1.0"]`` or ``"leiden_*"``. Or a
        scikit-learn clusterer or a function from points to labels, which is run on resamples.
    reference : str, optional
        The clustering in question, a column of ``.obs``; by default the run that is nearest to the
        others, or the clustering of all cells by the clusterer.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    key_added : str or None, default "stability"
        The key under which results are stored; None to store nothing.
    **options
        Options of :func:`liftcluster.stability`: ``n_replicates``, ``resample``, ``null``,
        ``kernel``, ``bandwidth``, ``lift``, ``rng`` and ``progress``.

    Returns
    -------
    Stability
        Also stored: ``.obs[key_added]``, the stability of each cell; ``.obs[key_added +
        "_reference"]``, the clustering in question; ``.uns[key_added]``, a table of the clusters,
        the score and the parameters.

    See Also
    --------
    liftcluster.stability : The same for labels and points.
    liftcluster.anndata.choose : Which of several clusterings is most stable.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["leiden_0.5"], cells.obs["leiden_1.0"] = list("aaabbb"), list("aabccc")
    >>> found = lc.anndata.stability(cells, "leiden_*", reference="leiden_0.5", rng=0)
    >>> cells.obs["stability"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    X, rep = points_of(adata, use_rep)
    given = None if reference is None else partition_of(adata, reference)
    if callable(source) or hasattr(source, "fit"):
        shown: Any = str(source)
        found = assessing.stability(X, source, reference=given, **options)
    else:
        named = partitions_of(adata, source, f"{key_added}_reference")
        shown = list(named)
        if reference in named:
            given = reference  # type: ignore[assignment]
        found = assessing.stability(X, named, reference=given, **options)
    if key_added is None:
        return found
    _store_copy(adata, f"{key_added}_reference", found.name or reference, found.reference)
    adata.obs[key_added] = found.points
    frame = importlib.import_module("pandas").DataFrame(found.rows())
    frame["cluster"] = [str(name) for name in found.reference.names]
    adata.uns[key_added] = {
        "clusters": frame.dropna(axis=1, how="all").set_index("cluster"),
        "score": found.score,
        "params": storable({"source": shown, "reference": reference, "use_rep": rep, **options}),
    }
    return found


def choose(
    adata: Any,
    source: Any,
    settings: Mapping[str, Any] | None = None,
    *,
    use_rep: str | None = None,
    key_added: str | None = "choice",
    **options: Any,
) -> Choice:
    """Choose among clusterings of the cells, or a setting of a clusterer, by stability.

    Parameters
    ----------
    adata : AnnData
        The cells.
    source : sequence of str, pattern, clusterer or function
        Runs: columns of ``.obs`` in the order of their resolution, such as ``["leiden_0.5",
        "leiden_1.0"]``; a pattern such as ``"leiden_*"`` takes them from few to many clusters. Or a
        scikit-learn clusterer, or a function ``f(X, **setting)`` that returns labels.
    settings : mapping from parameter to values, optional
        What to try, such as ``{"n_clusters": range(2, 16)}``; not for given runs.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    key_added : str or None, default "choice"
        The key under which results are stored; None to store nothing.
    **options
        Options of :func:`liftcluster.choose`: ``n_replicates``, ``resample``, ``kernel``,
        ``bandwidth``, ``lift``, ``rng`` and ``progress``.

    Returns
    -------
    Choice
        Also stored: ``.obs[key_added]``, the best clustering; ``.obs[key_added + "_stability"]``,
        the stability of each cell in it; ``.uns[key_added]``, a table of the settings, the best of
        them and the parameters.

    See Also
    --------
    liftcluster.choose : The same for labels and points.
    liftcluster.anndata.stability : The stability of one clustering.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> for key, labels in {"r1": "aaabbb", "r2": "bbbaaa", "r3": "aabccd"}.items():
    ...     cells.obs[key] = list(labels)
    >>> lc.anndata.choose(cells, "r*", rng=0).best
    'r1'
    """
    X, rep = points_of(adata, use_rep)
    if callable(source) or hasattr(source, "fit"):
        shown: Any = str(source)
        found = choosing.choose(X, source, settings, **options)
    else:
        named = _in_order(adata, source, key_added)
        shown = list(named)
        found = choosing.choose(X, named, settings, **options)
    if key_added is None:
        return found
    frame = importlib.import_module("pandas").DataFrame(found.rows())
    frame["setting"] = [choosing.show(setting) for setting in found.settings]
    _store_copy(adata, key_added, found.best, found.stability.reference)
    adata.obs[f"{key_added}_stability"] = found.stability.points
    adata.uns[key_added] = {
        "settings": frame.dropna(axis=1, how="all").set_index("setting"),
        "best": choosing.show(found.best),
        "params": storable({"source": shown, "settings": settings, "use_rep": rep, **options}),
    }
    return found


def resolution_tree(
    adata: Any,
    keys: Any,
    *,
    use_rep: str | None = None,
    key_added: str | None = "resolution_tree",
    **options: Any,
) -> ResolutionTree:
    """Follow the clusters of the cells through several clusterings, from coarse to fine.

    Parameters
    ----------
    adata : AnnData
        The cells.
    keys : str or sequence of str
        Columns of ``.obs`` in the order of their resolution, such as ``["leiden_0.5",
        "leiden_1.0"]``; a pattern such as ``"leiden_*"`` takes them from few to many clusters.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    key_added : str or None, default "resolution_tree"
        The key under which results are stored; None to store nothing.
    **options
        Options of :func:`liftcluster.resolution_tree`: ``kernel``, ``bandwidth``, ``lift`` and
        ``rng``.

    Returns
    -------
    ResolutionTree
        Also stored: ``.uns[key_added]``, tables of the nodes and of the edges, and the parameters.

    See Also
    --------
    liftcluster.resolution_tree : The same for labels and points.
    liftcluster.anndata.plot.resolution_tree : A picture of the tree.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [20.0], [21.0], [40.0], [41.0]]))
    >>> cells.obs["r_fine"], cells.obs["r_coarse"] = list("ccddbb"), list("aaaabb")
    >>> list(lc.anndata.resolution_tree(cells, "r_*", rng=0).runs)
    ['r_coarse', 'r_fine']
    >>> cells.uns["resolution_tree"]["edges"]["mass"].round(2).tolist()
    [0.33, 0.33, 0.33]
    """
    X, rep = points_of(adata, use_rep)
    named = _in_order(adata, keys, key_added)
    found = resolutions.resolution_tree(X, named, **options)
    if key_added is None:
        return found
    adata.uns[key_added] = {
        "nodes": _table(found.nodes),
        "edges": _table(found.edges),
        "params": storable({"keys": list(named), "use_rep": rep, **options}),
    }
    return found


def drift(
    adata: Any,
    other: Any,
    source: Any,
    *,
    groups: Sequence[Any] | None = None,
    use_rep: str | None = None,
    key_added: str | None = "drift",
    **options: Any,
) -> Drift:
    """Test whether clusterings of two samples of cells differ more than sampling noise explains.

    Parameters
    ----------
    adata : AnnData
        The cells. Those of the first sample, or of both.
    other : AnnData or str
        The cells of the second sample, in the same space: components of a common analysis, or
        ``.X`` of the same variables. Or a column of ``.obs`` that says which sample a cell is of.
    source : clusterer, function or str
        A scikit-learn clusterer or a function from points to labels, which is run on both samples
        and on both parts of every split. Or a column of ``.obs``: labels that one rule gave to both
        samples, such as cell types by a classifier trained on other cells.
    groups : two values of the column ``other``, optional
        Which samples to compare; needed if there are more than two.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    key_added : str or None, default "drift"
        The key under which results are stored; None to store nothing.
    **options
        Options of :func:`liftcluster.drift`: ``measures``, ``n_splits``, ``kernel``, ``bandwidth``,
        ``lift``, ``rng`` and ``progress``.

    Returns
    -------
    Drift
        Also stored: ``adata.uns[key_added]``, the p-value, those of each measure alone, the
        distances between the samples and between random splits, and the parameters.

    See Also
    --------
    liftcluster.drift : The same for points.

    Notes
    -----
    Cells must be independent. Those of one donor are not: two samples of different donors differ,
    and the test says so.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> rng = np.random.default_rng(0)
    >>> cells = anndata.AnnData(rng.standard_normal((200, 1)))
    >>> cells.obs["day"] = ["one"] * 100 + ["two"] * 100
    >>> found = lc.anndata.drift(cells, "day", lambda X: X[:, 0] > X.mean(), n_splits=19, rng=0)
    >>> found.p_value > 0.05
    True
    """
    X, rep = points_of(adata, use_rep)
    given = source
    if isinstance(other, str):
        first, second = _rows_of_groups(adata, other, groups)
        X, Y = X[first], X[second]
        if isinstance(source, str):
            labels = partition_of(adata, source)
            given = (without_absent(take(labels, rows)) for rows in (first, second))
    else:
        if groups is not None:
            raise ValueError("groups cannot apply to two AnnData; leave it out")
        Y, _ = points_of(other, rep)
        _check_same_space(adata, other, rep)
        if isinstance(source, str):
            given = (partition_of(each, source) for each in (adata, other))
    found = drifting.drift(X, Y, tuple(given) if isinstance(source, str) else given, **options)
    if key_added is None:
        return found
    params = {"other": other if isinstance(other, str) else None, "groups": groups}
    params |= {"source": source, "use_rep": rep, **options}
    adata.uns[key_added] = {
        "p_value": found.p_value,
        "p_values": found.p_values,
        "values": dict(found.values),
        "null": {name: np.asarray(values) for name, values in found.null.items()},
        "params": storable(params),
    }
    return found


def _in_order(adata: Any, keys: Any, written: str | None) -> dict[str, Partition]:
    """Clusterings in the order of the keys; with a pattern, from few to many clusters."""
    named = partitions_of(adata, keys, written)
    return from_coarse_to_fine(named) if has_pattern(adata, keys) else named


def _store_copy(adata: Any, key: str, source: Any, partition: Partition) -> None:
    """Store the clusters of ``source`` under another key, with their colours if it is a key."""
    colours = colours_of(adata, source, partition.names) if isinstance(source, str) else None
    store_clusters(adata, key, partition.labels, partition.names, colours)


def _table(records: Sequence[Any]) -> Any:
    """Nodes or edges as a data frame that h5ad supports: names as text."""
    frame = importlib.import_module("pandas").DataFrame([asdict(record) for record in records])
    names = [c for c in ("run", "cluster", "next_run", "next_cluster") if c in frame]
    return frame.astype(dict.fromkeys(names, str))


def _rows_of_groups(adata: Any, key: str, groups: Sequence[Any] | None) -> list[Any]:
    """The cells of each of two groups."""
    if key not in adata.obs:
        raise ValueError(f"there is no column {key!r}: .obs has {quoted(adata.obs.columns)}")
    column = adata.obs[key]
    present = list(column.dropna().unique())
    if groups is None:
        groups = present
    if isinstance(groups, str) or len(groups) != 2:
        raise ValueError(
            f"drift compares two samples, but {key!r} has {quoted(present)}; say which with "
            "groups=(first, second)"
        )
    if missing := [group for group in groups if group not in present]:
        raise ValueError(f"{key!r} has no cells of {missing[0]!r}; it has {quoted(present)}")
    return [np.flatnonzero(column == group) for group in groups]


def _check_same_space(adata: Any, other: Any, rep: str) -> None:
    """Raise an error where it is known that the points of two AnnData are of different spaces."""
    if rep == "X" and list(adata.var_names) != list(other.var_names):
        raise ValueError(
            "the variables of the two AnnData differ, so that their cells are not points of one "
            "space; take those that both have, in the same order"
        )
    loadings = [a.varm["PCs"] for a in (adata, other) if rep == "X_pca" and "PCs" in a.varm]
    if len(loadings) == 2 and not (
        np.shape(loadings[0]) == np.shape(loadings[1]) and np.allclose(*loadings)
    ):
        raise ValueError(
            "the principal components of the two AnnData were computed separately, so that their "
            "cells are not points of one space; concatenate the samples before scanpy.pp.pca, or "
            "choose another use_rep"
        )
