"""Data frames of labels: a clustering in each column."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .._util.arrays import check_is_array_like
from .._util.dask import is_dask

_SUM_TOLERANCE = 1e-5


def columns_as_partitions(obj: Any) -> Any:
    """A data frame (pandas, polars) as a mapping of its columns; anything else unchanged.

    Dask data frames are left as they are. A frame whose rows sum to one is refused: it could be
    the memberships of one soft partition.

    Examples
    --------
    >>> import pandas as pd
    >>> list(columns_as_partitions(pd.DataFrame({"mine": [0, 1], "yours": ["a", "a"]})))
    ['mine', 'yours']
    """
    check_is_array_like(obj, "partitions")
    if not hasattr(obj, "columns") or len(getattr(obj, "shape", ())) != 2 or is_dask(obj):
        return obj
    names: list[Hashable] = list(obj.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"two columns of the data frame have the same name: {names}; rename one")
    columns = {name: obj[name] for name in names}
    if len(columns) > 1 and _sum_to_one([*columns.values()]):
        raise ValueError(
            "the columns of the data frame sum to one at each point, as the memberships of one "
            "soft partition do: pass [Partition.from_memberships(frame)], or a "
            "mapping {name: frame[name], ...} if each column is a clustering of its own"
        )
    return columns


def _sum_to_one(columns: list[Any]) -> bool:
    arrays = [np.asarray(column) for column in columns]
    if not all(a.dtype.kind in "fiub" and a.size for a in arrays):
        return False
    if any(a.min() < 0 for a in arrays):
        return False
    total = np.sum(arrays, axis=0, dtype=np.float64)
    return bool((np.abs(total - 1) <= _SUM_TOLERANCE).all())
