"""Points, views and clusterings of cells in AnnData objects, and how results are stored there."""

from __future__ import annotations

import importlib
import math
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from .._util.checks import near_names
from .._util.memory import check_memory
from .._util.typing import Array
from ..partitions.labels import plain_name
from ..partitions.partition import Partition
from .table import first_repeated, quoted

# scverse tools store labels as text: the -1 of HDBSCAN is "-1".
NOISE = (-1, "-1", None, math.nan)
NOT_LABELS = "fb"  # kinds of columns that a pattern leaves out: real numbers, and true or false
_MAX_VARIABLES = 50  # columns of .X that are used without principal components
_USUAL_VIEWS = ("X_umap", "X_tsne")
_AXES = {"umap": "UMAP", "tsne": "tSNE", "pca": "PC", "diffmap": "DC"}  # as scanpy names them


def check_cells(adata: Any) -> None:
    if not (hasattr(adata, "obs") and hasattr(adata, "obsm")):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}")


def points_of(adata: Any, use_rep: str | None) -> tuple[Array, str]:
    """The points (n, d), and their key."""
    check_cells(adata)
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
        keys = [*adata.obsm, "X"]
        raise ValueError(
            f"use_rep={use_rep!r} is not in .obsm;{_did_you_mean(use_rep, keys)} it must be one of "
            f"{quoted(keys)}"
        )
    block = _in_memory(adata.X) if use_rep == "X" else adata.obsm[use_rep]
    if hasattr(block, "toarray"):
        check_memory(
            2 * block.dtype.itemsize * math.prod(block.shape),
            f"the dense {block.shape[0]:,} × {block.shape[1]:,} matrix {use_rep!r}",
            'use principal components: use_rep="X_pca" (scanpy.pp.pca computes it)',
        )
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block), use_rep


def _in_memory(block: Any) -> Any:
    """A matrix that may be in a file; anndata 0.10 cannot slice all of a sparse one there."""
    return block.to_memory() if hasattr(block, "to_memory") else block[:]


def view_of(adata: Any, basis: str | None) -> Any:
    """The first two columns of ``.obsm[basis]`` or ``.obsm["X_" + basis]``, as a data frame.

    By default those of UMAP or t-SNE; None if there are none of both. Columns have the names that
    scanpy gives to the axes.
    """
    check_cells(adata)
    if basis is None:
        basis = next((key for key in _USUAL_VIEWS if key in adata.obsm), None)
        if basis is None:
            return None
    key = next((k for k in (basis, f"X_{basis}") if k in adata.obsm), None)
    if key is None:
        raise ValueError(
            f"basis={basis!r} is not in .obsm;{_did_you_mean(basis, adata.obsm)} it has "
            f"{quoted(adata.obsm) or 'nothing'}"
        )
    block = adata.obsm[key]
    values = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"basis={basis!r} must have two columns, got shape {values.shape}")
    name = key.removeprefix("X_")
    shown = name.removeprefix("draw_graph_").upper() if "draw_graph" in name else name
    axes = [f"{_AXES.get(name, shown)}{i}" for i in (1, 2)]
    return importlib.import_module("pandas").DataFrame(values[:, :2], columns=axes)


def partition_of(adata: Any, key: str) -> Partition:
    """The clustering with a key in .obs, or in .obsm if it is soft."""
    try:
        if key in adata.obs:
            return Partition.from_labels(adata.obs[key], noise=NOISE)
        if key in adata.obsm:
            return Partition.from_memberships(adata.obsm[key])
    except (TypeError, ValueError) as error:
        raise type(error)(f"{key!r}: {error}") from error
    if is_pattern(adata, key):
        raise ValueError(
            f"{key!r} is a pattern, but one key is needed here; lc.anndata.distance_matrix "
            "compares several clusterings"
        )
    keys = [*adata.obs.columns, *adata.obsm]
    raise ValueError(
        f"there is no clustering {key!r};{_did_you_mean(key, keys)} .obs has "
        f"{quoted(adata.obs.columns) or 'nothing'}, .obsm has {quoted(adata.obsm) or 'nothing'}"
    )


def partitions_of(adata: Any, keys: Any, written: str | None = None) -> dict[str, Partition]:
    """Clusterings by key; ``written``, the key of the results, is not taken by a pattern."""
    return {key: partition_of(adata, key) for key in expand_keys(adata, keys, written)}


