"""Arrays as base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..._util.typing import Array, FloatArray


def pack(values: Array) -> dict[str, str]:
    """Numbers as little-endian base64, a fifth of the size of JSON."""
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"dtype": values.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}


def quantise(values: FloatArray, low: float, high: float) -> dict[str, Any]:
    """Values in [low, high] as bytes, which is enough for colours."""
    levels = np.clip(np.rint((values - low) * (255 / (high - low))), 0, 255).astype(np.uint8)
    return {**pack(levels), "low": low, "high": high}
