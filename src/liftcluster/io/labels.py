"""Labels as they stand in cells of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._util.typing import Array

__all__ = ["MISSING", "label_values"]

# As pandas and R write them; a point without a label is in no cluster.
MISSING = frozenset({"", "na", "nan", "n/a", "none", "null", "<na>"})


def label_values(cells: Sequence[str]) -> Array:
    """Cells as labels: numbers where all are whole numbers, else text; None where there is none.

    >>> label_values(["2", "-1", "", "NA"]).tolist()
    [2, -1, None, None]
    >>> label_values(["2.0", "B cell", "-1", "01"]).tolist()
    ['2.0', 'B cell', None, '01']
    """
    stripped = [cell.strip() for cell in cells]
    filled = [cell for cell in stripped if cell.lower() not in MISSING]
    numbers = {cell: _whole(cell) for cell in filled}
    if None in numbers.values() or len(set(numbers.values())) < len(numbers):
        numbers = {cell: None if cell == "-1" else cell for cell in filled}  # "1" is not "01"
    values = [numbers.get(cell) for cell in stripped]
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels


def _whole(cell: str) -> Any:
    """1, -1 and 1.0 (a column of whole numbers with gaps, as pandas writes it) as an int."""
    text = cell.removesuffix(".0")
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 19 else None
