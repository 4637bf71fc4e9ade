"""The kernel of :mod:`~liftcluster.partitions.on_device`; importing it needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def encode_labels(
    labels,  # (m, n) integers
    codes,  # out: (m, n) int8, the label itself
    counts,  # out: (m, VALUES) int32, of the labels from -1 on; the last is of all others
    n,
    VALUES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Labels as int8 with their numbers, in one pass; right if no label is counted as another."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    p = tl.program_id(1).to(tl.int64)
    inside = i < n
    label = tl.load(labels + p * n + i, mask=inside, other=-1)
    tl.store(codes + p * n + i, label.to(tl.int8), mask=inside)
    # Padding is counted as noise, and taken off again.
    known = (label >= -1) & (label < VALUES - 2)
    found = tl.histogram(tl.where(known, label + 1, VALUES - 1).to(tl.int32), VALUES)
    value = tl.arange(0, VALUES)
    padding = tl.maximum(tl.program_id(0).to(tl.int64) * BLOCK + BLOCK - n, 0)
    found -= tl.where(value == 0, padding, 0).to(tl.int32)
    tl.atomic_add(counts + p * VALUES + value, found)
