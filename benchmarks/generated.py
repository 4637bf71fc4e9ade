"""Generated data sets with known classes: 26 shapes in two and three dimensions, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .generated_tables import N_POINTS, TABLES, Made, Maker, join

__all__ = ["generated_sets"]

Rng = np.random.Generator


def generated_sets(rng_seed: int = 0) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, X, classes) of all 50 generators; a name starts with its family."""
    for number, (name, make) in enumerate(sorted((SHAPES | TABLES).items())):
        X, classes = make(np.random.default_rng([rng_seed, number]))
        yield name, X, np.asarray(classes).astype(str)


def _arc(
    rng: Rng,
    n: int,
    centre: tuple[float, float],
    radius: float,
    start: float,
    stop: float,
    noise: float,
) -> np.ndarray:
    """n points of a circle between two angles, with Gaussian noise."""
    angle = rng.uniform(start, stop, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(centre) + radius * ring + noise * rng.standard_normal((n, 2))


def _box(rng: Rng, n: int, low: Sequence[float], high: Sequence[float]) -> np.ndarray:
    return rng.uniform(low, high, (n, len(low)))


def _blob(rng: Rng, n: int, centre: Sequence[float], scale: float) -> np.ndarray:
    return np.asarray(centre) + rng.standard_normal((n, len(centre))) * scale


def _moons(noise: float) -> Maker:
    """Two interlocking half circles of radius 1, 400 points each."""

    def make(rng: Rng) -> Made:
        half = N_POINTS // 2
        upper = _arc(rng, half, (0, 0), 1, 0, np.pi, noise)
        return join([upper, _arc(rng, half, (1, 0.5), 1, np.pi, 2 * np.pi, noise)])

    return make


def _rings(radii: tuple[float, ...], noise: float) -> Maker:
    """Concentric rings with numbers of points in proportion to their radii, 800 in all."""

    def make(rng: Rng) -> Made:
        sizes = [round(N_POINTS * r / sum(radii)) for r in radii]
        return join(
            [
                _arc(rng, n, (0, 0), r, 0, 2 * np.pi, noise)
                for n, r in zip(sizes, radii, strict=True)
            ]
        )

    return make


def _spirals(arms: int, noise: float) -> Maker:
    """Spirals that wind about one turn, out to a radius of 3π, 800 points in all."""

    def make(rng: Rng) -> Made:
        parts = []
        for arm in range(arms):
            t = np.sqrt(rng.uniform(0.08, 1, N_POINTS // arms)) * 3 * np.pi
            angle = t + 2 * np.pi * arm / arms
            spiral = np.column_stack([np.cos(angle), np.sin(angle)]) * t[:, None]
            parts.append(spiral + noise * rng.standard_normal(spiral.shape))
        return join(parts)

    return make


def _blobs_in_the_plane(k: int, spread: float, sizes: float = 1.0, scales: float = 1.0) -> Maker:
    """k Gaussians, about 800 points; sizes and scales are ratios of the largest to the smallest."""

    def make(rng: Rng) -> Made:
        centres = _spaced(rng, k, 2, 4.0)
        share = np.geomspace(1, sizes, k)
        width = np.geomspace(1, scales, k)[rng.permutation(k)] * spread
        counts = np.maximum((share / share.sum() * N_POINTS).astype(int), 8)
        return join([_blob(rng, n, c, s) for n, c, s in zip(counts, centres, width, strict=True)])

    return make


def _spaced(rng: Rng, k: int, d: int, distance: float) -> np.ndarray:
    """k centres in a box, no two closer than a distance."""
    centres: list[np.ndarray] = []
    side = distance * k ** (1 / d)
    while len(centres) < k:
        c = rng.uniform(-side, side, d)
        if all(np.linalg.norm(c - other) > distance for other in centres):
            centres.append(c)
    return np.array(centres)


def _face(rng: Rng) -> Made:
    """Two eyes of 120 points, a mouth of 220 and a ring around them of 340."""
    eyes = [_blob(rng, 120, (x, 0.6), 0.1) for x in (-0.6, 0.6)]
    mouth = _arc(rng, 220, (0, 0), 0.8, 1.2 * np.pi, 1.8 * np.pi, 0.04)
    return join([*eyes, mouth, _arc(rng, 340, (0, 0), 1.6, 0, 2 * np.pi, 0.05)])


def _lines(rng: Rng) -> Made:
    """Four parallel bars of length 10 and width 0.5, 0.7 apart, 200 points each."""
    return join([_box(rng, 200, (0, y), (10, y + 0.5)) for y in (0, 1.2, 2.4, 3.6)])


def _slanted(rng: Rng) -> Made:
    """Three Gaussians stretched along a common direction, 260 points each."""
    turn = np.array([[0.9, 0.8], [-0.2, 0.25]])
    return join([_blob(rng, 260, c, 1) @ turn for c in ((0, 0), (-1, 4.5), (1, -4.5))])


def _tiles(rng: Rng) -> Made:
    """Nine unit squares, 0.25 apart, 88 points each."""
    return join(
        [_box(rng, 88, (x, y), (x + 1, y + 1)) for x in (0, 1.25, 2.5) for y in (0, 1.25, 2.5)]
    )


def _cross(rng: Rng) -> Made:
    """Two lines that cross at a right angle, 400 points each."""
    a = rng.uniform(-3, 3, (400, 1)) * [1, 1] + 0.12 * rng.standard_normal((400, 2))
    b = rng.uniform(-3, 3, (400, 1)) * [1, -1] + 0.12 * rng.standard_normal((400, 2))
    return join([a, b])


def _bridge(rng: Rng) -> Made:
    """Two Gaussians of 380 points joined by a path of 40, cut in the middle."""
    left, right = _blob(rng, 380, (-3, 0), 0.8), _blob(rng, 380, (3, 0), 0.8)
    path = _box(rng, 40, (-3, -0.1), (3, 0.1))
    X, classes = join([left, right])
    return np.concatenate([X, path]), np.concatenate([classes, (path[:, 0] > 0).astype(int)])


def _dense_in_sparse(rng: Rng) -> Made:
    """A dense Gaussian of 400 points in a hole of a sparse square."""
    sparse = _box(rng, 500, (-4, -4), (4, 4))
    sparse = sparse[np.hypot(sparse[:, 0] - 1, sparse[:, 1] - 1) > 0.9]
    return join([sparse, _blob(rng, 400, (1, 1), 0.22)])


def _crescent(rng: Rng) -> Made:
    """A crescent of 450 points with one blob of 200 inside and one of 150 in its opening."""
    moon = _arc(rng, 450, (0, 0), 3, 0.15 * np.pi, 1.85 * np.pi, 0.25)
    return join([moon, _blob(rng, 200, (0, 0), 0.5), _blob(rng, 150, (4.5, 0), 0.4)])


def _noisy_blobs(rng: Rng) -> Made:
    """Six blobs of 110 points, and 140 of uniform noise with the class of the nearest centre."""
    centres = _spaced(rng, 6, 2, 4.0)
    X, classes = join([_blob(rng, 110, c, 0.5) for c in centres])
    low, high = centres.min(axis=0) - 2, centres.max(axis=0) + 2
    noise = _box(rng, 140, low, high)
    nearest = np.linalg.norm(noise[:, None] - centres, axis=2).argmin(axis=1)
    return np.concatenate([X, noise]), np.concatenate([classes, nearest])


def _links(rng: Rng) -> Made:
    """Two linked rings in space, 400 points each."""
    t = rng.uniform(0, 2 * np.pi, (2, 400))
    zero = np.zeros(400)
    a = np.column_stack([np.cos(t[0]), np.sin(t[0]), zero])
    b = np.column_stack([1 + np.cos(t[1]), zero, np.sin(t[1])])
    X, classes = join([a, b])
    return X + 0.07 * rng.standard_normal(X.shape), classes


def _shell(rng: Rng) -> Made:
    """A ball of 300 points inside a sphere of 500."""
    v = rng.standard_normal((500, 3))
    shell = 3 * v / np.linalg.norm(v, axis=1, keepdims=True)
    return join([shell + 0.15 * rng.standard_normal(shell.shape), _blob(rng, 300, (0, 0, 0), 0.6)])


def _roll(rng: Rng) -> Made:
    """Four patches of a rolled sheet in space, 200 points each."""
    parts = []
    for piece in range(4):
        t = rng.uniform(1.5 + piece * 0.75, 1.5 + piece * 0.75 + 0.6, 200) * np.pi
        parts.append(np.column_stack([t * np.cos(t), rng.uniform(0, 10, 200), t * np.sin(t)]))
    return join(parts)


def _stacked_waves(rng: Rng) -> Made:
    """Three sine waves above each other, 260 points each."""
    parts = []
    for level in range(3):
        x = rng.uniform(0, 4 * np.pi, 260)
        wave = np.sin(x) + 1.3 * level + 0.12 * rng.standard_normal(260)
        parts.append(np.column_stack([x / 2, wave]))
    return join(parts)


def _mixed_shapes(rng: Rng) -> Made:
    """A ring, a stick, a square and two blobs, of 80 to 200 points."""
    ring = _arc(rng, 200, (0, 0), 2, 0, 2 * np.pi, 0.12)
    stick = _box(rng, 150, (4, -3), (4.4, 3))
    square = _box(rng, 200, (6, -1.5), (9, 1.5))
    return join([ring, _blob(rng, 120, (0, 0), 0.35), stick, square, _blob(rng, 80, (7, 4), 0.4)])


SHAPES: dict[str, Maker] = {
    "shape_moons": _moons(0.08),
    "shape_moons_noisy": _moons(0.2),
    "shape_rings_two": _rings((1.0, 2.0), 0.1),
    "shape_rings_three": _rings((1.0, 2.0, 3.0), 0.15),
    "shape_rings_noisy": _rings((1.0, 1.8), 0.22),
    "shape_spirals_two": _spirals(2, 0.25),
    "shape_spirals_three": _spirals(3, 0.35),
    "shape_blobs_five": _blobs_in_the_plane(5, 0.8),
    "shape_blobs_touching": _blobs_in_the_plane(8, 1.3),
    "shape_blobs_uneven_sizes": _blobs_in_the_plane(6, 0.9, sizes=20.0),
    "shape_blobs_uneven_scales": _blobs_in_the_plane(6, 0.3, scales=6.0),
    "shape_blobs_many": _blobs_in_the_plane(25, 0.7),
    "shape_face": _face,
    "shape_lines": _lines,
    "shape_slanted": _slanted,
    "shape_tiles": _tiles,
    "shape_cross": _cross,
    "shape_bridge": _bridge,
    "shape_dense_in_sparse": _dense_in_sparse,
    "shape_crescent": _crescent,
    "shape_noisy_blobs": _noisy_blobs,
    "shape_links": _links,
    "shape_shell": _shell,
    "shape_roll": _roll,
    "shape_waves": _stacked_waves,
    "shape_mixed": _mixed_shapes,
}
