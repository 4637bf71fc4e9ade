"""Clusterings of cells in an AnnData object, by the habits of scverse (extra ``anndata``).

Clusterings are named by their keys: columns of ``.obs``, or matrices of ``.obsm`` for soft ones.
The points are ``.obsm[use_rep]``, or ``.X``. What is found goes to ``.obs``, ``.obsm`` and
``.uns``, as values that an h5ad file can hold.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._util.memory import check_memory
from .._util.typing import Array
from ..combination import combining as combination
from ..combination.combining import Consensus
from ..comparison import comparing as comparison
from ..comparison.comparison import Comparison
from ..partitions.partition import Partition

__all__ = ["compare", "consensus", "distance_matrix"]

# Tools of scverse keep labels as text, so that the -1 of HDBSCAN is "-1".
_NOISE = (-1, "-1", None, math.nan)
_FEW_GENES = 50  # so many columns of .X need no principal components


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
    """How two clusterings of the cells differ: every measure, what moved, and where.

    Parameters
    ----------
    adata : AnnData
    a, b : str
        Columns of ``.obs``, or matrices of memberships in ``.obsm``. Missing categories and -1 are
        cells in no cluster.
    use_rep : str, optional
        The points: a key of ``.obsm`` such as "X_pca" or "spatial", or "X". By default "X_pca" if
        it is there, else X if it has at most 50 columns.
    measures : sequence of str, optional
        As for :func:`liftcluster.compare`.
    key_added : str, optional
        Also keep a summary in ``.uns[key_added]``.
    **lifting
        Of :func:`liftcluster.compare`: kernel, bandwidth, lift, n_components, tol, rng, ...

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
    found = comparison.compare(first, second, X, measures=measures, names=(a, b), **lifting)
    if key_added is not None:
        adata.uns[key_added] = _summary(found) | {
            "params": _writable({"a": a, "b": b, "use_rep": rep, **lifting})
        }
    return found


