"""Clusterings of cells in AnnData objects, following scverse conventions (extra ``anndata``).

A clustering is a key of ``.obs`` or, if it is soft, of ``.obsm``. Several are a list of keys and of
patterns such as "leiden_*", which stand for the columns of ``.obs`` that match, without real
numbers and true/false. Clusters have the order of their categories. The points are
``.obsm[use_rep]`` or ``.X``.

Every function returns its result, and stores it in ``.obs``, ``.obsm`` and ``.uns`` under
``key_added``, as types that h5ad supports; ``key_added=None`` stores nothing. The functions of
``liftcluster.anndata.plot`` draw, and store nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._util.names import MeasureName
from ..combination import combining
from ..combination.result import Consensus
from ..comparison import comparing, distances
from ..comparison.comparison import Comparison
from . import anndata_plot as plot  # noqa: F401, a public module
from .anndata_cells import (
    partition_of,
    partitions_of,
    points_of,
    storable,
    store_clusters,
    view_of,
)
from .anndata_trust import choose, drift, resolution_tree, stability

if TYPE_CHECKING:
    from ..viz.report.page import Report

__all__ = [
    "choose",
    "compare",
    "consensus",
    "distance_matrix",
    "drift",
    "report",
    "resolution_tree",
    "stability",
]

_ROUNDING = 1e-12  # smaller flows are rounding errors of the solver


def compare(
    adata: Any,
    a: str,
    b: str,
    *,
    use_rep: str | None = None,
    measures: Any = None,
    key_added: str | None = "comparison",
    **lifting: Any,
) -> Comparison:
    """Compare two clusterings of the cells, by all measures that apply.

    Parameters
    ----------
    adata : AnnData
        The cells.
    a, b : str
        Two clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``. Cells with a
        missing category or -1 are in no cluster.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    measures : str or sequence of str, optional
        Names in :data:`liftcluster.MEASURES`; all that apply by default.
    key_added : str or None, default "comparison"
        The key under which results are stored; None to store nothing.
    **lifting
        Options of :func:`liftcluster.compare`: ``kernel``, ``bandwidth``, ``lift``, ``weights``,
        ``rng`` and ``progress``.

    Returns
    -------
    Comparison
        Also stored: ``.uns[key_added]``, the values of the measures and their errors, the moves in
        words, a table of the flows between clusters (the transport plan) and the parameters.

    See Also
    --------
    liftcluster.compare : The same for labels and points.
    liftcluster.anndata.plot.difference : Where the two clusterings differ.
    liftcluster.anndata.plot.flow : What becomes of each cluster.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> cells.obs["leiden"], cells.obs["cell_type"] = ["0", "0", "1", "1"], ["B", "B", "T", "NK"]
    >>> found = lc.anndata.compare(cells, "leiden", "cell_type", key_added="difference")
    >>> print(found.moves[1])
    1 split into NK, T (50.0 % of the mass, mean distance 0.111)
    >>> round(cells.uns["difference"]["values"]["rand"], 3)
    0.167
    """
    X, rep = points_of(adata, use_rep)
    first, second = partition_of(adata, a), partition_of(adata, b)
    found = comparing.compare(first, second, X, measures=measures, names=(a, b), **lifting)
    if key_added is not None:
        adata.uns[key_added] = {
            "values": {name: estimate.value for name, estimate in found.values.items()},
            "errors": {n: e.error for n, e in found.values.items() if e.error is not None},
            "moves": np.array(found.summary(), dtype=str),
            "flows": _flows(found),
            "params": storable({"a": a, "b": b, "use_rep": rep, **lifting}),
        }
    return found


def _flows(found: Comparison) -> Any:
    """The transport plan as a table of flows: names of clusters are no keys, which must not have /.

    Columns: the clusters of both clusterings, the mass and the distance between them.
    """
    plan, D = np.asarray(found.plan), np.asarray(found.cluster_distances)
    pairs = np.argwhere(plan > _ROUNDING)
    names = [np.array([str(name) for name in p.names], dtype=object) for p in found.partitions]
    columns = {"a": names[0][pairs[:, 0]], "b": names[1][pairs[:, 1]]}
    masses = {"mass": plan[tuple(pairs.T)], "distance": D[tuple(pairs.T)]}
    return importlib.import_module("pandas").DataFrame(columns | masses)


def distance_matrix(
    adata: Any,
    keys: Any,
    *,
    use_rep: str | None = None,
    measure: MeasureName = "lift_emd",
    key_added: str | None = "distances",
    **lifting: Any,
) -> Any:
    """Distances between all pairs of clusterings of the cells.

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
    key_added : str or None, default "distances"
        The key under which results are stored; None to store nothing.
    **lifting
        Options of :func:`liftcluster.distance_matrix`: ``measure_options``, ``kernel``,
        ``bandwidth``, ``lift``, ``weights``, ``rng`` and ``progress``.

    Returns
    -------
    (m, m) pandas.DataFrame
        Also stored: ``.uns[key_added]``, the same and the parameters.

    See Also
    --------
    liftcluster.distance_matrix : The same for labels and points.
    liftcluster.anndata.plot.distances : A picture of the distances.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0]]))
    >>> cells.obs["u"], cells.obs["v"] = ["a", "a", "b"], ["a", "b", "b"]
    >>> lc.anndata.distance_matrix(cells, ["u", "v"], measure="rand").round(3)
           u      v
    u  0.000  0.667
    v  0.667  0.000
    """
    pandas = importlib.import_module("pandas")
    X, rep = points_of(adata, use_rep)
    named = partitions_of(adata, keys)
    D = distances.distance_matrix(named, X, measure=measure, **lifting)
    frame = pandas.DataFrame(D, index=list(named), columns=list(named))
    if key_added is not None:
        params = storable({"measure": measure, "use_rep": rep, **lifting})
        adata.uns[key_added] = {"distances": frame, "params": params}
    return frame


def consensus(
    adata: Any,
    keys: Any,
    n_clusters: int | Literal["auto"],
    *,
    use_rep: str | None = None,
    method: Any = "auto",
    key_added: str | None = "consensus",
    **options: Any,
) -> Consensus:
    """Combine clusterings of the cells into one.

    Parameters
    ----------
    adata : AnnData
        The cells.
    keys : str or sequence of str
        Clusterings: columns of ``.obs``, or memberships in ``.obsm``. A pattern such as
        ``"leiden_*"`` takes the columns of ``.obs`` that match, in their order.
    n_clusters : int or "auto"
        The number of clusters of the consensus; "auto" chooses it.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    method : str or scikit-learn clusterer, default "auto"
        A name in :data:`liftcluster.METHODS`, or a clusterer of vectors; "auto" chooses from the
        data.
    key_added : str or None, default "consensus"
        The key under which results are stored; None to store nothing.
    **options
        Options of :func:`liftcluster.consensus`: ``method_options``, ``kernel``, ``bandwidth``,
        ``lift``, ``weights``, ``rng`` and ``progress``.

    Returns
    -------
    Consensus
        Also stored: ``.obs[key_added]``, the cluster of each cell, categorical.
        ``.obs[key_added + "_confidence"]``: the share of the clusterings that agree with it.
        ``.obs[key_added + "_margin"]``: how far its membership is ahead of the next best.
        ``.obs[key_added + "_overruled"]``: whether all clusterings put the cell into one other
        cluster. ``.obsm[key_added + "_memberships"]``: soft memberships (n, n_clusters).
        ``.uns[key_added]``: parameters, score, mean distances to the inputs by place and by labels,
        and the number of cells overruled; with method="auto" the method that was chosen, and the
        reason.

    See Also
    --------
    liftcluster.consensus : The same for labels and points.
    liftcluster.anndata.plot.confidence : How far the clusterings agree on each cell.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["run_u"], cells.obs["run_v"] = list("aaabbb"), list("aabbbb")
    >>> found = lc.anndata.consensus(cells, "run_*", 2, bandwidth=3.0, rng=0)
    >>> (cells.obs["consensus"] == cells.obs["consensus"].iloc[0]).tolist()
    [True, True, True, False, False, False]
    >>> cells.obs["consensus_confidence"].tolist()
    [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]
    """
    X, rep = points_of(adata, use_rep)
    named = partitions_of(adata, keys, key_added)
    found = combining.consensus(named, n_clusters, X, method=method, **options)
    if key_added is None:
        return found
    kept = ("score", "mean_distance", "best_input_distance", "label_distance",
            "best_input_label_distance")  # fmt: skip
    scores: dict[str, Any] = {name: getattr(found, name) for name in kept}
    scores["overruled"] = len(found.overruled)
    if found.decision is not None:
        scores |= {"method": found.method, "reason": found.decision.reason}
    params = {"keys": list(named), "n_clusters": n_clusters, "use_rep": rep, "method": method}
    store_clusters(adata, key_added, found.labels, range(found.n_clusters))
    adata.obs[f"{key_added}_confidence"] = found.confidence
    adata.obs[f"{key_added}_margin"] = found.margin
    adata.obs[f"{key_added}_overruled"] = np.isin(np.arange(len(X)), found.overruled)
    adata.obsm[f"{key_added}_memberships"] = np.asarray(found.memberships)
    adata.uns[key_added] = {**storable(scores), "params": storable(params | options)}
    return found


def report(
    adata: Any,
    keys: Any,
    *,
    basis: str | None = None,
    use_rep: str | None = None,
    **options: Any,
) -> Report:
    """Make an HTML report about clusterings of the cells: how they differ, where, their consensus.

    Parameters
    ----------
    adata : AnnData
        The cells.
    keys : str or sequence of str
        Clusterings: columns of ``.obs``, or memberships in ``.obsm``. A pattern such as
        ``"leiden_*"`` takes the columns of ``.obs`` that match, in their order.
    basis : str, optional
        Where to draw the cells: a key of ``.obsm`` such as "X_umap" or, as in scanpy, "umap". By
        default UMAP or t-SNE, else the plane that the report chooses from the points.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        present, else "X" if it has at most 50 columns.
    **options
        Options of :func:`liftcluster.make_report`: ``measures``, ``consensus``, ``columns``,
        ``kernel``, ``bandwidth``, ``lift``, ``weights``, ``view``, ``title`` and ``rng``.
        ``columns``, which the page shows of a cell, are the others of ``.obs`` by default.

    Returns
    -------
    Report
        ``save("page.html")`` writes one file that works offline. Nothing is stored in ``adata``.

    See Also
    --------
    liftcluster.make_report : The same for labels and points.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import liftcluster as lc
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> cells.obs["leiden"], cells.obs["cell_type"] = ["0", "0", "1", "1"], ["B", "B", "T", "NK"]
    >>> cells.obsm["X_umap"] = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    >>> page = lc.anndata.report(cells, ["leiden", "cell_type"])
    >>> page.title, page.to_dict()["points"]["axes"]
    ('2 clusterings of 4 cells', ['UMAP1', 'UMAP2'])
    """
    from ..viz.report.build import make_report

    X, rep = points_of(adata, use_rep)
    named = partitions_of(adata, keys)
    if basis is not None and "view" in options:
        raise ValueError("basis and view cannot apply together; leave one of them out")
    axes = (f"{rep.removeprefix('X_')} {j}" for j in range(1, X.shape[1] + 1))
    names = adata.var_names if rep == "X" else list(axes)
    points = importlib.import_module("pandas").DataFrame(X, adata.obs_names, names)
    defaults = {
        "view": view_of(adata, basis),
        "title": f"{len(named)} clusterings of {len(X):,} cells",
        "columns": adata.obs.drop(columns=[key for key in named if key in adata.obs]),
    }
    return make_report(named, points, **(defaults | options))
