"""Clusterings of cells in AnnData objects, following scverse conventions (extra ``anndata``).

A clustering is a key of ``.obs`` or, if it is soft, of ``.obsm``. The points are ``.obsm[use_rep]``
or ``.X``. Results are stored in ``.obs``, ``.obsm`` and ``.uns`` as types that h5ad supports.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from .._util.memory import check_memory
from .._util.names import MeasureName
from .._util.typing import Array
from ..combination import combining
from ..comparison import comparing, distances
from ..comparison.comparison import Comparison
from ..comparison.resampling import assessing
from ..comparison.resampling.result import Stability
from ..partitions.partition import Partition
from .table import quoted

__all__ = ["compare", "consensus", "distance_matrix", "stability"]

# scverse tools store labels as text: the -1 of HDBSCAN is "-1".
_NOISE = (-1, "-1", None, math.nan)
_MAX_VARIABLES = 50  # columns of .X that are used without principal components


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
    X, rep = _points(adata, use_rep)
    first, second = _partition(adata, a), _partition(adata, b)
    found = comparing.compare(first, second, X, measures=measures, names=(a, b), **lifting)
    if key_added is not None:
        stored: dict[str, Any] = {
            "values": {name: estimate.value for name, estimate in found.values.items()},
            "errors": {n: e.error for n, e in found.values.items() if e.error is not None},
            "moves": np.array(found.summary(), dtype=str),
            "params": _storable({"a": a, "b": b, "use_rep": rep, **lifting}),
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
    X, rep = _points(adata, use_rep)
    named = _partitions(adata, keys)
    D = distances.distance_matrix(named, X, measure=measure, **lifting)
    frame = pandas.DataFrame(D, index=list(named), columns=list(named))
    if key_added is not None:
        params = _storable({"measure": measure, "use_rep": rep, **lifting})
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
        ``.obs[key_added + "_confidence"]``: its confidence, from 0 to 1.
        ``.obsm[key_added + "_memberships"]``: soft memberships (n, n_clusters).
        ``.uns[key_added]``: parameters, score and mean distance to the inputs; with
        method="auto" the method that was chosen, and the reason.

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["u"], cells.obs["v"] = list("aaabbb"), list("aabbbb")
    >>> consensus(cells, ["u", "v"], 2, bandwidth=3.0, rng=0)
    >>> (cells.obs["consensus"] == cells.obs["consensus"].iloc[0]).tolist()
    [True, True, True, False, False, False]
    """
    X, rep = _points(adata, use_rep)
    named = _partitions(adata, keys)
    found = combining.consensus(named, n_clusters, X, method=method, **options)
    target = adata.copy() if copy else adata
    pandas = importlib.import_module("pandas")
    categories = [str(j) for j in range(found.n_clusters)]
    target.obs[key_added] = pandas.Categorical.from_codes(found.labels, categories)
    target.obs[f"{key_added}_confidence"] = found.confidence
    target.obsm[f"{key_added}_memberships"] = np.asarray(found.memberships)
    scores: dict[str, Any] = {
        s: getattr(found, s) for s in ("score", "mean_distance", "best_input_distance")
    }
    if found.decision is not None:
        scores |= {"method": found.method, "reason": found.decision.reason}
    params = {"keys": list(named), "n_clusters": n_clusters, "use_rep": rep, "method": method}
    target.uns[key_added] = {**_storable(scores), "params": _storable(params | options)}
    return target if copy else None


