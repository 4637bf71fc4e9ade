"""Triton kernels for similarities with landmarks; importing this module needs Triton.

:mod:`~liftcluster.lifts._gpu.landmarks` calls them.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _similarities(
    points, landmarks, exponent, i, near, n, d, r, POINTS: tl.constexpr, LANDMARKS: tl.constexpr
):
    """(POINTS, LANDMARKS) exp(exponent · ‖x − l‖²) in float64, by differences."""
    squares = tl.zeros((POINTS, LANDMARKS), tl.float64)
    for axis in range(d):
        x = tl.load(points + i * d + axis, mask=i < n, other=0.0).to(tl.float64)
        y = tl.load(landmarks + axis * r + near, mask=near < r, other=0.0)
        gap = x[:, None] - y[None, :]
        squares += gap * gap
    return tl.exp(tl.load(exponent) * squares)


@triton.jit
def sum_similarities(
    points,  # (n, d)
    landmarks,  # (d, r) float64
    exponent,  # (1,) float64; a number would be a float32
    labels,  # (PARTITIONS, n) int32 codes, negative for none
    first,  # (PARTITIONS,) number of clusters of the partitions before
    parts,  # out: (chunks, columns, r) float64
    n,
    d,
    r,
    stride,
    PARTITIONS: tl.constexpr,
    TILE: tl.constexpr,
    CHUNK: tl.constexpr,
    POINTS: tl.constexpr,
    LANDMARKS: tl.constexpr,
):
    """Sums of similarities over the points of each cluster in a chunk, a tile of clusters."""
    near = tl.program_id(0) * LANDMARKS + tl.arange(0, LANDMARKS)
    chunk = tl.program_id(1).to(tl.int64)
    column = tl.program_id(2) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, LANDMARKS), tl.float64)
    for start in range(0, CHUNK, POINTS):
        i = chunk * CHUNK + start + tl.arange(0, POINTS)
        K = _similarities(points, landmarks, exponent, i, near, n, d, r, POINTS, LANDMARKS)
        R = tl.zeros((TILE, POINTS), tl.float64)
        for p in tl.static_range(PARTITIONS):
            own = tl.load(labels + p * stride + i, mask=i < n, other=-1)
            own = tl.where(own >= 0, own + tl.load(first + p), -1)
            R += tl.where(column[:, None] == own[None, :], 1.0, 0.0).to(tl.float64)
        total = tl.dot(R, K, total, out_dtype=tl.float64)
    row = chunk * TILE * tl.num_programs(2) + column
    tl.store(parts + row[:, None] * r + near[None, :], total, mask=near[None, :] < r)


@triton.jit
def score_similarities(
    points,  # (n, d)
    landmarks,  # (d, r) float64
    exponent,  # (1,) float64
    weights,  # (r, columns) float64
    scores,  # out: (n, columns) float64
    n,
    d,
    r,
    COLUMNS: tl.constexpr,
    TILE: tl.constexpr,
    POINTS: tl.constexpr,
    LANDMARKS: tl.constexpr,
):
    """Products of similarities with weights of the landmarks, a tile of vectors."""
    i = tl.program_id(0).to(tl.int64) * POINTS + tl.arange(0, POINTS)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((POINTS, TILE), tl.float64)
    for start in range(0, r, LANDMARKS):
        near = start + tl.arange(0, LANDMARKS)
        K = _similarities(points, landmarks, exponent, i, near, n, d, r, POINTS, LANDMARKS)
        at = weights + near[:, None] * COLUMNS + column[None, :]
        W = tl.load(at, mask=near[:, None] < r, other=0.0)
        total = tl.dot(K, W, total, out_dtype=tl.float64)
    tl.store(scores + i[:, None] * COLUMNS + column[None, :], total, mask=i[:, None] < n)