def expand_keys(adata: Any, keys: Any, written: str | None = None) -> list[str]:
    """Different keys, from a pattern or a list of keys and patterns."""
    check_cells(adata)
    if isinstance(keys, str) and not is_pattern(adata, keys):
        raise TypeError(
            'keys must be a list of keys, or a pattern such as "leiden_*"; got one key: write '
            f"[{keys!r}, ...]"
        )
    given = (
        [keys] if isinstance(keys, str) else list(keys) if isinstance(keys, Collection) else None
    )
    if given is None or not all(isinstance(key, str) for key in given):
        raise TypeError(f"keys must be a list of keys, which are strings; got {keys!r}")
    if not given:
        raise ValueError("keys is empty; give the clusterings, such as keys of .obs")
    found: list[str] = []
    for key in given:
        found += _matching(adata, key, written) if is_pattern(adata, key) else [key]
    if (twice := first_repeated(found)) is not None:
        raise ValueError(f"keys must differ, but {twice!r} is selected twice: {found}")
    return found


def is_pattern(adata: Any, key: Any) -> bool:
    """Whether a key has wildcards, and is not the name of a column that has them too."""
    is_known = key in adata.obs or key in adata.obsm
    return isinstance(key, str) and any(c in key for c in "*?[") and not is_known


def has_pattern(adata: Any, keys: Any) -> bool:
    return any(is_pattern(adata, key) for key in ([keys] if isinstance(keys, str) else keys))


def _matching(adata: Any, pattern: str, written: str | None) -> list[str]:
    """The columns of .obs that match a pattern, without numbers that results consist of."""
    names = [name for name in map(str, adata.obs.columns) if fnmatchcase(name, pattern)]
    found = [
        name for name in names if adata.obs[name].dtype.kind not in NOT_LABELS and name != written
    ]
    if found:
        return found
    if names:
        raise ValueError(
            f"{pattern!r} matches no clusterings, but {quoted(names)}; a pattern leaves out real "
            "numbers, true or false, and the results themselves"
        )
    start = pattern.rstrip("*")
    starts = {str(name)[: len(start) + 1]: str(name) for name in adata.obs.columns}
    near = [starts[short] for short in near_names(start, starts, 3)]
    raise ValueError(
        f"no column of .obs matches {pattern!r};{_or(near)} .obs has "
        f"{quoted(adata.obs.columns) or 'nothing'}"
    )


def _did_you_mean(given: Any, names: Iterable[Any]) -> str:
    return _or(near_names(str(given), map(str, names), 3))


def _or(near: list[str]) -> str:
    return f" did you mean {' or '.join(map(repr, near))}?" if near else ""


def colours_of(adata: Any, key: str, names: Iterable[Any]) -> list[str] | None:
    """The colours of the clusters in ``.uns[key + "_colors"]``, by category; None without them."""
    colours = adata.uns.get(f"{key}_colors")
    categories = getattr(getattr(adata.obs.get(key), "cat", None), "categories", None)
    if colours is None or categories is None or len(colours) < len(categories):
        return None
    by_name = dict(zip(map(plain_name, categories), map(str, colours), strict=False))
    return [by_name[name] for name in names]


def store_clusters(
    adata: Any, key: str, codes: Any, names: Iterable[Any], colours: list[str] | None = None
) -> None:
    """Store clusters as categories in their own order, with their colours if there are any.

    Without, colours that are there already remain if there are enough of them, as in scanpy.
    """
    categories = [str(name) for name in names]
    adata.obs[key] = importlib.import_module("pandas").Categorical.from_codes(codes, categories)
    if colours is not None:
        adata.uns[f"{key}_colors"] = np.array(colours, dtype=object)
    elif len(adata.uns.get(f"{key}_colors", categories)) < len(categories):
        del adata.uns[f"{key}_colors"]


def storable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as types that h5ad supports: numbers and text, other objects as text, no None."""
    storable = {name: value for name, value in values.items() if value is not None}
    for name, value in storable.items():
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            storable[name] = np.array(value, dtype=str)
        elif not isinstance(value, str | int | float | bool):
            storable[name] = str(value)
    return storable
