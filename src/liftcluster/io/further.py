"""Further columns of a table, which are neither coordinates nor clusterings, to be shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from .._util.typing import Array
from ..partitions.labels import as_objects
from .coordinates import not_coordinates
from .formats import ArrayTable
from .h5ad_files import AnnDataTable
from .table import SAMPLE, Table, only_integers, quoted


def further_names(
    table: Table, taken: Collection[str | None], most: int, notes: list[str]
) -> list[str]:
    """The first columns with one value per row that are not used otherwise; ids of cells too."""
    free = [name for name in table.names if name not in taken]
    if isinstance(table, ArrayTable):
        free = [name for name in free if table.arrays[name].ndim == 1]
    elif isinstance(table, AnnDataTable):
        free = [name for name in free if name in table.obs or name == "obs_names"]
    if len(free) > most > 0:
        notes.append(f"{most} of {len(free)} other columns are shown: {quoted(free[:most], 5)}")
    return free[:most]


def with_label_names(columns: Mapping[str, Array], labels: Collection[str]) -> dict[str, Array]:
    """Columns of which integers that look like labels, not like amounts, become text.

    >>> with_label_names({"kmeans": np.array([0, 1.0, 1, 0, np.nan])}, [])["kmeans"].tolist()
    ['0', '1', '1', '0', None]
    """
    numeric = {name: v for name, v in columns.items() if v.dtype.kind in "fiu"}
    integers = only_integers({name: v[:SAMPLE] for name, v in numeric.items()})
    kinds = not_coordinates(integers, labels)
    return {
        name: _as_names(values) if kinds.get(name) == "labels" else values
        for name, values in columns.items()
    }


def _as_names(values: Array) -> Array:
    return as_objects([None if np.isnan(v) else f"{v:g}" for v in values])
