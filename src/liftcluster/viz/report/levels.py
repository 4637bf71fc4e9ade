"""Values of points as small integers: codes of categories, and levels of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._util.typing import FloatArray, IntArray
from .packing import pack


def pack_codes(codes: IntArray, k: int) -> dict[str, str]:
    """Numbers of clusters or categories in the smallest type; its largest value is none (-1)."""
    dtype = np.uint8 if k < 255 else np.uint16 if k < 65535 else np.uint32
    return pack(np.where(codes < 0, np.iinfo(dtype).max, codes).astype(dtype))


def pack_numbers(values: FloatArray, dtype: Any, *, exact: bool = False) -> dict[str, Any]:
    """Numbers as levels from 0 to ``top``, evenly between ``low`` and ``high``; NaN as the largest.

    Integers are ``exact`` where the type has a level for each, ``low`` plus the level. Bytes leave
    out the tails of a long range, which then count as its ends, as ``clipped`` says.
    """
    largest = int(np.iinfo(dtype).max)
    top, known = largest - 1, values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    ends = (low, high)
    if exact:
        top = max(round(high - low), 1)
    elif dtype == np.uint8:
        inner = inner_range(known, 0.005)
        ends = inner if high / 2 - low / 2 > inner[1] - inner[0] else ends
    start, end = ends if ends[0] < ends[1] else (low, low + max(1.0, abs(low) * 1e-9))
    # Halves: the difference of huge numbers overflows.
    shares = (values / 2 - start / 2) / (end / 2 - start / 2)
    levels = np.where(np.isnan(shares), largest, np.clip(np.rint(shares * top), 0, top))
    clipped = [bool(low < start), bool(high > end)]
    made = {"low": start, "high": end, "top": top, "exact": exact, "clipped": clipped}
    return {**pack(levels.astype(dtype)), **made}


def inner_range(values: FloatArray, tail: float) -> tuple[float, float]:
    """The range of values without a share of them at each end; all of it where that is a point.

    >>> inner_range(np.array([0.0] * 50 + [1.0] * 50 + [1e6]), 0.01)
    (0.0, 1.0)
    """
    if not len(values):
        return 0.0, 1.0
    low, high = (float(v) for v in np.quantile(values, (tail, 1 - tail), method="nearest"))
    return (low, high) if low < high else (float(values.min()), float(values.max()))
