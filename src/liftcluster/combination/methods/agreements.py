"""Numbers of partitions that agree on two tuples of labels, and similarities by these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._util.arrays import row_blocks
from ..._util.memory import check_memory
from ..._util.typing import Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CountedSimilarities:
    """Similarities of tuples that depend on how many partitions label both, and how many agree.

    Attributes
    ----------
    codes : (t, m) int array
        Cluster of each tuple in each partition, -1 where it has none.
    values : (m + 1, m + 1) array
        Similarity if so many partitions label both, and so many of these agree.
    instead : str
        What to do where all similarities do not fit into memory.
    """

    codes: IntArray
    values: FloatArray
    instead: str

    def check_memory(self, share: float = 1.0) -> None:
        """Whether such a share of all similarities fits into memory."""
        t = len(self.codes)
        check_memory(int(share * 8 * t * t), f"all pairs of {t:,} tuples of labels", self.instead)

    def matrix(self) -> FloatArray:
        """(t, t) similarities."""
        codes, t = by_inputs(self.codes), len(self.codes)
        self.check_memory()
        values, width = self.values.ravel(), self.values.shape[1]
        S = np.empty((t, t))
        for rows in row_blocks(t, t):
            agree, both = count_agreements(codes[:, rows], codes)
            S[rows] = values[both.astype(np.intp) * width + agree]
        return S


def by_inputs(codes: IntArray) -> IntArray:
    """(m, t) codes for ``count_agreements``."""
    return np.ascontiguousarray(codes.T, dtype=np.int32)


def count_agreements(a: IntArray, b: IntArray) -> tuple[Array, Array]:
    """(p, q) number of partitions that agree, and of those that label both, for (m, ·) codes."""
    m = len(a)
    count = np.uint8 if m < 256 else np.uint32  # bytes: the time is spent on memory access
    agree = np.zeros((a.shape[1], b.shape[1]), dtype=count)
    is_complete = a.min() >= 0 and b.min() >= 0
    other = b if is_complete else np.where(b < 0, -2, b)  # missing is never equal
    for x, y in zip(a, other, strict=True):
        agree += (x[:, None] == y).view(np.uint8)
    if is_complete:
        return agree, np.broadcast_to(count(m), agree.shape)
    both = (a >= 0).astype(np.float32).T @ (b >= 0).astype(np.float32)
    return agree, both.astype(count)