def distance_matrix(
    adata: Any,
    keys: Sequence[str],
    *,
    use_rep: str | None = None,
    measure: str = "lift_emd",
    key_added: str | None = None,
    **lifting: Any,
) -> Any:
    """Distances between every two clusterings of the cells, as a data frame.

    Parameters
    ----------
    keys : sequence of str
        Columns of ``.obs``, or matrices of memberships in ``.obsm``.
    measure : str
        A name in ``liftcluster.MEASURES``.
    adata, use_rep, key_added, **lifting
        As for :func:`compare`.

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
    named = {key: _partition(adata, key) for key in _several(keys)}
    D = comparison.distance_matrix(named, X, measure=measure, **lifting)
    frame = pandas.DataFrame(D, index=list(named), columns=list(named))
    if key_added is not None:
        adata.uns[key_added] = {
            "distances": frame,
            "params": _writable({"measure": measure, "use_rep": rep, **lifting}),
        }
    return frame


def consensus(
    adata: Any,
    keys: Sequence[str],
    n_clusters: int | str,
    *,
    use_rep: str | None = None,
    method: Any = "lift_km",
    key_added: str = "consensus",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Combine clusterings of the cells into one.

    Parameters
    ----------
    keys : sequence of str
        Columns of ``.obs``, or matrices of memberships in ``.obsm``.
    n_clusters : int or "auto"
    method : str
        A name in ``liftcluster.METHODS``.
    key_added : str
        Under which the results are kept.
    copy : bool
        Leave ``adata`` as it is and return a copy with the results.
    adata, use_rep
        As for :func:`compare`.
    **options
        As for :func:`liftcluster.consensus`.

    Returns
    -------
    None, or an AnnData if ``copy``
        ``.obs[key_added]``: the cluster of each cell, categorical.
        ``.obs[key_added + "_confidence"]``: how sure that is, from 0 to 1.
        ``.obsm[key_added + "_memberships"]``: the soft consensus.
        ``.uns[key_added]``: how it was made, and how well it fits.

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
    named = {key: _partition(adata, key) for key in _several(keys)}
    found = combination.consensus(named, n_clusters, X, method=method, **options)
    assert isinstance(found, Consensus)  # what is in memory stays there
    target = adata.copy() if copy else adata
    _keep(target, found, key_added)
    target.uns[key_added]["params"] = _writable(
        {"keys": list(named), "n_clusters": n_clusters, "use_rep": rep, "method": method, **options}
    )
    return target if copy else None


def _points(adata: Any, use_rep: str | None) -> tuple[Array, str]:
    """The points, and what they are called."""
    if not (hasattr(adata, "obs") and hasattr(adata, "obsm")):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}")
    if use_rep is None and "X_pca" in adata.obsm:
        use_rep = "X_pca"
    if use_rep is None and adata.n_vars <= _FEW_GENES and adata.X is not None:
        use_rep = "X"
    if use_rep is None:
        raise ValueError(
            f"say where the cells are: use_rep is one of {_listed([*adata.obsm, 'X'])}; there is "
            'no "X_pca" (scanpy.pp.pca makes it)'
        )
    if use_rep != "X" and use_rep not in adata.obsm:
        raise ValueError(
            f"use_rep={use_rep!r} is not in .obsm; it is one of {_listed([*adata.obsm, 'X'])}"
        )
    block = adata.X[:] if use_rep == "X" else adata.obsm[use_rep]
    if hasattr(block, "toarray"):
        check_memory(
            2 * block.dtype.itemsize * math.prod(block.shape),
            f"the {block.shape[0]:,} × {block.shape[1]:,} numbers of {use_rep!r}, zeros included,",
            'take principal components: use_rep="X_pca" (scanpy.pp.pca makes it)',
        )
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block), use_rep


def _partition(adata: Any, key: str) -> Partition:
    """The clustering that a key stands for, in .obs or, soft, in .obsm."""
    try:
        if key in adata.obs:
            return Partition.from_labels(adata.obs[key], noise=_NOISE)
        if key in adata.obsm:
            return Partition.from_memberships(adata.obsm[key])
    except (TypeError, ValueError) as error:
        raise type(error)(f"{key!r}: {error}") from error
    raise ValueError(
        f"there is no clustering {key!r}: .obs has {_listed(adata.obs.columns)}, .obsm has "
        f"{_listed(adata.obsm)}"
    )


def _several(keys: Sequence[str]) -> list[str]:
    if isinstance(keys, str):
        raise TypeError(f"keys must be a list of keys, got one string; write [{keys!r}, ...]")
    if len(set(keys)) < len(keys):
        raise ValueError(f"keys must differ, got {list(keys)}")
    return list(keys)


def _keep(adata: Any, found: Consensus, key: str) -> None:
    pandas = importlib.import_module("pandas")
    names = [str(j) for j in range(found.n_clusters)]
    adata.obs[key] = pandas.Categorical.from_codes(found.labels, names)
    adata.obs[f"{key}_confidence"] = found.confidence
    adata.obsm[f"{key}_memberships"] = np.asarray(found.memberships)
    adata.uns[key] = _writable(
        {
            "score": found.score,
            "mean_distance": found.mean_distance,
            "best_input_distance": found.best_input_distance,
        }
    )


def _summary(found: Comparison) -> dict[str, Any]:
    """The numbers of a comparison, as h5ad can hold them."""
    pandas = importlib.import_module("pandas")
    summary: dict[str, Any] = {
        "values": {name: estimate.value for name, estimate in found.values.items()},
        "errors": {n: e.error for n, e in found.values.items() if e.error is not None},
        "moves": np.array(found.summary(), dtype=str),
    }
    if found.plan is not None:
        a, b = found.partitions
        summary["plan"] = pandas.DataFrame(
            found.plan, index=list(map(str, a.names)), columns=list(map(str, b.names))
        )
    return summary


def _writable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and text as they are, None left out, anything else in words."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            kept[name] = np.array(value, dtype=str)
        else:
            kept[name] = value if isinstance(value, str | int | float | bool) else str(value)
    return kept


def _listed(names: Any) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")
