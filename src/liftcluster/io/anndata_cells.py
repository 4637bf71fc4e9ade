"""Points and clusterings of cells in AnnData objects, and values that can be stored in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from .._util.memory import check_memory
from .._util.typing import Array
from ..partitions.partition import Partition
from .table import quoted

# scverse tools store labels as text: the -1 of HDBSCAN is "-1".
_NOISE = (-1, "-1", None, math.nan)
_MAX_VARIABLES = 50  # columns of .X that are used without principal components


def matching_keys(adata: Any, keys: Any) -> Any:
    """Keys of ``.obs``; a string is a pattern."""
    if not isinstance(keys, str):
        return keys
    found = [key for key in adata.obs.columns if fnmatchcase(str(key), keys)]
    if not found:
        raise ValueError(
            f"no column of .obs matches {keys!r}; .obs has {quoted(adata.obs.columns)}"
        )
    return found


def points_of(adata: Any, use_rep: str | None) -> tuple[Array, str]:
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


def partition_of(adata: Any, key: str) -> Partition:
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


def partitions_of(adata: Any, keys: Sequence[str]) -> dict[str, Partition]:
    if isinstance(keys, str):
        raise TypeError(f"keys must be a list of keys, got one string; write [{keys!r}, ...]")
    if len(set(keys)) < len(keys):
        raise ValueError(f"keys must differ, got {list(keys)}")
    return {key: partition_of(adata, key) for key in keys}


def storable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as types that h5ad supports: numbers and text, other objects as text, no None."""
    storable = {name: value for name, value in values.items() if value is not None}
    for name, value in storable.items():
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            storable[name] = np.array(value, dtype=str)
        elif not isinstance(value, str | int | float | bool):
            storable[name] = str(value)
    return storable
