"""Frequencies as float16, exact where they have few bits, and the form of points for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..._util.arrays import namespace, send
from ..._util.typing import FloatArray

_NARROW = 128  # coordinates whose products with a frequency stay in registers


@dataclass(frozen=True, eq=False)
class Weights:
    """Frequencies as float16 for one precision, and the form of the points that they multiply."""

    matrix: Any  # (n_phases, width)
    step: int  # columns of a part
    parts: int
    low_part: int  # of the points, which has what the others round off; -1 for none

    @cached_property
    def transposed(self) -> Any:
        return self.matrix.T

    @cached_property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def is_narrow(self) -> bool:
        return self.width <= _NARROW

    @cached_property
    def columns(self) -> int:
        """Columns of a part at a time, the smallest power of two that holds the longest."""
        last = self.width - (self.parts - 1) * self.step
        return 1 << (max(self.step, last) - 1).bit_length()

    @cached_property
    def bytes_of_source(self) -> int:
        """Of one point as float16, and of its products where they are stored."""
        return 2 * self.width + (0 if self.is_narrow else 4 * len(self.matrix))


def make_weights(directions: FloatArray, n_phases: int, like: Any, *, precise: bool) -> Weights:
    """(high | high | low) of the frequencies, for (high | low | high) of the points.

    There are ``n_phases`` with those that are zero, on the device of another array.
    """
    xp, exact = namespace(like), send(directions, like)
    rounded = exact.to(xp.float16)
    rest = exact - rounded
    # Numbers far below the largest lose bits in float16 that float32 would not hold, either.
    largest = exact.abs().amax(dim=1, keepdim=True)
    matters = bool((rest.abs() > largest * 2**-24).any())
    parts = [rounded, *([rounded] if precise else []), *([rest] if matters else [])]
    n, d = directions.shape
    step = -(-d // 8) * 8
    width = step * len(parts)
    if width <= _NARROW:
        width = max(1 << (width - 1).bit_length(), 16)
    W = exact.new_zeros((n_phases, width), dtype=xp.float16)
    for i, part in enumerate(parts):
        W[:n, i * step : i * step + d] = part
    return Weights(W, step, len(parts), 1 if precise else -1)
