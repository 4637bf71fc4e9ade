"""Triton kernels for Fourier features; importing this module needs Triton.

Phases and features never leave the chip. Points are float16, memberships are bits; phases are
products on the tensor cores, cosines and sines those of the hardware, sums of features products
with memberships on the tensor cores. :mod:`~liftcluster.lifts._gpu.fused` calls the kernels.
"""

from __future__ import annotations

import os

import triton
import triton.language as tl

# The interpreter has no instructions of the hardware: it takes NumPy's cosines and sines.
_INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
_QUARTER = tl.constexpr(1.5707963267948966)  # of a turn


@triton.jit
def _position(i, n_chunks, CHUNK: tl.constexpr):
    """Row of point i: 64 points to each chunk in turn, which spreads points sorted by cluster."""
    run = i // 64
    return (run % n_chunks * (CHUNK // 64) + run // n_chunks) * 64 + i % 64


@triton.jit
def halve_points(
    points,  # (n, d)
    high,  # (d,) centre, as a sum of two numbers
    low,
    halves,  # out: (rows, WIDTH) float16
    extent,  # out: (programs, 2) largest |coordinate| and sum of squares, in bandwidths
    n,
    d,
    scale,  # units of the float16 numbers in a bandwidth, over the bandwidth
    unit,  # of these numbers, in bandwidths
    n_chunks,
    STEP: tl.constexpr,  # columns of one part
    WIDTH: tl.constexpr,
    PARTS: tl.constexpr,
    LOW_PART: tl.constexpr,  # which part has what the others round off
    CHUNK: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Coordinates relative to the centre as float16 in PARTS copies, then zeros up to WIDTH."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    axis = tl.arange(0, COLUMNS)[None, :]
    inside = (axis < d) & (i < n)
    x = tl.load(points + i * d + axis, mask=inside, other=0.0)
    x = x - tl.load(high + axis, mask=axis < d, other=0.0)
    x = x - tl.load(low + axis, mask=axis < d, other=0.0)
    u = tl.where(inside, (x * scale).to(tl.float32), 0.0)
    size = tl.abs(u) * unit
    largest = tl.max(tl.where(size == size, size, float("inf")))
    tl.store(extent + 2 * tl.program_id(0), largest)
    tl.store(extent + 2 * tl.program_id(0) + 1, tl.sum(size * size))
    first = u.to(tl.float16)
    rest = (u - first.to(tl.float32)).to(tl.float16)
    row = halves + _position(i, n_chunks, CHUNK) * WIDTH
    for part in tl.static_range(PARTS):
        end = WIDTH - part * STEP if part == PARTS - 1 else STEP
        tl.store(row + part * STEP + axis, rest if part == LOW_PART else first, mask=axis < end)


@triton.jit
def pack_labels(
    labels,  # (PARTITIONS, n) codes, negative for none
    first,  # (PARTITIONS,) number of clusters of the partitions before
    bits,  # (s,) 32 · word + bit of each cluster; -1 for one that has no column
    words,  # out: (rows, WORDS) int32
    n,
    stride,
    n_chunks,
    PARTITIONS: tl.constexpr,
    WORDS: tl.constexpr,
    CHUNK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Memberships of each point as bits."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    word = tl.arange(0, WORDS)[None, :]
    found = tl.zeros((ROWS, WORDS), tl.int32)
    for p in tl.static_range(PARTITIONS):
        own = tl.load(labels + p * stride + i, mask=i < n, other=-1).to(tl.int32)
        bit = tl.load(bits + tl.load(first + p) + own, mask=own >= 0, other=-1)[:, None]
        found |= tl.where((bit >> 5) == word, 1 << (bit & 31), 0)
    tl.store(words + _position(i, n_chunks, CHUNK)[:, None] * WORDS + word, found)


@triton.jit
def _pair(word, J: tl.constexpr):
    """Bits J and J + 16 as two float16, 2.0 or 0.0: bit 14 of a half stands for 2.0."""
    return (word << (14 - J)) & 0x40004000 if J < 15 else (word >> 1) & 0x40004000


@triton.jit
def _pairs_2(word, J: tl.constexpr, STEP: tl.constexpr):
    return tl.join(_pair(word, J), _pair(word, J + STEP))


@triton.jit
def _pairs_4(word, J: tl.constexpr, STEP: tl.constexpr):
    return tl.join(_pairs_2(word, J, 2 * STEP), _pairs_2(word, J + STEP, 2 * STEP))


@triton.jit
def _pairs_8(word, J: tl.constexpr, STEP: tl.constexpr):
    """(…, 2, 2, 2) pairs J, J + STEP, …: an earlier axis counts for more."""
    return tl.join(_pairs_4(word, J, 2 * STEP), _pairs_4(word, J + STEP, 2 * STEP))


@triton.jit
def _members(words, POINTS: tl.constexpr, PER_WORD: tl.constexpr):
    """(POINTS, 2 PER_WORD) memberships, 2.0 or 0.0, of (POINTS, 2) words."""
    word = tl.load(tl.multiple_of(words, (4, 4)))
    if PER_WORD == 32:
        pairs = tl.join(_pairs_8(word, 0, 2), _pairs_8(word, 1, 2))
    else:
        pairs = _pairs_8(word, 0, 1)
    halves = tl.join(pairs.to(tl.int16), (pairs >> 16).to(tl.int16))
    return tl.reshape(halves, (POINTS, 2 * PER_WORD)).to(tl.float16, bitcast=True)


@triton.jit
def _cosine_and_sine(t):
    """float16 cosines and sines.

    Those of the hardware reduce the angle themselves, with the error that float32 angles have.
    """
    if _INTERPRETED:
        cosine, sine = tl.cos(t).to(tl.float16), tl.sin(t).to(tl.float16)
    else:
        cosine, sine = tl.inline_asm_elementwise(
            """{
            .reg .f32 c0, c1, s0, s1;
            cos.approx.f32 c0, $2;
            cos.approx.f32 c1, $3;
            sin.approx.f32 s0, $2;
            sin.approx.f32 s1, $3;
            cvt.rn.f16x2.f32 $0, c1, c0;
            cvt.rn.f16x2.f32 $1, s1, s0;
            }""",
            "=r,=r,f,f",
            [t],
            dtype=(tl.float16, tl.float16),
            is_pure=True,
            pack=2,
        )
    return cosine, sine


@triton.jit
def _sine_in_halves(t):
    """The sine as a sum of two float16."""
    if _INTERPRETED:
        sine = tl.sin(t)
    else:
        sine = tl.inline_asm_elementwise(
            "sin.approx.f32 $0, $1;", "=f,f", [t], dtype=tl.float32, is_pure=True, pack=1
        )
    high = sine.to(tl.float16)
    return high, (sine - high.to(tl.float32)).to(tl.float16)


@triton.jit
def sum_features(
    source,  # (rows, WIDTH) points; where STORED (rows, n_phases) products
    weights,  # (n_phases, WIDTH) float16
    radians,  # (n_phases,) for one unit of the product of a point and a weight
    words,  # (rows, WORDS) memberships
    parts,  # out: (chunks, 2 n_phases, columns) sums of cosines, then of sines
    n_phases,
    WIDTH: tl.constexpr,
    STORED: tl.constexpr,
    PRECISE: tl.constexpr,
    TILE: tl.constexpr,  # columns: 64, or 96 in two groups
    WORDS: tl.constexpr,
    CHUNK: tl.constexpr,
    POINTS: tl.constexpr,
    PHASES: tl.constexpr,
):
    """Sums over one chunk of points for PHASES phases and TILE columns.

    Precise: a cosine is a sine a quarter turn on, left to other programs, and a feature is two
    float16 that are summed apart.
    """
    start = tl.program_id(0) * PHASES
    chunk = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(2)
    first, shift = start, 0.0
    if PRECISE:
        first = tl.where(start < n_phases, start, start - n_phases)
        shift = tl.where(start < n_phases, _QUARTER, 0.0)
    phase = first + tl.arange(0, PHASES)
    point = (chunk * CHUNK + tl.arange(0, POINTS))[:, None]
    scale = tl.load(radians + phase)[:, None]
    axis = tl.arange(0, WIDTH)[None, :]
    if STORED:
        products = source + tl.trans(point) * n_phases + phase[:, None]
    else:
        W = tl.load(weights + phase[:, None] * WIDTH + axis)
        points = source + point * WIDTH + axis
    pair = tl.arange(0, 2)[None, :]
    at = words + point * WORDS + tile * (TILE // 32 + TILE // 96) + pair
    A = tl.zeros((PHASES, 64), tl.float32)
    B = tl.zeros((PHASES, 64), tl.float32)
    C = tl.zeros((PHASES, 32), tl.float32)
    D = tl.zeros((PHASES, 32), tl.float32)
    for _ in tl.range(0, CHUNK, POINTS, num_stages=3):
        if STORED:
            t = tl.load(products) * scale
            products += POINTS * n_phases
        else:
            t = tl.dot(W, tl.load(points).T) * scale
            points += POINTS * WIDTH
        R = _members(at, POINTS, 32)
        if PRECISE:
            a, b = _sine_in_halves(t + shift)
        else:
            a, b = _cosine_and_sine(t)
        A = tl.dot(a, R, A)
        if TILE == 96:
            Q = _members(at + 2, POINTS, 16)
            C = tl.dot(a, Q, C)
        B = tl.dot(b, R, B)
        if TILE == 96:
            D = tl.dot(b, Q, D)
        at += POINTS * WORDS
    if PRECISE:
        A += B
        C += D
    columns = tl.num_programs(2) * TILE
    rows = (chunk * 2 * n_phases + start + tl.arange(0, PHASES))[:, None]
    out = parts + rows * columns + tile * TILE
    left, right = tl.arange(0, 64)[None, :], 64 + tl.arange(0, 32)[None, :]
    tl.store(out + left, A * 0.5)  # a membership is 2.0
    if TILE == 96:
        tl.store(out + right, C * 0.5)
    if not PRECISE:
        out += n_phases * columns
        tl.store(out + left, B * 0.5)
        if TILE == 96:
            tl.store(out + right, D * 0.5)


@triton.jit
def add_parts(
    parts,  # (n_parts, size) float32
    total,  # (size,) float64, added to
    n_parts,
    size,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Totals over all chunks, without a copy of them in float64."""
    column = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    found = tl.zeros((ROWS, BLOCK), tl.float64)
    for start in range(0, n_parts, ROWS):
        row = start + tl.arange(0, ROWS).to(tl.int64)[:, None]
        part = tl.load(parts + row * size + column[None, :], mask=row < n_parts, other=0.0)
        found += part.to(tl.float64)
    tl.store(total + column, tl.load(total + column) + tl.sum(found, 0))


@triton.jit
def finish_sums(
    parts,  # (n_parts, 2 padded, WIDTH) sums of columns
    expand,  # (s, WIDTH) float64
    extent,  # (n_extents, 2) of halve_points
    out,  # float64: (s, 2 n_phases) sums of clusters, the extent of all points, and for each
    # program along the phases (s,) sums of squares of its sums
    n_parts,
    n_extents,
    s,
    n_phases,
    padded,
    WIDTH: tl.constexpr,
    COLUMNS: tl.constexpr,  # at a time
    PARTS: tl.constexpr,
    PHASES: tl.constexpr,
    CLUSTERS: tl.constexpr,
    EXTENTS: tl.constexpr,
):
    """Sums of clusters from those of columns, without padding; the last programs join extents."""
    block, last = tl.program_id(0), tl.num_programs(0) - 1
    if block < last:
        row = block * PHASES + tl.arange(0, PHASES)
        name = tl.program_id(1) * CLUSTERS + tl.arange(0, CLUSTERS)
        cluster = name[:, None]
        found = tl.zeros((CLUSTERS, PHASES), tl.float64)
        for start in range(0, WIDTH, COLUMNS):
            column = start + tl.arange(0, COLUMNS)
            sums = tl.zeros((COLUMNS, PHASES), tl.float64)
            for first in range(0, n_parts, PARTS):
                part = first + tl.arange(0, PARTS)[:, None, None]
                at = (part.to(tl.int64) * 2 * padded + row[None, None, :]) * WIDTH
                some = tl.load(parts + at + column[None, :, None], mask=part < n_parts, other=0.0)
                sums += tl.sum(some.to(tl.float64), 0)
            E = tl.load(expand + cluster * WIDTH + column[None, :], mask=cluster < s, other=0.0)
            found = tl.dot(E, sums, found, out_dtype=tl.float64)
        phase = row % padded  # cosines, then sines
        found = tl.where(phase < n_phases, found, 0.0)
        to = cluster * 2 * n_phases + row // padded * n_phases + phase
        tl.store(out + to, found, mask=(cluster < s) & (phase < n_phases))
        squares = out + 2 * n_phases * s + 2 + block * s
        tl.store(squares + name, tl.sum(found * found, 1), mask=name < s)
    elif tl.program_id(1) == 0:
        largest = tl.zeros((EXTENTS,), tl.float32)
        squares = tl.zeros((EXTENTS,), tl.float64)
        for first in range(0, n_extents, EXTENTS):
            i = first + tl.arange(0, EXTENTS)
            largest = tl.maximum(largest, tl.load(extent + 2 * i, mask=i < n_extents, other=0.0))
            more = tl.load(extent + 2 * i + 1, mask=i < n_extents, other=0.0)
            squares += more.to(tl.float64)
        end = out + 2 * n_phases * s
        tl.store(end, tl.max(largest).to(tl.float64))
        tl.store(end + 1, tl.sum(squares))


@triton.jit
def score_points(
    source,  # as for sum_features
    weights,
    radians,
    vectors,  # (2, 2 n_phases, columns) float16: rounded, and what that leaves
    units,  # (columns,) of the vectors
    out,  # (rows, columns) float32; where BEST (rows,) position of the largest
    n_phases,
    n_vectors,
    WIDTH: tl.constexpr,
    STORED: tl.constexpr,
    PRECISE: tl.constexpr,
    BEST: tl.constexpr,
    POINTS: tl.constexpr,
    PHASES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Inner products of the features of POINTS points with COLUMNS vectors."""
    point = (tl.program_id(0).to(tl.int64) * POINTS + tl.arange(0, POINTS))[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    columns = tl.num_programs(1) * COLUMNS
    phase = tl.arange(0, PHASES)
    axis = tl.arange(0, WIDTH)
    if not STORED:
        X = tl.load(source + point * WIDTH + axis[None, :])
    total = tl.zeros((POINTS, COLUMNS), tl.float32)
    small = tl.zeros((POINTS, COLUMNS), tl.float32)
    for start in tl.range(0, n_phases, PHASES):
        if STORED:
            t = tl.load(source + point * n_phases + (start + phase)[None, :])
        else:
            t = tl.dot(X, tl.load(weights + (start + phase)[None, :] * WIDTH + axis[:, None]))
        t *= tl.load(radians + start + phase)[None, :]
        cosines = vectors + (start + phase)[:, None] * columns + column
        sines = cosines + n_phases * columns
        # Two products are added up by the tensor cores, which truncate; more are not.
        if PRECISE:
            rest = 2 * n_phases * columns
            a, b = _sine_in_halves(t + _QUARTER)
            c, d = _sine_in_halves(t)
            V = tl.load(cosines)
            W = tl.load(sines)
            total += tl.dot(c, W, tl.dot(a, V))
            small = tl.dot(d, W, tl.dot(b, V, small))
            small = tl.dot(c, tl.load(sines + rest), tl.dot(a, tl.load(cosines + rest), small))
        else:
            a, b = _cosine_and_sine(t)
            total += tl.dot(b, tl.load(sines), tl.dot(a, tl.load(cosines)))
    scores = (total + small) * tl.load(units + column)
    if BEST:
        best = tl.argmax(tl.where(column < n_vectors, scores, float("-inf")), 1)
        tl.store(out + tl.reshape(point, (POINTS,)), best.to(tl.int64))
    else:
        tl.store(out + point * columns + column, scores)