def stability(
    adata: Any,
    source: Any,
    *,
    reference: str | None = None,
    use_rep: str | None = None,
    key_added: str = "stability",
    **options: Any,
) -> Stability:
    """How far the clusters of the cells, and each cell, are found again in other runs.

    Parameters
    ----------
    source : sequence of str, pattern, clusterer or function
        Runs: columns of ``.obs`` such as ``["leiden_0.5", "leiden_1.0"]`` or ``"leiden_*"``. Or a
        scikit-learn clusterer or a function from points to labels, which is run on resamples.
    reference : str, optional
        The clustering in question, a column of ``.obs``; by default the run that is nearest to the
        others, or the clustering of all cells by the clusterer.
    key_added : str
        The key of the results.
    adata, use_rep
        As for :func:`compare`.
    **options
        Options of :func:`liftcluster.stability`: n_replicates, resample, null, rng, ...

    Returns
    -------
    Stability
        Also stored: ``.obs[key_added]``, the stability of each cell; ``.obs[key_added +
        "_reference"]``, the clustering in question; ``.uns[key_added]``, a table of the clusters,
        the score and the parameters.

    Examples
    --------
    >>> import anndata
    >>> cells = anndata.AnnData(np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]))
    >>> cells.obs["leiden_0.5"], cells.obs["leiden_1.0"] = list("aaabbb"), list("aabccc")
    >>> found = stability(cells, "leiden_*", reference="leiden_0.5", rng=0)
    >>> cells.obs["stability"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    X, rep = _points(adata, use_rep)
    given = None if reference is None else _partition(adata, reference)
    if callable(source) or hasattr(source, "fit"):
        shown: Any = str(source)
        found = assessing.stability(X, source, reference=given, **options)
    else:
        named = _partitions(adata, _matching(adata, source))
        shown = list(named)
        if reference in named:
            given = reference  # type: ignore[assignment]
        found = assessing.stability(X, named, reference=given, **options)
    pandas = importlib.import_module("pandas")
    partition = found.reference
    categories = [str(name) for name in partition.names]
    adata.obs[f"{key_added}_reference"] = pandas.Categorical.from_codes(
        partition.labels, categories
    )
    adata.obs[key_added] = found.points
    frame = pandas.DataFrame(found.rows())
    frame["cluster"] = categories
    adata.uns[key_added] = {
        "clusters": frame.dropna(axis=1, how="all").set_index("cluster"),
        "score": found.score,
        "params": _storable({"source": shown, "reference": reference, "use_rep": rep, **options}),
    }
    return found


def _matching(adata: Any, keys: Any) -> Any:
    """Keys of ``.obs``; a string is a pattern."""
    if not isinstance(keys, str):
        return keys
    found = [key for key in adata.obs.columns if fnmatchcase(str(key), keys)]
    if not found:
        raise ValueError(
            f"no column of .obs matches {keys!r}; .obs has {quoted(adata.obs.columns)}"
        )
    return found


def _points(adata: Any, use_rep: str | None) -> tuple[Array, str]:
    """The points (n, d), and their key."""
    if not (hasattr(adata, "obs") and hasattr(adata, "obsm")):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}")
    if use_rep is None and "X_pca" in adata.obsm:
        use_rep = "X_pca"
    if use_rep is None and adata.n_vars <= _MAX_VARIABLES and adata.X is not None:
        use_rep = "X"
    if use_rep is None:
        raise ValueError(
            f"use_rep must be one of {quoted([*adata.obsm, 'X'])}; there is no default because "
            '"X_pca" is missing (scanpy.pp.pca computes it)'
        )
    if use_rep != "X" and use_rep not in adata.obsm:
        keys = quoted([*adata.obsm, "X"])
        raise ValueError(f"use_rep={use_rep!r} is not in .obsm; it must be one of {keys}")
    block = adata.X[:] if use_rep == "X" else adata.obsm[use_rep]
    if hasattr(block, "toarray"):
        check_memory(
            2 * block.dtype.itemsize * math.prod(block.shape),
            f"the dense {block.shape[0]:,} × {block.shape[1]:,} matrix {use_rep!r}",
            'use principal components: use_rep="X_pca" (scanpy.pp.pca computes it)',
        )
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block), use_rep


def _partition(adata: Any, key: str) -> Partition:
    """The clustering with a key in .obs, or in .obsm if it is soft."""
    try:
        if key in adata.obs:
            return Partition.from_labels(adata.obs[key], noise=_NOISE)
        if key in adata.obsm:
            return Partition.from_memberships(adata.obsm[key])
    except (TypeError, ValueError) as error:
        raise type(error)(f"{key!r}: {error}") from error
    raise ValueError(
        f"there is no clustering {key!r}: .obs has {quoted(adata.obs.columns)}, .obsm has "
        f"{quoted(adata.obsm)}"
    )


def _partitions(adata: Any, keys: Sequence[str]) -> dict[str, Partition]:
    if isinstance(keys, str):
        raise TypeError(f"keys must be a list of keys, got one string; write [{keys!r}, ...]")
    if len(set(keys)) < len(keys):
        raise ValueError(f"keys must differ, got {list(keys)}")
    return {key: _partition(adata, key) for key in keys}


def _storable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as types that h5ad supports: numbers and text, other objects as text, no None."""
    storable = {name: value for name, value in values.items() if value is not None}
    for name, value in storable.items():
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            storable[name] = np.array(value, dtype=str)
        elif not isinstance(value, str | int | float | bool):
            storable[name] = str(value)
    return storable
