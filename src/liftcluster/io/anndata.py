"""Clusterings of cells in AnnData objects, following scverse conventions (extra ``anndata``).

A clustering is a key of ``.obs`` or, if it is soft, of ``.obsm``. The points are ``.obsm[use_rep]``
or ``.X``. Results are stored in ``.obs``, ``.obsm`` and ``.uns`` as types that h5ad supports.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._util.names import MeasureName
from ..combination import combining
from ..comparison import comparing, distances
from ..comparison.comparison import Comparison
from .anndata_cells import partition_of, partitions_of, points_of, storable
from .anndata_trust import choose, drift, resolution_tree, stability

__all__ = [
    "choose",
    "compare",
    "consensus",
    "distance_matrix",
    "drift",
    "resolution_tree",
    "stability",
]


def compare(
    adata: Any,
    a: str,
    b: str,
    *,
    use_rep: str | None = None,
    measures: Any = None,
    key_added: str | None = None,
    **lifting: Any,
) -> Comparison:
    """Compare two clusterings of the cells, by all measures that apply.

    Parameters
    ----------
    adata : AnnData
        n cells.
    a, b : str
        Two clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``. Cells with a
        missing category or -1 are in no cluster.
    use_rep : str, optional
        The points (n, d): a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default
        "X_pca" if present, else "X" if it has at most 50 columns.
    measures : sequence of str, optional
        Names in ``liftcluster.MEASURES``; all that apply by default.
    key_added : str, optional
        Also store a summary in ``.uns[key_added]``.
    **lifting
        Options of :func:`liftcluster.compare`: kernel, bandwidth, lift, rng, ...

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0], [6.0]]))
    >>> cells.obs["leiden"], cells.obs["cell_type"] = ["0", "0", "1", "1"], ["B", "B", "T", "NK"]
    >>> found = compare(cells, "leiden", "cell_type", key_added="difference")
    >>> print(found.moves[1])
    1 split into NK, T (50.0 % of the mass, mean distance 0.111)
    >>> round(cells.uns["difference"]["values"]["rand"], 3)
    0.167
    """
    X, rep = points_of(adata, use_rep)
    first, second = partition_of(adata, a), partition_of(adata, b)
    found = comparing.compare(first, second, X, measures=measures, names=(a, b), **lifting)
    if key_added is not None:
        stored: dict[str, Any] = {
            "values": {name: estimate.value for name, estimate in found.values.items()},
            "errors": {n: e.error for n, e in found.values.items() if e.error is not None},
            "moves": np.array(found.summary(), dtype=str),
            "params": storable({"a": a, "b": b, "use_rep": rep, **lifting}),
        }
        if found.plan is not None:
            names = [list(map(str, p.names)) for p in found.partitions]
            stored["plan"] = importlib.import_module("pandas").DataFrame(found.plan, *names)
        adata.uns[key_added] = stored
    return found


def distance_matrix(
    adata: Any,
    keys: Sequence[str],
    *,
    use_rep: str | None = None,
    measure: MeasureName = "lift_emd",
    key_added: str | None = None,
    **lifting: Any,
) -> Any:
    """Distances between all pairs of clusterings of the cells.

    Parameters
    ----------
    keys : sequence of m str
        Clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``.
    measure : str
        A name in ``liftcluster.MEASURES``.
    key_added : str, optional
        Also store the distances in ``.uns[key_added]``.
    adata, use_rep, **lifting
        As for :func:`compare`.

    Returns
    -------
    (m, m) pandas.DataFrame

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [5.0]]))
    >>> cells.obs["u"], cells.obs["v"] = ["a", "a", "b"], ["a", "b", "b"]
    >>> distance_matrix(cells, ["u", "v"], measure="rand").round(3)
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
    keys: Sequence[str],
    n_clusters: int | Literal["auto"],
    *,
    use_rep: str | None = None,
    method: Any = "auto",
    key_added: str = "consensus",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Combine clusterings of the cells into one.

    Parameters
    ----------
    keys : sequence of str
        Clusterings: columns of ``.obs``, or (n, k) memberships in ``.obsm``.
    n_clusters : int or "auto"
        The number of clusters of the consensus.
    method : str
        A name in ``liftcluster.METHODS``.
    key_added : str
        The key of the results.
    copy : bool
        Return a copy of ``adata`` with the results, and leave ``adata`` unchanged.
    adata, use_rep
        As for :func:`compare`.
    **options
        Options of :func:`liftcluster.consensus`.

    Returns
    -------
    None, or AnnData if ``copy``
        ``.obs[key_added]``: the cluster of each cell, categorical.
        ``.obs[key_added + "_confidence"]``: the share of the clusterings that agree with it.
        ``.obsm[key_added + "_memberships"]``: soft memberships (n, n_clusters).
        ``.uns[key_added]``: parameters, score, mean distances to the inputs by place and by
        labels, and ``overruled``, the numbers of the cells that all clusterings put into another
        cluster; with method="auto" the method that was chosen, and the reason.

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["u"], cells.obs["v"] = list("aaabbb"), list("aabbbb")
    >>> consensus(cells, ["u", "v"], 2, bandwidth=3.0, rng=0)
    >>> (cells.obs["consensus"] == cells.obs["consensus"].iloc[0]).tolist()
    [True, True, True, False, False, False]
    """
    X, rep = points_of(adata, use_rep)
    named = partitions_of(adata, keys)
    found = combining.consensus(named, n_clusters, X, method=method, **options)
    target = adata.copy() if copy else adata
    pandas = importlib.import_module("pandas")
    categories = [str(j) for j in range(found.n_clusters)]
    target.obs[key_added] = pandas.Categorical.from_codes(found.labels, categories)
    target.obs[f"{key_added}_confidence"] = found.confidence
    target.obsm[f"{key_added}_memberships"] = np.asarray(found.memberships)
    kept = ("score", "mean_distance", "best_input_distance", "label_distance",
            "best_input_label_distance", "overruled")  # fmt: skip
    scores: dict[str, Any] = {name: getattr(found, name) for name in kept}
    if found.decision is not None:
        scores |= {"method": found.method, "reason": found.decision.reason}
    params = {"keys": list(named), "n_clusters": n_clusters, "use_rep": rep, "method": method}
    target.uns[key_added] = {**storable(scores), "params": storable(params | options)}
    return target if copy else None
