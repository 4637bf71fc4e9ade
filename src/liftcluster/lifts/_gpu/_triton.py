"""The kernel of :mod:`~liftcluster.lifts._gpu.triton_sums`; importing it needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _sine_and_cosine(t):
    """sin and cos of t quarter turns: polynomials on |r| ≤ ½, with errors below 10⁻⁷."""
    whole = tl.floor(t + 0.5)
    r = t - whole
    q = r * r
    s = r * (1.57079632 + q * (-0.64596348 + q * (0.07968022 + q * -0.00460216)))
    c = 1.0 + q * (-1.23370054 + q * (0.253669204 + q * (-0.0208600704 + q * 0.000903629885)))
    turn = whole.to(tl.int32)
    odd = (turn & 1) != 0
    sine = tl.where(odd, c, s)
    cosine = tl.where(odd, s, c)
    sine = tl.where((turn & 2) != 0, -sine, sine)
    cosine = tl.where(((turn + 1) & 2) != 0, -cosine, cosine)
    return sine, cosine


@triton.jit
def _add(total, Z, R, PIECES: tl.constexpr):
    """total + ZR, where R holds zeros and ones: Z, within ±1, in pieces of 11 bits."""
    rest = Z
    for _ in tl.static_range(PIECES):
        piece = rest.to(tl.float16)
        total = tl.dot(piece, R, total)
        rest -= piece.to(tl.float32)
    return total


@triton.jit
def sum_features(
    points,  # (D, n) coordinates relative to the centre
    turns,  # (D, n_phases) frequencies, in quarter turns
    columns,  # (PARTITIONS, n) cluster of each point, -1 for none
    parts,  # out: (chunks, n_clusters, 2 n_phases) sums of cosines, then of sines
    n,
    n_phases,
    n_clusters,
    D: tl.constexpr,
    AXES: tl.constexpr,  # D or more, a power of two
    PARTITIONS: tl.constexpr,
    CHUNK: tl.constexpr,
    POINTS: tl.constexpr,
    PHASES: tl.constexpr,
    CLUSTERS: tl.constexpr,
    PIECES: tl.constexpr,
):
    """Sums over one chunk of points, for some phases and some clusters."""
    phase = tl.program_id(0) * PHASES + tl.arange(0, PHASES)
    cluster = tl.program_id(1) * CLUSTERS + tl.arange(0, CLUSTERS)
    chunk = tl.program_id(2)
    axis = tl.arange(0, AXES)
    W = tl.load(
        turns + axis[None, :] * n_phases + phase[:, None],
        mask=(axis[None, :] < D) & (phase[:, None] < n_phases),
        other=0.0,
    )
    cosines = tl.zeros((PHASES, CLUSTERS), dtype=tl.float32)
    sines = tl.zeros((PHASES, CLUSTERS), dtype=tl.float32)
    for start in range(0, CHUNK, POINTS):
        point = chunk * CHUNK + start + tl.arange(0, POINTS)
        there = point < n
        U = tl.load(
            points + axis[:, None] * n + point[None, :],
            mask=(axis[:, None] < D) & there[None, :],
            other=0.0,
        )
        # On the tensor cores in three parts, which keeps the precision of float32. The result is
        # in registers, in the layout that the next product needs.
        T = tl.dot(W, U, input_precision="tf32x3")
        R = tl.zeros((POINTS, CLUSTERS), dtype=tl.int1)
        for i in tl.static_range(PARTITIONS):
            own = tl.load(columns + i * n + point, mask=there, other=-1)
            R = R | (own[:, None] == cluster[None, :])
        members = R.to(tl.float16)
        sine, cosine = _sine_and_cosine(T)
        cosines = _add(cosines, cosine, members, PIECES)
        sines = _add(sines, sine, members, PIECES)
    base = parts + (chunk * n_clusters + cluster[None, :]).to(tl.int64) * (2 * n_phases)
    inside = (phase[:, None] < n_phases) & (cluster[None, :] < n_clusters)
    tl.store(base + phase[:, None], cosines, mask=inside)
    tl.store(base + n_phases + phase[:, None], sines, mask=inside)
